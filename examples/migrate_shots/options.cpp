// SPDX-License-Identifier: BSD-3-Clause
#include "migrate_shots/options.hpp"

#include "common/arguments.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/survey/window.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace moho::examples::migrate_shots {

namespace {

constexpr const char* intro =
    R"(migrate_shots: reverse-time migration of shots into an image of the ground, acoustic, VTI or TTI.

  migrate_shots --vp smooth.npy --shots line.sgy [options]
  migrate_shots --vp smooth.npy --shots FOLDER_OF_model_waves [options]
  migrate_shots --vp smooth.npy --shots modelled --true-vp vp.npy --source 500,20:8500,20:17 [options]

Units are metres, seconds, Hz, m/s. x points right, y into the page, z is DEPTH and points down. On the
command line coordinates are written x,z in 2D and x,y,z in 3D. Model files hold nodes in the order (x, z)
or (x, y, z) with z running fastest; .npy, .rsf, .sgy and .segy are read.
)";

constexpr const char* outro =
    R"(
Data. SEG-Y: places from trace headers, z = source depth - elevation; --elevations depth for files whose
"elevations" are depths, positive down. Traces are brought to the time step of the run; what was done to them
is printed. --mute arrivals takes away what comes before and with the first arrival of the model.

Snapshots. The wavefield of the source is kept every so many steps until the backward leg wants it. auto takes
the quickest way that fits the budgets and --error: as it is on the device (device) or in the host's memory
(memory), compressed, compressed by threads of the host beside the run (threads), in files (disk), as faces from which it is run back (boundary), or as states from which
it is computed again (replay). --error snr:55 dB, max:1e-3 (of the largest amplitude), bits:12, or lossless.

Conditions, several joined by commas; the first one is image.npy: zero-lag (source times receivers), source and
receiver (over the illumination; receiver steps the receivers' wave everywhere although --expand is given),
inverse-scattering (half the Laplacian of zero-lag: without the low frequencies of waves that run along each
other), laplacian (of source).

Results, in the folder of --out:
  image.npy, image.sgy, image.rsf                 the image on the nodes of the model
  image_CONDITION.npy                             where several conditions were asked for
  illumination_source.npy, illumination_receiver.npy  with --expand the latter only for --condition receiver
  offsets.npy, angles.npy                         gathers at the columns
  data_before.npy, data_after.npy                 the first shot as it came, and as it was migrated
  shot_0001.npy, ...                              sums of each shot, until all are there (--keep-shots: on)
  summary.json, timeline.json      image.png, illumination.png, data.png, boxes.png, gathers.png   pictures

Examples
  migrate_shots --vp smooth.npy --spacing 20 --shots modelled --true-vp vp.npy --source 0,20:9200,20:60
                --receivers 0,20:9200,20:231 --wavelet ricker:8 --time 3
      Data of a model, migrated with a smooth one.
  migrate_shots --vp smooth.sgy --shots line.sgy --wavelet ricker:20 --aperture 2000 --expand layers
      A line of field records, each shot on its part of the model.
  migrate_shots --vp vp.npy --shots gathers --plan
      What it would take, and nothing else.

The number of CPU threads is that of OMP_NUM_THREADS. mpirun -n RANKS migrate_shots ...: ranks share the shots, a
device each, with the same bits. A run that was ended goes on with --resume. Exit status: 0 done, 2 the input is
not usable (the message says what and why), 75 time was over before the last shot, 130 interrupted, 1 anything else.
)";

constexpr const char* condition_names[] = {"zero-lag", "source", "receiver", "inverse-scattering",
                                           "laplacian"};

}  // namespace

const char* to_string(Condition condition) { return condition_names[static_cast<int>(condition)]; }

Description describe() {
  Description d;
  d.program = "migrate_shots";
  d.intro = intro;
  d.outro = outro;
  d.aliases = data_aliases("shots");
  d.groups = {
      earth_model_options(),
      {"Data",
       joined(data_options("shots", "migrate"),
              {{"mute", "none | arrivals | velocity:V",
                "with [:DELAY[:TAPER]] in s (default: arrivals)"},
               {"spreading", "TEXT", "none, line, gain:POWER, half-derivative (default: none)"},
               flag("normalise", "divide each shot by its root mean square")})},
      true_model_options("shots"),
      {"Image",
       {{"condition", "LIST", "see below (default: inverse-scattering)"},
        {"aperture", "x[,y] | all",
         "metres of the model beyond sources and receivers that a shot sees (default: all)"},
        {"columns", "x,x,...", "offset gathers at these x (3D: x,y;x,y), metres"},
        {"offset", "m", "largest half offset (default: a tenth of the width)"},
        flag("angles", "angle gathers at the columns, too"),
        flag("keep-shots", "leave the sums of each shot")}},
      {"Scheme", scheme_options()},
      {"Snapshots",
       {{"snapshots", "NAME",
         "auto, device, memory, compressed, threads, disk, boundary or replay (default: auto)"},
        {"error", "ERROR", "snr:DB, max:E, bits:N or lossless (default: snr:55)"},
        {"snapshot-steps", "n", "steps between snapshots (default: by the wavelet)"},
        {"device-memory", "BYTES", "most of the device for a shot (default: what is free)"},
        {"disk", "BYTES", "most for snapshots in files, in the folder of --out (default: 0)"}}},
      running_options(d.program, "shot"),
      {"Several places", joined({at_once_option()}, distribute_options())}};
  return d;
}

Options read_options(const Arguments& arguments) {
  Options o;
  const auto given = [&](const char* name) { return arguments.given(name); };
  const auto text = [&](const char* name) { return arguments.text(name); };
  read_earth_model_options(arguments, "migrate_shots", o.model);
  read_data_options(arguments, "migrate_shots", "shots", o.model, o, o);

  // data
  if (given("mute")) o.mute_text = text("mute");
  o.mute = survey::parse_mute(o.mute_text);
  if (given("spreading")) o.spreading_text = text("spreading");
  o.spreading = survey::parse_spreading(o.spreading_text);
  o.normalise = given("normalise");

  // image
  if (given("condition")) {
    o.conditions.clear();
    for (const std::string& name : text::split(text("condition"), ',')) {
      const std::vector<std::string> names(std::begin(condition_names), std::end(condition_names));
      const auto condition = static_cast<Condition>(parse_name("--condition", name, names));
      if (std::find(o.conditions.begin(), o.conditions.end(), condition) != o.conditions.end()) {
        throw InputError(concat("--condition: ", name, " stands there twice (allowed: once)"));
      }
      o.conditions.push_back(condition);
    }
  }
  if (given("aperture")) o.aperture_text = text("aperture");
  o.aperture = survey::parse_aperture(o.aperture_text);
  if (given("columns")) {
    std::string list = text("columns");
    std::replace(list.begin(), list.end(), ';', ',');
    for (const std::string& piece : text::split(list, ',')) {
      const auto value = text::to_number(piece);
      if (!value) {
        throw InputError(
            concat("--columns '", piece, "' is no number (allowed: x,x,... or x,y;x,y in metres)"));
      }
      o.columns.push_back(*value);
    }
  }
  if (given("offset")) {
    o.offset = arguments.number("offset", "positive, in metres", 0.0, false);
  }
  o.angles = given("angles");
  if ((o.angles || given("offset")) && o.columns.empty()) {
    throw InputError(concat("--", o.angles ? "angles" : "offset",
                            " needs --columns: say where gathers are wanted"));
  }
  o.keep_shots = given("keep-shots");

  read_face_options(arguments, o);
  read_scheme_options(arguments, o);

  // snapshots
  const std::vector<std::string> ways{"auto",    "device", "memory",   "compressed",
                                      "threads", "disk",   "boundary", "replay"};
  if (given("snapshots")) o.snapshots = ways[arguments.choice("snapshots", ways, 0)];
  if (given("error")) o.error = text("error");
  if (o.error == "lossless" && o.snapshots == "compressed") {
    throw InputError(
        "--snapshots compressed: --error lossless allows no compressed snapshots, and larger "
        "budgets do not help (allowed: snr:DB, max:E or bits:N): take another --error, or leave "
        "out --snapshots");
  }
  if (o.error != "lossless") {
    try {
      snapshot::parse_codec(o.error);
    } catch (const InputError& error) {
      throw InputError(concat("--error: ", error.what(), "; lossless is allowed, too"));
    }
  }
  if (given("snapshot-steps")) {
    o.every = parse_count("--snapshot-steps", text("snapshot-steps"), 1, 1000000);
  }
  if (given("device-memory")) {
    o.device_memory = parse_bytes("--device-memory", text("device-memory"));
  }
  if (given("disk")) o.disk = parse_bytes("--disk", text("disk"));
  o.plan = given("plan");
  read_common(arguments, "migrate_shots", o);
  read_shot_choice(arguments, o);
  add_data_inputs(arguments, "shots", o, o);
  return o;
}

}  // namespace moho::examples::migrate_shots
