#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times Devito and bench_waves alternately on the same problem and the same cores; writes JSON.

The JSON has the form of bench_waves's. The problem: the acoustic wave equation in 3D, order 8 in space and 2
in time, single precision, variable velocity, noise as initial fields. The outermost nodes of the grid are an
absorbing layer. Devito gets the formulation of its own examples, m u_tt - Laplace(u) + damp u_t = 0.

For VTI and TTI (--medium) the equations are m p_tt = (1 + 2 epsilon) H(p) + sqrt(1 + 2 delta) G(q), m q_tt =
sqrt(1 + 2 delta) H(p) + G(q), with the same damping. G is the second derivative along the symmetry axis, H
the Laplacian without it. Devito uses its optimisations `advanced` with OpenMP and with one or two levels of
blocks, and the fastest block sizes of a scan. Its time is the one it reports for the kernel, without Python,
compilation and allocation. The time of moho is that of complete steps, with its default equations.

With --widths moho also steps the interior of Devito's grid between thinner layers: a model needs only the
interior. Reflections of layers are in docs/theory/waves.md (bench/layer_returns.py).

Rounds alternate: the best of three samples of Devito, then a run of bench_waves (three samples) with its copy
bandwidth. Every round is an entry of the results; report.py shows the best and the median. In isotropic media
a step of Devito is compared with one by NumPy in the middle of the grid. In other media the fields are
checked to stay finite. Needs python3-numpy and devito.
"""

import argparse
import os
import re
import sys

import peers_common
from peers_common import PeerError

ORDER, SPACING, LAYER = 8, 10.0, 30
SECOND = [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]  # second derivative of order 8; the node itself first


class Devito:
    """The problem on a grid, compiled in several variants; the fastest one is timed."""

    def __init__(self, medium, shape, steps, verbose):
        import devito
        import numpy as np

        self.version, self.np = devito.__version__, np
        self.shape, self.steps, self.medium = shape, steps, medium
        grid = devito.Grid(shape=shape, extent=tuple(SPACING * (n - 1) for n in shape), dtype=np.float32)
        self.fields = [devito.TimeFunction(name=name, grid=grid, time_order=2, space_order=ORDER)
                       for name in (["u"] if medium == "isotropic" else ["p", "q"])]
        self.u = self.fields[0]
        m = devito.Function(name="m", grid=grid, space_order=0)
        damp = devito.Function(name="damp", grid=grid, space_order=0)
        random = np.random.default_rng(7)
        velocity = (1600.0 + 3000.0 * np.arange(shape[2]) / shape[2]
                    + 100.0 * random.uniform(-1, 1, shape)).astype(np.float32)
        m.data[:] = 1.0 / velocity**2
        self.velocity = velocity
        self.dt = np.float32(0.35 * SPACING / (4700.0 * 3.0**0.5))
        damp.data[:] = self.damping()
        update = [devito.Eq(u.forward, devito.solve(m * u.dt2 - change + damp * u.dt, u.forward))
                  for u, change in zip(self.fields, self.changes(devito, grid, random))]
        self.start(random)
        self.time = 1  # of the next step: reads levels time and time - 1, modulo 3, writes the third
        tried = []
        for levels in (1, 2):
            options = ("advanced", {"openmp": True, "blocklevels": levels})
            operator = devito.Operator(update, opt=options, language="openmp")
            tried += self.scan(operator, f"advanced, {levels} level{'s' if levels > 1 else ''} of blocks",
                               verbose)
        # repeat the best of the scan in turn: other load of the machine may have slowed some of them
        tried = sorted(tried, key=lambda one: one[0])[:8]
        again = [min(took) for took in zip(*([self.seconds(operator, blocks,
                                                           4) for _, operator, blocks, _ in tried]
                                             for _ in range(3)))]
        quickest = again.index(min(again))
        _, self.operator, self.blocks, self.label = tried[quickest]
        print(f"Devito {self.version}: {self.label}", flush=True)

    def changes(self, devito, grid, random):
        """Returns m u_tt without damping, for each field."""
        if self.medium == "isotropic":
            return [self.u.laplace]

        def parameter(name, least, most):
            function = devito.Function(name=name, grid=grid, space_order=ORDER)
            function.data_with_halo[:] = 0.5 * (least + most)
            function.data[:] = random.uniform(least, most, self.shape)
            return function

        a = 1 + 2 * parameter("epsilon", 0.15, 0.25)
        r = devito.sqrt(1 + 2 * parameter("delta", 0.05, 0.15))
        p, q = self.fields
        if self.medium == "vti":
            along_p, along_q = p.dz2, q.dz2
        else:
            theta, phi = parameter("theta", 0.2, 0.6), parameter("phi", 0.1, 1.0)
            axis = (devito.sin(theta) * devito.cos(phi), devito.sin(theta) * devito.sin(phi),
                    devito.cos(theta))

            def along(u):
                slope = axis[0] * u.dx + axis[1] * u.dy + axis[2] * u.dz
                return (axis[0] * slope).dx + (axis[1] * slope).dy + (axis[2] * slope).dz

            along_p, along_q = along(p), along(q)
        across = p.dx2 + p.dy2 if self.medium == "vti" else p.laplace - along_p
        return [a * across + r * along_q, r * across + along_q]

    def damping(self):
        """Returns a coefficient that increases through the layer, zero inside."""
        np = self.np
        total = np.zeros(self.shape, np.float32)
        for axis, n in enumerate(self.shape):
            along = peers_common.damping(np, LAYER, n, SPACING).astype(np.float32)
            total += along.reshape([-1 if a == axis else 1 for a in range(3)])
        return total

    def start(self, random):
        for u in self.fields:
            for level in range(3):
                u.data[level] = random.uniform(-1, 1, self.shape)

    def seconds(self, operator, blocks, steps):
        """Returns the seconds per step of the kernel."""
        summary = operator.apply(time_m=self.time, time_M=self.time + steps - 1, dt=self.dt, **blocks)
        self.time += steps
        took = 0.0
        for entry in summary.values():
            took += entry.time
        return took / steps

    def scan(self, operator, title, verbose):
        """Returns seconds per step, operator, blocks and a name for many block sizes."""
        names = sorted(p.name for p in operator.parameters if re.search(r"_blk\d+_size$", p.name))
        outer = [name for name in names if "_blk0_" in name]
        inner = [name for name in names if name not in outer]
        nx, ny = self.shape[0], self.shape[1]
        self.seconds(operator, {}, 2)
        tried = []
        for bx in (4, 8, 16, 32, 64, nx):
            for by in (4, 8, 16, 32, 64, ny):
                for small in ((4, 8) if inner else (0,)):
                    blocks = {name: bx if name.startswith("x") else by for name in outer}
                    if inner and (small > bx or small > by or bx == nx or by == ny):
                        continue
                    blocks.update({name: small for name in inner})
                    took = min(self.seconds(operator, blocks, 2) for _ in range(2))
                    label = f"{title}, " + ", ".join(f"{key} {value}" for key, value in blocks.items())
                    tried.append((took, operator, blocks, label))
                    if verbose:
                        print(f"  {self.points() / took * 1e-9:.3f} Gpoints/s: {label}")
        return tried

    def points(self):
        return self.shape[0] * self.shape[1] * self.shape[2]

    def sample(self):
        """Returns the best of three samples, as many as in bench_waves."""
        return min(self.seconds(self.operator, self.blocks, self.steps) for _ in range(3))

    def difference(self):
        """Returns the difference from NumPy's step in the middle of the grid, over the largest value."""
        np = self.np
        if self.medium != "isotropic":
            return 0.0 if all(np.isfinite(u.data).all() for u in self.fields) else 1e300
        before, now, then = (self.u.data[(self.time + step) % 3] for step in (-1, 0, 1))
        self.seconds(self.operator, self.blocks, 1)
        middle = [slice(n // 2 - 8, n // 2 + 8) for n in self.shape]
        change = np.zeros((16, 16, 16))
        for axis in range(3):
            for k, c in enumerate(SECOND):
                for sign in (-1, 1) if k else (0,):
                    place = list(middle)
                    place[axis] = slice(middle[axis].start + sign * k, middle[axis].stop + sign * k)
                    change += c / SPACING**2 * np.asarray(now[tuple(place)], np.float64)
        at = tuple(middle)
        scale = (np.asarray(self.velocity[at], np.float64) * float(self.dt)) ** 2
        expected = 2.0 * now[at] - np.asarray(before[at], np.float64) + scale * change
        largest = np.max(np.abs(expected))
        difference = np.max(np.abs(expected - then[at])) / largest
        return float(difference) if np.isfinite(difference) else 1e300


def interior_of(shape):
    """Returns the nodes between Devito's layers."""
    count = 1
    for n in shape:
        count *= n - 2 * LAYER
    return count


def devito_entry(peer, index, took, difference):
    """Returns a benchmark in Google Benchmark's form."""
    name = (f"waves/{peer.medium}/float/order:{ORDER}/damping/devito/python/"
            + "x".join(map(str, peer.shape)))
    rate = peer.points() / took
    entry = {
        "name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": index,
        "threads": 1, "iterations": 1, "real_time": 1e3 * took, "cpu_time": 1e3 * took, "time_unit": "ms",
        "points/s": rate, "best_points/s": rate, "best_s": took, "points": peer.points(), "steps": peer.steps,
        "interior_points": interior_of(peer.shape),
        "label": peer.label, "rel_diff_windows": difference,
    }
    if not difference <= 1e-5:
        entry["error_occurred"] = True
        entry["error_message"] = f"Devito's step differs from NumPy's by {difference:.1e}"
    return entry


def run_bench(options, shape, cores):
    """Returns the context and the entries of one run of bench_waves, those of the sponge first."""
    size = "x".join(map(str, shape))
    layers = "sponge" if options.medium == "tti" else "(sponge|cpml)"
    cases = rf"{layers}/tuned/openmp/{size}"
    for width in options.widths:
        cases += rf"|cpml:{width}/tuned/openmp/" + "x".join(str(n - 2 * LAYER + 2 * width) for n in shape)
    wanted = rf"^(copy/openmp|waves/{options.medium}/float/order:{ORDER}/({cases}))(/|$)"
    context, entries = peers_common.run_bench(options.bench, wanted, cores)
    if not any(entry["name"].startswith("waves/") for entry in entries):
        raise PeerError(f"{options.bench} has no case of {options.medium} and {size} points: take "
                        "256x256x256, or "
                        "251x257x263 in isotropic media")
    return context, sorted(entries, key=lambda entry: "/cpml" in entry["name"])


def layer_of(name):
    """Returns the boundary in a name: "sponge", "cpml" or "cpml:10"."""
    return name.split("/")[4]


def run(options):
    cores = peers_common.prepare(options.bench, options.threads)
    contexts, benchmarks, versions = [], [], "unknown"
    for shape in options.sizes:
        peer = Devito(options.medium, shape, options.steps, options.verbose)
        versions = peer.version
        difference = peer.difference()
        for index in range(options.rounds):
            took = peer.sample()
            benchmarks.append(devito_entry(peer, index, took, difference))
            context, entries = run_bench(options, shape, cores)
            contexts.append(context)
            benchmarks += entries
            own = [f"{entry['interior_points'] / entry['best_s'] * 1e-9:.3f} ({layer_of(entry['name'])})"
                   for entry in entries if entry["name"].startswith("waves/")]
            copied = [entry["copy_GBps"] for entry in entries if entry["name"].startswith("copy/")][0]
            print(f"{'x'.join(map(str, shape))} round {index + 1}: interior Gpoints/s of Devito "
                  f"{interior_of(shape) / took * 1e-9:.3f}, of moho {', '.join(own)}, copy {copied:.1f} GB/s",
                  flush=True)
    peers_common.write_results(options.out, contexts[0], benchmarks, versions)
    return 1 if any(entry.get("error_occurred") for entry in benchmarks) else 0


def shapes(text):
    found = [tuple(int(n) for n in item.split("x")) for item in text.split(",")]
    if any(len(shape) != 3 or min(shape) < 2 * LAYER + 32 for shape in found):
        raise argparse.ArgumentTypeError(f"sizes are like 256x256x256, at least {2 * LAYER + 32} nodes along "
                                         "each axis")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/host/bench/bench_waves",
                        help="the program (build/host/bench/bench_waves)")
    parser.add_argument("--medium", choices=["isotropic", "vti", "tti"], default="isotropic",
                        help="(isotropic)")
    parser.add_argument("--sizes", type=shapes, default=None,
                        help="sizes of grids, of those that bench_waves has (256x256x256, and 251x257x263 in "
                             "isotropic media)")
    parser.add_argument("--widths", type=lambda text: [int(n) for n in text.split(",")], default=[],
                        help="widths of perfectly matched layers that moho gets around the interior of "
                             "Devito's grid, too, of those "
                        "that bench_waves has (with 256x256x256: 10,20, and 5,8 in isotropic media)")
    parser.add_argument("--threads", type=int, default=0, help="threads of both programs (as many as cores)")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each program, in turn (5)")
    parser.add_argument("--steps", type=int, default=10, help="steps of a sample of Devito (10)")
    parser.add_argument("--verbose", action="store_true", help="print what the scan of block sizes finds")
    parser.add_argument("--out", default="peers_waves.json", help="file to write (peers_waves.json)")
    options = parser.parse_args()
    if options.sizes is None:
        options.sizes = [(256, 256, 256)] + ([(251, 257, 263)] if options.medium == "isotropic" else [])
    if options.rounds < 1 or options.steps < 1 or not 0 <= options.threads <= (os.cpu_count() or 1):
        parser.error(f"rounds and steps are 1 or more, threads 1 to {os.cpu_count()}")
    try:
        sys.exit(run(options))
    except (PeerError, OSError) as error:
        print(f"peers_waves.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
