// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Content of SEG-Y files for tests.

#include "files.hpp"

namespace moho::io::test {

/// Content of a SEG-Y file; byte positions are those of the standard, counted from 1.
class SegyBytes {
 public:
  SegyBytes(int traces, int samples, int format, int width, bool little = false)
      : m_little(little), m_step(240 + static_cast<std::size_t>(samples * width)), m_width(width) {
    m_bytes.assign(3600 + static_cast<std::size_t>(traces) * m_step, '\0');
    m_bytes.replace(0, 3200, std::string(3200, '\x40'));  // blanks in EBCDIC
    m_bytes.replace(0, 6, "\xc3\x40\xf1\x40\xc8\xc9");    // C 1 HI
    binary16(3221, samples);
    binary16(3225, format);
  }

  SegyBytes& binary16(std::size_t position, int value) {
    return put(position - 1, static_cast<std::int16_t>(value));
  }
  SegyBytes& trace16(int trace, std::size_t position, int value) {
    return put(at(trace) + position - 1, static_cast<std::int16_t>(value));
  }
  SegyBytes& trace32(int trace, std::size_t position, std::int32_t value) {
    return put(at(trace) + position - 1, value);
  }
  template <class T>
  SegyBytes& sample(int trace, int index, T value) {
    return put(at(trace) + 240 + static_cast<std::size_t>(index * m_width), value);
  }
  const std::string& bytes() const { return m_bytes; }
  std::string& bytes() { return m_bytes; }

 private:
  std::size_t at(int trace) const { return 3600 + static_cast<std::size_t>(trace) * m_step; }
  template <class T>
  SegyBytes& put(std::size_t offset, T value) {
    m_bytes.replace(offset, sizeof(T), bytes_of(value, !m_little));
    return *this;
  }

  std::string m_bytes;
  bool m_little;
  std::size_t m_step;
  int m_width;
};

}  // namespace moho::io::test
