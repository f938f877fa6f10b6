# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick
"""Tests of the three kinds of headers: public ones, and those in kernel/ and detail/.

Other modules of moho may include kernel/; only the module itself may include detail/.

    test_public_headers.py [--write]

public_headers.txt names all public headers, which are those outside of kernel/ and detail/; --write writes
it. The target verify_headers compiles each alone.
"""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
import sources  # noqa: E402

LIST = os.path.join(sources.HERE, "public_headers.txt")
HEAD = """# SPDX-License-Identifier: BSD-3-Clause
#
# Public headers; made by test_public_headers.py --write.
"""
INTERNAL = {"kernel", "detail"}
# Programs that still include internal headers.
EXCEPTIONS = set()


def headers():
    """Paths of all headers as they are included, moho/<module>/...hpp."""
    return [os.path.relpath(path, "lib") for path in sources.files("lib/moho", ends=(".hpp",))]


def kind_of(header):
    """Kind of a header: "public", "kernel" or "detail"."""
    inner = INTERNAL & set(header.split("/")[2:-1])
    return "detail" if "detail" in inner else "kernel" if inner else "public"


def public():
    return [header for header in headers() if kind_of(header) == "public"]


def listed():
    with open(LIST, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def module_of(path):
    """Module of a source, compiled kernel or test; "" for all other files."""
    found = re.match(r"(?:lib/moho|lib/kernels|tests)/(\w+)/", path)
    return found.group(1) if found else ""


def refusal(path, header):
    """Reason why a file may not include a header; "" if it may."""
    kind, owner = kind_of(header), header.split("/")[1]
    if kind == "detail" and module_of(path).removesuffix("_mpi") != owner:
        return f"{path} includes {header}, which is for the module {owner} alone"
    if kind == "kernel" and not path.startswith(("lib/", "tests/", "bench/")):
        return f"{path} includes {header}, which is for modules of moho"
    return ""


class PublicHeaders(unittest.TestCase):
    maxDiff = None

    def test_list_is_complete(self):
        self.assertGreater(len(public()), 50)
        self.assertEqual(listed(), public(),
                         "after a header was added, moved or removed: test_public_headers.py --write")

    def test_internal_headers_are_included_where_they_may_be(self):
        refused, excepted = [], set()
        for path in sources.files("lib", "examples", "bench", "tests", ends=(".hpp", ".cpp", ".cpp.in")):
            targets = re.findall(r"^[ \t]*#[ \t]*include[ \t]*[<\"](moho/[^>\"]+)[>\"]", sources.read(path),
                                 re.MULTILINE)
            for target in targets:
                text = refusal(path, target)
                if (path, target) in EXCEPTIONS:
                    excepted.add((path, target))
                elif text:
                    refused.append(text)
        self.assertEqual(refused, [], "\n".join(refused))
        self.assertEqual(excepted, EXCEPTIONS, "an exception is no longer needed: remove it")


class Rules(unittest.TestCase):
    def test_kinds(self):
        self.assertEqual(kind_of("moho/wave/points.hpp"), "public")
        self.assertEqual(kind_of("moho/wave/kernel/step.hpp"), "kernel")
        self.assertEqual(kind_of("moho/snapshot/codec/detail/quad.hpp"), "detail")

    def test_who_may_include_what(self):
        for path in ("lib/moho/wave/run.hpp", "lib/kernels/wave/driver.cpp.in", "tests/wave/test_run.cpp"):
            self.assertEqual(refusal(path, "moho/wave/detail/step.hpp"), "")
        for path in ("lib/moho/fwi/run.hpp", "examples/app/run.cpp", "bench/bench_waves.cpp",
                     "tests/fwi/test_run.cpp"):
            self.assertNotEqual(refusal(path, "moho/wave/detail/step.hpp"), "")
        self.assertEqual(refusal("lib/moho/fwi/run.hpp", "moho/wave/kernel/step.hpp"), "")
        self.assertNotEqual(refusal("examples/app/run.cpp", "moho/wave/kernel/step.hpp"), "")
        self.assertEqual(refusal("examples/app/run.cpp", "moho/wave/points.hpp"), "")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(HEAD + "".join(f"{header}\n" for header in public()))
    else:
        unittest.main()
