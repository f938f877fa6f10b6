# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 5
"""Wrong arguments of the package: each is refused with the name that it has in Python."""

import copy
import os
import pickle
import sys
import tempfile
import unittest
import warnings
from dataclasses import replace

sys.dont_write_bytecode = True
import moho
import numpy as np

try:
    import moho.linear
    import scipy.sparse.linalg
except ImportError:
    scipy = None

NAN = float("nan")
MESH = (4, 4, 2, 0, 400, 0, 400, 50, 250)
STATIONS = [(x, y, 0) for y in (50, 150, 250, 350) for x in (50, 150, 250, 350)]
WAVES = {"spacing": 10, "wavelet": "ricker:18"}
LINE = [(x, 20.0) for x in range(0, 301, 50)]


class Refused(unittest.TestCase):
    def refused(self, call, *words, error=moho.InputError):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(error) as caught:
                call()
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        self.assertNotIn("--", text)
        self.assertNotIn("incompatible", text)

    def each(self, call, name, *values):
        for value in values:
            with self.subTest(name=name, value=value):
                self.refused(lambda value=value: call(**{name: value}), name)


class Arrays(Refused):
    def setUp(self):
        self.velocity = np.full((21, 11), 2000.0)

    def arrivals(self, velocity=None, **given):
        return moho.first_arrivals(
            self.velocity if velocity is None else velocity, **{"spacing": 10, "sources": (0, 0)} | given
        )

    def test_without_sources(self):
        none = np.zeros((0, 2))
        for function in (moho.first_arrivals, moho.trace_rays):
            self.refused(lambda f=function: f(self.velocity, spacing=10, sources=none), "sources", "none")
        shots = moho.Shots(self.velocity, time=0.1, **WAVES)
        self.refused(lambda: shots(none, LINE), "sources", "none")
        self.refused(lambda: shots((100, 20), none), "receivers", "none")
        self.refused(lambda: shots.survey(none, LINE), "sources", "none")

    def test_that_are_no_real_numbers(self):
        ragged = [[1.0, 2.0], [3.0]]
        self.refused(lambda: self.arrivals(ragged), "velocity", "rows of equal length")
        self.each(self.arrivals, "sources", np.zeros(2, complex), ["0", "0"], None, [(None, 0)], ragged)
        self.each(self.arrivals, "spacing", "10", True, None, 10j)
        self.each(self.arrivals, "origin", "0", 1j)

    def test_with_masked_values(self):
        masked = np.ma.masked_greater(self.velocity, 1.0)
        self.refused(lambda: self.arrivals(masked), "velocity", "masked", "filled()")
        whole = self.arrivals(np.ma.array(self.velocity))
        self.assertTrue(np.array_equal(whole, self.arrivals()))

    def test_messages_have_one_short_line(self):
        rows = np.zeros((21, 11))
        for name in ("spacing", "origin", "order", "method", "memory", "progress", "factored"):
            for value in (rows, rows[:2, :2], rows.tolist(), "x" * 5000):
                with self.assertRaises(moho.InputError) as caught:
                    self.arrivals(**{name: value})
                text = str(caught.exception)
                self.assertTrue(text.startswith(name), text)
                self.assertNotIn("\n", text)
                self.assertLess(len(text), 250, text)
        self.refused(lambda: self.arrivals(origin=rows), "origin is an array of 21 x 11 float64")

    def test_without_nodes(self):
        none = np.zeros((0, 11))
        for call in (
            self.arrivals,
            lambda vp: moho.trace_rays(vp, spacing=10, sources=(0, 0)),
            lambda vp: moho.Shots(vp, time=0.1, **WAVES),
        ):
            self.refused(lambda call=call: call(none), "its shape is 0 x 11", "1 or more nodes")
        self.refused(lambda: moho.compress(none), "field: its shape is 0 x 11")

    def test_flags(self):
        self.each(self.arrivals, "each", "no", 2, None, np.zeros((2, 2)))
        self.each(self.arrivals, "factored", "x")
        self.assertEqual(self.arrivals(each=np.True_).shape, (1, 21, 11))
        self.each(lambda **k: moho.Shots(self.velocity, time=0.1, **WAVES, **k), "free_surface", "False", [])

    def test_derivatives_of_times(self):
        given = {"spacing": 10, "sources": (0, 0)}
        for wrong in (np.full((1, 21, 11), NAN), np.zeros((1, 21, 11), complex), "a", None):
            self.refused(
                lambda wrong=wrong: moho.first_arrivals_gradient(self.velocity, wrong, **given), "derivative"
            )

    def test_interrupts_of_sequential_methods(self):
        class Ended(Exception):
            pass

        def end(fraction, text):
            if 0.0 < fraction < 0.9:
                raise Ended(text)

        sources = [(10 * k, 0) for k in range(200)]
        with self.assertRaisesRegex(Ended, "Dijkstra"):
            moho.trace_rays(
                np.full((201, 101), 2000.0), spacing=10, sources=sources, method="dijkstra", progress=end
            )

    def test_positions_of_rays(self):
        rays = moho.trace_rays(self.velocity, spacing=10, sources=(0, 0), receivers=[(200, 100), (0, 100)])
        self.assertTrue(np.array_equal(rays.path(-1, -1), rays.path(0, 1)))
        self.refused(lambda: rays.path("a", 0), "source is 'a'")
        self.refused(lambda: rays.path(0, 0.5), "receiver is 0.5")
        self.refused(lambda: rays.path(1, 0), "source is 1", error=IndexError)

    def test_copies_of_rays(self):
        for shape, at in (((21, 11), 2), ((9, 8, 7), 3)):
            for ends in (None, [(50,) * at, (0,) * at]):
                rays = moho.trace_rays(np.full(shape, 2000.0), spacing=10, sources=(0,) * at, receivers=ends)
                for other in (copy.copy(rays), copy.deepcopy(rays), pickle.loads(pickle.dumps(rays))):
                    for name in ("times", "traveltimes", "first", "points"):
                        self.assertTrue(np.array_equal(getattr(other, name), getattr(rays, name)), name)
                    for mine, its in zip(rays.matrix_parts(), other.matrix_parts()):
                        self.assertTrue(np.array_equal(mine, its))
                self.assertNotEqual(rays, pickle.loads(pickle.dumps(rays)))  # without an ambiguous comparison


class Gravity(Refused):
    def invert(self, data=None, **given):
        given = {"stations": STATIONS, "errors": 0.01, "mesh": MESH} | given
        return moho.invert_gravity(self.data if data is None else data, **given)

    def setUp(self):
        density = np.zeros((2, 4, 4))
        density[0, 1:3, 1:3] = 300.0
        self.data = moho.gravity(mesh=MESH, densities=density, stations=STATIONS)

    def test_arguments_of_the_field(self):
        def field(**k):
            return moho.gravity([[-50, 50, -50, 50, 100, 200, 500.0]], stations=(0, 0, 0), **k)

        self.each(field, "components", None, 5, {"gz": 1}, [["gz"], ["gx", "gy"]], np.array(1), [1], [None])
        for names in ("gz,gx", ["gz", "gx"], ("gz", "gx"), np.array(["gz", "gx"])):
            self.assertEqual(field(components=names).shape, (2, 1))
        self.each(field, "far_tolerance", -1, NAN, 0.5)
        self.each(field, "check_overlaps", "yes")

    def test_numbers_of_prisms(self):
        for count in (float("inf"), 1e300, 2.5, 0):
            mesh = (count, *MESH[1:])
            self.refused(
                lambda mesh=mesh: moho.gravity(mesh=mesh, densities=np.ones((2, 4, 4)), stations=(0, 0, 0)),
                "mesh is",
            )
            self.refused(lambda mesh=mesh: self.invert(mesh=mesh), "mesh is")

    def test_arguments_of_the_inversion(self):
        flat = np.zeros((4, 4))
        box = (50, 50, 100, 100)
        self.each(self.invert, "callback", 5)
        self.each(self.invert, "topography_box", box)
        for wrong in ((50, 50, 0, 100), (50, 50, 100, -1), (NAN, 50, 100, 100)):
            self.refused(
                lambda wrong=wrong: self.invert(topography=flat, topography_box=wrong), "topography_box"
            )
        self.refused(lambda: self.invert(topography=flat * NAN, topography_box=box), "topography", "finite")
        self.refused(
            lambda: self.invert(topography=flat[:2], topography_box=box), "topography: it runs from y = 50"
        )
        self.refused(lambda: self.invert(bounds=(0, 400), method="cg"), "method cg and bounds")

    def remarks(self, **given):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.invert(**given)
        text = "; ".join(str(one.message) for one in caught)
        self.assertNotIn("--", text)
        return text

    def test_remarks_are_warnings_in_words_of_python(self):
        self.assertEqual(self.remarks(), "")
        self.assertEqual(self.remarks(rounds=3), "rounds has no effect without compact")
        self.assertIn("compact rounds without bounds", self.remarks(compact=20.0))
        self.assertIn("g/cm^3", self.remarks(bounds=(-0.3, 0.3)))
        self.assertIn("a smaller beta than 1000000, or None", self.remarks(beta=1e6))
        self.assertIn("Check errors, trend", self.remarks(minimisations=1))
        inside = self.remarks(stations=[(x, y, 100) for x, y, _ in STATIONS])
        self.assertIn("z = -100: change the sign", inside)
        self.assertNotIn("column", inside)


class Waves(Refused):
    @classmethod
    def setUpClass(cls):
        cls.vp = np.full((31, 21), 2000.0, np.float32)
        cls.shots = moho.Shots(cls.vp, time=0.3, **WAVES)
        cls.gathers = cls.shots.survey([(100, 20), (200, 20)], LINE)

    def made(self, **given):
        return moho.Shots(self.vp, **{"time": 0.3} | WAVES | given)

    def migration(self, **given):
        return moho.Migration(self.vp, self.gathers, **WAVES | given)

    def objective(self, **given):
        return moho.Objective(self.vp, self.gathers, **WAVES | given)

    def test_shots(self):
        vti = {"epsilon": 0.2, "delta": 0.1, "equations": "fletcher"}
        self.each(lambda **k: self.made(**vti, **k), "sigma", 0, NAN, -1)
        self.each(lambda **k: self.made(epsilon=0.2, delta=0.1, **k), "source_taper", -1, NAN)
        self.refused(lambda: self.made(faces="top=rigid", free_surface=True), "free_surface", "faces")
        self.assertEqual(self.made(faces="cpml:20,top=free", free_surface=True).faces, "cpml:20,top=free")
        self.refused(lambda: self.made(wavelet=None), "wavelet", "'ricker:15'")
        for given, start in (({"dt": 1.0}, "dt is 1 s"), ({"wavelet": "ricker:1000"}, "wavelet: dt is")):
            with self.assertRaises(moho.InputError) as caught:
                self.made(**given)
            self.assertTrue(str(caught.exception).startswith(start), caught.exception)
        self.each(lambda **k: self.shots((100, 20), LINE, **k), "keep", None, 5, "vs")
        words = np.full(self.vp.shape, "none", object)
        self.each(self.made, "parameters", np.zeros((2, 2)), 16.5, True, "16")
        self.each(self.made, "expand", words, None)
        self.each(lambda **k: self.made(devices=2, **k), "concurrent_shots", words, None)

    def gradient(self, sources=(100, 20), derivative=None, vp=None, **given):
        derivative = np.ones_like(self.gathers[0].traces) if derivative is None else derivative
        return self.shots.gradient(sources, LINE, derivative, self.vp if vp is None else vp, **given)["vp"]

    def test_derivatives_of_traces(self):
        traces = self.gathers[0].traces
        self.each(self.gradient, "derivative", traces * NAN, traces * 1j, traces[:2], "a")
        self.each(self.gradient, "wavefield", 5, "a")
        self.each(self.gradient, "wanted", None, 5)

    def test_beyond_single_precision(self):
        traces = self.gathers[0].traces.astype(np.float64)
        traces[1, 2] = 1e300
        self.each(self.gradient, "derivative", traces)
        self.each(self.made, "density", 1e300, np.full(self.vp.shape, 1e300))
        self.refused(lambda: moho.Objective(self.vp, replace(self.gathers[0], traces=traces), **WAVES),
                     "gathers[0].traces is 1e+300 at [1, 2]", "3.4e+38")

    def test_gathers(self):
        one = self.gathers[0]
        for wrong, name in (
            (replace(one, start=NAN), "gathers[0].start is nan"),
            (replace(one, traces=one.traces[:, :0]), "gathers[0].traces: they have 0 samples"),
            (replace(one, traces=one.traces[:, :1]), "gathers[0].traces: they have 1 samples"),
        ):
            for planned in (moho.Migration, moho.Objective):
                self.refused(lambda planned=planned, wrong=wrong: planned(self.vp, wrong, **WAVES), name)

    def test_copies_for_other_processes(self):
        with self.migration() as migration, self.objective() as objective:
            for one in (self.shots, migration, objective, objective.search()):
                for copied in (pickle.dumps, copy.copy, copy.deepcopy):
                    name = f"moho.{type(one).__name__} cannot be pickled or copied"
                    self.refused(lambda one=one, copied=copied: copied(one), name, error=TypeError)
            plan = pickle.loads(pickle.dumps(migration.plan))
        self.assertEqual((plan, str(plan)), (migration.plan, str(migration.plan)))

    def test_updates_name_nodes_of_the_model(self):
        wrong = self.vp.copy()
        wrong[5, 6] = NAN
        self.refused(lambda: self.shots.update(wrong), "vp: the value at node (5, 6), (50, 60), is nan")
        self.refused(lambda: self.gradient(vp=wrong), "vp: the value at node (5, 6), (50, 60), is nan")

    def test_shots_of_surveys_are_numbered_from_1(self):
        at = [(100, 20), (9000, 20)]
        for shots in (self.shots, self.made(devices=2)):
            self.refused(lambda shots=shots: shots.survey(at, LINE), "shot 2: source")
        gathers = [self.gathers[0], replace(self.gathers[0], sources=np.array(at[1:], float))]
        self.refused(lambda: moho.Migration(self.vp, gathers, **WAVES), "shot 2: source")

    def test_positions_on_free_surfaces(self):
        shots = self.made(free_surface=True)
        self.refused(lambda: shots((100, 20), [(0, 20), (50, 0)]), "receiver 2: (50, 0) is on the free")

    def test_wavefields_of_other_shots(self):
        kept = self.shots((100, 20), LINE, keep="vp").wavefield
        self.assertTrue(np.array_equal(self.gradient(wavefield=kept), self.gradient()))
        self.refused(lambda: self.gradient((200, 20), wavefield=kept), "wavefield", "other sources")
        self.refused(lambda: self.gradient(vp=self.vp + 1, wavefield=kept), "wavefield", "another model")
        other = moho.Shots(self.vp - 100, time=0.3, dt=self.shots.dt, **WAVES)
        of_model = ((100, 20), LINE, np.ones_like(self.gathers[0].traces), self.vp)
        found, expected = (other.gradient(*of_model, wavefield=one)["vp"] for one in (kept, None))
        self.assertTrue(np.array_equal(found, expected), "it is not used")
        gather = self.shots((100, 20), LINE, keep="vp")
        self.assertIsNone(pickle.loads(pickle.dumps(gather)).wavefield)

    def test_streams(self):
        def stream(**k):
            return moho.stream_shots(self.vp, sources=(100, 20), receivers=LINE, time=0.1, **WAVES, **k)

        self.each(stream, "file", 5)
        self.each(stream, "slabs", "x")
        self.each(stream, "file", "a\0b")
        self.each(stream, "expand", np.full(self.vp.shape, "none", object), None)

    def test_migration(self):
        self.each(self.migration, "mute", None, 5)
        self.each(self.migration, "spreading", None)
        words = np.full(self.vp.shape, "none", object)
        for name in ("expand", "snapshots", "concurrent_shots"):
            self.each(self.migration, name, words, None)
        self.each(self.migration, "aperture", [[100, 200]], "x")
        for planned in (moho.Migration, moho.Objective):
            self.refused(lambda made=planned: made(self.vp, np.array(1), **WAVES), "gathers is array(1)")
        self.each(self.migration, "error", None, "snr", "snr:1", "bits:3")
        self.each(self.migration, "columns", [(100, 200)])
        self.each(self.migration, "checkpoint", "", 5)
        with self.migration(mute="arrivals:10") as migration:  # 10 s after the first arrivals
            migration.add(self.gathers)
            with self.assertWarnsRegex(UserWarning, "image is zero: .* mute 'arrivals:10' leaves") as found:
                self.assertFalse(migration.image().any())
            self.assertEqual(found.filename, __file__)
        with self.migration(columns=(100,)) as migration:
            self.each(migration.angle_gathers, "angles", [], [[1, 2]], 95, "a")
            wrong = replace(self.gathers[0], traces=self.gathers[0].traces * NAN)
            self.refused(lambda: migration.add(wrong), "gathers[0].traces", "nan")

    def test_objectives(self):
        self.each(self.objective, "mute", None, 5, "arrivals")
        self.each(self.objective, "offset_weights", None, "x")
        self.each(self.objective, "bounds", {"vp": (-5, 2500)}, {"vp": None})
        self.refused(lambda: self.objective(mask=np.zeros_like(self.vp)), "mask", "all nodes")
        wrong = [replace(self.gathers[0], traces=self.gathers[0].traces * NAN)]
        self.refused(lambda: moho.Objective(self.vp, wrong, **WAVES), "gathers[0].traces", "nan")
        self.refused(lambda: self.objective(memory=5), "memory", error=moho.OutOfMemoryError)
        self.refused(lambda: self.objective(bands=(5, 8)).set_band(6), "corner: it is 6", "bands: 5, 8")
        with self.objective() as objective:
            self.refused(lambda: objective.set_band(5), "corner: it is 5", "bands is empty")
            self.each(objective.search, "precondition", "x")
            for name in ("iterations", "pairs", "first_change"):
                self.each(objective.search, name, [None], [[1, 2], [3]], "x")

    def test_warn_of_arguments_without_effect(self):
        for words, more in (
            ("source_taper has no effect without epsilon", {"source_taper": 50, "sources": [(100, 20)]}),
            ("equations has no effect without epsilon", {"equations": "fletcher"}),
            ("source_taper has no effect without sources", {"source_taper": 50, "epsilon": 0.1}),
            (
                "source_taper has no effect where epsilon equals delta",
                {"source_taper": 50, "epsilon": 0.1, "delta": 0.1, "sources": [(100, 20)]},
            ),
            (
                "source_taper has no effect with equations='fletcher'",
                {"source_taper": 50, "epsilon": 0.1, "equations": "fletcher", "sources": [(100, 20)]},
            ),
            ("sigma has no effect without equations='fletcher'", {"sigma": 0.5, "epsilon": 0.1}),
        ):
            with self.assertWarnsRegex(UserWarning, f"^{words}") as caught:
                self.made(**more)
            self.assertEqual(caught.filename, __file__)
        for made in (self.migration, self.objective):
            with self.assertWarnsRegex(UserWarning, "^source_taper has no effect without eps") as caught:
                made(source_taper=50)
            self.assertEqual(caught.filename, __file__)
        vti = {"epsilon": 0.1, "delta": 0.05, "equations": "fletcher", "sigma": 0.5}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.made(**vti)
            self.made(source_taper=0)
            self.made(epsilon=0.1, delta=0.05, sources=[(100, 20)], source_taper=50)


class Times(Refused):
    def setUp(self):
        line = np.column_stack([np.arange(0.0, 201.0, 10.0), np.zeros(21)])
        velocity = np.broadcast_to(800.0 + 20.0 * np.arange(0.0, 61.0, 5.0), (41, 13)).copy()
        times = moho.trace_rays(velocity, spacing=5, sources=line[::5], receivers=line).traveltimes
        source, receiver = np.nonzero(times > 0.0)
        self.picks = moho.Picks(line[::5], line, source, receiver, times[source, receiver])

    def invert(self, picks=None, **given):
        given = {"error": 0.0005, "spacing": 5, "topography": None, "iterations": 1} | given
        return moho.invert_times(self.picks if picks is None else picks, **given)

    def test_arguments(self):
        self.each(self.invert, "origin", NAN, (0, NAN))
        self.each(self.invert, "margin", -1, NAN, 1e300)
        self.each(self.invert, "shape", 5, np.array(1), (41,), (41, 13, 2), (41.5, 13), "ab")
        self.each(self.invert, "lengths", 0, -1, NAN, (0, 50))
        self.refused(lambda: self.invert(origin=1000), "outside of the grid", "origin")
        self.each(self.invert, "topography", [(0, NAN), (200, 0)])
        self.each(self.invert, "locate", "x")
        self.refused(lambda: self.invert(shape=(10**6, 10**6)), "memory", error=moho.OutOfMemoryError)
        for name in ("sources", "receivers"):
            wrong = replace(self.picks, **{name: getattr(self.picks, name) * NAN})
            self.refused(lambda wrong=wrong: self.invert(wrong), f"picks.{name} is nan at [0, 0]")

    def test_arguments_of_results(self):
        found = self.invert(iterations=0)
        self.assertTrue(np.array_equal(found.path(-1), found.path(len(self.picks.times) - 1)))
        self.refused(lambda: found.path(999), "pick is 999", error=IndexError)
        self.refused(lambda: found.path("a"), "pick is 'a'")
        self.refused(lambda: found.export("folder", 5), "formats is 5")


class Files(Refused):
    def test_errors_of_the_codec(self):
        field = np.zeros((3, 3))
        self.each(lambda **k: moho.compress(field, **k), "error", None, 5, "snr", "snr:1", "bits:99", "max:2")
        for value in (NAN, 1e39):
            self.refused(lambda value=value: moho.compress(field + value), "field is")

    def test_geometry_of_models(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.rsf")

            def write(**k):
                moho.write_model(path, np.zeros((3, 4)), **{"spacing": 5} | k)

            self.each(write, "spacing", 0, NAN, -1, (5, np.inf))
            self.each(write, "origin", NAN)
            large = np.full((3, 4), 1e200)
            self.refused(lambda: moho.write_model(f"{folder}/model.sgy", large, spacing=5), "values")

    def test_types_of_models(self):
        self.each(lambda **k: moho.read_model("none.npy", **k), "dtype", "x", None, int)

    def test_values_that_no_file_returns(self):
        traces = np.zeros((2, 5))
        traces[1, 3] = 1.0
        line = np.zeros((2, 2))
        picks = moho.Picks(line[:1], line[1:] + 5, np.array([0]), np.array([0]), np.array([NAN]))
        with tempfile.TemporaryDirectory() as folder:
            for factor in (NAN, 1e300):
                gather = moho.Gather(traces * factor, 0.002, line[:1], line)
                self.refused(lambda gather=gather: moho.write_gathers(f"{folder}/g.sgy", gather),
                             "gathers[0].traces")
            self.refused(lambda: moho.write_picks(f"{folder}/p.sgt", picks), "picks.times is nan at [0]")
            self.assertEqual(os.listdir(folder), [])

    def test_positions_of_shots(self):
        self.each(lambda **k: moho.read_gathers("none.sgy", **k), "shots", 5, "a", [1.5], [-1], np.array(1))
        self.each(lambda **k: moho.read_picks("none.sgt", **k), "format", 5, np.full((2, 2), "csv", object))

    def test_paths(self):
        for call in (moho.read_model, moho.read_gathers, moho.read_picks):
            self.refused(lambda call=call: call("a\0.sgy"), "path is 'a\\x00.sgy'", "null")
            self.refused(lambda call=call: call(5), "path is 5")
            self.refused(lambda call=call: call(None), "path is None")
        with tempfile.TemporaryDirectory() as folder:
            for ending in (".npy", ".rsf", ".sgy"):
                path = os.path.join(folder, "file" + ending)
                open(path, "wb").close()
                self.refused(lambda path=path: moho.read_model(path), error=moho.FileError)


@unittest.skipIf(scipy is None, "without SciPy")
class Operators(Refused):
    def test_grids(self):
        def times(velocity=None, **k):
            velocity = np.full((9, 8), 2000.0) if velocity is None else velocity
            given = {"spacing": 10, "sources": (0, 0), "receivers": (80, 60)} | k
            return moho.linear.first_arrival_operator(velocity, **given)

        self.each(times, "spacing", 0, -10, NAN, (10, 0), float("inf"))
        self.each(times, "origin", NAN)
        self.refused(lambda: times(np.zeros((0, 5))), "velocity: its shape is 0 x 5")
        for shape in (5, None, "ab", np.array(5), [[1, 2], [3]]):
            self.refused(
                lambda shape=shape: moho.linear.point_operator(shape, (0, 0), spacing=10), "shape is"
            )
        rays = moho.trace_rays(np.full((9, 8), 2000.0), spacing=10, sources=(0, 0), receivers=(80, 60))
        self.each(lambda **k: moho.linear.ray_operator(rays, **k), "basis", None, np.full((2, 2), "", object))
        lags = ([[1, 2], [3]], np.array(1), None, (1, 2, 3))
        self.each(lambda **k: moho.linear.extended_image_operator(rays.times[0], **k), "lags", *lags)

    def test_products_with_complex_vectors(self):
        velocity = np.full((9, 8), 2000.0)
        given = {"spacing": 10, "sources": (0, 0), "receivers": [(80, 60), (40, 70)]}
        random = np.random.default_rng(1)
        for operator in (
            moho.linear.gravity_operator(mesh=MESH, stations=STATIONS),
            moho.linear.first_arrival_operator(velocity, **given),
            moho.linear.ray_operator(moho.trace_rays(velocity, **given)),
            moho.linear.point_operator((9, 8), [(15, 22)], spacing=10),
            moho.linear.extended_image_operator(velocity, 2),
        ):
            for product in (operator, operator.T):
                x, y = random.normal(size=(2, product.shape[1]))
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    found = product @ (x + 1j * y)
                np.testing.assert_allclose(found, product @ x + 1j * (product @ y), rtol=1e-12)


if __name__ == "__main__":
    unittest.main()
