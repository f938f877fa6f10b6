#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs invert_times with robust weights on a refraction line and on the line of the tutorial.

    robust_times.py --program build/host/examples/invert_times --picks koenigsee.sgt --out robust.json

koenigsee.sgt is inverted with errors of 0.1 ms + 0.1 %, which no model explains, by least squares, Huber's
weights and biweight. The blocks of docs/tutorial_times.md run in their order up to the last one with
--robust; of its commands those with --robust are reported. Each entry has the options, chi^2 at the start,
its largest value and that at the end, chi^2 without weights of all picks and of those that are not flagged,
and CPU seconds of the process.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np

KOENIGSEE = ["--error", "0.0001,0.001", "--spacing", "0.5", "--no-plot"]
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "docs", "tutorial_times.md")


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def result(folder, out, survey, options, cpu):
    """Returns the entry of a run in a folder."""
    with open(os.path.join(folder, out, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    run = summary["run"]
    history = np.genfromtxt(os.path.join(folder, out, "history.csv"), delimiter=",", names=True)["chi2"]
    return {"survey": survey, "options": " ".join(options), "threads": run["threads"],
            "picks": summary["picks"]["count"], "chi2_start": float(history[0]),
            "chi2_largest": float(history.max()), "chi2": run["chi2"],
            "chi2_unweighted": run["chi2_unweighted"], "chi2_unflagged": run["chi2_unflagged"],
            "flagged": run["flagged"], "rejected": run["rejected"], "rms_s": run["rms"],
            "iterations": run["iterations"], "stop": run["stop"], "cpu_s": round(cpu, 2)}


def koenigsee(program, picks, folder):
    """Returns the entries of koenigsee.sgt."""
    found = []
    for robust in ("none", "huber", "biweight"):
        options = [*KOENIGSEE, "--robust", robust]
        before = cpu_seconds()
        subprocess.run([program, "--picks", os.path.abspath(picks), *options, "--out", robust], cwd=folder,
                       check=True, stdout=subprocess.DEVNULL)
        found.append(result(folder, robust, "koenigsee.sgt", options, cpu_seconds() - before))
    return found


def tutorial(program, folder):
    """Returns the entries of the commands with --robust of the tutorial."""
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```", file.read(), flags=re.M | re.S)
    last = max(k for k, (language, text) in enumerate(blocks) if language == "sh" and "--robust" in text)
    found = []
    for language, text in blocks[:last + 1]:
        if language == "python":
            subprocess.run([sys.executable, "-"], input=text, text=True, cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
        if language != "sh" or "--robust" not in text:
            continue
        words = text.split()[1:]
        out = words[words.index("--out") + 1]
        before = cpu_seconds()
        subprocess.run([program, *words, "--no-plot"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found.append(result(folder, out, "docs/tutorial_times.md", words, cpu_seconds() - before))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="invert_times")
    parser.add_argument("--picks", required=True, help="koenigsee.sgt")
    parser.add_argument("--out", required=True, help="JSON file of the results")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    with tempfile.TemporaryDirectory() as folder:
        found = koenigsee(program, arguments.picks, folder) + tutorial(program, folder)
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    for entry in found:
        print(f"{entry['survey']} {entry['options']}: chi^2 {entry['chi2_start']:.4g} to {entry['chi2']:.4g}"
              f" after {entry['iterations']} iterations, {entry['flagged']} flagged, {entry['stop']}")


if __name__ == "__main__":
    main()
