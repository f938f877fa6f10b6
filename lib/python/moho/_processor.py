# SPDX-License-Identifier: BSD-3-Clause
"""Selects the compiled module for the processor.

A wheel may hold modules for several levels of x86-64 beside the one of the package: those of
"x86-64-v3" (AVX2 and FMA) in the folder `_x86_64_v3`, those of "x86-64-v4" (AVX-512) in `_x86_64_v4`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

from ._errors import InputError

_V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
# The flags of /proc/cpuinfo that the psABI of x86-64 demands for a level beyond v2, best level first.
FLAGS = {"x86-64-v4": _V4, "x86-64-v3": _V3}
PACKAGE = os.path.dirname(os.path.abspath(__file__))


def processor_flags(path: str = "/proc/cpuinfo") -> set[str]:
    """Returns the flags of the processor; empty where the file is not as on Linux on x86-64."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, flags = line.partition(":")
                if name.strip() == "flags":
                    return set(flags.split())
    except OSError:
        pass
    return set()


def held_modules(package: str = PACKAGE) -> dict[str, str]:
    """Returns the files of the modules by level, best level first, without the package's own module."""
    held = {}
    for level in FLAGS:
        folder = os.path.join(package, "_" + level.replace("-", "_"))
        if not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            if name.startswith("_core.") and name.endswith(".so"):
                held[level] = os.path.join(folder, name)
    return held


def choose_module(held: dict[str, str], flags: set[str], asked: str = "") -> str | None:
    """Returns the file of the best module that the processor executes; None is the package's own.

    Raises
    ------
    InputError
        `asked` is no level, or one that the package or the processor does not have.
    """
    fitting = [level for level in held if FLAGS[level] <= flags]
    if not asked:
        return held[fitting[0]] if fitting else None
    if asked == "x86-64-v2":
        return None
    if asked not in fitting:
        allowed = ", ".join([*fitting, "x86-64-v2"])
        reason = "the processor does not have it" if asked in held else "the package has no module for it"
        raise InputError(f"MOHO_PROCESSOR is '{asked}' (allowed: {allowed}): {reason}")
    return held[asked]


def load_core() -> Any:
    """Imports the module `moho._core` for the processor, or that of the level of MOHO_PROCESSOR."""
    held = held_modules()
    asked = os.environ.get("MOHO_PROCESSOR", "")
    path = choose_module(held, processor_flags(), asked) if held or asked else None
    if path is None:
        from . import _core

        return _core
    name = __package__ + "._core"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # an existing file of a known suffix
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
