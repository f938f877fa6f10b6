#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program migrate_shots through its command line: what it refuses.

usage: test_migrate_shots_refusals.py --program PATH [--mpirun PATH] [--modeller PATH] [--data FOLDER]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import sys

import support
from migrate_shots_case import Case
from support import np


# ctest: quick
class BadInput(Case):
    def refuse_here(self, more, *words):
        return self.refuse(["--vp", "smooth.npy", *self.survey, *more], *words)

    def test_lossless_compression(self):
        self.refuse_here([*self.shots, "--snapshots", "compressed", "--error", "lossless"],
                         "--snapshots compressed stores compressed", "which --error lossless excludes")

    def test_points_on_free_surfaces(self):
        for more, words in ((["--source", "300,20", "--receivers", "0,20;100,0"],
                             "--receivers: receiver 2: (100, 0)"),
                            (["--source", "300,0", "--receivers", "0,20"], "--source: source 1: (300, 0)")):
            self.refuse_here(["--shots", "modelled", *more, "--free-surface"], words,
                             " is on the free surface, where the field is zero")

    def test_contrasts_of_density(self):
        rho = np.full(np.load(self.path("smooth.npy")).shape, 1000.0, dtype=np.float32)
        rho[7, 9] = 17000.0
        for shots in (self.shots, ["--shots", "modelled"]):
            self.refuse_here([*shots, "--rho", self.save("rho.npy", rho)], "--rho ", "rho.npy: 1000 at node ",
                             "(3, 9), ", "and 17000 at node (7, 9), ", "ratio of 17", "order 6 or less")

    def test_memory_names_the_option(self):
        self.refuse_here([*self.shots, "--snapshots", "device", "--device-memory", "100K"], "the model of ",
                         "(allowed: 100 KiB, the --device-memory given)", "or a smaller --aperture")
        self.refuse_here([*self.shots, "--snapshots", "random", "--device-memory", "9K"],
                         "--device-memory: a device memory of 9 KiB ", "or a smaller --aperture")

    def test_options(self):
        self.refuse_here([], "--shots is missing")
        self.refuse_here(["--shots", "none.sgy"], "none.sgy")
        self.refuse_here([*self.shots, "--condition", "best"], "--condition 'best'", "zero-lag")
        self.refuse_here([*self.shots, "--error", "snr:1000"], "--error", "snr")
        self.refuse_here([*self.shots, "--snapshots", "tape"], "--snapshots 'tape'", "replay")
        self.refuse_here([*self.shots, "--aperture", "-5"], "aperture '-5'")
        self.refuse_here([*self.shots, "--mute", "loud"], "mute", "arrivals")
        self.refuse_here([*self.shots, "--angles"], "--angles needs --columns")
        self.refuse_here([*self.shots, "--columns", "5000"], "--columns: 5000 m", "outside")
        self.refuse_here(["--shots", "gathers", "--source", "1,1"], "--source and --shots gathers")
        self.refuse_here([*self.shots, "--source", "5000,20"],
                         "outside the model (allowed: x 0 to 1200, z 0 to 600): move it, "
                         "or check --spacing and the order of coordinates")
        self.refuse(["--vp", "smooth.npy", "--spacing", "10", *self.shots, "--wavelet", "ricker:80"],
                    "--wavelet ricker:80")

    def test_misspelt_names(self):
        for more, words in (
                (["--recievers", "0,20:1200,20:61"],
                 ["option '--recievers': did you mean --receivers? See migrate_shots --help"]),
                (["--daat", "modelled"], ["option '--daat': did you mean --data?"]),
                (["-vp", "2000"], ["'-vp' belongs to no option (allowed: --name value): did you mean --vp?"]),
                (["--colour", "red"], ["option '--colour': see migrate_shots --help"]),
                ([*self.shots, "--condition", "zero-lga"],
                 ["--condition 'zero-lga' is unknown", "did you mean zero-lag?"]),
                ([*self.shots, "--snapshots", "compresed"],
                 ["--snapshots 'compresed'", "did you mean compressed?"])):
            self.assertEqual(self.refuse_here(more, *words).count("\n"), 1)
        self.write("survey.cfg", "recievers = 0,20:1200,20:61\n")
        self.refuse_here(["--config", "survey.cfg"],
                         "survey.cfg:1: 'recievers' is no option of migrate_shots, did you mean receivers?")

    def test_data_is_another_name_of_shots(self):
        # messages name the option as it was written
        self.refuse_here(["--data", "none.sgy"], "--data none.sgy")
        self.refuse_here(["--data", "gathers", "--source", "1,1"], "--source and --data gathers",
                         "(allowed: --source with --data modelled)")
        self.write("survey.cfg", "data = none.sgy\n")
        self.refuse_here(["--config", "survey.cfg"], "survey.cfg:1: --data none.sgy")
        said = self.refuse_here(["--shots", "none.sgy"], "--shots none.sgy")
        self.assertNotIn("--data", said)
        image = self.migrate(*self.shots, out="shots").image
        self.assertEqual(image.tobytes(), self.migrate("--data", *self.shots[1:], out="data").image.tobytes())

    def test_messages_name_the_option(self):
        np.save(self.path("small.npy"), np.full((5, 5), 2000.0))
        np.save(self.path("flat.npy"), np.array([2000.0, 2000.0]))
        for name in ("none.npy", "small.npy", "flat.npy"):
            text = self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots[:2], "--true-vp", name,
                                *self.shots[4:]], "--true-vp")
            self.assertNotIn("--vp " + name, text)
        self.refuse_here(["--shots", "none.sgy"], "--shots", "none.sgy")
        self.refuse(["--vp", "smooth.npy", "--spacing", "10", *self.shots, "--wavelet", "none.csv"],
                    "--wavelet: ", "none.csv")

    def test_budgets(self):
        self.refuse_here([*self.shots, "--space", self.spaces()[0], "--snapshots", "disk"],
                         "--snapshots disk is not possible", "--disk")
        self.refuse_here([*self.shots, "--snapshots", "threads", "--error", "lossless"],
                         "--snapshots threads stores compressed", "which --error lossless excludes")
        text = self.call("--vp", "smooth.npy", *self.survey, *self.shots, "--plan").stdout
        self.assertIn("snapshots every", text)
        self.assertFalse(os.path.exists(self.path("migrate_shots_out/image.npy")))

    def test_models(self):
        self.save("other.npy", np.full((5, 61), 2000.0, dtype=np.float32))
        self.refuse_here(["--shots", "modelled", "--true-vp", "other.npy"], "--true-vp", "5 x 61", "121 x 61")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
