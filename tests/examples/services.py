# SPDX-License-Identifier: BSD-3-Clause
"""A one-node Slurm cluster and an ssh server on this machine for a test.

They come from Debian's packages and use separate files, keys, sockets and ports. Services of the machine are
not affected.
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest


def missing(*programs):
    """Returns the programs that are not installed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in programs if shutil.which(name, path=path) is None]


def need(*programs):
    """Skips tests if programs are missing; raises RuntimeError instead if MOHO_REQUIRE_SERVICES is set."""
    absent = missing(*programs)
    if not absent:
        return
    text = "there is no " + ", ".join(absent) + ": cmake/bootstrap.sh --developer installs them"
    if os.environ.get("MOHO_REQUIRE_SERVICES"):
        raise RuntimeError(text)
    raise unittest.SkipTest(text)


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """Processes that end with the test."""

    def __init__(self):
        self.processes = []

    def start(self, command, log, **more):
        process = subprocess.Popen(command, stdout=open(log, "ab"), stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, **more)
        self.processes.append(process)
        return process

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Sshd(Service):
    """An ssh server on the loopback interface. `host` is its name for ssh with -F `config`."""

    needs = ("sshd", "ssh", "ssh-keygen", "rsync")

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.port = free_port()
        self.host = "far"

        def path(name):
            return os.path.join(folder, name)

        for name in ("host_key", "user_key"):
            subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", path(name)],
                           check=True)
        shutil.copy(path("user_key.pub"), path("authorized_keys"))
        os.chmod(path("authorized_keys"), 0o600)
        with open(path("sshd_config"), "w") as file:
            file.write(f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {path('host_key')}\n"
                       f"AuthorizedKeysFile {path('authorized_keys')}\nPidFile {path('sshd.pid')}\n"
                       "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin "
                       "prohibit-password\nSubsystem sftp internal-sftp\nMaxStartups 100\n"
                       # the default of OpenSSH 9 takes 0.1 s of processor time at each end of a connection
                       "KexAlgorithms curve25519-sha256\n"
                       # commands do not run the start-up files of the user's shell
                       f"SetEnv HOME={folder}\n")
        self.config = path("ssh_config")
        with open(self.config, "w") as file:
            file.write(f"Host far\n  HostName 127.0.0.1\n  Port {self.port}\n  User {getpass.getuser()}\n"
                       f"  IdentityFile {path('user_key')}\n  IdentitiesOnly yes\n  StrictHostKeyChecking "
                       f"no\n  UserKnownHostsFile {path('known_hosts')}\n  LogLevel ERROR\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self.begin()

    def begin(self):
        self.server = self.start([program("sshd"), "-D", "-e", "-f",
                                  os.path.join(self.folder, "sshd_config")],
                                 os.path.join(self.folder, "sshd.log"))
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("sshd does not start: " + open(os.path.join(self.folder, "sshd.log")).read())

    def cut(self):
        """Ends the server and all its connections."""
        sessions = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.server.pid)], capture_output=True,
                                  text=True)
        self.server.terminate()
        self.server.wait()
        for number in sessions.stdout.split():
            try:
                os.kill(int(number), signal.SIGKILL)
            except ProcessLookupError:
                pass


class Slurm(Service):
    """A cluster of one node with `cpus` processors. Its commands need the variables of `environment`."""

    needs = ("slurmctld", "slurmd", "sbatch", "munged", "mungekey")

    def __init__(self, folder, cpus=4, more=""):
        super().__init__()
        self.folder = folder
        path = self.path = lambda name: os.path.join(folder, name)
        for name in ("state", "spool", "munge"):
            os.makedirs(path(name), mode=0o755, exist_ok=True)
        os.chmod(folder, 0o755)
        subprocess.run([program("mungekey"), "-c", "-k", path("munge/key")], check=True)
        os.chmod(path("munge/key"), 0o600)
        self.start([program("munged"), "--foreground", "--force", "--key-file", path("munge/key"), "--socket",
                    path("munge/socket"), "--pid-file", path("munge/pid"), "--log-file", path("munge/log"),
                    "--seed-file", path("munge/seed")], path("munged.log"))
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        with open(path("slurm.conf"), "w") as file:
            file.write(f"ClusterName=moho\nSlurmctldHost={host}(127.0.0.1)\n"
                       f"SlurmUser={user}\nSlurmdUser={user}\n"
                       f"AuthType=auth/munge\nAuthInfo=socket={path('munge/socket')}\nCredType=cred/munge\n"
                       f"SlurmctldPort={free_port()}\nSlurmdPort={free_port()}\n"
                       f"StateSaveLocation={path('state')}\n"
                       f"SlurmdSpoolDir={path('spool')}\nSlurmctldPidFile={path('slurmctld.pid')}\n"
                       f"SlurmdPidFile={path('slurmd.pid')}\nSlurmctldLogFile={path('slurmctld.log')}\n"
                       f"SlurmdLogFile={path('slurmd.log')}\nProctrackType=proctrack/pgid\n"
                       "TaskPlugin=task/none\nMpiDefault=none\nSwitchType=switch/none\nReturnToService=2\n"
                       "SlurmdParameters=config_overrides\nSelectType=select/cons_tres\n"
                       "SelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n"
                       "SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0\n"
                       "JobAcctGatherType=jobacct_gather/none\n"
                       "AccountingStorageType=accounting_storage/none\n"
                       f"KillWait=2\nMinJobAge=300\n{more}"
                       f"NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN\n"
                       "PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP\n")
        self.environment = {"SLURM_CONF": path("slurm.conf")}
        self.host = host
        for _ in range(100):
            if os.path.exists(path("munge/socket")):
                break
            time.sleep(0.05)
        self.begin_controller(clean=True)
        self.start([program("slurmd"), "-D", "-f", path("slurm.conf")], path("slurmd.out"),
                   env={**os.environ, **self.environment})
        for _ in range(300):
            if "idle" in self.command("sinfo", "-h", "-o", "%T").stdout:
                return
            time.sleep(0.1)
        raise RuntimeError("Slurm does not start: " + open(path("slurmctld.log")).read()[-3000:] +
                           (open(path("slurmd.log")).read()[-3000:] if os.path.exists(path("slurmd.log"))
                            else ""))

    def begin_controller(self, clean=False):
        self.controller = self.start([program("slurmctld"), "-D", "-f", self.path("slurm.conf"),
                                      *(["-c"] if clean else [])],
                                     self.path("slurmctld.out"), env={**os.environ, **self.environment})

    def command(self, *words):
        return subprocess.run(words, capture_output=True, text=True, env={**os.environ, **self.environment})

    def jobs(self):
        """Returns lines name|state|id of all known jobs."""
        return self.command("squeue", "-h", "-t", "all", "-r", "-o", "%j|%T|%i").stdout.split()
