# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the plotting programs: results, sections, limits, colour bars, gathers, saving.

Leaves the process with EXIT_PACKAGES if numpy or matplotlib is absent.
"""

import json
import os
import sys
import textwrap

sys.dont_write_bytecode = True

EXIT_USAGE = 2
EXIT_PACKAGES = 3

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.colors
    import matplotlib.patheffects as effects
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.collections import LineCollection
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    print(f"{sys.executable} has no {error.name}")
    sys.exit(EXIT_PACKAGES)

# Colours of several sources; they differ from each other and from the pale greys of the velocity.
COLOURS = ["#c1121f", "#0353a4", "#2b7a0b", "#e36414", "#7209b7", "#0a9396", "#7f4f24", "#d6006c"]
RECEIVER = dict(marker="v", markersize=4.5, markerfacecolor="white", markeredgecolor="black",
                markeredgewidth=0.6, zorder=5)
# Largest number of dots along an axis of a picture; more cannot be distinguished.
MOST_DOTS = 2400
# Largest number of receivers drawn on a section.
MOST_RECEIVERS = 60
# Sections with a larger ratio of length to height, or of height to length, are exaggerated.
MOST_ELONGATED = 6.0


class PlotError(Exception):
    """An error that the user can repair; the message has one line."""


def source_style(colour="#ffd60a", size=12):
    return dict(marker="*", markersize=size, markerfacecolor=colour, markeredgecolor="black",
                markeredgewidth=0.7, zorder=6)


def read_summary(folder, program):
    """Returns the summary of a program's results."""
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        if summary["program"] != program:
            raise PlotError(f"{folder} does not hold the results of {program}: summary.json is of different "
                            f"runs, of {summary['program']}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PlotError(f"{folder} does not hold the results of {program}: {error}") from error
    return summary


def load(folder, name):
    """Returns an array of a results folder, memory-mapped."""
    try:
        return np.load(os.path.join(folder, name), mmap_mode="r")
    except (OSError, ValueError) as error:
        raise PlotError(f"{folder}: {name} cannot be read: {error}") from error


def save(figure, path, dpi):
    """Writes the picture to a temporary file and renames it when it is complete."""
    kind = os.path.splitext(path)[1].lstrip(".") or "png"
    temporary = f"{path}.part"
    try:
        if os.path.lexists(temporary):
            os.remove(temporary)  # open() would follow a link
        figure.savefig(temporary, dpi=dpi, format=kind)
        os.replace(temporary, path)
    except (OSError, ValueError) as error:
        raise PlotError(f"{path} cannot be written: {error}") from error
    finally:
        plt.close(figure)
        if os.path.exists(temporary):
            os.remove(temporary)


def nice_step(span, count):
    """Returns a step that divides a span into about `count` parts: 1, 2, 2.5 or 5 times a power of ten."""
    raw = max(span, 1e-30) / max(count, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    steps = [factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0)]
    return min(steps, key=lambda step: abs(np.log(step / raw)))


def length_unit(extents):
    """Returns kilometres for models of more than 3 km, metres for smaller ones."""
    return (1000.0, "km") if max(extents) > 3000.0 else (1.0, "m")


def exaggeration_of(width, height):
    """Returns vertical over horizontal scale for a section of these lengths.

    The result is 1 unless one length is more than MOST_ELONGATED times the other. Then the shorter one is
    stretched by the smallest of 2, 5, 10, 20, 50, ... that brings the ratio to MOST_ELONGATED or less.
    """
    ratio = max(width, 1e-30) / max(height, 1e-30)
    need = max(ratio, 1.0 / ratio) / MOST_ELONGATED
    if need <= 1.0 + 1e-9:
        return 1.0
    power = 1.0
    while True:
        for factor in (2.0, 5.0, 10.0):
            if factor * power >= need * (1.0 - 1e-9):
                return factor * power if ratio > 1.0 else 1.0 / (factor * power)
        power *= 10.0


def exaggeration_texts(factor):
    """Returns the additions to the labels of the horizontal and the vertical axis."""
    if factor > 1.0:
        return "", f"\nvertical exaggeration {factor:g}"
    if factor < 1.0:
        return f"\nhorizontal exaggeration {1.0 / factor:g}", ""
    return "", ""


def limits_of(*arrays):
    """Returns the smallest and the largest finite value of the arrays, widened if they are equal."""
    parts = [values[np.isfinite(values)] for values in map(np.asarray, arrays)]
    parts = [values for values in parts if values.size]
    if not parts:
        return 0.0, 1.0
    low, high = float(min(p.min() for p in parts)), float(max(p.max() for p in parts))
    if not high > low:
        wide = 0.01 * abs(low) or 1e-6
        low, high = low - wide, high + wide
    return low, high


def extend_of(values, low, high):
    """Returns the ends of a colour bar with an arrow: those beyond which values are clipped."""
    finite = np.asarray(values)
    finite = finite[np.isfinite(finite)]
    slack = 1e-6 * (high - low)
    below = finite.size > 0 and bool(finite.min() < low - slack)
    above = finite.size > 0 and bool(finite.max() > high + slack)
    return {(False, False): "neither", (True, False): "min", (False, True): "max",
            (True, True): "both"}[(below, above)]


def clip_of(values, percentile=99.0, silent=1e-4):
    """Returns the amplitude of the darkest colour.

    It is a percentile of the samples above a fraction `silent` of the largest.
    """
    sizes = np.abs(np.asarray(values, dtype=float)).ravel()
    loud = sizes[sizes > silent * sizes.max(initial=0.0)]
    return float(np.percentile(loud, percentile)) if loud.size else 1.0


def decibels(values):
    """Returns levels in dB relative to the largest value; NaN for values of 0 or less."""
    values = np.asarray(values, dtype=float)
    most = values.max(initial=0.0)
    levels = np.full(values.shape, np.nan)
    positive = values > 0.0
    levels[positive] = 10.0 * np.log10(values[positive] / most)
    return levels


def level_limits(levels):
    """Returns lower and upper limit of levels in dB: the lowest 1 % rounded down to 5 dB, and 0."""
    finite = levels[np.isfinite(levels)]
    if not finite.size:
        return -5.0, 0.0
    return min(5.0 * np.floor(np.percentile(finite, 1.0) / 5.0), -5.0), 0.0


def node_of(model, axis, position):
    """Returns the nearest node of an axis."""
    at = round((position - model["origin"][axis]) / model["spacing"][axis])
    return int(np.clip(at, 0, model["shape"][axis] - 1))


class Section:
    """A plane of nodes of a model: the two drawn axes, and in a volume the node of the third."""

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
        if list(array.shape) != list(self.model["shape"]):
            raise PlotError(f"an array of shape {list(array.shape)} and summary.json are of different runs")
        index = [slice(None)] * array.ndim
        if self.across is not None:
            index[self.across] = self.node
        return np.asarray(array[tuple(index)], dtype=float)

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
        axes.set_xlabel(f"{label.get(self.names[0], self.names[0])} ({self.unit[1]}){right}")
        axes.set_ylabel(f"{label.get(self.names[1], self.names[1])} ({self.unit[1]}){up}")
        box, inches = axes.get_position(original=True), axes.figure.get_size_inches()
        for axis, length in ((axes.xaxis, box.width * inches[0]), (axes.yaxis, 1.6 * box.height * inches[1])):
            axis.set_major_locator(MaxNLocator(int(np.clip(length / 0.5, 2, 8)), steps=[1, 2, 2.5, 5, 10]))

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


def panel_sizes(sections, width, height):
    """Returns widths and heights in inches of adjacent sections at one scale, within given limits."""
    lengths = [(s.lengths[0], s.lengths[1] * s.exaggeration) for s in sections]
    scale = min(width / sum(a for a, _ in lengths), height / max(b for _, b in lengths))
    return [(max(a * scale, 0.9), max(b * scale, 0.6)) for a, b in lengths]


def wrapped(text, width, size):
    """Returns text in lines that fit a width in inches at a font size."""
    return textwrap.fill(text, max(int(width * 72.0 / (0.5 * size)), 12), break_long_words=False)


class Sheet:
    """A figure whose panels have given sizes in inches."""

    def __init__(self, widths, heights, heading="", left=0.85, right=1.15, across=0.85, down=0.95):
        wide = left + sum(widths) + across * (len(widths) - 1) + right
        heading = wrapped(heading, wide - 0.3, 11) if heading else ""
        lines = heading.count("\n") + 1 if heading else 0
        top, bottom = 0.42 + 0.2 * lines + (0.08 if lines else 0.0), 0.72
        tall = top + sum(heights) + down * (len(heights) - 1) + bottom
        self.figure = plt.figure(figsize=(wide, tall))
        if heading:
            self.figure.suptitle(heading, fontsize=11, y=1.0 - 0.1 / tall, va="top")
        self.boxes = []
        y = tall - top
        for h in heights:
            x, row = left, []
            for w in widths:
                row.append((x / wide, (y - h) / tall, w / wide, h / tall))
                x += w + across
            self.boxes.append(row)
            y -= h + down
        self.widths = widths

    def panel(self, row, column, title="", size=10):
        """Adds the axes of a panel."""
        axes = self.figure.add_axes(self.boxes[row][column])
        if title:
            axes.set_title(wrapped(title, self.widths[column] + 0.4, size), fontsize=size)
        return axes


def colour_bar(axes, image, label, extend="neither", ticks=None, **more):
    """Adds a colour bar to the right of a panel, as high as its picture."""
    figure = axes.figure
    axes.apply_aspect()
    box, (wide, _) = axes.get_position(), figure.get_size_inches()
    place = figure.add_axes([box.x1 + 0.1 / wide, box.y0, 0.14 / wide, box.height])
    bar = figure.colorbar(image, cax=place, extend=extend,
                          ticks=ticks or MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]), **more)
    bar.set_label(label)
    if hasattr(bar.formatter, "set_powerlimits"):
        bar.formatter.set_powerlimits((-3, 5))
        bar.formatter.set_useMathText(True)
        bar.formatter.set_useOffset(False)
        bar.update_ticks()
    return bar


def contour_levels(low, high, wanted):
    """Returns the multiples of a nice step between two values, and the step."""
    if not high - low > 1e-6 * max(abs(low), abs(high)):
        return np.array([]), 0.0
    step = nice_step(high - low, wanted)
    first = np.floor(low / step) + 1
    return np.arange(first, np.floor(high / step) + 1) * step, step


def point_text(point, names):
    """Returns a position as text: "x = 200, z = 20 m"."""
    return ", ".join(f"{name} = {value:g}" for name, value in zip(names, point)) + " m"


def trace_axis(receivers, names):
    """Returns the positions against which traces are drawn, and their label.

    The positions are a coordinate that changes in one direction along the traces, without gaps of more than
    three median steps. Otherwise they are the numbers of the receivers, from 1. `receivers` may be None.
    """
    count = len(receivers) if receivers is not None else 0
    if count > 1:
        spans = np.ptp(receivers, axis=0)
        axis = int(np.argmax(spans))
        steps = np.diff(receivers[:, axis])
        one_way = spans[axis] > 0 and (np.all(steps > 0) or np.all(steps < 0))
        if one_way and np.abs(steps).max() <= 3.0 * np.median(np.abs(steps)):
            unit = length_unit([spans[axis]])
            name = "Depth z" if names[axis] == "z" else names[axis]
            return receivers[:, axis] / unit[0], f"Receiver {name} ({unit[1]})", axis, unit
    return None, "Receiver", None, None


def draw_traces(axes, traces, start, interval, receivers, sources, names, most, colour_map="gray"):
    """Draws a gather, if possible against a coordinate of its receivers; returns the image."""
    x, label, axis, unit = (None, "Trace", None, None) if receivers is None else trace_axis(receivers, names)
    if x is None:
        x = np.arange(1, len(traces) + 1)
    elif x[0] > x[-1]:
        x, traces = x[::-1], traces[::-1]
    step_r, step_t = (max(1, -(-n // MOST_DOTS)) for n in traces.shape)
    shown = traces[::step_r, ::step_t]
    last = start + interval * (traces.shape[1] - 1)
    steps = np.diff(x)
    style = dict(cmap=colour_map, vmin=-most, vmax=most)
    if len(x) < 2 or np.ptp(steps) <= 0.02 * np.mean(steps):
        half = 0.5 * (x[-1] - x[0]) / (len(x) - 1) if len(x) > 1 else 0.5
        image = axes.imshow(shown.T, aspect="auto", interpolation="nearest", **style,
                            extent=(x[0] - half, x[-1] + half, last + 0.5 * interval, start - 0.5 * interval))
    else:
        x = x[::step_r]
        middle = 0.5 * (x[1:] + x[:-1])
        edges = np.concatenate([[1.5 * x[0] - 0.5 * x[1]], middle, [1.5 * x[-1] - 0.5 * x[-2]]])
        times = np.linspace(start - 0.5 * interval, last + 0.5 * interval, shown.shape[1] + 1)
        image = axes.pcolormesh(edges, times, shown.T, rasterized=True, **style)
        axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=axis is None))
    if axis is not None:
        left, right = axes.get_xlim()
        places = np.asarray(sources, dtype=float)[:, axis] / unit[0]
        places = places[(places >= left) & (places <= right)]
        axes.plot(places, np.full(len(places), axes.get_ylim()[1]), linestyle="none", clip_on=False,
                  **source_style())
    return image
