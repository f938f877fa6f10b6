# SPDX-License-Identifier: BSD-3-Clause
"""Tests of sums that sites send in place of their shots: bits, bytes, and injected faults.

Remote sites are folders of this machine, reached by ssh on the loopback interface.
"""

import glob
import os
import re
import signal
import subprocess
import sys

import distribute_case
import services
import support

# In place of rsync: damages the first sums that arrive, or kills the program that started it,
# once: transfers of two sites may end at the same time.
RSYNC = """#!/bin/sh
rsync "$@"
status=$?
for last; do :; done
case "$*" in
*sum.result*)
  echo x >> {count}
  if [ $(wc -l < {count}) -le {damaged} ]; then
    printf X | dd of="$last/sum.result" bs=1 seek=5000 conv=notrunc 2>/dev/null
  fi
  if {kills} && mkdir {count}_kill 2> /dev/null; then kill -9 $PPID; fi
  ;;
esac
exit $status
"""

# In place of rsync: removes results and sums of a site once, before its sum is transferred.
LOSS = """#!/bin/sh
case "$*" in
*{site}/*sum.result*)
  if mkdir {site}_lost 2> /dev/null; then
    rm -rf {site}/migrate_shots-*/site {site}/migrate_shots-*/sum.result
  fi
  ;;
esac
exec rsync "$@"
"""

# In place of rsync: lists the transfers of sums.
LIST = """#!/bin/sh
case "$*" in
*sum.result*) echo "$*" >> {list} ;;
esac
exec rsync "$@"
"""


class SumsCase(distribute_case.PlacesCase):
    name = "migrate_shots"
    survey = ["--vp", "vp.npy", "--spacing", "20", "--receivers", "0,20:1000,20:26", "--wavelet", "ricker:12",
              "--time", "0.8", "--space", "serial", "--shots", "modelled", "--true-vp", "true.npy",
              "--mute", "none", "--snapshots", "memory", "--condition", "laplacian,source", "--columns",
              "300,600"]
    results = ["image.npy", "image_laplacian.npy", "image_source.npy", "illumination_source.npy",
               "illumination_receiver.npy", "image.sgy", "offsets.npy", "data_before.npy", "data_after.npy"]

    @classmethod
    def setUpClass(cls):
        services.need(*services.Sshd.needs)

    def setUp(self):
        super().setUp()
        np = support.np
        z, x = np.meshgrid(np.arange(41), np.arange(51), indexing="xy")
        self.save("vp.npy", (2000.0 + 10.0 * z).astype(np.float32))
        self.save("true.npy", (2000.0 + 10.0 * z + 300.0 * (z > 25)).astype(np.float32))
        self.computer = self.other(self.name)
        self.sshd = services.Sshd(self.path("ssh"))
        self.addCleanup(self.sshd.stop)

    def remote(self, count, here=False, programs=None, more=""):
        """Writes a sites file with remote sites, and with local processes."""
        text = ""
        for k in range(count):
            where = (programs or {}).get(k, os.path.dirname(self.program))
            text += (f"[far{k}]\nhost = far\nfolder = {self.path(f'far{k}')}\nprograms = {where}\nslots = 1\n"
                     f"ssh_option = -F{self.sshd.config}\n{more}")
        self.sites(text + ("[here]\nkind = local\nslots = 1\n" if here else ""))

    def programs(self, name, script):
        """Makes a folder of the programs in which a shell script is the one of this test."""
        folder = self.path(name)
        os.mkdir(folder)
        for program in ("shot_worker", "distribute_shots"):
            os.symlink(self.other(program), os.path.join(folder, program))
        self.write(f"{name}/{self.name}", "#!/bin/sh\n" + script + f'\nexec {self.computer} "$@"\n')
        os.chmod(os.path.join(folder, self.name), 0o755)
        return folder

    def rsync(self, damaged=0, kills=False):
        return self.rsync_script(RSYNC.format(count=self.path("transfers"), damaged=damaged,
                                              kills="true" if kills else "false"))

    def rsync_script(self, text):
        self.write("rsync", text)
        os.chmod(self.path("rsync"), 0o755)
        return f"rsync = {self.path('rsync')}\n"

    def transfers(self):
        return len(open(self.path("transfers")).read().split())

    def words(self, shots, *more):
        return [*self.survey, "--source", f"100,20:900,20:{shots}", *more]

    def one(self, shots, *more):
        self.run_program(self.computer, *self.words(shots, *more), "--out", "one")

    def many(self, shots, *more, out="many", status=0):
        return self.run_program(self.computer, *self.words(shots), "--sites", self.path("sites.cfg"), "--out",
                                out, *more, status=status)

    def begin_many(self, shots, *more):
        return subprocess.Popen([self.computer, *self.words(shots), "--sites", self.path("sites.cfg"),
                                 "--no-plot", "--out", "many", *more],
                                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def assert_one_process(self, out="many"):
        self.same(self.results, "one", out)
        self.assertFalse(os.path.exists(self.path(out + "/.moho_sites")))

    def expect_folders_are_named(self):
        """A killed run that goes on without its sites names the folders that remain there."""
        self.remote(2, more=self.rsync(kills=True))
        self.many(4, status=-signal.SIGKILL)
        done = self.run_program(self.computer, *self.words(4), "--resume", "--out", "many")
        for k in range(2):
            named = re.search(f"note +folders of an earlier part of this run may remain at the site far{k}: "
                              r"far:(\S+) ", done.stdout)
            self.assertTrue(named, done.stdout)
            self.assertTrue(glob.glob(named[1]), named[1])
            others = set(os.listdir(self.path(f"far{k}"))) - {"inputs", ".moho_folder"}
            found = {os.path.basename(path) for path in glob.glob(named[1])}
            self.assertEqual({name for name in others if name.startswith(self.name)}, found)
        self.one(4)
        self.assert_one_process()
        again = self.run_program(self.computer, *self.words(4), "--out", "other")
        self.assertNotIn("earlier part", again.stdout)

    def kill_relay(self, path):
        """Kills a relay of this test. Returns 1 if it ran."""
        number = int(open(path).read().split()[0])
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                if os.path.dirname(path).encode() not in file.read():
                    return 0
            os.kill(number, signal.SIGKILL)
            return 1
        except (FileNotFoundError, ProcessLookupError):
            return 0


# ctest: cost 120, waits 2
class Sums(SumsCase):
    def test_bits_of_one_process(self):
        """Any number of sites and division of shots; also with --keep-shots."""
        self.one(6)
        for count, here, more in ((1, False, []), (2, True, ["--shots-per-job", "2"]),
                                  (3, False, ["--partition", "parts"])):
            self.remote(count, here)
            out = f"many{count}"
            self.many(6, *more, out=out)
            self.assert_one_process(out)
            self.assertEqual(glob.glob(self.path(out + "/shot_*")), [])
            sites = self.summary(out)["sites"]
            self.assertEqual(sum(site["shots"] for site in sites["list"]), 6)
            for site in sites["list"][:count]:
                self.assertGreater(site["sum_bytes"], 0)
            self.assertGreater(sites["seconds_after_last_shot"], 0.0)
            self.assertLess(sites["part_after_last_shot"], 1.0)
            self.assertEqual(glob.glob(self.path("far*/migrate_shots-*/*/*.result")), [])
            self.assert_work_of_sites(out)
        self.remote(2, True)
        self.many(6, "--keep-shots", out="kept")
        self.assert_one_process("kept")
        self.assertEqual(len(glob.glob(self.path("kept/shot_????.npy"))), 6)
        self.assertEqual([site["sum_bytes"] for site in self.summary("kept")["sites"]["list"]], [0, 0, 0])
        self.assert_work_of_sites("kept")

    def assert_work_of_sites(self, out):
        one, many = self.summary("one"), self.summary(out)
        for name in ("points", "points_of_whole_grids"):
            self.assertGreater(many["run"][name], 0.0)
            self.assertEqual(many["run"][name], one["run"][name])
        self.assertGreater(many["run"]["seconds_of_legs"], 0.0)
        self.assertGreater(many["rates"]["points_per_second"], 0.0)
        # seconds of shots at sites are not those of checks
        self.assertLess(many["seconds"]["check"], many["seconds"]["sites"])
        self.assertLessEqual(many["sites"]["last_shot"] - many["sites"]["begin"],
                             many["seconds"]["sites"] + many["seconds"]["stack"] + 0.1)

    def test_bytes_of_a_site_do_not_grow_with_its_shots(self):
        self.remote(1)
        sums, reports = {}, {}
        for shots in (2, 12):
            self.many(shots, out=f"of{shots}")
            (site,) = self.summary(f"of{shots}")["sites"]["list"]
            sums[shots], reports[shots] = site["sum_bytes"], site["bytes"]
        # numbers of shots: of all, of the image and of the gathers; digits of lengths
        self.assertLess(sums[12] - sums[2], 3 * 8 * 10 + 10)
        # a report has fewer bytes than one part of a shot's image, which has three
        self.assertLess((reports[12] - reports[2]) / 10, 4 * 51 * 41)

    def test_damaged_sums_are_refused(self):
        self.one(4)
        self.remote(1, more=self.rsync(damaged=2))
        done = self.many(4)
        self.assertIn("the sum of site far0: ", done.stdout)
        self.assertIn("is damaged", done.stdout)
        self.assertEqual(self.transfers(), 3)
        self.assert_one_process()

    def test_a_damaged_sum_is_computed_again(self):
        self.one(4)
        self.remote(1, more=self.rsync(damaged=3))
        done = self.many(4)
        self.assertIn("site far0: its sum cannot be collected; 4 of its shots are computed again",
                      done.stdout)
        self.assertEqual(self.summary("many")["sites"]["list"][0]["shots"], 8)
        self.assert_one_process()

    def test_resume_after_a_kill_while_sums_are_collected(self):
        self.one(4)
        self.remote(2, more=self.rsync(kills=True))
        self.many(4, status=-signal.SIGKILL)
        self.assertTrue(os.path.exists(self.path("many/.moho_sites/journal.txt")))
        done = self.many(4, "--resume")
        self.assertIn("4 shots are done", done.stdout)
        # no shot is computed again
        self.assertEqual([site["jobs"] for site in self.summary("many")["sites"]["list"]], [0, 0])
        self.assert_one_process()

    def test_resume_without_sites(self):
        self.expect_folders_are_named()

    def test_a_site_that_lost_its_shots(self):
        """Its shots are computed again, and counted once."""
        self.one(6)
        self.remote(2, more=self.rsync_script(LOSS.format(site=self.path("far0"))))
        text = self.many(6).stdout
        self.assertRegex(text,
                         "site far0: its sum cannot be collected; [1-5] of its shots are computed again")
        self.assert_one_process()

    def test_sums_grow_at_the_site_and_travel_at_its_last_shot(self):
        """The last chunk of a site writes the sum of all its shots: the site does not add at the end."""
        self.one(6)
        self.remote(2, more=self.rsync_script(LIST.format(list=self.path("sums"))))
        self.many(6)
        with open(self.path("sums"), encoding="utf-8") as file:
            sums = file.read().splitlines()
        self.assertEqual(len(sums), 2)
        self.assertNotIn(".sum-", "".join(sums))
        self.assertGreater(sum(site["jobs"] for site in self.summary("many")["sites"]["list"]), 2)
        self.assert_one_process()

    def connections(self):
        with open(self.path("ssh/sshd.log"), encoding="utf-8") as file:
            return file.read().count("Accepted publickey")

    def test_shots_beyond_the_window_of_a_sum(self):
        """A site whose sum does not hold its shots sends arrays; then the others do, too."""
        self.survey = ["0.2" if word == "0.8" else word for word in self.survey]
        self.one(4)
        self.remote(2)
        self.many(4)
        self.assert_one_process()

    def test_one_connection_of_a_site(self):
        """Requests and transfers of a run share it, unless the user's configuration names another one."""
        self.one(4)
        self.remote(2)
        self.many(4)
        self.assertEqual(self.connections(), 2 * 2)  # for the run, and for the removal of its files
        self.assert_one_process()
        with open(self.sshd.config, "a", encoding="utf-8") as file:
            file.write(f"  ControlPath {self.path('socket')}\n")
        self.many(4, out="direct")
        self.assertGreater(self.connections(), 4 * 2 * 2)
        self.assert_one_process("direct")

    def test_shots_travel_if_a_sum_cannot_hold_them(self):
        """The last shot is 10^8 times as large as the others."""
        np = support.np
        modeller = self.other("model_waves")
        survey = self.survey[:self.survey.index("--shots")] + ["--source", "100,20:900,20:4"]
        self.run_program(modeller, *survey, "--out", "gathers")
        name = self.path("gathers/gather_0004.npy")
        np.save(name, np.float32(1e4) * np.load(name))
        at = self.survey.index("--shots")
        self.survey = [*self.survey[:4], "--shots", "gathers", *self.survey[at + 4:]]
        self.run_program(self.computer, *self.survey, "--out", "one")
        self.remote(1)
        self.run_program(self.computer, *self.survey, "--out", "many", "--sites", self.path("sites.cfg"))
        self.assert_one_process()


# ctest: cost 121, waits 2
class Faults(SumsCase):
    def test_kills(self):
        """Failing and killed programs, killed relays, a cut connection, and kills of the program."""
        self.one(12)
        count = self.path("count")
        faulty = self.programs("faulty", f"""echo x >> {count}
case $(( $(wc -l < {count}) % 7 )) in
2) exit 1 ;;
5) kill -9 $$ ;;
esac""")
        self.remote(2, here=True, programs={0: faulty, 1: faulty})

        def kill_relays():
            for lock in glob.glob(self.path("far*/*/relay.pid")):
                self.kill_relay(lock)

        kills = self.finish_with_kills(
            lambda resume: self.begin_many(12, "--max-attempts", "50", "--pause", "0.2", *resume),
            seconds=(0.2, 0.8), kills=5, attempts=100, seed=5, after_kill=kill_relays)
        self.assertGreater(kills, 2)
        self.assertGreater(len(open(count).read().split()), 7)
        self.assert_one_process()


# ctest: cost 90, waits 2
class Gradients(SumsCase):
    """Gradients from sums of sites have the bits of one process."""

    name = "invert_waves"
    survey = ["--vp", "vp.npy", "--spacing", "20", "--receivers", "0,20:1000,20:26", "--wavelet", "ricker:8",
              "--time", "0.8", "--space", "serial", "--data", "modelled", "--true-vp", "true.npy",
              "--boundary", "sponge:12", "--iterations", "1"]
    results = ["vp.npy", "gradient_vp.npy", "illumination.npy", "gather_modelled.npy"]

    def history(self, folder):
        with open(self.path(folder + "/history.csv"), encoding="utf-8") as file:
            return [[value for k, value in enumerate(line.split(",")) if k != 10] for line in file]

    def assert_one_process(self, out="many"):
        super().assert_one_process(out)
        self.assertEqual(self.history("one"), self.history(out))

    def test_bits_of_one_process(self):
        """Any number of sites and division of shots; also with --keep-shots."""
        self.one(5)
        for count, here, more in ((1, False, []), (2, True, ["--shots-per-job", "2"])):
            self.remote(count, here)
            out = f"many{count}"
            self.many(5, *more, out=out)
            self.assert_one_process(out)
            sites = self.summary(out)["sites"]
            evaluations = len(self.history(out)) - 1
            self.assertEqual(sum(site["shots"] for site in sites["list"]), 5 * evaluations)
            self.assertGreater(sum(site["sum_bytes"] for site in sites["list"]), 0)
            self.assertGreater(sites["seconds_after_last_shot"], 0.0)
            self.assertLess(sites["part_after_last_shot"], 1.0)
            self.assertEqual(glob.glob(self.path("far*/invert_waves-*/*/*.result")), [])
        self.many(5, "--lags", "4", out="lags")  # the last shots are those of the image
        sites = self.summary("lags")["sites"]
        self.assertGreater(sites["seconds_after_last_shot"], 0.0)
        self.assertLess(sites["part_after_last_shot"], 1.0)
        self.many(5, "--keep-shots", out="kept")
        self.assert_one_process("kept")
        self.assertEqual([site["sum_bytes"] for site in self.summary("kept")["sites"]["list"]], [0, 0, 0])

    def test_bytes_of_a_site_do_not_grow_with_its_shots(self):
        self.remote(1)
        sums, reports = {}, {}
        for shots in (2, 12):
            self.many(shots, out=f"of{shots}")
            (site,) = self.summary(f"of{shots}")["sites"]["list"]
            evaluations = len(self.history(f"of{shots}")) - 1
            sums[shots], reports[shots] = site["sum_bytes"] / evaluations, site["bytes"] / evaluations
        # numbers of shots, and digits of lengths
        self.assertLess(sums[12] - sums[2], 8 * 10 + 10)
        # a report has fewer bytes than the gradient of a shot
        self.assertLess((reports[12] - reports[2]) / 10, 4 * 51 * 41)

    def test_resume_after_a_kill_while_sums_are_collected(self):
        self.one(4)
        self.remote(2, more=self.rsync(kills=True))
        self.many(4, status=-signal.SIGKILL)
        self.assertTrue(glob.glob(self.path("many/.moho_sites/*/journal.txt")))
        self.many(4, "--resume")
        self.assert_one_process()

    def test_resume_without_sites(self):
        self.expect_folders_are_named()


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
