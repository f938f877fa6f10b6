#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of model_waves: a shot's gather, and snapshots of the wavefield over the velocity.

Reads summary.json, vp.npy, the gather and the snapshots from a results folder and writes gather.png and snapshots.png.
In 3D snapshots are sections through the source. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

from plot_rays import EXIT_USAGE, PlotError, RECEIVER, length_unit, np, plt, save, source_style
from matplotlib.ticker import MaxNLocator

LABELS = {"x": "x", "y": "y", "z": "Depth z"}
# Most traces drawn as columns and most dots along an axis: more cannot be told apart.
MOST_DOTS = 2400


def read_results(folder, program):
    """The summary and the velocity (memory-mapped) of a program."""
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        velocity = np.load(os.path.join(folder, "vp.npy"), mmap_mode="r")
        if summary["program"] != program or list(velocity.shape) != summary["model"]["shape"]:
            raise PlotError(f"{folder}: vp.npy and summary.json are of different runs")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PlotError(f"{folder} does not hold the results of {program}: {error}") from error
    return summary, velocity


def load(folder, name):
    try:
        return np.load(os.path.join(folder, name), mmap_mode="r")
    except (OSError, ValueError) as error:
        raise PlotError(f"{folder}: {name} cannot be read: {error}") from error


def receivers_of(summary, shot):
    places = shot["receivers"]
    if isinstance(places, str):
        places = summary["shots"][0]["receivers"]
    return np.asarray(places, dtype=float)


def positions_along(receivers, axes):
    """What the gather is drawn against: a coordinate that rises along the line, or the receivers' numbers."""
    spans = np.ptp(receivers, axis=0)
    axis = int(np.argmax(spans))
    steps = np.diff(receivers[:, axis])
    straight = spans[axis] > 0 and (np.all(steps > 0) or np.all(steps < 0))
    even = straight and np.ptp(steps) < 0.02 * abs(np.mean(steps))
    if even:
        unit = length_unit([spans[axis]])
        name = "Depth z" if axes[axis] == "z" else axes[axis]
        return receivers[:, axis] / unit[0], f"{name} of the receiver ({unit[1]})"
    return np.arange(1, len(receivers) + 1), "Receiver"


def clip_of(values, percentile):
    """The amplitude that gets the darkest colour: a percentile of what is not silent."""
    sizes = np.abs(np.asarray(values, dtype=float)).ravel()
    loud = sizes[sizes > 1e-4 * sizes.max(initial=0.0)]
    return float(np.percentile(loud, percentile)) if loud.size else 1.0


def clip_of_later(gather, summary, percentile):
    """The same of what comes after the first arrivals, so that these do not make the rest pale."""
    quick = summary["gather"]["interval"]
    wavelet = max(1, int(2.5 * summary["gather"].get("wavelet_peak", 0.0) / quick))
    sizes = np.abs(gather)
    # a trace begins where it has a twentieth of its largest amplitude; one wavelet later the others come
    begin = np.argmax(sizes >= 0.05 * np.maximum(sizes.max(axis=1, keepdims=True), 1e-300), axis=1) + wavelet
    later = np.arange(gather.shape[1])[None, :] >= begin[:, None]
    values = sizes[later]
    return clip_of(values if np.any(values > 1e-4 * sizes.max(initial=0.0)) else gather, percentile)


def draw_gather(summary, folder, shot, options):
    gather = np.asarray(load(folder, shot["gather"])[:, :], dtype=float)
    receivers = receivers_of(summary, shot)
    if len(receivers) != len(gather):
        raise PlotError(f"{folder}: {shot['gather']} and summary.json are of different runs")
    interval = summary["gather"]["interval"]
    times = interval * np.arange(gather.shape[1])
    figure, axes = plt.subplots(figsize=(8.0, 7.0), constrained_layout=True)
    title = f"Shot {shot['number']}, source at ({', '.join(f'{x:g}' for x in shot['sources'][0])}) m"
    if len(gather) <= 12:
        most = np.abs(gather).max() or 1.0
        for r, trace in enumerate(gather):
            axes.plot(r + 1 + 0.45 * trace / most, times, color="black", linewidth=0.8)
        axes.set_ylim(times[-1], 0.0)
        axes.set_xlim(0.4, len(gather) + 0.6)
        axes.set_xticks(range(1, len(gather) + 1))
        axes.set_xlabel("Receiver")
        axes.set_title(title, fontsize=11)
    else:
        x, label = positions_along(receivers, summary["model"]["axes"])
        clip, what = options.clip or 90.0, "the samples"
        most = clip_of(gather, clip)
        later = clip_of_later(gather, summary, 98.0)
        if not options.clip and later < most:
            clip, what, most = 98.0, "what follows the first arrivals", later
        step_r, step_t = (max(1, -(-n // MOST_DOTS)) for n in gather.shape)
        half = 0.5 * (x[-1] - x[0]) / max(len(x) - 1, 1)
        image = axes.imshow(gather[::step_r, ::step_t].T, cmap=options.colour_map, vmin=-most, vmax=most, aspect="auto",
                            extent=(x[0] - half, x[-1] + half, times[-1] + 0.5 * interval, -0.5 * interval),
                            interpolation="nearest" if label == "Receiver" else "bilinear")
        if label == "Receiver":
            axes.xaxis.get_major_locator().set_params(integer=True)
        if x[0] > x[-1]:
            axes.invert_xaxis()
        axes.set_xlabel(label)
        bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02, extend="both")
        bar.set_label("Pressure")
        bar.formatter.set_powerlimits((-2, 3))
        axes.set_title(f"{title}; clipped at {clip:g} % of {what}", fontsize=11)
    axes.set_ylabel("Time (s)")
    return figure


class Section:
    """A plane of the model, with axes in units of length."""

    def __init__(self, summary, columns):
        model = summary["model"]
        self.columns = columns
        self.names = [model["axes"][c] for c in columns]
        origin = [model["origin"][c] for c in columns]
        spacing = [model["spacing"][c] for c in columns]
        shape = [model["shape"][c] for c in columns]
        ends = [o + h * (n - 1) for o, h, n in zip(origin, spacing, shape)]
        self.unit = length_unit([e - o for o, e in zip(origin, ends)])
        edges = [((o - 0.5 * h) / self.unit[0], (e + 0.5 * h) / self.unit[0])
                 for o, e, h in zip(origin, ends, spacing)]
        self.extent = (edges[0][0], edges[0][1], edges[1][1], edges[1][0])

    def draw(self, axes, velocity, limits, field, most, options):
        steps = [max(1, -(-n // MOST_DOTS)) for n in field.shape]
        cut = tuple(slice(None, None, s) for s in steps)
        background = axes.imshow(np.asarray(velocity)[cut].T, extent=self.extent, cmap="Greys", aspect="equal",
                                 vmin=limits[0] - 0.6 * (limits[1] - limits[0]) - 1e-6,
                                 vmax=limits[1] + 1.2 * (limits[1] - limits[0]) + 1e-6, interpolation="nearest")
        values = np.asarray(field, dtype=float)[cut].T / most
        # What is silent lets the model through.
        alpha = np.clip(2.5 * np.abs(values), 0.0, 1.0) ** 0.7
        axes.imshow(values, extent=self.extent, cmap=options.colour_map, vmin=-1.0, vmax=1.0, alpha=alpha,
                    aspect="equal", interpolation="bilinear")
        axes.set_xlabel(f"{LABELS[self.names[0]]} ({self.unit[1]})")
        axes.set_ylabel(f"{LABELS[self.names[1]]} ({self.unit[1]})")
        return background

    def mark(self, axes, points, **style):
        points = np.asarray(points, dtype=float)
        axes.plot(points[:, self.columns[0]] / self.unit[0], points[:, self.columns[1]] / self.unit[0],
                  linestyle="none", clip_on=False, **style)


def planes_of(summary, shot):
    """Sections to draw: the columns shown, the axis across, and the node where it is cut."""
    model = summary["model"]
    if len(model["axes"]) == 2:
        return [((0, 1), None, 0)]
    source = shot["sources"][0]
    def node(axis):
        return int(np.clip(round((source[axis] - model["origin"][axis]) / model["spacing"][axis]), 0,
                           model["shape"][axis] - 1))
    # the third is a slice at the depth of the source
    return [((0, 2), 1, node(1)), ((1, 2), 0, node(0)), ((0, 1), 2, node(2))]


def draw_snapshots(summary, velocity, folder, options):
    shot = summary["shots"][0]
    snapshots = summary["snapshots"]
    if len(snapshots) > options.most_snapshots:
        picked = np.linspace(0, len(snapshots) - 1, options.most_snapshots).round().astype(int)
        snapshots = [snapshots[i] for i in picked]
    fields = [load(folder, s["file"]) for s in snapshots]
    planes = planes_of(summary, shot)
    section = Section(summary, planes[0][0])
    wide = abs(section.extent[1] - section.extent[0]) / max(abs(section.extent[2] - section.extent[3]), 1e-9)
    if len(planes) == 1:
        columns = 1 if wide > 4.0 else 2 if len(fields) > 1 else 1
        rows = -(-len(fields) // columns)
    else:
        rows, columns = len(fields), len(planes)
    width = 11.0
    height = min(max(rows * (0.86 * width / columns / wide + 0.75) + 0.3, 3.0), 16.0)
    figure, grid = plt.subplots(rows, columns, figsize=(width, height), constrained_layout=True, squeeze=False)
    limits = summary["model"]["ranges"]["vp"]
    receivers = receivers_of(summary, shot)
    places = grid.ravel()
    for axes in places[len(fields) * len(planes):]:
        axes.axis("off")
    background = None
    for k, (snapshot, field) in enumerate(zip(snapshots, fields)):
        if field.shape != velocity.shape:
            raise PlotError(f"{folder}: {snapshot['file']} and vp.npy are of different runs")
        for p, (shown, across, node) in enumerate(planes):
            axes = places[k * len(planes) + p]
            section = Section(summary, shown)
            cut = [slice(None)] * field.ndim
            if across is not None:
                cut[across] = node
            part = np.asarray(field[tuple(cut)])
            background = section.draw(axes, velocity[tuple(cut)], limits, part, clip_of(part, options.clip or 95.0), options)
            if len(planes) == 1 and len(receivers) > 0:
                step = max(1, len(receivers) // 40)
                section.mark(axes, receivers[::step], **{**RECEIVER, "markersize": 3.0})
            section.mark(axes, shot["sources"], **source_style("#ffd60a", 11))
            where = ""
            if across is not None:
                model = summary["model"]
                if shown == (0, 1):
                    axes.invert_yaxis()
                where = f", {model['axes'][across]} = {model['origin'][across] + node * model['spacing'][across]:g} m"
            axes.set_title(f"{snapshot['time']:.3f} s{where}", fontsize=10)
    if limits[1] > limits[0]:
        bar = figure.colorbar(background, ax=grid, fraction=0.025, pad=0.02, boundaries=np.linspace(*limits, 200),
                              ticks=MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        bar.set_label("P velocity (m/s)")
    media = {"isotropic": "isotropic", "variable_density": "variable density", "vti": "VTI", "tti": "TTI"}
    figure.suptitle(f"Wavefield of shot {shot['number']}, {media[summary['model']['medium']]}, "
                    f"order {summary['scheme']['order']}, each snapshot with its own scale", fontsize=11)
    return figure


def parser_of(program, description):
    """What can be asked of the pictures of a program's shots."""
    parser = argparse.ArgumentParser(description=description,
                                     epilog=f"example: %(prog)s {program}_out --shot 3 --clip 99")
    parser.add_argument("folder", nargs="?", default=program + "_out",
                        help=f"results of {program} (default: {program}_out)")
    parser.add_argument("--shot", type=int, metavar="N",
                        help="number of the shot whose gather is drawn (default: the first)")
    parser.add_argument("--clip", type=float, metavar="P",
                        help="per cent of the samples below the darkest colour (default: 90 for gathers, 95 for snapshots)")
    parser.add_argument("--dpi", type=int, default=130, help="dots per inch (default: 130)")
    parser.add_argument("--format", default="png", choices=("png", "pdf", "svg"), help="of the files (default: png)")
    parser.add_argument("--most-snapshots", type=int, default=6, metavar="N",
                        help="draw no more snapshots than this (default: 6)")
    parser.add_argument("--colour-map", metavar="NAME", default="RdBu_r",
                        help="matplotlib's name of the colours of the pressure (default: RdBu_r)")
    return parser


def draw_shot(options, program):
    """Checks the options and draws the gather. Returns the summary and the velocity."""
    if options.colour_map not in plt.colormaps():
        raise PlotError(f"--colour-map {options.colour_map} is unknown to matplotlib")
    if min(options.dpi, options.most_snapshots) < 1 or not 0.0 < (90.0 if options.clip is None else options.clip) <= 100.0:
        raise PlotError("--dpi and --most-snapshots must be 1 or more, --clip above 0 and at most 100")
    summary, velocity = read_results(options.folder, program)
    shots = [s for s in summary["shots"] if options.shot is None or s["number"] == options.shot]
    if not shots:
        raise PlotError(f"{options.folder} has no shot {options.shot}")
    save(draw_gather(summary, options.folder, shots[0], options),
         os.path.join(options.folder, f"gather.{options.format}"), options.dpi)
    return summary, velocity


def main():
    options = parser_of("model_waves", "Draws the results of model_waves: a shot's gather, and snapshots over the "
                                       "velocity.").parse_args()
    try:
        summary, velocity = draw_shot(options, "model_waves")
        if summary["snapshots"]:
            save(draw_snapshots(summary, velocity, options.folder, options),
                 os.path.join(options.folder, f"snapshots.{options.format}"), options.dpi)
    except PlotError as error:
        print(f"plot_waves.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
