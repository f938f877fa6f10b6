#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""Tests of --snapshot-dir of migrate_shots: snapshots in files of a folder, and what happens when the disk is
full or the run is killed.

usage: test_snapshot_files.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import resource
import signal
import subprocess
import sys
import time

import migrate_shots_case
import support
from support import np


class Files(migrate_shots_case.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("spool"))
        self.there = ["--snapshot-dir", "spool"]
        # on a device rates decide whether its kernels or threads of the host compress: two roundings
        self.host = ["--space", self.spaces()[0]]

    def assert_spool_is_empty(self):
        self.assertEqual(os.listdir(self.path("spool")), [])

    def stages(self, run):
        return {stage["stage"]: stage["spans"] for stage in run.summary["stages"]}

    def test_fixed_numbers_of_bits_fit_as_planned(self):
        """The least limit of the disk that a plan accepts suffices, for any position of the blocks."""
        options = [*self.shots, *self.host, "--snapshots", "threads", "--error", "bits:12", *self.there]
        for width in (9, 14, 16):
            self.survey = [*self.survey[:-1], f"sponge:{width}"]
            fails, fits = 10, 1 << 14
            while fits - fails > 1:
                tried = (fails + fits) // 2
                done = self.call("--vp", "smooth.npy", *self.survey, *options, "--disk", f"{tried}K",
                                 "--plan", "--no-plot", "--out", "plan")
                fails, fits = (fails, tried) if done.returncode == 0 else (tried, fits)
            r = self.migrate(*options, "--disk", f"{fits}K")
            for shot in r.summary["migrated"]:
                self.assertLessEqual(shot["bytes_on_disk"], fits * 1024)
            self.assert_spool_is_empty()

    def test_same_bits_as_in_memory(self):
        for kind, memory in (("threads", "threads"), ("disk", "compressed")):
            for error in ("snr:55", "bits:12"):
                options = [*self.shots, *self.host, "--error", error, "--snapshot-steps", "2"]
                kept = self.migrate(*options, "--snapshots", memory, out="kept")
                r = self.migrate(*options, "--snapshots", kind, *self.there)
                np.testing.assert_array_equal(r.image, kept.image, f"{kind} {error}")
                self.assert_spool_is_empty()
                self.assertNotIn("files", kept.summary["snapshots"])
                files, count = r.summary["snapshots"]["files"], 3 * r.summary["snapshots"]["count"]
                for key in ("write_rate", "read_rate", "write_seconds", "read_seconds", "queue_bytes"):
                    self.assertGreater(files[key], 0.0, key)
                stages = self.stages(r)
                # those in the queue at the end of the forward propagation are not written
                self.assertEqual(stages["write snapshot"], stages["read snapshot"])
                self.assertLessEqual(stages["write snapshot"], count)
                self.assertNotIn("write snapshot", self.stages(kept))
                for shot in r.summary["migrated"]:
                    self.assertGreater(shot["bytes_on_disk"], 1000)
                    self.assertGreaterEqual(shot["seconds_waited"], 0.0)
        raw = self.migrate(*self.shots, "--snapshots", "memory", "--error", "lossless", out="raw")
        r = self.migrate(*self.shots, "--snapshots", "disk", "--error", "lossless", *self.there)
        np.testing.assert_array_equal(r.image, raw.image)

    def test_concurrent_shots_and_ranks(self):
        shots = [*self.shots[:-3], "300,20:900,20:5", *self.shots[-2:], "--snapshots", "threads",
                 *self.host]
        one = self.migrate(*shots, "--at-once", "1", out="one")
        many = self.migrate(*shots, "--at-once", "3", *self.there, out="many")
        np.testing.assert_array_equal(many.image, one.image)
        self.assert_spool_is_empty()

    def test_plan(self):
        done = self.call("--vp", "smooth.npy", *self.survey, *self.shots, "--snapshots", "threads", "--plan",
                         *self.there)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"threads? of the host in files, .* of disk; ")
        self.assertRegex(done.stdout, r"files in spool: .*/s to the disk, .*/s back; .* s and .* s beside "
                         r"propagations of .* s: (hidden|the run waits for the disk); .* of memory on")
        self.assert_spool_is_empty()

    def test_auto_takes_files_only_without_memory(self):
        auto = [*self.shots, *self.host, "--error", "lossless", "--at-once", "1", "--snapshot-steps", "1"]
        ample = self.migrate(*auto, *self.there, out="ample")
        self.assertNotIn("files", ample.summary["snapshots"])
        # 300 snapshots of 29 KiB do not fit, and recomputation is slower than files by the page cache
        small = self.migrate(*auto, *self.there, "--memory", "4M", out="small")
        reason = small.summary["snapshots"]["reason"]
        self.assertIn("in files", reason)
        self.assertIn("replay", reason)
        np.testing.assert_array_equal(small.image, ample.image)
        alone = self.migrate(*auto, "--memory", "4M", out="alone")
        self.assertNotIn("in files", alone.summary["snapshots"]["reason"])
        self.assert_spool_is_empty()

    def test_resume_with_another_method(self):
        """A resumed run may change to a method of the same bits; others are refused."""
        options = [*self.shots, *self.host, "--keep-shots"]
        expected = self.migrate(*options, "--snapshots", "memory", out="whole")

        def without_a_shot(*method):
            self.migrate(*options, *method, out="begun")
            os.remove(self.path("begun/shot_0002.npy"))

        disk, lossless = ["--snapshots", "disk", *self.there], ["--error", "lossless"]
        for first, second, more in (("disk", "replay", lossless), ("replay", "memory", []),
                                    ("memory", "device", []), ("device", "disk", lossless)):
            without_a_shot("--snapshots", first, *more, *(self.there if first == "disk" else []))
            r = self.migrate(*options, "--snapshots", second, *more, "--resume",
                             *(self.there if second == "disk" else []), out="begun")
            self.assertIn("2 of 3 shots are complete", r.text)
            self.assertEqual(r.summary["asked"]["snapshots"], second)
            names = ["image.npy", "illumination_source.npy", "shot_0002.npy"]
            self.assert_same_files(names, "whole", "begun")
        # the next run may change again
        os.remove(self.path("begun/shot_0001.npy"))
        self.migrate(*options, "--snapshots", "memory", *lossless, "--resume", out="begun")
        self.assert_same_files(names, "whole", "begun")
        self.assertGreater(np.abs(expected.image).max(), 0.0)
        for first, second, said in (
                (["--snapshots", "memory"], ["--snapshots", "compressed"],
                 "--snapshots is compressed, and was memory"),
                (disk, ["--snapshots", "replay"], "--snapshots is replay, and was disk"),
                (disk, [*disk, *lossless], "--error is lossless, and was snr:55"),
                ([], ["--snapshots", "memory"], "--snapshots is memory, and was auto")):
            without_a_shot(*first)
            done = self.call("--vp", "smooth.npy", *self.survey, *options, *second, "--resume", "--out",
                             "begun", "--no-plot")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said + " in the run in begun (allowed: ", done.stderr)

    def test_a_full_disk(self):
        # more snapshots than the queue holds
        options = [*self.shots, "--snapshots", "threads", *self.there, "--at-once", "1", "--snapshot-steps",
                   "1"]
        arguments = ["--vp", "smooth.npy", *self.survey, *options]
        # the plan is an upper bound of compressed snapshots
        self.refuse([*arguments, "--disk", "300K"], "--snapshots threads is not possible here",
                    "300 KiB of disk")
        limit = (50000, 50000)
        done = self.call(*arguments, "--no-plot", "--out", "full",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "cannot write temporary data in 'spool' .File too large; no part of it "
                         "was left behind.*ulimit -f")
        self.assertNotIn("--resume", done.stderr)  # no shot is complete
        self.assert_spool_is_empty()
        # with complete shots
        self.migrate(*options, "--keep-shots", out="full")
        os.remove(self.path("full/shot_0003.npy"))
        done = self.call(*arguments, "--keep-shots", "--no-plot", "--out", "full", "--resume",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, "cannot write temporary data in 'spool'.*; --resume takes another "
                         "--snapshot-dir or --disk, and --snapshots of the same bits")
        self.assert_spool_is_empty()
        # another method gives the bits of snapshots in files that are not compressed
        disk = ["--vp", "smooth.npy", *self.survey, *self.shots, "--error", "lossless", "--at-once", "1",
                "--snapshot-steps", "1", "--keep-shots", "--no-plot", "--out", "raw"]
        self.assertEqual(self.call(*disk, "--snapshots", "disk", *self.there).returncode, 0)
        os.remove(self.path("raw/shot_0003.npy"))
        done = self.call(*disk, "--snapshots", "disk", *self.there, "--resume",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(done.returncode, 1, done.stdout)
        done = self.call(*disk, "--snapshots", "replay", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_volume_larger_than_allowed(self):
        program = os.path.join(os.path.dirname(self.program), "stream_waves")
        if not os.path.exists(program):
            self.skipTest("there is no stream_waves")
        for limit in (1 << 20, 5 << 20):
            done = subprocess.run(
                [program, "--vp", "2000", "--shape", "x=61,y=56,z=51", "--spacing", "10", "--time", "0.1",
                 "--source", "300,300,20", "--host-volume", "volume", "--no-plot", "--out", "out"],
                cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
                preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, "the volume 'volume' needs .* on the disk: File too large: the "
                             "file is larger than the system allows .see ulimit -f")
            self.assertFalse(os.path.exists(self.path("volume")))

    def test_a_signal_while_temporary_data_are_removed(self):
        arguments = ["--vp", "smooth.npy", *self.survey, *self.shots, "--snapshots", "disk", "--disk", "1G",
                     "--space", self.spaces()[0], "--no-plot", "--out", "out"]
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        scratch = self.path("out/.moho_snapshots")
        while process.poll() is None and not os.path.isdir(scratch):
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        for number in range(40000):
            with open(os.path.join(scratch, str(number)), "w", encoding="ascii"):
                pass
        process.send_signal(signal.SIGCONT)
        while process.poll() is None and os.path.exists(scratch) and len(os.listdir(scratch)) >= 40000:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        _, text = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, text)
        self.assertIn("ended by SIGTERM: the run was over before", text)
        left = os.listdir(self.path("out"))
        self.assertNotIn(".moho_lock", left)
        self.assertNotIn(".moho_snapshots", left)

    def test_a_killed_run(self):
        options = [*self.shots[:-3], "300,20:900,20:9", *self.shots[-2:], "--snapshots", "disk", "--error",
                   "lossless", *self.there, "--at-once", "1", "--space", self.spaces()[0]]
        whole = self.migrate(*options, out="whole")
        arguments = ["--vp", "smooth.npy", *self.survey, *options, "--no-plot", "--out", "out"]
        for number in (signal.SIGKILL, signal.SIGTERM):
            process = subprocess.Popen([self.program, *arguments, "--resume"], cwd=self.folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(lambda process=process: (process.poll() is None and process.kill(),
                                                     process.communicate()))
            while process.poll() is None and not os.path.exists(self.path("out/shot_0003.npy")):
                time.sleep(0.002)
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assert_spool_is_empty()
        done = self.call(*arguments, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(np.load(self.path("out/image.npy")), whole.image)

    def test_refusals(self):
        self.write("file", "text")
        for name in ("none", "file"):
            self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, "--snapshot-dir", name],
                        f"cannot write temporary data in '{name}' (No", "create the folder first")
        self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, "--snapshots", "memory", *self.there],
                    "--snapshot-dir was given with --snapshots memory (it belongs to --snapshots auto, "
                    "threads, disk): leave it out")
        self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, "--snapshots", "disk"],
                    "0 B of disk", "give --snapshot-dir FOLDER or --disk BYTES")
        if os.geteuid() == 0:
            return  # root may write everywhere
        os.chmod(self.path("spool"), 0o500)
        self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, "--snapshots", "disk", *self.there],
                    "cannot write temporary data in 'spool' (Permission denied)", "may write to")


class Ranks(migrate_shots_case.Case):
    def test_ranks_share_a_folder(self):
        self.needs_mpirun()
        os.mkdir(self.path("spool"))
        shots = [*self.shots, "--snapshots", "threads", "--space", self.spaces()[0]]
        one = self.migrate(*shots, out="one")
        folder, _ = self.succeed("--vp", "smooth.npy", *self.survey, *shots, "--snapshot-dir", "spool",
                                 out="two", ranks=2)
        np.testing.assert_array_equal(np.load(os.path.join(folder, "image.npy")), one.image)
        self.assertEqual(os.listdir(self.path("spool")), [])


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
