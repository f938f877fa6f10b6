// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Contributions of shots as bytes, and their sums, for messages between processes.

#include <moho/core/binned_sum.hpp>
#include <moho/core/error.hpp>
#include <moho/fwi/objective_types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace moho::fwi {

/// Returns a contribution as bytes, in the byte order of this machine.
template <class T>
std::string pack(const ShotContribution<T>& contribution) {
  const auto& c = contribution;
  const double numbers[] = {static_cast<double>(c.shot), c.misfit, c.points, c.forward_seconds,
                            c.backward_seconds};
  std::string bytes(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  bytes.append(reinterpret_cast<const char*>(c.values.data()), c.values.size() * sizeof(T));
  return bytes;
}
/// Returns the contribution of pack(). \throws InputError for too few bytes
template <class T>
ShotContribution<T> unpack_contribution(const std::string& bytes) {
  double numbers[5];
  if (bytes.size() < sizeof(numbers) || (bytes.size() - sizeof(numbers)) % sizeof(T) != 0) {
    throw InputError(concat("contribution: ", bytes.size(), " bytes (allowed: those of pack())"));
  }
  std::memcpy(numbers, bytes.data(), sizeof(numbers));
  ShotContribution<T> c{static_cast<std::size_t>(numbers[0]),
                        numbers[1],
                        numbers[2],
                        numbers[3],
                        numbers[4],
                        std::vector<T>((bytes.size() - sizeof(numbers)) / sizeof(T))};
  if (c.values.empty()) return c;
  std::memcpy(c.values.data(), bytes.data() + sizeof(numbers), c.values.size() * sizeof(T));
  return c;
}

/// Returns the state of a sum as bytes, in the byte order of this machine.
inline std::string pack(const BinnedSumState& state) {
  const std::int64_t numbers[] = {state.terms, state.finite ? 1 : 0, state.top};
  std::string bytes(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  for (const auto* digits : {&state.upper, &state.lower}) {
    bytes.append(reinterpret_cast<const char*>(digits->data()),
                 digits->size() * sizeof(std::int64_t));
  }
  return bytes;
}
/// Returns the state of pack(). \throws InputError for another number of bytes
inline BinnedSumState unpack_sum_state(const std::string& bytes) {
  std::int64_t numbers[3];
  const std::size_t digits = bytes.size() < sizeof(numbers) ? 1 : bytes.size() - sizeof(numbers);
  if (digits % (2 * sizeof(std::int64_t)) != 0) {
    throw InputError(concat("sum: ", bytes.size(), " bytes (allowed: those of pack())"));
  }
  std::memcpy(numbers, bytes.data(), sizeof(numbers));
  BinnedSumState state;
  state.terms = numbers[0];
  state.finite = numbers[1] != 0;
  state.top = static_cast<int>(numbers[2]);
  const char* from = bytes.data() + sizeof(numbers);
  for (auto* part : {&state.upper, &state.lower}) {
    part->resize(digits / (2 * sizeof(std::int64_t)));
    if (digits > 0) std::memcpy(part->data(), from, digits / 2);
    from += digits / 2;
  }
  return state;
}

/// Adds the shot, misfit, nodes and seconds of a contribution to a sum that has its values.
template <class T>
void add_numbers(ContributionSum& sum, const ShotContribution<T>& contribution) {
  sum.shots.push_back(contribution.shot);
  sum.misfits.push_back(contribution.misfit);
  sum.points += contribution.points;
  sum.forward_seconds += contribution.forward_seconds;
  sum.backward_seconds += contribution.backward_seconds;
}

}  // namespace moho::fwi
