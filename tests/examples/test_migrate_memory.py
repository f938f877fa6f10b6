#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 20
"""Tests of the memory and the seconds that migrate_shots plans, uses and reports.

usage: test_migrate_memory.py --program PATH [--mpirun PATH] [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import subprocess
import sys
import time

import migrate_shots_case
import support
from support import np


class Memory(migrate_shots_case.Case):
    def setUp(self):
        super().setUp()
        self.host = ["--space", "serial" if "serial" in self.spaces() else self.spaces()[0]]

    def rough(self):
        """Random velocities between rigid faces: late waves come from all directions.

        Returns the arguments of two shots over them.
        """
        rough = np.random.default_rng(7).uniform(1500.0, 3000.0, self.shape)
        self.save("smooth.npy", rough.astype(np.float32))
        self.survey = ["--spacing", "10", "--wavelet", "ricker:10", "--dt", "0.001", "--boundary", "rigid"]
        return ["--time", "3", "--shots", "modelled", "--true-vp", "true.npy", "--source", "300,20:900,20:2",
                "--receivers", "0,20:1200,20:21", *self.host]

    def test_the_plan_is_an_upper_bound_of_compressed_snapshots(self):
        shots = self.rough()
        nodes = self.shape[0] * self.shape[1]
        for kind in ("compressed", "threads"):
            for error in ("snr:55", "snr:80", "max:1e-3", "paper:1e-3", "bits:12"):
                r = self.migrate(*shots, "--snapshots", kind, "--error", error)
                planned = r.summary["snapshots"]["bytes"]
                for shot in r.summary["migrated"]:
                    kept = 4.0 * nodes * r.summary["snapshots"]["count"] / shot["ratio"]
                    self.assertLessEqual(kept, 1.000001 * planned, f"{kind} {error}")
                    self.assertGreater(kept, 0.3 * planned, f"{kind} {error}")

    def gathers(self, receivers, duration, shots=2):
        """Makes gathers of some shots over a small model; returns the arguments of their migration."""
        if not self.modeller:
            self.skipTest("model_waves was not built")
        small = np.full((41, 31), 2000.0, dtype=np.float32)
        self.save("small.npy", small)
        survey = ["--vp", "small.npy", "--spacing", "10", "--wavelet", "ricker:15", "--dt", "0.002", "--time",
                  str(duration), "--source", f"100,20:300,20:{shots}", "--receivers",
                  f"0,20:400,20:{receivers}"]
        done = subprocess.run([self.modeller, *survey, "--snapshot-every", "0", "--no-plot", "--out",
                               "gathers"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return ["--vp", "small.npy", "--spacing", "10", "--boundary", "sponge:20", "--shots", "gathers",
                "--wavelet", "ricker:15", "--dt", "0.002"]

    def test_traces_are_counted(self):
        asked = [*self.gathers(4001, 2.5, 4), *self.host]
        replay = ["--snapshots", "replay"]
        for more in (replay, [*replay, "--at-once", "2"], [*replay, "--devices", "2"],
                     ["--device-memory", "48M", "--block", "8"]):
            self.assert_memory_is_planned(*asked, *more)

    def test_traces_of_modelled_data_are_counted(self):
        asked = ["--vp", "smooth.npy", "--spacing", "10", "--wavelet", "ricker:10", "--dt", "0.001",
                 "--boundary", "rigid", "--time", "2", "--shots", "modelled", "--true-vp", "true.npy",
                 "--source", "300,20:900,20:2", "--receivers", "0,20:1200,20:2001", *self.host]
        for devices in (2, 4):
            self.assert_memory_is_planned(*asked, "--snapshots", "replay", "--devices", devices)

    def test_states_are_counted(self):
        """Checkpoints have the memory of the layers, and in slabs the planes of the neighbours."""
        asked = ["--vp", "2000", "--shape", "150,60,60", "--spacing", "10", "--boundary", "cpml:10",
                 "--wavelet", "ricker:18", "--time", "0.1", "--shots", "modelled", "--true-vp", "2000",
                 "--mute", "none", "--source", "300,300,20", "--receivers", "100,100,20:1400,100,20:20",
                 *self.host]
        for devices in (1, 2, 4):
            self.assert_memory_is_planned(*asked, "--snapshots", "replay", "--devices", devices)

    def test_rings_are_in_the_memory_of_hosts(self):
        asked = ["--vp", "2000", "--shape", "110,60,50", "--spacing", "10", "--width", "10", "--snapshots",
                 "random", "--block", "8", "--wavelet", "ricker:15", "--time", "0.05", "--shots", "modelled",
                 "--true-vp", "2000", "--mute", "none", "--source", "300,300,20", "--receivers",
                 "100,100,20:900,100,20:20", *self.host]
        for devices, share in (("1", 0.6), ("2", 0.8)):
            more = [*asked, "--devices", devices]
            # with less memory, passes have fewer steps, so that rings are smaller
            estimate = self.assert_memory_is_planned(*more)
            memory = round(share * estimate)
            smaller = self.assert_memory_is_planned(*more, "--memory", str(memory))
            self.assertLessEqual(smaller, memory + 24 * 2**20)
            self.refuse([*more, "--memory", f"{round(0.3 * estimate)}"], "and rings of planes", "--memory")

    def test_snapshots_are_counted(self):
        self.save("wide.npy", np.full((401, 301), 2000.0, dtype=np.float32))
        asked = ["--vp", "wide.npy", "--spacing", "10", "--boundary", "sponge:20", "--wavelet", "ricker:15",
                 "--dt", "0.002", "--time", "1", "--shots", "modelled", "--source", "1000,20:3000,20:2",
                 "--receivers", "0,20:4000,20:41", *self.host]
        for more in (["--snapshots", "memory", "--error", "lossless"],
                     ["--snapshots", "memory", "--error", "lossless", "--at-once", "2"],
                     ["--snapshots", "memory", "--error", "lossless", "--devices", "2"]):
            self.assert_memory_is_planned(*asked, *more)

    def test_the_limit_holds(self):
        self.rough()
        wide = np.random.default_rng(7).uniform(1500.0, 3000.0, (401, 301))
        self.save("wide.npy", wide.astype(np.float32))
        asked = ["--vp", "wide.npy", *self.survey, "--time", "1", "--shots", "modelled", "--source",
                 "1000,20:3000,20:2", "--receivers", "0,20:4000,20:41", *self.host, "--memory", "40M"]
        for more in (["--snapshots", "auto"], ["--snapshots", "compressed", "--at-once", "2"],
                     ["--snapshots", "replay", "--at-once", "2"]):
            estimate = self.assert_memory_is_planned(*asked, *more)
            self.assertLessEqual(estimate, (40 + 24) * 2 ** 20)

    def test_too_many_traces_are_refused(self):
        asked = [*self.gathers(4001, 2.5, 2), "--snapshots", "replay", *self.host]
        self.refuse([*asked, "--memory", "40M"], "memory: a shot takes ", " of it for traces (allowed: 40 "
                    "MiB, the --memory given): take fewer receivers, samples or nodes")

    def test_seconds_of_concurrent_shots(self):
        shots = [*self.shots[:-3], "300,20:900,20:8", *self.shots[-2:], *self.host, "--snapshot-steps", "1"]
        for count in ("1", "4"):
            begin = time.monotonic()
            r = self.migrate(*shots, "--at-once", count)
            wall = time.monotonic() - begin
            seconds, run = r.summary["seconds"], r.summary["run"]
            self.assertAlmostEqual(seconds["total"], sum(seconds.values()) - seconds["total"], delta=1e-6)
            self.assertLessEqual(seconds["total"], wall)
            self.assertLessEqual(run["seconds_of_legs"], seconds["total"], count)
            self.assertGreater(run["seconds_of_legs"], 0.2 * seconds["migrate"], count)
            self.assertAlmostEqual(r.summary["rates"]["points_per_second"] * run["seconds_of_legs"],
                                   run["points"], delta=1e-6 * run["points"])
            for shot in r.summary["migrated"]:
                self.assertAlmostEqual(shot["seconds_shared"], shot["seconds"] / int(count), delta=1e-9)

    def test_seconds_of_ranks_without_a_shot(self):
        self.needs_mpirun()
        shots = [*self.shots[:-3], "300,20:900,20:2", *self.shots[-2:], *self.host]
        self.succeed("--vp", "smooth.npy", *self.survey, *shots, "--at-once", "1", ranks=3)
        with open(self.path("out/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual(len(summary["migrated"]), 2)
        for shot in summary["migrated"]:
            self.assertAlmostEqual(shot["seconds_shared"], shot["seconds"] / 2, delta=1e-9)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
