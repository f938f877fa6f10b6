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
from plots_common import np, plot


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
    shape = " x ".join(str(n) for n in model["shape"])
    title = f"First arrivals: {os.path.basename(model['name'])}, {shape} nodes, {model['medium']}"
    return plot.traveltimes(times, velocity, **common.grid_of(summary), sources=summary["sources"],
                            receivers=summary["receivers"], colour_map=colour_map, title=title)


def main():
    parser = argparse.ArgumentParser(description="Draws the results of first_arrivals.")
    parser.add_argument("folder", nargs="?", default="first_arrivals_out", help="results of first_arrivals")
    parser.add_argument("--output", metavar="FILE", help="the picture (default: times.png in the folder)")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    parser.add_argument("--colour-map", default="viridis", metavar="NAME",
                        help="matplotlib's name (default: viridis)")
    options = parser.parse_args()
    try:
        common.check_colours(options.colour_map)
        figure = draw(*read_results(options.folder), options.colour_map)
        common.save(figure, options.output or os.path.join(options.folder, "times.png"), options.dpi)
    except common.PlotError as error:
        print(f"plot_times.py: {error}", file=sys.stderr)
        return common.EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
