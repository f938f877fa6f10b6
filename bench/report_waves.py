# SPDX-License-Identifier: BSD-3-Clause
"""Report of waves: tables and a figure from bench_waves and peers_waves.py.

table.md has points per second by medium, order, precision, boundary, size, dimension and space. It also gives
their ratio to the copy bandwidth of the same run. It compares the tuned kernels with the plain ones and with
Devito. It states whether the results agree. Figure: waves.png, rates by order and by size.
"""

import os
import re
import statistics
import sys

from report_common import ReportError, context_section, median_of, ratio, table, write_merged, write_text

NAME = re.compile(
    r"^waves/(?P<medium>\w+)/(?P<precision>float|double)/order:(?P<order>\d+)/(?P<boundary>\w+)(?P<width>:\d+)?"
    r"/(?P<kernel>\w+)"
    r"/(?P<space>\w+)/(?P<size>[\dx]+)(?=/|$)"
)
COPY = re.compile(r"^copy/(\w+)")
MEDIA = ["isotropic", "variable_density", "vti", "tti", "vti_fletcher", "tti_fletcher"]
SPACES = ["serial", "openmp", "cuda"]
BOUNDARIES = ["none", "sponge", "sponge_free", "cpml", "cpml_free"]
COLOURS = {"isotropic": "#b3123c", "variable_density": "#d98200", "vti": "#1f6fb4", "tti": "#444444",
           "vti_fletcher": "#7fb2dd", "tti_fletcher": "#999999"}
DEVICE_BARS = {"isotropic": 170.0, "vti": 75.0, "tti": 40.0}  # Gpoints/s on an H200
HOST_SHARE = 0.6  # relative to the copy bandwidth


class Result:
    """One benchmark: the median of its runs, and the best sample over all runs."""

    def __init__(self, match, runs):
        for key, value in match.groupdict().items():
            setattr(self, key, value)
        self.order = int(match["order"])
        self.boundary += match["width"] or ""
        self.extents = tuple(int(n) for n in match["size"].split("x"))
        self.dim = len(self.extents)
        self.runs = runs
        self.rate = median_of(runs, "points/s")
        self.best = max(run["best_points/s"] for run in runs)
        self.label = runs[0].get("label", "")

    def get(self, counter, default=None):
        return median_of(self.runs, counter, default)

    @property
    def points(self):
        count = 1
        for n in self.extents:
            count *= n
        return count

    @property
    def floor(self):
        """Returns the largest ratio of the best sample's traffic to the copy bandwidth over several runs."""
        copied = max((run["copy_GBps"] for run in self.runs if "copy_GBps" in run), default=None)
        return self.best * self.get("bytes_per_point") / (1e9 * copied) if copied else None

    def is_(self, **wanted):
        return all(getattr(self, key) == value for key, value in wanted.items())


def collect(entries):
    """Returns results, and copy bandwidths by space in GB/s."""
    runs, bandwidth = {}, {}
    for entry in entries:
        name = entry.get("run_name", entry["name"])
        copy, match = COPY.match(name), NAME.match(name)
        if copy:
            bandwidth.setdefault(copy[1], []).append(entry["copy_GBps"])
        elif match:
            runs.setdefault(match[0], []).append(entry)
    results = [Result(NAME.match(name), group) for name, group in runs.items()]
    return results, {space: max(values) for space, values in bandwidth.items()}


def giga(value):
    """Returns Gpoints/s with three significant digits."""
    return "" if value is None else f"{value * 1e-9:.3g}"


def percent(value):
    return "" if value is None else f"{100 * value:.0f} %"


def grid(x):
    return " x ".join(str(n) for n in x.extents)


def rank(x):
    return (SPACES.index(x.space) if x.space in SPACES else 9,
            MEDIA.index(x.medium) if x.medium in MEDIA else 9)


def main_grid(results, space):
    """Returns the extents of most cases of a space."""
    sizes = [x.extents for x in results if x.space == space and x.dim == 3]
    return statistics.mode(sizes) if sizes else None


def pick(results, **wanted):
    for x in results:
        if x.is_(**wanted):
            return x
    return None


def chosen(results, space, **wanted):
    """Returns cases of a space's main grid: tuned, order 8, single precision, sponge, unless `wanted`
    differs.
    """
    wanted = {"kernel": "tuned", "order": 8, "precision": "float", "boundary": "sponge",
              "extents": main_grid(results, space), **wanted}
    return pick(results, space=space, **wanted)


def side_section(results):
    spaces = [space for space in SPACES if any(x.space == space for x in results)]
    rows = []
    for medium in MEDIA:
        for precision in ("float", "double"):
            found = {space: chosen(results, space, medium=medium, precision=precision) for space in spaces}
            if not any(found.values()):
                continue
            row = [medium, precision]
            for space in spaces:
                x = found[space]
                row += [giga(x.best), percent(x.floor)] if x else ["", ""]
            cuda, openmp = found.get("cuda"), found.get("openmp")
            row.append(ratio(cuda.best, openmp.best) if cuda and openmp else "")
            rows.append(row)
    if not rows:
        return ""
    header = ["medium", "precision"]
    for space in spaces:
        header += [f"{space}, Gpoints/s", f"{space}, of the floor"]
    grids = ", ".join(f"{space} {' x '.join(map(str, main_grid(results, space)))}" for space in spaces
                      if main_grid(results, space))
    return ("## The CPU against the GPU\n\n3D, order 8, sponges 30 nodes wide at all faces, whole steps; "
            "points are all "
            f"nodes of the grid, layers included.\nGrids: {grids}. The best of the samples. The floor is the "
            "bytes of a "
            "step, every array touched once,\nat the copy bandwidth of the same run.\n\n"
            + table(header + ["CUDA over OpenMP"], rows))


def detail_section(results):
    cases = [x for x in results if x.space in SPACES and x.order == 8 and x.kernel == "tuned"
             and x.precision == "float"
             and x.boundary in BOUNDARIES
             and (x.extents == main_grid(results, x.space) or x.dim == 2 or len(set(x.extents)) > 1)]
    rows = []
    for x in sorted(cases, key=lambda x: (rank(x), x.dim, x.extents, BOUNDARIES.index(x.boundary))):
        rows.append([x.space, x.medium, grid(x), x.boundary, giga(x.best), giga(x.rate),
                     f"{x.get('bytes_per_point'):.0f}", f"{x.get('flops_per_point'):.0f}",
                     f"{x.get('GBps'):.0f}", percent(x.floor),
                     f"{x.get('GFlops'):.0f}", f"{x.get('steps'):.0f}"])
    header = ["space", "medium", "grid", "boundary", "best Gpoints/s", "median Gpoints/s", "bytes a point",
              "flops a point", "GB/s", "of the floor", "GFlop/s", "steps a sample"]
    title = "## By medium and boundary\n\nOrder 8, single precision; GB/s and GFlop/s of the median.\n\n"
    return title + table(header, rows) if rows else ""


def pivot(results, title, text, column, values, named, rows_of):
    """Returns a table of best rates: a row per space and medium, a column per value of an attribute."""
    rows = []
    for space in SPACES:
        for medium in MEDIA:
            line = {value: rows_of(space, medium, value) for value in values}
            if sum(x is not None for x in line.values()) < 2:
                continue
            rows.append([space, medium] + [giga(line[value].best) if line[value] else "" for value in values])
    if not rows:
        return ""
    return f"## {title}\n\n{text}\n\n" + table(["space", "medium"] + [named(value) for value in values], rows)


def interior_section(results):
    """Returns the costs of layers of other widths, and of Devito's, around the same interior."""
    def nodes(x):
        return round(x.get("interior_points", 0))

    widths = [x for x in results if ":" in x.boundary]
    inner = {(x.space, x.medium, nodes(x)) for x in widths}
    thirty = [x for x in results if x.boundary in ("sponge", "cpml", "damping")
              and x.is_(order=8, precision="float", dim=3)
              and x.kernel in ("tuned", "devito")]
    rows = []
    for space, medium, count in sorted(inner):
        same = [x for x in widths + thirty if x.medium == medium and nodes(x) == count
                and x.space in (space, "python")]
        for x in sorted(same, key=lambda x: x.points):
            rows.append([x.space if x.space != "python" else x.kernel, medium,
                         x.boundary + ("" if x in widths else ":30"), grid(x),
                         f"{x.points / x.best * 1e3:.3g}", giga(x.best * count / x.points),
                         giga(x.rate * count / x.points)])
    if not rows:
        return ""
    return ("## The same interior\n\nOrder 8, single precision, layers of other widths around the same "
            "nodes; best sample, interior Gpoints/s.\n\n" + table(["space", "medium", "layer", "grid",
                                                                   "ms a step", "best", "median"], rows))


def order_section(results):
    return pivot(results, "By order in space", "Best Gpoints/s, single precision, sponge, the main grids.",
                 "order", sorted({x.order for x in results}), lambda order: f"order {order}",
                 lambda space, medium, order: chosen(results, space, medium=medium, order=order))


def boundary_section(results):
    return pivot(results, "By boundary",
                 "Best Gpoints/s, order 8, single precision, layers of 30 nodes inside of the "
                 "grid; free: a free surface at the top.", "boundary", BOUNDARIES, str,
                 lambda space, medium, boundary: chosen(results, space, medium=medium, boundary=boundary))


def size_section(results):
    cubes = sorted({x.extents for x in results if x.dim == 3 and len(set(x.extents)) == 1})
    return pivot(results, "By size", "Best Gpoints/s, order 8, single precision, sponge, n x n x n.",
                 "extents", cubes, lambda extents: str(extents[0]),
                 lambda space, medium, extents: chosen(results, space, medium=medium, extents=extents))


def kernel_section(results):
    rows = []
    for space in SPACES:
        for medium in MEDIA:
            tuned, plain = (chosen(results, space, medium=medium,
                                   kernel=kernel) for kernel in ("tuned", "reference"))
            if tuned and plain:
                rows.append([space, medium, giga(tuned.best), giga(plain.best),
                             ratio(tuned.best, plain.best)])
    if not rows:
        return ""
    return ("## Tuned and plain kernels\n\nBest Gpoints/s, order 8, single precision, sponge.\n\n"
            + table(["space", "medium", "tuned", "plain", "gain"], rows))


def peer_section(results):
    rows = []
    for x in sorted((x for x in results if x.space == "python"), key=lambda x: x.points):
        own = pick(results, space="openmp", medium=x.medium, precision=x.precision, order=x.order,
                   boundary="sponge", kernel="tuned", extents=x.extents)
        rows.append([x.kernel, grid(x), giga(x.best), giga(x.rate), giga(own.best) if own else "",
                     giga(own.rate) if own else "", percent(own.floor) if own else "",
                     ratio(own.best, x.best) if own else "", ratio(own.rate, x.rate) if own else "", x.label])
    if not rows:
        return ""
    header = ["program", "grid", "its best", "its median", "moho's best", "moho's median", "of the floor",
              "moho over it", "by medians", "how"]
    return ("## Other programs\n\nGpoints/s; isotropic, 3D, order 8, single precision, an absorbing layer at "
            "all faces, the same threads, measured in turn.\n\n" + table(header, rows))


def bar_section(results):
    rows = []
    for x in sorted(results, key=lambda x: (rank(x), x.points)):
        if not x.is_(order=8, precision="float", kernel="tuned",
                     dim=3) or x.boundary not in ("sponge", "cpml"):
            continue
        if x.space == "cuda" and x.medium in DEVICE_BARS and x.points >= 500**3:
            bar = DEVICE_BARS[x.medium] * 1e9
            rows.append([f"{x.medium}, {x.boundary}, {grid(x)}", f"{giga(bar)} Gpoints/s", giga(x.best),
                         "reached" if x.best >= bar else "missed"])
        if x.space == "openmp" and x.medium == "isotropic" and x.boundary == "sponge" and x.points >= 240**3:
            peer = pick(results, space="python", medium=x.medium, extents=x.extents)
            if x.floor is not None:
                rows.append([f"OpenMP, {x.medium}, {grid(x)}", f"{percent(HOST_SHARE)} of the floor",
                             percent(x.floor), "reached" if x.floor >= HOST_SHARE else "missed"])
            if peer:
                rows.append([f"OpenMP, {x.medium}, {grid(x)}", f"{peer.kernel}'s {giga(peer.best)} Gpoints/s",
                             giga(x.best), "reached" if x.best >= peer.best else "missed"])
    if not rows:
        return ""
    return ("## Targets\n\nThose of devices are for one NVIDIA H200. Best samples.\n\n"
            + table(["what", "target", "measured", ""], rows))


def check_section(results, errors):
    """Returns the section, and whether all checks passed."""
    own = [x for x in results if x.space in SPACES]
    worst = {precision: max((max(run.get(c, 0.0) for c in ("rel_diff_small", "rel_diff_windows"))
                             for x in own if x.precision == precision for run in x.runs), default=0.0)
             for precision in ("float", "double")}
    lines = [f"## Checks\n\n{len(own)} benchmarks; the largest difference of a wavefield from the plain "
             f"kernel's, over the largest value, is {worst['float']:.1e} in single and {worst['double']:.1e} "
             "in double precision.\n"]
    lines += [f"- ERROR {text}" for text in errors]
    return "\n".join(lines) + "\n", not errors


def draw(results, path):
    """Draws rates by order and by size, one row of panels per space."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    spaces = [space for space in ("openmp", "cuda") if any(x.space == space for x in results)]
    if not spaces:
        return False

    def lines_of(space):
        """Returns rates by order and by size for each medium with at least two values."""
        lines = {}
        for medium in MEDIA:
            plain = [x for x in results if x.is_(space=space, medium=medium, kernel="tuned",
                                                 precision="float", boundary="sponge", dim=3)]
            orders = sorted((x.order, x) for x in plain if x.extents == main_grid(results, space))
            sizes = sorted((x.extents[0], x) for x in plain if len(set(x.extents)) == 1 and x.order == 8)
            lines[medium] = [points if len(points) > 1 else [] for points in (orders, sizes)]
        return lines

    lines = {space: lines_of(space) for space in spaces}
    columns = [n for n in (0, 1) if any(pair[n] for line in lines.values() for pair in line.values())]
    if not columns:
        return False
    figure, panels = plt.subplots(len(spaces), len(columns),
                                  figsize=(max(6.5, 5.2 * len(columns)), 4.1 * len(spaces)), squeeze=False)
    drawn = {}
    for row, space in enumerate(spaces):
        for panel, column in zip(panels[row], columns):
            panel.set_visible(any(pair[column] for pair in lines[space].values()))
            for medium, pair in lines[space].items():
                points = pair[column]
                if not points:
                    continue
                drawn[medium], = panel.plot([v for v, _ in points], [x.best * 1e-9 for _, x in points], "-o",
                                            markersize=4, color=COLOURS[medium],
                                            label=medium.replace("_", " "))
                if column == 0 and points[0][1].get("floor_points/s"):
                    panel.axhline(points[0][1].get("floor_points/s") * 1e-9, color=COLOURS[medium],
                                  linestyle=":", linewidth=1)
            panel.set_yscale("log")
            panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            panel.yaxis.set_minor_formatter(NullFormatter())
            panel.set_title(f"{space}, " + ("by order (dotted: floor)" if column == 0 else "by size"),
                            fontsize=10)
            panel.set_xlabel("order of the differences" if column == 0 else "nodes along each axis")
            panel.grid(True, which="major", color="#dddddd", linewidth=0.7)
            panel.set_axisbelow(True)
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
        panels[row][0].set_ylabel("Gpoints/s")
    figure.legend(drawn.values(), [medium.replace("_", " ") for medium in drawn], loc="lower center",
                  ncol=len(drawn), frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    temporary = path + ".part"
    figure.savefig(temporary, dpi=150, format="png")
    plt.close(figure)
    os.replace(temporary, path)
    return True


def run(options, contexts, entries, errors):
    results, bandwidth = collect(entries)
    if not results and not errors:
        raise ReportError("no benchmarks of waves in these files: run bench_waves without a filter that "
                          "hides them")
    checks, well = check_section(results, errors)
    sections = [context_section(contexts, bandwidth), bar_section(results), side_section(results),
                detail_section(results), boundary_section(results), interior_section(results),
                order_section(results), size_section(results), kernel_section(results),
                peer_section(results), checks]
    text = "# Benchmarks of wave propagation\n\n" + "\n".join(section for section in sections if section)
    if options.out:
        os.makedirs(options.out, exist_ok=True)
    if options.merge:
        write_merged(options.merge, contexts, entries)
    if not options.out:
        print(text)
        return 0 if well else 1
    write_text(os.path.join(options.out, "table.md"), text)
    print("wrote " + os.path.join(options.out, "table.md"))
    try:
        import matplotlib

        matplotlib.use("Agg")
        path = os.path.join(options.out, "waves.png")
        if draw(results, path):
            print("wrote " + path)
    except ImportError as error:
        print(f"no figures: {sys.executable} has no {error.name} (install python3-matplotlib)")
    return 0 if well else 1
