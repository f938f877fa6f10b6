#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/python_reference.md from the docstrings of lib/python/moho.

python3 docs/python_reference.py [--check]

With --check nothing is written, and the exit status is 1 if the page differs. The sources are parsed and
not imported.
"""

import ast
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "lib", "python", "moho")
PAGE = os.path.join(ROOT, "docs", "python_reference.md")
WIDTH = 100
MODULES = ("moho", "moho.linear", "moho.torch", "moho.plot")
HEAD = """# Python reference

Written by `docs/python_reference.py` from the docstrings, which `help()` also shows;
[Python](python.md) is the guide. Exceptions other than `InputError` and `FileError` are listed
[there](python.md#errors).
"""


class Source:
    """A module's text and syntax tree."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)

    def find(self, name):
        for node in self.tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return node
        return None


def public_names(tree):
    """Names of __all__ and the modules that they are imported from."""
    origin, names = {}, []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            origin.update({alias.name: node.module for alias in node.names})
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = [element.value for element in node.value.elts]
    return names, origin


def signature(name, node, drop=()):
    """A signature in lines of at most 88 characters."""
    arguments = node.args
    words = []
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    for argument, default in zip(arguments.args, defaults):
        if argument.arg not in drop:
            words.append(argument.arg + (f"={ast.unparse(default)}" if default else ""))
    if arguments.kwonlyargs:
        words.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        words.append(argument.arg + (f"={ast.unparse(default)}" if default else ""))
    if arguments.kwarg:
        words.append("**" + arguments.kwarg.arg)
    one = f"{name}({', '.join(words)})"
    return textwrap.wrap(one, 92, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def wrapped(text, first="", rest=""):
    return textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def sections(docstring):
    """Pairs of the title and the lines of each numpydoc section; the first title is empty."""
    found, lines = [("", [])], docstring.split("\n")
    for k, line in enumerate(lines):
        if k + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[k + 1].strip()) and line.strip():
            found.append((line.strip(), []))
        elif not re.fullmatch(r"-{3,}", line.strip()):
            found[-1][1].append(line)
    return found


def entries(lines):
    """Entries of a section: a line without indentation and the text below it."""
    result = []
    for line in lines:
        if line and not line.startswith(" "):
            result.append([line.strip(), ""])
        elif line.strip() and result:
            result[-1][1] += " " + line.strip()
    return result


def paragraphs(lines):
    """Paragraphs wrapped to the width; code after "::" or with ">>>" is kept."""
    out = []
    for block in textwrap.dedent("\n".join(lines)).strip().split("\n\n"):
        if not block.strip() or block.strip() == "::":
            continue
        if block.startswith((">>>", "    ")):
            out += ["```python", *textwrap.dedent(block).split("\n"), "```", ""]
        else:
            out += [*wrapped(block), ""]
    return out


def documentation(docstring):
    out = []
    for title, lines in sections(docstring or ""):
        if not title:
            out += paragraphs(lines)
        elif title == "Returns":
            out += [f"**{title}**", ""]
            for name, text in entries(lines):
                out += wrapped(f"{name}: {text.strip()}" if text else name, "- ", "  ")
            out.append("")
        elif title in ("Parameters", "Raises"):
            out += [f"**{title}**", ""]
            for name, text in entries(lines):
                head, _, kind = name.partition(" : ")
                shown = ", ".join(f"`{word.strip()}`" for word in head.split(","))
                out += wrapped(f"{shown}{': ' + kind + '.' if kind else ':'} {text.strip()}", "- ", "  ")
            out.append("")
        else:
            out += [f"**{title}**", "", *paragraphs(lines)]
    return out


def fields_of(node, lines):
    """Fields of a dataclass with their comments "#:", also those of attributes that __init__ sets."""
    found = []
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and "#:" in lines[statement.lineno - 1]:
            comment = lines[statement.lineno - 1].split("#:", 1)[1].strip()
            found.append((statement.target.id, comment))
    return found


def is_property(node):
    return any(getattr(decorator, "id", "") == "property" for decorator in node.decorator_list)


def described(name, source, node):
    """Lines of a function or class."""
    if isinstance(node, ast.FunctionDef):
        code = ["```python", *signature(name, node), "```", ""]
        return [f"### {name}", "", *code, *documentation(ast.get_docstring(node))]
    out = [f"### {name}", ""]
    members = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    made = [one for one in members if one.name == "__init__"]
    bases = [ast.unparse(base) for base in node.bases]
    fields = fields_of(node, source.lines)
    if made and not fields and "LinearOperator" not in bases and name not in ("Search",):
        out += ["```python", *signature(name, made[0], ("self",)), "```", ""]
    out += documentation(ast.get_docstring(node))
    for field, comment in fields:
        out += wrapped(f"`{field}`: {comment}", "- ", "  ")
    if fields:
        out.append("")
    for member in members:
        text = ast.get_docstring(member)
        if not text or (member.name.startswith("_") and member.name != "__call__"):
            continue
        shown = f"{name}.{member.name}" if member.name != "__call__" else "object"
        if is_property(member):
            out += [f"#### {name}.{member.name}", "", *documentation(text)]
            continue
        code = ["```python", *signature(shown, member, ("self",)), "```", ""]
        out += [f"#### {name}.{member.name}()", "", *code]
        out += documentation(text)
    return out


def module_lines(module):
    path = os.path.join(PACKAGE, *module.split(".")[1:])
    package = os.path.isdir(path)
    main = Source(os.path.join(path, "__init__.py") if package else path + ".py")
    names, origin = public_names(main.tree)
    out = [f"## {module}", ""]
    if module != "moho":
        out += paragraphs(ast.get_docstring(main.tree).split("\n"))
    for name in sorted(names, key=str.lower):
        file = os.path.join(path, origin.get(name, "__init__") + ".py") if package else path + ".py"
        if not os.path.exists(file):  # _version.py, which a build writes
            continue
        source = Source(file)
        node = source.find(name)
        if node is not None:
            out += described(name, source, node)
    return out


def page():
    out = [HEAD]
    for module in MODULES:
        out += module_lines(module)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip() + "\n"
    return text


def main():
    text = page()
    if "--check" in sys.argv:
        with open(PAGE, encoding="utf-8") as file:
            same = file.read() == text
        if not same:
            print("docs/python_reference.md differs from the docstrings: run docs/python_reference.py")
        return 0 if same else 1
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
