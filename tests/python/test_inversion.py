# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""Misfits and gradients: the bits of invert_waves, derivatives, searches, objects, messages."""

import csv
import dataclasses
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

SOURCES = np.array([(110.0, 20.0), (300.0, 20.0), (480.0, 20.0)])
RECEIVERS = np.column_stack([np.linspace(0.0, 600.0, 21), np.full(21, 20.0)])
WAVES = {"spacing": 10, "wavelet": "ricker:12"}
OPTIONS = {"density": "rho"}  # names of options that differ


def start(dtype=np.float32):
    return support.gradient(61, 31, dtype=dtype)


def truth(dtype=np.float32):
    vp = start(dtype)
    vp[22:38, 12:18] += 120
    return vp


def gathers(vp=None, **more):
    vp = truth() if vp is None else vp
    shots = moho.Shots(vp, **{**WAVES, "time": 0.3, "interval": 0.002, "sources": SOURCES, **more})
    return [shots(source, RECEIVERS) for source in SOURCES]


def objective(vp=None, data=None, **change):
    return moho.Objective(
        start() if vp is None else vp, gathers() if data is None else data, **{**WAVES, **change}
    )


class Programs:
    """Data of model_waves, and their inversion by invert_waves."""

    def __init__(self, folder, precision):
        self.folder = folder
        self.common = ["--spacing", 10, "--wavelet", "ricker:12", "--time", 0.3, "--precision", precision]

    def saved(self, fields):
        words = []
        for name, values in fields.items():
            path = f"{self.folder}/{len(words)}_{name}.npy"
            np.save(path, values)
            words += [f"--{OPTIONS.get(name, name)}", path]
        return words

    def model(self, fields, *options):
        np.save(f"{self.folder}/sources.npy", SOURCES)
        np.save(f"{self.folder}/receivers.npy", RECEIVERS)
        support.run_program(
            "model_waves",
            f"{self.folder}/data",
            *self.saved(fields),
            *self.common,
            *("--source", f"{self.folder}/sources.npy", "--receivers", f"{self.folder}/receivers.npy"),
            *("--interval", 0.002, "--snapshot-every", 0),
            *options,
        )

    def invert(self, fields, *options):
        """Returns the misfits of all evaluations."""
        support.run_program(
            "invert_waves",
            f"{self.folder}/out",
            *self.saved(fields),
            *("--data", f"{self.folder}/data", "--iterations", 2),
            *self.common,
            *options,
        )
        with open(f"{self.folder}/out/history.csv", encoding="ascii") as file:
            return [float(row["misfit"]) for row in csv.DictReader(file)]

    def result(self, name):
        return np.load(f"{self.folder}/out/{OPTIONS.get(name, name)}.npy")


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, fields, vp, options=(), modelling=(), faces=None, **arguments):
        """Inverts data of the model with another vp, with programs and package."""
        faces = faces or {}
        parameters = arguments.get("parameters", "vp").split(",")
        with tempfile.TemporaryDirectory() as folder:
            programs = Programs(folder, "double" if vp.dtype == np.float64 else "float")
            programs.model({**fields, "vp": vp}, *modelling)
            misfits = programs.invert(fields, *options, *modelling)
            expected = {name: programs.result(name) for name in parameters}
            with open(f"{folder}/out/summary.json", encoding="utf-8") as file:
                self.summary = json.load(file)
        data = gathers(**{**fields, "vp": vp}, **faces)
        with objective(**fields, data=data, **faces, **arguments) as made:
            search = made.search(iterations=2)
            self.assertEqual([evaluation.misfit for evaluation in search], misfits)
            found = search.model()
        for name in parameters:
            self.assertEqual(found[name].tobytes(), expected[name].tobytes(), name)
            self.assertGreater(np.abs(found[name] - fields[name]).max(), 0.0)
        return made

    def test_have_the_bits_of_the_program_in_bands(self):
        self.expect_bits_of_the_program(
            {"vp": start()},
            truth(),
            ["--bands", "6,12", "--bounds", "vp:1400:2600"],
            ["--free-surface"],
            {"free_surface": True},
            bands=(6, 12),
            bounds={"vp": (1400, 2600)},
        )

    def test_have_the_bits_of_the_program_in_two_parameters_and_double_precision(self):
        vp = start(np.float64)
        self.expect_bits_of_the_program(
            {"vp": vp, "density": np.full_like(vp, 2100.0)},
            truth(np.float64),
            ["--parameters", "vp,rho", "--misfit", "huber", "--variables", "linear"],
            parameters="vp,density",
            misfit="huber",
            variables="linear",
        )

    def test_have_the_bits_of_the_program_in_vti_and_tti_media(self):
        vp = start()
        fields = {"vp": vp, "epsilon": np.full_like(vp, 0.15), "delta": np.full_like(vp, 0.05)}
        self.expect_bits_of_the_program(
            fields, truth(), ["--parameters", "vp,epsilon"], parameters="vp,epsilon"
        )
        fields["theta"] = np.full_like(vp, 0.3)
        self.expect_bits_of_the_program(
            fields,
            truth(),
            ["--source-field", "stored", "--mute", "velocity:1600"],
            ["--boundary", "sponge:20"],
            {"faces": "sponge:20"},
            source_field="stored",
            mute="velocity:1600",
        )

    def test_have_the_bits_of_the_program_in_slabs(self):
        for options in ({}, {"source_field": "replay"}):
            words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
            made = self.expect_bits_of_the_program(
                {"vp": start()}, truth(), ["--devices", 3, *words], devices=3, **options
            )
            self.assertEqual((made.slabs["count"], len(made.slabs["planes"])), (3, 3))
            self.assertEqual(made.slabs, self.summary["devices"])
            self.assertEqual(made.streamed, False)

    def test_have_the_bits_of_the_program_with_random_layers(self):
        self.expect_bits_of_the_program(
            {"vp": start()},
            truth(),
            ["--source-field", "random", "--seed", 7],
            source_field="random",
            seed=7,
        )
        data = gathers()
        made = [objective(data=data, source_field="random", random_width=n) for n in (20, 60)]
        gradients = [one(one.start)[1].tobytes() for one in made]
        self.assertNotEqual(*gradients)

    def test_have_the_same_bits_for_any_number_of_devices(self):
        vp, data = start(), gathers()
        fields = {"epsilon": np.full_like(vp, 0.15), "delta": np.full_like(vp, 0.05)}
        one, two = (objective(data=data, devices=n, **fields) for n in (1, 2))
        x = 0.01 * np.random.default_rng(2).standard_normal(one.start.size)
        (first, gradient), (second, other) = one(x), two(x)
        self.assertEqual((first, gradient.tobytes()), (second, other.tobytes()))
        self.assertEqual(one.modelled(x, 1).tobytes(), two.modelled(x, 1).tobytes())
        self.assertEqual(one.illumination().tobytes(), two.illumination().tobytes())
        self.assertIsNone(one.slabs)
        if "cuda" not in moho.build()["spaces"]:
            self.assertIsNone(objective(data=data, devices="auto").slabs)

    def test_stream_with_the_same_bits(self):
        data = gathers()
        whole = objective(data=data, source_field="random")
        streamed = objective(data=data, source_field="random", device_memory=700_000)
        self.assertEqual((whole.streamed, streamed.streamed), (False, True))
        x = 0.01 * np.random.default_rng(2).standard_normal(whole.start.size)
        (one, first), (other, second) = whole(x), streamed(x)
        self.assertEqual((one, first.tobytes()), (other, second.tobytes()))
        chain = objective(data=data, source_field="random", devices=2, block=12)
        self.assertEqual((chain.streamed, chain.slabs), (True, None))
        (other, second) = chain(x)
        self.assertEqual((one, first.tobytes()), (other, second.tobytes()))
        slabs = objective(data=data, source_field="random", devices=2)
        self.assertEqual((slabs.streamed, slabs.slabs["count"]), (False, 2))
        (other, second) = slabs(x)
        self.assertEqual((one, first.tobytes()), (other, second.tobytes()))

    def test_any_larger_memory_of_a_device_suffices(self):
        """Gradients that do not fit in core stream: every limit above a sufficient one is accepted."""
        data, ways = gathers(), []
        for limit in range(200_000, 5_000_000, 200_000):
            try:
                with objective(data=data, source_field="random", device_memory=limit) as made:
                    way = "stream" if made.streamed else "in core"
            except (moho.InputError, moho.OutOfMemoryError):
                way = "refused"
            if ways[-1:] != [way]:
                ways.append(way)
        self.assertEqual(ways, ["refused", "stream", "in core"])

    def test_gradients_are_derivatives_inside_of_the_reach_of_layers(self):
        inside = np.zeros((61, 31), bool)
        inside[5:-5, 6:-5] = True
        data = gathers(truth(np.float64))
        for more in ({}, {"variables": "linear", "misfit": "correlation"}):
            made = objective(start(np.float64), data, mask=inside, gradient_steps=1, **more)
            misfit, gradient = made(made.start)
            self.assertGreater(misfit, 0.0)
            along = gradient * inside.reshape(-1) / np.linalg.norm(gradient)
            step = 1e-3
            difference = (made(step * along)[0] - made(-step * along)[0]) / (2 * step)
            self.assertAlmostEqual(difference / (gradient @ along), 1.0, delta=1e-5)

    def test_searches_lower_the_misfit_as_do_those_of_scipy(self):
        made = objective(bounds={"vp": (1400, 2600)})
        first = made(made.start)[0]
        search = made.search(iterations=6)
        seen = list(search)
        self.assertEqual([one.evaluation for one in seen], list(range(1, len(seen) + 1)))
        self.assertEqual((seen[0].misfit, seen[0].relative, seen[0].taken), (first, 1.0, True))
        self.assertLess(min(one.misfit for one in seen), 0.3 * first)
        self.assertIn("iterations", search.message)
        self.assertAlmostEqual(made(search.x)[0], min(one.misfit for one in seen), delta=1e-6 * first)
        vp = search.model()["vp"]
        self.assertTrue(1400 <= vp.min() and vp.max() <= 2600)
        try:
            from scipy.optimize import Bounds, minimize
        except ImportError:
            self.skipTest("SciPy is not installed")
        found = minimize(
            made, made.start, jac=True, method="L-BFGS-B", bounds=Bounds(*made.bounds), options={"maxiter": 6}
        )
        self.assertLess(found.fun, 0.5 * first)

    def test_masks_bounds_and_variables(self):
        mask = np.ones((61, 31), bool)
        mask[:, :5] = False
        made = objective(mask=mask, bounds={"vp": (1200.0, 3000.0)}, bands=(9, 14))
        lower, upper = (values.reshape(61, 31) for values in made.bounds)
        np.testing.assert_array_equal(lower[:, :5], 0.0)
        np.testing.assert_allclose(np.exp(upper[:, 5:]) * start()[:, 5:], 3000.0, rtol=1e-5)
        self.assertEqual(made.value_bounds, {"vp": (1200.0, 3000.0)})
        x = np.full(61 * 31, 0.01)
        np.testing.assert_allclose(made.model(x)["vp"][:, 5:], start()[:, 5:] * np.exp(0.01), rtol=1e-6)
        # without bounds: nodes outside of the mask keep their values, and have no gradient
        np.testing.assert_array_equal(made.model(x)["vp"][:, :5], start()[:, :5])
        misfit, gradient = made(x)
        self.assertEqual(misfit, made(np.where(mask.ravel(), x, 0.0))[0])
        np.testing.assert_array_equal(gradient[~mask.ravel()], 0.0)
        self.assertGreater(np.abs(gradient).max(), 0.0)
        made.set_band(9)
        low = made(made.start)[0]
        self.assertGreater(made.illumination().min(), 0.0)
        made.set_band(14)
        self.assertNotEqual(made(made.start)[0], low)
        self.assertEqual(made.modelled(made.start, 1).shape, (21, made.steps + 1))
        search = made.search(iterations=1)
        list(search)
        np.testing.assert_array_equal(search.model()["vp"][:, :5], start()[:, :5])


class Objects(unittest.TestCase):
    def test_times_without_samples_do_not_count(self):
        data = gathers(start())
        late = [dataclasses.replace(one, traces=one.traces[:, 60:], start=0.12) for one in data]
        whole = objective(data=data)
        for misfit in ("least-squares", "correlation"):
            with objective(data=late, misfit=misfit) as inversion:
                self.assertEqual(inversion.steps, whole.steps)
                self.assertLess(inversion(inversion.start)[0], 1e-3)
        early = [dataclasses.replace(one, start=-0.1) for one in data]
        self.assertAlmostEqual(objective(data=early).steps * whole.dt, 0.2, delta=whole.dt)
        mixed = [data[0], dataclasses.replace(data[1], start=0.1), data[2]]
        self.assertAlmostEqual(objective(data=mixed).steps * whole.dt, 0.4, delta=whole.dt)
        # the wavelet's peak is at 1.5 periods
        peak = objective(data=data, zero="peak")
        self.assertAlmostEqual(peak.steps * whole.dt, 0.3 + 1.5 / 12.0, delta=whole.dt)
        with self.assertRaisesRegex(moho.InputError, "gathers: the last sample is at -0.7 s"):
            objective(data=[dataclasses.replace(one, start=-1.0) for one in data])

    def test_data_and_models_may_change_after_the_preparation(self):
        vp, data = start(), gathers()
        made = objective(vp, data)
        expected = made(made.start)[0]
        vp[:] = 0.0
        for gather in data:
            gather.traces[:] = 0.0
        self.assertEqual(made(made.start)[0], expected)

    def test_interrupted_searches_go_on_with_the_same_bits(self):
        data = gathers()
        one, other = (objective(data=data).search(iterations=2) for _ in range(2))

        def complete(progress):
            while other.advance(progress=progress) is not None:
                pass

        support.expect_progress_to_end(self, complete)
        list(one), list(other)
        self.assertEqual(one.x.tobytes(), other.x.tobytes())

    def test_plans_have_numbers_and_lines(self):
        made = objective(bands=(6, 12))
        plan = made.plan
        for name in ("medium", "dt", "steps", "source_field", "concurrent_shots", "slabs"):
            self.assertEqual(plan[name], getattr(made, name), name)
        self.assertEqual((plan["variables"], plan["bounds"]), (made.start.size, made.value_bounds))
        self.assertGreater(min(plan["seconds"], plan["source_bytes"], plan["data_bytes"]), 0)
        self.assertRegex(str(plan), "gradient  every (step|[0-9]+ steps), source's wavefield by shell: ")
        self.assertRegex(str(plan), "time      about [0-9.]+ s an evaluation")

    def test_searches_go_on_from_a_file_with_the_same_bits(self):
        data = gathers()
        limits = {"iterations": 2, "precondition": True}
        expected = objective(data=data, bands=(6, 12)).search(**limits)
        rows = list(expected)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/state"
            for end in range(1, len(rows) + 1):  # a process for each evaluation
                search = objective(data=data, bands=(6, 12)).search(**limits, checkpoint=path)
                self.assertEqual(next(search), rows[end - 1])
            search = objective(data=data, bands=(6, 12)).search(**limits, checkpoint=path)
            self.assertIsNone(search.advance())
            self.assertEqual(search.x.tobytes(), expected.x.tobytes())
            self.assertEqual(search.message, expected.message)
            self.assertEqual(os.listdir(folder), ["state"])

    def test_files_of_searches_name_what_differs(self):
        data = gathers()
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/state"
            next(objective(data=data).search(checkpoint=path))
            for words, change, limits in (
                ("checkpoint: misfit is 'huber', and was 'least-squares'", {"misfit": "huber"}, {}),
                ("checkpoint: vp is .* float32, CRC-32", {"vp": truth()}, {}),
                ("checkpoint: iterations is 3.0, and was 10.0", {}, {"iterations": 3}),
            ):
                with self.assertRaisesRegex(moho.InputError, words):
                    objective(data=data, **change).search(checkpoint=path, **limits)
            objective(data=data, memory=10**9).search(checkpoint=path)
            with self.assertRaisesRegex(OSError, "numbers of 4 bytes"):
                vp = start(np.float64)
                objective(vp, gathers(truth(np.float64))).search(checkpoint=path)
            with open(path, "r+b") as file:
                file.truncate(os.path.getsize(path) - 10)
            with self.assertRaisesRegex(moho.FileError, "is damaged"):
                objective(data=data).search(checkpoint=path)

    def test_a_signal_ends_a_step(self):
        data, vp = support.long_gather(), np.full((301, 301), 2000, np.float32)
        made = moho.Objective(vp, data, spacing=10, wavelet="ricker:8")
        support.expect_interrupt(self, lambda: made(made.start), after=2.0)

    def test_close_ends_evaluations(self):
        with objective() as made:
            search = made.search()
            next(search)
        with self.assertRaisesRegex(moho.InputError, "close\\(\\) was called"):
            made(made.start)
        with self.assertRaisesRegex(moho.InputError, "close\\(\\) was called"):
            next(search)

    def test_end_of_the_interpreter_with_live_objects(self):
        done = support.run_python("""
            import builtins, numpy as np, moho
            options = {"spacing": 10, "wavelet": "ricker:20"}
            vp = np.full((61, 41), 2000, "f4")
            data = moho.Shots(vp + 50, time=0.1, **options)((300, 20), (400, 20))
            made = moho.Objective(vp, data, **options)
            builtins.kept = [made, made.search(), made(made.start)]
            next(kept[1])
            kept.append(kept)
            """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Messages(unittest.TestCase):
    def refused(self, *words, kind=moho.InputError, **change):
        with self.assertRaises(kind) as caught:
            objective(**change)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        for word in ("moho::", "Kokkos::", "--", "\n"):
            self.assertNotIn(word, text)

    def test_of_arguments_name_them(self):
        data = gathers()
        self.refused("gathers", "none", data=[])
        self.refused("gathers[1]", "moho.Gather", data=[data[0], 3])
        self.refused("gathers is 3", "moho.Gather", data=3)
        for wrong in (3, None, [1], {"vp": 1}):
            self.refused("parameters is", "vp, density", parameters=wrong)
        self.refused("bounds is [1, 2]", "dictionary", bounds=[1, 2])
        for wrong in (3, (1, 2, 3), None):
            self.refused("bounds of vp", "two numbers", bounds={"vp": wrong})
        wrong = moho.Gather(data[0].traces[1:], 0.002, SOURCES[0], RECEIVERS)
        self.refused("gathers[0].traces", "20 x 151", data=wrong)
        nan = data[0].traces.copy()
        nan[3, 4] = np.nan
        self.refused("gathers[0]", data=moho.Gather(nan, 0.002, SOURCES[0], RECEIVERS))
        self.refused("gathers[0]", data=moho.Gather(0 * nan[:, :], 0.002, SOURCES[0], RECEIVERS[:, :] + 0))
        self.refused("parameters", "density", parameters="vp,density")
        self.refused("parameters", parameters="density", density=2000.0)
        self.refused("misfit", "huber", misfit="l1")
        self.refused("bounds", "vp", bounds={"vp": (3, 2)})
        self.refused("bounds", "'density'", bounds={"density": (1000, 2000)})
        self.refused("bands", bands=(5, 3))
        self.refused("mask", "61 x 31", mask=np.ones((3, 3)))
        self.refused("mask", "no numbers", mask=np.full((61, 31), np.nan))
        for wrong in (0.0, -1.0, np.nan, np.inf):
            self.refused("huber is", "positive", misfit="huber", huber=wrong)
        self.refused("mute", "arrivals", mute="arrivals")
        self.refused("source_field", source_field="fast")
        self.refused("equations", equations="fletcher", epsilon=0.1, delta=0.0)
        self.refused("memory", kind=moho.OutOfMemoryError, memory=1000)
        # a stream is advised where it fits
        self.refused("more memory (device_memory), or source_field='random', whose",
                     kind=moho.OutOfMemoryError, device_memory=700_000)
        with self.assertRaisesRegex(moho.OutOfMemoryError, r"more memory \(device_memory\)$"):
            objective(device_memory=1000)

    def test_of_devices_name_what_is_allowed(self):
        for wrong in (0, 65, 1.5, True, "all"):
            self.refused("devices is", "1 to 64", "'auto'", devices=wrong)
        self.refused("devices is 60", "allowed", devices=60)
        self.refused("concurrent_shots is 2", "devices", devices=2, concurrent_shots=2)
        self.refused("devices is 2", "device_memory", devices=2, device_memory=1000)
        for name in ("block", "updates"):
            self.refused(name, "source_field 'random'", **{name: 4})
            self.refused(name, source_field="random", **{name: 0})

    def test_of_evaluations_name_the_variables(self):
        made = objective(bands=(12,))
        wrong = made.start.copy()
        for value in (np.nan, np.inf):
            wrong[70] = value
            with self.assertRaisesRegex(moho.InputError, f"x: number 70 is {value} .allowed: finite"):
                made(wrong)
        with self.assertRaisesRegex(moho.InputError, "x: it has 3 numbers"):
            made(np.zeros(3))
        with self.assertRaisesRegex(moho.InputError, "corner: it is 7 Hz"):
            made.set_band(7)
        with self.assertRaisesRegex(moho.InputError, "shot is 3"):
            made.modelled(made.start, 3)


if __name__ == "__main__":
    unittest.main()
