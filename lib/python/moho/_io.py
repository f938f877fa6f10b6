# SPDX-License-Identifier: BSD-3-Clause
"""Files of models and gathers, and compressed fields."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays
from ._errors import FileError, InputError
from ._gathers import Gather, gather_arguments
from ._runtime import core


@dataclass(frozen=True, eq=False)
class ModelFile:
    """Values of a model file and the geometry that it states."""

    values: np.ndarray  #: (nx, nz) or (nx, ny, nz), in the units of the file
    spacing: tuple[float, ...]  #: m, one for each axis; 0 where the file does not state it
    origin: tuple[float, ...]  #: m, one for each axis; 0 where the file does not state it
    length_unit: str  #: "m", "km", "ft" or "mixed", from which lengths were converted; "" if not stated
    value_unit: str  #: unit of the values in an RSF file; "" if not stated
    notes: tuple[str, ...] = ()  #: what differs from the order and coordinates of a SEG-Y file


def read_model(path: Union[str, os.PathLike[str]], *, dtype: Any = np.float32) -> ModelFile:
    """Reads a model from a .npy, .rsf, .sgy or .segy file, as the programs do.

    Parameters
    ----------
    path : str or path
        The file. In RSF files axis 1 is depth; in SEG-Y files samples are depths. Signed integers of .npy
        files are converted.
    dtype : {numpy.float32, numpy.float64}
        Type of the values.

    Returns
    -------
    ModelFile
        Lengths are converted to m, values are not converted. A UserWarning repeats each of its notes.

    Raises
    ------
    FileError
        The file is missing, damaged, of another kind or has other than 2 or 3 axes.
    """
    name = _arrays.path_of(path, "path")
    values, spacing, origin, length, unit, notes = core().read_model(name, _doubles(dtype))
    for note in notes:
        warnings.warn(f"{name}: {note}", stacklevel=2)
    return ModelFile(values, tuple(spacing), tuple(origin), length, unit, tuple(notes))


def write_model(path: Union[str, os.PathLike[str]], values: Any, *, spacing: Any, origin: Any = 0.0) -> None:
    """Writes a model or an image to an .rsf or .sgy file that the programs read.

    Parameters
    ----------
    path : str or path
        The file, with the extension .rsf, .sgy or .segy. For .npy files take numpy.save.
    values : array, shape (nx, nz) or (nx, ny, nz)
        Values of the nodes, float32 or float64.
    spacing : float or one for each axis
        Distance of nodes, m. In SEG-Y that along z is in whole millimetres up to 65.535 m.
    origin : float or one for each axis
        Position of the first node, m.

    Raises
    ------
    InputError
        Another extension, or a geometry that SEG-Y cannot hold.
    FileError
        The file cannot be written.
    """
    values = _arrays.field(values, "values")
    path = _arrays.file_of(path, (".rsf", ".sgy", ".segy"))
    kind = os.path.splitext(path)[1].lower()
    steps = _arrays.per_axis(spacing, "spacing", values.ndim)
    if not all(0.0 < step < float("inf") for step in steps):
        raise InputError(f"spacing is {_arrays.shown(spacing)} (allowed: positive and finite numbers)")
    first = _arrays.per_axis(origin, "origin", values.ndim)
    _arrays.finite(np.array(first), "origin")
    if kind != ".rsf" and (np.abs(values) > np.finfo(np.float32).max).any():
        raise InputError("values: one is beyond 3.4e38 (allowed in SEG-Y: single precision): write .rsf")
    core().write_model(
        path,
        values,
        steps,
        first,
        kind != ".rsf",
    )


def read_gathers(
    path: Union[str, os.PathLike[str]],
    *,
    dim: int = 2,
    shots: Optional[Sequence[int]] = None,
    elevations: str = "standard",
    unit: str = "auto",
    line: str = "auto",
    origin: Any = (0.0, 0.0, 0.0),
    interval: Optional[float] = None,
    keep_zero_traces: bool = False,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> list[Gather]:
    """Reads the gathers of a survey from a SEG-Y file, or a folder of them or of model_waves.

    Parameters
    ----------
    path : str or path
        A .sgy or .segy file of one or more shots, a folder of such files, or the results of model_waves.
    dim : {2, 3}
        Dimension of positions; in 2D they are projected on a line.
    shots : sequence of int, optional
        Positions of the shots to read, from 0. Default: all.
    elevations : {"standard", "depth"}
        Meaning of elevations in headers: heights above the datum, or depths below it.
    unit : {"auto", "m", "ft"}
        Unit of lengths; "auto": that of the file.
    line : str
        Line of a 2D survey: "auto", degrees from x to y, or two points "x,y:x,y" in m.
    origin : (float, float, float)
        Position of the model's (0, 0, 0) in the survey, m. In 2D: along the line, unused, depth.
    interval : float, optional
        Sampling interval in s instead of that of the file.
    keep_zero_traces : bool
        True: traces whose samples are all zero are kept.
    progress : callable(fraction, text), optional
        Called after each shot.

    Returns
    -------
    list of Gather
        Live traces in single precision. A UserWarning repeats each note on what was converted, projected or
        left out.

    Raises
    ------
    FileError
        A file is missing, damaged or of another kind.
    InputError
        An argument is invalid.
    """
    place = _arrays.numbers(origin, "origin").reshape(-1)
    if place.size != 3:
        raise InputError(f"origin is {_arrays.shown(origin)} (allowed: three numbers, in m)")
    name = _arrays.path_of(path, "path")
    found, notes = core().read_gathers(
        name,
        _arrays.whole(dim, "dim", 2, 3),
        _arrays.choice(elevations, "elevations", ("standard", "depth")),
        _arrays.choice(unit, "unit", ("auto", "m", "ft")),
        str(line),
        place.tolist(),
        0.0 if interval is None else _arrays.positive(interval, "interval"),
        _arrays.flag(keep_zero_traces, "keep_zero_traces"),
        [] if shots is None else _positions(shots),
        shots is None,
        _arrays.callback(progress),
    )
    for note in notes:
        warnings.warn(f"{name}: {note}", stacklevel=2)
    return [
        Gather(traces, dt, sources, receivers, start) for traces, sources, receivers, dt, start, _ in found
    ]


def _positions(shots: Any) -> list[int]:
    positions = _arrays.items(shots, "shots", "positions of shots from 0, such as [0, 2]")
    return [_arrays.whole(one, "shots", 0, 2**31) for one in positions]


def write_gathers(
    path: Union[str, os.PathLike[str]], gathers: Union[Gather, Sequence[Gather]], *, dim: int = 2
) -> None:
    """Writes gathers to a SEG-Y file, revision 1, IEEE floats, that the programs read.

    Parameters
    ----------
    path : str or path
        The file, with the extension .sgy or .segy.
    gathers : moho.Gather, or a sequence of them
        Shots with one source each, with equal intervals in whole microseconds and equal numbers of samples.
        Field records are numbered from 1.
    dim : {2, 3}
        Dimension of the positions.

    Raises
    ------
    InputError
        Another extension, samples that are not finite in single precision, or gathers that SEG-Y cannot
        hold.
    FileError
        The file cannot be written.
    """
    path = _arrays.file_of(path, (".sgy", ".segy"))
    dim = _arrays.whole(dim, "dim", 2, 3)
    data = gather_arguments(gathers, dim, fewest=1)
    for k, sources in enumerate(data[1]):
        if len(sources) != 1:
            raise InputError(f"gathers[{k}]: it has {len(sources)} sources (allowed in SEG-Y: one)")
    core().write_gathers(path, dim, *data)


def compress(field: Any, error: str = "snr:55") -> bytes:
    """Compresses a field, such as a snapshot of a wavefield, as the programs compress snapshots.

    Parameters
    ----------
    field : array, shape (nx, nz) or (nx, ny, nz)
        Finite values up to 3e38, converted to float32.
    error : str
        Accepted loss: "snr:DB" (signal over error, 10 to 100), "max:E" (largest error over the largest
        value, 1e-5 to 0.1), "bits:N" of a value (8, 12 or 16), or "paper:E" (quantised square roots by
        Suh and Wang, with the errors of "max:E").

    Returns
    -------
    bytes
        A container with checksums for decompress(), on machines of the same byte order.

    Raises
    ------
    InputError
        Another error, or values that are not finite.

    Notes
    -----
    docs/theory/codec.md describes the codec.
    """
    _arrays.text(error, "error", "snr:55")
    with np.errstate(over="ignore"):  # values beyond float32 are refused below
        values = np.ascontiguousarray(_arrays.field(field, "field"), np.float32)
    with _arrays.renamed(("codec: the field", "field"), ("codec", "error")):
        return core().compress(values, error)


def decompress(data: bytes) -> np.ndarray:
    """Decompresses the result of compress().

    Parameters
    ----------
    data : bytes
        Result of compress().

    Returns
    -------
    numpy.ndarray, shape (nx, nz) or (nx, ny, nz), float32

    Raises
    ------
    FileError
        Other or damaged bytes.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InputError(f"data is of type {type(data).__name__} (allowed: bytes)")
    data = bytes(data)
    try:
        return core().decompress(data, 2)
    except FileError as error:
        if "3 dimensions" not in str(error):
            raise
    return core().decompress(data, 3)


def _doubles(dtype: Any) -> bool:
    try:
        found = None if dtype is None else np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"dtype is {_arrays.shown(dtype)} (allowed: float32, float64)")
    return found == np.float64
