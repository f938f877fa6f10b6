# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick
"""Programs hold no algorithm: forbidden constructs are counted, and a count may only decrease.

    test_programs.py [--lower]

Each count has a ceiling in ceilings.txt. --lower sets the ceilings to the present counts if these are lower.
"""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
import sources  # noqa: E402

NOT_PROGRAMS = ("examples/cpp/", "examples/plots/")
SHARED = ("app",)  # the part that programs share
OTHERS = ("ranks", "shot_worker")  # counted with the others, but no programs for users

LINES = 1300  # limit of a program
KERNELS = re.compile(r"KOKKOS_(?!DEVICE_ID|ENABLE_)\w+")
CALLS = {"launch", "reduce", "scan"}
# Headers of wave for programs; headers of modules above it are counted, except survey's.
WAVE_HEADERS = {"boundary_text", "delta_note", "geometry", "locate_overflow", "media", "model_values",
                "modelling", "shots", "snapshots", "sponge_width", "wavelet"}
IMAGING = {"domain", "fwi", "optimize", "rtm", "snapshot", "stream"}
# Sizes of a model: bounds of loops with these names run over all its nodes.
NODES = {"grid", "m_grid", "extent", "extents", "nodes", "node_count"}
FIELDS = {"vp", "density", "epsilon", "delta", "theta", "phi", "field", "values", "model", "gradient",
          "image", "illumination"}


def program_files():
    return [path for path in sources.files("examples") if not path.startswith(NOT_PROGRAMS)]


def words_of(path):
    return [item.text for item in sources.without_directives(sources.tokens_of(path))
            if item.kind in ("name", "symbol")]


def kernels(words):
    """Words of kernels and of time steps."""
    count = 0
    for k, word in enumerate(words):
        follows = words[k + 1:k + 3]
        count += bool(KERNELS.fullmatch(word))
        count += word.startswith("parallel_") and words[max(k - 2, 0):k] == ["Kokkos", "::"]
        count += word == "run_steps"
        count += word in CALLS and follows[:1] == ["("]
        # step() without arguments reads a number
        count += word == "step" and follows[:1] == ["("] and follows[1:] != [")"]
    return count


def memory_templates(words):
    return sum(1 for k in range(len(words) - 1) if words[k] in ("class", "typename")
               and words[k + 1] in ("Memory", "Exec"))


def loops_over_nodes(words):
    """Headers of loops whose bound is a number of nodes."""
    count = 0
    for k in range(len(words) - 1):
        if words[k:k + 2] != ["for", "("]:
            continue
        depth, end = 1, k + 2
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(words[end], 0)
            end += 1
        header = words[k + 2:end]
        # name.size() or name->size()
        sizes = [word[2:] if word.startswith("m_") else word for n, word in enumerate(header)
                 if header[n + 1:n + 2] in (["."], ["->"]) and header[n + 2:n + 4] == ["size", "("]]
        count += bool(NODES & set(header) or FIELDS & set(sizes))
    return count


def includes(path):
    """Counts the forbidden headers that a file includes, and the headers of imaging and inversion.

    Forbidden are other headers of wave, and headers of other modules that are not public.
    """
    internal = imaging = 0
    for item in sources.tokens_of(path):
        found = item.kind == "header" and re.match(r"<moho/(\w+)/(.*)\.hpp>", item.text)
        if not found:
            continue
        module, header = found.groups()
        if module in IMAGING:
            imaging += 1
        elif module == "wave":
            internal += header not in WAVE_HEADERS
        else:
            internal += header.startswith(("kernel/", "detail/"))
    return internal, imaging


def macros(*folders):
    """Function-like macros of C++ files and templates."""
    count = 0
    for path in sources.files(*folders, ends=(".hpp", ".cpp", ".cpp.in")):
        count += len(re.findall(r"^[ \t]*#[ \t]*define[ \t]+\w+\(", sources.read(path), re.MULTILINE))
    return count


def lines_of_programs():
    lines = {}
    for path in program_files():
        folder = path.split(os.sep)[1]
        lines[folder] = lines.get(folder, 0) + sources.lines_of(path)
    return lines


def counts():
    files = program_files()
    words = {path: words_of(path) for path in files}
    found = {
        "programs:kernels": sum(kernels(words[path]) for path in files),
        "programs:memory_templates": sum(memory_templates(words[path]) for path in files),
        "programs:internal_includes": sum(includes(path)[0] for path in files),
        "programs:imaging_includes": sum(includes(path)[1] for path in files),
        "programs:loops_over_nodes": sum(loops_over_nodes(words[path])
                                         for path in files if os.path.basename(path) != "output.cpp"),
        "programs:macros": macros("examples"),
        "programs:all_macros": macros("lib", "examples"),
    }
    lines = lines_of_programs()
    found["programs:shared_lines"] = sum(lines.get(name, 0) for name in SHARED)
    found["programs:all_lines"] = sum(count for name, count in lines.items() if name not in SHARED)
    for name, count in lines.items():
        if name not in SHARED + OTHERS:
            found[f"program_lines:{name}"] = count
    return found


def counts_with_ceilings():
    return {name: count for name, count in counts().items() if count > LINES
            or not name.startswith("program_lines:")}


class Programs(unittest.TestCase):
    def setUp(self):
        self.counts = counts()

    def test_hold_no_algorithm(self):
        found = {name: count for name, count in self.counts.items() if name.startswith("programs:")}
        sources.expect_at_most(self, found, "programs:", -1, "in programs")

    def test_are_short(self):
        found = {name: count for name, count in self.counts.items() if name.startswith("program_lines:")}
        sources.expect_at_most(self, found, "program_lines:", LINES, "lines of C++")


class Counting(unittest.TestCase):
    def words(self, text):
        return [item.text for item in sources.tokens.cxx_tokens(text) if item.kind in ("name", "symbol")]

    def test_kernels(self):
        for text in ("KOKKOS_LAMBDA(int i) {}", "Kokkos::parallel_for(n, f)", "launch(\"name\", exec, n, f)",
                     "wave::run_steps<T>(exec)", "propagator.step(exec, field)"):
            self.assertEqual(kernels(self.words(text)), 1, text)
        for text in ("search->step()", "launch_time(3)", "std::getenv(\"KOKKOS_NUM_THREADS\")",
                     "// launch(n)\n", "parallel_for"):
            self.assertEqual(kernels(self.words(text)), 0, text)

    def test_templates(self):
        self.assertEqual(memory_templates(self.words("template <class T, class Memory> f(); template "
                                                     "<typename Exec> g();")), 2)
        self.assertEqual(memory_templates(self.words("template <class T, int Dim> f(Memory);")), 0)

    def test_loops(self):
        for text in ("for (int i = 0; i < grid.size(); ++i) f(i);", "for (i = 0; i < m_vp.size(); ++i)",
                     "for (int i = 0; i < nodes(); ++i)", "for (int i = 0; i < rows.extent(0); ++i)"):
            self.assertEqual(loops_over_nodes(self.words(text)), 1, text)
        for text in ("for (int i = 0; i < shots.size(); ++i) f(grid.size());",
                     "for (const auto& value : values)"):
            self.assertEqual(loops_over_nodes(self.words(text)), 0, text)


if __name__ == "__main__":
    sources.main(counts_with_ceilings, "programs", "program_lines")
