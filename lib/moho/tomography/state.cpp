// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/npy.hpp>
#include <moho/tomography/state.hpp>

#include <cmath>

namespace moho::tomography {

namespace {

constexpr double version = 2.0;
constexpr std::size_t report_values = 14;

void put(std::vector<double>& values, const IterationReport& r) {
  for (const double value :
       {static_cast<double>(r.iteration), r.chi2, r.chi2_linear, r.rms, r.lambda, r.dof, r.rho,
        r.step, static_cast<double>(r.krylov), static_cast<double>(r.traces),
        static_cast<double>(r.held), static_cast<double>(r.rejected), r.seconds, 0.0}) {
    values.push_back(value);
  }
}

IterationReport report_at(const double* v) {
  IterationReport r;
  r.iteration = static_cast<int>(v[0]);
  r.chi2 = v[1];
  r.chi2_linear = v[2];
  r.rms = v[3];
  r.lambda = v[4];
  r.dof = v[5];
  r.rho = v[6];
  r.step = v[7];
  r.krylov = static_cast<int>(v[8]);
  r.traces = static_cast<int>(v[9]);
  r.held = static_cast<std::int64_t>(v[10]);
  r.rejected = static_cast<std::int64_t>(v[11]);
  r.seconds = v[12];
  return r;
}

}  // namespace

void write_state(const std::filesystem::path& path, const InversionState& state) {
  std::vector<double> values{version,
                             static_cast<double>(state.white.size()),
                             static_cast<double>(state.delays.source.size()),
                             static_cast<double>(state.delays.receiver.size()),
                             static_cast<double>(state.reports.size()),
                             state.min_damping,
                             static_cast<double>(state.failures),
                             static_cast<double>(state.stop),
                             state.scale,
                             state.redescending ? 1.0 : 0.0,
                             static_cast<double>(state.delays.origin.size()),
                             static_cast<double>(state.delays.moves.size())};
  values.insert(values.end(), state.white.begin(), state.white.end());
  values.insert(values.end(), state.delays.source.begin(), state.delays.source.end());
  values.insert(values.end(), state.delays.receiver.begin(), state.delays.receiver.end());
  values.insert(values.end(), state.delays.origin.begin(), state.delays.origin.end());
  values.insert(values.end(), state.delays.moves.begin(), state.delays.moves.end());
  for (const IterationReport& report : state.reports) put(values, report);
  io::write_npy(path, values.data(), {static_cast<std::int64_t>(values.size())});
}

InversionState read_state(const std::filesystem::path& path) {
  const io::Array<double> array = io::read_npy<double>(path);
  const std::vector<double>& v = array.data;
  constexpr std::size_t head = 12;
  constexpr std::size_t positions[] = {1, 2, 3, 10, 11, 4};  // of the sizes; reports are last
  const auto refuse = [&] {
    throw FileError(concat(path.string(),
                           ": it is no state of an inversion (allowed: files of write_state()): "
                           "begin again without it"));
  };
  if (v.size() < head || v[0] != version) refuse();
  std::size_t sizes[6], total = head;
  for (int k = 0; k < 6; ++k) {
    const double size = v[positions[k]];
    if (!(size >= 0.0 && size < 1e15)) refuse();
    sizes[k] = static_cast<std::size_t>(size);
    total += sizes[k] * (k == 5 ? report_values : 1);
  }
  if (total != v.size() || !(v[7] >= 0.0 && v[7] <= static_cast<double>(StopReason::failed)))
    refuse();
  InversionState state;
  state.min_damping = v[5];
  state.failures = static_cast<int>(v[6]);
  state.stop = static_cast<StopReason>(static_cast<int>(v[7]));
  state.scale = v[8];
  state.redescending = v[9] != 0.0;
  auto at = v.begin() + head;
  const auto take = [&](std::size_t count) {
    const auto begin = at;
    at += static_cast<std::ptrdiff_t>(count);
    return std::vector<double>(begin, at);
  };
  state.white = take(sizes[0]);
  state.delays.source = take(sizes[1]);
  state.delays.receiver = take(sizes[2]);
  state.delays.origin = take(sizes[3]);
  state.delays.moves = take(sizes[4]);
  for (std::size_t k = 0; k < sizes[5]; ++k) {
    const std::vector<double> values = take(report_values);
    state.reports.push_back(report_at(values.data()));
  }
  return state;
}

}  // namespace moho::tomography
