#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of trace_rays: velocity, traveltime contours and rays.

Reads summary.json, velocity.npy, traveltime.npy and rays.csv from a results folder and writes a picture.
In 3D it draws three sections through the first source. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import json
import os
import sys

EXIT_USAGE = 2
EXIT_PACKAGES = 3

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import matplotlib.patheffects as effects
    import matplotlib.colors
    import numpy as np
    from matplotlib.collections import LineCollection
except ImportError as error:
    print(f"{sys.executable} has no {error.name}")
    sys.exit(EXIT_PACKAGES)

# Colours of several sources; they stand apart from each other and from the pale greys of the velocity.
COLOURS = ["#c1121f", "#0353a4", "#2b7a0b", "#e36414", "#7209b7", "#0a9396", "#7f4f24", "#d6006c"]


class PlotError(Exception):
    """Something that the user can mend, said in one line."""


def read_results(folder):
    """The summary, the velocity, the traveltimes (memory-mapped) and the rays by number."""
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        velocity = np.load(os.path.join(folder, "velocity.npy"), mmap_mode="r")
        times = np.load(os.path.join(folder, "traveltime.npy"), mmap_mode="r")
        table = np.loadtxt(os.path.join(folder, "rays.csv"), delimiter=",", skiprows=1, ndmin=2)
    except (OSError, ValueError) as error:
        raise PlotError(f"{folder} does not hold the results of trace_rays: {error}") from error
    dimensions = velocity.ndim
    if times.shape[1:] != velocity.shape or dimensions != len(summary["model"]["axes"]):
        raise PlotError(f"{folder}: velocity.npy, traveltime.npy and summary.json are of different runs")
    if table.size == 0:
        table = np.zeros((0, 4 + dimensions))
    return summary, velocity, times, table


def rays_of(table, source, most):
    """Polylines of one source, thinned to at most `most` of them."""
    rows = table[table[:, 1] == source]
    if len(rows) == 0:
        return []
    starts = np.flatnonzero(np.diff(rows[:, 0])) + 1
    rays = np.split(rows[:, 4:], starts)
    step = max(1, -(-len(rays) // most))
    return rays[::step]


def nice_step(span, count):
    """A step of 1, 2, 2.5 or 5 times a power of ten that divides a span into about `count` parts."""
    raw = max(span, 1e-30) / max(count, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    steps = [factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0)]
    return min(steps, key=lambda step: abs(np.log(step / raw)))


def length_unit(extents):
    """Kilometres for models of more than 3 km, metres below."""
    return (1000.0, "km") if max(extents) > 3000.0 else (1.0, "m")


class Section:
    """One plane of the model: two axes, what is in it, and how to draw it."""

    def __init__(self, axes_names, coordinates, velocity, unit):
        self.names = axes_names
        self.coordinates = [c / unit[0] for c in coordinates]
        self.velocity = np.asarray(velocity)
        self.unit = unit

    def _edges(self, axis):
        c = self.coordinates[axis]
        half = 0.5 * (c[1] - c[0]) if len(c) > 1 else 0.5
        return c[0] - half, c[-1] + half

    def draw_velocity(self, axes, colour_map, limits):
        left, right = self._edges(0)
        top, bottom = self._edges(1)
        image = axes.imshow(self.velocity.T, extent=(left, right, bottom, top), aspect="equal",
                            cmap=colour_map, vmin=limits[0], vmax=limits[1], interpolation="nearest")
        label = {"x": "x", "y": "y", "z": "Depth z"}
        axes.set_xlabel(f"{label[self.names[0]]} ({self.unit[1]})")
        axes.set_ylabel(f"{label[self.names[1]]} ({self.unit[1]})")
        return image

    def draw_contours(self, axes, times, colour, levels, labels, width=0.8):
        if min(times.shape) < 2 or len(levels) == 0:
            return
        finite = np.ma.masked_invalid(np.asarray(times, dtype=float))
        lines = axes.contour(self.coordinates[0], self.coordinates[1], finite.T, levels=levels,
                             colors=[colour], linewidths=width, alpha=0.9)
        if labels:
            # levels that no node of this section crosses have no lines
            drawn = [level for level, pieces in zip(lines.levels, lines.allsegs) if pieces]
            texts = axes.clabel(lines, drawn[labels - 1::labels], inline=True, inline_spacing=3, fontsize=7,
                                fmt=lambda value: f"{value:.6g}")
            for text in texts:
                edge = "black" if colour == "white" else "white"
                text.set_path_effects([effects.withStroke(linewidth=1.3, foreground=edge, alpha=0.75)])

    def draw_rays(self, axes, rays, columns, colour, width):
        lines = [ray[:, columns] / self.unit[0] for ray in rays]
        # on viridis, which is dark below, black has a white rim; colours lie on pale greys
        rim = [effects.withStroke(linewidth=width + 1.1, foreground="white", alpha=0.7)] if colour == "black" else None
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=width, alpha=0.85, zorder=3, path_effects=rim))

    def draw_points(self, axes, points, columns, **style):
        places = np.asarray(points, dtype=float)[:, columns] / self.unit[0]
        axes.plot(places[:, 0], places[:, 1], linestyle="none", clip_on=False, **style)


def contour_levels(times, wanted):
    highest = float(np.max(times[np.isfinite(times)], initial=0.0))
    if highest <= 0.0:
        return np.array([])
    step = nice_step(highest, wanted)
    return np.arange(1, int(highest / step) + 1) * step


def colour_map_of(options, several):
    """The velocity's colours: matplotlib's viridis, or pale greys below several colours of rays."""
    if options.colour_map:
        return options.colour_map
    if not several:
        return "viridis"
    shades = plt.get_cmap("bone_r")(np.linspace(0.02, 0.50, 256))
    return matplotlib.colors.ListedColormap(shades, name="pale")


def source_style(colour, size=15):
    return dict(marker="*", markersize=size, markerfacecolor=colour, markeredgecolor="black",
                markeredgewidth=0.7, zorder=6)


RECEIVER = dict(marker="v", markersize=4.5, markerfacecolor="white", markeredgecolor="black",
                markeredgewidth=0.6, zorder=5)


def title_of(summary):
    model = summary["model"]
    asked = summary["asked"]
    sources = len(summary["sources"])
    shape = " x ".join(str(n) for n in model["shape"])
    name = "built-in salt model" if model["name"] == "--builtin salt" else os.path.basename(model["name"])
    if "gradient" in asked:
        name = f"v = {asked['gradient'][0]:g} m/s + {asked['gradient'][1]:g} 1/s · z"
    return (f"First arrivals: {name}, {shape} nodes, radius {asked['radius']}, "
            f"{sources} source{'s' if sources > 1 else ''}")


def draw_2d(summary, velocity, times, table, options):
    model = summary["model"]
    coordinates = [model["origin"][d] + model["spacing"][d] * np.arange(velocity.shape[d]) for d in (0, 1)]
    extents = [c[-1] - c[0] for c in coordinates]
    unit = length_unit(extents)
    ratio = max(extents[1], 1e-9) / max(extents[0], 1e-9)
    width = 11.0 if ratio < 1.0 else 8.0
    height = min(max(0.82 * width * ratio + 1.15, 2.6), 12.0)
    figure, axes = plt.subplots(figsize=(width, height), constrained_layout=True)
    section = Section(("x", "z"), coordinates, velocity, unit)
    sources = np.asarray(summary["sources"])
    shown = min(len(sources), options.most_sources)
    # if there are more, an even choice from the first to the last
    numbers = np.linspace(0, len(sources) - 1, shown).round().astype(int)
    image = section.draw_velocity(axes, colour_map_of(options, shown > 1),
                                  (model["velocity_min"], model["velocity_max"]))
    levels = contour_levels(np.asarray(times[numbers]), 18 if shown == 1 else 9)
    for s in range(shown):
        colour = "white" if shown == 1 else COLOURS[s % len(COLOURS)]
        if s == 0 or shown <= 4:  # more families of contours cannot be told apart
            section.draw_contours(axes, times[numbers[s]], colour, levels, 2, 0.8 if shown == 1 else 0.5)
    for s in range(shown):
        colour = "black" if shown == 1 else COLOURS[s % len(COLOURS)]
        section.draw_rays(axes, rays_of(table, numbers[s], options.most_rays // shown), [0, 1], colour, 0.7 if shown == 1 else 0.9)
    if len(summary["receivers"]) > 0:
        section.draw_points(axes, summary["receivers"], [0, 1], **RECEIVER)
    for s in range(shown):
        section.draw_points(axes, sources[numbers[s]:numbers[s] + 1], [0, 1],
                            **source_style("#ffd60a" if shown == 1 else COLOURS[s % len(COLOURS)]))
    bar = figure.colorbar(image, cax=axes.inset_axes([1.015, 0.0, 0.016, 1.0]))
    bar.set_label("Velocity (m/s)")
    step = f", contours every {levels[0]:.6g} s" if len(levels) else ""
    more = "" if shown == len(sources) else f" ({shown} of them drawn, spread evenly)"
    axes.set_title(title_of(summary) + more + step, fontsize=11, pad=12)
    return figure


def draw_3d(summary, velocity, times, table, options):
    model = summary["model"]
    coordinates = [model["origin"][d] + model["spacing"][d] * np.arange(velocity.shape[d]) for d in range(3)]
    extents = [max(c[-1] - c[0], model["spacing"][d]) for d, c in enumerate(coordinates)]
    unit = length_unit(extents)
    source = np.asarray(summary["sources"][0])
    node = [int(np.clip(round((source[d] - model["origin"][d]) / model["spacing"][d]), 0,
                        velocity.shape[d] - 1)) for d in range(3)]
    # The three sections as a drawing office folds them: xz below left, yz below right, xy on top.
    spans = [extents[0], extents[1], extents[2]]
    total_width = spans[0] + spans[1]
    total_height = spans[1] + spans[2]
    width = 11.0
    height = min(max(0.84 * width * total_height / total_width + 1.4, 4.0), 13.0)
    figure = plt.figure(figsize=(width, height), constrained_layout=True)
    grid = figure.add_gridspec(2, 2, width_ratios=[spans[0], spans[1]], height_ratios=[spans[1], spans[2]])
    planes = [((0, 1), 2, grid[0, 0]), ((0, 2), 1, grid[1, 0]), ((1, 2), 0, grid[1, 1])]
    limits = (model["velocity_min"], model["velocity_max"])
    rays = rays_of(table, 0, options.most_rays)
    levels = None
    image = None
    for columns, normal, place in planes:
        axes = figure.add_subplot(place)
        cut = [slice(None)] * 3
        cut[normal] = node[normal]
        names = tuple("xyz"[c] for c in columns)
        section = Section(names, [coordinates[c] for c in columns], velocity[tuple(cut)], unit)
        image = section.draw_velocity(axes, colour_map_of(options, False), limits)
        if levels is None:
            levels = contour_levels(times[0], 12)
        section.draw_contours(axes, times[(0,) + tuple(cut)], "white", levels, 2)
        section.draw_rays(axes, rays, list(columns), "black", 0.6)
        if len(summary["receivers"]) > 0:
            section.draw_points(axes, summary["receivers"], list(columns), **RECEIVER)
        section.draw_points(axes, [source], list(columns), **source_style("#ffd60a"))
        if columns == (0, 1):
            axes.invert_yaxis()
        name = "xyz"[normal]
        at = (model["origin"][normal] + node[normal] * model["spacing"][normal]) / unit[0]
        axes.set_title(f"{'depth z' if name == 'z' else name} = {at:g} {unit[1]}", fontsize=9)
    corner = figure.add_subplot(grid[0, 1])
    corner.axis("off")
    bar = figure.colorbar(image, cax=corner.inset_axes([0.1, 0.45, 0.8, 0.07]), orientation="horizontal")
    bar.set_label("Velocity (m/s)")
    text = "rays of source 0, projected onto the sections"
    if len(levels):
        text = f"contours every {levels[0]:.6g} s\n" + text
    corner.text(0.5, 0.85, text, ha="center", va="top", fontsize=8, color="0.3", transform=corner.transAxes)
    figure.suptitle(title_of(summary), fontsize=11)
    return figure


def save(figure, path, dpi):
    """Writes the picture under a temporary name and renames it when it is whole."""
    kind = os.path.splitext(path)[1].lstrip(".") or "png"
    temporary = f"{path}.part"
    try:
        if os.path.lexists(temporary):
            os.remove(temporary)  # writing would follow a link
        figure.savefig(temporary, dpi=dpi, format=kind)
        os.replace(temporary, path)
    except (OSError, ValueError) as error:
        raise PlotError(f"{path} cannot be written: {error}") from error
    finally:
        plt.close(figure)
        if os.path.exists(temporary):
            os.remove(temporary)


def main():
    parser = argparse.ArgumentParser(
        description="Draws the results of trace_rays: velocity, traveltime contours and rays.",
        epilog="example: plot_rays.py trace_rays_out --output rays.pdf --most-rays 50")
    parser.add_argument("folder", nargs="?", default="trace_rays_out",
                        help="results of trace_rays (default: trace_rays_out)")
    parser.add_argument("--output", metavar="FILE",
                        help="the picture: .png, .pdf or .svg (default: rays.png in the folder)")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    parser.add_argument("--most-rays", type=int, default=240, metavar="N",
                        help="draw no more rays than this (default: 240)")
    parser.add_argument("--most-sources", type=int, default=8, metavar="N",
                        help="draw no more sources than this (default: 8)")
    parser.add_argument("--colour-map", metavar="NAME",
                        help="matplotlib's name of the velocity's colours (default: viridis, pale greys "
                             "for several sources)")
    options = parser.parse_args()
    try:
        if options.colour_map and options.colour_map not in plt.colormaps():
            raise PlotError(f"--colour-map {options.colour_map} is unknown to matplotlib")
        if min(options.dpi, options.most_rays, options.most_sources) < 1:
            raise PlotError("--dpi, --most-rays and --most-sources must be 1 or more")
        results = read_results(options.folder)
        draw = draw_2d if results[1].ndim == 2 else draw_3d
        figure = draw(*results, options)
        save(figure, options.output or os.path.join(options.folder, "rays.png"), options.dpi)
    except PlotError as error:
        print(f"plot_rays.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
