# SPDX-License-Identifier: BSD-3-Clause
"""Fields with the coordinates of xarray, and results in the library of the arguments."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Optional

import numpy as np

from ._errors import InputError

_ORDERS = ({"x", "z"}, {"x", "y", "z"})
_UNITS = {  # that attributes may name
    "m/s": ("m/s", "m s-1", "m s^-1", "m*s-1"),
    "kg/m3": ("kg/m3", "kg/m^3", "kg m-3", "kg m^-3"),
    "1": ("1", "", "dimensionless"),
    "rad": ("rad", "radian", "radians"),
    "m": ("m", "metre", "metres", "meter", "meters"),
}
_FIELDS = {"density": "kg/m3", "epsilon": "1", "delta": "1", "theta": "rad", "phi": "rad"}


def is_labelled(array: Any) -> bool:
    """True for a DataArray of xarray."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(array, xarray.DataArray)


def values_of(array: Any, name: str, unit: Optional[str] = None) -> Any:
    """The values of a DataArray with the axes (x, z) or (x, y, z); other arrays unchanged."""
    if not is_labelled(array):
        return array
    if set(array.dims) not in _ORDERS:
        raise InputError(
            f"{name}: its dimensions are {', '.join(map(str, array.dims))} (allowed: x and z, or x, y and "
            "z): rename them"
        )
    _check_unit(array, name, unit or _FIELDS.get(name, "m/s"))
    return array.transpose(*sorted(array.dims)).values


def placed(
    array: Any, name: str, spacing: Any, origin: Any, unit: str = "m/s", **others: Any
) -> tuple[Any, Any, Any]:
    """Values, spacing and origin; those of a DataArray are its coordinates.

    others: further fields on the same nodes; those that are DataArrays must have the same coordinates, or
    those of spacing and origin.
    """
    if not is_labelled(array):
        if spacing is None:
            raise InputError(
                f"spacing is missing (needed: the distance of nodes in m, or {name} as an xarray.DataArray "
                "with coordinates)"
            )
        origin = 0.0 if origin is None else origin
        for other, field in others.items():
            if is_labelled(field):
                _check_lattice(field, other, name, spacing, origin)
        return array, spacing, origin
    if spacing is not None or origin is not None:
        raise InputError(
            f"spacing or origin were given for {name} with coordinates (allowed: one of both): leave them out"
        )
    values = values_of(array, name, unit)
    steps, firsts = [], []
    for axis in sorted(array.dims):
        if axis not in array.coords:
            raise InputError(f"{name}: it has no coordinates along {axis} (needed: in m): assign them")
        _check_unit(array.coords[axis], f"{name}.{axis}", "m")
        try:
            at = np.asarray(array.coords[axis].values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}.{axis}: coordinates are no numbers (allowed: m)") from error
        step = (at[-1] - at[0]) / (len(at) - 1) if len(at) > 1 else 1.0
        if not step > 0.0 or np.abs(np.diff(at) - step).max(initial=0.0) > 1e-6 * step:
            raise InputError(
                f"{name}.{axis}: coordinates are not ascending with equal steps (allowed: a regular grid): "
                "interpolate to one"
            )
        for other, field in others.items():
            if is_labelled(field) and axis in field.coords and field.sizes.get(axis) == len(at):
                _check_nodes(field.coords[axis].values, f"{other}.{axis}", at, f"{name}.{axis}", step)
        steps.append(step)
        firsts.append(float(at[0]))
    return values, steps, firsts


def _check_lattice(field: Any, name: str, of: str, spacing: Any, origin: Any) -> None:
    """Refuses coordinates of a DataArray that are not those of spacing and origin."""
    dims = sorted(field.dims)
    try:
        steps = np.broadcast_to(np.asarray(spacing, np.float64), len(dims))
        firsts = np.broadcast_to(np.asarray(origin, np.float64), len(dims))
    except (TypeError, ValueError):
        return  # refused by the caller
    if not (steps > 0.0).all() or not np.isfinite(firsts).all():
        return
    for axis, step, first in zip(dims, steps, firsts):
        if axis in field.coords:
            expected = first + step * np.arange(field.sizes[axis])
            _check_nodes(field.coords[axis].values, f"{name}.{axis}", expected, f"{of}.{axis}", step)


def _check_nodes(values: Any, name: str, expected: np.ndarray, of: str, step: float) -> None:
    try:
        at = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: coordinates are no numbers (allowed: m)") from error
    if not np.abs(at - expected).max() <= 1e-3 * step:
        raise InputError(
            f"{name}: coordinates are {at[0]:g} to {at[-1]:g} m (allowed: {expected[0]:g} to "
            f"{expected[-1]:g} m, the nodes of {of}): interpolate to them"
        )


def returned(given: Any) -> Callable[..., Any]:
    """A function that converts a result into the library of an argument.

    function(result): a tensor or array of PyTorch, CuPy or JAX over the same memory, else the result.
    function(result, unit, name, first): for a DataArray a DataArray with its coordinates, if the last axes of
    the result are its axes; `first` names an axis before these.
    """
    if is_labelled(given):
        dims = sorted(given.dims)
        coords = {axis: given.coords[axis] for axis in dims}
        xarray = sys.modules["xarray"]

        def labelled(result: Any, unit: str = "", name: Optional[str] = None, first: str = "source") -> Any:
            if not name:
                return result
            more = [first] * (np.ndim(result) - len(dims))
            return xarray.DataArray(result, coords, [*more, *dims], name=name, attrs={"units": unit})

        return labelled
    module = type(given).__module__.split(".")[0]
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack__"):
        return lambda result, unit="", name=None, first="": result
    if module == "jaxlib":
        module = "jax"

    def shared(result: Any, unit: str = "", name: Optional[str] = None, first: str = "") -> Any:
        try:
            library = importlib.import_module("jax.dlpack" if module == "jax" else module)
            return library.from_dlpack(result)
        except (ImportError, AttributeError):
            return result  # an object with __dlpack__

    return shared


def _check_unit(array: Any, name: str, expected: str) -> None:
    unit = array.attrs.get("units")
    if unit is not None and str(unit).strip() not in _UNITS[expected]:
        raise InputError(f"{name}: its units are {unit!r} (allowed: {expected!r}): convert the values")
