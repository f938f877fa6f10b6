#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times Devito and bench_waves in turn on the same problem, the same cores, and writes JSON of bench_waves's shape.

The problem: the acoustic wave equation in 3D, order 8 in space and 2 in time, single precision, velocity that varies,
noise to begin with, a grid whose outermost nodes are an absorbing layer. Devito gets the formulation of its own
examples, m u_tt - Laplace(u) + damp u_t = 0, its optimisations `advanced` with OpenMP and with one or two levels of
blocks, and the sizes of blocks that were the quickest of a scan. Its time is the one that it reports for the
kernel: without Python, compilation and allocation. The time of moho is that of whole steps.

Rounds alternate: the best of three samples of Devito, a run of bench_waves (three samples) with its copy bandwidth.
Every round is an entry of the results; report.py shows the best and the median. A step of Devito's is compared with one made by NumPy in the middle
of the grid. Needs python3-numpy and devito.
"""

import argparse
import os
import re
import sys

import peers_common
from peers_common import PeerError

ORDER, SPACING, LAYER = 8, 10.0, 30
SECOND = [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]  # of order 8, the node itself first


class Devito:
    """The problem on a grid, compiled in several ways, of which the quickest is timed."""

    def __init__(self, shape, steps, verbose):
        import devito
        import numpy as np

        self.version, self.shape, self.steps, self.np = devito.__version__, shape, steps, np
        grid = devito.Grid(shape=shape, extent=tuple(SPACING * (n - 1) for n in shape), dtype=np.float32)
        self.u = devito.TimeFunction(name="u", grid=grid, time_order=2, space_order=ORDER)
        m = devito.Function(name="m", grid=grid, space_order=0)
        damp = devito.Function(name="damp", grid=grid, space_order=0)
        random = np.random.default_rng(7)
        velocity = (1600.0 + 3000.0 * np.arange(shape[2]) / shape[2]
                    + 100.0 * random.uniform(-1, 1, shape)).astype(np.float32)
        m.data[:] = 1.0 / velocity**2
        self.velocity = velocity
        self.dt = np.float32(0.35 * SPACING / (4700.0 * 3.0**0.5))
        damp.data[:] = self.damping()
        equation = m * self.u.dt2 - self.u.laplace + damp * self.u.dt
        update = devito.Eq(self.u.forward, devito.solve(equation, self.u.forward))
        self.start(random)
        self.time = 1  # of the next step: it reads levels time and time - 1, modulo 3, and writes the third
        tried = []
        for levels in (1, 2):
            options = ("advanced", {"openmp": True, "blocklevels": levels})
            operator = devito.Operator([update], opt=options, language="openmp")
            tried += self.scan(operator, f"advanced, {levels} level{'s' if levels > 1 else ''} of blocks", verbose)
        # the best of the scan once more, in turn: other work on the machine may have slowed the others
        tried = sorted(tried, key=lambda one: one[0])[:8]
        again = [min(took) for took in zip(*([self.seconds(operator, blocks, 4) for _, operator, blocks, _ in tried]
                                             for _ in range(3)))]
        quickest = again.index(min(again))
        _, self.operator, self.blocks, self.label = tried[quickest]
        print(f"Devito {self.version}: {self.label}", flush=True)

    def damping(self):
        """A coefficient that grows through the layer, zero inside."""
        np = self.np
        strength = 3.0 * 2000.0 / (2.0 * LAYER * SPACING) * np.log(1e3) / 2000.0**2
        total = np.zeros(self.shape, np.float32)
        for axis, n in enumerate(self.shape):
            depth = np.maximum(0, np.maximum(LAYER - np.arange(n), LAYER - (n - 1 - np.arange(n)))) / LAYER
            total += (strength * depth**2).astype(np.float32).reshape([-1 if a == axis else 1 for a in range(3)])
        return total

    def start(self, random):
        for level in range(3):
            self.u.data[level] = random.uniform(-1, 1, self.shape)

    def seconds(self, operator, blocks, steps):
        """Seconds a step of the kernel."""
        summary = operator.apply(time_m=self.time, time_M=self.time + steps - 1, dt=self.dt, **blocks)
        self.time += steps
        took = 0.0
        for entry in summary.values():
            took += entry.time
        return took / steps

    def scan(self, operator, title, verbose):
        """Seconds a step, operator, blocks and a name for many sizes of blocks."""
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
        """The best of three, as many as bench_waves takes."""
        return min(self.seconds(self.operator, self.blocks, self.steps) for _ in range(3))

    def difference(self):
        """From NumPy's step of the middle of the grid, over the largest value."""
        np = self.np
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


def devito_entry(peer, index, took, difference):
    """A benchmark in Google Benchmark's shape."""
    name = (f"waves/isotropic/float/order:{ORDER}/damping/devito/python/" + "x".join(map(str, peer.shape)))
    rate = peer.points() / took
    entry = {
        "name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": index,
        "threads": 1, "iterations": 1, "real_time": 1e3 * took, "cpu_time": 1e3 * took, "time_unit": "ms",
        "points/s": rate, "best_points/s": rate, "best_s": took, "points": peer.points(), "steps": peer.steps,
        "label": peer.label, "rel_diff_windows": difference,
    }
    if not difference <= 1e-5:
        entry["error_occurred"] = True
        entry["error_message"] = f"Devito's step differs from NumPy's by {difference:.1e}"
    return entry


def run_bench(options, shape, cores):
    """The context and the entries of one run of bench_waves."""
    size = "x".join(map(str, shape))
    wanted = rf"^(copy/openmp|waves/isotropic/float/order:{ORDER}/sponge/tuned/openmp/{size})(/|$)"
    context, entries = peers_common.run_bench(options.bench, wanted, cores)
    if not any(entry["name"].startswith("waves/") for entry in entries):
        raise PeerError(f"{options.bench} has no isotropic case of {size} points: take 256x256x256 or 251x257x263")
    return context, entries


def run(options):
    cores = peers_common.prepare(options.bench, options.threads)
    contexts, benchmarks, versions = [], [], "unknown"
    for shape in options.sizes:
        peer = Devito(shape, options.steps, options.verbose)
        versions = peer.version
        difference = peer.difference()
        for index in range(options.rounds):
            took = peer.sample()
            benchmarks.append(devito_entry(peer, index, took, difference))
            context, entries = run_bench(options, shape, cores)
            contexts.append(context)
            benchmarks += entries
            own = [entry["best_points/s"] for entry in entries if entry["name"].startswith("waves/")][0]
            copied = [entry["copy_GBps"] for entry in entries if entry["name"].startswith("copy/")][0]
            print(f"{'x'.join(map(str, shape))} round {index + 1}: Devito {peer.points() / took * 1e-9:.3f}, moho "
                  f"{own * 1e-9:.3f} Gpoints/s, copy {copied:.1f} GB/s", flush=True)
    peers_common.write_results(options.out, contexts[0], benchmarks, versions)
    return 1 if any(entry.get("error_occurred") for entry in benchmarks) else 0


def shapes(text):
    found = [tuple(int(n) for n in item.split("x")) for item in text.split(",")]
    if any(len(shape) != 3 or min(shape) < 2 * LAYER + 32 for shape in found):
        raise argparse.ArgumentTypeError(f"sizes are like 256x256x256, at least {2 * LAYER + 32} nodes along each axis")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/host/bench/bench_waves", help="the program (build/host/bench/bench_waves)")
    parser.add_argument("--sizes", type=shapes, default=[(256, 256, 256), (251, 257, 263)],
                        help="sizes of grids, of those that bench_waves has (256x256x256,251x257x263)")
    parser.add_argument("--threads", type=int, default=0, help="threads of both programs (as many as cores)")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each program, in turn (5)")
    parser.add_argument("--steps", type=int, default=10, help="steps of a sample of Devito (10)")
    parser.add_argument("--verbose", action="store_true", help="print what the scan of block sizes finds")
    parser.add_argument("--out", default="peers_waves.json", help="file to write (peers_waves.json)")
    options = parser.parse_args()
    if options.rounds < 1 or options.steps < 1 or not 0 <= options.threads <= (os.cpu_count() or 1):
        parser.error(f"rounds and steps are 1 or more, threads 1 to {os.cpu_count()}")
    try:
        sys.exit(run(options))
    except (PeerError, OSError) as error:
        print(f"peers_waves.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
