// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/angles.hpp>
#include <moho/core/text.hpp>
#include <moho/gravity/magnetic.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

namespace moho::gravity {

MagneticComponents parse_magnetic_components(std::string_view names) {
  const std::string allowed = " (allowed: all, or some of total, bx, by, bz, separated by commas)";
  if (names == "all") return all_magnetic_components();
  MagneticComponents components;
  std::string_view rest = names;
  for (;;) {
    const auto comma = rest.find(',');
    std::string_view piece = rest.substr(0, comma);
    while (!piece.empty() && piece.front() == ' ') piece.remove_prefix(1);
    while (!piece.empty() && piece.back() == ' ') piece.remove_suffix(1);
    bool found = false;
    for (const MagneticComponent c : all_magnetic_components()) {
      if (piece != to_string(c)) continue;
      found = true;
      if (std::find(components.begin(), components.end(), c) != components.end()) {
        throw InputError(concat("components: '", piece, "' is named twice in '", names,
                                "' (allowed: each once): leave one out"));
      }
      components.push_back(c);
    }
    if (!found) {
      throw InputError(concat("components: '", piece, "' is no magnetic component", allowed));
    }
    if (comma == std::string_view::npos) return components;
    rest.remove_prefix(comma + 1);
  }
}

AmbientField parse_ambient_field(std::string_view text) {
  std::vector<double> numbers;
  for (const std::string& piece : moho::text::split(text, ',')) {
    const std::optional<double> number = moho::text::to_number(piece);
    if (!number) numbers.clear();
    if (!number) break;
    numbers.push_back(*number);
  }
  if (numbers.size() != 3) {
    throw InputError(concat("field: '", text,
                            "' is not three numbers (allowed: intensity in nT, inclination and "
                            "declination in degrees, such as 50000,60,2)"));
  }
  const AmbientField ambient{numbers[0], numbers[1], numbers[2]};
  detail::check_ambient(ambient);
  return ambient;
}

void check_direction(std::string_view argument, double inclination, double declination) {
  if (!(std::abs(inclination) <= 90.0)) {
    throw InputError(concat(argument, ": the inclination is ", inclination,
                            " (allowed: -90 to 90 degrees, positive downwards)"));
  }
  if (!(std::abs(declination) <= 360.0)) {
    throw InputError(concat(argument, ": the declination is ", declination,
                            " (allowed: -360 to 360 degrees from x towards y)"));
  }
}

Kokkos::Array<double, 3> direction_of(double inclination, double declination) {
  const auto [sin_i, cos_i] = sine_and_cosine(inclination);
  const auto [sin_d, cos_d] = sine_and_cosine(declination);
  return {cos_i * cos_d, cos_i * sin_d, sin_i};
}

Kokkos::Array<double, 3> unit_magnetisation(const AmbientField& ambient) {
  Kokkos::Array<double, 3> vector = direction_of(ambient.inclination, ambient.declination);
  for (int n = 0; n < 3; ++n) vector[n] *= 1e-9 * ambient.intensity / (4e-7 * std::numbers::pi);
  return vector;
}

namespace detail {

void check_ambient(const AmbientField& ambient) {
  if (!(ambient.intensity > 0.0 && ambient.intensity <= 1e9)) {
    throw InputError(concat("field: the intensity is ", ambient.intensity,
                            " nT (allowed: more than 0, at most 1e9; that of the Earth is 22000 to "
                            "67000)"));
  }
  check_direction("field", ambient.inclination, ambient.declination);
}

void check_magnetic(const MagneticComponents& components, const AmbientField& ambient,
                    Strategy strategy, std::size_t stations, std::size_t rows,
                    std::size_t columns) {
  if (components.empty()) {
    throw InputError("components: the list is empty (allowed: 1 to 4 of total, bx, by, bz)");
  }
  for (std::size_t c = 0; c < components.size(); ++c) {
    if (std::find(components.begin(), components.begin() + static_cast<std::ptrdiff_t>(c),
                  components[c]) != components.begin() + static_cast<std::ptrdiff_t>(c)) {
      throw InputError(concat("components: ", to_string(components[c]),
                              " is named twice (allowed: each once): leave one out"));
    }
  }
  if (rows != components.size() || columns != stations) {
    throw InputError(concat("results: the shape is ", rows, " x ", columns, " (allowed: ",
                            components.size(), " x ", stations, ", components x stations)"));
  }
  check_ambient(ambient);
  if (strategy != Strategy::automatic && strategy != Strategy::tiles &&
      strategy != Strategy::by_stations) {
    throw InputError(concat("strategy: ", to_string(strategy),
                            " has no magnetic fields (allowed: automatic, tiles, by_stations): "
                            "take automatic"));
  }
}

void refuse_susceptibility(std::int64_t row, double value) {
  throw InputError(concat("prisms: row ", row, " (counted from 0): the susceptibility is ", value,
                          " (allowed: more than -1, at most ", max_susceptibility,
                          ", in SI units): mend it"));
}

void refuse_remanence(std::int64_t i, double value) {
  throw InputError(concat("remanence: row ", i / 3, " (counted from 0): the magnetisation along ",
                          "xyz"[i % 3], " is ", value, " A/m (allowed: finite numbers, at most ",
                          max_magnetisation, ")"));
}

void refuse_inner_station(std::int64_t row, double x, double y, double z) {
  throw InputError(concat("stations: row ", row, " (counted from 0), x = ", x, ", y = ", y,
                          ", z = ", z,
                          " m, is inside of a magnetised prism (allowed: outside, or "
                          "on a face): move it, or leave that prism out"));
}

void check_remanence(std::size_t rows, std::int64_t prisms) {
  if (rows == 0 || static_cast<std::int64_t>(rows) == prisms) return;
  throw InputError(concat("remanence: there are ", rows, " rows (allowed: ", prisms,
                          ", one a prism, or no rows): mend the list"));
}

}  // namespace detail

}  // namespace moho::gravity
