# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the tests of all example programs: runs, pictures, and common tests.

The process exits with status 77 if numpy is missing.
"""

from every_program import EveryProgram, NothingIsLost
from program_case import PLOTS, PNG, Case, SharedRuns, main, np, npy
from shot_data import DataChecks, DataWavelets, Overflows
from shot_results import ShotResults

__all__ = ["PLOTS", "PNG", "Case", "DataChecks", "DataWavelets", "EveryProgram", "NothingIsLost", "Overflows",
           "SharedRuns", "ShotResults", "main", "np", "npy"]
