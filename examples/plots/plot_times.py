#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of first_arrivals: contours of the times over the velocity.

Reads summary.json, velocity.npy and times.npy from a results folder and writes times.png. In 3D it draws the
sections xz and yz through the first source, and a slice at its depth. Needs python3-numpy and
python3-matplotlib.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

import plots_common as common
from plot_rays import time_levels
from plots_common import np, plt


def read_results(folder):
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        velocity = np.load(os.path.join(folder, "velocity.npy"), mmap_mode="r")
        times = np.load(os.path.join(folder, "times.npy"), mmap_mode="r")
    except (OSError, ValueError) as error:
        raise common.PlotError(f"{folder} does not hold the results of first_arrivals: {error}") from error
    if times.ndim == velocity.ndim:
        times = times[None]
    if times.shape[1:] != velocity.shape:
        raise common.PlotError(f"{folder}: velocity.npy and times.npy are of different runs")
    return summary, velocity, times


def draw(summary, velocity, times, colour_map):
    model = summary["model"]
    dimensions = velocity.ndim
    source = [float(v) for v in summary["sources"][0]]
    if dimensions == 3 and common.node_of(model, 2, source[2]) == 0:
        # for a source at the surface the depth slice is in the middle
        source[2] = model["origin"][2] + model["spacing"][2] * ((velocity.shape[2] - 1) // 2)
    sections = common.sections_through(model, source)
    sizes = common.panel_sizes(sections, 9.6, 8.0 if dimensions == 2 else 5.0)
    shown = min(len(times), 4)  # more sets of contours cannot be distinguished: an even choice
    numbers = np.linspace(0, len(times) - 1, shown).round().astype(int)
    levels = time_levels(np.asarray(times[numbers]), 18 if shown == 1 else 9)
    shape = " x ".join(str(n) for n in model["shape"])
    step = f", contours every {levels[0]:.6g} s" if len(levels) else ""
    if shown < len(times):
        step += f", {shown} of {len(times)} sources, spread evenly"
    sheet = common.Sheet([w for w, _ in sizes], [max(h for _, h in sizes)],
                         f"First arrivals: {os.path.basename(model['name'])}, {shape} nodes, "
                         f"{model['medium']}{step}")
    parts = [section.cut(velocity) for section in sections]
    limits = common.limits_of(*parts)
    for column, (section, part) in enumerate(zip(sections, parts)):
        axes = sheet.panel(0, column, section.title, 9)
        image = section.draw(axes, part, cmap=colour_map, vmin=limits[0], vmax=limits[1])
        for s in range(shown):
            colour = "white" if shown == 1 else common.COLOURS[s]
            section.draw_contours(axes, section.cut(times[numbers[s]]), levels, 2, colors=[colour],
                                  linewidths=0.8, alpha=0.9)
        section.mark(axes, summary["receivers"], **common.RECEIVER)
        for s, point in enumerate(summary["sources"]):
            family = np.flatnonzero(numbers == s)
            colour = common.COLOURS[family[0]] if shown > 1 and len(family) else "#ffd60a"
            section.mark(axes, [point], **common.source_style(colour, 14))
    common.colour_bar(axes, image, "Velocity (m/s)")
    return sheet.figure


def main():
    parser = argparse.ArgumentParser(description="Draws the results of first_arrivals.")
    parser.add_argument("folder", nargs="?", default="first_arrivals_out", help="results of first_arrivals")
    parser.add_argument("--output", metavar="FILE", help="the picture (default: times.png in the folder)")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    parser.add_argument("--colour-map", default="viridis", metavar="NAME",
                        help="matplotlib's name (default: viridis)")
    options = parser.parse_args()
    try:
        if options.colour_map not in plt.colormaps():
            raise common.PlotError(f"--colour-map {options.colour_map} is unknown to matplotlib")
        figure = draw(*read_results(options.folder), options.colour_map)
        common.save(figure, options.output or os.path.join(options.folder, "times.png"), options.dpi)
    except common.PlotError as error:
        print(f"plot_times.py: {error}", file=sys.stderr)
        return common.EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
