# SPDX-License-Identifier: BSD-3-Clause
"""Tests that all programs pass: their options, and files and processes that disturb a run."""

import fcntl
import json
import os
import re
import resource
import signal
import subprocess


class EveryProgram:
    """Tests of every program. Subclasses name a small run and the plot program."""

    small = []
    script = ""

    def test_help_and_version(self):
        done = self.call("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--space", "--out", "--config", "--no-plot", "Examples", self.name):
            self.assertIn(word, done.stdout)
        self.assertNotIn("\n\n\n", done.stdout)
        done = self.call("--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in (self.name, "Kokkos"):
            self.assertIn(word, done.stdout)

    def test_output_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for arguments in (["--help"], ["--version"], [*self.small, "--no-plot"]):
            with open("/dev/full", "w") as full:
                done = self.call(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("standard output: what was printed could not be written", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_more_threads_than_there_is_room_for(self):
        if "openmp" not in self.spaces():
            self.skipTest("this build has no OpenMP")
        for environment, option, count in (({"OMP_NUM_THREADS": "600"}, [], 600),
                                           ({}, ["--kokkos-threads=100000"], 100000)):
            done = self.call(*self.small, "--no-plot", *option, environment=environment)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"for {count} threads (allowed: 1 to 512", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_threads_bound_to_one_processor(self):
        if "openmp" not in self.spaces() or os.cpu_count() < 2 or len(os.sched_getaffinity(0)) < 2:
            self.skipTest("this takes OpenMP and two processors")
        one = {min(os.sched_getaffinity(0))}
        arguments = [*self.small, "--no-plot", "--space", "openmp", "--out", "out"]
        done = self.call(*arguments, environment={"OMP_NUM_THREADS": "2"},
                         preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 threads share 1 of this machine's", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        with open(self.path("out/summary.json"), encoding="utf-8") as file:
            self.assertIn("2 threads share 1 of this machine's", file.read())

    def test_plot_program_of_another_folder(self):
        os.mkdir(self.path("plots"))
        self.write(os.path.join("plots", self.script + ".py"),
                   "print('mine was here')\nraise SystemExit(1)\n")
        done = self.call(*self.small, environment={"MOHO_PLOT_DIR": self.path("plots")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"not drawn: {self.script}.py failed: mine was here", done.stdout)

    def test_pictures_that_are_not_drawn(self):
        for python, words in ((self.path("no"), ["MOHO_PYTHON is /", f"run {self.script}.py later"]),
                              (self.python_without_packages(), ["has no "])):
            done = self.call(*self.small, environment={"MOHO_PYTHON": python})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            line = done.stdout.strip().splitlines()[-1]
            self.assertRegex(line, "^pictures? not drawn: ")
            for word in [*words, "install python3-matplotlib"]:
                self.assertIn(word, line)
            with open(self.path(self.name + "_out/summary.json"), encoding="utf-8") as file:
                text = file.read()
            self.assertIn('"picture": "not drawn: ', text)
            self.assertNotIn(".png", text)


class NothingIsLost:
    """Tests that no program loses files of others. Subclasses name a small run and its results.

    Only with inputs: `read` is a list of (result, content, arguments that read a file, option). The arguments
    are arguments(path).
    """

    small = []    # a quick run
    slow = []  # arguments of a run of some seconds
    results = []  # names of files that the quick run writes
    former = ""   # name of a file that other runs of the program write
    read = []
    rough = []    # arguments before a shape, for runs by size
    shapes = []   # of these sizes, some 50 MiB and more
    large = []  # other shapes of 50 MiB and more, if those of `shapes` read files

    def files(self, folder="out"):
        return sorted(os.listdir(self.path(folder)))

    def summary(self, folder="out"):
        with open(os.path.join(self.path(folder), "summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_small(self, *more, out="out", **how):
        return self.call(*self.small, "--no-plot", "--out", out, *more, **how)

    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_results_do_not_replace_inputs(self):
        for number, (result, content, arguments, option) in enumerate(self.read):
            out = f"out{number}"
            os.mkdir(self.path(out))
            inside = os.path.join(out, result)
            self.write(inside, content)
            os.symlink(self.path(inside), self.path(f"symbolic{number}_{result}"))
            os.link(self.path(inside), self.path(f"hard{number}_{result}"))
            for name in (inside, f"symbolic{number}_{result}", f"hard{number}_{result}"):
                done = self.call(*arguments(name), "--no-plot", "--out", out)
                self.assert_refused(done, f"--{option} {name}", inside, "would replace")
                self.assertEqual(self.content(inside), content)
                self.assertEqual(self.files(out), [result])
            # conversely: the name of a result leads to the input
            os.rename(self.path(inside), self.path(f"kept{number}_{result}"))
            os.symlink(self.path(f"kept{number}_{result}"), self.path(inside))
            done = self.call(*arguments(f"kept{number}_{result}"), "--no-plot", "--out", out)
            self.assert_refused(done, "would replace")
            self.assertEqual(self.content(f"kept{number}_{result}"), content)

    def test_files_of_others_are_refused_and_stay(self):
        for result in [*self.results, "summary.json"]:
            out = "out_" + result
            os.mkdir(self.path(out))
            self.write(os.path.join(out, result), '{"program": "another", "files": []}')
            self.assert_refused(self.run_small(out=out), os.path.join(out, result), "move it away")
            self.assertEqual(self.content(os.path.join(out, result)), b'{"program": "another", "files": []}')
            self.assertEqual(self.files(out), [result])

    def test_an_earlier_summary_that_is_too_large(self):
        self.assertEqual(self.run_small().returncode, 0)
        path = self.path("out/summary.json")
        os.truncate(path, (1 << 30) + 4096)  # a hole, which takes no room
        before = self.files()
        self.assert_refused(self.run_small(), "out/summary.json has 1 GiB (allowed: up to 1 GiB of a "
                            "summary): move it away, or name another folder")
        self.assertEqual(os.path.getsize(path), (1 << 30) + 4096)
        self.assertEqual(self.files(), before)

    def test_earlier_parts_that_are_too_large(self):
        self.assertEqual(self.run_small().returncode, 0)
        path = self.path("out/.moho_parts")
        with open(path, "wb") as file:
            file.truncate((1 << 30) + 4096)  # a hole, which takes no room
        before = self.files()
        self.assert_refused(self.run_small(), "out/.moho_parts has 1 GiB (allowed: up to 1 GiB of the "
                            "parts of a run): move it away, or name another folder")
        self.assertEqual(self.files(), before)

    def test_files_of_an_earlier_run(self):
        self.assertEqual(self.run_small().returncode, 0)
        before = self.summary()
        self.assertEqual(before["state"], "done")
        for name in self.results:
            self.assertIn(name, before["files"])
        # as if the earlier run had written more; paths outside of the folder and names that the program never
        # writes are not accepted
        before["files"] += [self.former, "../beside.npy", "../" + self.former]
        before["to_write"] = before["earlier_files"] = ["thesis.txt"]
        self.write("out/summary.json", json.dumps(before))
        for name in ("out/" + self.former, "out/mine.npy", "beside.npy", self.former, "out/thesis.txt"):
            self.write(name, "foreign")
        # a failing run changes no file
        done = self.run_small("--space", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(os.path.exists(self.path("out/" + self.former)))
        self.assertEqual(self.summary(), before)
        self.assertEqual(self.run_small().returncode, 0)
        self.assertFalse(os.path.exists(self.path("out/" + self.former)))
        for name in ("out/mine.npy", "beside.npy", self.former, "out/thesis.txt"):
            self.assertEqual(self.content(name), b"foreign", name)
        self.assertEqual(sorted(self.summary()["files"]),
                         [n for n in self.files() if n not in ("mine.npy", "thesis.txt")])

    def test_results_go_through_no_link(self):
        """Names of results that lead elsewhere, or are no files, are refused; their targets stay."""
        self.assertEqual(self.run_small().returncode, 0)
        self.write("archive.npy", "foreign")
        os.mkdir(self.path("folder"))

        def link(path):
            os.symlink(self.path("archive.npy"), path)

        for name in (self.results[0], self.results[-1], "summary.json"):
            path = self.path("out/" + name)
            os.rename(path, self.path("kept"))
            for make, kind in ((link, "symbolic link"),
                               (lambda path: os.symlink(self.path("nothing"), path), "symbolic link"),
                               (lambda path: os.symlink(self.path("folder"), path), "symbolic link"),
                               (os.mkdir, "a folder"), (os.mkfifo, "named pipe")):
                make(path)
                self.assert_refused(self.run_small(), f"out/{name} is a", kind, "move it away")
                self.assertEqual(self.content("archive.npy"), b"foreign")
                self.assertFalse(os.path.exists(self.path("nothing")))
                self.assertTrue(os.path.lexists(path))
                (os.rmdir if make is os.mkdir else os.remove)(path)
            os.rename(self.path("kept"), path)
        # a second name of a result keeps the old file when the result is replaced
        os.remove(self.path("out/" + self.results[0]))
        os.link(self.path("archive.npy"), self.path("out/" + self.results[0]))
        # the folder may also be a link
        os.rename(self.path("out"), self.path("elsewhere"))
        os.symlink("elsewhere", self.path("out"))
        done = self.run_small()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.content("archive.npy"), b"foreign")
        self.assertTrue(os.path.islink(self.path("out")))

    def test_messages_are_one_line(self):
        """Control characters of names are escaped."""
        done = self.run_small("--memory", "a\nb\x1b[2J\x07\u009bc\n")
        self.assert_refused(done, "a\\nb\\x1b[2J\\x07\\x9bc")
        self.assertEqual([c for c in done.stderr[:-1] if ord(c) < 32], [])

    def test_address_space_is_limited(self):
        """Under ulimit -v runs succeed, or report too little memory in a message of moho."""
        if self.sanitized():
            self.skipTest("sanitizers reserve addresses")
        if "cuda" in self.spaces():
            self.skipTest("CUDA reserves addresses")
        refused = 0
        for arguments in (self.small, *(self.large or self.shapes)):
            for mebibytes in (28, 34, 40, 60):
                size = mebibytes * 2 ** 20
                done = self.call(*arguments, "--no-plot", "--out", "out",
                                 environment={"OMP_NUM_THREADS": "1"},
                                 preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_AS,
                                                                                 (size, size)))
                if done.returncode == 0:
                    continue
                if re.search("error while loading shared libraries|GOMP|libgomp", done.stderr):
                    continue  # before the program begins
                refused += 1
                self.assertIn(done.returncode, (1, 2), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertRegex(done.stderr, f"^{self.name}: .*memory", (arguments, mebibytes))
                self.assertNotIn("Kokkos", done.stderr)
                self.assertRegex(done.stderr, "ulimit -v", (arguments, mebibytes))
        self.assertGreater(refused, 0)

    def test_a_lock_that_is_a_foreign_file(self):
        os.mkdir(self.path("out"))
        self.write("mine.txt", "foreign")
        lock = self.path("out/.moho_lock")
        for make, word in ((lambda: os.link(self.path("mine.txt"), lock), "hard link"),
                           (lambda: os.symlink(self.path("mine.txt"), lock), "symbolic link"),
                           (lambda: os.symlink(self.path("nothing"), lock), "symbolic link"),
                           (lambda: self.write("out/.moho_lock", "foreign"), "text that no run wrote"),
                           (lambda: os.mkfifo(lock), "named pipe")):
            make()
            self.assert_refused(self.run_small(), "out/.moho_lock", word, "move it away")
            self.assertEqual(self.content("mine.txt"), b"foreign")
            self.assertFalse(os.path.exists(self.path("nothing")))
            self.assertEqual(self.files(), [".moho_lock"])
            os.remove(lock)

    def test_a_folder_belongs_to_one_run(self):
        os.mkdir(self.path("out"))
        with open(self.path("out/.moho_lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write("program, process 12 on earth, since yesterday\n")
            lock.flush()
            self.assert_refused(self.run_small(), "in use by program, process 12 on earth, since yesterday")
            self.assertEqual(self.files(), [".moho_lock"])
        # the process with the lock was killed: its lock file still exists
        self.assertEqual(self.run_small().returncode, 0)
        self.assertNotIn(".moho_lock", self.files())

    def test_temporary_files_of_dead_runs(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        os.mkdir(self.path("out"))
        result = self.results[0]
        for name in (f"{result}.part-{dead.pid}-3", f"{result}.part-{os.getpid()}-0",
                     f"notes.part-{dead.pid}-0"):
            self.write("out/" + name, "half")
        self.assertEqual(self.run_small().returncode, 0)
        self.assertEqual([n for n in self.files() if ".part" in n],
                         sorted([f"{result}.part-{os.getpid()}-0", f"notes.part-{dead.pid}-0"]))

    def test_a_full_disk(self):
        size = os.path.getsize(os.path.join(self.succeed(*self.small)[0], self.results[0]))
        done = self.run_small(out="full", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                                (size - 1, size - 1)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual([n for n in self.files("full") if ".part" in n or n == ".moho_lock"], [])

    def test_nobody_reads_what_is_printed(self):
        ends = os.pipe()
        os.close(ends[0])
        done = self.call(*self.small, "--no-plot", "--out", "out", capture_output=False, stdout=ends[1],
                         stderr=subprocess.PIPE)
        os.close(ends[1])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("standard output: what was printed could not be written", done.stderr)
        self.assertEqual(self.summary()["state"], "done")

    def start(self, *arguments, out="out"):
        process = subprocess.Popen([self.program, *map(str, arguments), "--no-plot", "--out", out],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def test_signals(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start(*self.slow)
            self.wait_for(process, lambda: os.path.exists(self.path("out/.moho_lock")))
            self.assert_refused(self.run_small(), "in use by " + self.name, f"process {process.pid} on ")
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, status, err)
            self.assertIn(f"{self.name}: ended by {number.name}: ", err)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertEqual([n for n in self.files() if ".part" in n or n == ".moho_lock"], [])
        # an ignored signal stays ignored, as under nohup
        process = subprocess.run(["sh", "-c",
                                  'trap "" HUP; "$0" "$@" & p=$!; sleep 0.1; kill -HUP $p; wait $p',
                                  self.program, *map(str, self.small), "--no-plot", "--out", "nohup"],
                                 cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(process.returncode, 0, process.stderr)

    def test_closed_standard_descriptors(self):
        process = subprocess.Popen([self.program, *map(str, self.slow), "--no-plot", "--out", "out"],
                                   cwd=self.folder, preexec_fn=lambda: os.closerange(0, 3))
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait()))
        self.wait_for(process, lambda: os.path.exists(self.path("out/.moho_lock")))
        if os.path.isdir("/proc/self/fd"):
            # no file of the program has the number of a standard stream
            links = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)]
            self.assertEqual(links, ["/dev/null"] * 3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)

    def test_names_that_are_no_text(self):
        folder = os.fsdecode(b"r\xff\xc3\xa9")
        done = subprocess.run([os.fsencode(self.program), *(os.fsencode(str(a)) for a in self.small),
                               b"--no-plot", b"--out", os.fsencode(folder)], cwd=self.folder,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.summary(folder)["asked"]["out"], "r\\xff\u00e9")

    def test_what_is_no_regular_file(self):
        os.mkfifo(self.path("pipe"))
        options = [["--config", "pipe"], ["--config", "/dev/zero"]]
        for result, _, arguments, _ in self.read:
            name = "pipe" + os.path.splitext(result)[1]
            if not os.path.exists(self.path(name)):
                os.mkfifo(self.path(name))
            options.append(arguments(name))
        for arguments in options:
            done = self.call(*arguments, "--no-plot", "--out", "out")
            self.assert_refused(done, "no regular file")

    def test_memory_is_known_before(self):
        if self.sanitized():
            self.skipTest("sanitizers take memory of their own")
        if "cuda" in self.spaces():
            self.skipTest("the libraries of a device take memory of their own")
        for arguments in self.shapes:
            peak = self.peak(*arguments)
            estimate = self.summary()["memory"]["estimate_bytes"]
            words = f"{arguments}: estimate {estimate / 2 ** 20:.1f} MiB, peak {peak / 2 ** 20:.1f} MiB"
            self.assertLessEqual(peak, estimate, words)
            self.assertLessEqual(estimate, 2 * peak, words)
            program = 24 * 2 ** 20
            if arguments is self.shapes[0]:
                # the estimate is enough; much less is refused before any allocation
                self.peak(*arguments, "--memory", int(estimate - program) + 2 ** 20)
                done = self.call(*arguments, "--no-plot", "--memory", int((estimate - program) / 3))
                self.assert_refused(done, "memory", " (allowed: ", "the --memory given", "would fit")
                # parts of the memory, the largest first
                parts = re.search(r"the --memory given; ([^)]*)\)", done.stderr)[1].split(", ")
                units = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30}
                sizes = [float(part.split()[-2]) * units[part.split()[-1]] for part in parts]
                self.assertEqual(sizes, sorted(sizes, reverse=True), parts)
                taken = re.search(r" takes (?:at least )?([0-9.]+) ([KMG]iB) of memory", done.stderr)
                self.assertLessEqual(sum(sizes), 1.01 * float(taken[1]) * units[taken[2]], done.stderr)
                self.assertNotIn("picture", done.stderr)

    def test_a_picture_that_does_not_fit_is_left_out(self):
        if "cuda" in self.spaces():
            self.skipTest("--memory is that of the device")
        self.needs_matplotlib()
        done = self.call(*self.small, "--memory", "100M", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout,
                         r"pictures? not drawn: drawing takes 16[0-9.]+ MiB of memory besides [0-9.]+ "
                         r"[KM]?i?B of "
                                      r"the run \(allowed: 100 MiB, the --memory given\)")
        self.assertFalse([name for name in self.files() if name.endswith(".png")])
        self.assertEqual(self.summary()["state"], "done")
        self.assertLess(self.summary()["memory"]["estimate_bytes"], 130e6)
