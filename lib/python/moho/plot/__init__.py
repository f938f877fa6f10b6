# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of arrays: the drawing code of the programs, for NumPy arrays. They need matplotlib.

Each function returns a matplotlib.figure.Figure, which notebooks show and savefig() writes. Nothing of the
compiled module is loaded. Fields have the axes (x, z) or (x, y, z), positions are rows in m; volumes are
drawn as sections, whose titles give their positions.

>>> import matplotlib, numpy, moho.plot
>>> matplotlib.use("Agg")
>>> velocity = numpy.full((101, 51), 2000.0)
>>> velocity[:, 30:] = 2600.0
>>> figure = moho.plot.model(velocity, spacing=10, sources=[(500, 0)])
>>> len(figure.axes)
2
"""

from ._gravity import densities, gravity, gravity_fit
from ._images import depth_gathers, illumination, image, model
from ._inversion import misfit, models
from ._rays import rays, traveltimes
from ._sheets import PlotError
from ._tomography import tomography, traveltime_fit
from ._waves import gather, gathers, snapshots

__all__ = [
    "PlotError",
    "densities",
    "depth_gathers",
    "gather",
    "gathers",
    "gravity",
    "gravity_fit",
    "illumination",
    "image",
    "misfit",
    "model",
    "models",
    "rays",
    "snapshots",
    "tomography",
    "traveltime_fit",
    "traveltimes",
]
