// SPDX-License-Identifier: BSD-3-Clause
#include "invert_times/remarks.hpp"

namespace moho::examples::invert_times {

ArgumentNames names_of(const Options& o) {
  const bool shape = !o.shape.empty();
  return {{"an empty ground", "--topography none"},
          {"an error of all picks", "--error"},
          {"bounds", "--bounds"},
          {"coarsening", "--coarsening"},
          {"delays of sources", "--statics source"},
          {"delta", "--delta"},
          {"depth", shape ? "--shape" : "--depth"},
          {"deviation_max", "--deviation-max"},
          {"epsilon", "--epsilon"},
          {"jackknife", "--jackknife"},
          {"lengths", "--lengths"},
          {"location", "--location-deviation and --origin-deviation"},
          {"margin", shape ? "--shape, with --origin" : "--margin"},
          {"receivers", "--receivers"},
          {"reference", "--reference"},
          {"shots", "--shots"},
          {"spacing", "--spacing"},
          {"start", "--start"},
          {"the unit of times", "--time-unit ms (or us)"},
          {"times", "--times"}};
}

tomography::PickFormat format_of(const Options& o) {
  const double units[] = {1.0, 1e-3, 1e-6};
  return {o.format, units[o.time_unit], o.elevations, o.shots, o.receivers, names_of(o)};
}

tomography::Exchange exchange_among(Processes& processes) {
  tomography::Exchange exchange;
  if (processes.alone()) return exchange;
  auto& ranks = static_cast<Ranks&>(processes);
  exchange.rank = ranks.rank();
  exchange.ranks = ranks.size();
  exchange.gather = [&ranks](const std::function<std::vector<char>()>& local) {
    std::vector<char> mine;
    ranks.together([&] { mine = local(); });
    std::vector<std::vector<char>> all = ranks.gather_bytes(mine);
    all.resize(static_cast<std::size_t>(ranks.size()));
    for (std::vector<char>& bytes : all) {
      std::uint64_t size = bytes.size();
      ranks.broadcast(&size, sizeof size);
      bytes.resize(size);
      ranks.broadcast(bytes.data(), size);
    }
    return all;
  };
  return exchange;
}

std::vector<std::string> option_notes(const Options& o) {
  if (o.lambda == 0.0 || !o.deviation_given) return {};
  return {"--deviation-max has no effect on the damping: --lambda fixes it"};
}

}  // namespace moho::examples::invert_times
