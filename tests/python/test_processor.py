# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 5
"""Modules for levels of processors, and the CUDA runtime: choice, import, refusals."""

import _ctypes
import glob
import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import moho
import support
from moho import _processor

LEVELS = ["x86-64-v4", "x86-64-v3"]
V3 = {"sse4_2", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


class Choice(unittest.TestCase):
    def test_best_level_of_the_processor(self):
        self.assertEqual(_processor.choose_level(LEVELS, V4), "x86-64-v4")
        self.assertEqual(_processor.choose_level(LEVELS, V4 - {"avx512vl"}), "x86-64-v3")
        self.assertEqual(_processor.choose_level(LEVELS, V3), "x86-64-v3")
        self.assertEqual(_processor.choose_level(LEVELS, V3 - {"fma"}), "x86-64-v2")
        self.assertEqual(_processor.choose_level(LEVELS, set()), "x86-64-v2")
        self.assertEqual(_processor.choose_level([], V4), "x86-64-v2")
        self.assertEqual(_processor.choose_level(["x86-64-v3"], V4), "x86-64-v3")

    def test_requested_level(self):
        self.assertEqual(_processor.choose_level(LEVELS, V4, "x86-64-v3"), "x86-64-v3")
        self.assertEqual(_processor.choose_level(LEVELS, V4, "x86-64-v2"), "x86-64-v2")
        with self.assertRaisesRegex(moho.InputError, "allowed: x86-64-v3, x86-64-v2.: the processor"):
            _processor.choose_level(LEVELS, V3, "x86-64-v4")
        with self.assertRaisesRegex(moho.InputError, "'pentium' .allowed: x86-64-v4, .*: the package"):
            _processor.choose_level(LEVELS, V4, "pentium")
        with self.assertRaisesRegex(moho.InputError, "'x86-64-v2', but the package has a single module"):
            _processor.choose_level([], V4, "x86-64-v2")

    def test_flags_of_a_processor(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("processor\t: 0\nflags\t\t: fpu avx2 fma\nbugs\t\t: avx\n\nflags\t\t: fpu\n")
            file.flush()
            self.assertEqual(_processor.processor_flags(file.name), {"fpu", "avx2", "fma"})
        self.assertEqual(_processor.processor_flags("/missing/cpuinfo"), set())


class Import(unittest.TestCase):
    """A copy of the package with its module for further levels."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        package = os.path.dirname(moho.__file__)
        self.package = os.path.join(self.folder.name, "moho")
        shutil.copytree(package, self.package, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
        module = glob.glob(os.path.join(package, "_core*.so"))[0]
        self.name = os.path.basename(module)
        for level in (".", "_x86_64_v3", "_x86_64_v4"):
            os.makedirs(os.path.join(self.package, level), exist_ok=True)
            os.symlink(module, os.path.join(self.package, level, self.name))

    def imported(self, **variables):
        """Returns the file of the module after a computation, or the message of an error."""
        done = support.run_python(
            """
            import numpy, moho
            times = moho.first_arrivals(numpy.full((11, 11), 2000.0), spacing=10, sources=(0, 0))
            assert abs(times[10, 0] - 0.05) < 1e-12
            from moho import _core
            print(_core.__file__)
            """,
            PYTHONPATH=self.folder.name,
            **variables,
        )
        return done.stdout.strip() or done.stderr

    def test_module_of_the_best_level_computes(self):
        flags = _processor.processor_flags() | {"sse4_2"}
        level = "_x86_64_v4" if V4 <= flags else "_x86_64_v3" if V3 <= flags else "."
        expected = os.path.normpath(os.path.join(self.package, level, self.name))
        self.assertEqual(self.imported(), expected)

    def test_module_of_the_variable(self):
        own = os.path.join(self.package, self.name)
        self.assertEqual(self.imported(MOHO_PROCESSOR="x86-64-v2"), own)
        shutil.rmtree(os.path.join(self.package, "_x86_64_v4"))
        self.assertIn("the package lacks this level", self.imported(MOHO_PROCESSOR="x86-64-v4"))

    def test_package_without_levels(self):
        for level in ("3", "4"):
            shutil.rmtree(os.path.join(self.package, "_x86_64_v" + level))
        self.assertEqual(self.imported(), os.path.join(self.package, self.name))


class CudaRuntime(unittest.TestCase):
    """A module that needs the library libcudart.so.99, which no system has."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        package = os.path.join(self.folder.name, "moho")
        ignored = shutil.ignore_patterns("_core*", "__pycache__")
        shutil.copytree(os.path.dirname(moho.__file__), package, ignore=ignored)
        with open(os.path.join(package, "_core.py"), "w") as module:
            module.write(
                "if 'libcudart.so.99' not in open('/proc/self/maps').read():\n"
                "    raise ImportError('libcudart.so.99: cannot open shared object file')\n"
            )

    def loaded(self):
        program = "from moho import _processor; print(_processor.load_core().__name__)"
        return support.run_python(program, PYTHONPATH=self.folder.name)

    def test_runtime_of_an_installed_package(self):
        library = os.path.join(self.folder.name, "nvidia", "cu99", "lib")
        os.makedirs(library)
        shutil.copy(_ctypes.__file__, os.path.join(library, "libcudart.so.99"))
        self.assertEqual(self.loaded().stdout.strip(), "moho._core")

    def test_missing_runtime(self):
        self.assertIn("pip install 'nvidia-cuda-runtime==99.*'", self.loaded().stderr)


class Vectors(unittest.TestCase):
    def test_build_names_the_vectors(self):
        self.assertIn(moho.build()["vector_bits"], (128, 256, 512))


if __name__ == "__main__":
    unittest.main()
