# SPDX-License-Identifier: BSD-3-Clause
"""Sheets of panels with sizes in inches, limits of colours, units, colour bars."""

from __future__ import annotations

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

try:
    from .._errors import InputError
except ImportError:  # loaded without the package, by the programs' scripts
    InputError = ValueError

# Colours of several sources; they differ from each other and from the pale greys of the velocity.
COLOURS = ["#c1121f", "#0353a4", "#2b7a0b", "#e36414", "#7209b7", "#0a9396", "#7f4f24", "#d6006c"]
RECEIVER = dict(
    marker="v",
    markersize=4.5,
    markerfacecolor="white",
    markeredgecolor="black",
    markeredgewidth=0.6,
    zorder=5,
)
# Largest number of dots along an axis of a picture; more cannot be distinguished.
MOST_DOTS = 2400
# Largest number of receivers drawn on a section.
MOST_RECEIVERS = 60
# Sections with a larger ratio of length to height, or of height to length, are exaggerated.
MOST_ELONGATED = 6.0


class PlotError(InputError):
    """Arguments of a picture do not fit each other; the message has one line."""


def source_style(colour="#ffd60a", size=12):
    return dict(marker="*", markersize=size, markerfacecolor=colour, markeredgecolor="black",
                markeredgewidth=0.7, zorder=6)


def reals(values, name):
    """Returns real numbers as float64. Raises PlotError for others."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO" and array.size > 0:
            raise TypeError
        return array.astype(float)
    except (TypeError, ValueError):
        raise PlotError(f"{name}: they are no real numbers (allowed: numbers)") from None


def mapping_of(values, name):
    """Returns a mapping. Raises PlotError for other types."""
    if not hasattr(values, "items"):
        raise PlotError(f"{name} is of type {type(values).__name__} (allowed: a mapping of titles to arrays)")
    return values


def pair_of(values, name):
    """Returns two numbers. Raises PlotError for others."""
    pair = reals(values, name)
    if pair.shape != (2,):
        raise PlotError(f"{name} is {values!r} (allowed: two numbers, of the first and the last colour)")
    return pair.tolist()


def percentile_of(clip):
    """Returns a clip in per cent; None without one. Raises PlotError outside of 0 to 100."""
    if clip is None:
        return None
    clip = reals(clip, "clip")
    if clip.ndim != 0 or not 0.0 < clip <= 100.0:
        raise PlotError(f"clip is {clip} (allowed: above 0 to 100 per cent)")
    return float(clip)


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
