# SPDX-License-Identifier: BSD-3-Clause
"""Experiments of Monsegny and Agudelo (2013): shortest-path ray tracing."""

import re
import shutil

from papers_common import PaperError, digits, milliseconds, plots
from report import PAPER as MILLISECONDS_OF_PAPER

TITLE = "Shortest-path ray tracing (Monsegny and Agudelo, 2013)"
SIZES = [*range(128, 513, 64), *range(640, 1537, 128), 1600]
SMALL_SIZES = [128, 192, 256]


def times(run):
    """Figures 7 and 8: time against the size of the model for radii 1 to 6, sequential and parallel."""
    sizes = run.models or run.pick(SIZES, SMALL_SIZES)
    radii = range(1, 7) if run.full else (1, 3, 6)
    space = run.space
    lines = {  # name of the cases after "rays/": title, style
        "dijkstra/serial/float/n:{n}/r:{r}/star:full/weights:sampled":
            ("Dijkstra, one thread, the paper's graph", "#444444", "-", "o"),
        f"relaxation/{space}/float/n:{{n}}/r:{{r}}/weights:sampled":
            (f"Relaxation, the paper's graph, {space}", "#d98200", "--", "^"),
        f"active_tiles/{space}/float/n:{{n}}/r:{{r}}": (f"active tiles, {space}", "#b3123c", "-", "D"),
    }
    cases = "|".join(name.format(n=f"({'|'.join(map(str, sizes))})", r=f"({'|'.join(map(str, radii))})")
                     for name in lines)
    pattern = f"rays/({cases})/iterations"
    found = {}
    for entry in run.bench("bench_rays", pattern, "rays", {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}):
        found[re.sub(r"/iterations.*", "", entry["name"]).removeprefix("rays/")] = milliseconds(entry)
    rows = []
    for r in radii:
        for n in sizes:
            ours = [found.get(name.format(n=n, r=r)) for name in lines]
            cpu, gpu = MILLISECONDS_OF_PAPER.get(r, {}).get(n, (None, None))
            if not any((cpu, *ours)):
                continue  # sizes that were not run
            gain = [f"{ours[0] / value:.3g}" if ours[0] and value else "" for value in ours[1:]]
            rows.append([r, n, cpu or "", gpu or "", *map(digits, ours), *gain])
    plt = plots()
    pictures = []
    for number, shown in ((7, [r for r in radii if r <= 3]), (8, [r for r in radii if r > 3])):
        if not shown:
            continue
        figure, panels = plt.subplots(1, len(shown), figsize=(4.2 * len(shown), 4.4), sharey=True,
                                      squeeze=False)
        for panel, r in zip(panels[0], shown):
            for name, (title, colour, style, marker) in lines.items():
                points = [(n, found[name.format(n=n, r=r)]) for n in sizes if name.format(n=n, r=r) in found]
                panel.plot(*zip(*points), color=colour, linestyle=style, marker=marker, markersize=4,
                           label=title)
            for column, title in enumerate(("the paper's CPU", "the paper's GPU")):
                paper = [(n, pair[column]) for n, pair in MILLISECONDS_OF_PAPER.get(r, {}).items()
                         if n <= max(sizes)]
                if paper:
                    panel.plot(*zip(*paper), ":", color="#999999", marker="PX"[column], label=title)
            panel.set(title=f"radius {r}", xlabel="vertices per side", yscale="log", xlim=(0, None))
            panel.grid(color="#dddddd")
        panels[0][0].set_ylabel("milliseconds")
        handles = {label: handle for panel in panels[0]
                   for handle, label in zip(*panel.get_legend_handles_labels())}
        figure.legend(handles.values(), handles.keys(), loc="upper center", ncol=3, frameon=False,
                      bbox_to_anchor=(0.5, 0.02))
        pictures.append(run.save(figure, f"figure{number}.png"))
    run.add("times", "Figures 7 and 8",
            "Milliseconds from the velocities on the host to traveltimes and predecessors on the host, one "
            "source at a corner, velocity 0.5 to 4 km/s from top to bottom. The paper's graph has all "
            "neighbours within the radius, and weights sampled at radius + 1 points. Gains are over Dijkstra "
            "in the same run.",
            ["radius", "n", "paper's CPU", "paper's GPU", "Dijkstra", "Relaxation", "active tiles",
             "gain of Relaxation", "gain of active tiles"], rows, pictures)


def rays(run):
    """Figures 9 and 10: traveltimes and rays in a vertical gradient of velocity, radius 6."""
    import numpy as np

    n = run.pick(701, 351)
    spacing = 700 / (n - 1)
    end = 700.0
    receivers = f"{end},0:{end},{end}:15;0,{end}:{end},{end}:15"
    summary = run.program("trace_rays", [
        "--gradient", "500,5", "--shape", f"{n},{n}", "--spacing", digits(spacing, 6), "--source", "0,0",
        "--radius", "6", "--star", "full", "--weights", "sampled", "--receivers", receivers], "rays")
    picture = run.out / "rays" / "rays.png"
    if not picture.is_file():
        raise PaperError(f"trace_rays: picture {summary.get('picture', 'is missing')}")
    shutil.copy(picture, run.out / "figure10.png")
    found = np.load(run.out / "rays" / "traveltime.npy").reshape(n, n).astype(float)
    x, z = np.meshgrid(np.arange(n) * spacing, np.arange(n) * spacing, indexing="ij")
    exact = np.arccosh(1 + 25 * (x**2 + z**2) / (2 * 500.0 * (500 + 5 * z))) / 5
    error = (found - exact)[exact > 0] / exact[exact > 0]
    run.add("rays", "Figures 9 and 10",
            "Velocity 0.5 + 0.005 z km/s, z in metres; the source at (0, 0). The paper does not state the "
            "size; "
            "the bottom has the 4 km/s of its other models. Traveltimes are compared with the exact ones "
            "of a "
            "linear gradient, and the bound of radius 6 is 0.34 %.",
            ["nodes", "seconds", "largest error, %", "mean error, %"],
            [[f"{n} x {n}", digits(summary["elapsed"]), f"{100 * error.max():.3f}",
              f"{100 * error.mean():.3f}"]], ["figure10.png"])


def atomics(run):
    """Page 001: pulling without atomics against pushing with them (Harish and Narayanan, 2007)."""
    sizes = run.pick([128, 256], [128])
    methods = ["push_mutex", "push", "relaxation", "near_far", "active_tiles"]
    pattern = (f"rays/({'|'.join(methods)})/{run.space}/float/n:({'|'.join(map(str, sizes))})/r:(1|3|6)/iter")
    found = {re.sub(r"/iterations.*", "", entry["name"]): entry
             for entry in run.bench("bench_rays", pattern, "atomics",
                                    {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"})}
    rows = []
    for r in (1, 3, 6):
        for n in sizes:
            ours = [found.get(f"rays/{method}/{run.space}/float/n:{n}/r:{r}") for method in methods]
            rows.append([r, n, *(digits(milliseconds(entry)) if entry else "" for entry in ours),
                         *(digits(entry["trace_s"] / ours[2]["trace_s"]) if entry and ours[2] else ""
                           for entry in ours[:2])])
    run.add("atomics", "Pull against push",
            "Milliseconds for one source, as above. push_mutex locks a neighbour and writes its traveltime "
            "and predecessor. push takes an atomic minimum of the traveltime, and finds predecessors "
            "afterwards. Relaxation pulls from neighbours. The last columns are searches alone, over that of "
            "relaxation.", ["radius", "n", *methods, "search of push_mutex", "of push"], rows)


def beyond(run):
    """What the papers leave to future work: weights by fragments, and one model over several devices."""
    model = "n:8192/r:6" if run.space == "cuda" else "n:1024/r:6/weights:velocity"
    parts = re.compile(r"/(storage|table|instances|devices|slabs):([a-z_0-9.]+)")
    found = [(dict(parts.findall(entry["name"])), entry)
             for entry in run.bench("bench_rays", f"rays/active_tiles/{run.space}/float/{model}/storage:",
                                    "beyond", {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"})]
    stored = next((entry["trace_s"] for of, entry in found
                   if of["storage"] == "stored" and "slabs" not in of), None)
    rows = []
    for of, entry in found:
        search = entry["trace_s"]
        # the benchmark's rate is that of all phases
        phases = ("transfer", "weights", "trace", "predecessors")
        seconds = sum(entry.get(f"{phase}_s", 0.0) for phase in phases)
        relaxations = entry["relaxations_per_s"] * seconds
        rows.append([of["storage"].replace("_", " "), of.get("table", ""), of.get("devices", 1),
                     of.get("instances", ""), of.get("slabs", ""), digits(1e3 * search),
                     digits(1e3 * entry["predecessors_s"]), digits(1e-9 * relaxations / search),
                     digits(stored / search) if stored else ""])
    run.add("beyond", "Beyond the memory of one device",
            f"A model of {model.split('/')[0][2:]} vertices a side, radius 6, the same bits in each row. "
            "Fragments have memory for a part of the table of weights. Slabs are those of a device, or of "
            "one of several instances that share it. Relaxations are those of a second of the search. Its "
            "rate is over that with the complete table on one device.",
            ["weights", "part of the table", "devices", "instances", "slabs of each", "search, ms",
             "predecessors, ms", "10^9 relaxations/s", "rate of the search"], rows)


EXPERIMENTS = {"times": times, "rays": rays, "atomics": atomics, "beyond": beyond}
