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

sys.dont_write_bytecode = True

import plots_common as common
from plots_common import COLOURS, EXIT_USAGE, PlotError, matplotlib, np, plt, save


def read_results(folder):
    """Returns the summary, the velocity, the traveltimes (memory-mapped) and the rays by number."""
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
    """Returns the polylines of one source, thinned to at most `most`."""
    rows = table[table[:, 1] == source]
    if len(rows) == 0:
        return []
    starts = np.flatnonzero(np.diff(rows[:, 0])) + 1
    rays = np.split(rows[:, 4:], starts)
    step = max(1, -(-len(rays) // most))
    return rays[::step]


def time_levels(times, wanted):
    """Returns contour levels of traveltimes above 0."""
    return common.contour_levels(0.0, float(np.max(times[np.isfinite(times)], initial=0.0)), wanted)[0]


def colour_map_of(options, several):
    """Returns the velocity's colours: matplotlib's viridis, or pale greys below rays of several colours."""
    if options.colour_map:
        return options.colour_map
    if not several:
        return "viridis"
    shades = plt.get_cmap("bone_r")(np.linspace(0.02, 0.50, 256))
    return matplotlib.colors.ListedColormap(shades, name="pale")


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
    section = common.Section(model, (0, 1))
    sources = np.asarray(summary["sources"], dtype=float)
    shown = min(len(sources), options.most_sources)
    # evenly spaced from the first to the last
    numbers = np.linspace(0, len(sources) - 1, shown).round().astype(int)
    levels = time_levels(np.asarray(times[numbers]), 18 if shown == 1 else 9)
    step = f", contours every {levels[0]:.6g} s" if len(levels) else ""
    more = "" if shown == len(sources) else f" ({shown} of them drawn, spread evenly)"
    size = common.panel_sizes([section], 9.6, 9.0)[0]
    sheet = common.Sheet([size[0]], [size[1]], title_of(summary) + more + step)
    axes = sheet.panel(0, 0)
    values = section.cut(velocity)
    limits = common.limits_of(values)
    image = section.draw(axes, values, cmap=colour_map_of(options, shown > 1), vmin=limits[0], vmax=limits[1])
    for s in range(shown):
        colour = "white" if shown == 1 else COLOURS[s % len(COLOURS)]
        if s == 0 or shown <= 4:  # more sets of contours cannot be distinguished
            section.draw_contours(axes, section.cut(times[numbers[s]]), levels, 2, colors=[colour],
                                  linewidths=0.8 if shown == 1 else 0.5, alpha=0.9)
    for s in range(shown):
        colour = "black" if shown == 1 else COLOURS[s % len(COLOURS)]
        section.draw_lines(axes, rays_of(table, numbers[s], options.most_rays // shown), colour,
                           0.7 if shown == 1 else 0.9)
    section.mark(axes, summary["receivers"], **common.RECEIVER)
    for s in range(shown):
        section.mark(axes, sources[numbers[s]:numbers[s] + 1],
                     **common.source_style("#ffd60a" if shown == 1 else COLOURS[s % len(COLOURS)], 15))
    common.colour_bar(axes, image, "Velocity (m/s)")
    return sheet.figure


def draw_3d(summary, velocity, times, table, options):
    model = summary["model"]
    source = np.asarray(summary["sources"][0], dtype=float)
    xz, yz, xy = common.sections_through(model, source)
    # xz below left, yz below right, xy above xz, at the same scale if no section is exaggerated
    sizes = common.panel_sizes([xz, yz], 9.2, 6.5)
    flat = sizes[0][0] * xy.lengths[1] * xy.exaggeration / xy.lengths[0]
    levels = time_levels(np.asarray(times[0]), 12)
    sheet = common.Sheet([max(sizes[0][0], 2.2), max(sizes[1][0], 2.4)],
                         [min(flat, 7.0), max(h for _, h in sizes)], title_of(summary), across=1.0)
    rays = rays_of(table, 0, options.most_rays)
    parts = [section.cut(velocity) for section in (xy, xz, yz)]
    limits = common.limits_of(*parts)
    for section, part, place in zip((xy, xz, yz), parts, ((0, 0), (1, 0), (1, 1))):
        axes = sheet.panel(*place, section.title, 9)
        image = section.draw(axes, part, cmap=colour_map_of(options, False), vmin=limits[0], vmax=limits[1])
        section.draw_contours(axes, section.cut(times[0]), levels, 2, colors=["white"], linewidths=0.8,
                              alpha=0.9)
        section.draw_lines(axes, rays, "black", 0.6)
        section.mark(axes, summary["receivers"], **common.RECEIVER)
        section.mark(axes, [source], **common.source_style(size=15))
    corner = sheet.panel(0, 1)
    corner.axis("off")
    bar = sheet.figure.colorbar(image, cax=corner.inset_axes([0.05, 0.45, 0.9, 0.07]),
                                orientation="horizontal", ticks=common.MaxNLocator(4))
    bar.set_label("Velocity (m/s)")
    text = "rays of source 1, projected onto the sections;\nreceivers within half a spacing of a section"
    if len(levels):
        text = f"contours every {levels[0]:.6g} s\n" + text
    corner.text(0.5, 0.95, text, ha="center", va="top", fontsize=8, color="0.3", transform=corner.transAxes)
    return sheet.figure


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
