# SPDX-License-Identifier: BSD-3-Clause
"""Experiments of Couder-Castaneda et al. (2013): gravity of seven spheres made of 252 thousand prisms."""

import json
import os
import re
import shutil
import statistics

from papers_common import Skipped, devices_here, digits, milliseconds, plots
from report_common import write_text

TITLE = "Gravity of ensembles of prisms (Couder-Castañeda et al., 2013)"
NINE = "gx,gy,gz,gxx,gyy,gzz,gxy,gxz,gyz"


def errors(run):
    """Tables 1 to 4: errors of nine components in double and in single precision."""
    path = (run.out / "raw" / "errors.json").resolve()
    if not (run.reuse and path.is_file()):
        every = run.pick(["--every", "1", "--long-double-every", "100"],
                         ["--prisms", "2048", "--every", "49", "--long-double-every", "980"])
        run.call([run.executable("bench", "gravity_tables"), "--space", run.space, *every, "--out", path])
    data = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for name, paper in data["paper"].items():
        double = data["to_double_reference"]["double"][name]["rms"]
        single = data["to_double_reference"]["single"][name]["rms"]
        against_long = data["to_long_double"]["double"][name]["rms"]
        several = [[f"{data['to_double_reference'][f'{precision}_{count}'][name]['rms']:.2e}"
                    for count in (2, 4)] for precision in ("double", "single")]
        rows.append([name, f"{double:.2e}", *several[0], f"{paper['double']:.2e}",
                     f"{paper['double_4']:.2e}", f"{single:.2e}", *several[1], f"{paper['single']:.3g}",
                     f"{against_long:.2e}"])
    stations = data["reference_stations"]
    run.add("errors", "Tables 1 to 4",
            f"RMS differences (equation 12) from sequential sums of the textbook's closed forms in double "
            f"precision at {stations} of 15,000 stations, mGal and Eotvos, by number of devices. Those of 2 "
            "and 4 devices are the sums of as many parts of the prisms, computed one after the other on one "
            "device. In single precision the paper has the same digits for 1 and 4 devices. The last column "
            "compares double precision with sums in long double.",
            ["component", "double, 1", "2", "4 devices", "paper, 1", "4", "single, 1", "2", "4 devices",
             "paper, 1 and 4", "double against long double"], rows)


def teams(run):
    """Figures 7 to 10: time by threads in a team and by number of teams, each thread with its own grid."""
    if not (run.full and run.space == "cuda"):
        raise Skipped("teams are those of a device (needed: --space cuda with --sizes paper)")
    found = {}
    for entry in run.bench("bench_gravity",
                           "gravity/nine/(double|float)/by_prisms/cuda/spheres/far:closed/teams:.*/prisms:all",
                           "teams", impossible="^team_size"):
        match = re.match(r"gravity/nine/(\w+)/.*/teams:(\d+)/team_size:(\d+)/", entry["name"])
        found[match[1], int(match[2]), int(match[3])] = milliseconds(entry) / 1e3
    fewest = min(key[1] for key in found)
    rows, drawn = [], {}
    for k in range(1, 17):
        line = [32 * fewest * k]
        for one_size, shape in ((True, (fewest, 32 * k)), (False, (fewest * k, 32))):
            for precision in ("double", "float"):
                seconds = found.get((precision, *shape))
                line.append(digits(seconds) if seconds else "")
                if seconds:
                    drawn.setdefault((one_size, precision), []).append((line[0], seconds))
        rows.append(line)
    plt = plots()
    figure, panels = plt.subplots(1, 2, figsize=(10, 4))
    titles = {True: f"{fewest} teams of 32 to 512 threads", False: "teams of 32 threads"}
    for (one_size, precision), points in drawn.items():
        panels[0].plot(*zip(*points), "-" if one_size else "--", marker="o", markersize=3,
                       color="#b3123c" if precision == "double" else "#1f6fb4",
                       label=f"{titles[one_size]}, {precision}")
        panels[1].plot([n for n, _ in points], [points[0][1] / seconds for _, seconds in points],
                       "-" if one_size else "--", marker="o", markersize=3,
                       color="#b3123c" if precision == "double" else "#1f6fb4")
    panels[0].set(xlabel="threads", ylabel="seconds", ylim=(0, None))
    panels[1].set(xlabel="threads", ylabel="speed-up over 32 threads a team", ylim=(0, None))
    for panel in panels:
        panel.grid(color="#dddddd")
    panels[0].legend(frameon=False, fontsize=8)
    run.add("teams", "Figures 7 to 10",
            "Seconds for nine components of the complete problem with closed forms. The paper has 14 "
            f"multiprocessors and teams of 32 to 512 threads; this device has {fewest}. Empty cells: "
            "teams for which a multiprocessor has too few registers.",
            ["threads", f"{fewest} teams: double", "single", "teams of 32: double", "single"], rows,
            [run.save(figure, "figures7_to_10.png")])


def equation_6(measured):
    """Compares measured sums over ranks with equation 6, t = q (t_startup + t_data).

    `measured` are seconds by number of ranks q. t_startup + t_data is half of the time of two ranks. Returns
    rows of q, seconds of the equation (None for two ranks), and measured seconds.
    """
    return [(q, q * measured[2] / 2 if q > 2 else None, measured[q]) for q in sorted(measured)]


def reduction(run):
    """Equation 6: time to add the fields of q ranks."""
    counts = [q for q in (2, 4, 8) if q <= len(os.sched_getaffinity(0))]
    if not counts or not shutil.which("mpirun"):
        raise Skipped("ranks need mpirun and a processor each (needed: 2 or more)")
    if not os.path.isfile(os.path.join(run.build, "bench", "rank_sums")):
        raise Skipped("bench/rank_sums was not built (needed: MPI when moho is configured)")
    values = run.pick(9 * 15000, 9 * 2400)
    measured, part = {}, {}
    for q in counts:
        path = (run.out / "raw" / f"rank_sums_{q}.json").resolve()
        if not (run.reuse and path.is_file()):
            run.call_ranks(q, [run.executable("bench", "rank_sums"), str(values), "1000", path])
        seconds = json.loads(path.read_text(encoding="utf-8"))["seconds"]
        measured[q] = statistics.median(seconds)
        part[q] = statistics.quantiles(seconds, n=10)
    run.add("reduction", "Equation 6",
            f"Milliseconds to add fields of {digits(8e-6 * values)} MB of q ranks at the first one: the "
            "median and the first and last decile of 1000 sums after 100 others, each after a barrier. The "
            "paper's estimate is q (t_startup + t_data), whose constants are those of two ranks."
            + ("" if counts[-1] > 2 else " More ranks, to compare with it, need four processors."),
            ["q", "estimate, ms", "measured, ms", "first decile", "last decile"],
            [[q, digits(estimate and 1e3 * estimate), digits(1e3 * seconds), digits(1e3 * part[q][0]),
              digits(1e3 * part[q][-1])] for q, estimate, seconds in equation_6(measured)])


def devices(run):
    """Figures 11 to 15: time by number of devices, one rank for each."""
    most = devices_here() if run.space == "cuda" else 2 if shutil.which("mpirun") else 1
    if most == 0:
        raise Skipped("no device is visible (needed with --space cuda: 1 or more)")
    of_paper = {"double": {1: 81, 4: 23, 8: 13}, "float": {1: 37}}
    problem = run.pick(["--spheres"], ["--mesh", "24,24,10,0,22000,0,22000,0,8000", "--densities",
                                       "densities.npy", "--grid", "60,40,300,500,0,0", "--elevation", "100"])
    if not run.full:
        import numpy as np

        np.save(run.out / "densities.npy", np.full((10, 24, 24), 300.0))
    rows = []
    for precision in ("double", "float"):
        one = None
        for count in (1, 2, 4, 8):
            if count > most:
                break
            folder = f"devices_{precision}_{count}"
            summary = run.program("model_gravity", [*problem, "--components", NINE, "--precision", precision,
                                                    "--strategy", "tiles", "--far-tolerance", "0",
                                                    "--no-plot"], folder, count)
            seconds = summary["seconds"]
            work = sum(seconds[key] for key in ("prepare", "sum", "reduce") if key in seconds)
            one = one or work
            rows.append([precision, count, digits(work), digits(one / work),
                         of_paper[precision].get(count, "") if run.full else ""])
    run.add("devices", "Figures 11 to 15",
            "Seconds for nine components with closed forms: preparation, sums and reduction, a rank for each "
            f"{'device' if run.space == 'cuda' else 'process of the host'}. The paper's devices are Tesla "
            "C2070; "
            "its cluster of 29 nodes took 30 s in double precision.",
            ["precision", "devices", "seconds", "speed-up", "paper, s"], rows)


def maps(run):
    """Figures 16 to 21: maps of gz and gzz in double and in single precision, parts of them, and errors."""
    import numpy as np

    problem = run.pick(["--spheres"], ["--mesh", "24,24,10,0,22000,0,22000,0,8000", "--densities",
                                       "densities.npy", "--grid", "150,100,146,220,0,0",
                                       "--elevation", "100"])
    if not run.full:
        k, j, i = np.meshgrid(np.arange(10) - 3, np.arange(24) - 14, np.arange(24) - 9, indexing="ij")
        np.save(run.out / "densities.npy", np.where(i**2 + j**2 + 4 * k**2 < 16, 400.0, 0.0))
    fields = {}
    for precision in ("double", "float"):
        run.program("model_gravity", [*problem, "--components", "gz,gzz", "--precision", precision,
                                      "--strategy", "tiles", "--far-tolerance", "0", "--no-plot"],
                    f"maps_{precision}")
        for name in ("gz", "gzz"):
            fields[name, precision] = np.load(run.out / f"maps_{precision}" / f"{name}.npy")
    plt = plots()
    rows, pictures = [], []
    units = {"gz": "mGal", "gzz": "Eotvos"}
    paper = {"gz": 0.0566, "gzz": 0.0011}
    for number, name in ((16, "gz"), (18, "gzz")):
        double, single = fields[name, "double"], fields[name, "float"]
        error = np.abs(single - double)
        rows.append([name, units[name], digits(float(np.abs(double).max())), f"{error.max():.2e}",
                     paper[name], f"{np.sqrt((error**2).mean()):.2e}"])
        peak = np.unravel_index(np.argmax(np.abs(double)), double.shape)
        part = tuple(slice(max(0, at - 12), at + 13) for at in peak)
        figure, panels = plt.subplots(2, 3, figsize=(13, 7))
        for row, values in enumerate((double, single)):
            title = ("double", "single")[row]
            for column, shown in enumerate((values, values[part])):
                panel = panels[row][column]
                panel.contour(shown, levels=12, colors="k", linewidths=0.4)
                drawn = panel.imshow(shown, origin="lower", aspect="auto", cmap="viridis")
                panel.set_title(f"{name}, {title}" + (", part" if column else ""))
                figure.colorbar(drawn, ax=panel, label=units[name])
        drawn = panels[0][2].imshow(error, origin="lower", aspect="auto", cmap="magma")
        panels[0][2].set_title("single minus double")
        figure.colorbar(drawn, ax=panels[0][2], label=units[name])
        middle = double.shape[0] // 2
        panels[1][2].plot((single - double)[middle], color="#b3123c", linewidth=0.8)
        panels[1][2].set_title("difference along the middle row")
        figure.tight_layout()
        pictures.append(run.save(figure, f"figures{number}_to_{number + 1}.png"))
    run.add("maps", "Figures 16 to 21",
            "Maps at all stations, the part around the largest value, and the difference of the "
            "precisions. The "
            "paper finds roughness of gz in single precision. Here single precision sums in pairs of "
            "numbers, "
            "and its error is far below what a map shows.",
            ["component", "unit", "largest value", "largest difference", "the paper's", "RMS difference"],
            rows,
            pictures)
    write_text(str(run.out / "maps.json"), json.dumps({"rows": rows}) + "\n")


EXPERIMENTS = {"errors": errors, "teams": teams, "devices": devices,
               "reduction": reduction, "maps": maps}
