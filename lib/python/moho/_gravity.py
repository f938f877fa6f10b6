# SPDX-License-Identifier: BSD-3-Clause
"""Gravity and gravity gradient of prisms."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays
from ._errors import InputError
from ._runtime import core

COMPONENTS = ("potential", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
STRATEGIES = ("automatic", "tiles", "by_stations", "by_prisms", "by_corners", "lattice", "fmm")
PRECISIONS = ("double", "single")


def gravity(
    prisms: Any = None,
    *,
    stations: Any,
    components: Union[str, Sequence[str]] = "gz",
    mesh: Any = None,
    densities: Any = None,
    precision: str = "double",
    strategy: str = "automatic",
    constant: Optional[float] = None,
    far_tolerance: Optional[float] = None,
    tolerance: Optional[float] = None,
    check_overlaps: bool = False,
    memory: Optional[int] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> np.ndarray:
    """Potential, attraction and gradient of prisms at stations, as the program model_gravity computes them.

    Axes are right-handed, x north, y east, z down. The attraction is positive towards the mass along an axis;
    gab is the derivative of ga along b.

    Parameters
    ----------
    prisms : array, shape (n, 7)
        Rows x1, x2, y1, y2, z1, z2 in m (z1 is the top) and density in kg/m3. Instead: mesh and densities.
    stations : array, shape (m, 3)
        Rows x, y, z in m, z down; one station may be a single row.
    components : str or sequence of str
        Of "potential", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz", in a sequence or separated
        by commas; or "all".
    mesh : sequence of 9 numbers
        nx, ny, nz, x1, x2, y1, y2, z1, z2: the box in m, divided into nx x ny x nz prisms.
    densities : array, shape (nz, ny, nx)
        Of the prisms of the mesh, kg/m3; 0 for no prism.
    precision : {"double", "single"}
        Of the fields of prisms; sums and results are double.
    strategy : {"automatic", "tiles", "by_stations", "by_prisms", "by_corners", "lattice", "fmm"}
        Arrangement of the sum; all give the same field. by_corners: meshes in double precision. lattice:
        Fourier transforms, for meshes in double precision with stations at one height on the lattice of the
        prisms. fmm: a fast multipole method in double precision, with errors up to `tolerance`. automatic:
        by_corners for meshes with few corners, fmm where it takes less time than direct sums.
    constant : float, optional
        Gravitational constant, m3/(kg s2). Default: 6.6743e-11 (CODATA 2018).
    far_tolerance : float, optional
        Relative error allowed where an expansion replaces the closed form far away, 0 to 0.01; 0: to
        rounding. Default: 1e-11, in single precision 1e-6.
    tolerance : float, optional
        Error allowed for fmm, of the largest value of each component: 1e-10 to 0.01. Default: 1e-9.
    check_overlaps : bool
        True: refuse prisms that overlap.
    memory : int, optional
        Bytes that may be allocated; default: what is free.
    progress : callable(fraction, text), optional
        Called by this thread while another one computes, at most twenty times a second. What it raises ends
        the computation.

    Returns
    -------
    numpy.ndarray, shape (components, m), float64
        m2/s2 for the potential, mGal for gx, gy and gz, Eotvos for the gradient. NaN where a component does
        not exist: the gradient on vertices and edges of prisms.

    Raises
    ------
    InputError
        An argument is invalid: shapes, coordinates that are not finite or not in order, unknown components,
        a strategy that is not for these prisms or stations.
    OutOfMemoryError
        The arrays of the strategy do not fit the memory.

    Notes
    -----
    Couder-Castaneda et al. (2013) computed ensembles of prisms on GPUs. docs/theory/gravity.md has the
    formulas and the strategies.

    Examples
    --------
    >>> import moho
    >>> cube = [[-50, 50, -50, 50, 100, 200, 500.0]]
    >>> moho.gravity(cube, stations=(0, 0, 0)).round(4).tolist()
    [[0.1448]]
    """
    if (prisms is None) == (densities is None) or (mesh is None) != (densities is None):
        raise InputError(
            "the masses are not given once (needed: prisms, or mesh and densities): give one of these"
        )
    box: list[float] = []
    if prisms is not None:
        prisms = rows_of(prisms, "prisms", 7, "x1, x2, y1, y2, z1, z2, density")
    else:
        box = box_of(mesh)
        densities = mesh_values(densities, box, "densities")
    at = rows_of(stations, "stations", 3, "x, y, z in m")
    names = component_names(components)
    _arrays.choice(strategy, "strategy", STRATEGIES)
    if tolerance is not None and strategy not in ("automatic", "fmm"):
        raise InputError(
            f"tolerance was given with strategy {strategy} (allowed: with fmm and automatic): leave it out"
        )
    module = core()
    return module.gravity(
        prisms,
        box,
        densities,
        at,
        names,
        _arrays.choice(precision, "precision", PRECISIONS) == "single",
        strategy,
        module.gravitational_constant if constant is None else _arrays.number(constant, "constant"),
        -1.0 if far_tolerance is None else tolerance_of(far_tolerance),
        1e-9 if tolerance is None else fmm_tolerance_of(tolerance),
        _arrays.flag(check_overlaps, "check_overlaps"),
        _arrays.memory_bytes(memory),
        _arrays.callback(progress),
    )


def component_names(components: Any) -> str:
    """Names of components, separated by commas."""
    given = components.tolist() if isinstance(components, np.ndarray) else components
    if isinstance(given, str):
        return given
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
        raise InputError(
            f"components is {_arrays.shown(components)} (allowed: names, in a list or separated by commas)"
        )
    return ",".join(given)


def tolerance_of(value: Any) -> float:
    """A relative error from 0 to 0.01."""
    value = _arrays.number(value, "far_tolerance")
    if not 0.0 <= value <= 0.01:
        raise InputError(f"far_tolerance is {value} (allowed: 0 to 0.01, or None for the default)")
    return value


def fmm_tolerance_of(value: Any) -> float:
    """An error of the fast multipole method."""
    value = _arrays.number(value, "tolerance")
    if not 1e-10 <= value <= 0.01:
        raise InputError(f"tolerance is {value} (allowed: an error from 1e-10 to 0.01 of the largest value)")
    return value


def mesh_values(values: Any, box: list[float], name: str) -> np.ndarray:
    """Values of the prisms of a mesh: (nz, ny, nx)."""
    shape = tuple(int(extent) for extent in box[2::-1])
    values = np.ascontiguousarray(_arrays.numbers(values, name))
    if values.shape != shape:
        one = {"densities": "density", "susceptibilities": "susceptibility"}[name]
        raise InputError(
            f"{name}: the shape is {_arrays.shape_text(values.shape)} (allowed: {_arrays.shape_text(shape)}, "
            f"nz x ny x nx of the mesh): give one {one} for each prism"
        )
    return values


def rows_of(value: Any, name: str, columns: int, content: str) -> np.ndarray:
    """Rows of numbers; one row may be given alone."""
    array = _arrays.numbers(value, name)
    if array.shape == (columns,):
        array = array[None, :]
    if array.ndim != 2 or array.shape[1] != columns:
        raise InputError(
            f"{name}: the shape is {_arrays.shape_text(array.shape)} (allowed: n x {columns}, rows {content})"
        )
    return np.ascontiguousarray(array)


def box_of(mesh: Any) -> list[float]:
    """The nine numbers of a mesh."""
    array = _arrays.numbers(mesh, "mesh")
    counts = array[:3] if array.shape == (9,) else np.zeros(3)
    if not np.all((counts == np.floor(counts)) & (counts >= 1) & (counts <= 2**53)):
        raise InputError(
            f"mesh is {_arrays.shown(mesh)} (allowed: nx, ny, nz, x1, x2, y1, y2, z1, z2 with whole numbers "
            "of prisms): give these nine numbers"
        )
    return array.tolist()
