#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of docs/theory/stream.md and docs/performance/stream.md into the folder of this program.

stream_schedule.svg is drawn from the formula of the schedule, the others from docs/results/stream_h200, the
rates of hosts in stream_media.svg from docs/results/waves_h200. stream_timeline.png is drawn by
examples/plots/plot_timeline.py.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER.parents[1] / "docs/results/stream_h200"
MEDIA = {"isotropic": "isotropic", "variable_density": "variable density", "vti": "VTI",
         "tti": "TTI, self-adjoint"}
COLOURS = {"isotropic": "#1b6ca8", "variable_density": "#6a9a3b", "vti": "#c2703d", "tti": "#7b4ea3"}


def schedule():
    """Which planes are where in an iteration: B = 8, lag 4, U = 6, and the paper's blocks beside it."""
    figure, axes = plt.subplots(2, 1, figsize=(9.0, 4.6), sharex=True)
    for axis, (block, lag, name) in zip(axes, ((8, 4, "stages 4 planes apart (a step reads 4)"),
                                               (8, 8, "stages a block apart, as in the paper"))):
        updates = 6
        first = 0
        loads = (updates * lag + 2 * block, updates * lag + 3 * block)
        for plane in range(first, loads[1]):
            axis.add_patch(Rectangle((plane, 0), 1, updates + 2, fill=False, lw=0.2, ec="#cccccc"))
        axis.add_patch(Rectangle((loads[0], updates + 1), block, 1, fc="#9ec5e8", ec="black", lw=0.6))
        axis.text(loads[0] + block / 2, updates + 1.5, "arrive", ha="center", va="center", fontsize=8)
        for u in range(1, updates + 1):
            begin = loads[0] - block - u * lag
            axis.add_patch(Rectangle((begin, updates + 1 - u), block, 1, fc="#f2c48d", ec="black", lw=0.6))
            axis.text(begin + block / 2, updates + 1.5 - u, f"stage {u}", ha="center", va="center",
                      fontsize=7)
        axis.add_patch(Rectangle((0, 0), block, 1, fc="#b6d7a8", ec="black", lw=0.6))
        axis.text(block / 2, 0.5, "leave", ha="center", va="center", fontsize=8)
        axis.set_xlim(0, 3 * 8 + 6 * 8)
        axis.set_ylim(0, updates + 2)
        axis.set_yticks([])
        axis.set_title(f"{name}: {loads[1]} planes on the device", fontsize=9, loc="left")
    axes[1].set_xlabel("planes that are on the device in one iteration; the next iteration is 8 planes "
                       "further right")
    figure.tight_layout()
    figure.savefig(FOLDER / "stream_schedule.svg")
    plt.close(figure)


def cases(name):
    path = RESULTS / name
    if not path.exists():
        return []
    return [b for b in json.loads(path.read_text())["benchmarks"] if "error_message" not in b]


def updates():
    """Figure 6.4 (b) of the paper, for all media: rate by steps in a pass; and the memory of Table 6.1."""
    found = cases("volume_1000.json")
    if not found:
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.4))
    for medium, label in MEDIA.items():
        rows = sorted((b["updates"], b["steady_points/s"], b["in_core_points/s"], b["predicted/s"],
                       b["device_bytes"])
                      for b in found if b["name"].startswith(f"stream/{medium}/") and b["block"] == 32)
        if not rows:
            continue
        u = [r[0] for r in rows]
        left.plot(u, [r[1] / 1e9 for r in rows], "o-", color=COLOURS[medium], label=label)
        left.plot(u, [r[3] / 1e9 for r in rows], ":", color=COLOURS[medium])
        left.axhline(rows[0][2] / 1e9, color=COLOURS[medium], lw=0.8, ls="--")
        right.plot(u, [r[4] / 2**30 for r in rows], "o-", color=COLOURS[medium], label=label)
    # the paper's blocks for VTI: 9 U + 28 blocks of 16 MB
    u = [2, 4, 8, 16, 32, 64]
    right.plot(u, [(9 * n + 28) * 16e6 / 2**30 for n in u], "k:",
               label="VTI, blocks as in the paper (of 4 planes)")
    for axis in (left, right):
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xlabel("steps in a pass")
        axis.grid(True, which="both", lw=0.2)
        axis.legend(fontsize=8)
    left.set_ylabel("Gpoints/s (dashed: in core, dotted: predicted)")
    right.set_ylabel("GiB on the device")
    left.set_title("1000 x 1000 x 500, order 8, one H200, blocks of 32 planes", fontsize=10)
    right.set_title("Memory (1000 x 1000 x 500; the paper's: planes of 1000 x 1000)", fontsize=10)
    figure.tight_layout()
    figure.savefig(FOLDER / "stream_updates.svg")
    plt.close(figure)


def media():
    """Figure 6.4 (a): hosts, streams and whole volumes on a device, for all media."""
    streams = cases("volume_1000.json")
    hosts = [b for b in json.loads((RESULTS.parent / "waves_h200/waves.json").read_text())["benchmarks"]
             if "/float/order:8/sponge/tuned/openmp/256x256x256/" in b["name"]]
    bars = []
    for medium, label in MEDIA.items():
        host = [b["best_points/s"] for b in hosts if b["name"].startswith(f"waves/{medium}/")]
        stream = [b for b in streams if b["name"].startswith(f"stream/{medium}/") and b["block"] == 64
                  and b["updates"] == 64]
        if host and stream:
            bars.append((label, host[0], stream[0]["steady_points/s"], stream[0]["in_core_points/s"]))
    if not bars:
        return
    figure, axis = plt.subplots(figsize=(7.6, 4.0))
    for k, (name, colour) in enumerate((("16 threads of a Xeon, 256 x 256 x 256", "#999999"),
                                        ("stream through an H200, 64 steps in a pass", "#1b6ca8"),
                                        ("whole volume on the H200", "#6a9a3b"))):
        places = [n + 0.27 * (k - 1) for n in range(len(bars))]
        rates = [row[k + 1] / 1e9 for row in bars]
        axis.bar(places, rates, 0.26, label=name, color=colour)
        for place, rate in zip(places, rates):
            axis.text(place, rate, f"{rate:.3g}", ha="center", va="bottom", fontsize=7)
    axis.set_yscale("log")
    axis.set_xticks(range(len(bars)), [row[0] for row in bars])
    axis.set_ylim(0.5, 2000.0)  # room for the legend
    axis.set_ylabel("Gpoints/s")
    axis.set_title("1000 x 1000 x 500, order 8, single precision", fontsize=10)
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(FOLDER / "stream_media.svg")
    plt.close(figure)


def devices():
    """Figure 6.4 (c): rate by devices."""
    found = cases("chain.json")
    if not found:
        return
    figure, axis = plt.subplots(figsize=(5.4, 4.0))
    for medium, label in MEDIA.items():
        rows = sorted((b["devices"], b["steady_points/s"], b["predicted/s"]) for b in found
                      if b["name"].startswith(f"stream/{medium}/"))
        if not rows:
            continue
        axis.plot([r[0] for r in rows], [r[1] / rows[0][1] for r in rows], "o-", color=COLOURS[medium],
                  label=label)
    axis.plot([1, 2], [1, 2], "k:", lw=0.8)
    axis.set_xticks([1, 2])
    axis.set_xlabel("devices in the chain")
    axis.set_ylabel("times one device")
    axis.grid(True, lw=0.2)
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(FOLDER / "stream_devices.svg")
    plt.close(figure)


def main():
    schedule()
    media()
    updates()
    devices()
    return 0


if __name__ == "__main__":
    sys.exit(main())
