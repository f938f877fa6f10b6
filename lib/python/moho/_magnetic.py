# SPDX-License-Identifier: BSD-3-Clause
"""Magnetic anomalies of prisms."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _arrays
from ._errors import InputError
from ._gravity import PRECISIONS, box_of, component_names, mesh_values, rows_of, tolerance_of
from ._runtime import core

STRATEGIES = ("automatic", "tiles", "by_stations", "lattice")


def magnetic_field(
    prisms: Any = None,
    *,
    stations: Any,
    field: Any,
    components: Union[str, Sequence[str]] = "total",
    mesh: Any = None,
    susceptibilities: Any = None,
    remanence: Any = None,
    precision: str = "double",
    strategy: str = "automatic",
    far_tolerance: Optional[float] = None,
    check_overlaps: bool = False,
    memory: Optional[int] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> np.ndarray:
    """Magnetic anomaly of prisms at stations, as the program model_gravity computes it with --magnetic.

    Prisms have the magnetisation k F / mu0 along the ambient field (k: susceptibility, F: intensity), plus
    their remanence. Axes are right-handed, x north, y east, z down. Demagnetisation is neglected; it matters
    for susceptibilities above 0.1.

    Parameters
    ----------
    prisms : array, shape (n, 7)
        Rows x1, x2, y1, y2, z1, z2 in m (z1 is the top) and susceptibility in SI units, more than -1 and at
        most 1e5. Instead: mesh and susceptibilities.
    stations : array, shape (m, 3)
        Rows x, y, z in m, z down, outside of magnetised prisms; one station may be a single row.
    field : (float, float, float)
        Ambient field: intensity in nT, inclination in degrees below the horizontal plane, -90 to 90, and
        declination in degrees from north to east, -360 to 360.
    components : str or sequence of str
        Of "total" (projection on the ambient field), "bx", "by", "bz", in a sequence or separated by commas;
        or "all".
    mesh : sequence of 9 numbers
        nx, ny, nz, x1, x2, y1, y2, z1, z2: the box in m, divided into nx x ny x nz prisms.
    susceptibilities : array, shape (nz, ny, nx)
        Of the prisms of the mesh, SI units.
    remanence : (float, float, float), or array of shape (n, 3) or (nz, ny, nx, 3), optional
        Remanent magnetisation of all prisms: A/m, inclination and declination in degrees; of a mesh, of
        prisms with a susceptibility other than 0. Or A/m along x, y and z of each prism, up to 1e9. Default:
        zero.
    precision : {"double", "single"}
        Of the fields of prisms; sums and results are double.
    strategy : {"automatic", "tiles", "by_stations", "lattice"}
        Arrangement of the sum; all give the same field. lattice: Fourier transforms, for meshes in double
        precision with stations at one height on the lattice of the prisms.
    far_tolerance : float, optional
        Relative error allowed where an expansion replaces the closed form far away, 0 to 0.01; 0: to
        rounding. Default: 1e-11, in single precision 1e-6.
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
        nT. NaN where a component does not exist: on vertices and edges of magnetised prisms.

    Raises
    ------
    InputError
        An argument is invalid: shapes, coordinates, susceptibilities, remanence or angles out of range,
        stations inside of magnetised prisms.
    OutOfMemoryError
        The arrays of the strategy do not fit the memory.

    Notes
    -----
    Blakely (1995), Poisson's relation. docs/theory/gravity.md has the formulas.

    Examples
    --------
    >>> import moho
    >>> cube = [[-50, 50, -50, 50, 100, 200, 0.01]]
    >>> moho.magnetic_field(cube, stations=(0, 0, 0), field=(50000, 90, 0)).round(2).tolist()
    [[0.0]]
    """
    if (prisms is None) == (susceptibilities is None) or (mesh is None) != (susceptibilities is None):
        raise InputError(
            "the masses are not given once (needed: prisms, or mesh and susceptibilities): give one of these"
        )
    box: list[float] = []
    if prisms is not None:
        prisms = rows_of(prisms, "prisms", 7, "x1, x2, y1, y2, z1, z2, susceptibility")
        shape: tuple[int, ...] = (len(prisms),)
    else:
        box = box_of(mesh)
        susceptibilities = mesh_values(susceptibilities, box, "susceptibilities")
        shape = susceptibilities.shape
    at = rows_of(stations, "stations", 3, "x, y, z in m")
    ambient = _arrays.numbers(field, "field")
    if ambient.shape != (3,):
        raise InputError(
            f"field: {_arrays.shown(field)} is not three numbers (allowed: intensity in nT, inclination "
            "and declination in degrees, such as 50000,60,2)"
        )
    vectors, uniform = _remanence(remanence, shape)
    return core().magnetic_field(
        prisms,
        box,
        susceptibilities,
        at,
        component_names(components),
        ambient.tolist(),
        vectors,
        uniform,
        _arrays.choice(precision, "precision", PRECISIONS) == "single",
        _arrays.choice(strategy, "strategy", STRATEGIES),
        -1.0 if far_tolerance is None else tolerance_of(far_tolerance),
        _arrays.flag(check_overlaps, "check_overlaps"),
        _arrays.memory_bytes(memory),
        _arrays.callback(progress),
    )


def _remanence(value: Any, shape: tuple[int, ...]) -> tuple[Optional[np.ndarray], list[float]]:
    """Vectors of all prisms, or strength and angles of all of them."""
    if value is None:
        return None, []
    array = np.ascontiguousarray(_arrays.numbers(value, "remanence"))
    if array.shape == (3,):
        return None, [_arrays.number(one, "remanence") for one in array]
    if array.shape != (*shape, 3):
        raise InputError(
            f"remanence: the shape is {_arrays.shape_text(array.shape)} (allowed: "
            f"{_arrays.shape_text((*shape, 3))}, A/m along x, y and z of each prism, or three numbers, A/m, "
            "inclination and declination)"
        )
    return array.reshape(-1, 3), []
