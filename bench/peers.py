#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times other programs on the problems of bench_rays or bench_gravity and writes JSON of the same form.

Rays (without --gravity):

- scipy.sparse.csgraph.dijkstra on the same graph: coprime star. The weight of an edge is the exact integral
  of the slowness, which is bilinear in the cells (moho's rule `slowness`). Traveltimes therefore agree to
  rounding. scipy works in double precision. The time covers the weights as a compressed-row matrix, and the
  search.
- skimage.graph.MCP_Geometric, radius 1 only: the weight of an edge is its length times the mean slowness of
  its ends (the trapezoidal rule). In models whose slowness depends on depth alone this equals the integral;
  in general it does not along diagonals.

Gravity (--gravity DIR, a folder with the prisms.npy and stations.npy of gravity_tables --problem): g_z alone
and nine components in double precision. Each runs with 1 thread and with all threads that --threads gives:

- choclo: a compiled loop over stations (parallel) and prisms that adds the results of its functions.
- harmonica.prism_gravity, one call per component, without its checks of the prisms.

--prisms prisms are used, evenly spaced in the list, as in bench_gravity on hosts. Compilation is excluded:
each function runs once before it is timed.

Programs that are not installed are omitted, with a message. report.py compares each run's mean traveltime, or
mean magnitude of the field, with that of moho. Needs python3-numpy. It measures python3-scipy,
python3-skimage, choclo and harmonica.
"""

import argparse
import datetime
import json
import math
import os
import platform
import sys
import time

from peers_common import processor

try:
    import numpy as np
except ImportError:
    print(f"{sys.executable} has no numpy: install python3-numpy")
    sys.exit(3)

SPACING = 10.0
TOP, BOTTOM = 500.0, 4000.0


def slowness_model(n):
    """Returns the slowness at the nodes (x, z) of the paper's gradient model, in single precision as in moho.
    """
    velocity = (TOP + (BOTTOM - TOP) * np.arange(n) / (n - 1)).astype(np.float32)
    column = (np.float32(1.0) / velocity).astype(np.float64)
    return np.broadcast_to(column, (n, n)).copy()


def half_star(radius):
    """Returns the coprime offsets (a, b) within the radius whose first non-zero component is positive."""
    return [
        (a, b)
        for a in range(radius + 1)
        for b in range(-radius, radius + 1)
        if (a > 0 or b > 0) and math.gcd(a, abs(b)) == 1
    ]


def edge_stencil(offset):
    """Returns node coefficients that integrate the bilinear slowness along the edge (0, 0) to offset."""
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
    """Returns slices of the near ends, one per axis, whose far ends are inside n x n."""
    return tuple(slice(max(0, -c), n - max(0, c)) for c in offset)


def graph_matrix(slowness, radius):
    """Returns the graph as a compressed-row matrix with both directions of every edge."""
    import scipy.sparse

    n = slowness.shape[0]
    number = np.arange(n * n, dtype=np.int32).reshape(n, n)
    rows, columns, weights = [], [], []
    for offset in half_star(radius):
        near = inner(n, offset)
        far = tuple(slice(s.start + c, s.stop + c) for s, c in zip(near, offset))
        weight = np.zeros(number[near].shape)
        for node, coefficient in edge_stencil(offset).items():
            weight += coefficient * slowness[tuple(slice(s.start + c,
                                                         s.stop + c) for s, c in zip(near, node))]
        rows += [number[near].ravel(), number[far].ravel()]
        columns += [number[far].ravel(), number[near].ravel()]
        weights += [weight.ravel(), weight.ravel()]
    return scipy.sparse.csr_matrix(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(n * n, n * n)
    )


def entry(name, weights, trace, times):
    """Returns a benchmark in Google Benchmark's form. The farthest corner must be reached."""
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


# The axes of choclo and harmonica are east, north and up; in moho x is north, y east and z down. Entries: the
# name and sign of choclo's function, harmonica's field and its sign, units per SI unit.
GRAVITY = {
    "gx": ("gravity_n", 1, "g_n", 1, 1e5),
    "gy": ("gravity_e", 1, "g_e", 1, 1e5),
    "gz": ("gravity_u", -1, "g_z", 1, 1e5),
    "gxx": ("gravity_nn", 1, "g_nn", 1, 1e9),
    "gyy": ("gravity_ee", 1, "g_ee", 1, 1e9),
    "gzz": ("gravity_uu", 1, "g_zz", 1, 1e9),
    "gxy": ("gravity_en", 1, "g_en", 1, 1e9),
    "gxz": ("gravity_nu", -1, "g_nz", 1, 1e9),
    "gyz": ("gravity_eu", -1, "g_ez", 1, 1e9),
}


class Gravity:
    """The problem in the axes of choclo and harmonica."""

    def __init__(self, folder, count):
        prisms = np.load(os.path.join(folder, "prisms.npy"))
        stations = np.load(os.path.join(folder, "stations.npy"))
        if 0 < count < len(prisms):
            prisms = prisms[np.arange(count) * len(prisms) // count]
        x1, x2, y1, y2, z1, z2, self.density = (np.ascontiguousarray(column) for column in prisms.T)
        self.prisms = np.column_stack([y1, y2, x1, x2, -z2, -z1])
        self.east, self.north, self.up = (np.ascontiguousarray(c)
                                          for c in (stations[:, 1], stations[:, 0], -stations[:, 2]))
        self.pairs = len(prisms) * len(stations)


def gravity_entry(program, components, threads, problem, seconds, fields):
    """Returns a benchmark in Google Benchmark's form; fields in mGal and Eotvos, one row per component."""
    what = "nine" if len(components) == 9 else ",".join(components)
    name = (f"gravity/{what}/double/{program}/python/spheres/far:closed/prisms:{len(problem.prisms)}"
            f"/stations:{len(problem.east)}/threads:{threads}")
    result = {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "threads": 1,
        "iterations": 1,
        "real_time": 1e3 * seconds,
        "cpu_time": 1e3 * seconds,
        "time_unit": "ms",
        "pairs/s": problem.pairs / seconds,
        "pairs": problem.pairs,
        "best_s": seconds,
        "mean_abs": float(np.mean(np.abs(fields))),
    }
    if not np.all(np.isfinite(fields)):
        result["error_occurred"] = True
        result["error_message"] = "values that are not finite"
    print(f"{name:95} {seconds:8.3f} s {problem.pairs / seconds:12.4g} pairs/s", flush=True)
    return result


def best_of(function, repetitions):
    """Returns the result of a function and its shortest time in seconds; the first call is excluded."""
    result = function()
    took = []
    for _ in range(repetitions):
        start = time.perf_counter()
        result = function()
        took.append(time.perf_counter() - start)
    return result, min(took)


def choclo_sum(components):
    """Returns a compiled function that adds choclo's functions of some components over all prisms."""
    import choclo.prism
    import numba

    lines = ["def forward(east, north, up, prisms, density, out):",
             "    for s in numba.prange(east.size):",
             "        e, n, u = east[s], north[s], up[s]"]
    lines += [f"        sum_{c} = 0.0" for c in components]
    lines += ["        for p in range(density.size):",
              "            w0, e0, s0, n0, b0, t0 = (prisms[p, 0], prisms[p, 1], prisms[p, 2], prisms[p, 3], "
              "prisms[p, 4], prisms[p, 5])"]
    lines += [f"            sum_{c} += {GRAVITY[c][0]}(e, n, u, w0, e0, s0, n0, b0, t0, density[p])"
              for c in components]
    lines += [f"        out[{row}, s] = sum_{c}" for row, c in enumerate(components)]
    names = {GRAVITY[c][0]: getattr(choclo.prism, GRAVITY[c][0]) for c in components}
    names["numba"] = numba
    exec("\n".join(lines), names)  # a single loop for any set of components
    return numba.njit(parallel=True)(names["forward"])


def time_choclo(components, threads, problem, repetitions):
    import numba

    numba.set_num_threads(threads)
    forward = choclo_sum(components)
    out = np.zeros((len(components), len(problem.east)))

    def call():
        forward(problem.east, problem.north, problem.up, problem.prisms, problem.density, out)

    _, seconds = best_of(call, repetitions)
    fields = np.array([GRAVITY[c][1] * GRAVITY[c][4] * row for c, row in zip(components, out)])
    return gravity_entry("choclo", components, threads, problem, seconds, fields)


def time_harmonica(components, threads, problem, repetitions):
    import harmonica
    import numba

    numba.set_num_threads(threads)

    def call():
        return [harmonica.prism_gravity((problem.east, problem.north, problem.up), problem.prisms,
                                        problem.density, field=GRAVITY[c][2], disable_checks=True)
                for c in components]

    fields, seconds = best_of(call, repetitions)
    fields = np.array([GRAVITY[c][3] * row for c, row in zip(components, fields)])
    return gravity_entry("harmonica", components, threads, problem, seconds, fields)


def time_gravity(options):
    """Returns benchmarks and the versions of the measured programs."""
    programs = {"choclo": time_choclo, "harmonica": time_harmonica}
    versions = {name: version_of(name) or "not installed" for name in (*programs, "numba")}
    problem = Gravity(options.gravity, options.prisms)
    every = list(GRAVITY)
    sets = [[c] for c in (every if options.each else ["gz"])] + [every]
    benchmarks = []
    for name, function in programs.items():
        if versions[name] == "not installed":
            continue
        for threads in options.threads:
            benchmarks += [function(components, threads, problem, options.repetitions) for components in sets]
    return benchmarks, versions


def version_of(module):
    """Returns the version of a package, or None with a message if it cannot be imported."""
    try:
        return __import__(module).__version__
    except ImportError:
        print(f"{module} is not installed: left out")
        return None


def numbers(text):
    return [int(item) for item in text.split(",")]


def time_rays(options):
    """Returns benchmarks and the versions of the measured programs."""
    scipy_version, skimage_version = version_of("scipy"), version_of("skimage")
    benchmarks = []
    for n in options.sizes:
        if scipy_version:
            benchmarks += [time_scipy(n, radius) for radius in options.radii]
        if skimage_version and 1 in options.radii:
            benchmarks.append(time_skimage(n))
    return benchmarks, {"scipy": scipy_version or "not installed",
                        "skimage": skimage_version or "not installed"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=numbers, default=[128, 256, 512],
                        help="n of the models (128,256,512)")
    parser.add_argument("--radii", type=numbers, default=[1, 3, 6], help="radii for scipy (1,3,6)")
    parser.add_argument("--gravity", metavar="DIR",
                        help="time programs of gravity on the problem in this folder")
    parser.add_argument("--prisms", type=int, default=512, help="prisms of the problem, 0 for all (512)")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="numbers of threads (1,2)")
    parser.add_argument("--repetitions", type=int, default=3, help="calls, of which the quickest counts (3)")
    parser.add_argument("--each", action="store_true", help="each of the nine components alone, not only gz")
    parser.add_argument("--out", default="peers.json", help="file to write (peers.json)")
    options = parser.parse_args()
    if options.gravity and (min(options.threads) < 1 or max(options.threads) > (os.cpu_count() or 1)):
        parser.error(f"threads are 1 to {os.cpu_count()}")
    if options.repetitions < 1:
        parser.error("repetitions are 1 or more")
    if min(options.sizes) < 2 or min(options.radii) < 1 or max(options.radii) > 8:
        parser.error("sizes are 2 or more, radii 1 to 8")

    benchmarks, versions = time_gravity(options) if options.gravity else time_rays(options)
    context = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "num_cpus": os.cpu_count(),
        "processor": processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        **versions,
    }
    temporary = options.out + ".part"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"context": context, "benchmarks": benchmarks}, file, indent=1)
        file.write("\n")
    os.replace(temporary, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
