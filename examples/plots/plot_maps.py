#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of model_gravity: a map of each component, and all maps on one page.

Reads summary.json and <component>.npy (for a list of stations also stations.npy) from a results folder and
writes <component>.png and maps.png. Maps are views from above with north (x) up and east (y) to the right.
The axes of model_gravity are right-handed with z down. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

import plots_common as common
from mpl_toolkits.axes_grid1 import make_axes_locatable
from plots_common import EXIT_USAGE, PlotError, np, plt, save

UNITS = {"m2/s2": "m²/s²", "mGal": "mGal", "Eotvos": "E"}
LABELS = {"potential": "U", "gx": "g$_x$", "gy": "g$_y$", "gz": "g$_z$", "gxx": "g$_{xx}$", "gyy": "g$_{yy}$",
          "gzz": "g$_{zz}$", "gxy": "g$_{xy}$", "gxz": "g$_{xz}$", "gyz": "g$_{yz}$"}
MISSING = "#b0b0b0"


class Results:
    """The summary, the positions of the stations, and the values of every component."""

    def __init__(self, folder):
        self.folder = folder
        try:
            with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
                self.summary = json.load(file)
            self.components = self.summary["components"]
            self.grid = self.summary["stations"]["grid"]
            self.values = {c["name"]: np.load(os.path.join(folder, c["name"] + ".npy"), mmap_mode="r")
                           for c in self.components}
            places = None if self.grid else np.load(os.path.join(folder, "stations.npy"), mmap_mode="r")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PlotError(f"{folder} does not hold the results of model_gravity: {error}") from error
        if self.grid:
            g = self.grid
            shape = (g["ny"], g["nx"])
            self.x = g["x0"] + g["dx"] * np.arange(g["nx"])
            self.y = g["y0"] + g["dy"] * np.arange(g["ny"])
        else:
            shape = (len(places),)
            self.x, self.y = np.asarray(places[:, 0]), np.asarray(places[:, 1])
        if any(values.shape != shape for values in self.values.values()):
            raise PlotError(f"{folder}: summary.json and the components are of different runs")
        span = max(np.ptp(self.x), np.ptp(self.y))
        self.unit = (1000.0, "km") if span > 3000.0 else (1.0, "m")


def edges(centres, spacing):
    """Returns the edges of the cells around centres."""
    return np.concatenate([centres - 0.5 * spacing, centres[-1:] + 0.5 * spacing])


def colours(values, name):
    """Returns colour map and limits, symmetric about 0 if a component has large values of both signs."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0.0 < high and min(-low, high) > 0.2 * max(-low, high):
        most = max(-low, high)
        return name or "RdBu_r", -most, most
    if low == high:
        low, high = low - max(abs(low), 1e-30), high + max(abs(high), 1e-30)
    return name or "viridis", low, high


def draw_map(axes, results, component, options):
    """Draws one map with its colour bar."""
    name, unit = component["name"], results.unit
    values = results.values[name]
    x, y = results.x / unit[0], results.y / unit[0]
    if results.grid:
        # more cells than pixels cost time and are not visible
        step_y, step_x = (max(1, -(-n // options.most_cells)) for n in values.shape)
        shown = np.asarray(values[::step_y, ::step_x], dtype=float)
        x = edges(x[::step_x], step_x * results.grid["dx"] / unit[0])
        y = edges(y[::step_y], step_y * results.grid["dy"] / unit[0])
    else:
        step = max(1, -(-len(values) // options.most_points))
        shown, x, y = np.asarray(values[::step], dtype=float), x[::step], y[::step]
    colour_map, low, high = colours(shown, options.colour_map)
    colour_map = plt.get_cmap(colour_map).copy()
    colour_map.set_bad(MISSING)
    shown = np.ma.masked_invalid(shown)
    right, up = ("x", "y") if options.x_right else ("y", "x")
    axes.set_facecolor(MISSING)
    if results.grid:
        image = (axes.pcolormesh(x, y, shown, cmap=colour_map, vmin=low, vmax=high, rasterized=True)
                 if options.x_right else
                 axes.pcolormesh(y, x, shown.T, cmap=colour_map, vmin=low, vmax=high, rasterized=True))
    else:
        axes.set_facecolor("white")
        size = float(np.clip(20000.0 / max(len(x), 1), 2.0, 60.0))
        horizontal, vertical = (x, y) if options.x_right else (y, x)
        missing = np.ma.getmaskarray(shown)
        axes.scatter(horizontal[missing], vertical[missing], s=size, c="none", edgecolors=MISSING,
                     linewidths=0.6)
        image = axes.scatter(horizontal[~missing], vertical[~missing], s=size, c=shown[~missing],
                             cmap=colour_map, vmin=low, vmax=high, linewidths=0.2,
                             edgecolors="0.3" if size > 6 else "none")
    names = {"x": "x, north", "y": "y, east"}
    axes.set_xlabel(f"{names[right]} ({unit[1]})")
    axes.set_ylabel(f"{names[up]} ({unit[1]})")
    # true proportions, unless the map is very long
    spans = [float(np.ptp(results.x)), float(np.ptp(results.y))]
    if results.grid:
        spans = [spans[0] + results.grid["dx"], spans[1] + results.grid["dy"]]
    if not options.x_right:
        spans.reverse()
    if min(spans) > 0.0:
        factor = common.exaggeration_of(*spans)
        axes.set_aspect(factor)
        for label, text in zip((axes.xaxis.label, axes.yaxis.label), common.exaggeration_texts(factor)):
            label.set_text(label.get_text() + text)
    # as high as the map, whatever its shape
    place = make_axes_locatable(axes).append_axes("right", size=0.16, pad=0.1)
    bar = axes.figure.colorbar(image, cax=place)
    bar.set_label(f"{LABELS[name]} ({UNITS[component['unit']]})")
    bar.formatter.set_powerlimits((-4, 5))
    bar.update_ticks()
    axes.set_title(f"{LABELS[name]}", fontsize=11)


def caption(results):
    ensemble, stations = results.summary["ensemble"], results.summary["stations"]
    where = f"{stations['grid']['nx']} x {stations['grid']['ny']}" if results.grid else f"{stations['count']}"
    name = os.path.basename(ensemble["name"])
    count = ensemble["prisms"]
    grey = "; grey: the component does not exist there" if any(c["nan"] for c in results.components) else ""
    return (f"{name}: {count:,} prism{'' if count == 1 else 's'}, {where} "
            f"station{'' if where == '1' else 's'}{grey}")


def map_size(results, options):
    """Returns the width and height of one map according to its shape."""
    spans = [max(float(np.ptp(results.y)), 1e-9), max(float(np.ptp(results.x)), 1e-9)]
    if options.x_right:
        spans.reverse()
    ratio = float(np.clip(spans[1] / spans[0], 0.3, 2.0))
    return (5.4, 3.9 * ratio + 0.85) if ratio <= 1.2 else (4.7 / ratio + 1.5, 5.55)


def draw_one(results, component, options):
    width, height = map_size(results, options)
    figure, axes = plt.subplots(figsize=(1.25 * width, 1.25 * height))
    draw_map(axes, results, component, options)
    figure.suptitle(caption(results), fontsize=9)
    figure.tight_layout()
    return figure


def draw_all(results, options):
    count = len(results.components)
    columns = min(3, count)
    places = [(k // columns, k % columns) for k in range(count)]
    if count == 10:  # the potential next to the attraction, the gradient below
        columns = 4
        places = [(0, 0)] + [(k // 3, k % 3 + 1) for k in range(9)]
    rows = places[-1][0] + 1
    width, height = map_size(results, options)
    scale = min(1.0, 20.0 / (columns * width))
    figure = plt.figure(figsize=(columns * width * scale, rows * height * scale + 0.4))
    grid = figure.add_gridspec(rows, columns)
    for component, place in zip(results.components, places):
        draw_map(figure.add_subplot(grid[place]), results, component, options)
    figure.suptitle(caption(results), fontsize=11)
    figure.tight_layout()
    return figure


def main():
    parser = argparse.ArgumentParser(
        description="Draws the results of model_gravity: a map of each component, and all of them on one "
                    "page.",
        epilog="example: plot_maps.py model_gravity_out --only gz,gzz --format pdf")
    parser.add_argument("folder", nargs="?", default="model_gravity_out",
                        help="results of model_gravity (default: model_gravity_out)")
    parser.add_argument("--output", metavar="DIR",
                        help="folder for the pictures (default: that of the results)")
    parser.add_argument("--only", metavar="LIST",
                        help="components to draw, separated by commas (default: all there are)")
    parser.add_argument("--format", choices=["png", "pdf", "svg"], default="png",
                        help="kind of picture (default: png)")
    parser.add_argument("--dpi", type=int, default=130, help="dots per inch (default: 130)")
    parser.add_argument("--x-right", action="store_true", help="draw x to the right and y up instead")
    parser.add_argument("--colour-map", metavar="NAME",
                        help="matplotlib's name of the colours (default: RdBu_r about 0, viridis for one "
                             "sign)")
    parser.add_argument("--most-cells", type=int, default=1500, metavar="N",
                        help="draw no more cells than this along an axis of a grid (default: 1500)")
    parser.add_argument("--most-points", type=int, default=200000, metavar="N",
                        help="draw no more stations of a list than this (default: 200000)")
    options = parser.parse_args()
    try:
        if options.colour_map and options.colour_map not in plt.colormaps():
            raise PlotError(f"--colour-map {options.colour_map} is unknown to matplotlib")
        if min(options.dpi, options.most_cells, options.most_points) < 1:
            raise PlotError("--dpi, --most-cells and --most-points must be 1 or more")
        results = Results(options.folder)
        if options.only:
            wanted = [name.strip() for name in options.only.split(",")]
            there = {c["name"]: c for c in results.components}
            for name in wanted:
                if name not in there:
                    raise PlotError(f"--only {name}: {options.folder} has {', '.join(there)}")
            results.components = [there[name] for name in wanted]
        out = options.output or options.folder
        if not os.path.isdir(out):
            raise PlotError(f"--output {out} is no folder")
        for component in results.components:
            save(draw_one(results, component, options),
                 os.path.join(out, f"{component['name']}.{options.format}"), options.dpi)
        save(draw_all(results, options), os.path.join(out, f"maps.{options.format}"), options.dpi)
    except PlotError as error:
        print(f"plot_maps.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
