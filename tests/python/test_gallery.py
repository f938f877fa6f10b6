# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 30, threads 2
"""The programs of docs/python.md and of examples/python."""

import base64
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import support


class Pages(unittest.TestCase):
    def test_programs_of_the_guide_run(self):
        folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(folder, "docs", "python.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreater(len(blocks), 0)
        for block in blocks:
            needs = {"scipy": "scipy", "moho.linear": "scipy", "moho.plot": "matplotlib"}
            if any(word in block and importlib.util.find_spec(needs[word]) is None for word in needs):
                continue
            done = support.run_python(block)
            self.assertEqual((done.returncode, done.stderr), (0, ""), block)


class Gallery(unittest.TestCase):
    def test_programs_run_as_notebooks(self):
        """All programs in one process, small, with the pictures that they draw."""
        script = os.path.join(os.environ["MOHO_EXAMPLES"], "gallery.py")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, script, "--notebooks", folder, "--small"],
                capture_output=True,
                text=True,
                timeout=600,
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            names = sorted(name[:-6] for name in os.listdir(folder))
            self.assertEqual(done.stdout.split(), names)
            self.assertGreater(len(names), 10)
            for name in names:
                with self.subTest(name=name):
                    with open(os.path.join(folder, name + ".ipynb"), encoding="utf-8") as file:
                        self.check_notebook(json.load(file))

    def check_notebook(self, notebook):
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
        identities = [cell["id"] for cell in notebook["cells"]]
        self.assertEqual(len(set(identities)), len(identities))
        outputs = [one for cell in notebook["cells"] for one in cell.get("outputs", [])]
        self.assertTrue(any(one["output_type"] == "stream" and one["text"] for one in outputs))
        for one in outputs:
            if one["output_type"] == "display_data":
                picture = base64.b64decode(one["data"]["image/png"])
                self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
