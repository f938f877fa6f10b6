#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much of the writing of snapshots is hidden behind the propagations of a shot.

usage: measure.py MIGRATE_SHOTS MARMOUSI_1601x401.npy FOLDER_FOR_SNAPSHOTS [repetitions]

Writes files.csv and the summaries of the runs to the current folder. A run is that with the median of the
seconds of both propagations. Hidden is the part of writing and reading for which the run did not wait; its
waits for threads that compress count as waits for files.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

program, marmousi, spool = sys.argv[1:4]
repetitions = int(sys.argv[4]) if len(sys.argv) > 4 else 3

CASES = {
    "2D, 1601 x 401 nodes": [
        "--vp", marmousi, "--true-vp", marmousi, "--spacing", "7.5", "--source", "6000,22.5", "--receivers",
        "0,22.5:12000,22.5:201", "--wavelet", "ricker:15", "--time", "1.5"],
    "3D, 96 x 96 x 96 nodes": [
        "--vp", "2500", "--true-vp", "2500", "--shape", "96,96,96", "--spacing", "10", "--source",
        "480,480,20", "--receivers", "100,480,20:860,480,20:39", "--wavelet", "ricker:12", "--time", "0.6"],
}
STORAGES = {
    "raw": ["--snapshots", "disk", "--error", "lossless"],
    "compressed by the run": ["--snapshots", "disk", "--error", "snr:55"],
    "compressed by 2 threads": ["--snapshots", "threads", "--error", "snr:55"],
}


def run(words):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, *words, "--shots", "modelled", "--mute", "none", "--at-once", "1",
                        "--no-plot", "--quiet", "--snapshot-dir", spool, "--out", folder], check=True)
        with open(pathlib.Path(folder) / "summary.json", encoding="utf-8") as file:
            return json.load(file)


def seconds(summary, stage):
    return sum(s["seconds"] for s in summary["stages"] if s["stage"] == stage)


rows, kept = [], {}
for case, words in CASES.items():
    found = {storage: [] for storage in STORAGES}
    for _ in range(repetitions):  # in turns
        for storage, options in STORAGES.items():
            found[storage].append(run([*words, *options]))
    for storage, summaries in found.items():
        summaries.sort(key=lambda s: s["migrated"][0]["seconds"])
        summary = summaries[len(summaries) // 2]
        kept[f"{case}, {storage}"] = {key: summary[key] for key in ("snapshots", "migrated", "stages")}
        shot = summary["migrated"][0]
        write, read = seconds(summary, "write snapshot"), seconds(summary, "read snapshot")
        waited = shot["seconds_waited"]
        rows.append({
            "shot": case, "snapshots": storage, "number": summary["snapshots"]["count"],
            "MB in files": f"{shot['bytes_on_disk'] / 1e6:.1f}",
            "forward, s": f"{seconds(summary, 'forward leg'):.1f}",
            "backward, s": f"{seconds(summary, 'backward leg'):.1f}",
            "writing, s": f"{write:.2f}", "reading, s": f"{read:.2f}", "the run waited, s": f"{waited:.2f}",
            "hidden": f"{100 * max(0.0, 1.0 - waited / (write + read)):.0f} %"})
        print(rows[-1], flush=True)
with open("files.csv", "w", newline="", encoding="utf-8") as file:
    table = csv.DictWriter(file, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
with open("runs.json", "w", encoding="utf-8") as file:
    json.dump(kept, file, indent=1)
    file.write("\n")
