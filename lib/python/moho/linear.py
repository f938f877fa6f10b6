# SPDX-License-Identifier: BSD-3-Clause
"""Linear maps of moho as scipy.sparse.linalg.LinearOperator, with exact transposes. They need SciPy.

>>> import numpy, scipy.sparse.linalg, moho.linear
>>> mesh = (4, 4, 2, 0, 400, 0, 400, 50, 250)  # nx, ny, nz, x1, x2, y1, y2, z1, z2
>>> stations = [(50, 50, 0), (250, 150, 0), (350, 350, 0)]
>>> operator = moho.linear.gravity_operator(mesh=mesh, stations=stations)
>>> data = operator @ numpy.full(32, 300.0)  # kg/m3 to mGal
>>> density = scipy.sparse.linalg.lsqr(operator, data)[0]
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays
from ._arrivals import TimeDerivatives
from ._errors import InputError
from ._gravity import box_of, component_names, rows_of, tolerance_of
from ._rays import Rays
from ._runtime import core

__all__ = [
    "FirstArrivalOperator",
    "GravityOperator",
    "GridOperator",
    "extended_image_operator",
    "first_arrival_operator",
    "gravity_operator",
    "point_operator",
    "ray_operator",
]


def _of_real_maps(product: Callable[[Any, Any], np.ndarray]) -> Callable[[Any, Any], np.ndarray]:
    """A product with complex vectors from that of a real map: with real and imaginary parts in turn."""

    @functools.wraps(product)
    def of_both(self: Any, x: Any) -> np.ndarray:
        if np.iscomplexobj(x):
            return product(self, np.real(x)) + 1j * product(self, np.imag(x))
        return product(self, x)

    return of_both


class GravityOperator(LinearOperator):
    """The map from the densities of prisms to their field, from gravity_operator(), and its transpose."""

    def __init__(self, operator: Any, dims: tuple[int, ...], dimsd: tuple[int, int]) -> None:
        self._operator = operator
        self.dims = dims  #: shape of the densities
        self.dimsd = dimsd  #: shape of the data: components, stations
        super().__init__(np.dtype(np.float64), (operator.values, operator.prisms))

    @_of_real_maps
    def _matvec(self, x: Any) -> np.ndarray:
        core()
        return self._operator.apply(np.ascontiguousarray(x, np.float64).reshape(-1))

    @_of_real_maps
    def _rmatvec(self, x: Any) -> np.ndarray:
        core()
        return self._operator.adjoint(np.ascontiguousarray(x, np.float64).reshape(-1))

    def column_squares(self, weights: Any = None) -> np.ndarray:
        """Sums of squares of the columns, (densities,), such as for depth weights and preconditioners.

        Parameters
        ----------
        weights : array of the size of the data, optional
            Factors of the rows, such as 1 over standard errors. Default: 1.
        """
        rows = self.shape[0]
        given = np.ones(rows) if weights is None else _arrays.numbers(weights, "weights").reshape(-1)
        if given.size != rows:
            raise InputError(f"weights: there are {given.size} (allowed: {rows}, one for each value)")
        core()
        return self._operator.column_squares(np.ascontiguousarray(given))

    def close(self) -> None:
        """Releases the memory of the operator."""
        core()
        self._operator.close()


def gravity_operator(
    prisms: Any = None,
    *,
    stations: Any,
    components: Union[str, Sequence[str]] = "gz",
    mesh: Any = None,
    constant: Optional[float] = None,
    far_tolerance: Optional[float] = None,
    memory: Optional[int] = None,
) -> GravityOperator:
    """The linear map from the densities of prisms to their field at stations.

    The matrix is not stored. Both products evaluate every pair of prism and station with the same formula,
    in double precision: `operator.T` is the transpose to rounding.

    Parameters
    ----------
    prisms : array, shape (n, 6) or (n, 7)
        Rows x1, x2, y1, y2, z1, z2 in m (z1 is the top); a density in column 7 is not used. Instead: mesh.
    stations : array, shape (m, 3)
        Rows x, y, z in m, z down.
    components : str or sequence of str
        As for moho.gravity.
    mesh : sequence of 9 numbers
        nx, ny, nz, x1, x2, y1, y2, z1, z2: the box in m, divided into nx x ny x nz prisms. Densities are
        nz x ny x nx in one axis.
    constant : float, optional
        Gravitational constant, m3/(kg s2). Default: 6.6743e-11.
    far_tolerance : float, optional
        Relative error allowed far away, 0 to 0.01; 0: to rounding. Default: 1e-11.
    memory : int, optional
        Bytes of working memory; default: what is free.

    Returns
    -------
    GravityOperator
        Densities in kg/m3 to values in m2/s2, mGal, Eotvos, component after component.

    Raises
    ------
    InputError
        Prisms, stations or components are invalid.

    Notes
    -----
    docs/theory/gravity.md has formulas and transpose.
    """
    if (prisms is None) == (mesh is None):
        raise InputError("the prisms are not given once (needed: prisms, or mesh): give one of these")
    box: list[float] = []
    if prisms is None:
        box = box_of(mesh)
        dims: tuple[int, ...] = tuple(int(extent) for extent in box[2::-1])
    else:
        given = np.atleast_2d(_arrays.numbers(prisms, "prisms"))
        if given.ndim == 2 and given.shape[1] == 6:
            given = np.column_stack([given, np.ones(len(given))])
        prisms = rows_of(given, "prisms", 7, "x1, x2, y1, y2, z1, z2")
        dims = (len(prisms),)
    at = rows_of(stations, "stations", 3, "x, y, z in m")
    module = core()
    operator = module.GravityOperator(
        prisms,
        box,
        at,
        component_names(components),
        module.gravitational_constant if constant is None else _arrays.number(constant, "constant"),
        -1.0 if far_tolerance is None else tolerance_of(far_tolerance),
        _arrays.memory_bytes(memory),
    )
    return GravityOperator(operator, dims, (operator.values // len(at), len(at)))


class GridOperator(LinearOperator):
    """A map of values at the nodes of a grid, from point_operator() or extended_image_operator()."""

    def __init__(self, linear: Any, dims: tuple[int, ...], dimsd: tuple[int, ...]) -> None:
        self._map = linear
        self.dims = dims  #: shape of the values at the nodes
        self.dimsd = dimsd  #: shape of the results
        super().__init__(np.dtype(np.float64), (linear.rows, linear.columns))

    @_of_real_maps
    def _matvec(self, x: Any) -> np.ndarray:
        core()
        return self._map.apply(np.ascontiguousarray(x, np.float64).reshape(-1))

    @_of_real_maps
    def _rmatvec(self, x: Any) -> np.ndarray:
        core()
        return self._map.adjoint(np.ascontiguousarray(x, np.float64).reshape(-1))

    def close(self) -> None:
        """Releases the memory of the operator."""
        core()
        self._map.close()


def point_operator(
    shape: Sequence[int],
    positions: Any,
    *,
    spacing: Any,
    origin: Any = None,
    radius: int = 4,
    free_surface: bool = False,
) -> GridOperator:
    """The linear map from values at nodes to values at points, and its transpose, which injects them.

    It interpolates as receivers record and sources inject: by sinc functions with a Kaiser window along each
    axis, from 2 * radius nodes; a point on a node has the value of the node.

    Parameters
    ----------
    shape : (nx, nz) or (nx, ny, nz)
        Nodes of the grid.
    positions : array, shape (m, 2) or (m, 3)
        Positions in m.
    spacing : float or one for each axis
        Distance of nodes, m.
    origin : float or one for each axis
        Position of the first node, m.
    radius : int
        Nodes on either side of a point, 1 to 10.
    free_surface : bool
        True: values above the first node of z are the negative ones of their images below it. Otherwise
        nodes outside of the grid are dropped.

    Returns
    -------
    GridOperator
        Values at the nodes, in one axis, to values at the points, in float64.

    Raises
    ------
    InputError
        A point is outside of the grid, or the radius is not allowed.

    Notes
    -----
    Hicks (2002) gave the interpolation. docs/theory/waves.md describes it.
    """
    given = _arrays.items(shape, "shape", "numbers of nodes, (nx, nz) or (nx, ny, nz)")
    extents = tuple(_arrays.whole(extent, "shape", 1, 2**31) for extent in given)
    if len(extents) not in (2, 3):
        raise InputError(f"shape: it has {len(extents)} axes (allowed: 2 or 3)")
    dim = len(extents)
    at = _arrays.points(positions, "positions", dim)
    made = core().make_point_map(
        list(extents),
        _arrays.per_axis(spacing, "spacing", dim),
        _arrays.per_axis(0.0 if origin is None else origin, "origin", dim),
        at,
        _arrays.whole(radius, "radius", 1, 10),
        _arrays.flag(free_surface, "free_surface"),
    )
    return GridOperator(made, extents, (len(at),))


def extended_image_operator(source: Any, lags: Union[int, Sequence[int]]) -> GridOperator:
    """The linear map from a field c to its extended image with a source field p, and its transpose.

    The image is I(x, h) = c(x + h) p(x - h) for half offsets h of whole nodes along x, in 3D also along y. It
    is zero where one of the points is outside of the grid. Its transpose is the source of extended Born
    modelling.

    Parameters
    ----------
    source : array, shape (nx, nz) or (nx, ny, nz)
        Values of p.
    lags : int or (int, int)
        Largest half offset along x, or along x and y, in nodes: at most half of the nodes there.

    Returns
    -------
    GridOperator
        Values of c at the nodes to the image, in float64, of shape (lags x, nx, nz) or (lags y, lags x, nx,
        ny, nz).

    Raises
    ------
    InputError
        Lags are negative, over half of the grid, or along y in 2D.

    Notes
    -----
    docs/theory/inversion.md, "Extended images".
    """
    p = np.ascontiguousarray(_arrays.numbers(source, "source"))
    if p.ndim not in (2, 3):
        raise InputError(f"source: its shape is {_arrays.shape_text(p.shape)} (allowed: 2 or 3 axes)")
    several = isinstance(lags, (list, tuple)) or (isinstance(lags, np.ndarray) and lags.ndim > 0)
    each = tuple(lags) if several else (lags, 0)
    if len(each) != 2:
        raise InputError(f"lags: there are {len(each)} (allowed: one along x, or two along x and y)")
    along_x, along_y = (_arrays.whole(lag, "lags", 0, 2**31) for lag in each)
    made = core().make_extended_map(p, along_x, along_y)
    wide = (2 * along_x + 1,) if p.ndim == 2 else (2 * along_y + 1, 2 * along_x + 1)
    return GridOperator(made, p.shape, (*wide, *p.shape))


class _RayOperator(LinearOperator):
    def __init__(self, matrix: Any, dims: tuple[int, ...], dimsd: tuple[int, int]) -> None:
        self._matrix = matrix
        self.dims = dims
        self.dimsd = dimsd
        super().__init__(np.dtype(np.float64), matrix.shape)

    @_of_real_maps
    def _matvec(self, x: Any) -> np.ndarray:
        return self._matrix @ np.reshape(x, -1)

    @_of_real_maps
    def _rmatvec(self, x: Any) -> np.ndarray:
        return self._matrix.T @ np.reshape(x, -1)


def ray_operator(rays: Rays, basis: str = "nodes") -> LinearOperator:
    """The map from slowness to traveltimes along rays, with the transpose of its matrix.

    With the basis "nodes" it is the derivative of the traveltimes by the slowness at the nodes.

    Parameters
    ----------
    rays : moho.Rays
        Result of moho.trace_rays with receivers.
    basis : {"nodes", "cells"}
        Slowness at nodes or in cells.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator
        Slowness in s/m, in one axis, to traveltimes in s, source after source. `dims` and `dimsd` are the
        shapes of slowness and traveltimes.
    """
    if not isinstance(rays, Rays) or rays.traveltimes is None or rays.traveltimes.size == 0:
        raise InputError("rays: there are none (allowed: results of moho.trace_rays with receivers)")
    shape = rays.times.shape[1:]
    nodes = _arrays.choice(basis, "basis", ("nodes", "cells")) == "nodes"
    dims = shape if nodes else tuple(extent - 1 for extent in shape)
    return _RayOperator(rays.matrix(basis), dims, rays.traveltimes.shape)


class FirstArrivalOperator(LinearOperator):
    """The derivative of first-arrival times by velocity, from first_arrival_operator()."""

    def __init__(self, derivatives: TimeDerivatives) -> None:
        self._derivatives = derivatives
        self.dims = derivatives.dims  #: shape of the velocities
        self.dimsd = derivatives.dimsd  #: shape of the times: sources, receivers or nodes
        self.times = derivatives.times  #: s, the times themselves, of that shape
        shape = (int(np.prod(self.dimsd)), int(np.prod(self.dims)))
        super().__init__(derivatives.dtype, shape)

    @_of_real_maps
    def _matvec(self, x: Any) -> np.ndarray:
        return self._derivatives.apply(x).reshape(-1)

    @_of_real_maps
    def _rmatvec(self, x: Any) -> np.ndarray:
        return self._derivatives.transpose(x).reshape(-1)

    def close(self) -> None:
        """Releases the memory of the derivatives; the times remain valid."""
        self._derivatives.close()


def first_arrival_operator(
    velocity: Any,
    *,
    spacing: Any = None,
    sources: Any,
    receivers: Any = None,
    origin: Any = None,
    epsilon: Any = None,
    delta: Any = None,
    order: int = 2,
    factored: bool = True,
    memory: Optional[int] = None,
    progress: Any = None,
) -> FirstArrivalOperator:
    """The linear map from small changes of velocity to changes of first-arrival times, and its transpose.

    The times are solved for once; products then take a small part of that time. The map is the derivative
    of the discrete solution, exact to rounding, for Gauss-Newton methods without a matrix. Memory is about
    60 bytes for each node and source in 2D and double precision.

    Parameters
    ----------
    velocity, spacing, sources, origin, epsilon, delta, order, factored
        As for moho.first_arrivals.
    receivers : array, shape (m, 2) or (m, 3), optional
        Positions in m. Times there are linear between nodes. Default: times at all nodes.
    memory : int, optional
        Bytes of working memory; default: what is free.
    progress : callable(fraction, text), optional
        As for moho.first_arrivals.

    Returns
    -------
    FirstArrivalOperator
        Changes of velocity in m/s, in one axis, to changes of times in s, source after source. Its `times`
        are those of the velocity itself.

    Raises
    ------
    InputError
        As for moho.first_arrivals; a receiver outside of the model.
    OutOfMemoryError
        The derivatives of all sources do not fit the memory together.

    Notes
    -----
    docs/theory/eikonal.md, "Derivatives by velocity".
    """
    return FirstArrivalOperator(
        TimeDerivatives(
            velocity,
            spacing=spacing,
            sources=sources,
            receivers=receivers,
            origin=origin,
            epsilon=epsilon,
            delta=delta,
            order=order,
            factored=factored,
            memory=memory,
            progress=progress,
        )
    )
