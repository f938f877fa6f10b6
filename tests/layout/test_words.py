# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick
"""Tests of .ci/words.py: the extraction of prose, and the words found in it."""

import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
import sources  # noqa: E402

SPEC = importlib.util.spec_from_file_location("words", os.path.join(sources.ROOT, ".ci", "words.py"))
words = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(words)


def found(table, text):
    matches = [pattern.search(text) for pattern, _ in words.compiled(table)]
    return [match.group() for match in matches if match]


class Words(unittest.TestCase):
    def test_prose(self):
        self.assertEqual(words.prose_of("lib/a.hpp", "int x = 1;  ///< there is one"), " there is one")
        self.assertEqual(words.prose_of("lib/a.hpp", 'open("https://example.org");'), "")
        self.assertEqual(words.prose_of("a.py", "x = 1  # none"), "none")
        self.assertEqual(words.prose_of("a.py", "x = none"), "")
        self.assertEqual(words.prose_of("a.md", "A `none` and [text](none.md)."), "A   and [text .")
        self.assertEqual(words.prose_of("a.md", "    none of code"), "")
        self.assertEqual(words.prose_of("docs/style.md", "none"), "")

    def test_words_that_are_never_right(self):
        for text in ("What it reckons with", "Somebody else's file", "Is there a pause?", "tried in vain"):
            self.assertEqual(len(found(words.ERRORS, text)), 1, text)
        for text in ("compute", "somebodies", "io.nobody", "is therefore", "vain"):
            self.assertEqual(found(words.ERRORS, text), [], text)

    def test_words_to_avoid(self):
        self.assertEqual(found(words.WARNINGS, "There is a way"), ["There is"])
        self.assertEqual(found(words.WARNINGS, "the legs"), ["legs"])
        self.assertEqual(found(words.WARNINGS, "elegs, legsx, none_of"), [])


if __name__ == "__main__":
    unittest.main()
