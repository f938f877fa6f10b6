// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Files of a survey: index of shots and traces, and reading of samples.

#include <moho/core/grid.hpp>
#include <moho/io/segy.hpp>
#include <moho/survey/gathers.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace moho::survey::detail {

/// Shot with positions of three coordinates.
struct RawShot {
  std::size_t file = 0;              ///< index in the list of paths
  std::int64_t number = 0;           ///< field record
  Points<3> sources, receivers;      ///< x, y, depth; metres
  std::vector<std::int64_t> traces;  ///< trace of each receiver in the file, from 0
  double t0 = 0.0;                   ///< s
};

/// Index of the files of a survey, and reader of their traces.
class SurveyFiles {
 public:
  /// Reads all headers. \throws InputError, FileError as the constructor of Survey
  SurveyFiles(const std::filesystem::path& path, const SurveyOptions& options);

  std::vector<RawShot> shots;      ///< in the order of the files
  std::vector<std::string> notes;  ///< properties, corrections and omissions, as text
  double interval = 0.0;           ///< sampling interval, s
  std::int64_t samples = 0;        ///< samples of each trace
  bool two_dimensional = false;    ///< true if positions have no y

  /// Returns the name of a shot for messages.
  std::string name_of(const RawShot& shot) const;

  /// Returns the samples of a shot, trace after trace.
  std::vector<float> read(const RawShot& shot) const;

 private:
  [[noreturn]] static void refuse_shape(const std::filesystem::path& path,
                                        const std::vector<std::int64_t>& shape,
                                        const std::string& wanted);

  void check_samples(const std::filesystem::path& path, std::int64_t found) const;

  void open_folder(const std::filesystem::path& folder);

  // ---- SEG-Y ----

  // Returns the length unit of a file in m.
  double unit_of(const io::SegyReader& reader);

  // Sets the sampling interval in microseconds from a header. Throws FileError if headers differ.
  void take_interval(const io::SegyReader& reader, std::int64_t trace, std::int32_t stated);

  // Returns the source depth in the unit of the file.
  double source_depth(const io::SegyReader& reader, std::int64_t number,
                      const io::SegyTrace& trace) const;

  void index_segy(const std::filesystem::path& path);

  // ---- model_waves ----

  // Throws InputError for options of SEG-Y headers.
  void refuse_header_options(const std::filesystem::path& path) const;

  void index_summary(const std::filesystem::path& path);

  // ---- both ----

  // Throws FileError for two receivers of a shot at one position.
  void check_duplicates(const RawShot& shot) const;

  void finish();

  SurveyOptions m_options;
  std::vector<std::filesystem::path> m_paths;  // SEG-Y files, or the .npy file of each shot
  bool m_segy = true;
  bool m_feet = false;
  bool m_no_dimension = true;
  double m_seconds = 0.0;                           // interval of summary.json, s
  std::int32_t m_microseconds = 0;                  // interval of SEG-Y headers
  std::string m_interval_location;                  // header with the interval
  std::string m_source;                             // summary.json
  std::map<std::int32_t, std::int64_t> m_left_out;  // omitted traces by identification
  mutable std::optional<io::SegyReader> m_reader;   // most recently read file
  mutable std::size_t m_open = 0;
};

}  // namespace moho::survey::detail
