// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/text.hpp>
#include <moho/stream/slab_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace moho::stream {

using text::counted;

std::int64_t SlabPlan::max_bytes() const {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

std::string SlabPlan::text() const {
  std::string all;
  for (std::size_t g = 0; g < planes.size(); ++g) all += concat(g == 0 ? "" : ", ", planes[g]);
  const char* const each = ranks ? "rank" : "device";
  return concat("each shot in slabs on ", counted(planes.size(), each), ": ", all,
                " planes of the largest shot, up to ",
                format_bytes(static_cast<double>(max_bytes())), " on each ", each,
                " with snapshots");
}

TooManySlabs::TooManySlabs(std::int64_t devices, std::int64_t max, std::string condition,
                           const std::string& advice)
    : InputError(concat("devices is ", devices, " (allowed: up to ", max, ", so that ", condition,
                        ")", advice)),
      m_condition(std::move(condition)) {}

std::string device_numbers(const std::vector<std::int64_t>& numbers) {
  if (numbers.back() == static_cast<std::int64_t>(numbers.size()) && numbers.front() == 1) {
    return concat("up to ", numbers.back());
  }
  std::string all;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    all += concat(first == 0 ? "" : ", ", numbers[first]);
    if (last > first) all += concat(last > first + 1 ? " to " : ", ", numbers[last]);
    first = last + 1;
  }
  return all;
}

std::string dividing_numbers(const std::vector<std::int64_t>& numbers, std::int64_t ranks) {
  std::vector<std::int64_t> dividing;
  for (const std::int64_t number : numbers) {
    if (ranks % number == 0) dividing.push_back(number);
  }
  return dividing.empty() ? device_numbers(numbers) + ", which have to divide the number of ranks"
                          : device_numbers(dividing);
}

std::string bytes_rounded_up(double bytes) {
  double unit = 1.0;
  while (bytes / unit >= 1024.0) unit *= 1024.0;
  const double digit = unit * (bytes / unit < 10.0 ? 0.1 : 1.0);
  return format_bytes(std::ceil(bytes / digit) * digit);
}

}  // namespace moho::stream
