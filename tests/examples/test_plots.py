# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the plotting programs alone: limits, colour bars, sections, and pictures of small results.

The process exits with status 77 if numpy or matplotlib is missing.
"""

import importlib.util
import json
import os
import struct
import sys
import tempfile
import unittest
from unittest import mock

if importlib.util.find_spec("numpy") is None or importlib.util.find_spec("matplotlib") is None:
    print("skipped: numpy or matplotlib is missing, install python3-matplotlib")
    sys.exit(77)

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "plots"))

import numpy as np
import plot_inversion
import plot_migration
import plot_waves
import plots_common
from plots_common import sections, sheets

waves = sys.modules["moho_plot._waves"]

VOLUME = {"axes": ["x", "y", "z"], "shape": [61, 51, 41], "spacing": [10.0, 10.0, 10.0],
          "origin": [0.0, 100.0, 0.0], "medium": "isotropic"}
SECTION = {"axes": ["x", "z"], "shape": [121, 41], "spacing": [10.0, 10.0], "origin": [0.0, 0.0],
           "medium": "isotropic"}


def texts(figure):
    """Titles and labels of all axes."""
    return [text for axes in figure.axes for text in (axes.get_title(), axes.get_xlabel(), axes.get_ylabel())]


class Scales(unittest.TestCase):
    def test_limits_are_those_of_what_is_shown(self):
        self.assertEqual(sheets.limits_of([1500.0, np.nan], [[4000.0, 1800.0]]), (1500.0, 4000.0))
        low, high = sheets.limits_of(np.full((3, 3), 2000.0))
        self.assertLess(low, 2000.0)
        self.assertGreater(high, 2000.0)
        self.assertEqual(sheets.limits_of(np.array([np.nan])), (0.0, 1.0))

    def test_arrows_where_values_are_clipped(self):
        values = np.array([-2.0, 0.0, 3.0, np.nan])
        for low, high, extend in ((-2, 3, "neither"), (-1, 3, "min"), (-2, 2, "max"), (-1, 1, "both")):
            self.assertEqual(sheets.extend_of(values, low, high), extend)

    def test_illumination(self):
        levels = sheets.decibels(np.array([1.0, 0.1, 0.01, 0.0]))
        np.testing.assert_allclose(levels[:3], [0.0, -10.0, -20.0])
        self.assertTrue(np.isnan(levels[3]))
        self.assertEqual(sheets.level_limits(levels), (-20.0, 0.0))
        self.assertEqual(sheets.level_limits(sheets.decibels(np.array([1.0, 0.9]))), (-5.0, 0.0))

    def test_exaggeration(self):
        self.assertEqual(sheets.exaggeration_of(9200.0, 3000.0), 1.0)
        self.assertEqual(sheets.exaggeration_of(12000.0, 1000.0), 2.0)
        self.assertEqual(sheets.exaggeration_of(100000.0, 1000.0), 20.0)
        self.assertEqual(sheets.exaggeration_of(10.0, 210.0), 0.2)
        self.assertEqual(sheets.exaggeration_texts(20.0), ("", "\nvertical exaggeration 20"))
        self.assertEqual(sheets.exaggeration_texts(0.2), ("\nhorizontal exaggeration 5", ""))
        self.assertEqual(sheets.exaggeration_texts(1.0), ("", ""))


class Sections(unittest.TestCase):
    def test_titles(self):
        titles = [s.title for s in sections.sections_through(VOLUME, [204.0, 250.0, 20.0])]
        self.assertEqual(titles, ["y = 250 m", "x = 200 m", "depth z = 20 m"])
        self.assertEqual([s.title for s in sections.middle_sections(VOLUME)], ["y = 350 m", "x = 300 m"])
        self.assertEqual([s.title for s in sections.middle_sections(SECTION)], [""])

    def test_values(self):
        field = np.arange(61 * 51 * 41, dtype=float).reshape(61, 51, 41)
        xz, yz, xy = sections.sections_through(VOLUME, [200.0, 250.0, 20.0])
        np.testing.assert_array_equal(xz.cut(field), field[:, 15])
        np.testing.assert_array_equal(yz.cut(field), field[20])
        np.testing.assert_array_equal(xy.cut(field), field[:, :, 2])
        with self.assertRaises(plots_common.PlotError):
            xz.cut(field[:-1])

    def test_points_within_half_a_spacing(self):
        section = sections.sections_through(VOLUME, [200.0, 250.0, 20.0])[0]
        points = [[0, 250, 0], [0, 255, 0], [0, 245, 0], [0, 256, 0], [0, 100, 0]]
        self.assertEqual(list(section.on(points)), [True, True, True, False, False])
        figure = plots_common.plt.figure()
        self.assertEqual(section.mark(figure.add_subplot(), points, marker="*"), 3)
        self.assertEqual(len(figure.axes[0].lines[0].get_xdata()), 3)
        plots_common.plt.close(figure)

    def test_true_proportions(self):
        for section in sections.sections_through(VOLUME, [200.0, 250.0, 20.0]):
            figure = plots_common.plt.figure(figsize=(9, 3))
            axes = figure.add_subplot()
            section.draw(axes, section.cut(np.zeros((61, 51, 41))))
            axes.apply_aspect()
            box = axes.get_window_extent()
            self.assertAlmostEqual(box.width / box.height, section.lengths[0] / section.lengths[1], 2)
            plots_common.plt.close(figure)

    def test_traces(self):
        line = np.column_stack([np.arange(0.0, 500.0, 10.0), np.full(50, 20.0)])
        x, label, _, _ = waves.trace_axis(line, ["x", "z"])
        self.assertEqual((x[1], label), (10.0, "Receiver x (m)"))
        self.assertEqual(waves.trace_axis(line * [20.0, 1.0], ["x", "z"])[1], "Receiver x (km)")
        line[25:, 0] += 1000.0  # a gap
        self.assertEqual(waves.trace_axis(line, ["x", "z"])[1], "Receiver")
        self.assertEqual(waves.trace_axis(line[[3, 1, 2]], ["x", "z"])[1], "Receiver")


class Pictures(unittest.TestCase):
    """Small results that are written here, and their pictures."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="moho_")
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def save(self, name, values):
        np.save(os.path.join(self.folder, name), np.asarray(values, dtype=np.float32))

    def draw(self, module, summary, *names):
        """Runs a plotting program. Returns the figures by name of file."""
        with open(os.path.join(self.folder, "summary.json"), "w", encoding="utf-8") as file:
            json.dump(summary, file)
        figures = {}

        def save(figure, path, dpi):
            figures[os.path.basename(path)] = figure
            plots_common.save(figure, path, dpi)

        with mock.patch.object(module, "save", save), \
                mock.patch.object(sys, "argv", ["plot", self.folder, "--dpi", "40"]):
            self.assertEqual(module.main(), 0)
        self.assertEqual(sorted(figures), sorted(names))
        for name in names:
            with open(os.path.join(self.folder, name), "rb") as file:
                head = file.read(24)
            self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
            width, height = struct.unpack(">II", head[16:24])
            self.assertTrue(100 <= width <= 800 and 100 <= height <= 1600, (name, width, height))
        return figures

    def results_of_migration(self, model):
        shape = model["shape"]
        field = np.random.default_rng(1).normal(size=shape)
        self.save("vp.npy", 2000.0 + 10.0 * np.arange(shape[-1]) + np.zeros(shape))
        self.save("image.npy", field)
        self.save("illumination_source.npy", 1.0 + 0.5 * np.tanh(field))
        self.save("illumination_receiver.npy", 1.0 + 0.5 * np.tanh(field))
        self.save("data_before.npy", np.random.default_rng(2).normal(size=(30, 50)))
        self.save("data_after.npy", np.random.default_rng(3).normal(size=(30, 50)))
        self.save("offsets.npy", np.random.default_rng(4).normal(size=(2, 11, shape[-1])))
        middle = [350.0, 20.0] if len(shape) == 3 else [20.0]
        off = [100.0, 20.0] if len(shape) == 3 else [20.0]
        columns = [150.0, 250.0, 400.0, 300.0] if len(shape) == 3 else [150.0, 400.0]  # in 3D x, y
        return {"program": "migrate_shots", "model": model,
                "asked": {"condition": ["laplacian"], "expand": "none"},
                "migrated": [{"number": 1, "sources": [[200.0, *middle]]},
                             {"number": 2, "sources": [[100.0, *off]]}],
                "data": {"shot": 1, "before": {"interval": 0.002, "start": 0.0},
                         "after": {"interval": 0.002, "start": 0.0},
                         "sources": [[200.0, *middle]],
                         "receivers": [[10.0 * k, *middle] for k in range(30)]},
                "offsets": {"columns": columns, "first": -50.0, "apart": 10.0}}

    def test_migration(self):
        figures = self.draw(plot_migration, self.results_of_migration(SECTION), "image.png",
                            "illumination.png", "data.png", "gathers.png")
        data = [axes for axes in figures["data.png"].axes if axes.get_title()]
        self.assertEqual([axes.get_xlabel() for axes in data], ["Receiver x (m)"] * 2)
        self.assertEqual(texts(figures["data.png"]).count("Amplitude"), 2)
        for title in ("x = 150 m", "x = 400 m"):
            self.assertIn(title, texts(figures["gathers.png"]))
        self.assertEqual(figures["illumination.png"].axes[0].images[0].get_clim(), (-5.0, 0.0))

    def test_migration_of_a_volume(self):
        summary = self.results_of_migration(VOLUME)
        figures = self.draw(plot_migration, summary, "image.png", "illumination.png", "data.png",
                            "gathers.png")
        panels = {axes.get_title(): axes for axes in figures["image.png"].axes if axes.get_title()}
        self.assertEqual(list(panels), ["y = 350 m", "x = 300 m", "depth z = 200 m"])
        stars = {name: sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "*")
                 for name, axes in panels.items()}
        self.assertEqual(stars, {"y = 350 m": 1, "x = 300 m": 0, "depth z = 200 m": 0})
        for title in ("x = 150, y = 250 m", "x = 400, y = 300 m"):
            self.assertIn(title, texts(figures["gathers.png"]))

    def test_inversion(self):
        start, result = np.full(SECTION["shape"], 2000.0), np.full(SECTION["shape"], 2000.0)
        result[60, 20] = 3500.0  # one node, which a percentile would clip
        for name, values in (("vp_start", start), ("vp", result), ("vp_true", start)):
            self.save(name + ".npy", values)
        for name in ("observed", "start", "modelled"):
            self.save(f"gather_{name}.npy", np.random.default_rng(5).normal(size=(30, 50)))
        with open(os.path.join(self.folder, "history.csv"), "w", encoding="utf-8") as file:
            file.write("taken,band,frequency,iteration,relative_misfit,vp_error\n"
                       "1,1,5,0,1,0.1\n1,1,5,1,0.5,0.09\n")
        summary = {"program": "invert_waves", "model": SECTION, "unknowns": ["vp"],
                   "sources": [[100.0, 20.0], [900.0, 20.0]],
                   "gather": {"shot": 1, "interval": 0.002, "sources": [[100.0, 20.0]],
                              "receivers": [[10.0 * k, 20.0] for k in range(30)]}}
        figures = self.draw(plot_inversion, summary, "models.png", "misfit.png", "gather.png")
        panels = [axes for axes in figures["models.png"].axes if axes.images and axes.get_title()]
        self.assertEqual(len(panels), 3)
        for axes in panels:
            self.assertEqual(axes.images[0].get_clim(), (2000.0, 3500.0))
            self.assertEqual(axes.get_aspect(), 1.0)
            self.assertEqual(sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "*"), 2)

    def test_snapshots_of_a_volume(self):
        self.save("vp.npy", np.full(VOLUME["shape"], 2000.0))
        self.save("snapshot_0001.npy", np.random.default_rng(6).normal(size=VOLUME["shape"]))
        self.save("gather.npy", np.random.default_rng(7).normal(size=(30, 50)))
        summary = {"program": "model_waves", "model": VOLUME, "scheme": {"order": 8},
                   "gather": {"interval": 0.002}, "snapshots": [{"file": "snapshot_0001.npy", "time": 0.1}],
                   "shots": [{"number": 1, "gather": "gather.npy", "sources": [[200.0, 250.0, 20.0]],
                              "receivers": [[10.0 * k, 250.0, 20.0] for k in range(30)]}]}
        figures = self.draw(plot_waves, summary, "gather.png", "snapshots.png")
        titles = [" ".join(text.split()) for text in texts(figures["snapshots.png"]) if "0.100 s" in text]
        self.assertRegex(titles[0], r"^0\.100 s, y = 250 m: saturated at [0-9.]+, largest [0-9.]+$")
        self.assertEqual(titles[1:], ["0.100 s, x = 200 m", "0.100 s, depth z = 20 m"])
        summary["run"] = {"expand": {"snapshot_domains": [{"lower": [100.0, 150.0, -20.0],
                                                           "upper": [300.0, 350.0, 120.0]}]}}
        figure = self.draw(plot_waves, summary, "gather.png", "snapshots.png")["snapshots.png"]
        frames = [line.get_xydata() for axes in figure.axes for line in axes.lines
                  if len(line.get_xdata()) == 5]
        self.assertEqual([(frame.min(axis=0).tolist(), frame.max(axis=0).tolist()) for frame in frames],
                         [([100, -20], [300, 120]), ([150, -20], [350, 120]), ([100, 150], [300, 350])])


if __name__ == "__main__":
    unittest.main(verbosity=2)
