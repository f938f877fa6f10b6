# SPDX-License-Identifier: BSD-3-Clause
"""First-arrival traveltimes by the eikonal equation."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from . import _arrays, _labelled
from ._errors import InputError
from ._runtime import core

METHODS = ("active_tiles", "sweeping", "fast_marching")


class _Model:
    """Checked arguments of the solver: model, grid, sources."""

    def __init__(
        self, velocity: Any, spacing: Any, origin: Any, epsilon: Any, delta: Any, sources: Any
    ) -> None:
        velocity, spacing, origin = _labelled.placed(
            velocity, "velocity", spacing, origin, epsilon=epsilon, delta=delta
        )
        self.velocity = _arrays.field(velocity, "velocity")
        dim = self.velocity.ndim
        if delta is not None and epsilon is None:
            raise InputError(
                "delta was given without epsilon (allowed: epsilon alone, which is elliptical, or both): "
                "give epsilon"
            )
        self.sources = _arrays.points(sources, "sources", dim)
        if epsilon is not None:
            epsilon = _arrays.field(epsilon, "epsilon", like=self.velocity)
        if delta is not None:
            delta = _arrays.field(delta, "delta", like=self.velocity)
        self.fields = (self.velocity, epsilon, delta)
        self.spacing = _arrays.per_axis(spacing, "spacing", dim)
        self.origin = _arrays.per_axis(origin, "origin", dim)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The first arguments of the functions of the core."""
        return (*self.fields, self.spacing, self.origin, self.sources)

    def values(self, array: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Finite numbers of a shape, of the type of the velocity."""
        return _arrays.values_like(array, name, shape, self.velocity.dtype, "sources and the nodes")


class TimeInterpolation:
    """Times at receivers from those at nodes, linear along each axis, and the transpose."""

    def __init__(self, receivers: Any, model: _Model) -> None:
        shape = model.velocity.shape
        dim = len(shape)
        for step in model.spacing:
            _arrays.positive(step, "spacing")
        _arrays.finite(np.array(model.origin), "origin")
        if 0 in shape:
            raise InputError(
                f"velocity: its shape is {_arrays.shape_text(shape)} (allowed: nodes along each axis)"
            )
        at = _arrays.points(receivers, "receivers", dim)
        last = np.array(shape) - 1
        place = (at - model.origin) / model.spacing
        outside = ((place < -1e-6) | (place > last + 1e-6) | ~np.isfinite(place)).any(axis=1)
        if outside.any():
            k = int(np.argmax(outside))
            ends = zip(_arrays.AXES[dim].split(", "), model.origin, last * model.spacing + model.origin)
            raise InputError(
                f"receivers: receiver {k + 1} at {tuple(at[k].tolist())} is outside of the model (allowed: "
                f"{', '.join(f'{axis} {low:g} to {high:g}' for axis, low, high in ends)}): move it, or "
                "extend the model"
            )
        place = np.clip(place, 0, last)
        low = np.minimum(place.astype(np.int64), np.maximum(last - 1, 0))
        upper = place - low
        nodes, weights = [], []
        for corner in range(1 << dim):
            side = np.array([(corner >> axis) & 1 for axis in range(dim)])
            nodes.append(np.ravel_multi_index(np.minimum(low + side, last).T, shape))
            weights.append(np.where(side == 1, upper, 1.0 - upper).prod(axis=1))
        self.count = len(at)
        self._nodes, self._weights = np.array(nodes), np.array(weights)
        self._shape = shape

    def apply(self, times: np.ndarray) -> np.ndarray:
        """(sources, nodes...) to (sources, receivers)."""
        flat = times.reshape(len(times), -1)
        weights = self._weights.astype(times.dtype)
        return sum(flat[:, node] * weight for node, weight in zip(self._nodes, weights))

    def transpose(self, values: np.ndarray) -> np.ndarray:
        """(sources, receivers) to (sources, nodes...)."""
        out = np.zeros((len(values), int(np.prod(self._shape))), values.dtype)
        weights = self._weights.astype(values.dtype)
        for row, value in zip(out, values):
            for node, weight in zip(self._nodes, weights):
                np.add.at(row, node, weight * value)
        return out.reshape(len(values), *self._shape)


class TimeDerivatives:
    """First-arrival times, their derivative by velocity as a linear map, and its transpose."""

    def __init__(
        self,
        velocity: Any,
        *,
        spacing: Any,
        sources: Any,
        receivers: Any,
        origin: Any,
        epsilon: Any,
        delta: Any,
        order: int,
        factored: bool,
        memory: Optional[int],
        progress: Any,
    ) -> None:
        model = _Model(velocity, spacing, origin, epsilon, delta, sources)
        self._model = model
        self._at = None if receivers is None else TimeInterpolation(receivers, model)
        self._held = core().time_derivatives(
            *model.arguments,
            _arrays.whole(order, "order", 1, 2),
            _arrays.flag(factored, "factored"),
            _arrays.memory_bytes(memory),
            _arrays.callback(progress),
        )
        self.dtype = model.velocity.dtype
        self.dims = model.velocity.shape
        each = (len(model.sources),)
        self.dimsd = (*each, *self.dims) if self._at is None else (*each, self._at.count)
        times = self._held.times()
        self.times = times if self._at is None else self._at.apply(times)

    def apply(self, change: Any) -> np.ndarray:
        """Changes of times by a change of velocity."""
        core()
        times = self._held.apply(np.ascontiguousarray(change, self.dtype).reshape(self.dims))
        return times if self._at is None else self._at.apply(times)

    def transpose(self, by_times: Any) -> np.ndarray:
        """Derivatives by velocity from those by times."""
        core()
        by_times = np.ascontiguousarray(by_times, self.dtype).reshape(self.dimsd)
        return self._held.transpose(by_times if self._at is None else self._at.transpose(by_times))

    def close(self) -> None:
        """Releases the memory of the derivatives."""
        core()
        self._held.close()


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
    model = _Model(velocity, spacing, origin, epsilon, delta, sources)
    _arrays.choice(method, "method", METHODS)
    each = _arrays.flag(each, "each")
    if method == "fast_marching" and each:
        raise InputError(
            "method fast_marching was given with each=True (it is sequential, and gives the earliest "
            "of all sources): leave each out, or take another method"
        )
    shape = ((len(model.sources),) if each else ()) + model.velocity.shape
    if out is not None:
        _arrays.output(out, "out", shape, model.velocity.dtype)
        if any(np.may_share_memory(out, given) for given in model.fields if given is not None):
            raise InputError("out: it shares memory with the model (allowed: memory of its own)")
    times = core().first_arrivals(
        *model.arguments,
        each,
        _arrays.whole(order, "order", 1, 2),
        _arrays.flag(factored, "factored"),
        method,
        _arrays.memory_bytes(memory),
        out,
        _arrays.callback(progress),
    )
    return returned(times, "s", "traveltime") if out is None else out


def first_arrivals_gradient(
    velocity: Any,
    derivative: Any,
    *,
    spacing: Any = None,
    sources: Any,
    origin: Any = None,
    epsilon: Any = None,
    delta: Any = None,
    order: int = 2,
    factored: bool = True,
    memory: Optional[int] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> Any:
    """Derivatives by velocity of a function of the times of first_arrivals(..., each=True).

    The transpose of the derivative of the discrete solution: exact to rounding for the neighbours that the
    solver has chosen at each node. The times are solved for again. Sources are taken together as memory
    allows; the result does not depend on that.

    Parameters
    ----------
    velocity, spacing, sources, origin, epsilon, delta, order, factored
        As for first_arrivals. epsilon and delta stay constant.
    derivative : array, shape (n, shape of velocity)
        Derivatives of the function by the times at all nodes from each of n sources.
    memory : int, optional
        Bytes of working memory; default: what is free.
    progress : callable(fraction, text), optional
        As for first_arrivals.

    Returns
    -------
    array, shape of velocity
        Derivatives by the velocities, s/(m/s) times the unit of `derivative`; of the type and library of
        velocity.

    Raises
    ------
    InputError
        As for first_arrivals; a derivative of another shape.
    OutOfMemoryError
        A single source does not fit the memory.

    Notes
    -----
    docs/theory/eikonal.md, "Derivatives by velocity".

    Examples
    --------
    >>> import numpy, moho
    >>> given = {"spacing": 10, "sources": [(0, 0)]}
    >>> velocity = numpy.full((41, 31), 2000.0)
    >>> times = moho.first_arrivals(velocity, each=True, **given)
    >>> gradient = moho.first_arrivals_gradient(velocity, times - 0.1, **given)  # of half a sum of squares
    >>> gradient.shape
    (41, 31)
    """
    returned = _labelled.returned(velocity)
    model = _Model(velocity, spacing, origin, epsilon, delta, sources)
    shape = (len(model.sources), *model.velocity.shape)
    gradient = core().first_arrivals_gradient(
        *model.arguments,
        _arrays.whole(order, "order", 1, 2),
        _arrays.flag(factored, "factored"),
        _arrays.memory_bytes(memory),
        model.values(derivative, "derivative", shape),
        _arrays.callback(progress),
    )
    return returned(gradient)
