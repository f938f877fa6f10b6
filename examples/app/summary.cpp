// SPDX-License-Identifier: BSD-3-Clause
#include "app/summary.hpp"

#include "app/format.hpp"
#include "app/waiting.hpp"

#include <moho/core/space.hpp>
#include <moho/core/threads.hpp>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>

#ifndef MOHO_VERSION
#define MOHO_VERSION "unknown"
#endif

namespace moho::examples {

namespace {
std::string compiler() {
#if defined(__clang__)
  return std::string("Clang ") + __clang_version__;
#elif defined(__GNUC__)
  return std::string("GCC ") + __VERSION__;
#else
  return "unknown";
#endif
}

std::string cuda_toolkit() {
#ifdef CUDART_VERSION
  return concat(CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10);
#else
  return {};
#endif
}
}  // namespace

std::string version_text(const std::string& program) {
  std::string spaces;
  for (const std::string& name : space_names()) spaces += (spaces.empty() ? "" : ", ") + name;
  std::string text = concat(program, " of moho ", MOHO_VERSION, "\nKokkos ", kokkos_version(), " (",
                            spaces, "), ", compiler());
  if (!cuda_toolkit().empty()) text += ", CUDA " + cuda_toolkit();
  return text + "\n";
}

void flush_output() {
  const bool lost = std::ferror(stdout) != 0;
  if (!lost) errno = 0;
  if (std::fflush(stdout) == 0 && !lost) return;
  throw Error(concat("standard output: what was printed could not be written (",
                     errno != 0 ? std::strerror(errno) : "an earlier line was lost",
                     "): look at where it goes"));
}

Json versions(const Json& more) {
  Json json;
  json["moho"] = MOHO_VERSION;
  json["kokkos"] = kokkos_version();
  json["compiler"] = compiler();
  if (!cuda_toolkit().empty()) json["cuda"] = cuda_toolkit();
  json["spaces"] = space_names();
  json.merge(more);
  return json;
}

Json machine() {
  Json json;
  const std::time_t now = std::time(nullptr);
  char date[32] = "";
  std::tm parts{};
  if (gmtime_r(&now, &parts) != nullptr) {
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  json["date"] = date;
  json["processor"] = device_name(Instance<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace()));
  json["processors"] = std::thread::hardware_concurrency();
  json["threads_wait"] = waiting();
  if (const std::string warning = host_threads_warning(); !warning.empty()) {
    json["warning"] = warning;
  }
  return json;
}

Json seconds(const PhaseTimes& times) {
  Json json;
  for (const auto& [phase, value] : times.phases()) json[phase] = value;
  json["total"] = times.total();
  return json;
}

Json stages_json(const Timeline& timeline) {
  Json stages = Json::array();
  for (const auto& total : timeline.totals()) {
    stages.push_back(Json::object({{"stage", total.stage},
                                   {"seconds", total.seconds},
                                   {"spans", total.spans},
                                   {"bytes", total.bytes}}));
  }
  return stages;
}

std::string format_count(double count) {
  constexpr double units[] = {1e12, 1e9, 1e6, 1e3};
  constexpr const char* names[] = {"T", "G", "M", "k"};
  for (int k = 0; k < 4; ++k) {
    if (std::abs(count) >= units[k]) return significant(count / units[k], 3) + " " + names[k];
  }
  return significant(count, 3) + " ";
}

}  // namespace moho::examples
