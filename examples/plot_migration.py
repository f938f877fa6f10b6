#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of migrate_shots: the image over the velocity, the illumination, a shot's data before and after they
were made ready, the boxes of both legs, offset and angle gathers, and the time line.

Reads summary.json and the arrays beside it from a results folder. In 3D sections through the middle are drawn. Needs
python3-numpy and python3-matplotlib.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

from plot_rays import EXIT_USAGE, PlotError, RECEIVER, length_unit, np, plt, save, source_style
import plot_timeline


def load(folder, name):
    try:
        return np.load(os.path.join(folder, name), mmap_mode="r")
    except (OSError, ValueError) as error:
        raise PlotError(f"{folder}: {name} cannot be read: {error}") from error


def read_summary(folder, program="migrate_shots"):
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        if summary["program"] != program:
            raise PlotError(f"{folder} does not hold the results of {program}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PlotError(f"{folder} does not hold the results of {program}: {error}") from error
    return summary


def sections(summary):
    """Pairs of axes to draw against each other, with the plane of the third."""
    shape = summary["model"]["shape"]
    if len(shape) == 2:
        return [((0, 1), None)]
    return [((0, 2), shape[1] // 2), ((1, 2), shape[0] // 2)]


def cut(array, axes, plane):
    if plane is None:
        return np.asarray(array, dtype=float)
    return np.asarray(array[:, plane] if axes == (0, 2) else array[plane], dtype=float)


def frame(summary, axes):
    """Extent for imshow, the unit, and labels."""
    model = summary["model"]
    low = [model["origin"][a] for a in axes]
    high = [model["origin"][a] + model["spacing"][a] * (model["shape"][a] - 1) for a in axes]
    unit = length_unit([h - l for l, h in zip(low, high)])
    half = [0.5 * model["spacing"][a] / unit[0] for a in axes]
    extent = (low[0] / unit[0] - half[0], high[0] / unit[0] + half[0], high[1] / unit[0] + half[1],
              low[1] / unit[0] - half[1])
    names = model["axes"]
    return extent, unit, (f"{names[axes[0]]} ({unit[1]})", f"Depth z ({unit[1]})")


def clip_of(values, percentile=99.0):
    sizes = np.abs(values).ravel()
    loud = sizes[sizes > 1e-6 * sizes.max(initial=0.0)]
    return float(np.percentile(loud, percentile)) if loud.size else 1.0


def draw_image(summary, folder):
    image, velocity = load(folder, "image.npy"), load(folder, "vp.npy")
    views = sections(summary)
    figure, plots = plt.subplots(len(views), 1, figsize=(10.0, 5.0 * len(views)), constrained_layout=True, squeeze=False)
    name = summary["asked"]["condition"][0]
    for axes, (pair, plane) in zip(plots[:, 0], views):
        extent, unit, labels = frame(summary, pair)
        values, below = cut(image, pair, plane).T, cut(velocity, pair, plane).T
        shown = axes.imshow(below, extent=extent, aspect="auto", cmap="viridis", alpha=0.45)
        clip = clip_of(values)
        alpha = np.clip(np.abs(values) / clip, 0.0, 1.0) ** 0.6
        axes.imshow(values, extent=extent, aspect="auto", cmap="gray", vmin=-clip, vmax=clip, alpha=alpha)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        places = np.asarray([p for shot in summary["migrated"] for p in shot["sources"]], dtype=float)
        axes.plot(places[:, pair[0]] / unit[0], places[:, pair[1]] / unit[0], linestyle="none", clip_on=False, **source_style("#c1121f", 11))
        figure.colorbar(shown, ax=axes, label="Velocity (m/s)", shrink=0.9)
    plots[0, 0].set_title(f"{name} image of {len(summary['migrated'])} shots over the velocity")
    return figure


def draw_illumination(summary, folder):
    pair, plane = sections(summary)[0]
    extent, _, labels = frame(summary, pair)
    # expanding domains may leave that of the receivers out
    kinds = [kind for kind in ("source", "receiver") if os.path.exists(os.path.join(folder, f"illumination_{kind}.npy"))]
    figure, plots = plt.subplots(len(kinds), 1, figsize=(9.0, 4.0 * len(kinds)), constrained_layout=True, sharex=True,
                                 squeeze=False)
    plots = plots[:, 0]
    for axes, kind in zip(plots, kinds):
        values = cut(load(folder, f"illumination_{kind}.npy"), pair, plane).T
        most = values.max(initial=0.0)
        with np.errstate(divide="ignore"):
            level = 10.0 * np.log10(np.maximum(values, 1e-6 * most) / most) if most > 0 else values
        shown = axes.imshow(level, extent=extent, aspect="auto", cmap="magma", vmin=-50.0, vmax=0.0)
        axes.set_title(f"Illumination by the {kind}s")
        axes.set_ylabel(labels[1])
        figure.colorbar(shown, ax=axes, label="dB of the largest", shrink=0.9)
    plots[-1].set_xlabel(labels[0])
    return figure


def draw_data(summary, folder):
    data = summary["data"]
    figure, plots = plt.subplots(1, 2, figsize=(11.0, 6.5), constrained_layout=True)
    clip = None
    for axes, name in zip(plots, ("before", "after")):
        values = np.asarray(load(folder, f"data_{name}.npy"), dtype=float)
        times = data[name]["start"] + data[name]["interval"] * np.array([0, values.shape[1] - 1])
        own = clip_of(values, 98.0)
        clip = own if clip is None else min(clip, own)
        axes.imshow(values.T, extent=(0.5, len(values) + 0.5, times[1], times[0]), aspect="auto", cmap="gray",
                    vmin=-clip, vmax=clip)
        axes.set_xlabel("Receiver")
        axes.set_title(f"Shot {data['shot']}, " + ("as it came" if name == "before" else "as it was migrated"))
    plots[0].set_ylabel("Time (s)")
    return figure


def boxes_of(numbers, dimensions):
    """Steps from which boxes hold, the boxes, and the number of steps."""
    each = 1 + 2 * dimensions
    rows = np.asarray(numbers[1:], dtype=int).reshape(-1, each)
    return rows[:, 0], rows[:, 1:1 + dimensions], rows[:, 1 + dimensions:], numbers[0]


def draw_boxes(summary, folder):
    shot = next((s for s in summary["migrated"] if s and "forward_boxes" in s), None)
    if shot is None:
        raise PlotError(f"{folder}: no shot says its boxes")
    pair, plane = sections(summary)[0]
    extent, unit, labels = frame(summary, pair)
    dimensions = len(summary["model"]["shape"])
    velocity = cut(load(folder, "vp.npy"), pair, plane).T
    figure, plots = plt.subplots(1, 2, figsize=(12.0, 4.8), constrained_layout=True, sharey=True)
    model, dt = summary["model"], summary["scheme"]["dt"]
    faces = [0] * dimensions if not shot.get("layers") else shot["layers"]
    window = shot["window"]["lower"]
    for axes, leg in zip(plots, ("forward", "backward")):
        axes.imshow(velocity, extent=extent, aspect="auto", cmap="viridis", alpha=0.6)
        first, lower, upper, steps = boxes_of(shot[f"{leg}_boxes"], dimensions)
        for n, share in enumerate(np.linspace(0.15, 0.9, 6)):
            k = int(np.searchsorted(first, share * steps, side="right")) - 1
            corner, size = [], []
            for axis in pair:
                at = model["origin"][axis] + model["spacing"][axis] * (lower[k, axis] + window[axis] - faces[axis])
                corner.append(at / unit[0])
                size.append(model["spacing"][axis] * (upper[k, axis] - lower[k, axis]) / unit[0])
            time = share * steps * dt
            if leg == "backward":
                time = (steps - share * steps) * dt
            axes.add_patch(plt.Rectangle(corner, *size, fill=False, edgecolor=plt.cm.plasma(n / 6.0), linewidth=1.6,
                                         label=f"{time:.2f} s"))
        axes.set_xlim(extent[0], extent[1])
        axes.set_ylim(extent[2], extent[3])
        axes.set_xlabel(labels[0])
        axes.set_title(f"Boxes of the {leg} leg, shot {shot['number']}")
        axes.legend(fontsize=7, loc="lower right")
    plots[0].set_ylabel(labels[1])
    return figure


def draw_gathers(summary, folder):
    offsets = np.asarray(load(folder, "offsets.npy"), dtype=float)
    angles = None
    if "angles" in summary:
        angles = np.asarray(load(folder, "angles.npy"), dtype=float)
    model = summary["model"]
    depth = model["spacing"][-1] * (model["shape"][-1] - 1) + model["origin"][-1]
    rows = 1 if angles is None else 2
    columns = min(len(offsets), 8)
    figure, plots = plt.subplots(rows, columns, figsize=(1.8 * columns + 1.0, 4.5 * rows), constrained_layout=True,
                                 squeeze=False, sharey=True)
    kinds = [("offsets", offsets, "Half offset (m)")] + ([("angles", angles, "Angle (degrees)")] if rows == 2 else [])
    for row, (name, values, label) in zip(plots, kinds):
        first, apart = summary[name]["first"], summary[name]["apart"]
        for axes, gather in zip(row, values):
            clip = clip_of(gather)
            axes.imshow(gather.T, aspect="auto", cmap="gray", vmin=-clip, vmax=clip,
                        extent=(first, first + apart * (len(gather) - 1), depth, model["origin"][-1]))
            axes.set_xlabel(label)
        row[0].set_ylabel("Depth z (m)")
    return figure


def main():
    parser = argparse.ArgumentParser(description="Draws the results of migrate_shots.")
    parser.add_argument("folder", help="the folder that migrate_shots wrote")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    options = parser.parse_args()
    try:
        folder = options.folder
        summary = read_summary(folder)
        pictures = {"image.png": draw_image, "illumination.png": draw_illumination}
        if "data" in summary:
            pictures["data.png"] = draw_data
        if summary["asked"]["expand"] != "none":
            pictures["boxes.png"] = draw_boxes
        if "offsets" in summary:
            pictures["gathers.png"] = draw_gathers
        for name, draw in pictures.items():
            save(draw(summary, folder), os.path.join(folder, name), options.dpi)
        spans, labels = plot_timeline.read_trace(os.path.join(folder, "timeline.json"))
        save(plot_timeline.draw(spans, labels, (None, None)), os.path.join(folder, "timeline.png"), options.dpi)
    except PlotError as error:
        print(f"plot_migration.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
