#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of migrate_shots: images, illumination, data, boxes and gathers.

The pictures show the image with contours of the velocity, the illumination, and a shot's data before and
after preparation. They also show the boxes of both propagations, and offset and angle gathers. --timeline
adds the time line.

Reads summary.json and the arrays next to it from a results folder. In 3D sections through the middle are
drawn; titles give their positions. Only sources and receivers within half a node spacing are drawn on them.
Needs python3-numpy and python3-matplotlib.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import plot_timeline
import plots_common as common
from plots_common import EXIT_USAGE, PlotError, grid_of, load, np, plot, plt, save, sections, sheets


def sources_of(summary):
    return [p for shot in summary["migrated"] if shot for p in shot["sources"]]


def receivers_of(summary):
    """Returns the receivers of the shot whose data are drawn; empty if the summary has no data."""
    return summary.get("data", {}).get("receivers", [])


def legend_text(summary):
    receivers = f"; triangles: receivers of shot {summary['data']['shot']}" if receivers_of(summary) else ""
    return f"stars: sources{receivers}"


def survey_of(summary):
    """Returns grid, positions and legend as arguments of moho.plot."""
    return {**grid_of(summary), "sources": sources_of(summary), "receivers": receivers_of(summary),
            "legend": legend_text(summary)}


def draw_image(summary, folder):
    name, count = summary["asked"]["condition"][0], len(summary["migrated"])
    return plot.image(load(folder, "image.npy"), load(folder, "vp.npy"), **survey_of(summary),
                      title=f"{name[0].upper() + name[1:]} image of {count} shot{'' if count == 1 else 's'}")


def draw_illumination(summary, folder):
    # expanding domains may omit the receiver illumination
    fields = {f"Illumination by the {kind}s": load(folder, f"illumination_{kind}.npy")
              for kind in ("source", "receiver")
              if os.path.exists(os.path.join(folder, f"illumination_{kind}.npy"))}
    return plot.illumination(fields, **survey_of(summary))


def draw_data(summary, folder):
    data = summary["data"]
    sources = data.get("sources", [])
    at = f", source at {sheets.point_text(sources[0], summary['model']['axes'])}" if sources else ""
    panels = {"Data before preparation": load(folder, "data_before.npy"),
              "Data as migrated": load(folder, "data_after.npy")}
    receivers = data.get("receivers", [])
    known = all(len(receivers) == len(values) for values in panels.values())
    return plot.gathers(panels, one_scale=False,
                        title=f"Shot {data['shot']}{at}; each panel has its own scale",
                        intervals=[data[name]["interval"] for name in ("before", "after")],
                        starts=[data[name]["start"] for name in ("before", "after")],
                        sources=sources if known else None, receivers=receivers if known else None)


def boxes_of(numbers, dimensions):
    """Returns the steps from which boxes hold, the boxes, and the number of steps."""
    each = 1 + 2 * dimensions
    rows = np.asarray(numbers[1:], dtype=int).reshape(-1, each)
    return rows[:, 0], rows[:, 1:1 + dimensions], rows[:, 1 + dimensions:], numbers[0]


def draw_boxes(summary, folder):
    shot = next((s for s in summary["migrated"] if s and "forward_boxes" in s), None)
    if shot is None:
        raise PlotError(f"{folder}: no shot says its boxes")
    model, dt = summary["model"], summary["scheme"]["dt"]
    section = sections.sections_through(model, shot["sources"][0], False)[0]
    unit = section.unit[0]
    dimensions = len(model["shape"])
    below = section.cut(load(folder, "vp.npy"))
    low, high = sheets.limits_of(below)
    size = sheets.panel_sizes([section], 5.4, 5.4)[0]
    at = f" at {section.title}" if section.title else ""
    heading = f"Boxes of shot {shot['number']}{at}, and the times at which they hold"
    sheet = sheets.Sheet([size[0]] * 2, [size[1]], heading, across=1.9, right=2.1)
    faces = [0] * dimensions if not shot.get("layers") else shot["layers"]
    window = shot["window"]["lower"]
    for column, leg in enumerate(("forward", "backward")):
        axes = sheet.panel(0, column, f"{leg.capitalize()} propagation")
        image = section.draw(axes, below, cmap="Greys", vmin=low - 0.3 * (high - low),
                             vmax=high + 1.2 * (high - low))
        first, lower, upper, steps = boxes_of(shot[f"{leg}_boxes"], dimensions)
        for n, share in enumerate(np.linspace(0.15, 0.9, 6)):
            k = int(np.searchsorted(first, share * steps, side="right")) - 1
            corner, sides = [], []
            for axis in section.columns:
                place = model["origin"][axis] + model["spacing"][axis] * (lower[k, axis]
                                                                          + window[axis] - faces[axis])
                corner.append(place / unit)
                sides.append(model["spacing"][axis] * (upper[k, axis] - lower[k, axis]) / unit)
            time = (steps - share * steps) * dt if leg == "backward" else share * steps * dt
            axes.add_patch(plt.Rectangle(corner, *sides, fill=False, edgecolor=plt.cm.plasma(n / 6.0),
                                         linewidth=1.6, label=f"{time:.2f} s"))
        section.mark(axes, shot["sources"], **sheets.source_style("#c1121f"))
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        axes.apply_aspect()
    place = axes.get_position()
    wide = sheet.figure.get_size_inches()[0]
    bar = sheet.figure.colorbar(image, cax=sheet.figure.add_axes([place.x1 + 1.05 / wide, place.y0,
                                                                  0.14 / wide, place.height]),
                                boundaries=np.linspace(low, high, 200), ticks=sheets.MaxNLocator(5))
    bar.set_label("P velocity (m/s)")
    return sheet.figure


def column_title(model, position):
    """Returns the position of a column of gathers as text: x, or x and y.

    In a volume a column without y lies in its middle.
    """
    if len(model["shape"]) == 2:
        return f"x = {position[0]:g} m"
    middle = model["origin"][1] + model["spacing"][1] * (model["shape"][1] // 2)
    return f"x = {position[0]:g}, y = {position[1] if len(position) > 1 else middle:g} m"


def draw_columns(model, positions, rows):
    """Draws gathers of columns; `rows` are (values per column, first, step, label), None is skipped.

    `positions` has a row for each column, x or x and y.
    """
    return plot.depth_gathers(rows, titles=[column_title(model, position) for position in positions],
                              spacing=model["spacing"][-1], origin=model["origin"][-1])


def draw_gathers(summary, folder):
    offsets, about = load(folder, "offsets.npy"), summary["offsets"]
    rows = [(offsets, about["first"], about["apart"], "Half offset (m)")]
    if "angles" in summary:
        rows.append((load(folder, "angles.npy"), summary["angles"]["first"], summary["angles"]["apart"],
                     "Angle (degrees)"))
    columns = np.reshape(about["columns"], (-1, len(summary["model"]["shape"]) - 1))
    return draw_columns(summary["model"], columns[:8], rows)


def main():
    parser = argparse.ArgumentParser(description="Draws the results of migrate_shots.")
    parser.add_argument("folder", help="the folder that migrate_shots wrote")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    parser.add_argument("--timeline", action="store_true", help="draw timeline.json as timeline.png, too")
    options = parser.parse_args()
    try:
        if options.dpi < 1:
            raise PlotError("--dpi must be 1 or more")
        folder = options.folder
        summary = common.read_summary(folder, "migrate_shots")
        pictures = {"image.png": draw_image, "illumination.png": draw_illumination}
        if "data" in summary:
            pictures["data.png"] = draw_data
        if summary["asked"]["expand"] != "none":
            pictures["boxes.png"] = draw_boxes
        if "offsets" in summary:
            pictures["gathers.png"] = draw_gathers
        for name, draw in pictures.items():
            save(draw(summary, folder), os.path.join(folder, name), options.dpi)
        if options.timeline:
            spans, labels = plot_timeline.read_trace(os.path.join(folder, "timeline.json"))
            save(plot_timeline.draw(spans, labels, (None, None)), os.path.join(folder, "timeline.png"),
                 options.dpi)
    except PlotError as error:
        print(f"plot_migration.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
