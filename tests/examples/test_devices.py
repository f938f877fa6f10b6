#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 120, threads 2
"""Tests of --devices and --ranks-per-shot of model_waves: several devices or ranks step each shot, with the
files of one device.

Hosts simulate any number of devices. On devices, tests take those of the machine.

usage: test_devices.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import model_waves_case
import support
from support import np


class DeviceBits(model_waves_case.Case):
    media = {
        "isotropic": ([], "cpml:12,top=free"),
        "variable density": (["--rho", "rho.npy"], "sponge:10,left=random:14,bottom=rigid"),
        "VTI": (["--epsilon", "0.2", "--delta", "0.08"], "cpml:10"),
        "TTI": (["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5"], "sponge:12,top=free"),
        "Fletcher": (["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5", "--equations", "fletcher"],
                     "random:8,right=free")}

    def counts(self, space):
        """Returns the numbers of devices to compare with one."""
        if space != "cuda":
            return [2, 3, 4]
        done = self.call(*self.section, "--space", space, "--devices", "64", "--no-plot")
        found = re.search(r"--devices is 64 \(allowed: 1 to (\d+), those that this process sees\)",
                          done.stderr)
        self.assertTrue(found, done.stderr)
        return range(2, min(int(found[1]), 4) + 1)

    def same_files(self, *survey, space, number=None):
        """The files of several devices have the bytes of those of one.

        All numbers of devices are compared, or the one at a position in their list.
        """
        counts = list(self.counts(space))
        if number is not None and counts:
            counts = [counts[number % len(counts)]]
        expected = self.model(*survey, "--space", space, out="one")
        names = sorted(name for name in os.listdir(self.path("one")) if name.endswith((".npy", ".sgy")))
        self.assertIn("gather.sgy", names)
        self.assertTrue(any(name.startswith("snapshot") for name in names), names)
        for gather in expected.gathers:
            self.assertGreater(np.abs(gather).max(), 0.0)
        for devices in counts:
            r = self.model(*survey, "--space", space, "--devices", devices, out="several")
            self.assert_same_files(names, "one", "several")
            for key in ("snapshots", "model", "scheme", "shots"):
                self.assertEqual(r.summary[key], expected.summary[key], key)
            self.assertEqual(r.summary["devices"]["count"], devices)
            self.assertEqual(sum(r.summary["devices"]["planes"]), r.summary["model"]["shape_with_layers"][0])
        return expected

    def model_files(self, shape):
        rng = np.random.default_rng(4)
        depth = np.arange(shape[-1]) / (shape[-1] - 1)
        self.save("v.npy", (1800.0 + 700.0 * depth + rng.uniform(0, 150, shape)).astype(np.float32))
        self.save("rho.npy", (2000.0 + 300.0 * depth + rng.uniform(0, 100, shape)).astype(np.float32))

    def test_sections(self):
        self.model_files((57, 41))
        # sources and receivers on nodes, between them, and near the ends of slabs
        shots = ["--source", "203,33; 300,20", "--receivers", "10,20:550,20:55; 281.3,211"]
        for space in self.spaces():
            for precision in ("float", "double"):
                for number, (parameters, boundary) in enumerate(self.media.values()):
                    self.same_files("--vp", "v.npy", "--spacing", "10", "--time", "0.2", *shots, *parameters,
                                    "--boundary", boundary, "--precision", precision, "--snapshot-every",
                                    "0.04", space=space, number=number)

    def test_volumes(self):
        self.model_files((37, 21, 25))
        shots = ["--source", "183,101,33", "--receivers", "10,100,20:350,100,20:35; 181.3,77,111"]
        for space in self.spaces():
            for number, (parameters, boundary) in enumerate(self.media.values()):
                azimuth = ["--phi", "0.3"] if "--theta" in parameters else []
                self.same_files("--vp", "v.npy", "--spacing", "10", "--time", "0.1", *shots, *parameters,
                                *azimuth, "--boundary", boundary.replace(":12", ":8"), "--snapshot-every",
                                "0.03", space=space, number=number)

    def test_samples_between_steps(self):
        self.model_files((57, 41))
        for space in self.spaces():
            self.same_files("--vp", "v.npy", "--spacing", "10", "--time", "0.2", "--dt", "0.0007",
                            "--interval", "0.001", space=space)

    def test_expanding_domains(self):
        self.model_files((157, 41))
        for method in ("layers", "eikonal"):
            expected = self.same_files("--vp", "v.npy", "--spacing", "10", "--time", "0.3", "--source",
                                       "303,33", "--expand", method, space=self.spaces()[0])
            r = self.model("--vp", "v.npy", "--spacing", "10", "--time", "0.3", "--source", "303,33",
                           "--expand", method, "--space", self.spaces()[0], "--devices", "2", out="several")
            for key in ("method", "points", "part_stepped", "snapshot_domains"):
                self.assertEqual(r.summary["run"]["expand"][key], expected.summary["run"]["expand"][key], key)
            self.assertLess(r.summary["run"]["expand"]["part_stepped"], 1.0)
            if self.spaces()[0] != "cuda":  # the wave comes from the left third
                self.assertLess(r.summary["devices"]["planes"][0], 0.45 * 177)

    def test_one_device_suffices(self):
        self.model_files((57, 41))
        survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.1"]
        r = self.model(*survey, "--devices", "auto")
        self.assertNotIn("devices", r.summary)
        self.assertEqual(r.summary["asked"]["devices"], "auto")

    def test_a_run_goes_on_with_other_devices(self):
        self.model_files((57, 41))
        survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.1", "--source", "203,33; 300,20",
                  *self.on_host()]
        self.model(*survey, out="one")
        self.model(*survey, "--only-shot", "1", "--devices", "2", out="several")
        self.model(*survey, "--resume", "--devices", "3", out="several")
        self.assert_same_files(["gather_0001.npy", "gather_0002.npy", "gather.sgy", "snapshot_0004.npy"],
                               "one", "several")


class DeviceFailures(model_waves_case.Case):
    def test_overflow_is_named_as_on_one_device(self):
        rng = np.random.default_rng(2)
        shape = (41, 31)
        run = ["--vp", self.save("v.npy", rng.uniform(1500, 4500, shape)),
               "--epsilon", self.save("e.npy", rng.uniform(0, 0.4, shape)),
               "--delta", self.save("d.npy", rng.uniform(-0.2, 0.4, shape)),
               "--theta", self.save("t.npy", rng.uniform(-1.5, 1.5, shape)), "--spacing", "10", "--equations",
               "fletcher", "--wavelet", "ricker:15", "--order", "16", "--boundary", "rigid", "--dt", "0.0007",
               "--time", "2", *self.on_host()]
        one = self.call(*run, "--no-plot")
        self.assertEqual(one.returncode, 1, one.stderr)
        self.assertIn("is no longer finite at node (", one.stderr)
        several = self.call(*run, "--devices", "2", "--no-plot")
        self.assertEqual(several.returncode, 1, several.stderr)
        self.assertEqual(several.stderr, one.stderr)

    def test_refusals(self):
        host = [*self.section, *self.on_host()]
        # points between nodes read 8 planes; 61 nodes and two layers of 10
        for more, word in (([], "for a grid of 81 planes"), (["--plan"], "allowed: up to")):
            self.refuse([*host, "--devices", "40", "--receivers", "5,5", *more], "--devices is 40", word)
        self.refuse([*host, "--devices", "0"], "--devices", "0")
        two = [*host, "--devices", "2"]
        self.refuse([*two, "--at-once", "2"], "--at-once is 2 with --devices 2", "1 or auto")
        self.refuse([*two, "--expand", "amplitude"], "--expand amplitude is for one device",
                    "layers, eikonal")
        if "cuda" in self.spaces():
            self.refuse([*self.section, "--space", "cuda", "--devices", "64"], "--devices is 64",
                        "those that this process sees")

    def test_ranks_have_a_device_each(self):
        self.needs_mpirun()
        self.refuse([*self.section, *self.on_host(), "--devices", "2"],
                    "--devices is 2, and there are 2 ranks", ranks=2)


class DevicePlan(model_waves_case.Case):
    def test_plan_and_summary(self):
        done = self.call(*self.section, *self.on_host(), "--devices", "3", "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the volume fits 3 devices together", done.stdout)
        self.assertIn("on each of 3 devices", done.stdout)
        self.assertIn("forecast: ", done.stdout)
        self.assertFalse(os.path.exists(self.path("model_waves_out")))
        r = self.model(*self.section, *self.on_host(), "--devices", "3")
        devices = r.summary["devices"]
        self.assertEqual(devices["planes"], [27, 27, 27])
        self.assertGreater(devices["bytes_on_each"], 0)
        self.assertGreater(devices["predicted"]["points_per_second"], 0.0)
        self.assertAlmostEqual(devices["measured"]["of_predicted"],
                               devices["measured"]["points_per_second"] /
                               devices["predicted"]["points_per_second"], delta=1e-9)
        self.assertIn("% of the rate predicted", r.text)

    def test_slabs_of_a_domain(self):
        """Plan and summary state the largest slabs cut for the boxes of shots, and the stepped nodes."""
        section = ["--vp", "2000", "--shape", "401,41", "--spacing", "10", "--time", "0.4", "--source",
                   "203,33", "--receivers", "300,20", "--snapshot-every", "0", *self.on_host(), "--devices",
                   "2"]
        equal = self.model(*section, out="equal").summary["devices"]
        for method in ("layers", "eikonal"):
            cut = self.model(*section, "--expand", method, out="cut").summary
            devices, part = cut["devices"], cut["run"]["expand"]["part_stepped"]
            self.assertLess(devices["planes"][0], 0.7 * equal["planes"][0])
            more = devices["bytes_on_each"] / equal["bytes_on_each"]
            self.assertAlmostEqual(more, max(devices["planes"]) / max(equal["planes"]), delta=0.1 * more)
            for one, nodes in ((equal, 1.0), (devices, part)):
                predicted = one["predicted"]
                points = predicted["points_per_second"] * predicted["seconds_a_shot"]
                steps = cut["scheme"]["steps"]
                whole = np.prod(cut["model"]["shape_with_layers"]) * steps
                self.assertAlmostEqual(points / whole, nodes, delta=1e-3)
            done = self.call(*section, "--expand", method, "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            text = re.search(r"2 devices together \((\S+ \S+) on each\)", done.stdout)[1]
            number, unit = text.split()
            printed = float(number) * {"KiB": 1024, "MiB": 1024**2}[unit]
            self.assertAlmostEqual(devices["bytes_on_each"] / printed, 1.0, delta=0.06)

    def test_the_largest_slab_of_several_shots(self):
        """The stated memory is the largest of all shots."""
        section = ["--vp", "2000", "--shape", "401,41", "--spacing", "10", "--time", "0.4",
                   "--snapshot-every", "0", *self.on_host(), "--devices", "2", "--expand", "layers"]
        middle, side, both = (self.model(*section, "--source", source, out="several").summary["devices"]
                              for source in ("2003,33", "203,33", "203,33; 2003,33"))
        self.assertGreater(side["bytes_on_each"], middle["bytes_on_each"])
        self.assertEqual(both["bytes_on_each"], side["bytes_on_each"])


class RanksOfShot(model_waves_case.Case):
    """Ranks that step each shot together."""

    def setUp(self):
        super().setUp()
        self.needs_mpirun()
        rng = np.random.default_rng(4)
        depth = np.arange(41) / 40.0
        v = self.save("v.npy", (1800.0 + 700.0 * depth + rng.uniform(0, 150, (57, 41))).astype(np.float32))
        self.survey = ["--vp", v, "--spacing", "10", "--time", "0.2", "--source", "203,33; 300,20; 510,20",
                       "--receivers", "10,20:550,20:55; 281.3,211", "--snapshot-every", "0.05"]

    def summary(self, out):
        with open(self.path(out + "/summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def same_files(self, survey, runs):
        """Runs are numbers of ranks, and of ranks of each shot: as asked, and as expected."""
        self.succeed(*survey, out="one")
        names = sorted(name for name in os.listdir(self.path("one")) if name.endswith((".npy", ".sgy")))
        self.assertIn("snapshot_0004.npy", names)
        one = self.summary("one")
        for ranks, asked, of_shot in runs:
            self.succeed(*survey, "--ranks-per-shot", asked, out="several", ranks=ranks)
            self.assert_same_files(names, "one", "several")
            several = self.summary("several")
            for key in ("snapshots", "model", "scheme", "shots"):
                self.assertEqual(several[key], one[key], key)
            self.assertEqual(several["ranks"], ranks)
            self.assertEqual(several["run"]["expand"]["points"], one["run"]["expand"]["points"])
            if of_shot == 1:
                self.assertNotIn("devices", several)
                continue
            self.assertEqual(several["devices"]["exchange"], "host memory")
            self.assertEqual([several["devices"][key] for key in ("count", "groups")],
                             [of_shot, ranks // of_shot])
            self.assertEqual(sum(several["devices"]["planes"]), several["model"]["shape_with_layers"][0])

    def test_rates_with_more_ranks_than_shots(self):
        """Ranks without a shot have no seconds."""
        one = ["--vp", "2000", "--shape", "301,201", "--spacing", "10", "--time", "0.4", "--source",
               "1500,500", "--space", "serial", "--snapshot-every", "0"]
        for more in (["--expand", "amplitude"], ["--ranks-per-shot", "2"], []):
            with self.subTest(more=more):
                self.succeed(*one, *more, out="many", ranks=4)
                many = self.summary("many")
                seconds = many["run"]["expand"]["points"] / many["rates"]["points_per_second"]
                self.assertGreater(seconds, 0.6 * many["seconds"]["steps"])
                self.succeed(*one, *more, "--resume", out="many", ranks=4)
                again = self.summary("many")
                self.assertAlmostEqual(again["rates"]["points_per_second"] * seconds
                                       / many["run"]["expand"]["points"], 1.0, delta=0.4)

    def test_same_bits(self):
        for parameters, boundary in DeviceBits.media.values():
            with self.subTest(boundary=boundary):
                self.save("rho.npy", np.full((57, 41), 2000.0, dtype=np.float32))
                self.same_files([*self.survey, *parameters, "--boundary", boundary, *self.on_host()],
                                [(2, 2, 2)])
        self.same_files([*self.survey, *self.on_host()],
                        [(3, 3, 3), (4, 2, 2), (3, "auto", 1), (4, "auto", 2)])
        self.same_files([*self.survey, "--expand", "eikonal", *self.on_host()], [(3, 3, 3)])

    def test_only_shot(self):
        """All ranks compute the shot together, or the run is refused."""
        self.save("true.npy", np.load(self.path("v.npy")) * 1.1)
        survey = [*self.survey[:-2], *self.on_host(), "--only-shot", "2"]
        modelled = ["modelled", "--true-vp", "true.npy"]
        for name, more in (("model_waves", []), ("stream_waves", []),
                           ("migrate_shots", ["--shots", *modelled]),
                           ("invert_waves", ["--data", *modelled])):
            with self.subTest(program=name):
                self.program = os.path.join(os.path.dirname(self.program), name)
                if not os.path.exists(self.program):
                    continue
                one, _ = self.succeed(*survey, *more, out="one" + name)
                arrays = [file for file in os.listdir(one) if file.endswith(".npy")]
                self.assertTrue(arrays)
                if name == "stream_waves":
                    together = [[]]  # each rank is a device of the chain
                else:
                    together = [["--ranks-per-shot", "2"], ["--ranks-per-shot", "auto"]]
                    self.refuse([*survey, *more], "--only-shot: mpirun started 2 ranks, and 1 rank "
                                "computes the shot (allowed: 1 rank, or --ranks-per-shot 2)", ranks=2)
                for given in together:
                    self.succeed(*survey, *more, *given, out="several", ranks=2)
                    self.assert_same_files(arrays, one, "several")
                    shutil.rmtree(self.path("several"))

    def test_plan(self):
        done = self.call(*self.survey, *self.on_host(), "--ranks-per-shot", "2", "--plan", ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("on each of 2 ranks", done.stdout)
        self.assertIn("forecast: ", done.stdout)

    def test_a_killed_rank_ends_all_and_the_run_goes_on(self):
        # shots of about a second, of which two remain after the first
        survey = [*self.survey[:5], "12", *self.survey[6:-1], "3", *self.on_host(), "--ranks-per-shot", "2"]
        self.succeed(*survey, out="one", ranks=2)
        run = self.start_ranks(2, *survey, "--out", "several", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        gather = self.path("several/gather_0001.npy")
        end = time.monotonic() + 60
        while not os.path.exists(gather) and run.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        self.assertIsNone(run.poll())
        self.kill_ranks(run, last=1)
        self.assertNotEqual(run.returncode, 0)
        # mpirun ends the other rank by a signal, which it may note in the summary
        self.assertIn(self.summary("several")["state"], ("incomplete", "interrupted"))
        self.succeed(*survey, "--resume", out="several", ranks=2)
        self.assert_same_files([*(f"gather_{k:04d}.npy" for k in (1, 2, 3)), "gather.sgy",
                                "snapshot_0004.npy"], "one", "several")

    def test_overflow_is_named_once(self):
        shot = [*self.survey[:4], "--time", "40", "--source", "510,200", "--boundary", "rigid", "--equations",
                "fletcher", "--epsilon", "0.3", "--delta", "-0.2", "--theta", "1.1", "--snapshot-every", "0",
                *self.on_host()]
        one = self.call(*shot, "--no-plot")
        self.assertEqual(one.returncode, 1, one.stderr)
        self.assertIn("is no longer finite at node (", one.stderr)
        several = self.call(*shot, "--ranks-per-shot", "2", "--no-plot", ranks=2)
        self.assertEqual(several.returncode, 1, several.stderr)
        said = [line for line in several.stderr.splitlines() if line.startswith("model_waves: ")]
        self.assertEqual(said, one.stderr.splitlines(), several.stderr)

    def test_memory_chooses_ranks(self):
        """auto takes the fewest ranks with sufficient memory; files are those of one rank."""
        asked = ["--vp", "2000", "--shape", "801,401", "--spacing", "10", "--wavelet", "ricker:8", "--time",
                 "0.05", "--source", "3000,100; 4000,100", "--receivers", "0,20:8000,20:5",
                 "--snapshot-every", "0", "--space", "serial"]
        self.refuse([*asked, "--memory", "5M"], "--memory")
        self.succeed(*asked, out="one")
        for memory, number in (("5M", 2), ("50M", 1)):
            self.succeed(*asked, "--memory", memory, "--ranks-per-shot", "auto", out="several", ranks=2)
            self.assert_same_files(["gather_0001.npy", "gather_0002.npy", "gather.sgy"], "one", "several")
            self.assertEqual(self.summary("several").get("devices", {}).get("count", 1), number)
        self.refuse([*asked, "--memory", "2M", "--ranks-per-shot", "auto"], "--memory", ranks=2)

    def test_a_divided_shot_is_alone(self):
        """--at-once takes effect, or a note says that it does not."""
        asked = [*self.survey, *self.on_host(), "--at-once", "2", "--ranks-per-shot", "auto", "--plan"]
        for ranks, said in ((3, False), (4, True)):
            done = self.call(*asked, ranks=ranks)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("note: --at-once 2 has no effect" in done.stdout, said, done.stdout)
            self.assertIn("1 shot at once" if said else "2 shots at once", done.stdout)

    def test_refusals(self):
        host = [*self.survey, *self.on_host()]
        self.refuse([*host, "--ranks-per-shot", "2"], "--ranks-per-shot is 2, and there is 1 rank",
                    "mpirun -n")
        self.write("sites.cfg", "[here]\nkind = local\n")
        for ranks in (0, 2):
            self.refuse([*host, "--ranks-per-shot", "2", "--sites", "sites.cfg"],
                        "--ranks-per-shot is 2 with --sites (allowed: 1 or auto, sites compute each shot by "
                        "one process): leave one of the options out", ranks=ranks)
        for more, ranks, words in (
                (["--ranks-per-shot", "2"], 3, ["--ranks-per-shot is 2, and there are 3 ranks"]),
                (["--ranks-per-shot", "2", "--devices", "2"], 2, ["--devices is 2 with --ranks-per-shot"]),
                (["--ranks-per-shot", "2", "--at-once", "2"], 2, ["--at-once is 2 with --ranks-per-shot 2"]),
                (["--ranks-per-shot", "2", "--expand", "amplitude"], 2, ["--expand amplitude is for one"]),
                (["--ranks-per-shot", "2", "--boundary", "rigid", "--receivers", "5,5", "--shape", "9,41",
                  "--vp", "2000", "--source", "20,20"], 2,
                 ["--ranks-per-shot is 2 (allowed: up to 1 for a grid of 9 planes"])):
            with self.subTest(more=more):
                thin = ["--spacing", "10", "--time", "0.1", "--snapshot-every", "0", *self.on_host()]
                arguments = thin if "--vp" in more else host
                self.refuse([*arguments, *more], *words, ranks=ranks)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
