# SPDX-License-Identifier: BSD-3-Clause
"""Gathers as arguments of migration, inversion and files."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays
from ._errors import InputError
from ._runtime import core
from ._wave_arguments import wavelet_arguments
from ._waves import Gather

__all__ = ["Gather", "gather_arguments", "run_length"]


def gather_arguments(gathers: Any, dim: int, *, finite: bool = True, fewest: int = 2) -> list[list[Any]]:
    """Traces, sources, receivers, intervals and starts of gathers.

    finite: refuse other samples. fewest: samples of a trace.
    """
    one_or_more = "one moho.Gather or more"
    gathers = [gathers] if isinstance(gathers, Gather) else _arrays.items(gathers, "gathers", one_or_more)
    if not gathers:
        raise InputError("gathers: there is none (allowed: one moho.Gather or more)")
    lists: list[list[Any]] = [[], [], [], [], []]
    for k, gather in enumerate(gathers):
        name = f"gathers[{k}]"
        if not isinstance(gather, Gather):
            raise InputError(f"{name} is of type {type(gather).__name__} (allowed: moho.Gather)")
        traces = _arrays.to_numpy(gather.traces, f"{name}.traces")
        receivers = _arrays.points(gather.receivers, f"{name}.receivers", dim)
        if traces.dtype.kind not in "iuf" or traces.ndim != 2 or len(traces) != len(receivers):
            raise InputError(
                f"{name}.traces: they are {_arrays.shape_text(traces.shape)} {traces.dtype} (allowed: "
                f"{len(receivers)} x samples of float32 or float64, a row for each receiver)"
            )
        if traces.shape[1] < fewest:
            raise InputError(
                f"{name}.traces: they have {traces.shape[1]} samples (allowed: {fewest} or more)"
            )
        if finite and not np.isfinite(traces).all():
            at = [int(k) for k in np.argwhere(~np.isfinite(traces))[0]]
            raise InputError(
                f"{name}.traces: sample {at} is {traces[tuple(at)]} (allowed: finite numbers): replace it, "
                "such as by 0"
            )
        lists[0].append(_arrays.converted(traces, f"{name}.traces", np.float32))
        lists[1].append(_arrays.points(gather.sources, f"{name}.sources", dim))
        lists[2].append(receivers)
        lists[3].append(_arrays.positive(gather.interval, f"{name}.interval"))
        start = _arrays.number(gather.start, f"{name}.start")
        if not np.isfinite(start):
            raise InputError(f"{name}.start is {start} (allowed: finite numbers, s)")
        lists[4].append(start)
    return lists


def run_length(data: list[list[Any]], zero: Any, wavelet: Any, wavelet_interval: Any) -> float:
    """Length of a run that has all samples of gathers, s. data: result of gather_arguments()."""
    ends = [start + (traces.shape[1] - 1) * dt for traces, dt, start in zip(data[0], data[3], data[4])]
    with _arrays.renamed(("data", "gathers")):
        return core().run_length(
            max(ends),
            min(data[3]),
            _arrays.choice(zero, "zero", ("start", "peak")),
            *wavelet_arguments(wavelet, wavelet_interval),
        )
