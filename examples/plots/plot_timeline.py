#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a time line: the stages of every thread over time, one row per thread, one colour per stage.

Reads a trace in Chrome's format, as written by moho::Timeline, and writes a picture. Prints the totals of
each stage. Needs python3-numpy and python3-matplotlib.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

from plots_common import EXIT_USAGE, PlotError, plt, save, sheets


def read_trace(path):
    """Returns spans (stage, row, begin, end in seconds, bytes) and the names of the rows."""
    try:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        names = {(e["pid"], e["tid"]): e["args"]["name"]
                 for e in events if e.get("ph") == "M" and e.get("name") == "thread_name"}
        found = [(e["name"], (e["pid"], e["tid"]), 1e-6 * e["ts"], 1e-6 * (e["ts"] + e["dur"]),
                  int(e.get("args", {}).get("bytes", 0))) for e in events if e.get("ph") == "X"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlotError(f"{path} is no trace of a time line: {error}") from error
    if not found:
        raise PlotError(f"{path} holds no spans")
    keys = sorted({key for _, key, _, _, _ in found})
    several = len({pid for pid, _ in keys}) > 1
    rows = {key: n for n, key in enumerate(keys)}
    labels = [(f"{pid}: " if several else "") + names.get((pid, tid), f"thread {tid}") for pid, tid in keys]
    return [(stage, rows[key], begin, end, size) for stage, key, begin, end, size in found], labels


def totals(spans):
    """Returns seconds, spans and bytes of every stage, in the order of their first spans."""
    result = {}
    for stage, _, begin, end, size in sorted(spans, key=lambda span: span[2]):
        entry = result.setdefault(stage, [0.0, 0, 0])
        entry[0] += end - begin
        entry[1] += 1
        entry[2] += size
    return result


def rate(size, seconds):
    return f"{1e-9 * size / seconds:.3g} GB/s" if size > 0 and seconds > 0 else ""


def draw(spans, labels, limits):
    sums = totals(spans)
    first = min(span[2] for span in spans)
    last = max(span[3] for span in spans)
    low = first if limits[0] is None else limits[0]
    high = last if limits[1] is None else limits[1]
    if not high > low:
        raise PlotError(f"--from {low:g} --to {high:g} s: there is no time between them")
    unit, scale = ("s", 1.0) if high - low >= 0.5 else ("ms", 1e3)
    figure, axes = plt.subplots(figsize=(11.0, 1.6 + 0.45 * len(labels)), constrained_layout=True)
    keys = []
    for number, (stage, (seconds, _, size)) in enumerate(sums.items()):
        colour = sheets.COLOURS[number % len(sheets.COLOURS)]
        text = f"{stage} ({scale * seconds:.3g} {unit}" + (f", {rate(size, seconds)})" if size else ")")
        keys.append(plt.Rectangle((0, 0), 1, 1, color=colour, label=text))
        for row in range(len(labels)):
            bars = [(scale * begin, scale * (end - begin)) for name, at, begin, end, _ in spans
                    if name == stage and at == row and end >= low and begin <= high]
            if bars:
                axes.broken_barh(bars, (row - 0.4, 0.8), facecolors=colour, edgecolor="white", linewidth=0.2)
    axes.set_yticks(range(len(labels)), [label.replace("\n", " ").replace("$", r"\$") for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(scale * low, scale * high)
    axes.set_xlabel(f"Time ({unit})")
    axes.grid(axis="x", linewidth=0.3)
    axes.set_axisbelow(True)
    axes.legend(handles=keys, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(sums), 4),
                fontsize=8, frameon=False)
    return figure


def main():
    parser = argparse.ArgumentParser(description="Draws a time line: who did what when.")
    parser.add_argument("trace", help="a trace in Chrome's format, as moho::Timeline writes it")
    parser.add_argument("--output", metavar="FILE", help="the picture (default: the trace's name with .png)")
    parser.add_argument("--from", dest="low", type=float, metavar="S", help="draw from this second on")
    parser.add_argument("--to", dest="high", type=float, metavar="S", help="draw up to this second")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch (default: 150)")
    options = parser.parse_args()
    try:
        spans, labels = read_trace(options.trace)
        figure = draw(spans, labels, (options.low, options.high))
        save(figure, options.output or os.path.splitext(options.trace)[0] + ".png", options.dpi)
    except PlotError as error:
        print(f"plot_timeline.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    whole = max(span[3] for span in spans) - min(span[2] for span in spans)
    sums = totals(spans)
    width = max(len(stage) for stage in sums)
    for stage, (seconds, count, size) in sums.items():
        print(f"{stage:{width}s} {count:6d} spans {seconds:9.3f} s "
              f"{100 * seconds / whole if whole else 0:5.1f} % {rate(size, seconds)}".rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
