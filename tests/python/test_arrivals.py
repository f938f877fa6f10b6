# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""first_arrivals(): the bits of the program, arrays in and out, messages."""

import ctypes
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import moho
import numpy as np
import support


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, velocity, places, options, **arguments):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/vp.npy", velocity)
            text = "; ".join(",".join(str(x) for x in place) for place in places)
            for name in ("epsilon", "delta"):
                if name in arguments:
                    np.save(f"{folder}/{name}.npy", arguments[name])
                    options = [*options, f"--{name}", f"{folder}/{name}.npy"]
            if velocity.dtype == np.float64:
                options = [*options, "--precision", "double"]
            support.run_program(
                "first_arrivals",
                f"{folder}/out",
                "--vp",
                f"{folder}/vp.npy",
                "--spacing",
                10,
                "--source",
                text,
                *options,
            )
            expected = np.load(f"{folder}/out/times.npy")
        times = moho.first_arrivals(velocity, spacing=10, sources=places, **arguments)
        self.assertEqual((times.dtype, times.shape), (expected.dtype, expected.shape))
        self.assertEqual(times.tobytes(), expected.tobytes())

    def test_have_the_bits_of_the_program(self):
        places = [(503, 17), (120, 400)]
        for dtype in (np.float32, np.float64):
            with self.subTest(dtype=dtype):
                self.expect_bits_of_the_program(support.rough(101, 61, dtype=dtype), places, [])
        self.expect_bits_of_the_program(support.rough(101, 61), places, ["--each"], each=True)
        self.expect_bits_of_the_program(
            support.rough(101, 61), places, ["--order", 1, "--unfactored"], order=1, factored=False
        )
        self.expect_bits_of_the_program(
            support.rough(61, 41), places, ["--method", "fast_marching"], method="fast_marching"
        )

    def test_have_the_bits_of_the_program_in_3d_and_anisotropic_media(self):
        self.expect_bits_of_the_program(support.rough(31, 21, 25), [(103, 57, 8)], [])
        velocity = support.rough(61, 41)
        epsilon = np.full_like(velocity, 0.2)
        self.expect_bits_of_the_program(velocity, [(300, 10)], [], epsilon=epsilon)
        self.expect_bits_of_the_program(
            velocity,
            [(300, 10)],
            ["--method", "sweeping"],
            epsilon=epsilon,
            delta=0.5 * epsilon,
            method="sweeping",
        )

    def test_are_exact_in_a_constant_velocity(self):
        times = moho.first_arrivals(np.full((101, 51), 2000.0), spacing=10, sources=(500, 0), origin=(10, 0))
        x, z = np.meshgrid(np.arange(101) * 10.0 + 10 - 500, np.arange(51) * 10.0, indexing="ij")
        self.assertLess(np.abs(times - np.hypot(x, z) / 2000).max(), 1e-9)

    def test_parameters_of_one_number_fill_the_model(self):
        velocity = support.rough(61, 41)
        constant = moho.first_arrivals(velocity, spacing=10, sources=(300, 10), epsilon=0.2, delta=0.1)
        field = moho.first_arrivals(
            velocity,
            spacing=10,
            sources=(300, 10),
            epsilon=np.full((61, 41), 0.2),
            delta=np.full((61, 41), 0.1),
        )
        self.assertEqual(constant.tobytes(), field.tobytes())


class Dlpack:
    """An array of another library: it has nothing but the protocol."""

    def __init__(self, array, device=None):
        self.array, self.device = array, device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


class Arrays(unittest.TestCase):
    def times(self, velocity, **arguments):
        return moho.first_arrivals(velocity, spacing=10, sources=(100, 0), **arguments)

    def test_fields_are_used_in_place(self):
        from moho._arrays import field

        velocity = support.gradient(61, 41)
        self.assertTrue(np.shares_memory(field(velocity, "velocity"), velocity))
        self.assertTrue(np.shares_memory(field(Dlpack(velocity), "velocity"), velocity))
        fixed = velocity.copy()
        fixed.flags.writeable = False
        self.assertTrue(np.shares_memory(field(fixed, "velocity"), fixed))
        self.times(fixed)

    def test_other_layouts_and_types_give_the_same(self):
        velocity = support.gradient(61, 41)
        expected = self.times(velocity)
        swapped = velocity.astype(velocity.dtype.newbyteorder())
        for other in (
            np.asfortranarray(velocity),
            np.repeat(velocity, 2, axis=0)[::2],
            swapped,
            Dlpack(velocity),
            velocity.astype(np.int16),
            velocity.tolist(),
        ):
            times = self.times(other)
            if times.dtype == np.float32:
                self.assertEqual(times.tobytes(), expected.tobytes())
            self.assertLess(np.abs(times - expected).max(), 1e-5)

    def test_out_receives_the_times(self):
        velocity = support.gradient(61, 41)
        out = np.empty_like(velocity)
        self.assertIs(self.times(velocity, out=out), out)
        self.assertEqual(out.tobytes(), self.times(velocity).tobytes())

    def test_results_can_be_written_and_shared(self):
        times = self.times(support.gradient(61, 41))
        times += 1.0
        self.assertTrue(np.shares_memory(np.from_dlpack(times), times))
        self.assertEqual(times.ctypes.data % 64, 0)
        self.assertEqual(ctypes.c_float.from_address(times.ctypes.data).value, times[0, 0])


class Messages(unittest.TestCase):
    def refused(self, *words, velocity=None, **change):
        velocity = support.gradient(61, 41) if velocity is None else velocity
        arguments = {"spacing": 10, "sources": (100, 0)} | change
        with self.assertRaises(ValueError) as caught:
            moho.first_arrivals(velocity, **arguments)
        self.assertIsInstance(caught.exception, moho.InputError)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        for word in ("moho::", "Kokkos::", "nanobind", "--", "\n"):
            self.assertNotIn(word, text)

    def test_name_the_argument_and_what_is_allowed(self):
        velocity = support.gradient(61, 41)
        wrong = velocity.copy()
        wrong[3, 4] = np.nan
        self.refused("velocity", "(3, 4)", velocity=wrong)
        self.refused("velocity", "1 axes", velocity=velocity[0])
        self.refused("velocity", "complex64", velocity=velocity.astype(np.complex64))
        self.refused("velocity", "float16", velocity=velocity.astype(np.float16))
        self.refused("velocity", "device", velocity=Dlpack(velocity, (2, 0)))
        self.refused("source 1", "(9000, 0)", "x 0 to 600", sources=(9000, 0))
        self.refused("sources", "n x 2", sources=(1, 2, 3))
        self.refused("sources", sources=np.zeros((0, 2)))
        self.refused("sources", "numbers", sources="here")
        self.refused("spacing", "2 numbers for x, z", spacing=(1, 2, 3))
        self.refused("spacing along x", spacing=-10)
        self.refused("order is 3", "1 to 2", order=3)
        self.refused("method", "sweeping", method="swept")
        self.refused("fast_marching", "each", method="fast_marching", each=True)
        self.refused("delta", "epsilon", delta=0.1)
        self.refused("epsilon", "61 x 41", epsilon=velocity[:-1])
        self.refused("epsilon", "2", epsilon=7.0)
        self.refused("memory", memory=0.5)
        self.refused("progress", progress=3)
        self.refused("out", "writable", out=np.empty((61, 41)))
        self.refused("out", "shares memory", velocity=velocity, out=velocity)

    def test_memory_that_does_not_suffice_is_a_memory_error(self):
        with self.assertRaises(MemoryError) as caught:
            moho.first_arrivals(support.gradient(61, 41), spacing=10, sources=(100, 0), memory=1000)
        self.assertIsInstance(caught.exception, moho.OutOfMemoryError)
        self.assertNotIn("moho::", str(caught.exception))

    def test_classes_are_those_that_python_programs_expect(self):
        for ours, built_in in (
            (moho.InputError, ValueError),
            (moho.FileError, OSError),
            (moho.OutOfMemoryError, MemoryError),
            (moho.NotFiniteError, ArithmeticError),
        ):
            self.assertTrue(issubclass(ours, built_in) and issubclass(ours, moho.Error))


class Derivatives(unittest.TestCase):
    SOURCES = [(103, 57), (311, 20)]

    def test_gradient_is_the_derivative_of_the_times(self):
        random = np.random.default_rng(4)
        velocity = support.gradient(41, 31, dtype=np.float64) + random.uniform(-20, 20, (41, 31))
        along = random.normal(size=(41, 31))
        for more in ({}, {"epsilon": 0.2}, {"epsilon": 0.2, "delta": 0.1}, {"order": 1, "factored": False}):
            with self.subTest(**more):
                given = {"spacing": 10, "sources": self.SOURCES, **more}
                weights = random.normal(size=(2, 41, 31))

                def sum_of(step, given=given, weights=weights):
                    return (moho.first_arrivals(velocity + step * along, each=True, **given) * weights).sum()

                gradient = moho.first_arrivals_gradient(velocity, weights, **given)
                slope = (sum_of(1e-3) - sum_of(-1e-3)) / 2e-3
                self.assertAlmostEqual(slope, (gradient * along).sum(), delta=1e-6 * np.linalg.norm(gradient))
                times = moho.first_arrivals(velocity, each=True, **given)
                self.assertAlmostEqual((gradient * velocity).sum() / -(weights * times).sum(), 1, delta=1e-9)

    def test_gradient_keeps_type_and_refuses_in_words(self):
        velocity = support.rough(21, 16)
        given = {"spacing": 10, "sources": (50, 50)}
        weights = np.ones((1, 21, 16), np.float32)
        gradient = moho.first_arrivals_gradient(velocity, weights, **given)
        self.assertEqual((gradient.dtype, gradient.shape), (np.float32, (21, 16)))
        self.assertTrue((gradient <= 0).all())
        with self.assertRaisesRegex(moho.InputError, "derivative: its shape is 21 x 16 .* 1 x 21 x 16"):
            moho.first_arrivals_gradient(velocity, weights[0], **given)
        with self.assertRaisesRegex(moho.InputError, "delta was given without epsilon"):
            moho.first_arrivals_gradient(velocity, weights, delta=0.1, **given)
        with self.assertRaises(moho.OutOfMemoryError):
            moho.first_arrivals_gradient(velocity, weights, memory=1000, **given)


if __name__ == "__main__":
    unittest.main()
