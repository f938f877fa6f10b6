// SPDX-License-Identifier: BSD-3-Clause
#include "app/wave_options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"

#include <moho/core/error.hpp>

namespace moho::examples {

std::string wave_units_help() {
  return R"(
Units are metres, seconds, Hz, m/s. x points right, y into the page, z is DEPTH and points down. On the
command line coordinates are written x,z in 2D and x,y,z in 3D. Model files hold nodes in the order (x, z)
or (x, y, z) with z running fastest; .npy, .rsf, .sgy and .segy are read.
)";
}

std::string wave_scheme_help() {
  return R"(
Boundaries. A kind for all faces, then exceptions by face: --boundary cpml:20,top=free,left=sponge:40. Kinds:
cpml (absorbs best; not for TTI), sponge, random (scatters waves), free (free surface), rigid (zero pressure a
node outside). Faces: left, right (x), front, back (y), top, bottom (z). Layers lie OUTSIDE of the model.

Time. A sample of the wavelet at time t acts at time t; a Ricker wavelet has its peak 1.5 / frequency after
zero, and arrivals are that much later than the traveltime. --dt auto takes a step below the largest stable
one, such that samples of the gather are whole microseconds apart.
)";
}

void bind_waves(Description& d, WaveOptions& o) {
  bind_earth_model(d, o.model);
  bind_config(d, o);
  d.group("Shots");
  bind_shots(d, o);
  for (const char* name : {"source", "receivers", "moving"}) {
    d.option(name).show_if([&o] { return o.shots_file.empty(); });
  }
  d.bind(o.shots_file, "shots", "FILE",
         "a table shot,kind,x,z (3D: x,y,z) of sources and receivers, instead of both",
         {.unset = Json(), .file = true});
  d.check([](const Arguments& given) {
    for (const char* name : {"source", "receivers", "moving"}) {
      if (!given.given("shots") || !given.given(name)) continue;
      throw InputError(concat("--shots and --", name, " were both given (allowed: one of them): ",
                              "the table holds sources and receivers"));
    }
  });
  d.bind(
      o.wavelet, "wavelet", "WAVELET",
      concat("ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], or file:PATH[:INTERVAL] with "
             "times and amplitudes (default: ",
             default_wavelet, ")"));
  d.check([&o](const Arguments& given) {
    o.wavelet_given = given.given("wavelet");
    add_wavelet_input(o.wavelet, o);
  });
  d.bind(o.time, "time", "s", "seconds to model (default: 1)", positive("positive, in seconds"));
  d.bind(o.interval, "interval", "s",
         "between samples of the gather, whole microseconds (default: dt)",
         positive("positive, in seconds"), {.unset = "auto"});
  d.config_note = ". Sources and receivers chosen there replace the file's";
  d.alternatives = {{{"source", "shots"}, {}}, {{"receivers", "shots"}, {"moving"}}};
}

void bind_wave_scheme(Description& d, WaveOptions& o, bool amplitude) {
  bind_scheme(d, o, o, true, amplitude);
  o.parameters = wave::ParameterStorage::automatic;
  d.bind(o.parameters, "parameters", "32 | 16 | auto",
         "bits of the model's parameters: 16 take fewer bytes and change velocities by about 2e-5 "
         "(default: auto, 16 in 3D on devices in single precision where they change no more)",
         one_of({"32", "16", "auto"}));
  d.move_in_summary("time", {"dt"});
  d.group("Running");
  bind_precision(d, o);
  bind_space(d, o);
}

void bind_wave_results(Description& d, WaveOptions& o) {
  bind_out(d, o);
  bind_resume(d, o, "shot");
  bind_only_shot(d, o);
  bind_no_plot(d, o, "pictures");
  bind_quiet(d, o.quiet);
  d.group("Several places");
  bind_distribute(d, o.distribute);
}

}  // namespace moho::examples
