#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program stream_waves through its command line: what it refuses.

usage: test_stream_waves_refusals.py --program PATH [--modeller PATH of model_waves] [--mpirun PATH]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import resource
import sys

import support
from stream_waves_case import Case
from support import np


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
