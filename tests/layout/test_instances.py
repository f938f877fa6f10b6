# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick
"""Libraries of kernels contain the templates that headers declare extern, and no others."""

import re
import sys
import unittest

sys.dont_write_bytecode = True
import sources  # noqa: E402

# MOHO_FOR_ALL(MOHO_FUNCTION, extern template, check_model) in a header;
# MOHO_FUNCTION(template, check_model, @scalar@, ...) or template class PointSet<@scalar@, ...> in a template
# of sources. Macros with a signature have no name: MOHO_FOR_ALL(MOHO_WAVE_MODEL_SHOT, extern template).
MACRO = re.compile(r"((?:MOHO_[A-Z_]+\s*[(,]\s*)+)(extern )?template(?: class| struct)?(?:,\s*([\w:]+))?")
PLAIN = re.compile(r"^(extern )?template (?:class|struct) ([\w:]+)<", re.MULTILINE)


def instances(text, extern):
    """Names of the templates that a text declares extern, or instantiates."""
    found = set()
    for macros, word, name in MACRO.findall(text):
        if bool(word) == extern:
            found.add(name or re.findall(r"\w+", macros)[-1])
    for word, name in PLAIN.findall(text):
        if bool(word) == extern:
            found.add(name)
    return found


def by_module(folder, end, extern):
    found = {}
    for path in sources.files(folder, ends=(end,)):
        if not path.endswith("core/instances.hpp"):
            module = path[len(folder) + 1:].split("/")[0]
            found.setdefault(module, set()).update(instances(sources.read(path), extern))
    return {module: names for module, names in found.items() if names}


class Instances(unittest.TestCase):
    def test_are_declared_and_compiled(self):
        declared = by_module("lib/moho", ".hpp", extern=True)
        compiled = by_module("lib/kernels", ".cpp.in", extern=False)
        self.assertEqual(sorted(declared), sorted(compiled))
        for module in declared:
            self.assertEqual(sorted(declared[module]), sorted(compiled[module]), module)


class Reading(unittest.TestCase):
    def test_names(self):
        for text, extern, name in (
            ("MOHO_FOR_ALL(MOHO_FUNCTION, extern template, check_model)", True, "check_model"),
            ("MOHO_FOR_ALL(MOHO_CLASS, extern template class, PointSet)", True, "PointSet"),
            ("MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_FUNCTION, extern template,\n    detail::sum)", True,
             "detail::sum"),
            ("MOHO_FOR_ALL(MOHO_WAVE_MODEL_SHOT, extern template)", True, "MOHO_WAVE_MODEL_SHOT"),
            ("MOHO_FUNCTION(template, check_model, @scalar@, 2, @memory@)", False, "check_model"),
            ("MOHO_WAVE_MODEL_SHOT(template, @scalar@, 2, @memory@)", False, "MOHO_WAVE_MODEL_SHOT"),
            ("template struct Wavefield<@scalar@, 2, @memory@>;", False, "Wavefield"),
        ):
            self.assertEqual(instances(text, extern), {name}, text)
            self.assertEqual(instances(text, not extern), set(), text)


if __name__ == "__main__":
    unittest.main()
