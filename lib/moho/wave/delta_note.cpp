// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/wave/delta_note.hpp>

#include <algorithm>
#include <cstddef>

namespace moho::wave {

template <class T>
std::int64_t clamped_delta_nodes(std::span<const T> epsilon, std::span<const T> delta) {
  std::int64_t nodes = 0;
  for (std::size_t i = 0; i < std::max(epsilon.size(), delta.size()); ++i) {
    const T e = epsilon.empty() ? T(0) : epsilon[i], d = delta.empty() ? T(0) : delta[i];
    nodes += d > e ? 1 : 0;
  }
  return nodes;
}

template std::int64_t clamped_delta_nodes<float>(std::span<const float>, std::span<const float>);
template std::int64_t clamped_delta_nodes<double>(std::span<const double>, std::span<const double>);

std::string note_of_clamped_deltas(std::int64_t nodes) {
  if (nodes == 0) return {};
  return concat("delta is larger than epsilon at ", text::counted(nodes, "node"),
                " and lowered to it there, which the self-adjoint equations need");
}

template <class T>
std::string note_of_clamped_deltas(const std::map<std::string, std::vector<T>>& values,
                                   Equations equations) {
  if (equations != Equations::self_adjoint) return {};
  const auto nodes = [&](Parameter parameter) {
    const auto found = values.find(info(parameter).option);
    return found == values.end() ? std::span<const T>() : std::span<const T>(found->second);
  };
  return note_of_clamped_deltas(
      clamped_delta_nodes<T>(nodes(Parameter::epsilon), nodes(Parameter::delta)));
}

template std::string note_of_clamped_deltas(const std::map<std::string, std::vector<float>>&,
                                            Equations);
template std::string note_of_clamped_deltas(const std::map<std::string, std::vector<double>>&,
                                            Equations);

}  // namespace moho::wave
