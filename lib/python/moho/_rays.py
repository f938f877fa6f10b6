# SPDX-License-Identifier: BSD-3-Clause
"""Shortest-path rays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import numpy as np

from . import _arrays, _labelled
from ._errors import InputError
from ._runtime import core

STARS = ("coprime", "full")
WEIGHTS = ("slowness", "velocity", "cells", "sampled")
STORAGES = ("automatic", "stored", "on_the_fly", "fragments")
METHODS = ("active_tiles", "relaxation", "push", "near_far", "dijkstra")


@dataclass(frozen=True, eq=False)
class Rays:
    """Traveltimes and rays of trace_rays(). Arrays of rays are read-only and share memory with this object.

    Ray k = source * receivers + receiver has the vertices points[first[k]:first[k + 1]].
    """

    times: Any  #: s, at nodes: (sources, nx, nz) or (sources, nx, ny, nz); a DataArray if velocity is one
    traveltimes: np.ndarray  #: s, at the receivers: (sources, receivers), float64; inf: not reached
    first: np.ndarray  #: offsets of rays into points: (sources * receivers + 1,)
    points: np.ndarray  #: m, vertices of all rays from source to receiver: (n, 2) or (n, 3), float64
    _paths: Any = field(repr=False, compare=False)
    storage: str = "stored"  #: of the edge weights: "stored", "on_the_fly" or "fragments"
    devices: int = 1  #: that held the model
    slabs: int = 1  #: of the model

    def __reduce__(self) -> Any:
        return _rays_of, (self.times, self._paths, self.storage, self.devices, self.slabs)

    def path(self, source: int, receiver: int) -> np.ndarray:
        """Returns the vertices of a ray from source to receiver, m, (n, 2) or (n, 3); n is 0 for no ray.

        Sources and receivers count from 0, negative ones from the end; others raise IndexError.
        """
        sources, receivers = self.traveltimes.shape
        source = _arrays.index(source, "source", sources)
        receiver = _arrays.index(receiver, "receiver", receivers)
        ray = source * receivers + receiver
        return self.points[self.first[ray] : self.first[ray + 1]]

    def matrix_parts(
        self, basis: str = "nodes"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
        """Computes the matrix of traveltime tomography in compressed rows, one for each ray.

        Parameters
        ----------
        basis : {"nodes", "cells"}
            nodes: an entry is the derivative of a traveltime by the slowness of a node, m; the slowness is
            linear in cells. The matrix times the slowness of the nodes is the traveltime for
            weights="slowness". cells: an entry is the length of a ray in a cell, m.

        Returns
        -------
        values, columns, first : numpy.ndarray
            float64 values in m, int32 columns with z fastest, and int64 offsets of rows.
        shape : (int, int)
            Rays, and nodes or cells.

        Raises
        ------
        InputError
            Another basis, or a grid without cells.
        """
        _arrays.choice(basis, "basis", ("nodes", "cells"))
        if basis == "cells" and min(self.times.shape[1:]) < 2:
            raise InputError(
                f"basis is 'cells' for {_arrays.shape_text(self.times.shape[1:])} nodes, which have no "
                "cells (allowed: two nodes or more along each axis): take 'nodes'"
            )
        first, columns, values, count = core_rows(self._paths, basis)
        return values, columns, first, (len(first) - 1, count)

    def matrix(self, basis: str = "nodes") -> Any:
        """Returns matrix_parts() as a scipy.sparse.csr_array; needs SciPy."""
        from scipy.sparse import csr_array

        values, columns, first, shape = self.matrix_parts(basis)
        return csr_array((values, columns, first), shape=shape, copy=False)


def core_rows(paths: Any, basis: str) -> Any:
    """Rows of the matrix of paths; refused in forked processes."""
    core()
    return paths.rows(basis, None)


def _rays_of(times: np.ndarray, paths: Any, *report: Any) -> Rays:
    """Rays that share the memory of paths."""
    traveltimes = paths.traveltimes.reshape(len(times), -1 if paths.traveltimes.size else 0)
    return Rays(times, traveltimes, paths.first, paths.points, paths, *report)


def trace_rays(
    velocity: Any,
    *,
    spacing: Any = None,
    sources: Any,
    receivers: Any = None,
    origin: Any = None,
    radius: Optional[int] = None,
    star: str = "coprime",
    weights: str = "slowness",
    method: str = "active_tiles",
    storage: str = "automatic",
    devices: int = 1,
    slabs: Optional[int] = None,
    memory: Optional[int] = None,
    progress: Optional[Callable[[float, str], Any]] = None,
) -> Rays:
    """Traveltimes and rays of first arrivals by shortest paths on a grid graph, as the program trace_rays.

    Parameters
    ----------
    velocity : array, shape (nx, nz) or (nx, ny, nz)
        Velocity of an isotropic medium, m/s, positive, float32 or float64. z is depth. An array of that type
        with contiguous z, y and x is used in place, also one of another library through DLPack. An
        xarray.DataArray has spacing and origin in its coordinates x, (y,) z.
    spacing : float or one for each axis
        Distance of nodes, m.
    sources : array, shape (n, 2) or (n, 3)
        Positions x, z or x, y, z in m, on nodes or between them; one position may be a single row.
    receivers : array, shape (m, 2) or (m, 3), optional
        Positions at which rays end, m. Default: none, for times alone.
    origin : float or one for each axis
        Position of the first node, m.
    radius : int, optional
        Radius of the neighbourhood of a node, in nodes: 1 to 8 in 2D (default 6), 1 to 4 in 3D (default 3). A
        larger radius is more exact and slower.
    star : {"coprime", "full"}
        Neighbours within the radius: those in distinct directions, or all.
    weights : {"slowness", "velocity", "cells", "sampled"}
        Interpolation of the model on an edge: slowness or velocity linear in cells, slowness constant in
        cells, or samples as in Monsegny and Agudelo (2013).
    method : {"active_tiles", "relaxation", "push", "near_far", "dijkstra"}
        Shortest-path method; all give the same times.
    storage : {"automatic", "stored", "on_the_fly", "fragments"}
        Edge weights, with the same results: stored in a table, computed on the fly, or by fragments of the
        table where the wave is. automatic: by speed and memory.
    devices : int
        Devices over which the model is split, 1 to 64, with the same results; on hosts threads.
    slabs : int, optional
        Parts of the model for each device, 1 to 1024; several keep all devices at work where the wave is.
        Default: chosen.
    memory : int, optional
        Bytes that may be allocated; default: what is free.
    progress : callable(fraction, text), optional
        Called by this thread while another one computes, at most twenty times a second. What it raises ends
        the computation.

    Returns
    -------
    Rays

    Raises
    ------
    InputError
        An argument is invalid: types and shapes, velocities, positions outside the model, more devices than
        rows of tiles, several slabs with another method than active_tiles.
    OutOfMemoryError
        The memory does not hold the model and the results of one source.

    Notes
    -----
    Moser (1991) introduced shortest-path rays on graphs, Monsegny and Agudelo (2013) their parallel
    relaxation. docs/theory/rays.md describes the methods.
    """
    labelled = _labelled.returned(velocity) if _labelled.is_labelled(velocity) else None
    velocity, spacing, origin = _labelled.placed(velocity, "velocity", spacing, origin)
    velocity = _arrays.field(velocity, "velocity")
    dim = velocity.ndim
    places = _arrays.points(sources, "sources", dim)
    ends = None if receivers is None else _arrays.points(receivers, "receivers", dim)
    radius = (
        (6 if dim == 2 else 3) if radius is None else _arrays.whole(radius, "radius", 1, 8 if dim == 2 else 4)
    )
    times, paths, *report = core().trace_rays(
        velocity,
        _arrays.per_axis(spacing, "spacing", dim),
        _arrays.per_axis(origin, "origin", dim),
        places,
        ends,
        radius,
        _arrays.choice(star, "star", STARS),
        _arrays.choice(weights, "weights", WEIGHTS),
        _arrays.choice(method, "method", METHODS),
        _arrays.choice(storage, "storage", STORAGES),
        _arrays.whole(devices, "devices", 1, 64),
        0 if slabs is None else _arrays.whole(slabs, "slabs", 1, 1024),
        _arrays.memory_bytes(memory),
        _arrays.callback(progress),
    )
    return _rays_of(labelled(times, "s", "traveltime") if labelled else times, paths, *report)
