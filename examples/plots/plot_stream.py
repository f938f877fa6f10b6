#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of stream_waves: a gather, a wavefield over the velocity, and the devices' time line.

The wavefield is the last one of the first shot. Reads summary.json, vp.npy, timeline.json, the gather and the
wavefield from a results folder and writes gather.png, wavefield.png and timeline.png. Needs python3-numpy and
python3-matplotlib.
"""

import os
import sys

sys.dont_write_bytecode = True

import plot_timeline
import plot_waves
from plots_common import EXIT_USAGE, PlotError, save


def iterations_of(spans, most):
    """Returns begin and end, in seconds, of the drawn part of the time line.

    The part has some iterations in the middle, where the pipeline is full.
    """
    steps = sorted(span[2] for span in spans if span[0] == "steps")
    if len(steps) <= most:
        return None, None
    middle = len(steps) // 2
    return steps[middle - most // 2], steps[middle + most // 2]


def main():
    parser = plot_waves.parser_of("stream_waves",
                                  "Draws the results of stream_waves: a shot's gather, the last wavefield "
                                                  "over the velocity, and the time line.")
    parser.add_argument("--iterations", type=int, default=24, metavar="N",
                        help="stages of steps that the time line shows, from its middle; 0: all (default: "
                             "24)")
    options = parser.parse_args()
    try:
        if options.iterations < 0:
            raise PlotError("--iterations must be 0 or more")
        summary, velocity = plot_waves.draw_shot(options, "stream_waves")
        if "wavefield" in summary:
            summary["snapshots"] = [summary["wavefield"]]
            save(plot_waves.draw_snapshots(summary, velocity, options.folder, options),
                 os.path.join(options.folder, f"wavefield.{options.format}"), options.dpi)
        trace = os.path.join(options.folder, "timeline.json")
        if "timeline.json" in summary["files"]:
            spans, labels = plot_timeline.read_trace(trace)
            limits = iterations_of(spans, options.iterations) if options.iterations else (None, None)
            save(plot_timeline.draw(spans, labels, limits),
                 os.path.join(options.folder, f"timeline.{options.format}"), options.dpi)
    except PlotError as error:
        print(f"plot_stream.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
