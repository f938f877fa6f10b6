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
from plots_common import EXIT_USAGE, PlotError, load, np, plt, save

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
    """Draws one row per parameter and section: start, result, and the true model if known. A row has one
    scale.

    Long sections of one parameter are drawn below each other.
    """
    sections = common.middle_sections(summary["model"], depth_slice=True)
    unknowns = summary["unknowns"]
    kinds = [(end, title) for end, title in (("_start.npy", "start"), (".npy", "result"),
                                             ("_true.npy", "true"))
             if any(os.path.exists(os.path.join(folder, name + end)) for name in unknowns)]
    blocks = [(name, section) for name in unknowns for section in sections]
    long = sections[0].lengths[0] > 2.0 * sections[0].lengths[1] * sections[0].exaggeration
    stacked = len(blocks) == 1 and long
    sizes = [common.panel_sizes([section] if stacked else [section] * len(kinds), 9.0 if stacked else 11.0,
                                4.0)[0]
             for _, section in blocks]
    if stacked:
        sheet = common.Sheet([sizes[0][0]], [sizes[0][1]] * len(kinds))
    else:
        sheet = common.Sheet([max(w for w, _ in sizes)] * len(kinds), [h for _, h in sizes])
    for b, (name, section) in enumerate(blocks):
        arrays = [(section.cut(load(folder, name + end)), title, k) for k, (end, title) in enumerate(kinds)
                  if os.path.exists(os.path.join(folder, name + end))]
        low, high = common.limits_of(*(values for values, _, _ in arrays))
        for values, title, k in arrays:
            at = f", {section.title}" if section.title else ""
            axes = sheet.panel(*((k, 0) if stacked else (b, k)), f"{TITLES[name]}: {title}{at}")
            shown = section.draw(axes, values, cmap="viridis", vmin=low, vmax=high)
            section.mark(axes, summary.get("gather", {}).get("receivers", []), common.MOST_RECEIVERS,
                         **common.RECEIVER)
            section.mark(axes, summary.get("sources", []), **common.source_style("#c1121f", 10))
            if stacked or (values is arrays[-1][0]):
                unit = f" ({UNITS[name]})" if UNITS[name] else ""
                common.colour_bar(axes, shown, TITLES[name] + unit)
    return sheet.figure


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
    errors = taken[0]["vp_error"] >= 0.0
    figure, plots = plt.subplots(1, 2 if errors else 1, figsize=(11.0 if errors else 6.0, 4.2), squeeze=False,
                                 constrained_layout=True)
    for axes in plots[0]:
        axes.xaxis.set_major_locator(common.MaxNLocator(integer=True))
    axes = plots[0][0]
    for band in sorted({row["band"] for row in taken}):
        part = [row for row in taken if row["band"] == band]
        label = f"up to {part[0]['frequency']:g} Hz" if part[0]["frequency"] > 0.0 else "inversion"
        axes.semilogy([row["iteration"] for row in part], [row["relative_misfit"] for row in part], "o-",
                      markersize=3, label=label)
    if published is not None:
        axes.semilogy(published[:, 0], published[:, 1], "ks", markerfacecolor="none", label="published")
    axes.set_xlabel("Iteration")
    axes.set_ylabel("Misfit relative to the first of its band")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    if errors:
        axes = plots[0][1]
        axes.plot([row["iteration"] for row in taken], [100.0 * row["vp_error"] for row in taken], "o-",
                  markersize=3)
        axes.set_xlabel("Iteration")
        axes.set_ylabel("Error of the P velocity (%)")
        axes.grid(True, alpha=0.3)
    return figure


def draw_gather(summary, folder):
    about = summary["gather"]
    observed, start, modelled = (np.asarray(load(folder, f"gather_{name}.npy"), dtype=float)
                                 for name in ("observed", "start", "modelled"))
    clip = common.clip_of(observed, 98.0, 1e-6)
    panels = [("observed", observed), ("start", start), ("result", modelled),
              ("observed - result", observed - modelled)]
    names = summary["model"]["axes"]
    sources = about.get("sources", [])
    receivers = np.asarray(about.get("receivers", []), dtype=float)
    at = f", source at {common.point_text(sources[0], names)}" if sources else ""
    sheet = common.Sheet([2.7] * len(panels), [4.6],
                         f"Shot {about['shot']}{at}; one scale for all panels", across=0.2)
    for column, (title, values) in enumerate(panels):
        axes = sheet.panel(0, column, title)
        shown = common.draw_traces(axes, values, 0.0, about["interval"],
                                   receivers if len(receivers) == len(values) else None, sources, names, clip)
        axes.tick_params(labelleft=column == 0)
        axes.xaxis.set_major_locator(common.MaxNLocator(4, steps=[1, 2, 5, 10]))
        if column == 0:
            axes.set_ylabel("Time (s)")
    every = np.concatenate([values.ravel() for _, values in panels])
    common.colour_bar(axes, shown, "Amplitude", common.extend_of(every, -clip, clip))
    return sheet.figure


def draw_lags(summary, folder):
    """Draws gathers of half offsets and of angles at columns."""
    lags, angles, model = load(folder, "lags.npy"), load(folder, "angles.npy"), summary["model"]
    about = summary["lags"]
    wide = 2 * about["x"] + 1
    middle = lags[about["y"] * wide:(about["y"] + 1) * wide]
    gathers = []
    for at in about["columns"]:
        node = common.node_of(model, 0, at)
        gathers.append(middle[:, node]
                       if len(model["shape"]) == 2 else middle[:, node, model["shape"][1] // 2])
    offsets = (gathers, -about["x"] * about["spacing"], about["spacing"],
               "Half offset (m)") if about["x"] > 0 else None
    return draw_columns(model, about["columns"],
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
