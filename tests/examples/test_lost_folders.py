# SPDX-License-Identifier: BSD-3-Clause
"""Tests of remote sites whose folders of chunks are lost while shots run.

usage: test_lost_folders.py --program PATH [names of test classes]
The site is a folder of this machine, reached by ssh on the loopback interface.
"""

import glob
import os
import shutil
import subprocess
import sys
import time

import distribute_case
import services
import support


# ctest: waits
class LostFolders(distribute_case.DistributeCase):
    @classmethod
    def setUpClass(cls):
        services.need(*services.Sshd.needs)

    def test_its_shots_are_computed_immediately(self):
        sshd = services.Sshd(self.path("ssh"))
        self.addCleanup(sshd.stop)
        self.sites(f"[far]\nhost = far\nfolder = {self.path('far')}\nprograms = "
                   f"{os.path.dirname(self.program)}\nkind = local\nslots = 2\n"
                   f"ssh_option = -F{sshd.config}\n")
        process = self.begin("1-8", seconds=0.5, what="none:0")
        chunks = os.path.join(glob.escape(self.path("far")), "shots-*")
        while self.runs(3) == 0 and process.poll() is None:
            time.sleep(0.05)
        lost = glob.glob(chunks)
        self.assertTrue(lost)
        for path in lost:
            shutil.rmtree(path, ignore_errors=True)
        try:
            text, _ = process.communicate(timeout=50)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"no end within 50 s: {process.communicate()[0]}")
        self.assertEqual(process.returncode, 0, text)
        # the first message if the relay had ended, the second if it was started again
        self.assertRegex(text, "the site does not know it|no job shots-")
        # one lost job is no failure of the site
        self.assertNotIn("pauses", text)
        self.assert_there(range(1, 9))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
