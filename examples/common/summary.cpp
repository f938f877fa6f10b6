// SPDX-License-Identifier: BSD-3-Clause
#include "summary.hpp"

#include <moho/core/space.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <ctime>

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
  return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
#else
  return {};
#endif
}
}  // namespace

std::string version_text(const std::string& program) {
  std::string spaces;
  for (const std::string& name : space_names()) spaces += (spaces.empty() ? "" : ", ") + name;
  std::string text = fmt::format("{} of moho {}\nKokkos {} ({}), {}", program, MOHO_VERSION,
                                 kokkos_version(), spaces, compiler());
  if (!cuda_toolkit().empty()) text += ", CUDA " + cuda_toolkit();
  return text + "\n";
}

nlohmann::ordered_json versions() {
  nlohmann::ordered_json json;
  json["moho"] = MOHO_VERSION;
  json["kokkos"] = kokkos_version();
  json["compiler"] = compiler();
  if (!cuda_toolkit().empty()) json["cuda"] = cuda_toolkit();
  json["spaces"] = space_names();
  return json;
}

nlohmann::ordered_json machine() {
  nlohmann::ordered_json json;
  const std::time_t now = std::time(nullptr);
  char date[32] = "";
  std::tm parts{};
  if (gmtime_r(&now, &parts) != nullptr) {
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  json["date"] = date;
  json["processor"] = device_name(Kokkos::DefaultHostExecutionSpace());
  json["processors"] = std::thread::hardware_concurrency();
  return json;
}

nlohmann::ordered_json seconds(const PhaseTimes& times) {
  nlohmann::ordered_json json;
  for (const auto& [phase, value] : times.phases()) json[phase] = value;
  json["total"] = times.total();
  return json;
}

std::string format_seconds(double seconds) {
  if (seconds < 0.9995e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 60.0) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string format_count(double count) {
  for (const auto& [unit, name] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (std::abs(count) >= unit) return fmt::format("{:.3g} {}", count / unit, name);
  }
  return fmt::format("{:.3g} ", count);
}

}  // namespace moho::examples
