#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of invert_waves: models, misfit and model error, and a gather.

Models are shown next to each other, misfit and model error over the iterations. The gather is shown as
observed, as modelled in the starting and the final model, and as residual.

Reads summary.json, history.csv and the arrays next to them from a results folder. In 3D sections through the
middle are drawn. --published adds a curve of relative misfits to misfit.png. Needs python3-numpy and
python3-matplotlib.
"""

import argparse
import csv
import os
import sys

sys.dont_write_bytecode = True

import plots_common as common
from plot_migration import draw_columns
from plots_common import EXIT_USAGE, PlotError, grid_of, load, np, plot, save, sections, sheets


def read_history(folder):
    path = os.path.join(folder, "history.csv")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    except (OSError, ValueError, TypeError) as error:
        raise PlotError(f"{path} cannot be read: {error}") from error
    if not rows:
        raise PlotError(f"{path} holds no evaluation")
    return rows


def draw_models(summary, folder):
    """Draws the models that exist: start, result, and the true model if known."""
    parameters = {}
    for name in summary["unknowns"]:
        ends = (("start", "_start.npy"), ("result", ".npy"), ("true", "_true.npy"))
        parameters[name] = {title: load(folder, name + end) for title, end in ends
                            if os.path.exists(os.path.join(folder, name + end))}
    return plot.models(parameters, **grid_of(summary), sources=summary.get("sources", []),
                       receivers=summary.get("gather", {}).get("receivers", []))


def read_curve(path):
    """Returns iterations and relative misfits from two columns."""
    try:
        curve = np.loadtxt(path, delimiter=",", ndmin=2, comments="#")
    except (OSError, ValueError) as error:
        raise PlotError(f"{path} cannot be read: {error}") from error
    if curve.shape[1] != 2:
        raise PlotError(f"{path} has {curve.shape[1]} columns, not 2 (iteration, relative misfit)")
    return curve


def draw_misfit(history, published=None):
    taken = [row for row in history if row["taken"] > 0.0]
    curves = {}
    for band in sorted({row["band"] for row in taken}):
        part = [row for row in taken if row["band"] == band]
        label = f"up to {part[0]['frequency']:g} Hz" if part[0]["frequency"] > 0.0 else "inversion"
        curves.setdefault(label, ([], []))
        for values, key in zip(curves[label], ("iteration", "relative_misfit")):
            values += [row[key] for row in part]
    errors = None
    if taken[0]["vp_error"] >= 0.0:
        errors = ([row["iteration"] for row in taken], [100.0 * row["vp_error"] for row in taken])
    return plot.misfit(curves, errors=errors, published=published)


def draw_gather(summary, folder):
    about = summary["gather"]
    observed, start, modelled = (np.asarray(load(folder, f"gather_{name}.npy"), dtype=float)
                                 for name in ("observed", "start", "modelled"))
    times = about["interval"] * np.arange(observed.shape[1])
    recorded = (times >= about.get("begin", 0.0)) & (times <= about.get("end", np.inf))
    panels = {"observed": observed, "start": start, "result": modelled,
              "observed - result": np.where(recorded, observed - modelled, 0.0)}
    sources, receivers = about.get("sources", []), about.get("receivers", [])
    known = len(receivers) == len(observed)
    at = f", source at {sheets.point_text(sources[0], summary['model']['axes'])}" if sources else ""
    return plot.gathers(panels, intervals=about["interval"], sources=sources if known else None,
                        receivers=receivers if known else None,
                        title=f"Shot {about['shot']}{at}; one scale for all panels")


def draw_lags(summary, folder):
    """Draws gathers of half offsets and of angles at columns."""
    lags, angles, model = load(folder, "lags.npy"), load(folder, "angles.npy"), summary["model"]
    about = summary["lags"]
    wide = 2 * about["x"] + 1
    middle = lags[about["y"] * wide:(about["y"] + 1) * wide]
    gathers = []
    for at in about["columns"]:
        node = sections.node_of(model, 0, at)
        gathers.append(middle[:, node]
                       if len(model["shape"]) == 2 else middle[:, node, model["shape"][1] // 2])
    offsets = (gathers, -about["x"] * about["spacing"], about["spacing"],
               "Half offset (m)") if about["x"] > 0 else None
    return draw_columns(model, np.reshape(about["columns"], (-1, 1)),
                        [offsets, (angles, about["first_angle"], about["angle_spacing"], "Angle (degrees)")])


def main():
    parser = argparse.ArgumentParser(description="Draws the results of invert_waves.")
    parser.add_argument("folder", help="the folder that invert_waves wrote")
    parser.add_argument("--published",
                        help="iterations and relative misfits to draw besides, a .csv of two columns")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    options = parser.parse_args()
    try:
        folder = options.folder
        summary = common.read_summary(folder, "invert_waves")
        history = read_history(folder)
        published = read_curve(options.published) if options.published else None
        save(draw_models(summary, folder), os.path.join(folder, "models.png"), options.dpi)
        save(draw_misfit(history, published), os.path.join(folder, "misfit.png"), options.dpi)
        save(draw_gather(summary, folder), os.path.join(folder, "gather.png"), options.dpi)
        if "lags" in summary:
            save(draw_lags(summary, folder), os.path.join(folder, "lags.png"), options.dpi)
    except PlotError as error:
        print(f"plot_inversion.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
