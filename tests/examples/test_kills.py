# SPDX-License-Identifier: BSD-3-Clause
"""Runs ended by signals at random moments and resumed leave the same files, byte by byte, as an undisturbed
run.

A round starts a program and ends it by a signal at a random moment, up to three times. Then it runs to its
end, with --resume where available. Files, folders and summary.json (except times and rates) have to equal
those of an undisturbed run. After a signal other than KILL, no temporary file and no lock may remain. Random
numbers depend on the seed, the series and the round:

    MOHO_KILL_SECONDS=3600        duration of all rounds (default: 40; at least one round per series)
    MOHO_KILL_SEED=7              seed (default: 1)
    MOHO_KILL_ONLY=invert_waves   only this series
"""

import concurrent.futures
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import support

np = support.np

PATIENCE = 120  # seconds; a longer run counts as hanging
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
# Members of summary.json that differ between runs; `asked` contains --resume, and plans of streams depend on
# measured rates.
OF_A_RUN = re.compile(r"seconds|rate|date|points_per|allowed_bytes|^/run/|^/stages|^/machine|^/sites"
                      r"|^/asked/resume|^/earlier|^/picture|/measured/|/predicted/|/page_locked"
                      r"|^/snapshots/reason|^/asked/out|^/(lags_)?stream/|^/parts/.*/crc32c|^/memory"
                      r"|bytes_on_disk|more.work.[23]$")
OF_A_VOLUME = re.compile(r"more/work\b")  # a shot that goes on from a volume counts its last run
SITES = "[here]\nkind = local\nslots = 2\n"
WAVES = ["--spacing", "10", "--wavelet", "ricker:15", "--order", "8", "--width", "8"]
STREAM = ["--block", "8", "--updates", "4", "--devices", "2"]
SHOTS = ["--source", "100,20:500,20:5", "--receivers", "0,20:600,20:31"]


class Series:
    """A program, its arguments, the compared folder, and whether it has --resume."""

    def __init__(self, name, program, arguments, resumes, out="out"):
        self.name, self.program, self.arguments = name, program, arguments
        self.resumes, self.out = resumes, out

    def of_a_run(self, path):
        """Returns whether a member of summary.json may differ between runs."""
        return (OF_A_RUN.search(path)
                or ("--host-volume" in self.arguments and OF_A_VOLUME.search(path)))

    def words(self, again):
        words = list(self.arguments)
        if again and self.resumes:
            at = words.index("--") if "--" in words else len(words)
            words[at:at] = ["--resume"]
        return words


def all_series(programs):
    def plain(name, program, *arguments, resumes=True):
        return Series(name, program, [*arguments, "--no-plot", "--out", "out"], resumes)

    modelled = ["--true-vp", "true.npy", *SHOTS, "--time", "0.3"]
    return [series for series in (
        plain("trace_rays", "trace_rays", "--builtin", "salt", "--shape", "x=41,y=36,z=31", "--radius", "3",
              "--matrix", "nodes", resumes=False),
        plain("first_arrivals", "first_arrivals", "--builtin", "salt", "--shape", "x=61,y=51,z=41",
              "--receivers", "x=0,y=0,z=0:x=300,y=0,z=0:9", resumes=False),
        plain("model_gravity", "model_gravity", "--mesh", "16,16,8,0,3000,0,3000,10,510", "--densities",
              "rho.npy", "--grid", "31,31,100,100,0,0", "--elevation", "10", "--components", "all", "--csv",
              resumes=False),
        plain("model_waves", "model_waves", "--vp", "true.npy", *WAVES, *SHOTS, "--time", "0.5",
              "--snapshot-every", "0.1"),
        plain("model_waves --sites", "model_waves", "--vp", "true.npy", *WAVES, *SHOTS, "--time", "0.5",
              "--snapshot-every", "0.1", "--sites", "sites.cfg"),
        plain("stream_waves", "stream_waves", "--vp", "true.npy", *WAVES, *SHOTS, "--time", "0.5", "--block",
              "8", "--updates", "4"),
        plain("stream_waves --host-volume", "stream_waves", "--vp", "true.npy", *WAVES, "--source", "300,20",
              "--receivers", "0,20:600,20:31", "--time", "0.5", "--block", "8", "--updates", "4",
              "--host-volume", "volume"),
        plain("migrate_shots", "migrate_shots", "--vp", "start.npy", *WAVES, "--shots", "modelled", *modelled,
              "--snapshots", "disk", "--disk", "1G", "--error", "lossless", "--columns", "200,300",
              "--angles"),
        plain("migrate_shots --snapshot-dir", "migrate_shots", "--vp", "start.npy", *WAVES, "--shots",
              "modelled", *modelled, "--snapshots", "threads", "--snapshot-dir", "."),
        plain("migrate_shots --batch", "migrate_shots", "--vp", "start.npy", *WAVES, "--shots", "modelled",
              *modelled, "--snapshots", "device", "--batch", "2", "--at-once", "4"),
        plain("migrate_shots --sites", "migrate_shots", "--vp", "start.npy", *WAVES, "--shots", "modelled",
              *modelled, "--snapshots", "memory", "--error", "lossless", "--sites", "sites.cfg"),
        plain("migrate_shots streamed", "migrate_shots", "--vp", "start.npy", *WAVES, "--shots", "modelled",
              *modelled, *STREAM, "--columns", "200,300", "--offset", "40", "--sites", "sites.cfg"),
        plain("invert_waves streamed", "invert_waves", "--vp", "start.npy", *WAVES, "--data", "modelled",
              *modelled, *STREAM, "--source-field", "random", "--iterations", "1", "--lags", "2",
              "--lags-every", "2", "--sites", "sites.cfg"),
        plain("invert_waves", "invert_waves", "--vp", "start.npy", *WAVES, "--data", "modelled", *modelled,
              "--iterations", "3", "--bands", "10,20", "--mask", "depth:40"),
        Series("distribute_shots", "distribute_shots",
               ["--sites", "sites.cfg", "--journal", "run/journal.txt", "--shots", "1-5", "--input",
                "vp=true.npy", "--collect", "out", "--",
                "{programs}/model_waves", "--vp", "{input:vp}", *WAVES, *SHOTS, "--time", "0.5",
                "--snapshot-every", "0", "--only-shot", "{shot}", "--out", "{out}", "--no-plot"], True),
    ) if series.program in programs]


def make_files(folder):
    depth = np.arange(41.0)
    start = np.repeat((1800.0 + 10.0 * depth)[None, :], 61, 0).astype(np.float32)
    true = start.copy()
    true[20:40, 20:] += 150.0
    np.save(os.path.join(folder, "start.npy"), start)
    np.save(os.path.join(folder, "true.npy"), true)
    np.save(os.path.join(folder, "rho.npy"), np.random.default_rng(3).uniform(-200, 200, (8, 16, 16)))
    with open(os.path.join(folder, "sites.cfg"), "w", encoding="utf-8") as file:
        file.write(SITES)


def tree(folder):
    """Returns the contents of files by path below a folder; paths of folders end with a slash."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(root, name), folder) + "/"] = None
        for name in names:
            path = os.path.join(root, name)
            try:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
            except FileNotFoundError:  # removed by a job that outlives its run
                continue
    return found


def leaves(value, path=""):
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from leaves(one, f"{path}/{key}")
    elif isinstance(value, list) and value:
        for k, one in enumerate(value):
            yield from leaves(one, f"{path}/{k}")
    else:
        yield path, value


def described(summary, of_a_run):
    """Returns the members of a summary that describe results. `of_a_run(path)` is true for others."""
    values = json.loads(summary)
    if "files" in values:
        values["files"] = sorted(name for name in values["files"] if name != "timeline.json")
    for key in ("parts", "shots", "migrated"):
        if isinstance(values.get(key),
                      list) and all(isinstance(one, dict) and "number" in one for one in values[key]):
            values[key] = sorted(values[key], key=lambda one: one["number"])
            for one in values[key]:  # a table with seconds
                files = one.get("files", [])
                one["files"] = [file for file in files
                                if not isinstance(file, dict) or file.get("name") != "history.csv"]
    return {path: value for path, value in leaves(values) if not of_a_run(path)}


def without_seconds(table):
    """Returns the rows of a table without columns of seconds."""
    rows = [line.split(",") for line in table.decode().splitlines()]
    keep = [k for k, name in enumerate(rows[0]) if "second" not in name]
    return [[row[k] for k in keep] for row in rows]


def difference(expected, found, of_a_run):
    """Returns a description of the first difference between two trees; empty if none."""
    # a run without remaining work writes no timeline
    missing, more = (sorted(name for name in set(one) - set(other)
                            if os.path.basename(name) != "timeline.json")
                     for one, other in ((expected, found), (found, expected)))
    if missing or more:
        return f"{missing} are missing, {more} are left over"
    for name, content in expected.items():
        end = os.path.basename(name)
        if end == "timeline.json" or content == found.get(name):
            continue
        if end == "history.csv" and without_seconds(content) == without_seconds(found[name]):
            continue
        if end != "summary.json":
            return f"{name} differs"
        one, other = described(content, of_a_run), described(found[name], of_a_run)
        # a shot computed at a site names the files of its job
        skipped = ("/asked", "/fingerprint", "/model/name") if "/" in name else ("nothing",)
        paths = [path for path in sorted(set(one) | set(other))
                 if one.get(path, "absent") != other.get(path, "absent") and not path.startswith(skipped)]
        if paths:
            path = paths[0]
            return (f"{name}: {path} is {other.get(path, 'absent')}, not {one.get(path, 'absent')} "
                    f"({len(paths)} members differ)")
    return ""


class Kills(unittest.TestCase):
    def setUp(self):
        folder = os.path.dirname(os.path.realpath(support.Case.program))
        self.programs = {name: os.path.join(folder, name) for name in os.listdir(folder)
                         if os.access(os.path.join(folder, name), os.X_OK)
                         and os.path.isfile(os.path.join(folder, name))}
        self.folder = tempfile.mkdtemp(prefix="moho_kills_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.source = os.path.join(self.folder, "files")
        os.mkdir(self.source)
        make_files(self.source)
        only = os.environ.get("MOHO_KILL_ONLY")
        self.series = [series for series in all_series(self.programs) if only in (None, series.name)]
        self.assertTrue(self.series)
        self.seed = int(os.environ.get("MOHO_KILL_SEED", "1"))
        self.counts, self.lock = {}, threading.Lock()

    def make(self, name):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        for name in os.listdir(self.source):
            os.link(os.path.join(self.source, name), os.path.join(folder, name))
        return folder

    def start(self, series, folder, again):
        # without a journal nothing can be resumed
        again = again and (series.program != "distribute_shots"
                           or os.path.exists(os.path.join(folder, "run/journal.txt")))
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GOMP_SPINCOUNT": "1000",
                       "ASAN_OPTIONS": "detect_leaks=0"}
        return subprocess.Popen([self.programs[series.program], *series.words(again)], cwd=folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=environment, text=True)

    def finish(self, series, folder, again):
        """Runs to the end. Returns a description of an error, or an empty text."""
        process = self.start(series, folder, again)
        try:
            text, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "the last run hangs"
        if process.returncode == 0:
            return ""
        return f"the last run ends with {process.returncode}: {(said or text)[-700:].strip()}"

    def reference(self, series):
        """Returns the files of an undisturbed run, and its duration in seconds."""
        folder = self.make("reference " + series.name)
        begun = time.monotonic()
        wrong = self.finish(series, folder, False)
        self.assertEqual(wrong, "", series.name)
        return self.left(series, folder), time.monotonic() - begun

    def left(self, series, folder):
        found = tree(os.path.join(folder, series.out))
        # next to the results only the journal of distribute_shots is allowed
        found.update({"../" + name: None for name in os.listdir(folder)
                      if name not in os.listdir(self.source)})
        return found

    def written(self, series, folder):
        """Returns the time at which summary.json was written last, None without one."""
        path = os.path.join(folder, series.out, "summary.json")
        return os.stat(path).st_mtime_ns if os.path.exists(path) else None

    def round(self, series, number, seconds):
        """Runs one round. Returns a description of an error, or an empty text."""
        rng = random.Random(f"{self.seed} {series.name} {number}")
        folder = self.make(f"{series.name} {number}")
        done = []
        for k in range(rng.choice([1, 1, 2, 3])):
            number_of_signal, after = rng.choice(SIGNALS), rng.uniform(0.02, 1.05) * seconds
            before, present = self.written(series, folder), set(tree(os.path.join(folder, series.out)))
            process = self.start(series, folder, k > 0)
            time.sleep(after)
            process.send_signal(number_of_signal)
            done.append(f"{number_of_signal.name} after {after:.3f} s")
            try:
                text, said = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return f"{done}: hangs"
            with self.lock:
                ended = self.counts.setdefault(series.name, [0, 0])
                ended[0] += process.returncode != 0
            if process.returncode == 0:
                break
            by = -number_of_signal if number_of_signal == signal.SIGKILL else 128 + number_of_signal
            of_system = -number_of_signal  # before the program handles signals
            if process.returncode not in (by, of_system, 130):
                return f"{done}: ends with {process.returncode}: {(said or text)[-700:].strip()}"
            # only a run that has begun removes what a killed one has left
            if self.written(series, folder) != before:
                present = set()
            if process.returncode == by != of_system and series.program != "distribute_shots":
                # jobs at sites continue without the run
                left = [name for name in tree(os.path.join(folder, series.out)) if name not in present
                        and ((".part" in name and not name.startswith(".moho_sites"))
                             or name.split("/")[0] in (".moho_lock", ".moho_snapshots"))]
                if left:
                    return f"{done}: leaves {left}"
        # after a complete run one more has to change nothing
        wrong = self.finish(series, folder, True) or difference(self.expected[series.name][0],
                                                                self.left(series, folder),
                                                                series.of_a_run)
        with self.lock:
            self.counts.setdefault(series.name, [0, 0])[1] += 1
        if not wrong:
            shutil.rmtree(folder, ignore_errors=True)
        return f"{done}: {wrong}" if wrong else ""

    def test_first_summary_of_a_run_that_is_done(self):
        # --resume computes nothing more
        series = next((one for one in self.series if one.name == "invert_waves"), None)
        if series is None:
            self.skipTest("MOHO_KILL_ONLY leaves out invert_waves")
        expected, _ = self.reference(series)
        folder = self.make("first summary")
        process = self.start(series, folder, False)
        summary, ended = b"", False
        while b'"state": "done"' not in summary:
            self.assertFalse(ended, summary)
            ended = process.poll() is not None
            try:
                with open(os.path.join(folder, "out", "summary.json"), "rb") as file:
                    summary = file.read()
            except FileNotFoundError:
                continue
        process.kill()
        process.communicate()
        for found in (summary, self.left(series, folder)["summary.json"]):
            first = described(found, series.of_a_run)
            self.assertEqual({path: value for path, value in first.items() if "/to_write/" not in path},
                             described(expected["summary.json"], series.of_a_run))
        self.assertEqual(self.finish(series, folder, True), "")
        self.assertEqual(difference(expected, self.left(series, folder), series.of_a_run), "")

    def test_kills(self):
        begun = time.monotonic()
        seconds = float(os.environ.get("MOHO_KILL_SECONDS", "40"))
        self.expected = {series.name: self.reference(series) for series in self.series}
        for series in self.series:
            # two undisturbed runs have to agree
            again = self.make("again " + series.name)
            self.assertEqual(self.finish(series, again, False), "", series.name)
            self.assertEqual(difference(self.expected[series.name][0], self.left(series, again),
                                        series.of_a_run), "", series.name)
        wrong = []

        def one(job):
            series, number = job
            if number > 0 and time.monotonic() - begun > seconds:
                return
            text = self.round(series, number, self.expected[series.name][1])
            if text:
                wrong.append(f"{series.name}, round {number} of seed {self.seed}, {text}")

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number in itertools.count():
                if number > 0 and time.monotonic() - begun > seconds:
                    break
                list(pool.map(one, [(series, number) for series in self.series]))
        print(f"{time.monotonic() - begun:.0f} s; runs ended by a signal, rounds: {self.counts}")
        self.assertGreater(sum(ended for ended, _ in self.counts.values()), 0)
        self.assertFalse(wrong, f"{len(wrong)} rounds:\n" + "\n".join(sorted(wrong)[:20]))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
