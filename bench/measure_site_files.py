#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the bytes that a remote site reads and writes for each shot of a sum, and the processor time.

Migrations over one site behind ssh on the loopback interface, with the sum of the site. The programs of the
site are run by scripts that keep the counts of /proc/PID/io; those of the relay are sampled. Counts of a
process include the processes that it has waited for; they are subtracted.

usage: measure_site_files.py --programs build/host/examples --out files.json
[--cases 401,201,2,16:1001,501,1,8] (nodes x and z, seconds, shots)
"""

import argparse
import glob
import json
import os
import sys
import tempfile
import threading
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "examples"))
import measure_site_sums  # noqa: E402
import services  # noqa: E402

SCRIPT = """#!/bin/sh
{program} "$@"
status=$?
{{ cat /proc/$$/io; cut -d ' ' -f 14-17 /proc/$$/stat; }} > {counts}.$$
exit $status
"""


def bytes_of(text):
    """Returns the bytes read and written of a file /proc/PID/io."""
    values = dict(line.split(": ") for line in text.splitlines() if ": " in line)
    return np.array([float(values["rchar"]), float(values["wchar"])])


class Relays(threading.Thread):
    """Samples the counts of the relays below a folder until stop() is called."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder.encode()
        self.ended = threading.Event()
        self.counts = {}

    def run(self):
        while not self.ended.wait(0.02):
            for path in glob.glob("/proc/[0-9]*"):
                try:
                    with open(path + "/cmdline", "rb") as file:
                        words = file.read()
                    if b"--relay-run" not in words or self.folder not in words:
                        continue
                    with open(path + "/io", encoding="utf-8") as file:
                        counts = bytes_of(file.read())
                    with open(path + "/stat", encoding="utf-8") as file:
                        fields = file.read().rsplit(")", 1)[1].split()
                    self.counts[path] = [*counts, sum(map(float, fields[11:13]))]
                except (OSError, KeyError, IndexError):
                    continue  # it has ended

    def stop(self):
        self.ended.set()
        self.join()
        return np.sum(list(self.counts.values()), axis=0)


def measure(programs, folder, nodes, seconds, shots):
    """Returns the counts of a run, for each shot."""
    own = os.path.join(folder, "programs")
    os.mkdir(own)
    os.symlink(os.path.join(programs, "distribute_shots"), os.path.join(own, "distribute_shots"))
    for name in ("shot_worker", "migrate_shots"):
        path = os.path.join(own, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(program=os.path.join(programs, name),
                                     counts=os.path.join(folder, name + ".counts")))
        os.chmod(path, 0o755)
    measure_site_sums.write_models(folder, *nodes)
    sshd = services.Sshd(os.path.join(folder, "ssh"))
    try:
        measure_site_sums.write_sites(folder, own, 1, sshd)
        relays = Relays(folder)
        relays.start()
        begin = time.monotonic()
        _, summary = measure_site_sums.migrate(
            programs, folder, [*measure_site_sums.survey_of(nodes[0], shots, seconds), "--sites", "sites.cfg",
                               "--out", "out"])
        elapsed = time.monotonic() - begin
        relay = relays.stop()
    finally:
        sshd.stop()
    total = {}
    for name in ("shot_worker", "migrate_shots"):
        total[name] = np.zeros(3)
        for path in glob.glob(os.path.join(folder, name + ".counts.*")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            total[name] += [*bytes_of(text), sum(map(float, text.splitlines()[-1].split()))]
    worker, program = total["shot_worker"], total["migrate_shots"]
    tick = os.sysconf("SC_CLK_TCK")
    row = {"nodes": nodes, "shots": shots, "seconds": elapsed, "load": os.getloadavg()[0],
           "sum_bytes": summary["sites"]["list"][0]["sum_bytes"]}
    parts = {"program": program, "worker": worker - program, "relay": relay - [*worker[:2], 0.0]}
    for name, counts in parts.items():
        row[name] = {"read": counts[0] / shots, "written": counts[1] / shots,
                     "processor_seconds": counts[2] / tick / shots}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--cases", default="401,201,2,16:1001,501,1,8")
    a = parser.parse_args()
    results = {"processors": os.cpu_count(), "runs": []}
    for case in a.cases.split(":"):
        nx, nz, seconds, shots = case.split(",")
        with tempfile.TemporaryDirectory(prefix="moho_files_") as folder:
            os.chmod(folder, 0o755)
            row = measure(os.path.abspath(a.programs), folder, [int(nx), int(nz)], seconds, int(shots))
        results["runs"].append(row)
        print(json.dumps(row), flush=True)
    with open(a.out, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
