# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick
"""The version of project() in CMakeLists.txt is that of CITATION.cff, CHANGELOG.md and the Spack recipe."""

import re
import sys
import unittest

sys.dont_write_bytecode = True
import sources  # noqa: E402

NUMBER = r"([0-9]+\.[0-9]+\.[0-9]+)"


def project_version(text):
    """Returns the version of project() in a CMakeLists.txt."""
    return re.search(r"^project\(\s*moho\s+VERSION\s+" + NUMBER + r"\s", text, re.MULTILINE).group(1)


def parts(version):
    return tuple(int(part) for part in version.split("."))


def disagreements(version, citation, changelog, recipe):
    """Describes the files, given as texts, that do not have this version."""
    found = []
    cited = re.findall(r"^version: *(.*)$", citation, re.MULTILINE)
    if cited != [version]:
        found.append(f"CITATION.cff has the version {cited}")
    section = re.search(r"^## (\S+) \((.*)\)$", changelog, re.MULTILINE)
    if not section or section.group(1) != version:
        found.append("the first section of CHANGELOG.md is " + (section.group() if section else "missing"))
    released = re.findall(r"^date-released: *(.*)$", citation, re.MULTILINE)
    if section and released != ([] if section.group(2) == "unreleased" else [section.group(2)]):
        found.append(f"CITATION.cff has date-released {released}, CHANGELOG.md {section.group()}")
    # the recipe has released versions: the archive of a version exists after its tag
    for known in re.findall(r"version\(\"" + NUMBER + r"\"", recipe):
        if parts(known) > parts(version):
            found.append(f"the Spack recipe has the version {known}")
    return found


class Version(unittest.TestCase):
    def test_all_files_agree(self):
        version = project_version(sources.read("CMakeLists.txt"))
        self.assertEqual(disagreements(version, sources.read("CITATION.cff"), sources.read("CHANGELOG.md"),
                                       sources.read("packaging/spack/packages/moho/package.py")), [])

    def test_disagreements_are_found(self):
        self.assertEqual(project_version("project(\n  moho\n  VERSION 1.2.3\n  LANGUAGES CXX)\n"), "1.2.3")
        citation, recipe = "version: 1.2.3\n", 'version("1.2.3")'
        changelog = "# Changes\n\n## 1.2.3 (unreleased)\n"
        self.assertEqual(disagreements("1.2.3", citation, changelog, recipe), [])
        dated = changelog.replace("unreleased", "2026-12-01")
        self.assertEqual(disagreements("1.2.3", citation + "date-released: 2026-12-01\n", dated, recipe), [])
        for wrong in ((citation.replace("3", "4"), changelog, recipe),
                      (citation, changelog.replace("3", "4"), recipe),
                      (citation, "", recipe),
                      (citation, dated, recipe),
                      (citation + "date-released: 2026-12-01\n", changelog, recipe),
                      (citation, changelog, 'version("1.2.10")')):
            self.assertEqual(len(disagreements("1.2.3", *wrong)), 1, wrong)


if __name__ == "__main__":
    unittest.main()
