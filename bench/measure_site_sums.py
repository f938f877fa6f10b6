#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the bytes that remote sites send by the number of shots, and the time from the last shot to the
image.

Migrations of small shots over sites behind ssh on the loopback interface, with sums of the sites and with
--keep-shots. All images are compared with that of one process.

usage: measure_site_sums.py --programs build/host/examples --out sums.json [--shots 4,16,64] [--sites N]
[--nodes X,Z] [--time S]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "examples"))
import services  # noqa: E402


def migrate(programs, folder, arguments):
    """Does one run; returns its seconds and its summary."""
    begin = time.monotonic()
    done = subprocess.run([os.path.join(programs, "migrate_shots"), *arguments, "--no-plot"], cwd=folder,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    out = arguments[arguments.index("--out") + 1]
    with open(os.path.join(folder, out, "summary.json"), encoding="utf-8") as file:
        return time.monotonic() - begin, json.load(file)


def read(folder, out):
    with open(os.path.join(folder, out, "image.npy"), "rb") as file:
        return file.read()


def write_models(folder, nx, nz):
    """Writes the velocities of the migration, and those of the data."""
    x, z = np.meshgrid(np.arange(nx), np.arange(nz), indexing="ij")
    vp = (2000.0 + 5.0 * z + 0.0 * x).astype(np.float32)
    np.save(os.path.join(folder, "vp.npy"), vp)
    np.save(os.path.join(folder, "true.npy"), vp + np.float32(300.0) * (z > 0.6 * nz))


def write_sites(folder, programs, count, sshd):
    """Writes sites.cfg with sites behind ssh."""
    with open(os.path.join(folder, "sites.cfg"), "w", encoding="utf-8") as file:
        for k in range(count):
            file.write(f"[site{k}]\nhost = far\nfolder = {folder}/site{k}\nprograms = {programs}\n"
                       f"slots = 1\nssh_option = -F{sshd.config}\n")


def survey_of(nx, shots, time_of_shot):
    """Returns the options of a survey with its sources along the surface."""
    width = 10.0 * (nx - 1)
    return ["--vp", "vp.npy", "--true-vp", "true.npy", "--spacing", "10", "--shots", "modelled", "--source",
            f"50,20:{width - 50.0},20:{shots}", "--receivers", f"0,20:{width},20:101", "--wavelet",
            "ricker:15", "--time", time_of_shot, "--space", "serial", "--snapshots", "memory"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--shots", default="4,16,64")
    parser.add_argument("--sites", type=int, default=2)
    parser.add_argument("--nodes", default="201,101")
    parser.add_argument("--time", default="1.5")
    a = parser.parse_args()
    programs = os.path.abspath(a.programs)
    nx, nz = map(int, a.nodes.split(","))
    results = {"nodes": [nx, nz], "sites": a.sites, "processors": os.cpu_count(), "runs": []}
    with tempfile.TemporaryDirectory(prefix="moho_sums_") as folder:
        os.chmod(folder, 0o755)
        write_models(folder, nx, nz)
        sshd = services.Sshd(os.path.join(folder, "ssh"))
        try:
            write_sites(folder, programs, a.sites, sshd)
            for shots in map(int, a.shots.split(",")):
                survey = survey_of(nx, shots, a.time)
                one, _ = migrate(programs, folder, [*survey, "--out", f"one{shots}"])
                for name, more in (("sums", []), ("shots", ["--keep-shots"])):
                    out = f"{name}{shots}"
                    load = os.getloadavg()[0]
                    seconds, summary = migrate(programs, folder,
                                               [*survey, *more, "--sites", "sites.cfg", "--out", out])
                    sites = summary["sites"]
                    row = {"what": name, "shots": shots, "seconds": seconds, "one_process": one, "load": load,
                           "same_bits": read(folder, out) == read(folder, f"one{shots}"),
                           "bytes": sum(site["bytes"] for site in sites["list"]),
                           "sum_bytes": [site["sum_bytes"] for site in sites["list"]],
                           "shots_of_sites": [site["shots"] for site in sites["list"]],
                           "seconds_after_last_shot": sites["seconds_after_last_shot"],
                           "part_after_last_shot": sites["part_after_last_shot"]}
                    results["runs"].append(row)
                    print(json.dumps(row), flush=True)
        finally:
            sshd.stop()
    with open(a.out, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
