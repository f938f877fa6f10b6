#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times invert_times and pyGIMLi in turn on a refraction line with the same picks and errors.

    peers_tomography.py --program build/host/examples/invert_times --picks koenigsee.sgt --out peers.json

Both fit first arrivals of a file .sgt with errors of abs + rel t. pyGIMLi inverts as in its example of
this line: TravelTimeManager.invert(secNodes=3, paraMaxCellSize=5, zWeight=0.2, vTop=500, vBottom=5000),
lambda 20. At errors of 0.5 ms + 2 % invert_times runs with its defaults, to chi^2 = 1. At 0.3 ms + 1 %,
which neither reaches, it has lengths of 2 and 1 m and a prior deviation up to 1.5, and ends at or below
the chi^2 of pyGIMLi if it gets there. Seconds are those of the inversions: of the process for
invert_times, of invert() for pyGIMLi. CPU seconds are those of all threads, which other work on the
machine disturbs less.
Needs python3-numpy and pygimli.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import peers_common
from peers_common import PeerError

SETTINGS = (("0.5 ms + 2 %", (0.0005, 0.02), []),
            ("0.3 ms + 1 %", (0.0003, 0.01), ["--lengths", "2,1", "--deviation-max", "1.5", "--iterations",
                                              "40"]))


def cpu_seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def peer(picks, errors):
    """Returns chi^2, rms, iterations, cells, elapsed and CPU seconds of pyGIMLi."""
    import numpy as np
    from pygimli.physics import traveltime

    data = traveltime.load(picks, verbose=False)
    times = np.array(data["t"])
    sigma = errors[0] + errors[1] * times
    data["err"] = sigma
    manager = traveltime.TravelTimeManager(data)
    start, cpu = time.perf_counter(), cpu_seconds(resource.RUSAGE_SELF)
    manager.invert(secNodes=3, paraMaxCellSize=5.0, zWeight=0.2, vTop=500, vBottom=5000, verbose=False)
    took = time.perf_counter() - start
    residual = np.array(manager.data["t"]) - np.array(manager.inv.response)
    sigma = errors[0] + errors[1] * np.array(manager.data["t"])
    return {"chi2": float(np.mean((residual / sigma)**2)), "rms_s": float(np.sqrt(np.mean(residual**2))),
            "iterations": int(manager.inv.iter), "cells": int(manager.paraDomain.cellCount()),
            "best_s": took, "cpu_s": cpu_seconds(resource.RUSAGE_SELF) - cpu}


def own(program, picks, errors, options, target):
    """Returns the same of invert_times."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        command = [program, "--picks", picks, "--error", f"{errors[0]:g},{errors[1]:g}", "--spacing", "0.5",
                   "--no-plot", "--out", out, *options]
        if options:
            command += ["--tolerance", f"{max(target - 1.0, 0.01):.3f}"]
        start, cpu = time.perf_counter(), cpu_seconds(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        took = time.perf_counter() - start
        if done.returncode != 0:
            raise PeerError(f"{program} exited with status {done.returncode}: {done.stdout.strip()[-400:]}")
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        nodes = 1
        for n in summary["model"]["shape"]:
            nodes *= n
        return {"chi2": summary["run"]["chi2"], "rms_s": summary["run"]["rms"],
                "iterations": summary["run"]["iterations"], "cells": nodes, "best_s": took,
                "cpu_s": cpu_seconds(resource.RUSAGE_CHILDREN) - cpu}


def entry(what, who, index, values):
    name = f"tomography/{os.path.splitext(what[0])[0]}/{what[1]}/{who}"
    return {"name": name, "run_name": name, "run_type": "iteration", "repetition_index": index,
            "iterations": 1, "real_time": 1e3 * values["best_s"], "cpu_time": 1e3 * values["cpu_s"],
            "time_unit": "ms", **values}


def run(options):
    cores = peers_common.prepare(options.program, options.threads, "pygimli")
    import pygimli

    benchmarks = []
    for index in range(options.rounds):
        for label, errors, more in SETTINGS:
            what = (os.path.basename(options.picks), label)
            theirs = peer(options.picks, errors)
            ours = own(options.program, options.picks, errors, more, theirs["chi2"])
            benchmarks += [entry(what, "pygimli", index, theirs), entry(what, "invert_times", index, ours)]
            print(f"{label}, round {index + 1}: pyGIMLi chi^2 {theirs['chi2']:.3f} in "
                  f"{theirs['iterations']} iterations, {theirs['best_s']:.1f} s ({theirs['cpu_s']:.1f} of "
                  f"CPU); invert_times {ours['chi2']:.3f} in {ours['iterations']}, {ours['best_s']:.1f} s "
                  f"({ours['cpu_s']:.1f} of CPU)", flush=True)
    context = {"num_cpus": len(cores), "threads": int(os.environ["OMP_NUM_THREADS"]),
               "load_average": os.getloadavg()[0]}
    peers_common.write_results(options.out, context, benchmarks, pygimli.__version__, "pygimli")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/host/examples/invert_times",
                        help="(build/host/examples/invert_times)")
    parser.add_argument("--picks", required=True, help="koenigsee.sgt of pyGIMLi's example data")
    parser.add_argument("--threads", type=int, default=0, help="threads of both programs (as many as cores)")
    parser.add_argument("--rounds", type=int, default=3, help="inversions of each program, in turn (3)")
    parser.add_argument("--out", default="peers_tomography.json", help="file to write")
    options = parser.parse_args()
    try:
        run(options)
    except (PeerError, OSError) as error:
        print(f"peers_tomography.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
