#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program migrate_shots through its command line: images.

usage: test_migrate_shots.py --program PATH [--mpirun PATH] [--modeller PATH] [--data FOLDER]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import subprocess
import sys

import support
from migrate_shots_case import Case, Results
from support import np


# ctest: quick
class Images(Case):
    def test_flat_reflector(self):
        r = self.migrate(*self.shots, "--condition", "laplacian,zero-lag,source,receiver,inverse-scattering")
        self.assertEqual(r.image.shape, self.shape)
        # within the illuminated part the largest amplitude below the shallow part is at the step
        part = np.abs(r.image[40:81, 15:55])
        depths = 15 + part.argmax(axis=1)
        self.assertLessEqual(np.abs(np.median(depths) - 29.5), 1.5)
        for name in ("zero-lag", "source", "receiver", "inverse-scattering", "laplacian"):
            self.assertTrue(np.isfinite(r.load(f"image_{name}.npy")).all())
        zero = r.load("image_zero-lag.npy").astype(float)
        light = r.load("illumination_source.npy").astype(float)
        self.assertGreater(light.min(), -1e-30)
        source = zero / (light + 1e-3 * light.max())
        np.testing.assert_allclose(r.load("image_source.npy"), source, rtol=1e-4,
                                   atol=1e-5 * np.abs(source).max())
        half = r.load("image_inverse-scattering.npy").astype(float)
        inner = (slice(5, -5), slice(5, -5))
        plain = sum(np.gradient(np.gradient(zero, 10.0, axis=a), 10.0, axis=a) for a in (0, 1))
        self.assertGreater(np.corrcoef(half[inner].ravel(), plain[inner].ravel())[0, 1], 0.9)

    def test_printed_counts_and_files(self):
        one = self.migrate("--shots", "modelled", "--source", "300,20", "--receivers", "0,20:1200,20:61",
                           "--snapshot-steps", "1", "--keep-shots", "--columns", "300,600", "--angles",
                           "--condition", "laplacian,zero-lag,source,receiver,inverse-scattering")
        for words in (": 1 shot, 61 traces\n", "snapshots every step, ", "migrated  1 shot, "):
            self.assertIn(words, one.text)
        # four significant digits
        hertz = float(one.text.split(", up to ")[1].split(" Hz")[0])
        self.assertEqual(f"{hertz:.4g}", one.text.split(", up to ")[1].split(" Hz")[0])
        self.assertNotEqual(hertz, float(f"{hertz:.3g}"))
        listed = one.text.split("written   ")[1].split("\n")[0].split(": ")[1].split()
        self.assertGreater(len(listed), 12)
        self.assertEqual(sorted(listed), sorted(one.summary["files"]))

    def test_all_files_are_listed(self):
        self.survey = ["--spacing", "10", "--wavelet", "ricker:15", "--time", "0.02", "--dt", "0.002"]
        r = self.migrate("--shots", "modelled", "--source", "300,20:900,20:110", "--receivers",
                         "0,20:1200,20:5", "--keep-shots", "--mute", "none")
        listed = r.text.split("written   ")[1].split("\n")[0].split(": ")[1].split()
        self.assertGreater(len(listed), 110)
        self.assertEqual(sorted(listed), sorted(r.summary["files"]))

    def test_agrees_with_a_snapshot_in_every_step_where_records_are_cut(self):
        true = np.full((201, 101), 2000.0, dtype=np.float32)
        self.save("smooth.npy", true)
        true[:, 60:] = 2400.0
        self.save("true.npy", true)
        self.survey = ["--spacing", "10", "--wavelet", "ricker:15", "--time", "1"]
        options = ("--shots", "modelled", "--true-vp", "true.npy", "--source", "300,20:1700,20:3",
                   "--receivers", "0,20:2000,20:101")
        image = self.migrate(*options, out="automatic").image.astype(float)
        exact = self.migrate(*options, "--snapshot-steps", "1", out="exact").image.astype(float)
        below = (slice(None), slice(25, None))
        self.assertLess(np.abs(image - exact)[below].max(), 1e-3 * np.abs(exact[below]).max())

    def test_snapshots_of_all_kinds_give_one_image(self):
        expected = self.migrate(*self.shots, "--error", "lossless", "--snapshots", "memory", out="raw").image
        size = np.linalg.norm(expected)
        for kind, more, bound in (("replay", ["--error", "lossless"], 0.0),
                                  ("compressed", ["--error", "bits:16"], 1e-3),
                                  ("compressed", ["--error", "snr:60"], 3e-2),
                                  ("compressed", ["--error", "max:1e-4"], 3e-2),
                                  ("threads", ["--error", "snr:60"], 3e-2),
                                  ("threads", ["--error", "bits:16"], 1e-3),
                                  ("disk", ["--error", "lossless", "--disk", "1G"], 0.0),
                                  ("disk", ["--error", "snr:60", "--disk", "1G"], 3e-2),
                                  ("boundary", [], 1e-3)):
            r = self.migrate(*self.shots, "--snapshots", kind, *more, out="other")
            error = np.linalg.norm(r.image - expected) / size
            self.assertLessEqual(error, bound, f"{kind} {more}: {error}")
            self.assertEqual([name for name in os.listdir(r.folder) if "snapshots" in name], [],
                             "scratch is removed")
            if kind == "threads":
                stages = {stage["stage"]: stage for stage in r.summary["stages"]}
                count = len(r.summary["migrated"]) * r.summary["snapshots"]["count"]
                self.assertEqual([stages[name]["spans"] for name in ("compress", "decompress")],
                                 [count, count])
                self.assertIn("of the host", r.summary["migrated"][0]["snapshots"])

    def test_a_folder_of_the_user_stays(self):
        for name in ("snapshots", ".moho_snapshots"):
            os.makedirs(self.path("other/" + name))
            self.write(f"other/{name}/thesis.txt", "foreign")
        options = ["--vp", "smooth.npy", *self.survey, *self.shots, "--snapshots", "disk", "--disk", "1G"]
        done = self.call(*options, "--no-plot", "--out", "other")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr,
                         "other/.moho_snapshots' is a folder that no run of moho made .*move it away")
        os.rename(self.path("other/.moho_snapshots"), self.path("moved"))
        done = self.call(*options, "--no-plot", "--out", "other")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.path("moved")), ["thesis.txt"])
        self.assertEqual(os.listdir(self.path("other/snapshots")), ["thesis.txt"])

    def test_expanding_domains(self):
        whole, points = self.migrate(*self.shots, out="whole").image, []
        for more in (["layers"], ["eikonal"], ["eikonal", "--expand-coarsening", "1"]):
            r = self.migrate(*self.shots, "--snapshots", "memory", "--expand", *more, out="box")
            self.assertLess(np.linalg.norm(r.image - whole), 1e-3 * np.linalg.norm(whole))
            points.append(r.summary["run"]["points"])
        self.assertTrue(points[2] < points[1] <= max(points) < r.summary["run"]["points_of_whole_grids"])

    def test_receiver_illumination_of_expanding_domains(self):
        shots = [*self.shots, "--condition", "inverse-scattering,receiver", "--snapshots", "memory"]
        whole = self.migrate(*shots, out="whole")
        for method in ("layers", "eikonal", "amplitude"):
            r = self.migrate(*shots, "--expand", method, out="box")
            self.assertLess(r.summary["run"]["points"], whole.summary["run"]["points"], method)
            light = whole.load("illumination_receiver.npy")
            difference = np.abs(r.load("illumination_receiver.npy") - light)
            self.assertLess((difference / light).max(), 1e-4, method)
            image = whole.load("image_receiver.npy")
            self.assertLess(np.linalg.norm(r.load("image_receiver.npy") - image),
                            2e-3 * np.linalg.norm(image), method)
        # without that condition receiver wavefields are stepped in boxes, and incomplete fields are not
        # written
        boxes = self.migrate(*self.shots, "--snapshots", "memory", "--expand", "eikonal", "--keep-shots",
                             out="box")
        self.assertNotIn("illumination_receiver.npy", os.listdir(boxes.folder))
        self.assertIn("note: no illumination_receiver.npy: with --expand eikonal", boxes.text)
        self.assertEqual(np.abs(boxes.load("shot_0001.npy")[2]).max(), 0.0)
        self.assertLess(boxes.summary["run"]["points"], r.summary["run"]["points"])

    def test_apertures(self):
        shots = [*self.shots[:-1], "200,20:1000,20:41"]
        r = self.migrate(*shots, "--aperture", "100")
        windows = [shot["window"] for shot in r.summary["migrated"]]
        self.assertEqual([w["lower"][0] for w in windows], [10, 10, 10])
        self.assertEqual([w["upper"][0] for w in windows], [111, 111, 111])
        self.assertEqual(np.abs(r.image[:5]).max(), 0.0)
        part = np.abs(r.image[40:81, 15:55])
        self.assertLessEqual(np.abs(np.median(15 + part.argmax(axis=1)) - 29.5), 1.5)

    def test_gathers(self):
        r = self.migrate(*self.shots, "--columns", "500,600", "--offset", "100", "--angles")
        offsets = r.load("offsets.npy")
        count = offsets.shape[1]
        self.assertEqual((offsets.shape[0], offsets.shape[2]), (2, self.shape[1]))
        self.assertEqual(r.load("angles.npy").shape, (2, 61, self.shape[1]))
        # the image is the gather at half offset zero
        zero = self.migrate(*self.shots, "--condition", "zero-lag", out="zero").image
        np.testing.assert_allclose(offsets[0, count // 2], zero[50], rtol=1e-4,
                                   atol=1e-5 * np.abs(zero).max())

    def test_other_formats(self):
        r = self.migrate(*self.shots)
        with open(os.path.join(r.folder, "image.sgy"), "rb") as file:
            data = file.read()
        self.assertEqual(len(data), 3600 + self.shape[0] * (240 + 4 * self.shape[1]))
        with open(os.path.join(r.folder, "image.rsf"), "rb") as file:
            header = file.read(2000)
        self.assertIn(b"n1=61", header.replace(b" ", b""))


class Compass(Case):
    """Every second node of a section of the BG Compass model.

    Tilted data are imaged in place with the right parameters.
    """
    names = ("vp", "epsilon", "delta", "theta")

    @staticmethod
    def smooth(values, nodes=7):
        for axis in (0, 1) * 2:
            pad = [(nodes, nodes) if a == axis else (0, 0) for a in range(2)]
            sums = np.cumsum(np.pad(values, pad, mode="edge"), axis=axis)
            first = nodes - nodes // 2 - 1
            take = np.arange(values.shape[axis]) + first
            values = (sums.take(take + nodes, axis) - sums.take(take, axis)) / nodes
        return values.astype(np.float32)

    def test_tilted_parameters_focus(self):
        paths = {p: os.path.join(self.data or "", f"bgcompass_{p}_325x171_12.5m.npy") for p in self.names}
        if not all(map(os.path.exists, paths.values())):
            self.skipTest("the BG Compass section is not there")
        true, tilted = [], []
        for p in self.names:
            values = np.ascontiguousarray(np.load(paths[p])[::2, ::2].astype(float))
            self.save(f"true_{p}.npy", values.astype(np.float32))
            self.save(f"{p}.npy", self.smooth(values))
            true += [f"--true-{p}", f"true_{p}.npy"]
            tilted += [f"--{p}", f"{p}.npy"]
            if p == "vp":
                steps = np.zeros_like(values)
                steps[:, 1:] = np.diff(np.log(values), axis=1)

        def likeness(image):
            """Correlation with steps of the velocity below 1000 m in the wavelet's band, normalised by depth.
            """
            parts = []
            for values in (-image.astype(float), steps):
                spectrum = np.fft.rfft(values, axis=1)
                waves = np.fft.rfftfreq(values.shape[1], 25.0)
                part = np.fft.irfft(spectrum * np.exp(-0.5 * ((waves - 0.004) / 0.002) ** 2), values.shape[1],
                                    axis=1)
                part = part[20:-20, 40:-8]
                parts.append(part / np.sqrt((part**2).mean(axis=0)))
            return np.corrcoef(parts[0].ravel(), parts[1].ravel())[0, 1]

        found = {}
        for what, model in (("tilted", tilted), ("isotropic", ["--vp", "vp.npy"])):
            folder, _ = self.succeed(
                *model, *true, "--spacing", "25", "--shots", "modelled", "--source", "300,25:3750,25:6",
                "--receivers", "0,25:4050,25:82", "--wavelet", "ricker:6", "--time", "2", "--boundary",
                "sponge:20", "--condition", "laplacian", "--space", "serial", out=what)
            found[what] = likeness(np.load(os.path.join(folder, "image.npy")))
        self.assertGreater(found["tilted"], 0.25, found)
        self.assertLess(abs(found["isotropic"]), 0.5 * found["tilted"], found)


# ctest: cost 13
class Volume(Case):
    """A volume of a tilted medium with one diffractor.

    With the right parameters it is imaged in place, with the vertical velocity only where times predict it.
    """
    velocity, epsilon, delta, tilt, azimuth = 2000.0, 0.3, 0.1, np.radians(35.0), np.radians(30.0)
    frequency, spacing, nodes = 18.0, 10.0, 46
    source, diffractor = np.array([140.0, 140.0, 20.0]), np.array([26, 20, 25])

    def times(self, steps, anisotropic):
        """Traveltimes along steps from one point to another.

        They are those of plane waves whose slowness fits best (Legendre transform).
        """
        distance = np.linalg.norm(steps, axis=-1)
        if not anisotropic:
            return distance / self.velocity
        axis = np.array([np.sin(self.tilt) * np.cos(self.azimuth), np.sin(self.tilt) * np.sin(self.azimuth),
                         np.cos(self.tilt)])
        # rotated into the plane of the axis, which has phase and group: along the axis and across it
        along = steps @ axis
        across = np.sqrt(np.maximum(distance**2 - along**2, 0.0))
        angle = np.radians(np.arange(-180.0, 180.0, 0.25))
        sine, cosine = np.sin(angle) ** 2, np.cos(angle) ** 2
        root = np.sqrt((1 + 2 * self.epsilon * sine) ** 2 - 8 * (self.epsilon - self.delta) * sine * cosine)
        phase = self.velocity * np.sqrt(0.5 + self.epsilon * sine + 0.5 * root)
        return (along[..., None] * (np.cos(angle) / phase)
                + across[..., None] * (np.sin(angle) / phase)).max(axis=-1)

    def isotropic_place(self, receivers):
        """Node whose isotropic traveltimes fit those of the diffractor best."""
        at = self.diffractor * self.spacing
        found = self.times(at - self.source, True) + self.times(at - receivers, True)
        first = self.diffractor - 12
        nodes = first + np.stack(np.meshgrid(*3 * [np.arange(25)], indexing="ij"), axis=-1).reshape(-1, 3)
        places = nodes * self.spacing
        times = self.times(places - self.source, False)[:, None] + np.linalg.norm(
            places[:, None] - receivers, axis=-1) / self.velocity
        return nodes[((times - found) ** 2).sum(axis=1).argmin()]

    def test_a_diffractor_comes_out_where_it_is(self):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        smooth = np.full(3 * [self.nodes], self.velocity, dtype=np.float32)
        self.save("smooth.npy", smooth)
        # layers depend on the largest velocity: equal without the diffractor
        smooth[-1, -1, -1] = 2600.0
        self.save("without.npy", smooth)
        smooth[tuple(slice(n - 1, n + 2) for n in self.diffractor)] = 2600.0
        self.save("with.npy", smooth)
        end = self.spacing * (self.nodes - 1)
        survey = ["--spacing", self.spacing, "--coordinates", "xyz", "--wavelet", f"ricker:{self.frequency}",
                  "--time", "0.46", "--dt", "0.00125", "--boundary", "sponge:12", "--space", "serial"]
        tilted = ["--epsilon", self.epsilon, "--delta", self.delta, "--theta", self.tilt, "--phi",
                  self.azimuth]
        line = np.linspace(20.0, end - 20.0, 14)
        receivers = np.stack([*np.meshgrid(line, line, indexing="ij"), np.full((14, 14), 20.0)],
                             axis=-1).reshape(-1, 3)
        np.savetxt(self.path("receivers.csv"), receivers, delimiter=",")
        for model in ("with", "without"):
            place = ",".join(map(str, self.source))
            done = subprocess.run(
                [self.modeller, "--vp", f"{model}.npy", *map(str, [*survey, *tilted]), "--source", place,
                 "--receivers", "receivers.csv", "--snapshot-every", "0", "--no-plot", "--out", model],
                cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        # scattered wave of the diffractor
        gathers = [np.load(self.path(f"{model}/gather.npy")) for model in ("with", "without")]
        os.remove(self.path("with/gather.sgy"))
        self.save("with/gather.npy", gathers[0] - gathers[1])
        expected = {"tilted": self.diffractor, "isotropic": self.isotropic_place(receivers)}
        quarter = 0.25 * self.velocity / self.frequency
        self.assertGreater(self.spacing * np.linalg.norm(expected["isotropic"] - self.diffractor),
                           1.5 * quarter)
        for what, model in (("tilted", tilted), ("isotropic", [])):
            folder, _ = self.succeed("--vp", "smooth.npy", *survey, *model, "--shots", "with", "--mute",
                                     "none", "--condition", "laplacian", out=f"{what}_image")
            image = np.abs(np.load(os.path.join(folder, "image.npy"))[5:-5, 5:-5, 14:-5])
            place = np.array(np.unravel_index(image.argmax(), image.shape)) + [5, 5, 14]
            away = self.spacing * np.linalg.norm(place - expected[what])
            self.assertLessEqual(away, quarter, f"{what}: {place} for {expected[what]}")
            if what == "isotropic":
                self.assertGreater(self.spacing * np.linalg.norm(place - self.diffractor), quarter)


class Marmousi(Case):
    def test_reflectivity(self):
        names = [os.path.join(self.data or "", f"marmousi_vp_461x151_20m{end}.npy")
                 for end in ("_smooth", "")]
        if not all(map(os.path.exists, names)):
            self.skipTest("there are no Marmousi models")
        with open(self.program, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("sanitizers make it take minutes")
        r = Results(*self.succeed("--vp", names[0], "--spacing", "20", "--shots", "modelled", "--true-vp",
                                  names[1], "--source", "600,20:8600,20:9", "--receivers", "0,20:9200,20:231",
                                  "--wavelet", "ricker:8", "--time", "2.4", "--condition", "laplacian"))
        v = np.load(names[1]).astype(float)
        contrast = np.zeros_like(v)
        contrast[:, 1:-1] = (v[:, 2:] - v[:, :-2]) / (v[:, 2:] + v[:, :-2])
        part = (slice(30, 430), slice(15, 110))
        # a zero-phase image of the contrasts: they are positive at its troughs
        image = -r.image.astype(float)
        found = np.corrcoef(image[part].ravel(), contrast[part].ravel())[0, 1]
        self.assertGreater(found, 0.25)
        # a reversed image does not fit
        self.assertLess(abs(np.corrcoef(image[::-1][part].ravel(), contrast[part].ravel())[0, 1]), 0.1)


class Picture(Case):
    def test_pictures(self):
        self.needs_matplotlib()
        r = self.migrate(*self.shots, "--expand", "layers", "--columns", "600", "--angles", plot=True)
        for name in ("image.png", "illumination.png", "data.png", "boxes.png", "gathers.png"):
            self.assert_picture(os.path.join(r.folder, name))
        self.assertNotIn("timeline.png", r.summary["files"])
        self.assertFalse(os.path.exists(os.path.join(r.folder, "timeline.png")))
        self.assertEqual(self.plot("plot_migration", r.folder, "--timeline", "--dpi", 40), (0, "", ""))
        self.assert_picture(os.path.join(r.folder, "timeline.png"))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
