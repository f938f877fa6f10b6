# SPDX-License-Identifier: BSD-3-Clause
"""Experiments of Suh and Wang (2011): expanding domains in TTI reverse-time migration."""

import re

from papers_common import digits, milliseconds, plots

TITLE = "Expanding domains in TTI reverse-time migration (Suh and Wang, 2011)"
ELAPSED = {"layers": 0.78, "eikonal_full": 0.82, "amplitude": 0.75}  # over that of the complete grid
TIMES = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]


def tti_model(run):
    """Writes the 2D salt model as vp, epsilon, delta and theta; returns options of the programs."""
    import numpy as np

    shape, spacing = run.pick(("1601,601", 10), ("601,201", 25))
    run.program("first_arrivals", ["--builtin", "salt", "--shape", shape, "--spacing", spacing,
                                   "--no-plot"], "salt")
    vp = np.load(run.out / "salt" / "velocity.npy").astype("f4")
    sediment = (vp > 1550) & (vp < 4400)
    np.save(run.out / "vp.npy", vp)
    for name, value in (("epsilon", 0.16), ("delta", 0.08), ("theta", 0.5)):
        np.save(run.out / f"{name}.npy", np.where(sediment, value, 0.0).astype("f4"))
    return ["--vp", "vp.npy", "--epsilon", "epsilon.npy", "--delta", "delta.npy", "--theta", "theta.npy",
            "--spacing", str(spacing), "--wavelet", f"ricker:{run.pick(15, 6)}"], vp, spacing


def domains(run):
    """Figures 1 to 3: domains and snapshots by two methods in a TTI salt model, and its traveltimes."""
    import numpy as np

    model, vp, spacing = tti_model(run)
    plt = plots()
    figure, panels = plt.subplots(len(TIMES), 2, figsize=(11, 2.2 * len(TIMES)), sharex=True, sharey=True)
    extent = [0, 1e-3 * spacing * (vp.shape[0] - 1), 1e-3 * spacing * (vp.shape[1] - 1), 0]
    rows = []
    for column, method in enumerate(("layers", "eikonal", "amplitude")):
        summary = run.program("model_waves", [*model, "--time", "3.01", "--snapshot-every", "0.5",
                                              "--expand", method, "--no-plot"], f"domain_{method}")
        saved = summary["run"]["expand"]
        boxes = saved["snapshot_domains"]
        rows.append([method, f"{100 * saved['part_stepped']:.1f} %", digits(summary["elapsed"])])
        if column > 1:
            continue
        for row, box in enumerate(boxes[:len(TIMES)]):
            values = np.load(run.out / f"domain_{method}" / f"snapshot_{row + 1:04d}.npy")
            most = np.abs(values).max() * 0.1 or 1.0
            panel = panels[row][column]
            panel.imshow(vp.T, extent=extent, aspect="auto", cmap="Greys", alpha=0.35)
            panel.imshow(values.T, extent=extent, aspect="auto", cmap="seismic", alpha=0.6, vmin=-most,
                         vmax=most)
            (x0, z0), (x1, z1) = box["lower"], box["upper"]
            panel.plot([1e-3 * x for x in (x0, x1, x1, x0, x0)], [1e-3 * z for z in (z0, z0, z1, z1, z0)],
                       color="#d98200", linewidth=2)
            panel.set_title(f"{method}, {TIMES[row]} s", fontsize=9)
    panels[0][0].set(xlim=(extent[0], extent[1]), ylim=(extent[2], 0))
    for panel in panels[-1]:
        panel.set_xlabel("x, km")
    for panel in panels[:, 0]:
        panel.set_ylabel("depth, km")
    figure.tight_layout()
    pictures = [run.save(figure, "figure2.png")]
    run.program("first_arrivals", ["--vp", "vp.npy", "--spacing", str(spacing), "--no-plot"], "arrivals")
    times = np.load(run.out / "arrivals" / "times.npy").reshape(vp.shape)
    figure, panel = plt.subplots(figsize=(9, 3.6))
    drawn = panel.imshow(vp.T, extent=extent, aspect="auto", cmap="viridis")
    figure.colorbar(drawn, label="velocity along the axis, m/s")
    panel.contour(times.T, levels=np.arange(0.5, times.max(), 0.5), colors="w", extent=extent, origin="upper")
    panel.set(xlabel="x, km", ylabel="depth, km")
    pictures.append(run.save(figure, "figures1_and_3.png"))
    run.add("domains", "Figures 1 to 3",
            "A source in the middle of the surface, 3 s. The paper shows a part of the BP-2004 model; this "
            "one is the built-in salt model with a tilted axis in its sediments. The orange boxes are the "
            "nodes that are stepped at the time of the snapshot; without a box all are. Contours of "
            "traveltime are 0.5 s apart.",
            ["method", "nodes stepped", "seconds of the program"], rows, pictures)


def tilted_volume(run, n):
    """Writes the medium of bench_expand, n nodes a side of 16 km, with and without beds; returns options."""
    import numpy as np

    x, y, z = np.meshgrid(*[np.linspace(0, 1, n, dtype="f4")] * 3, indexing="ij", sparse=True)
    wave = 9 * x + 2 * y
    floor = 0.06 + 0.01 * np.sin(5 * x) * np.cos(4 * y)
    depth = z + 0.03 * np.sin(wave) * np.minimum(4 * z, 1) - floor
    water = np.broadcast_to(z < floor, (n, n, n))
    salt = ((x - 0.56) / 0.2)**2 + ((y - 0.48) / 0.16)**2 < 1 - (
        (z - 0.42 - 0.02 * np.sin(29 * x) * np.cos(23 * y)) / 0.13)**2
    for name, beds in (("shot_vp", 0), ("shot_true_vp", 120)):
        vp = np.minimum(1750 + 2700 * depth + beds * np.sin(125 * depth), 4300)
        np.save(run.out / f"{name}.npy", np.where(water, 1500, np.where(salt, 4500, vp)).astype("f4"))
    strength = np.where(salt | water, 0, 0.08 + 0.12 * np.minimum(depth, 1))
    slope = np.cos(wave)
    arrays = {"epsilon": strength, "delta": 0.5 * strength,
              "theta": np.arctan(np.hypot(0.27, 0.06) * np.abs(slope)),
              "phi": np.arctan2(0.06 * slope, 0.27 * slope)}
    options = ["--spacing", f"{16000 / (n - 1):g}", "--coordinates", "xyz", "--no-plot"]
    for name, values in arrays.items():
        np.save(run.out / f"shot_{name}.npy", np.broadcast_to(values, (n, n, n)).astype("f4"))
        options += [f"--{name}", f"shot_{name}.npy"]
    return options


def migration(run):
    """The paper's comparison: time of the migration of a 3D TTI shot by method over the complete grid."""
    n, seconds, frequency, width, mute = run.pick((401, "6", 4, 30, "arrivals"),
                                                  (51, "3", 0.5, 8, "none"))  # the wavelet lasts 5 s
    waves = [*tilted_volume(run, n), "--boundary", f"sponge:{width}", "--wavelet", f"ricker:{frequency}"]
    run.program("model_waves", ["--vp", "shot_true_vp.npy", *waves, "--time", seconds, "--source",
                                "7680,8160,400", "--receivers",
                                "500,8000,400:15500,8000,400:101;8000,575,400:8000,15425,400:100",
                                "--snapshot-every", "0"], "shot_data")
    rows, whole = [], None
    for method in ("none", "layers", "eikonal", "amplitude"):
        summary = run.program("migrate_shots", [
            "--vp", "shot_vp.npy", *waves, "--shots", "shot_data", "--mute", mute, "--error", "lossless",
            "--snapshots", "device" if run.space == "cuda" else "memory", "--expand", method],
                              f"shot_{method}")
        done = summary["run"]
        took = done["seconds_of_legs"]
        prepared = sum(summary["seconds"].get(name, 0.0) for name in ("prepare", "transfer"))
        whole = whole or (took, took + prepared)
        rows.append([method, f"{100 * done['points'] / done['points_of_whole_grids']:.1f} %",
                     digits(took), f"{took / whole[0]:.2f}", f"{(took + prepared) / whole[1]:.2f}",
                     {"eikonal": 0.82}.get(method, ELAPSED.get(method, ""))])
    run.add("migration", "The table of the text: migration of one TTI shot",
            f"16 x 16 x 16 km, {n} nodes a side, {seconds} s, raw snapshots in memory. Both propagations "
            "with snapshots and imaging; over those on the complete grid, without and with the preparation "
            "of the shot on the host.",
            ["method", "nodes stepped", "both propagations, s", "ratio", "with preparation", "paper"], rows)


def expanding(run):
    """Modelling of a 3D TTI shot by method over that of the complete grid."""
    n, seconds = run.pick((512, None), (64, "4"))
    environment = {"MOHO_BENCH_EXPAND_N": str(n)}
    if seconds:
        environment["MOHO_BENCH_EXPAND_SECONDS"] = seconds
    rows = []
    pattern = f"expand/tti/float/.*/{run.space}/n:{n}/"
    for entry in run.bench("bench_expand", pattern, "expanding", environment):
        method = re.match(r"expand/tti/float/(\w+)/", entry["name"])[1]
        rows.append([method, digits(milliseconds(entry) / 1e3), f"{entry['elapsed_over_whole']:.3f}",
                     ELAPSED.get(method, ""), f"{100 * entry['fraction']:.1f} %",
                     f"{entry['setup_seconds']:.3f}"])
    run.add("expanding", "Modelling alone, 16 x 16 x 16 km",
            f"A TTI shot on {n}^3 nodes, without snapshots and imaging. The ratio is the time of a shot "
            "over that on the complete grid; that of the paper is of migration. The paper's eikonal solver "
            "has all nodes (eikonal_full) and ran on the host.",
            ["method", "seconds", "ratio", "paper", "nodes stepped", "preparation, s"], rows)


def survey(run):
    """Figure 5: the image of a survey over a tilted layered volume with a salt body, TTI."""
    import numpy as np

    shape = run.pick((301, 301, 201), (61, 51, 41))
    spacing = run.pick(20.0, 40.0)
    x, y, z = np.meshgrid(*(spacing * np.arange(n) for n in shape), indexing="ij")
    end = [spacing * (n - 1) for n in shape]
    depth = z - 0.15 * x - 0.05 * y  # layers dip
    vp = np.full(shape, 1800.0, "f4")
    for k, value in enumerate((2050, 2300, 2500, 2750, 3000), 1):
        vp[depth > end[2] * (0.12 * k - 0.05)] = value
    water = z < 0.06 * end[2]
    vp[water] = 1500.0
    salt = (((x - 0.55 * end[0]) / (0.2 * end[0]))**2 + ((y - 0.5 * end[1]) / (0.22 * end[1]))**2
            + ((z - 0.55 * end[2]) / (0.16 * end[2]))**2) < 1
    vp[salt] = 4500.0
    smooth = vp.copy()
    for axis in range(3):
        padded = np.pad(smooth, [(3, 3) if d == axis else (0, 0) for d in range(3)], "edge")
        smooth = np.lib.stride_tricks.sliding_window_view(padded, 7, axis).mean(axis=-1)
    solid = ~(water | salt)
    arrays = {"true": vp, "smooth": smooth.astype("f4"), "epsilon": np.where(solid, 0.14, 0).astype("f4"),
              "delta": np.where(solid, 0.06, 0).astype("f4"), "theta": np.where(solid, 0.15, 0).astype("f4")}
    for name, values in arrays.items():
        np.save(run.out / f"survey_{name}.npy", values)
    count, lines = run.pick((5, 3), (2, 1))
    across = (0.2, 0.8) if lines > 1 else (0.5, 0.5)
    line = [f"{x * end[0]:g},{y * end[1]:g},{2 * spacing:g}" for x, y in zip((0.15, 0.85), across)]
    step = run.pick(4, 3)
    grid = [f"0,0,{2 * spacing:g}", f"{end[0]:g},{end[1]:g},{2 * spacing:g}",
            f"{(shape[0] - 1) // step + 1}x{(shape[1] - 1) // step + 1}x1"]
    tti = []
    for name in ("epsilon", "delta", "theta"):
        tti += [f"--{name}", f"survey_{name}.npy", f"--true-{name}", f"survey_{name}.npy"]
    summary = run.program("migrate_shots", [
        "--vp", "survey_smooth.npy", "--shots", "modelled", "--true-vp", "survey_true.npy", *tti,
        "--spacing", f"{spacing:g}", "--source", f"{line[0]}:{line[1]}:{count}x{lines}x1",
        "--receivers", ":".join(grid), "--wavelet", f"ricker:{run.pick(9, 4.5):g}",
        "--time", run.pick("3", "1.4"), "--expand", "amplitude", "--condition",
        "laplacian", "--no-plot"], "survey")
    image = np.load(run.out / "survey" / "image.npy")
    light = np.load(run.out / "survey" / "illumination_source.npy")
    plt = plots()
    figure, panels = plt.subplots(3, 2, figsize=(12, 10))
    middle = [n // 2 for n in shape]
    below = shape[2] // 8
    most = np.percentile(np.abs(image[:, :, below:]), 99)
    decibels = 10 * np.log10(np.maximum(light / light.max(), 1e-6))
    shown = ((vp, (1500, 4500), "viridis"), (image, (-most, most), "gray"), (decibels, (-60, 0), "magma"))
    for row, (values, limits, cmap) in enumerate(shown):
        for column, section in enumerate((values[:, middle[1]].T, values[middle[0]].T)):
            panels[row][column].imshow(section, aspect="auto", cmap=cmap, vmin=limits[0], vmax=limits[1],
                                       extent=[0, 1e-3 * end[column], 1e-3 * end[2], 0])
            panels[row][column].set(xlabel=("x, km", "y, km")[column], ylabel="depth, km")
    figure.tight_layout()
    shots = count * lines
    modelling = sum(stage["seconds"] for stage in summary["stages"] if stage["stage"] == "model data")
    run.add("survey", "Figure 5",
            f"The survey of the paper is not public. Here {shots} shots over {' x '.join(map(str, shape))} "
            "nodes: "
            "tilted layers, a salt body, TTI sediments; modelled data migrated in the smoothed model on "
            "domains that "
            "expand by amplitude, snapshots kept as the plan chose. From top to bottom the velocity, the "
            "image, and the illumination by the sources in decibels of its largest value.",
            ["shots", "seconds of the program", "modelling of the data", "both propagations",
             "seconds of the propagations a shot"],
            [[shots, digits(summary["elapsed"]), digits(modelling),
              digits(summary["run"]["seconds_of_legs"]),
              digits(summary["run"]["seconds_of_legs"] / shots)]],
            [run.save(figure, "figure5.png")])


EXPERIMENTS = {"domains": domains, "migration": migration, "expanding": expanding, "survey": survey}
