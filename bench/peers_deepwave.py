#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times deepwave and model_waves alternately on the same shot and cores; writes JSON.

The JSON has Google Benchmark's form. The shot: the acoustic wave equation, order 8 in space and 2 in time,
single precision, perfectly matched layers of 20 nodes around the model. The velocity varies from node to
node; the source and a line of receivers are at nodes.

The seconds per step of deepwave exclude the preparation of a call. They are the difference between a call and
a call with a quarter of the steps, divided by the difference in steps. Each time is the best of three. The
seconds of model_waves are those that it reports for its steps, the best of three runs. Points are those of
the complete grid, layers included. Rounds alternate, and every round is an entry of the results.

Traces of both are compared up to their scale: both programs inject and record at nodes, but scale sources
differently. Needs python3-numpy and deepwave.
"""

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time

import peers_common
from peers_common import PeerError

ORDER, SPACING, LAYER, FREQUENCY, FASTEST = 8, 10.0, 20, 15.0, 4700.0


class Shot:
    """A shot over a model of `shape` nodes; depth is the last axis."""

    def __init__(self, np, shape, steps):
        self.np, self.shape, self.steps = np, shape, steps
        random = np.random.default_rng(7)
        depth = np.arange(shape[-1]) / shape[-1]
        self.velocity = (1600.0 + 3000.0 * depth + 100.0 * random.uniform(-1, 1, shape)).astype(np.float32)
        # integer microseconds, about half of the largest stable step
        self.dt = 1e-6 * int(1e6 * 0.35 * SPACING / (FASTEST * len(shape) ** 0.5))
        self.source = [n // 2 for n in shape[:-1]] + [shape[-1] // 4]
        self.receivers = [[n // 2 for n in shape[:-1]] + [shape[-1] // 4] for _ in range(9)]
        for i, receiver in enumerate(self.receivers):
            receiver[0] += 3 * (i + 1)

    @property
    def points(self):
        count = 1
        for n in self.shape:
            count *= n + 2 * LAYER
        return count

    def wavelet(self, steps):
        np = self.np
        a = (np.pi * FREQUENCY * (np.arange(steps) * self.dt - 1.5 / FREQUENCY)) ** 2
        return ((1.0 - 2.0 * a) * np.exp(-a)).astype(np.float32)


class Deepwave:
    def __init__(self, shot):
        import deepwave
        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        self.shot, self.version = shot, f"{importlib.metadata.version('deepwave')}, torch {torch.__version__}"
        self.torch, self.scalar = torch, deepwave.scalar
        self.velocity = torch.from_numpy(shot.velocity)
        self.call(4)

    def call(self, steps):
        """Returns the seconds of a call, and its traces."""
        torch, shot = self.torch, self.shot
        wavelet = torch.from_numpy(shot.wavelet(steps)).reshape(1, 1, -1)
        places = [torch.tensor([rows]) for rows in ([shot.source], shot.receivers)]
        start = time.perf_counter()
        with torch.no_grad():
            out = self.scalar(self.velocity, SPACING, shot.dt, source_amplitudes=wavelet,
                              source_locations=places[0], receiver_locations=places[1], accuracy=ORDER,
                              pml_width=LAYER, pml_freq=FREQUENCY)
        took = time.perf_counter() - start
        return took, out[-1][0].numpy()

    def sample(self):
        """Returns the seconds per step, and the traces."""
        few = self.shot.steps // 4
        short = min(self.call(few)[0] for _ in range(3))
        runs = [self.call(self.shot.steps) for _ in range(3)]
        return (min(took for took, _ in runs) - short) / (self.shot.steps - few), runs[-1][1]


class Moho:
    def __init__(self, program, shot, cores, folder):
        self.shot, self.cores, self.out = shot, cores, os.path.join(folder, "out")
        velocity = os.path.join(folder, "vp.npy")
        shot.np.save(velocity, shot.velocity)

        def place(nodes):
            return ",".join(f"{SPACING * n:g}" for n in nodes)

        last = shot.dt * (shot.steps - 1)
        self.command = [program, "--vp", velocity, "--spacing", f"{SPACING:g}", "--coordinates", "xyz",
                        "--dt", f"{shot.dt:.6f}", "--time", f"{last:.6f}", "--wavelet",
                        f"ricker:{FREQUENCY:g}", "--source", place(shot.source), "--receivers",
                        ";".join(place(nodes) for nodes in shot.receivers), "--boundary", f"cpml:{LAYER}",
                        "--order", str(ORDER), "--precision", "float", "--snapshot-every", "0", "--no-plot",
                        "--quiet", "--out", self.out]

    def sample(self):
        """Returns the seconds per step, and the traces."""
        best = None
        for _ in range(3):
            done = subprocess.run(self.command, preexec_fn=lambda: os.sched_setaffinity(0, self.cores),
                                  check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                raise PeerError(f"{self.command[0]} exited with status {done.returncode}: "
                                f"{done.stdout.strip()[-400:]}")
            with open(os.path.join(self.out, "summary.json"), encoding="utf-8") as file:
                took = json.load(file)["seconds"]["steps"] / (self.shot.steps - 1)
            best = min(best or took, took)
        traces = self.shot.np.load(os.path.join(self.out, "gather.npy"))
        return best, traces.reshape(-1, traces.shape[-1])


def difference(np, ours, theirs):
    """Returns the largest difference over the largest value.

    Scale and shift are the best ones; the shift is at most a sample.
    """
    worst = []
    for shift in (-1, 0, 1):
        n = min(ours.shape[-1], theirs.shape[-1]) - 2
        a, b = ours[:, 1:1 + n].astype(float), theirs[:, 1 + shift:1 + shift + n].astype(float)
        scale = np.sum(a * b) / np.sum(b * b)
        worst.append(np.max(np.abs(a - scale * b)) / np.max(np.abs(a)))
    return float(min(worst))


def entry(shot, who, index, took, **more):
    rate = shot.points / took
    name = f"shots/isotropic/float/order:{ORDER}/cpml:{LAYER}/{who}/" + "x".join(map(str, shot.shape))
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1,
            "repetition_index": index, "threads": 1,
            "iterations": 1, "real_time": 1e3 * took, "cpu_time": 1e3 * took, "time_unit": "ms",
            "points/s": rate, "best_s": took, "points": shot.points, "steps": shot.steps, **more}


def run(options):
    cores = peers_common.prepare(options.program, options.threads, "deepwave")
    import numpy as np

    benchmarks, version, wrong = [], "unknown", False
    for shape in options.sizes:
        # number of steps in a second at 200 Mpoints/s
        nodes = 1
        for n in shape:
            nodes *= n + 2 * LAYER
        shot = Shot(np, shape, max(24, int(2e8 / nodes)))
        with tempfile.TemporaryDirectory() as folder:
            peer, own = Deepwave(shot), Moho(options.program, shot, cores, folder)
            version = peer.version
            for index in range(options.rounds):
                theirs, their_traces = peer.sample()
                ours, our_traces = own.sample()
                apart = difference(np, our_traces, their_traces)
                wrong = wrong or not apart < 0.01
                benchmarks += [entry(shot, "deepwave", index, theirs),
                               entry(shot, "model_waves", index, ours, difference=apart)]
                print(f"{'x'.join(map(str, shape))}, {shot.steps} steps, round {index + 1}: deepwave "
                      f"{shot.points / theirs * 1e-9:.3f}, moho {shot.points / ours * 1e-9:.3f} Gpoints/s "
                      f"({theirs / ours:.2f}), traces differ by {apart:.1e}", flush=True)
    context = {"num_cpus": len(cores), "threads": int(os.environ["OMP_NUM_THREADS"])}
    peers_common.write_results(options.out, context, benchmarks, version, "deepwave")
    if wrong:
        raise PeerError("traces of the two programs differ by more than a hundredth: these are not the same "
                        "problem")


def shapes(text):
    found = [tuple(int(n) for n in item.split("x")) for item in text.split(",")]
    if any(len(shape) not in (2, 3) or min(shape) < 64 for shape in found):
        raise argparse.ArgumentTypeError("sizes are like 1601x401 or 160x160x160, at least 64 nodes along "
                                         "each axis")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/host/examples/model_waves",
                        help="(build/host/examples/model_waves)")
    parser.add_argument("--sizes", type=shapes, default=[(1601, 401), (160, 160, 160)],
                        help="nodes of models without their layers (1601x401,160x160x160)")
    parser.add_argument("--threads", type=int, default=0, help="threads of both programs (as many as cores)")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each program, in turn (5)")
    parser.add_argument("--out", default="peers_deepwave.json", help="file to write (peers_deepwave.json)")
    options = parser.parse_args()
    if options.rounds < 1 or not 0 <= options.threads <= (os.cpu_count() or 1):
        parser.error(f"rounds are 1 or more, threads 1 to {os.cpu_count()}")
    try:
        run(options)
    except (PeerError, OSError) as error:
        print(f"peers_deepwave.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
