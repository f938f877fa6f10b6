#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of invert_times: the model with rays and coverage, the fit of the picks, the iterations.

Reads summary.json, the arrays, picks.csv, history.csv, lambda.csv and rays.vtk from a results folder and
writes model.png, fit.png and history.png. In 3D it draws the sections through the middle and a slice at the
depth with most rays. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import plots_common as common
from matplotlib.ticker import LogFormatter, MaxNLocator
from plots_common import np, plot, sheets


def read_table(folder, name):
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            names = file.readline().strip().split(",")
        values = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except (OSError, ValueError) as error:
        raise common.PlotError(f"{path}: {error}") from error
    return {name: values[:, k] for k, name in enumerate(names)}


def read_rays(folder, dimensions):
    """Returns the polylines of rays.vtk, (n, dimensions) each."""
    path = os.path.join(folder, "rays.vtk")
    try:
        with open(path, encoding="utf-8") as file:
            words = file.read().split()
        at = words.index("POINTS")
        count = int(words[at + 1])
        points = np.array(words[at + 3:at + 3 + 3 * count], dtype=float).reshape(count, 3)
        at = words.index("LINES")
        lines, size = int(words[at + 1]), int(words[at + 2])
        numbers = np.array(words[at + 3:at + 3 + size], dtype=int)
    except (OSError, ValueError, IndexError) as error:
        raise common.PlotError(f"{path}: {error}") from error
    if dimensions == 2:
        points = points[:, [0, 2]]
    rays, place = [], 0
    for _ in range(lines):
        rays.append(points[numbers[place + 1:place + 1 + numbers[place]]])
        place += 1 + numbers[place]
    return rays


def has_elevations(asked):
    """Returns true where z of the input points up: files .sgt, or --elevations."""
    sgt = asked.get("format") == "sgt" or str(asked.get("picks", "")).lower().endswith(".sgt")
    return bool(asked.get("elevations")) or (sgt and asked.get("format") != "csv")


def draw_model(summary, folder):
    model, run = summary["model"], summary["run"]
    arrays = {name: common.load(folder, name + ".npy") for name in ("velocity", "coverage", "deviation")}
    dimensions = arrays["velocity"].ndim
    shape = " x ".join(str(n) for n in model["shape"])
    ground = model.get("ground") or []
    return plot.tomography(**arrays, **common.grid_of(summary),
                           rays=read_rays(folder, dimensions) if dimensions == 2 else [],
                           sources=summary["sources"], receivers=summary["receivers"],
                           ground=ground if dimensions == 2 and len(ground) == model["shape"][0] else None,
                           elevations=has_elevations(summary["asked"]),
                           title=f"First-arrival tomography: {os.path.basename(model['name'])}, {shape} "
                                 f"nodes, chi² {run['chi2']:.4g} after {run['iterations']} "
                                 f"iteration{'s' if run['iterations'] != 1 else ''}")


def draw_fit(summary, folder):
    picks = read_table(folder, "picks.csv")
    return plot.traveltime_fit(picks, title=f"Fit of {len(picks['time'])} picks, rms "
                                            f"{1e3 * summary['run']['rms']:.3g} ms")


class PlainNumbers(LogFormatter):
    """The labels of a logarithmic axis as plain numbers, 0.3 or 20."""

    def __call__(self, value, place=None):
        return f"{value:g}" if super().__call__(value, place) else ""


def plain_decades(axes):
    """Labels a logarithmic axis of chi², between powers of ten if there are few."""
    axes.yaxis.set_major_formatter(PlainNumbers())
    axes.yaxis.set_minor_formatter(PlainNumbers(minor_thresholds=(2, 0.5)))
    axes.tick_params(axis="y", which="minor", labelsize=8)
    axes.set_ylabel("chi²")


def draw_history(summary, folder):
    history, curve = read_table(folder, "history.csv"), read_table(folder, "lambda.csv")
    checks = os.path.exists(os.path.join(folder, "check_found.npy")) and "checkerboard" in summary["asked"]
    reason = summary["run"]["stop"].replace("chi^2", "chi²")
    sheet = sheets.Sheet([4.2, 4.2], [3.2] * (1 + checks), f"Iterations: {reason}")
    axes = sheet.panel(0, 0, "chi² by iteration", 9)
    axes.semilogy(history["iteration"], history["chi2"], "o-", markersize=4, label="chi²")
    later = history["iteration"] > 0
    axes.semilogy(history["iteration"][later], history["chi2_linear"][later], "--", label="predicted")
    axes.axhline(1.0, color="black", linewidth=0.6)
    axes.set_xlabel("Iteration")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    plain_decades(axes)
    axes.legend(fontsize=8)
    axes = sheet.panel(0, 1, "chi² of the linear problem over lambda", 9)
    axes.loglog(curve["lambda"], curve["chi2"], "-")
    axes.axvline(summary["run"]["lambda"] or 1.0, color="tab:red", linewidth=0.8, label="chosen")
    axes.set_xlabel("lambda")
    plain_decades(axes)
    axes.legend(fontsize=8)
    if checks:
        draw_checks(sheet, summary, folder)
    return sheet.figure


def draw_checks(sheet, summary, folder):
    """True and recovered changes of the checkerboard, where rays are."""
    section = common.sections.middle_sections(summary["model"])[0]
    section.elevations = has_elevations(summary["asked"])
    seen = section.cut(common.load(folder, "coverage.npy")) > 0.0
    true, found = (section.cut(common.load(folder, f"check_{name}.npy")) for name in ("true", "found"))
    most = 100.0 * np.abs(true).max()
    panels = (("Checks", true), ("Recovered", np.where(seen, found, np.nan)))
    for column, (title, values) in enumerate(panels):
        axes = sheet.panel(1, column, title, 9)
        image = section.draw(axes, 100.0 * values, cmap="RdBu", vmin=-most, vmax=most)
    sheets.colour_bar(axes, image, "Change of v (%)")


def main():
    parser = argparse.ArgumentParser(description="Draws the results of invert_times.")
    parser.add_argument("folder", nargs="?", default="invert_times_out", help="results of invert_times")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    options = parser.parse_args()
    try:
        summary = common.read_summary(options.folder, "invert_times")
        for name, draw in (("model", draw_model), ("fit", draw_fit), ("history", draw_history)):
            path = os.path.join(options.folder, name + ".png")
            common.save(draw(summary, options.folder), path, options.dpi)
    except common.PlotError as error:
        print(f"plot_tomography.py: {error}", file=sys.stderr)
        return common.EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
