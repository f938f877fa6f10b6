# SPDX-License-Identifier: BSD-3-Clause
"""Tests of tokens.py: equality of texts, and of commits of a small repository."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import tokens  # noqa: E402


def cxx(text, path="a.cpp"):
    return [item.text for item in tokens.cxx_tokens(text, path)]


def python(text):
    return [item.text for item in tokens.python_tokens(text)]


SAME = "int same(double width, double height);\n" * 9  # moved files are found by unchanged lines


class Cxx(unittest.TestCase):
    def test_comments_and_space_do_not_count(self):
        self.assertEqual(cxx("int a = 1; // one\n"), cxx("int a\n  = /* 1\n */ 1;"))
        self.assertNotEqual(cxx("int a;"), cxx("inta;"))
        self.assertNotEqual(cxx("a + +b"), cxx("a ++b"))
        self.assertEqual(cxx("x // continued \\\n y\nz"), ["x", "z"])

    def test_literals_hold_what_looks_like_comments(self):
        self.assertEqual(cxx('f("// no", \'"\', "\\"/*");'),
                         ["f", "(", '"// no"', ",", "'\"'", ",", '"\\"/*"', ")", ";"])
        self.assertEqual(cxx('R"x(a // "b")" )x" c'), ['R"x(a // "b")" )x"', "c"])
        self.assertEqual(cxx("1'000'000.0f + 0x1.8p-3"), ["1'000'000.0f", "+", "0x1.8p-3"])

    def test_adjacent_strings_are_one(self):
        self.assertEqual(cxx('"ab"\n  "cd"'), cxx('"abcd"'))
        self.assertNotEqual(cxx('"\\x1" "2"'), cxx('"\\x12"'))
        self.assertNotEqual(cxx('"ab" u8"c"'), cxx('"abc"'))

    def test_lines_of_directives_count(self):
        self.assertNotEqual(cxx("#define A\nB"), cxx("#define A B"))
        self.assertEqual(cxx("#define A \\\n B\n"), cxx("#define A B\n"))
        self.assertEqual(cxx("#include <a/b.hpp>  // why"), ["#", "include", "<a/b.hpp>", "end of line"])

    def test_comments_for_the_build_count(self):
        self.assertNotEqual(cxx("// alone\nint a;", "a.cpp.in"), cxx("int a;", "a.cpp.in"))
        self.assertEqual(cxx("// alone\nint a;"), cxx("int a;"))
        self.assertNotEqual(cxx("// ctest: quick\nint a;"), cxx("int a;"))


class Python(unittest.TestCase):
    def test_comments_and_docstrings_do_not_count(self):
        self.assertEqual(python('"""A."""\ndef f(a):\n    """B."""\n\n    return a  # c\n'),
                         python("def f(a):\n  return a\n"))
        self.assertNotEqual(python('def f():\n    return "a"\n'), python("def f():\n    return\n"))

    def test_blocks_count(self):
        self.assertNotEqual(python("if a:\n    b()\nc()\n"), python("if a:\n    b()\n    c()\n"))


class Tables(unittest.TestCase):
    def renamed(self, table, text, path="lib/a.hpp"):
        return [item.text for item in tokens.Names(table).rename(tokens.cxx_tokens(text), path)]

    def test_qualified_and_limited_names(self):
        self.assertEqual(self.renamed("rtm::Leg -> wave::SourceTerm  # text\nLeg -> Other",
                                      "rtm::Leg a; Leg b; Legs c;"),
                         cxx("wave::SourceTerm a; Other b; Legs c;"))
        self.assertEqual(self.renamed("a -> b lib/x", "a"), ["a"])
        self.assertEqual(self.renamed("a -> b lib/a", "a"), ["b"])

    def test_unusable_lines_are_refused(self):
        for line in ("a b", "a -> 1", "a::b ~> c", "a -> b c d"):
            with self.assertRaisesRegex(ValueError, "line 1 of the names"):
                tokens.Names(line)


class Commits(unittest.TestCase):
    """Files of a repository before and after a change of its working tree."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.git("init", "-q")
        self.git("config", "user.name", "test")
        self.git("config", "user.email", "test@example.org")
        self.write("lib/moho/a/one.hpp",
                   "#pragma once\nint put(int a);\nint get(int a);  // \"put\"\n" + SAME)
        self.write("lib/moho/a/two.cpp",
                   "#include <moho/a/one.hpp>\n#include <vector>\n\nint x = put(1); const char* t = \"put "
                   "it\";\n")
        self.write("tool.py", "# A tool.\nprint('a')\n")
        self.write("page.md", "A page.\n")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "before")

    def git(self, *words):
        subprocess.run(["git", "-C", self.folder, *words], check=True,
                       env=dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull))

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def compare(self, *words):
        run = subprocess.run([sys.executable, tokens.__file__, "HEAD", "worktree", "--repository",
                              self.folder, *words],
                             capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def test_comments(self):
        self.write("lib/moho/a/two.cpp",
                   "// Two.\n#include <moho/a/one.hpp>\n#include <vector>\nint x = put(1);\n"
                                         "const char* t = \"put \"  // it\n  \"it\";\n")
        self.write("tool.py", '"""Another tool."""\nprint("a")\n'.replace('"a"', "'a'"))
        self.write("page.md", "Another page.\n")
        self.assertEqual(self.compare(),
                         (0, "2 changed sources, 0 with other tokens; 1 changed files of other kinds are not "
                             "compared\n"))

    def test_the_first_difference_is_shown_with_its_line(self):
        self.write("lib/moho/a/two.cpp",
                   "#include <moho/a/one.hpp>\n#include <vector>\n\nint x = put(2); const char* t = \"put "
                   "it\";\n")
        status, text = self.compare()
        self.assertEqual(status, 1)
        self.assertIn("before lib/moho/a/two.cpp:4: x = put ( >> 1 ) ;", text)
        self.assertIn("after  lib/moho/a/two.cpp:4:", text)
        self.assertEqual(self.compare("page.md")[0], 0)
        self.assertEqual(self.compare("lib")[0], 1)

    def test_new_files_are_differences(self):
        self.write("lib/moho/a/three.cpp", "int three;\n")
        self.assertEqual(self.compare()[0], 1)

    def test_names_and_moved_files(self):
        table = os.path.join(self.folder, "..", os.path.basename(self.folder) + ".txt")
        self.addCleanup(os.remove, table)
        with open(table, "w", encoding="utf-8") as file:
            file.write("put -> save\nget ~> load\n")
        os.makedirs(os.path.join(self.folder, "lib/moho/b"))
        self.git("mv", "lib/moho/a/one.hpp", "lib/moho/b/store.hpp")
        two = "#include <moho/b/store.hpp>\n#include <vector>\n\nint x = {}(1); const char* t = \"{} it\";\n"
        self.write("lib/moho/a/two.cpp", two.format("put", "put"))
        self.assertEqual(self.compare()[0], 0)
        self.write("lib/moho/a/two.cpp", two.format("save", "put"))
        self.write("lib/moho/b/store.hpp",
                   "// One.\n#pragma once\nint save(int a);\nint load(int a);\n" + SAME)
        self.assertEqual(self.compare()[0], 1)
        self.assertEqual(self.compare("--names", table)[0], 0)
        self.write("lib/moho/a/two.cpp", two.format("save", "save"))
        self.assertEqual(self.compare("--names", table)[0], 1)
        self.assertEqual(self.compare("--names", table, "--strings", "renamed")[0], 0)
        status, text = self.compare("--names", table, "--strings", "any")
        self.assertEqual(status, 0)
        self.assertIn('lib/moho/a/two.cpp:4: "put it" -> "save it"', text)

    def test_unusable_arguments(self):
        run = subprocess.run([sys.executable, tokens.__file__, "no-such-commit", "--repository", self.folder],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)


if __name__ == "__main__":
    if shutil.which("git") is None:
        print("skipped: git is missing")
        sys.exit(77)
    unittest.main()
