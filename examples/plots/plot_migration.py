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
from plots_common import EXIT_USAGE, PlotError, load, np, plt, save


def sources_of(summary):
    return [p for shot in summary["migrated"] if shot for p in shot["sources"]]


def receivers_of(summary):
    """Returns the receivers of the shot whose data are drawn; empty if the summary has no data."""
    return summary.get("data", {}).get("receivers", [])


def mark_survey(section, axes, summary):
    section.mark(axes, receivers_of(summary), common.MOST_RECEIVERS, **common.RECEIVER)
    section.mark(axes, sources_of(summary), **common.source_style("#c1121f"))


def legend_text(summary):
    receivers = f"; triangles: receivers of shot {summary['data']['shot']}" if receivers_of(summary) else ""
    return f"stars: sources{receivers}"


def draw_image(summary, folder):
    image, velocity = load(folder, "image.npy"), load(folder, "vp.npy")
    sections = common.middle_sections(summary["model"], depth_slice=True)
    sizes = [common.panel_sizes([section], 9.0, 6.5)[0] for section in sections]
    parts, below = ([section.cut(array) for section in sections] for array in (image, velocity))
    clip = common.clip_of(np.concatenate([part.ravel() for part in parts]), 99.0, 1e-6)
    levels, step = common.contour_levels(*common.limits_of(*below), 7)
    contours = f", contours of velocity every {step:g} m/s" if len(levels) else ""
    name = summary["asked"]["condition"][0]
    count = len(summary["migrated"])
    heading = (f"{name[0].upper() + name[1:]} image of {count} shot{'' if count == 1 else 's'}{contours}; "
               f"{legend_text(summary)}")
    sheet = common.Sheet([max(w for w, _ in sizes)], [h for _, h in sizes], heading)
    for row, (section, part, under) in enumerate(zip(sections, parts, below)):
        axes = sheet.panel(row, 0, section.title)
        shown = section.draw(axes, part, cmap="gray", vmin=-clip, vmax=clip)
        section.draw_contours(axes, under, levels, 1, colors=["#d9480f"], linewidths=0.9, alpha=0.9)
        mark_survey(section, axes, summary)
        common.colour_bar(axes, shown, "Amplitude", common.extend_of(part, -clip, clip))
    return sheet.figure


def draw_illumination(summary, folder):
    sections = common.middle_sections(summary["model"])
    sizes = common.panel_sizes(sections, 9.0, 4.5)
    # expanding domains may omit the receiver illumination
    kinds = [kind for kind in ("source", "receiver")
             if os.path.exists(os.path.join(folder, f"illumination_{kind}.npy"))]
    sheet = common.Sheet([w for w, _ in sizes], [max(h for _, h in sizes)] * len(kinds),
                         legend_text(summary)[0].upper() + legend_text(summary)[1:])
    for row, kind in enumerate(kinds):
        values = load(folder, f"illumination_{kind}.npy")
        # a single reference for all sections of a row
        parts = common.decibels(np.concatenate([section.cut(values).ravel() for section in sections]))
        low, high = common.level_limits(parts)
        extend = common.extend_of(parts, low, high)
        for column, section in enumerate(sections):
            count = int(np.prod(section.cut(values).shape))
            part, parts = parts[:count].reshape(section.cut(values).shape), parts[count:]
            at = f", {section.title}" if section.title else ""
            axes = sheet.panel(row, column, f"Illumination by the {kind}s{at}")
            axes.set_facecolor("0.7")
            shown = section.draw(axes, np.ma.masked_invalid(part), cmap="magma", vmin=low, vmax=high)
            mark_survey(section, axes, summary)
        common.colour_bar(axes, shown, "dB of the largest shown", extend)
    return sheet.figure


def draw_data(summary, folder):
    data = summary["data"]
    names = summary["model"]["axes"]
    source = common.point_text(data["sources"][0], names) if data.get("sources") else ""
    heading = f"Shot {data['shot']}" + (f", source at {source}"
                                        if source else "") + "; each panel has its own scale"
    sheet = common.Sheet([4.4, 4.4], [5.6], heading, across=1.9)
    receivers = np.asarray(data.get("receivers", []), dtype=float)
    for column, (name, title) in enumerate((("before", "Data before preparation"),
                                            ("after", "Data as migrated"))):
        values = np.asarray(load(folder, f"data_{name}.npy"), dtype=float)
        clip = common.clip_of(values, 98.0, 1e-6)
        axes = sheet.panel(0, column, title)
        shown = common.draw_traces(axes, values, data[name]["start"], data[name]["interval"],
                                   receivers if len(receivers) == len(values) else None,
                                   data.get("sources", []), names, clip)
        axes.set_ylabel("Time (s)")
        common.colour_bar(axes, shown, "Amplitude", common.extend_of(values, -clip, clip))
    return sheet.figure


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
    section = common.sections_through(model, shot["sources"][0], False)[0]
    unit = section.unit[0]
    dimensions = len(model["shape"])
    below = section.cut(load(folder, "vp.npy"))
    low, high = common.limits_of(below)
    size = common.panel_sizes([section], 5.4, 5.4)[0]
    at = f" at {section.title}" if section.title else ""
    heading = f"Boxes of shot {shot['number']}{at}, and the times at which they hold"
    sheet = common.Sheet([size[0]] * 2, [size[1]], heading, across=1.9, right=2.1)
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
        section.mark(axes, shot["sources"], **common.source_style("#c1121f"))
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        axes.apply_aspect()
    place = axes.get_position()
    wide = sheet.figure.get_size_inches()[0]
    bar = sheet.figure.colorbar(image, cax=sheet.figure.add_axes([place.x1 + 1.05 / wide, place.y0,
                                                                  0.14 / wide, place.height]),
                                boundaries=np.linspace(low, high, 200), ticks=common.MaxNLocator(5))
    bar.set_label("P velocity (m/s)")
    return sheet.figure


def column_title(model, x):
    """Returns the position of a column of gathers as text; in a volume columns lie in its middle."""
    if len(model["shape"]) == 2:
        return f"x = {x:g} m"
    y = model["origin"][1] + model["spacing"][1] * (model["shape"][1] // 2)
    return f"x = {x:g}, y = {y:g} m"


def draw_columns(model, positions, rows):
    """Draws gathers of columns; `rows` are (values per column, first, step, label), None is skipped."""
    rows = [row for row in rows if row is not None]
    width = float(np.clip(11.0 / len(positions) - 0.15, 1.1, 3.0))
    sheet = common.Sheet([width] * len(positions), [4.0] * len(rows), "Each panel has its own scale of grey",
                         across=0.15, right=0.3)
    top, spacing = model["origin"][-1], model["spacing"][-1]
    depth = top + spacing * (model["shape"][-1] - 1)
    for r, (values, first, step, label) in enumerate(rows):
        for c, x in enumerate(positions):
            axes = sheet.panel(r, c, column_title(model, x), 9)
            gather = np.asarray(values[c], dtype=float)
            clip = common.clip_of(gather, 99.0, 1e-6)
            axes.imshow(gather.T, aspect="auto", cmap="gray", vmin=-clip, vmax=clip, interpolation="nearest",
                        extent=(first - 0.5 * step, first + step * (len(gather) - 0.5), depth + 0.5 * spacing,
                                top - 0.5 * spacing))
            axes.set_xlabel(label, fontsize=9)
            axes.xaxis.set_major_locator(common.MaxNLocator(3, symmetric=True))
            axes.tick_params(labelleft=c == 0)
            if c == 0:
                axes.set_ylabel("Depth z (m)")
    return sheet.figure


def draw_gathers(summary, folder):
    offsets, about = load(folder, "offsets.npy"), summary["offsets"]
    positions = about["columns"][:8]
    rows = [(offsets, about["first"], about["apart"], "Half offset (m)")]
    if "angles" in summary:
        rows.append((load(folder, "angles.npy"), summary["angles"]["first"], summary["angles"]["apart"],
                     "Angle (degrees)"))
    return draw_columns(summary["model"], positions, rows)


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
