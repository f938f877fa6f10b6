#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of invert_waves: models side by side, the misfit and the model's error over the iterations, and a
gather as it was observed, as the start and the result make it, and what is left.

Reads summary.json, history.csv and the arrays beside them from a results folder. In 3D sections through the middle are
drawn. --published adds a curve of relative misfits to misfit.png. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import csv
import os
import sys

sys.dont_write_bytecode = True

from plot_migration import clip_of, cut, frame, load, read_summary, sections
from plot_rays import EXIT_USAGE, PlotError, np, plt, save

UNITS = {"vp": "m/s", "rho": "kg/m³", "epsilon": "", "delta": ""}
TITLES = {"vp": "P velocity", "rho": "Density", "epsilon": "Epsilon", "delta": "Delta"}


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
    """A row for each unknown and section: start, result, truth where it is known."""
    views = sections(summary)
    kinds = [("_start.npy", "start"), (".npy", "result"), ("_true.npy", "true")]
    unknowns = summary["unknowns"]
    there = [kind for kind in kinds if os.path.exists(os.path.join(folder, unknowns[0] + kind[0]))]
    rows = len(unknowns) * len(views)
    figure, plots = plt.subplots(rows, len(there), figsize=(4.6 * len(there) + 1.0, 2.7 * rows + 0.4), squeeze=False,
                                 constrained_layout=True, sharex="row", sharey="row")
    for u, name in enumerate(unknowns):
        for v, (pair, plane) in enumerate(views):
            row = plots[u * len(views) + v]
            arrays = [cut(load(folder, name + kind[0]), pair, plane).T
                      if os.path.exists(os.path.join(folder, name + kind[0])) else None for kind in there]
            known = arrays[-1] if arrays[-1] is not None else arrays[1]
            low, high = np.percentile(known, [1, 99])
            if not high > low:
                low, high = low - 0.01 * abs(low) - 1e-6, high + 0.01 * abs(high) + 1e-6
            extent, _, labels = frame(summary, pair)
            for axes, values, (_, title) in zip(row, arrays, there):
                if values is None:
                    axes.axis("off")
                    continue
                shown = axes.imshow(values, extent=extent, aspect="auto", cmap="viridis", vmin=low, vmax=high)
                axes.set_title(f"{TITLES[name]}: {title}", fontsize=10)
                axes.set_xlabel(labels[0])
            row[0].set_ylabel(labels[1])
            figure.colorbar(shown, ax=list(row), label=UNITS[name], shrink=0.9)
    return figure


def read_curve(path):
    """Iterations and relative misfits, two columns."""
    try:
        curve = np.loadtxt(path, delimiter=",", ndmin=2, comments="#")
    except (OSError, ValueError) as error:
        raise PlotError(f"{path} cannot be read: {error}") from error
    if curve.shape[1] != 2:
        raise PlotError(f"{path} has {curve.shape[1]} columns, not 2 (iteration, relative misfit)")
    return curve


def draw_misfit(history, published=None):
    taken = [row for row in history if row["taken"] > 0.0]
    errors = taken[0]["vp_error"] >= 0.0
    figure, plots = plt.subplots(1, 2 if errors else 1, figsize=(11.0 if errors else 6.0, 4.2), squeeze=False,
                                 constrained_layout=True)
    axes = plots[0][0]
    for band in sorted({row["band"] for row in taken}):
        part = [row for row in taken if row["band"] == band]
        label = f"up to {part[0]['frequency']:g} Hz" if part[0]["frequency"] > 0.0 else "inversion"
        axes.semilogy([row["iteration"] for row in part], [row["relative_misfit"] for row in part], "o-", markersize=3,
                      label=label)
    if published is not None:
        axes.semilogy(published[:, 0], published[:, 1], "ks", markerfacecolor="none", label="published")
    axes.set_xlabel("Iteration")
    axes.set_ylabel("Misfit over the first of the band")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    if errors:
        axes = plots[0][1]
        axes.plot([row["iteration"] for row in taken], [100.0 * row["vp_error"] for row in taken], "o-", markersize=3)
        axes.set_xlabel("Iteration")
        axes.set_ylabel("Error of vp (%)")
        axes.grid(True, alpha=0.3)
    return figure


def draw_gather(summary, folder):
    observed, start, modelled = (np.asarray(load(folder, f"gather_{name}.npy"), dtype=float)
                                 for name in ("observed", "start", "modelled"))
    clip = clip_of(observed, 98.0)
    panels = [("observed", observed), ("start", start), ("result", modelled), ("observed - result", observed - modelled)]
    figure, plots = plt.subplots(1, len(panels), figsize=(13.0, 5.0), constrained_layout=True, sharey=True)
    time = summary["gather"]["interval"] * (observed.shape[1] - 1)
    for axes, (title, values) in zip(plots, panels):
        axes.imshow(values.T, aspect="auto", cmap="gray", vmin=-clip, vmax=clip, extent=(0.5, len(values) + 0.5, time, 0.0))
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("Trace")
    plots[0].set_ylabel("Time (s)")
    figure.suptitle(f"Shot {summary['gather']['shot']}, one scale of grey", fontsize=11)
    return figure


def draw_lags(summary, folder):
    """Gathers of half offsets and of angles at columns."""
    lags, angles, model = load(folder, "lags.npy"), load(folder, "angles.npy"), summary["model"]
    about = summary["lags"]
    wide = 2 * about["x"] + 1
    middle = lags[about["y"] * wide:(about["y"] + 1) * wide]
    columns = about["columns"]
    figure, plots = plt.subplots(2, len(columns), figsize=(1.9 * len(columns) + 1.0, 8.0), constrained_layout=True,
                                 squeeze=False, sharey=True)
    depth = model["origin"][-1] + model["spacing"][-1] * (model["shape"][-1] - 1)
    reach = about["x"] * about["spacing"]
    for c, at in enumerate(columns):
        node = int(round((at - model["origin"][0]) / model["spacing"][0]))
        part = middle[:, node] if len(model["shape"]) == 2 else middle[:, node, model["shape"][1] // 2]
        last = about["first_angle"] + about["angle_spacing"] * (angles.shape[1] - 1)
        for axes, values, left, right, label in (
                (plots[0][c], np.asarray(part, dtype=float), -reach, reach, "Half offset (m)"),
                (plots[1][c], angles[c], about["first_angle"], last, "Angle (degrees)")):
            clip = clip_of(values)
            if right > left:
                axes.imshow(values.T, aspect="auto", cmap="gray", vmin=-clip, vmax=clip,
                            extent=(left, right, depth, model["origin"][-1]))
            axes.set_xlabel(label)
        plots[0][c].set_title(f"x = {at:g} m", fontsize=9)
    for row in plots:
        row[0].set_ylabel("Depth z (m)")
    return figure


def main():
    parser = argparse.ArgumentParser(description="Draws the results of invert_waves.")
    parser.add_argument("folder", help="the folder that invert_waves wrote")
    parser.add_argument("--published", help="iterations and relative misfits to draw besides, a .csv of two columns")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    options = parser.parse_args()
    try:
        folder = options.folder
        summary = read_summary(folder, "invert_waves")
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
