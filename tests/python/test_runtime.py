# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 30, threads 2
"""The package in a process: its start and end, threads, interrupts, progress, forks, memory."""

import gc
import os
import resource
import subprocess
import sys
import threading
import unittest
from functools import partial

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

# long() computes for a minute unless it is ended
LONG = """
import numpy as np, os, signal, sys, threading, time, moho
velocity = np.full((1200, 1200), 2000, np.float32)
sources = np.column_stack([np.linspace(0, 11990, 40), np.zeros(40)])
def long(**more):
    moho.trace_rays(velocity, spacing=10, sources=sources, radius=8, **more)
"""


def times(velocity, **more):
    return moho.first_arrivals(velocity, spacing=10, sources=(100, 0), **more)


class Start(unittest.TestCase):
    def test_import_is_quick_and_quiet_and_starts_nothing(self):
        done = support.run_python("""
            import numpy, sys, time
            start = time.perf_counter()
            import moho
            print(time.perf_counter() - start, "moho._core" in sys.modules, "scipy" in sys.modules)
            moho.build()
            """)
        self.assertEqual(done.stderr, "")
        seconds, core, scipy = done.stdout.split()
        self.assertLess(float(seconds), 0.5)
        self.assertEqual((core, scipy), ("False", "False"))

    def test_threads_are_those_that_were_asked_for(self):
        code = "import moho\nprint(moho.build()['threads'])"
        self.assertEqual(support.run_python(code, MOHO_NUM_THREADS="3").stdout, "3\n")
        self.assertEqual(support.run_python(code, OMP_NUM_THREADS="2").stdout, "2\n")
        code = "import moho\nmoho.configure(threads=2)\nprint(moho.build()['threads'])"
        self.assertEqual(support.run_python(code, MOHO_NUM_THREADS="3").stdout, "2\n")

    def test_refuses_other_numbers_of_threads(self):
        code = "import moho\nmoho.build()"
        for asked in ("0", "513", "many"):
            self.assertIn(
                "MOHO_NUM_THREADS is '" + asked, support.run_python(code, MOHO_NUM_THREADS=asked).stderr
            )
        with self.assertRaisesRegex(moho.InputError, "threads is 0"):
            moho.configure(threads=0)
        moho.build()
        with self.assertRaisesRegex(moho.InputError, "before the first computation"):
            moho.configure(threads=2)

    def test_processes_share_the_memory(self):
        code = """
            import moho, numpy as np
            def limit():
                vp = np.full((61, 31), 2000, np.float32)
                waves = {"spacing": 10, "wavelet": "ricker:12"}
                shots = moho.Shots(vp, **waves, time=0.3, sources=(300, 20))
                gather = shots((300, 20), [(0, 20), (600, 20)])
                return moho.Objective(vp, [gather], **waves).plan["memory_limit"]
            if False: moho.configure(processes=4)
            first = limit()
            moho.configure(processes=8, processes_of_device=2)
            print(limit() / first)
            """
        # other processes of the machine change what is free
        self.assertAlmostEqual(float(support.run_python(code).stdout), 1 / 8, delta=0.05)
        early = code.replace("if False", "if True")
        self.assertAlmostEqual(float(support.run_python(early).stdout), 1 / 2, delta=0.15)
        for more, said in (({"processes": 0}, "processes is 0 .allowed: 1 to 65536"),
                           ({"processes": True}, "processes is True"),
                           ({"processes": 2, "processes_of_device": 3},
                            "processes_of_device is 3 .allowed: 1 to 2"),
                           ({"processes_of_device": 2}, "processes_of_device is 2 .allowed: 1 to 1")):
            with self.assertRaisesRegex(moho.InputError, said):
                moho.configure(**more)

    def test_build_is_described(self):
        build = moho.build()
        self.assertEqual(build["version"], moho.__version__)
        self.assertEqual(build["threads"], int(os.environ["OMP_NUM_THREADS"]))
        self.assertRegex(build["kokkos"], r"^\d+\.\d+\.\d+$")

    def test_module_exports_no_symbol_but_its_entry(self):
        import moho._core

        names = subprocess.run(
            ["nm", "-D", "--defined-only", moho._core.__file__], capture_output=True, text=True
        )
        if names.returncode != 0:
            self.skipTest("nm is not installed")
        found = [line.split()[-1] for line in names.stdout.splitlines()]
        self.assertIn("PyInit__core", found)
        self.assertEqual([name for name in found if "Kokkos" in name or "4moho" in name], [])


class Threads(unittest.TestCase):
    def test_every_thread_computes_with_all_threads(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(moho.build()["threads"]))
        thread.start()
        thread.join()
        self.assertEqual(found, [moho.build()["threads"]])

    def test_threads_of_a_pool_obtain_the_same_results(self):
        models = [support.rough(81, 61, seed=k) for k in range(8)]
        expected = [times(model) for model in models]
        found = [None] * 8

        def compute(k):
            found[k] = times(models[k])

        threads = [threading.Thread(target=compute, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one, other in zip(expected, found):
            self.assertEqual(one.tobytes(), other.tobytes())

    def test_those_of_openmp_end_with_a_long_call_in_processes_with_torch(self):
        code = """
            import os, sys, types
            {load}
            import moho, numpy
            def count(): return len(os.listdir("/proc/self/task"))
            threads = moho.build()["threads"]
            short = count()
            shots = moho.Shots(numpy.full((301, 301), 2000, "f4"), spacing=10, wavelet="ricker:10", time=9)
            shots((1500, 100), [(1000, 100)])
            print(threads, short, count())
            """
        if "GNU" not in moho.build()["compiler"]:
            self.skipTest("another runtime of OpenMP")
        torch = "sys.modules['torch'] = types.ModuleType('torch')"
        for load, expected in (("", "3 4 4\n"), (torch, "3 [24] 2\n")):  # the first call may take long
            done = support.run_python(code.format(load=load), MOHO_NUM_THREADS="3", OPENBLAS_NUM_THREADS="1")
            self.assertRegex(done.stdout, f"^{expected}$")

    def test_the_lock_of_the_interpreter_is_free_meanwhile(self):
        done, count = threading.Event(), 0

        def compute():
            moho.trace_rays(support.gradient(401, 401), spacing=10, sources=[(2000, 0), (0, 0)])
            done.set()

        thread = threading.Thread(target=compute)
        thread.start()
        while not done.is_set():
            count += 1
        thread.join()
        self.assertGreater(count, 100)


class Progress(unittest.TestCase):
    def test_rises_and_names_the_work(self):
        seen = []
        sources = np.column_stack([np.linspace(0, 4000, 40), np.zeros(40)])
        moho.trace_rays(
            support.gradient(401, 401),
            spacing=10,
            sources=sources,
            progress=lambda fraction, text: seen.append((fraction, text, threading.get_ident())),
        )
        fractions = [fraction for fraction, _, _ in seen]
        self.assertGreater(len(seen), 1)
        self.assertEqual(fractions, sorted(fractions))
        self.assertTrue(0.0 <= fractions[0] and fractions[-1] <= 1.0)
        self.assertTrue(all(text and thread == threading.get_ident() for _, text, thread in seen))

    def test_bars_are_drawn_and_removed(self):
        done = support.run_python("""
            import numpy as np, moho
            moho.trace_rays(np.full((201, 201), 2000.0), spacing=10, sources=[(0, 0)] * 4, progress=True)
            """)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "#+\\.* +[0-9]+ %")
        self.assertTrue(done.stderr.endswith(" \n"), "the bar is overwritten")  # \r as text
        with self.assertRaisesRegex(moho.InputError, "progress is 3"):
            times(support.gradient(21, 21), progress=3)

    def test_its_exception_ends_the_work(self):
        sources = np.column_stack([np.linspace(0, 8000, 400), np.zeros(400)])
        trace = partial(moho.trace_rays, support.gradient(801, 401), spacing=10, sources=sources)
        support.expect_progress_to_end(self, trace)
        self.assertTrue(np.isfinite(times(support.gradient(61, 41))).all())

    def test_a_signal_ends_the_work(self):
        done = support.run_python(
            LONG
            + """
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    long()
except KeyboardInterrupt:
    print(time.monotonic() - start)
print(moho.build()["threads"])
"""
        )
        seconds, threads = done.stdout.split()
        self.assertLess(float(seconds), 10.0, "seconds; the signal is sent after one")
        self.assertEqual((threads, done.stderr, done.returncode), ("2", "", 0))


class End(unittest.TestCase):
    def expect_end(self, code, status=0, errors=""):
        done = support.run_python(LONG + code)
        self.assertEqual((done.returncode, done.stderr), (status, errors))

    def test_with_arrays_and_objects_alive(self):
        self.expect_end("""
import builtins
velocity = velocity[:100, :100].copy()
rays = moho.trace_rays(velocity, spacing=10, sources=(0, 0), receivers=(900, 900))
builtins.kept = [rays, rays.points, moho.first_arrivals(velocity, spacing=10, sources=(0, 0))]
kept.append(kept)
class Cycle: pass
cycle = Cycle(); cycle.me = cycle; cycle.rays = rays
""")

    def test_after_errors_and_exits(self):
        self.expect_end(
            """
try:
    moho.first_arrivals(-velocity, spacing=10, sources=(0, 0))
except ValueError as error:
    kept = error
sys.exit(3)
""",
            3,
        )

    def test_while_another_thread_computes(self):
        self.expect_end("""
started = threading.Event()
threading.Thread(target=long, kwargs={"progress": lambda f, t: started.set()}, daemon=True).start()
started.wait()
""")

    def test_calls_in_exit_handlers_are_refused(self):
        self.expect_end("""
import atexit
def late():
    try:
        long()
    except moho.Error as error:
        assert "interpreter is ending" in str(error), error
    else:
        print("computed", file=sys.stderr)
atexit.register(late)  # runs after the handler of the package
moho.build()
""")

    def test_without_a_computation(self):
        self.expect_end("")


class Processes(unittest.TestCase):
    WORK = """
import multiprocessing, os
def work(n):
    try:
        return float(moho.first_arrivals(velocity[:50, :50], spacing=10, sources=(0, 0))[-1, -1])
    except moho.Error as error:
        return str(error)
"""

    def test_a_fork_after_a_computation_is_refused(self):
        done = support.run_python(
            LONG
            + self.WORK
            + """
work(0)
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.map(work, [1])[0], flush=True)  # or the child writes it again
child = os.fork()
if child == 0:
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), work(1) > 0)
"""
        )
        refused, after = done.stdout.splitlines()
        self.assertIn("spawn", refused)
        self.assertEqual((after, done.returncode), ("5 True", 0), done.stderr)

    def test_a_fork_before_computes(self):
        done = support.run_python(
            LONG
            + self.WORK
            + """
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, [1, 2]) == [work(1)] * 2)
"""
        )
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))


class Memory(unittest.TestCase):
    def test_does_not_grow_with_a_thousand_calls(self):
        velocity = support.gradient(61, 41)
        mesh = (4, 4, 4, 0, 400, 0, 400, 0, 400)
        densities, stations = np.ones((4, 4, 4)), [(0, 0, -10)]
        line = [(100, 20), (500, 20)]

        def call():
            times(velocity, each=True)
            moho.trace_rays(velocity, spacing=10, sources=(0, 0), receivers=(500, 300)).matrix_parts()
            moho.gravity(mesh=mesh, densities=densities, stations=stations)
            moho.decompress(moho.compress(velocity))
            with moho.Shots(velocity, spacing=10, wavelet="ricker:15", time=0.02) as shots:
                shots((300, 20), line)
            try:
                times(-velocity)
            except ValueError:
                pass

        for _ in range(50):
            call()
        gc.collect()
        before = resident()
        for _ in range(1000):
            call()
        gc.collect()
        self.assertLess(resident() - before, 5e6, "bytes: the results of 1000 calls take more than 60 MB")

    def test_of_a_model_is_not_copied(self):
        done = support.run_python("""
            import numpy as np, moho, resource
            moho.first_arrivals(np.full((9, 9), 2000.0), spacing=1, sources=(0, 0))
            velocity = np.full((2000, 2000), 2000.0)
            out = np.zeros_like(velocity)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            from moho._arrays import field
            assert field(velocity, "velocity") is velocity
            print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
            """)
        self.assertLess(int(done.stdout), 8e6, done.stderr)


def resident():
    """Bytes of memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    unittest.main()
