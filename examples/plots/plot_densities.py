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
from plots_common import EXIT_USAGE, PlotError, np, plt, save

UNITS = {"m2/s2": "m²/s²", "mGal": "mGal", "Eotvos": "E"}
LARGEST_LIST = 200000  # dots of a list of stations or prisms


def read_csv(folder, name):
    """Returns the columns of a results table."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError) as error:
        raise PlotError(f"{folder}: {name} cannot be read: {error}") from error
    return {key: [row[key] for row in rows] for key in (rows[0] if rows else {})}


class Model:
    """Densities on the cells of a mesh."""

    def __init__(self, folder, cells):
        mesh = cells["mesh"]  # nx,ny,nz,x1,x2,y1,y2,z1,z2
        self.shape = tuple(reversed(mesh[:3]))
        self.edges = [np.linspace(mesh[3 + 2 * a], mesh[4 + 2 * a], mesh[a] + 1) for a in range(3)]
        self.models = {"model": common.load(folder, "model.npy")}
        for name in ("model_smooth", "model_true"):
            if os.path.exists(os.path.join(folder, name + ".npy")):
                self.models[name] = common.load(folder, name + ".npy")
        if any(model.shape != self.shape for model in self.models.values()):
            raise PlotError(f"{folder}: summary.json and the densities are of different runs")

    def cut(self, model):
        """Indices of the sections along x, y, z: those of the centre of the absolute densities."""
        size = np.nan_to_num(np.abs(np.asarray(model, dtype=float)))
        total = size.sum() or 1.0
        return [min(int((np.arange(n) * size.sum(axis=axes)).sum() / total + 0.5), n - 1)
                for n, axes in zip(reversed(self.shape), ((0, 1), (0, 2), (1, 2)))]


TITLES = {"model": "result", "model_smooth": "smooth result", "model_true": "true densities"}


def draw_sections(folder, cells, options):
    model = Model(folder, cells)
    x, y, z = model.edges
    span = max(x[-1] - x[0], y[-1] - y[0])
    scale, unit = (1e-3, "km") if span > 3000.0 else (1.0, "m")
    i, j, k = model.cut(model.models.get("model_true", model.models["model"]))
    values = [np.asarray(m, dtype=float) for m in model.models.values()]
    most = max((float(np.nanmax(np.abs(v))) for v in values), default=0.0) or 1.0
    low = -most if min(float(np.nanmin(v)) for v in values) < 0.0 else 0.0
    colours = dict(cmap=options.colour_map or ("RdBu_r" if low < 0.0 else "viridis"), vmin=low, vmax=most)
    figure, rows = plt.subplots(len(values), 3, figsize=(13.0, 3.4 * len(values) + 0.4),
                                squeeze=False, constrained_layout=True)
    for axes, (name, density) in zip(rows, model.models.items()):
        density = np.ma.masked_invalid(np.asarray(density, dtype=float))
        middle = [0.5 * (edges[n] + edges[n + 1]) * scale for edges, n in ((x, i), (y, j), (z, k))]
        axes[0].pcolormesh(y * scale, x * scale, density[k].T, **colours)
        axes[0].set(xlabel=f"y, east ({unit})", ylabel=f"x, north ({unit})",
                    title=f"{TITLES[name]}, z = {middle[2]:.4g} {unit}")
        axes[1].pcolormesh(x * scale, z * scale, density[:, j, :], **colours)
        axes[1].set(xlabel=f"x, north ({unit})", ylabel=f"z, down ({unit})",
                    title=f"y = {middle[1]:.4g} {unit}")
        image = axes[2].pcolormesh(y * scale, z * scale, density[:, :, i], **colours)
        axes[2].set(xlabel=f"y, east ({unit})", ylabel=f"z, down ({unit})",
                    title=f"x = {middle[0]:.4g} {unit}")
        for panel in axes:
            panel.set_aspect("equal", adjustable="box")
        for panel in axes[1:]:
            panel.invert_yaxis()
        figure.colorbar(image, ax=list(axes), shrink=0.85, label="kg/m³")
    return figure


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
    figure, rows = plt.subplots(len(components), 3, figsize=(13.0, 4.0 * len(components)), squeeze=False)
    x, y = table["x"], table["y"]
    unit = (1e-3, "km") if max(np.ptp(x), np.ptp(y)) > 3000.0 else (1.0, "m")
    size = float(np.clip(20000.0 / max(len(x), 1), 2.0, 60.0))
    for axes, component in zip(rows, components):
        name = component["name"]
        data = table[name] - table[f"{name}_trend"]
        field, residual = table[f"{name}_field"], table[f"{name}_residual"]
        finite = np.concatenate([data[np.isfinite(data)], field[np.isfinite(field)]])
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        worst = float(np.nanmax(np.abs(residual))) if np.isfinite(residual).any() else 1.0
        limit = max(3.0, min(worst, 10.0))
        for panel, values, title, style in (
                (axes[0], data, f"{name}: data without trend ({UNITS[component['unit']]})",
                 dict(vmin=low, vmax=high)),
                (axes[1], field, f"{name}: field of the model ({UNITS[component['unit']]})",
                 dict(vmin=low, vmax=high)),
                (axes[2], residual, f"{name}: residual / error, chi² {component['chi2']:.2f}",
                 dict(cmap="RdBu_r", vmin=-limit, vmax=limit))):
            there = np.isfinite(values)
            image = panel.scatter(y[there] * unit[0], x[there] * unit[0], c=values[there], s=size,
                                  linewidths=0, marker="s", **style)
            panel.set_title(title, fontsize=10)
            panel.set(xlabel=f"y, east ({unit[1]})", ylabel=f"x, north ({unit[1]})")
            panel.set_aspect("equal", adjustable="box")
            figure.colorbar(image, ax=panel, shrink=0.8)
    figure.tight_layout()
    return figure


def draw_history(folder, target):
    table = read_csv(folder, "history.csv")
    figure, axes = plt.subplots(figsize=(7.5, 4.5))
    if table:
        number = np.array(table["minimisation"], dtype=float)
        chi2 = np.array(table["chi2"], dtype=float)
        for stage, colour in (("smooth", common.COLOURS[1]), ("compact", common.COLOURS[0])):
            chosen = np.array([word == stage for word in table["stage"]])
            if chosen.any():
                axes.semilogy(number[chosen], chi2[chosen], "o-", color=colour, label=stage)
        axes.legend()
    axes.axhline(target, color="0.5", linestyle="--", linewidth=1.0)
    axes.set(xlabel="minimisation", ylabel="chi² a value")
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
        if options.colour_map and options.colour_map not in plt.colormaps():
            raise PlotError(f"--colour-map {options.colour_map} is unknown to matplotlib")
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
        save(draw_history(options.folder, summary["asked"]["target"]),
             os.path.join(out, f"history.{options.format}"), options.dpi)
    except PlotError as error:
        print(f"plot_densities.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
