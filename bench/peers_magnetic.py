#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares model_gravity --magnetic with harmonica (whose kernels are choclo's), values and times in turns.

    peers_magnetic.py --program build/host/examples/model_gravity --out docs/results/magnetic_<machine>

Random prisms with induced and remanent magnetisation, and stations above them. Each round runs model_gravity,
with its far field expanded and with closed forms, and then harmonica.prism_magnetic("b"), with one thread
each; the fastest round counts. The folder gets peers.json. Needs python3-numpy and harmonica.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

from peers_common import PeerError, processor

FIELD = (48000.0, -63.0, 11.0)


def problem(np, prisms, stations):
    """Prisms of 50 to 200 m in a slab of 10 km x 10 km x 1 km; stations 20 to 100 m above it."""
    rng = np.random.default_rng(11)
    low = rng.uniform([0, 0, 0], [1e4, 1e4, 1e3], (prisms, 3))
    high = low + rng.uniform(50.0, 200.0, (prisms, 3))
    rows = np.hstack([np.stack([low, high], axis=2).reshape(prisms, 6), rng.uniform(0, 0.05, (prisms, 1))])
    places = np.column_stack([rng.uniform(0, 1e4, (stations, 2)), -rng.uniform(20.0, 100.0, stations)])
    return rows, rng.uniform(-2.0, 2.0, (prisms, 3)), places


def by_moho(np, program, folder, closed):
    command = [program, "--prisms", "prisms.npy", "--remanence", "remanence.npy",
               "--stations", "stations.npy", "--magnetic", "--field", ",".join(map(str, FIELD)),
               "--components", "bx,by,bz", "--no-plot",
               "--space", "serial", "--out", "out", *(["--far-tolerance", "0"] if closed else [])]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerError(f"{program}: {done.stderr.strip()}")
    with open(os.path.join(folder, "out", "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    values = np.array([np.load(os.path.join(folder, "out", name + ".npy")) for name in ("bx", "by", "bz")])
    return values, summary["rates"]["pairs_per_second"]


def by_harmonica(np, rows, remanence, places):
    import harmonica

    inclination, declination = (math.radians(angle) for angle in FIELD[1:])
    along = np.array([math.cos(inclination) * math.cos(declination),
                      math.cos(inclination) * math.sin(declination), math.sin(inclination)])
    j = rows[:, 6:] * FIELD[0] * 1e-9 / (4e-7 * math.pi) * along + remanence
    # west, east, south, north, bottom, top; upwards
    boxes = np.column_stack([rows[:, 2], rows[:, 3], rows[:, 0], rows[:, 1], -rows[:, 5], -rows[:, 4]])
    start = time.perf_counter()
    east, north, up = harmonica.prism_magnetic((places[:, 1], places[:, 0], -places[:, 2]), boxes,
                                               (j[:, 1], j[:, 0], -j[:, 2]), "b", parallel=False)
    return np.array([north, east, -up]), len(rows) * len(places) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description="Compares model_gravity --magnetic with harmonica.")
    parser.add_argument("--program", default="build/host/examples/model_gravity", help="model_gravity")
    parser.add_argument("--prisms", type=int, default=2000, help="number of prisms (default: 2000)")
    parser.add_argument("--stations", type=int, default=1000, help="number of stations (default: 1000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the fastest counts (default: 3)")
    parser.add_argument("--out", help="folder for peers.json")
    options = parser.parse_args()
    try:
        import choclo
        import harmonica
        import numba
        import numpy as np
    except ImportError as error:
        print(f"peers_magnetic.py: {sys.executable} has no {error.name}: install it", file=sys.stderr)
        return 2
    program = os.path.abspath(options.program)
    rows, remanence, places = problem(np, options.prisms, options.stations)
    rates, values = {}, {}
    by_harmonica(np, rows[:2], remanence[:2], places[:2])  # compiles
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, array in (("prisms", rows), ("remanence", remanence), ("stations", places)):
                np.save(os.path.join(folder, name + ".npy"), array)
            for _ in range(options.rounds):
                for name, run in (("expansion", lambda: by_moho(np, program, folder, False)),
                                  ("closed", lambda: by_moho(np, program, folder, True)),
                                  ("harmonica", lambda: by_harmonica(np, rows, remanence, places))):
                    values[name], rate = run()
                    rates[name] = max(rates.get(name, 0.0), rate)
    except PeerError as error:
        print(f"peers_magnetic.py: {error}", file=sys.stderr)
        return 1
    largest = np.abs(values["harmonica"]).max()
    differences = {name: float(np.abs(values[name] - values["harmonica"]).max() / largest)
                   for name in ("expansion", "closed")}
    results = {"prisms": options.prisms, "stations": options.stations, "largest_nT": float(largest),
               "pairs_per_second": rates, "difference_of_largest": differences, "processor": processor(),
               "harmonica": harmonica.__version__, "choclo": choclo.__version__, "numba": numba.__version__,
               "numpy": np.__version__}
    table = ["| magnetic field, three components, one thread | pairs/s | largest difference from harmonica |",
             "|---|---:|---:|",
             f"| moho, far field expanded | {rates['expansion']:.2e} | {differences['expansion']:.1e} |",
             f"| moho, closed forms | {rates['closed']:.2e} | {differences['closed']:.1e} |",
             f"| harmonica {harmonica.__version__} (choclo {choclo.__version__}) | "
             f"{rates['harmonica']:.2e} | |"]
    print("\n".join(table))
    if options.out:
        os.makedirs(options.out, exist_ok=True)
        with open(os.path.join(options.out, "peers.json"), "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
