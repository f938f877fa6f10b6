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

from plots_common import EXIT_USAGE, PlotError, check_colours, np, plot, save


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
            shape = (self.grid["ny"], self.grid["nx"])
            names = ("nx", "ny", "dx", "dy", "x0", "y0")
            self.where = {"grid": [self.grid[name] for name in names]}
        else:
            shape = (len(places),)
            self.where = {"stations": places}
        if any(values.shape != shape for values in self.values.values()):
            raise PlotError(f"{folder}: summary.json and the components are of different runs")


def caption(results):
    ensemble, stations = results.summary["ensemble"], results.summary["stations"]
    where = f"{stations['grid']['nx']} x {stations['grid']['ny']}" if results.grid else f"{stations['count']}"
    name = os.path.basename(ensemble["name"])
    count = ensemble["prisms"]
    grey = "; grey: the component does not exist there" if any(c["nan"] for c in results.components) else ""
    return (f"{name}: {count:,} prism{'' if count == 1 else 's'}, {where} "
            f"station{'' if where == '1' else 's'}{grey}")


def draw(results, components, options, single):
    names = [component["name"] for component in components]
    return plot.gravity([results.values[name] for name in names], components=names, **results.where,
                        x_right=options.x_right, colour_map=options.colour_map, title=caption(results),
                        single=single, most_cells=options.most_cells, most_points=options.most_points)


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
        check_colours(options.colour_map)
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
            save(draw(results, [component], options, True),
                 os.path.join(out, f"{component['name']}.{options.format}"), options.dpi)
        save(draw(results, results.components, options, False),
             os.path.join(out, f"maps.{options.format}"), options.dpi)
    except PlotError as error:
        print(f"plot_maps.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
