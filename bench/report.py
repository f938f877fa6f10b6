#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables and figures from the JSON of bench_rays, bench_gravity, bench_waves and the peers' programs.

The peers' programs are peers.py and peers_waves.py. Reads one or more files; repeated runs of a benchmark
count by their median. Prints a report in Markdown, or writes it with --out as table.md next to figures.

Of rays: figure7.png and figure8.png, the figures of that number in Monsegny and Agudelo (2013). They show
time against vertices per side for radii 1 to 3 and 4 to 6. Of gravity: see report_gravity.py; the files may
include the summary.json of model_gravity runs on 1, 2, ... ranks. Of waves: see report_waves.py. --merge
writes all results as one file without the name of the machine and the path of the program.

Exit status 1 if a benchmark reported an error or a mean traveltime differs from Dijkstra's. Needs
python3-numpy and, for the figures, python3-matplotlib.
"""

import argparse
import os
import re
import statistics
import sys

import report_gravity
import report_waves
from report_common import (
    UNITS,
    ReportError,
    context_section,
    median_of,
    ratio,
    read,
    show,
    table,
    write_merged,
    write_text,
)

METHODS = [  # key, title, colour and line style of the figures
    ("dijkstra/serial", "sequential Dijkstra", "#444444", "-", "o"),
    ("active_tiles/openmp", "active tiles, OpenMP", "#1f6fb4", "-", "s"),
    ("relaxation/cuda", "the paper's Relaxation, CUDA", "#d98200", "--", "^"),
    ("active_tiles/cuda", "active tiles, CUDA", "#b3123c", "-", "D"),
]
# The paper's times in ms, read from its Figures 7 and 8: {radius: {n: (CPU, GPU)}}.
PAPER = {
    1: {512: (225, 686), 1024: (979, 5264), 1536: (2326, 17819)},
    3: {512: (1749, 870), 1024: (7273, 6436), 1536: (16262, 20104)},
    4: {512: (3465, 1294), 1024: (14220, 9159), 1536: (32210, 28625)},
    6: {512: (9371, 2260), 1024: (39078, 13679), 1536: (87260, 37753)},
}
NAME = re.compile(
    r"^rays/(?P<method>\w+)/(?P<space>\w+)/(?P<precision>\w+)/n:(?P<n>\d+)/r:(?P<r>\d+)"
    r"(?:/sources:(?P<sources>\d+))?(?:/star:(?P<star>\w+))?(?:/weights:(?P<rule>\w+))?"
    r"(?:/storage:(?P<storage>\w+))?(?P<split>(?:/(?:table|instances|devices|slabs):[0-9.]+)*)(?:/|$)"
)
PHASES = ["transfer_s", "weights_s", "trace_s", "predecessors_s"]


class Result:
    """One benchmark: the median of its runs."""

    def __init__(self, match, runs):
        self.method, self.space, self.precision = match["method"], match["space"], match["precision"]
        self.n, self.r = int(match["n"]), int(match["r"])
        self.sources = int(match["sources"] or 1)
        self.storage, self.star, self.rule = match["storage"], match["star"], match["rule"]
        self.split = match["split"].replace("/", " ").replace(":", " ")
        self.runs = len(runs)
        self.seconds = statistics.median(run["real_time"] * UNITS[run["time_unit"]] for run in runs)
        self.label = runs[0].get("label", "")
        self._runs = runs

    def get(self, counter, default=None):
        return median_of(self._runs, counter, default)

    @property
    def key(self):
        return f"{self.method}/{self.space}"

    @property
    def plain(self):
        """True for the lines of the main table."""
        return self.precision == "float" and self.sources == 1 and not (
            self.storage or self.star or self.rule)


def collect(entries):
    """Returns results of the ray benchmarks, and copy bandwidths by space in bytes per second."""
    runs, bandwidth = {}, {}
    for entry in entries:
        name = entry.get("run_name", entry["name"])
        copy = re.match(r"^copy/(\w+)", name)
        if copy:
            bandwidth.setdefault(copy[1], []).append(entry["copy_GBps"])
        elif NAME.match(name):
            runs.setdefault(NAME.match(name)[0].rstrip("/"), []).append(entry)
    results = [Result(NAME.match(name), group) for name, group in runs.items()]
    return results, {space: statistics.median(values) for space, values in bandwidth.items()}


def main_section(results):
    by_place = {(x.key, x.n, x.r): x for x in results if x.plain}
    places = sorted({(r, n) for key, n, r in by_place if key in [m[0] for m in METHODS]})
    rows = []
    for r, n in places:
        dijkstra, openmp, relaxation, cuda = (by_place.get((m[0], n, r)) for m in METHODS)
        seconds = [x.seconds if x else None for x in (dijkstra, openmp, relaxation, cuda)]
        search = dijkstra.get("trace_s") if dijkstra else None
        rows.append(
            [str(r), str(n), show(seconds[0]), show(search), show(seconds[1]), show(seconds[2]),
             show(seconds[3]), ratio(seconds[0], seconds[1]), ratio(seconds[0], seconds[2]),
             ratio(seconds[0], seconds[3]),
             ratio(search, seconds[3]) if seconds[3] else ratio(search, seconds[1])]
        )
    if not rows:
        return ""
    last = "CUDA" if any(key == "active_tiles/cuda" for key, _, _ in by_place) else "OpenMP"
    header = ["r", "n", "Dijkstra", "its search alone", "active tiles OpenMP", "Relaxation CUDA",
              "active tiles CUDA", "OpenMP gains", "Relaxation gains", "CUDA gains",
              f"{last} over the search alone"]
    return (
        "## CPU against GPU\n\nMilliseconds for one source, whole time: transfers, weights, tracing, "
        "predecessors; single precision.\nGains are Dijkstra's whole time over that of the method.\n\n"
        + table(header, rows)
    )


def detail_rows(results):
    rows = []
    for x in sorted(results, key=lambda x: (x.r, x.n, x.sources, x.key, x.precision, x.star or "",
                                            x.storage or "", x.split)):
        rate, floor = x.get("relaxations_per_s"), x.get("floor_fraction")
        work, rounds = x.get("work_ratio"), x.get("rounds")
        rows.append(
            [x.method, x.space, x.precision, x.star or "", x.rule or "", str(x.r), str(x.n), str(x.sources),
             {"weights stored": "stored", "weights on the fly": "on the fly",
              "weights by fragments": "fragments"}.get(x.label, "") + x.split,
             show(x.seconds)]
            + [show(x.get(phase)) if x.get(phase) else "" for phase in PHASES]
            + [f"{rate * 1e-9:.2f}" if rate else "", f"{work:.2f}" if work else "",
               f"{rounds:.0f}" if rounds else "", f"{100 * floor:.1f} %" if floor else ""]
        )
    return rows


DETAILS = ["method", "space", "precision", "star", "rule", "r", "n", "sources", "weights", "total",
           "transfer", "weights made", "trace", "predecessors", "10^9 relaxations/s", "work ratio", "rounds",
           "of the bandwidth floor"]


def phase_section(results, sizes):
    chosen = [x for x in results if x.plain and x.n in sizes]
    if not chosen:
        return ""
    return (
        "## By phase\n\nMilliseconds. A relaxation is useful once for each edge, direction and source: the "
        "rate counts those, the work\nratio is how many were done for each. The floor moves every byte once "
        "at the copy bandwidth; transfers are not in it.\n\n" + table(DETAILS, detail_rows(chosen))
    )


def other_section(results):
    chosen = [x for x in results if not x.plain and x.space != "python"]
    if not chosen:
        return ""
    return "## Precision, star, storage of weights, many sources\n\n" + table(DETAILS, detail_rows(chosen))


def peer_section(results):
    peers = [x for x in results if x.space == "python"]
    if not peers:
        return ""
    by_place = {(x.key, x.n, x.r): x for x in results if x.plain}
    rows = []
    for x in sorted(peers, key=lambda x: (x.r, x.n, x.method)):
        others = [by_place.get((key, x.n, x.r)) for key in ("dijkstra/serial", "active_tiles/openmp",
                                                            "active_tiles/cuda")]
        rows.append(
            [x.method, str(x.r), str(x.n), show(x.get("weights_s")), show(x.get("trace_s"))]
            + [show(other.seconds) if other else "" for other in others]
        )
    header = ["program", "r", "n", "its weights", "its search", "Dijkstra", "active tiles OpenMP",
              "active tiles CUDA"]
    return (
        "## Other programs\n\nMilliseconds; the last columns are moho's whole times. The other programs work "
        "in double precision.\n\n" + table(header, rows)
    )


def check_section(results, errors):
    """Returns the section, and whether all checks passed."""
    reference = {}
    for x in results:
        if x.method == "dijkstra" and not x.rule:
            reference.setdefault((x.n, x.r), x.get("mean_time_s"))
    differences = []
    for x in results:
        mean, expected = x.get("mean_time_s"), None if x.rule else reference.get((x.n, x.r))
        if mean and expected and not abs(mean - expected) <= 5e-5 * expected:
            differences.append(f"{x.key} {x.precision} n {x.n} r {x.r}: mean traveltime {mean:.9g} s, "
                               f"Dijkstra's {expected:.9g} s")
    worst = max((x.get("max_rel_diff", 0.0) for x in results), default=0.0)
    lines = [f"## Checks\n\n{len(results)} benchmarks; the largest relative difference of a traveltime from "
             f"Dijkstra's is {worst:.1e}.\n"]
    lines += [f"- ERROR {text}" for text in errors + differences]
    return "\n".join(lines) + "\n", not errors and not differences


def draw(results, radii, path, linear, paper):
    """Draws time against vertices per side, one panel per radius."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter

    figure, panels = plt.subplots(1, len(radii), figsize=(12.5, 4.8), sharex=True, sharey=True)
    handles = {}
    for panel, radius in zip(panels, radii):
        for key, title, colour, line, marker in METHODS:
            points = sorted((x.n, x.seconds) for x in results if x.plain and x.key == key and x.r == radius)
            if points:
                handles[title], = panel.plot(*zip(*points), color=colour, linestyle=line, marker=marker,
                                             markersize=4, linewidth=1.6, label=title)
        if paper and radius in PAPER:
            sizes = sorted(PAPER[radius])
            for column, (title, marker) in enumerate((("the paper's CPU", "P"), ("the paper's GPU", "X"))):
                handles[title], = panel.plot(sizes, [1e-3 * PAPER[radius][n][column] for n in sizes],
                                             linestyle=":", color="#999999", marker=marker, linewidth=1,
                                             label=title)
        panel.set_title(f"radius {radius}", fontsize=11)
        panel.set_xlabel("vertices per side")
        panel.grid(True, which="major", color="#dddddd", linewidth=0.7)
        panel.set_axisbelow(True)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    panels[0].set_xlim(left=0)
    panels[0].set_ylabel("time")
    if linear:
        panels[0].set_ylim(bottom=0)
    else:
        panels[0].set_yscale("log")

    def readable(value, _):
        for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if value >= 0.999 * scale:
                return f"{value / scale:g} {unit}"
        return f"{value:g}"

    panels[0].yaxis.set_major_formatter(FuncFormatter(readable))
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=max(1, len(handles)),
                  frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    temporary = path + ".part"
    figure.savefig(temporary, dpi=150, format="png")
    plt.close(figure)
    os.replace(temporary, path)


def run(options):
    contexts, entries, errors, summaries = read(options.files)
    names = [entry["name"] for entry in entries] + errors
    if summaries or any(name.startswith(("gravity/", "operation/")) for name in names):
        if any(name.startswith("rays/") for name in names):
            raise ReportError("results of rays and of gravity: report them one after the other")
        return report_gravity.run(options, contexts, entries, errors, summaries)
    if any(name.startswith("waves/") for name in names):
        if any(name.startswith("rays/") for name in names):
            raise ReportError("results of rays and of waves: report them one after the other")
        return report_waves.run(options, contexts, entries, errors)
    results, bandwidth = collect(entries)
    if not results and not errors:
        raise ReportError("no ray benchmarks in these files: run bench_rays without a filter that hides them")
    sizes = options.phases or sorted({x.n for x in results if x.plain and x.space != "python"})[-1:]
    checks, well = check_section(results, errors)
    sections = [context_section(contexts, bandwidth), main_section(results), phase_section(results, sizes),
                other_section(results), peer_section(results), checks]
    text = "# Benchmarks of the ray tracer\n\n" + "\n".join(section for section in sections if section)
    if options.out:
        os.makedirs(options.out, exist_ok=True)
    if options.merge:
        write_merged(options.merge, contexts, entries)
    if not options.out:
        print(text)
        return 0 if well else 1
    write_text(os.path.join(options.out, "table.md"), text)
    print("wrote " + os.path.join(options.out, "table.md"))
    for number, radii in ((7, (1, 2, 3)), (8, (4, 5, 6))):
        path = os.path.join(options.out, f"figure{number}.png")
        try:
            draw(results, radii, path, options.linear, options.paper)
            print("wrote " + path)
        except ImportError as error:
            print(f"no figures: {sys.executable} has no {error.name} (install python3-matplotlib)")
            break
    return 0 if well else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+",
                        help="JSON files written by bench_rays, bench_gravity or bench_waves, and by the "
                             "peers")
    parser.add_argument("--out", metavar="DIR", help="write table.md and figures there")
    parser.add_argument("--merge", metavar="FILE", help="write all results as one JSON file")
    parser.add_argument("--linear", action="store_true",
                        help="rays: linear time axis, as in the paper (logarithmic)")
    parser.add_argument("--paper", action="store_true", help="rays: draw the paper's own times as well")
    parser.add_argument("--phases", metavar="N,...", type=lambda text: [int(n) for n in text.split(",")],
                        help="rays: sizes in the table by phase (the largest)")
    try:
        sys.exit(run(parser.parse_args()))
    except (ReportError, OSError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
