#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times the gradient of a shot by Devito and by bench_fwi alternately on the same cores; writes JSON.

The JSON has the form of bench_fwi's. The problem is bench_fwi's case gradient/isotropic/vp/shell: a cube of n
nodes per side with 20 more nodes on each side for damping. Order 8 in space and 2 in time, single precision,
one source, 200 receivers, zero data. The products of the two wavefields have the interval that bench_fwi
reports.

Devito gets the formulation of its own examples: m u_tt - Laplace(u) + damp u_t = 0. Forward propagation saves
the wavefield at these steps in memory; backward propagation from the traces sums the gradient. Devito uses
its optimisations `advanced` with OpenMP, and the fastest block sizes of a scan. Its time is the one it
reports for both kernels, without Python, compilation and allocation. The time of moho is the complete time.

Rounds alternate: the better of two samples of Devito, then a run of bench_fwi. Every round is an entry of the
results. Devito's gradient is compared with a finite difference of its misfit. Needs python3-numpy and devito.
"""

import argparse
import os
import re
import sys

import peers_common
from peers_common import PeerError
from peers_waves import ORDER, SPACING

LAYER, RECEIVERS = 20, 200


class Devito:
    """The shot: operators of both propagations, and the fastest block sizes."""

    def __init__(self, n, steps, every, verbose):
        import devito
        import numpy as np

        self.np, self.steps, self.every, self.version = np, steps, every, devito.__version__
        size = n + 2 * LAYER
        self.shape = (size,) * 3
        grid = devito.Grid(shape=self.shape, extent=(SPACING * (size - 1),) * 3, dtype=np.float32)
        self.m = devito.Function(name="m", grid=grid, space_order=ORDER)
        damp = devito.Function(name="damp", grid=grid, space_order=ORDER)
        inside = np.clip(np.arange(size) - LAYER, 0, n - 1) / n
        x, z = np.meshgrid(inside, inside, indexing="ij")
        plane = 1800.0 + 1500.0 * z + 100.0 * np.sin(25.0 * z + 9.0 * x)
        self.velocity = np.repeat(plane[:, None, :], size, axis=1).astype(np.float32)
        self.m.data[:] = 1.0 / self.velocity**2
        strength = 3.0 * 2000.0 / (2.0 * LAYER * SPACING) * np.log(1e3) / 2000.0**2
        total = np.zeros(self.shape, np.float32)
        for axis in range(3):
            depth = np.maximum(0, np.maximum(LAYER - np.arange(size),
                                             LAYER - (size - 1 - np.arange(size)))) / LAYER
            total += (strength * depth**2).astype(np.float32).reshape([-1 if a == axis else 1
                                                                       for a in range(3)])
        damp.data[:] = total
        self.dt = np.float32(0.9 * 0.45 * SPACING / (3400.0))
        part = devito.ConditionalDimension("part", parent=grid.time_dim, factor=every)
        self.u = devito.TimeFunction(name="u", grid=grid, time_order=2, space_order=ORDER)
        self.v = devito.TimeFunction(name="v", grid=grid, time_order=2, space_order=ORDER)
        self.saved = devito.TimeFunction(name="saved", grid=grid, time_order=0, space_order=0, time_dim=part,
                                         save=(steps + every) // every + 1)
        self.gradient = devito.Function(name="gradient", grid=grid, space_order=0)
        source = devito.SparseTimeFunction(name="source", grid=grid, npoint=1, nt=steps + 1)
        self.traces = devito.SparseTimeFunction(name="traces", grid=grid, npoint=RECEIVERS, nt=steps + 1)
        self.residual = devito.SparseTimeFunction(name="residual", grid=grid, npoint=RECEIVERS, nt=steps + 1)
        side, edge = SPACING * (n - 1), SPACING * LAYER
        source.coordinates.data[0] = (edge + 0.48 * side, edge + 0.51 * side, edge + 45.0)
        for sparse in (self.traces, self.residual):
            for i in range(RECEIVERS):
                sparse.coordinates.data[i] = (edge + side * (0.05 + 0.0045 * i), edge + 0.5 * side,
                                              edge + 45.0)
        frequency = 0.9 * 1800.0 / (3.5 * SPACING) / 2.4
        t = np.arange(steps + 1) * self.dt - 1.5 / frequency
        a = (np.pi * frequency * t) ** 2
        source.data[:, 0] = (1.0 - 2.0 * a) * np.exp(-a)
        s = grid.stepping_dim.spacing
        forward = devito.Eq(self.u.forward, devito.solve(self.m * self.u.dt2 - self.u.laplace
                                                         + damp * self.u.dt, self.u.forward))
        back = devito.Eq(self.v.backward, devito.solve(self.m * self.v.dt2 - self.v.laplace
                                                       + damp * self.v.dt.T, self.v.backward))
        options = {"opt": ("advanced", {"openmp": True}), "language": "openmp"}
        self.model = devito.Operator(
            [forward, devito.Eq(self.saved, self.u)]
            + source.inject(field=self.u.forward,
                            expr=source * s**2 / self.m) + self.traces.interpolate(expr=self.u),
            name="Model", **options)
        self.back = devito.Operator(
            [back] + self.residual.inject(field=self.v.backward, expr=self.residual * s**2 / self.m)
            + [devito.Inc(self.gradient, -self.saved * self.v.dt2)], name="Back", **options)
        self.blocks = [{}, {}]
        for k, run in enumerate((self.run_forward, self.run_back)):
            self.blocks[k], self.label = self.scan(k, run, verbose)
        print(f"Devito {self.version}: blocks {self.blocks}", flush=True)

    @staticmethod
    def took(summary):
        return sum(entry.time for entry in summary.values())

    def run_forward(self, steps=None):
        self.u.data[:] = 0.0
        return self.took(self.model.apply(time_m=1, time_M=(steps or self.steps) - 1, dt=self.dt,
                                          **self.blocks[0]))

    def run_back(self, steps=None):
        self.v.data[:] = 0.0
        self.gradient.data[:] = 0.0
        last = self.steps - 1
        first = 1 if steps is None else max(1, last - steps)
        return self.took(self.back.apply(time_m=first, time_M=last, dt=self.dt, **self.blocks[1]))

    def scan(self, number, run, verbose):
        """Finds the fastest block sizes of an operator."""
        operator = (self.model, self.back)[number]
        names = sorted(p.name for p in operator.parameters if re.search(r"_blk0_size$", p.name))
        run(4)
        tried = []
        for bx in (8, 16, 32, 64, self.shape[0]):
            for by in (8, 16, 32, 64, self.shape[1]):
                self.blocks[number] = {name: bx if name.startswith("x") else by for name in names}
                took = min(run(6), run(6))
                tried.append((took, self.blocks[number]))
                if verbose:
                    print(f"  {took:.3f} s: {self.blocks[number]}")
        tried.sort(key=lambda one: one[0])
        return tried[0][1], ", ".join(f"{key} {value}" for key, value in tried[0][1].items())

    def sample(self):
        """Returns the seconds of modelling, and of the gradient including modelling."""
        best = None
        for _ in range(2):
            forward = self.run_forward()
            self.residual.data[:] = self.traces.data[:]
            whole = forward + self.run_back()
            best = min(best or (forward, whole), (forward, whole), key=lambda one: one[1])
        return best

    def misfit(self):
        self.run_forward()
        return 0.5 * float((self.np.asarray(self.traces.data, self.np.float64) ** 2).sum())

    def quotient(self):
        """Returns the misfit's difference for a smooth change of m inside, over the gradient's prediction."""
        np = self.np
        n = self.shape[0]
        axis = np.arange(n)
        bump = np.exp(-0.5 * ((axis - n / 2) / (n / 10)) ** 2)
        change = (bump[:, None, None] * bump[None, :, None] * bump[None, None, :]).astype(np.float32)
        self.run_forward()
        self.residual.data[:] = self.traces.data[:]
        self.run_back()
        said = self.every * float((np.asarray(self.gradient.data, np.float64) * change).sum())
        start, h = np.array(self.m.data), 0.02 * float(np.min(self.m.data))
        side = []
        for sign in (1.0, -1.0):
            self.m.data[:] = start + sign * h * change
            side.append(self.misfit())
        self.m.data[:] = start
        return (side[0] - side[1]) / (2.0 * h) / said if said else float("nan")


def run_bench(options, cores):
    """Returns the context and the entries of one run of bench_fwi."""
    wanted = f"^gradient/isotropic/vp/shell/lags:-1/openmp/n:{options.n}(/|$)"
    context, entries = peers_common.run_bench(options.bench, wanted, cores, MOHO_BENCH_FWI_N=str(options.n),
                                              MOHO_BENCH_FWI_STEPS=str(options.steps))
    if not entries:
        raise PeerError(f"{options.bench} has no case {wanted}")
    return context, entries


def devito_entry(peer, options, index, took, quotient):
    """Returns a benchmark in Google Benchmark's form."""
    name = f"gradient/isotropic/vp/saved/devito/python/n:{options.n}"
    points = float(peer.shape[0]) ** 3 * options.steps
    modelling, gradient = took
    return {
        "name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": index,
        "threads": 1, "iterations": 1, "real_time": 1e3 * gradient, "cpu_time": 1e3 * gradient,
        "time_unit": "ms", "points/s": points / gradient, "modelling_points/s": points / modelling,
        "over_modelling": gradient / modelling, "every": peer.every, "label": peer.label,
        "difference_over_gradient": quotient,
    }


def run(options):
    cores = peers_common.prepare(options.bench, options.threads)
    context, entries = run_bench(options, cores)
    peer = Devito(options.n, options.steps, int(entries[0]["every"]), options.verbose)
    quotient = peer.quotient()
    print(f"Devito's differences over its gradient: {quotient:.3f}", flush=True)
    benchmarks = []
    for index in range(options.rounds):
        took = peer.sample()
        benchmarks.append(devito_entry(peer, options, index, took, quotient))
        _, entries = run_bench(options, cores)
        benchmarks += entries
        other, own = benchmarks[-len(entries) - 1], entries[0]
        print(f"round {index + 1}: Devito {other['points/s'] * 1e-9:.3f} Gpoints/s "
              f"({other['over_modelling']:.2f} x modelling), moho {own['points/s'] * 1e-9:.3f} "
              f"({own['over_modelling']:.2f} x)", flush=True)
    peers_common.write_results(options.out, context, benchmarks, peer.version)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/host/bench/bench_fwi",
                        help="the program (build/host/bench/bench_fwi)")
    parser.add_argument("--n", type=int, default=100, help="nodes of the model a side (100)")
    parser.add_argument("--steps", type=int, default=200, help="of the shot (200)")
    parser.add_argument("--threads", type=int, default=0, help="threads of both programs (as many as cores)")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each program, in turn (5)")
    parser.add_argument("--verbose", action="store_true", help="print what the scan of block sizes finds")
    parser.add_argument("--out", default="peers_fwi.json", help="file to write (peers_fwi.json)")
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    if options.rounds < 1 or options.steps < 20 or options.n < 20 or not 0 <= options.threads <= cores:
        parser.error(f"rounds are 1 or more, steps and n 20 or more, threads 0 to {os.cpu_count()}")
    try:
        sys.exit(run(options))
    except (PeerError, OSError) as error:
        print(f"peers_fwi.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
