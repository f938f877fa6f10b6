# SPDX-License-Identifier: BSD-3-Clause
"""Looks for words to avoid (docs/style.md) in comments and pages.

    words.py [BASE | --all]

Reads the lines that the working tree adds to BASE; with --all, all lines. BASE is a commit; the default is
the commit where the branch left the main one, or the last tag, or the last commit but one. Comments of C++,
CMake, Python and shell sources count, and Markdown without code and links.

Prints a line for each word to avoid. Exit status 1 if one of them is never right, 0 otherwise.
"""

import os
import re
import subprocess
import sys

# Never right, with what to write instead.
ERRORS = {
    r"reckon\w*": "compute, expect",
    r"in vain": "without result",
    r"(some|no)body( else)?('s)?": "name the process or the user",
    r"(is|are|was|were) there (a|an|any|no|none|one|some|nothing)": "does ... exist",
    r"as it were": "",
    r"lest": "so that ... not",
    r"whilst": "while",
    r"hitherto|heretofore": "so far",
    r"to be had": "available",
    r"(not )?let alone": "",
    r"of old": "earlier",
    r"in earnest": "",
    r"behaviors?": "behaviour",
    r"neighbor(s|ing)?": "neighbour",
    r"labeled": "labelled",
    r"initializ(e|es|ed|ing|ation)": "initialise",
    r"normaliz(e|es|ed|ing|ation)": "normalise",
    r"minimiz(e|es|ed|ing|ation)": "minimise",
}
# Often wrong.
WARNINGS = {
    r"there (is|are|was|were)": "exists, is set, is complete",
    r"as (it is|they are)": "unchanged",
    r"of (its|their) own": "separate",
    r"besides?": "concurrently, next to, compared with",
    r"asked for": "requested",
    r"(is|are|was|were) (told|said)": "given, reported",
    r"com(e|es|ing) out": "results in, is",
    r"go(es|ing)? on with": "resumes, continues",
    r"the same of": "repeat the noun",
    r"none": "invalid; no",
    r"look(s|ed|ing)? (at|for)": "inspect, check, search",
    r", too": "also",
    r"at once": "concurrently; immediately",
    r"used to|former(ly)?": "the present state",
    r"anew": "once more",
    r"modeling": "modelling",
    r"legs?": "forward propagation, backward propagation",
}
# Sources with # comments, with // comments, and pages.
HASH, SLASHES, PAGES = (".py", ".cmake", ".sh", "CMakeLists.txt",
                        "run"), (".hpp", ".cpp", ".cpp.in"), (".md",)
# Pages of what was, and of the rules themselves.
LEFT_OUT = ("CHANGELOG.md", "docs/style.md", "docs/history.md", ".ci/words.py")


def prose_of(path, line):
    """The part of a line that is prose; "" for code."""
    if path in LEFT_OUT:
        return ""
    if path.endswith(SLASHES):
        found = re.search(r"(?:^|[^:\"])//[/!<]*(.*)", line)
        return found.group(1) if found else ""
    if path.endswith(PAGES):
        if line.startswith("    "):
            return ""
        return re.sub(r"`[^`]*`|\]\([^)]*\)", " ", line)
    if path.endswith(HASH):
        found = re.search(r"(?:^|\s)# (.*)", line)
        return found.group(1) if found else ""
    return ""


def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, text=True, errors="replace")
    return done.stdout.strip() if done.returncode == 0 else ""


def base_of_branch():
    """The commit where the branch left the main one; where it did not, the last tag or the last commit but
    one.
    """
    for main in ("origin/HEAD", "origin/main"):
        base = git("merge-base", "HEAD", main)
        if base and base != git("rev-parse", "HEAD"):
            return base
    return git("describe", "--tags",
               "--abbrev=0") or git("rev-parse", "HEAD~1") or git("hash-object", "-t", "tree", os.devnull)


def added_lines(base):
    """Yields path, line number and text of the lines that the working tree adds to a commit."""
    path, number = "", 0
    for line in git("diff", "--no-color", "--no-ext-diff", "-M", "-U0", base, "--").split("\n"):
        if line.startswith("+++ "):
            path = line[6:]
        elif line.startswith("@@ "):
            number = int(re.match(r"@@ -\S+ \+(\d+)", line).group(1))
        elif line.startswith("+"):
            yield path, number, line[1:]
            number += 1


def all_lines():
    for path in git("ls-files", "-z").split("\0"):
        if path.endswith(HASH + SLASHES + PAGES):
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    yield path, number, line.rstrip("\n")


def compiled(table):
    return [(re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w-])", re.IGNORECASE),
             use) for pattern, use in table.items()]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    words = sys.argv[1:]
    if len(words) > 1 or words[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(words) == 1 else 2
    if words == ["--all"]:
        lines, text = all_lines(), "all lines"
    else:
        base = words[0] if words else base_of_branch()
        if not git("rev-parse", "--verify", "--end-of-options", base + "^{tree}"):
            print(f"words.py: {base} is no commit")
            return 2
        lines, text = added_lines(base), f"lines since {base[:12]}"
    errors = warnings = 0
    tables = (("error", compiled(ERRORS)), ("avoid", compiled(WARNINGS)))
    for path, number, line in lines:
        prose = prose_of(path, line)
        for kind, table in tables:
            for pattern, use in table if prose else []:
                found = pattern.search(prose)
                if found:
                    errors += kind == "error"
                    warnings += kind == "avoid"
                    print(f"{path}:{number}: {kind} "
                          f"'{found.group().strip()}'{f' (use: {use})' if use else ''}: {prose.strip()}")
    print(f"{text}: {errors} words that are never right, {warnings} to avoid (docs/style.md)")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
