#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what the Python package costs in addition to the programs, and the time of its import.

Shots over 401 x 201 nodes and rays over 1024 x 1024 nodes, with one and two threads. Program and package
take turns, each in a new process; the smallest time of each counts. Of the program it is the time of its
phases of computation, of the package that of the calls, with arrays in memory, after Kokkos has started.

usage: python_overhead.py --programs build/host/examples --package build/host/python --out overhead.json
[--rounds 10] [--threads 1,2]
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile

import numpy as np

SHOT = """
shots = moho.Shots(vp, spacing=10, wavelet="ricker:15", time=2.0)
shots((2000, 20), receivers)
"""
RAYS = """
moho.trace_rays(velocity, spacing=10, sources=(5000, 0), receivers=receivers)
"""
CALL = """
import time, numpy as np, moho
vp = velocity = np.load("model.npy")
receivers = np.load("receivers.npy")
moho.build()
begin = time.perf_counter()
{call}
print(time.perf_counter() - begin)
"""
IMPORT = """
import time, numpy
begin = time.perf_counter()
import moho
print(time.perf_counter() - begin)
"""
# phases of the programs that the calls of the package have as well
PHASES = ("check", "transfer", "prepare", "steps", "weights", "trace", "predecessors", "rays")


def cases():
    """Name, program and its options, model, receivers, call of the package."""
    depth = np.arange(201, dtype=np.float32)
    vp = np.broadcast_to(1500 + 4 * depth, (401, 201)).copy()
    line = np.column_stack([np.linspace(0, 4000, 101), np.full(101, 20.0)])
    options = ["--vp", "model.npy", "--wavelet", "ricker:15", "--time", "2", "--source", "2000,20",
               "--snapshot-every", "0"]
    yield "shot of 401 x 201 nodes", "model_waves", options, vp, line, SHOT
    square = np.broadcast_to(1500 + np.arange(1024, dtype=np.float32), (1024, 1024)).copy()
    surface = np.column_stack([np.linspace(0, 10230, 101), np.zeros(101)])
    options = ["--vp", "model.npy", "--source", "5000,0"]
    yield "rays of 1024 x 1024 nodes", "trace_rays", options, square, surface, RAYS


def run(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env=os.environ | environment)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def seconds_of_program(folder, program, options, threads):
    run([program, *options, "--spacing", "10", "--receivers", "receivers.npy", "--no-plot", "--out", "out"],
        folder, OMP_NUM_THREADS=str(threads))
    with open(os.path.join(folder, "out", "summary.json"), encoding="utf-8") as file:
        phases = json.load(file)["seconds"]
    return sum(value for name, value in phases.items() if name in PHASES)


def seconds_of_package(folder, package, code, threads):
    return float(run([sys.executable, "-c", code], folder, OMP_NUM_THREADS=str(threads), PYTHONPATH=package))


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")),
                    platform.processor())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--package", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", default="1,2")
    given = parser.parse_args()
    programs, package = os.path.abspath(given.programs), os.path.abspath(given.package)
    rows = []
    for name, program, options, model, receivers, call in cases():
        for threads in map(int, given.threads.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                np.save(os.path.join(folder, "model.npy"), model)
                np.save(os.path.join(folder, "receivers.npy"), receivers)
                times = [], []
                for _ in range(given.rounds):
                    path = os.path.join(programs, program)
                    times[0].append(seconds_of_program(folder, path, options, threads))
                    times[1].append(seconds_of_package(folder, package, CALL.format(call=call), threads))
            row = {"case": name, "threads": threads, "program_s": min(times[0]), "package_s": min(times[1]),
                   "program_all_s": times[0], "package_all_s": times[1]}
            row["overhead"] = row["package_s"] / row["program_s"] - 1.0
            rows.append(row)
            print(f"{name}, {threads} threads: program {row['program_s']:.4f} s, package "
                  f"{row['package_s']:.4f} s, overhead {100 * row['overhead']:.1f} %", flush=True)
    imports = [float(run([sys.executable, "-c", IMPORT], ".", PYTHONPATH=package))
               for _ in range(given.rounds)]
    print(f"import after NumPy: {min(imports):.3f} s")
    with open(given.out, "w", encoding="utf-8") as file:
        json.dump({"processor": processor(), "processors": os.cpu_count(), "rounds": given.rounds,
                   "python": platform.python_version(), "overhead": rows, "import_s": min(imports),
                   "import_all_s": imports}, file, indent=1)


if __name__ == "__main__":
    main()
