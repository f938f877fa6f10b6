# SPDX-License-Identifier: BSD-3-Clause
"""Tests of distribute_shots and shot_worker with local processes, and injected faults."""

import glob
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

import services
import support
from distribute_case import DistributeCase


# ctest: cost 201, waits
class Local(DistributeCase):
    def test_every_shot_is_computed_once(self):
        done = self.go("1-20,30-40:5")
        self.assertIn("23 shots are done", done.stdout)
        self.assert_there([*range(1, 21), 30, 35, 40])
        status = self.call("--journal", self.path("run/journal.txt"), "--status")
        self.assertIn("done      23 shots, 0 remaining", status.stdout)

    def test_jobs_of_several_shots(self):
        self.go("1-11", "--shots-per-job", 4)
        self.assert_there(range(1, 12))

    def test_arguments_are_not_read_by_a_shell(self):
        odd = ["$(touch pwned)", "`touch pwned`", "; touch pwned", "a b", "*", "'\"", "\\", "{shot", "%41",
               "\n", ""]
        done = self.call("--sites", self.path("sites.cfg"), "--journal", self.path("run/journal.txt"),
                         "--shots", "7", "--collect", self.path("got"), "--", sys.executable, "-c",
                         "import sys; open(sys.argv[1] + '/r.txt', 'w').write(repr(sys.argv[2:]))", "{out}",
                         *odd)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path("got/shot_7/r.txt")) as file:
            self.assertEqual(file.read(), repr(odd))
        for root, _, files in os.walk(self.folder):
            self.assertNotIn("pwned", files, root)

    def test_a_shot_that_fails_once_is_recomputed(self):
        done = self.go("1-6", what="once:2,5")
        self.assertIn("shot 2: the program failed", done.stdout)
        self.assertIn("exit 1: it went wrong", done.stdout)
        self.assert_there(range(1, 7))
        self.assertEqual([self.runs(shot) for shot in range(1, 7)], [1, 2, 1, 1, 2, 1])

    def test_missing_shots_are_named_and_resumed(self):
        done = self.go("1-6", what="fail:4", status=1)
        self.assertIn("1 shot has no result; shot 4: the program failed", done.stderr)
        self.assertIn("it went wrong", done.stderr)
        self.assertEqual(self.runs(4), 3)
        self.assert_there([1, 2, 3, 5, 6])
        status = self.call("--journal", self.path("run/journal.txt"), "--status").stdout
        self.assertIn("given up  shot 4", status)
        self.assertIn("3 x the program failed", status)
        # with one missing shot allowed
        done = self.go("1-6", "--resume", "--may-miss", 1, what="fail:4")
        self.assertEqual(self.runs(1), 1)

    def test_a_program_that_is_killed_or_leaves_nothing(self):
        done = self.go("1-3", "--max-attempts", 2, what="kill:2", status=1)
        self.assertIn("signal 9", done.stderr)
        done = self.go("1-3", what="none:2", journal="other/journal.txt", status=2)
        self.assertIn("left no file in the folder {out}", done.stderr)

    def test_jobs_end_at_their_time_limits(self):
        begin = time.monotonic()
        done = self.go("1-2", "--shot-time", 1, "--max-attempts", 1, seconds=60, status=1)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("the time limit was reached", done.stdout + done.stderr)
        self.assertIn("2 shots have no result", done.stdout + done.stderr)
        done = self.go("1-2", "--shot-time", 20, "--job-memory", "1G", journal="more/journal.txt")
        self.assert_there([1, 2])
        self.assertIn("note: --job-memory has no effect at site here", done.stdout)

    def test_resume_takes_the_shots_of_the_journal(self):
        self.go("1-4", what="fail:2,3", status=1)
        words = self.words("", what="fail:3")
        del words[words.index("--shots"):words.index("--shots") + 2]
        self.refuse(words, "--shots is missing: name the shots")
        words.insert(0, "--resume")
        words[-1] = "fail:2,3"  # the command is that of the journal
        done = self.call(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([self.runs(shot) for shot in (1, 4, 5)], [1, 1, 0])
        self.assertIn("2 shots have no result", done.stdout + done.stderr)

    def test_collecting_keeps_other_files_of_the_folder(self):
        os.mkdir(self.path("got"))
        self.write("got/notes.txt", "mine")
        self.go("1-2")
        self.assert_there([1, 2])
        with open(self.path("got/notes.txt")) as file:
            self.assertEqual(file.read(), "mine")

    def test_unusable_input_ends_the_run(self):
        done = self.go("1-50", what="bad:1", status=2)
        self.assertIn("shot 1", done.stderr)
        self.assertIn("vp.npy is no model", done.stderr)

    def test_resume_after_kills(self):
        random.seed(4)
        kills = 0
        arguments = []
        for _ in range(60):
            process = self.begin("1-40", *arguments, seconds=0.05, what="none:0")
            try:
                process.wait(timeout=random.uniform(0.05, 0.6))
                self.assertEqual(process.returncode, 0, process.stdout.read())
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
            finally:
                process.stdout.close()
            arguments = ["--resume"] if os.path.exists(self.path("run/journal.txt")) else []
            if arguments and "begin" not in open(self.path("run/journal.txt")).read():
                os.remove(self.path("run/journal.txt"))
                arguments = []
        self.assertGreater(kills, 2)
        self.go("1-40", "--resume", seconds=0.05, what="none:0")
        self.assert_there(range(1, 41))
        # jobs outlive the distributor, so no shot was computed twice
        self.assertEqual([self.runs(shot) for shot in range(1, 41)], [1] * 40)

    def test_a_worker_that_is_killed(self):
        process = self.begin("1-2", seconds=3.0, what="none:0")
        pid = 0
        for _ in range(100):
            found = [line.split() for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True,
                                                             text=True).stdout.splitlines()
                     if "shot_worker --folder " + self.path("run") in line]
            if len(found) == 2 and self.runs(1) == 1:
                pid = int(found[0][0])
                break
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        text, _ = process.communicate()
        self.assertEqual(process.returncode, 0, text)
        self.assertIn("its worker was ended by signal 9", text)
        self.assert_there([1, 2])

    def test_signals_and_cancel(self):
        process = self.begin("1-8", seconds=1.0)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate()
        self.assertEqual(process.returncode, 130, text)
        self.assertIn("--resume resumes with", text)
        # without a running distributor
        words = self.words("1-8", "--cancel", seconds=1.0)
        done = self.call(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("jobs were cancelled", done.stdout)
        # a running distributor releases the journal
        process = self.begin("1-8", "--resume", seconds=1.0)
        time.sleep(0.7)
        done = self.call(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        text, _ = process.communicate()
        self.assertEqual(process.returncode, 1, text)
        self.assertIn("cancelled", text)
        self.go("1-8", "--resume", seconds=1.0)
        self.assert_there(range(1, 9))

    def test_cancel_waits_for_a_journal_in_use_only(self):
        folder = "its message says that it is in use"
        journal = folder + "/journal.txt"
        self.go("1-1", what="none:0", journal=journal)
        begun = time.monotonic()
        done = self.go("1-1", "--cancel", what="of another survey", journal=journal, status=2)
        self.assertLess(time.monotonic() - begun, 10.0)  # it waits for 20 s
        self.assertIn(folder, done.stderr)
        self.assertFalse(os.path.exists(self.path(journal + ".cancel")))

    def test_two_distributors(self):
        process = self.begin("1-4", seconds=1.0)
        time.sleep(0.7)
        done = self.go("1-4", "--resume", seconds=1.0, status=2)
        self.assertIn("is in use (process", done.stderr)
        process.communicate()
        self.assertEqual(process.returncode, 0)

    def test_lost_results_are_recomputed(self):
        self.go("1-4", what="none:0")
        results = self.path("run/here/results")
        names = sorted(os.listdir(results))
        os.remove(os.path.join(results, names[0]))
        with open(os.path.join(results, names[1]), "r+b") as file:
            file.seek(300)
            file.write(b"X")
        self.go("1-4", "--resume", what="none:0")
        self.assertEqual([self.runs(shot) for shot in range(1, 5)], [2, 2, 1, 1])
        self.assert_there(range(1, 5))

    def test_a_full_disk_pauses_the_site(self):
        small = self.path("small")
        os.mkdir(small)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80k,mode=0700", "tmpfs",
                                                small],
                                               capture_output=True).returncode != 0:
            self.skipTest("a small file system cannot be mounted")
        try:
            done = self.go("1-20", "--pause", 0.2, journal="small/journal.txt", status=1)
            self.assertIn("No space left on device", done.stdout + done.stderr)
            subprocess.run(["mount", "-o", "remount,size=8m", small], check=True)
            self.go("1-20", "--resume", journal="small/journal.txt")
            self.assert_there(range(1, 21))
        finally:
            subprocess.run(["umount", small], check=True)


# ctest: quick
class BadInput(DistributeCase):
    def refuse(self, words, *texts, status=2):
        done = self.call(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertTrue(done.stderr.startswith("distribute_shots: "), done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)

    def test_options(self):
        self.refuse([], "--journal is missing")
        self.refuse(["--journal", "j"], "--sites is missing")
        self.refuse(["--journal", "j", "--sites", "none.cfg", "--shots", "1", "--", "true"], "none.cfg")
        self.refuse(["--journal", "j", "--resume", "--status"], "exclude each other")
        self.refuse(["--journal", "j", "--sites", self.path("sites.cfg"), "--shots", "1"],
                    "the command is missing")
        self.refuse(self.words("1,1"), "the shot 1 is repeated")
        self.refuse(self.words("5-1"), "'5-1'", "allowed")
        self.refuse(self.words("x"), "'x'")
        self.refuse(self.words("1-2", "--max-attempts", "0"), "--max-attempts", "0")
        self.refuse(self.words("1-2", "--shots-per-job", "3"), "shots per job is 3 (allowed: 1 to 2")
        self.refuse(self.words("1-2", "--name", "a b"), "campaign: the name 'a b'")
        self.refuse(self.words("1-2", "--input", "x"), "--input is 'x' (allowed: NAME=FILE)")
        self.refuse(self.words("1-2", "--input", "x=none.npy"), "none.npy' does not exist")
        self.refuse(["--journal", "j", "--sites", self.path("sites.cfg"), "--shots", "1", "--", "true",
                     "{input:vp}"],
                    "names the input 'vp'", "--input vp=FILE")
        self.refuse(self.words("1-1000", "--result-bytes", "100000G"), "has room for", "bytes")
        self.refuse(["--journal", self.script, "--status"], "is not a journal of moho", status=1)

    def test_lists_of_shots_are_ranges(self):
        # limited memory: a list of all elements would not fit
        limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (2 ** 30, 2 ** 30)),
                  "timeout": 60}
        for shots, text in (("1-1000000000000",
                             "--shots: the list has 1e+12 shots (allowed: up to 1000000 in a run)"),
                            ("0-9223372036854775807", "(allowed: up to 1000000 in a run)"),
                            ("9223372036854775808", "'9223372036854775808' (allowed: numbers from 0"),
                            ("1-999999:2,2-999998:4,500001-600000:7", "is repeated"),
                            ("0-9223372036854775800:922337203685477580,9223372036854775800",
                             "the shot 9223372036854775800 is"),
                            ("3-900:10,4-900:15,13", "the shot 13 is repeated")):
            done = subprocess.run([self.program, *self.words(shots)], cwd=self.folder, capture_output=True,
                                  text=True, **limits)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertFalse(os.path.exists(self.path("run")))
        # disjoint progressions
        self.go("9223372036854775806-9223372036854775807:5,3-99:48,4-100:48")
        self.assert_there([9223372036854775806, 3, 51, 99, 4, 52, 100])

    def test_ranges_agree_with_elements(self):
        chance = random.Random(17)
        for _ in range(40):
            ranges = [(first, first + chance.randint(0, 40), chance.randint(1, 12))
                      for first in (chance.randint(0, 60) for _ in range(chance.randint(2, 3)))]
            shots = [shot for first, last, step in ranges for shot in range(first, last + 1, step)]
            text = ",".join(f"{first}-{last}:{step}" for first, last, step in ranges)
            done = self.call("--journal", "j/j.txt", "--sites", "none.cfg", "--shots", text, "--", "true")
            twice = len(set(shots)) < len(shots)
            self.assertEqual("is repeated" in done.stderr, twice, text + done.stderr)
            if twice:
                number = int(done.stderr.split("the shot ")[1].split()[0])
                self.assertGreater(shots.count(number), 1, text)

    def test_collecting_replaces_no_file_of_others(self):
        os.makedirs(self.path("got/shot_2"))
        self.write("got/shot_2/data.txt", "mine")
        self.refuse(self.words("1-3"), "--collect: '", "got/shot_2' is a folder that no run of moho made",
                    "move it away")
        with open(self.path("got/shot_2/data.txt")) as file:
            self.assertEqual(file.read(), "mine")
        self.assertFalse(os.path.exists(self.path("run")))
        os.rename(self.path("got/shot_2"), self.path("kept"))
        os.symlink(self.path("kept"), self.path("got/shot_2"))
        self.refuse(self.words("1-3"), "is a symbolic link")
        os.remove(self.path("got/shot_2"))
        self.go("1-3")
        self.assert_there([1, 2, 3])
        # the next run removes parts of a killed run
        dead = subprocess.Popen(["true"])
        dead.wait()
        self.write(f"got/shot_3/data.txt.part-{dead.pid}-0", "half")
        self.go("1-3", "--resume")
        self.assertEqual(sorted(os.listdir(self.path("got/shot_3"))), [".moho_folder", "data.txt"])

    def test_refusals_make_no_folders_and_keep_to_a_line(self):
        table = self.write("new.csv", "x,y\n1,2\n")
        for journal in (table, self.path("new.csv")):
            self.refuse(self.words("1-2", journal=journal), "is not a journal of moho")
        self.refuse(self.words("1-2", "--resume", journal="none/journal.txt"),
                    "does not exist: start without --resume")
        self.assertEqual(sorted(os.listdir(self.folder)), ["new.csv", "shot.py", "sites.cfg", "tries"])
        for words in (self.words("1\n2"), self.words("1-2", "--name", "a\nb"),
                      self.words("1-2", "--input", "a\nb")):
            self.refuse(words, "\\n")
            self.assertEqual(self.call(*words).stderr.count("\n"), 1)

    def test_journals(self):
        self.go("1-2")
        self.refuse(self.words("1-2"), "resume it, or start another one")
        self.refuse(self.words("1-2", "--resume", seconds=3), "belongs to another survey")
        self.refuse(self.words("1-2", "--resume", journal="none/journal.txt"),
                    "does not exist: start without --resume")

    def test_sites(self):
        cases = {"": "it describes no site", "kind = local": "before the first [name]",
                 "[a b]": "the site's name 'a b'", "[a]\nx": "'x' (allowed: [name] and setting = value)",
                 "[a]\nkind = cloud": "kind is 'cloud'", "[a]\nslots = 0": "slots is '0'",
                 "[a]\ncolour = red": "unknown setting 'colour'",
                 "[a]\n[a]": "'a' is repeated", "[a]\nslots = 1\nslots = 2": "slots is repeated",
                 "[a]\nkind = slurm\narray = 0": "array is '0'",
                 "[a]\nkind = slurm\noption = x": "option is 'x'",
                 "[a]\nprograms = /none": "the worker '/none/shot_worker' cannot be run",
                 "[a]\nhost = far;ls\nfolder = /x\nprograms = /x": "the host 'far;ls'",
                 "[a]\nhost = %h\nfolder = /x\nprograms = /x": "the host '%h'",
                 "[a]\nhost = -oProxyCommand=x\nfolder = /x\nprograms = /x": "the host '-oProxyCommand=x'",
                 "[a]\nhost = far\nfolder = /x$HOME\nprograms = /x": "folder is '/x$HOME'",
                 "[a]\nhost = far\nfolder = x\nprograms = /x": "folder is 'x'",
                 "[a]\nhost = far\nfolder = /x\nprograms = /x y": "programs is '/x y'",
                 "[a]\nhost = far\nfolder = /x\nprograms = /x\nssh_option = -o X": "ssh_option is '-o X'"}
        for text, said in cases.items():
            with self.subTest(text):
                self.sites(text)
                self.refuse(self.words("1-2"), said)
        self.sites("[a]\nkind = slurm\ntime = 60\n")
        if not services.missing("scontrol"):
            self.refuse(self.words("1-2"), "Slurm")


class Protection(DistributeCase):
    """Only the owner of a journal can make its workers run programs."""

    def modes(self, folder):
        """Returns the nonzero rights of group and others by path."""
        found = {}
        for root, folders, files in os.walk(self.path(folder)):
            for name in [".", *folders, *files]:
                path = os.path.normpath(os.path.join(root, name))
                rights = stat.S_IMODE(os.lstat(path).st_mode) & 0o077
                if rights:
                    found[path] = oct(rights)
        return found

    def test_folders_and_files_are_private_whatever_the_umask(self):
        for umask in (0, 0o002):
            process = subprocess.Popen([self.program,
                                        *self.words("1-3", journal=f"run{umask}/journal.txt", seconds=1.0)],
                                       cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, umask=umask)
            time.sleep(0.7)
            # programs of users write files with the umask, but in private folders
            during = {path: mode for path, mode in self.modes(f"run{umask}").items()
                      if not path.endswith("data.txt")}
            text, _ = process.communicate()
            self.assertEqual(process.returncode, 0, text)
            self.assertEqual(during, {})
            self.assertEqual(self.modes(f"run{umask}"), {})
            self.assertTrue(os.path.exists(self.path(f"run{umask}/moho.key")))

    def refuse(self, text, *arguments, **more):
        done = self.go("1-3", *arguments, status=2, **more)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_files_writable_by_others_are_refused(self):
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o770)
        self.refuse("open' has the mode 0770: other users could make it run their programs",
                    journal="open/journal.txt")
        self.assertEqual(os.listdir(self.path("open")), [])
        os.mkdir(self.path("sticky"))
        os.chmod(self.path("sticky"), 0o1777)
        self.refuse("has the mode 1777", journal="sticky/journal.txt")
        self.go("1-3", journal="sticky/own/journal.txt")
        self.go("1-3", what="none:0")
        for name, mode, text in (("run/journal.txt", 0o620, "has the mode 0620"),
                                 ("run", 0o702, "has the mode 0702"),
                                 ("run/here", 0o720, "has the mode 0720"),
                                 ("run/moho.key", 0o640, "has the mode 0640")):
            before = stat.S_IMODE(os.stat(self.path(name)).st_mode)
            os.chmod(self.path(name), mode)
            self.refuse(text, "--resume", what="none:0")
            os.chmod(self.path(name), before)
        if os.geteuid() == 0:
            os.chown(self.path("run"), 1, -1)
            self.refuse("belongs to user 1 (allowed: user 0", "--resume", what="none:0")
            os.chown(self.path("run"), 0, -1)
        self.go("1-3", "--resume", what="none:0")
        os.remove(self.path("run/moho.key"))
        self.refuse("made by another version of moho, or its key was removed", "--resume", what="none:0")
        self.assertEqual([self.runs(shot) for shot in range(1, 4)], [1, 1, 1])

    def test_jobs_and_results_of_others_are_refused(self):
        self.go("1-2", what="none:0")
        self.go("1-2", what="none:0", journal="other/journal.txt", collect=False)
        # replace a result by one of another journal, whose checksums are correct
        own, other = (sorted(os.listdir(self.path(f"{run}/here/results")))[0] for run in ("run", "other"))
        shutil.copy(self.path(f"other/here/results/{other}"), self.path(f"run/here/results/{own}"))
        self.go("1-2", "--resume", what="none:0")
        self.assertEqual(self.runs(1), 3)
        # a worker refuses a job of another journal
        worker = os.path.join(os.path.dirname(self.program), "shot_worker")
        process = self.begin("3-3", journal="third/journal.txt", seconds=2.0)
        jobs = []
        while not jobs:
            jobs = glob.glob(self.path("third/here/jobs/*/*.job"))
            time.sleep(0.01)
        text = open(jobs[0], encoding="utf-8").read()
        process.communicate()
        token = text.split("\n")[1].split()[1]
        self.go("7", journal="fourth/journal.txt", collect=False)
        folder = self.path(f"fourth/here/jobs/{os.path.basename(os.path.dirname(jobs[0]))}")
        os.makedirs(folder)
        self.write(os.path.join(folder, os.path.basename(jobs[0])), text)
        done = subprocess.run([worker, "--folder", self.path("fourth/here"), "--job", token],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("it was not written with the key of its journal", done.stderr)

    def test_cancel_ends_no_process_of_another_identity(self):
        process = self.begin("1-1", seconds=20.0)
        locks = []
        while not locks or not open(locks[0]).read().count("\n") == 2:
            locks = glob.glob(self.path("run/here/jobs/*/*.lock"))
            time.sleep(0.02)
        process.kill()
        process.communicate()
        other = subprocess.Popen(["sleep", "60"], start_new_session=True)
        self.addCleanup(lambda: (other.kill(), other.wait()))
        worker, identity = open(locks[0]).read().split("\n")[:2]
        self.assertRegex(identity, "^[0-9]+ shot_worker")
        with open(locks[0], "r+") as file:  # the worker keeps the lock itself
            file.truncate()
            file.write(f"{other.pid}\n{identity}\n")
        words = self.words("1-1", "--cancel", seconds=20.0)
        self.assertEqual(self.call(*words).returncode, 0)
        self.assertIsNone(other.poll())
        os.killpg(int(worker), signal.SIGKILL)


# ctest: quick
class Program(DistributeCase):
    def test_help_and_version(self):
        for name in ("distribute_shots", "shot_worker"):
            program = os.path.join(os.path.dirname(self.program), name)
            done = subprocess.run([program, "--help"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0)
            self.assertIn(name + ": ", done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 120)
            done = subprocess.run([program, "--version"], capture_output=True, text=True)
            self.assertIn(name + " of moho", done.stdout)

    def test_options_from_a_file(self):
        config = self.write("run.cfg",
                            f"sites = {self.path('sites.cfg')}\njournal = {self.path('run/journal.txt')}\n"
                            f"shots = 1-3\ncollect = {self.path('got')}\ncommand = {sys.executable}\n"
                            f"command = {self.script}\ncommand = {{shot}}\ncommand = {{out}}\nquiet = true\n")
        done = self.call("--config", config)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assert_there([1, 2, 3])

    def test_programs_know_their_share_of_the_memory(self):
        self.sites("[here]\nkind = local\nslots = 2\n[there]\nkind = local\n")
        write = "import os, sys; open(sys.argv[1] + '/share', 'w').write(os.environ['MOHO_MEMORY_SHARE'])"
        done = self.call("--sites", "sites.cfg", "--journal", "run/journal.txt", "--shots", "1-4",
                         "--collect", "got", "--", sys.executable, "-c", write, "{out}")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open("/proc/meminfo", encoding="utf-8") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
        for shot in range(1, 5):
            with open(self.path(f"got/shot_{shot}/share"), encoding="utf-8") as file:
                processes, share = map(int, file.read().split())
            self.assertEqual(processes, 3)
            self.assertLess(0.1 * free, 3 * share)
            self.assertLess(3 * share, 2 * free)

    def test_programs_plan_with_their_share_of_the_memory(self):
        program = os.path.join(os.path.dirname(self.program), "migrate_shots")
        if not os.path.exists(program):
            self.skipTest("there is no migrate_shots")
        asked = [program, "--vp", "2000", "--shape", "201,101", "--spacing", "10", "--wavelet", "ricker:15",
                 "--time", "2", "--shots", "modelled", "--true-vp", "2100", "--source", "100,20",
                 "--receivers", "0,20:2000,20:31", "--snapshots", "memory", "--space", "openmp", "--plan"]

        def plan(share):
            return subprocess.run(asked, cwd=self.folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "OMP_NUM_THREADS": "1", **share})

        self.assertEqual(plan({}).returncode, 0, plan({}).stderr)
        done = plan({"MOHO_MEMORY_SHARE": "1 8000000"})
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("--snapshots memory is not possible here", done.stderr)

    def test_a_program_with_ranks_of_its_own(self):
        """Ranks that compute a shot together say so; others are refused, with a message that helps."""
        if not self.mpirun:
            self.skipTest("there is no mpirun")
        name = "{programs}/model_waves"
        if not os.path.exists(os.path.join(os.path.dirname(self.program), "model_waves")):
            self.skipTest("there is no model_waves")
        self.sites("[here]\nkind = local\n")
        shot = [name, "--vp", "2000", "--shape", "61,41", "--spacing", "10", "--wavelet", "ricker:15",
                "--time", "0.1", "--source", "100,20:500,20:2", "--receivers", "0,20:600,20:31",
                "--space", "openmp", "--no-plot", "--only-shot", "{shot}", "--out", "{out}"]

        def compute(folder, launcher, *more, status=0):
            done = self.call("--sites", "sites.cfg", "--journal", f"{folder}/journal.txt", "--shots", "1-2",
                             "--collect", f"{folder}/got", "--", *launcher, *shot, *more,
                             environment=self.of_ranks)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            return done

        two = [self.mpirun, "--oversubscribe", "-n", "2"]
        done = compute("refused", two, status=2)
        self.assertIn("--only-shot: mpirun started 2 ranks, and 1 rank computes the shot (allowed: 1 rank, "
                      "or --ranks-per-shot 2)", done.stdout + done.stderr)
        compute("one", [])
        compute("together", two, "--ranks-per-shot", "2")
        compute("alone", [*two[:-1], "1"])
        for folder in ("together", "alone"):
            for number in (1, 2):
                file = f"got/shot_{number}/gather_{number:04d}.npy"
                with open(self.path(f"one/{file}"), "rb") as one, open(self.path(f"{folder}/{file}"),
                                                                       "rb") as other:
                    self.assertEqual(one.read(), other.read(), (folder, number))

    def test_ranks_share_the_shots_of_a_job(self):
        if not self.mpirun:
            self.skipTest("there is no mpirun")
        self.sites("[here]\nkind = local\nslots = 1\n")
        # run a job of a distributor with three ranks
        process = self.begin("1-9", "--shots-per-job", "9", seconds=0.2, what="none:0", collect=False)
        for _ in range(100):
            time.sleep(0.05)
            if self.runs(1) == 1:
                break
        process.kill()
        process.communicate()
        subprocess.run([self.program,
                        *self.words("1-9", "--shots-per-job", "9", "--cancel", seconds=0.2, what="none:0",
                                                  collect=False)], capture_output=True)
        jobs = self.path("run/here/jobs")
        batch = os.listdir(jobs)[0]
        worker = os.path.join(os.path.dirname(self.program), "shot_worker")
        program = self.program
        try:
            type(self).program = worker
            done = self.call("--folder", self.path("run/here"), "--job", batch + ".0", ranks=3)
        finally:
            type(self).program = program
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len([n for n in os.listdir(self.path("run/here/results")) if n.endswith(".result")]),
                         9)
        ranks = [n for n in os.listdir(os.path.join(jobs, batch)) if n.startswith("0.report")]
        self.assertEqual(len(ranks), 3)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
