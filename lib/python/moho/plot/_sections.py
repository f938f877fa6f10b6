# SPDX-License-Identifier: BSD-3-Clause
"""Sections of models: planes of nodes with fields, contours, polylines and points."""

from __future__ import annotations

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from ._sheets import MOST_DOTS, PlotError, exaggeration_of, exaggeration_texts, length_unit, reals


def node_of(model, axis, position):
    """Returns the nearest node of an axis."""
    at = round((position - model["origin"][axis]) / model["spacing"][axis])
    return int(np.clip(at, 0, model["shape"][axis] - 1))


class Section:
    """A plane of nodes of a model: the two drawn axes, and in a volume the node of the third.

    With `elevations` a vertical axis is labelled with elevations, which are -z.
    """

    elevations = False

    def __init__(self, model, columns, node=None):
        self.model, self.columns, self.node = model, tuple(columns), node
        self.across = next((d for d in range(len(model["shape"])) if d not in self.columns), None)
        names = model.get("axes") or ["x", "y", "z"][:len(model["shape"])]
        self.names = [names[c] for c in self.columns]
        self.is_map = self.names[1] != "z"
        self.coordinates = [model["origin"][c] + model["spacing"][c] * np.arange(model["shape"][c])
                            for c in self.columns]
        half = [0.5 * model["spacing"][c] for c in self.columns]
        self.lower = [c[0] - h for c, h in zip(self.coordinates, half)]
        self.upper = [c[-1] + h for c, h in zip(self.coordinates, half)]
        self.lengths = [b - a for a, b in zip(self.lower, self.upper)]
        whole = [h * (n - 1) for h, n in zip(model["spacing"], model["shape"])]
        self.unit = length_unit(whole)
        self.exaggeration = exaggeration_of(*self.lengths)
        a, b = ([v / self.unit[0] for v in ends] for ends in (self.lower, self.upper))
        self.extent = (a[0], b[0], b[1], a[1])
        self.title = ""
        if self.across is not None:
            self.position = model["origin"][self.across] + model["spacing"][self.across] * node
            name = names[self.across]
            self.title = f"{'depth z' if name == 'z' else name} = {self.position:g} m"

    def cut(self, array):
        """Returns the values of this plane, from a memory-mapped array of the model's shape."""
        array = array if hasattr(array, "shape") else np.asarray(array)
        if list(array.shape) != list(self.model["shape"]):
            raise PlotError(f"the shape of an array is {list(array.shape)} (allowed: "
                            f"{list(self.model['shape'])}, that of the model)")
        index = [slice(None)] * array.ndim
        if self.across is not None:
            index[self.across] = self.node
        return reals(array[tuple(index)], "the field")

    def on(self, points):
        """Returns which points lie on this plane: within half a spacing of it."""
        points = np.asarray(points, dtype=float)
        if self.across is None or points.size == 0:
            return np.ones(len(points), dtype=bool)
        far = np.abs(points[:, self.across] - self.position)
        return far <= 0.5 * self.model["spacing"][self.across] * (1.0 + 1e-9)

    def frame(self, axes):
        """Sets limits, proportions and labels of the axes."""
        right, up = exaggeration_texts(self.exaggeration)
        label = {"z": "Depth z"}
        axes.set_xlim(self.extent[0], self.extent[1])
        axes.set_ylim(*(self.extent[3], self.extent[2]) if self.is_map else (self.extent[2], self.extent[3]))
        axes.set_aspect(self.exaggeration)
        if self.elevations:
            label = {"z": "Elevation"}
        axes.set_xlabel(f"{label.get(self.names[0], self.names[0])} ({self.unit[1]}){right}")
        axes.set_ylabel(f"{label.get(self.names[1], self.names[1])} ({self.unit[1]}){up}")
        box, inches = axes.get_position(original=True), axes.figure.get_size_inches()
        for axis, length in ((axes.xaxis, box.width * inches[0]), (axes.yaxis, 1.6 * box.height * inches[1])):
            axis.set_major_locator(MaxNLocator(int(np.clip(length / 0.5, 2, 8)), steps=[1, 2, 2.5, 5, 10]))
        if self.elevations and not self.is_map:
            axes.yaxis.set_major_formatter(lambda z, _: ScalarFormatter.fix_minus(f"{0.0 - z:.10g}"))

    def draw(self, axes, values, **style):
        """Draws the values of this plane."""
        steps = [max(1, -(-n // MOST_DOTS)) for n in values.shape]
        values = values[::steps[0], ::steps[1]]
        if "alpha" in style and np.ndim(style["alpha"]) == 2:
            style["alpha"] = style["alpha"][::steps[0], ::steps[1]].T
        style.setdefault("interpolation", "nearest")
        image = axes.imshow(values.T, extent=self.extent, aspect=self.exaggeration, **style)
        self.frame(axes)
        return image

    def draw_contours(self, axes, values, levels, every=0, unit="", **style):
        """Draws contours of values; labels each `every`-th level that has lines."""
        if min(values.shape) < 2 or len(levels) == 0:
            return
        step = [max(1, -(-n // 800)) for n in values.shape]
        x, y = (c[::s] / self.unit[0] for c, s in zip(self.coordinates, step))
        finite = np.ma.masked_invalid(values[::step[0], ::step[1]])
        if min(finite.shape) < 2:
            return
        if finite.count() == 0 or not finite.max() > finite.min():
            return
        levels = [level for level in levels if finite.min() < level < finite.max()]
        if not levels:
            return
        lines = axes.contour(x, y, finite.T, levels=levels, **style)
        if every:
            drawn = [level for level, pieces in zip(lines.levels, lines.allsegs) if pieces]
            edge = "black" if style.get("colors") in ("white", ["white"]) else "white"
            for text in axes.clabel(lines, drawn[every - 1::every], inline=True, inline_spacing=3, fontsize=8,
                                    fmt=lambda value: f"{value:.6g}{unit}"):
                text.set_path_effects([effects.withStroke(linewidth=1.5, foreground=edge, alpha=0.8)])

    def draw_lines(self, axes, lines, colour, width):
        """Draws polylines in m, projected onto this plane."""
        lines = [line[:, list(self.columns)] / self.unit[0] for line in lines]
        # black lines have a white rim, so that they are visible on the dark part of viridis
        rim = [effects.withStroke(linewidth=width + 1.1, foreground="white",
                                  alpha=0.7)] if colour == "black" else None
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=width, alpha=0.85, zorder=3,
                                           path_effects=rim))

    def draw_box(self, axes, box, **style):
        """Draws a box, {"lower": position, "upper": position} in m, projected onto this plane."""
        (x0, y0), (x1, y1) = ([box[end][c] / self.unit[0] for c in self.columns]
                              for end in ("lower", "upper"))
        axes.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], **style)

    def mark(self, axes, points, most=0, **style):
        """Draws the points on this plane, at most `most` (0: all) unless it is a map; returns their number.
        """
        points = np.asarray(points, dtype=float)
        if points.size == 0:
            return 0
        points = points[self.on(points)]
        shown = points[::max(1, -(-len(points) // most))] if most and not self.is_map else points
        axes.plot(shown[:, self.columns[0]] / self.unit[0], shown[:, self.columns[1]] / self.unit[0],
                  linestyle="none", clip_on=False, **style)
        return len(points)


def middle_sections(model, depth_slice=False):
    """Returns the section of a 2D model, or the middle planes of a volume.

    These are xz and yz, and the middle depth if requested.
    """
    return sections_through(model, [o + h * (n // 2)
                                    for o, h, n in zip(model["origin"], model["spacing"], model["shape"])],
                            depth_slice)


def sections_through(model, point, depth_slice=True):
    """Returns the section of a 2D model, or planes through the node nearest to a point.

    In a volume the planes are xz, yz and, if requested, xy.
    """
    if len(model["shape"]) == 2:
        return [Section(model, (0, 1))]
    planes = [(0, 2), (1, 2)] + ([(0, 1)] if depth_slice else [])
    return [Section(model, p, node_of(model, 3 - sum(p), point[3 - sum(p)])) for p in planes]


def model_of(shape, spacing, origin=0.0):
    """Returns the grid of a field: axes, shape, spacing and origin along each axis in m."""
    shape = [int(n) for n in shape]
    if len(shape) not in (2, 3):
        raise PlotError(f"the field has {len(shape)} axes (allowed: 2, x and z, or 3, x, y and z)")
    if min(shape) < 1:
        raise PlotError(f"the field has the shape {tuple(shape)} (allowed: 1 or more nodes along each axis)")
    axes = []
    for values, name in ((spacing, "spacing"), (origin, "origin")):
        values = reals(values, name).reshape(-1)
        if values.size not in (1, len(shape)):
            raise PlotError(f"{name}: there are {values.size} numbers (allowed: 1, or one for each axis)")
        axes.append([float(v) for v in np.broadcast_to(values, len(shape))])
    for step, first in zip(*axes):
        if not 0.0 < step < np.inf:
            raise PlotError(f"spacing is {step:g} m (allowed: above 0, finite)")
        if not np.isfinite(first):
            raise PlotError(f"origin is {first:g} m (allowed: finite numbers)")
    names = ["x", "z"] if len(shape) == 2 else ["x", "y", "z"]
    return {"axes": names, "shape": shape, "spacing": axes[0], "origin": axes[1]}


def points_of(points, dim, name):
    """Returns positions as rows; none for None."""
    if points is None or np.size(points) == 0:
        return np.zeros((0, dim))
    points = np.atleast_2d(reals(points, name))
    if points.ndim != 2 or points.shape[1] != dim:
        raise PlotError(f"{name}: their shape is {points.shape} (allowed: rows of {dim} coordinates, m)")
    return points


def same_shape(array, model, name):
    """Returns an array, which may be memory-mapped, after a check of its shape."""
    array = array if hasattr(array, "shape") else np.asarray(array)
    if list(array.shape) != model["shape"]:
        raise PlotError(f"{name}: its shape is {tuple(array.shape)} (allowed: {tuple(model['shape'])})")
    return array
