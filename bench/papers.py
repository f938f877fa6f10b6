#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Repeats the experiments of a paper: its tables and figures with moho's numbers beside the paper's.

Papers:
  000  Monsegny and Agudelo (2013), shortest-path ray tracing on GPUs
  002  Suh and Wang (2011), expanding domains in TTI reverse-time migration
  003  chapter 6 of a thesis, pipelined propagation of volumes larger than a GPU
  004  Couder-Castaneda et al. (2013), gravity of ensembles of prisms on several GPUs

The output folder gets report.md (tables, pictures, commands), paper.json (their numbers), the pictures, and
the files of the programs. Experiments that fail are listed in the report; the others are still made, and the
exit status is 1. Experiments that need a device are skipped without one, and the report has the reason. Wrong
options end with status 2. Needs python3-numpy and python3-matplotlib.

examples:
  bench/papers.py 000                                    host, sizes that take minutes
  bench/papers.py 003 --space cuda --build build/cuda    a device, the sizes of the paper
  bench/papers.py 004 --only maps --out maps             one experiment
"""

import argparse
import os
import sys

import papers_gravity
import papers_migration
import papers_rays
import papers_stream
from papers_common import PaperError, Run, Skipped
from report_common import ReportError

PAPERS = {"000": papers_rays, "001": papers_rays, "002": papers_migration, "003": papers_stream,
          "004": papers_gravity}


def vertices(text):
    """Returns the numbers of --models, each of two vertices or more."""
    try:
        found = [int(n) for n in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} (allowed: whole numbers from 2 on, such as 128,256)")
    return found


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", choices=sorted(PAPERS), help="number of the paper; 001 is a part of 000")
    parser.add_argument("--space", choices=["cuda", "openmp", "serial"], default="openmp",
                        help="where to compute (openmp)")
    parser.add_argument("--sizes", choices=["paper", "small"],
                        help="sizes of the paper, or small ones (paper with cuda, otherwise small)")
    parser.add_argument("--build", metavar="DIR",
                        help="build folder (build/cuda with cuda, otherwise build/host)")
    parser.add_argument("--only", metavar="NAME,...", help="only these experiments")
    parser.add_argument("--models", metavar="N,...", type=vertices,
                        help="000, times: vertices per side of the models (16 from 128 to 1600)")
    parser.add_argument("--list", action="store_true", help="list the experiments of the paper and stop")
    parser.add_argument("--reuse", action="store_true",
                        help="use results of an earlier run in the output folder")
    parser.add_argument("--out", metavar="DIR", help="output folder (paper_NUMBER)")
    return parser.parse_args()


def main():
    asked = options()
    module = PAPERS[asked.paper]
    if asked.list:
        for name, work in module.EXPERIMENTS.items():
            print(f"{name:10} {work.__doc__.splitlines()[0]}")
        return 0
    names = asked.only.split(",") if asked.only else list(module.EXPERIMENTS)
    for name in names:
        if name not in module.EXPERIMENTS:
            known = ", ".join(module.EXPERIMENTS)
            raise PaperError(f"--only {name}: no such experiment (there are: {known})")
    if asked.models:
        others = [name for name in names if module is not papers_rays or name != "times"]
        if len(others) == len(names):
            raise PaperError(f"--models has no effect on {', '.join(names)} of {asked.paper} (allowed with: "
                             "the experiment times of 000)")
        if others:
            print(f"note: --models has no effect on {', '.join(others)}", flush=True)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    cuda = asked.space == "cuda"
    run = Run(asked.paper, asked.space, (asked.sizes or ("paper" if cuda else "small")) == "paper",
              asked.build or os.path.join(root, "build", "cuda" if cuda else "host"),
              asked.out or f"paper_{asked.paper}", asked.reuse, asked.models)
    failures, skipped = [], []
    for name in names:
        print(f"== {name}: {module.EXPERIMENTS[name].__doc__.splitlines()[0]}", flush=True)
        try:
            module.EXPERIMENTS[name](run)
        except Skipped as reason:
            skipped.append((name, str(reason)))
            print(f"skipped: {reason}", flush=True)
        except (PaperError, ReportError, KeyError, ValueError, OSError) as error:
            text = f"no {error}" if isinstance(error, KeyError) else str(error)
            failures.append((name, text))
            print(f"papers.py: {name}: {text}", file=sys.stderr, flush=True)
        run.write(module.TITLE, failures, skipped)
    print(f"wrote {run.out / 'report.md'} and paper.json")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (PaperError, OSError) as problem:
        print(f"papers.py: {problem}", file=sys.stderr)
        sys.exit(2)
