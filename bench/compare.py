# SPDX-License-Identifier: BSD-3-Clause
"""Compares the speed of two builds: runs their benchmarks alternately and compares the best times.

    compare.py BEFORE AFTER [PROGRAM...] [--filter REGEX] [--times N] [--tolerance PERCENT] [-- OPTIONS...]

BEFORE and AFTER are folders of benchmark programs, e.g. build/host/bench. PROGRAMs are names, e.g.
bench_waves; the default is all bench_* in both folders. Each round runs a program of each build once, in
alternating order. Benchmarks that are slower after N rounds run in N more rounds, in both builds. OPTIONS are
passed to the programs.

A benchmark is slower if its best time after exceeds the best time before by more than the tolerance. Exit
status: 0 all benchmarks are within the tolerance, 1 some are slower, absent or have errors, 2 unusable
arguments.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class Failure(Exception):
    """A program that cannot be run; the message has one line."""


def run(program, pattern, options):
    """Runs a program; returns seconds and errors by the name of the benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        words = [program, f"--benchmark_out={out}", "--benchmark_out_format=json", *options]
        if pattern:
            words.append(f"--benchmark_filter={pattern}")
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode != 0:
            raise Failure(f"{program} ended with status {done.returncode}: {done.stderr.strip()[-300:]}")
        if not os.path.exists(out) or os.path.getsize(out) == 0:
            return {}, {}  # no benchmark matches
        with open(out, encoding="utf-8") as file:
            listed = json.load(file)["benchmarks"]
    seconds, errors = {}, {}
    for entry in listed:
        if entry.get("error_occurred"):
            errors[entry["name"]] = entry.get("error_message", "error")
        elif entry.get("run_type", "iteration") == "iteration":
            time = entry["real_time"] * UNITS[entry["time_unit"]]
            seconds[entry["name"]] = min(time, seconds.get(entry["name"], time))
    return seconds, errors


class Comparison:
    """Best times of one program in both builds."""

    def __init__(self, folders, name, options):
        self.programs = [os.path.join(folder, name) for folder in folders]
        self.options = options
        self.best = [{}, {}]
        self.errors = [{}, {}]

    def rounds(self, count, pattern):
        for n in range(count):
            for build in ((0, 1), (1, 0))[n % 2]:
                seconds, errors = run(self.programs[build], pattern, self.options)
                self.errors[build].update(errors)
                for name, time in seconds.items():
                    self.best[build][name] = min(time, self.best[build].get(name, time))

    def slower(self, tolerance):
        before, after = self.best
        return [name for name in before if name in after and after[name] > (1.0 + tolerance) * before[name]]

    def names(self):
        return list(dict.fromkeys(name for group in (*self.best, *self.errors) for name in group))


def exactly(names):
    """Returns a filter of Google Benchmark for exactly these names."""
    return "^(" + "|".join(re.sub(r"([^A-Za-z0-9_/: <>,])", r"\\\1", name) for name in names) + ")$"


def show(seconds):
    for unit, factor in (("s ", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:8.3f} {unit}"
    return f"{seconds / 1e-9:8.1f} ns"


def table(comparison, tolerance):
    """Prints a row for each benchmark; returns how many are slower, absent or have errors."""
    failed = 0
    before, after = comparison.best
    for name in comparison.names():
        errors = [f"{when}: {found[name]}" for when, found in zip(("before", "after"),
                                                                  comparison.errors) if name in found]
        if errors:
            failed += 1
            print(f"{name}: error {'; '.join(errors)}")
        elif name not in before or name not in after:
            failed += name in before  # a new benchmark cannot be slower
            print(f"{show((before.get(name) or after.get(name)))}  only "
                  f"{'before' if name in before else 'after'}  {name}")
        else:
            percent = 100.0 * (after[name] / before[name] - 1.0)
            slower = percent > 100.0 * tolerance
            failed += slower
            print(f"{show(before[name])} {show(after[name])} {percent:+7.1f} %  "
                  f"{'slower  ' if slower else ''}{name}")
    return failed


def main():
    words, options = sys.argv[1:], []
    if "--" in words:
        words, options = words[:words.index("--")], words[words.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--filter", default="", help="regular expression of Google Benchmark")
    parser.add_argument("--times", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--tolerance", type=float, default=3.0, help="percent (default: 3)")
    arguments = parser.parse_intermixed_args(words)
    if arguments.times < 1:
        parser.error(f"--times is {arguments.times} (allowed: at least 1)")
    if arguments.tolerance < 0.0:
        parser.error(f"--tolerance is {arguments.tolerance:g} (allowed: at least 0)")
    folders = [arguments.before, arguments.after]

    def is_program(folder, name):
        path = os.path.join(folder, name)
        return os.path.isfile(path) and os.access(path, os.X_OK)

    for folder in folders:
        if not os.path.isdir(folder):
            parser.error(f"{folder} is no folder (needed: a folder of benchmarks, such as build/host/bench)")
        for name in arguments.programs:
            if not is_program(folder, name):
                parser.error(f"{folder} has no program {name}")
    programs = arguments.programs or sorted(
        name for name in os.listdir(folders[0]) if name.startswith("bench_")
        and all(is_program(folder, name) for folder in folders))
    if not programs:
        parser.error(f"{folders[0]} and {folders[1]} have no benchmarks in common")

    tolerance = 0.01 * arguments.tolerance
    failed = count = 0
    for name in programs:
        comparison = Comparison(folders, name, options)
        try:
            comparison.rounds(arguments.times, arguments.filter)
            again = comparison.slower(tolerance)
            if again:
                comparison.rounds(arguments.times, exactly(again))
        except (Failure, OSError) as error:
            print(f"{name}: {error}")
            failed += 1
            continue
        print(f"{name}: before, after, change")
        failed += table(comparison, tolerance)
        count += len(comparison.names())
        sys.stdout.flush()
    if count == 0 and failed == 0:
        parser.error(f"no benchmark matches --filter {arguments.filter}")
    print(f"{count} benchmarks, best of {arguments.times}: {failed} slower by more than "
          f"{arguments.tolerance:g} %, missing or with errors")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
