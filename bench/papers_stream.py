# SPDX-License-Identifier: BSD-3-Clause
"""Experiments of the paper on streams: volumes larger than a GPU pass through it in blocks of planes."""

import re

from papers_common import Skipped, devices_here, digits, plots

TITLE = "Volumes that stream through a device (chapter 6 of the thesis on pipelined propagation)"
GIGABYTES = {2: 0.736, 4: 1.024, 8: 1.6, 16: 2.752, 32: 5.056, 64: 9.664}  # Table 6.1
VOLUME = "500x1000x1000"
SMALL = {"isotropic": "256x256x256", "vti": "192x192x192"}


def cases(run, pattern, label, environment=None):
    """Returns the cases of bench_stream by name without its settings."""
    return {re.sub(r"/iterations.*", "", entry["name"]): entry
            for entry in run.bench("bench_stream", pattern, label, environment)}


def updates_of(run):
    """Returns the cases with blocks of 4 planes by medium and steps in a pass."""
    if run.full:
        found = cases(run, f"stream/(isotropic|vti)/{run.space}/{VOLUME}/block:"
                      "(4/updates:[0-9]+|32/updates:64)/i", "updates")
    else:
        found = cases(run, rf"stream/(isotropic|vti)/{run.space}/[0-9x]+/whole/block:4/updates:[0-9]+/i",
                      "updates")
    result = {}
    for name, entry in found.items():
        medium, block, steps = re.match(r"stream/(\w+)/.*/block:(\d+)/updates:(\d+)", name).groups()
        result[medium, int(block), int(steps)] = entry
    return result


def memory(run):
    """Table 6.1: planned memory of the device by steps in a pass, pseudo-acoustic anisotropic waves."""
    if not (run.full and run.space == "cuda"):
        raise Skipped("a host has no device memory (needed: --space cuda with --sizes paper)")
    found = updates_of(run)
    rows = [[steps, paper, f"{found['vti', 4, steps]['device_bytes'] / 1e9:.3f}"]
            for steps, paper in GIGABYTES.items() if ("vti", 4, steps) in found]
    run.add("memory", "Table 6.1",
            f"Gigabytes of a device, as planned, for {VOLUME} nodes, blocks of 4 planes, VTI, order 8, "
            "single precision. moho's ring holds the planes between the first and the last step of a pass "
            "once; the paper has a buffer of a block for each step.",
            ["steps in a pass", "paper", "moho"], rows)


def rates(run):
    """Figure 6.4 (a): the host, the stream, and the volume in the memory of the device."""
    found = updates_of(run)
    rows = []
    for medium in ("isotropic", "vti"):
        stream = max((entry for key, entry in found.items() if key[0] == medium),
                     key=lambda entry: entry["points/s"])
        inside = stream["in_core_points/s"]
        host = None
        if run.full:
            entry = run.bench("bench_waves",
                              f"waves/{medium}/float/order:8/sponge/tuned/(openmp|cuda)/{VOLUME}",
                              f"host_{medium}",
                              {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"})
            host = next(e["points/s"] for e in entry if "/openmp/" in e["name"])
        rows.append([medium, digits(host / 1e9) if host else "", digits(stream["points/s"] / 1e9),
                     digits(stream["steady_points/s"] / 1e9), digits(inside / 1e9),
                     f"{100 * stream['steady_points/s'] / inside:.0f} %" if inside else "",
                     digits(stream["steady_points/s"] / host) if host else ""])
    shape = VOLUME if run.full else "of 256 and 192 nodes a side"
    run.add("rates", "Figure 6.4 (a)",
            f"10^9 points a second, volumes {shape}, order 8, single precision, the best block and number of "
            "steps. The paper's bars are the isotropic ones on a K80 and its host.",
            ["medium", "host", "stream, whole run", "stream, steady", "in the memory of the device",
             "stream of in core", "stream over host"], rows)


def updates(run):
    """Figure 6.4 (b): rate by steps in a pass on one device, blocks of 4 planes."""
    found = updates_of(run)
    steps = sorted({key[2] for key in found if key[1] == 4})
    rows = []
    for medium in ("isotropic", "vti"):
        for count in steps:
            entry = found.get((medium, 4, count))
            if entry:
                inside = entry["in_core_points/s"]
                rows.append([medium, count, digits(entry["points/s"] / 1e9),
                             digits(entry["steady_points/s"] / 1e9),
                             f"{100 * entry['steady_points/s'] / inside:.0f} %" if inside else "",
                             digits(entry["predicted_over_measured"])])
    plt = plots()
    figure, panel = plt.subplots(figsize=(6, 4))
    for medium, colour in (("isotropic", "#1f6fb4"), ("vti", "#b3123c")):
        points = [(row[1], float(row[3])) for row in rows if row[0] == medium]
        if points:
            panel.plot(*zip(*points), "o-", color=colour, label=medium)
    panel.set(xlabel="steps in a pass", ylabel="10^9 points a second", xscale="log", ylim=(0, None))
    panel.set_xticks(steps, steps)
    panel.minorticks_off()
    panel.grid(color="#dddddd")
    panel.legend(frameon=False)
    run.add("updates", "Figure 6.4 (b)",
            "Blocks of 4 planes, the paper's choice. Its curve for a K80 becomes flat at 8 steps; here the "
            "link "
            "is slower in relation to the kernels, and more steps are needed.",
            ["medium", "steps in a pass", "10^9 points/s, whole run", "steady", "of in core",
             "forecast over measured"], rows, [run.save(figure, "figure6_4b.png")])


def devices(run):
    """Figure 6.4 (c): rate by number of devices in a chain."""
    if run.space != "cuda":
        raise Skipped("a chain has devices (needed: --space cuda)")
    most = max(1, devices_here())
    found = cases(run, rf"stream/vti/cuda/{VOLUME}/block:4/updates:8(/devices:[0-9]+)?/i", "devices",
                  {"MOHO_BENCH_STREAM_DEVICES": str(min(most, 8))} if most > 1 else None)
    rows, one = [], None
    for entry in sorted(found.values(), key=lambda entry: entry["devices"]):
        one = one or entry["steady_points/s"]
        rows.append([f"{entry['devices']:.0f}", digits(entry["points/s"] / 1e9),
                     digits(entry["steady_points/s"] / 1e9), digits(entry["steady_points/s"] / one)])
    run.add("devices", "Figure 6.4 (c)", "VTI, blocks of 4 planes, 8 steps in a pass of each device.",
            ["devices", "10^9 points/s, whole run", "steady", "gain"], rows)


def gradients(run):
    """Figure 6.3 as times: gradients of a volume that streams, by steps in a pass, over those in core."""
    steps = run.pick("(2|4|8|16|32|64)", "(2|8|32)")
    rows = []
    pattern = f"gradient/isotropic/vp/steps/block:4/updates:{steps}/{run.space}/"
    for entry in run.bench("bench_fwi", pattern, "gradients"):
        name = re.match(r"gradient/(\w+)/vp/steps/block:(\d+)/updates:(\d+)/\w+/([0-9x]+)", entry["name"])
        inside = entry["in_core_points/s"]
        rows.append([name[4].replace("x", " x "), name[2], name[3], digits(entry["points/s"] / 1e9),
                     f"{100 * entry['of_in_core']:.0f} %" if inside else "",
                     digits(entry["measured_over_predicted"])])
    run.add("gradients", "Figure 6.3: gradients",
            "Isotropic gradients with random layers, blocks of 4 planes; the source's wavefield backward and "
            "the adjoint field pass through the device together. 10^9 points a second of the complete "
            "gradient, and over the same gradient in the memory of the device.",
            ["nodes", "block", "steps in a pass", "10^9 points/s", "of in core", "measured over forecast"],
            rows)


def images(run):
    """Extended images of 33 lags of volumes that do not fit the device, over those in core."""
    n, long, short, count, memory = run.pick((256, {"isotropic": 3700, "vti": 2800}, 512, 1200, 12),
                                             (40, {"isotropic": 120, "vti": 120}, 60, 60, 0))
    of_all = {"MOHO_BENCH_FWI_N": str(n), "MOHO_BENCH_FWI_STEPS": str(count)}
    lags = "lags:16"
    rows = []
    for medium in ("isotropic", "vti"):
        inside, = run.bench("bench_fwi", f"gradient/{medium}/vp/random/{lags}/{run.space}/", f"core_{medium}",
                            {**of_all, "MOHO_BENCH_FWI_NX": str(short)})
        limit = {"MOHO_BENCH_FWI_DEVICE_GIB": str(memory)} if memory else {}
        entry, = run.bench("bench_fwi", f"gradient/{medium}/vp/stream/{lags}/{run.space}/", f"image_{medium}",
                           {**of_all, "MOHO_BENCH_FWI_NX": str(long[medium]), **limit})
        rows.append([medium, f"{long[medium]} x {n} x {n}", f"{entry['host_bytes'] / 2**30:.3g}",
                     f"{entry['device_bytes'] / 2**30:.3g}", digits(inside["points/s"] / 1e9),
                     digits(entry["points/s"] / 1e9), f"{100 * entry['points/s'] / inside['points/s']:.0f} %",
                     digits(entry["measured_over_predicted"])])
    run.add("images", "Extended images",
            "Gradients with an image of 33 lags along x, which passes through the device with its planes. In "
            f"core: {short} of these planes. Measured over forecast: 1 if the forecast is right.",
            ["medium", "nodes", "GiB on the host", "GiB on the device", "in core, 10^9 points/s", "stream",
             "of in core", "measured over forecast"], rows)


EXPERIMENTS = {"memory": memory, "rates": rates, "updates": updates, "devices": devices,
               "gradients": gradients, "images": images}
