# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick
"""Limits on lengths: files have at most 600 lines, functions at most 80 from brace to brace.

    test_lines.py [--lower]

Exceptions have a ceiling in ceilings.txt. --lower sets the ceilings to the present counts if these are lower.
"""

import os
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
import sources  # noqa: E402

CODE = ("lib", "examples", "bench", "tests")
FILE, FUNCTION = 600, 80
PAGES = {"README.md": 100, "CONTRIBUTING.md": 90}


def file_counts():
    """Counts by name without folder, so that a file with an exception can move."""
    found = {}
    for path in sources.files(*CODE, ends=(".hpp", ".cpp", ".cpp.in", ".py")):
        key = f"file:{os.path.basename(path)}"
        found[key] = max(sources.lines_of(path), found.get(key, 0))
    return found


def function_counts():
    found = {}
    for path in sources.files(*CODE):
        for name, lines in sources.functions(sources.tokens_of(path)):
            key = f"function:{name}"
            found[key] = max(lines, found.get(key, 0))
    return found


def long_ones():
    files = {name: count for name, count in file_counts().items() if count > FILE}
    return files | {name: count for name, count in function_counts().items() if count > FUNCTION}


class Lines(unittest.TestCase):
    def test_of_files(self):
        sources.expect_at_most(self, file_counts(), "file:", FILE, "lines")

    def test_of_functions(self):
        found = function_counts()
        self.assertGreater(len(found), 1000)
        sources.expect_at_most(self, found, "function:", FUNCTION, "lines")

    def test_of_pages(self):
        for page, limit in PAGES.items():
            self.assertLessEqual(sources.lines_of(page), limit, page)

    def test_licences(self):
        for path in sources.files("lib", "examples", "bench", "tests", "docs", "cmake",
                                  ends=(".hpp", ".cpp", ".cpp.in", ".py", ".cmake", ".sh", "CMakeLists.txt")):
            self.assertIn("SPDX-License-Identifier: BSD-3-Clause",
                          "".join(sources.read(path).splitlines(True)[:2]), path)


class Functions(unittest.TestCase):
    def functions(self, text):
        return sources.functions(sources.tokens.cxx_tokens(text))

    def test_are_found_at_all_scopes(self):
        self.assertEqual(self.functions("namespace a::b {\nint f(int x) {\n  if (x) { return g([] { return "
                                        "1; }); }\n  return 2;\n}\n}"),
                         [("f", 4)])
        self.assertEqual(self.functions("struct A {\n  A() : m{1}, n(2) {\n  }\n  int get() const { return "
                                        "m; }\n private:\n  int m{0};\n};"),
                         [("A::A", 2), ("A::get", 1)])
        self.assertEqual(self.functions("template <class T, int N = 3>\nvoid A<T, N>::add(\n    int x) "
                                        "{\n}\nbool operator==(A, A) {\n\n}"),
                         [("A::add", 2), ("operator==", 3)])
        self.assertEqual(self.functions("TEST(Suite, Name) {\n}\nenum class E { a, b };\nconst int x[] = {1, "
                                        "2};\nint f(int = 1);\n"),
                         [("Suite.Name", 2)])

    def test_directives_do_not_count(self):
        self.assertEqual(self.functions("#define M(x) {\nint f() {\n#if A\n}\n#endif\n"), [("f", 3)])


class Lowering(unittest.TestCase):
    def test_removes_and_lowers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ceilings.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# Files.\nfile:a.py 900\nfunction:f 120\nfunction:g 90\nprograms:macros 3\n")
            with unittest.mock.patch.object(sources, "CEILINGS", path):
                sources.lower({"function:f": 91}, ("file", "function"))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "# Files.\nfunction:f 100\nprograms:macros 3\n")


if __name__ == "__main__":
    sources.main(long_ones, "file", "function")
