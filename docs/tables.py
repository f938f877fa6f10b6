#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of pages from the data of docs/results.

usage: docs/tables.py [--check] [--root DIR]

A table stands in a page (any Markdown file of the repository) between two lines:

    <!-- table: RUN/NAME -->
    <!-- end of table -->

RUN is a folder of docs/results. NAME is an entry of "tables" in its run.json, or else the file NAME.csv
there, whose first line has the headings. <!-- table: runs --> is the list of all runs.

An entry of "tables" has these keys:

- data: files by name, {"a": "x.json", "b": "../other_run/y.csv"}. Paths are relative to the folder of the
  run. JSON is read unchanged, CSV as a list of objects, and text as a list of JSON lines.
- header: the headings.
- cells: a template for each column.
- rows: a list of objects, or the name of a CSV file in data. The keys of an object are names in the
  templates. A row may be a list instead: the templates of its cells.
- align: a letter l or r for each column. By default a column whose cells begin with digits is r.

A template is text with {EXPRESSION:FORMAT}. Expressions have numbers, strings, names, lists, subscripts,
+ - * / ** and the FUNCTIONS below. FORMAT is that of Python, "e3" (2.87e10), or "s3" (three significant
digits without an exponent). A cell with a null value is empty.

A run with "report" has a table.md that bench/report.py makes of the files named there.

Without options all tables are rewritten. --check writes nothing, names each table that differs, and exits
with 1.
"""

import argparse
import ast
import csv
import decimal
import difflib
import json
import operator
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKED = re.compile(r"^<!-- table: (\S+) -->\n(.*?)^<!-- end of table -->$", re.M | re.S)
BEGIN = re.compile(r"^<!-- table: (\S+) -->$", re.M)
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.Pow: operator.pow}

decimal.setcontext(decimal.Context(prec=28, rounding=decimal.ROUND_HALF_UP))


class TableError(Exception):
    """A table that cannot be made, and why."""


def name_of(entry):
    """The name of a case of Google Benchmark without its settings."""
    name = entry.get("run_name", entry["name"])
    return re.sub(r"/(iterations:\d+|repeats:\d+|manual_time|real_time)", "", name)


def values(data, pattern, key):
    """The values of a counter over the cases of Google Benchmark whose complete name matches."""
    found = [entry[key] for entry in data["benchmarks"]
             if entry.get("run_type") != "aggregate" and not entry.get("error_occurred")
             and re.fullmatch(pattern, name_of(entry)) and key in entry]
    if not found:
        raise TableError(f"no case {pattern!r} has {key!r}")
    return found


def one(data, pattern, key):
    """The counter of the only case of Google Benchmark whose complete name matches."""
    found = values(data, pattern, key)
    if len(found) != 1:
        raise TableError(f"{len(found)} cases match {pattern!r}")
    return found[0]


def pick(listed, **wanted):
    """The only object of a list that has these values."""
    found = [entry for entry in listed if all(entry.get(key) == value for key, value in wanted.items())]
    if len(found) != 1:
        raise TableError(f"{len(found)} objects have {wanted}")
    return found[0]


def column(listed, key, **wanted):
    """The values of a key over the objects of a list that have these values."""
    found = [entry[key] for entry in listed if all(entry.get(k) == value for k, value in wanted.items())
             and key in entry]
    if not found:
        raise TableError(f"no object with {wanted} has {key!r}")
    return found


FUNCTIONS = {"values": values, "one": one, "pick": pick, "column": column, "min": min, "max": max, "sum": sum,
             "len": len, "median": statistics.median, "mean": statistics.mean}


def evaluate(node, names):
    """The value of an expression of a template."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise TableError(f"no value {node.id!r}")
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](evaluate(node.left, names), evaluate(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand, names)
    if isinstance(node, ast.List):
        return [evaluate(item, names) for item in node.elts]
    if isinstance(node, ast.Subscript):
        try:
            return evaluate(node.value, names)[evaluate(node.slice, names)]
        except (KeyError, IndexError):
            raise TableError(f"no value {ast.unparse(node)}") from None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return FUNCTIONS[node.func.id](*[evaluate(item, names) for item in node.args],
                                       **{item.arg: evaluate(item.value, names) for item in node.keywords})
    raise TableError(f"{ast.unparse(node)} is no expression of tables")


def show(value, form):
    """The text of a value in a format."""
    if isinstance(value, float):  # halves of the decimal digits are rounded up
        value = decimal.Decimal(repr(value))
    own = re.fullmatch(r"([es])(\d)", form)
    if not own:
        return format(value, form)
    value = decimal.Context(prec=int(own[2]), rounding=decimal.ROUND_HALF_UP).plus(decimal.Decimal(value))
    if own[1] == "s" or not value:
        return f"{value:f}" if value else "0"
    return re.sub(r"e([+-])", lambda found: "e" + found[1].strip("+"), f"{value:.{int(own[2]) - 1}e}")


def fill(template, names):
    """The template with its expressions replaced by their values; empty if one of them is null."""
    missing = False

    def text(found):
        nonlocal missing
        expression, form = re.fullmatch(r"(.*?)(?::([^:'\"\]\)]*))?", found[1]).groups()
        value = evaluate(ast.parse(expression.strip(), mode="eval").body, names)
        missing = missing or value is None
        return "" if value is None else show(value, form or "")

    filled = re.sub(r"\{([^{}]*)\}", text, template)
    return "" if missing else filled


def number(text):
    try:
        return float(text) if re.search(r"[.e]", text) else int(text)
    except ValueError:
        return text if text else None


def read_data(path):
    """JSON unchanged; text as a list of JSON lines; CSV as a list of objects, whose numbers are converted."""
    with open(path, encoding="utf-8", newline="") as file:
        if path.suffix == ".json":
            return json.load(file)
        if path.suffix == ".txt":
            return [json.loads(line) for line in file if line.strip()]
        return [{key: number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def markdown(header, rows, align=None):
    """A table of Markdown. Columns whose cells all begin with a digit are aligned to the right."""
    for row in rows:
        if len(row) != len(header):
            raise TableError(f"a row has {len(row)} cells, the header {len(header)}: {row}")
    if align is None:
        filled = [[row[i] for row in rows if row[i]] for i in range(len(header))]
        align = "".join("r" if cells and all(re.match(r"[*(]*-?\d", cell) for cell in cells) else "l"
                        for cells in filled)
    lines = ["| " + " | ".join(header) + " |",
             "|" + "|".join("---:" if a == "r" else "---" for a in align) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def table_of_runs(results):
    rows = []
    for path in sorted(results.glob("*/run.json")):
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        rows.append([f"[{path.parent.name}]({path.parent.name})", run["what"], run["machine"],
                     run.get("commit", ""), run.get("date", "")])
    return markdown(["folder", "what", "machine", "commit", "date"], rows, "lllll")


def make_table(results, name):
    """The text of a table: its name is RUN/NAME, or runs."""
    if name == "runs":
        return table_of_runs(results)
    run, _, entry = name.partition("/")
    folder = results / run
    try:
        with open(folder / "run.json", encoding="utf-8") as file:
            tables = json.load(file).get("tables", {})
        if entry not in tables:
            with open(folder / f"{entry}.csv", encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            return markdown(header, rows)
        table = tables[entry]
        names = {key: read_data(folder / path) for key, path in table.get("data", {}).items()}
        rows = table["rows"]
        filled = [[fill(cell, names) for cell in row] if isinstance(row, list)
                  else [fill(cell, {**names, **row}) for cell in table["cells"]]
                  for row in (names[rows] if isinstance(rows, str) else rows)]
        return markdown(table["header"], filled, table.get("align"))
    except OSError as error:
        raise TableError(f"{error.filename}: {error.strerror}") from None
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, SyntaxError) as error:
        raise TableError(f"{type(error).__name__}: {error}") from None


def difference(before, after):
    """The lines that differ, in short."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), "page", "data", n=0,
                                      lineterm=""))
    return "\n".join("    " + line for line in lines[2:10] if not line.startswith("@@"))


def renew(text, results):
    """The text of a page with its tables rewritten, and the differences."""
    problems = []
    if len(BEGIN.findall(text)) != len(MARKED.findall(text)):
        return text, ["a table has no line <!-- end of table -->"]

    def replace(found):
        try:
            table = make_table(results, found[1])
        except TableError as error:
            problems.append(f"table {found[1]}: {error}")
            return found[0]
        if table != found[2]:
            problems.append(f"table {found[1]} differs from its data\n{difference(found[2], table)}")
        return f"<!-- table: {found[1]} -->\n{table}<!-- end of table -->"

    return MARKED.sub(replace, text), problems


def pages(root):
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])


def reports(root):
    """table.md of the runs that have a report, and its text as bench/report.py makes it."""
    for path in sorted((root / "docs/results").glob("*/run.json")):
        with open(path, encoding="utf-8") as file:
            files = json.load(file).get("report")
        if files:
            made = subprocess.run([sys.executable, str(ROOT / "bench/report.py"), *files], cwd=path.parent,
                                  text=True, stdout=subprocess.PIPE, check=True).stdout
            yield path.parent / "table.md", made[:-1]


def run(root, check):
    """Rewrites all tables or checks them; returns the differences."""
    problems = []
    for path in pages(root):
        before = path.read_text(encoding="utf-8")
        after, found = renew(before, root / "docs/results")
        problems += [f"{path.relative_to(root)}: {problem}" for problem in found]
        if after != before and not check:
            path.write_text(after, encoding="utf-8")
    for path, after in reports(root):
        before = path.read_text(encoding="utf-8")
        if after != before:
            problems.append(f"{path.relative_to(root)}: differs from "
                            f"bench/report.py\n{difference(before, after)}")
            if not check:
                path.write_text(after, encoding="utf-8")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 if a table differs from its data")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the repository (this one)")
    options = parser.parse_args()
    problems = run(options.root.resolve(), options.check)
    for problem in problems:
        print(problem, file=sys.stderr)
    if options.check:
        return 1 if problems else 0
    return 1 if any(" differs from " not in problem for problem in problems) else 0


if __name__ == "__main__":
    sys.exit(main())
