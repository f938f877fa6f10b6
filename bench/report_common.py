# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the reports of rays, gravity and waves: reading results, tables, writing."""

import json
import os
import statistics

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class ReportError(Exception):
    """An error that the user can repair; the message has one line."""


def find(data, key):
    """Returns the value of a key at any depth of nested objects, or None."""
    if not isinstance(data, dict):
        return None
    if key in data:
        return data[key]
    for value in data.values():
        found = find(value, key)
        if found is not None:
            return found
    return None


def read(paths):
    """Returns contexts, entries by name, errors, and summaries of model_gravity."""
    contexts, entries, errors, summaries = [], [], [], []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            if find(data, "ranks") is not None and find(data, "pairs_per_second") is not None:
                summaries.append(data)
                continue
            contexts += data["context"].get("runs", [data["context"]])
            listed = data["benchmarks"]
        except OSError as error:
            raise ReportError(f"{path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ReportError(f"{path} is no JSON of Google Benchmark (use --benchmark_out=FILE)") from None
        for entry in listed:
            if entry.get("run_type") == "aggregate":
                continue
            if entry.get("error_occurred"):
                errors.append(f"{entry['name']}: {entry.get('error_message', 'error')}")
            else:
                entries.append(entry)
    return contexts, entries, errors, summaries


def median_of(runs, counter, default=None):
    """Returns the median of a counter over the runs that have it."""
    values = [run[counter] for run in runs if counter in run]
    return statistics.median(values) if values else default


def show(seconds):
    """Returns seconds as text: milliseconds with three significant digits."""
    if seconds is None:
        return ""
    value = 1e3 * seconds
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(numerator, denominator):
    if numerator is None or not denominator:
        return ""
    value = numerator / denominator
    return f"{value:.0f} x" if value >= 100 else f"{value:.1f} x" if value >= 10 else f"{value:.2f} x"


def table(header, rows):
    """Returns a Markdown table; empty columns are omitted."""
    keep = [i for i in range(len(header)) if any(row[i] for row in rows)]
    lines = ["| " + " | ".join(header[i] for i in keep) + " |"]
    lines.append("|" + "|".join("---:" for _ in keep) + "|")
    lines += ["| " + " | ".join(row[i] for i in keep) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def context_section(contexts, bandwidth):
    wanted = ["date", "device_cuda", "device_openmp", "device_serial", "compiler", "kokkos_version",
              "moho_version", "moho_commit", "processor", "scipy", "skimage", "choclo", "harmonica", "numba",
              "devito"]
    lines = ["## Machine\n"]
    seen = {}
    for context in contexts:
        for key in wanted:
            if key in context:
                values = seen.setdefault(key, [])
                if context[key] not in values:
                    values.append(context[key])
    lines += [f"- {key}: {', '.join(values)}" for key, values in seen.items()]
    lines += [f"- copy bandwidth, {space}: {value:.0f} GB/s (read + written)"
              for space, value in bandwidth.items()]
    return "\n".join(lines) + "\n"


def write_text(path, text):
    temporary = path + ".part"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def write_merged(path, contexts, entries):
    """Writes all results as one file, without the name of the machine and the path of the program."""
    private = ("host_name", "executable")
    clean = [{key: value for key, value in context.items() if key not in private} for context in contexts]
    merged = {"context": clean[0] if len(clean) == 1 else {"runs": clean}, "benchmarks": entries}
    write_text(path, json.dumps(merged, indent=1) + "\n")
    print(f"wrote {path}")
