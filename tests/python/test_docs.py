# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 1
"""Docstrings of the package name all arguments, and the reference page has them."""

import dataclasses
import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import moho

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEEDS = {"moho.linear": "scipy", "moho.torch": "torch", "moho.plot": "matplotlib"}


def callables():
    """Names and objects of all public functions and constructors."""
    modules = [moho]
    for name, other in NEEDS.items():
        if importlib.util.find_spec(other):
            modules.append(importlib.import_module(name))
    for module in modules:
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(found):
                yield f"{module.__name__}.{name}", found
            elif inspect.isclass(found) and not dataclasses.is_dataclass(found):
                for method, one in vars(found).items():
                    if inspect.isfunction(one) and not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", one


class Docstrings(unittest.TestCase):
    def test_describe_every_argument(self):
        count = 0
        for name, found in callables():
            text = inspect.getdoc(found) or ""
            self.assertGreater(len(text), 10, name)
            described = set()
            for line in re.findall(r"^(\S.*) : ", text, re.MULTILINE):
                described.update(re.findall(r"\w+", line))
            if "Parameters" not in text:
                continue
            described.update(re.findall(r"\w+", " ".join(re.findall(r"^([\w, *]+)$", text, re.MULTILINE))))
            missing = [
                argument
                for argument in inspect.signature(found).parameters
                if argument not in described | {"self", "progress"}
            ]
            self.assertEqual(missing, [], name)
            count += 1
        self.assertGreater(count, 15)

    def test_are_in_the_reference_page(self):
        script = os.path.join(ROOT, "docs", "python_reference.py")
        done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_all_public_names_are_in_the_reference_page(self):
        with open(os.path.join(ROOT, "docs", "python_reference.md"), encoding="utf-8") as file:
            headings = set(re.findall(r"^### (\w+)$", file.read(), re.MULTILINE))
        names = {name for name in moho.__all__ if name != "__version__" and name.isidentifier()}
        self.assertEqual(names - headings, set())


if __name__ == "__main__":
    unittest.main()
