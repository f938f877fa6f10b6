// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/text.hpp>
#include <moho/rtm/migration_types.hpp>

#include <cmath>

namespace moho::rtm {

template <int Dim>
std::string MigrationPlan<Dim>::text() const {
  std::string nodes;
  for (int d = 0; d < Dim; ++d) nodes += concat(d == 0 ? "" : " x ", extents[d]);
  std::string result = concat(
      "device    ", device, "\n", "medium    ", wave::to_string(medium), ", dt ", time.dt, " s, ",
      text::counted(time.steps, "step"), ", ", nodes, " nodes with layers in the largest shot\n",
      "memory    ", format_bytes(static_cast<double>(memory.peak)),
      concurrent_shots == 1 ? " for a shot"
                            : concat(" for each of ", concurrent_shots, " concurrent shots"),
      ", without snapshots\n");
  if (batch_size > 1) result += concat("          ", batch_size, " of them in the same launches\n");
  if (!one_by_one.empty()) result += concat("          one by one: ", one_by_one, "\n");
  if (!slabs.empty()) result += concat("devices   ", slabs.text(), "\n");
  for (const std::string& line : stream) result += concat("stream    ", line, "\n");
  result +=
      concat("snapshots every ", storage.interval == 1 ? "" : concat(storage.interval, " "),
             storage.interval == 1 ? "step, " : "steps, ", storage.snapshots, ": ",
             storage.strategy.name, ", ", format_bytes(static_cast<double>(storage.strategy.bytes)),
             "; ", storage.strategy.reason, "\n");
  if (storage.files)
    result +=
        concat("          files in ", storage.folder.string(), ": ", storage.files->text(), "\n");
  result += concat("time      about ", std::ceil(seconds), " s for ", text::counted(shots, "shot"));
  return result;
}

template <int Dim>
double MigrationPlan<Dim>::device_bytes() const {
  if (!slabs.empty()) return static_cast<double>(slabs.max_bytes());
  if (!stream.empty()) return static_cast<double>(memory.peak);
  return concurrent_shots *
         (static_cast<double>(memory.peak) + static_cast<double>(storage.strategy.device_bytes));
}

template <int Dim>
double MigrationPlan<Dim>::host_bytes() const {
  return static_cast<double>(result_bytes) +
         concurrent_shots *
             (static_cast<double>(memory.host) + static_cast<double>(storage.strategy.host_bytes));
}

template struct MigrationPlan<2>;
template struct MigrationPlan<3>;

}  // namespace moho::rtm
