#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the overhead of distribute_shots on processes of this machine and on a Slurm of one node.

The program starts Slurm from Debian's packages. Shots sleep.

usage: measure_cluster.py --programs build/host/examples --out overhead.json [--shots N] [--seconds S]
[--rounds N]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "examples"))
import services  # noqa: E402


def counted(folder, names):
    """Creates a folder of commands that count their calls."""
    os.makedirs(folder)
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\necho {name} >> {folder}/calls\nexec {services.program(name)} \"$@\"\n")
        os.chmod(path, 0o755)
    return os.path.join(folder, "calls")


def run(programs, folder, sites, shots, seconds, each, slots, environment=None):
    """Does one run; returns its costs."""
    os.makedirs(folder)
    with open(os.path.join(folder, "sites.cfg"), "w") as file:
        file.write(sites)
    command = [os.path.join(programs, "distribute_shots"), "--sites", os.path.join(folder, "sites.cfg"),
               "--journal", os.path.join(folder, "run/journal.txt"), "--shots", f"1-{shots}",
               "--shots-per-job", str(each), "--", "sh",
               "-c", f"sleep {seconds}; echo $0 > $1/r.txt", "{shot}", "{out}"]
    before = os.times()
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})},
                          check=False)
    elapsed = time.monotonic() - begin
    after = os.times()
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    ideal = shots * seconds / slots
    return {"shots": shots, "seconds_a_shot": seconds, "shots_a_job": each, "slots": slots,
            "elapsed": elapsed, "over_ideal": elapsed / ideal if ideal > 0 else None,
            "ms_a_shot_besides": 1e3 * (elapsed * slots / shots - seconds),
            "processor_seconds": after.children_user + after.children_system - before.children_user
            - before.children_system}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--shots", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    programs = os.path.abspath(a.programs)
    results = {"load_before": os.getloadavg()[0], "processors": os.cpu_count(), "runs": []}
    with tempfile.TemporaryDirectory(prefix="moho_cluster_") as folder:
        os.chmod(folder, 0o755)
        number = 0

        def measure(name, sites, each, slots, environment=None, shots=None, seconds=None):
            nonlocal number
            rows = []
            for _ in range(a.rounds):
                number += 1
                rows.append(run(programs, os.path.join(folder, f"run{number}"), sites, shots or a.shots,
                                a.seconds if seconds is None else seconds, each, slots, environment))
            rows.sort(key=lambda row: row["elapsed"])
            middle = dict(rows[len(rows) // 2], name=name, all_elapsed=[row["elapsed"] for row in rows])
            results["runs"].append(middle)
            print(name, json.dumps(middle))

        local = "[here]\nkind = local\nslots = 2\n"
        measure("processes, one shot a job", local, 1, 2)
        measure("processes, ten shots a job", local, 10, 2)
        if not services.missing(*services.Slurm.needs):
            slurm = services.Slurm(os.path.join(folder, "slurm"), cpus=2)
            try:
                calls = counted(os.path.join(folder, "commands"),
                                ["sbatch", "squeue", "scontrol", "sacct", "scancel"])
                environment = {**slurm.environment, "PATH": os.path.dirname(calls) + ":" + os.environ["PATH"]}
                cluster = "[cluster]\nkind = slurm\narray = 50\njobs = 1000\n"
                measure("Slurm of one node, arrays of 50, one shot a job", cluster, 1, 2, environment)
                measure("Slurm of one node, arrays of 50, ten shots a job", cluster, 10, 2, environment)
                counts = open(calls).read().split()
                results["commands_of_slurm"] = {name: counts.count(name) for name in sorted(set(counts))}
                times = []
                for _ in range(20):  # cost of an array alone
                    begin = time.monotonic()
                    slurm.command("sbatch", "--parsable", "--hold", "--array=0-49", "--wrap=true",
                                  "--output=/dev/null")
                    times.append(time.monotonic() - begin)
                results["seconds_of_sbatch_of_an_array_of_50"] = statistics.median(times)
            finally:
                slurm.stop()
    results["load_after"] = os.getloadavg()[0]
    with open(a.out, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
