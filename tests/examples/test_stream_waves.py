#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program stream_waves through its command line.

usage: test_stream_waves.py --program PATH [--modeller PATH of model_waves] [--mpirun PATH]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import re
import resource
import signal
import subprocess
import sys

import support
from support import np


class Case(support.Case):
    # A small section; including its layers 101 planes of 81 nodes.
    section = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.3"]

    def stream(self, *arguments, out="out", plot=False):
        """Runs the program, which must succeed and not write to stderr. Returns its results."""
        return Results(*self.succeed(*arguments, out=out, plot=plot))

    def needs_devices(self, count, *arguments):
        """Skips a test that needs more devices than the execution space of these arguments has."""
        done = self.call(*self.section, *arguments, "--devices", count, "--plan", "--no-plot", "--out",
                         "devices")
        found = re.search(rf"--devices is {count} \(allowed: 1 to (\d+), those that this process sees\)",
                          done.stderr)
        if done.returncode == 2 and found:
            self.skipTest(f"a chain of {count} devices cannot run: the number of devices of this machine is "
                          f"{found[1]}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def model(self, *arguments, out="modelled"):
        """Returns the results of model_waves with the last wavefield as its snapshot."""
        if not self.modeller:
            self.skipTest("there is no model_waves")
        done = subprocess.run([self.modeller, *map(str, arguments), "--no-plot", "--out", out],
                              cwd=self.folder, text=True, capture_output=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return Results(self.path(out), done.stdout)


class Results:
    """The files of one run."""

    def __init__(self, folder, text):
        self.folder, self.text = folder, text
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.gathers = [self.load(shot["gather"]) for shot in self.summary["shots"]]
        self.gather = self.gathers[0]
        self.stream = self.summary.get("stream")

    def load(self, name):
        return np.load(os.path.join(self.folder, name))

    def wavefield(self):
        if "wavefield" in self.summary:
            return self.load(self.summary["wavefield"]["file"])
        return self.load(self.summary["snapshots"][-1]["file"])


class Agreement(Case):
    """Gathers and last wavefields have the bits of model_waves for every path of the planes."""

    # Sources and receivers between nodes and on them, in neighbouring planes.
    shots_2d = ["--source", "203,33; 300,20", "--receivers", "10,20:560,20:12; 305,211"]
    media_2d = {
        "isotropic": ([], "cpml:12,top=free"),
        "variable density": (["--rho", "rho.npy"], "sponge:10,left=random:14,bottom=rigid"),
        "VTI": (["--epsilon", "0.2", "--delta", "0.08"], "cpml:10"),
        "TTI": (["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5"], "sponge:12,top=free")}
    # Methods of streaming: with several devices and from files planes also go through rings on hosts.
    ways = [["--block", "8", "--updates", "3"],
            ["--device-memory", "1M"],
            ["--devices", "1", "--host-volume", "volume", "--block", "5", "--updates", "7"],
            ["--devices", "2", "--block", "16", "--updates", "2"],
            ["--devices", "3", "--block", "3", "--updates", "5", "--lag", "11"]]

    def same(self, a, b):
        self.assertEqual(len(a.gathers), len(b.gathers))
        for one, other in zip(a.gathers, b.gathers):
            self.assertGreater(np.abs(other).max(), 0.0)
            np.testing.assert_array_equal(one, other)
        if a.summary["asked"]["interval"] == "auto":
            self.assertAlmostEqual(a.summary["wavefield"]["time"], b.summary["snapshots"][-1]["time"],
                                   delta=1e-9)
            np.testing.assert_array_equal(a.wavefield(), b.wavefield())
        else:  # samples between steps need some more steps
            self.assertGreater(a.summary["wavefield"]["time"], b.summary["snapshots"][-1]["time"])

    def expected(self, survey, space):
        """Results of model_waves, which those of stream_waves equal in core."""
        plain = self.stream(*survey, "--space", space)
        scheme = plain.summary["scheme"]
        r = self.model(*survey, "--space", space, "--snapshot-every", scheme["steps"] * scheme["dt"])
        self.same(plain, r)
        return r

    def agree(self, survey, ways, space):
        expected = self.expected(survey, space)
        for way in ways:
            r = self.stream(*survey, "--space", space, *way)
            self.same(r, expected)
            asked, plan = r.summary["asked"], r.stream["plan"]
            for word in ("block", "updates"):
                if asked[word] != "auto":
                    self.assertEqual(plan[word], asked[word])
            self.assertEqual(plan["in_core"], way == self.ways[0])
        self.assertFalse(os.path.exists(self.path("volume")))

    def model_files(self, shape):
        rng = np.random.default_rng(4)
        depth = np.arange(shape[-1]) / (shape[-1] - 1)
        self.save("v.npy", (1800.0 + 700.0 * depth + rng.uniform(0, 150, shape)).astype(np.float32))
        self.save("rho.npy", (2000.0 + 300.0 * depth + rng.uniform(0, 100, shape)).astype(np.float32))

    def test_sections(self):
        self.model_files((57, 41))
        for medium, (parameters, boundary) in self.media_2d.items():
            for space in ("serial", "openmp"):
                if space not in self.spaces():
                    continue
                with self.subTest(medium=medium, space=space):
                    self.agree(["--vp", "v.npy", "--spacing", "10", "--time", "0.2", "--boundary", boundary,
                                *parameters, *self.shots_2d], self.ways, space)

    def test_volumes(self):
        self.model_files((29, 21, 23))
        survey = ["--vp", "v.npy", "--spacing", "20", "--wavelet", "ricker:7", "--time", "0.12", "--source",
                  "133,201,40", "--coordinates", "xyz",
                  "--receivers", "40,200,20:500,200,20:8; 300,215,200"]
        media = {**self.media_2d, "TTI": (["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5", "--phi",
                                           "0.7"], "sponge:9")}
        for number, (medium, (parameters, _)) in enumerate(media.items()):
            with self.subTest(medium=medium):
                boundary = "sponge:7,top=free" if medium == "TTI" else "cpml:6,top=free"
                self.agree([*survey, "--boundary", boundary, *parameters, "--order", (8, 4, 6, 4)[number]],
                           self.ways[2:4], "openmp" if "openmp" in self.spaces() else "serial")

    def test_samples_between_steps_and_double_precision(self):
        self.model_files((57, 41))
        self.agree(["--vp", "v.npy", "--spacing", "10", "--time", "0.2", "--dt", "0.0013", "--interval",
                    "0.0021", "--precision", "double", "--order", "16", *self.shots_2d], self.ways[2:4],
                   "serial")

    def test_device(self):
        if "cuda" not in self.spaces():
            self.skipTest("this build has no device")
        self.model_files((157, 41))
        for medium, (parameters, boundary) in self.media_2d.items():
            with self.subTest(medium=medium):
                survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.2", "--boundary", boundary,
                          *parameters, *self.shots_2d]
                expected = self.expected(survey, "cuda")
                for way in (self.ways[0], self.ways[2]):
                    r = self.stream(*survey, "--space", "cuda", *way)
                    self.same(r, expected)
                    self.assertFalse(r.stream["plan"]["in_core"])

    def test_default_receivers_avoid_free_surfaces(self):
        for boundary, first, last in (("free", 10.0, 590.0), ("left=free", 10.0, 600.0),
                                      ("right=free", 0.0, 590.0), ("top=free", 0.0, 600.0)):
            with self.subTest(boundary=boundary):
                survey = [*self.section, "--boundary", boundary]
                r = self.stream(*survey, "--devices", "1", "--host-volume", "volume", "--block", "8",
                                "--updates", "3")
                receivers = np.array(r.summary["shots"][0]["receivers"])
                self.assertEqual((receivers[0, 0], receivers[-1, 0], len(receivers)),
                                 (first, last, (last - first) / 10 + 1))
                for one, other in zip(r.gathers, self.model(*survey).gathers):
                    np.testing.assert_array_equal(one, other)

    # Receivers on nodes and between.
    expanding = ["--vp", "v.npy", "--spacing", "10", "--time", "0.25", "--source", "153,33; 600,20",
                 "--receivers"]
    tti = ["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5"]

    def expand(self, ways, *survey):
        for method in ("layers", "eikonal"):
            expected = self.expected([*survey, "--expand", method], "serial")
            for way in ways:
                r = self.stream(*survey, "--expand", method, *way, "--space", "serial")
                self.same(r, expected)
                self.assertEqual(r.summary["run"]["expand"]["method"], method)
                self.assertLess(r.summary["run"]["expand"]["part_stepped"], 1.0)
                self.assertIn("of the nodes were stepped", r.text)

    def test_expanding_domains(self):
        self.model_files((87, 61))
        for parameters in ([], self.tti):
            self.expand([], *self.expanding, "10,20:860,20:40", *parameters)
        survey = [*self.expanding, "10,20:860,20:40", "--expand", "eikonal", "--expand-coarsening", "1"]
        r = self.stream(*survey, "--space", "serial")
        self.same(r, self.expected(survey, "serial"))
        coarse = self.stream(*survey[:-2], "--space", "serial")
        self.assertLess(r.summary["run"]["expand"]["points"], coarse.summary["run"]["expand"]["points"])
        for parameters in ([], ["--epsilon", "0.2", "--delta", "0.08"]):
            self.expand([self.ways[2], self.ways[4]], *self.expanding, "10,20:860,20:86", "--boundary",
                        "sponge:20", *parameters)

    # Planes at the end of a pass: points that read beyond them, memory of layers, derivatives.
    def test_expanding_domains_at_the_ends_of_passes(self):
        self.model_files((87, 61))
        ways = [["--devices", "2", "--block", "8", "--updates", "3"]]
        for boundary, receivers, parameters in (("sponge:20", "10,20:860,20:40", []),
                                                ("cpml:20", "10,20:860,20:86", []),
                                                ("sponge:30", "10,20:860,20:86", self.tti)):
            with self.subTest(boundary=boundary, receivers=receivers, parameters=parameters):
                self.expand(ways, *self.expanding, receivers, "--boundary", boundary, *parameters)


class Plan(Case):
    wide = ["--vp", "2000", "--shape", "301,41", "--spacing", "10", "--time", "0.2", "--space", "serial"]

    def test_only_the_plan(self):
        r = self.call(*self.wide, "--devices", "2", "--device-memory", "600K", "--plan", "--out", "out")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in ("stream    blocks of ", " steps in a pass", "2 devices in a chain", " on the host, ",
                     " on each device: a "
                     "ring of ", " bytes a node in and ", "predicted: ", "points/s"):
            self.assertIn(word, r.stdout)
        self.assertNotIn("modelled", r.stdout)
        self.assertFalse(os.path.exists(self.path("out")))
        done = self.call(*self.wide, "--host-volume", "volume", "--plan", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(" in the file and ", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), [])

    def test_what_the_summary_says(self):
        r = self.stream(*self.wide, "--devices", "2", "--device-memory", "600K")
        plan, predicted, measured = (r.stream[key] for key in ("plan", "predicted", "measured"))
        self.assertLessEqual(plan["device_bytes"], 600 * 1024)
        self.assertEqual(plan["devices"], 2)
        self.assertFalse(plan["in_core"])
        steps, planes = r.summary["scheme"]["steps"], r.summary["model"]["shape_with_layers"][0]
        ring = 2 * plan["block"] + plan["updates"] * plan["lag"]
        self.assertGreater(plan["ring_planes"], ring)
        sweeps = -(-steps // (2 * plan["updates"]))
        # every plane is copied in and out once a sweep, with the planes of zeros around the volume
        for key, other in (("bytes_in", "bytes_per_plane_in"), ("bytes_out", "bytes_per_plane_out")):
            self.assertGreaterEqual(measured[key], 0.5 * sweeps * planes * plan[other])
            self.assertLessEqual(measured[key], 1.1 * sweeps * planes * plan[other])
        self.assertGreater(measured["iterations"], sweeps * planes // plan["block"])
        self.assertIn(predicted["binds"], ("steps", "launches", "filling", "link in", "link out", "disk"))
        self.assertAlmostEqual(measured["of_predicted"],
                               measured["points_per_second"] / predicted["points_per_second"], delta=1e-9)
        self.assertGreater(predicted["points_per_second"], 0.0)
        self.assertEqual(measured["points_per_second"], r.summary["rates"]["points_per_second"])
        self.assertGreater(len(r.stream["rates"]["slabs"]), 0)
        self.assertIn("% of the rate predicted", r.text)
        nodes = np.prod(r.summary["model"]["shape_with_layers"])
        self.assertEqual(r.summary["run"]["expand"]["points"], nodes * steps)

    def test_forecasts_of_small_grids(self):
        """Launches, copies and searches for bad values are counted: on small grids they outlast the steps."""
        small = ["--vp", "2000", "--shape", "201,101", "--spacing", "10", "--time", "0.3", "--device-memory",
                 "2M"]
        for more in (["--devices", "auto"], ["--devices", "2"], ["--block", "64", "--updates", "1"],
                     ["--block", "32", "--updates", "1"]):
            with self.subTest(more=more):
                ratios = []
                # other processes of the machine may slow down a run, or the measurement before it
                for _ in range(6):
                    r = self.stream(*small, "--space", "serial", *more)
                    self.assertLessEqual(r.stream["predicted"]["share_of_in_core"], 1.0)
                    for percent in re.findall(r"([0-9.e+]+) % of (?:in core|steps)", r.text):
                        self.assertLessEqual(float(percent), 100.0)
                    ratios.append(r.stream["measured"]["of_predicted"])
                    if 0.4 < ratios[-1] < 2.5:
                        break
                self.assertTrue(0.4 < ratios[-1] < 2.5, ratios)

    def test_hosts_that_stand_in_for_devices_work_in_turn(self):
        r = self.call(*self.wide, "--devices", "3", "--block", "8", "--updates", "2", "--plan", "--out",
                      "out")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("one host stands in for 3 devices: it does their work one after the other", r.stdout)
        found = re.search(r"([0-9.e+]+) % of steps without copies and launches", r.stdout)
        self.assertLessEqual(float(found[1]), 34.0)

    def test_a_model_that_fits(self):
        r = self.stream(*self.wide)
        self.assertTrue(r.stream["plan"]["in_core"])
        self.assertNotRegex(json.dumps(r.stream), "predicted|bytes_in|bytes_out|per_plane|locked|staging")
        self.assertIn("nothing streams", r.text)
        self.assertNotIn("in blocks of", r.text)
        # on hosts the wavefield is stepped in place, with at most the steps of the run
        r = self.stream(*self.wide, "--block", "8", "--updates", "100000")
        steps = r.summary["scheme"]["steps"]
        self.assertEqual(r.stream["plan"]["updates"], steps)
        self.assertIn(f"stepped in place in blocks of 8 planes, {steps} steps in a pass", r.text)

    def test_timeline(self):
        # too little memory to hold the parameters on each device
        r = self.stream(*self.wide, "--devices", "2", "--block", "16", "--updates", "4", "--device-memory",
                        "400K")
        self.assertFalse(r.stream["plan"]["parameters_resident"])
        self.assertIn("timeline.json", r.summary["files"])
        with open(os.path.join(r.folder, "timeline.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {e["args"]["name"] for e in events if e.get("ph") == "M" and e["name"] == "thread_name"}
        self.assertEqual(names, {"steps 0", "steps 1", "to the device 0", "to the device 1", "to the host 1"})
        stages = {s["stage"]: s for s in r.summary["stages"]}
        self.assertEqual(set(stages), {"steps", "to the device", "handed on", "to the host"})
        self.assertEqual(stages["steps"]["bytes"], 0)
        self.assertGreater(stages["to the device"]["bytes"], stages["to the host"]["bytes"])


class Picture(Case):
    def test_program_draws(self):
        self.needs_matplotlib()
        # hosts stand in for any number of devices
        r = self.stream(*self.section, "--space", self.spaces()[0], "--devices", "2", plot=True)
        self.assertEqual(r.summary["picture"], "drawn")
        for picture in ("gather.png", "wavefield.png", "timeline.png"):
            self.assert_picture(os.path.join(r.folder, picture))
            self.assertIn(picture, r.summary["files"])

    def test_volume_and_options(self):
        r = self.stream("--vp", "2000", "--shape", "x=31,y=28,z=25", "--spacing", "10", "--time", "0.1",
                        "--width", 6, "--host-volume", "volume")
        self.draw("plot_stream", r.folder, "gather.png", "wavefield.png", "timeline.png")
        self.assertEqual(self.plot("plot_stream", r.folder, "--iterations", "0", "--dpi", "40"), (0, "", ""))
        status, _, text = self.plot("plot_stream", r.folder, "--iterations", "-1")
        self.assertEqual(status, 2)
        self.assertIn("--iterations", text)
        status, _, text = self.plot("plot_waves", r.folder)
        self.assertEqual(status, 2)
        self.assertIn("of different runs", text)


# ctest: quick
class Program(support.EveryProgram, Case):
    small = [*Case.section[:-1], "0.1"]
    script = "plot_stream"


class NothingIsLost(support.NothingIsLost, Case):
    small = [*Case.section[:-1], "0.1"]
    slow = ["--vp", "2000", "--shape", "201,101,101", "--spacing", "10", "--time", "2"]
    results = ["gather.npy", "gather.sgy", "vp.npy", "wavefield.npy", "timeline.json"]
    former = "gather_0007.npy"
    vp = support.npy(np.full((61, 41), 2000.0))
    read = [("vp.npy", vp, lambda f: ["--vp", f, "--spacing", "10", "--time", "0.1"], "vp"),
            ("wavefield.npy", vp, lambda f: [*Case.section, "--rho", f], "rho"),
            ("timeline.json", b"vp = 2000\nshape = 61,41\nspacing = 10\n", lambda f: ["--config", f],
             "config")]
    shapes = [["--vp", "2000", "--shape", "x=101,y=91,z=81", "--spacing", "10", "--time", "0.02", *more]
              for more in ([], ["--expand", "eikonal"], ["--epsilon", "0.2", "--delta", "0.1"],
                           ["--epsilon", "0.2", "--delta", "0.1", "--theta", "0.3"],
                           ["--devices", "2", "--block", "8", "--updates", "2"])]


# ctest: quick
class Groups(Case):
    """Several chains: their shots have the bits of one device."""

    survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.15", "--source", "100,20:2500,33:3",
              "--receivers", "0,20:2600,20:31; 1301,211", "--space", "serial"]
    tti = ["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5", "--boundary", "sponge:12,top=free"]

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(8)
        self.save("v.npy", (1900.0 + rng.uniform(0, 300, (261, 31))).astype(np.float32))

    def same(self, a, b):
        self.assertEqual(len(a.gathers), len(b.gathers))
        for one, other in zip(a.gathers, b.gathers):
            self.assertGreater(np.abs(other).max(), 0.0)
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(a.wavefield(), b.wavefield())
        with open(a.folder + "/gather.sgy", "rb") as one, open(b.folder + "/gather.sgy", "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_traces_are_counted(self):
        survey = [*self.survey[:4], "--time", "1", "--dt", "0.001", "--source", "100,20:2500,33:4",
                  "--receivers", "0,20:2600,20:2001", "--space", "serial"]
        for more in (["--devices", "4", "--groups", "4"], ["--devices", "4", "--groups", "2"]):
            self.assert_memory_is_planned(*survey, *more, "--block", "8")

    def test_chains_in_one_process(self):
        for medium in ([], self.tti):
            whole = self.stream(*self.survey, *medium, out="whole")
            for devices, groups, way in ((2, 2, []), (4, 2, ["--block", "8", "--updates", "2"]),
                                         (5, 2, ["--block", "3"]), (3, 3, ["--device-memory", "400K"])):
                with self.subTest(devices=devices, groups=groups, tti=medium != []):
                    r = self.stream(*self.survey, *medium, "--devices", devices, "--groups", groups, *way)
                    self.same(r, whole)
                    plan = r.stream["plan"]
                    self.assertEqual((plan["chains"], plan["devices"], plan["in_core"]),
                                     (groups, devices // groups, False))
                    self.assertEqual(r.summary["run"]["expand"]["points"],
                                     whole.summary["run"]["expand"]["points"])
        self.assertIn("note: 1 of 5 devices has nothing to do",
                      self.stream(*self.survey, "--devices", 5, "--groups", 2).text)

    def test_a_chain_that_would_be_too_long_is_cut(self):
        # 309 planes: chains of rings of 16 and more positions, and passes of the requested number of stages
        whole = self.stream(*self.survey, out="whole")
        r = self.stream(*self.survey, "--devices", 4, "--block", "16", "--updates", "14")
        plan = r.stream["plan"]
        self.assertEqual((plan["chains"], plan["devices"]), (1, 3))
        self.assertIn("3 devices in a chain", r.text)
        self.assertIn("note: 1 of 4 devices has nothing to do", r.text)
        self.same(r, whole)

    def test_expanding_domains(self):
        more = ["--expand", "layers", "--boundary", "sponge:20"]
        whole = self.stream(*self.survey, *more, out="whole")
        self.same(self.stream(*self.survey, *more, "--devices", 4, "--groups", 2, "--block", 8, "--updates",
                              3), whole)

    def test_some_shots_are_there(self):
        whole = self.stream(*self.survey, out="whole")
        way = ["--devices", 4, "--groups", 2, "--block", 8, "--updates", 3]
        self.stream(*self.survey, *way)
        for number in (1, 3):
            os.remove(self.path(f"out/gather_{number:04d}.npy"))
        r = self.stream(*self.survey, *way, "--resume")
        self.assertIn("1 of 3 shots are complete", r.text)
        self.assertEqual([one.stream["measured"]["shots"] for one in (whole, r)], [3, 2])
        self.same(r, whole)

    def test_bad_input(self):
        self.refuse([*self.survey, "--groups", "0"], "--groups", "0")
        self.refuse([*self.survey, "--groups", "many"], "--groups", "many")
        self.refuse([*self.survey, "--devices", "3", "--groups", "4"],
                    "--groups is 4 (allowed: 1 to 3, the devices)")
        self.refuse([*self.survey, "--groups", "2"], "--groups is 2 (allowed: 1 to 1, the devices)")
        self.refuse([*self.survey, "--devices", "2", "--groups", "2", "--host-volume", "volume"],
                    "--groups is 2 (allowed: 1 with a volume in a file")
        self.assertFalse(os.path.exists(self.path("volume")))


class Ranks(Groups):
    """Under mpirun each rank is a device: the bits of one process, for all numbers of ranks and groups."""

    test_chains_in_one_process = test_a_chain_that_would_be_too_long_is_cut = None

    def same_among_ranks(self, whole, ranks, chains, devices, *arguments):
        with self.subTest(ranks=ranks, arguments=arguments):
            r = self.many(ranks, *self.survey, *arguments)
            self.same(r, whole)
            plan = r.stream["plan"]
            self.assertEqual((plan["chains"], plan["devices"]), (chains, devices))
            self.assertEqual((r.summary["ranks"], r.summary["run"]["expand"]["points"]),
                             (ranks, whole.summary["run"]["expand"]["points"]))
            self.assertEqual(sorted(r.summary["files"]), sorted(whole.summary["files"]))

    def many(self, ranks, *arguments, out="many"):
        return Results(*self.succeed(*arguments, out=out, ranks=ranks))

    def test_same_bits(self):
        self.needs_mpirun()
        whole = self.stream(*self.survey, out="whole")
        # each rank holds the model
        self.same_among_ranks(whole, 3, 3, 1)
        # chains
        self.same_among_ranks(whole, 2, 1, 2, "--groups", 1, "--block", 24, "--updates", 5)
        self.same_among_ranks(whole, 3, 1, 3, "--device-memory", "1M", "--block", 16, "--updates", 3)
        # groups of ranks
        self.same_among_ranks(whole, 4, 2, 2, "--groups", 2, "--block", 13, "--updates", 6)
        self.same_among_ranks(whole, 2, 2, 1, "--groups", 2, "--device-memory", "500K")
        # a chain of all would be longer than the volume
        self.same_among_ranks(whole, 4, 1, 3, "--device-memory", "4M", "--block", 16, "--updates", 14)

    def test_media(self):
        self.needs_mpirun()
        rng = np.random.default_rng(2)
        self.save("rho.npy", (2000.0 + rng.uniform(0, 100, (261, 31))).astype(np.float32))
        for more in (self.tti, ["--rho", "rho.npy"],
                     ["--epsilon", "0.2", "--delta", "0.08", "--boundary", "cpml:10"],
                     ["--precision", "double", "--boundary", "cpml:8,top=free,bottom=rigid"]):
            whole = self.stream(*self.survey, *more, out="whole")
            self.same_among_ranks(whole, 2, 1, 2, "--groups", 1, "--block", 24, "--updates", 6, *more)

    def test_one_shot_goes_through_all(self):
        self.needs_mpirun()
        survey = [*self.survey[:7], "1300,40", *self.survey[8:]]
        whole = self.stream(*survey, out="whole")
        r = self.many(3, *survey, "--block", 16)
        self.same(r, whole)
        self.assertEqual((r.stream["plan"]["chains"], r.stream["plan"]["devices"]), (1, 3))
        self.assertGreater(r.stream["measured"]["bytes_in"], 0)
        with open(self.path("many/timeline.json"), encoding="utf-8") as file:
            self.assertIn("steps", file.read())

    def test_expanding_domains(self):
        self.needs_mpirun()
        more = ["--expand", "layers", "--boundary", "sponge:20"]
        whole = self.stream(*self.survey, *more, out="whole")
        self.same_among_ranks(whole, 2, 1, 2, *more, "--groups", 1, "--block", 20, "--updates", 5)

    def test_some_shots_are_there(self):
        self.needs_mpirun()
        whole = self.stream(*self.survey, out="whole")
        way = ["--groups", 2, "--block", 24, "--updates", 5]
        self.many(2, *self.survey, *way)
        for number in (1, 3):
            os.remove(self.path(f"many/gather_{number:04d}.npy"))
        r = self.many(4, *self.survey, *way, "--resume")
        self.assertIn("1 of 3 shots are complete", r.text)
        self.same(r, whole)

    def test_only_the_plan(self):
        self.needs_mpirun()
        done = self.call(*self.survey, "--groups", 1, "--block", 8, "--plan", "--no-plot", "--out", "out",
                         ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("stream    blocks of 8 planes"), 1)
        self.assertIn("2 devices in a chain", done.stdout)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_bad_input(self):
        self.needs_mpirun()
        for ranks, more, words in (
                (2, ["--devices", "3"], ["--devices is 3, and there are 2 ranks (allowed: 2"]),
                (2, ["--groups", "3"], ["--groups is 3 (allowed: 1 to 2, the devices)"]),
                (2, ["--host-volume", "volume"],
                 ["--host-volume: volume is for one process, and there are 2 ranks"]),
                (2, ["--dt", "0.5"], ["--dt: dt is 0.5 s"]),
                (2, ["--groups", "1", "--block", "1000"], ["--block is 1000"]),
                (2, ["--groups", "1", "--device-memory", "9K"],
                 ["--device-memory: ", "does not hold the planes of one stage"]),
                (2, ["--groups", "1", "--block", "8", "--lag", "3"], ["--lag is 3"])):
            with self.subTest(more=more):
                # one message, for any output of mpirun
                self.refuse([*self.survey, *more], *words, ranks=ranks)
        self.assertFalse(os.path.exists(self.path("volume")))

    def test_a_rank_that_fails_ends_all(self):
        self.needs_mpirun()
        # amplitudes that overflow after the source has been active for a while
        t = np.arange(101) * 0.0015
        np.savetxt(self.path("wavelet.txt"), np.column_stack([t, 1e42 * np.sin(133.0 * t) * np.hanning(101)]))
        arguments = [*self.survey, "--wavelet", "file:wavelet.txt"]
        one = self.call(*arguments, "--no-plot", "--out", "one")
        self.assertEqual(one.returncode, 1, one.stderr)
        said = next(line for line in one.stderr.splitlines() if "no longer finite" in line)
        self.assertIn("the wavefield p is no longer finite at node (", said)
        many = self.call(*arguments, "--groups", 1, "--block", 8, "--updates", 5, "--no-plot", "--out",
                         "many", ranks=2)
        self.assertEqual(many.returncode, one.returncode)
        self.assertEqual(many.stderr.count("the wavefield p is no longer finite"), 1, many.stderr)
        self.assertIn(said, many.stderr)


class Failures(Case):
    """Overflows name the first step and node of model_waves, for every division into blocks and devices."""

    def setUp(self):
        super().setUp()
        if not self.modeller:
            self.skipTest("needs model_waves")
        rng = np.random.default_rng(2)
        shape = (41, 31)
        model = ["--vp", self.save("v.npy", rng.uniform(1500, 4500, shape)), "--epsilon",
                 self.save("e.npy", rng.uniform(0, 0.4, shape)),
                 "--delta", self.save("d.npy", rng.uniform(-0.2, 0.4, shape)), "--theta",
                 self.save("t.npy", rng.uniform(-1.5, 1.5, shape))]
        self.survey = [*model, "--spacing", "10", "--equations", "fletcher", "--wavelet", "ricker:15",
                       "--order", "16", "--boundary", "rigid", "--dt", "0.0007", "--time", "2", "--no-plot"]
        self.first = self.failure(subprocess.run([self.modeller, *self.survey, "--snapshot-every", "0",
                                                  "--out", "model"],
                                                 cwd=self.folder, text=True, capture_output=True,
                                                 timeout=300))
        self.assertRegex(self.first,
                         r"^shot 1, step \d+: the wavefield [pq] is no longer finite at node \(\d+, \d+\), "
                         r"\(")

    def failure(self, done):
        """Returns the line that names the overflow, without the name of the program."""
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "is no longer finite" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0].split(": ", 1)[1]

    def test_one_device(self):
        for k, way in enumerate(([], ["--block", "8", "--updates", "5"])):
            self.assertEqual(self.failure(self.call(*self.survey, *way, "--out", f"out{k}")), self.first, way)

    def test_chain_of_two_devices(self):
        self.needs_devices(2)
        for k, way in enumerate(([], ["--block", "4", "--updates", "2"])):
            self.assertEqual(self.failure(self.call(*self.survey, "--devices", "2", *way, "--out",
                                                    f"out{k}")), self.first, way)

    def test_volume_in_a_file(self):
        # the file of such a volume is removed, and --resume finds the same overflow
        way = ["--host-volume", "volume", "--block", "8", "--updates", "4", "--out", "file"]
        self.assertEqual(self.failure(self.call(*self.survey, *way)), self.first)
        self.assertFalse(os.path.exists(self.path("volume")))
        self.assertEqual(self.failure(self.call(*self.survey, *way, "--resume")), self.first)


class Resume(Case):
    # Enough passes for interruptions between them.
    survey = ["--vp", "v.npy", "--spacing", "10", "--time", "1.2", "--source", "300,20; 1200,33",
              "--receivers", "0,20:1500,20:31", "--space", "serial", "--host-volume", "volume", "--block",
              "8", "--updates", "4"]

    def start(self, *more):
        process = subprocess.Popen([self.program, *self.survey, *more, "--no-plot", "--out", "out"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def level(self):
        """Returns the time of the state in the file and its number of commits, from the file's header."""
        best = (-1, -1)
        try:
            with open(self.path("volume"), "rb") as file:
                head = file.read(8192)
        except OSError:
            return best
        for at in (0, 4096):
            entry = head[at:at + 32]
            if entry[:8] == b"MOHOVOL1":
                best = max(best, (int.from_bytes(entry[8:16], "little"),
                                  int.from_bytes(entry[24:32], "little")))
        return best

    def kill_at(self, level, number=signal.SIGKILL, shots=0):
        process = self.start()
        begun = shots == 0
        while True:
            if process.poll() is not None:
                self.fail("the run ended before: " + process.stderr.read())
            parts = len(self.whole_parts())
            _, there = self.level()
            # the volume of the previous shot is removed once its gather exists
            begun = begun or (parts >= shots and there < level)
            if begun and there >= level and parts >= shots:
                process.send_signal(number)
                process.communicate(timeout=60)
                return

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(3)
        self.save("v.npy", (2000.0 + rng.uniform(0, 300, (151, 71))).astype(np.float32))

    def test_a_run_that_was_killed_goes_on_in_the_middle_of_a_shot(self):
        whole = self.stream(*self.survey, out="whole")
        self.assertFalse(os.path.exists(self.path("volume")))
        for level, shots in ((60, 0), (100, 1)):
            with self.subTest(shots=shots):
                self.kill_at(level, shots=shots)
                self.assertEqual(len(self.whole_parts()), shots)
                there = self.level()[1]
                # other blocks and updates give the same bits
                r = self.stream(*self.survey[:-4], "--block", "16", "--updates", "5", "--resume")
                self.assertIn(f"{shots} of 2 shots are complete", r.text)
                self.assertIn(f"{there} of {whole.summary['scheme']['steps']} steps", r.text)
                for one, other in zip(r.gathers, whole.gathers):
                    np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(r.wavefield(), whole.wavefield())
                # those of complete shots, and of the remaining steps
                points, all_points = (s["run"]["expand"]["points"] for s in (r.summary, whole.summary))
                self.assertLess(points, all_points)
                self.assertGreater(points, shots / 2 * all_points)
                self.assertFalse(os.path.exists(self.path("volume")))
                for name in os.listdir(self.path("out")):
                    os.remove(self.path("out/" + name))

    def test_the_volume_belongs_to_one_shot_of_one_run(self):
        self.kill_at(60, shots=1)
        with open(self.path("volume"), "rb") as file:
            before = file.read()

        def unchanged():
            with open(self.path("volume"), "rb") as file:
                self.assertEqual(file.read(), before)

        # without --resume nothing is replaced
        done = self.call(*self.survey, "--no-plot", "--out", "out")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--host-volume: the volume 'volume' is there, of an earlier run", done.stderr)
        unchanged()
        # the first shot must be recomputed: the file belongs to another shot
        os.remove(self.path("out/gather_0001.npy"))
        done = self.call(*self.survey, "--no-plot", "--out", "out", "--resume")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--host-volume: the volume 'volume' belongs to another run", done.stderr)
        unchanged()
        # another model in another folder
        done = self.call(*self.survey, "--order", "6", "--no-plot", "--out", "other", "--resume")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("belongs to another run, or has the wrong size", done.stderr)
        unchanged()
        # a truncated file
        os.truncate(self.path("volume"), len(before) - 4096)
        done = self.call(*self.survey, "--no-plot", "--out", "out", "--resume")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("wrong size", done.stderr)

    def test_an_interrupt_says_how_to_go_on(self):
        whole = self.stream(*self.survey, out="whole")
        self.kill_at(40, signal.SIGINT)
        self.assertTrue(os.path.exists(self.path("volume")))
        r = self.stream(*self.survey, "--resume")
        for one, other in zip(r.gathers, whole.gathers):
            np.testing.assert_array_equal(one, other)


class BadInput(Case):
    def test_contrasts_of_density(self):
        rho = np.full((61, 41), 1000.0, dtype=np.float32)
        rho[:, 20] = 17000.0
        survey = ["--vp", "2000", "--spacing", "10", "--time", "0.02", "--wavelet", "ricker:10", "--rho",
                  self.save("rho.npy", rho)]
        for boundary in ("sponge:8", "random:8"):
            self.refuse([*survey, "--boundary", boundary],
                        "rho.npy: 1000 at node (0, 16), (0, 160) m, and 17000 at node (0, 20), (0, 200) m",
                        "ratio of 17", "take order 6 or less")

    def test_parameters_of_16_bits(self):
        self.refuse([*self.section, "--parameters", "16", "--precision", "double"], "16 bits",
                    "double precision", "take 32 bits")
        self.refuse([*self.section, "--parameters", "16", "--epsilon", "0.1", "--theta", "0.2"],
                    "16 bits", "these equations")
        self.refuse([*self.section, "--parameters", "8"], "--parameters '8'", "allowed: 32, 16, auto")

    def test_memory_names_the_volume_in_a_file(self):
        self.save("v.npy", np.full((2001, 2001), 2000.0, dtype=np.float32))
        survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.02", "--memory", "60M"]
        self.refuse(survey, "memory: a model of 2001 x 2001 nodes",
                    "or --host-volume FILE, which keeps the waves in a file")
        # the advised option needs no more memory
        self.stream(*survey, "--host-volume", "volume", "--space", "serial", "--block", "16", "--updates",
                    "2")

    def test_options(self):
        self.refuse([], "--vp is missing")
        self.refuse([*self.section, "--block", "0"], "--block", "0", "allowed")
        self.refuse([*self.section, "--updates", "many"], "--updates", "many")
        self.refuse([*self.section, "--devices", "-1"], "--devices", "-1")
        self.refuse([*self.section, "--device-memory", "much"],
                    "--device-memory: 'much' is no amount of memory")
        self.refuse([*self.section, "--snapshot-every", "0.1"], "snapshot-every")
        self.refuse([*self.section, "--expand", "amplitude"],
                    "--expand amplitude looks at the wavefield before each step", "layers, eikonal")
        self.refuse([*self.section, "--expand", "eikonal", "--expand-interval", "4"],
                    "--expand-interval")
        text = " ".join(self.call("--help").stdout.split())
        self.assertIn("by: none, layers, or eikonal (default: none)", text)
        self.assertNotIn("amplitude", text.replace("times and amplitudes", ""))
        self.refuse([*self.section, "--host-volume", ""], "--host-volume is empty")
        self.refuse([*self.section, "--dt", "0.5"], "--dt: dt is 0.5 s", "largest stable step")
        self.refuse([*self.section, "--source", "601,20"], "--source: source 1: (601, 20)", "outside")
        self.refuse([*self.section, "--wavelet", "ricker:50"], "--wavelet ricker:50", "points per wavelength")

    def test_streaming(self):
        two = [*self.section, "--space", self.spaces()[0], "--devices", "2"]
        self.refuse([*self.section, "--device-memory", "9K"], "--device-memory: ",
                    "does not hold the planes of one stage")
        self.refuse([*two, "--block", "102"], "--block is 102", "1 to 81")
        if self.spaces()[0] != "cuda":  # in place
            self.refuse([*two[:-2], "--block", "102"], "--block is 102", "1 to 81")
        note, host = "note: --lag has no effect: nothing streams", self.on_host()
        for more in ([], ["--block", "8"]):
            plan = self.call(*self.section, *host, *more, "--lag", "9", "--plan")
            self.assertEqual((plan.returncode, note in plan.stdout), (0, not more), plan.stderr)
        # a step across a perfectly matched layer reads 8 planes
        self.refuse([*two, "--block", "8", "--updates", "2", "--lag", "3"], "--lag is 3", "4 or more")
        message = self.refuse([*two, "--device-memory", "20K"], "--device-memory: ",
                              "does not hold the planes of one stage", "needed: ")
        # the named size is enough
        number, unit = message.split("needed: ")[1].split()[:2]
        self.stream(*two, "--device-memory", number + unit[0])
        if "cuda" in self.spaces():
            self.refuse([*self.section, "--space", "cuda", "--devices", "64"], "--devices is 64",
                        "those that this process sees")
        self.refuse(["--vp", "2000", "--shape", "40000,4000,40000", "--coordinates", "xyz", "--spacing",
                     "10"], "memory")

    def test_volume_files(self):
        os.mkdir(self.path("folder"))
        self.refuse([*self.section, "--host-volume", "folder"], "--host-volume: folder is a folder")
        self.refuse([*self.section, "--host-volume", "none/volume"],
                    "--host-volume: the volume 'none/volume'", "No such file or directory")
        v = np.full((61, 41), 2000.0, dtype=np.float32)
        self.save("v.npy", v)
        os.link(self.path("v.npy"), self.path("link"))
        for name in ("v.npy", "link"):
            for more in ([], ["--resume"]):
                self.refuse(["--vp", "v.npy", "--spacing", "10", "--host-volume", name, *more],
                            f"--host-volume: {name} would replace --vp v.npy")
        self.write("notes", "foreign" * 1000)
        os.symlink("nowhere", self.path("link to none"))
        for name, words in (("notes", "is no volume of a run"), ("link to none", "is a symbolic link")):
            for more in ([], ["--resume"], ["--plan"], ["--plan", "--resume"]):
                self.refuse([*self.section, "--host-volume", name, *more],
                            f"--host-volume: the volume '{name}' ", words)
        for name in ("gather.npy", "wavefield.npy", "summary.json"):
            self.refuse([*self.section, "--host-volume", "stream_waves_out/" + name], " name of a result")
        for name, content in (("v.npy", support.npy(v)), ("notes", b"foreign" * 1000)):
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), content)
        self.assertEqual(os.readlink(self.path("link to none")), "nowhere")

    def test_a_refused_shot_leaves_no_volume(self):
        volume = ["--host-volume", "volume", "--block", "8", "--updates", "3"]
        for points, where in (("0,20:600,20:61", "receiver 1"), ("10,0:590,0:59", "receiver 1")):
            self.refuse([*self.section, *volume, "--boundary", "free", "--receivers", points],
                        "--receivers: " + where, "on the free surface")
            self.assertFalse(os.path.exists(self.path("volume")))
        self.refuse([*self.section, *volume, "--boundary", "free", "--source", "0,20"], "--source: source 1",
                    "on the free surface")
        self.assertFalse(os.path.exists(self.path("volume")))
        # the second of several shots: nothing is computed
        self.refuse([*self.section, *volume, "--boundary", "free", "--source", "300,20; 0,20"],
                    "--source: shot 2: source 1", "on the free surface")
        self.assertFalse(os.path.exists(self.path("volume")))
        # the corrected run starts with the same name
        self.stream(*self.section, *volume, "--boundary", "free", "--receivers", "10,20:590,20:59")
        self.assertFalse(os.path.exists(self.path("volume")))

    def test_a_full_disk(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (80 << 20, 80 << 20))

        done = self.call("--vp", "2000", "--shape", "2401,2101", "--spacing", "10", "--time", "0.1",
                         "--host-volume", "volume", "--no-plot", preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("--host-volume: the volume 'volume' needs ", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["stream_waves_out"])
        self.assertEqual(os.listdir(self.path("stream_waves_out")), [])


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
