#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of invert_gravity: sections of the model, data and residuals, chi^2 by minimisation.

Reads summary.json, the densities, predicted.csv and history.csv from a results folder and writes
sections.png, fit.png and history.png. Maps have north (x) up and east (y) to the right, sections have depth
down. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import csv
import os
import sys

sys.dont_write_bytecode = True

import plots_common as common
from matplotlib.ticker import MaxNLocator
from plots_common import EXIT_USAGE, PlotError, check_colours, np, plot, plt, save, sheets

LARGEST_LIST = 200000  # dots of a list of stations or prisms


def read_csv(folder, name):
    """Returns the columns of a results table."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError) as error:
        raise PlotError(f"{folder}: {name} cannot be read: {error}") from error
    return {key: [row[key] for row in rows] for key in (rows[0] if rows else {})}


TITLES = {"model": "result", "model_smooth": "smooth result", "model_true": "true densities"}


def draw_sections(folder, cells, options):
    mesh = cells["mesh"]  # nx,ny,nz,x1,x2,y1,y2,z1,z2
    models = {title: common.load(folder, name + ".npy") for name, title in TITLES.items()
              if name == "model" or os.path.exists(os.path.join(folder, name + ".npy"))}
    if any(model.shape != tuple(reversed(mesh[:3])) for model in models.values()):
        raise PlotError(f"{folder}: summary.json and the densities are of different runs")
    return plot.densities(models, mesh=mesh, colour_map=options.colour_map,
                          centre=TITLES["model_true"] if TITLES["model_true"] in models else None)


def draw_list(folder):
    """Histogram of the densities of a list of prisms."""
    model = np.asarray(common.load(folder, "model.npy"), dtype=float)
    figure, axes = plt.subplots(figsize=(7.0, 4.5))
    axes.hist(model, bins=60)
    axes.set(xlabel="kg/m³", ylabel="prisms", title=f"densities of {model.size:,} prisms")
    figure.tight_layout()
    return figure


def draw_fit(folder, components):
    table = {key: np.array(values, dtype=float)[:LARGEST_LIST]
             for key, values in read_csv(folder, "predicted.csv").items()}
    names = [component["name"] for component in components]
    fits = {name: {"data": table[name] - table[f"{name}_trend"], "field": table[f"{name}_field"],
                   "residual": table[f"{name}_residual"], "chi2": component["chi2"]}
            for name, component in zip(names, components)}
    return plot.gravity_fit(fits, stations=np.column_stack([table["x"], table["y"]]))


def draw_history(folder, target, reason):
    table = read_csv(folder, "history.csv")
    figure, axes = plt.subplots(figsize=(7.5, 4.5))
    axes.set_title(sheets.wrapped(reason.replace("chi^2", "chi²"), 7.0, 9), fontsize=9)
    if table:
        number = np.array(table["minimisation"], dtype=float)
        chi2 = np.array(table["chi2"], dtype=float)
        for stage, colour in (("smooth", sheets.COLOURS[1]), ("compact", sheets.COLOURS[0])):
            chosen = np.array([word == stage for word in table["stage"]])
            if chosen.any():
                axes.semilogy(number[chosen], chi2[chosen], "o-", color=colour, label=stage)
        axes.legend()
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        axes.text(0.5, 0.5, "no minimisation", ha="center", transform=axes.transAxes)
    axes.axhline(target, color="0.5", linestyle="--", linewidth=1.0)
    axes.set(xlabel="minimisation", ylabel="chi² per value")
    figure.tight_layout()
    return figure


def main():
    parser = argparse.ArgumentParser(
        description="Draws the results of invert_gravity: sections, data and residuals, chi^2.",
        epilog="example: plot_densities.py invert_gravity_out --format pdf")
    parser.add_argument("folder", nargs="?", default="invert_gravity_out",
                        help="results of invert_gravity (default: invert_gravity_out)")
    parser.add_argument("--output", metavar="DIR",
                        help="folder for the pictures (default: that of the results)")
    parser.add_argument("--format", choices=["png", "pdf", "svg"], default="png",
                        help="kind of picture (default: png)")
    parser.add_argument("--dpi", type=int, default=110, help="dots per inch (default: 110)")
    parser.add_argument("--colour-map", metavar="NAME", help="matplotlib's name of the colours of densities")
    options = parser.parse_args()
    try:
        check_colours(options.colour_map)
        if options.dpi < 1:
            raise PlotError("--dpi must be 1 or more")
        out = options.output or options.folder
        if not os.path.isdir(out):
            raise PlotError(f"--output {out} is no folder")
        summary = common.read_summary(options.folder, "invert_gravity")
        cells = summary["cells"]
        on_mesh = cells["mesh"] is not None
        sections = draw_sections(options.folder, cells, options) if on_mesh else draw_list(options.folder)
        save(sections, os.path.join(out, f"sections.{options.format}"), options.dpi)
        save(draw_fit(options.folder, summary["data"]["components"]),
             os.path.join(out, f"fit.{options.format}"), options.dpi)
        save(draw_history(options.folder, summary["asked"]["target"], summary["result"]["reason"]),
             os.path.join(out, f"history.{options.format}"), options.dpi)
    except PlotError as error:
        print(f"plot_densities.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
