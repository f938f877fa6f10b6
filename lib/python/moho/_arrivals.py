# SPDX-License-Identifier: BSD-3-Clause
"""First-arrival traveltimes by the eikonal equation."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from . import _arrays, _labelled
from ._errors import InputError
from ._runtime import core

METHODS = ("active_tiles", "sweeping", "fast_marching")


def first_arrivals(
    velocity: Any,
    *,
    spacing: Any = None,
    sources: Any,
    origin: Any = None,
    epsilon: Any = None,
    delta: Any = None,
    each: bool = False,
    order: int = 2,
    factored: bool = True,
    method: str = "active_tiles",
    memory: Optional[int] = None,
    out: Optional[np.ndarray] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> Any:
    """Traveltimes of first arrivals at all nodes, as the program first_arrivals computes them.

    The medium is isotropic with a velocity alone, elliptical with epsilon, and VTI with epsilon and delta.

    Parameters
    ----------
    velocity : array, shape (nx, nz) or (nx, ny, nz)
        Velocity along the vertical axis, m/s, 1e-3 to 1e9, float32 or float64. z is depth. An array of that
        type with contiguous z, y and x is used in place, also one of another library through DLPack. An
        xarray.DataArray has spacing and origin in its coordinates x, (y,) z.
    spacing : float or one for each axis
        Distance of nodes, m.
    sources : array, shape (n, 2) or (n, 3)
        Positions x, z or x, y, z in m, on nodes or between them; one position may be a single row.
    origin : float or one for each axis
        Position of the first node, m. Default: 0.
    epsilon, delta : array of the shape of velocity, or float, optional
        Thomsen's parameters, without unit, -0.4 to 2.
    each : bool
        True: times from each source. False: at every node the earliest of all sources.
    order : {1, 2}
        Order of the upwind differences.
    factored : bool
        True: the singularity at the source is factored out.
    method : {"active_tiles", "sweeping", "fast_marching"}
        Solver; all give the same times. fast_marching is sequential and not for each=True.
    memory : int, optional
        Bytes of working memory; default: what is free.
    out : numpy.ndarray, optional
        Receives the times.
    progress : callable(fraction, text), optional
        Called by this thread while another one computes, at most twenty times a second. What it raises ends
        the computation.

    Returns
    -------
    array, shape of velocity, or (n, shape of velocity) with each=True
        Traveltimes in s, of the type and library of velocity; `out` if it was given.

    Raises
    ------
    InputError
        An argument is invalid: types and shapes, velocities, a source outside the model.
    OutOfMemoryError
        The solver of a single source does not fit the memory.

    Notes
    -----
    Fomel, Luo and Zhao (2009) factored the eikonal equation; Alkhalifah (2000) gave that of VTI media.
    docs/theory/eikonal.md describes the solvers.
    """
    returned = _labelled.returned(velocity)
    velocity, spacing, origin = _labelled.placed(velocity, "velocity", spacing, origin)
    velocity = _arrays.field(velocity, "velocity")
    dim = velocity.ndim
    if delta is not None and epsilon is None:
        raise InputError(
            "delta was given without epsilon (allowed: epsilon alone, which is elliptical, or both): "
            "give epsilon"
        )
    _arrays.choice(method, "method", METHODS)
    if method == "fast_marching" and each:
        raise InputError(
            "method fast_marching was given with each=True (it is sequential, and gives the earliest "
            "of all sources): leave each out, or take another method"
        )
    places = _arrays.points(sources, "sources", dim)
    if epsilon is not None:
        epsilon = _arrays.field(epsilon, "epsilon", like=velocity)
    if delta is not None:
        delta = _arrays.field(delta, "delta", like=velocity)
    shape = ((len(places),) if each else ()) + velocity.shape
    if out is not None:
        _arrays.output(out, "out", shape, velocity.dtype)
        if any(np.may_share_memory(out, given) for given in (velocity, epsilon, delta) if given is not None):
            raise InputError("out: it shares memory with the model (allowed: memory of its own)")
    times = core().first_arrivals(
        velocity,
        epsilon,
        delta,
        _arrays.per_axis(spacing, "spacing", dim),
        _arrays.per_axis(origin, "origin", dim),
        places,
        bool(each),
        _arrays.whole(order, "order", 1, 2),
        bool(factored),
        method,
        _arrays.memory_bytes(memory),
        out,
        _arrays.callback(progress),
    )
    return returned(times, "s", "traveltime") if out is None else out
