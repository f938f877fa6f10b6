// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Surveys of shot gathers in files, with changed bytes of their headers.

#include "io/files.hpp"

#include <moho/io/segy.hpp>
#include <moho/survey/gathers.hpp>

#include <string>
#include <vector>

namespace moho::survey::test {

using io::test::Folder;
using io::test::message_of;

/// Samples of each trace of line_of().
inline constexpr int samples_of_trace = 6;

/// Returns gathers of shots 100 m apart, with receivers every 20 m at smaller x.
///
/// Sources are 6 m and receivers 8 m deep. Sample i of trace k of shot s is 100 s + 10 k + i + 1.
inline std::vector<io::Gather<float>> line_of(int shots, int receivers) {
  std::vector<io::Gather<float>> gathers;
  for (int s = 0; s < shots; ++s) {
    io::Gather<float> gather;
    gather.record = 11 + s;
    gather.source_x = 1000.0 + 100.0 * s;
    gather.source_depth = 6.0;
    gather.interval = 0.004;
    gather.samples.shape = {receivers, samples_of_trace};
    for (int k = 0; k < receivers; ++k) {
      gather.receiver_x.push_back(gather.source_x - 50.0 - 20.0 * k);
      gather.receiver_y.push_back(0.0);
      gather.receiver_elevation.push_back(-8.0);
      for (int i = 0; i < samples_of_trace; ++i) {
        gather.samples.data.push_back(static_cast<float>(100 * s + 10 * k + i + 1));
      }
    }
    gathers.push_back(gather);
  }
  return gathers;
}

/// Folder with a file of gathers, whose headers can be changed.
class Gathers : public ::testing::Test {
 protected:
  void write(const std::vector<io::Gather<float>>& gathers, const std::string& name = "a.sgy") {
    io::write_gathers(folder / name, gathers);
    file = name;
  }
  /// Writes a big-endian number at a byte of the file's headers, counted from 1.
  template <class T>
  void binary(std::size_t byte, T value) {
    put(byte - 1, value);
  }
  /// Writes a big-endian number at a byte of the header of a trace, counted from 0.
  template <class T>
  void trace(int number, std::size_t byte, T value) {
    put(3600 + static_cast<std::size_t>(number) * (240 + 4 * samples_of_trace) + byte - 1, value);
  }
  void trace16(int number, std::size_t byte, int value) {
    trace(number, byte, static_cast<std::int16_t>(value));
  }
  template <int Dim = 2>
  Survey<Dim> survey(const SurveyOptions& options = {}) {
    return Survey<Dim>(folder / file, options);
  }
  template <int Dim = 2>
  std::string refusal(const SurveyOptions& options = {}) {
    return message_of<FileError>([&] { (void)survey<Dim>(options); });
  }

  Folder folder;
  std::string file;

 private:
  template <class T>
  void put(std::size_t offset, T value) {
    std::string bytes = io::test::get_file(folder / file);
    bytes.replace(offset, sizeof(T), io::test::bytes_of(value, true));
    io::test::put_file(folder / file, bytes);
  }
};

}  // namespace moho::survey::test
