// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The files of a survey of shot gathers: where its shots and traces are.

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

/// The end of a noun that is counted.
inline const char* plural(std::int64_t count) { return count == 1 ? "" : "s"; }

/// A shot with positions of three coordinates.
struct RawShot {
  std::size_t file = 0;              ///< in the list of paths
  std::int64_t number = 0;           ///< field record
  Points<3> sources, receivers;      ///< x, y, depth; metres
  std::vector<std::int64_t> traces;  ///< in the file, from 0; one a receiver
  double t0 = 0.0;                   ///< seconds
};

/// The files of a survey: their index, and traces out of them.
class SurveyFiles {
 public:
  /// Reads all headers. \throws InputError, FileError as Survey
  SurveyFiles(const std::filesystem::path& path, const SurveyOptions& options);

  std::vector<RawShot> shots;      ///< as files have them
  std::vector<std::string> notes;  ///< what was found, in words
  double interval = 0.0;           ///< seconds between samples
  std::int64_t samples = 0;        ///< of a trace
  bool two_dimensional = false;    ///< positions have no y

  /// What messages call a shot.
  std::string name_of(const RawShot& shot) const;

  /// Samples of the traces of a shot, one after the other.
  std::vector<float> read(const RawShot& shot) const;

 private:
  [[noreturn]] static void refuse_shape(const std::filesystem::path& path,
                                        const std::vector<std::int64_t>& shape,
                                        const std::string& wanted);

  void check_samples(const std::filesystem::path& path, std::int64_t found) const;

  void open_folder(const std::filesystem::path& folder);

  // ---- SEG-Y ----

  // Metres in a unit of the file's lengths.
  double unit_of(const io::SegyReader& reader);

  // Microseconds, from what the headers say.
  void take_interval(const io::SegyReader& reader, std::int64_t trace, std::int32_t stated);

  // Depths in the file's unit.
  double source_depth(const io::SegyReader& reader, std::int64_t number,
                      const io::SegyTrace& trace) const;

  void check_units(const io::SegyReader& reader, std::int64_t number, std::int32_t units) const;

  void index_segy(const std::filesystem::path& path);

  // ---- model_waves ----

  void index_summary(const std::filesystem::path& path);

  // ---- both ----

  // Throws for two receivers of a shot at the same place.
  void check_duplicates(const RawShot& shot) const;

  void finish();

  SurveyOptions m_options;
  std::vector<std::filesystem::path> m_paths;  // of each SEG-Y file, or of each shot's .npy
  bool m_segy = true;
  bool m_feet = false;
  bool m_no_dimension = true;
  double m_seconds = 0.0;                           // of summary.json
  std::int32_t m_microseconds = 0;                  // of SEG-Y
  std::string m_interval_place;                     // which header says so
  std::string m_source;                             // summary.json
  std::map<std::int32_t, std::int64_t> m_left_out;  // traces by identification
  mutable std::optional<io::SegyReader> m_reader;   // the file read last
  mutable std::size_t m_open = 0;
};

}  // namespace moho::survey::detail
