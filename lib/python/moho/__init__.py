# SPDX-License-Identifier: BSD-3-Clause
"""Exploration geophysics on Kokkos: first arrivals, rays, shots, migration, inversion and gravity.

Fields are arrays with the axes (x, z) or (x, y, z); z is depth, positive down, and the last axis. Positions
are rows (x, z) or (x, y, z). Lengths are in m, times in s, velocities in m/s. All arguments but the model are
given by name.

>>> import numpy, moho
>>> velocity = numpy.full((101, 51), 2000.0)
>>> times = moho.first_arrivals(velocity, spacing=10, sources=(500, 0))
>>> float(times[50, 50].round(6))
0.25

Kokkos starts with the first computation, on a thread that runs all computations; the interpreter's lock is
released meanwhile. docs/python.md is the guide.
"""

from ._arrivals import first_arrivals, first_arrivals_gradient
from ._errors import Error, FileError, InputError, NotFiniteError, OutOfMemoryError
from ._gravity import gravity
from ._gravity_inversion import GravityInversion, Minimisation, invert_gravity
from ._inversion import Evaluation, Objective, Search
from ._io import ModelFile, compress, decompress, read_gathers, read_model, write_gathers, write_model
from ._magnetic import magnetic_field
from ._migration import Migration
from ._picks import Picks, read_picks, write_picks
from ._plan import Plan
from ._rays import Rays, trace_rays
from ._runtime import build, configure
from ._stream import stream_shots
from ._tomography import (
    Checkerboard,
    CheckLayer,
    JackknifeRun,
    TimesInversion,
    TimesIteration,
    invert_times,
)
from ._version import __version__
from ._waves import Gather, Shots, Snapshots

__all__ = [
    "CheckLayer",
    "Checkerboard",
    "Error",
    "Evaluation",
    "FileError",
    "Gather",
    "GravityInversion",
    "InputError",
    "JackknifeRun",
    "Migration",
    "Minimisation",
    "ModelFile",
    "NotFiniteError",
    "Objective",
    "OutOfMemoryError",
    "Picks",
    "Plan",
    "Rays",
    "Search",
    "Shots",
    "Snapshots",
    "TimesInversion",
    "TimesIteration",
    "__version__",
    "build",
    "compress",
    "configure",
    "decompress",
    "first_arrivals",
    "first_arrivals_gradient",
    "gravity",
    "invert_gravity",
    "invert_times",
    "magnetic_field",
    "read_gathers",
    "read_model",
    "read_picks",
    "stream_shots",
    "trace_rays",
    "write_gathers",
    "write_model",
    "write_picks",
]
