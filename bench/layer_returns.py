#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What comes back from the layers around a model: the table of docs/theory/waves.md.

A point source 40 nodes from the left face of a homogeneous section of 2000 m/s, nodes 10 m apart; receivers at the same distance from
the face, such that the reflection meets it at 0, 30, 45 and 60 degrees. What a layer reflects is the difference from a
grid that is 160 nodes longer, over what a rigid face reflects, both by their largest amplitude.

    bench/layer_returns.py build/host/examples/model_waves
"""

import argparse
import os
import subprocess
import tempfile

import numpy as np

MEDIA = {"isotropic": [], "VTI": ["--epsilon", "0.2", "--delta", "0.1", "--source-taper", "0"],
         "TTI": ["--epsilon", "0.2", "--delta", "0.1", "--theta", "30deg", "--source-taper", "0"]}


def gather(program, folder, left, medium, frequency, longer):
    """Traces of the four receivers with this left face."""
    command = [program, "--vp", "2000", *medium, "--shape", f"{240 + longer},420", "--spacing", "10", "--origin", f"{-10 * longer},0",
               "--wavelet", f"ricker:{frequency}", "--time", f"{1.1 + 3.0 / frequency:.3f}", "--dt", "0.0018", "--source", "400,1000",
               "--receivers", "400,1000;400,1460;400,1800;400,2390", "--boundary", f"sponge:60,left={left}", "--precision", "double",
               "--snapshot-every", "0", "--no-plot", "--quiet", "--out", folder]
    subprocess.run(command, check=True)
    return np.load(os.path.join(folder, "gather.npy"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="path of model_waves")
    program = parser.parse_args().program
    print("| nodes per wavelength | medium | layer | 0 | 30 | 45 | 60 degrees |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for frequency, wide in ((15, 35), (8, 55)):
            for name, medium in MEDIA.items():
                longer = gather(program, folder, "rigid", medium, frequency, 160)
                rigid = np.abs(gather(program, folder, "rigid", medium, frequency, 0) - longer).max(axis=1)
                for layer in ("sponge:30", f"sponge:{wide}") if name == "TTI" else ("cpml:20", "sponge:30"):
                    returned = np.abs(gather(program, folder, layer, medium, frequency, 0) - longer).max(axis=1) / rigid
                    values = " | ".join(f"{100 * value:.2g} %" for value in returned)
                    print(f"| {200 / frequency:.3g} | {name} | {layer} | {values} |", flush=True)


if __name__ == "__main__":
    main()
