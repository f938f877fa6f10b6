# SPDX-License-Identifier: BSD-3-Clause
"""Tests of distribute_shots and shot_worker: local processes, a one-node Slurm cluster, a site behind ssh,
and injected faults.
"""

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

# Program of a shot: counts its runs, fails on request, waits, and writes a text with its number.
SHOT = r"""
import os, sys, time
shot, out, rest = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
seconds = float(rest[0]) if rest else 0.0
tries = rest[1] if len(rest) > 1 else ""
what = rest[2] if len(rest) > 2 else ""
if what:
    kind, shots = what.split(":")
    path = os.path.join(tries, str(shot))
    before = int(open(path).read()) if os.path.exists(path) else 0
    with open(path + ".new", "w") as file:
        file.write(str(before + 1))
    os.replace(path + ".new", path)
    if str(shot) in shots.split(","):
        if kind == "fail": print("it went wrong"); sys.exit(1)
        if kind == "once" and before == 0: print("it went wrong"); sys.exit(1)
        if kind == "kill": os.kill(os.getpid(), 9)
        if kind == "bad": print("vp.npy is no model"); sys.exit(2)
        if kind == "none": sys.exit(0)
time.sleep(seconds)
with open(os.path.join(out, "data.txt"), "w") as file:
    file.write(f"shot {shot}\n" * 1000)
"""


class DistributeCase(support.Case):
    services = None
    environment = {}

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.script = self.write("shot.py", SHOT)
        self.tries = self.path("tries")
        os.mkdir(self.tries)
        self.sites("[here]\nkind = local\nslots = 2\n")

    def sites(self, text):
        return self.write("sites.cfg", text)

    def words(self, shots, *arguments, seconds=0.0, what="", journal="run/journal.txt", collect=True):
        return ["--sites", self.path("sites.cfg"), "--journal", self.path(journal), "--shots", shots,
                *(["--collect", self.path("got")] if collect else []), *arguments, "--", sys.executable,
                self.script, "{shot}", "{out}", str(seconds), self.tries, what]

    def go(self, *arguments, status=0, **more):
        done = self.call(*self.words(*arguments, **more), environment=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def assert_there(self, shots):
        for shot in shots:
            with open(self.path(f"got/shot_{shot}/data.txt")) as file:
                self.assertEqual(file.read(), f"shot {shot}\n" * 1000)

    def runs(self, shot):
        try:
            return int(open(os.path.join(self.tries, str(shot))).read())
        except FileNotFoundError:
            return 0

    def begin(self, *arguments, **more):
        return subprocess.Popen([self.program, *self.words(*arguments, **more)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, **self.environment})


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
                         "--shots", "1-6", "--shots-per-job", "3", "--collect", self.path("got"), "--", "sh",
                         "-c", "echo $PPID > $0/worker.txt", "{out}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
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
        cls._slurm_folder = support.tempfile.TemporaryDirectory(prefix="moho_slurm_")
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


class PlacesCase(DistributeCase):
    """Base of tests of programs with --sites, over all kinds of sites available here."""

    def other(self, name):
        path = os.path.join(os.path.dirname(self.program), name)
        return path if os.path.exists(path) else self.skipTest("there is no " + name)

    def places(self, programs=""):
        """Writes a sites file with local processes, and with ssh and Slurm if available."""
        here = f"programs = {programs}\n" if programs else ""
        text = "[here]\nkind = local\nslots = 1\n" + here
        environment = {}
        self.sshd = None
        if not services.missing(*services.Sshd.needs):
            self.sshd = services.Sshd(self.path("ssh"))
            self.addCleanup(self.sshd.stop)
            there = programs or os.path.dirname(self.program)
            text += (f"[far]\nhost = far\nfolder = {self.path('far')}\nprograms = {there}\nslots = 1\n"
                     f"ssh_option = -F{self.sshd.config}\n")
        if not services.missing(*services.Slurm.needs):
            slurm = services.Slurm(self.path("slurm"), cpus=1)
            self.addCleanup(slurm.stop)
            text += "[cluster]\nkind = slurm\njobs = 1\n" + here
            environment = slurm.environment
        self.sites(text)
        return environment

    def same(self, names, a, b):
        for name in names:
            with open(os.path.join(self.path(a), name),
                      "rb") as one, open(os.path.join(self.path(b), name), "rb") as two:
                self.assertEqual(one.read(), two.read(), name)

    summary = support.NothingIsLost.summary

    def run_program(self, program, *arguments, environment=None, status=0):
        done = subprocess.run([program, *map(str, arguments), "--no-plot"], cwd=self.folder, text=True,
                              env={**os.environ, **(environment or {})}, capture_output=True, timeout=500)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done


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
        image = ["--shots", "modelled", "--true-vp", "true.npy", "--snapshots", "memory"]
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
        random.seed(7)
        kills = 0
        for attempt in range(200):
            process = subprocess.Popen([*command, *(["--resume"] if attempt else [])], cwd=self.folder,
                                       text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       env={**os.environ, **environment})
            try:
                text, _ = process.communicate(timeout=random.uniform(0.2, 8.0) if kills < 6 else 400)
                self.assertEqual(process.returncode, 0, text)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
                if kills == 3 and self.sshd:
                    self.sshd.cut()
                    time.sleep(0.5)
                    self.sshd.begin()
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
