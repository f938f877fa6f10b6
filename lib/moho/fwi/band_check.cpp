// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/fwi/band_check.hpp>
#include <moho/fwi/misfit.hpp>

#include <cmath>
#include <cstddef>

namespace moho::fwi {

using text::significant;

namespace {

// Fractions of the data's root mean square: limits of the error and of the note.
constexpr double negligible = 1e-4, little = 1e-2;

double sum_of_squares(const std::vector<float>& samples) {
  double sum = 0.0;
  for (const float value : samples) sum += static_cast<double>(value) * value;
  return sum;
}

}  // namespace

void check_bands(const std::vector<double>& bands, double time, const ArgumentNames& names) {
  for (const double band : bands) {
    if (band * time >= 1.0) continue;
    throw InputError(concat(names("bands"), ": ", band, " Hz has a period of ",
                            significant(1.0 / band, 3), " s, and the record is ",
                            significant(time, 3), " s long (allowed: from ",
                            significant(1.0 / time, 3),
                            " Hz, a period in the record): take higher frequencies, or longer "
                            "data"));
  }
}

void BandCheck::add(const std::vector<float>& samples, std::int64_t count, double dt) {
  m_all += sum_of_squares(samples);
  for (std::size_t b = 0; b < m_bands.size(); ++b) {
    std::vector<float> filtered = samples;
    if (m_bands[b] < 0.5 / dt) low_pass(filtered, count, dt, m_bands[b]);
    m_in_band[b] += sum_of_squares(filtered);
  }
}

std::vector<std::string> BandCheck::notes() const {
  std::vector<std::string> notes;
  for (std::size_t b = 0; b < m_bands.size(); ++b) {
    const double part = m_all > 0.0 ? std::sqrt(m_in_band[b] / m_all) : 1.0;
    if (part >= little) continue;
    const std::string text = concat("below ", m_bands[b], " Hz ", significant(100.0 * part, 2),
                                    " % of the data's amplitude is left");
    if (part < negligible) {
      throw InputError(concat(m_names("bands"), ": ", text, " (allowed: from ", 100.0 * negligible,
                              " %): take higher frequencies"));
    }
    notes.push_back("note: " + text);
  }
  return notes;
}

}  // namespace moho::fwi
