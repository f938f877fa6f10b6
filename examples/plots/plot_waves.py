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
from plots_common import EXIT_USAGE, PlotError, check_colours, grid_of, load, np, plot, save, sheets


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


def draw_gather(summary, folder, shot, options):
    traces = load(folder, shot["gather"])
    receivers = receivers_of(summary, shot)
    if len(receivers) != len(traces):
        raise PlotError(f"{folder}: {shot['gather']} and summary.json are of different runs")
    at = sheets.point_text(shot["sources"][0], summary["model"]["axes"])
    title = f"Shot {shot['number']}, source at {at}"
    if len(shot["sources"]) > 1:
        title += f" and {len(shot['sources']) - 1} more"
    return plot.gather(traces, interval=summary["gather"]["interval"], sources=shot["sources"],
                       receivers=receivers, clip=options.clip, title=title, colour_map=options.colour_map,
                       wavelet_peak=summary["gather"].get("wavelet_peak", 0.0))


def draw_snapshots(summary, velocity, folder, options):
    shot, snapshots = summary["shots"][0], summary["snapshots"]
    domains = summary.get("run", {}).get("expand", {}).get("snapshot_domains", [])
    pairs = [(snapshot, domains[k] if k < len(domains) else None) for k, snapshot in enumerate(snapshots)]
    if len(pairs) > options.most_snapshots:
        picked = np.linspace(0, len(pairs) - 1, options.most_snapshots).round().astype(int)
        pairs = [pairs[i] for i in picked]
    fields = [load(folder, snapshot["file"]) for snapshot, _ in pairs]
    for field, (snapshot, _) in zip(fields, pairs):
        if field.shape != velocity.shape:
            raise PlotError(f"{folder}: {snapshot['file']} and vp.npy are of different runs")
    media = {"isotropic": "isotropic", "variable_density": "variable density", "vti": "VTI", "tti": "TTI"}
    heading = (f"Wavefield of shot {shot['number']}, {media[summary['model']['medium']]}, order "
               f"{summary['scheme']['order']}")
    if len(pairs) > 1:
        heading += "; each time has its own scale of colours"
    return plot.snapshots(fields, [snapshot["time"] for snapshot, _ in pairs], velocity, **grid_of(summary),
                          sources=shot["sources"], receivers=receivers_of(summary, shot),
                          domains=[domain for _, domain in pairs], clip=options.clip,
                          colour_map=options.colour_map, title=heading)


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
    check_colours(options.colour_map)
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
