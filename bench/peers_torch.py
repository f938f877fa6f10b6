#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times moho.torch and deepwave in turn: traces of a shot, and the gradient of a loss; writes JSON.

Both are called with a float32 tensor of velocities, on the host or on a CUDA device, and return tensors
there. The acoustic wave equation has order 8 in space and 2 in time, with perfectly matched layers of 20
nodes. The source and a line of receivers are at nodes. "forward" is a call without a gradient; "gradient" is
a call, the loss 0.5 |traces|^2, and backward(). Seconds are those of complete calls, preparations included,
on the clock and of the processors; the latter compare one thread on a machine with other work. Rounds
alternate, and every round is an entry of the results.

With --program the shot of the program model_waves is timed, too: the overhead of the package is the ratio of
"forward" to its seconds of steps. Needs PyTorch and the built package in PYTHONPATH; without deepwave moho
is timed alone.
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import peers_common
from peers_common import PeerError
from peers_deepwave import FREQUENCY, LAYER, ORDER, SPACING, Shot, difference, shapes


class Clock:
    """Seconds since construction, on the clock and of all threads of this process."""

    def __init__(self):
        self.wall, self.processors = time.perf_counter(), time.process_time()

    def took(self):
        return time.perf_counter() - self.wall, time.process_time() - self.processors


class Peer:
    """A way to compute traces from a tensor of velocities."""

    def __init__(self, torch, shot, device):
        self.torch, self.shot, self.device = torch, shot, device
        self.velocity = torch.from_numpy(shot.velocity).to(device)

    def traces(self, velocity):
        raise NotImplementedError

    def wait(self):
        if self.device != "cpu":
            self.torch.cuda.synchronize()

    def forward(self):
        """Returns the seconds of a call on the clock and of processors, and its traces."""
        self.wait()
        start = Clock()
        with self.torch.no_grad():
            traces = self.traces(self.velocity)
        self.wait()
        return start.took(), traces.cpu().numpy()

    def gradient(self):
        """Returns the seconds of a call with its gradient, as above, and the gradient."""
        velocity = self.velocity.clone().requires_grad_(True)
        self.wait()
        start = Clock()
        (0.5 * (self.traces(velocity) ** 2).sum()).backward()
        self.wait()
        return start.took(), velocity.grad.cpu().numpy()


class Deepwave(Peer):
    def __init__(self, torch, shot, device):
        import deepwave

        super().__init__(torch, shot, device)
        self.scalar = deepwave.scalar
        self.wavelet = torch.from_numpy(shot.wavelet(shot.steps)).reshape(1, 1, -1).to(device)
        self.places = [torch.tensor([rows], device=device) for rows in ([shot.source], shot.receivers)]

    def traces(self, velocity):
        out = self.scalar(velocity, SPACING, self.shot.dt, source_amplitudes=self.wavelet,
                          source_locations=self.places[0], receiver_locations=self.places[1], accuracy=ORDER,
                          pml_width=LAYER, pml_freq=FREQUENCY)
        return out[-1][0]


class Moho(Peer):
    def __init__(self, torch, shot, device):
        import moho
        import moho.torch

        super().__init__(torch, shot, device)
        self.call = moho.torch.shot
        self.shots = moho.Shots(self.velocity, spacing=SPACING, wavelet=f"ricker:{FREQUENCY:g}",
                                time=shot.dt * (shot.steps - 1), dt=shot.dt, order=ORDER,
                                faces=f"cpml:{LAYER}")
        self.source = [SPACING * n for n in shot.source]
        self.receivers = [[SPACING * n for n in nodes] for nodes in shot.receivers]

    def traces(self, velocity):
        return self.call(self.shots, self.source, self.receivers, velocity)


class Program:
    """The seconds of steps of model_waves for the same shot."""

    def __init__(self, program, shot, space, folder):
        velocity = os.path.join(folder, "vp.npy")
        shot.np.save(velocity, shot.velocity)
        self.out = os.path.join(folder, "out")

        def place(nodes):
            return ",".join(f"{SPACING * n:g}" for n in nodes)

        self.command = [program, "--vp", velocity, "--spacing", f"{SPACING:g}", "--dt", f"{shot.dt:.6f}",
                        "--time", f"{shot.dt * (shot.steps - 1):.6f}", "--wavelet",
                        f"ricker:{FREQUENCY:g}", "--source", place(shot.source), "--receivers",
                        ";".join(place(nodes) for nodes in shot.receivers), "--boundary", f"cpml:{LAYER}",
                        "--order", str(ORDER), "--space", space, "--snapshot-every", "0", "--no-plot",
                        "--quiet", "--out", self.out]

    def forward(self):
        done = subprocess.run(self.command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise PeerError(f"{self.command[0]} exited with status {done.returncode}: "
                            f"{done.stderr.strip()[-400:]}")
        with open(os.path.join(self.out, "summary.json"), encoding="utf-8") as file:
            took = json.load(file)["seconds"]["steps"]
            return (took, took), None


def entry(shot, who, what, index, took, **more):
    name = f"torch/{what}/{who}/" + "x".join(map(str, shot.shape))
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1,
            "repetition_index": index, "threads": 1, "iterations": 1, "real_time": 1e3 * took[0],
            "cpu_time": 1e3 * took[1], "time_unit": "ms", "best_s": took[0],
            "points": shot.points, "steps": shot.steps, **more}


def run_shape(torch, np, shape, options, device):
    """Entries of a shape."""
    steps = options.steps or max(24, int(2e8 / np.prod([n + 2 * LAYER for n in shape])))
    shot = Shot(np, shape, steps)
    entries, best, apart = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        peers = {"moho": Moho(torch, shot, device)}
        if importlib.util.find_spec("deepwave"):
            peers["deepwave"] = Deepwave(torch, shot, device)
        if options.program:
            space = "openmp" if device == "cpu" else "cuda"
            peers["model_waves"] = Program(options.program, shot, space, folder)
        for peer in peers.values():
            peer.forward()  # compilers, caches, allocations
        for index in range(options.rounds):
            for what in ("forward", "gradient"):
                found = {}
                for who, peer in peers.items():
                    if not hasattr(peer, what):
                        continue
                    took, found[who] = getattr(peer, what)()
                    least = best.get((what, who), took)
                    best[what, who] = (min(took[0], least[0]), min(took[1], least[1]))
                    entries.append(entry(shot, who, what, index, took))
                if "deepwave" in found and what == "forward":
                    apart[what] = difference(np, found["moho"], found["deepwave"])
    size = "x".join(map(str, shape))
    for (what, who), took in best.items():
        ratios = [one / other for one, other in zip(took, best[what, "moho"])]
        print(f"{size}, {steps} steps, {what}: {who} {1e3 * took[0]:.1f} ms, {ratios[0]:.2f} times moho; "
              f"processors {1e3 * took[1]:.1f} ms, {ratios[1]:.2f} times", flush=True)
    for what, value in apart.items():
        print(f"{size}, {what}: traces differ by {value:.1e} up to their scale", flush=True)
    return entries, apart


def run(options):
    if options.threads:
        os.environ.update(OMP_NUM_THREADS=str(options.threads), MOHO_NUM_THREADS=str(options.threads))
    import numpy as np
    import torch

    if options.threads:
        torch.set_num_threads(options.threads)
    import moho

    benchmarks, wrong = [], False
    for shape in options.sizes:
        entries, apart = run_shape(torch, np, shape, options, options.device)
        benchmarks += entries
        wrong = wrong or any(not value < 0.01 for value in apart.values())
    version = "not installed"
    if importlib.util.find_spec("deepwave"):
        version = importlib.metadata.version("deepwave")
    context = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "processor": peers_common.processor(), "device": options.device, "python": platform.python_version(),
        "torch": torch.__version__, "deepwave": version, "moho": str(moho.build()),
        "threads": options.threads or os.cpu_count(), "load": os.getloadavg()[0],
    }
    if options.device != "cpu":
        context["device"] = torch.cuda.get_device_name()
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"context": context, "benchmarks": benchmarks}, file, indent=1)
        file.write("\n")
    print(f"wrote {options.out}")
    if wrong:
        raise PeerError("traces differ by more than a hundredth: these are not the same problem")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where tensors are (cpu)")
    parser.add_argument("--sizes", type=shapes, default=[(401, 201), (801, 401), (96, 96, 96)],
                        help="nodes of models without their layers (401x201,801x401,96x96x96)")
    parser.add_argument("--steps", type=int, default=0, help="time steps (as many as take about a second)")
    parser.add_argument("--threads", type=int, default=0, help="threads on the host (as many as cores)")
    parser.add_argument("--rounds", type=int, default=5, help="calls of each, in turn (5)")
    parser.add_argument("--program", default="", help="model_waves of the same build, for the overhead")
    parser.add_argument("--out", default="peers_torch.json", help="file to write (peers_torch.json)")
    try:
        run(parser.parse_args())
    except (PeerError, OSError) as error:
        print(f"peers_torch.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
