// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/state.hpp>

#include <moho/core/error.hpp>
#include <moho/io/npy.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho::gravity_inversion {

namespace {

constexpr double version = 1.0;
constexpr std::size_t head = 12, step_values = 6;

}  // namespace

void write_state(const std::filesystem::path& path, const InversionState& state) {
  std::vector<double> values{version,
                             static_cast<double>(state.model.size()),
                             static_cast<double>(state.smooth_model.size()),
                             static_cast<double>(state.history.size()),
                             static_cast<double>(state.reason.size()),
                             state.beta,
                             state.above,
                             state.above_chi2,
                             state.below,
                             state.below_chi2,
                             static_cast<double>(state.round),
                             state.done ? 1.0 : 0.0};
  values.insert(values.end(), state.model.begin(), state.model.end());
  values.insert(values.end(), state.smooth_model.begin(), state.smooth_model.end());
  for (const InversionStep& step : state.history) {
    for (const double value :
         {step.stage == "compact" ? 1.0 : 0.0, step.beta, step.chi2, step.regularisation,
          static_cast<double>(step.iterations), static_cast<double>(step.products)}) {
      values.push_back(value);
    }
  }
  for (const char letter : state.reason) {
    values.push_back(static_cast<double>(static_cast<unsigned char>(letter)));
  }
  io::write_npy(path, values.data(), {static_cast<std::int64_t>(values.size())});
}

InversionState read_state(const std::filesystem::path& path, std::int64_t cells) {
  const io::Array<double> array = io::read_npy<double>(path);
  const std::vector<double>& v = array.data;
  const auto refuse = [&](const std::string& what) {
    throw FileError(concat(path.string(), ": ", what, ": begin again without it"));
  };
  std::size_t sizes[4] = {}, total = head;
  bool whole = v.size() >= head && v[0] == version;
  for (std::size_t k = 0; whole && k < 4; ++k) {
    whole = v[1 + k] >= 0.0 && v[1 + k] <= static_cast<double>(v.size());
    if (whole) sizes[k] = static_cast<std::size_t>(v[1 + k]);
    total += sizes[k] * (k == 2 ? step_values : 1);
  }
  if (!whole || total != v.size()) {
    refuse("it is no state of an inversion (allowed: files of write_state())");
  }
  if (static_cast<std::int64_t>(sizes[0]) != cells) {
    refuse(concat("it has ", sizes[0], " cells (allowed: ", cells, ", those of this inversion)"));
  }
  InversionState state;
  state.beta = v[5];
  state.above = v[6];
  state.above_chi2 = v[7];
  state.below = v[8];
  state.below_chi2 = v[9];
  state.round = static_cast<int>(v[10]);
  state.done = v[11] != 0.0;
  auto at = v.begin() + static_cast<std::ptrdiff_t>(head);
  const auto take = [&](std::size_t count) {
    const auto begin = at;
    at += static_cast<std::ptrdiff_t>(count);
    return std::vector<double>(begin, at);
  };
  state.model = take(sizes[0]);
  state.smooth_model = take(sizes[1]);
  for (std::size_t k = 0; k < sizes[2]; ++k) {
    const std::vector<double> step = take(step_values);
    state.history.push_back({step[0] != 0.0 ? "compact" : "smooth", step[1], step[2], step[3],
                             static_cast<std::int64_t>(step[4]),
                             static_cast<std::int64_t>(step[5])});
  }
  for (const double letter : take(sizes[3])) {
    state.reason += static_cast<char>(static_cast<unsigned char>(letter));
  }
  return state;
}

}  // namespace moho::gravity_inversion
