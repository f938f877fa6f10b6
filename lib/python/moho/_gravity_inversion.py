# SPDX-License-Identifier: BSD-3-Clause
"""Inversion of gravity data for the densities of cells."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arrays
from ._errors import InputError
from ._gravity import box_of, component_names, fmm_tolerance_of, rows_of
from ._runtime import core

WEIGHTS = ("depth", "sensitivity", "none")
OPERATORS = ("automatic", "direct", "lattice", "fmm")
METHODS = ("automatic", "lbfgs", "cg")


@dataclass(frozen=True)
class Minimisation:
    """One minimisation of invert_gravity()."""

    stage: str  #: "smooth" or "compact"
    beta: float  #: factor of the regularisation
    chi2: float  #: of the result, for each value
    regularisation: float  #: of the result, without beta
    iterations: int  #: of the search
    products: int  #: products with the matrix or its transpose


@dataclass(frozen=True, eq=False)
class GravityInversion:
    """Result of invert_gravity(). Densities of a mesh are (nz, ny, nx), NaN where a cell is left out."""

    model: np.ndarray  #: kg/m3: (nz, ny, nx) of a mesh, or (n,) of prisms
    smooth_model: Optional[np.ndarray]  #: kg/m3, result of the smooth stage with `compact`
    field: np.ndarray  #: of the model, mGal or Eotvos: (components, m)
    trend: np.ndarray  #: mGal or Eotvos: (components, m)
    residuals: np.ndarray  #: (data - field - trend) / error: (components, m); NaN without a value
    coefficients: tuple[float, ...]  #: of the trend
    chi2: float  #: for each value, less the coefficients of the trend
    chi2_components: tuple[float, ...]  #: for each value of a component
    minimisations: tuple[Minimisation, ...]  #: all of them
    reason: str  #: why it ended
    operator: str  #: that computed products: "direct", "lattice" or "fmm"

    @property
    def lattice(self) -> bool:
        """True if products were computed by Fourier transforms."""
        return self.operator == "lattice"


def invert_gravity(
    data: Any,
    *,
    stations: Any,
    errors: Any,
    components: Union[str, Sequence[str]] = "gz",
    mesh: Any = None,
    prisms: Any = None,
    mask: Any = None,
    topography: Any = None,
    topography_box: Any = None,
    trend: Union[int, Mapping[str, int], None] = None,
    weights: str = "depth",
    exponent: Optional[float] = None,
    reference: Any = None,
    start: Any = None,
    bounds: Optional[tuple[float, float]] = None,
    small: float = 1.0,
    smooth: Any = 0.2,
    compact: Optional[float] = None,
    rounds: int = 8,
    beta: Optional[float] = None,
    target: float = 1.0,
    method: str = "automatic",
    iterations: int = 30,
    minimisations: int = 30,
    pairs: int = 8,
    operator: str = "automatic",
    tolerance: Optional[float] = None,
    memory: Optional[int] = None,
    callback: Optional[Callable[[Minimisation], Any]] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> GravityInversion:
    """Densities of cells from gravity and gravity gradients, as the program invert_gravity.

    Parameters
    ----------
    data : array, shape (components, m) or (m,)
        Values at the stations, mGal for gx, gy and gz, Eotvos for gradients; NaN for no value.
    stations : array, shape (m, 3)
        Rows x, y, z in m, z down.
    errors : float, or array of the shape of data or (components,)
        Standard errors, as data.
    components : str or sequence of str
        As for moho.gravity, in the order of the data.
    mesh : sequence of 9 numbers
        nx, ny, nz, x1, x2, y1, y2, z1, z2: the box in m, divided into nx x ny x nz cells. Instead: prisms.
    prisms : array, shape (n, 6) or (n, 7)
        Cells as rows x1, x2, y1, y2, z1, z2 in m; a density in column 7 is not used.
    mask : array, shape (nz, ny, nx), optional
        0 or False: the cell of the mesh is left out.
    topography : array, shape (ny, nx), optional
        Elevations of the ground in m above z = 0: cells above it are left out, cells that it cuts end there.
    topography_box : (float, float, float, float), optional
        x and y of the first elevation, and the distances along x and y, m.
    trend : int or mapping of str to int, optional
        Degree, 0 to 3, of the trend in x and y that is removed by projection; of components by name.
    weights : {"depth", "sensitivity", "none"}
        Weights of the cells.
    exponent : float, optional
        Of depth weights (depth + height)^(-exponent / 2). Default: 2, for gradients alone 3.
    reference : float or array of the shape of the mesh or (n,), optional
        Densities that the model is drawn to, kg/m3. Default: 0.
    start : float or array of that shape, optional
        First model, kg/m3. Default: the reference.
    bounds : (float, float), optional
        Least and greatest density, kg/m3.
    small : float
        Factor of the squared densities, 0 or more.
    smooth : float or (float, float, float)
        Factors of the squared differences of neighbours along x, y, z, 0 or more.
    compact : float, optional
        kg/m3: after the smooth model, rounds in which larger densities cost no more than this one.
    rounds : int
        Rounds with `compact`.
    beta : float, optional
        Factor of the regularisation. Default: that of chi2 = target.
    target : float
        chi2 for each value to be reached.
    method : {"automatic", "lbfgs", "cg"}
        Minimisation; "automatic" is lbfgs with bounds, otherwise conjugate gradients.
    iterations, minimisations, pairs : int
        Largest numbers of iterations of a minimisation and of minimisations, and stored pairs of L-BFGS.
    operator : {"automatic", "direct", "lattice", "fmm"}
        Products by direct sums, by Fourier transforms for a complete mesh and stations at one height on the
        lattice of its cells, or by a fast multipole method; "automatic": lattice where possible, fmm where
        it is faster than direct sums.
    tolerance : float, optional
        Error allowed for fmm, of the largest value of each component: 1e-10 to 0.01. Default: 1e-9.
    memory : int, optional
        Bytes of the matrix products; default: what is free.
    callback : callable(Minimisation), optional
        Called after each minimisation. True ends the inversion.
    progress : callable(fraction, text), optional
        Called by this thread while another one computes. What it raises ends the inversion.

    Returns
    -------
    GravityInversion

    Raises
    ------
    InputError
        An argument is invalid: shapes, errors, cells, bounds.
    OutOfMemoryError
        The operator does not fit the memory.

    Notes
    -----
    Li and Oldenburg (1998), depth weights; Last and Kubik (1983), compact models.
    docs/theory/gravity_inversion.md has the method. A UserWarning says which arguments are valid but
    unlikely, such as stations inside of rock, and what to do about a chi2 that stays above the target.

    Examples
    --------
    >>> import moho, numpy
    >>> box = (8, 8, 4, 0, 800, 0, 800, 50, 450)
    >>> density = numpy.zeros((4, 8, 8))
    >>> density[1:3, 3:5, 3:5] = 300.0
    >>> x, y = numpy.meshgrid(numpy.arange(50.0, 800, 100), numpy.arange(50.0, 800, 100))
    >>> at = numpy.column_stack([x.ravel(), y.ravel(), numpy.zeros(64)])
    >>> data = moho.gravity(mesh=box, densities=density, stations=at)
    >>> found = moho.invert_gravity(data, stations=at, errors=0.01, mesh=box, bounds=(0, 400))
    >>> found.model.shape, found.lattice
    ((4, 8, 8), True)
    """
    at = rows_of(stations, "stations", 3, "x, y, z in m")
    names = _components(components)
    values = np.atleast_2d(_arrays.numbers(data, "data"))
    if values.shape != (len(names), len(at)):
        raise InputError(
            f"data: the shape is {_arrays.shape_text(values.shape)} (allowed: {len(names)} x {len(at)}, "
            "components x stations)"
        )
    if np.isinf(values).any():
        raise InputError("data: a value is infinite (allowed: finite numbers, or NaN for no value)")
    options = _cells(mesh, prisms, mask, topography, topography_box)
    shape = options.pop("shape")
    options |= {
        "data": np.ascontiguousarray(values),
        "errors": _errors(errors, values),
        "stations": at,
        "components": ",".join(names),
        "trend": _trend(trend, names),
        "weights": _arrays.choice(weights, "weights", WEIGHTS),
        "exponent": None if exponent is None else _arrays.number(exponent, "exponent"),
        "reference": _densities(reference, "reference", shape),
        "start": _densities(start, "start", shape),
        "bounds": [] if bounds is None else _bounds(bounds),
        "small": _arrays.number(small, "small"),
        "smooth": _arrays.per_axis(smooth, "smooth", 3),
        "compact": 0.0 if compact is None else _arrays.positive(compact, "compact"),
        "rounds": _arrays.whole(rounds, "rounds", 1, 1000),
        "beta": 0.0 if beta is None else _arrays.positive(beta, "beta"),
        "target": _arrays.positive(target, "target"),
        "method": _arrays.choice(method, "method", METHODS),
        "iterations": _arrays.whole(iterations, "iterations", 1, 1000000),
        "minimisations": _arrays.whole(minimisations, "minimisations", 1, 10000),
        "pairs": _arrays.whole(pairs, "pairs", 1, 64),
        "operator": _arrays.choice(operator, "operator", OPERATORS),
        "tolerance": 1e-9 if tolerance is None else fmm_tolerance_of(tolerance),
        "memory": _arrays.memory_bytes(memory),
    }
    shown = _arrays.callback(progress)
    if callback is not None and not callable(callback):
        raise InputError(
            f"callback is {_arrays.shown(callback)} (allowed: a function of a moho.Minimisation, or None)"
        )
    inversion = core().GravityInversion(options, shown)
    for remark in inversion.remarks():
        warnings.warn(remark, stacklevel=2)
    steps: list[Minimisation] = []
    try:
        while (found := inversion.advance(shown)) is not None:
            steps.append(Minimisation(*found))
            if callback is not None and _arrays.is_true(callback(steps[-1])):
                break
        found = inversion.result()
        if tolerance is not None and found["operator"] != "fmm":
            warnings.warn(f"tolerance has no effect on the operator {found['operator']}", stacklevel=2)
        if found["advice"]:
            warnings.warn(found["advice"], stacklevel=2)
        return _result(found, shape, values.shape, steps)
    finally:
        inversion.close()


def _result(
    found: dict[str, Any], shape: tuple[int, ...], data: tuple[int, ...], steps: list[Minimisation]
) -> GravityInversion:
    smooth = found["smooth_model"]
    return GravityInversion(
        model=found["model"].reshape(shape),
        smooth_model=smooth.reshape(shape) if smooth.size else None,
        field=found["field"].reshape(data),
        trend=found["trend"].reshape(data),
        residuals=found["residuals"].reshape(data),
        coefficients=tuple(found["coefficients"]),
        chi2=found["chi2_all"],
        chi2_components=tuple(found["chi2"]),
        minimisations=tuple(steps),
        reason=found["reason"] or "ended by the callback",
        operator=found["operator"],
    )


def _components(components: Any) -> list[str]:
    return [name.strip() for name in component_names(components).split(",")]


def _errors(errors: Any, values: np.ndarray) -> np.ndarray:
    array = _arrays.numbers(errors, "errors")
    count, stations = values.shape
    if array.shape == (count,):
        array = array[:, None]
    elif array.shape == (stations,) and count == 1:
        array = array[None, :]
    if array.shape not in ((), (count, 1), values.shape):
        raise InputError(
            f"errors: the shape is {_arrays.shape_text(array.shape)} (allowed: one number, one for each "
            f"component, or {_arrays.shape_text(values.shape)})"
        )
    array = np.ascontiguousarray(np.broadcast_to(array, values.shape))
    bad = ~(array > 0.0) & ~np.isnan(values)
    if bad.any():
        raise InputError(f"errors: one is {array[bad][0]} (allowed: positive, in the unit of the data)")
    return array


def _cells(mesh: Any, prisms: Any, mask: Any, topography: Any, box: Any) -> dict[str, Any]:
    if (mesh is None) == (prisms is None):
        raise InputError("the cells are not given once (needed: mesh, or prisms): give one of these")
    result: dict[str, Any] = {"mesh": [], "prisms": None, "mask": None, "elevation": None, "ground": []}
    if mesh is None:
        if mask is not None or topography is not None:
            raise InputError("mask or topography were given for prisms (allowed: for a mesh): leave them out")
        given = np.atleast_2d(_arrays.numbers(prisms, "prisms"))
        if given.ndim == 2 and given.shape[1] == 6:
            given = np.column_stack([given, np.ones(len(given))])
        result["prisms"] = rows_of(given, "prisms", 7, "x1, x2, y1, y2, z1, z2")
        return result | {"shape": (len(given),)}
    result["mesh"] = box_of(mesh)
    shape = tuple(int(extent) for extent in result["mesh"][2::-1])
    if mask is not None:
        result["mask"] = _arrays.mask(mask, shape, "that of the mesh")
    if topography is None and box is not None:
        raise InputError("topography_box was given without topography (it belongs to it): leave it out")
    if topography is not None:
        array = _arrays.numbers(topography, "topography")
        lattice = None if box is None else _arrays.numbers(box, "topography_box")
        if array.ndim != 2 or lattice is None or lattice.shape != (4,):
            raise InputError(
                "topography: it is no lattice (allowed: elevations of shape ny x nx, with topography_box, "
                "x and y of the first one and the distances along x and y)"
            )
        if not np.isfinite(array).all():
            raise InputError("topography: one is not finite (allowed: elevations in m): interpolate it")
        if not np.isfinite(lattice).all() or not (lattice[2:] > 0.0).all():
            raise InputError(
                f"topography_box is {_arrays.shown(box)} (allowed: x and y of the first elevation, and "
                "positive distances along x and y, m)"
            )
        result |= {"elevation": np.ascontiguousarray(array), "ground": lattice.tolist()}
    return result | {"shape": shape}


def _densities(value: Any, name: str, shape: tuple[int, ...]) -> Optional[np.ndarray]:
    if value is None:
        return None
    array = _arrays.numbers(value, name)
    if array.ndim > 0 and array.shape != shape:
        raise InputError(
            f"{name}: its shape is {_arrays.shape_text(array.shape)} (allowed: one number, or "
            f"{_arrays.shape_text(shape)}, that of the cells)"
        )
    if not np.isfinite(array).all():
        raise InputError(f"{name}: a density is not finite (allowed: numbers, in kg/m3)")
    return np.ascontiguousarray(np.broadcast_to(array, shape))


def _bounds(bounds: Any) -> list[float]:
    array = _arrays.numbers(bounds, "bounds")
    if array.shape != (2,) or not array[0] < array[1]:
        raise InputError(f"bounds is {_arrays.shown(bounds)} (allowed: least and greatest density, kg/m3)")
    return array.tolist()


def _trend(trend: Any, names: list[str]) -> list[int]:
    if trend is None:
        return [-1] * len(names)
    if isinstance(trend, Mapping):
        unknown = [name for name in trend if name not in names]
        if unknown:
            raise InputError(f"trend: {unknown[0]!r} is not in the data (allowed: {', '.join(names)})")
        return [-1 if name not in trend else _arrays.whole(trend[name], "trend", 0, 3) for name in names]
    return [_arrays.whole(trend, "trend", 0, 3)] * len(names)
