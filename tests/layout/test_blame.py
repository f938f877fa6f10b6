# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick
""".git-blame-ignore-revs: git blame refuses the file if one of its lines is no commit of the history."""

import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import sources  # noqa: E402


def git(*arguments):
    return subprocess.run(["git", "-C", sources.ROOT, *arguments], text=True, capture_output=True)


class Blame(unittest.TestCase):
    def setUp(self):
        lines = sources.read(".git-blame-ignore-revs").splitlines()
        self.commits = [line for line in lines if line and not line.startswith("#")]

    def test_lines_are_full_hashes(self):
        self.assertGreater(len(self.commits), 0)
        for commit in self.commits:
            self.assertTrue(re.fullmatch("[0-9a-f]{40}", commit), commit)
        self.assertEqual(len(self.commits), len(set(self.commits)))

    def test_commits_are_in_the_history(self):
        if not os.path.exists(os.path.join(sources.ROOT, ".git")):
            self.skipTest("this is no clone")
        try:
            known = git("rev-list", "HEAD")
        except FileNotFoundError:
            self.skipTest("git is missing")
        if known.returncode != 0 or git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
            self.skipTest("the clone has no complete history")
        self.assertEqual(set(self.commits) - set(known.stdout.split()), set())


if __name__ == "__main__":
    unittest.main()
