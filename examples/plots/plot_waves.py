#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of model_waves: a shot's gather, and snapshots of the wavefield over the velocity.

Reads summary.json, vp.npy, the gather and the snapshots from a results folder and writes gather.png and
snapshots.png. In 3D snapshots are sections through the source; titles give their positions. The nodes that a
run with --expand steps at the time of a snapshot have a frame. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import plots_common as common
from plots_common import EXIT_USAGE, PlotError, load, np, plt, save


def read_results(folder, program):
    """Returns the summary and the velocity (memory-mapped) of a program."""
    summary = common.read_summary(folder, program)
    velocity = load(folder, "vp.npy")
    if list(velocity.shape) != summary["model"]["shape"]:
        raise PlotError(f"{folder}: vp.npy and summary.json are of different runs")
    return summary, velocity


def receivers_of(summary, shot):
    positions = shot["receivers"]
    if isinstance(positions, str):
        positions = summary["shots"][0]["receivers"]
    return np.asarray(positions, dtype=float)


def clip_of_later(gather, summary, percentile):
    """Returns the clip of the samples after the first arrivals; these would make later samples pale."""
    interval = summary["gather"]["interval"]
    wavelet = max(1, int(2.5 * summary["gather"].get("wavelet_peak", 0.0) / interval))
    sizes = np.abs(gather)
    # a trace begins at a twentieth of its largest amplitude; its later samples begin one wavelet after that
    begin = np.argmax(sizes >= 0.05 * np.maximum(sizes.max(axis=1, keepdims=True), 1e-300), axis=1) + wavelet
    later = np.arange(gather.shape[1])[None, :] >= begin[:, None]
    values = sizes[later]
    return common.clip_of(values if np.any(values > 1e-4 * sizes.max(initial=0.0)) else gather, percentile)


def draw_gather(summary, folder, shot, options):
    gather = np.asarray(load(folder, shot["gather"])[:, :], dtype=float)
    receivers = receivers_of(summary, shot)
    if len(receivers) != len(gather):
        raise PlotError(f"{folder}: {shot['gather']} and summary.json are of different runs")
    interval, names = summary["gather"]["interval"], summary["model"]["axes"]
    title = f"Shot {shot['number']}, source at {common.point_text(shot['sources'][0], names)}"
    if len(shot["sources"]) > 1:
        title += f" and {len(shot['sources']) - 1} more"
    sheet = common.Sheet([6.6], [6.0])
    if len(gather) <= 12:
        times = interval * np.arange(gather.shape[1])
        most = np.abs(gather).max(initial=0.0) or 1.0
        axes = sheet.panel(0, 0, f"{title}; one scale for all traces, largest {most:.3g}", 11)
        for r, trace in enumerate(gather):
            axes.plot(r + 1 + 0.45 * trace / most, times, color="black", linewidth=0.8)
        axes.set_ylim(times[-1], 0.0)
        axes.set_xlim(0.4, len(gather) + 0.6)
        axes.set_xticks(range(1, len(gather) + 1))
        axes.set_xlabel("Receiver")
    else:
        clip, what = options.clip or 90.0, "the samples"
        most = common.clip_of(gather, clip)
        later = clip_of_later(gather, summary, 98.0)
        if not options.clip and later < most:
            clip, what, most = 98.0, "what follows the first arrivals", later
        extend = common.extend_of(gather, -most, most)
        clipped = f"; clipped at {clip:g} % of {what}" if extend != "neither" else ""
        axes = sheet.panel(0, 0, title + clipped, 11)
        image = common.draw_traces(axes, gather, 0.0, interval, receivers, shot["sources"], names, most,
                                   options.colour_map)
        common.colour_bar(axes, image, "Pressure", extend)
    axes.set_ylabel("Time (s)")
    return sheet.figure


def draw_snapshots(summary, velocity, folder, options):
    shot = summary["shots"][0]
    snapshots = summary["snapshots"]
    domains = summary.get("run", {}).get("expand", {}).get("snapshot_domains", [])
    for snapshot, domain in zip(snapshots, domains):
        snapshot["domain"] = domain
    if len(snapshots) > options.most_snapshots:
        picked = np.linspace(0, len(snapshots) - 1, options.most_snapshots).round().astype(int)
        snapshots = [snapshots[i] for i in picked]
    sections = common.sections_through(summary["model"], shot["sources"][0])
    if len(sections) == 1:
        length, height = sections[0].lengths[0], sections[0].lengths[1] * sections[0].exaggeration
        columns = 1 if length > 4.0 * height or len(snapshots) == 1 else 2
        rows = -(-len(snapshots) // columns)
        size = common.panel_sizes(sections, 9.6 / columns, 6.0 if columns == 1 else 4.2)[0]
        widths, heights = [size[0]] * columns, [size[1]] * rows
        places = [(k // columns, k % columns) for k in range(len(snapshots))]
    else:
        sizes = common.panel_sizes(sections, 9.6, 3.6)
        widths, heights = [w for w, _ in sizes], [max(h for _, h in sizes)] * len(snapshots)
        places = [(k, p) for k in range(len(snapshots)) for p in range(len(sections))]
    media = {"isotropic": "isotropic", "variable_density": "variable density", "vti": "VTI", "tti": "TTI"}
    heading = (f"Wavefield of shot {shot['number']}, {media[summary['model']['medium']]}, order "
               f"{summary['scheme']['order']}; each time has its own scale of colours")
    sheet = common.Sheet(widths, heights, heading)
    below = [section.cut(velocity) for section in sections]
    limits = common.limits_of(*below)
    wide = limits[1] - limits[0]
    receivers = receivers_of(summary, shot)
    for k, snapshot in enumerate(snapshots):
        field = load(folder, snapshot["file"])
        if field.shape != velocity.shape:
            raise PlotError(f"{folder}: {snapshot['file']} and vp.npy are of different runs")
        parts = [section.cut(field) for section in sections]
        every = np.concatenate([part.ravel() for part in parts])
        most, largest = common.clip_of(every, options.clip or 95.0), np.abs(every).max(initial=0.0)
        for section, part, under, place in zip(sections, parts, below, places[k * len(sections):]):
            name = f", {section.title}" if section.title else ""
            scale = f": saturated at {most:.2g}, largest {largest:.2g}" if section is sections[0] else ""
            axes = sheet.panel(*place, f"{snapshot['time']:.3f} s{name}{scale}", 9)
            # pale greys, so that the wavefield is visible on all of them
            back = section.draw(axes, under, cmap="Greys", vmin=limits[0] - 0.6 * wide,
                                vmax=limits[1] + 1.2 * wide)
            values = part / most
            # transparent where the wavefield is weak
            alpha = np.clip(2.5 * np.abs(values), 0.0, 1.0) ** 0.7
            section.draw(axes, values, cmap=options.colour_map, vmin=-1.0, vmax=1.0, alpha=alpha)
            if "domain" in snapshot:
                section.draw_box(axes, snapshot["domain"], color="#d98200", linewidth=1.5)
            section.mark(axes, receivers, common.MOST_RECEIVERS, **{**common.RECEIVER, "markersize": 3.0})
            section.mark(axes, shot["sources"], **common.source_style(size=11))
        if place[1] == len(widths) - 1 or len(snapshots) == 1:
            common.colour_bar(axes, back, "P velocity (m/s)", boundaries=np.linspace(*limits, 200))
    return sheet.figure


def parser_of(program, description):
    """Returns the parser with the options of the pictures of a program's shots."""
    parser = argparse.ArgumentParser(description=description,
                                     epilog=f"example: %(prog)s {program}_out --shot 3 --clip 99")
    parser.add_argument("folder", nargs="?", default=program + "_out",
                        help=f"results of {program} (default: {program}_out)")
    parser.add_argument("--shot", type=int, metavar="N",
                        help="number of the shot whose gather is drawn (default: the first)")
    parser.add_argument("--clip", type=float, metavar="P",
                        help="per cent of the samples below the darkest colour (default: 90 for gathers, 95 "
                             "for snapshots)")
    parser.add_argument("--dpi", type=int, default=130, help="dots per inch (default: 130)")
    parser.add_argument("--format", default="png", choices=("png", "pdf", "svg"),
                        help="of the files (default: png)")
    parser.add_argument("--most-snapshots", type=int, default=6, metavar="N",
                        help="draw no more snapshots than this (default: 6)")
    parser.add_argument("--colour-map", metavar="NAME", default="RdBu_r",
                        help="matplotlib's name of the colours of the pressure (default: RdBu_r)")
    return parser


def draw_shot(options, program):
    """Checks the options and draws the gather; returns the summary and the velocity."""
    if options.colour_map not in plt.colormaps():
        raise PlotError(f"--colour-map {options.colour_map} is unknown to matplotlib")
    if min(options.dpi, options.most_snapshots) < 1 or not 0.0 < (90.0 if options.clip is None
                                                                  else options.clip) <= 100.0:
        raise PlotError("--dpi and --most-snapshots must be 1 or more, --clip above 0 and at most 100")
    summary, velocity = read_results(options.folder, program)
    shots = [s for s in summary["shots"] if options.shot is None or s["number"] == options.shot]
    if not shots:
        raise PlotError(f"{options.folder} has no shot {options.shot}")
    save(draw_gather(summary, options.folder, shots[0], options),
         os.path.join(options.folder, f"gather.{options.format}"), options.dpi)
    return summary, velocity


def main():
    options = parser_of("model_waves",
                        "Draws the results of model_waves: a shot's gather, and snapshots over the "
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
