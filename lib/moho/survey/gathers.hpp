// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Surveys of shot gathers: geometry from trace headers, traces read shot by shot.
///
/// docs/theory/migration_data.md defines the use of headers.

#include <moho/core/argument_names.hpp>
#include <moho/wave/geometry.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace moho::survey {

/// Meaning of the elevations in trace headers.
enum class Elevations {
  standard,  ///< heights above the datum: depth is source depth minus elevation
  depth      ///< depths below the datum, positive down
};

/// Returns "standard" or "depth".
inline const char* to_string(Elevations elevations) {
  return elevations == Elevations::standard ? "standard" : "depth";
}

/// Returns the meaning of elevations with a name. \throws InputError for other names
Elevations parse_elevations(const std::string& name);

/// Unit of the lengths in trace headers.
enum class LengthUnit {
  automatic,  ///< the unit of the file; metres if the file gives no unit
  metres,     ///< metres, whatever the unit of the file
  feet        ///< international feet of 0.3048 m, whatever the unit of the file
};

/// Returns the unit with the name "auto", "m" or "ft". \throws InputError for other names
LengthUnit parse_length_unit(const std::string& name);

/// \brief Line on which the positions of a survey are projected for a two-dimensional model.
///
/// Survey::notes() reports the distances of positions from the line.
struct SurveyLine {
  /// Definition of the line.
  enum class Kind {
    automatic,  ///< direction of the largest spread of points; zero at the first point along it.
                ///< The x axis unchanged, if the direction is within 0.6 degrees of x
    angle,      ///< `degrees` from x towards y; zero at the origin of the coordinates
    points      ///< from `first`, where the distance is zero, towards `last`
  };
  Kind kind = Kind::automatic;    ///< definition of the line
  double degrees = 0.0;           ///< angle from x towards y, of Kind::angle
  std::array<double, 2> first{};  ///< (x, y), m, of Kind::points
  std::array<double, 2> last{};   ///< (x, y), m, of Kind::points
};

/// \brief Parses "auto", "30" (degrees from x towards y) or "x,y:x,y" (two points, in m).
///
/// An angle of 0 keeps x unchanged. \throws InputError with the allowed forms
SurveyLine parse_survey_line(const std::string& text);

/// Options of Survey.
struct SurveyOptions {
  Elevations elevations = Elevations::standard;   ///< meaning of elevations in headers
  LengthUnit unit = LengthUnit::automatic;        ///< of coordinates, elevations and depths
  SurveyLine line = {};                           ///< projection for 2D models
  std::array<double, 3> origin = {0.0, 0.0, 0.0}; /**< position of the model's (0, 0, 0)
                                                    in x, y and depth of the survey, m. In 2D:
                                                    distance along the line, unused, depth */
  double interval = 0.0;          ///< sampling interval in s instead of that of the files; 0: that
                                  ///< of the files
  bool keep_zero_traces = false;  ///< true: keep traces whose samples are all zero
  ArgumentNames names = {};       ///< names of arguments in messages
};

/// Traces of a shot as stored in its file.
template <int Dim>
struct ShotGather {
  wave::Shot<Dim> shot;        ///< number, sources, receivers in the order of `samples`; without
                               ///< receivers if all traces are zero
  std::vector<float> samples;  ///< receivers x count
  std::int64_t count = 0;      ///< samples in a trace
  double dt = 0.0;             ///< seconds between samples
  double t0 = 0.0;             ///< time of the first sample after the shot, s
  std::vector<std::int64_t> traces;  ///< number of each trace in its file, from 1
  std::string name;                  ///< name of the shot in messages: "'line.sgy', shot 12"
  std::vector<std::string> notes;    ///< corrections and omissions, as text
  bool two_dimensional = false;  ///< true for data modelled in two dimensions, as of line sources
};

namespace detail {
class SurveyFiles;
}

/// \brief Shots of a survey: headers in memory, traces in files.
///
/// Paths:
/// - a SEG-Y file (.sgy, .segy) of one or more shots. A shot consists of the traces with one field
///   record number (bytes 9-12) and one source position;
/// - a folder with the summary.json and gathers of model_waves, or that summary.json;
/// - a folder of SEG-Y files, read in the order of their names.
///
/// Traces whose identification (bytes 29-30) excludes seismic data are omitted and counted in
/// notes(). Shots have the numbers of their field records if these are unique, else 1, 2, ...
/// The class is movable, not copyable. One thread at a time may use an object.
template <int Dim>
class Survey {
 public:
  /// Reads all headers, without samples.
  /// \throws FileError naming file and trace: files that the readers of the formats reject;
  /// coordinates that are not lengths; differing intervals, numbers of samples or units; several
  /// delays in a shot; two live traces of a shot at one position
  /// \throws InputError for options out of range, or without effect on these positions
  explicit Survey(const std::filesystem::path& path, const SurveyOptions& options = {});
  ~Survey();
  /// Moves a survey; the source object may only be destroyed or assigned.
  Survey(Survey&&) noexcept;
  /// \overload
  Survey& operator=(Survey&&) noexcept;

  /// Number of shots.
  std::size_t size() const { return m_shots.size(); }
  /// Shots in the order of the files, without samples.
  const std::vector<wave::Shot<Dim>>& shots() const { return m_shots; }
  /// Time of the first sample of shot `k` after the shot, s.
  double t0(std::size_t k) const;
  /// Sampling interval, s.
  double interval() const;
  /// Number of samples of each trace.
  std::int64_t samples() const;
  /// Time from a shot to the last sample of the shot whose data end last, s. Delays count.
  double duration() const;
  /// Properties, corrections and omissions, as text.
  const std::vector<std::string>& notes() const { return m_notes; }
  /// Name of shot `k` in messages: "'line.sgy', shot 12".
  std::string name(std::size_t k) const;

  /// \brief Removes receivers outside a grid, and shots with a source outside or without receivers.
  ///
  /// Positions just outside move onto faces, see onto_faces(). notes() reports all numbers.
  /// \throws InputError if no shot remains. The text compares positions with the grid. It proposes
  /// the other meaning of elevations if all positions are then inside
  void keep_inside(const Grid<Dim>& grid);

  /// \brief Reads the traces of shot `k`: live receivers x samples.
  /// \throws FileError for samples that are not finite (with the number of the trace), and for
  /// changed or unreadable files
  ShotGather<Dim> read(std::size_t k) const;

 private:
  std::unique_ptr<detail::SurveyFiles> m_files;
  std::vector<wave::Shot<Dim>> m_shots;
  std::vector<std::size_t> m_index;  // index of each shot in m_files
  std::vector<std::string> m_notes;
  SurveyOptions m_options;
};

}  // namespace moho::survey
