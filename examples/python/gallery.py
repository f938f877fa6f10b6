# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of this folder cell by cell, and writes pages or notebooks of them.

    python gallery.py --pages FOLDER [--small] [NAME...]
    python gallery.py --notebooks FOLDER [--small] [NAME...]

A cell begins with "# %%". A page is Markdown with text, code, what the cells print, and pictures; a notebook
is Jupyter's format, version 4, with the same. Names are those of programs without .py; default: all.
"""

import argparse
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))


def programs():
    """Names of all programs."""
    names = (os.path.splitext(name) for name in sorted(os.listdir(HERE)))
    return [stem for stem, kind in names if kind == ".py" and stem != "gallery"]


def cells_of(source):
    """Docstring, and pairs of the text and the code of each cell."""
    head, *rest = source.split("\n# %%")
    first = head.split('"""', 2)
    docstring, code = first[1], first[2]
    cells = [("", code.strip("\n"))]
    for cell in rest:
        text, _, code = cell.partition("\n")
        cells.append((text.strip(), code.strip("\n")))
    return docstring.strip(), cells


def run(name, small):
    """Returns the docstring of a program and (text, code, output, pictures) of its cells."""
    path = os.path.join(HERE, name + ".py")
    with open(path, encoding="utf-8") as file:
        docstring, cells = cells_of(file.read())
    names = {"__name__": "__main__", "__file__": path}
    words, folder = sys.argv, os.getcwd()
    sys.argv = [path] + (["--small"] if small else [])
    results, seen = [], set()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            for text, code in cells:
                printed, ended = io.StringIO(), False
                with contextlib.redirect_stdout(printed):
                    try:
                        exec(compile(code, f"{name}: {text}", "exec"), names)
                    except SystemExit as error:
                        ended = True
                        if error.code:
                            raise RuntimeError(f"{name} ended with {error.code}") from error
                pictures = {}
                for found in sorted(set(os.listdir(place)) - seen):
                    seen.add(found)
                    if found.endswith(".png"):
                        with open(found, "rb") as file:
                            pictures[found] = file.read()
                results.append((text, code, printed.getvalue(), pictures))
                if ended:
                    break
        finally:
            os.chdir(folder)
            sys.argv = words
    return docstring, results


def page(name, small, folder):
    """Writes a page and its pictures."""
    docstring, cells = run(name, small)
    title, _, rest = docstring.partition("\n")
    lines = [f"# {title.rstrip('.')}", "", rest.strip(), ""]
    for text, code, printed, pictures in cells:
        if text:
            lines += [f"## {text}", ""]
        if code:
            lines += ["```python", code, "```", ""]
        if printed:
            lines += [*("    " + line for line in printed.rstrip().split("\n")), ""]
        for picture, content in pictures.items():
            with open(os.path.join(folder, picture), "wb") as file:
                file.write(content)
            lines += [f"![{text}]({picture})", ""]
    with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def notebook(name, small, folder):
    """Writes a notebook of Jupyter's format 4.5 with outputs."""
    docstring, cells = run(name, small)

    def text_cell(number, text):
        return {"cell_type": "markdown", "id": f"text-{number}", "metadata": {}, "source": text}

    content = [text_cell(0, "# " + docstring)]
    for number, (text, code, printed, pictures) in enumerate(cells, 1):
        if text:
            content.append(text_cell(number, "## " + text))
        outputs = []
        if printed:
            outputs.append({"output_type": "stream", "name": "stdout", "text": printed})
        for picture in pictures.values():
            data = {"image/png": base64.b64encode(picture).decode("ascii")}
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        content.append(
            {
                "cell_type": "code",
                "id": f"code-{number}",
                "metadata": {},
                "execution_count": number,
                "source": code,
                "outputs": outputs,
            }
        )
    whole = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"language_info": {"name": "python"}},
        "cells": content,
    }
    with open(os.path.join(folder, name + ".ipynb"), "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--pages", metavar="FOLDER", help="write pages into this folder")
    kind.add_argument("--notebooks", metavar="FOLDER", help="write notebooks into this folder")
    parser.add_argument("--small", action="store_true", help="small models")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all)")
    given = parser.parse_args()
    folder, write = (given.pages, page) if given.pages else (given.notebooks, notebook)
    os.makedirs(folder, exist_ok=True)
    folder = os.path.abspath(folder)
    status = 0
    for name in given.names or programs():
        try:
            write(name, given.small, folder)
            print(name)
        except Exception:
            traceback.print_exc()
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
