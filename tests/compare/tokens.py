# SPDX-License-Identifier: BSD-3-Clause
"""Compares the tokens of C++ and Python sources in two commits, without comments and white space.

    tokens.py BEFORE [AFTER | worktree] [PATH...] [--names TABLE] [--strings same|renamed|any]

AFTER is a commit; the default, worktree, is the working tree with untracked files. PATHs limit the files.
Moved files are followed, and their old #include paths equal the new ones. The comparison covers:

- C++ (.hpp, .cpp, .cpp.in, .cu): preprocessing tokens. Adjacent string literals are joined, and runs of
  #include are sorted. Comments that CMake reads ("// light", "// alone", "// word: values" in templates,
  "// ctest:") are included.
- Python: tokens without docstrings; adjacent string literals are joined.

--names reads a table of renamed identifiers, one in each line; # begins a comment:

    old -> new [PREFIX]     each `old` is `new` afterwards; both may be qualified
                            (rtm::Leg -> wave::SourceTerm)
    old ~> new [PREFIX]     an `old` may also stay, for members whose name other classes share

A line with PREFIX holds for files whose old path begins with it. --strings renamed applies the table to
string literals also; --strings any lists the literals that differ, and accepts them.

Exit status: 0 all tokens are equal, 1 differences, 2 unusable arguments.
"""

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import token
import tokenize

CXX = (".hpp", ".cpp", ".cpp.in", ".cu")
STRING = r"""(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.)*")"""
LEXER = re.compile(
    r"""(?P<space>[ \t\r\f\v]+|\\\r?\n)
      | (?P<newline>\n)
      | (?P<comment>//(?:[^\\\n]|\\\r?\n|\\.)*|/\*.*?\*/)
      | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>""" + STRING + r"""|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
      | (?P<name>@?[A-Za-z_]\w*@?)
      | (?P<number>\.?\d(?:[eEpP][+-]|'?\w|\.)*)
      | (?P<symbol>%:%:|<<=|>>=|<=>|->\*|\.\.\.|\#\#|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\|
                  |[-+*/%^&|]=|\.\*|.)""",
    re.VERBOSE | re.DOTALL)
ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3})$")
# in templates, read by lib/kernels/CMakeLists.txt
BUILD_COMMENT = re.compile(r"// *(?:light|alone|[a-z_]+: .*)$")


class Token(tuple):
    """A kind, a text and a line number; equal to another one of the same kind and text."""

    def __new__(cls, kind, text, line=0):
        return super().__new__(cls, (kind, text, line))

    kind, text, line = (property(lambda self, n=n: self[n]) for n in range(3))

    def __eq__(self, other):
        return self[:2] == other[:2]

    def __ne__(self, other):
        return self[:2] != other[:2]

    __hash__ = None


def join_strings(tokens):
    """Returns tokens with adjacent string literals of one kind joined."""
    joined = []
    for item in tokens:
        last = joined[-1] if joined else None
        if item.kind == "string" and last is not None and last.kind == "string":
            head, tail = re.match(r"\w*['\"]", last.text), re.match(r"\w*['\"]", item.text)
            # not after an escape that would include the next character, and no triple quotes
            if (head.group() == tail.group() and head.group()[-1] == '"'
                and '"""' not in last.text + item.text
                    and not ESCAPE.search(last.text[:-1])):
                joined[-1] = Token("string", last.text[:-1] + item.text[tail.end():], last.line)
                continue
        joined.append(item)
    return joined


def cxx_tokens(text, path=""):
    """Returns the preprocessing tokens of C++; directives end with a token "end"."""
    tokens, line, at_start, directive, header = [], 1, True, False, False
    position = 0
    while position < len(text):
        if header:
            found = re.compile(r"<[^>\n]+>|\"[^\"\n]+\"").match(text, position)
            if found:
                tokens.append(Token("header", found.group(), line))
                position, header = found.end(), False
                continue
        found = LEXER.match(text, position)
        kind, piece = found.lastgroup if found.lastgroup != "mark" else "raw", found.group()
        position = found.end()
        if kind == "newline":
            if directive:
                tokens.append(Token("end", "end of line", line))
            at_start, directive, header = True, False, False
        elif kind == "comment":
            if piece.startswith("// ctest:") or path.endswith(".in") and BUILD_COMMENT.match(piece):
                tokens.append(Token("comment", piece, line))
        elif kind != "space":
            if piece == "#" and at_start:
                directive = True
            header = directive and kind == "name" and tokens[-1].text == "#" and piece == "include"
            tokens.append(Token(kind, piece, line))
            at_start = False
        line += piece.count("\n")
    if directive:
        tokens.append(Token("end", "end of line", line))
    return join_strings(tokens)


def python_tokens(text, path=""):
    """Returns the tokens of Python without comments and docstrings."""
    left_out = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
    tokens, statement = [], []
    for item in tokenize.generate_tokens(io.StringIO(text).readline):
        if item.type == tokenize.COMMENT and item.string.startswith("# ctest:"):
            tokens.append(Token("comment", item.string, item.start[0]))
        if item.type in left_out:
            continue
        kind = token.tok_name[item.type].lower()
        layout = item.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        statement.append(Token(kind, kind if layout else item.string, item.start[0]))
        if layout:
            # a statement that is a string has no effect: a docstring
            if item.type != tokenize.NEWLINE or any(word.kind != "string" for word in statement[:-1]):
                tokens += statement
            statement = []
    return join_strings(tokens + statement)


def sort_includes(tokens):
    """Sorts each run of adjacent #include directives."""
    result, run, position = [], [], 0
    while position < len(tokens):
        words = tokens[position:position + 4]
        if [word.text for word in words[:2]] == ["#", "include"] and words[-1].kind == "end":
            run.append(words)
            position += 4
            continue
        for directive in sorted(run, key=lambda words: words[2].text):
            result += directive
        run = []
        result.append(tokens[position])
        position += 1
    for directive in sorted(run, key=lambda words: words[2].text):
        result += directive
    return result


class Names:
    """A table of renamed identifiers."""

    def __init__(self, text=""):
        self.rules = []  # (old words, new words, an old one may stay, prefix of paths)
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) not in (3, 4) or words[1] not in ("->", "~>") or not all(
                    re.fullmatch(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*", words[k]) for k in (0, 2)):
                raise ValueError(f"line {number} of the names, '{line.strip()}' (allowed: old -> new "
                                 "[PREFIX], old ~> new [PREFIX])")
            old, new = (re.findall(r"\w+|::", words[k]) for k in (0, 2))
            if words[1] == "~>" and (len(old), len(new)) != (1, 1):
                raise ValueError(f"line {number} of the names, '{line.strip()}' (~> takes names without ::)")
            self.rules.append((old, new, words[1] == "~>", words[3] if len(words) == 4 else ""))
        self.rules.sort(key=lambda rule: -len(rule[0]))  # the longest first

    def rename(self, tokens, path):
        """Returns tokens after the rules that hold for all uses."""
        by_first = {}
        for old, new, may_stay, prefix in self.rules:
            if not may_stay and path.startswith(prefix):
                by_first.setdefault(old[0], []).append((old, new))
        result, position = [], 0
        while position < len(tokens):
            item = tokens[position]
            for old, new in by_first.get(item.text, []) if item.kind == "name" else []:
                if [word.text for word in tokens[position:position + len(old)]] == old:
                    result += [Token("symbol" if word == "::" else "name", word, item.line) for word in new]
                    position += len(old)
                    break
            else:
                result.append(item)
                position += 1
        return result

    def rename_text(self, text, path):
        """Returns a string literal with renamed words."""
        for old, new, _, prefix in self.rules:
            if path.startswith(prefix):
                text = re.sub(rf"\b{'::'.join(part for part in old if part != '::')}\b", "".join(new), text)
        return text

    def allows(self, before, after, path):
        """True if a name may have been renamed."""
        return before.kind == after.kind == "name" and any(
            may_stay and before.text == old[0] and after.text == new[0] and path.startswith(prefix)
            for old, new, may_stay, prefix in self.rules)


class Repository:
    def __init__(self, folder):
        self.folder = subprocess.run(["git", "-C", folder, "rev-parse", "--show-toplevel"], check=True,
                                     capture_output=True, text=True).stdout.strip()

    def git(self, *words, **options):
        return subprocess.run(["git", "-C", self.folder, *words], check=True, stdout=subprocess.PIPE,
                              **options).stdout

    def tree(self, commit):
        """The tree of a commit, or of the working tree, which a temporary index makes a tree."""
        if commit != "worktree":
            return self.git("rev-parse", "--verify", "--end-of-options", commit + "^{tree}",
                            stderr=subprocess.PIPE).decode().strip()
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, GIT_INDEX_FILE=os.path.join(folder, "index"))
            self.git("read-tree", "HEAD", env=environment)
            self.git("add", "--all", env=environment)
            return self.git("write-tree", env=environment).decode().strip()

    def changes(self, before, after):
        """Pairs of paths; one of them is None for a new or removed file."""
        fields = iter(self.git("-c", "diff.renameLimit=0", "diff", "-M30%", "--name-status", "-z", before,
                               after).decode().split("\0"))
        for status in fields:
            if status[:1] in ("R", "C"):
                yield next(fields), next(fields)
            elif status:
                path = next(fields)
                yield (None if status == "A" else path), (None if status == "D" else path)

    def text(self, tree, path):
        return self.git("cat-file", "blob", f"{tree}:{path}").decode("utf-8").replace("\r\n", "\n")


def first_difference(before, after, path, names, strings):
    """Returns the index of the first differing tokens, and pairs of accepted string literals.

    The index is None for equal tokens.
    """
    accepted = []
    for n, (one, other) in enumerate(zip(before, after)):
        if one == other or names.allows(one, other, path):
            continue
        if strings == "any" and one.kind == other.kind and one.kind in ("string", "raw"):
            accepted.append((one, other))
            continue
        return n, accepted
    return (None if len(before) == len(after) else min(len(before), len(after))), accepted


def compare(repository, before, after, names=None, strings="same", paths=(), print=print):
    """Compares two trees. Returns the numbers of equal files, different files, and files of other kinds."""
    names = names or Names()
    pairs = list(repository.changes(before, after))
    moved = {old: new for old, new in pairs if old and new and old != new}
    # #include <moho/...> names a file below lib, "..." one below examples, bench, tests or the file's folder
    includes = {}
    for old, new in moved.items():
        for root in ("lib/", "examples/", "bench/", "tests/", ""):
            if old.startswith(root) and new.startswith(root):
                includes[old[len(root):]] = new[len(root):]
    equal = different = others = 0
    for old, new in pairs:
        path = old or new
        if paths and not any(name == place or name.startswith(place.rstrip("/") + "/")
                             for place in paths for name in (old, new) if name):
            continue
        if not path.endswith(CXX + (".py",)):
            others += 1
            continue
        if not old or not new:
            print(f"{path}: only {'before' if old else 'after'}")
            different += 1
            continue
        read = python_tokens if path.endswith(".py") else cxx_tokens
        one, other = read(repository.text(before, old), old), read(repository.text(after, new), new)
        for n, item in enumerate(one):
            if item.kind == "header":
                target = item.text[1:-1]
                target = includes.get(target, target)
                one[n] = Token("header", item.text[0] + target + item.text[-1], item.line)
            elif strings == "renamed" and item.kind in ("string", "raw"):
                one[n] = Token(item.kind, names.rename_text(item.text, old), item.line)
        one, other = sort_includes(names.rename(one, old)), sort_includes(other)
        found, accepted = first_difference(one, other, old, names, strings)
        for was, now in accepted:
            print(f"{new}:{now.line}: {was.text} -> {now.text}")
        if found is None:
            equal += 1
            continue
        different += 1
        for label, where, tokens in (("before", old, one), ("after ", new, other)):
            line = tokens[min(found, len(tokens) - 1)].line if tokens else 1
            shown = " ".join(item.text for item in tokens[max(found - 4, 0):found])
            there = " ".join(item.text for item in tokens[found:found + 8]) or "(end of the file)"
            print(f"{label} {where}:{line}: {shown} >> {there}")
    return equal, different, others


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="worktree")
    parser.add_argument("paths", nargs="*", help="files and folders, relative to the repository")
    parser.add_argument("--names", help="table of renamed identifiers")
    parser.add_argument("--strings", choices=("same", "renamed", "any"), default="same")
    parser.add_argument("--repository", default=".", help="a folder of the repository (default: this one)")
    arguments = parser.parse_intermixed_args()
    names = Names()
    try:
        if arguments.names:
            with open(arguments.names, encoding="utf-8") as file:
                names = Names(file.read())
        repository = Repository(arguments.repository)
        before, after = repository.tree(arguments.before), repository.tree(arguments.after)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    except subprocess.CalledProcessError as error:
        parser.error((error.stderr or b"").decode().strip()
                     if isinstance(error.stderr, bytes) else str(error.stderr or error))
    equal, different, others = compare(repository, before, after, names, arguments.strings, arguments.paths)
    print(f"{equal + different} changed sources, {different} with other tokens; {others} changed files of "
          "other kinds are not compared")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
