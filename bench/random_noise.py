#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the noise of random boundaries in gradients: the table of docs/theory/inversion.md.

Gradients of the shots of a small 2D survey are computed by invert_waves with --source-field random and with
--source-field shell, which stores the boundary values. The model has dipping layers, the starting model has
none. For stacks of shots the script prints the correlation of both gradients, and the energy of their
difference over that of the shell's gradient, over all nodes and below a depth. Both are means over disjoint
stacks with evenly spaced shots. Each shot has other random numbers. Writes noise.json and noise.md to the
output folder; gradients of single shots are not kept. Needs python3-numpy.

example:
  OMP_NUM_THREADS=2 bench/random_noise.py build/host/examples/invert_waves --out noise
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from report_common import table, write_text

HEADER = ["width", "shots of a stack", "stacks", "correlation", "energy of the difference",
          "correlation below", "energy below"]
NAMES = ("correlation", "energy", "correlation_below", "energy_below")


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="invert_waves")
    parser.add_argument("--out", default="random_noise", metavar="DIR", help="output folder (random_noise)")
    parser.add_argument("--shape", type=int, nargs=2, default=[241, 121], metavar=("NX", "NZ"),
                        help="nodes, 10 m apart (241 121)")
    parser.add_argument("--time", type=float, default=1.5, help="seconds of a shot (1.5)")
    parser.add_argument("--widths", type=int, nargs="+", default=[30, 60, 120], metavar="N",
                        help="nodes of the random layers (30 60 120)")
    parser.add_argument("--stacks", type=int, nargs="+", default=[1, 10, 50], metavar="N",
                        help="shots of the stacks; the last one is the survey, a multiple of the others "
                             "(1 10 50)")
    parser.add_argument("--below", type=float, default=200.0, metavar="M",
                        help="depth below which the second pair of columns is measured (200)")
    parser.add_argument("--other-seed", type=int, metavar="N",
                        help="also computes the survey with this seed, and the correlation of the "
                             "differences from the shell's gradient with both seeds: 1 if they do not depend "
                             "on it")
    asked = parser.parse_args()
    if any(asked.stacks[-1] % count for count in asked.stacks):
        parser.error("--stacks: the last number is a multiple of the others")
    return asked


def models(shape, spacing=10.0):
    """Returns the velocity with dipping layers, and the starting model without them."""
    x, z = np.meshgrid(*(spacing * np.arange(n) for n in shape), indexing="ij")
    depth, middle = z / z.max(), x - 0.5 * x.max()
    start = 1600.0 + 0.8 * z
    true = start.copy()
    for at, dip, contrast in ((0.25, 0.1, 150.0), (0.45, -0.08, -120.0), (0.65, 0.05, 250.0),
                              (0.82, 0.0, 200.0)):
        true += contrast * (depth > at + dip * middle / z.max())
    start += 280.0 * np.clip((depth - 0.25) / 0.6, 0.0, 1.0)
    return true.astype("f4"), start.astype("f4")


def shot_gradient(command, method, shot, folder):
    """Returns the gradient of one shot at the starting model."""
    out = os.path.join(folder, "out")
    subprocess.run([*command, "--source-field", method, "--only-shot", str(shot), "--out", out], check=True)
    return np.load(os.path.join(out, f"shot_{shot:04d}.npy"))[0].astype(float)


def compare(expected, found):
    """Returns the correlation of two gradients, and the energy of their difference over the first's."""
    energy = np.sum(expected**2)
    correlation = np.sum(expected * found) / np.sqrt(energy * np.sum(found**2))
    return correlation, np.sum((found - expected)**2) / energy


def main():
    asked = options()
    out = pathlib.Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    shots, end = asked.stacks[-1], 10 * (asked.shape[0] - 1)
    below = int(np.ceil(asked.below / 10.0))
    arguments = ["--data", "modelled", "--spacing", "10", "--source", f"20,20:{end - 20},20:{shots}",
                 "--receivers", f"0,20:{end},20:{(asked.shape[0] - 1) // 2 + 1}", "--wavelet", "ricker:8",
                 "--time", f"{asked.time:g}"]
    numbers = range(1, shots + 1)
    with tempfile.TemporaryDirectory() as folder:
        for name, values in zip(("true", "start"), models(asked.shape)):
            np.save(os.path.join(folder, f"{name}.npy"), values)
        command = [os.path.abspath(asked.program), "--vp", os.path.join(folder, "start.npy"), "--true-vp",
                   os.path.join(folder, "true.npy"), *arguments, "--no-plot", "--quiet"]

        def survey(method, *more):
            return np.array([shot_gradient([*command, *more], method, shot, folder) for shot in numbers])

        expected, found, of_seeds = survey("shell"), {}, {}
        for width in asked.widths:
            # --width alone would also be that of the absorbing layers
            more = ["--width", str(width), "--boundary", "cpml:20"]
            found[width] = survey("random", *more)
            if asked.other_seed is not None:
                other = survey("random", *more, "--seed", str(asked.other_seed))
                differences = [(values - expected).sum(axis=0) for values in (found[width], other)]
                of_seeds[width] = float(compare(*differences)[0])
    cases = []
    for width, count in ((width, count) for width in asked.widths for count in asked.stacks):
        stacks = shots // count
        every = []
        for first in range(stacks):
            a, b = (values[first::stacks].sum(axis=0) for values in (expected, found[width]))
            every.append(compare(a, b) + compare(a[:, below:], b[:, below:]))
        case = {"width": width, "shots": count, "stacks": stacks}
        for name, column in zip(NAMES, np.array(every).T):
            case[name] = float(column.mean())
            case[f"worst_{name}"] = float(column.min() if name.startswith("correlation") else column.max())
        cases.append(case)
    text = table(HEADER, [[str(case[key]) for key in ("width", "shots", "stacks")]
                          + [f"{100 * case[name]:.2f} %" if name.startswith("energy") else f"{case[name]:.4f}"
                             for name in NAMES] for case in cases])
    print(text)
    for width, correlation in of_seeds.items():
        print(f"width {width}: correlation of the differences with both seeds {correlation:.4f}")
    write_text(str(out / "noise.md"), text + "\n")
    write_text(str(out / "noise.json"), json.dumps({
        "shape": asked.shape, "spacing": 10, "time": asked.time, "below": asked.below,
        "arguments": arguments, "cases": cases, "difference_correlation": of_seeds}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"random_noise.py: {problem}", file=sys.stderr)
        sys.exit(1)
