# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of Objective."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any, Iterator, Mapping, Optional

import numpy as np

from . import _arrays
from ._errors import InputError, OutOfMemoryError

PARAMETERS = ("vp", "density", "epsilon", "delta")


def parameters_of(parameters: Any, fields: list[Optional[np.ndarray]]) -> tuple[str, ...]:
    if isinstance(parameters, str):
        parameters = parameters.split(",")
    if not isinstance(parameters, (list, tuple)) or not all(isinstance(name, str) for name in parameters):
        raise InputError(
            f"parameters is {_arrays.shown(parameters)} (allowed: some of {', '.join(PARAMETERS)})"
        )
    names = tuple(parameters)
    for name in names:
        _arrays.choice(name, "parameters", PARAMETERS)
        if fields[PARAMETERS.index(name)] is None:
            raise InputError(f"parameters: {name} is not in the model (allowed: what is given): give it")
    if "vp" not in names or len(set(names)) < len(names):
        raise InputError(
            f"parameters is {_arrays.shown(parameters)} (allowed: vp and others of the model, each once)"
        )
    return names


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Messages with the names of arguments; a method that needs more memory is OutOfMemoryError."""
    try:
        with _arrays.renamed(("offset weights", "offset_weights")):
            yield
    except InputError as refused:
        if str(refused).startswith("source_field") and " in all)" in str(refused):
            raise OutOfMemoryError(str(refused)) from None
        raise


def stream_of(source_field: str, device_memory: Any, devices: Any, block: Any, updates: Any) -> list[int]:
    if (block is not None or updates is not None) and source_field != "random":
        raise InputError(
            f"{'updates' if block is None else 'block'} streams the gradient, which needs source_field "
            "'random' (allowed: with it)"
        )
    return _arrays.stream_sizes(device_memory, _arrays.devices_of(devices), block, updates)


def bands_of(bands: Any) -> list[float]:
    values = np.atleast_1d(_arrays.numbers(bands, "bands"))
    if values.ndim != 1 or not np.all(values > 0.0) or not np.all(np.diff(values) > 0.0):
        raise InputError(f"bands is {_arrays.shown(bands)} (allowed: positive frequencies in Hz that ascend)")
    return values.tolist()


def bounds_of(bounds: Any, names: tuple[str, ...]) -> list[float]:
    pairs: list[float] = []
    if bounds is not None and not isinstance(bounds, Mapping):
        raise InputError(
            f"bounds is {_arrays.shown(bounds)} (allowed: a dictionary such as {{'vp': (1500, 4500)}})"
        )
    bounds = dict(bounds or {})
    for name in names:
        if name not in bounds:
            pairs += [0.0, 0.0]  # chosen by the compiled module
            continue
        given = bounds.pop(name)
        pair = np.zeros(()) if given is None else _arrays.numbers(given, f"bounds of {name}")
        if pair.shape != (2,):
            raise InputError(
                f"bounds of {name}: the shape is {_arrays.shape_text(pair.shape)} (allowed: two numbers, the "
                "lowest and the highest value)"
            )
        low, high = pair.tolist()
        positive = name in ("vp", "density")
        if not (low < high and (low > 0.0 or not positive)):
            allowed = "ascending positive values" if positive else "ascending values"
            raise InputError(f"bounds: {name} from {low} to {high} (allowed: {allowed})")
        pairs += [low, high]
    if bounds:
        raise InputError(f"bounds: {next(iter(bounds))!r} is not inverted (allowed: {', '.join(names)})")
    return pairs


def live_gathers(data: list[list[Any]]) -> tuple[list[list[Any]], list[np.ndarray]]:
    """Gathers without traces whose samples are all zero, and for each gather True for the other ones.

    Warns the caller's caller of such traces. data: result of gather_arguments().
    """
    live = [traces.any(axis=1) for traces in data[0]]
    counts = [int(np.count_nonzero(~one)) for one in live]
    for k, one in enumerate(live):
        if not one.any():
            raise InputError(
                f"gathers[{k}].traces: the samples of all {len(one)} traces are zero (allowed: 1 live trace "
                "or more): leave the gather out"
            )
    if not any(counts):
        return data, live
    first = int(np.flatnonzero(counts)[0])
    total = sum(counts)
    warnings.warn(
        f"{total} {'trace is' if total == 1 else 'traces are'} zero and left out; the first is trace "
        f"{int(np.argmin(live[first]))} of gathers[{first}]",
        stacklevel=3,
    )
    rows = [[values[keep] for values, keep in zip(data[column], live)] for column in (0, 2)]
    return [rows[0], data[1], rows[1], *data[3:]], live


def huber_of(value: Any) -> float:
    value = _arrays.number(value, "huber")
    if not 0.0 < value < np.inf:
        raise InputError(f"huber is {value} (allowed: positive and finite numbers)")
    return value


def mask_of(mask: Any, vp: np.ndarray) -> Optional[np.ndarray]:
    if mask is None:
        return None
    mask = _arrays.mask(mask, vp.shape, "that of vp, with some nodes that may change")
    if not mask.any():
        raise InputError("mask: it is 0 at all nodes (allowed: some nodes that may change): leave it out")
    return mask
