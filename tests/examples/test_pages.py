#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the pages: links are valid, the tutorial runs unchanged, and exit statuses agree.

Exit statuses are those of docs/programs/files.md.

usage: test_pages.py --program PATH [names of test classes]
PATH is any of the programs; the others are in its folder.
Exit status 77 if numpy is missing or every test was skipped.
"""

import glob
import importlib.util
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import unittest

import support

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def pages():
    names = glob.glob(os.path.join(ROOT, "*.md")) + glob.glob(os.path.join(ROOT, "docs", "**", "*.md"),
                                                              recursive=True)
    return sorted(names)


def without_code(text):
    """The text with blocks and spans of code blanked, lines kept."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block.group().count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"\n\n((?: {4}.*\n|\n)+)", lambda block: "\n" * block.group().count("\n"), text)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """Returns the anchors of headings, as GitHub makes them."""
    found, seen = set(), {}
    for line in re.sub(r"^```.*?^```", "", text, flags=re.M | re.S).splitlines():
        heading = re.match(r"#{1,6} +(.*?) *#*$", line)
        if not heading:
            continue
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
        anchor = re.sub(r"[^\w\- ]", "", words.replace("`", "")).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        found.add(anchor if count == 0 else f"{anchor}-{count}")
    return found


def dead_links(names):
    """Relative links of pages that lead to no file or to no heading."""
    texts = {}
    for name in names:
        with open(name, encoding="utf-8") as file:
            texts[name] = file.read()
    dead = []
    for name, text in texts.items():
        for target in re.findall(r"\]\(([^()\s]+)\)", without_code(text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not os.path.exists(there):
                dead.append(f"{os.path.relpath(name, ROOT)}: {target}: no such file")
            elif anchor:
                if there not in texts:
                    with open(there, encoding="utf-8") as file:
                        texts.setdefault(there, file.read())
                if anchor not in anchors(texts[there]):
                    dead.append(f"{os.path.relpath(name, ROOT)}: {target}: no such heading")
    return dead


# ctest: quick
class Links(unittest.TestCase):
    def test_none_is_dead(self):
        self.assertGreater(len(pages()), 20)
        self.assertEqual(dead_links(pages()), [])

    def test_the_index_names_every_page(self):
        with open(os.path.join(ROOT, "docs", "index.md"), encoding="utf-8") as file:
            index = file.read()
        docs = os.path.join(ROOT, "docs")
        for name in pages():
            name = os.path.relpath(name, docs)
            if not name.startswith((os.pardir, "results", "index")):
                self.assertIn(f"]({name})", index)

    def test_lines_of_a_command_are_continued(self):
        for name in pages():
            with open(name, encoding="utf-8") as file:
                lines = file.read().splitlines()
            for line, after in zip(lines, lines[1:]):
                if re.match(r"    (mpirun .* )?[a-z]+_[a-z]+ ", line) and re.match(r"    +--", after):
                    self.assertTrue(line.endswith("\\"), f"{os.path.relpath(name, ROOT)}: {line}")

    def test_dead_ones_are_found(self):
        import tempfile
        with tempfile.TemporaryDirectory(prefix="moho_") as folder:
            name = os.path.join(folder, "a.md")
            with open(name, "w", encoding="utf-8") as file:
                file.write("# One `x`: two\n[a](a.md#one-x-two) [b](b.md) [c](#two) `[d](d.md)` "
                           "[e](https://e.org)\n")
            self.assertEqual([link.split(": ", 1)[1] for link in dead_links([name])],
                             ["b.md: no such file", "#two: no such heading"])


class Page(support.Case):
    """The sh and python blocks of a page, run in order in one folder."""

    def run_page(self, name, least):
        """Runs the blocks of a page, which has at least `least` blocks of sh."""
        with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as file:
            blocks = re.findall(r"^```(\w+)\n(.*?)^```", file.read(), flags=re.M | re.S)
        languages = [language for language, _ in blocks]
        self.assertLessEqual(set(languages), {"sh", "python"})
        self.assertGreaterEqual(languages.count("sh"), least)
        programs = os.path.dirname(os.path.realpath(self.program))
        environment = {**os.environ, "PATH": programs + os.pathsep + os.environ["PATH"]}
        for language, text in blocks:
            if language == "python" and "scipy" in text and not importlib.util.find_spec("scipy"):
                print("skipped a block: scipy is missing, install python3-scipy")
                continue
            command = [sys.executable, "-"] if language == "python" else ["sh", "-e"]
            begun = time.monotonic()
            done = subprocess.run(command, input=text, cwd=self.folder, env=environment, text=True,
                                  capture_output=True, timeout=500)
            print(f"{time.monotonic() - begun:.1f} s: {text.strip().splitlines()[-1][:80]}")
            self.assertEqual(done.returncode, 0, text + done.stdout + done.stderr)
            print(done.stdout if language == "python" else "", end="")


class Tutorial(Page):
    """docs/tutorial.md and docs/tutorial_gravity.md."""

    def test_as_it_stands(self):
        self.run_page("tutorial.md", 6)
        drawn = importlib.util.find_spec("matplotlib") is not None
        for name in ("rays/receivers.csv", "times/times.npy", "shot/gather.sgy", "gravity/gravity.csv",
                     "image/image.npy", "rays_truth/matrix.npz",
                     *(["rays/rays.png", "image/image.png"] if drawn else [])):
            self.assertTrue(os.path.isfile(self.path(name)), name)

    def test_gravity(self):
        programs = os.path.dirname(os.path.realpath(self.program))
        if not os.path.exists(os.path.join(programs, "invert_gravity")):
            self.skipTest("invert_gravity is not built")
        self.run_page("tutorial_gravity.md", 6)
        for name in ("smooth/model.npy", "compact/model_smooth.npy", "both/model.npy", "hill/model.npy"):
            self.assertTrue(os.path.isfile(self.path(name)), name)


class Times(Page):
    """docs/tutorial_times.md."""

    def test_as_it_stands(self):
        self.run_page("tutorial_times.md", 7)
        for name in ("final/velocity.npy", "checks/checkerboard.csv", "slope/velocity.npy"):
            self.assertTrue(os.path.isfile(self.path(name)), name)


class ExitStatus(support.Case):
    """docs/programs/files.md: 0 done, 1 system errors, 2 the user's input, 128 and the signal's number."""

    # A run that is long enough to be interrupted, and a quick one.
    waves = ["--vp", "2000", "--spacing", "10"]
    small = ["--shape", "41,31", "--time", "0.05"]
    long = ["--shape", "601,401", "--time", "20"]
    gravity = ["--mesh", "2,2,2,0,200,0,200,0,200", "--densities", "rho.csv", "--strategy", "tiles"]
    quick = {"trace_rays": ["--builtin", "salt", "--shape", "41,31"],
             "first_arrivals": ["--builtin", "salt", "--shape", "41,31"],
             "model_gravity": [*gravity, "--grid", "3,3,10,10,0,0"],
             "invert_gravity": ["--demo", "--beta", "1", "--iterations", "1", "--rounds", "1"],
             "model_waves": [*waves, *small], "stream_waves": [*waves, *small],
             "migrate_shots": [*waves, *small, "--shots", "modelled", "--mute", "none"],
             "invert_waves": [*waves, "--shape", "41,31", "--time", "0.3", "--data", "modelled", "--true-vp",
                              "2100", "--source", "200,20", "--receivers", "0,20:400,20:21", "--iterations",
                              "1"]}
    slow = {"trace_rays": ["--builtin", "salt", "--shape", "4001,3001", "--radius", "8", "--space", "serial"],
            "first_arrivals": ["--builtin", "salt", "--shape", "6001,6001", "--space", "serial"],
            "model_gravity": [*gravity, "--grid", "3000,2000,1,1,0,0", "--components", "all", "--space",
                              "serial"],
            "invert_gravity": ["--demo", "--beta", "1e-4", "--iterations", "100", "--operator", "direct"],
            "model_waves": [*waves, *long], "stream_waves": [*waves, *long],
            "migrate_shots": [*waves, *long, "--shots", "modelled"],
            "invert_waves": [*waves, *long, "--data", "modelled"]}

    def setUp(self):
        super().setUp()
        self.write("rho.csv", "100\n0\n300\n0\n100\n0\n200\n50\n")

    def programs(self):
        folder = os.path.dirname(os.path.realpath(self.program))
        there = {name: os.path.join(folder, name) for name in self.quick
                 if os.path.exists(os.path.join(folder, name))}
        self.assertTrue(there)
        return there

    def status(self, program, *arguments, **more):
        return subprocess.run([program, *arguments], cwd=self.folder, capture_output=not more, timeout=300,
                              **more).returncode

    def test_the_page(self):
        with open(os.path.join(ROOT, "docs", "programs", "files.md"), encoding="utf-8") as file:
            section = file.read().split("## Exit status")[1].split("\n## ")[0]
        self.assertEqual(re.findall(r"^\| ([0-9, ]+) \|", section, flags=re.M),
                         ["0", "1", "2", "75", "130, 143, 129"])

    def test_help_that_cannot_be_written(self):
        folder = os.path.dirname(os.path.realpath(self.program))
        for name in [*self.quick, "distribute_shots", "shot_worker"]:
            if not os.path.exists(os.path.join(folder, name)) or not os.path.exists("/dev/full"):
                continue
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([os.path.join(folder, name), "--help"], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=100)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), name)
            self.assertIn("standard output: what was printed could not be written", done.stderr)

    def test_done(self):
        for name, program in self.programs().items():
            self.assertEqual(self.status(program, "--help"), 0, name)
            self.assertEqual(self.status(program, *self.quick[name], "--no-plot", "--out", name), 0, name)

    def test_input(self):
        for name, program in self.programs().items():
            self.assertEqual(self.status(program), 2, name)
            self.assertEqual(self.status(program, "--colour", "red"), 2, name)
            self.assertEqual(self.status(program, *self.quick[name], "--config", "none.cfg"), 2, name)

    def test_world(self):
        for name, program in self.programs().items():
            with open("/dev/full", "w", encoding="ascii") as full:
                self.assertEqual(self.status(program, "--help", stdout=full, stderr=subprocess.DEVNULL), 1,
                                 name)

    def test_progress_tells_the_time_left(self):
        for name, program in self.programs().items():
            ours, theirs = pty.openpty()
            process = subprocess.Popen([program, *self.slow[name], "--no-plot", "--out", name],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=theirs)
            os.close(theirs)
            said = b""
            until = time.monotonic() + 120
            while b" s left" not in said and time.monotonic() < until:
                if select.select([ours], [], [], 1.0)[0]:
                    try:
                        said += os.read(ours, 4096)
                    except OSError:  # the program has ended
                        break
            process.send_signal(signal.SIGINT)
            process.wait(timeout=300)
            os.close(ours)
            self.assertIn(b" s left", said, name)

    def test_signals(self):
        for name, program in self.programs().items():
            for number in (signal.SIGINT, signal.SIGTERM):
                process = subprocess.Popen(
                    [program, *self.slow[name], "--no-plot", "--out", name], cwd=self.folder,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
                lock = self.path(os.path.join(name, ".moho_lock"))
                for _ in range(3000):
                    if os.path.exists(lock) or process.poll() is not None:
                        break
                    time.sleep(0.01)
                process.send_signal(number)
                _, said = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 128 + number, name + said)
                self.assertIn(f"{name}: ended by {number.name}: ", said)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
