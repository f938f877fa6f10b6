# SPDX-License-Identifier: BSD-3-Clause
"""Options and files of all programs, changed at random: no crash, no hang, and one clear line a refusal.

A run is a valid command line of a program with changes: other options or bytes of a file, or links, pipes
and files of others in the folder of results. It passes if the program ends with 0 and complete results.
It also passes with 1 or 2 and one line on standard error that names the program. A long run is terminated
and must end with a message. No file of others may change. After most changes the run still computes: options
of rare code paths have allowed values, and numbers change slightly. The seed and the number N determine
run N:

    MOHO_MUTATIONS=1000         runs (default)
    MOHO_MUTATION_SECONDS=3600  duration instead of a number of runs
    MOHO_MUTATION_SEED=7        another seed (default: 1)
    MOHO_MUTATION_ONLY=123      a single run, which prints its command and leaves its folder
"""

import concurrent.futures
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import support

np = support.np

LIMIT = 2.0  # seconds after which a run is terminated
PATIENCE = 60  # seconds in which it must end

WORDS = ["", " ", "0", "-1", "1", "3", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "1e999",
         "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999", "0x10",
         "1,2", "1,2,3", "1,2,3,4", ",", ";", ":",
         "x", "=", "x=1,z=2", "x=1,y=2,z=3", "x=,z=", "0,0:1,1:3", "0,0:1,1:0", "0,0:1,1:2x2",
         "0,0:0,0:99999", "all", "none", "auto", "float", "double", "serial", "openmp", "cuda", "true",
         "ricker:15", "ricker:-1", "ricker:1e9", "file:wavelet.csv",
         "cpml:1", "sponge:1000", "free", "top=free", "../x", "/proc", "/dev/null", "/dev/zero", ".",
         "vp.npy", "vp.rsf", "vp.sgy", "receivers.csv", "shots.csv", "prisms.csv", "none.npy", "a\nb", "\t",
         "\u00e4\u4e16", "--out", "-", "%s%n", "a" * 5000, "1-9223372036854775807",
         "9223372036854775806-9223372036854775807:5", "1-1000000000000",
         "0,0:1,1:9223372036854775807", "0,0:1,1:1000000000000", "1,1000000000000"]
NUMBERS = [b"", b"0", b"-1", b"nan", b"inf", b"1e308", b"-1e-320", b"99999999999999999999", b"x", b"1,1",
           b"#", b'"', b"\xff\xfe"]


# Options of paths that the valid commands do not use, with allowed values (some exclude each other).
WAVE_OPTIONS = {"--order": ["8", "10", "12", "16"], "--precision": ["float", "double"],
                "--space": ["serial", "openmp"], "--boundary": ["cpml:3", "sponge:6", "cpml:5,top=free"],
                "--width": ["3", "8"], "--dt": ["0.0005", "0.001"],
                "--memory": ["100M", "1G"], "--resume": [None], "--only-shot": ["1"],
                "--time": ["0.05", "0.1", "0.2"]}
AT_ONCE = {"--at-once": ["1", "2", "3"]}
EXPAND = {"--expand-threshold": ["0.01"], "--expand-interval": ["4"], "--expand-coarsening": ["1", "2"]}
INTERVAL = {"--interval": ["0.001", "0.002", "0.004"]}
DEEP = {
    "trace_rays": {"--star": ["full", "coprime"], "--radius": ["1", "3"], "--precision": ["float", "double"],
                   "--space": ["serial", "openmp"], "--method": ["dijkstra", "relaxation"],
                   "--storage": ["stored", "on_the_fly", "fragments"], "--devices": ["1"], "--slabs": ["1"],
                   "--matrix": ["nodes", "cells"]},
    "first_arrivals": {"--method": ["fast_marching", "sweeping"], "--order": ["1", "2"],
                       "--precision": ["float", "double"], "--space": ["serial", "openmp"], "--each": [None],
                       "--delta": ["0.01"]},
    "model_waves": {**WAVE_OPTIONS, **AT_ONCE, **INTERVAL,
                    "--expand": ["none", "layers", "eikonal", "amplitude"], **EXPAND,
                    "--snapshot-every": ["0", "0.01", "0.03"],
                    "--source": ["40,30:160,30:3"], "--rho": ["2000"], "--epsilon": ["0.1"],
                    "--delta": ["0.05"]},
    "stream_waves": {**WAVE_OPTIONS, **INTERVAL, "--devices": ["1", "2", "3"], "--block": ["3", "6"],
                     "--updates": ["1", "3"], "--expand": ["none", "layers", "eikonal"], **EXPAND,
                     "--host-volume": ["memory", "volume"], "--source": ["40,30:160,30:3"],
                     "--device-memory": ["1M", "8M"]},
    "migrate_shots": {**WAVE_OPTIONS, **AT_ONCE, "--batch": ["1", "2"],
                      "--condition": ["zero-lag", "source,receiver", "inverse-scattering,laplacian"],
                      "--expand": ["none", "layers", "eikonal"], **EXPAND,
                      "--snapshots": ["device", "compressed", "threads", "boundary", "replay"],
                      "--disk": ["100M"], "--error": ["lossless", "snr:60", "bits:12", "max:1e-4"],
                      "--mute": ["none", "arrivals", "velocity:1900"],
                      "--aperture": ["60", "150"], "--columns": ["50,100"], "--snapshot-steps": ["1", "5"],
                      "--keep-shots": [None]},
    "invert_waves": {**WAVE_OPTIONS, **AT_ONCE, "--iterations": ["1", "2"], "--bands": ["15", "8,16"],
                     "--misfit": ["huber", "correlation", "envelope"],
                     "--source-field": ["stored", "replay", "shell"], "--gradient-steps": ["1", "4"],
                     "--mask": ["depth:30"], "--bounds": ["vp:1000:4000"], "--lags": ["1", "2"]},
    "model_gravity": {"--components": ["all", "gz", "potential,gzz"], "--csv": [None],
                      "--precision": ["float", "double"], "--space": ["serial", "openmp"],
                      "--strategy": ["by_stations", "by_prisms"], "--elevation": ["5", "100"]},
}
# A result of each program, for links under its name.
RESULTS = {"trace_rays": "traveltime.npy", "first_arrivals": "times.npy", "model_waves": "vp.npy",
           "stream_waves": "wavefield.npy", "migrate_shots": "image.npy", "invert_waves": "vp.npy",
           "model_gravity": "gz.npy"}
OF_OTHERS = b"foreign"


def good_commands():
    """Names of programs and command lines that succeed within a fraction of a second."""
    waves = ["--spacing", "10", "--time", "0.05", "--wavelet", "ricker:15", "--order", "8", "--width", "4"]
    line = ["--source", "100,20", "--receivers", "0,20:200,20:5"]
    modelled = ["--true-vp", "2100", *line]
    return [
        ("trace_rays", ["--model", "vp.npy", "--spacing", "10", "--source", "100,20", "--receivers",
                        "receivers.csv", "--radius", "2"]),
        ("trace_rays", ["--vp", "vp.rsf", "--source", "100,20;30,40", "--receivers", "0,100:200,100:5",
                        "--matrix", "nodes"]),
        ("trace_rays", ["--config", "rays.cfg"]),
        ("trace_rays", ["--vp", "vp.sgy", "--source", "100,20", "--precision", "double", "--memory", "100M"]),
        ("trace_rays", ["--gradient", "1500,1", "--shape", "9,8,7", "--coordinates", "xyz", "--source",
                        "10,20,30", "--star", "full"]),
        ("first_arrivals", ["--vp", "vp.npy", "--spacing", "10", "--origin", "5,7", "--receivers",
                            "receivers.csv", "--order", "1"]),
        ("first_arrivals", ["--vp", "2000", "--epsilon", "vp_e.npy", "--delta", "0.05", "--spacing", "10,9",
                            "--each", "--source", "100,20", "--source", "30,50"]),
        ("first_arrivals", ["--builtin", "salt", "--shape", "x=9,y=8,z=7", "--source", "x=10,z=20,y=30",
                            "--method", "sweeping"]),
        ("model_waves", ["--vp", "vp.npy", *waves, *line, "--boundary", "cpml:5,top=free", "--snapshot-every",
                         "0.02"]),
        ("model_waves", ["--vp", "vp.rsf", "--epsilon", "0.1", "--delta", "0.05", "--theta", "20deg",
                         *waves[2:], "--shots", "shots.csv"]),
        ("model_waves", ["--config", "waves.cfg", "--expand", "layers", "--interval", "0.004",
                         "--velocity-unit", "m/s"]),
        ("model_waves", ["--vp", "2000", "--shape", "21,15", *waves[:4], "--wavelet", "file:wavelet.csv",
                         "--moving", "--receivers", "-50,20:50,20:5", "--rho", "2100"]),
        ("stream_waves", ["--vp", "vp.npy", *waves, *line, "--block", "4", "--updates", "2", "--devices", "2",
                          "--space", "serial"]),
        ("stream_waves", ["--vp", "vp.npy", *waves, "--device-memory", "1M", "--plan"]),
        ("migrate_shots", ["--vp", "vp.npy", *waves, "--shots", "modelled", *modelled, "--mute", "none",
                           "--condition", "zero-lag,laplacian"]),
        ("migrate_shots", ["--vp", "vp.npy", "--spacing", "10", "--wavelet", "ricker:15", "--order", "8",
                           "--width", "4", "--shots", "gather.sgy", "--mute", "velocity:2000", "--aperture",
                           "100", "--snapshots", "replay"]),
        ("migrate_shots", ["--vp", "vp.sgy", "--wavelet", "ricker:15", "--order", "8", "--shots",
                           "gather.sgy", "--columns", "50,100", "--snapshots", "compressed", "--error",
                           "bits:12", "--plan"]),
        ("invert_waves", ["--vp", "vp.npy", *waves[:2], "--time", "0.3", *waves[4:], "--data", "modelled",
                          *modelled, "--iterations", "1", "--bands", "10,20"]),
        ("invert_waves", ["--vp", "vp.npy", *waves[:2], *waves[4:], "--data", "gather.sgy", "--iterations",
                          "1", "--mask", "depth:20", "--bounds", "vp:1500:3000", "--source-field", "stored"]),
        ("model_gravity", ["--prisms", "prisms.csv", "--grid", "4,3,50,50,0,0", "--elevation", "10",
                           "--components", "gz,gzz", "--csv"]),
        ("model_gravity", ["--mesh", "2,2,2,0,200,0,200,10,200", "--densities", "rho.npy", "--stations",
                           "stations.csv"]),
        ("model_gravity", ["--mesh", "2,2,2,0,200,0,200,10,200", "--susceptibilities", "rho.npy",
                           "--stations", "stations.csv", "--magnetic", "--field", "50000,60,2",
                           "--remanence", "1,30,20"]),
        ("model_gravity", ["--config", "gravity.cfg"]),
        ("distribute_shots", ["--journal", "j/journal", "--sites", "sites.cfg", "--probe"]),
        ("distribute_shots", ["--journal", "j/journal", "--sites", "sites.cfg", "--shots", "1-2", "--collect",
                              "got", "--", "touch", "{out}/a"]),
    ]


def make_files(folder, programs):
    """Writes the files that the command lines read."""
    rng = np.random.default_rng(5)
    vp = (1800.0 + 20.0 * np.arange(15) + rng.uniform(0, 50, (21, 15))).astype(np.float32)
    np.save(os.path.join(folder, "vp.npy"), vp)
    np.save(os.path.join(folder, "vp_e.npy"), 0.1 + 0 * vp)
    np.save(os.path.join(folder, "rho.npy"), np.full((2, 2, 2), 100.0))
    vp.tofile(os.path.join(folder, "vp.bin"))
    texts = {
        "vp.rsf": 'n1=15 n2=21 d1=10 d2=10 o1=0 o2=0 unit1="m" data_format="native_float" in="vp.bin"\n',
        "receivers.csv": "x,z\n10,20\n100.5,33\n200,140\n",
        "shots.csv": "shot,kind,x,z\n1,source,100,20\n2,s,50,30\n*,receiver,10,20\n*,r,150,20\n",
        "stations.csv": "x,y,z\n10,20,-5\n100,100,-5\n",
        "wavelet.csv": "time,amplitude\n"
        + "".join(f"{0.002 * k},{np.sin(0.4 * k) * np.exp(-0.01 * (k - 15) ** 2)}\n" for k in range(31)),
        "prisms.csv": "x1,x2,y1,y2,z1,z2,density\n0,100,0,100,10,60,300\n100,200,0,100,20,80,-200\n",
        "rays.cfg": "# rays\nmodel = vp.npy\nspacing = 10\nsource = 100,20\nsource = 'x=30,z=40'\nreceivers "
                    "= receivers.csv\nradius = 2\n",
        "waves.cfg": "vp = vp.npy\nspacing = \"10\"\ntime = 0.05\nwavelet = ricker:15\nwidth = 4\nsource = "
                     "100,20 # the middle\n",
        "gravity.cfg": "prisms = prisms.csv\ngrid = 3,2,50,50,0,0\ncomponents = gz\n",
        "sites.cfg": "[here]\nkind = local\nslots = 1\n"}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(program, *arguments):
        subprocess.run([programs[program], *arguments, "--no-plot", "--quiet", "--out", "made"], cwd=folder,
                       check=True, timeout=300, capture_output=True)

    if "model_waves" in programs and "migrate_shots" in programs:
        run("model_waves", "--vp", "vp.npy", "--spacing", "10", "--time", "0.3", "--wavelet", "ricker:15",
            "--source", "50,20:150,20:2", "--receivers", "0,20:200,20:6")
        shutil.copy(os.path.join(folder, "made/gather.sgy"), os.path.join(folder, "gather.sgy"))
        shutil.rmtree(os.path.join(folder, "made"))
        # an image is a model in SEG-Y
        run("migrate_shots", "--vp", "vp.npy", "--spacing", "10", "--wavelet", "ricker:15", "--shots",
            "gather.sgy", "--condition", "laplacian")
        with open(os.path.join(folder, "made/image.sgy"), "rb") as file:
            data = bytearray(file.read())
        trace = 240 + 4 * vp.shape[1]
        for k, column in enumerate(vp):
            data[3600 + k * trace + 240:3600 + (k + 1) * trace] = column.astype(">f4").tobytes()
        with open(os.path.join(folder, "vp.sgy"), "wb") as file:
            file.write(data)
        shutil.rmtree(os.path.join(folder, "made"))


NUMBER = re.compile(r"\d+\.?\d*")


def mutate_number(rng, text):
    """Replaces a number of the text by another one of the same kind."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    at = rng.choice(found)
    value = float(at.group())
    new = rng.choice([value * 10, value / 10, -value, value + 1, value - 1, 0, 1.5 * value, 1000 * value,
                      value + 0.5])
    return text[:at.start()] + f"{new:g}" + text[at.end():]


def change_a_little(rng, text):
    """Replaces a number of the text by one of about the same size, which is mostly allowed."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    at = rng.choice(found)
    if "." in at.group():
        new = f"{float(at.group()) * rng.uniform(0.8, 1.25):.4g}"
    else:
        value = int(at.group())
        new = str(max(value + rng.choice([-1, 1]) * rng.randrange(1, value // 8 + 2), 0))
    return text[:at.start()] + new + text[at.end():]


def set_option(rng, words, name, values):
    """Returns the words with another value of an option, which is added if missing."""
    value = rng.choice(values)
    words = list(words)
    if name in words:
        if value is not None:
            words[words.index(name) + 1] = value
        return words
    return [*words, name, *([] if value is None else [value])]


def make_folder(rng, name, kept, out):
    """Makes a folder of results with files of others, which must not change. Returns what was made."""
    result = RESULTS[name]
    summary = {"program": name, "state": "done", "files": [result, "thesis.txt", "../kept/archive.npy"],
               "to_write": ["archive.npy"]}
    kind = rng.choice(["link", "dangling", "hard", "pipe", "folder", "list", "lock", "whole", "others",
                       "scratch"])
    os.makedirs(kept)
    archive = os.path.join(kept, "archive.npy")
    with open(archive, "wb") as file:
        file.write(OF_OTHERS)
    if kind == "whole":
        os.mkdir(os.path.join(kept, "out"))
        os.symlink(os.path.join(kept, "out"), out)
        return kind
    os.mkdir(out)
    at = os.path.join(out, rng.choice([result, result, "summary.json"]))
    if kind in ("link", "dangling", "hard", "pipe", "folder", "list") and not at.endswith("summary.json"):
        with open(os.path.join(out, "summary.json"), "w", encoding="utf-8") as file:
            json.dump(summary, file)
    if kind == "link":
        os.symlink(archive, at)
    elif kind == "dangling":
        os.symlink(os.path.join(kept, "none"), at)
    elif kind == "hard":
        os.link(archive, at)
    elif kind == "pipe":
        os.mkfifo(at)
    elif kind == "folder":
        os.mkdir(at)
    elif kind == "lock":
        (os.link if rng.random() < 0.5 else os.symlink)(archive, os.path.join(out, ".moho_lock"))
    elif kind == "scratch":
        os.mkdir(os.path.join(out, ".moho_snapshots"))
        shutil.copy(archive, os.path.join(out, ".moho_snapshots"))
    shutil.copy(archive, os.path.join(out, "thesis.txt"))
    return kind


def mutate_word(rng, text):
    kind = rng.randrange(10)
    if kind < 5 and NUMBER.search(text):
        return mutate_number(rng, text)
    if kind < 7 or not text:
        return rng.choice(WORDS)
    at = rng.randrange(len(text))
    if kind == 7:
        return text[:at] + rng.choice("0123456789-.,;:=xe \u00e9") + text[at + 1:]
    if kind == 8:
        return text[:at] + text[at + 1:]
    return text[:at] + rng.choice(WORDS) + text[at:]


def mutate_options(rng, words):
    """One to three changes of a command line: mostly of values, otherwise of options with their values."""
    words = list(words)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if not words:
            break
        kind = rng.randrange(10)
        values = [k for k, word in enumerate(words) if not word.startswith("--")]
        names = [k for k, word in enumerate(words) if word.startswith("--")] + [len(words)]
        if kind < 7 and values:
            k = rng.choice(values)
            words[k] = mutate_word(rng, words[k])
        elif kind < 9 and len(names) > 1:
            k = rng.randrange(len(names) - 1)
            begin, end = names[k], names[k + 1]
            if kind == 7:
                del words[begin:end]
            else:
                words += words[begin:end]
        else:
            k = rng.randrange(len(words))
            words[k] = mutate_word(rng, words[k])
    return words


def mutate_bytes(rng, data):
    """Changes the contents of a file in a few places; most changes keep its length."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        if not data:
            break
        # changes of headers matter more than those of samples
        at = rng.randrange(min(len(data), rng.choice([200, 4000, len(data)])))
        kind = rng.randrange(16)
        if kind < 4:
            data[at] ^= 1 << rng.randrange(8)
        elif kind < 6:
            length = len(data[at:at + rng.randrange(1, 9)])
            data[at:at + length] = bytes(rng.randrange(256) for _ in range(length))
        elif kind < 8:
            length = len(data[at:at + rng.choice([1, 2, 4, 64, 240])])
            data[at:at + length] = bytes([rng.choice([0, 255])]) * length
        elif kind < 11:
            data = bytearray(mutate_number(rng, data.decode("latin-1")).encode("latin-1"))
        elif kind < 13:
            end = at
            while end < len(data) and data[end:end + 1] in b"0123456789.-e":
                end += 1
            data[at:end] = rng.choice(NUMBERS)
        elif kind == 13:
            del data[at:]
        elif kind == 14:
            data[at:at] = data[:rng.randrange(1, 400)]
        else:
            del data[at:at + rng.randrange(1, 300)]
    return bytes(data)


class Run:
    """One run: its changes and its outcome."""

    status, said, computed = None, "", False

    def __init__(self, programs, files, seed, number):
        rng = random.Random(f"{seed} {number}")
        commands = [(name, words) for name, words in good_commands() if name in programs]
        self.name, words = rng.choice(commands)
        self.program = programs[self.name]
        self.changed = ""
        self.placed = ""
        self.rng = rng
        how = rng.random()
        deep = DEEP.get(self.name, {})
        for option in rng.sample(sorted(deep), min(len(deep), rng.choice([0, 1, 1]))):
            words = set_option(rng, words, option, deep[option])
        read = [word.split(":")[-1] for word in words if word.split(":")[-1] in files]
        if deep and how < 0.15:
            self.words, self.placed = words, "others"
        elif deep and how < 0.65:
            # mostly allowed: such runs compute
            self.words = list(words)
            for _ in range(rng.choice([0, 1, 1])):
                k = rng.choice([k for k, word in enumerate(words) if not word.startswith("--")])
                self.words[k] = change_a_little(rng, self.words[k])
        elif read and rng.random() < 0.6:
            self.changed = rng.choice(read)
            # a file that another file names is changed like that file
            inner = {"vp.rsf": "vp.bin", "rays.cfg": "vp.npy", "waves.cfg": "vp.npy",
                     "gravity.cfg": "prisms.csv"}.get(self.changed)
            if inner and rng.random() < 0.3:
                self.changed = inner
            self.content = mutate_bytes(rng, files[self.changed])
            self.words = words
        else:
            self.words = mutate_options(rng, words)
        if self.name != "distribute_shots":
            self.words = [*self.words, "--no-plot", *([] if "--memory" in words else ["--memory", "300M"])]

    def go(self, source, folder, limit=LIMIT):
        """Runs it in a folder with copies of the files. Returns an error's description, or an empty text."""
        os.mkdir(folder)
        for name in os.listdir(source):
            os.link(os.path.join(source, name), os.path.join(folder, name))
        if self.changed:
            path = os.path.join(folder, self.changed)
            os.remove(path)
            with open(path, "wb") as file:
                file.write(self.content)
        if self.placed:
            self.placed = make_folder(self.rng, self.name, os.path.join(folder, "kept"),
                                      os.path.join(folder, self.name + "_out"))
        command = [self.program, *(word.replace("\0", "") for word in self.words)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GOMP_SPINCOUNT": "1000",
                       "ASAN_OPTIONS": "detect_leaks=0"}
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment)
        told = False
        try:
            text, said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            told = True
            process.terminate()
            try:
                text, said = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return "hangs: it did not end when it was told to"
        return self.judge(process.returncode, text.decode(errors="replace"), said.decode(errors="replace"),
                          told, folder)

    def harmed(self, folder):
        """Describes changed files of others; empty if unchanged."""
        out = os.path.join(folder, self.name + "_out")
        there = {"archive.npy": os.path.join(folder, "kept")}
        if self.placed != "whole":
            there["thesis.txt"] = out
        if self.placed == "scratch":
            there[".moho_snapshots/archive.npy"] = out
        for name, where in there.items():
            try:
                with open(os.path.join(where, name), "rb") as file:
                    if file.read() != OF_OTHERS:
                        return f"writes into the foreign file {name} ({self.placed})"
            except OSError as error:
                return f"removes the foreign file {name} ({self.placed}): {error}"
        return "writes through a link" if os.path.lexists(os.path.join(folder, "kept/none")) else ""

    def judge(self, status, text, said, told, folder):
        self.status, self.said = status, said
        self.computed = status == 0 or told or os.path.exists(os.path.join(folder, self.name + "_out",
                                                                           "vp.npy"))
        if self.placed and (wrong := self.harmed(folder)):
            return wrong
        lines = [line for line in said.split("\n") if line]
        if told and status == 128 + signal.SIGTERM:
            return "" if len(lines) == 1 and "ended by SIGTERM" in lines[0] else f"says at its end: {said!r}"
        if status not in (0, 1, 2):
            return f"ends with {status}: {said[-600:]!r}"
        left = [name for _, _, names in os.walk(folder) for name in names if ".part-" in name]
        if left:
            return f"leaves {left}"
        if status == 0:
            summary = os.path.join(folder, self.name + "_out", "summary.json")
            if os.path.exists(summary):
                with open(summary, encoding="utf-8") as file:
                    if json.load(file)["state"] != "done":
                        return "ends with 0, and its summary does not say that it is done"
            return ""
        if not lines or not lines[0].startswith(self.name + ": "):
            return f"ends with {status} and says {said[-600:]!r}, printed {text[-300:]!r}"
        if len(lines) > 1:
            return f"says more than one line: {said[-900:]!r}"
        if len(said) > 12000 or len(said) < len(self.name) + 15:
            return f"says too much or too little: {lines[0][:600]!r}"
        return ""


class Mutations(unittest.TestCase):
    def setUp(self):
        folder = os.path.dirname(os.path.realpath(support.Case.program))
        names = sorted({name for name, _ in good_commands()})
        self.programs = {name: os.path.join(folder, name)
                         for name in names if os.access(os.path.join(folder, name), os.X_OK)}
        self.assertTrue(self.programs)
        keep = "MOHO_MUTATION_ONLY" in os.environ
        self.folder = tempfile.mkdtemp(prefix="moho_mutations_")
        if not keep:
            self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.source = os.path.join(self.folder, "files")
        os.mkdir(self.source)
        make_files(self.source, self.programs)
        self.files = {}
        for name in os.listdir(self.source):
            with open(os.path.join(self.source, name), "rb") as file:
                self.files[name] = file.read()

    def test_good_commands(self):
        """The unchanged commands are valid: otherwise only the first check would be tested."""
        for number, (name, words) in enumerate(good_commands()):
            if name not in self.programs or any(word.endswith(".sgy") and word not in self.files
                                                for word in words):
                continue
            run = Run(self.programs, self.files, 0, 0)
            run.name, run.program, run.changed = name, self.programs[name], ""
            run.words = [*words, *([] if name == "distribute_shots" else ["--no-plot"])]
            wrong = run.go(self.source, os.path.join(self.folder, f"good{number}"), PATIENCE)
            with self.subTest(number):
                self.assertEqual((wrong, run.status), ("", 0),
                                 shlex.join([name, *run.words]) + "\n" + run.said)

    def one(self, number):
        run = Run(self.programs, self.files, self.seed, number)
        folder = os.path.join(self.folder, str(number))
        wrong = run.go(self.source, folder)
        if wrong:
            what = f"run {number} of seed {self.seed}, {run.name} {shlex.join(run.words)} {run.placed}"
            return run, f"{what}{', ' + run.changed + ' changed' if run.changed else ''}:\n  {wrong}"
        if "MOHO_MUTATION_ONLY" not in os.environ:
            shutil.rmtree(folder, ignore_errors=True)
        return run, ""

    def test_mutations(self):
        self.seed = int(os.environ.get("MOHO_MUTATION_SEED", "1"))
        if "MOHO_MUTATION_ONLY" in os.environ:
            run, wrong = self.one(int(os.environ["MOHO_MUTATION_ONLY"]))
            print(f"{self.folder}/{os.environ['MOHO_MUTATION_ONLY']}: {run.program} {shlex.join(run.words)} "
                  f"-> {run.status}")
            self.assertEqual(wrong, "")
            return
        seconds = float(os.environ.get("MOHO_MUTATION_SECONDS", "0"))
        begun = time.monotonic()
        numbers = itertools.count() if seconds else iter(range(int(os.environ.get("MOHO_MUTATIONS", "1000"))))
        counts, wrong, refused, computed = {}, [], 0, 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            while not seconds or time.monotonic() - begun < seconds:
                batch = list(itertools.islice(numbers, 50))
                if not batch:
                    break
                for run, text in pool.map(self.one, batch):
                    counts[run.name] = counts.get(run.name, 0) + 1
                    refused += run.status in (1, 2)
                    computed += run.computed
                    if text:
                        wrong.append(text)
        total = sum(counts.values())
        print(f"{total} runs, {computed} computed, {refused} refused, {time.monotonic() - begun:.0f} s: "
              f"{counts}")
        self.assertGreater(refused, 0.3 * total)
        # most runs pass the checks of options and headers
        self.assertGreater(computed, 0.5 * total)
        self.assertFalse(wrong, f"{len(wrong)} of {total}:\n" + "\n".join(wrong[:20]))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
