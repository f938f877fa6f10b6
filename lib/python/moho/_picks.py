# SPDX-License-Identifier: BSD-3-Clause
"""Picks of first arrivals: reading, writing, and the picks of an inversion."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from . import _arrays
from ._errors import InputError
from ._runtime import core

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@dataclass(frozen=True, eq=False)
class Picks:
    """First arrivals that were picked: times of pairs of a source and a receiver."""

    sources: np.ndarray  #: m, positions of all sources: (s, 2) or (s, 3)
    receivers: np.ndarray  #: m, positions of all receivers: (r, 2) or (r, 3)
    source: np.ndarray  #: row of sources of each pick: (n,), integers
    receiver: np.ndarray  #: row of receivers of each pick: (n,), integers
    times: np.ndarray  #: s: (n,)
    errors: Optional[np.ndarray] = None  #: s, standard deviations: (n,); 0 or None: not known
    weights: Optional[np.ndarray] = None  #: factors of squared residuals: (n,); 0: left out; None: 1

    def __repr__(self) -> str:
        return (f"Picks({np.size(self.times)} picks of {len(self.sources)} sources at "
                f"{len(self.receivers)} receivers)")


def read_picks(
    path: Union[str, os.PathLike[str]],
    *,
    format: str = "",
    time_unit: str = "s",
    elevations: bool = False,
    shots: Union[str, os.PathLike[str]] = "",
    receivers: Union[str, os.PathLike[str]] = "",
) -> Picks:
    """Reads picks from a table or a file of the unified data format, as the program invert_times does.

    Parameters
    ----------
    path : str or path
        A table with the columns sx, sz, rx, rz, time (3D with sy and ry), optionally error, weight and use,
        or a file .sgt.
    format : {"", "csv", "sgt"}
        Format; "": by the ending of the name.
    time_unit : {"s", "ms", "us"}
        Unit of times and errors in the file.
    elevations : bool
        True: z of a table points up.
    shots, receivers : str or path
        Tables id, x[, y], z of the points of picks with ids.

    Returns
    -------
    Picks
        In 2D or 3D, m and s, sorted by source and receiver, without those of use or weight 0.

    Raises
    ------
    FileError
        The file is missing, or a number, column or id is not allowed; with the line.
    """
    arrays = core().read_picks(
        _arrays.path_of(path, "path"),
        "" if isinstance(format, str) and format == "" else _arrays.choice(format, "format", ("csv", "sgt")),
        TIME_UNITS[_arrays.choice(time_unit, "time_unit", tuple(TIME_UNITS))],
        _arrays.flag(elevations, "elevations"),
        _arrays.path_of(shots, "shots"),
        _arrays.path_of(receivers, "receivers"),
    )
    return Picks(*arrays)


def write_picks(path: Union[str, os.PathLike[str]], picks: Picks) -> None:
    """Writes picks in the unified data format .sgt, with errors where all picks have one.

    Parameters
    ----------
    path : str or path
        The file, with the extension .sgt.
    picks : Picks
        The picks; weights are not written, and picks with weight 0 are left out.

    Raises
    ------
    InputError
        Another extension, or a time of a pick in use that is not finite.
    FileError
        The file cannot be written.
    """
    core().write_picks(_arrays.file_of(path, (".sgt",)), PicksInUse(picks).arrays)


class PicksInUse:
    """The picks with weight, sorted by source and receiver, and the points that they use."""

    def __init__(self, picks: Picks) -> None:
        if not isinstance(picks, Picks):
            kind = type(picks).__name__
            raise InputError(f"picks are of type {kind} (allowed: moho.Picks, see read_picks)")
        sources = _arrays.finite(_arrays.numbers(picks.sources, "picks.sources"), "picks.sources")
        if sources.ndim != 2 or sources.shape[1] not in (2, 3):
            raise InputError(
                f"picks.sources: the shape is {_arrays.shape_text(sources.shape)} (allowed: n x 2 or n x 3)"
            )
        receivers = _arrays.points(picks.receivers, "picks.receivers", sources.shape[1])
        _arrays.finite(receivers, "picks.receivers")
        times = _arrays.numbers(picks.times, "picks.times").reshape(-1)
        weights = _numbers_of(picks.weights, "picks.weights", 1.0, times.size)
        used = weights != 0.0
        _arrays.finite(times[used], "picks.times")
        errors = _numbers_of(picks.errors, "picks.errors", 0.0, times.size)
        for name, values in (("errors", errors[used]), ("weights", weights)):
            if not np.all(values >= 0.0):
                raise InputError(f"picks.{name}: {_allowed(times.size)}")
        rows = [
            _rows(getattr(picks, name), name, times.size, len(points))
            for name, points in (("source", sources), ("receiver", receivers))
        ]
        order = np.lexsort((rows[1], rows[0]))
        #: places of the picks in use in the given ones, (k,), in the order of `arrays`
        self.order = order[used[order]]
        self.count = times.size  #: number of given picks
        #: rows of the sources and receivers in use in the given ones, ascending
        self.source_rows, self.receiver_rows = (np.unique(row[self.order]) for row in rows)
        self.sources, self.receivers = np.ascontiguousarray(sources), receivers  #: all points
        lists = [
            np.searchsorted(self.source_rows, rows[0][self.order]).astype(np.int32),
            np.searchsorted(self.receiver_rows, rows[1][self.order]).astype(np.int32),
            *(values[self.order] for values in (times, errors, weights)),
        ]
        #: sources, receivers, and source, receiver, time, error, weight of each pick in use
        self.arrays = [sources[self.source_rows], receivers[self.receiver_rows], *lists]

    def restored(self, values: np.ndarray, other: float) -> np.ndarray:
        """Returns values of the given picks, (n,), from those in use; `other` for the others."""
        result = np.full(self.count, other, values.dtype)
        result[self.order] = values
        return result


def _allowed(count: int) -> str:
    return f"they are not {count} numbers from 0 on, one for each time"


def _numbers_of(given: Any, name: str, other: float, count: int) -> np.ndarray:
    values = np.full(count, other) if given is None else _arrays.numbers(given, name)
    if values.shape != (count,):
        raise InputError(f"{name}: {_allowed(count)}")
    return values


def _rows(given: Any, name: str, picks: int, points: int) -> np.ndarray:
    rows = np.asarray(given)
    if rows.dtype.kind not in "iu" or rows.shape != (picks,):
        raise InputError(
            f"picks.{name}: it is {_arrays.shape_text(rows.shape)} {rows.dtype} (allowed: "
            f"{picks} integers, a row of picks.{name}s for each time)"
        )
    if rows.size and not 0 <= rows.min() <= rows.max() < points:
        raise InputError(f"picks.{name}: rows are {rows.min()} to {rows.max()} (allowed: 0 to {points - 1})")
    return rows
