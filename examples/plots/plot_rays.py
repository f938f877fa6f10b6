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

from plots_common import EXIT_USAGE, PlotError, check_colours, grid_of, np, plot, save


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


def lines_of(table, sources):
    """Returns the polylines of each source."""
    rays = []
    for source in range(sources):
        rows = table[table[:, 1] == source]
        starts = np.flatnonzero(np.diff(rows[:, 0])) + 1
        rays.append(np.split(rows[:, 4:], starts) if len(rows) else [])
    return rays


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


def draw(summary, velocity, times, table, options):
    sources = summary["sources"]
    return plot.rays(lines_of(table, len(sources)), velocity, **grid_of(summary), sources=sources,
                     receivers=summary["receivers"], times=times, most_rays=options.most_rays,
                     most_sources=options.most_sources, colour_map=options.colour_map,
                     title=title_of(summary))


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
        check_colours(options.colour_map)
        if min(options.dpi, options.most_rays, options.most_sources) < 1:
            raise PlotError("--dpi, --most-rays and --most-sources must be 1 or more")
        figure = draw(*read_results(options.folder), options)
        save(figure, options.output or os.path.join(options.folder, "rays.png"), options.dpi)
    except PlotError as error:
        print(f"plot_rays.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
