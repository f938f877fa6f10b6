#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every header alone, without generating code.

    verify_headers.py --commands <compile_commands.json> --like <source> --lib <folder> --headers <list>
    [--jobs <n>]

The compiler and its options are those of <source> in the database of commands. <list> is a file with a line
for each header, its path below <folder>.

A header compiles alone if all that it names comes from what it includes. Compiling a header after one that it
includes itself, directly or not, shows the same: nothing is there that it would not bring. So headers are
compiled in chains, each of which the next one includes, in as few chains as there can be. For the same reason
headers that include Kokkos are compiled with a precompiled Kokkos, and others without. (Headers that
include each other in a circle are compiled in chains of their own.)
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
KOKKOS = "Kokkos_Core.hpp"


def includes_of(lib, headers):
    """The files that each header includes, by its path in the folder."""
    found = {}
    for header in headers:
        with open(os.path.join(lib, header), encoding="utf-8") as stream:
            found[header] = INCLUDE.findall(stream.read())
    return found


def closures_of(includes):
    """All that each header includes, directly or not."""
    closures = {}
    for header in includes:
        seen, todo = set(), [header]
        while todo:
            for other in includes.get(todo.pop(), []):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        closures[header] = seen
    return closures


def chains_of(headers, closures):
    """The fewest chains of headers in which each is included by the next: a largest matching of headers with
    their successors leaves the fewest ends."""
    headers = sorted(headers)

    def may_follow(first, second):
        return first in closures[second] and second not in closures[first]

    before = {}  # by the later of the two

    def match(first, seen):
        for second in headers:
            if second not in seen and may_follow(first, second):
                seen.add(second)
                if second not in before or match(before[second], seen):
                    before[second] = first
                    return True
        return False

    for header in headers:
        match(header, set())
    after = {first: second for second, first in before.items()}
    chains = []
    for header in headers:
        if header not in before:
            chain = [header]
            while chain[-1] in after:
                chain.append(after[chain[-1]])
            chains.append(chain)
    return chains


def command_like(commands, source):
    """The compiler and its options, without source and output; and the folder in which it runs."""
    with open(commands, encoding="utf-8") as stream:
        database = json.load(stream)
    for entry in database:
        if os.path.realpath(entry["file"]) != os.path.realpath(source):
            continue
        words = entry.get("arguments") or shlex.split(entry["command"])
        kept, skip = [], False
        for word in words:
            if skip:
                skip = False
            elif word == "-o":
                skip = True
            elif word != "-c" and word != entry["file"]:
                kept.append(word)
        return kept, entry["directory"]
    sys.exit(f"verify_headers: {commands} has no command for {source}: configure again")


def main():
    parser = argparse.ArgumentParser(description="Compiles every header alone.")
    parser.add_argument("--commands", required=True)
    parser.add_argument("--like", required=True)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--headers", required=True)
    parser.add_argument("--gcc", action="store_true", help="precompile Kokkos, as GCC does it")
    parser.add_argument("--jobs", type=int,
                        default=int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1))
    args = parser.parse_args()
    start = time.time()

    with open(args.headers, encoding="utf-8") as stream:
        headers = stream.read().split()
    if not headers:
        sys.exit(f"verify_headers: {args.headers} names no header")
    includes = includes_of(args.lib, headers)
    closures = closures_of(includes)
    with_kokkos = [header for header in headers if KOKKOS in closures[header]]
    without = [header for header in headers if KOKKOS not in closures[header]]
    chains = [(chain, True) for chain in chains_of(with_kokkos, closures)]
    chains += [(chain, False) for chain in chains_of(without, closures)]
    assert sorted(header for chain, _ in chains for header in chain) == sorted(headers)
    command, folder = command_like(args.commands, args.like)

    with tempfile.TemporaryDirectory(prefix="moho_headers_") as work:
        kokkos = []
        if args.gcc and with_kokkos:
            source = os.path.join(work, "precompiled.hpp")
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(f"#include <{KOKKOS}>\n")
            subprocess.run(command + ["-x", "c++-header", source, "-o", source + ".gch"], cwd=folder,
                           check=True)
            kokkos = ["-Winvalid-pch", "-include", source]

        def compiled(number):
            chain, needs_kokkos = chains[number]
            source = os.path.join(work, f"chain_{number}.cpp")
            with open(source, "w", encoding="utf-8") as stream:
                stream.writelines(f"#include <{header}>\n" for header in chain)
            run = subprocess.run(command + (kokkos if needs_kokkos else []) + ["-fsyntax-only", source],
                                 cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return run.returncode, run.stdout

        failed = 0
        order = sorted(range(len(chains)),
                       key=lambda number: -sum(len(closures[h]) for h in chains[number][0]))
        with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, args.jobs)) as pool:
            for number, (status, text) in zip(order, pool.map(compiled, order)):
                if status != 0:
                    failed += 1
                    print(f"FAILED: one of {' '.join(chains[number][0])}")
                if text.strip():
                    print(text.rstrip())
    print(f"{len(headers)} headers, in {len(chains)} chains, {len(with_kokkos)} with Kokkos: "
          f"{failed} chains failed; {time.time() - start:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
