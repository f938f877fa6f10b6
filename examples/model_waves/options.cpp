// SPDX-License-Identifier: BSD-3-Clause
#include "model_waves/options.hpp"

#include "common/arguments.hpp"

#include <moho/core/error.hpp>

namespace moho::examples::model_waves {

namespace {

constexpr const char* intro =
    R"(model_waves: shots over a model of the ground by finite differences: acoustic waves of constant or
variable density, and anisotropic ones (VTI, TTI).

  model_waves --vp FILE [options]
  model_waves --vp 2000 --shape nx,nz[,ny] --spacing d [options]

Units are metres, seconds, Hz, m/s. x points right, y into the page, z is DEPTH and points down. On the
command line coordinates are written x,z in 2D and x,z,y in 3D. Model files hold nodes in the order (x, z)
or (x, y, z) with z running fastest; .npy, .rsf, .sgy and .segy are read.
)";

constexpr const char* outro =
    R"(
Boundaries. A kind for all faces, then exceptions by face: --boundary cpml:20,top=free,left=sponge:40. Kinds:
cpml (absorbs best; not for TTI), sponge, random (keeps the energy and scatters it), free (the free surface),
rigid. Faces: left, right (x), front, back (y), top, bottom (z). Layers lie OUTSIDE of the model.

Time. A sample of the wavelet at time t acts at time t; a Ricker wavelet has its peak 1.5 / frequency after
zero, and arrivals are that much later than the traveltime. --dt auto takes a step below the largest stable
one, such that samples of the gather are whole microseconds apart.

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
  model_waves --config survey.cfg --space cuda
      Options from a file, one "name = value" a line.

The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 1 anything else, 130 interrupted.
)";

}  // namespace

Description describe() {
  Description d;
  d.program = "model_waves";
  d.intro = intro;
  d.outro = outro;
  d.groups = {
      earth_model_options(),
      {"Shots",
       joined(
           shot_options(),
           {{"shots", "FILE",
             "a table shot,kind,x,z (3D: x,y,z) of sources and receivers, instead of both"},
            {"wavelet", "WAVELET",
             "ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], or file:PATH[:INTERVAL] with "
             "times "
             "and amplitudes (default: ricker:15)"},
            {"time", "s", "seconds to model (default: 1)"},
            {"interval", "s", "between samples of the gather, whole microseconds (default: dt)"},
            {"snapshot-every", "s",
             "seconds between snapshots of the first shot, 0 for none (default: a quarter of the "
             "time)"}})},
      {"Scheme", scheme_options()},
      {"Running",
       {precision_option(), space_option(),
        memory_option("for all arrays together, or on the device"), out_option(d.program),
        resume_option("shot"), only_shot_option(), flag("no-plot", "draw no pictures"),
        flag("quiet", "print nothing but errors")}},
      {"Several places", distribute_options()}};
  d.config_note = ". Sources and receivers chosen there replace the file's";
  d.alternatives = {{{"source", "shots"}, {}}, {{"receivers", "shots"}, {"moving"}}};
  return d;
}

Options read_options(const Arguments& arguments) {
  Options o;
  const auto given = [&](const char* name) { return arguments.given(name); };
  const auto text = [&](const char* name) { return arguments.text(name); };

  read_earth_model_options(arguments, "model_waves", o.model);

  // The shots.
  read_shot_options(arguments, o);
  if (given("shots")) o.shots_file = text("shots");
  if (given("shots") && (given("source") || given("receivers") || o.moving)) {
    throw InputError(
        concat("--shots and --",
               given("source")      ? "source"
               : given("receivers") ? "receivers"
                                    : "moving",
               " were both given (allowed: one of them): the table holds sources and receivers"));
  }
  if (given("wavelet")) o.wavelet = text("wavelet");
  if (given("time")) o.time = arguments.number("time", "positive, in seconds", 0.0, false);
  if (given("interval"))
    o.interval = arguments.number("interval", "positive, in seconds", 0.0, false);
  if (given("snapshot-every")) {
    o.snapshots =
        arguments.number("snapshot-every", "positive, in seconds, or 0 for none", 0.0, true);
  }

  read_face_options(arguments, o);
  read_scheme_options(arguments, o);
  read_common(arguments, "model_waves", o);
  read_distribute_options(arguments, o.distribute);
  if (given("only-shot")) {
    o.only_shot =
        parse_count("--only-shot", text("only-shot"), 0, std::numeric_limits<std::int64_t>::max());
  }
  add_inputs(arguments,
             {"vp", "rho", "epsilon", "delta", "theta", "phi", "source", "receivers", "shots"},
             o.wavelet, o);
  return o;
}

}  // namespace moho::examples::model_waves
