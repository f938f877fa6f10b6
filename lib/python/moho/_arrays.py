# SPDX-License-Identifier: BSD-3-Clause
"""Checks and conversions of arguments: fields, points, numbers for each axis."""

from __future__ import annotations

import contextlib
import os
import sys
from numbers import Real
from typing import Any, Iterator

import numpy as np

from . import _labelled
from ._errors import InputError

AXES = {2: "x, z", 3: "x, y, z"}
_CUDA = 2  # kDLCUDA of DLPack
_HOST = (1, 3, 11, 13)  # devices of DLPack with memory that the host reads: kDLCPU, pinned, managed


def shown(value: Any) -> str:
    """A value for messages, in one line: repr(), shortened to 100 characters; of larger arrays the shape."""
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"an array of {shape_text(value.shape)} {value.dtype}"
    text = repr(value)
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def items(value: Any, name: str, allowed: str) -> list[Any]:
    """The items of a sequence or another iterable. allowed: for messages."""
    try:
        found = iter(value)
    except TypeError:
        raise InputError(f"{name} is {shown(value)} (allowed: {allowed})") from None
    return list(found)


def to_numpy(array: Any, name: str) -> np.ndarray:
    """The array itself, one over the same memory (DLPack), or a new one of its values."""
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            raise InputError(
                f"{name}: it has masked values (allowed: a value everywhere): fill them with filled(), or "
                "leave these rows out"
            )
        return array.data
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        if array.__dlpack_device__()[0] not in _HOST:
            raise InputError(
                f"{name}: the array is in the memory of a device (allowed here: of the host): copy it to "
                "the host first"
            )
        try:
            return np.from_dlpack(array)
        except (TypeError, RuntimeError, BufferError, AttributeError) as error:
            raise InputError(
                f"{name}: the array cannot be shared with NumPy ({error}): convert it, for example "
                "with detach() of PyTorch"
            ) from error
    try:
        return np.asarray(array)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: it is no array of numbers ({error}) (allowed: rows of equal length): make it with "
            "numpy.array"
        ) from error


def field(array: Any, name: str, *, like: np.ndarray | None = None) -> np.ndarray:
    """Values of the nodes as a contiguous float32 or float64 array; copied only if it is not one already.

    like: a field with the same shape, whose type is taken.
    """
    array = to_numpy(_labelled.values_of(array, name), name)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        raise InputError(
            f"{name}: its elements are of type {array.dtype} (allowed: float32, float64): convert it "
            "with astype"
        )
    if like is None:
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64 if array.dtype.itemsize > 4 else np.float32)
        if array.ndim not in AXES:
            raise InputError(f"{name}: it has {array.ndim} axes (allowed: 2, x and z, or 3, x, y and z)")
        if array.size == 0:
            raise InputError(
                f"{name}: its shape is {shape_text(array.shape)} (allowed: 1 or more nodes along each axis)"
            )
    else:
        if array.shape != like.shape and array.ndim > 0:
            raise InputError(
                f"{name}: its shape is {shape_text(array.shape)} (allowed: {shape_text(like.shape)}, "
                "that of the velocity, or one number): give it on the same nodes"
            )
        if array.shape != like.shape or array.dtype != like.dtype:
            array = converted(np.broadcast_to(array, like.shape), name, like.dtype)
    if array.dtype.byteorder not in "=|":
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array)


def on_device(array: Any) -> bool:
    """True for an array of another library in the memory of a CUDA device."""
    return (
        not isinstance(array, np.ndarray)
        and hasattr(array, "__dlpack_device__")
        and array.__dlpack_device__()[0] == _CUDA
    )


def device_field(array: Any, name: str, *, like: Any = None) -> Any:
    """Checks values of the nodes in device memory, which are used in place."""
    from ._runtime import core

    if not on_device(array):
        raise InputError(
            f"{name}: it is on the host (allowed with vp in device memory: an array there): move it there"
        )
    if not core().has_device:
        raise InputError(
            f"{name}: the array is in the memory of a device (allowed in this build, which computes on "
            "hosts: of the host): copy it to the host, or build the package with a Kokkos for CUDA"
        )
    index = array.__dlpack_device__()[1]
    if index != 0:
        raise InputError(
            f"{name}: it is on device {index} (allowed: 0, the first visible one): set CUDA_VISIBLE_DEVICES"
        )
    kind, shape, contiguous = core().describe(array)
    if kind not in ("float32", "float64") or len(shape) not in AXES or not contiguous:
        raise InputError(
            f"{name}: it is {shape_text(shape)} {kind}{'' if contiguous else ', not contiguous'} (allowed in "
            "device memory: contiguous float32 or float64 in 2 or 3 axes)"
        )
    if like is not None and (kind, shape) != tuple(core().describe(like)[:2]):
        raise InputError(f"{name}: it is {shape_text(shape)} {kind} (allowed: shape and type of vp)")
    return array


def kind_of(array: Any) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of a field."""
    if isinstance(array, np.ndarray):
        return array.shape, array.dtype
    from ._runtime import core

    kind, shape, _ = core().describe(array)
    return tuple(shape), np.dtype(kind)


def space_of(space: Any, array: Any) -> str:
    """The space of a computation: that of an array if it was not given."""
    found = "cuda" if on_device(array) else "host"
    if space is None:
        return found
    choice(space, "space", ("host", "cuda"))
    if found == "cuda" and space == "host":
        raise InputError("space is 'host' for arrays in device memory (allowed: 'cuda'): leave it out")
    return space


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape for messages: "401 x 201"."""
    return " x ".join(str(extent) for extent in shape) or "that of a number"


def output(array: Any, name: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Checks an array that receives results."""
    if (
        not isinstance(array, np.ndarray)
        or array.shape != shape
        or array.dtype != dtype
        or not array.flags.c_contiguous
        or not array.flags.writeable
        or not array.dtype.isnative
    ):
        raise InputError(
            f"{name}: it cannot receive the result (allowed: a writable contiguous numpy.ndarray of "
            f"{shape_text(shape)} {dtype}): make it with numpy.empty"
        )
    return array


def numbers(value: Any, name: str) -> np.ndarray:
    """Numbers as float64."""
    array = to_numpy(value, name)
    plain = array.dtype.kind in "iuf" or (
        array.dtype.kind == "O" and all(isinstance(one, Real) for one in array.flat)
    )
    if not plain and array.size > 0:
        raise InputError(f"{name} is {shown(value)} (allowed: numbers): give real numbers")
    return array.astype(np.float64, copy=False) if plain else np.zeros(array.shape)


def number(value: Any, name: str) -> float:
    """A number."""
    array = numbers(value, name)
    if array.ndim != 0:
        raise InputError(f"{name} is {shown(value)} (allowed: one number)")
    return float(array)


def positive(value: Any, name: str) -> float:
    """A positive number."""
    value = number(value, name)
    if not 0.0 < value < float("inf"):
        raise InputError(f"{name} is {value} (allowed: positive and finite numbers)")
    return value


def not_negative(value: Any, name: str) -> float:
    """A finite number of 0 or more."""
    value = number(value, name)
    if not 0.0 <= value < float("inf"):
        raise InputError(f"{name} is {value} (allowed: 0 or more)")
    return value


def per_axis(value: Any, name: str, dim: int) -> list[float]:
    """One number for each axis, from one for all or one for each."""
    array = numbers(value, name)
    if array.ndim == 0:
        array = np.full(dim, array)
    if array.shape != (dim,):
        raise InputError(f"{name} is {shown(value)} (allowed: one number, or {dim} numbers for {AXES[dim]})")
    return array.tolist()


def values_like(array: Any, name: str, shape: tuple[int, ...], dtype: Any, what: str) -> np.ndarray:
    """Finite numbers of a shape, converted to a type. what: meaning of the shape, for messages."""
    array = numbers(array, name)
    if array.shape != shape:
        raise InputError(
            f"{name}: its shape is {shape_text(array.shape)} (allowed: {shape_text(shape)}, {what})"
        )
    return converted(finite(array, name), name, dtype)


def converted(array: np.ndarray, name: str, dtype: Any) -> np.ndarray:
    """Contiguous numbers of a type, in whose range finite ones must be."""
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore"):
        result = np.ascontiguousarray(array, dtype)
    beyond = np.isinf(result) & np.isfinite(array)
    if beyond.any():
        at = [int(k) for k in np.argwhere(beyond)[0]]
        raise InputError(
            f"{name} is {array[tuple(at)]} at {at} (allowed: magnitudes up to {np.finfo(dtype).max:.3g}, of "
            f"{np.dtype(dtype)}): scale the values"
        )
    return result


def finite(array: np.ndarray, name: str) -> np.ndarray:
    """An array without infinite numbers and NaN."""
    if not np.isfinite(array).all():
        at = [int(k) for k in np.argwhere(~np.isfinite(array))[0]]
        raise InputError(
            f"{name} is {array[tuple(at)]} at {at} (allowed: finite numbers): replace it, or leave it out"
        )
    return array


def mask(array: Any, shape: tuple[int, ...], of: str) -> np.ndarray:
    """A mask as uint8: 0 where the array is 0 or False, otherwise 1. of: "that of vp"."""
    array = to_numpy(array, "mask")
    if array.dtype.kind not in "biuf" or np.any(np.isnan(array)):
        raise InputError("mask: it has values that are no numbers (allowed: 0 and others, or booleans)")
    if array.shape != shape:
        raise InputError(f"mask: its shape is {shape_text(array.shape)} (allowed: {shape_text(shape)}, {of})")
    return np.ascontiguousarray(array != 0, np.uint8)


def points(value: Any, name: str, dim: int) -> np.ndarray:
    """Positions as rows of coordinates; one position may be given alone."""
    array = numbers(value, name)
    if array.shape == (dim,):
        array = array[None, :]
    if array.ndim != 2 or array.shape[1] != dim:
        raise InputError(
            f"{name}: its shape is {shape_text(array.shape)} (allowed: n x {dim}, rows {AXES[dim]} in "
            "m, or one such row)"
        )
    if len(array) == 0:
        raise InputError(f"{name}: there are none (allowed: one or more): give a position")
    return np.ascontiguousarray(array)


def choice(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """One of several words."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name} is {shown(value)} (allowed: {', '.join(allowed)})")
    return value


def text(value: Any, name: str, example: str) -> str:
    """A text, whose content the library checks. example: for messages."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {shown(value)} (allowed: a text such as {shown(example)})")
    return value


@contextlib.contextmanager
def renamed(*names: tuple[str, str]) -> Iterator[None]:
    """Gives messages of the library other beginnings: pairs of a beginning and its replacement."""
    try:
        yield
    except InputError as refused:
        message = str(refused)
        for before, after in names:
            if message.startswith(before):
                raise type(refused)(after + message[len(before) :]) from None
        raise


def flag(value: Any, name: str) -> bool:
    """True or False, also as 1 or 0."""
    if not isinstance(value, (bool, np.bool_, int, np.integer)) or value not in (0, 1):
        raise InputError(f"{name} is {shown(value)} (allowed: True, False)")
    return bool(value)


def whole(value: Any, name: str, least: int, most: int) -> int:
    """An integer in a range."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise InputError(f"{name} is {shown(value)} (allowed: a whole number from {least} to {most})")
    return int(value)


def index(value: Any, name: str, count: int) -> int:
    """A position in a sequence; negative ones count from its end."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name} is {shown(value)} (allowed: a whole number): give a position from 0")
    if not -count <= value < count:
        least = f"{-count} to {count - 1}" if count else "none, the result has no such item"
        raise IndexError(f"{name} is {value} (allowed: {least})")
    return int(value) % count


def path_of(value: Any, name: str) -> str:
    """The path of a file or folder."""
    try:
        path = os.fspath(value)
    except TypeError as error:
        raise InputError(f"{name} is {shown(value)} (allowed: a path, as str or pathlib.Path)") from error
    found = os.fsdecode(path)
    if "\0" in found:
        raise InputError(f"{name} is {shown(found)} (allowed: a path without null characters)")
    return found


def file_of(path: Any, extensions: tuple[str, ...]) -> str:
    """The path of a file with one of some extensions, in lower or upper case."""
    file = path_of(path, "path")
    choice(os.path.splitext(file)[1].lower(), "extension of path", extensions)
    return file


def memory_bytes(value: Any, name: str = "memory") -> int:
    """A budget of memory in bytes; 0 for None, which is the free memory."""
    if value is None:
        return 0
    return whole(value, name, 1, 2**62)


def devices_of(value: Any, most: int = 64) -> int:
    """A number of devices; 0 for "auto"."""
    if isinstance(value, str) and value == "auto":
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise InputError(f"devices is {shown(value)} (allowed: a whole number from 1 to {most}, or 'auto')")
    return int(value)


def stream_sizes(device_memory: Any, devices: int, block: Any, updates: Any) -> list[int]:
    """Sizes of a stream in the order of the compiled module; 0: automatic."""
    return [
        memory_bytes(device_memory, "device_memory"),
        devices,
        0 if block is None else whole(block, "block", 1, 2**31),
        0 if updates is None else whole(updates, "updates", 1, 2**31),
    ]


def random_layers(width: Any, seed: Any) -> list[int]:
    """Width and seed of random layers in the order of the compiled module."""
    return [whole(width, "random_width", 1, 1000), whole(seed, "seed", 0, 2**62)]


def is_true(value: Any) -> bool:
    """True for True of Python and of NumPy."""
    return isinstance(value, (bool, np.bool_)) and bool(value)


def callback(value: Any) -> Any:
    """A progress callback or None; True is a bar."""
    if value is True:
        return ProgressBar()
    if value is False:
        return None
    if value is not None and not callable(value):
        raise InputError(
            f"progress is {shown(value)} (allowed: True for a bar, a function of a fraction and a text, or "
            "None)"
        )
    return value


class ProgressBar:
    """A bar on standard error or in the output of a notebook, which disappears at the end."""

    WIDTH = 30

    def __init__(self, stream: Any = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._length = 0

    def __call__(self, fraction: float, text: str) -> None:
        full = int(self.WIDTH * min(max(fraction, 0.0), 1.0))
        line = f"{'#' * full}{'.' * (self.WIDTH - full)} {100 * fraction:3.0f} %  {text}"
        self._write(line)
        self._length = len(line)

    def __del__(self) -> None:
        if self._length > 0:
            self._write("")

    def _write(self, line: str) -> None:
        try:
            self._stream.write("\r" + line.ljust(self._length) + ("" if line else "\r"))
            self._stream.flush()
        except (OSError, ValueError):
            pass  # a closed stream shows no bar
