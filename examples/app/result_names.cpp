// SPDX-License-Identifier: BSD-3-Clause
#include "app/result_names.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace moho::examples {

namespace {

// Names of a program's results. In a pattern # is a number of at least four digits, as numbered()
// writes it. <a|b> is one of several words.
struct Results {
  const char* program;
  std::vector<const char*> patterns;
};

const std::vector<Results>& all_results() {
  static const std::vector<Results> all = {
      {"trace_rays",
       {"velocity.npy", "traveltime.npy", "rays.<csv|vtk|png>", "receivers.csv",
        "matrix.<npz|mtx>"}},
      {"first_arrivals", {"velocity.npy", "times.<npy|png>", "receivers.csv"}},
      {"invert_times",
       {"<velocity|slowness|start|coverage|deviation|resolution>.npy", "check_<true|found>.npy",
        "jackknife.<npy|csv>", "<picks|history|lambda|statics|sources|checkerboard>.csv",
        "<rays|model>.vtk", "velocity.rsf", "picks.sgt", "state_#.npy", "<model|fit|history>.png"}},
      {"model_gravity",
       {"<potential|gx|gy|gz|gxx|gxy|gxz|gyy|gyz|gzz|total|bx|by|bz>.<npy|png>", "maps.png",
        "<gravity|magnetic>.csv", "stations.npy"}},
      {"invert_gravity",
       {"<model|model_smooth|model_true|weights|stations>.npy",
        "<predicted|history|data|trend>.csv", "state_#.npy", "<sections|fit|history|data>.png"}},
      {"model_waves",
       {"vp.npy", "gather.<npy|sgy|png>", "gather_#.npy", "snapshot_#.npy", "snapshots.png"}},
      {"stream_waves",
       {"vp.npy", "gather.<npy|sgy|png>", "gather_#.npy", "wavefield.<npy|png>",
        "timeline.<json|png>"}},
      {"migrate_shots",
       {"vp.npy", "image.<npy|sgy|rsf|png>",
        "image_<zero-lag|source|receiver|inverse-scattering|laplacian>.npy",
        "illumination_<source|receiver>.npy", "data_<before|after>.npy", "offsets.npy",
        "angles.npy", "shot_#.npy", "shot_#_offsets.npy",
        "<illumination|data|boxes|gathers|timeline>.png", "timeline.json"}},
      {"invert_waves",
       {"<vp|rho|epsilon|delta>.npy", "<vp|rho|epsilon|delta>_<start|true>.npy",
        "<vp|rho|epsilon|delta>_band_#.npy", "gradient_<vp|rho|epsilon|delta>.npy",
        "illumination.npy", "history.csv", "gather_<observed|start|modelled>.npy", "lags.npy",
        "lags_#.npy", "angles.npy", "shot_#.npy", "search_#.state", "search_#_illumination.npy",
        "<models|misfit|gather|lags>.png"}},
  };
  return all;
}

bool fits(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    if (pattern[0] == '<') {
      const auto end = pattern.find('>');
      std::string_view words = pattern.substr(1, end - 1);
      for (;;) {
        const auto bar = words.find('|');
        const std::string_view word = words.substr(0, bar);
        if (name.substr(0, word.size()) == word &&
            fits(pattern.substr(end + 1), name.substr(word.size()))) {
          return true;
        }
        if (bar == std::string_view::npos) return false;
        words.remove_prefix(bar + 1);
      }
    }
    if (pattern[0] == '#') {
      std::size_t digits = 0;
      while (digits < name.size() && std::isdigit(static_cast<unsigned char>(name[digits])) != 0) {
        ++digits;
      }
      if (digits < 4) return false;
      name.remove_prefix(digits);
    } else {
      if (name.empty() || name[0] != pattern[0]) return false;
      name.remove_prefix(1);
    }
    pattern.remove_prefix(1);
  }
  return name.empty();
}

}  // namespace

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

bool is_result_name(std::string_view program, const std::string& name) {
  if (!is_plain_name(name)) return false;
  if (name == "summary.json") return true;
  const auto& all = all_results();
  const auto of = std::find_if(all.begin(), all.end(),
                               [&](const Results& results) { return results.program == program; });
  return of != all.end() && std::any_of(of->patterns.begin(), of->patterns.end(),
                                        [&](const char* pattern) { return fits(pattern, name); });
}

}  // namespace moho::examples
