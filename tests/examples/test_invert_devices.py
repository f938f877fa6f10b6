#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 40, threads 2
"""Tests of --devices and --ranks-per-shot of invert_waves: several devices or ranks compute each gradient in
slabs, with the files of one.

Hosts simulate any number of devices. On devices, tests take those of the machine.

usage: test_invert_devices.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import re
import signal
import subprocess
import sys

import invert_waves_case
import support
from support import np


class GradientsInSlabs(invert_waves_case.Case):
    survey = ["--spacing", "20", "--wavelet", "ricker:6", "--time", "0.5", "--dt", "0.002"]
    shots = [
        "--data",
        "modelled",
        "--true-vp",
        "true.npy",
        "--source",
        "313,140:900,140:2",
        "--receivers",
        "0,700:1200,700:31;307,55;611,90",
        "--iterations",
        "1",
    ]
    anisotropy = ["--epsilon", "0.15", "--delta", "0.08", "--true-epsilon", "0.15", "--true-delta", "0.08"]
    names = ("vp.npy", "gradient_vp.npy", "illumination.npy", "gather_observed.npy", "gather_modelled.npy")

    def counts(self, space):
        """Returns the numbers of devices to compare with one."""
        if space != "cuda":
            return [2, 3]
        done = self.call("--vp", "start.npy", *self.survey, *self.shots, "--space", space, "--devices", "64")
        found = re.search(
            r"--devices is 64 \(allowed: 1 to (\d+), those that this process sees\)", done.stderr
        )
        self.assertTrue(found, done.stderr)
        return range(2, min(int(found[1]), 4) + 1)

    def same_files(self, *asked, space, names=(), folder="one"):
        asked = [*self.shots, *asked, "--space", space]
        expected = self.invert(*asked, out=folder)
        self.assertNotIn("devices", expected.summary)
        self.assertGreater(np.abs(expected.load("gradient_vp.npy")).max(), 0.0)
        for devices in self.counts(space):
            r = self.invert(*asked, "--devices", devices, out="several")
            self.assert_same_files((*self.names, *names), folder, "several")
            self.expect_same_history(expected, r)
            self.assertEqual(r.summary["devices"]["count"], devices)
            self.assertEqual(len(r.summary["devices"]["planes"]), devices)
            each = r.summary["devices"]["bytes_on_each"]
            self.assertGreater(each, 0)
            memory = r.summary["memory"]
            if space == "cuda":
                self.assertAlmostEqual(memory["device_bytes"], each, delta=1)
            else:
                self.assertGreater(memory["estimate_bytes"], devices * each)
            for key in ("dt", "steps", "gradient_steps", "source_field"):
                self.assertEqual(r.summary["scheme"][key], expected.summary["scheme"][key], key)
        return expected

    def test_rings_are_in_the_memory_of_hosts(self):
        asked = ["--vp", "2000", "--shape", "110,60,50", "--spacing", "10", "--width", "10", "--data",
                 "modelled", "--true-vp", "2100", "--source-field", "random", "--block", "8", "--wavelet",
                 "ricker:15", "--time", "0.05", "--source", "300,300,20", "--receivers",
                 "100,100,20:900,100,20:20", "--iterations", "1", "--space", self.spaces()[0]]
        for devices in ("1", "2"):
            more = [*asked, "--devices", devices]
            # with less memory, passes have fewer steps, so that rings are smaller
            estimate = self.assert_memory_is_planned(*more)
            memory = round(0.8 * estimate)
            smaller = self.assert_memory_is_planned(*more, "--memory", str(memory))
            self.assertLessEqual(smaller, memory + 24 * 2**20)
            self.refuse([*more, "--memory", str(round(0.3 * estimate))], "--memory")

    def test_traces_are_counted(self):
        asked = ["--vp", "start.npy", "--spacing", "20", "--wavelet", "ricker:6", "--time", "1.5", "--dt",
                 "0.002", *self.shots[:4], "--source", "313,140:900,140:2", "--receivers",
                 "0,700:1200,700:4001", "--iterations", "1", "--space", self.spaces()[0]]
        for more in (["--at-once", "1"], ["--at-once", "2"], ["--devices", "2"], ["--devices", "3"],
                     ["--source-field", "random", "--block", "8"]):
            with self.subTest(more=more):
                self.assert_memory_is_planned(*asked, *more)
        self.refuse([*asked, "--memory", "40M"], "and the data ")
        self.refuse([*asked, "--devices", "2", "--memory", "60M"], "--devices is 2", "--memory")

    def test_the_model_is_part_of_the_memory(self):
        shape = (500, 400)
        self.save("wide.npy", np.full(shape, 2000.0, np.float32))
        self.save("fast.npy", np.full(shape, 2050.0, np.float32))
        asked = ["--vp", "wide.npy", "--spacing", "20", "--wavelet", "ricker:6", "--time", "0.1", "--dt",
                 "0.002", "--data", "modelled", "--true-vp", "fast.npy", "--source", "313,140", "--receivers",
                 "0,700:1200,700:5", "--iterations", "1", "--space", self.spaces()[0]]
        for more in ([], ["--devices", "2"]):
            least = 20
            while self.call(*asked, *more, "--plan", "--memory", f"{least}M").returncode != 0:
                least += 4
                self.assertLess(least, 200)
            folder, _ = self.succeed(*asked, *more, "--memory", f"{least}M", out="wide")
            with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
                memory = json.load(file)["memory"]
            self.assertLessEqual(memory["estimate_bytes"], memory["allowed_bytes"], more)

    def test_media_and_faces(self):
        self.save("rho.npy", (1500.0 + 0.2 * self.start).astype(np.float32))
        self.save("true_rho.npy", (1500.0 + 0.2 * self.true).astype(np.float32))
        density = ["--rho", "rho.npy", "--true-rho", "true_rho.npy"]
        for space in self.spaces():
            self.same_files("--boundary", "cpml:12,top=free", "--bands", "5,8", space=space)
            self.same_files(
                *density,
                "--parameters",
                "vp,rho",
                "--boundary",
                "sponge:9,left=rigid",
                space=space,
                names=("rho.npy", "gradient_rho.npy"),
            )
            self.same_files(
                *self.anisotropy,
                "--parameters",
                "vp,epsilon,delta",
                "--boundary",
                "sponge:16",
                space=space,
                names=("gradient_epsilon.npy", "gradient_delta.npy"),
            )
            self.same_files(
                *self.anisotropy,
                "--theta",
                "0.4",
                "--true-theta",
                "0.4",
                "--boundary",
                "sponge:16",
                "--precision",
                "double",
                space=space,
            )

    def test_data_of_another_medium(self):
        """The medium of the data has none of the inverted parameters but vp."""
        density = ["--rho", "1800", "--parameters", "vp,rho"]
        anisotropy = ["--epsilon", "0.15", "--delta", "0.08", "--parameters", "vp,epsilon,delta"]
        for space in self.spaces():
            for medium in (density, anisotropy):
                self.same_files(*medium, "--boundary", "sponge:9", space=space)
        # in a stream
        random = [*self.shots, *density, "--boundary", "sponge:9", "--source-field", "random", "--space",
                  self.spaces()[0]]
        self.invert(*random, out="one")
        self.invert(*random, "--block", "6", "--updates", "5", out="stream")
        self.assert_same_files((*self.names, "rho.npy"), "one", "stream")

    def test_source_fields_and_volumes(self):
        for space in self.spaces():
            for method in ("stored", "replay"):
                self.same_files("--boundary", "cpml:12", "--source-field", method, space=space)
            random = ["--source-field", "random", "--width", "17"]
            shell = self.same_files("--boundary", "cpml:12", space=space, folder="shell")
            layers = self.same_files("--boundary", "cpml:12,right=rigid", *random, space=space)
            self.assertFalse(np.array_equal(shell.load("vp.npy"), layers.load("vp.npy")))
            self.same_files(
                *self.anisotropy, "--parameters", "vp,epsilon,delta", "--boundary", "sponge:16", *random,
                space=space, names=("gradient_epsilon.npy", "gradient_delta.npy"),
            )
        shape = (31, 12, 21)
        self.start = np.broadcast_to(1800.0 + 10.0 * np.arange(21), shape).astype(np.float32)
        self.true = self.start.copy()
        self.true[12:18, 4:8, 8:13] += 150.0
        self.save("start.npy", self.start)
        self.save("true.npy", self.true)
        self.shots = [
            "--data",
            "modelled",
            "--true-vp",
            "true.npy",
            "--source",
            "313,110,40",
            "--receivers",
            "0,110,60:600,110,60:31",
            "--iterations",
            "1",
        ]
        for space in self.spaces():
            self.same_files("--boundary", "sponge:8", space=space)

    def test_extended_images(self):
        lags = ["--lags", "4", "--lags-every", "1"]
        names = ("lags.npy", "angles.npy", "lags_0001.npy")
        for space in self.spaces():
            expected = self.same_files(*lags, "--boundary", "cpml:12", space=space, names=names)
            self.assertEqual(expected.load("lags.npy").shape, (9, *self.shape))
            # the lags of a slab reach to the middle of its neighbours
            self.assertGreater(np.abs(expected.load("lags.npy")[0, 24:36]).max(), 0.0)
            random = ["--source-field", "random", "--width", "17", "--lags-sum", "plain"]
            self.same_files(
                *lags, *self.anisotropy, "--theta", "0.4", "--true-theta", "0.4", *random, "--boundary",
                "sponge:16", space=space, names=names,
            )
        devices = ["--space", "openmp", "--devices", "2"]
        text = self.plan(*devices, "--lags", "4")
        self.assertRegex(text, r"lags +9 of the result: .* of that\n +.* of the host to add shots")
        fixed = r"source's wavefield by shell: .* besides (.*) of .* on each device"
        more, less = (re.search(fixed, one)[1] for one in (text, self.plan(*devices)))
        self.assertNotEqual(more, less)

    def test_resumed_runs_and_pictures(self):
        """A run that was killed after its first evaluation resumes with another number of devices."""
        asked = [*self.shots[:-1], "6", "--boundary", "sponge:16", "--space", self.spaces()[0]]
        expected = self.invert(*asked, out="whole")
        devices = list(self.counts(self.spaces()[0]))[:1]
        if not devices:
            self.skipTest("one device")
        command = [self.program, "--vp", "start.npy", *self.survey, *asked, "--no-plot", "--out", "parts"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("evaluated 1:"):
                    process.send_signal(signal.SIGKILL)
                    break
        self.assertNotEqual(process.returncode, 0)
        r = self.invert(*asked, "--devices", devices[0], "--resume", out="parts", plot=True)
        self.assert_same_files(self.names, "whole", "parts")
        self.expect_same_history(expected, r)
        self.assertTrue(os.path.exists(self.path("parts/models.png")))

    def test_memory_of_the_plan(self):
        self.survey = [*self.survey, "--boundary", "sponge:9"]
        arguments = [*self.shots, "--space", "serial", "--at-once", "1", "--memory", "300M"]
        ways = ("shell", "stored")
        shell, stored = (self.invert(*arguments, "--source-field", way).summary for way in ways)
        self.assertEqual(sorted(shell["memory"]), ["allowed_by", "allowed_bytes", "estimate_bytes"])
        self.assertEqual(shell["memory"]["allowed_by"], "the --memory given")
        estimates = [one["memory"]["estimate_bytes"] for one in (shell, stored)]
        fields = [one["scheme"]["source_field_bytes"] for one in (shell, stored)]
        self.assertGreater(abs(fields[1] - fields[0]), 1e5)
        self.assertAlmostEqual(estimates[1] - estimates[0], fields[1] - fields[0], delta=2)
        self.assertLess(max(estimates), shell["memory"]["allowed_bytes"])

    def test_plans(self):
        devices = ["--space", "openmp", "--devices", "2"]
        text = self.plan(*devices)
        self.assertRegex(text, r"devices +each shot in slabs on 2 devices: \d+, \d+ planes")
        self.assertRegex(text, r"gradient .* source's wavefield by shell: .* on each device")
        self.assertIn("source's wavefield by replay", self.plan(*devices, "--source-field", "replay"))
        random = ["--source-field", "random", *devices]
        text = self.plan(*random)
        self.assertRegex(text, r"devices +each shot in slabs on 2 devices: \d+, \d+ planes")
        self.assertRegex(text, r"gradient .* source's wavefield by random: .* on each device")
        # a chain: requested, and where slabs do not fit
        for more in (["--block", "8"], ["--device-memory", "700K"]):
            text = self.plan(*random, *more)
            self.assertIn("2 devices in a chain", text)
            self.assertNotIn("slabs on", text)
        # one device is no slab
        for number in ("1", "auto"):
            self.assertNotIn("slab", self.plan("--devices", number, "--space", "openmp"))
        # less memory: the source's wavefield is replayed
        self.survey = [*self.survey[:5], "4", *self.survey[6:]]
        self.assertIn("source's wavefield by replay", self.plan(*devices, "--device-memory", "3M"))

    def test_any_larger_limit_of_a_device_suffices(self):
        """Gradients that do not fit in core stream: every limit above a sufficient one is accepted."""
        self.survey = [*self.survey, "--boundary", "sponge:9"]
        self.shots = [*self.shots[:-3], "0,700:1200,700:301", *self.shots[-2:]]  # large data
        more = ["--source-field", "random", "--width", "9", "--space", "serial", "--plan", "--no-plot"]
        asked = ["--vp", "start.npy", *self.survey, *self.shots, *more, "--out", "plan"]
        ways = []
        for limit in range(500, 10000, 250):
            done = self.call(*asked, "--device-memory", f"{limit}K")
            way = "refused" if done.returncode else "stream" if "\nstream " in done.stdout else "in core"
            if ways[-1:] != [way]:
                ways.append(way)
        self.assertEqual(ways, ["refused", "stream", "in core"])

    def test_refusals(self):
        host = ["--space", "openmp"]
        asked = ["--vp", "start.npy", *self.survey, *self.shots, *host, "--boundary", "sponge:16"]
        self.refuse([*asked, "--devices", "40"], "--devices is 40", "planes")
        self.refuse([*asked, "--devices", "0"], "--devices is '0'", "whole numbers from 1 to 64, or auto)")
        self.refuse(
            [*asked, "--devices", "4", "--lags", "26"],
            "--lags: the largest along x is 26 nodes (allowed: 0 to 23",
            "thinnest slab",
            "fewer --devices",
        )
        self.refuse([*asked, "--devices", "2", "--lags", "40"], "--lags: the largest along x", "half of")
        images = ["--devices", "2", "--lags", "9", "--memory", "1M"]
        self.refuse([*asked, *images[:-1], "2M"], "each of them needs", "fewer --lags")
        self.refuse([*asked, *images, "--device-memory", "100M"], "--lags: with 19 lags the host needs")
        self.refuse(
            [*asked, "--devices", "2", "--lags", "9", "--device-memory", "600K"],
            "fewer --lags",
            "(allowed: 6",
        )
        self.refuse(
            [*asked, "--devices", "2", "--at-once", "2"],
            "--at-once is 2 (allowed with --devices 2: 1)",
            "one shot at a time",
        )
        # slabs of layers alone, of the grid or of that with random layers
        thin = ["--source-field", "random", "--width", "1", "--boundary", "sponge:48"]
        for devices, more, said in (
            (9, ["--boundary", "sponge:90"], "planes of the model besides those of layers)"),
            (3, thin, " planes or more with random layers)"),
        ):
            self.refuse(
                [*asked[:-2], *more, "--devices", str(devices)],
                f"--devices is {devices} (allowed: up to 2, so that each has ",
                said,
            )
            self.assertIn("slabs on 2 devices", self.plan(*host, "--devices", "2", *more))

        self.refuse(
            [*asked, "--devices", "2", "--device-memory", "200K"], "--devices is 2", "--device-memory"
        )
        self.refuse(
            [*asked, "--devices", "2", "--device-memory", "100M", "--memory", "200K"],
            "--devices is 2: on the host the search takes",
            "--memory",
        )


    def test_advice_works(self):
        """Refusals name all numbers of devices that are accepted, and sufficient bytes."""
        asked = ["--vp", "start.npy", *self.survey, *self.shots, "--space", "openmp", "--boundary",
                 "sponge:16"]
        listed = r"(?:allowed:|take --devices) ((?:up to )?\d+(?: to \d+)?(?:, \d+(?: to \d+)?)*)[,)]"
        for field, devices, memory in (
            ("auto", 31, None), ("random", 31, None), ("auto", 12, "900K"), ("stored", 2, "600K"),
            ("auto", 12, "300K"), ("replay", 2, "300K"),
        ):
            with self.subTest(field=field, devices=devices, memory=memory):
                def plan(devices, memory, field=field):
                    limit = ["--device-memory", memory] if memory else []
                    return [*asked, "--source-field", field, "--devices", str(devices), *limit, "--plan"]

                message = self.refuse(plan(devices, memory), f"--devices is {devices}")
                found = re.search(listed, message)
                works = self.numbers(found[1]) if found else []
                for number in range(2, 9):
                    done = self.call(*plan(number, memory))
                    self.assertEqual(done.returncode, 0 if number in works else 2, (number, message))
                need = re.search(r"(?:with (\d+) )?each of them needs (\d+) KiB", message)
                self.assertTrue(found or need, message)
                if need:
                    done = self.call(*plan(need[1] or devices, need[2] + "K"))
                    self.assertEqual(done.returncode, 0, message + done.stderr)

    def test_advice_on_streams_works(self):
        """A refusal advises random layers if, and only if, their gradients stream within the limits."""
        self.shots = [*self.shots[:-3], "0,700:1200,700:301", *self.shots[-2:]]  # large data
        asked = ["--vp", "start.npy", *self.survey, *self.shots, "--space", "openmp", "--plan", "--boundary",
                 "sponge:9", "--width", "9"]
        random = ["--source-field", "random"]
        for more, advice in (([], "or --source-field random, whose"),
                             (["--at-once", "2"], "or --at-once 1 and --source-field random, whose"),
                             (["--devices", "2"], "or --source-field random, whose")):
            found = set()
            for memory in ("2M", "40M"):
                for limit in ("1M", "1500K"):
                    with self.subTest(more=more, memory=memory, limit=limit):
                        limits = ["--memory", memory, "--device-memory", limit]
                        message = self.refuse([*asked, *more, *limits], "more memory (--")
                        others = [] if "--at-once" in more else more
                        done = self.call(*asked, *others, *random, *limits)
                        self.assertEqual(advice in message, done.returncode == 0, message + done.stderr)
                        self.assertEqual(" stream" in message, done.returncode == 0, message)
                        found.add(done.returncode)
            self.assertEqual(found, {0, 2}, more)

    def test_bytes_of_the_method(self):
        """A refusal states the bytes of the requested method."""
        asked = ["--vp", "start.npy", *self.survey, *self.shots, "--space", "openmp", "--boundary",
                 "sponge:16"]
        needs = []
        for field in ("stored", "shell", "replay"):
            more = ["--source-field", field, "--devices", "2", "--device-memory", "300K"]
            message = self.refuse([*asked, *more], "each of them needs")
            needs.append(int(re.search(r"needs (\d+) KiB", message)[1]))
            text = self.plan("--space", "openmp", "--boundary", "sponge:16", *more[:-1], f"{needs[-1]}K")
            self.assertIn(f"by {field}", text)
            done = self.call(*asked, *more[:-1], f"{needs[-1] - 2}K", "--plan")
            self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(len(set(needs)), 3, needs)


class RanksOfShot(invert_waves_case.Case):
    """Ranks that compute each shot together, with the files of one rank."""

    survey, anisotropy, names = GradientsInSlabs.survey, GradientsInSlabs.anisotropy, GradientsInSlabs.names

    def setUp(self):
        super().setUp()
        self.needs_mpirun()
        self.asked = ["--vp", "start.npy", *self.survey, *GradientsInSlabs.shots, *self.on_host()]

    def summary(self, folder):
        with open(self.path(folder + "/summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def same_files(self, cases, *more, names=()):
        """Cases: ranks, --ranks-per-shot, and the number that is expected."""
        asked = [*self.asked, *more]
        self.succeed(*asked, out="one")
        one = self.summary("one")
        for ranks, per_shot, count in cases:
            self.succeed(*asked, "--ranks-per-shot", per_shot, out="several", ranks=ranks)
            self.assert_same_files((*self.names, *names), "one", "several")
            several = self.summary("several")
            self.assertEqual(several["ranks"], ranks)
            self.assertEqual(several.get("devices", {}).get("count", 1), count)
            self.assertEqual(several.get("exchange", ""), "host memory" if count > 1 else "")
            for key in ("dt", "steps", "gradient_steps", "source_field"):
                self.assertEqual(several["scheme"][key], one["scheme"][key], key)

    def test_ranks_share_the_free_memory(self):
        def allowed(ranks, *more):
            done = self.call(*self.asked, *more, "--plan", "--no-plot", "--out", "plan", ranks=ranks)
            self.assertEqual(done.returncode, 0, done.stderr)
            number, unit = re.search(r"\ngradient .* of ([0-9.]+) ([KMGT])iB", done.stdout).groups()
            return float(number) * 1024.0 ** "KMGT".index(unit)

        # other programs allocate and free at the same time
        self.assertAlmostEqual(allowed(3) / allowed(1), 1.0 / 3.0, delta=0.1)
        # a limit is that of a rank
        limit = ["--memory", "300M"]
        self.assertEqual(allowed(3, *limit), allowed(1, *limit))

    def test_files_of_one_rank(self):
        cpml = ["--boundary", "cpml:12,top=free", "--bands", "5,8"]
        self.same_files([(2, 2, 2), (4, 2, 2), (3, "auto", 3), (2, "auto", 1)], *cpml)
        self.save("rho.npy", (1500.0 + 0.2 * self.start).astype(np.float32))
        self.save("true_rho.npy", (1500.0 + 0.2 * self.true).astype(np.float32))
        density = ["--rho", "rho.npy", "--true-rho", "true_rho.npy", "--parameters", "vp,rho"]
        stored = ["--boundary", "sponge:9,left=rigid", "--source-field", "stored"]
        self.same_files([(3, 3, 3)], *density, *stored, names=("rho.npy", "gradient_rho.npy"))
        tilted = [*self.anisotropy, "--theta", "0.4", "--true-theta", "0.4", "--precision", "double"]
        self.same_files([(2, 2, 2)], *tilted, "--boundary", "sponge:16", "--source-field", "replay")
        random = ["--boundary", "cpml:12,top=free", "--source-field", "random", "--width", "17"]
        self.same_files([(3, 3, 3), (4, 2, 2)], *density, *random, names=("rho.npy", "gradient_rho.npy"))

    def test_extended_images(self):
        names = ("lags.npy", "angles.npy", "lags_0001.npy")
        lags = ["--lags", "4", "--lags-every", "1", "--boundary", "cpml:12"]
        self.same_files([(2, 2, 2), (4, 2, 2), (3, 3, 3)], *lags, names=names)
        random = ["--source-field", "random", "--width", "17"]
        self.same_files([(3, 3, 3)], *lags, *random, *self.anisotropy, names=names)
        # one shot needs no sum of images
        self.asked[self.asked.index("313,140:900,140:2")] = "313,140"
        self.same_files([(2, 2, 2), (2, 1, 1)], *lags, names=names)

    def test_a_rank_is_killed_and_the_run_resumes(self):
        asked = [*self.asked, "--boundary", "sponge:16"]
        asked[asked.index("--iterations") + 1] = "6"
        self.succeed(*asked, out="one")
        run = self.start_ranks(2, *asked, "--out", "several", "--ranks-per-shot", "2",
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in run.stdout:
            if line.startswith("evaluated 1:"):
                break
        self.kill_ranks(run, last=1)
        self.assertNotEqual(run.returncode, 0)
        self.succeed(*asked, "--resume", out="several")
        self.assert_same_files(self.names, "one", "several")

    def test_plans(self):
        done = self.call(*self.asked, "--ranks-per-shot", "2", "--plan", "--out", "plan", ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"each shot in slabs on 2 ranks: \d+, \d+ planes")
        # shots for all ranks, but not the memory
        less = ["--memory", "1400K", "--source-field", "stored", "--boundary", "cpml:20"]
        done = self.call(*self.asked, *less, "--ranks-per-shot", "auto", "--plan", ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("on 2 ranks", done.stdout)

    def test_refusals(self):
        two = ["--ranks-per-shot", "2"]
        for more, ranks, said in (
            (two, 1, "--ranks-per-shot is 2, and there is 1 rank"),
            (two, 3, "--ranks-per-shot is 2, and there are 3 ranks"),
            ([*two, "--devices", "2"], 2, "--devices is 2 with --ranks-per-shot"),
            (["--ranks-per-shot", "4", "--lags", "26"], 4, "fewer --ranks-per-shot"),
            ([*two, "--source-field", "random", "--block", "8"], 2,
             "--ranks-per-shot is 2 (allowed with --block: 1)"),
            ([*two, "--device-memory", "200K"], 2, "--ranks-per-shot is 2: each"),
            (["--ranks-per-shot", "0"], 2, "--ranks-per-shot"),
        ):
            self.refuse([*self.asked, *more], said, ranks=ranks)

    def test_numbers_divide_the_ranks(self):
        """Refusals name numbers of ranks that divide all of them, if there are any."""
        asked = [*self.asked, "--boundary", "sponge:16", "--source-field", "stored"]
        listed = r"take --ranks-per-shot ([\d, to]+?)(, which have to divide the number of ranks)?, fewer"
        others = set()
        for memory, ranks in (("600K", 4), ("740K", 4), ("700K", 2)):
            def plan(per_shot, memory=memory):
                return [*asked, "--device-memory", memory, "--ranks-per-shot", str(per_shot), "--plan"]

            message = self.refuse(plan(2), "--ranks-per-shot is 2: each", ranks=ranks)
            found = re.search(listed, message)
            self.assertTrue(found, message)
            number = self.numbers(found[1])[0]
            done = self.call(*plan(number), ranks=number if found[2] else ranks)
            self.assertEqual(done.returncode, 0, message + done.stderr)
            others.add(found[2] is not None)
        self.assertEqual(others, {False, True})
        # too few planes
        self.refuse([*asked[:-4], "--boundary", "sponge:48", "--width", "1", "--source-field", "random",
                     "--ranks-per-shot", "4"], "--ranks-per-shot is 4 (allowed: up to 2, so that", ranks=4)

    def test_advice_on_streams_works(self):
        asked = [*self.asked, "--boundary", "sponge:16", "--device-memory", "700K"]
        two, one = (["--ranks-per-shot", n] for n in "21")
        random = ["--source-field", "random"]
        self.refuse([*asked, *two], "or --ranks-per-shot 1 and --source-field random, whose", ranks=2)
        self.refuse([*asked, *two, *random], "or --ranks-per-shot 1, with which the gradient streams",
                    ranks=2)
        done = self.call(*asked, *one, *random, "--plan", ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("in a stream", done.stdout)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
