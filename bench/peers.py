#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times other programs on the models of bench_rays and writes JSON of the same shape.

- scipy.sparse.csgraph.dijkstra on the same graph: coprime star, every edge weighs the exact integral of the
  slowness that is bilinear in the cells (the rule `slowness` of moho), so that traveltimes agree to rounding.
  scipy works in double precision. Time: the weights as a compressed-row matrix, and the search.
- skimage.graph.MCP_Geometric, radius 1 alone: an edge weighs its length times the mean slowness of its two
  ends (the trapezoidal rule). In these models, whose slowness depends on depth alone, that is the same
  integral; in general it is not along diagonals.

What is not installed is left out, with a message. report.py holds the mean traveltime of each run to
moho's. Needs python3-numpy; python3-scipy and python3-skimage are what it measures.
"""

import argparse
import datetime
import json
import math
import os
import platform
import sys
import time

try:
    import numpy as np
except ImportError:
    print(f"{sys.executable} has no numpy: install python3-numpy")
    sys.exit(3)

SPACING = 10.0
TOP, BOTTOM = 500.0, 4000.0


def slowness_model(n):
    """Slowness at the nodes (x, z) of the paper's gradient model, in single precision as moho has it."""
    velocity = (TOP + (BOTTOM - TOP) * np.arange(n) / (n - 1)).astype(np.float32)
    column = (np.float32(1.0) / velocity).astype(np.float64)
    return np.broadcast_to(column, (n, n)).copy()


def half_star(radius):
    """Coprime offsets (a, b) within the radius whose first non-zero component is positive."""
    return [
        (a, b)
        for a in range(radius + 1)
        for b in range(-radius, radius + 1)
        if (a > 0 or b > 0) and math.gcd(a, abs(b)) == 1
    ]


def edge_stencil(offset):
    """Coefficients by node that integrate the bilinear slowness along the edge from (0, 0) to the offset."""
    cuts = {0.0, 1.0}
    for component in offset:
        cuts.update(k / abs(component) for k in range(1, abs(component)))
    cuts = sorted(cuts)
    length = SPACING * math.hypot(*offset)
    stencil = {}
    for t0, t1 in zip(cuts, cuts[1:]):
        middle = 0.5 * (t0 + t1)
        if t1 - t0 < 1e-9:
            continue
        cell = [math.floor(middle * c) for c in offset]
        for t, simpson in ((t0, 1 / 6), (middle, 4 / 6), (t1, 1 / 6)):
            fraction = [t * c - i for c, i in zip(offset, cell)]
            for corner in range(4):
                upper = (corner & 1, corner >> 1)
                weight = simpson * (t1 - t0) * length
                for f, u in zip(fraction, upper):
                    weight *= f if u else 1.0 - f
                if abs(weight) > 1e-13 * length:
                    node = (cell[0] + upper[0], cell[1] + upper[1])
                    stencil[node] = stencil.get(node, 0.0) + weight
    return stencil


def inner(n, offset):
    """Slices of the near ends, one for each axis, whose far ends are inside n x n."""
    return tuple(slice(max(0, -c), n - max(0, c)) for c in offset)


def graph_matrix(slowness, radius):
    """The graph as a compressed-row matrix with both directions of every edge."""
    import scipy.sparse

    n = slowness.shape[0]
    number = np.arange(n * n, dtype=np.int32).reshape(n, n)
    rows, columns, weights = [], [], []
    for offset in half_star(radius):
        near = inner(n, offset)
        far = tuple(slice(s.start + c, s.stop + c) for s, c in zip(near, offset))
        weight = np.zeros(number[near].shape)
        for node, coefficient in edge_stencil(offset).items():
            weight += coefficient * slowness[tuple(slice(s.start + c, s.stop + c) for s, c in zip(near, node))]
        rows += [number[near].ravel(), number[far].ravel()]
        columns += [number[far].ravel(), number[near].ravel()]
        weights += [weight.ravel(), weight.ravel()]
    return scipy.sparse.csr_matrix(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(n * n, n * n)
    )


def entry(name, weights, trace, times):
    """A benchmark in Google Benchmark's shape. The farthest corner has to be reached."""
    result = {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "threads": 1,
        "iterations": 1,
        "real_time": 1e3 * (weights + trace),
        "cpu_time": 1e3 * (weights + trace),
        "time_unit": "ms",
        "weights_s": weights,
        "trace_s": trace,
        "best_s": weights + trace,
        "mean_time_s": float(np.mean(times)),
    }
    if not np.all(np.isfinite(times)):
        result["error_occurred"] = True
        result["error_message"] = "vertices that no path reaches"
    print(f"{name:50} weights {weights:8.3f} s   trace {trace:8.3f} s", flush=True)
    return result


def time_scipy(n, radius):
    from scipy.sparse.csgraph import dijkstra

    slowness = slowness_model(n)
    start = time.perf_counter()
    matrix = graph_matrix(slowness, radius)
    made = time.perf_counter()
    times, _ = dijkstra(matrix, directed=True, indices=0, return_predecessors=True)
    done = time.perf_counter()
    return entry(f"rays/scipy/python/double/n:{n}/r:{radius}", made - start, done - made, times)


def time_skimage(n):
    from skimage.graph import MCP_Geometric

    slowness = slowness_model(n)
    start = time.perf_counter()
    search = MCP_Geometric(slowness, fully_connected=True, sampling=(SPACING, SPACING))
    made = time.perf_counter()
    times, _ = search.find_costs([(0, 0)])
    done = time.perf_counter()
    return entry(f"rays/skimage/python/double/n:{n}/r:1", made - start, done - made, times)


def version_of(module):
    """The version of a package, or None with a message if it cannot be imported."""
    try:
        return __import__(module).__version__
    except ImportError:
        print(f"{module} is not installed: left out")
        return None


def numbers(text):
    return [int(item) for item in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=numbers, default=[128, 256, 512], help="n of the models (128,256,512)")
    parser.add_argument("--radii", type=numbers, default=[1, 3, 6], help="radii for scipy (1,3,6)")
    parser.add_argument("--out", default="peers.json", help="file to write (peers.json)")
    options = parser.parse_args()
    if min(options.sizes) < 2 or min(options.radii) < 1 or max(options.radii) > 8:
        parser.error("sizes are 2 or more, radii 1 to 8")

    scipy_version, skimage_version = version_of("scipy"), version_of("skimage")
    benchmarks = []
    for n in options.sizes:
        if scipy_version:
            benchmarks += [time_scipy(n, radius) for radius in options.radii]
        if skimage_version and 1 in options.radii:
            benchmarks.append(time_skimage(n))
    context = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "num_cpus": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy_version or "not installed",
        "skimage": skimage_version or "not installed",
    }
    temporary = options.out + ".part"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"context": context, "benchmarks": benchmarks}, file, indent=1)
        file.write("\n")
    os.replace(temporary, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
