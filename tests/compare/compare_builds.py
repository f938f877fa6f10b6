# SPDX-License-Identifier: BSD-3-Clause
"""Compares the results and messages of the example programs of two builds.

    compare_builds.py BEFORE AFTER [--commands FILE] [--only WORD] [--mutations N] [--keep DIR]

BEFORE and AFTER are folders of programs, such as build/host/examples. FILE has the commands (default:
commands.txt in this folder). Each runs once with each build, in folders with the same input files:

- exit status and standard error must be equal;
- result files must be equal byte by byte, except pictures (the commands draw no pictures);
- summary.json and timeline.json must be equal without times, rates, versions, paths and machine.

--mutations N compares exit status and standard error of N random command lines of
tests/examples/test_mutations.py. Exit status: 0 all is equal, 1 differences, 2 unusable arguments.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import test_mutations  # noqa: E402

np = test_mutations.np

# Members of summary.json that differ between two runs of one program.
VOLATILE = {"seconds", "phases", "rates", "versions", "started", "ended", "machine", "device", "times",
            "points_per_second", "memory", "forecast", "fingerprint", "words", "wall", "run", "predicted",
            "measured", "stages", "reason"}
TIMEOUT = 300  # limit of a command, seconds


def parse_commands(path):
    """Returns pairs of a name and words, from lines "name: words"; # begins a comment."""
    commands = []
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, words = line.partition(": ")
        if not colon:
            raise ValueError(f"{path}, command {number}: '{line}' has no name (allowed: name: words)")
        commands.append((name, shlex.split(words)))
    return commands


def make_inputs(folder, programs):
    """Writes the input files of the commands."""
    test_mutations.make_files(folder, programs)
    rng = np.random.default_rng(7)
    x, z = np.meshgrid(np.arange(81), np.arange(61), indexing="ij")
    smooth = 1800.0 + 12.0 * z
    section = smooth + 250.0 * np.exp(-((x - 40) ** 2 + (z - 35) ** 2) / 60.0)
    arrays = {"section": section, "smooth": smooth, "section_rho": 1800.0 + 4.0 * z + 100.0 * (z > 30),
              "section_epsilon": 0.1 + 0.0005 * z, "section_delta": 0.05 + 0 * z,
              "section_theta": 0.3 * np.sin(0.05 * x),
              "volume": 2000.0 + 10.0 * np.arange(25) + rng.uniform(0, 40, (33, 29, 25))}
    for name, values in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), values.astype(np.float32))


def without_volatile(value):
    """Removes members that differ from run to run, and replaces absolute paths."""
    if isinstance(value, dict):
        return {key: without_volatile(member) for key, member in value.items()
                if key not in VOLATILE and not key.endswith("seconds")}
    if isinstance(value, list):
        members = [without_volatile(member) for member in value]
        numbered = bool(members) and all(isinstance(member, dict) and "number" in member
                                         for member in members)
        # ranks deliver shots in any order
        if numbered:
            return sorted(members, key=lambda member: member["number"])
        return sorted(members) if members and all(isinstance(member, str) for member in members) else members
    if isinstance(value, str):
        return os.path.basename(value) if value.startswith("/") else value
    return value


def without_seconds(text):
    """Returns the rows of a table without its column of seconds."""
    rows = [line.split(",") for line in text.splitlines()]
    keep = [k for k, name in enumerate(rows[0]) if "seconds" not in name]
    return [[row[k] for k in keep if k < len(row)] for row in rows]


def differences(before, after, path=""):
    """Lists the members in which two JSON values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for key in sorted(set(before) | set(after)):
            found += differences(before.get(key), after.get(key), f"{path}.{key}" if path else key)
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [text for k, pair in enumerate(zip(before, after))
                for text in differences(*pair, f"{path}[{k}]")]
    return [] if before == after else [f"{path}: {json.dumps(before)[:120]} -> {json.dumps(after)[:120]}"]


def read_tree(folder, known):
    """Returns the files below a folder without input files and journals, by their relative names."""
    files = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(root, name), folder)
            if path not in known and not path.startswith("j/"):
                files[path] = os.path.join(root, name)
    return files


def compare_files(name, before, after):
    """Returns the differences of two result files."""
    with open(before, "rb") as one, open(after, "rb") as other:
        a, b = one.read(), other.read()
    if a == b or name.endswith(("timeline.json", ".moho_lock")):
        return []
    if name.endswith(".json"):
        return [f"{name}: {text}" for text in differences(without_volatile(json.loads(a)),
                                                          without_volatile(json.loads(b)))]
    if name.endswith(".csv") and without_seconds(a.decode()) == without_seconds(b.decode()):
        return []
    if name.endswith(".npy"):
        x, y = np.load(before), np.load(after)
        if x.shape == y.shape and x.dtype.kind == "f":
            x, y = x.astype(np.float64), y.astype(np.float64)
            scale = np.nanmax(np.abs(x)) or 1.0
            return [f"{name}: differs by {np.nanmax(np.abs(x - y)) / scale:.2g} of its maximum"]
        return [f"{name}: {x.dtype} {x.shape} -> {y.dtype} {y.shape}"]
    return [f"{name}: {len(a)} bytes -> {len(b)} bytes" if len(a) != len(b) else f"{name}: bytes differ"]


class Comparison:
    """Both builds, and the folder in which commands run."""

    def __init__(self, before, after, folder):
        self.builds = {"before": before, "after": after}
        self.folder = folder
        self.source = os.path.join(folder, "inputs")
        os.makedirs(self.source)
        names = sorted({name for name, _ in test_mutations.good_commands()})
        make_inputs(self.source, {name: os.path.join(before, name) for name in names})
        self.known = set(os.listdir(self.source))
        with_files = ((name, os.path.join(self.source, name)) for name in self.known)
        self.files = {name: open(path, "rb").read() for name, path in with_files if os.path.isfile(path)}

    def run_build(self, build, name, words):
        """Runs one command with one build. Returns exit status, standard error and result files."""
        folder = os.path.join(self.folder, build, name)
        shutil.copytree(self.source, folder)
        temporary = os.path.join(self.folder, "tmp", build + "_" + name)  # processes of MPI share files there
        os.makedirs(temporary)
        status, said = 0, ""
        for part in " ".join(shlex.quote(word) for word in words).split(" '&&' "):
            words_of_part = shlex.split(part)
            program = next(k for k, word in enumerate(words_of_part)
                           if os.access(os.path.join(self.builds[build], word), os.X_OK))
            words_of_part[program] = os.path.join(self.builds[build], words_of_part[program])
            environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
                           "GOMP_SPINCOUNT": "1000", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                           "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "TMPDIR": temporary}
            done = subprocess.run(words_of_part, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT, text=True, errors="replace")
            status, said = done.returncode, said + done.stderr
            if status:
                break
        return status, said.replace(self.builds[build] + "/", ""), read_tree(folder, self.known)

    def compare(self, name, words):
        """Returns the differences between the builds in a command."""
        one, other = (self.run_build(build, name, words) for build in ("before", "after"))
        found = []
        if one[0] != other[0]:
            found.append(f"exit status {one[0]} -> {other[0]}: {(other[1] or one[1]).strip()[-400:]}")
        elif one[1] != other[1]:
            found.append(f"message {one[1].strip()!r}\n        -> {other[1].strip()!r}")
        if one[0] != 0 or other[0] != 0:
            return found  # no results to compare
        for path in sorted(set(one[2]) | set(other[2])):
            if path not in one[2] or path not in other[2]:
                found.append(f"{path}: only {'before' if path in one[2] else 'after'}")
            else:
                found += compare_files(path, one[2][path], other[2][path])
        return found

    def compare_mutation(self, number):
        """Compares exit status and message of a random command line; returns its words and differences."""
        said = []
        for build, folder in self.builds.items():
            names = sorted({name for name, _ in test_mutations.good_commands()})
            run = test_mutations.Run({name: os.path.join(folder, name) for name in names}, self.files, 1,
                                     number)
            place = os.path.join(self.folder, f"{build}_{number}")
            run.go(self.source, place)
            said.append((run.status, re.sub(r"process \d+", "process N", run.said)))
            shutil.rmtree(place, ignore_errors=True)
        # a run that reached the time limit in one build only proves nothing about messages
        same = said[0] == said[1] or 143 in (said[0][0], said[1][0])
        text = "\n        -> ".join(f"{status} {message.strip()[:300]!r}" for status, message in said)
        return f"{run.name} {shlex.join(run.words)[:400]}", [] if same else [text]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--commands", default=os.path.join(here, "commands.txt"))
    parser.add_argument("--only", default="", help="commands whose name contains this word")
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--keep", help="keep the results in this folder")
    arguments = parser.parse_args()
    before, after = os.path.abspath(arguments.before), os.path.abspath(arguments.after)
    for folder in (before, after):
        if not os.access(os.path.join(folder, "model_waves"), os.X_OK):
            parser.error(f"{folder} holds no programs (needed: a folder such as build/host/examples)")
    commands = [(name, words) for name, words in parse_commands(arguments.commands) if arguments.only in name]
    folder = os.path.abspath(arguments.keep) if arguments.keep else tempfile.mkdtemp(prefix="moho_compare_")
    count = 0
    try:
        comparison = Comparison(before, after, folder)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            rows = pool.map(lambda command: (command[0], comparison.compare(*command)), commands)
            mutations = pool.map(comparison.compare_mutation, range(arguments.mutations))
            for results in (rows, mutations):
                for name, found in results:
                    count += bool(found)
                    for text in found:
                        print(f"{name}: {text}", flush=True)
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(commands)} commands and {arguments.mutations} random command lines, {count} with "
          "differences")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
