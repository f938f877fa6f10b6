#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of invert_times: the model with rays and coverage, the fit of the picks, the iterations.

Reads summary.json, the arrays, picks.csv, history.csv, lambda.csv and rays.vtk from a results folder and
writes model.png, fit.png and history.png. In 3D it draws the sections through the middle and a slice at the
depth of the sources. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import plots_common as common
from plots_common import np

MOST_RAYS = 300


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


def shading(coverage, deviation):
    """Returns opacities: 0 where no ray is, less where the deviation is above two thirds of the largest."""
    most = np.max(deviation) if deviation.size else 1.0
    fade = np.clip((most - deviation) / (most / 3.0), 0.25, 1.0)
    return np.where(coverage > 0.0, fade, 0.0)


def thinned(rays):
    return rays[::max(1, -(-len(rays) // MOST_RAYS))]


def draw_model(summary, folder):
    model, run = summary["model"], summary["run"]
    arrays = {name: common.load(folder, name + ".npy") for name in ("velocity", "coverage", "deviation")}
    dimensions = arrays["velocity"].ndim
    sections = common.middle_sections(model, True)
    sizes = common.panel_sizes(sections, 9.6, 5.0 if dimensions == 2 else 4.0)
    shape = " x ".join(str(n) for n in model["shape"])
    sheet = common.Sheet([w for w, _ in sizes], [max(h for _, h in sizes)] * 3,
                         f"First-arrival tomography: {os.path.basename(model['name'])}, {shape} nodes, "
                         f"chi² {run['chi2']:.4g} after {run['iterations']} iterations")
    opacity = shading(np.asarray(arrays["coverage"]), np.asarray(arrays["deviation"]))
    shown = np.asarray(arrays["velocity"])[opacity > 0.3]
    limits = common.limits_of(shown if shown.size else np.asarray(arrays["velocity"]))
    rays = thinned(read_rays(folder, dimensions)) if dimensions == 2 else []
    for column, section in enumerate(sections):
        axes = sheet.panel(0, column, section.title or "Velocity; pale: hardly determined, blank: no ray", 9)
        image = section.draw(axes, section.cut(arrays["velocity"]), cmap="turbo", vmin=limits[0],
                             vmax=limits[1], alpha=section.cut(opacity))
        section.mark(axes, summary["receivers"], **common.RECEIVER)
        section.mark(axes, summary["sources"], **common.source_style(size=9))
        draw_ground(axes, section, model)
        below = sheet.panel(1, column, "" if section.title else "Rays over the coverage", 9)
        cover = section.cut(arrays["coverage"])
        most = np.percentile(cover[cover > 0.0], 95) if (cover > 0.0).any() else 1.0
        seen = np.where(cover > 0.0, cover, np.nan)
        rays_image = section.draw(below, seen, cmap="Greys", vmin=0.0, vmax=most)
        if rays:
            section.draw_lines(below, rays, "tab:blue", 0.3)
        last = sheet.panel(2, column, "" if section.title else "Posterior deviation of ln v", 9)
        deviation_image = section.draw(last, np.where(cover > 0.0, section.cut(arrays["deviation"]), np.nan),
                                       cmap="viridis_r")
        for panel in (below, last):
            draw_ground(panel, section, model)
    common.colour_bar(axes, image, "Velocity (m/s)")
    common.colour_bar(below, rays_image, "Rays (m)")
    common.colour_bar(last, deviation_image, "Deviation")
    return sheet.figure


def draw_ground(axes, section, model):
    ground = model.get("ground") or []
    if len(model["shape"]) == 2 and len(ground) == model["shape"][0]:
        axes.plot(section.coordinates[0] / section.unit[0], np.array(ground) / section.unit[0], "k-",
                  linewidth=0.9)


def draw_fit(summary, folder):
    picks = read_table(folder, "picks.csv")
    sheet = common.Sheet([4.4, 4.4], [3.4, 3.4],
                         f"Fit of {len(picks['time'])} picks, rms {1e3 * summary['run']['rms']:.3g} ms")
    axes = sheet.panel(0, 0, "Picks (crosses) and predictions (lines)", 9)
    for k, source in enumerate(np.unique(picks["source"])):
        of = np.flatnonzero(picks["source"] == source)
        of = of[np.argsort(picks["rx"][of])]
        colour = common.COLOURS[k % len(common.COLOURS)]
        axes.plot(picks["rx"][of], 1e3 * picks["time"][of], "x", color=colour, markersize=3)
        axes.plot(picks["rx"][of], 1e3 * picks["predicted"][of], "-", color=colour, linewidth=0.8)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("Time (ms)")
    axes.invert_yaxis()
    axes = sheet.panel(0, 1, "Residuals over the offset", 9)
    flagged = picks["flag"] > 0
    axes.plot(picks["offset"][~flagged], 1e3 * picks["residual"][~flagged], ".", markersize=3)
    axes.plot(picks["offset"][flagged], 1e3 * picks["residual"][flagged], "rx", markersize=4)
    axes.axhline(0.0, color="black", linewidth=0.6)
    axes.set_xlabel("Offset (m)")
    axes.set_ylabel("Residual (ms)")
    axes = sheet.panel(1, 0, "Residuals over their errors, and the normal curve", 9)
    z = np.clip(picks["z"], -6.0, 6.0)
    axes.hist(z, bins=48, range=(-6.0, 6.0), density=True, color="tab:blue", alpha=0.6)
    line = np.linspace(-6.0, 6.0, 200)
    axes.plot(line, np.exp(-0.5 * line**2) / np.sqrt(2.0 * np.pi), "k-", linewidth=0.9)
    axes.set_xlabel("Residual / error")
    axes = sheet.panel(1, 1, "Residual / error by source and receiver: a stripe is a bad station", 9)
    table = np.full((int(picks["source"].max()) + 1, int(picks["receiver"].max()) + 1), np.nan)
    table[picks["source"].astype(int), picks["receiver"].astype(int)] = picks["z"]
    image = axes.imshow(table, cmap="RdBu", vmin=-4.0, vmax=4.0, aspect="auto", interpolation="nearest")
    axes.set_xlabel("Receiver")
    axes.set_ylabel("Source")
    common.colour_bar(axes, image, "Residual / error", extend="both")
    return sheet.figure


def draw_history(summary, folder):
    history, curve = read_table(folder, "history.csv"), read_table(folder, "lambda.csv")
    checks = os.path.exists(os.path.join(folder, "check_found.npy")) and "checkerboard" in summary["asked"]
    sheet = common.Sheet([4.2, 4.2], [3.2] * (1 + checks), f"Iterations: {summary['run']['stop']}")
    axes = sheet.panel(0, 0, "chi² by iteration", 9)
    axes.semilogy(history["iteration"], history["chi2"], "o-", markersize=4, label="chi²")
    later = history["iteration"] > 0
    axes.semilogy(history["iteration"][later], history["chi2_linear"][later], "--", label="predicted")
    axes.axhline(1.0, color="black", linewidth=0.6)
    axes.set_xlabel("Iteration")
    axes.legend(fontsize=8)
    axes = sheet.panel(0, 1, "chi² of the linear problem over lambda", 9)
    axes.loglog(curve["lambda"], curve["chi2"], "-")
    axes.axvline(summary["run"]["lambda"] or 1.0, color="tab:red", linewidth=0.8, label="chosen")
    axes.set_xlabel("lambda")
    axes.legend(fontsize=8)
    if checks:
        draw_checks(sheet, summary["model"], folder)
    return sheet.figure


def draw_checks(sheet, model, folder):
    """True and recovered changes of the checkerboard, where rays are."""
    section = common.middle_sections(model)[0]
    seen = section.cut(common.load(folder, "coverage.npy")) > 0.0
    true, found = (section.cut(common.load(folder, f"check_{name}.npy")) for name in ("true", "found"))
    most = 100.0 * np.abs(true).max()
    panels = (("Checks", true), ("Recovered", np.where(seen, found, np.nan)))
    for column, (title, values) in enumerate(panels):
        axes = sheet.panel(1, column, title, 9)
        image = section.draw(axes, 100.0 * values, cmap="RdBu", vmin=-most, vmax=most)
    common.colour_bar(axes, image, "Change of v (%)")


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
