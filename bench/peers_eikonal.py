#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times scikit-fmm on the problems of bench_eikonal and writes a folder of results of both.

    peers_eikonal.py --bench build/host/bench/bench_eikonal --out docs/results/eikonal_<machine>

First bench_eikonal runs, then skfmm.travel_time (double precision, one thread) on the gradient and layer
models. The folder gets eikonal.json, peers.json and a table of both, table.md. The fastest of all repetitions
counts. The times of scikit-fmm must agree with those of bench_eikonal to the error of a method without
factorisation. Needs python3-numpy and scikit-fmm.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

from peers import np, processor
from report_common import ReportError, read

SPEEDS = [1500, 2600, 1900, 3200, 2400, 4200, 3000, 4500]


def velocity(model, n, dimensions):
    x = np.arange(n) / (n - 1)
    if model == "gradient":
        section = np.broadcast_to(1500.0 + 3000.0 * x, (n, n))
    else:
        layer = np.clip((8.0 * x[None, :] + 0.6 * np.sin(4.0 * math.pi * x[:, None])).astype(int), 0, 7)
        section = np.array(SPEEDS, dtype=float)[layer]
    return section.copy() if dimensions == 2 else np.repeat(section[:, None, :], n, axis=1)


def time_skfmm(model, n, dimensions, order, repetitions):
    import skfmm

    v = velocity(model, n, dimensions)
    source = (n // 2,) * (dimensions - 1) + (0,)
    phi = np.ones(v.shape)
    phi[source] = -1.0
    best = math.inf
    for _ in range(repetitions):
        start = time.perf_counter()
        times = skfmm.travel_time(phi, v, dx=10.0, order=order)
        best = min(best, time.perf_counter() - start)
    name = f"eikonal/skfmm/python/double/{dimensions}d/{model}/n:{n}/order:{order}"
    print(f"{name:60} {best:8.3f} s", flush=True)
    return {"name": name, "run_type": "iteration", "iterations": repetitions, "real_time": 1e3 * best,
            "time_unit": "ms", "best_s": best, "points_per_s": v.size / best,
            "mean_time_s": float(np.mean(times))}


def best_rates(entries):
    rates, means = {}, {}
    for entry in entries:
        name = entry["name"].split("/iterations:")[0].split("/manual_time")[0]
        rates[name] = max(rates.get(name, 0.0), entry["points_per_s"])
        means[name] = entry["mean_time_s"]
    return rates, means


def table(contexts, rates):
    """Returns a table in Mpoints/s: one row per problem, one column per method and space."""
    rows, columns = [], []
    cells = {}
    for name, rate in rates.items():
        _, method, space, precision, *problem = name.split("/")
        row = ", ".join([problem[0], *problem[1:], precision if method != "skfmm" else "float"])
        column = "scikit-fmm" if method == "skfmm" else f"{method} {space}"
        rows += [row] if row not in rows else []
        columns += [column] if column not in columns else []
        cells[row, column] = f"{1e-6 * rate:.2f}"
    context = next((c for c in contexts if "moho_version" in c), {})
    lines = ["Mpoints/s (nodes of the model over the seconds of a run), the best of all repetitions. "
             f"{processor()}; Kokkos {context.get('kokkos_version', '?')}, {context.get('compiler', '?')}, "
             f"{context.get('threads_openmp', '?')} threads for openmp. scikit-fmm works in double precision "
             "with one "
             "thread. The machine was shared with other work.", ""]
    lines.append("| problem | " + " | ".join(columns) + " |")
    lines.append("|---" * (len(columns) + 1) + "|")
    lines += ["| " + row + " | " + " | ".join(cells.get((row, c), "") for c in columns) + " |"
              for row in rows]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="path of bench_eikonal")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
    parser.add_argument("--filter", default=".",
                        help="regular expression of the benchmarks of bench_eikonal to run")
    parser.add_argument("--repetitions", type=int, default=3,
                        help="runs of each, of which the quickest counts (3)")
    parser.add_argument("--sizes", default="1000,128", help="n in 2D and in 3D (1000,128)")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    ours, peers = (os.path.join(options.out, name) for name in ("eikonal.json", "peers.json"))
    subprocess.run([options.bench, f"--benchmark_out={ours}", f"--benchmark_filter={options.filter}",
                    f"--benchmark_repetitions={options.repetitions}"], check=True)
    n2, n3 = (int(n) for n in options.sizes.split(","))
    benchmarks = [time_skfmm(model, n, dimensions, order, options.repetitions)
                  for model in ("gradient", "layers") for dimensions, n in ((2, n2), (3, n3))
                  for order in (1, 2)]
    import skfmm

    with open(peers, "w", encoding="utf-8") as file:
        json.dump({"context": {"processor": processor(), "skfmm": skfmm.__version__, "numpy": np.__version__},
                   "benchmarks": benchmarks}, file, indent=1)
        file.write("\n")
    try:
        contexts, entries, errors, _ = read([ours, peers])
    except ReportError as error:
        sys.exit(str(error))
    rates, means = best_rates(entries)
    for entry in benchmarks:
        same = {n: m for n, m in means.items()
                if n.split("/")[4:] == entry["name"].split("/")[4:] and "skfmm" not in n}
        for name, mean in same.items():
            if abs(mean / entry["mean_time_s"] - 1.0) > 0.03:
                errors.append(f"{name}: its mean time is {mean}, that of scikit-fmm {entry['mean_time_s']}")
    with open(os.path.join(options.out, "table.md"), "w", encoding="utf-8") as file:
        file.write(table(contexts, rates))
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
