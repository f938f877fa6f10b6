// SPDX-License-Identifier: BSD-3-Clause
#include "model_waves/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/survey_data.hpp"
#include "ranks/stream_ranks.hpp"

#include <moho/core/error.hpp>

namespace moho::examples::model_waves {

namespace {

constexpr const char* intro =
    R"(model_waves: shots over a model of the ground by finite differences: acoustic waves of constant or
variable density, and anisotropic ones (VTI, TTI).

  model_waves --vp FILE [options]
  model_waves --vp 2000 --shape nx[,ny],nz --spacing d [options]
)";

constexpr const char* outro =
    R"(
Results, in the folder of --out:
  gather.npy     pressure, receivers x samples (several shots: gather_0001.npy, ...)
  gather.sgy     all shots with their geometry, SEG-Y revision 1
  snapshot_0001.npy, ...  the wavefield of the first shot in the model, and vp.npy, the velocity
  summary.json   what was asked, dt, limits, timings      gather.png, snapshots.png   pictures

Examples
  model_waves --vp 2000 --shape 301,201 --spacing 10 --source 1500,20 --receivers 0,20:3000,20:151
      A shot in a homogeneous section; 151 receivers on a line.
  model_waves --vp vp.npy --spacing 12.5 --epsilon eps.npy --delta delta.npy --theta theta.npy --time 2.5
      A TTI section with a source in the middle of the surface; theta in radians.
  model_waves --vp volume.rsf --wavelet ormsby:3,6,25,35 --boundary cpml:16,top=free --expand amplitude
      A volume, with a free surface, stepping only where waves have come to.
  model_waves --vp vp.sgy --source 500,10:8500,10:17 --receivers=-1000,10:1000,10:81 --moving
      17 shots, receivers up to 1 km on either side of each.
  model_waves --vp volume.rsf --devices 2
      Each shot in slabs on two devices, for volumes that fit both together, or for speed.
  mpirun -n 8 model_waves --vp volume.rsf --shots survey.csv --ranks-per-shot 4
      Two shots at a time, each in slabs on four ranks, of one or several machines.
  model_waves --vp volume.rsf --shots survey.csv --plan
      Steps, memory and snapshots of a survey, without computing it.
  model_waves --config survey.cfg --space cuda
      Options from a file, one "name = value" a line.

The number of CPU threads is that of OMP_NUM_THREADS. mpirun -n RANKS model_waves ...: ranks share the shots, a
device each, with the same bits. Exit status: 0 done, 2 the input is not usable (the message says what and why),
75 time was over before the last shot (--resume goes on), 1 anything else, 130 interrupted.
)";

}  // namespace

Description describe(Options& o) {
  Description d;
  d.program = "model_waves";
  d.intro = intro + wave_units_help();
  d.outro = wave_scheme_help() + outro;
  bind_waves(d, o);
  d.bind(o.snapshots, "snapshot-every", "s",
         "seconds between snapshots of the first shot, 0 for none (default: a quarter of the time)",
         number("positive, in seconds, or 0 for none", 0.0, true), {.unset = "auto"});
  bind_wave_scheme(d, o);
  bind_memory(d, o, "for all arrays together, or on the device");
  bind_devices(d, o.devices,
               "step each shot together, with the same bits: each holds a slab across x. auto: the "
               "fewest that hold a shot");
  bind_ranks_per_shot(d, o.ranks_per_shot, o.devices);
  bind_at_once(d, o);
  bind_plan(d, o);
  bind_wave_results(d, o);
  d.check([&o](const Arguments&) {
    const bool over_ranks = o.ranks_per_shot > 1;
    if (o.devices <= 1 && !over_ranks) return;
    const std::string divides = over_ranks ? concat("--ranks-per-shot ", o.ranks_per_shot)
                                           : concat("--devices ", o.devices);
    if (o.at_once > 1) {
      throw InputError(concat("--at-once is ", o.at_once, " with ", divides,
                              " (allowed: 1 or auto): devices that share a shot step one at a "
                              "time, leave one of the options out"));
    }
    if (o.expand == domain::ExpansionMethod::amplitude) {
      throw InputError(concat("--expand amplitude is for one device (allowed with ", divides,
                              ": none, layers, eikonal): it searches the whole wavefield "
                              "before a step, choose one that knows arrivals from the model"));
    }
  });
  return d;
}

}  // namespace moho::examples::model_waves
