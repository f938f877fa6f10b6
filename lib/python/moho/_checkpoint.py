# SPDX-License-Identifier: BSD-3-Clause
"""What results with the same bits are made from, for computations that go on from a file."""

from __future__ import annotations

import os
import zlib
from typing import Any

import numpy as np

from . import _arrays
from ._errors import InputError
from ._version import __version__


def path_of(path: Any) -> str:
    """The path of a file; empty without one."""
    if path is None:
        return ""
    text = _arrays.path_of(path, "checkpoint")
    if not text:
        raise InputError("checkpoint is empty (allowed: the path of a file, or None)")
    return os.path.abspath(text)


# Arguments that change neither results nor their bits.
_FREE = ("self", "memory", "device_memory", "devices", "block", "updates", "concurrent_shots", "progress")


def made_from(arguments: dict[str, Any]) -> str:
    """Lines "name: value" of arguments; arrays and gathers count by shape, type and CRC-32."""
    return f"moho: {__version__}\n" + lines_of(arguments)


def lines_of(arguments: dict[str, Any]) -> str:
    """The lines of arguments that change results."""
    return "\n".join(f"{name}: {_value(value)}" for name, value in arguments.items() if name not in _FREE)


def gathers_text(data: list[list[Any]]) -> str:
    """Number and CRC-32 of gathers, from the lists of gather_arguments()."""
    traces, sources, receivers, intervals, starts = data
    total = 0
    for arrays in (traces, sources, receivers):
        for array in arrays:
            total = _sum(array, total)
    for numbers in (intervals, starts):
        total = _sum(np.array(numbers), total)
    return f"{len(traces)} gathers, CRC-32 {total:08x}"


def _sum(array: np.ndarray, before: int = 0) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8), before)


def _value(value: Any) -> str:
    if _arrays.on_device(value):
        value = value.get() if hasattr(value, "get") else value.cpu()
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        array = _arrays.to_numpy(value, "checkpoint")
        if array.ndim > 0:
            return f"{_arrays.shape_text(array.shape)} {array.dtype}, CRC-32 {_sum(array):08x}"
        value = array[()]
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return repr(float(value))
    if isinstance(value, (list, tuple)) and len(value) > 0 and not isinstance(value[0], str):
        return _value(np.asarray(value))
    return repr(value)
