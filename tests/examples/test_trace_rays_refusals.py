#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program trace_rays through its command line: what it refuses.

usage: test_trace_rays_refusals.py --program PATH [--mpirun PATH] [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import sys

import support
from support import np
from trace_rays_case import Case


# ctest: quick
class BadOptions(Case):
    good = ["--builtin", "salt", "--shape", "31,21"]

    def test_model_choice(self):
        self.refuse([], "no model was given", "--model", "--gradient", "--builtin")
        self.refuse(["--model", "a.npy", "--gradient", "1500,1"], "--model and --gradient", "both given")
        self.refuse(["--builtin", "sand"], "--builtin 'sand' is unknown", "salt")
        self.refuse(["--model", "a.npy", "--shape", "3,4"], "--shape was given with --model")

    def test_unknown(self):
        self.refuse([*self.good, "--colour", "red"], "--colour", "--help")
        self.refuse([*self.good, "salt.npy"], "'salt.npy' belongs to no option")
        self.refuse([*self.good, "--rad", "3"], "--rad")
        self.refuse([*self.good, "--radius"], "--radius is missing before --no-plot")
        self.assertIn("--radius", self.call(*self.good, "--no-plot", "--radius").stderr)
        self.refuse([*self.good, "--radius", "3", "--radius", "4"], "--radius", "more than once")

    def test_names(self):
        for option, word in (("--space", "cuda"), ("--method", "near_far"), ("--precision", "double"),
                             ("--star", "full"), ("--weights", "sampled"), ("--storage", "on_the_fly")):
            self.refuse([*self.good, option, "best"], f"{option} 'best' is unknown", word)

    def test_space_of_another_build(self):
        if "cuda" in self.call("--version").stdout:
            self.skipTest("this build has every space")
        self.refuse([*self.good, "--space", "cuda"], "--space cuda is not in this program", "it has: ")

    def test_numbers(self):
        self.refuse([*self.good, "--source", "12,abc"], "--source",
                    "'12,abc' has 'abc' where a number should be")
        self.refuse([*self.good, "--source", "12"], "--source", "'12' has 1 coordinate, not 2", "x,z")
        self.refuse([*self.good, "--source", "1,2,3,4"], "--source", "has 4 coordinates")
        self.refuse([*self.good, "--source", "12,"], "--source", "has '' where a number should be")
        self.refuse([*self.good, "--source", "nan,0"], "--source", "'nan'")
        self.refuse([*self.good, "--source", "1e999,0"], "--source", "'1e999'")
        self.refuse([*self.good, "--source", "12,5m"], "--source", "'5m'")
        self.refuse(["--gradient", "1500"], "--gradient", "v0,g")
        self.refuse(["--gradient", "fast,1"], "--gradient", "'fast'")
        self.refuse([*self.good, "--shape", "31,21"], "--shape", "more than once")
        for shape in ("31", "31,21,5,2", "x=31,21", "x=31,y=21", "x=31,x=5,z=21", "0,21", "-3,21", "3.5,21",
                      "31,x"):
            self.refuse(["--builtin", "salt", "--shape", shape], "--shape", shape)
        for spacing in ("0", "-10", "10,0", "ten", "1,2,3,4", "inf"):
            self.refuse([*self.good, "--spacing", spacing], "--spacing")
        self.refuse([*self.good, "--spacing", "10,10,10"], "--spacing has 3 values", "2 dimensions")
        for line in ("0,0,300,200", "0,0,300,200,0", "0,0,300,200,2.5", "0,0,300,200,many"):
            self.refuse([*self.good, "--receiver-line", line], "--receiver-line", line)
        for memory in ("much", "-1G", "0", "8X", ""):
            self.refuse([*self.good, "--memory", memory], "--memory")

    def test_slabs_and_fragments(self):
        for option in ("--devices", "--slabs"):
            self.refuse([*self.good, option, "0"], option)
            self.refuse([*self.good, option, "2", "--method", "relaxation"], option, "allowed: active_tiles")
        self.refuse([*self.good, "--devices", "40", "--space", "serial"], "--devices: 40", "allowed for this")
        self.refuse(["--builtin", "salt", "--shape", "401,301", "--storage", "fragments", "--memory", "6M",
                     "--radius", "8", "--space", "serial"], "fragments of the table", "allow at least")

    def test_three_numbers_are_x_y_z(self):
        volume = ["--vp", "2000", "--spacing", "10,9,8", "--shape", "9,21,8"]
        plain = self.trace(*volume, "--source", "10,20,50", "--receivers", "0,0,0:80,180,0:3x2x1")
        self.assertEqual(plain.summary["model"]["shape"], [9, 21, 8])
        self.assertEqual(plain.summary["model"]["spacing"], [10.0, 9.0, 8.0])
        self.assertEqual(plain.summary["sources"], [[10.0, 20.0, 50.0]])
        self.assertEqual(plain.summary["receivers"],
                         [[x, y, 0.0] for x in (0.0, 40.0, 80.0) for y in (0.0, 180.0)])
        self.write("run.cfg", "source = z=50,y=20,x=10\ncoordinates = xyz\nreceivers = "
                              "x=0,z=0,y=0:x=80,z=0,y=180:3x1x2\n")
        named = self.trace("--vp", "2000", "--spacing", "x=10,z=8,y=9", "--shape", "z=8,x=9,y=21", "--config",
                           "run.cfg")
        for key in ("sources", "receivers"):
            self.assertEqual(named.summary[key], plain.summary[key])
        self.refuse([*volume, "--source", "10,50,190"], "--source", "(10, 50, 190)", "is outside the model")
        self.refuse([*volume, "--coordinates", "xzy"], "--coordinates is 'xzy'", "allowed: xyz")

    def test_missing_shape_and_spacing(self):
        self.refuse(["--vp", "2000", "--shape", "9,8"], "--spacing is missing")
        self.refuse(["--vp", "2000", "--spacing", "9"], "--shape is missing")

    def test_radius(self):
        for radius in ("0", "-1", "9", "2.5", "x"):
            self.refuse([*self.good, "--radius", radius], "--radius", f"'{radius}'", "1 to 8")
        self.refuse(["--builtin", "salt", "--shape", "9,8,8", "--radius", "5"], "--radius is 5", "1 to 4")

    def test_both_kinds_of_receivers(self):
        self.refuse([*self.good, "--receivers", "r.csv", "--receiver-line", "0,0,1,1,2"],
                    "--receivers and --receiver-line are one option", "more than once")

    def test_out(self):
        self.write("file", "x")
        self.refuse([*self.good, "--out", "file"], "--out file")
        self.refuse([*self.good, "--out", "file/deeper"], "--out file/deeper")
        self.refuse([*self.good, "--out", "/proc/trace_rays"], "--out /proc/trace_rays")
        self.refuse([*self.good, "--out", ""], "--out")

    def test_memory(self):
        self.refuse([*self.good, "--memory", "2K"], "memory", "2 KiB")
        self.refuse([*self.good, "--storage", "stored", "--memory", "30K"], "memory")
        self.refuse(["--gradient", "1500,0", "--shape", "4000000,4000000"], "--shape", "of memory")


class BadInput(Case):
    def bad_velocity(self, value, text):
        v = np.full((31, 21), 2000.0, dtype=np.float32)
        v[7, 11] = value
        message = self.refuse(["--model", self.save("v.npy", v), "--spacing", 10], "--model ", "v.npy",
                              f"the velocity is {text} m/s", "(7, 11)", "(70, 110) m")
        self.assertNotIn("more nodes", message)

    def test_velocity(self):
        self.bad_velocity(0.0, "0")
        self.bad_velocity(-1500.0, "-1500")
        self.bad_velocity(np.nan, "nan")
        self.bad_velocity(np.inf, "inf")
        # times would be infinite, or their products zero; limits are those of first_arrivals
        for velocity in ("1e-38", "0.00099", "1e30"):
            self.refuse(["--model", velocity, "--shape", "31,21", "--spacing", "10"],
                        f"--model {velocity}: the velocity is ",
                        "at node (0, 0), (x, z) = (0, 0) m",
                        "(allowed: positive and finite, 0.001 to 1000000000 m/s)")
        v = np.full((11, 12, 13), 2000.0)
        v[3, 4, 5] = v[6, 7, 8] = 0.0
        self.refuse(["--model", self.save("v.npy", v), "--spacing", 10], "(3, 4, 5)", "(30, 40, 50) m",
                    "1 more node")
        self.refuse(["--gradient", "1500,-10", "--shape", "31,21"], "--gradient 1500,-10", "velocity is 0")

    def test_places(self):
        good = ["--builtin", "salt", "--shape", "31,21"]
        self.refuse([*good, "--source", "10,10", "--source", "301,10"],
                    "--source: source 2: (301, 10) is outside the model (allowed: x 0 to 300, z 0 to 200): "
                    "move it, or check --spacing and the order of coordinates")
        self.refuse([*good, "--source", "-1,10"], "source 1: (-1, 10)")
        self.refuse([*good, "--source", "10,10,10"], "--source: '10,10,10' has 3 coordinates, not 2")
        self.refuse(["--builtin", "salt", "--shape", "9,8,8", "--source", "10,10"], "2 coordinates, not 3",
                    "x,y,z")
        self.refuse([*good, "--receiver-line", "0,0,300,201,3"], "receiver 3: (300, 201)", "z 0 to 200")
        self.refuse([*good, "--receiver-line", "0,0,0,1,1,1,3"], "--receiver-line", "7 coordinates")
        self.refuse([*good, "--receivers", self.write("r.csv", "x,z\n0,0\n10,250\n")], "r.csv",
                    "receiver 2: (10, 250)")

    def test_receiver_files(self):
        good = ["--builtin", "salt", "--shape", "31,21"]
        self.refuse([*good, "--receivers", "none.csv"], "none.csv")
        self.refuse([*good, "--receivers", self.write("a.csv", "x,z\n1,two\n")], "a.csv", "two")
        self.refuse([*good, "--receivers", self.write("b.csv", "x,depth\n1,2\n")], "b.csv", "no column 'z'")
        self.refuse([*good, "--receivers", self.write("c.csv", "x,z\n")], "c.csv")
        self.refuse([*good, "--receivers", self.write("d.xls", "1")], "d.xls", ".csv")
        self.refuse([*good, "--receivers", self.save("e.npy", np.zeros((4, 3)))], "e.npy", "3 columns", "x,z")
        self.refuse([*good, "--receivers", self.save("f.npy", np.zeros(4))], "f.npy")

    def test_model_files(self):
        self.refuse(["--model", "none.npy"], "none.npy")
        self.refuse(["--model", "none.segy"], "none.segy")
        self.refuse(["--model", self.folder], self.folder)
        self.refuse(["--model", self.write("v.txt", "1 2 3")], "v.txt", ".npy, .rsf, .sgy, .segy")
        self.refuse(["--model", self.write("v.npy", "not an array")], "v.npy")
        self.refuse(["--model", self.write("v.sgy", b"\0" * 100)], "v.sgy")
        whole = open(self.save("w.npy", np.full((31, 21), 2000.0, dtype=np.float32)), "rb").read()
        self.refuse(["--model", self.write("t.npy", whole[:-4])], "t.npy")
        self.refuse(["--model", self.write("h.npy", whole[:20])], "h.npy")
        self.refuse(["--model", self.save("i.npy", np.full((31, 21), 2000))], "i.npy")
        self.refuse(["--model", self.save("c.npy", np.full((31, 21), 2000j))], "c.npy")
        self.refuse(["--model", self.save("1.npy", np.full(31, 2000.0))], "1.npy", "31")
        self.refuse(["--model", self.save("4.npy", np.full((3, 4, 5, 6), 2000.0))], "4.npy", "3 x 4 x 5 x 6")
        header = 'n1=31 n2=51 d1=4 d2=4 data_format="native_float" in="v.bin"\n'
        self.write("v.bin", b"\0" * (31 * 51 * 4 - 1))
        self.refuse(["--model", self.write("v.rsf", header)], "v.bin")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
