# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 20
"""Shots: the bits of the program in all media, wavelets, objects, messages."""

import os
import pickle
import sys
import tempfile
import threading
import unittest
from functools import partial

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

MEDIA = {
    "isotropic": {},
    "variable_density": {"density": 2200.0},
    "vti": {"epsilon": 0.2, "delta": 0.1},
    "tti": {"epsilon": 0.2, "delta": 0.1, "theta": 0.4},
}


def shots(vp=None, **change):
    vp = support.gradient(61, 41) if vp is None else vp
    return moho.Shots(vp, **{"spacing": 10, "wavelet": "ricker:15", "time": 0.2, **change})


def pages():
    """Pages of memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1])


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, vp, source, receivers, options, fields=None, **arguments):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/vp.npy", vp)
            np.save(f"{folder}/receivers.npy", np.array(receivers, float))
            for name, values in (fields or {}).items():
                np.save(f"{folder}/{name}.npy", values)
                options = [*options, f"--{ {'density': 'rho'}.get(name, name) }", f"{folder}/{name}.npy"]
            if vp.dtype == np.float64:
                options = [*options, "--precision", "double"]
            support.run_program(
                "model_waves",
                f"{folder}/out",
                "--vp",
                f"{folder}/vp.npy",
                "--spacing",
                10,
                "--source",
                ",".join(map(str, source)),
                "--receivers",
                f"{folder}/receivers.npy",
                "--snapshot-every",
                0,
                *options,
            )
            expected = samples_of(f"{folder}/out/gather.sgy", len(receivers))
        made = moho.Shots(vp, spacing=10, sources=source, **(fields or {}), **arguments)
        gather = made(source, receivers)
        self.assertEqual(gather.traces.dtype, vp.dtype)
        self.assertEqual(gather.traces.astype(np.float32).tobytes(), expected.tobytes())
        self.assertGreater(np.abs(gather.traces).max(), 0.0)
        return made

    def test_have_the_bits_of_the_program_in_all_media(self):
        vp = support.gradient(81, 61)
        for medium, constants in MEDIA.items():
            with self.subTest(medium=medium):
                fields = {name: np.full_like(vp, value) for name, value in constants.items()}
                made = self.expect_bits_of_the_program(
                    vp,
                    (403, 22),
                    [(100, 20), (600.5, 20)],
                    ["--wavelet", "ricker:15", "--time", 0.4, "--boundary", "sponge:30", "--free-surface"],
                    fields,
                    wavelet="ricker:15",
                    time=0.4,
                    faces="sponge:30",
                    free_surface=True,
                )
                self.assertEqual(made.medium, medium)
                self.assertEqual(made.source_taper > 0.0, medium in ("vti", "tti"))

    def test_have_the_bits_of_the_program_in_double_precision_and_3d(self):
        self.expect_bits_of_the_program(
            support.gradient(61, 41, dtype=np.float64),
            (300, 20),
            [(100, 20), (500, 20)],
            ["--wavelet", "ormsby:3,8,20,30", "--time", 0.3, "--interval", 0.002, "--order", 12],
            wavelet="ormsby:3,8,20,30",
            time=0.3,
            interval=0.002,
            order=12,
        )
        self.expect_bits_of_the_program(
            support.gradient(41, 31, 27),
            (203, 152, 22),
            [(100, 100, 20), (300, 200, 20)],
            ["--wavelet", "ricker:15", "--time", 0.2, "--boundary", "cpml:8,top=free"],
            wavelet="ricker:15",
            time=0.2,
            faces="cpml:8,top=free",
        )

    def test_have_the_bits_of_the_program_with_parameters_of_16_bits(self):
        vp, receivers = support.gradient(41, 31, 27), [(100, 100, 20), (300, 200, 20)]
        for fields in ({}, {"epsilon": np.full(vp.shape, 0.2, "f4"), "delta": np.full(vp.shape, 0.1, "f4")}):
            self.expect_bits_of_the_program(
                vp,
                (203, 152, 22),
                receivers,
                ["--wavelet", "ricker:15", "--time", 0.2, "--parameters", "16"],
                fields,
                wavelet="ricker:15",
                time=0.2,
                parameters=16,
            )
        given = {"wavelet": "ricker:15", "time": 0.2, "spacing": 10}
        of_16, of_32 = (
            moho.Shots(vp, parameters=bits, **given)((203, 152, 22), receivers).traces for bits in (16, 32)
        )
        self.assertGreater(np.abs(of_16 - of_32).max(), 0.0)
        self.assertLess(np.abs(of_16 - of_32).max(), 1e-4 * np.abs(of_32).max())

    def test_have_the_bits_of_the_program_with_random_layers(self):
        vp, traces = support.gradient(61, 41), []
        for words, given in (([], {}), (["--seed", 7], {"seed": 7})):
            options = ["--wavelet", "ricker:15", "--time", 0.4, "--boundary", "random:20", *words]
            more = {"wavelet": "ricker:15", "time": 0.4, "faces": "random:20", **given}
            made = self.expect_bits_of_the_program(vp, (303, 202), [(100, 20), (500, 20)], options, **more)
            traces.append(made((303, 202), [(100, 20)]).traces)
        self.assertGreater(np.abs(traces[0] - traces[1]).max(), 0.0)
        with self.assertRaisesRegex(moho.InputError, "seed was given without random layers"):
            shots(seed=7)

    def test_of_samples_equal_those_of_the_described_wavelet(self):
        described = shots(interval=0.001, dt=0.001)
        t = np.arange(0, 0.2005, 0.001)
        a = (np.pi * 15 * (t - 1.5 / 15)) ** 2
        sampled = shots(interval=0.001, dt=0.001, wavelet=(1 - 2 * a) * np.exp(-a), wavelet_interval=0.001)
        one, other = (made((300, 20), (400, 20)).traces for made in (described, sampled))
        self.assertLess(np.abs(one - other).max(), 1e-5 * np.abs(one).max())

    def test_are_reciprocal_and_add_up(self):
        made = shots()
        there, back = made((300, 50), (450, 120)).traces, made((450, 120), (300, 50)).traces
        scale = np.abs(there).max()
        self.assertLess(np.abs(there - back).max(), 1e-4 * scale)
        both = made([(300, 50), (450, 120)], (100, 20)).traces
        each = made((300, 50), (100, 20)).traces + made((450, 120), (100, 20)).traces
        self.assertLess(np.abs(both - each).max(), 1e-4 * np.abs(both).max())

    def test_describe_themselves(self):
        made = shots(interval=0.002)
        gather = made((300, 20), [(100, 20), (200, 20), (300, 20)])
        self.assertEqual(gather.traces.shape, (3, made.samples))
        self.assertEqual((gather.interval, made.interval), (0.002, 0.002))
        np.testing.assert_allclose(gather.times[[0, -1]], [0.0, 0.2])
        np.testing.assert_array_equal(gather.sources, [[300, 20]])
        self.assertAlmostEqual(made.steps * made.dt, 0.2)
        self.assertEqual(made.faces, "cpml:10")
        self.assertIn(f'Default: "{made.faces}"', moho.Shots.__doc__)
        self.assertAlmostEqual(made.frequency, 36.0, delta=1.0)
        self.assertGreater(made.memory, 101 * 81 * 4)

    def test_have_plans_of_numbers_and_lines(self):
        made = shots(interval=0.002, concurrent_shots=2, snapshot_every=0.05)
        plan = made.plan
        self.assertIsInstance(plan, moho.Plan)
        for name in ("medium", "faces", "dt", "interval", "steps", "samples", "frequency", "memory"):
            self.assertEqual(plan[name], getattr(made, name), name)
        self.assertEqual(plan["nodes"], [61 + 20, 41 + 20])
        self.assertEqual((plan["concurrent_shots"], plan["order"]), (2, 8))
        self.assertGreater(plan["largest_dt"], plan["dt"])
        self.assertGreater(plan["nodes_per_wave"], plan["nodes_per_wave_wanted"])
        text = str(plan)
        self.assertIn(f"dt {made.dt:.6g} s", text)
        self.assertIn(f"{plan['snapshots']} snapshots", text)
        self.assertIn("shots     2 at a time", text)
        self.assertRegex(text, "memory    [0-9.]+ [KM]iB")
        copy = pickle.loads(pickle.dumps(plan))
        self.assertEqual((copy, str(copy)), (plan, text))


def samples_of(path, traces):
    """The samples of a SEG-Y file in IEEE format with as many traces."""
    with open(path, "rb") as file:
        data = file.read()
    size = (len(data) - 3600) // traces
    rows = [data[3600 + k * size + 240 : 3600 + (k + 1) * size] for k in range(traces)]
    return np.array([np.frombuffer(row, ">f4") for row in rows]).astype(np.float32)


class Objects(unittest.TestCase):
    def test_gathers_outlive_shots(self):
        made = shots()
        gather = made((300, 20), (400, 20))
        copy = gather.traces.copy()
        made.close()
        np.testing.assert_array_equal(gather.traces, copy)
        with self.assertRaisesRegex(moho.InputError, "close\\(\\) was called"):
            made((300, 20), (400, 20))
        made.close()
        with shots() as other:
            np.testing.assert_array_equal(other((300, 20), (400, 20)).traces, copy)

    def test_models_may_change_after_the_preparation(self):
        vp = support.gradient(61, 41)
        made, other = shots(vp), shots(vp.copy())
        vp[:] = 0.0
        self.assertEqual(
            made((300, 20), (400, 20)).traces.tobytes(), other((300, 20), (400, 20)).traces.tobytes()
        )

    def test_progress_and_its_exceptions_leave_shots_usable(self):
        made = shots(support.gradient(301, 201), time=2.0)
        seen = []
        whole = made((300, 20), (400, 20), progress=lambda fraction, text: seen.append(fraction)).traces
        self.assertEqual(seen, sorted(seen))
        self.assertTrue(seen and 0.0 < seen[-1] <= 1.0)
        support.expect_progress_to_end(self, partial(made, (300, 20), (400, 20)))
        self.assertEqual(made((300, 20), (400, 20)).traces.tobytes(), whole.tobytes())

    def test_a_signal_ends_a_shot(self):
        made = shots(np.full((401, 401), 2000, np.float32), time=100.0)
        support.expect_interrupt(self, lambda: made((300, 20), (400, 20)), within=4.0)

    def test_a_signal_ends_a_step_of_a_survey(self):
        vp, positions = np.full((401, 401), 2000, np.float32), [(300, 20), (400, 20)]
        for made in (shots(vp, time=100.0), shots(vp, time=100.0, concurrent_shots=2)):
            support.expect_interrupt(self, partial(made.survey, positions, (500, 20)))

    def test_threads_share_an_object(self):
        made = shots()
        expected = [made((300, 20 + k), (400, 20)).traces for k in range(4)]
        found = [None] * 4

        def compute(k):
            found[k] = made((300, 20 + k), (400, 20)).traces

        threads = [threading.Thread(target=compute, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one, other in zip(expected, found):
            self.assertEqual(one.tobytes(), other.tobytes())

    def test_end_of_the_interpreter_with_live_shots(self):
        done = support.run_python("""
            import builtins, numpy as np, moho
            shots = moho.Shots(np.full((61, 41), 2000, "f4"), spacing=10, wavelet="ricker:20", time=0.1)
            builtins.kept = [shots, shots((300, 20), (400, 20))]
            kept.append(kept)
            """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_memory_does_not_grow_with_objects(self):
        vp = support.gradient(301, 201)

        def call():
            made = shots(vp, time=0.01)
            made((300, 20), (400, 20))

        for _ in range(5):
            call()
        before = pages()
        for _ in range(15):
            call()
        self.assertLess((pages() - before) * 4096, 8e6, "bytes: each object has 1.5 MB or more")


class KeptWavefields(unittest.TestCase):
    """The wavefield of a shot that gradient() needs."""

    ends = [(300.0, 20.0), [(150.0, 20.0), (400.0, 20.0), (500.0, 30.0)]]

    def test_change_no_bits(self):
        for name, fields in MEDIA.items():
            with self.subTest(medium=name):
                vp = support.rough(61, 41)
                made = shots(vp, sources=self.ends[0], interval=0.002, dt=0.001, **fields)
                wanted = [one for one in ("vp", "density", "epsilon", "delta") if one in ("vp", *fields)]
                gather = made(*self.ends, keep=wanted)
                self.assertIsNotNone(gather.wavefield)
                plain = made(*self.ends)
                self.assertIsNone(plain.wavefield)
                self.assertEqual(gather.traces.tobytes(), plain.traces.tobytes())
                with_it, without = (
                    made.gradient(*self.ends, gather.traces, vp, **fields, wanted=wanted, wavefield=kept)
                    for kept in (gather.wavefield, None)
                )
                for one in wanted:
                    self.assertGreater(np.abs(without[one]).max(), 0.0)
                    self.assertEqual(with_it[one].tobytes(), without[one].tobytes(), one)

    def test_of_other_parameters_are_not_used(self):
        vp = support.rough(61, 41)
        density = np.full_like(vp, 2000)
        made = shots(vp, density=density)
        gather = made(*self.ends, keep="vp")
        arguments = (*self.ends, gather.traces, vp)
        both = {"density": density, "wanted": ("vp", "density")}
        with_it = made.gradient(*arguments, **both, wavefield=gather.wavefield)
        for name, values in made.gradient(*arguments, **both).items():
            self.assertEqual(with_it[name].tobytes(), values.tobytes())

    def test_are_left_out_where_memory_is_small(self):
        vp = support.rough(61, 41)
        made = shots(vp)
        small = shots(vp, memory=made.memory + 1_000_000)
        gather = small(*self.ends, keep="vp")
        self.assertIsNone(gather.wavefield)
        expected = made.gradient(*self.ends, gather.traces, vp)["vp"]
        found = small.gradient(*self.ends, gather.traces, vp)["vp"]
        np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
        for more in ({"snapshot_every": 0.1}, {"expand": "amplitude"}):
            self.assertIsNone(shots(vp, **more)(*self.ends, keep="vp").wavefield)

    def test_outlive_shots_and_are_released(self):
        made = shots(support.gradient(301, 201), time=0.05)
        kept = made(*self.ends, keep="vp").wavefield
        made.close()
        del kept
        made = shots(support.gradient(301, 201), time=0.1)
        for _ in range(3):
            made(*self.ends, keep="vp")
        before = pages()
        for _ in range(15):
            made(*self.ends, keep="vp")
        self.assertLess((pages() - before) * 4096, 8e6, "bytes: each wavefield has 10 MB or more")
        held = pages()
        made.close()
        self.assertGreater((held - pages()) * 4096, 8e6, "bytes: the last wavefield's memory is returned")

    def test_calls_in_any_order_have_the_bits_of_the_first_call(self):
        models = [support.rough(61, 41), 1.02 * support.rough(61, 41)]
        ends = [self.ends, (self.ends[0], [(150.0, 20.0), (400.0, 20.0)]), ((310.0, 25.0), self.ends[1])]

        def traces(made, vp, at):
            return made(*at).traces.tobytes()

        def kept(made, vp, at):
            return made(*at, keep="vp").traces.tobytes()

        def gradient(made, vp, at):
            gather = made(*at, keep="vp")
            found = made.gradient(*at, gather.traces, vp, wavefield=gather.wavefield)["vp"].tobytes()
            again = made.gradient(*at, gather.traces, vp)["vp"].tobytes()
            self.assertEqual(found, again)
            return found

        calls = [(call, vp, at) for call in (traces, kept, gradient) for vp in models for at in ends]
        expected = []
        for call, vp, at in calls:
            made = shots(models[0], dt=0.001)  # whose layers stay
            made.update(vp)
            expected.append(call(made, vp, at))
        for k in np.random.default_rng(3).permutation(3 * len(calls)) % len(calls):
            call, vp, at = calls[k]
            made.update(vp)
            self.assertEqual(call(made, vp, at), expected[k], (call.__name__, k))

    def test_do_not_need_another_update(self):
        first, second = support.rough(61, 41), 1.02 * support.rough(61, 41)
        made = shots(first, dt=0.001)
        gather = made(*self.ends, keep="vp")
        expected = made.gradient(*self.ends, gather.traces, first)["vp"]
        made.update(second)
        found = made.gradient(*self.ends, gather.traces, first, wavefield=gather.wavefield)["vp"]
        self.assertEqual(found.tobytes(), expected.tobytes(), "the model of the wavefield is loaded again")
        self.assertEqual(
            made(*self.ends).traces.tobytes(), shots(first, dt=0.001)(*self.ends).traces.tobytes()
        )

    def test_are_asked_for_by_parameters(self):
        with self.assertRaisesRegex(moho.InputError, "keep: theta|keep is 'theta'"):
            shots()(*self.ends, keep=["theta"])
        with self.assertRaisesRegex(moho.InputError, "keep: density is not in the model"):
            shots()(*self.ends, keep=["vp", "density"])


class Messages(unittest.TestCase):
    def refused(self, *words, kind=moho.InputError, **change):
        with self.assertRaises(kind) as caught:
            shots(**change)
        self.check_text(caught.exception, words)

    def check_text(self, error, words):
        text = str(error)
        for word in words:
            self.assertIn(word, text)
        for word in ("moho::", "Kokkos::", "--", "\n"):
            self.assertNotIn(word, text)

    def test_of_the_model_name_the_argument(self):
        vp = support.gradient(61, 41)
        wrong = vp.copy()
        wrong[3, 4] = np.nan
        self.refused("vp", vp=wrong)
        self.refused("density", "61 x 41", density=vp[:-1])
        self.refused("phi", "2D", phi=0.1)
        self.refused("epsilon", epsilon=-2.0)
        self.refused("faces", faces="absorbing")
        self.refused("faces", faces=20)
        self.refused("boundary", "TTI", theta=0.1, faces="cpml:20")
        self.refused("equations", "fletcher", equations="exact")
        self.refused("order", order=7)
        self.refused("parameters", "32, 16 or 'auto'", parameters=8)
        self.refused("parameters", "double precision", vp=vp.astype("f8"), parameters=16)
        self.refused("spacing", spacing=(1, 2, 3))
        self.refused("memory", kind=MemoryError, memory=1000)

    def test_of_times_and_wavelets_name_the_argument(self):
        self.refused("time", time=-1)
        self.refused("dt", "0.1", dt=0.1)
        self.refused("dt", dt=-0.1)
        self.refused("interval", interval=0.05)
        self.refused("wavelet", wavelet="ricker")
        self.refused("wavelet", wavelet="ricker:90")
        self.refused("wavelet", "wavelet_interval", wavelet="file:w.txt")
        self.refused("wavelet_interval", wavelet=[0.0, 1.0, 0.0])
        self.refused("wavelet", wavelet=[0.0, 0.0], wavelet_interval=0.001)
        self.refused("wavelet", wavelet=np.eye(2), wavelet_interval=0.001)
        for wrong in (None, 15):
            self.refused("wavelet", "samples in one axis", "'ricker:15'", wavelet=wrong)
        self.refused("wavelet_interval", wavelet="ricker:15", wavelet_interval=0.001)

    def test_of_positions_name_the_point(self):
        made = shots()
        for sources, receivers, words in (
            ((9000, 20), (0, 0), ["source 1", "9000"]),
            ((300, 20), [(0, 0), (0, -5)], ["receiver 2", "-5"]),
            ((300, 20, 0), (0, 0), ["sources", "n x 2"]),
        ):
            with self.assertRaises(moho.InputError) as caught:
                made(sources, receivers)
            self.check_text(caught.exception, words)


class Surveys(unittest.TestCase):
    SOURCES = [(100, 20), (303, 25), (500, 20), (411, 60)]
    RECEIVERS = [(50, 10), (555, 33)]

    def test_have_the_bits_of_single_shots(self):
        for medium, fields in MEDIA.items():
            for concurrent in (1, 3, 0):
                made = shots(sources=self.SOURCES, concurrent_shots=concurrent, **fields)
                found = made.survey(self.SOURCES, self.RECEIVERS)
                self.assertEqual(len(found), 4)
                for gather, source in zip(found, self.SOURCES):
                    expected = made(source, self.RECEIVERS)
                    self.assertEqual(gather.traces.tobytes(), expected.traces.tobytes(), medium)
                    np.testing.assert_array_equal(gather.sources, [source])
                    self.assertEqual(gather.interval, expected.interval)

    def test_take_positions_of_each_shot(self):
        made = shots()
        sources = [np.array([(100.0, 20.0), (200.0, 20.0)]), np.array([(300.0, 30.0)])]
        receivers = [np.array([(50.0, 10.0)]), np.array([(80.0, 10.0), (90.0, 10.0)])]
        found = made.survey(sources, receivers)
        self.assertEqual([len(one.traces) for one in found], [1, 2])
        for gather, at, to in zip(found, sources, receivers):
            self.assertEqual(gather.traces.tobytes(), made(at, to).traces.tobytes())
        with self.assertRaisesRegex(moho.InputError, "receivers: they are for 1 shots .allowed: 2"):
            made.survey(sources, receivers[:1])
        with self.assertRaisesRegex(moho.InputError, "concurrent_shots"):
            shots(concurrent_shots=-1)

    def test_stream_with_the_bits_of_shots(self):
        for medium, fields in MEDIA.items():
            vp = support.gradient(61, 41)
            given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.2, "faces": "sponge:8", **fields}
            with tempfile.TemporaryDirectory() as folder:
                found = moho.stream_shots(
                    vp,
                    sources=self.SOURCES[:2],
                    receivers=self.RECEIVERS,
                    device_memory=400 << 10,
                    block=12,
                    file=f"{folder}/volume",
                    **given,
                )
                self.assertEqual(os.listdir(folder), [])
            made = moho.Shots(vp, sources=self.SOURCES[:2], **given)
            for gather, source in zip(found, self.SOURCES):
                expected = made(source, self.RECEIVERS)
                self.assertEqual(gather.traces.tobytes(), expected.traces.tobytes(), medium)
                self.assertEqual(gather.interval, expected.interval)

    def test_of_several_devices_have_the_bits_of_one(self):
        thomsen = {"epsilon": 0.1, "delta": 0.05, "sources": self.SOURCES[:1]}
        vp, other = support.gradient(61, 41), support.gradient(61, 41, slope=9.0)
        sources = self.SOURCES[:2]
        for fields in (
            {"snapshot_every": 0.05, "interval": 0.002},
            {"density": 2000.0, "faces": "sponge:8,top=free", "dt": 0.001},
            thomsen,
            {"expand": "eikonal", "snapshot_every": 0.05},
        ):
            given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.2, **fields}
            one = moho.Shots(vp, **given)
            for devices in (2, 3):
                several = moho.Shots(vp, devices=devices, **given)
                self.assertEqual(several.slabs["count"], devices)
                self.assertEqual(several.plan["slabs"], several.slabs)
                self.assertIn(f"devices   {devices} slabs of", str(several.plan))
                self.assertEqual((several.dt, several.samples), (one.dt, one.samples))
                for found, expected in zip(
                    several.survey(sources, self.RECEIVERS), one.survey(sources, self.RECEIVERS)
                ):
                    self.assertEqual(found.traces.tobytes(), expected.traces.tobytes(), fields)
                    self.assertEqual(found.stepped, expected.stepped)
                    if expected.snapshots is not None:
                        self.assertEqual(
                            found.snapshots.values.tobytes(), expected.snapshots.values.tobytes()
                        )
                        self.assertEqual(found.snapshots.domains, expected.snapshots.domains)
                more = {name: fields[name] for name in ("density", "epsilon", "delta") if name in fields}
                several.update(other, **more)
                step = {"dt": one.dt, "interval": one.interval}
                if "sources" in fields:
                    step["source_taper"] = one.source_taper
                anew = moho.Shots(other, **{**given, **step})
                found, expected = (made(self.SOURCES[2], self.RECEIVERS) for made in (several, anew))
                self.assertEqual(found.traces.tobytes(), expected.traces.tobytes(), fields)
        self.assertIsNone(one.slabs)
        self.assertIsNone(moho.Shots(vp, devices="auto", **given).slabs)

    def test_of_several_devices_name_what_is_wrong(self):
        given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.2}
        vp = support.gradient(61, 41)
        for words, change in (
            ("devices is 65 .allowed: a whole number from 1 to 64, or 'auto'", {"devices": 65}),
            ("expand amplitude is for one device", {"expand": "amplitude"}),
            ("devices 2 and concurrent_shots 2 .allowed together: 1", {"concurrent_shots": 2}),
            ("devices", {"devices": 40}),
            ("memory: ", {"memory": 1000}),
        ):
            with self.assertRaisesRegex((moho.InputError, moho.OutOfMemoryError), words):
                moho.Shots(vp, **{"devices": 2, **given, **change})
        made = moho.Shots(vp, devices=2, **given)
        with self.assertRaisesRegex(moho.InputError, "source"):
            made((9000, 20), self.RECEIVERS)
        support.expect_progress_to_end(
            self, lambda progress: made.survey(list(self.SOURCES) * 200, self.RECEIVERS, progress=progress)
        )
        traces = made(self.SOURCES[0], self.RECEIVERS).traces
        self.assertEqual(traces.shape, (len(self.RECEIVERS), made.samples))
        made.close()
        with self.assertRaisesRegex(moho.InputError, "close.. was called"):
            made(self.SOURCES[0], self.RECEIVERS)

    def test_slabs_have_the_bits_of_one_device(self):
        thomsen = {"epsilon": 0.1, "delta": 0.05}
        for fields in ({}, {"density": 2000.0, "faces": "sponge:8,top=free"}, thomsen):
            given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.2, **fields}
            vp = support.gradient(61, 41)
            sources = self.SOURCES[:2]
            made = moho.Shots(vp, sources=sources, **given)
            for devices in (2, 3, "auto"):
                found = moho.stream_shots(
                    vp, sources=sources, receivers=self.RECEIVERS, devices=devices, slabs=True, **given
                )
                for gather, source in zip(found, sources):
                    self.assertEqual(gather.traces.tobytes(), made(source, self.RECEIVERS).traces.tobytes())

    def test_streams_in_several_chains_have_the_same_bits(self):
        given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.2}
        vp = support.gradient(61, 41)
        more = {"sources": self.SOURCES[:2], "receivers": self.RECEIVERS, "block": 12}
        one = moho.stream_shots(vp, **more, **given)
        two = moho.stream_shots(vp, devices=2, groups=2, lag=12, **more, **given)
        for first, second in zip(one, two):
            self.assertEqual(first.traces.tobytes(), second.traces.tobytes())

    def test_streams_name_what_is_wrong(self):
        given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.2, "receivers": self.RECEIVERS}
        vp = support.gradient(61, 41)
        with self.assertRaisesRegex(moho.OutOfMemoryError, "memory"):
            moho.stream_shots(vp, sources=(300, 20), device_memory=1000, **given)
        with self.assertRaisesRegex(moho.InputError, "source"):
            moho.stream_shots(vp, sources=(3000, 20), **given)
        with self.assertRaisesRegex(moho.InputError, "updates"):
            moho.stream_shots(vp, sources=(300, 20), updates=0, **given)
        with self.assertRaisesRegex(moho.InputError, "devices is 'auto'"):
            moho.stream_shots(vp, sources=(300, 20), devices="auto", **given)
        with self.assertRaisesRegex(moho.InputError, "slabs and block"):
            moho.stream_shots(vp, sources=(300, 20), devices=2, slabs=True, block=8, **given)
        with self.assertRaisesRegex(moho.InputError, "devices is 60"):
            moho.stream_shots(vp, sources=(300, 20), devices=60, slabs=True, **given)


if __name__ == "__main__":
    unittest.main()
