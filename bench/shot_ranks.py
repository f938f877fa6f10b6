#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rates of one shot: ranks with a thread or a device each against one process.

usage: shot_ranks.py [--programs FOLDER] [--ranks N] [--space openmp|cuda] [--nodes N] [--time S]
                     [--rounds R] [--out FILE]

model_waves runs alternately as one process, with as many threads as ranks on hosts and with one device on
devices, and as N ranks of which each has one thread or device (--ranks-per-shot N). Gathers have to have the
same bytes. Writes the rates of all rounds as JSON.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

MEDIA = {"isotropic": [], "VTI": ["--epsilon", "0.1", "--delta", "0.05"],
         "TTI": ["--epsilon", "0.1", "--delta", "0.05", "--theta", "0.5", "--phi", "0.3"]}


def rate_of(command, folder, environment):
    """Runs model_waves and returns nodes per second of its steps."""
    done = subprocess.run([*command, "--out", folder], env={**os.environ, **environment}, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return json.load(file)["rates"]["points_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="build/host/examples")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--space", default="openmp")
    parser.add_argument("--nodes", type=int, default=256)
    parser.add_argument("--time", default="0.15")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", default="shot_ranks.json")
    o = parser.parse_args()
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        sys.exit("shot_ranks.py: no mpirun was found")
    n, end = o.nodes, str(10 * (o.nodes - 1))
    survey = [os.path.join(o.programs, "model_waves"), "--vp", "2000", "--shape", f"{n},{n},{n}", "--spacing",
              "10", "--time", o.time, "--boundary", "sponge:20", "--receivers",
              f"0,{end},20:{end},{end},20:31", "--snapshot-every", "0", "--no-plot", "--space", o.space]
    host = o.space != "cuda"
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMP_PROC_BIND": "true"}
    result = {"ranks": o.ranks, "space": o.space, "nodes": n, "media": {}}
    for name, medium in MEDIA.items():
        rates = {"one": [], "ranks": []}
        with tempfile.TemporaryDirectory() as folder:
            one, several = os.path.join(folder, "one"), os.path.join(folder, "ranks")
            for _ in range(o.rounds):
                rates["one"].append(rate_of([*survey, *medium], one,
                                            {**environment, "OMP_NUM_THREADS": str(o.ranks if host else 1)}))
                command = [mpirun, "-n", str(o.ranks), "--bind-to", "core" if host else "none", *survey,
                           *medium, "--ranks-per-shot", str(o.ranks)]
                rates["ranks"].append(rate_of(command, several, {**environment, "OMP_NUM_THREADS": "1"}))
            with open(os.path.join(one, "gather.npy"), "rb") as a, open(
                    os.path.join(several, "gather.npy"), "rb") as b:
                same = a.read() == b.read()
        if not same:
            sys.exit(f"{name}: the gathers differ")
        best = max(rates["ranks"]) / max(rates["one"])
        result["media"][name] = {**rates, "best_over_best": best}
        one, several = (max(rates[key]) / 1e6 for key in ("one", "ranks"))
        print(f"{name:10} one {one:.0f}, ranks {several:.0f} Mpoints/s, {best:.2f}")
    with open(o.out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
