// SPDX-License-Identifier: BSD-3-Clause
#include "migrate_shots/job.hpp"

#include "app/format.hpp"

namespace moho::examples::migrate_shots {

std::string zero_image_text(const std::string& mute, double time) {
  if (mute == "none") {
    return concat("--time: the image is zero, as waves of sources and data do not meet within the ",
                  time, " s of the run: give a longer one");
  }
  return concat("--mute ", mute, ": the image is zero, as no sample of the ", time,
                " s of the run is left: change it, or --time");
}

namespace {

void replace(std::string& text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

}  // namespace

std::string describe(const rtm::MigrationProgress& now, std::int64_t shot) {
  if (now.concurrent_shots == 1) {
    return concat("shot ", shot, ", ", now.backward ? "back" : "forward", ", ",
                  format_count(now.points_per_second), "points/s, ", std::llround(now.seconds_left),
                  " s left");
  }
  return concat(now.concurrent_shots, " shots at once, ", static_cast<std::int64_t>(now.shots_done),
                " of ", now.shots, ", ", format_count(now.points_per_second * now.concurrent_shots),
                "points/s, ", std::llround(now.seconds_left), " s left");
}

std::string in_words(const std::string& text, const Options& options,
                     const std::map<std::string, std::string>& names,
                     const std::map<std::string, std::string>& true_names,
                     const std::map<std::string, std::string>& others) {
  const std::string data = "data_model: ", storage = "storage: ";
  if (text.rfind(data, 0) == 0) return in_options(text.substr(data.size()), true_names, others);
  if (text.rfind(storage, 0) != 0) return in_options(text, names, others);
  // "what (why): advice"
  const auto begin = text.find(" ("), end = text.rfind("): ");
  if (begin == std::string::npos || end == std::string::npos) return text;
  return concat(options.snapshots == "auto"
                    ? std::string("snapshots: no way to keep them fits")
                    : concat("--snapshots ", options.snapshots, " is not possible here"),
                text.substr(begin, end - begin),
                options.snapshots == "disk" && options.disk == 0 && options.snapshot_folder.empty()
                    ? "): give --snapshot-dir FOLDER or --disk BYTES"
                : text.find("another error bound", end) != std::string::npos
                    ? "): choose another method, or another --error"
                    : "): choose another method, or more --memory, --device-memory or --disk");
}

MemoryError in_words(const MemoryError& error, const Options& options) {
  std::string text = error.what();
  if (text.rfind("devices is", 0) == 0)
    return MemoryError(devices_option(options) + text.substr(7));
  replace(text, "allow more memory or files, or choose another method",
          "give more --memory, --device-memory or --disk, take --snapshots replay");
  if (text.find(" concurrent shots take ") == std::string::npos) {
    const bool shot = text.rfind("memory: a shot", 0) == 0 && options.space != "cuda";
    const bool host = (shot && options.memory > 0) || text.rfind("memory: the volumes", 0) == 0;
    return with_advice(MemoryError(text), host ? "--memory" : "--device-memory",
                       ", or a smaller --aperture");
  }
  replace(text, " concurrent shots take ", " shots at once take ");
  replace(text, "decrease concurrent_shots", "give a smaller --at-once");
  return MemoryError(text);
}

std::string in_words_of_scheme(std::string text, bool resumes) {
  replace(text, wave::overflow_advice, overflow_advice);
  replace(text, "allow more disk", "give a larger --disk");
  if (resumes && text.find(" temporary data in '") != std::string::npos)
    text += "; --resume takes another --snapshot-dir or --disk, and --snapshots of the same bits";
  return text;
}

}  // namespace moho::examples::migrate_shots
