# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 12
"""moho.plot: pictures of arrays and what they show, the programs' pictures, messages."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
if importlib.util.find_spec("matplotlib") is None:
    print("skipped: matplotlib is missing")
    sys.exit(77)
import matplotlib

matplotlib.use("Agg")
import moho
import moho.plot
import numpy as np
import support
from matplotlib import pyplot

PLOTS = os.path.join(os.environ["MOHO_EXAMPLES"], "..", "plots")
LINE = np.column_stack([np.linspace(0.0, 300.0, 31), np.full(31, 20.0)])


def titles(figure):
    return [axes.get_title() for axes in figure.axes if axes.get_title()]


def clims(figure):
    return [axes.images[0].get_clim() for axes in figure.axes if axes.images]


class Case(unittest.TestCase):
    def setUp(self):
        self.addCleanup(pyplot.close, "all")

    def drawn(self, figure):
        """Draws a figure with all texts, and returns its pixels; they are not all of one colour."""
        figure.set_dpi(40)
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())
        self.assertGreater(len(np.unique(pixels.reshape(-1, 4), axis=0)), 10)
        return pixels


class Fields(Case):
    def test_model_and_sections(self):
        field = support.gradient(31, 21)
        figure = moho.plot.model(field, spacing=10, sources=[(100, 0)], receivers=LINE, contours=5)
        self.drawn(figure)
        self.assertEqual(clims(figure), [(1500.0, 1660.0)])
        np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), field.T)
        self.assertEqual(figure.axes[0].get_xlim(), (-5.0, 305.0))
        self.assertEqual(figure.axes[0].get_ylim(), (205.0, -5.0))
        volume = support.rough(11, 12, 13)
        figure = moho.plot.model(volume, spacing=(10, 20, 10), at=(30, 80, 50))
        self.assertEqual(titles(figure), ["y = 80 m", "x = 30 m", "depth z = 50 m"])
        images = [axes.images[0].get_array() for axes in figure.axes if axes.get_title()]
        for image, values in zip(images, (volume[:, 4], volume[3], volume[:, :, 5])):
            np.testing.assert_array_equal(image, values.T)

    def test_images(self):
        field = np.random.default_rng(1).normal(size=(31, 21))
        figure = moho.plot.image(field, support.gradient(31, 21), spacing=10, sources=[(100, 0)])
        self.drawn(figure)
        low, high = clims(figure)[0]
        self.assertEqual(low, -high)
        self.assertAlmostEqual(high, np.percentile(np.abs(field), 99), 6)
        figure = moho.plot.illumination({"sources": np.exp(field)}, spacing=10)
        self.assertEqual(clims(figure)[0][1], 0.0)
        rows = [(np.zeros((2, 5, 21)), -20.0, 10.0, "Half offset (m)"), None]
        figure = moho.plot.depth_gathers(rows, titles=["x = 10 m", "x = 20 m"], spacing=10)
        self.assertEqual(figure.axes[0].get_ylim(), (205.0, -5.0))

    def test_models_have_one_scale(self):
        start, result = np.full((31, 21), 2000.0), np.full((31, 21), 2100.0)
        figure = moho.plot.models({"vp": {"start": start, "result": result}}, spacing=10)
        self.assertEqual(clims(figure), [(2000.0, 2100.0)] * 2)
        self.assertEqual(titles(figure), ["P velocity: start", "P velocity: result"])
        figure = moho.plot.misfit({"8 Hz": ([0, 1, 2], [1.0, 0.5, 0.2])}, errors=([0, 1, 2], [9, 7, 6]))
        self.drawn(figure)
        np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), [1.0, 0.5, 0.2])
        # decimal numbers within a decade
        ticks = [label.get_text() for label in figure.axes[0].get_yticklabels(which="both")]
        self.assertIn("0.6", ticks)
        self.assertFalse([text for text in ticks if "10^" in text])


class Waves(Case):
    def test_gathers_of_a_shot(self):
        shots = moho.Shots(support.gradient(31, 21), spacing=10, wavelet="ricker:15", time=0.2)
        gather = shots((100, 20), LINE)
        figure = moho.plot.gather(gather)
        self.drawn(figure)
        axes = figure.axes[0]
        self.assertEqual(axes.get_xlabel(), "Receiver x (m)")
        # the star of the source is below the title
        star = axes.lines[-1]
        above = axes.get_window_extent().y1 + 0.5 * star.get_markersize() * figure.dpi / 72.0
        self.assertGreaterEqual(axes.title.get_window_extent().y0, above)
        self.assertAlmostEqual(axes.get_ylim()[0], gather.times[-1] + 0.5 * gather.interval)
        np.testing.assert_array_equal(axes.images[0].get_array(), gather.traces.astype(float).T)
        few = moho.plot.gather(gather.traces[:3], interval=gather.interval)
        self.assertEqual(len(few.axes[0].lines), 3)
        both = moho.plot.gathers({"a": gather, "b": gather.traces * 2}, intervals=gather.interval)
        self.assertEqual(len(set(clims(both))), 1)
        self.assertEqual(len(set(clims(moho.plot.gathers({"a": gather, "b": gather.traces * 2},
                                                         intervals=gather.interval, one_scale=False)))), 2)

    def test_snapshots(self):
        velocity = support.gradient(31, 25, 21)
        fields = np.random.default_rng(2).normal(size=(2, 31, 25, 21))
        figure = moho.plot.snapshots(fields, [0.1, 0.2], velocity, spacing=10, sources=[(100, 50, 20)])
        self.drawn(figure)
        self.assertEqual(len(titles(figure)), 6)
        self.assertIn("0.200 s, x = 100 m", titles(figure))
        fields[0, 5:, 3] = float("nan")  # at NaN the velocity is visible
        self.drawn(moho.plot.snapshots(fields, [0.1, 0.2], velocity, spacing=10, sources=[(100, 50, 20)]))

    def test_snapshots_of_a_shot_with_its_domains(self):
        vp = support.gradient(161, 121)
        given = {"wavelet": "ricker:15", "time": 0.2, "expand": "layers", "snapshot_every": 0.1}
        taken = moho.Shots(vp, spacing=10, **given)((803, 602), [(700, 500)]).snapshots
        places = {"spacing": 10, "sources": [(803, 602)]}
        figure = moho.plot.snapshots(taken.values, taken.times, vp, domains=taken.domains, **places)
        plain = moho.plot.snapshots(taken.values, taken.times, vp, **places)
        self.assertIn(f"{taken.times[0]:.3f} s: saturated", titles(figure)[0])
        self.assertFalse(np.array_equal(self.drawn(figure), self.drawn(plain)))


class Rays(Case):
    def test_picture_of_the_program(self):
        """moho.plot.rays() of the package's rays has the pixels of the program's picture."""
        with tempfile.TemporaryDirectory() as folder:
            velocity = support.gradient(61, 41, slope=30)
            np.save(os.path.join(folder, "vp.npy"), velocity)
            out = os.path.join(folder, "out")
            support.run_program("trace_rays", out, "--model", os.path.join(folder, "vp.npy"), "--spacing", 10,
                                "--radius", 4, "--source", "100,0", "--receivers", "500,300; 300,390")
            done = subprocess.run([sys.executable, os.path.join(PLOTS, "plot_rays.py"), out, "--dpi", "60"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            options = {"spacing": 10, "sources": [(100, 0)], "receivers": [(500, 300), (300, 390)]}
            rays = moho.trace_rays(velocity, radius=4, **options)
            path = os.path.join(folder, "rays.png")
            figure = moho.plot.rays(rays, velocity, **options,
                                    title="First arrivals: vp.npy, 61 x 41 nodes, radius 4, 1 source")
            figure.savefig(path, dpi=60)
            found, expected = (pyplot.imread(name) for name in (path, os.path.join(out, "rays.png")))
            np.testing.assert_array_equal(found, expected)

    def test_traveltimes_and_volumes(self):
        velocity = support.gradient(21, 19, 17)
        options = {"spacing": 10, "sources": [(100, 90, 0)]}
        times = moho.first_arrivals(velocity, **options)
        self.assertEqual(len(titles(moho.plot.traveltimes(times, velocity, **options))), 3)
        rays = moho.trace_rays(velocity, receivers=[(200, 180, 160)], radius=2, **options)
        self.drawn(moho.plot.rays(rays, velocity, **options))

    def test_tomography(self):
        velocity = support.gradient(31, 21)
        line = np.array([[0.0, 0.0], [200.0, 150.0]])
        figure = moho.plot.tomography(velocity, coverage=np.ones((31, 21)), deviation=np.full((31, 21), 0.1),
                                      spacing=10, rays=[line], ground=np.zeros(31))
        self.drawn(figure)
        self.assertEqual(len(titles(figure)), 3)
        n = np.arange(12)
        picks = {"source": n // 4, "receiver": n % 4, "rx": 10.0 * (n % 4), "offset": 10.0 * n,
                 "time": 0.1 * n, "predicted": 0.1 * n, "residual": 0.01 * n, "z": 0.1 * n, "flag": n == 11}
        figure = moho.plot.traveltime_fit(picks)
        self.assertEqual(len(titles(figure)), 4)
        self.assertEqual([axes.get_xlabel() for axes in figure.axes[:2]], ["x (m)", "Offset (m)"])
        self.assertEqual(figure.axes[3].get_images()[0].get_extent(), (0.5, 4.5, 3.5, 0.5))  # from 1
        hole = {**picks, "rx": np.full(12, 20.0), "sz": 1.0 * (n // 4), "rz": 3.0 * (n % 4)}
        figure = moho.plot.traveltime_fit(hole)
        self.assertEqual([axes.get_xlabel() for axes in figure.axes[:2]],
                         ["z of the receiver (m)", "Distance (m)"])
        figure = moho.plot.traveltime_fit({**hole, "ry": np.zeros(12)})
        self.assertEqual(figure.axes[0].get_xlabel(), "Offset (m)")

    def test_tomography_of_a_volume(self):
        velocity = np.full((11, 9, 7), 2000.0)
        velocity[2, 4, 0] = 2500.0  # where rays are, but pale
        coverage, deviation = np.zeros((11, 9, 7)), np.full((11, 9, 7), 0.3)
        coverage[2:9, 4, :3], coverage[2:9, 2:8, 1] = 20.0, 400.0
        deviation[5, :, :3] = 0.1
        figure = moho.plot.tomography(velocity, coverage=coverage, deviation=deviation, spacing=10,
                                      origin=(0, 0, -30), elevations=True)
        self.drawn(figure)
        self.assertEqual(titles(figure), ["y = 40 m", "x = 50 m", "elevation 20 m"])
        limits = clims(figure)  # columns of velocity, coverage and deviation
        self.assertEqual(limits[0], (2000.0, 2500.0))
        self.assertEqual(len(set(limits[1:9:3])), 1)
        self.assertEqual(set(limits[2:9:3]), {(0.1, 0.3)})
        self.assertEqual(figure.axes[0].get_ylabel(), "Elevation (m)")
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        self.assertIn("20", labels)
        self.assertEqual(labels, sorted(labels, key=lambda text: -float(text.replace("\u2212", "-"))))


class Gravity(Case):
    def test_maps(self):
        grid = (5, 4, 10, 10, 0, 0)
        stations = [(x, y, 0) for y in range(0, 40, 10) for x in range(0, 50, 10)]
        cube = [[-50, 50, -50, 50, 100, 200, 500.0]]
        values = moho.gravity(cube, stations=stations, components="gz,gzz")
        figure = moho.plot.gravity(values, components="gz,gzz", grid=grid)
        self.drawn(figure)
        np.testing.assert_array_equal(figure.axes[0].collections[0].get_array().ravel(),
                                      values[0].reshape(4, 5).T.ravel())
        self.assertEqual(titles(figure), ["g$_z$", "g$_{zz}$"])
        self.drawn(moho.plot.gravity(values[:1], components="gz", stations=stations, single=True))

    def test_densities_and_fit(self):
        model = np.zeros((2, 3, 4))
        model[1, 2, 3] = 100.0
        mesh = (4, 3, 2, 0, 400, 0, 300, 50, 250)
        figure = moho.plot.densities({"found": model}, mesh=mesh)
        self.drawn(figure)
        self.assertEqual(titles(figure)[0], "found, z = 200 m")
        self.assertEqual(figure._suptitle.get_text(), "sections through the strongest body of: found")
        # the centre of mass lies between two bodies: the sections go through the heavier one
        model = np.zeros((6, 8, 20))
        model[1:4, 2:5, 2:5] = -150.0
        model[1:3, 3:5, 15:17] = 200.0
        titles_of = titles(moho.plot.densities({"two": model, "none": 0.0 * model},
                                               mesh=(20, 8, 6, 0, 200, 0, 80, 0, 60)))
        self.assertEqual(titles_of[:3], ["two, z = 25 m", "y = 35 m", "x = 35 m"])
        model[1:3, 3:5, 12:18] = 200.0
        titles_of = titles(moho.plot.densities({"two": model}, mesh=(20, 8, 6, 0, 200, 0, 80, 0, 60)))
        self.assertEqual(titles_of[2], "x = 145 m")
        fit = {"data": np.arange(4.0), "field": np.arange(4.0), "residual": np.zeros(4), "chi2": 0.5}
        stations = [(0, 0, 0), (10, 0, 0), (0, 10, 0), (10, 10, 0)]
        self.assertIn("gz: residual / error, chi² 0.50",
                      titles(moho.plot.gravity_fit({"gz": fit}, stations=stations)))


class Package(Case):
    def test_the_compiled_module_is_not_loaded(self):
        done = support.run_python("import sys, moho.plot; print('moho._core' in sys.modules)")
        self.assertEqual((done.stdout, done.stderr), ("False\n", ""))

    def test_messages(self):
        field = support.gradient(31, 21)
        for call, words in (
                (lambda: moho.plot.model(field[0], spacing=10), "1 axes"),
                (lambda: moho.plot.model(field, spacing=0), "spacing is 0 m"),
                (lambda: moho.plot.model(field, spacing=(10, float("nan"))), "spacing is nan m"),
                (lambda: moho.plot.model(field, spacing=float("inf")), "spacing is inf m"),
                (lambda: moho.plot.model(field, spacing=10, origin=float("nan")), "origin is nan m"),
                (lambda: moho.plot.model(field, spacing=10, sources=[(1, 2, 3)]), "sources"),
                (lambda: moho.plot.image(field, field[:5], spacing=10), "allowed: [31, 21]"),
                (lambda: moho.plot.gather(field), "interval"),
                (lambda: moho.plot.gather(field, interval=1, receivers=LINE[:3]), "3 receivers"),
                (lambda: moho.plot.rays([], field, spacing=10, sources=[(0, 0)]), "times"),
                (lambda: moho.plot.traveltimes(field[1:], field, spacing=10, sources=[(0, 0)]), "times"),
                (lambda: moho.plot.gravity([[1.0]], components="gy,gz", stations=[(0, 0, 0)]), "values"),
                (lambda: moho.plot.gravity([[1.0]], components="g", stations=[(0, 0, 0)]), "components"),
                (lambda: moho.plot.traveltime_fit({}), "source, receiver"),
                (lambda: moho.plot.model(field[:0], spacing=10), "1 or more nodes"),
                (lambda: moho.plot.model(field + 0j, spacing=10), "no real numbers"),
                (lambda: moho.plot.model(field, spacing="a"), "spacing"),
                (lambda: moho.plot.model(field, spacing=10, sources="a"), "sources"),
                (lambda: moho.plot.model(field, spacing=10, limits=5), "limits"),
                (lambda: moho.plot.gather(field, interval=0), "interval is 0 s"),
                (lambda: moho.plot.gather(field, interval="a"), "interval"),
                (lambda: moho.plot.gather(field, interval=0.1, clip=200), "clip"),
                (lambda: moho.plot.gathers([field]), "panels is of type list"),
                (lambda: moho.plot.densities(None, mesh=(1, 1, 1, 0, 1, 0, 1, 0, 1)), "models is of type")):
            with self.assertRaises(moho.plot.PlotError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertIsInstance(caught.exception, moho.InputError)


if __name__ == "__main__":
    unittest.main(verbosity=2)
