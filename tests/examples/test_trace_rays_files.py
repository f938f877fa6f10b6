#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program trace_rays through its command line: models, configuration, files, pictures.

usage: test_trace_rays_files.py --program PATH [--mpirun PATH] [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import importlib.util
import os
import struct
import sys

import support
from support import np
from trace_rays_case import Case


# ctest: quick
class Defaults(Case):
    def test_source_and_receivers_by_default(self):
        r = self.trace("--gradient", "1500,0.5", "--shape", "41,21")
        self.assertEqual(r.summary["sources"], [[200.0, 0.0]])
        self.assertEqual(len(r.summary["receivers"]), 41)
        self.assertIn("no --source was given", r.text)
        self.assertIn("no receivers were given", r.text)
        self.assertEqual(r.summary["asked"]["radius"], 6)
        self.assertEqual(self.trace("--gradient", "1500,0", "--shape",
                                    "x=9,z=8,y=7").summary["asked"]["radius"], 3)

    def test_receiver_line(self):
        r = self.trace("--gradient", "1500,0", "--shape", "1201,41", "--radius", 1, "--receiver-line",
                       "300,321.7,11700,321.7,39")
        line = np.array(r.summary["receivers"])
        np.testing.assert_allclose(line[:, 0], 300.0 * np.arange(1, 40), rtol=1e-14)
        self.assertEqual(set(line[:, 1]), {321.7})
        self.assertEqual(line[0].tolist() + line[-1].tolist(), [300.0, 321.7, 11700.0, 321.7])

    def test_one_column_and_one_node(self):
        r = self.trace("--gradient", "2000,0", "--shape", "1,51", "--source", "0,0", "--receiver-line",
                       "0,100,0,500,3", "--precision", "double")
        np.testing.assert_allclose(r.times[0, 0], 10.0 * np.arange(51) / 2000.0, rtol=1e-12)
        r = self.trace("--gradient", "2000,0", "--shape", "1,1")
        self.assertEqual(r.times.shape, (1, 1, 1))
        self.assertEqual(r.times[0, 0, 0], 0.0)

    def test_help_and_version(self):
        done = self.call("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--model", "--gradient", "--builtin", "--shape", "--spacing", "--source", "--receivers",
                     "--receiver-line", "--radius", "--star", "--method", "--precision", "--space",
                     "--memory", "--weights", "--storage", "--out", "--config", "--no-plot", "metres",
                     "DEPTH", "Examples"):
            self.assertIn(word, done.stdout)
        done = self.call("--version")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Kokkos", done.stdout)


class Models(Case):
    survey = ["--source", "20,0", "--receiver-line", "0,60,100,60,5", "--radius", 3]

    def model(self):
        rng = np.random.default_rng(7)
        return (1500.0 + 2000.0 * rng.random((51, 31))).astype(np.float32)

    def test_npy_in_every_form(self):
        v = self.model()
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey).times
        for array in (np.asfortranarray(v), v.astype(">f4"), v.astype(np.float64)):
            r = self.trace("--model", self.save("w.npy", array), "--spacing", 4, *self.survey)
            np.testing.assert_array_equal(r.times, expected)
            np.testing.assert_array_equal(r.velocity, v)
        # integers are converted with a note, if they are exact
        whole = np.rint(v)
        expected = self.trace("--model", self.save("v.npy", whole), "--spacing", 4, *self.survey).times
        for kind in (np.int64, np.int32, np.int16):
            r = self.trace("--model", self.save("whole.npy", whole.astype(kind)), "--spacing", 4,
                           *self.survey)
            np.testing.assert_array_equal(r.times, expected)
            self.assertIn("whole.npy: the integers were converted to float", r.summary["model"]["note"])
        self.refuse(["--model", self.save("whole.npy", np.full((51, 31), 2 ** 24 + 1)), "--spacing", 4,
                     *self.survey],
                    "--model", "holds the integer 16777217 (allowed: up to 16777216")

    def test_names_of_receivers(self):
        rows = [("ST 9", 40.0, 60.0, "0.5"), ("ST1", 0.0, 60.0, ""), ("12", 100.0, 60.0, "late")]
        table = "Station,x,remark,z\n" + "".join(f"{name},{x},{remark},{z}\n" for name, x, z, remark in rows)
        survey = ["--gradient", "1500,0.5", "--shape", "51,31", "--spacing", 4, "--source", "20,0",
                  "--source", "60,0", "--radius", 3, "--receivers"]
        expected = self.trace(*survey, "40,60; 0,60; 100,60").receivers["traveltime"]
        r = self.trace(*survey, self.write("s.csv", table))
        np.testing.assert_array_equal(r.receivers["traveltime"], expected)
        with open(self.path("out/receivers.csv"), encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(",") for line in file]
        self.assertEqual(lines[0], ["source", "receiver", "x", "z", "traveltime", "Station", "remark"])
        self.assertEqual([line[5:] for line in lines[1:]],
                         2 * [[name, remark] for name, _, _, remark in rows])
        self.trace(*survey, self.write("s.csv", "receiver;z;x\nA;60;40\nB;60;0\n"))
        with open(self.path("out/receivers.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "source,receiver,x,z,traveltime,receiver_name\n")
        self.refuse([*survey, self.write("s.csv", "name,x,z\nA,4O,60\n")], "s.csv:2:3: '4O' is no number")

    def test_matrix(self):
        survey = ["--gradient", "1500,0.5", "--shape", "41,31", "--spacing", 10, "--source", "0,0",
                  "--source", "203,98", "--receiver-line", "0,290,400,290,9", "--radius", 4, "--precision",
                  "double"]
        for basis, columns in (("nodes", 41 * 31), ("cells", 40 * 30)):
            r = self.trace(*survey, "--matrix", basis)
            self.assertEqual(r.summary["asked"]["matrix"], basis)
            with np.load(self.path("out/matrix.npz")) as file:
                self.assertEqual(file["format"].item(), b"csr")
                self.assertEqual(file["shape"].tolist(), [18, columns])
                matrix = np.zeros((18, columns))
                for row in range(18):
                    part = slice(*file["indptr"][row:row + 2])
                    matrix[row, file["indices"][part]] = file["data"][part]
            with open(self.path("out/matrix.mtx"), encoding="ascii") as file:
                self.assertEqual(file.readline(), "%%MatrixMarket matrix coordinate real general\n")
                entries = np.loadtxt(file, comments="%")
            self.assertEqual(entries[0].tolist(), [18, columns, np.count_nonzero(matrix)])
            other = np.zeros_like(matrix)
            other[entries[1:, 0].astype(int) - 1, entries[1:, 1].astype(int) - 1] = entries[1:, 2]
            np.testing.assert_array_equal(other, matrix)
            table = np.genfromtxt(self.path("out/receivers.csv"), delimiter=",", names=True)
            if basis == "nodes":
                np.testing.assert_allclose(matrix @ (1.0 / r.velocity).ravel(), table["traveltime"],
                                           rtol=1e-12)
            else:
                rays = np.genfromtxt(self.path("out/rays.csv"), delimiter=",", names=True)
                lengths = [np.hypot(np.diff(ray["x"]), np.diff(ray["z"])).sum()
                           for ray in (rays[rays["ray"] == k] for k in range(18))]
                np.testing.assert_allclose(matrix.sum(axis=1), lengths, rtol=1e-12)
            if importlib.util.find_spec("scipy"):
                import scipy.sparse
                np.testing.assert_array_equal(scipy.sparse.load_npz(self.path("out/matrix.npz")).toarray(),
                                              matrix)
        self.refuse([*survey, "--matrix", "lines"], "--matrix 'lines' is unknown", "nodes")

    def test_units(self):
        v = self.model()
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey).times
        rows = v.astype("<f4").tobytes()
        header = ("n1=%d n2=%d d1=0.004 d2=0.004 unit1=km unit2=km %s data_format=native_float in=stdin\n"
                  "\x0c\x0c\x04")
        metres = (header % (v.shape[1], v.shape[0], "")).encode()
        r = self.trace("--model", self.write("metres.rsf", metres + rows), *self.survey)
        np.testing.assert_allclose(r.summary["model"]["spacing"], [4.0, 4.0], rtol=1e-12)
        np.testing.assert_allclose(r.times, expected, rtol=1e-6)
        slow = (v / 1000).astype("<f4")
        name = self.save("slow.npy", slow)
        self.refuse(["--model", name, "--spacing", 4, *self.survey], "--model ", "slow.npy: velocities of ",
                    "km/s? give --velocity-unit km/s")
        r = self.trace("--model", name, "--spacing", 4, "--velocity-unit", "km/s", *self.survey)
        np.testing.assert_allclose(r.times, expected, rtol=1e-6)
        self.assertEqual(r.summary["asked"]["velocity_unit"], "km/s")
        told = (header % (v.shape[1], v.shape[0], 'unit="km/s"')).encode()
        r = self.trace("--model", self.write("told.rsf", told + slow.tobytes()), *self.survey)
        np.testing.assert_allclose(r.times, expected, rtol=1e-6)
        self.assertIn("told.rsf says that its velocities are in km/s: converted to m/s", r.text)
        self.refuse(["--model", self.path("v.npy"), "--spacing", 4, "--velocity-unit", "km/s"],
                    "in km/s are up to", "take another --velocity-unit")
        self.refuse(["--model", self.write("time.rsf", metres.replace(b"unit1=km", b"unit1=s") + rows)],
                    "has unit1=s", "not on times")
        self.refuse(["--gradient", "1.5,0.8"], "--gradient 1.5,0.8: velocities of 1.5: km/s?")
        self.refuse(["--builtin", "salt", "--velocity-unit", "km/s"],
                    "--velocity-unit was given with --builtin")
        self.refuse(["--model", name, "--velocity-unit", "mph"], "--velocity-unit 'mph' is unknown", "km/s")
        r = self.trace("--gradient", "1.5,0.5", "--velocity-unit", "km/s", "--shape", "41,21")
        np.testing.assert_array_equal(r.velocity,
                                      self.trace("--gradient", "1500,0.5", "--shape", "41,21").velocity)

    def test_spacing_not_given_is_asked_for(self):
        name = self.save("v.npy", self.model())
        self.refuse(["--model", name], "--spacing is missing (--model ", "v.npy does not say",
                    "--spacing 10 for 10 m")
        r = self.trace("--model", name, "--spacing", "5,10")
        self.assertEqual(r.summary["model"]["spacing"], [5.0, 10.0])
        self.assertNotIn("note", r.summary["model"])

    def test_rsf(self):
        v = self.model()
        header = 'n1=31 n2=51 d1=4 d2=4 o1=0 o2=0 esize=4 data_format="native_float" in="v.bin"\n'
        self.write("v.bin", v.tobytes())
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey)
        r = self.trace("--model", self.write("v.rsf", header), *self.survey)
        np.testing.assert_array_equal(r.times, expected.times)
        self.assertEqual(r.summary["model"]["spacing"], [4.0, 4.0])
        r = self.trace("--model", self.path("v.rsf"), "--spacing", 8, *self.survey)
        self.assertEqual(r.summary["model"]["spacing"], [8.0, 8.0])
        moved = header.replace("o2=0", "o2=1000")
        r = self.trace("--model", self.write("w.rsf", moved), "--source", "1020,0", "--receiver-line",
                       "1000,60,1100,60,5", "--radius", 3)
        np.testing.assert_allclose(r.times, expected.times, rtol=1e-6)
        self.assertEqual(r.ray(0)[0].tolist(), [1020.0, 0.0])

    def test_segy(self):
        v = self.model()
        head = bytearray(3600)
        for at, value in ((3216, 4000), (3220, v.shape[1]), (3224, 5)):  # interval, samples, IEEE float
            struct.pack_into(">h", head, at, value)
        content = bytes(head)
        for k, column in enumerate(v):
            trace = bytearray(240)
            struct.pack_into(">i", trace, 0, k + 1)
            struct.pack_into(">h", trace, 70, 1)  # scalar of the coordinates
            struct.pack_into(">hh", trace, 114, v.shape[1], 4000)
            struct.pack_into(">i", trace, 180, 4 * k)  # x of the ensemble
            content += bytes(trace) + column.astype(">f4").tobytes()
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey)
        for name in ("v.segy", "v.sgy"):
            r = self.trace("--model", self.write(name, content), *self.survey)
            np.testing.assert_array_equal(r.velocity, v)
            np.testing.assert_allclose(r.times, expected.times, rtol=1e-6)
            self.assertEqual(r.summary["model"]["spacing"], [4.0, 4.0])
        # lengths in feet: the unit of velocities is ambiguous
        self.write("ft.sgy", content[:3254] + b"\0\2" + content[3256:])
        survey = ["--source", "5,0", "--receiver-line", "0,18,30,18,5", "--radius", 3]
        self.refuse(["--model", "ft.sgy", *survey], "--model ft.sgy: lengths in the file are in feet",
                    "--velocity-unit ft/s")
        r = self.trace("--model", "ft.sgy", "--velocity-unit", "ft/s", *survey)
        np.testing.assert_allclose(r.summary["model"]["spacing"], [4 * 0.3048, 4 * 0.3048], rtol=1e-12)
        np.testing.assert_allclose(r.velocity, 0.3048 * v, rtol=1e-6)
        r = self.trace("--model", "ft.sgy", "--velocity-unit", "m/s", *survey)
        np.testing.assert_array_equal(r.velocity, v)

    def test_axes_order(self):
        v = np.full((21, 11, 5), 2000.0, dtype=np.float32)
        v[:, :, 3:] = 4000.0
        r = self.trace("--model", self.save("v.npy", v), "--spacing", "x=10,z=30,y=20", "--source", "0,0,0")
        self.assertEqual(r.axes(), ["x", "y", "z"])
        self.assertEqual(r.summary["model"]["spacing"], [10.0, 20.0, 30.0])
        self.assertAlmostEqual(float(r.times[0, 0, 0, 2]), 60.0 / 2000.0, places=6)
        self.assertAlmostEqual(float(r.times[0, 0, 2, 0]), 40.0 / 2000.0, places=6)

    def test_receiver_files(self):
        places = [(10.0, 5.0), (33.25, 12.5), (0.0, 20.0)]
        base = ["--gradient", "2000,1", "--shape", "41,21", "--spacing", 1, "--source", "20,0"]
        text = "station,z,x\n" + "".join(f"{k},{z},{x}\n" for k, (x, z) in enumerate(places))
        from_csv = self.trace(*base, "--receivers", self.write("r.csv", text))
        from_npy = self.trace(*base, "--receivers", self.save("r.npy", np.array(places)))
        np.testing.assert_allclose(from_csv.summary["receivers"], places)
        np.testing.assert_array_equal(from_csv.receivers, from_npy.receivers)
        volume = ["--gradient", "2000,1", "--shape", "x=21,y=15,z=11", "--spacing", 1, "--source", "10,7,7"]
        r = self.trace(*volume, "--receivers", self.write("r.csv", "x,y,z\n1,2,3\n20,14,10\n"))
        self.assertEqual(r.summary["receivers"], [[1.0, 2.0, 3.0], [20.0, 14.0, 10.0]])

    def test_builtin_salt(self):
        r = self.trace("--builtin", "salt", "--shape", "301,101", "--radius", 1)
        v = r.velocity
        self.assertTrue(np.all((v >= 1500) & (v <= 3500) | (v == 4500)))
        self.assertTrue(0.1 < np.mean(v == 4500) < 0.4)
        salt = v == 4500
        overhang = [np.any(~column[np.argmax(column):np.argmax(column) + 80]) and column.any()
                    for column in salt]
        self.assertGreater(np.mean(overhang), 0.2)
        tops = np.argmax(salt, axis=1)[110:190]
        self.assertGreater(np.count_nonzero(np.diff(np.sign(np.diff(tops)))), 3)


class Configuration(Case):
    arguments = ["--builtin", "salt", "--shape", "61,41", "--source", "100,0", "--source", "300,50",
                 "--receiver-line", "0,300,500,300,6", "--radius", "4", "--star", "full", "--precision",
                 "double", "--weights", "velocity"]
    text = """# a survey
builtin = salt
shape = 61,41
source = 100,0
source = 300,50     # the second shot
receiver-line = 0,300,500,300,6
radius = 4
star = full
precision = double
weights = velocity
"""

    def same(self, a, b):
        np.testing.assert_array_equal(a.times, b.times)
        np.testing.assert_array_equal(a.rays, b.rays)
        for key in ("model", "sources", "receivers"):
            self.assertEqual(a.summary[key], b.summary[key])

    def test_file_equals_command_line(self):
        config = self.write("survey.cfg", "\ufeff" + self.text)  # a byte order mark may begin the file
        self.same(self.trace(*self.arguments), self.trace("--config", config))

    def test_command_line_wins(self):
        config = self.write("survey.cfg", self.text)
        r = self.trace("--config", config, "--radius", 2, "--source", "40,40")
        self.assertEqual(r.summary["asked"]["radius"], 2)
        self.assertEqual(r.summary["sources"], [[40.0, 40.0]])
        r = self.trace("--config", config, "--gradient", "1500,1", "--radius", 1)
        self.assertEqual(r.summary["model"]["name"], "--gradient 1500,1")
        self.assertEqual(r.summary["model"]["shape"], [601, 201])
        table = self.write("r.csv", "x,z\n10,20\n")
        r = self.trace("--config", config, "--receivers", table)
        self.assertEqual(r.summary["receivers"], [[10.0, 20.0]])

    def test_quotes_and_other_names(self):
        text = self.text.replace("builtin = salt",
                                 "vp = '2000' # of all nodes").replace("4\n", '"4"   # nodes\n', 1)
        r = self.trace("--config", self.write("survey.cfg", text + "spacing = 10\nout = \"a # b\"\n"))
        self.assertEqual(r.summary["model"]["name"], "--model 2000")
        self.assertEqual(r.summary["asked"]["radius"], 4)
        self.assertEqual((r.velocity.min(), r.velocity.max()), (2000.0, 2000.0))
        self.assertEqual(self.call("--config", "survey.cfg", "--no-plot").returncode, 0)
        self.assertTrue(os.path.isfile(self.path("a # b/summary.json")))

    def test_no_plot_in_a_file(self):
        config = self.write("survey.cfg", self.text + "no-plot = true\n")
        r = self.trace("--config", config, plot=True)
        self.assertNotIn("rays.png", os.listdir(r.folder))

    def test_refusals(self):
        self.refuse(["--config", "none.cfg"], "--config none.cfg", "cannot be read")
        self.refuse(["--config", self.folder], "--config", "cannot be read")
        self.refuse(["--config", self.write("a.cfg", "builtin = salt\nradios = 3\n")], "a.cfg",
                    "a.cfg:2: 'radios' is no option")
        self.refuse(["--config", self.write("b.cfg", "builtin\n")], "b.cfg:1", "name = value")
        for line, why in (("radius = 3\nradius = 4", "c.cfg:3: 'radius' was given in line 2, too"),
                          ("out = 'a b", "has no end"), ("out = 'a' b", "there is 'b' behind"),
                          ("no-plot = perhaps", "neither true nor false"),
                          ("[grid]", "'[grid]' has no value"),
                          ("quiet # = true", "c.cfg:2: 'quiet' has no value")):
            self.refuse(["--config", self.write("c.cfg", f"builtin = salt\n{line}\n")], "c.cfg:", why)
        # every error of a value is reported with its line; values of the command line have no line
        self.refuse(["--config", self.write("c.cfg", "builtin = salt\nradius = six\n")], "c.cfg:2: --radius",
                    "six")
        self.refuse(["--config", "c.cfg", "--radius", "seven"], "trace_rays: --radius", "seven")
        self.refuse(["--config", self.write("c.cfg", "builtin = salt\n\n# far\nsource = 1e7,0\n")],
                    "c.cfg:4: --source")


# ctest: quick
class Picture(Case):
    arguments = ["--builtin", "salt", "--shape", "61,41", "--radius", 2]

    def test_program_draws(self):
        self.needs_matplotlib()
        r = self.trace(*self.arguments, plot=True)
        self.assert_picture(os.path.join(r.folder, "rays.png"))
        self.assertIn("rays.png", r.summary["files"])
        self.assertGreater(r.summary["seconds"]["picture"], 0)
        self.assertEqual(r.summary["picture"], "rays.png")

    def test_many_sources(self):
        sources = [word for k in range(10) for word in ("--source", f"{60 * k},0")]
        self.draw("plot_rays", self.trace(*self.arguments, *sources).folder, "rays.png")

    def test_volume(self):
        r = self.trace("--builtin", "salt", "--shape", "x=21,y=18,z=15", "--radius", 1)
        self.draw("plot_rays", r.folder, "rays.png")

    def test_thin_models(self):
        for shape in ("1,21", "x=21,y=1,z=15"):
            r = self.trace("--gradient", "2000,0", "--shape", shape, "--radius", 1)
            self.draw("plot_rays", r.folder, "rays.png")

    def test_an_old_picture_does_not_stay(self):
        os.mkdir(self.path("out"))
        self.write("out/rays.png", "of another run")
        self.write("out/summary.json", '{"program": "trace_rays", "files": ["rays.png"]}')
        self.trace(*self.arguments)
        self.assertFalse(os.path.exists(self.path("out/rays.png")))


# ctest: quick
class Program(support.EveryProgram, Case):
    small = ["--builtin", "salt", "--shape", "31,21", "--radius", 2]
    script = "plot_rays"


class NothingIsLost(support.NothingIsLost, Case):
    small = ["--builtin", "salt", "--shape", "31,21", "--radius", 2]
    slow = ["--builtin", "salt", "--shape", "x=161,y=161,z=121", "--radius", 4]
    results = ["traveltime.npy", "velocity.npy", "rays.csv", "rays.vtk", "receivers.csv"]
    former = "matrix.npz"
    read = [("velocity.npy", support.npy(np.full((31, 21), 2000.0)),
             lambda f: ["--model", f, "--spacing", "5"], "model"),
            ("traveltime.npy", support.npy(np.full((31, 21), 2000.0)), lambda f: ["--model", f], "model"),
            ("receivers.csv", b"x,z\n0,0\n", lambda f: ["--builtin", "salt", "--receivers", f], "receivers")]
    shapes = [["--builtin", "salt", "--shape", "x=121,y=101,z=81", "--radius", 2],
              ["--builtin", "salt", "--shape", "x=121,y=101,z=81", "--radius", 2, "--source", "0,0,0",
               "--source", "x=700,y=500,z=0"],
              ["--builtin", "salt", "--shape", "1001,701", "--radius", 3, "--precision", "double"],
              ["--builtin", "salt", "--shape", "601,401", "--radius", 4, "--storage", "stored", "--method",
               "relaxation"]]

    def test_data_of_a_header(self):
        # The header is in another folder; the data would be replaced.
        os.mkdir(self.path("out"))
        self.write("out/velocity.npy", np.full(31 * 21, 2000.0, dtype=np.float32).tobytes())
        header = self.write("v.rsf",
                            'n1=21 n2=31 d1=5 d2=5 data_format="native_float" in="out/velocity.npy"\n')
        done = self.call("--model", header, "--no-plot", "--out", "out")
        self.assert_refused(done, "would replace --model", "out/velocity.npy")
        self.assertEqual(self.files(), ["velocity.npy"])


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
