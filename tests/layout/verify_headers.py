#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every header alone, without generating code.

    verify_headers.py --commands <compile_commands.json> --like <source> --lib <folder> --headers <list>
                      [--jobs <n>]

The compiler and its options are those of <source> in the database of commands. <list> is a file with a line
for each header, its path below <folder>.

A header compiles alone if it includes the declarations of all names that it uses. Compiling it after a header
that it includes, directly or not, proves the same: that header declares no more than this one includes. So
headers are compiled in chains in which each header includes the previous one, in as few chains as possible.
For the same reason headers that include Kokkos are compiled with a precompiled Kokkos, and others without.
(Headers that include each other in a circle are compiled in separate chains.)
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
    """Files that each header includes, by its path in the folder."""
    found = {}
    for header in headers:
        with open(os.path.join(lib, header), encoding="utf-8") as stream:
            found[header] = INCLUDE.findall(stream.read())
    return found


def closures_of(includes):
    """All files that each header includes, directly or not."""
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
    """Returns the fewest chains of headers in which the next header includes the previous one.

    A maximum matching of headers with their successors leaves the fewest ends.
    """
    headers = sorted(headers)

    def may_follow(first, second):
        return first in closures[second] and second not in closures[first]

    before = {}  # predecessor of the later header

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
    """Compiler and its options, without source and output, and its working folder."""
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
