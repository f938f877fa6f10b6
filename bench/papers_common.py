# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of papers.py: running programs, tables, pictures, and the report of a paper."""

import csv
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import time

from report_common import table, write_text


class PaperError(Exception):
    """An error that the user can repair; the message has one line."""


class Skipped(Exception):
    """An experiment that this machine or space cannot make; the message has the reason."""


class Run:
    """The experiments of one paper: settings, commands that were run, and results.

    space     "cuda", "openmp" or "serial"
    full      True: sizes of the paper; False: sizes that take minutes on a host
    build     build folder with bench/ and examples/
    out       folder for all files
    reuse     True: results of an earlier run in `out` are used where they exist
    models    vertices per side of the ray models, or None for all of the chosen sizes
    """

    def __init__(self, paper, space, full, build, out, reuse, models=None):
        self.paper, self.space, self.full, self.reuse = paper, space, full, reuse
        self.build, self.out = pathlib.Path(build), pathlib.Path(out)
        self.models = models
        self.commands, self.sections, self.data, self.machine = [], [], {}, {}
        self.made = set()  # files of this run
        (self.out / "raw").mkdir(parents=True, exist_ok=True)
        earlier = self.out / "paper.json"
        if reuse and earlier.is_file():
            self.commands = json.loads(earlier.read_text(encoding="utf-8"))["commands"]

    def pick(self, of_paper, small):
        """Returns the value for the chosen sizes."""
        return of_paper if self.full else small

    def executable(self, folder, name):
        path = self.build / folder / name
        if not path.is_file():
            raise PaperError(f"{path} does not exist (build the target {name}, or choose --build)")
        return path.resolve()

    def without_folders(self, word):
        """Returns a word of a command with paths relative to the source folder or to the output folder."""
        for folder, name in ((self.out.resolve(), ""), (self.build.resolve(), f"build/{self.build.name}/")):
            word = word.replace(f"{folder}/", name)
        return word

    def call(self, command, environment=None, cwd=None):
        """Runs a command and records it. Raises PaperError with its last line if it fails."""
        line = " ".join([*(f"{key}={value}" for key, value in (environment or {}).items()),
                         shlex.join(self.without_folders(str(word)) for word in command)])
        print(f"+ {line}", flush=True)
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in command], cwd=cwd or self.out, text=True,
                              capture_output=True, env={**os.environ, **(environment or {})}, check=False)
        seconds = time.monotonic() - begin
        self.commands = [entry for entry in self.commands if entry["command"] != line]
        self.commands.append({"command": line, "seconds": round(seconds, 1)})
        if done.returncode != 0:
            said = done.stderr if done.stderr.strip() else done.stdout
            last = said.strip().splitlines()[-1:]
            raise PaperError(f"{command[0]} ended with status {done.returncode}: {''.join(last)}")
        return seconds

    def call_ranks(self, ranks, command):
        """Runs a command with mpirun."""
        # Open MPI counts cores, not their threads, and refuses to run as root, the user of containers
        settings = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
        if os.geteuid() == 0:
            settings.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        return self.call(["mpirun", "-n", str(ranks), *command], settings)

    def bench(self, program, pattern, label, environment=None, impossible=None):
        """Runs the cases of a benchmark whose names match, and returns them as a list of objects.

        With --reuse, cases in raw/LABEL_*.json are added to those in raw/LABEL.json. Cases with an error that
        matches the pattern `impossible` are left out; other errors raise PaperError.
        """
        path = (self.out / "raw" / f"{label}.json").resolve()
        if not ((self.reuse or path in self.made) and path.is_file()):
            self.call([self.executable("bench", program), f"--benchmark_filter={pattern}",
                       f"--benchmark_out={path}.part", "--benchmark_out_format=json"], environment)
            if pathlib.Path(f"{path}.part").stat().st_size == 0:
                raise PaperError(f"{program}: no case matches {pattern}")
            os.replace(f"{path}.part", path)
            self.made.add(path)
        data = json.loads(path.read_text(encoding="utf-8"))
        context = data["context"]
        for key in ("device_cuda", "device_openmp", "compiler", "kokkos_version", "moho_commit"):
            if key in context:
                self.machine[key] = context[key]
        found = data["benchmarks"]
        for more in sorted(path.parent.glob(f"{label}_*.json")) if self.reuse else []:
            found += json.loads(more.read_text(encoding="utf-8"))["benchmarks"]
        wrong = [entry for entry in found if entry.get("error_occurred")]
        failed = [entry["name"] for entry in wrong
                  if not (impossible and re.search(impossible, entry["error_message"]))]
        if failed:
            raise PaperError(f"{program}: {len(failed)} cases failed their check, among them {failed[0]}")
        return [entry for entry in found if entry not in wrong]

    def program(self, name, arguments, folder, ranks=1):
        """Runs an example program into a folder and returns its summary with the wall time `elapsed`."""
        path = self.out / folder
        summary = path / "summary.json"
        if not (self.reuse and (path / "elapsed.json").is_file()):
            command = [self.executable("examples", name), *arguments, "--space", self.space, "--out", folder]
            elapsed = self.call_ranks(ranks, command) if ranks > 1 else self.call(command)
            write_text(str(path / "elapsed.json"), json.dumps(elapsed))
        result = json.loads(summary.read_text(encoding="utf-8"))
        result["elapsed"] = json.loads((path / "elapsed.json").read_text(encoding="utf-8"))
        return result

    def add(self, name, title, text, header=None, rows=None, pictures=()):
        """Adds a section to the report: text, a table and pictures; the rows are stored as data."""
        lines = [f"## {title}\n", text.strip() + "\n"]
        if rows:
            lines.append(table(header, [[str(cell) for cell in row] for row in rows]))
            self.data[name] = {"title": title, "header": header, "rows": rows}
            with open(self.out / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([header, *rows])
        lines += [f"![{title}]({picture})\n" for picture in pictures]
        self.sections.append("\n".join(lines))

    def save(self, figure, name):
        """Writes a figure of matplotlib as a picture in the output folder; returns its name."""
        import matplotlib.pyplot as plt

        temporary = self.out / f"{name}.part"
        figure.savefig(temporary, dpi=120, format="png", bbox_inches="tight")
        plt.close(figure)
        os.replace(temporary, self.out / name)
        print(f"wrote {self.out / name}")
        return name

    def write(self, title, failures, skipped):
        """Writes report.md and paper.json with the experiments made so far.

        Failed and skipped experiments are pairs of a name and the reason.
        """
        sizes = "sizes of the paper" if self.full else "sizes for a host"
        lines = [f"# {title}\n", f"{sizes}, space {self.space}.\n"]
        lines += [f"- {key}: {value}" for key, value in self.machine.items()] + [""]
        lines += self.sections
        for heading, listed in (("Failed", failures), ("Skipped", skipped)):
            if listed:
                lines += [f"## {heading}\n"] + [f"- {name}: {text}" for name, text in listed] + [""]
        lines += ["## Commands\n"] + [f"    {entry['command']}" for entry in self.commands]
        write_text(str(self.out / "report.md"), "\n".join(lines) + "\n")
        write_text(str(self.out / "paper.json"), json.dumps({
            "paper": self.paper, "space": self.space, "sizes": "paper" if self.full else "small",
            "date": datetime.date.today().isoformat(), "machine": self.machine, "tables": self.data,
            "commands": self.commands, "failed": dict(failures), "skipped": dict(skipped)}, indent=1) + "\n")


def plots():
    """Returns matplotlib.pyplot for files, or raises PaperError."""
    try:
        import matplotlib
    except ImportError as error:
        raise PaperError(f"there is no {error.name} (install python3-matplotlib)") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def milliseconds(entry):
    """Returns the time of a case of a benchmark in milliseconds."""
    return entry["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[entry["time_unit"]]


def devices_here():
    """Returns the number of NVIDIA devices."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


def digits(value, count=3):
    """Returns a number with significant digits as text without an exponent."""
    if value is None:
        return ""
    text = f"{value:.{count}g}"
    return f"{float(text):.0f}" if "e" in text and abs(value) >= 1 else text
