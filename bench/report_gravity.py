# SPDX-License-Identifier: BSD-3-Clause
"""Report of gravity: tables and figures from bench_gravity, peers.py and model_gravity's summary.json.

table.md has pairs of a prism and a station per second for every component, precision, space and program. It
has the costs of the strategies, threads per team and numbers of teams, arithmetic rates, and several ranks.
It states whether the results agree. Figures: rates.png, teams.png (the analogues of Figures 7 to 10 of
Couder-Castaneda et al. 2013) and ranks.png.
"""

import os
import re
import statistics
import sys

from report_common import (
    UNITS,
    ReportError,
    context_section,
    find,
    median_of,
    ratio,
    table,
    write_merged,
    write_text,
)

NAME = re.compile(
    r"^gravity/(?P<components>[\w,]+)/(?P<precision>\w+)/(?P<strategy>\w+)/(?P<space>\w+)/(?P<problem>\w+)"
    r"(?:/cells:(?P<cells>[\dx]+))?/far:(?P<far>\w+)(?:/teams:(?P<teams>\d+))?"
    r"(?:/team_size:(?P<team_size>\d+))?"
    r"/prisms:(?P<prisms>\w+)/stations:(?P<stations>\d+)(?:/threads:(?P<threads>\d+))?(?=/|$)"
)
OPERATION = re.compile(r"^operation/(?P<operation>\w+)/(?P<precision>\w+)/(?P<space>\w+)")
ORDER = ["potential", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz", "nine", "all"]
SPACES = ["serial", "openmp", "cuda"]
COLOURS = {"serial": "#444444", "openmp": "#1f6fb4", "cuda": "#b3123c", "choclo": "#d98200",
           "harmonica": "#8a6bbf"}


class Result:
    """One benchmark: the median of its runs."""

    def __init__(self, match, runs):
        for key, value in match.groupdict().items():
            setattr(self, key, value)
        self.teams = int(match["teams"] or 0)
        self.team_size = int(match["team_size"] or 0)
        self.threads = int(match["threads"] or 0)
        self.single = self.precision == "float"
        self._runs = runs
        self.rate = self.get("pairs/s")
        self.seconds = statistics.median(run["real_time"] * UNITS[run["time_unit"]] for run in runs)

    def get(self, counter, default=None):
        return median_of(self._runs, counter, default)

    @property
    def swept(self):
        """True for the lines over teams and threads."""
        return self.teams > 0 or self.team_size > 0

    @property
    def main(self):
        """True for the lines of the table by component."""
        return self.problem == "spheres" and not self.swept and self.strategy in ("tiles", "choclo",
                                                                                  "harmonica")


def collect(entries):
    """Returns results by name, and rates of operations by (operation, precision, space)."""
    runs, operations = {}, {}
    for entry in entries:
        name = entry.get("run_name", entry["name"])
        operation, match = OPERATION.match(name), NAME.match(name)
        if operation:
            operations.setdefault(operation.groups(), []).append(entry["operations/s"])
        elif match:
            runs.setdefault(match[0], []).append(entry)
    results = [Result(NAME.match(name), group) for name, group in runs.items()]
    return results, {key: statistics.median(values) for key, values in operations.items()}


def place(x):
    """Sort key: component and precision."""
    return (ORDER.index(x.components) if x.components in ORDER else len(ORDER), x.components, x.precision)


def rate(value):
    return f"{value:.3g}" if value else ""


def size(value):
    if not value:
        return ""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.0f} B"


def milliseconds(value):
    return "" if value is None else f"{1e3 * value:.3g}"


def pick(results, **wanted):
    """Returns the first result with these attributes."""
    for x in results:
        if all(getattr(x, key) == value for key, value in wanted.items()):
            return x
    return None


def rate_of(results, **wanted):
    found = pick(results, **wanted)
    return found.rate if found else None


def main_section(results):
    chosen = [x for x in results if x.main]
    spaces = [space for space in SPACES if pick(chosen, space=space)]
    if not spaces:
        return ""
    rows = []
    for components, precision in sorted({(x.components, x.precision) for x in chosen if x.space in SPACES},
                                        key=lambda k: (ORDER.index(k[0]) if k[0] in ORDER else 99, k)):
        own = {(space, far): rate_of(chosen, space=space, far=far, components=components, precision=precision,
                                     strategy="tiles") for space in spaces for far in ("expansion", "closed")}
        peer = {(name, threads): rate_of(chosen, strategy=name, components=components, threads=threads)
                for name in ("choclo", "harmonica") for threads in (1, 2)}
        last = own[spaces[-1], "expansion"]
        rows.append(
            [components, precision]
            + [rate(own[space, far]) for space in spaces for far in ("expansion", "closed")]
            + [rate(peer[key]) if precision == "double" else "" for key in peer]
            + [ratio(own.get(("serial", "expansion")), peer["choclo", 1]),
               ratio(own.get(("serial", "closed")), peer["choclo", 1])
               if precision == "double" else "",
               ratio(last, own.get(("openmp", "expansion"))) if spaces[-1] == "cuda" else ""]
        )
    header = (["components", "precision"]
              + [f"{space}, {far}" for space in spaces for far in ("expansion", "closed forms")]
              + ["choclo, 1 thread", "choclo, 2 threads", "harmonica, 1 thread", "harmonica, 2 threads",
                 "serial over choclo", "serial closed over choclo", "CUDA over OpenMP"])
    return (
        "## Every component, the CPU against the GPU\n\nPairs of a prism and a station a second, whole time: "
        "prisms and stations to the device, checks, sums, results back.\nSeven spheres, 15,000 stations; all "
        "prisms on a device, some evenly out of the list on a host. Expansion: the far\nfield by multipoles "
        "where the default tolerance allows (1e-11 double, 1e-6 single). Closed forms: far_tolerance = "
        "0.\nchoclo and harmonica compute in double precision.\n\n" + table(header, rows)
    )


def phase_section(results):
    chosen = [x for x in results if x.main and x.space in SPACES and x.components in ("gz", "nine", "all")]
    if not chosen:
        return ""
    phases = ["transfer_s", "check_s", "prepare_s", "sum_s", "reduce_s"]
    rows = [
        [x.components, x.precision, x.space, x.far, f"{x.get('pairs', 0.0):.3g}", milliseconds(x.seconds)]
        + [milliseconds(x.get(phase)) for phase in phases]
        + [size(x.get("memory")), f"{x.get('max_rel_error', 0.0):.1e}", f"{x.get('error_mGal', 0.0):.1e}",
           f"{x.get('error_Eotvos', 0.0):.1e}"]
        for x in sorted(chosen, key=lambda x: (SPACES.index(x.space), place(x), x.far))
    ]
    header = ["components", "precision", "space", "far field", "pairs", "total ms", "transfer", "check",
              "prepare", "sum", "reduce", "memory", "error, relative", "mGal", "Eotvos"]
    return ("## By phase\n\nMilliseconds. Errors are the largest at six stations against a sequential sum of "
            "the textbook's closed forms in double\nprecision; relative ones to the component's largest "
            "value there.\n\n"
            + table(header, rows))


def strategy_section(results):
    chosen = [x for x in results if x.problem == "spheres" and not x.swept and x.space in SPACES
              and x.components in ("gz", "nine")
              and (x.far == "expansion" or x.strategy in ("launch_per_prism", "tiles"))]
    if not any(x.strategy != "tiles" for x in chosen):
        return ""
    rows = []
    for x in sorted(chosen, key=lambda x: (SPACES.index(x.space), place(x), -x.rate)):
        launches = x.strategy == "launch_per_prism"
        passes = x.get("passes", 0.0)
        rows.append([x.space, x.components, x.precision, x.strategy, x.far, f"{x.get('pairs', 0.0):.3g}",
                     rate(x.rate), size(x.get("memory")), f"{x.get('grids', 0.0):.0f}", f"{passes:.0f}",
                     f"{1e6 * x.seconds / passes:.2f}" if launches and passes else ""])
    header = ["space", "components", "precision", "strategy", "far field", "pairs", "pairs/s", "memory",
              "private grids or chunks", "passes", "us a launch"]
    return ("## Arrangements of the same sums\n\nby_prisms is the paper's: private grids for every thread. "
            "launch_per_prism is what the paper argues against: a launch\nover all stations for every prism; "
            "its closed forms are those of the other arrangements.\n\n" + table(header, rows))


def mesh_section(results):
    chosen = [x for x in results if x.problem in ("spheres_mesh", "dense")]
    if not chosen:
        return ""
    rows = [
        [x.space, x.problem, x.cells or "", x.components, x.strategy, x.far, f"{x.get('pairs', 0.0):.3g}",
         rate(x.rate), f"{x.get('corners', 0.0):.0f}" if x.get("corners") else "", size(x.get("memory")),
         f"{x.get('max_rel_error', 0.0):.1e}"]
        for x in sorted(chosen, key=lambda x: (SPACES.index(x.space), x.problem, place(x), -x.rate))
    ]
    header = ["space", "problem", "cells", "components", "strategy", "far field", "pairs", "pairs/s",
              "corners", "memory", "error, relative"]
    return ("## Regular meshes\n\nDouble precision. by_corners evaluates a corner once for the prisms that "
            "share it; its pairs are those of prisms.\n\n" + table(header, rows))


def sweeps(results):
    """Returns the lines over teams by title: the results, and the number that varies."""
    swept = [x for x in results if x.swept]
    groups = {}
    for x in swept:
        if x.strategy == "tiles":
            groups.setdefault(("tiles", "threads a team", "tiles"), []).append((x.team_size, x))
            continue
        for teams in sorted({y.teams for y in swept if y.strategy == "by_prisms" and y.team_size != 32}):
            if x.teams == teams:
                groups.setdefault((f"{teams} teams", "threads a team", "by_prisms"),
                                  []).append((x.team_size, x))
            if x.team_size == 32 and x.teams % teams == 0 and (teams == 14) == (x.teams % 14 == 0
                                                                                and x.teams <= 224):
                groups.setdefault((f"teams of 32, by {teams}", "teams", "by_prisms"), []).append((x.teams, x))
    return groups


def team_section(results):
    groups = sweeps(results)
    if not groups:
        return ""
    text = ("## Teams\n\nThe analogues of the paper's Figures 7 to 10: gz, threads a team at a fixed number "
            "of teams, and numbers of teams of 32\nthreads. by_prisms gets prisms for four passes. Memory is "
            "what forward() allocated.\n\n")
    for (title, over, strategy), points in sorted(groups.items(), key=lambda item: item[0][2] + item[0][0]):
        values = sorted({value for value, _ in points})
        rows = []
        for value in values:
            double, single = ([x for v, x in points if v == value and x.single == wanted]
                              for wanted in (False, True))
            rows.append([str(value)]
                        + [rate(x[0].rate) if x else "" for x in (double, single)]
                        + [size(x[0].get("memory")) if x else "" for x in (double, single)]
                        + [f"{x[0].get('grids', 0.0):.0f}" if x else "" for x in (double,)])
        text += "### " + (title if title == strategy else f"{strategy}: {title}") + "\n\n" + table(
            [over, "double, pairs/s", "single, pairs/s", "memory, double", "memory, single",
             "private grids or chunks"], rows
        ) + "\n"
    return text


def operation_section(operations):
    if not operations:
        return ""
    spaces = [space for space in SPACES if any(key[2] == space for key in operations)]
    rows = []
    for operation in ("fma", "divide", "sqrt", "log", "atan2"):
        for precision in ("double", "float"):
            values = [operations.get((operation, precision, space)) for space in spaces]
            if any(values):
                rows.append([operation, precision] + [rate(value) for value in values])
    return ("## Rates of arithmetic\n\nOperations a second of the whole space, chains in registers, by the "
            "compiler's functions; fma is one operation.\n\n" + table(["operation", "precision"] + spaces,
                                                                      rows))


def bar_section(results, summaries):
    """Returns a table of required and measured rates."""
    main = [x for x in results if x.main]
    rows = []

    def bar(what, wanted, components, space, peer=None):
        for far in ("expansion", "closed"):
            found = rate_of(main, space=space, far=far, components=components, precision="double",
                            strategy="tiles")
            if peer and found:
                other = rate_of(main, strategy=peer, components=components, threads=1)
                found = found / other if other else None
            if found:
                rows.append([what, far, f"{wanted:g}", f"{found:.3g}", "yes" if found >= wanted else "no"])

    device = "cuda" if pick(main, space="cuda") else None
    if device:
        bar("nine components, double, pairs/s on the GPU", 5e9, "nine", device)
        bar("gz, double, pairs/s on the GPU", 2.5e10, "gz", device)
    bar("nine components, double, one thread over choclo", 4, "nine", "serial", "choclo")
    bar("gz, double, one thread over choclo", 2, "gz", "serial", "choclo")
    scaling = [line[4] / line[1] for line in rank_runs(summaries).values() if 1 in line and 4 in line]
    if scaling:
        found = max(scaling)
        rows.append(["4 GPUs over one, a problem of useful size", "", "3.6", f"{found:.3g}",
                     "yes" if found >= 3.6 else "no"])
    if not rows:
        return ""
    return "## Bars\n\n" + table(["what", "far field", "wanted", "found", "met"], rows)


def rank_runs(summaries):
    """Returns the best pairs per second by the parameters of a run, then by ranks.

    The parameters are (space, precision, components, far field, prisms, stations).
    """
    runs = {}
    for data in summaries:
        asked = data.get("asked", {})
        names = asked.get("components") or []
        components = {9: "nine", 10: "all"}.get(len(names), ",".join(names))
        far = "closed" if asked.get("far_tolerance") == 0 else "expansion"
        key = (str(asked.get("space", "")), str(asked.get("precision", "")), components, far,
               find(data.get("ensemble"), "prisms") or 0, find(data.get("stations"), "count") or 0)
        ranks, found = int(find(data, "ranks")), float(find(data, "pairs_per_second"))
        runs.setdefault(key, {})
        runs[key][ranks] = max(found, runs[key].get(ranks, 0.0))
    return runs


def rank_section(summaries):
    rows = []
    for key, line in sorted(rank_runs(summaries).items()):
        space, precision, components, far, prisms, stations = key
        one = line.get(1)
        for ranks, found in sorted(line.items()):
            rows.append([space, precision, components, far, str(prisms or ""), str(stations or ""),
                         str(ranks), rate(found), f"{found / one:.2f}" if one else "",
                         f"{100.0 * found / one / ranks:.1f} %" if one else ""])
    if not rows:
        return ""
    header = ["space", "precision", "components", "far field", "prisms", "stations", "ranks", "pairs/s",
              "over one rank", "efficiency"]
    return ("## Several ranks\n\nmodel_gravity under mpirun, one device a rank; the best run of each.\n\n"
            + table(header, rows))


def check_section(results, errors):
    """Returns the section, and whether all checks passed."""
    differences = []
    own = {}
    for x in results:
        if x.space in SPACES and not x.single and x.problem == "spheres":
            own.setdefault((x.components, x.prisms, x.stations), x)
    compared = 0
    for x in results:
        if x.space != "python":
            continue
        other = own.get((x.components, x.prisms, x.stations))
        if not other:
            continue
        compared += 1
        mean, expected = x.get("mean_abs"), other.get("mean_abs")
        if not abs(mean - expected) <= 1e-6 * expected:
            differences.append(f"{x.strategy} {x.components}: mean magnitude {mean:.9g}, moho's "
                               f"{expected:.9g}")
    lines = ["## Checks\n"]
    for single in (False, True):
        worst = max((x.get("max_rel_error", 0.0) for x in results if x.single == single), default=0.0)
        lines.append(f"- {'single' if single else 'double'} precision: "
                     f"{sum(x.single == single for x in results)} benchmarks, the largest relative error "
                     f"{worst:.1e}")
    lines.append(f"- other programs: {compared} means compared")
    too_large = [text for text in errors if ": team_size: " in text]
    errors = [text for text in errors if text not in too_large]
    lines += [f"- left out: {text}" for text in too_large]
    lines += [f"- ERROR {text}" for text in errors + differences]
    return "\n".join(lines) + "\n", not errors and not differences


def tidy(panel):
    panel.grid(True, which="major", color="#dddddd", linewidth=0.7)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def save(figure, path):
    import matplotlib.pyplot as plt

    temporary = path + ".part"
    figure.savefig(temporary, dpi=150, format="png")
    plt.close(figure)
    os.replace(temporary, path)
    print("wrote " + path)


def draw_rates(results, path):
    """Draws bars of pairs per second: gz, nine, all; programs and spaces next to each other."""
    import matplotlib.pyplot as plt

    main = [x for x in results if x.main]
    sets = [name for name in ("gz", "gzz", "gxy", "nine", "all") if pick(main, components=name)]
    lines = []
    for name in ("choclo", "harmonica"):
        lines.append((f"{name}, 1 thread", COLOURS[name], "", {"strategy": name, "threads": 1}))
    for space in SPACES:
        for precision in ("double", "float"):
            wanted = {"space": space, "strategy": "tiles", "precision": precision, "far": "expansion"}
            lines.append((f"{space}, {precision.replace('float', 'single')}", COLOURS[space],
                          "//" if precision == "float" else "", wanted))
    lines = [line for line in lines if pick(main, **line[3])]
    if not sets or not lines:
        return
    figure, panel = plt.subplots(figsize=(11, 4.8))
    width = 0.84 / len(lines)
    for k, (title, colour, hatch, wanted) in enumerate(lines):
        heights = [rate_of(main, components=name, **wanted) or 0.0 for name in sets]
        places = [i + (k - 0.5 * (len(lines) - 1)) * width for i in range(len(sets))]
        bars = panel.bar(places, heights, width, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5,
                         label=title)
        panel.bar_label(bars, labels=[f"{h:.2g}" if h else "" for h in heights], fontsize=6, rotation=90,
                        padding=2)
    panel.set_yscale("log")
    panel.set_ylim(top=panel.get_ylim()[1] * 6)
    panel.set_xticks(range(len(sets)),
                     [{"nine": "nine components", "all": "nine and potential"}.get(s, s) for s in sets])
    panel.set_ylabel("pairs a second")
    tidy(panel)
    panel.legend(frameon=False, ncol=4, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.07))
    figure.tight_layout()
    save(figure, path)


def draw_teams(results, path):
    """Draws pairs per second, speed-up over the fewest threads, and memory."""
    import matplotlib.pyplot as plt

    groups = sweeps(results)
    if not groups:
        return
    keys = sorted(groups, key=lambda key: (key[1] == "teams", key[2], key[0]))
    figure, panels = plt.subplots(2, len(keys), figsize=(3.4 * len(keys) + 1, 6.6), squeeze=False)
    for column, key in enumerate(keys):
        title, over, strategy = key
        top, bottom = panels[0][column], panels[1][column]
        memory = bottom.twinx()
        for single, colour in ((False, "#b3123c"), (True, "#1f6fb4")):
            points = sorted(((v, x) for v, x in groups[key] if x.single == single), key=lambda p: p[0])
            if not points:
                continue
            values = [v for v, _ in points]
            rates = [x.rate for _, x in points]
            name = "single" if single else "double"
            top.plot(values, rates, "-o", markersize=4, color=colour, label=name)
            bottom.plot(values, [r / rates[0] for r in rates], "-o", markersize=4, color=colour, label=name)
            memory.plot(values, [x.get("memory", 0.0) * 1e-9 for _, x in points], ":", color=colour,
                        linewidth=1)
        top.set_title(title if title == strategy else f"{strategy}: {title}", fontsize=9, pad=16)
        top.set_ylim(bottom=0)
        bottom.set_ylim(bottom=0)
        memory.set_ylim(bottom=0)
        bottom.set_xlabel(over)
        tidy(top)
        tidy(bottom)
        memory.spines["top"].set_visible(False)
        memory.tick_params(labelsize=7)
        if column == 0:
            top.set_ylabel("pairs a second")
            bottom.set_ylabel("speed-up")
            top.legend(frameon=False)
        if column == len(keys) - 1:
            memory.set_ylabel("memory, GB (dotted)")
    figure.tight_layout()
    save(figure, path)


def draw_ranks(summaries, path):
    import matplotlib.pyplot as plt

    lines = {}
    for (_, precision, components, far, prisms, __), line in sorted(rank_runs(summaries).items()):
        if 1 in line:
            title = f"{components}, {precision}, {far}, {prisms} prisms"
            lines[title] = [(n, found / line[1]) for n, found in sorted(line.items())]
    if not any(len(points) > 1 for points in lines.values()):
        return
    figure, panel = plt.subplots(figsize=(5, 4))
    most = max(ranks for points in lines.values() for ranks, _ in points)
    panel.plot([1, most], [1, most], "--", color="#999999", linewidth=1, label="ideal")
    for title, points in lines.items():
        panel.plot(*zip(*points), "-o", label=title)
    panel.set_xlabel("ranks, one device each")
    panel.set_ylabel("speed-up over one")
    tidy(panel)
    panel.legend(frameon=False)
    figure.tight_layout()
    save(figure, path)


def run(options, contexts, entries, errors, summaries):
    results, operations = collect(entries)
    if not results and not summaries and not errors:
        raise ReportError("no benchmarks of gravity in these files: run bench_gravity without a filter that "
                          "hides them")
    checks, well = check_section(results, errors)
    if not results:
        checks = ""
    sections = [context_section(contexts, {}) if contexts else "", bar_section(results, summaries),
                main_section(results), phase_section(results),
                strategy_section(results), mesh_section(results), team_section(results),
                operation_section(operations), rank_section(summaries), checks]
    text = "# Benchmarks of gravity\n\n" + "\n".join(section for section in sections if section)
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
        draw_rates(results, os.path.join(options.out, "rates.png"))
        draw_teams(results, os.path.join(options.out, "teams.png"))
        draw_ranks(summaries, os.path.join(options.out, "ranks.png"))
    except ImportError as error:
        print(f"no figures: {sys.executable} has no {error.name} (install python3-matplotlib)")
    return 0 if well else 1
