// SPDX-License-Identifier: BSD-3-Clause
#include "stream_waves/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"

#include <moho/core/error.hpp>

namespace moho::examples::stream_waves {

namespace {

constexpr const char* intro =
    R"(stream_waves: shots over a model of the ground that is larger than the memory of a device. Model and
wavefield lie on the host; planes of them go through one device or a chain of several, each of which steps
them many times while they are there. Waves, model and results are those of model_waves, bit by bit.

  stream_waves --vp FILE --device-memory 8G [options]
  stream_waves --vp 2000 --shape nx[,ny],nz --spacing d --plan [options]
)";

constexpr const char* outro =
    R"(
Streaming. Planes across x are loaded --block at a time, stepped --updates times, and stored. More updates
mean fewer transfers and more memory on the device: a ring of 2 block + updates lag + ... planes. Both are
chosen from --device-memory and from rates that are measured at the start; --plan prints what was chosen,
the rate predicted and what binds it, and stops. Planes are smaller, and chains may be longer, where x is
the longest side of the model. A model that fits the device is not streamed, unless --block, --updates or
--devices asks for it.
On hosts (--space serial, openmp) the wavefield is stepped where it lies, without copies. With --device-memory,
--devices or --host-volume FILE planes go through rings there, too, and hosts stand in for any number of
devices.
Where a chain of all devices would be longer than the volume, or with --groups, they form several chains, each
with shots of its own. mpirun -n RANKS stream_waves ...: each rank is a device, ranks follow each other in
chains, and planes go from one to the next by messages. Ranks whose device (or, on hosts, memory) holds the
whole model share the shots, if there are enough of them. Any ranks and groups give the same bits.
--host-volume FILE keeps model and wavefield in a file, twice, so that a run that was killed goes on from its
last whole pass with --resume. It is as slow as the disk. The file is removed when its shot is done.

Results, in the folder of --out:
  gather.npy     pressure, receivers x samples (several shots: gather_0001.npy, ...)
  gather.sgy     all shots with their geometry, SEG-Y revision 1
  wavefield.npy  the last wavefield of the first shot in the model (no snapshots), and vp.npy, the velocity
  timeline.json  what ran beside what in the first 400 iterations, in Chrome's format
  summary.json   what was asked, dt, limits, plan, rates predicted and measured, bytes moved, timings
  gather.png, wavefield.png, timeline.png   pictures

Examples
  stream_waves --vp 2000 --shape 1536,400 --spacing 5 --device-memory 2M --devices 2 --space openmp
      A section through a chain of two devices that hosts stand in for.
  stream_waves --vp volume.rsf --wavelet ormsby:3,6,25,35 --device-memory 16G --plan
      What a volume would take on a device of 16 GiB, and how fast it would be.
  stream_waves --vp volume.rsf --host-volume /scratch/volume --resume
      A volume in a file; the same command goes on where it was ended.

The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 75 time was over before the last shot (--resume goes on), 1 anything else,
130 interrupted.
)";

}  // namespace

Description describe(Options& o) {
  Description d;
  d.program = "stream_waves";
  d.intro = intro + wave_units_help();
  d.outro = wave_scheme_help() + outro;
  bind_waves(d, o);
  bind_wave_scheme(d, o, false);
  bind_memory(d, o, "on the host for all arrays together");
  bind_wave_results(d, o);
  d.group("Streaming");
  const Rule<std::int64_t> planes = count(1, 1000000);
  d.bind(o.device_memory, "device-memory", "BYTES",
         "most of each device, such as 8G (default: what is free)", bytes(),
         {.unset = "what is free", .free = true});
  d.bind(o.block, "block", "n", "planes that move at a time (default: chosen)", planes,
         {.unset = "auto", .free = true});
  d.bind(o.updates, "updates", "n", "steps of a plane while it is on a device (default: chosen)",
         planes, {.unset = "auto", .free = true});
  d.bind(o.lag, "lag", "n", "planes between one of these steps and the next (default: the least)",
         planes, {.unset = "auto", .free = true});
  d.bind(o.devices, "devices", "N|auto",
         "devices in a chain. auto: the fewest of this process that hold the model, each a slab "
         "across x, or a chain of all (default: 1; under mpirun each rank is one)",
         count(1, 64), {.word = "auto", .free = true});
  d.check([&o](const Arguments& given) {
    o.fewest = given.given("devices") && given.text("devices") == "auto";
  });
  d.bind(o.groups, "groups", "auto | n",
         "chains that the devices form, each with shots of its own (default: auto, as few as the "
         "volume allows)",
         planes, {.word = "auto", .free = true});
  d.bind(o.volume, "host-volume", "memory | FILE",
         "where model and wavefield are kept: in memory, or in a new file that a run which was "
         "ended goes on with (default: memory)",
         nonempty("memory, or the name of a file", "memory"), {.word = "memory", .free = true});
  bind_plan(d, o, "print the plan and stop");
  d.check([&o](const Arguments&) {
    if (o.expand != domain::ExpansionMethod::amplitude) return;
    throw InputError(
        "--expand amplitude looks at the wavefield before each step (allowed: none, layers, "
        "eikonal): here many steps are under way at a time, choose one that knows arrivals from "
        "the model");
  });
  return d;
}

}  // namespace moho::examples::stream_waves
