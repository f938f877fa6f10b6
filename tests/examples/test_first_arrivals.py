#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program first_arrivals through its command line.

usage: test_first_arrivals.py --program PATH [names of test classes]
Exit status 77 if numpy is missing.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from xml.etree import ElementTree

import support
from support import np


class Case(support.Case):
    def solve(self, *arguments, out="out", plot=False):
        """Runs the program, which must succeed and not write to stderr. Returns times, summary, text."""
        folder, text = self.succeed(*arguments, out=out, plot=plot)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            return np.load(os.path.join(folder, "times.npy")), json.load(file), text


def gradient_time(places, source, v0, g):
    a, b = v0 + g * source[-1], v0 + g * places[-1]
    square = sum((p - s) ** 2 for p, s in zip(places, source))
    return np.arccosh(1.0 + g * g * square / (2.0 * a * b)) / g


# ctest: quick
class Times(Case):
    def test_grid_is_printed(self):
        done = self.call("--vp", "2000", "--shape", "31,21", "--spacing", "5", "--no-plot")
        self.assertIn("--vp 2000: 31 x 21 nodes, 5 m apart (x 0 to 150, z 0 to 100 m)", done.stdout)

    def test_gradient_section_with_receivers(self):
        times, summary, text = self.solve(
            "--gradient", "1500,2", "--shape", "121,61", "--spacing", "10", "--source", "503,117",
            "--receivers", "0,0; 700,333.3", "--precision", "double")
        self.assertEqual(times.shape, (121, 61))
        self.assertEqual(times.dtype, np.float64)
        places = np.meshgrid(10.0 * np.arange(121), 10.0 * np.arange(61), indexing="ij")
        np.testing.assert_allclose(times, gradient_time(places, (503.0, 117.0), 1500.0, 2.0), atol=2e-4)
        table = np.genfromtxt(self.path("out/receivers.csv"), delimiter=",", names=True)
        exact = gradient_time((table["x"], table["z"]), (503.0, 117.0), 1500.0, 2.0)
        np.testing.assert_allclose(table["traveltime"], exact, atol=3e-4)
        self.assertEqual(summary["model"]["medium"], "isotropic")
        self.assertIn("nodes/s", text)

    def test_methods_spaces_and_orders_agree(self):
        survey = ["--builtin", "salt", "--shape", "91,61", "--source", "455,3", "--precision", "double"]
        for order in (1, 2):
            exact, summary, _ = self.solve(*survey, "--order", order, "--method", "fast_marching")
            for space in summary["versions"]["spaces"]:
                for method in ("active_tiles", "sweeping"):
                    times, _, _ = self.solve(*survey, "--order", order, "--method", method, "--space", space)
                    # second-order differences are chosen by thresholds, which rounding may cross at a node
                    np.testing.assert_allclose(times, exact, rtol=1e-12 if order == 1 else 1e-4)

    def test_vti_volume_from_files(self):
        vp = np.full((21, 17, 15), 2000.0, dtype=np.float32)
        files = ["--model", self.save("vp.npy", vp), "--epsilon", self.save("e.npy", 0 * vp + 0.2),
                 "--spacing", 10, "--origin", "x=100,y=50,z=0", "--source", "200,130,0"]
        x, y, z = np.meshgrid(100 + 10.0 * np.arange(21), 50 + 10.0 * np.arange(17), 10.0 * np.arange(15),
                              indexing="ij")
        times, summary, _ = self.solve(*files)
        exact = np.sqrt(((x - 200) ** 2 + (y - 130) ** 2) / 1.4 + z ** 2) / 2000.0
        np.testing.assert_allclose(times, exact, atol=1e-6)
        self.assertEqual(summary["model"]["medium"], "elliptical")
        slower, summary, _ = self.solve(*files, "--delta", "0.05")
        self.assertEqual(summary["model"]["medium"], "VTI")
        np.testing.assert_allclose(slower[:, 8, 0], exact[:, 8, 0], atol=1e-6)  # along the horizontal
        self.assertTrue(np.all(slower >= exact - 1e-6))
        self.assertGreater((slower - exact).max(), 1e-4)

    def test_units(self):
        v = np.linspace(2000.0, 3000.0, 61 * 41, dtype=np.float32).reshape(61, 41)
        expected, _, _ = self.solve("--model", self.save("v.npy", v), "--spacing", 10)
        slow = self.save("slow.npy", v / 1000)
        said = self.call("--vp", slow, "--spacing", 10, "--no-plot")
        self.assertEqual(said.returncode, 2)
        self.assertIn("slow.npy: velocities of 2 to 3: km/s? give --velocity-unit km/s", said.stderr)
        times, summary, _ = self.solve("--model", slow, "--spacing", 10, "--velocity-unit", "km/s")
        np.testing.assert_allclose(times, expected, rtol=1e-5)
        self.assertEqual(summary["asked"]["velocity_unit"], "km/s")
        of_gradient, _, _ = self.solve("--gradient", "1.5,0.5", "--velocity-unit", "km/s", "--shape", "41,21")
        expected, _, _ = self.solve("--gradient", "1500,0.5", "--shape", "41,21")
        np.testing.assert_array_equal(of_gradient, expected)
        self.assertIn("--spacing is missing", self.call("--model", slow, "--velocity-unit", "km/s").stderr)
        # integers are converted with a note, if they are exact
        whole = np.arange(2000, 2000 + 61 * 41).reshape(61, 41)
        expected, _, _ = self.solve("--vp", self.save("float.npy", whole.astype(np.float32)), "--spacing", 10)
        for kind in (np.int64, np.int32, np.int16):
            found, _, text = self.solve("--vp", self.save("whole.npy", whole.astype(kind)), "--spacing", 10)
            np.testing.assert_array_equal(found, expected)
            self.assertIn("--vp whole.npy: the integers were converted to float",
                          text.replace(self.folder + "/", ""))
        whole[3, 4] = 2 ** 24 + 1
        self.refuse(["--vp", self.save("whole.npy", whole), "--spacing", 10],
                    "holds the integer 16777217 (allowed: up to 16777216")
        # lengths in km are not taken for metres without a message
        small = ["--model", slow, "--velocity-unit", "km/s", "--spacing"]
        self.refuse([*small, "0.01"], "--spacing 0.01: metres or km?", "0.01km for 10 m, or 0.01m")
        same, _, _ = self.solve(*small, "0.01km")
        np.testing.assert_array_equal(same, times)
        _, summary, _ = self.solve(*small, "0.01m")
        self.assertEqual(summary["model"]["spacing"], [0.01, 0.01])
        self.refuse(["--model", slow, "--spacing", "10cm"], "is not a number", "0.01km")
        plain = ["--vp", "2000", "--shape", "9,7", "--spacing"]
        times, _, _ = self.solve(*plain, "12.5", "--origin", "1000,-50", "--source", "1000,-50")
        same, summary, _ = self.solve(*plain, "12.5m", "--origin", "x=1km,z=-50m", "--source", "1000,-50")
        np.testing.assert_array_equal(same, times)
        self.assertEqual(summary["model"]["origin"], [1000.0, -50.0])
        self.refuse([*plain, "12.5", "--origin", "1mile,0"], "--origin: '1mile' in '1mile,0' is not a number",
                    "with a unit: 10m, 0.01km")

    def test_sources_earliest_and_each(self):
        survey = ["--builtin", "salt", "--shape", "61,41", "--source", "0,0", "--source", "600,0"]
        both, _, _ = self.solve(*survey)
        each, _, _ = self.solve(*survey, "--each")
        self.assertEqual(each.shape, (2, 61, 41))
        np.testing.assert_allclose(both, each.min(axis=0), rtol=1e-6)

    def test_names_of_receivers(self):
        survey = ["--gradient", "2000,0", "--shape", "61,41", "--spacing", 10, "--source", "0,0",
                  "--receivers"]
        rows = [("north\u00e9", 50, 0), ("7", 550, 100), ("A-3", 20, 40)]
        with open(self.path("s.csv"), "w", encoding="utf-8") as file:
            file.write("name x z\n" + "".join(f"{name} {x} {z}\n" for name, x, z in rows))
        self.solve(*survey, "50,0; 550,100; 20,40")
        with open(self.path("out/receivers.csv"), encoding="utf-8") as file:
            plain = file.read().splitlines()
        self.solve(*survey, self.path("s.csv"))
        with open(self.path("out/receivers.csv"), encoding="utf-8") as file:
            named = file.read().splitlines()
        self.assertEqual(named, [f"{line},{name}"
                                 for line, name in zip(plain, ["name"] + [row[0] for row in rows])])

    def test_receivers_name_the_source_where_it_is_known(self):
        # the second receiver is reached first from the second source
        survey = ["--gradient", "2000,0", "--shape", "61,41", "--spacing", 10, "--receivers", "50,0; 550,100"]
        two = ["--source", "0,0", "--source", "600,0"]
        exact = [np.hypot([50.0 - x, 550.0 - x], [0.0, 100.0]) / 2000.0 for x in (0.0, 600.0)]
        for sources, each, number, times in (
                (two, ["--each"], [0, 0, 1, 1], np.concatenate(exact)),
                (two, [], None, np.minimum(*exact)),
                (two[2:], [], [0, 0], exact[1])):
            self.solve(*survey, *sources, *each)
            table = np.genfromtxt(self.path("out/receivers.csv"), delimiter=",", names=True)
            names = ["receiver", "x", "z", "traveltime"]
            self.assertEqual(list(table.dtype.names), names if number is None else ["source", *names])
            if number is not None:
                self.assertEqual(table["source"].tolist(), number)
            self.assertEqual(table["receiver"].tolist(), [0, 1] * (len(table) // 2))
            np.testing.assert_allclose(table["traveltime"], times, atol=2e-4)  # linear between nodes

    def test_options_from_a_file(self):
        self.write("run.cfg", "gradient = 1500,1\nshape = 31,21\nsource = 30,40\norder = 1\n")
        _, summary, _ = self.solve("--config", "run.cfg", "--order", 2)
        self.assertEqual(summary["model"]["shape"], [31, 21])
        self.assertEqual(summary["asked"]["order"], 2)


class Picture(Case):
    def test_program_draws(self):
        self.needs_matplotlib()
        _, summary, text = self.solve("--builtin", "salt", "--shape", "61,41", plot=True)
        self.assertIn("note: no --source was given: one in the middle of the surface", text)
        self.assertEqual(summary["picture"], "times.png")
        self.assertIn("times.png", summary["files"])
        self.assert_picture(self.path("out/times.png"))

    def test_volume(self):
        self.solve("--builtin", "salt", "--shape", "21,15,18", "--receivers", "50,20,50; 100,0,20")
        self.draw("plot_times", self.path("out"), "times.png")


class Export(Case):
    """export_results.py: the arrays of a run as VTK image data, RSF and netCDF."""

    def run_export(self, *arguments):
        script = os.path.join(support.PLOTS, "export_results.py")
        return subprocess.run([sys.executable, script, self.path("out"), *arguments], cwd=self.folder,
                              text=True, capture_output=True, timeout=300)

    def read_vti(self):
        with open(self.path("out/results.vti"), "rb") as file:
            head, data = file.read().split(b'<AppendedData encoding="raw">\n_', 1)
        root = ElementTree.fromstring(head + b"</VTKFile>")
        image = root.find("ImageData")
        counts = [int(n) + 1 for n in image.get("WholeExtent").split()[1::2]]
        arrays = {}
        for array in image.iter("DataArray"):
            at = int(array.get("offset"))
            size = int(np.frombuffer(data, "<u8", 1, at)[0])
            kind = {"Float32": "<f4", "Float64": "<f8"}[array.get("type")]
            arrays[array.get("Name")] = np.frombuffer(data, kind, size // np.dtype(kind).itemsize,
                                                      at + 8).reshape(counts[::-1])
        return image, counts, arrays

    def test_volume(self):
        times, _, _ = self.solve("--builtin", "salt", "--shape", "x=9,y=8,z=7", "--spacing", "x=10,y=20,z=5",
                                 "--each", "--source", "0,0,0", "--source", "x=30,y=40,z=5", "--precision",
                                 "double")
        done = self.run_export()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        image, counts, arrays = self.read_vti()
        self.assertEqual(counts, [9, 8, 7])
        self.assertEqual([float(h) for h in image.get("Spacing").split()], [10.0, 20.0, 5.0])
        self.assertEqual(sorted(arrays), ["times_0", "times_1", "velocity"])
        np.testing.assert_array_equal(arrays["times_1"].transpose(2, 1, 0), times[1])
        np.testing.assert_array_equal(arrays["velocity"].transpose(2, 1, 0),
                                      np.load(self.path("out/velocity.npy")))

    def test_section_and_netcdf(self):
        times, summary, _ = self.solve("--vp", "2000", "--shape", "21,11", "--spacing", "10", "--origin",
                                       "100,50")
        self.assertEqual(self.run_export().returncode, 0)
        image, counts, arrays = self.read_vti()
        self.assertEqual((counts, image.get("Origin")), ([21, 1, 11], "100.0 0.0 50.0"))
        np.testing.assert_array_equal(arrays["times"][:, 0].T, times)
        # formats that programs can read
        self.assertEqual(self.run_export("--format", "rsf").returncode, 0)
        again, _, _ = self.solve("--vp", "out/rsf/velocity.rsf", out="again")
        np.testing.assert_array_equal(again, times)
        done = self.run_export("--format", "nc")
        if importlib.util.find_spec("netCDF4") is None:
            self.assertEqual((done.returncode, done.stderr.count("python3-netcdf4")), (2, 1))
            self.skipTest("netCDF is missing, install python3-netcdf4")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        import netCDF4
        with netCDF4.Dataset(self.path("out/results.nc")) as file:
            np.testing.assert_array_equal(file["times"][:], times)
            np.testing.assert_array_equal(file["z"][:], 50.0 + 10.0 * np.arange(11))
            self.assertEqual((file["times"].units, file["times"].dimensions, file["z"].positive),
                             ("s", ("x", "z"), "down"))
            self.assertEqual(json.loads(file.asked), summary["asked"])

    def test_refusals(self):
        done = self.run_export()
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("summary.json does not describe a run", done.stderr)


# ctest: quick
class Program(support.EveryProgram, Case):
    small = ["--builtin", "salt", "--shape", "31,21"]
    script = "plot_times"


class NothingIsLost(support.NothingIsLost, Case):
    small = ["--builtin", "salt", "--shape", "31,21", "--receivers", "0,0; 100,0"]
    slow = ["--builtin", "salt", "--shape", "x=301,y=301,z=201"]
    results = ["times.npy", "velocity.npy", "receivers.csv"]
    former = "times.png"
    read = [("velocity.npy", support.npy(np.full((31, 21), 2000.0)), lambda f: ["--vp", f, "--spacing", "5"],
             "vp"),
            ("times.npy", support.npy(np.full((31, 21), 0.1)),
             lambda f: ["--vp", "2000", "--epsilon", f, "--spacing", "5"], "epsilon"),
            ("receivers.csv", b"x,z\n0,0\n", lambda f: ["--builtin", "salt", "--receivers", f], "receivers"),
            ("times.npy", support.npy(np.zeros((1, 2))), lambda f: ["--builtin", "salt", "--source", f],
             "source")]
    shapes = [["--builtin", "salt", "--shape", "x=121,y=101,z=81"],
              ["--builtin", "salt", "--shape", "x=181,y=121,z=101"],
              ["--vp", "2000", "--spacing", "5", "--epsilon", "0.1", "--delta", "0.05", "--shape",
               "x=121,y=101,z=81"],
              ["--builtin", "salt", "--shape", "901,601", "--method", "fast_marching", "--precision",
               "double"],
              ["--builtin", "salt", "--shape", "1001,701", "--each", "--source", "0,0", "--source", "900,0",
               "--source", "50,50"]]

    def test_a_large_file_is_refused_by_its_header(self):
        shape = (8804, 2201, 2204)  # 159 GiB, without space on the disk
        header = np.lib.format.header_data_from_array_1_0(np.zeros(0, np.float32))
        with open(self.path("vp.npy"), "wb") as file:
            np.lib.format.write_array_header_1_0(file, {**header, "shape": shape})
            file.truncate(file.tell() + 4 * int(np.prod(shape)))
        begin = time.monotonic()
        done = self.call("--model", "vp.npy", "--spacing", "10", "--no-plot")
        self.assert_refused(done, "8804 x 2201 x 2204 nodes takes", "GiB of memory in all", "nodes would fit")
        self.assertLess(time.monotonic() - begin, 30.0)


class Ranks(support.Case):
    def test_same_bits(self):
        self.needs_mpirun()
        arguments = ["--shape", "61,41", "--spacing", "10", "--gradient", "1500,0.8", "--source",
                     "100,20:500,20:5", "--space", "serial",
                     "--receivers", "0,0:600,0:13"]
        for more in (["--each"], ["--each", "--precision", "double"], []):
            self.succeed(*arguments, *more, out="one")
            for ranks in (1, 2, 3, 7):
                folder, _ = self.succeed(*arguments, *more, out="many", ranks=ranks)
                self.assert_same_files(["times.npy", "receivers.csv", "velocity.npy"], "one", "many")
                with open(self.path("many/summary.json"), encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["ranks"], ranks)
        self.refuse([*arguments[:-1], "5000,0:6000,0:3"], "--receivers", "outside", ranks=3)
        self.refuse([*arguments, "--order", "9"], "--order", ranks=2)


# ctest: quick
class BadInput(Case):
    def rsf(self, name, value, o1, o2):
        np.full((31, 21), value, "<f4").tofile(self.path(name + ".rsf@"))
        return self.write(name + ".rsf", f'n1=21 n2=31 d1=10 d2=10 o1={o1} o2={o2}\n'
                                         f'in="{name}.rsf@"\n'
                                         'data_format="native_float"\n')

    def test_options(self):
        salt = ["--builtin", "salt"]
        self.refuse([], "no model was given")
        self.refuse([*salt, "--gradient", "1500,1"], "more than one model")
        self.refuse([*salt, "--order", 3], "--order is '3' (allowed: whole numbers from 1 to 2)")
        self.refuse([*salt, "--method", "magic"], "--method 'magic' is unknown", "sweeping")
        self.refuse([*salt, "--method", "fast_marching", "--each"], "leave --each out")
        self.refuse([*salt, "--delta", 0.1], "--delta was given without --epsilon")
        self.refuse([*salt, "--spacing", -1], "--spacing", "not positive")
        self.refuse([*salt, "--shape", 7], "--shape", "nx,nz")
        self.refuse([*salt, "--space", self.spaces()[0], "--memory", "1K"],
                    "a model of 601 x 201 nodes takes", "allowed: 1 KiB, the --memory given")

    def test_models_and_places(self):
        salt = ["--builtin", "salt", "--shape", "31,21"]
        self.refuse([*salt, "--source", "301,0"], "--source: source 1: (301, 0) is outside the model",
                    "): move it, or check --spacing and the order of coordinates")
        self.refuse([*salt, "--receivers", "0,0; 0,999"],
                    "--receivers: receiver 2: (0, 999) is outside the model",
                    "): move it, or check --spacing and the order of coordinates")
        self.refuse([*salt, "--receivers", ""], "--receivers is empty (allowed: points)")
        self.refuse([*salt, "--receivers", self.write("r.csv", "x,z,X\n1,2,3\n")],
                    "r.csv: the column 'x' occurs twice")
        self.refuse([*salt, "--epsilon", 5], "--epsilon is 5 at node (0, 0)")
        self.refuse([*salt, "--epsilon", 0.1, "--delta", 1], "--delta is 1 where epsilon is 0.1")
        bad = np.full((9, 8), 2000.0)
        bad[4, 3] = np.nan
        self.refuse(["--model", self.save("bad.npy", bad), "--spacing", 5],
                    "--model ", "bad.npy: velocity is nan at node (4, 3), position (20, 15)")
        self.refuse(["--model", self.save("bad.npy", bad)], "--spacing is missing (--model ")
        model, epsilon = self.rsf("v", 2000.0, 0, 100), self.rsf("e", 0.1, 0, 100)
        self.assertEqual(self.call("--vp", model, "--epsilon", epsilon, "--no-plot", "--out",
                                   "ok").returncode, 0)
        self.refuse(["--vp", model, "--epsilon", self.rsf("e", 0.1, 0, 300)],
                    "e.rsf: its first node is at x = 300 m (allowed: 100 m, as in --vp")
        self.refuse(["--vp", self.save("v.npy", np.full((31, 21), 2000.0)), "--spacing", 10, "--epsilon",
                     epsilon], "x = 300 m (allowed: 0 m, as in --vp")
        # messages name the option as it was written
        self.refuse(["--vp", self.path("bad.npy")], "--spacing is missing (--vp ")
        self.refuse(["--model", "missing.npy"], "missing.npy")
        number = ["--shape", "51,41", "--spacing", "10"]
        for velocity in ("1e-17", "1e30"):  # squares of times would be no finite numbers
            self.refuse(["--model", velocity, *number], f"--model {velocity}: velocity is ",
                        "0.001 to 1000000000")
        self.refuse(["--gradient", "1500,-10", "--shape", "31,21"], "--gradient 1500,-10: velocity is 0")
        for spacing in ("1e-20", "1e20", "10,1e-9"):
            self.refuse(["--vp", "2000", "--shape", "51,41", "--spacing", spacing], "spacing along")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
