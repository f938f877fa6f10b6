// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/forward.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace moho::gravity::detail {

Plan make_plan(const Components& components, double constant, double scale) {
  if (components.empty()) {
    throw InputError("components: none is named (allowed: 1 to 10 different ones)");
  }
  Plan plan;
  unsigned wanted = 0;
  for (const Component c : components) {
    if ((wanted & bit(c)) != 0) {
      throw InputError(concat("components: ", to_string(c),
                              " is named twice (allowed: each once): leave one out"));
    }
    wanted |= bit(c);
  }
  if (components.size() == 1 && components[0] != Component::potential) {
    const int c = static_cast<int>(components[0]);
    int turn = 0;  // kernel axis n is input axis (n + turn) % 3
    if (c < 4) {
      plan.mask = mask_gz;
      turn = c % 3;
    } else if (c < 7) {
      plan.mask = mask_gzz;
      turn = (c - 3) % 3;
    } else {
      plan.mask = mask_gxy;
      turn = c == 7 ? 0 : c == 9 ? 1 : 2;
    }
    for (int n = 0; n < 3; ++n) plan.axis[n] = (n + turn) % 3;
  } else {
    for (const unsigned mask : {1u, mask_attraction, mask_gradient, mask_nine, mask_ten}) {
      plan.mask = mask;
      if ((wanted & ~mask) == 0) break;
    }
  }
  plan.count = static_cast<int>(components.size());
  for (int i = 0; i < plan.count; ++i) {
    const Component c = components[static_cast<std::size_t>(i)];
    const int index = static_cast<int>(c);
    const bool alone = count_of(plan.mask) == 1;
    plan.slot[i] = alone ? 0 : slot_of(plan.mask, index);
    // lengths are scaled: attraction is multiplied by the scale, the potential by its square
    const double unit = index == 0 ? 1.0 / (scale * scale) : index < 4 ? milligal / scale : eotvos;
    plan.factor[i] = 2.0 * constant * unit;
  }
  return plan;
}

double budget_of(const Options& options, std::size_t available, std::size_t allocated) {
  const auto free_bytes = static_cast<double>(available);
  if (options.memory_budget == 0) return free_bytes;
  return std::min(free_bytes,
                  static_cast<double>(options.memory_budget) - static_cast<double>(allocated));
}

void check_budget(double bytes, double budget, const std::string& what) {
  if (bytes <= budget) return;
  throw MemoryError(concat(what, ": ", format_bytes(bytes),
                           " (allowed: ", format_bytes(budget < 0.0 ? 0.0 : budget),
                           "): allow more memory, or take fewer stations at a time"));
}

void check_options(const Options& options, const Components& components, std::size_t stations,
                   std::size_t rows, std::size_t columns) {
  if (rows != components.size() || columns != stations) {
    throw InputError(concat("results: the shape is ", rows, " x ", columns, " (allowed: ",
                            components.size(), " x ", stations, ", components x stations)"));
  }
  if (!std::isfinite(options.constant) || options.constant == 0.0) {
    throw InputError(concat("constant: ", options.constant,
                            " (allowed: finite and not zero; 6.6743e-11 m^3/(kg s^2))"));
  }
  if (std::isnan(options.far_tolerance) || options.far_tolerance > 1e-2) {
    throw InputError(concat("far_tolerance: ", options.far_tolerance,
                            " (allowed: 0 to 0.01, or negative for the precision's own)"));
  }
  if (options.team_size < 0 || options.team_size > 1024 || options.teams < 0) {
    throw InputError(concat("team_size, teams: ", options.team_size, ", ", options.teams,
                            " (allowed: a team of 1 to 1024 threads, 1 team or more, or 0)"));
  }
}

void check_team_size(int team_size, int largest) {
  if (team_size <= largest) return;
  throw InputError(concat("team_size: ", team_size, " (allowed: at most ", largest,
                          ", what this kernel's registers and scratch leave room for, or 0)"));
}

void refuse_overlaps(const double* rows, std::int64_t count) {
  const auto overlap = find_overlap(rows, count);
  if (!overlap) return;
  throw InputError(concat("prisms: rows ", overlap->first, " and ", overlap->second,
                          " (counted from 0) overlap (allowed: prisms that share faces at most): "
                          "cut them, or leave the check out"));
}

Threads private_threads(bool host, int threads, const Options& options, std::int64_t prisms,
                        double bytes_a_grid, double left) {
  const std::int64_t fit =
      static_cast<std::int64_t>(std::max(0.0, std::floor(left / bytes_a_grid)));
  const auto no_room = [&](std::int64_t wanted) {
    return MemoryError(
        concat("by_prisms: ", counted(wanted, "private grid takes", "private grids take"), " ",
               format_bytes(bytes_a_grid * static_cast<double>(wanted)), ", ",
               format_bytes(std::max(0.0, left)), " are allowed, in which ", fit,
               fit == 1 ? " fits" : " fit",
               ": take fewer teams or a smaller team size, or another strategy"));
  };
  int team_size = options.team_size, teams = options.teams;
  if (host) {
    if (team_size <= 0) team_size = 1;
    if (teams <= 0) {
      const std::int64_t max =
          std::min<std::int64_t>({threads, prisms, std::max<std::int64_t>(fit, 1)});
      teams = static_cast<int>(std::max<std::int64_t>(1, max / team_size));
    }
  } else {
    if (team_size <= 0) team_size = 128;
    if (teams <= 0) {
      const std::int64_t max = std::min<std::int64_t>({threads / 16, prisms, fit});
      if (max < 1) throw no_room(1);
      if (max < team_size) team_size = static_cast<int>(max);
      teams = static_cast<int>(max / team_size);
    }
  }
  const std::int64_t wanted = static_cast<std::int64_t>(teams) * team_size;
  if (wanted > fit) throw no_room(wanted);
  return {teams, team_size};
}

}  // namespace moho::gravity::detail
