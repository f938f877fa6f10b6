# SPDX-License-Identifier: BSD-3-Clause
"""Files of the source tree, their functions, and ceilings of the counts of the layout tests."""

import itertools
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CEILINGS = os.path.join(HERE, "ceilings.txt")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "compare"))
import tokens  # noqa: E402

_tokens = {}


def files(*folders, ends=(".hpp", ".cpp")):
    """Paths of files below folders of the source tree, sorted."""
    found = []
    for folder in folders:
        for path, names, leaves in os.walk(os.path.join(ROOT, folder)):
            names[:] = sorted(name for name in names if name != "__pycache__")
            found += [os.path.relpath(os.path.join(path, leaf),
                                      ROOT) for leaf in leaves if leaf.endswith(ends)]
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def lines_of(path):
    return len(read(path).splitlines())


def tokens_of(path):
    """Preprocessing tokens of a C++ file."""
    if path not in _tokens:
        _tokens[path] = tokens.cxx_tokens(read(path))
    return _tokens[path]


def without_directives(items):
    inside, kept = False, []
    for item in items:
        inside = inside or item.kind == "symbol" and item.text == "#"
        if not inside:
            kept.append(item)
        if item.kind == "end":
            inside = False
    return kept


def _after_template(words):
    """Index of the first word after "template <...>", which may be repeated."""
    k = 0
    while words[k:k + 1] == ["template"]:
        depths = itertools.accumulate({"<": 1, ">": -1, ">>": -2}.get(word, 0) for word in words[k + 1:])
        k += 2 + next((n for n, depth in enumerate(depths) if depth <= 0), 0)
    return k


def _name_before(words, k):
    """Qualified name of a function whose parameters begin at words[k]."""
    if "operator" in words[max(k - 4, 0):k]:
        start = k - 1 - words[k - 1::-1].index("operator")
        return "".join(words[start:k])
    name, k = words[k - 1], k - 2
    if words[k:k + 1] == ["::"] and k > 0:
        depth = 0
        for n in range(k - 1, -1, -1):
            depth += {">": 1, ">>": 2, "<": -1}.get(words[n], 0)
            if depth == 0:
                return f"{words[n - 1] if words[n] == '<' else words[n]}::{name}"
    return name


def _class_of(words):
    """Name of a class from the words before its brace; "" for namespaces and unnamed classes."""
    for k, word in enumerate(words[:-1]):
        if word in ("class", "struct", "union") and words[k + 1].isidentifier():
            return words[k + 1]
    return ""


def functions(items):
    """Returns (name, lines from the opening to the closing brace) of functions at namespace and class scope.

    A method's name is Class::name, that of a test Suite.Name.
    """
    found, head = [], []
    stack = []  # (true for a scope with functions, name of a class or function or "", line of the brace)
    nested = 0  # parentheses in head
    for item in without_directives(items):
        if item.kind == "comment":
            continue
        text = item.text if item.kind in ("symbol", "name") else ""
        outside = all(scope for scope, _, _ in stack)
        if text == "}":
            scope, name, line = stack.pop()
            if name and not scope:
                found.append((name, item.line - line + 1))
            if scope or name:
                head, nested = [], 0
        elif text == "{":
            words = [word.text for word in head]
            words = words[_after_template(words):]
            scope, name = False, ""
            if outside and nested == 0:
                call = words.index("(") if "(" in words else -1
                if "namespace" in words[:2] or words[:1] == ["extern"]:
                    scope = True
                elif call > 0 and "=" not in words[:call]:
                    # braces initialise a member: name{...} after the colon of a constructor
                    initialiser = ":" in words[call:] and (head[-1].kind == "name" or words[-1] == ">")
                    name = "" if initialiser else _name_before(words, call)
                    if name.isupper() and "TEST" in name:  # TEST(Suite, Name)
                        name = ".".join(word for word in words[call + 1:words.index(")")] if word != ",")
                    elif name and stack and stack[-1][1] and "::" not in name:
                        name = f"{stack[-1][1]}::{name}"
                elif {"class", "struct", "union", "enum"} & set(words[:5]) and "=" not in words:
                    scope, name = True, _class_of(words)
            stack.append((scope, name, item.line))
            if scope:
                head, nested = [], 0
        elif outside:
            if text == ";" and nested == 0 or text == ":" and head and head[-1].text in ("public", "private",
                                                                                         "protected"):
                head = []
                continue
            nested += {"(": 1, ")": -1}.get(text, 0)
            head.append(item)
    return found


def ceilings(prefix):
    """Numbers of the lines "<name> <number>" of ceilings.txt whose names begin with a prefix."""
    found = {}
    with open(CEILINGS, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words and words[0].startswith(prefix):
                found[words[0]] = int(words[1])
    return found


def rounded(name, count):
    """Rounds ceilings of lines up, with at least four lines of reserve: longer names may add lines."""
    step = 10 if name.startswith("function:") else 50 if "lines" in name or name.startswith("file:") else 0
    return -(-(count + 4) // step) * step if step else count


def lower(counts, kinds):
    """Lowers the ceilings to rounded counts; removes lines of these kinds whose names have no count."""
    with open(CEILINGS, encoding="utf-8") as file:
        lines = file.readlines()
    with open(CEILINGS, "w", encoding="utf-8") as file:
        for line in lines:
            words = line.split("#")[0].split()
            if words and words[0].split(":")[0] in kinds:
                if words[0] not in counts:
                    continue
                line = line.replace(f" {words[1]}",
                                    f" {min(int(words[1]), rounded(words[0], counts[words[0]]))}", 1)
            file.write(line)


def expect_at_most(test, counts, prefix, limit, what):
    """Fails if a count exceeds its ceiling, or the limit if it has no ceiling."""
    known = ceilings(prefix)
    over = [f"{name}: {count} {what} (allowed: at most {known.get(name, limit)})"
            for name, count in sorted(counts.items()) if count > known.get(name, limit)]
    over += [f"{name}: has a line in ceilings.txt, but is not counted: remove the line"
             for name in sorted(set(known) - set(counts))]
    test.assertEqual(over, [], "\n".join(over))


def main(counts, *kinds):
    """Runs the tests of a program; with --lower, lowers the ceilings of its kinds to the present counts."""
    if sys.argv[1:] == ["--lower"]:
        lower(counts(), kinds)
        return
    unittest.main(module="__main__")
