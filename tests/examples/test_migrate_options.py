#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of options of migrate_shots that would have no effect, and of shots without data.

usage: test_migrate_options.py --program PATH [--modeller PATH] [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import re
import subprocess
import sys

import migrate_shots_case
import support
from support import np


# ctest: quick
class Options(migrate_shots_case.Case):
    def refuse_here(self, more, *words):
        self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, *more], *words)

    def test_interval_of_snapshots(self):
        self.refuse_here(["--snapshot-steps", "151"], "--snapshot-steps is 151 (allowed: 1 to 150, ",
                         "in 300 steps")
        r = self.migrate(*self.shots, "--snapshot-steps", "150")
        self.assertEqual(r.summary["snapshots"]["count"], 2)
        self.assertGreater(np.abs(r.image).max(), 0.0)

    def test_options_of_other_methods_for_snapshots(self):
        for option, value, used, others in (
                ("disk", "1G", "auto, memory, compressed, threads, disk",
                 ("device", "boundary", "replay", "random")),
                ("snapshot-dir", ".", "auto, threads, disk", ("memory", "compressed", "random"))):
            for way in (*(["--snapshots", name] for name in others), ["--block", "8"], ["--updates", "2"]):
                given = " ".join(way) if way[0] == "--snapshots" else way[0]
                self.refuse_here([f"--{option}", value, *way],
                                 f"--{option} was given with {given} (it belongs to --snapshots {used}): "
                                 "leave it out")
        # an error is a bound, which methods without errors keep
        for way in (["--snapshots", "memory"], ["--snapshots", "random"], ["--block", "8"]):
            self.succeed("--vp", "smooth.npy", *self.survey, *self.shots, "--error", "snr:60", *way,
                         "--plan")

    def test_width_beside_widths_of_faces(self):
        del self.survey[-2:]
        for faces, same in (("cpml:10", True), ("sponge:20,top=free", True), ("sponge", False),
                            ("top=free", False), ("rigid,top=cpml", False)):
            more = ["--vp", "smooth.npy", *self.survey, *self.shots, "--boundary", faces,
                    "--snapshots", "memory", "--plan"]
            texts = [self.succeed(*more, *width)[1] for width in ([], ["--width", "7"])]
            grids = [re.search(r"largest shot ([0-9x ]+) nodes", text)[1] for text in texts]
            self.assertEqual("note: --width has no effect" in texts[1], same, faces)
            self.assertEqual(grids[0] == grids[1], same, (faces, grids))

    def test_width_of_random_layers_alone(self):
        """Where --boundary has all widths, --width is that of the random layers."""
        del self.survey[-2:]
        asked = ["--vp", "smooth.npy", *self.survey, *self.shots, "--snapshots", "random"]
        images = {}
        for faces, width in (("cpml:10", "20"), ("cpml:10", "30"), ("cpml", "20"), ("cpml", "")):
            more = ["--boundary", faces, *(["--width", width] if width else [])]
            folder, text = self.succeed(*asked, *more)
            self.assertNotIn("--width has no effect", text)
            nodes = re.search(r"largest shot ([0-9]+) x", text)
            images[faces, width] = np.load(folder + "/image.npy"), nodes and nodes[1]
        self.assertEqual(images["cpml:10", "20"][1], images["cpml:10", "30"][1])
        self.assertEqual(images["cpml:10", "20"][1], images["cpml", ""][1])
        self.assertNotEqual(images["cpml", "20"][1], images["cpml", ""][1])
        self.assertTrue((images["cpml:10", "20"][0] != images["cpml:10", "30"][0]).any())

    def test_delta_above_epsilon(self):
        more = ["--vp", "smooth.npy", *self.survey, *self.shots, "--plan", "--epsilon", "0.1"]
        note = "note: delta is larger than epsilon at "
        self.assertIn(note, self.succeed(*more, "--delta", "0.2")[1])
        self.assertNotIn(note, self.succeed(*more, "--delta", "0.1")[1])

    def test_width_of_cpml(self):
        del self.survey[-2:]
        self.refuse_here(["--boundary", "cpml:200"],
                         "the width of cpml is '200' (allowed: whole numbers from 1 to 64)")

    def test_largest_half_offset(self):
        for value in ("306", "1e+30", "4"):
            self.refuse_here(["--columns", "600", "--offset", value], f"--offset is {value}",
                             " m (allowed: 10 to 300 m, from a node to a quarter of the width of the model)")
        self.assertEqual(self.migrate(*self.shots, "--columns", "600", "--offset", "300").load(
            "offsets.npy").shape[1], 61)

    def test_errors_that_a_method_does_not_have(self):
        self.refuse_here(["--snapshots", "boundary", "--error", "bits:8"],
                         "--snapshots boundary is not possible here (faces: it has no blocks of 8 bits",
                         "): choose another method, or another --error")

    def test_compressed_snapshots_are_not_lossless(self):
        for way in ("compressed", "threads"):
            self.refuse_here(["--snapshots", way, "--error", "lossless"],
                             f"--snapshots {way} stores compressed snapshots, which --error lossless "
                             "excludes (allowed: snr:DB, max:E, bits:N or paper:E): take another --error")

    def test_stepped_nodes_of_domains(self):
        """Nodes of domains over those of the grids, without nodes that the storage steps again."""
        parts = []
        for way in ("memory", "replay"):
            r = self.migrate(*self.shots, "--expand", "layers", "--snapshots", way)
            parts.append(re.search(r"--expand layers: ([0-9.]+) % of the nodes were stepped", r.text)[1])
            again = sum(shot["points_again"] for shot in r.summary["migrated"])
            self.assertEqual(again > 0.0, way == "replay")
            self.assertEqual(r.summary["run"]["points"],
                             again + sum(shot["points"] for shot in r.summary["migrated"]))
        self.assertEqual(parts[0], parts[1])
        self.assertLess(float(parts[0]), 100.0)

    def test_nodes_of_random_layers(self):
        """Both propagations of the source's wavefield, and that of the receivers'."""
        more = [*self.shots, "--snapshots", "random", "--mute", "none"]
        core = self.migrate(*more, out="core").summary
        stream = self.migrate(*more, "--block", "8", out="stream").summary
        nodes = core["run"]["points"]
        self.assertAlmostEqual(nodes / stream["run"]["points"], 1.0, delta=0.02)
        # forward, of one grid each; the source's wavefield returns on the larger of them
        self.assertGreater(nodes, 1.5 * core["run"]["points_of_whole_grids"])

    def test_medium_of_modelled_data(self):
        words = "note: the data are modelled without --true-delta, --true-epsilon"
        vti = ["--vp", "smooth.npy", *self.survey, *self.shots]
        vti += ["--epsilon", "0.1", "--delta", "0.05", "--plan"]
        self.assertIn(words, self.succeed(*vti)[1])
        self.assertNotIn("the data are modelled without",
                         self.succeed(*vti, "--true-epsilon", "0.1", "--true-delta", "0.05")[1])

    def test_numbers_out_of_range(self):
        self.refuse_here(["--block", "1000000"], "--block is 1000000 (allowed: 1 to ")
        for value, words in (("nan", "--vp: 'nan' is no finite number, and no file"),
                             ("1e400", "--vp: '1e400' is no finite number, and no file")):
            self.refuse(["--vp", value, "--shape", "61,41", *self.survey, *self.shots], words, "(allowed: ")

    def test_name_of_the_folder(self):
        self.refuse_here(["--out", 300 * "x"], "--out xxx", "the folder cannot be made (File name too long)")

    def test_modelled_data_have_no_headers(self):
        for more in (["--elevations", "depth"], ["--length-unit", "ft"], ["--line", "10"],
                     ["--data-interval", "0.001"], ["--allow-left-out"], ["--replace-wavelet"],
                     ["--wavelet-zero", "peak"]):
            self.refuse_here(more, more[0], "--shots modelled were both given")
        self.succeed("--vp", "smooth.npy", *self.survey, *self.shots, "--wavelet-zero", "start", "--plan")

    def model_gathers(self, *more):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, *more, "--snapshot-every",
                               "0", "--no-plot", "--out", "gathers"], cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_options_of_headers(self):
        self.model_gathers(*self.shots[4:])
        survey = self.survey[:2] + self.survey[6:]
        for more, words in ((["--elevations", "depth"], "elevations was given for positions of model_waves"),
                            (["--length-unit", "ft"], "length unit was given for positions of model_waves"),
                            (["--line", "30"], "line: it projects positions of three coordinates")):
            self.refuse(["--vp", "smooth.npy", *survey, "--shots", "gathers", *more],
                        "--shots gathers: ", words)
        self.succeed("--vp", "smooth.npy", *survey, "--shots", "gathers", "--line", "auto", "--plan")

    def test_note_of_several_sources(self):
        self.write("two.csv", "shot,kind,x,z\n1,source,300,20\n1,source,900,20\n2,source,600,20\n"
                   "*,receiver,500,20\n")
        self.assertIn("note: 1 shot has several sources, of which gather.sgy has the first: use the folder",
                      self.model_gathers("--shots", "two.csv"))

    def test_line_in_three_dimensions(self):
        volume = ["--vp", "2000", "--shape", "21,21,21", *self.survey, "--shots", "modelled", "--source",
                  "100,100,20", "--receivers", "50,50,20:150,150,20:5"]
        self.refuse([*volume, "--spreading", "line"], "--spreading is line, and the model has three ")
        self.succeed(*volume, "--spreading", "gain:0.5", "--plan")

    def test_mute_of_all_samples(self):
        survey = ["0.2" if text == "0.6" else text for text in self.survey]
        done = self.call("--vp", "smooth.npy", *survey, *self.shots[:-1], "500,580:700,580:5", "--no-plot")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("--mute arrivals: the image is zero, as no sample of the 0.2 s of the run is left",
                      done.stderr)
        survey = ["0.002" if text == "0.6" else text for text in self.survey]
        done = self.call("--vp", "smooth.npy", *survey, *self.shots, "--mute", "none", "--no-plot")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("--time: the image is zero, as waves of sources and data do not meet within the "
                      "0.002 s", done.stderr)

    def test_columns_are_at_nodes(self):
        r = self.migrate(*self.shots, "--columns", "400,404")
        self.assertIn("note: --columns are at the nearest nodes: 404 m is at 400 m", r.text)
        self.assertEqual(r.summary["offsets"]["columns"], [400.0, 400.0])

    def test_moving_says_what_it_left_out(self):
        r = self.succeed("--vp", "smooth.npy", *self.survey, *self.shots[:-1], "-400,20:400,20:5", "--moving",
                         "--plan")
        self.assertIn("note: 2 of 15 receivers of --moving are outside of the model and left out, in 2 shots "
                      "(shot 1: 1; shot 3: 5; counted from 1)", r[1])

    def test_run_has_all_samples(self):
        self.model_gathers(*self.shots[4:])
        with open(self.path("gathers/gather.sgy"), "rb") as file:
            data = bytearray(file.read())
        survey = [*self.survey[:4], *self.survey[6:], "--replace-wavelet"]
        samples = int.from_bytes(data[3220:3222], "big")
        end = (samples - 1) * int.from_bytes(data[3216:3218], "big") * 1e-6
        traces = range(3600, len(data), 240 + 4 * samples)
        for delays, peak, time in (([-100, -100, -100], [], end - 0.1), ([0, 200, 0], [], end + 0.2),
                                   ([0, 0, 0], ["--wavelet-zero", "peak"], end + 0.1)):
            for k, at in enumerate(traces):
                delay = delays[k * len(delays) // len(traces)]
                data[at + 108:at + 110] = delay.to_bytes(2, "big", signed=True)
            self.write("line.sgy", bytes(data))
            text = self.succeed("--vp", "smooth.npy", *survey, "--shots", "line.sgy", *peak, "--plan")[1]
            self.assertAlmostEqual(0.002 * int(re.search(r"(\d+) steps,", text)[1]), time, delta=0.003)

    def test_receivers_outside(self):
        self.shots = [*self.shots[:-2], "--receivers", "9000,20", "--moving"]
        self.refuse_here([], "shot 1: its receiver is not inside")

    def test_summary_has_the_error_of_a_rank(self):
        """The second of two ranks computes the second shot, whose receivers' wavefield overflows."""
        self.needs_mpirun()
        self.model_gathers(*self.shots[4:])
        name = "gathers/gather_0002.npy"
        self.save(name, np.full_like(np.load(self.path(name)), 3e38))
        survey = ["--vp", "smooth.npy", *self.survey, "--shots", "gathers", "--mute", "none", "--at-once",
                  "1", "--batch", "1", "--no-plot", "--out"]
        for ranks in (0, 2):
            out = f"of{ranks}"
            done = self.call(*survey, out, ranks=ranks)
            self.assertEqual(done.returncode, 1, done.stderr)
            with open(self.path(out + "/summary.json"), encoding="utf-8") as file:
                summary = json.load(file)
            self.assertEqual(summary["state"], "failed")
            self.assertRegex(summary["error"], "^(rank 1 of 2: )?shot 2, backward leg, .* no longer finite")
            self.assertEqual(done.stderr.count("migrate_shots: " + summary["error"]), 1, done.stderr)

    def test_shots_without_live_traces_are_counted(self):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, *self.shots[4:],
                               "--snapshot-every", "0", "--no-plot", "--out", "gathers"],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.save("gathers/gather_0002.npy", np.zeros_like(np.load(self.path("gathers/gather_0002.npy"))))
        text = self.migrate("--shots", "gathers").text
        self.assertIn("migrated  2 shots (1 more without live traces), ", text)
        # a survey without any live trace is refused before the first result, a shot alone is not
        for shot in (1, 3):
            self.save(f"gathers/gather_000{shot}.npy", np.load(self.path("gathers/gather_0002.npy")))
        survey = ["--vp", "smooth.npy", *self.survey, "--shots", "gathers"]
        for ranks in (0, 2) if self.mpirun else (0,):
            self.refuse(survey, "--shots gathers: no shot has a live trace (the samples of all 183 traces "
                        "are zero; allowed: 1 live trace or more): check the samples", ranks=ranks)
        self.assertEqual(self.call(*survey, "--plan").returncode, 0)
        alone = self.call(*survey, "--only-shot", "2", "--no-plot", "--out", "alone")
        self.assertEqual(alone.returncode, 0, alone.stderr)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
