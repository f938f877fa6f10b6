# SPDX-License-Identifier: BSD-3-Clause
"""Selects the compiled module for the processor.

A wheel may hold the module `_core` three times: for all processors in the package, for those of level
x86-64-v3 (AVX2 and FMA) in the folder `_x86_64_v3`, and for those of x86-64-v4 (AVX-512) in `_x86_64_v4`.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re
import sys
from typing import Any

from ._errors import InputError

BASE = "x86-64-v2"  # level of the module in the package, if the package has several modules
_V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
# Flags of /proc/cpuinfo for the levels of the x86-64 psABI beyond the base, best level first.
FLAGS = {"x86-64-v4": _V4, "x86-64-v3": _V3}


def processor_flags(path: str = "/proc/cpuinfo") -> set[str]:
    """Returns the flags of the processor; empty on other systems than Linux on x86-64."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, flags = line.partition(":")
                if name.strip() == "flags":
                    return set(flags.split())
    except OSError:
        pass
    return set()


def module_folders() -> dict[str, str]:
    """Returns the folders of further modules by level, best level first."""
    package = os.path.dirname(os.path.abspath(__file__))
    folders = {level: os.path.join(package, "_" + level.replace("-", "_")) for level in FLAGS}
    return {level: folder for level, folder in folders.items() if os.path.isdir(folder)}


def choose_level(levels: list[str], flags: set[str], requested: str = "") -> str:
    """Returns the requested level, or the best one that the processor executes.

    Parameters
    ----------
    levels : list of str
        Levels of the package's modules beyond the base, best level first.
    flags : set of str
        Flags of the processor.
    requested : str
        The variable MOHO_PROCESSOR; empty: the best level.

    Raises
    ------
    InputError
        The package has no module for the requested level, or the processor does not execute it.
    """
    executable = [level for level in levels if FLAGS[level] <= flags] + [BASE]
    if not requested:
        return executable[0]
    if not levels:
        raise InputError(
            f"MOHO_PROCESSOR is '{requested}', but the package has a single module: unset the variable"
        )
    if requested not in executable:
        reason = "the processor lacks this level" if requested in levels else "the package lacks this level"
        raise InputError(f"MOHO_PROCESSOR is '{requested}' (allowed: {', '.join(executable)}): {reason}")
    return requested


def load_core() -> Any:
    """Imports the module `_core` of the best level, or of that of the variable MOHO_PROCESSOR."""
    folders = module_folders()
    requested = os.environ.get("MOHO_PROCESSOR", "")
    flags = processor_flags() if folders else set()
    level = choose_level(list(folders), flags, requested)
    if level != BASE:
        sys.modules[__package__].__path__.insert(0, folders[level])
    try:
        from . import _core
    except ImportError as error:
        name = re.search(r"libcudart\.so\.\d+", str(error))
        if name is None:
            raise
        load_cuda_runtime(name.group())
        from . import _core

    return _core


def load_cuda_runtime(name: str) -> None:
    """Loads the CUDA runtime of the package nvidia-cuda-runtime, for a module that needs it.

    Parameters
    ----------
    name : str
        File name of the library, such as "libcudart.so.13".

    Raises
    ------
    ImportError
        No folder of sys.path has the package with this library.
    """
    for folder in sys.path:
        for file in glob.glob(os.path.join(glob.escape(folder), "nvidia", "*", "lib", name)):
            ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
            return
    version = name.rpartition(".")[2]
    raise ImportError(
        f"this build of moho computes on GPUs and needs {name}, which is neither among the system's "
        f"libraries nor in an installed package: install CUDA {version}, or the package by pip install "
        f"'nvidia-cuda-runtime=={version}.*'"
    )
