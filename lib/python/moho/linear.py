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

from typing import Any, Optional, Sequence, Union

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays
from ._errors import InputError
from ._gravity import box_of, component_names, rows_of, tolerance_of
from ._rays import Rays
from ._runtime import core

__all__ = ["GravityOperator", "gravity_operator", "ray_operator"]


class GravityOperator(LinearOperator):
    """The map from the densities of prisms to their field, from gravity_operator(), and its transpose."""

    def __init__(self, operator: Any, dims: tuple[int, ...], dimsd: tuple[int, int]) -> None:
        self._operator = operator
        self.dims = dims  #: shape of the densities
        self.dimsd = dimsd  #: shape of the data: components, stations
        super().__init__(np.dtype(np.float64), (operator.values, operator.prisms))

    def _matvec(self, x: Any) -> np.ndarray:
        core()
        return self._operator.apply(np.ascontiguousarray(x, np.float64).reshape(-1))

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
        Relative error allowed far away; 0: to rounding. Default: 1e-11.
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


class _RayOperator(LinearOperator):
    def __init__(self, matrix: Any, dims: tuple[int, ...], dimsd: tuple[int, int]) -> None:
        self._matrix = matrix
        self.dims = dims
        self.dimsd = dimsd
        super().__init__(np.dtype(np.float64), matrix.shape)

    def _matvec(self, x: Any) -> np.ndarray:
        return self._matrix @ np.reshape(x, -1)

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
    dims = shape if basis == "nodes" else tuple(extent - 1 for extent in shape)
    return _RayOperator(rays.matrix(basis), dims, rays.traveltimes.shape)
