# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""Snapshots and expanding domains of shots: the files of the program, objects, messages."""

import json
import sys
import tempfile
import unittest
from functools import partial

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

SOURCES = [(403, 202), (203, 22), (600, 100)]
RECEIVERS = [(100, 20), (600.5, 20)]
MIDDLE, NEAR = (803, 602), [(700, 500), (950.5, 602)]


def shots(vp=None, **change):
    vp = support.gradient(81, 61) if vp is None else vp
    return moho.Shots(vp, **{"spacing": 10, "wavelet": "ricker:15", "time": 0.3, **change})


class OfTheProgram(unittest.TestCase):
    def run_program(self, folder, vp, source, *options):
        np.save(f"{folder}/vp.npy", vp)
        support.run_program(
            "model_waves",
            f"{folder}/out",
            *("--vp", f"{folder}/vp.npy", "--spacing", 10, "--wavelet", "ricker:15", "--time", 0.3),
            *("--source", ",".join(map(str, source)), "--receivers", f"{folder}/receivers.npy"),
            *("--precision", "double" if vp.dtype == np.float64 else "float"),
            *options,
        )
        with open(f"{folder}/out/summary.json", encoding="utf-8") as file:
            return json.load(file)

    def expect_same(self, vp, source, receivers, every, options, **arguments):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/receivers.npy", np.array(receivers, float))
            summary = self.run_program(folder, vp, source, "--snapshot-every", every, *options)
            files = summary["snapshots"]
            fields = [np.load(f"{folder}/out/{one['file']}") for one in files]
            traces = np.load(f"{folder}/out/gather.npy")
        gather = shots(vp, sources=source, snapshot_every=every, **arguments)(source, receivers)
        found = gather.snapshots
        self.assertGreater(len(files), 2)
        self.assertEqual(found.values.dtype, vp.dtype)
        self.assertEqual(found.values.shape, (len(files), *vp.shape))
        self.assertEqual(found.times.tolist(), [one["time"] for one in files])
        self.assertEqual(found.values.tobytes(), np.array(fields).tobytes())
        self.assertGreater(np.abs(found.values).max(axis=tuple(range(1, vp.ndim + 1))).min(), 0.0)
        self.assertEqual(gather.traces.tobytes(), traces.tobytes())
        return gather, summary

    def test_snapshots_in_all_media_and_precisions(self):
        vp = support.gradient(81, 61)
        thomsen = {"epsilon": 0.2, "delta": 0.1}
        for fields in ({}, {"density": 2200.0}, thomsen, {**thomsen, "theta": 0.4}):
            with self.subTest(fields=fields):
                options = ["--boundary", "sponge:20,top=free"]
                for name, value in fields.items():
                    options += [f"--{ {'density': 'rho'}.get(name, name) }", value]
                same = {"faces": "sponge:20,top=free", **fields}
                gather, _ = self.expect_same(vp, (403, 22), RECEIVERS, 0.07, options, **same)
                self.assertEqual((gather.stepped, gather.snapshots.domains), (1.0, None))
        self.expect_same(vp.astype(np.float64), (403, 22), RECEIVERS, 0.07, [])
        cube = support.gradient(41, 31, 27)
        self.expect_same(cube, (203, 152, 22), [(100, 100, 20), (300, 200, 20)], 0.07, [])

    def test_snapshots_and_gathers_of_expanding_domains(self):
        vp = support.gradient(161, 121)
        for method, options, arguments in (
            ("layers", [], {}),
            ("eikonal", ["--expand-coarsening", 2], {"expand_coarsening": 2}),
            (
                "amplitude",
                ["--expand-threshold", 0.01, "--expand-interval", 4],
                {"expand_threshold": 0.01, "expand_interval": 4},
            ),
        ):
            with self.subTest(method=method):
                gather, summary = self.expect_same(
                    vp, MIDDLE, NEAR, 0.07, ["--expand", method, *options], expand=method, **arguments
                )
                expand = summary["run"]["expand"]
                self.assertEqual(gather.snapshots.domains, expand["snapshot_domains"])
                self.assertLess(gather.stepped, 0.9)
                for stepped in ("lower", "upper"):
                    self.assertEqual(len(gather.snapshots.domains[0][stepped]), 2)


class OfSlabs(unittest.TestCase):
    def test_are_those_of_shots(self):
        vp = support.gradient(161, 121)
        sources = [MIDDLE, (403, 22)]
        given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.3}
        for expand in ("none", "layers", "eikonal"):
            with self.subTest(expand=expand):
                found = moho.stream_shots(
                    vp,
                    sources=sources,
                    receivers=NEAR,
                    devices=2,
                    slabs=True,
                    expand=expand,
                    snapshot_every=0.07,
                    **given,
                )
                made = shots(vp, expand=expand, snapshot_every=0.07)
                self.assertEqual([one.snapshots is None for one in found], [False, True])
                for gather, source in zip(found, sources):
                    expected = made(source, NEAR)
                    self.assertEqual(gather.traces.tobytes(), expected.traces.tobytes())
                    self.assertAlmostEqual(gather.stepped, expected.stepped)
                snapshots, expected = found[0].snapshots, made(MIDDLE, NEAR).snapshots
                self.assertEqual(snapshots.values.shape, expected.values.shape)
                self.assertEqual(snapshots.values.tobytes(), expected.values.tobytes())
                self.assertEqual(snapshots.times.tolist(), expected.times.tolist())
                self.assertEqual(snapshots.domains, expected.domains)

    def test_streams_expand_with_the_bits_of_shots(self):
        vp = support.gradient(161, 121)
        given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.3, "expand": "eikonal"}
        stream = {"sources": MIDDLE, "receivers": NEAR, "block": 12, "device_memory": 2 << 20}
        found = moho.stream_shots(vp, **stream, **given)[0]
        expected = moho.Shots(vp, **given)(MIDDLE, NEAR)
        self.assertEqual(found.traces.tobytes(), expected.traces.tobytes())
        self.assertLess(found.stepped, 0.9)

    def test_name_what_is_wrong(self):
        given = {"spacing": 10, "wavelet": "ricker:15", "time": 0.3, "sources": MIDDLE, "receivers": NEAR}
        vp = support.gradient(161, 121)
        for text, change in (
            ("snapshot_every was given without slabs", {"snapshot_every": 0.1}),
            ("snapshot_every was given without slabs", {"snapshot_every": 0.1, "slabs": True, "devices": 1}),
            ("expand amplitude is for one device", {"expand": "amplitude"}),
            ("expand_coarsening was given without expand eikonal", {"expand_coarsening": 2}),
            ("seed was given without random layers", {"seed": 1}),
        ):
            with self.assertRaises(moho.InputError) as caught:
                moho.stream_shots(vp, **given, **change)
            self.assertIn(text, str(caught.exception))


class Objects(unittest.TestCase):
    def test_domains_and_snapshots_leave_traces_unchanged(self):
        vp = support.gradient(161, 121)
        plain = shots(vp)(MIDDLE, NEAR)
        self.assertIsNone(plain.snapshots)
        largest = np.abs(plain.traces).max()
        for expand in ("layers", "eikonal", "amplitude"):
            gather = shots(vp, expand=expand)(MIDDLE, NEAR)
            self.assertIsNone(gather.snapshots)
            self.assertLess(gather.stepped, 0.9)
            self.assertLess(np.abs(gather.traces - plain.traces).max(), 1e-4 * largest)
        taken = shots(vp, snapshot_every=0.1)(MIDDLE, NEAR)
        self.assertEqual(taken.traces.tobytes(), plain.traces.tobytes())

    def test_surveys_have_the_bits_of_single_shots(self):
        for concurrent in (1, 3, 0):
            for expand in ("none", "layers", "amplitude"):
                made = shots(concurrent_shots=concurrent, snapshot_every=0.1, expand=expand)
                found = made.survey(SOURCES, RECEIVERS)
                self.assertEqual([one.snapshots is None for one in found], [False, True, True])
                for gather, source in zip(found, SOURCES):
                    expected = made(source, RECEIVERS)
                    self.assertEqual(gather.traces.tobytes(), expected.traces.tobytes())
                    self.assertEqual(gather.stepped, expected.stepped)
                    if gather.snapshots is not None:
                        self.assertEqual(
                            gather.snapshots.values.tobytes(), expected.snapshots.values.tobytes()
                        )
                        self.assertEqual(gather.snapshots.domains, expected.snapshots.domains)

    def test_domains_follow_an_updated_model(self):
        slow, fast = support.gradient(161, 121), support.gradient(161, 121) + np.float32(300)
        for expand in ("layers", "eikonal"):
            made = shots(slow, expand=expand, dt=0.001)
            before = made(MIDDLE, NEAR)
            made.update(fast)
            after = made(MIDDLE, NEAR)
            self.assertEqual(after.stepped, shots(fast, expand=expand, dt=0.001)(MIDDLE, NEAR).stepped)
            self.assertGreater(after.stepped, before.stepped)
            expected = shots(fast, dt=0.001)(MIDDLE, NEAR).traces
            self.assertLess(np.abs(after.traces - expected).max(), 1e-4 * np.abs(expected).max())

    def test_snapshots_outlive_shots_and_show_the_source(self):
        with shots(snapshot_every=0.1, time=0.1) as made:
            snapshots = made((403, 302), RECEIVERS).snapshots
        self.assertEqual(snapshots.values.shape, (1, 81, 61))
        x, z = np.unravel_index(np.abs(snapshots.values[0]).argmax(), (81, 61))
        self.assertLess(np.hypot(10 * x - 403, 10 * z - 302), 40.0, "m from the source after 0.1 s")

    def test_progress_that_raises_leaves_shots_usable(self):
        made = shots(support.gradient(301, 201), time=1.0, snapshot_every=0.1, expand="layers")
        expected = made((300, 20), RECEIVERS)
        support.expect_progress_to_end(self, partial(made, (300, 20), RECEIVERS))
        found = made((300, 20), RECEIVERS)
        self.assertEqual(found.traces.tobytes(), expected.traces.tobytes())
        self.assertEqual(found.snapshots.values.tobytes(), expected.snapshots.values.tobytes())

    def test_fields_with_coordinates(self):
        try:
            import xarray
        except ImportError:
            self.skipTest("no xarray")
        at = {"x": 100.0 + 10.0 * np.arange(81), "z": 10.0 * np.arange(61)}
        vp = xarray.DataArray(support.gradient(81, 61), at, ["x", "z"])
        made = moho.Shots(vp, wavelet="ricker:15", time=0.2, snapshot_every=0.1)
        found = made((503, 22), (600, 20)).snapshots.values
        self.assertEqual(found.dims, ("snapshot", "x", "z"))
        np.testing.assert_array_equal(found.x, at["x"])


class Messages(unittest.TestCase):
    def refused(self, text, kind=moho.InputError, **change):
        with self.assertRaises(kind) as caught:
            shots(**change)
        self.assertIn(text, str(caught.exception))
        self.assertNotIn("--", str(caught.exception))

    def test_are_those_of_the_program(self):
        self.refused("snapshot_every is 0.5 s (allowed: up to 0.29", snapshot_every=0.5)
        self.refused("snapshot_every is -1 s (allowed: positive numbers, or 0): 0: none", snapshot_every=-1)
        self.refused("expand is 'all' (allowed: none, layers, eikonal, amplitude)", expand="all")
        self.refused(
            "expand_threshold was given without expand amplitude (it belongs to it): leave it out",
            expand_threshold=0.1,
        )
        self.refused(
            "expand_coarsening was given without expand eikonal", expand="layers", expand_coarsening=2
        )
        self.refused("expand_interval is 65", expand="amplitude", expand_interval=65)
        self.refused(
            "expand_threshold is 1 (allowed: between 0 and 1)", expand="amplitude", expand_threshold=1
        )
        self.refused("expand_coarsening is 0", expand="eikonal", expand_coarsening=0)

    def test_of_snapshots_that_exceed_the_memory(self):
        with shots(snapshot_every=0.1) as made:
            needed = made.memory
        shots(snapshot_every=0.1, memory=needed + 3 * 81 * 61 * 4).close()
        self.refused(
            "snapshots of 81 x 61 nodes take",
            kind=moho.OutOfMemoryError,
            snapshot_every=0.001,
            memory=needed + 3 * 81 * 61 * 4,
        )


if __name__ == "__main__":
    unittest.main()
