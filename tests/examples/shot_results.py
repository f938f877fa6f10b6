# SPDX-License-Identifier: BSD-3-Clause
"""The files of one run of a program that models shots."""

import json
import os

from program_case import np


class ShotResults:
    """Summary and gathers of a run. folder: of the results; text: what the program printed."""

    def __init__(self, folder, text):
        self.folder, self.text = folder, text
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.gathers = [self.load(shot["gather"]) for shot in self.summary["shots"]]
        self.gather = self.gathers[0]

    def load(self, name):
        return np.load(os.path.join(self.folder, name))
