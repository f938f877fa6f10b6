# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""Migration: the bits of migrate_shots, conditions, gathers, objects, messages."""

import dataclasses
import json
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

SOURCES = np.array([(110.0, 20.0), (300.0, 20.0), (480.0, 20.0)])
RECEIVERS = np.column_stack([np.linspace(0.0, 600.0, 31), np.full(31, 20.0)])
WAVES = {"spacing": 10, "wavelet": "ricker:20"}
STORED = {"snapshots": "device", "error": "lossless"}  # others may be chosen by measured rates


def smooth(dtype=np.float32):
    return np.full((61, 41), 2000.0, dtype)


def truth(dtype=np.float32):
    vp = smooth(dtype)
    vp[:, 25:] = 2400.0
    return vp


def gathers(vp=None, **more):
    vp = truth() if vp is None else vp
    shots = moho.Shots(vp, **{**WAVES, "time": 0.5, "interval": 0.002, "sources": SOURCES, **more})
    return [shots(source, RECEIVERS) for source in SOURCES]


def migration(vp=None, data=None, **change):
    return moho.Migration(
        smooth() if vp is None else vp, gathers() if data is None else data, **{**WAVES, **STORED, **change}
    )


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, fields, options=(), common=(), faces=None, **arguments):
        """Migrates data of a model with a reflector with programs and package; returns the object."""
        faces = faces or {}
        dtype = fields["vp"].dtype
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/sources.npy", SOURCES)
            np.save(f"{folder}/receivers.npy", RECEIVERS)
            words = []
            for name, values in fields.items():
                np.save(f"{folder}/{name}.npy", values)
                words += [f"--{ {'density': 'rho'}.get(name, name) }", f"{folder}/{name}.npy"]
            np.save(f"{folder}/true.npy", truth(dtype))
            both = ["--spacing", 10, "--wavelet", "ricker:20", "--time", 0.5, *common]
            both += ["--precision", "double" if dtype == np.float64 else "float"]
            points = ["--source", f"{folder}/sources.npy", "--receivers", f"{folder}/receivers.npy"]
            support.run_program(
                "model_waves",
                f"{folder}/data",
                *("--vp", f"{folder}/true.npy", *words[2:], *both, *points),
                *("--interval", 0.002, "--snapshot-every", 0),
            )
            support.run_program(
                "migrate_shots",
                f"{folder}/out",
                *(*words, "--shots", f"{folder}/data", *both),
                *("--snapshots", arguments.get("snapshots", "device"), "--error", "lossless", *options),
            )
            files = {name: np.load(f"{folder}/out/{name}.npy") for name in arguments.pop("files", ["image"])}
            with open(f"{folder}/out/summary.json", encoding="utf-8") as file:
                self.summary = json.load(file)
        data = gathers(**{**fields, "vp": truth(dtype)}, **faces)
        made = migration(**fields, data=data, **faces, **arguments)
        made.add(data)
        self.assertEqual(made.shots, 3)
        for name, expected in files.items():
            found = {
                "illumination_source": made.illumination,
                "illumination_receiver": lambda: made.illumination("receiver"),
                "offsets": made.offset_gathers,
                "angles": made.angle_gathers,
                "image": made.image,
            }.get(name, lambda name=name: made.image(name.removeprefix("image_")))()
            self.assertEqual((found.shape, found.tobytes()), (expected.shape, expected.tobytes()), name)
            self.assertGreater(np.abs(found).max(), 0.0)
        return made

    def test_have_the_bits_of_the_program_for_all_conditions_and_gathers(self):
        conditions = ["inverse-scattering", "zero-lag", "source", "receiver", "laplacian"]
        made = self.expect_bits_of_the_program(
            {"vp": smooth()},
            ["--condition", ",".join(conditions), "--columns", "200,350", "--offset", 60, "--angles"],
            files=[
                *(f"image_{name}" for name in conditions),
                *("illumination_source", "illumination_receiver", "offsets", "angles"),
            ],
            columns=(200, 350),
            half_offset=60,
        )
        np.testing.assert_array_equal(made.half_offsets, np.arange(-60, 61, 10))
        image = made.image()
        depth = np.abs(image[20:40, 12:]).sum(axis=0).argmax() + 12
        self.assertIn(depth, (24, 25, 26), "the reflector is at node 25")

    def test_have_the_bits_of_the_program_in_windows_with_domains_and_double_precision(self):
        self.expect_bits_of_the_program(
            {"vp": smooth(np.float64)},
            ["--aperture", 100, "--expand", "eikonal", "--mute", "velocity:2000", "--normalise"],
            aperture=100,
            expand="eikonal",
            mute="velocity:2000",
            normalise=True,
        )

    def test_have_the_bits_of_the_program_in_other_media(self):
        vp = smooth()
        self.expect_bits_of_the_program({"vp": vp, "density": np.full_like(vp, 2100.0)})
        thomsen = {"epsilon": np.full_like(vp, 0.15), "delta": np.full_like(vp, 0.05)}
        self.expect_bits_of_the_program({"vp": vp, **thomsen})
        self.expect_bits_of_the_program(
            {"vp": vp, **thomsen, "theta": np.full_like(vp, 0.3)},
            common=["--boundary", "sponge:20"],
            faces={"faces": "sponge:20"},
        )

    def test_have_the_bits_of_the_program_in_slabs(self):
        made = self.expect_bits_of_the_program(
            {"vp": smooth()}, ["--devices", 3, "--expand", "layers"], devices=3, expand="layers"
        )
        self.assertEqual((made.slabs["count"], len(made.slabs["planes"])), (3, 3))
        # the plan has the slabs of the first shot, the summary those with most memory
        most = self.summary["devices"]["bytes_on_each"]
        self.assertEqual({**made.slabs, "bytes_on_each": most}, self.summary["devices"])
        self.assertTrue(0.9 * most < made.slabs["bytes_on_each"] <= most)
        self.assertFalse(made.streamed)
        data = gathers()
        one, other = migration(data=data, expand="layers"), migration(data=data, devices="auto")
        one.add(data)
        self.assertEqual(one.image().tobytes(), made.image().tobytes())
        self.assertIsNone(one.slabs)
        if "cuda" not in moho.build()["spaces"]:
            self.assertEqual((other.slabs, other.streamed), (None, False))

    def test_have_the_bits_of_the_program_with_random_layers(self):
        self.expect_bits_of_the_program({"vp": smooth()}, snapshots="random")
        data = gathers()
        images = []
        for more in ({}, {"seed": 7}, {"random_width": 30}):
            made = migration(data=data, snapshots="random", **more)
            made.add(data)
            images.append(made.image().tobytes())
        self.assertEqual(len(set(images)), 3)

    def test_have_the_same_bits_in_a_stream(self):
        data = gathers()
        random = {"snapshots": "random", "error": "snr:55"}
        made = [
            migration(data=data, **random, **more)
            for more in ({}, {"block": 12}, {"devices": 2, "updates": 2}, {"device_memory": 700 << 10},
                         {"devices": 2})
        ]
        for one in made:
            one.add(data)
        self.assertEqual([one.streamed for one in made], [False, True, True, True, False])
        self.assertEqual(made[-1].slabs["count"], 2)
        images = [one.image().tobytes() for one in made]
        self.assertEqual(images, images[:1] * 5)

    def test_have_all_samples(self):
        data = gathers()
        whole = migration(data=data)
        late = [data[0], *(dataclasses.replace(one, start=0.1) for one in data[1:])]
        for given, more, seconds in ((late, {}, 0.1), (data, {"zero": "peak"}, 1.5 / 20.0)):
            found = migration(data=given, **more)
            self.assertAlmostEqual(found.steps * found.dt, whole.steps * whole.dt + seconds, delta=whole.dt)

    def test_do_not_depend_on_order_and_grouping(self):
        data = gathers()
        one, other = migration(data=data), migration(data=data, concurrent_shots=2)
        one.add(data[2])
        one.add(data[0])
        one.add(data[1])
        other.add(data)
        self.assertEqual((one.concurrent_shots, other.concurrent_shots), (one.concurrent_shots, 2))
        self.assertEqual(one.image().tobytes(), other.image().tobytes())

    def test_of_very_different_scales_are_added(self):
        data = gathers()
        weak = [moho.Gather(1e-8 * one.traces, 0.002, one.sources, one.receivers) for one in data]
        made = migration(data=data)
        made.add(weak[0])
        first = made.image("zero-lag")
        made.add(data[1])
        self.assertEqual(made.shots, 2)
        other = migration(data=data)
        other.add(data[1])
        difference = np.abs(made.image("zero-lag") - other.image("zero-lag")).max()
        self.assertLess(difference, 2.0 * np.abs(first).max())
        self.assertGreater(np.abs(made.image("zero-lag")).max(), 1e3 * np.abs(first).max())

    def test_describe_themselves(self):
        made = migration()
        self.assertEqual((made.medium, made.storage, made.shots), ("isotropic", "raw snapshots in memory", 0))
        self.assertAlmostEqual(made.steps * made.dt, 0.5, delta=made.dt)
        self.assertGreater(made.snapshot_steps, 0)
        self.assertEqual(made.offset_gathers().size, 0)
        plan = made.plan
        for name in ("medium", "dt", "steps", "storage", "snapshot_steps", "concurrent_shots", "slabs"):
            self.assertEqual(plan[name], getattr(made, name), name)
        self.assertEqual((plan["nodes"], plan["shots"]), ([81, 61], 3))
        self.assertGreater(min(plan["seconds"], plan["memory"], plan["snapshot_bytes"]), 0)
        self.assertRegex(str(plan), "snapshots every .*raw snapshots in memory")
        self.assertRegex(str(plan), "time      about [0-9]+ s for 3 shots")


class Objects(unittest.TestCase):
    def test_progress_rises_and_its_exceptions_leave_complete_shots(self):
        data = gathers()
        made = migration(data=data, concurrent_shots=1)
        seen = []
        made.add(data[0], progress=lambda fraction, text: seen.append((fraction, text)))
        self.assertEqual(seen, sorted(seen))
        image = made.image()
        made.add(data[1:])
        with self.assertRaises(moho.InputError):
            made.add(data[0])
        self.assertEqual(made.shots, 3)
        self.assertFalse(np.array_equal(image, made.image()))

    def test_a_signal_ends_a_step(self):
        data, vp = support.long_gather(), np.full((301, 301), 2000, np.float32)
        made = moho.Migration(vp, data, spacing=10, wavelet="ricker:8")
        support.expect_interrupt(self, lambda: made.add(data), after=2.0)

    def test_close_ends_migrations(self):
        with migration() as made:
            pass
        with self.assertRaisesRegex(moho.InputError, "close\\(\\) was called"):
            made.image()

    def test_end_of_the_interpreter_with_live_objects(self):
        done = support.run_python("""
            import builtins, numpy as np, moho
            options = {"spacing": 10, "wavelet": "ricker:20"}
            vp = np.full((61, 41), 2000, "f4")
            data = moho.Shots(vp + 50, time=0.2, **options)((300, 20), [(400, 20), (200, 20)])
            made = moho.Migration(vp, data, **options)
            made.add(data)
            builtins.kept = [made, made.image()]
            kept.append(kept)
            """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Checkpoints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/line.sums"
        self.data = gathers()

    def begin(self, **change):
        change = {"columns": (200, 350), "half_offset": 60, "checkpoint": self.path, **change}
        return migration(data=self.data, **change)

    def test_go_on_with_the_same_bits(self):
        whole = self.begin(checkpoint=None)
        whole.add(self.data)
        first = self.begin()
        self.assertEqual(first.missing, [0, 1, 2])
        first.add([self.data[2], self.data[0]])
        self.assertEqual(first.missing, [1])
        first.close()
        other = self.begin()
        self.assertEqual((other.missing, other.shots), ([1], 2))
        with self.assertRaisesRegex(moho.InputError, "shot 1 of the survey was added before"):
            other.add(self.data[0])
        other.add([self.data[k] for k in other.missing])
        for found, expected in (
            (other.image(), whole.image()),
            (other.illumination("receiver"), whole.illumination("receiver")),
            (other.offset_gathers(), whole.offset_gathers()),
        ):
            self.assertEqual(found.tobytes(), expected.tobytes())
        self.assertEqual(self.begin().missing, [])

    def test_have_the_complete_shots_of_an_interrupted_call(self):
        made = self.begin(concurrent_shots=1)

        class Enough(Exception):
            pass

        def stop(fraction, text):
            if made_shots.append(fraction) or fraction > 0.4:
                raise Enough

        made_shots = []
        long = [moho.Gather(g.traces.repeat(40, 1), g.interval, g.sources, g.receivers) for g in self.data]
        made = moho.Migration(
            *(smooth().repeat(4, 0).repeat(4, 1), long),
            **{**WAVES, **STORED, "concurrent_shots": 1, "checkpoint": self.path},
        )
        with self.assertRaises(Enough):
            made.add(long, progress=stop)
        done = 3 - len(made.missing)
        self.assertGreater(done, 0)
        made.close()
        other = moho.Migration(
            *(smooth().repeat(4, 0).repeat(4, 1), long),
            **{**WAVES, **STORED, "concurrent_shots": 1, "checkpoint": self.path},
        )
        self.assertEqual(other.shots, done)

    def test_name_what_differs(self):
        self.begin().add(self.data[0])
        for words, change in (
            ("checkpoint: wavelet is 'ricker:18', and was 'ricker:20' in", {"wavelet": "ricker:18"}),
            ("checkpoint: vp is 61 x 41 float32, CRC-32", {"vp": truth()}),
            ("checkpoint: half_offset is 50.0, and was 60.0", {"half_offset": 50}),
        ):
            with self.assertRaisesRegex(moho.InputError, words) as caught:
                self.begin(**change)
            self.assertRegex(str(caught.exception), "allowed: the same .*remove the file to begin again")
        self.begin(memory=10**9, concurrent_shots=2)
        self.data[1] = dataclasses.replace(self.data[1], traces=2 * self.data[1].traces)
        with self.assertRaisesRegex(ValueError, "checkpoint: gathers is '3 gathers, CRC-32"):
            self.begin()

    def test_name_damaged_and_other_files(self):
        self.begin().add(self.data[0])
        with open(self.path, "rb") as file:
            whole = file.read()
        for at in (40, len(whole) // 2, len(whole) - 2):
            with open(self.path, "wb") as file:
                file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with self.assertRaisesRegex(OSError, "line.sums' is damaged .*remove it to begin again"):
                self.begin()
        for length in (0, 20, 100, len(whole) - 1):
            with open(self.path, "wb") as file:
                file.write(whole[:length])
            with self.assertRaisesRegex(moho.FileError, "line.sums' is damaged"):
                self.begin()
        np.save(self.path + ".npy", np.zeros(100))
        with self.assertRaisesRegex(moho.FileError, "has no sums of a migration"):
            self.begin(checkpoint=self.path + ".npy")
        made = self.begin(checkpoint=f"{self.path}/nowhere/line.sums")
        with self.assertRaisesRegex(moho.FileError, "nowhere"):
            made.add(self.data[0])
        self.assertEqual(made.shots, 1)


class Messages(unittest.TestCase):
    def refused(self, *words, kind=moho.InputError, **change):
        with self.assertRaises(kind) as caught:
            migration(**change)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        for word in ("moho::", "Kokkos::", "--", "\n"):
            self.assertNotIn(word, text)

    def test_of_arguments_name_them(self):
        self.refused("gathers", data=[])
        self.refused("columns", "9000", columns=(9000,))
        self.refused("mute", mute="all")
        self.refused("spreading", spreading="much")
        self.refused("aperture", aperture=-3)
        self.refused("expand", "eikonal", expand="fast")
        self.refused("snapshots", snapshots="tape")
        self.refused("snapshots", snapshots="disk")  # of programs, which have a folder
        self.refused("snr", error="much")
        self.refused("time", time=-1)
        self.refused("half_offset", half_offset=-5, columns=(100,))
        self.refused("half_offset is 5000", "10 to ", half_offset=5000, columns=(100,))

    def test_of_devices_name_what_is_allowed(self):
        self.refused("devices is 0", "1 to 64", devices=0)
        self.refused("devices is 60", "allowed", devices=60)
        self.refused("devices is 2", "amplitude", devices=2, expand="amplitude")
        self.refused("devices 2 and concurrent_shots 2", "1)", devices=2, concurrent_shots=2)
        self.refused("block and expand layers", "none", block=12, expand="layers")
        self.refused("snapshots random and expand layers", snapshots="random", expand="layers")
        self.refused("updates and snapshots device", "random", updates=2)
        more = {"devices": 2, "kind": moho.OutOfMemoryError}
        self.refused("devices is 2", device_memory=1000, snapshots="device", **more)
        self.refused("memory", "needed", memory=10000, snapshots="auto", **more)

    def test_of_gathers_and_images_name_them(self):
        data = gathers()
        made = migration(data=data, expand="layers")
        with self.assertRaisesRegex(moho.InputError, "condition"):
            made.image("receiver")
        with self.assertRaisesRegex(moho.InputError, "condition is 'kirchhoff'"):
            made.image("kirchhoff")
        moved = moho.Gather(data[0].traces, 0.002, data[0].sources + 10, RECEIVERS)
        with self.assertRaisesRegex(moho.InputError, "gathers\\[0\\]: no shot"):
            made.add(moved)
        with self.assertRaisesRegex(moho.InputError, "each shot once"):
            made.add([data[0], data[0]])


if __name__ == "__main__":
    unittest.main()
