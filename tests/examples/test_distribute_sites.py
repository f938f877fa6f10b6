# SPDX-License-Identifier: BSD-3-Clause
"""Tests of distribute_shots and --sites of programs: a one-node Slurm cluster, a site behind ssh,
and injected faults.
"""

import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import services
import support
from distribute_case import DistributeCase, PlacesCase


# ctest: cost 202, waits
class Ssh(DistributeCase):
    @classmethod
    def setUpClass(cls):
        services.need(*services.Sshd.needs)

    def setUp(self):
        super().setUp()
        self.sshd = services.Sshd(self.path("ssh"))
        self.addCleanup(self.sshd.stop)
        self.sites(f"[far]\nhost = far\nfolder = {self.path('far')}\nprograms = "
                   f"{os.path.dirname(self.program)}\nkind = local\nslots = 2\nssh_option = "
                   f"-F{self.sshd.config}\n")

    def test_shots_at_a_site_behind_ssh(self):
        text = self.write("in.txt", "hello")
        done = self.call("--sites", self.path("sites.cfg"), "--journal", self.path("run/journal.txt"),
                         "--shots", "1-6", "--input", "text=" + text, "--collect", self.path("got"), "--",
                         sys.executable, "-c", "import sys; open(sys.argv[1] + '/r.txt', "
                                               "'w').write(open(sys.argv[2]).read() + sys.argv[2])",
                         "{out}", "{input:text}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for shot in range(1, 7):
            with open(self.path(f"got/shot_{shot}/r.txt")) as file:
                said = file.read()
            self.assertTrue(said.startswith("hello" + self.path("far/inputs/")), said)

    def test_shots_per_job_at_a_site_behind_ssh(self):
        done = self.call("--sites", self.path("sites.cfg"), "--journal", self.path("run/journal.txt"),
                         "--shots", "1-6", "--shots-per-job", "3", "--job-memory", "1G", "--collect",
                         self.path("got"), "--", "sh", "-c", "echo $PPID > $0/worker.txt", "{out}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("note: --job-memory has no effect at site far, whose jobs are processes", done.stdout)
        workers = {open(self.path(f"got/shot_{shot}/worker.txt")).read() for shot in range(1, 7)}
        self.assertEqual(len(workers), 2)

    def test_a_changed_remote_input_is_sent_again(self):
        text = self.write("in.txt", "hello")
        words = ["--sites", self.path("sites.cfg"), "--shots", "1-2", "--input", "text=" + text, "--collect",
                 self.path("got"), "--", sys.executable, "-c",
                 "import sys; open(sys.argv[1] + '/r.txt', 'w').write(open(sys.argv[2]).read())", "{out}",
                 "{input:text}"]
        for journal in ("one", "two"):
            done = self.call("--journal", self.path(journal + "/journal.txt"), *words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(self.path("got/shot_2/r.txt")) as file:
                self.assertEqual(file.read(), "hello")
            inputs = self.path("far/inputs")
            (name,) = os.listdir(inputs)
            with open(os.path.join(inputs, name), "w") as file:
                file.write("HELLO")

    def test_failures_are_named(self):
        done = self.go("1-4", what="fail:3", status=1)
        self.assertIn("shot 3", done.stderr)
        self.assertIn("it went wrong", done.stderr)
        self.assert_there([1, 2, 4])

    def test_computation_continues_without_connection(self):
        process = self.begin("1-12", seconds=0.5, what="none:0")
        for _ in range(200):
            if self.runs(2) > 0:
                break
            time.sleep(0.05)
        self.sshd.cut()
        time.sleep(3.0)
        there = sum(self.runs(shot) for shot in range(1, 13))
        self.assertGreater(there, 6)  # the relay continues
        self.sshd.begin()
        text, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, text)
        self.assertIn("does not answer", text)
        self.assertIn("answers again", text)
        self.assert_there(range(1, 13))
        self.assertEqual([self.runs(shot) for shot in range(1, 13)], [1] * 12)

    def test_resume_after_a_kill(self):
        process = self.begin("1-10", seconds=0.3, what="none:0")
        time.sleep(3.0)
        process.kill()
        process.communicate()
        self.go("1-10", "--resume", seconds=0.3, what="none:0")
        self.assert_there(range(1, 11))
        self.assertEqual([self.runs(shot) for shot in range(1, 11)], [1] * 10)

    def test_a_site_that_does_not_answer(self):
        self.sshd.cut()
        done = self.go("1-2", status=2)
        self.assertIn("site far does not answer", done.stderr)
        self.assertIn("Connection refused", done.stderr)

    def test_local_and_remote_sites(self):
        with open(self.path("sites.cfg"), "a") as file:
            file.write("[here]\nkind = local\nslots = 1\n")
        done = self.go("1-30", seconds=0.1, what="none:0")
        self.assert_there(range(1, 31))
        self.assertEqual([self.runs(shot) for shot in range(1, 31)], [1] * 30)
        self.assertRegex(done.stdout, r"far +[1-9](\S* +){5}[1-9]")  # shots, and seconds of work
        self.assertRegex(done.stdout, r"here +[1-9]")


# ctest: cost 203, waits
class Slurm(DistributeCase):
    @classmethod
    def setUpClass(cls):
        services.need(*services.Slurm.needs)
        cls._slurm_folder = tempfile.TemporaryDirectory(prefix="moho_slurm_")
        cls.slurm = services.Slurm(cls._slurm_folder.name)
        cls.environment = cls.slurm.environment

    @classmethod
    def tearDownClass(cls):
        cls.slurm.stop()
        cls._slurm_folder.cleanup()

    def setUp(self):
        super().setUp()
        self.sites("[cluster]\nkind = slurm\npartition = main\n")

    def submissions(self):
        """Returns the names of this test's jobs accepted by Slurm."""
        return [line.split("|")[0] for line in self.slurm.jobs() if line.startswith("shots-")]

    def test_arrays(self):
        done = self.go("1-24")
        self.assertIn("without accounting", done.stdout)
        self.assert_there(range(1, 25))

    def test_more_jobs_than_an_array_holds(self):
        slurm = services.Slurm(self.path("slurm"), cpus=4, more="MaxArraySize=6\n")
        self.addCleanup(slurm.stop)
        environment, type(self).environment = self.environment, slurm.environment
        try:
            done = self.go("1-14", what="none:0")
        finally:
            type(self).environment = environment
        self.assertIn("arrays of up to 5", done.stdout)
        self.assert_there(range(1, 15))
        self.assertEqual([self.runs(shot) for shot in range(1, 15)], [1] * 14)
        arrays = {}
        for line in slurm.jobs():
            name, _, number = line.split("|")
            arrays.setdefault(name, set()).add(number.split("_")[1])
        self.assertEqual(sum(map(len, arrays.values())), 14)
        self.assertGreaterEqual(len(arrays), 3)
        self.assertLessEqual(max(map(len, arrays.values())), 5)

    def test_failures(self):
        done = self.go("1-6", "--max-attempts", 2, what="fail:2", status=1)
        self.assertIn("it went wrong", done.stderr)
        self.assert_there([1, 3, 4, 5, 6])
        done = self.go("1-6", what="bad:3", journal="two/journal.txt", status=2)
        self.assertIn("vp.npy is no model", done.stderr)

    def test_refused_submission(self):
        self.sites("[cluster]\nkind = slurm\npartition = none\n")
        done = self.go("1-2", status=2)
        self.assertIn("invalid partition specified: none", done.stderr)

    def test_a_submission_accepted_without_an_answer(self):
        before = len(self.submissions())
        process = self.begin("1-4", what="none:0")
        # stop the controller between the probe and the submission, or during it
        for _ in range(2000):
            line = process.stdout.readline()
            if "Slurm, arrays" in line:
                break
        self.slurm.controller.send_signal(signal.SIGSTOP)
        time.sleep(14.0)
        self.slurm.controller.send_signal(signal.SIGCONT)
        text, _ = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, text)
        self.assert_there(range(1, 5))
        self.assertEqual([self.runs(shot) for shot in range(1, 5)], [1] * 4)
        self.assertEqual(len(self.submissions()) - before, 4)

    def test_the_controller_is_killed_and_restarted(self):
        process = self.begin("1-8", seconds=12.0, what="none:0")
        for _ in range(200):
            if self.runs(1) > 0:
                break
            time.sleep(0.1)
        # The controller saves its state every 5 s. Jobs missing in the saved state would be unknown for 300
        # s, so kill it when the saved state is current.
        state = self.slurm.path("state/job_state")
        for _ in range(8):
            known, since = self.slurm.jobs(), time.time()
            for _ in range(120):
                if os.path.exists(state) and os.stat(state).st_mtime > since:
                    break
                time.sleep(0.1)
            if self.slurm.jobs() == known:
                break
        self.slurm.controller.kill()
        self.slurm.controller.wait()
        time.sleep(3.0)
        self.slurm.begin_controller()
        # on a busy machine it may have lost a late submission
        text, _ = process.communicate(timeout=500)
        self.assertEqual(process.returncode, 0, text)
        self.assert_there(range(1, 9))
        self.assertEqual([self.runs(shot) for shot in range(1, 9)], [1] * 8)

    def test_a_user_cancels_a_job(self):
        process = self.begin("1-2", seconds=60.0)
        for _ in range(200):
            names = [line for line in self.slurm.jobs() if "|RUNNING|" in line]
            if len(names) == 2:
                break
            time.sleep(0.1)
        self.slurm.command("scancel", names[0].split("|")[2])
        time.sleep(1.0)
        text, _ = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 1, text)
        self.assertIn("a user cancelled the job", text)
        self.assertIn("is excluded", text)

    def test_resume_after_a_kill(self):
        process = self.begin("1-12", seconds=0.5, what="none:0")
        for _ in range(200):
            if self.runs(1) > 0:
                break
            time.sleep(0.05)
        process.kill()
        process.communicate()
        self.go("1-12", "--resume", seconds=0.5, what="none:0")
        self.assert_there(range(1, 13))
        self.assertEqual([self.runs(shot) for shot in range(1, 13)], [1] * 12)


# ctest: cost 200, waits
class Sites(PlacesCase):
    """Programs with --sites give the same bits as one process."""

    survey = ["--vp", "vp.npy", "--spacing", "20", "--source", "100,20:900,20:5", "--receivers",
              "0,20:1000,20:26", "--wavelet", "ricker:12", "--time", "0.4", "--space", "serial"]

    def setUp(self):
        super().setUp()
        np = support.np
        z, x = np.meshgrid(np.arange(41), np.arange(51), indexing="xy")
        self.smooth = self.save("vp.npy", (2000.0 + 10.0 * z).astype(np.float32))
        self.save("true.npy", (2000.0 + 10.0 * z + 300.0 * (z > 25)).astype(np.float32))

    def assert_work_of_sites(self, done, one="one", out="many"):
        """Nodes, rate and seconds of all shots, wherever they were computed."""
        one, many = self.summary(one), self.summary(out)
        for name in ("points", "points_of_whole_grid", "part_stepped"):
            self.assertEqual(many["run"]["expand"][name], one["run"]["expand"][name], name)
        self.assertGreater(one["run"]["expand"]["points"], 0.0)
        self.assertGreater(many["rates"]["points_per_second"], 0.0)
        self.assertRegex(done.stdout, r"modelled  [1-9](.|\n)*rate +[1-9].*points/s")
        self.assertLess(many["seconds"]["check"], many["seconds"]["sites"])

    def test_model_waves(self):
        program = self.other("model_waves")
        self.run_program(program, *self.survey, "--snapshot-every", "0.1", "--out", "one")
        environment = self.places()
        os.makedirs(self.path("many/sites"))
        self.write("many/sites/mine.txt", "mine")
        os.makedirs(self.path("users/.moho_sites"))
        self.write("users/.moho_sites/thesis.txt", "mine")
        done = self.run_program(program, *self.survey, "--out", "users", "--sites", self.path("sites.cfg"),
                                environment=environment, status=2)
        self.assertIn("is a folder that no run of moho made", done.stderr)
        self.assertTrue(os.path.exists(self.path("users/.moho_sites/thesis.txt")))
        done = self.run_program(program, *self.survey, "--snapshot-every", "0.1", "--out", "many", "--sites",
                                self.path("sites.cfg"), environment=environment)
        self.assertIn("5 shots are done", done.stdout)
        self.same([*(f"gather_{k:04d}.npy" for k in range(1, 6)), "gather.sgy", "vp.npy", "snapshot_0001.npy",
                   "snapshot_0004.npy"], "one", "many")
        self.assert_work_of_sites(done)
        self.assertFalse(os.path.exists(self.path("many/.moho_sites")))
        self.assertTrue(os.path.exists(self.path("many/sites/mine.txt")))

    def test_stream_waves(self):
        program = self.other("stream_waves")
        arguments = [*self.survey, "--block", "8", "--updates", "4"]
        self.run_program(program, *arguments, "--out", "one")
        environment = self.places()
        done = self.run_program(program, *arguments, "--out", "many", "--sites", self.path("sites.cfg"),
                                environment=environment)
        self.assertIn("5 shots are done", done.stdout)
        self.same([*(f"gather_{k:04d}.npy" for k in range(1, 6)), "gather.sgy", "vp.npy", "wavefield.npy"],
                  "one", "many")
        self.assert_work_of_sites(done)
        self.assertFalse(os.path.exists(self.path("many/.moho_sites")))

    def test_expanding_domains(self):
        for name, more in (("model_waves", []), ("stream_waves", ["--block", "8", "--updates", "4"])):
            program = self.other(name)
            arguments = [*self.survey, *more, "--expand", "eikonal"]
            self.run_program(program, *arguments, "--out", "one" + name)
            done = self.run_program(program, *arguments, "--out", name, "--sites", self.path("sites.cfg"))
            self.assert_work_of_sites(done, "one" + name, name)
            self.assertGreater(self.summary(name)["run"]["expand"]["seconds"], 0.0)

    def test_migrate_shots(self):
        program = self.other("migrate_shots")
        arguments = [*self.survey, "--shots", "modelled", "--true-vp", "true.npy", "--snapshots", "memory",
                     "--condition", "laplacian,source"]
        self.run_program(program, *arguments, "--out", "one")
        environment = self.places()
        # killed after the first result, then resumed
        process = subprocess.Popen([program, *arguments, "--no-plot", "--out", "many", "--sites",
                                    self.path("sites.cfg")],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, **environment})
        journal = self.path("many/.moho_sites/journal.txt")
        for _ in range(600):
            if os.path.exists(journal) and "done " in open(journal).read():
                break
            time.sleep(0.05)
        process.kill()
        process.wait()
        self.run_program(program, *arguments, "--out", "many", "--sites", self.path("sites.cfg"), "--resume",
                         environment=environment)
        self.same(["image.npy", "image_laplacian.npy", "image_source.npy", "illumination_source.npy",
                   "illumination_receiver.npy", "image.sgy", "data_before.npy", "data_after.npy"], "one",
                  "many")

    def test_sites_have_the_wavelet_of_data(self):
        """The wavelet file named by the data is sent to the sites."""
        np = support.np
        times = np.arange(0.0, 0.25, 0.002)
        a = (np.pi * 12.0 * (times - 0.125)) ** 2
        np.savetxt(self.path("w.csv"), np.stack([times, (1.0 - 2.0 * a) * np.exp(-a)], axis=1), delimiter=",")
        survey = [word if word != "ricker:12" else "w.csv" for word in self.survey]
        self.run_program(self.other("model_waves"), *survey, "--snapshot-every", "0", "--out", "data")
        program = self.other("migrate_shots")
        arguments = ["--vp", "vp.npy", "--spacing", "20", "--shots", "data/gather.sgy", "--snapshots",
                     "memory", "--space", "serial"]
        self.run_program(program, *arguments, "--out", "one")
        environment = self.places()
        self.run_program(program, *arguments, "--out", "many", "--sites", self.path("sites.cfg"),
                         environment=environment)
        self.same(["image.npy"], "one", "many")

    def test_runs_ended_while_results_are_collected(self):
        """--resume accepts files that a killed run had moved into --out; results have the bits of one
        process.
        """
        survey = list(self.survey)
        survey[survey.index("--source") + 1] = "100,20:900,20:24"
        survey[survey.index("--time") + 1] = "0.05"
        image = ["--shots", "modelled", "--true-vp", "true.npy", "--snapshots", "memory", "--mute", "none"]
        cases = (("model_waves", [], "gather_*.npy",
                  ["gather_0001.npy", "gather_0024.npy", "gather.sgy", "vp.npy"]),
                 ("migrate_shots", image, "shot_*.npy",
                  ["image.npy", "illumination_source.npy", "image.sgy"]))
        self.sites("[here]\nkind = local\nslots = 2\n")
        chance = random.Random(16)
        for name, more, files, results in cases:
            program = self.other(name)
            arguments = [*survey, *more]
            self.run_program(program, *arguments, "--out", name)
            out = name + "_sites"
            command = [program, *arguments, "--no-plot", "--out", out, "--sites", self.path("sites.cfg"),
                       "--shots-per-job", "12"]
            ended = 0
            for attempt, number in enumerate((signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT,
                                              signal.SIGHUP)):
                process = subprocess.Popen([*command, *(["--resume"] if attempt else [])], cwd=self.folder,
                                           text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                # wait for further files in --out
                before = len(glob.glob(os.path.join(self.path(out), files)))
                while process.poll() is None and len(glob.glob(os.path.join(self.path(out),
                                                                            files))) <= before:
                    time.sleep(0.0002)
                time.sleep(chance.uniform(0.0, 0.004))
                process.send_signal(number)
                _, err = process.communicate()
                self.assertIn(process.returncode, (0, -number, 128 + number), err)
                ended += process.returncode != 0
            self.assertGreater(ended, 1)
            self.run_program(program, *arguments, "--out", out, "--sites", self.path("sites.cfg"), "--resume",
                             "--shots-per-job", "12")
            self.same(results, name, out)
            self.assertFalse(os.path.exists(self.path(out + "/.moho_sites")))

    def fail_once(self, name):
        """Writes a sites file whose program fails from the third shot on until `repaired` exists."""
        os.mkdir(self.path("faulty"))
        os.symlink(self.other("shot_worker"), self.path("faulty/shot_worker"))
        self.write(f"faulty/{name}", f"""#!/bin/sh
[ -e {self.path("repaired")} ] || case " $* " in *--only-shot=[12]" "*) ;; *) exit 1 ;; esac
exec {self.other(name)} "$@"
""")
        os.chmod(self.path("faulty/" + name), 0o755)
        self.sites(f"[here]\nkind = local\nslots = 1\nprograms = {self.path('faulty')}\n")
        return ["--sites", self.path("sites.cfg"), "--max-attempts", "1", "--pause", "0.01"]

    def test_resume_with_another_keep_shots(self):
        """The other value is refused; with the earlier value the run resumes."""
        image = ["--shots", "modelled", "--true-vp", "true.npy", "--snapshots", "memory"]
        gradient = ["--data", "modelled", "--true-vp", "true.npy", "--iterations", "1"]
        for name, more, result in (("migrate_shots", image, "image.npy"),
                                   ("invert_waves", gradient, "gradient_vp.npy")):
            program = self.other(name)
            arguments = [*(word if word != "0.4" else "0.8" for word in self.survey), *more]
            self.run_program(program, *arguments, "--out", name)
            sites = self.fail_once(name)
            for first, second, text in (([], ["--keep-shots"], "given, and was not given"),
                                        (["--keep-shots"], [], "not given, and was given")):
                with self.subTest(program=name, first=first):
                    out = name + str(len(first))
                    self.run_program(program, *arguments, *sites, *first, "--out", out, status=1)
                    done = self.run_program(program, *arguments, *sites, *second, "--resume", "--out", out,
                                            status=2)
                    self.assertIn(f"--resume: --keep-shots is {text} in the run in {out}", done.stderr)
                    self.write("repaired", "")
                    done = self.run_program(program, *arguments, *sites, *first, "--resume", "--out", out)
                    os.remove(self.path("repaired"))
                    self.assertRegex(done.stdout, "(3 shots are done, 0|10 shots are done, 2) of them")
                    self.same([result], name, out)
                    self.assertFalse(os.path.exists(self.path(out + "/.moho_sites")))
            shutil.rmtree(self.path("faulty"))

    def test_resume_without_sites(self):
        """The folder of the sites is removed when all shots are complete."""
        image = ["--shots", "modelled", "--true-vp", "true.npy", "--snapshots", "memory"]
        for name, more, result in (("migrate_shots", image, "image.npy"), ("model_waves", [], "gather.sgy")):
            program = self.other(name)
            arguments = [*self.survey, *more]
            self.run_program(program, *arguments, "--out", name)
            self.run_program(program, *arguments, *self.fail_once(name), "--out", "many" + name, status=1)
            self.assertTrue(os.path.exists(self.path(f"many{name}/.moho_sites/journal.txt")))
            done = self.run_program(program, *arguments, "--resume", "--out", "many" + name)
            self.assertIn("2 of 5 shots are complete", done.stdout)
            self.same([result], name, "many" + name)
            self.assertFalse(os.path.exists(self.path(f"many{name}/.moho_sites")))
            shutil.rmtree(self.path("faulty"))

    def test_refused_options(self):
        program = self.other("model_waves")
        done = self.run_program(program, *self.survey, "--only-shot", "9", "--out", "one", status=2)
        self.assertIn("--only-shot is 9, and there are the shots 1 to 5", done.stderr)
        done = self.run_program(program, *self.survey, "--max-attempts", "2", "--out", "two", status=2)
        self.assertIn("--max-attempts requires --sites FILE", done.stderr)
        done = self.run_program(program, *self.survey, "--sites", "none.cfg", "--out", "three", status=2)
        self.assertIn("--sites none.cfg", done.stderr)
        # a shot with unusable input ends the run with that shot's message
        done = self.run_program(program, *self.survey, "--dt", "0.1", "--sites", self.path("sites.cfg"),
                                "--out", "four", status=2)
        self.assertIn("dt", done.stderr)


# ctest: long, cost 204, waits
class Inversion(PlacesCase):
    """invert_waves with --sites gives the same bits as one process, also after faults."""

    survey = ["--vp", "start.npy", "--spacing", "20", "--wavelet", "ricker:6", "--time", "0.5", "--dt",
              "0.002", "--boundary", "sponge:12", "--data", "modelled", "--true-vp", "true.npy", "--source",
              "100,40:700,40:4", "--receivers", "0,500:800,500:21", "--iterations", "2", "--bands", "5,9",
              "--space", "serial"]
    results = ["vp.npy", "gradient_vp.npy", "illumination.npy", "vp_band_0001.npy", "vp_band_0002.npy",
               "gather_modelled.npy"]

    def setUp(self):
        super().setUp()
        np = support.np
        x, z = np.meshgrid(np.arange(41) * 20.0, np.arange(31) * 20.0, indexing="ij")
        start = (1800.0 + 0.5 * z).astype(np.float32)
        self.save("start.npy", start)
        self.save("true.npy", (start + 150.0 * np.exp(-((x - 400.0)**2 + (z - 300.0)**2) / 2.0
                                                      / 100.0**2)).astype(np.float32))
        self.inverter = self.other("invert_waves")

    def history(self, folder):
        with open(self.path(folder + "/history.csv"), encoding="utf-8") as file:
            return [[value for k, value in enumerate(line.split(",")) if k != 10] for line in file]

    def assert_one_process(self, folder):
        self.same(self.results, "one", folder)
        self.assertEqual(self.history("one"), self.history(folder))
        self.assertFalse(os.path.exists(self.path(folder + "/.moho_sites")))

    def test_all_sites(self):
        self.run_program(self.inverter, *self.survey, "--out", "one")
        environment = self.places()
        done = self.run_program(self.inverter, *self.survey, "--out", "many", "--sites",
                                self.path("sites.cfg"), environment=environment)
        self.assert_one_process("many")
        self.assertRegex(done.stdout, r"sites     here +[0-9]")

    def test_gradients_stream(self):
        self.run_program(self.inverter, *self.survey, "--source-field", "random", "--out", "one")
        self.sites("[here]\nkind = local\nslots = 2\n")
        stream = ["--source-field", "random", "--block", "5", "--updates", "6"]
        self.run_program(self.inverter, *self.survey, *stream, "--out", "many", "--sites",
                         self.path("sites.cfg"))
        self.same(self.results, "one", "many")
        columns = slice(0, 10)  # the other columns: seconds, updated nodes
        self.assertEqual([row[columns] for row in self.history("one")],
                         [row[columns] for row in self.history("many")])
        self.assertEqual(self.summary("many")["stream"]["updates"], 6)

    def test_faults(self):
        """Failing and killed programs, an interrupted connection, and kills of the inversion."""
        self.run_program(self.inverter, *self.survey, "--out", "one")
        # programs whose invert_waves fails in two of seven runs
        programs = self.path("programs")
        os.mkdir(programs)
        for name in ("shot_worker", "distribute_shots"):
            os.symlink(self.other(name), os.path.join(programs, name))
        count = self.path("count")
        self.write("programs/invert_waves", f"""#!/bin/sh
echo x >> {count}
case $(( $(wc -l < {count}) % 7 )) in
2) exit 1 ;;
5) kill -9 $$ ;;
esac
exec {self.inverter} "$@"
""")
        os.chmod(self.path("programs/invert_waves"), 0o755)
        environment = self.places(programs=programs)
        command = [self.inverter, *self.survey, "--no-plot", "--out", "many", "--sites",
                   self.path("sites.cfg"), "--max-attempts", "50", "--pause", "0.2"]
        kills = self.finish_with_kills(
            lambda resume: subprocess.Popen([*command, *resume], cwd=self.folder, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                            env={**os.environ, **environment}),
            seconds=(0.2, 8.0), kills=6, attempts=200, seed=7)
        self.assertGreater(kills, 2)
        # at least one full cycle of faults
        self.assertGreater(len(open(count).read().split()), 7)
        self.assert_one_process("many")

    def test_a_shot_that_always_fails(self):
        programs = self.path("programs")
        os.mkdir(programs)
        self.write("programs/invert_waves", "#!/bin/sh\necho it went wrong\nexit 1\n")
        os.symlink(self.other("shot_worker"), os.path.join(programs, "shot_worker"))
        os.chmod(self.path("programs/invert_waves"), 0o755)
        self.sites(f"[here]\nkind = local\nprograms = {programs}\n")
        done = self.run_program(self.inverter, *self.survey, "--out", "many", "--sites",
                                self.path("sites.cfg"), status=1)
        self.assertIn("shots have no result", done.stderr)
        self.assertIn("it went wrong", done.stderr)
        # resumed with a working program
        self.sites("[here]\nkind = local\n")
        self.run_program(self.inverter, *self.survey, "--out", "one")
        self.run_program(self.inverter, *self.survey, "--out", "many", "--sites", "sites.cfg", "--resume")
        self.assert_one_process("many")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
