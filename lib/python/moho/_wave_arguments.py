# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that modelling, migration and inversion of waves have in common."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Optional

import numpy as np

from . import _arrays
from ._errors import InputError

EQUATIONS = ("self_adjoint", "fletcher")
EXPANSIONS = ("none", "layers", "eikonal", "amplitude")


def expansion_arguments(expand: Any, threshold: Any, interval: Any, coarsening: Any) -> list[Any]:
    """Method and options of expanding domains in the order of the compiled module."""
    _arrays.choice(expand, "expand", EXPANSIONS)
    for name, value, method in (
        ("expand_threshold", threshold, "amplitude"),
        ("expand_interval", interval, "amplitude"),
        ("expand_coarsening", coarsening, "eikonal"),
    ):
        if value is not None and expand != method:
            raise InputError(f"{name} was given without expand {method} (it belongs to it): leave it out")
    return [
        expand,
        1.0 / 1024.0 if threshold is None else _arrays.number(threshold, "expand_threshold"),
        8 if interval is None else _arrays.whole(interval, "expand_interval", 1, 64),
        4 if coarsening is None else _arrays.whole(coarsening, "expand_coarsening", 1, 64),
    ]


def random_seed(seed: Any, faces: Any) -> int:
    """Seed of random layers, which the faces must have if one is given."""
    if seed is None:
        return 2011
    if "random" not in (faces or ""):
        raise InputError("seed was given without random layers (they belong to faces): leave it out")
    return _arrays.whole(seed, "seed", 0, 2**62)


def survey_positions(sources: Any, receivers: Any, dim: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Sources and receivers of each shot, from an array of all or a sequence of arrays."""
    if _is_list_of_arrays(sources):
        at = [_arrays.points(one, f"sources[{k}]", dim) for k, one in enumerate(sources)]
    else:
        at = list(_arrays.points(sources, "sources", dim)[:, None, :])
    if not _is_list_of_arrays(receivers):
        return at, [_arrays.points(receivers, "receivers", dim)] * len(at)
    to = [_arrays.points(one, f"receivers[{k}]", dim) for k, one in enumerate(receivers)]
    if len(to) != len(at):
        raise InputError(
            f"receivers: they are for {len(to)} shots (allowed: {len(at)}, as the sources): give an array "
            "for each shot, or one for all"
        )
    return at, to


def _is_list_of_arrays(positions: Any) -> bool:
    if isinstance(positions, (list, tuple)):
        return len(positions) > 0 and np.ndim(positions[0]) == 2
    return np.ndim(positions) == 3


def wave_fields(vp: Any, **others: Any) -> list[Optional[np.ndarray]]:
    """Fields in the order vp, density, epsilon, delta, theta, phi; None for those that are not given."""
    given = _arrays.device_field if _arrays.on_device(vp) else _arrays.field
    vp = given(vp, "vp")
    if others["phi"] is not None and vp.ndim == 2:
        raise InputError(
            "phi was given for a model in 2D (allowed in 3D, as an azimuth from x to y): leave it out"
        )
    names = ("density", "epsilon", "delta", "theta", "phi")
    return [vp] + [None if others[name] is None else given(others[name], name, like=vp) for name in names]


def wave_arguments(
    fields: list[Optional[np.ndarray]],
    spacing: Any,
    origin: Any,
    wavelet: Any,
    wavelet_interval: Any,
    faces: Any,
    free_surface: Any,
    time: Any,
    dt: Any,
    interval: Any,
) -> list[Any]:
    """Model, grid, wavelet, faces and times in the order of the compiled module."""
    dim = fields[0].ndim
    text, samples, of_samples = wavelet_arguments(wavelet, wavelet_interval)
    if faces is not None and not isinstance(faces, str):
        raise InputError(f"faces is {_arrays.shown(faces)} (allowed: a text such as 'cpml:20,top=free')")
    times = [
        _arrays.number(time, "time"),
        0.0 if dt is None else _arrays.positive(dt, "dt"),
        0.0 if interval is None else _arrays.positive(interval, "interval"),
    ]
    axes = [_arrays.per_axis(spacing, "spacing", dim), _arrays.per_axis(origin, "origin", dim)]
    free = _arrays.flag(free_surface, "free_surface")
    if free and any(one.startswith("top=") and one != "top=free" for one in (faces or "").split(",")):
        raise InputError(
            f"free_surface is True and faces is {_arrays.shown(faces)} (allowed: one of both for the top): "
            "leave one out"
        )
    return [fields, *axes, text, samples, of_samples, faces or "", free, times]


def scheme_arguments(order: Any, equations: Any, sigma: Any) -> list[Any]:
    """Order, equations and sigma in the order of the compiled module."""
    return [
        _arrays.whole(order, "order", 2, 16),
        _arrays.choice(equations, "equations", EQUATIONS),
        _arrays.positive(sigma, "sigma"),
    ]


def taper_radius(radius: Any) -> Optional[float]:
    """Radius of the taper of delta around sources, m; None: by the wavelength."""
    if radius is None:
        return None
    return _arrays.not_negative(radius, "source_taper")


def warn_without_effect(
    fields: list[Optional[np.ndarray]],
    equations: str,
    sigma: float,
    source_taper: Optional[float],
    sources: bool = True,
    taper: Optional[float] = None,
) -> None:
    """Warns the caller's caller of arguments that have no effect in the medium of the fields.

    taper is the radius that results from source_taper, m, where the caller knows it.
    """
    isotropic = all(one is None for one in fields[2:])
    for name, given in (("equations", equations != "self_adjoint"), ("source_taper", source_taper)):
        if isotropic and given:
            warnings.warn(f"{name} has no effect without epsilon and delta", stacklevel=3)
    if source_taper and not isotropic and not sources:
        warnings.warn("source_taper has no effect without sources", stacklevel=3)
    elif source_taper and not isotropic and taper == 0.0:
        why = "with equations='fletcher'" if equations == "fletcher" else "where epsilon equals delta"
        warnings.warn(f"source_taper has no effect {why}", stacklevel=3)
    if equations != "fletcher" and sigma != 0.75:
        warnings.warn("sigma has no effect without equations='fletcher'", stacklevel=3)


def parameter_bits(parameters: Any) -> int:
    """Bits of stored parameters for the compiled module; 0: automatic."""
    if isinstance(parameters, str) and parameters == "auto":
        return 0
    if isinstance(parameters, Real) and not isinstance(parameters, bool) and parameters in (16, 32):
        return int(parameters)
    raise InputError(f"parameters is {_arrays.shown(parameters)} (allowed: 32, 16 or 'auto')")


def wavelet_arguments(wavelet: Any, interval: Any) -> tuple[str, Optional[np.ndarray], float]:
    """Text, samples and their interval."""
    if isinstance(wavelet, str):
        if interval is not None:
            raise InputError(
                "wavelet_interval was given for a wavelet in words (allowed: with samples): leave it out"
            )
        return wavelet, None, 0.0
    samples = np.zeros(()) if wavelet is None else _arrays.numbers(wavelet, "wavelet")
    if samples.ndim != 1:
        raise InputError(
            f"wavelet: its shape is {_arrays.shape_text(samples.shape)} (allowed: samples in one axis, "
            "or words such as 'ricker:15')"
        )
    if interval is None:
        raise InputError(
            "wavelet: samples were given without wavelet_interval (allowed: with it, in s): give it"
        )
    return "", np.ascontiguousarray(samples), _arrays.positive(interval, "wavelet_interval")
