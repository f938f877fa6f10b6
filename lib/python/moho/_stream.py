# SPDX-License-Identifier: BSD-3-Clause
"""Shots over models larger than the memory of a device."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

import numpy as np

from . import _arrays, _labelled
from ._errors import InputError
from ._runtime import core
from ._wave_arguments import (
    EXPANSIONS,
    expansion_arguments,
    parameter_bits,
    random_seed,
    scheme_arguments,
    survey_positions,
    taper_radius,
    warn_without_effect,
    wave_arguments,
    wave_fields,
)
from ._waves import Gather, Snapshots, snapshots_of


def stream_shots(
    vp: Any,
    *,
    spacing: Any = None,
    wavelet: Any,
    time: float,
    sources: Any,
    receivers: Any,
    device_memory: Optional[int] = None,
    devices: Union[int, str] = 1,
    slabs: bool = False,
    block: Optional[int] = None,
    updates: Optional[int] = None,
    groups: Optional[int] = None,
    lag: Optional[int] = None,
    file: Any = None,
    seed: Optional[int] = None,
    snapshot_every: Optional[float] = None,
    expand: str = "none",
    expand_coarsening: Optional[int] = None,
    density: Any = None,
    epsilon: Any = None,
    delta: Any = None,
    theta: Any = None,
    phi: Any = None,
    origin: Any = None,
    faces: Optional[str] = None,
    free_surface: bool = False,
    dt: Optional[float] = None,
    interval: Optional[float] = None,
    order: int = 8,
    equations: str = "self_adjoint",
    sigma: float = 0.75,
    parameters: Union[int, str] = 32,
    source_taper: Optional[float] = None,
    wavelet_interval: Optional[float] = None,
    space: Optional[str] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> list[Gather]:
    """Models shots over a model larger than the memory of a device, as the program stream_waves.

    Model and wavefield are on the host, or in a file; blocks of planes stream through the device for several
    time steps each. A model that fits the device is held there. Traces have the bits of moho.Shots on the
    same device.

    Parameters
    ----------
    vp, spacing, wavelet, time, density, epsilon, delta, theta, phi, origin, faces, free_surface, dt,
    interval, order, equations, sigma, parameters, source_taper, wavelet_interval, seed, space
        As for moho.Shots; arrays of the host.
    sources, receivers
        As for Shots.survey(). In VTI and TTI media delta is tapered to epsilon around all sources.
    device_memory : int, optional
        Bytes of a device that may be used. Default: what is free; half of that on hosts.
    devices : int or "auto"
        Devices of this process in a chain; on hosts stages of the stream. "auto" is for slabs: as few as
        hold a shot, at least 2; 1 on hosts and with one device.
    slabs : bool
        True: each device holds a slab of the grid along x, and nothing streams, as with the program
        model_waves --devices; on hosts a slab is a thread. Without block, updates, groups, lag and file.
    block, updates : int, optional
        Planes of a block, and time steps of a pass. Default: the fastest by rates measured on the machine.
    groups : int, optional
        Chains that the devices form, each with separate shots. Default: as few as the model allows.
    lag : int, optional
        Planes between steps of a pass. Default: the smallest number.
    file : str or path, optional
        File of model and wavefield, for volumes larger than the host's memory. It is removed after each shot.
    snapshot_every : float, optional
        Seconds between snapshots of the first shot, as for moho.Shots; with slabs of several devices.
    expand : {"none", "layers", "eikonal"}
        Method that confines steps to the nodes that waves have reached, as for moho.Shots.
    expand_coarsening : int, optional
        For "eikonal": first arrivals are computed on every n-th node, 1 to 64. Default: 4.
    progress : callable(fraction, text), optional
        As for moho.Shots.

    Returns
    -------
    list of Gather
        In the order of the sources.

    Raises
    ------
    InputError
        As for moho.Shots and Shots.survey().
    OutOfMemoryError
        The memory does not suffice for a block; the text has the least that does.
    FileError
        The file cannot be written.

    Notes
    -----
    docs/theory/stream.md.
    """
    more = {"density": density, "epsilon": epsilon, "delta": delta, "theta": theta, "phi": phi}
    vp, spacing, origin = _labelled.placed(vp, "vp", spacing, origin, **more)
    if _arrays.on_device(vp):
        raise InputError("vp: it is in device memory (allowed: arrays of the host): copy it to the host")
    model = wave_fields(vp, **more)
    at, to = survey_positions(sources, receivers, model[0].ndim)
    sizes = _arrays.stream_sizes(device_memory, _arrays.devices_of(devices, 1024), block, updates)
    sizes += [
        0 if groups is None else _arrays.whole(groups, "groups", 1, 1024),
        0 if lag is None else _arrays.whole(lag, "lag", 1, 2**31),
    ]
    slabs = _arrays.flag(slabs, "slabs")
    _check_slabs(slabs, sizes[1], block=block, updates=updates, groups=groups, lag=lag, file=file)
    if _arrays.choice(expand, "expand", EXPANSIONS) == "amplitude":
        raise InputError(
            "expand amplitude is for one device (allowed in a stream: none, layers, eikonal): it searches "
            "the whole wavefield before a step, choose one that knows arrivals from the model"
        )
    method, _, _, coarsening = expansion_arguments(expand, None, None, expand_coarsening)
    traces, step, dt, every, values, boxes, stepped = core().stream_shots(
        *wave_arguments(
            model, spacing, origin, wavelet, wavelet_interval, faces, free_surface, time, dt, interval
        ),
        *scheme_arguments(order, equations, sigma),
        parameter_bits(parameters),
        taper_radius(source_taper),
        at,
        to,
        sizes,
        slabs and sizes[1] != 1,
        "" if file is None else _arrays.path_of(file, "file"),
        0.0 if snapshot_every is None else _arrays.number(snapshot_every, "snapshot_every"),
        method,
        coarsening,
        random_seed(seed, faces),
        _arrays.space_of(space, vp),
        _arrays.callback(progress),
    )
    warn_without_effect(model, equations, sigma, source_taper)
    snapshots: list[Optional[Snapshots]] = [None] * len(at)
    if values is not None:
        snapshots[0] = snapshots_of(values, np.arange(1, len(values) + 1) * every * dt, boxes)
    return [
        Gather(one, step, *where, snapshots=waves, stepped=part)
        for one, *where, waves, part in zip(traces, at, to, snapshots, stepped)
    ]


def _check_slabs(slabs: bool, devices: int, **streamed: Any) -> None:
    if not slabs and devices == 0:
        raise InputError("devices is 'auto' (allowed in a stream: a number; with slabs=True also 'auto')")
    for name, value in streamed.items():
        if slabs and value is not None:
            raise InputError(f"slabs and {name} (allowed together: no {name}): nothing streams through slabs")
