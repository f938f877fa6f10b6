# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 5
"""Files of models and gathers, compressed fields: round trips, files of the programs, messages."""

import os
import pathlib
import sys
import tempfile
import unittest
import warnings

sys.dont_write_bytecode = True
import moho
import numpy as np
import support


class Models(unittest.TestCase):
    def test_are_read_as_they_were_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for shape in ((7, 5), (6, 5, 4)):
                values = support.rough(*shape)
                spacing, origin = (12.5, 10.0, 7.5)[-len(shape) :], (100.0, 50.0, 20.0)[-len(shape) :]
                for name in ("model.rsf", "model.sgy"):
                    path = os.path.join(folder, name)
                    moho.write_model(path, values, spacing=spacing, origin=origin)
                    found = moho.read_model(path)
                    self.assertEqual(found.values.tobytes(), values.tobytes())
                    np.testing.assert_allclose(found.spacing, spacing)
                    np.testing.assert_allclose(found.origin, origin)
                    self.assertEqual(found.length_unit, "m")
                np.save(f"{folder}/model.npy", values)
                found = moho.read_model(f"{folder}/model.npy", dtype=np.float64)
                self.assertEqual((found.values.dtype, found.spacing), (np.float64, (0.0,) * len(shape)))
                np.testing.assert_array_equal(found.values, values)

    def test_notes_are_warnings(self):
        values = support.rough(7, 5)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.sgy"
            moho.write_model(path, values, spacing=10, origin=(100.0, 0.0))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertEqual(moho.read_model(path).notes, ())
            content = pathlib.Path(path).read_bytes()
            size = 240 + 4 * 5
            traces = [content[k : k + size] for k in range(3600, len(content), size)]
            pathlib.Path(path).write_bytes(content[:3600] + b"".join(reversed(traces)))
            with self.assertWarnsRegex(UserWarning, "model.sgy: x decreases from trace to trace") as seen:
                found = moho.read_model(path)
            self.assertEqual(os.path.basename(seen.filename), "test_io.py")
            self.assertEqual(found.notes, ("x decreases from trace to trace: the traces were reversed",))
            self.assertEqual((found.values.tobytes(), found.origin[0]), (values.tobytes(), 100.0))

    def test_messages(self):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/whole.npy", np.arange(12, dtype=np.int32).reshape(4, 3))
            with self.assertWarnsRegex(UserWarning, "the integers were converted to float"):
                whole = moho.read_model(f"{folder}/whole.npy")
            self.assertEqual(whole.values.dtype, np.float32)
            np.testing.assert_array_equal(whole.values.ravel(), np.arange(12))
            with self.assertRaisesRegex(moho.FileError, "missing.npy"):
                moho.read_model(f"{folder}/missing.npy")
            with self.assertRaises(OSError):
                moho.read_model(f"{folder}/model.txt")
            with self.assertRaisesRegex(moho.InputError, "extension"):
                moho.write_model(f"{folder}/model.txt", np.ones((3, 3)), spacing=10)
            with self.assertRaisesRegex(moho.InputError, "dtype"):
                moho.read_model(f"{folder}/model.npy", dtype=int)
            with self.assertRaises(moho.FileError):
                moho.write_model(f"{folder}/none/model.rsf", np.ones((3, 3)), spacing=10)
            for name in ("model.rsf", "model.sgy"):
                with self.assertRaisesRegex(moho.InputError, "^values: its shape is 0 x 5 "):
                    moho.write_model(f"{folder}/{name}", np.ones((0, 5)), spacing=10)


class Gathers(unittest.TestCase):
    def test_are_read_as_they_were_written(self):
        random = np.random.default_rng(1)
        for dim in (2, 3):
            gathers = [
                moho.Gather(
                    random.normal(size=(3 + k, 50)).astype(np.float32),
                    0.002,
                    random.integers(0, 500, (1, dim)).astype(float),
                    np.column_stack([100.0 * np.arange(3 + k)] + [np.full(3 + k, 20.0 + k)] * (dim - 1)),
                    0.1,
                )
                for k in range(3)
            ]
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("error")
                moho.write_gathers(f"{folder}/line.sgy", gathers, dim=dim)
                found = moho.read_gathers(f"{folder}/line.sgy", dim=dim, line="0")
                some = moho.read_gathers(f"{folder}/line.sgy", dim=dim, line="0", shots=[2])
            self.assertEqual((len(found), len(some)), (3, 1))
            for one, other in zip([*gathers, gathers[2]], [*found, some[0]]):
                self.assertEqual(one.traces.tobytes(), other.traces.tobytes())
                self.assertEqual((other.interval, round(other.start, 6)), (0.002, 0.1))
                np.testing.assert_allclose(other.sources, one.sources)
                np.testing.assert_allclose(other.receivers, one.receivers)

    def test_of_programs_are_read(self):
        vp = support.gradient(61, 41)
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/vp.npy", vp)
            np.save(f"{folder}/sources.npy", [(200.0, 20.0), (400.0, 20.0)])
            support.run_program(
                "model_waves",
                f"{folder}/out",
                *("--vp", f"{folder}/vp.npy", "--spacing", 10, "--wavelet", "ricker:15", "--time", 0.2),
                *("--source", f"{folder}/sources.npy", "--receivers", "0,20:600,20:7", "--interval", 0.002),
                *("--snapshot-every", 0),
            )
            found = moho.read_gathers(f"{folder}/out")
        shots = moho.Shots(vp, spacing=10, wavelet="ricker:15", time=0.2, interval=0.002)
        expected = shots((400, 20), found[1].receivers)
        np.testing.assert_allclose(found[1].sources, [(400, 20)])
        self.assertEqual(found[1].traces.tobytes(), expected.traces.tobytes())

    def test_notes_are_warnings(self):
        traces = np.ones((3, 5), np.float32)
        traces[1] = 0.0
        gather = moho.Gather(traces, 0.002, np.ones((1, 2)), np.eye(3, 2))
        with tempfile.TemporaryDirectory() as folder:
            name = f"{folder}/line.sgy"
            moho.write_gathers(name, gather)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                moho.read_gathers(name, interval=0.004)
            self.assertEqual({one.filename for one in caught}, {__file__})
            self.assertEqual(
                [str(one.message) for one in caught],
                [
                    f"{name}: the interval is the one that was given, 4 ms",
                    f"{name}: shot 1: 1 trace is zero and left out: trace 2",
                ],
            )
            gather.traces[1] = 1.0
            moho.write_gathers(name, gather)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                moho.read_gathers(name)

    def test_messages(self):
        gather = moho.Gather(np.ones((1, 5), np.float32), 0.002, np.ones((2, 2)), np.ones((1, 2)))
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(moho.InputError, "gathers\\[0\\]: it has 2 sources"):
                moho.write_gathers(f"{folder}/line.sgy", gather)
            with self.assertRaisesRegex(moho.FileError, "line.sgy"):
                moho.read_gathers(f"{folder}/line.sgy")
            one = moho.Gather(gather.traces, 0.002, gather.sources[:1], gather.receivers)
            moho.write_gathers(f"{folder}/line.sgy", one)
            for name in ("line", "line.npy", "line.sgyx"):
                with self.assertRaisesRegex(
                    moho.InputError, r"^extension of path is '(|\.npy|\.sgyx)' \(allowed: \.sgy, \.segy\)"
                ):
                    moho.write_gathers(f"{folder}/{name}", one)
            odd = moho.Gather(gather.traces, 0.00205001, gather.sources[:1], gather.receivers)
            with self.assertRaisesRegex(moho.InputError, r"interval in seconds is 0.00205001 .*: resample"):
                moho.write_gathers(f"{folder}/line.sgy", odd)
            moho.write_gathers(pathlib.Path(folder, "upper.SEGY"), one)
            self.assertEqual(sorted(os.listdir(folder)), ["line.sgy", "upper.SEGY"])
            with self.assertRaisesRegex(moho.InputError, "no shot 7"):
                moho.read_gathers(f"{folder}/line.sgy", shots=[7])
            with self.assertRaisesRegex(moho.InputError, "elevations"):
                moho.read_gathers(f"{folder}/line.sgy", elevations="up")


class Fields(unittest.TestCase):
    def test_are_compressed_within_the_error(self):
        x = np.linspace(0, 9, 70)
        for shape in ((70, 61), (40, 30, 21)):
            field = np.sin(x[: shape[0]]).reshape(-1, *(1,) * (len(shape) - 1)) * np.cos(
                x[: shape[-1]] * 2
            ) + np.zeros(shape)
            for error in ("snr:55", "max:1e-3", "bits:12", "paper:1e-3"):
                for call in (moho.compress, moho.Migration):  # the forms are documented
                    self.assertIn(f'"{error.split(":")[0]}:', call.__doc__)
                packed = moho.compress(field, error)
                found = moho.decompress(packed)
                self.assertEqual((found.shape, found.dtype), (shape, np.float32))
                self.assertLess(len(packed), 4 * field.size)
                difference = np.abs(found - field)
                if error == "snr:55":
                    self.assertLess((difference**2).sum(), 10**-5.4 * (field**2).sum())
                else:
                    self.assertLess(difference.max(), 2e-3)
                self.assertGreater(difference.max(), 0.0)

    def test_messages(self):
        packed = moho.compress(support.rough(30, 20))
        with self.assertRaises(moho.FileError):
            moho.decompress(packed[:-3])
        with self.assertRaises(moho.FileError):
            moho.decompress(packed[:100] + b"x" + packed[101:])
        with self.assertRaises(moho.InputError):
            moho.compress(np.full((9, 9), np.nan))
        with self.assertRaises(moho.InputError):
            moho.compress(np.ones((9, 9)), "db:3")
        with self.assertRaisesRegex(moho.InputError, "bytes"):
            moho.decompress("text")


if __name__ == "__main__":
    unittest.main()
