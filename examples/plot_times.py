#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of first_arrivals: contours of the times over the velocity.

Reads summary.json, velocity.npy and times.npy from a results folder and writes times.png. In 3D it draws the
sections xz and yz through the first source, and a slice at its depth. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import json
import os
import sys

import plot_rays as common  # sections, contours and saving are those of the rays' picture
from plot_rays import np, plt


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
    coordinates = [model["origin"][d] + model["spacing"][d] * np.arange(n) for d, n in enumerate(velocity.shape)]
    extents = [max(c[-1] - c[0], model["spacing"][d]) for d, c in enumerate(coordinates)]
    unit = common.length_unit(extents)
    source = np.asarray(summary["sources"][0])
    node = [int(np.clip(round((source[d] - model["origin"][d]) / model["spacing"][d]), 0, velocity.shape[d] - 1))
            for d in range(dimensions)]
    depth = dimensions - 1
    planes = [(d, depth) for d in range(depth)]
    if dimensions == 3:
        # a slice at the depth of the first source, or in the middle if that is at the surface
        planes.append((0, 1))
        node[depth] = node[depth] or (velocity.shape[depth] - 1) // 2
    width = 11.0
    tallest = max(extents[d] for _, d in planes)
    height = float(np.clip(0.84 * width * tallest / sum(extents[d] for d, _ in planes) + 1.3, 2.8, 12.0))
    figure, panels = plt.subplots(1, len(planes), figsize=(width, height), constrained_layout=True, squeeze=False,
                                  width_ratios=[extents[d] for d, _ in planes])
    shown = min(len(times), 4)  # more families of contours cannot be told apart: an even choice of them
    numbers = np.linspace(0, len(times) - 1, shown).round().astype(int)
    levels = common.contour_levels(np.asarray(times[numbers]), 18 if shown == 1 else 9)
    for axes, columns in zip(panels[0], planes):
        cut = tuple(slice(None) if d in columns else node[d] for d in range(dimensions))
        names = tuple(model["axes"][c] for c in columns)
        section = common.Section(names, [coordinates[c] for c in columns], velocity[cut], unit)
        image = section.draw_velocity(axes, colour_map, (model["velocity_min"], model["velocity_max"]))
        for s in range(shown):
            colour = "white" if shown == 1 else common.COLOURS[s]
            section.draw_contours(axes, times[numbers[s]][cut], colour, levels, 2)
        if summary["receivers"]:
            section.draw_points(axes, summary["receivers"], list(columns), **common.RECEIVER)
        section.draw_points(axes, summary["sources"], list(columns), **common.source_style("#ffd60a"))
        if dimensions == 3 and columns == (0, 1):
            axes.invert_yaxis()
            axes.set_title(f"depth z = {coordinates[2][node[2]] / unit[0]:g} {unit[1]}", fontsize=9)
    figure.colorbar(image, ax=panels[0, -1], pad=0.01).set_label("Velocity (m/s)")
    shape = " x ".join(str(n) for n in model["shape"])
    step = f", contours every {levels[0]:.6g} s" if len(levels) else ""
    if shown < len(times):
        step += f", {shown} of {len(times)} sources, spread evenly"
    figure.suptitle(f"First arrivals: {os.path.basename(model['name'])}, {shape} nodes, {model['medium']}{step}",
                    fontsize=11)
    return figure


def main():
    parser = argparse.ArgumentParser(description="Draws the results of first_arrivals.")
    parser.add_argument("folder", nargs="?", default="first_arrivals_out", help="results of first_arrivals")
    parser.add_argument("--output", metavar="FILE", help="the picture (default: times.png in the folder)")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    parser.add_argument("--colour-map", default="viridis", metavar="NAME", help="matplotlib's name (default: viridis)")
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
