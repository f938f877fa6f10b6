// SPDX-License-Identifier: BSD-3-Clause
#include "migrate_shots/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/wave_options.hpp"
#include "ranks/stream_ranks.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/survey/window.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <iterator>

namespace moho::examples::migrate_shots {

namespace {

constexpr const char* intro =
    R"(migrate_shots: reverse-time migration of shots into an image of the ground, acoustic, VTI or TTI.

  migrate_shots --vp smooth.npy --shots line.sgy [options]
  migrate_shots --vp smooth.npy --shots FOLDER_OF_model_waves [options]
  migrate_shots --vp smooth.npy --shots modelled --true-vp vp.npy --source 500,20:8500,20:17 [options]
)";

constexpr const char* outro =
    R"(
Data. SEG-Y: places from trace headers, z = source depth - elevation; --elevations depth for files whose
"elevations" are depths, positive down. Traces are brought to the time step of the run; what was done to them
is printed. --mute arrivals takes away what comes before and with the first arrival of the model.

Snapshots. The wavefield of the source is kept every so many steps until the backward leg wants it. auto takes
the quickest way that fits the budgets and --error: as it is on the device (device) or in the host's memory
(memory), compressed, compressed by threads of the host beside the run (threads), in files (disk), as faces
from which it is run back (boundary), as states from which it is computed again (replay), or not at all: a
second one, in random layers that lose nothing, is run back (random; what they scatter adds noise to the image).
--error bounds the error of snapshots, not of the image: snr:55 dB (sum of squares over that of errors), max:1e-3
or paper:1e-3 (of the largest amplitude), bits:12, or lossless. --snapshot-dir FOLDER: threads and disk write to
files there, auto where memory does not suffice. --plan measures the disk. Nothing is left there when a run ends.

Streaming. A shot that does not fit --device-memory streams: model and wavefields are on the host, and planes of
the source's wavefield, which is run back as with random, and of the receivers' pass through the device together.
Images have the bits of --snapshots random. Not with --expand.

Devices. With --devices N, each shot is divided along x into N slabs, one in the memory of each device, with any
--snapshots, and --expand layers or eikonal. Images have the bits of one device with the same --snapshots; those
that are compressed with snr or max errors differ within these. --device-memory limits each device. Shots that N
devices do not hold together stream through a chain of the devices, as all do with --block or --updates. --offset
reaches over one slab at most. Hosts take N threads, of one slab each. Under mpirun, --ranks-per-shot N divides
each shot among N ranks in the same way; it does not stream.

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
  shot_0001.npy, ...                              sums of each shot, until all are complete (--keep-shots: on)
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

std::vector<Condition> parse_conditions(const std::string& text) {
  std::vector<Condition> conditions;
  for (const std::string& name : split(text)) {
    const auto condition = static_cast<Condition>(
        parse_name("--condition", name, {std::begin(condition_names), std::end(condition_names)}));
    if (std::find(conditions.begin(), conditions.end(), condition) != conditions.end()) {
      throw InputError(concat("--condition: ", name, " occurs twice (allowed: once)"));
    }
    conditions.push_back(condition);
  }
  return conditions;
}

Json conditions_json(const std::vector<Condition>& conditions) {
  Json list = Json::array();
  for (const Condition condition : conditions) list.push_back(to_string(condition));
  return list;
}

std::vector<double> parse_columns(std::string text) {
  std::vector<double> columns;
  std::replace(text.begin(), text.end(), ';', ',');
  for (const std::string& piece : split(text)) {
    const auto value = text::to_number(piece);
    if (!value) {
      throw InputError(
          concat("--columns '", piece, "' is no number (allowed: x,x,... or x,y;x,y in metres)"));
    }
    columns.push_back(*value);
  }
  return columns;
}

void check_error(const Options& o) {
  if (o.error == "lossless" && (o.snapshots == "compressed" || o.snapshots == "threads")) {
    throw InputError(concat("--snapshots ", o.snapshots,
                            " stores compressed snapshots, which --error lossless excludes "
                            "(allowed: snr:DB, max:E, bits:N or paper:E): take another --error, or "
                            "leave out --snapshots"));
  }
  if (o.error == "lossless") return;
  try {
    snapshot::parse_codec(o.error);
  } catch (const InputError& error) {
    throw InputError(concat("--error: ", error.what(), "; lossless is allowed, too"));
  }
}

void bind_image(Description& d, Options& o) {
  d.group("Image");
  d.bind(o.conditions, "condition", "LIST", "see below (default: inverse-scattering)",
         parsed(parse_conditions, conditions_json));
  d.bind(o.aperture_text, "aperture", "x[,y] | all",
         "metres of the model beyond sources and receivers that a shot sees (default: all)");
  d.check([&o](const Arguments&) { o.aperture = survey::parse_aperture(o.aperture_text); });
  d.bind(o.columns, "columns", "x,x,...", "offset gathers at these x (3D: x,y;x,y), metres",
         parsed(parse_columns));
  d.bind(o.offset, "offset", "m", "largest half offset (default: a tenth of the width)",
         positive("positive, in metres"));
  d.flag(o.angles, "angles", "angle gathers at the columns, too");
  d.check([&o](const Arguments& given) {
    if (!o.columns.empty() || !(o.angles || given.given("offset"))) return;
    throw InputError(concat("--", o.angles ? "angles" : "offset",
                            " needs --columns: say where gathers are wanted"));
  });
  d.flag(o.keep_shots, "keep-shots", "leave the sums of each shot",
         {.hidden = true, .local = true});
}

void bind_snapshots(Description& d, Options& o) {
  d.group("Snapshots");
  d.bind(o.snapshots, "snapshots", "NAME",
         "auto, device, memory, compressed, threads, disk, boundary, replay or random (default: "
         "auto)",
         name_of({"auto", "device", "memory", "compressed", "threads", "disk", "boundary", "replay",
                  "random"}))
      .same_bits = [&o](const Json& earlier) {
    return snapshot::is_exact(o.snapshots, o.error) && snapshot::is_exact(earlier.text(), o.error);
  };
  d.bind(o.error, "error", "ERROR", "snr:DB, max:E, bits:N, paper:E or lossless (default: snr:55)");
  d.check([&o](const Arguments&) { check_error(o); });
  d.bind(o.every, "snapshot-steps", "n", "steps between snapshots (default: by the wavelet)",
         count(1, 1000000), {.unset = "auto"});
  d.bind(o.device_memory, "device-memory", "BYTES",
         "most of the device for a shot (default: what is free)", bytes(), {.hidden = true});
  d.bind(o.snapshot_folder, "snapshot-dir", "FOLDER",
         "for snapshots in files (default: that of --out)", {.hidden = true});
  d.bind(o.disk, "disk", "BYTES",
         "most for snapshots in files (default: 0; with --snapshot-dir what is free)", bytes(),
         {.hidden = true});
}

void bind_streaming(Description& d, Options& o) {
  bind_stream_shape(d, "shots", o.block, o.updates);
  bind_devices(d, o.devices, "hold each shot in slabs, see below. auto: as few as suffice");
  bind_ranks_per_shot(d, o.ranks_per_shot, o.devices);
  d.option("width").text += "; also of random layers of the source's wavefield (default: 60)";
  d.check([&o](const Arguments&) {
    o.other_layers =
        o.snapshots == "auto" || o.snapshots == "random" || o.block > 0 || o.updates > 0;
  });
}

// Refuses what does not combine with a stream, several devices or random layers, and options that
// the method for the snapshots does not use.
void check_streaming(const Arguments& given, const Options& o) {
  const bool random = o.snapshots == "random";
  const std::string stream = o.block > 0 ? "--block" : o.updates > 0 ? "--updates" : "";
  const auto unused = [&](const std::string& option, const std::string& methods) {
    const std::vector<std::string> all = split(methods);
    const bool used = stream.empty() && std::count(all.begin(), all.end(), o.snapshots) > 0;
    if (used || !given.given(option)) return;
    throw InputError(concat("--", option, " was given with ",
                            stream.empty() ? "--snapshots " + o.snapshots : stream,
                            " (it belongs to --snapshots ", methods, "): leave it out"));
  };
  const auto refuse = [](const std::string& option, const auto&... why) {
    throw InputError(concat(option, " and ", why...));
  };
  if (o.expand != domain::ExpansionMethod::none && (random || !stream.empty())) {
    refuse(random ? "--snapshots random" : stream, "--expand ", domain::to_string(o.expand),
           " (allowed together: --expand none): the source's wavefield comes back from all faces, "
           "which a domain leaves out");
  }
  if (!stream.empty() && !random && o.snapshots != "auto") {
    refuse(stream, "--snapshots ", o.snapshots,
           " (allowed together: auto or random): a stream keeps no snapshots");
  }
  unused("snapshot-dir", "auto, threads, disk");
  unused("disk", "auto, memory, compressed, threads, disk");
  if (o.at_once > 1 && (o.devices > 1 || o.ranks_per_shot > 1 || !stream.empty())) {
    refuse(!stream.empty() ? stream
           : o.devices > 1 ? concat("--devices ", o.devices)
                           : concat("--ranks-per-shot ", o.ranks_per_shot),
           "--at-once ", o.at_once,
           " (allowed together: 1): shots are migrated one after the other");
  }
}

}  // namespace

const char* to_string(Condition condition) { return condition_names[static_cast<int>(condition)]; }

Description describe(Options& o) {
  Description d;
  d.program = "migrate_shots";
  d.intro = intro + wave_units_help();
  d.outro = outro;
  bind_earth_model(d, o.model);
  bind_config(d, o);
  bind_data(d, "shots", "migrate", o);
  d.bind(o.mute_text, "mute", "none | arrivals | velocity:V",
         "with [:DELAY[:TAPER]] in s (default: arrivals)");
  d.bind(o.spreading_text, "spreading", "TEXT",
         "none, line, gain:POWER, half-derivative (default: none)");
  d.flag(o.normalise, "normalise", "divide each shot by its root mean square");
  d.check([&o](const Arguments&) {
    o.mute = survey::parse_mute(o.mute_text);
    o.spreading = survey::parse_spreading(o.spreading_text);
  });
  d.move_in_summary("normalise", {"time"});
  bind_true_model(d, "shots", o.model, o, o);
  bind_image(d, o);
  bind_scheme(d, o, o);
  d.move_in_summary("expand", {"aperture", "condition", "columns", "offset", "angles"});
  bind_snapshots(d, o);
  bind_streaming(d, o);
  bind_running(d, "shot", o, o);
  d.bind(o.batch, "batch", "N|auto",
         "of the shots at once, those that advance in the same launches: small ones in 2D over one "
         "model; the same bits (default: auto; on hosts 1)",
         count(1, 1024), {.word = "auto", .hidden = true});
  d.check([&o](const Arguments& given) {
    add_data_inputs("shots", given.given("wavelet"), o, o);
    check_streaming(given, o);
  });
  return d;
}

}  // namespace moho::examples::migrate_shots
