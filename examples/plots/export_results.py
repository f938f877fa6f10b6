#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the arrays of a run for other programs: VTK image data, netCDF or Madagascar's RSF.

    export_results.py model_waves_out                  snapshots, velocity ... as .vti, for ParaView
    export_results.py migrate_shots_out --format nc    one self-describing file, results.nc
    export_results.py model_waves_out --format rsf     a header and its data per array: vp.rsf, vp.rsf@

All .npy results on the nodes of the model are exported, with the grid of summary.json. An array of several
sources becomes one array per source. Needs python3-numpy, and for netCDF python3-netcdf4.
"""

import argparse
import json
import os
import re
import sys

import numpy as np

UNITS = {"velocity": "m s-1", "vp": "m s-1", "traveltime": "s", "times": "s", "rho": "kg m-3",
         "snapshot": "1", "wavefield": "1"}


class ExportError(Exception):
    """An error in the input; the message is for the user."""


def read_run(folder):
    """Returns the summary of a run, and its arrays on the nodes of the model by name."""
    path = os.path.join(folder, "summary.json")
    try:
        with open(path, encoding="utf-8") as file:
            summary = json.load(file)
        model = summary["model"]
        shape = tuple(model["shape"])
        names = [name for name in summary["files"] if name.endswith(".npy")]
        grid = [model[key] for key in ("axes", "spacing", "origin")]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExportError(f"{path} does not describe a run on a grid: {error!r}") from error
    if any(len(part) != len(shape) for part in grid) or len(shape) not in (2, 3):
        raise ExportError(f"{path}: axes, shape, spacing and origin do not agree")
    arrays = {}
    for name in names:
        try:
            values = np.load(os.path.join(folder, name), mmap_mode="r")
        except (OSError, ValueError) as error:
            raise ExportError(f"{name} cannot be read: {error}") from error
        stem = re.sub(r"\W", "_", name[:-4])
        if values.shape == shape:
            arrays[stem] = values
        elif values.shape[1:] == shape:
            for k, one in enumerate(values):
                arrays[stem if len(values) == 1 else f"{stem}_{k}"] = one
    if not arrays:
        raise ExportError(f"{folder}: none of {len(names)} arrays lies on the {' x '.join(map(str, shape))} "
                          "nodes of the model")
    return summary, arrays


def units_of(stem):
    """Returns the units of an array by its name, or nothing."""
    return next((unit for name, unit in UNITS.items() if stem == name or stem.startswith(name + "_")), "")


def write_whole(path, write):
    """Writes a file under a temporary name, and renames it when it is complete."""
    temporary = f"{path}.part"
    try:
        if os.path.lexists(temporary):
            os.remove(temporary)  # open() would follow a link
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error}") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def write_vti(path, model, arrays):
    """Writes VTK image data, x fastest; coordinates are those of the model, z is depth.

    A section lies in the plane y = 0.
    """
    shape, spacing, origin = (list(model[key]) for key in ("shape", "spacing", "origin"))
    if len(shape) == 2:
        shape, spacing, origin = ([part[0], middle,
                                   part[1]] for part, middle in ((shape, 1), (spacing, 1.0), (origin, 0.0)))
    extent = " ".join(f"0 {n - 1}" for n in shape)
    kinds = {np.dtype("f4"): "Float32", np.dtype("f8"): "Float64"}
    heads, offset = [], 0
    for stem, values in arrays.items():
        if values.dtype.newbyteorder("=") not in kinds:
            raise ExportError(f"{stem} holds {values.dtype} (allowed: float32, float64)")
        kind = kinds[values.dtype.newbyteorder("=")]
        heads.append(f'<DataArray type="{kind}" Name="{stem}" format="appended" offset="{offset}"/>')
        offset += 8 + values.size * values.dtype.itemsize
    head = ('<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64">\n<ImageData WholeExtent="{extent}" '
            f'Origin="{" ".join(map(repr, map(float, origin)))}" '
            f'Spacing="{" ".join(map(repr, map(float, spacing)))}">\n<Piece Extent="{extent}">\n<PointData '
            f'Scalars="{next(iter(arrays))}">\n'
            + "\n".join(heads) + '\n</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding="raw">\n_')

    def write(temporary):
        with open(temporary, "wb") as file:
            file.write(head.encode("ascii"))
            for values in arrays.values():
                little = values.dtype.newbyteorder("<")
                file.write(np.array(values.size * values.dtype.itemsize, dtype="<u8").tobytes())
                volume = values.reshape(shape)
                for z in range(shape[2]):  # one plane at a time: the file may be larger than the memory
                    file.write(np.ascontiguousarray(volume[:, :, z].T, dtype=little).tobytes())
            file.write(b"\n</AppendedData>\n</VTKFile>\n")

    write_whole(path, write)


def write_rsf(folder, model, arrays):
    """Writes a Madagascar file per array, with axis 1 = z and the data next to it.

    Programs of moho can read these files.
    """
    kinds = {np.dtype("f4"): "native_float", np.dtype("f8"): "native_double"}
    paths = []
    for stem, values in arrays.items():
        plain = values.dtype.newbyteorder("=")
        if plain not in kinds:
            raise ExportError(f"{stem} holds {values.dtype} (allowed: float32, float64)")
        path = os.path.join(folder, f"{stem}.rsf")
        lines = []
        axes = list(zip(model["axes"], model["shape"], model["spacing"], model["origin"]))
        for k, (axis, n, h, o) in enumerate(reversed(axes), start=1):
            lines.append(f'n{k}={n} d{k}={float(h)!r} o{k}={float(o)!r} label{k}="{axis}" unit{k}="m"')
        if units_of(stem) == "m s-1":
            lines.append('unit="m/s"')
        lines.append(f'esize={plain.itemsize} data_format="{kinds[plain]}" in="{stem}.rsf@"')

        def write_data(temporary, values=values, plain=plain):
            with open(temporary, "wb") as file:
                for plane in values:
                    file.write(np.ascontiguousarray(plane, dtype=plain).tobytes())

        def write_head(temporary, lines=lines):
            with open(temporary, "w", encoding="ascii") as file:
                file.write("\n".join(lines) + "\n")

        write_whole(path + "@", write_data)
        write_whole(path, write_head)
        paths.append(path)
    return paths


def write_netcdf(path, summary, arrays):
    """Writes netCDF with coordinates, units and origin, according to the CF conventions."""
    try:
        import netCDF4
    except ImportError as error:
        raise ExportError("--format nc needs the netCDF library: install python3-netcdf4") from error
    model = summary["model"]

    def write(temporary):
        with netCDF4.Dataset(temporary, "w", format="NETCDF4") as file:
            file.Conventions = "CF-1.8"
            file.title = f"{summary['program']}: {model.get('name', 'model')}"
            file.source = f"{summary['program']} of moho {summary.get('versions', {}).get('moho', '')}"
            file.history = f"{summary.get('machine', {}).get('date', '')} {summary['program']}"
            file.asked = json.dumps(summary.get("asked", {}))
            for axis, n, h, o in zip(model["axes"], model["shape"], model["spacing"], model["origin"]):
                file.createDimension(axis, n)
                places = file.createVariable(axis, "f8", (axis,))
                places[:] = o + h * np.arange(n)
                places.units = "m"
                places.axis = axis.upper()
                places.long_name = {"x": "distance to the right", "y": "distance into the page",
                                    "z": "depth"}[axis]
                if axis == "z":
                    places.positive = "down"
            for stem, values in arrays.items():
                variable = file.createVariable(stem, values.dtype.newbyteorder("="), tuple(model["axes"]))
                for k, plane in enumerate(values):
                    variable[k] = plane
                variable.long_name = stem.replace("_", " ")
                if units_of(stem):
                    variable.units = units_of(stem)

    write_whole(path, write)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="results of a program")
    parser.add_argument("--format", choices=("vti", "nc", "rsf"), default="vti",
                        help="vti: VTK image data; nc: netCDF; rsf: Madagascar (default: vti)")
    parser.add_argument("--output", metavar="FILE",
                        help="default: results.vti or results.nc in the folder; of rsf the folder rsf in it")
    options = parser.parse_args()
    try:
        summary, arrays = read_run(options.folder)
        path = options.output or os.path.join(options.folder, f"results.{options.format}")
        if options.format == "rsf":
            path = options.output or os.path.join(options.folder, "rsf")
            os.makedirs(path, exist_ok=True)
            write_rsf(path, summary["model"], arrays)
        elif options.format == "vti":
            write_vti(path, summary["model"], arrays)
        else:
            write_netcdf(path, summary, arrays)
    except (ExportError, OSError) as error:
        print(f"export_results: {error}", file=sys.stderr)
        return 2
    print(f"{path}: {', '.join(arrays)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
