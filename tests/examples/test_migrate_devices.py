#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 30, threads 2
"""Tests of --devices and --ranks-per-shot of migrate_shots: several devices or ranks hold each shot in slabs,
with the files of one.

Hosts simulate any number of devices. On devices, tests take those of the machine.

usage: test_migrate_devices.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import math
import os
import re
import sys

import migrate_shots_case
import support
from support import np


class Slabs(migrate_shots_case.Case):
    survey = ["--spacing", "10", "--wavelet", "ricker:15", "--time", "0.4", "--dt", "0.002"]
    sponge = ["--boundary", "sponge:12"]
    gathers = ["--columns", "350,360,595,600,850,840", "--offset", "120", "--angles"]
    shots = [
        "--shots",
        "modelled",
        "--true-vp",
        "true.npy",
        "--source",
        "303,20:900,20:2",
        "--receivers",
        "0,20:1200,20:31",
    ]

    def setUp(self):
        super().setUp()
        self.asked = [*self.shots, "--space", self.spaces()[0]]

    def counts(self):
        """Returns the numbers of devices to compare with one."""
        if self.spaces()[0] != "cuda":
            return [2, 3]
        done = self.call("--vp", "smooth.npy", *self.survey, *self.asked, "--devices", "64", "--no-plot")
        found = re.search(
            r"--devices is 64 \(allowed: 1 to (\d+), those that this process sees\)", done.stderr
        )
        self.assertTrue(found, done.stderr)
        return range(2, min(int(found[1]), 3) + 1)

    def same_files(self, *more):
        """The arrays of several devices have the bytes of those of one."""
        core = self.migrate(*self.asked, *more, out="one")
        self.assertNotIn("devices", core.summary)
        names = sorted(name for name in os.listdir(self.path("one")) if name.endswith((".npy", ".sgy")))
        self.assertIn("illumination_source.npy", names)
        self.assertGreater(np.abs(core.image).max(), 0.0)
        for devices in self.counts():
            r = self.migrate(*self.asked, *more, "--devices", devices, out="several")
            self.assert_same_files(names, "one", "several")
            self.assertEqual(r.summary["devices"]["count"], devices)
            self.assertEqual(len(r.summary["devices"]["planes"]), devices)
            each = r.summary["devices"]["bytes_on_each"]
            self.assertGreater(each, 0)
            memory = r.summary["memory"]
            if self.spaces()[0] == "cuda":
                self.assertAlmostEqual(memory["device_bytes"], each, delta=1)
            else:
                self.assertGreater(memory["estimate_bytes"], devices * each)
            self.assertNotIn("stream", r.summary)
            self.assertEqual(r.summary["at_once"], 1)
            for one, several in zip(core.summary["migrated"], r.summary["migrated"]):
                for key in ("points", "points_of_whole_grids", "window", "largest"):
                    self.assertEqual(several[key], one[key], key)
        return core

    def test_media_and_storage(self):
        anisotropic = [
            word
            for name, value in (("epsilon", "0.15"), ("delta", "0.08"))
            for word in (f"--{name}", value, f"--true-{name}", value)
        ]
        self.save("rho.npy", np.load(self.path("smooth.npy")) * np.float32(0.7))
        self.save("true_rho.npy", np.load(self.path("true.npy")) * np.float32(0.7))
        for more in (
            ["--snapshots", "device", "--boundary", "cpml:10,top=free"],
            [*self.sponge, "--snapshots", "boundary", "--rho", "rho.npy", "--true-rho", "true_rho.npy"],
            [*self.sponge, "--snapshots", "replay", *anisotropic, "--precision", "double"],
            ["--snapshots", "random", "--boundary", "cpml:10,top=free,left=rigid", "--width", "15"],
            [
                *self.sponge,
                "--snapshots",
                "compressed",
                "--error",
                "bits:16",
                *anisotropic,
                "--theta",
                "0.4",
                "--true-theta",
                "0.4",
            ],
        ):
            with self.subTest(more=more):
                self.same_files("--condition", "zero-lag,source,receiver,inverse-scattering,laplacian", *more)

    def test_domains_and_apertures(self):
        core = self.same_files(*self.sponge, "--expand", "layers", "--snapshots", "boundary")
        self.assertLess(core.summary["run"]["points"], core.summary["run"]["points_of_whole_grids"])
        self.same_files(
            *self.sponge, "--expand", "eikonal", "--snapshots", "replay", "--condition", "receiver"
        )
        self.same_files(*self.sponge, "--aperture", "150", "--snapshots", "device")

    def test_gathers(self):
        """Columns are on both sides of the cuts of 2 and of 3 slabs."""
        self.same_files(*self.sponge, *self.gathers, "--snapshots", "device", "--keep-shots")
        self.same_files(*self.sponge, *self.gathers, "--snapshots", "boundary", "--expand", "layers")
        self.save("rho.npy", np.load(self.path("smooth.npy")) * np.float32(0.7))
        dense = ["--rho", "rho.npy", "--true-rho", "2000", "--aperture", "150"]
        self.same_files(*self.sponge, *self.gathers, *dense, "--snapshots", "random")

    def test_a_run_goes_on(self):
        asked = [*self.asked, *self.sponge, "--snapshots", "replay"]
        self.migrate(*asked, out="one")
        devices = ["--devices", self.counts()[-1]]
        done = self.call(
            "--vp",
            "smooth.npy",
            *self.survey,
            *asked,
            "--only-shot",
            "1",
            *devices,
            "--no-plot",
            "--out",
            "several",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.migrate(*asked, "--resume", *devices, out="several")
        self.assert_same_files(["image.npy", "illumination_source.npy"], "one", "several")

    def test_forecast_of_more_slabs_than_threads(self):
        """Slabs of a host share its threads: many take at least a third of the seconds of one."""
        seconds = []
        for devices in (1, 12):
            asked = [*self.shots, "--snapshots", "memory", "--space", "serial", "--devices", devices]
            done = self.call("--vp", "smooth.npy", *self.survey, *asked, "--plan",
                             environment={"OMP_NUM_THREADS": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            seconds.append(float(re.search(r"\ntime +about (\S+) s", done.stdout)[1]))
        self.assertGreater(seconds[1], seconds[0] / 3.0)

    def test_plan_and_choice(self):
        plan = ["--vp", "smooth.npy", *self.survey, *self.asked, "--devices", "2", "--plan"]
        done = self.call(*plan)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stdout,
            r"devices   each shot in slabs on 2 devices: \d+, \d+ planes of the "
            r"largest shot, up to .* on each device with snapshots",
        )
        self.assertIn("on each device besides snapshots", done.stdout)
        done = self.call(*plan, "--snapshots", "random")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"each shot in slabs on 2 devices: \d+, \d+ planes")
        self.assertIn("random layers", done.stdout)
        done = self.call(*plan, *self.gathers)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"each shot in slabs on 2 devices: \d+, \d+ planes")
        for more in (["--block", "9"], ["--updates", "7"], ["--block", "9", "--columns", "400"]):
            done = self.call(*plan, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("2 devices in a chain", done.stdout)
            self.assertNotIn("slabs on", done.stdout)

    def test_what_does_not_fit_streams(self):
        if self.spaces()[0] == "cuda":
            self.skipTest("devices have more memory")
        for name in ("smooth.npy", "true.npy"):
            self.save(name, np.repeat(np.load(self.path(name))[:1], 401, axis=0))
        asked = [*self.asked, *self.sponge, "--width", "14", "--devices", "2", "--device-memory"]
        random = ["--snapshots", "random"]
        for memory, slabs, more in (
            ("660K", False, []), ("900K", True, []), ("900K", False, random), ("1600K", True, random)
        ):
            done = self.call("--vp", "smooth.npy", *self.survey, *asked, memory, *more, "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("in slabs on 2 devices" in done.stdout, slabs)
            self.assertEqual("no slabs: " in done.stdout and "2 devices in a chain" in done.stdout, not slabs)

    def test_one_device_by_choice(self):
        """A shot that fits one device is not divided."""
        asked = ["--vp", "smooth.npy", *self.survey, *self.asked]
        for devices in ("1", "auto"):
            done = self.call(*asked, "--devices", devices, "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("slabs", done.stdout)

    def test_memory_of_the_plan(self):
        arguments = [*self.shots, "--snapshots", "memory", "--error", "lossless", "--space", "serial"]
        arguments += ["--memory", "300M"]
        one, two = (self.migrate(*arguments, "--at-once", str(n)).summary for n in (1, 2))
        memory = one["memory"]
        self.assertEqual(sorted(memory), ["allowed_by", "allowed_bytes", "estimate_bytes"])
        self.assertEqual(memory["allowed_by"], "the --memory given")
        self.assertLess(memory["estimate_bytes"], memory["allowed_bytes"])
        stored = one["snapshots"]["bytes"]
        self.assertGreater(stored, 1e6)
        self.assertGreater(memory["estimate_bytes"], stored)
        self.assertGreater(two["memory"]["estimate_bytes"] - memory["estimate_bytes"], stored)
        slabs = self.migrate(*arguments, "--devices", "2").summary
        self.assertGreater(slabs["memory"]["estimate_bytes"], slabs["devices"]["bytes_on_each"])

    def test_refusals(self):
        layers = ["--boundary", "cpml:20"]
        two = ["--vp", "smooth.npy", *self.survey, *self.asked, *layers, "--devices", "2"]
        for more, *words in (
            (["--expand", "amplitude"], "--devices is 2 (allowed: 1 with the domain amplitude)"),
            (["--at-once", "2"], "--devices 2 and --at-once 2 (allowed together: 1)"),
            (["--snapshots", "replay", "--device-memory", "390K"], "--devices is 2 (allowed: 6, 7)"),
        ):
            with self.subTest(more=more):
                self.refuse([*two, *more], *words)
        if self.spaces()[0] != "cuda":
            message = self.refuse([*two[:-1], "60"], "--devices is 60 (allowed: up to ", "planes")
            most = int(re.search(r"up to (\d+)", message).group(1))
            self.refuse([*two[:-1], str(most + 1)], f"--devices is {most + 1} (allowed: up to {most},")
            wide = [*two[: -len(layers) - 2], *self.sponge, "--columns", "600", "--offset", "300"]
            wide += ["--devices", "8"]
            said = (
                "--offset: the largest half offset is 30 nodes (allowed: 0 to 18 nodes, 180 m, the planes "
                "of the model in the thinnest of 8 slabs)"
            )
            self.refuse([*wide, "--snapshots", "device"], said)
            done = self.call(*wide, "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no slabs: offsets: the largest half offset is 30 nodes", done.stdout)
            self.assertIn("devices in a chain", done.stdout)


    def test_advice_works(self):
        """Refusals name all numbers of devices that are accepted, and sufficient bytes."""
        if self.spaces()[0] == "cuda":
            self.skipTest("devices have more memory")
        asked = ["--vp", "smooth.npy", *self.survey, *self.asked, "--boundary", "cpml:20"]
        listed = r"\(allowed: ((?:up to )?\d+(?: to \d+)?(?:, \d+(?: to \d+)?)*)[,)]"
        for method, devices, memory in (
            ("auto", 60, None), ("replay", 14, "400K"), ("replay", 2, "400K"), ("device", 2, "350K"),
            ("replay", 2, "100K"), ("boundary", 60, "100K"), ("auto", 2, "100K"), ("random", 60, "100K"),
        ):
            with self.subTest(method=method, devices=devices, memory=memory):
                def plan(devices, memory, method=method):
                    limit = ["--device-memory", memory] if memory else []
                    return [*asked, "--snapshots", method, "--devices", str(devices), *limit, "--plan"]

                message = self.refuse(plan(devices, memory), "devices")
                found = re.search(listed, message)
                works = self.numbers(found[1]) if found else []
                for number in range(2, 13):
                    done = self.call(*plan(number, memory))
                    self.assertEqual(done.returncode, 0 if number in works else 2, (number, message))
                needs = [(need[1], need[2]) for need in
                         re.finditer(r"needed on each of (\d+) devices: ([\d.]+ [KM])", message)]
                needs += [(devices, need[1]) for need in
                          re.finditer(r"\(needed: ([\d.]+ [KM])iB or more", message)]
                self.assertTrue(found or needs, message)
                for count, need in needs:
                    done = self.call(*plan(count, need.replace(" ", "")))
                    self.assertEqual(done.returncode, 0, message + done.stderr)

    def test_slabs_of_a_domain(self):
        """Plan and summary state the slabs cut for the boxes of shots, and the stepped nodes."""
        if self.spaces()[0] == "cuda":
            self.skipTest("forecasts of small grids")
        for name in ("smooth.npy", "true.npy"):
            self.save(name, np.repeat(np.load(self.path(name))[:1], 401, axis=0))
        asked = [*self.shots, "--space", "serial", *self.sponge, "--snapshots", "replay", "--devices", "2"]
        asked[asked.index("303,20:900,20:2")] = "300,20"
        planes, seconds = [], []
        for method in ("none", "layers"):
            done = self.call("--vp", "smooth.npy", *self.survey, *asked, "--expand", method, "--plan",
                             environment={"OMP_NUM_THREADS": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            planes.append(re.search(r"slabs on 2 devices: (\d+), (\d+) planes", done.stdout).groups())
            seconds.append(float(re.search(r"\ntime +about (\S+) s", done.stdout)[1]))
        self.assertLess(int(planes[1][0]), 0.7 * int(planes[0][0]))
        self.assertLess(seconds[1], 0.7 * seconds[0])
        equal = self.migrate(*asked, out="equal").summary["devices"]
        cut = self.migrate(*asked, "--expand", "layers", out="cut").summary
        self.assertEqual(cut["devices"]["planes"], [int(count) for count in planes[1]])
        self.assertEqual(cut["devices"]["planes"], cut["migrated"][0]["slab_planes"])
        self.assertGreater(cut["devices"]["bytes_on_each"], 1.2 * equal["bytes_on_each"])


class RanksOfShot(migrate_shots_case.Case):
    """Ranks that migrate each shot together, with the files of one rank."""

    survey, sponge = Slabs.survey, Slabs.sponge

    def setUp(self):
        super().setUp()
        self.needs_mpirun()
        self.asked = ["--vp", "smooth.npy", *self.survey, *Slabs.shots, *self.on_host()]

    def same_files(self, cases, *more):
        """Cases: ranks, --ranks-per-shot, and the number that is expected."""
        asked = [*self.asked, *more]
        self.succeed(*asked, out="one")
        one = self.summary("one")
        names = sorted(name for name in os.listdir(self.path("one")) if name.endswith((".npy", ".sgy")))
        for ranks, per_shot, count in cases:
            self.succeed(*asked, "--ranks-per-shot", per_shot, out="several", ranks=ranks)
            self.assert_same_files(names, "one", "several")
            several = self.summary("several")
            self.assertEqual(several["ranks"], ranks)
            self.assertEqual(several.get("devices", {}).get("count", 1), count)
            self.assertEqual(several.get("exchange", ""), "host memory" if count > 1 else "")
            for a, b in zip(one["migrated"], several["migrated"]):
                for key in ("points", "points_of_whole_grids", "window", "largest", "snapshots"):
                    self.assertEqual(a[key], b[key], key)

    def summary(self, folder):
        with open(self.path(folder + "/summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_files_of_one_rank(self):
        all_conditions = ["--condition", "zero-lag,source,receiver,inverse-scattering,laplacian"]
        cpml = ["--boundary", "cpml:10,top=free", *all_conditions]
        self.same_files([(2, 2, 2), (4, 2, 2), (3, "auto", 3)], "--snapshots", "device", *cpml)
        coded = ["--snapshots", "compressed", "--error", "bits:16", *self.sponge]
        tilted = ["--epsilon", "0.1", "--delta", "0.05", "--true-epsilon", "0.1", "--true-delta", "0.05"]
        tilted += ["--theta", "0.4", "--true-theta", "0.4"]
        self.same_files([(3, 3, 3)], *coded, *tilted)
        files = ["--snapshots", "disk", "--disk", "1G", "--error", "lossless", *self.sponge]
        self.same_files([(2, 2, 2)], *files, "--expand", "layers")
        self.same_files([(2, 2, 2)], "--snapshots", "boundary", "--aperture", "150", *self.sponge)
        random = ["--snapshots", "random", "--width", "15", "--boundary", "cpml:10,top=free"]
        self.same_files([(3, 3, 3), (4, 2, 2)], *random, "--aperture", "150")

    def test_gathers(self):
        gathers = [*self.sponge, *Slabs.gathers]
        self.same_files([(2, 2, 2), (4, 2, 2)], *gathers, "--snapshots", "device", "--keep-shots")
        self.save("rho.npy", np.load(self.path("smooth.npy")) * np.float32(0.7))
        dense = ["--rho", "rho.npy", "--true-rho", "2000", "--aperture", "150"]
        self.same_files([(3, 3, 3)], *gathers, *dense, "--snapshots", "random")

    def test_storage_is_chosen_once(self):
        asked = [*self.asked, *self.sponge, "--error", "max:1e-3", "--ranks-per-shot", "2"]
        folder, text = self.succeed(*asked, ranks=2, plot=True)
        self.assertIn("each shot in slabs on 2 ranks", text)
        self.assert_picture(os.path.join(folder, "image.png"))

    def test_disk_is_that_of_a_rank(self):
        asked = [*self.asked, *self.sponge, "--ranks-per-shot", "2", "--snapshots", "disk", "--error",
                 "lossless"]
        folder, _ = self.succeed(*asked, "--disk", "1G", ranks=2, out="first")
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            need = json.load(file)["snapshots"]["bytes"]  # of a rank
        self.succeed(*asked, "--disk", f"{math.ceil(1.3 * need / 1024)}K", ranks=2, out="second")
        self.refuse([*asked, "--disk", f"{math.floor(0.7 * need / 1024)}K"], "of disk", ranks=2)

    def test_refusals(self):
        two = ["--ranks-per-shot", "2"]
        for more, ranks, said in (
            (two, 1, "--ranks-per-shot is 2, and there is 1 rank"),
            (two, 3, "--ranks-per-shot is 2, and there are 3 ranks"),
            ([*two, "--devices", "2"], 2, "--devices is 2 with --ranks-per-shot"),
            ([*two, "--snapshots", "random", "--block", "9"], 2, "--ranks-per-shot is 2 (allowed"),
            ([*two, "--at-once", "2"], 2, "--ranks-per-shot 2 and --at-once 2"),
            ([*two, "--snapshots", "device", "--device-memory", "200K"], 2, "--ranks-per-shot is 2"),
            (
                ["--ranks-per-shot", "5", "--columns", "600", "--offset", "300"],
                5,
                "--offset: the largest half offset is 30 nodes (allowed: 0 to 29 nodes, 290 m",
            ),
        ):
            self.refuse([*self.asked, *self.sponge, *more], said, ranks=ranks)

    def test_advice_works(self):
        """Refusals prefer numbers that divide the number of ranks."""
        asked = [*self.asked, "--boundary", "cpml:20", "--snapshots", "replay", "--device-memory"]
        for memory in ("390K", "450K", "500K"):
            def plan(per_shot, memory=memory):
                return [*asked, memory, "--ranks-per-shot", str(per_shot), "--plan"]

            message = self.refuse(plan(2), "--ranks-per-shot is 2", ranks=4)
            found = re.search(r"\(allowed: ([\d, to]+)(, which have to divide the number of ranks)?\)",
                              message)
            self.assertTrue(found, message)
            number = self.numbers(found[1])[0]
            done = self.call(*plan(number), ranks=number if found[2] else 4)
            self.assertEqual(done.returncode, 0, message + done.stderr)

    def test_a_divided_shot_is_alone(self):
        """--at-once takes effect, or a note says that it does not."""
        for ranks, shots, said in ((2, "2", False), (3, "2", True)):
            asked = [*self.asked, *self.sponge, "--at-once", shots, "--ranks-per-shot", "auto", "--plan"]
            done = self.call(*asked, ranks=ranks)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("note: --at-once 2 has no effect" in done.stdout, said, done.stdout)
            self.assertIn("1 shot at once" if said else "2 shots at once", done.stdout)

    def test_an_overflow_is_reported_once(self):
        """The data model steps at this time step, the model of the migration does not."""
        fast = np.load(self.path("smooth.npy"))
        fast[60:, :] *= np.float32(2.5)
        self.save("fast.npy", fast)
        asked = ["--vp", "fast.npy", *self.asked[2:], *self.sponge, "--snapshots", "compressed"]
        self.refuse([*asked, "--ranks-per-shot", "2"], "--dt", ranks=2)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
