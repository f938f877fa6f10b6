// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Surveys of shot gathers: where shots and receivers are, found from headers, and traces
/// that are read shot by shot.
///
/// What headers mean, and what is done to them, stands in docs/theory/migration_data.md.

#include <moho/wave/geometry.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace moho::survey {

/// What the elevations of trace headers are.
enum class Elevations {
  standard,  ///< heights above the datum: depth is source depth minus elevation
  depth      ///< depths below the datum, positive down, as some programs write them
};

/// "standard", "depth".
inline const char* to_string(Elevations elevations) {
  return elevations == Elevations::standard ? "standard" : "depth";
}

/// What elevations are, by its name. \throws InputError
Elevations parse_elevations(const std::string& name);

/// The unit of the lengths in trace headers.
enum class LengthUnit {
  automatic,  ///< as the file says; metres where it says nothing
  metres,     ///< metres, whatever the file says
  feet        ///< international feet of 0.3048 m, whatever the file says
};

/// A unit by its name, "auto", "m" or "ft". \throws InputError
LengthUnit parse_length_unit(const std::string& name);

/// \brief The line along which a model of two dimensions sees the positions of a survey.
///
/// Positions of three coordinates are projected on it; how far they lie off it is reported.
struct SurveyLine {
  /// How the line is given.
  enum class Kind {
    automatic,  ///< the direction in which the points spread most, measured from the first point
                ///< along it; x itself, as it is, where that direction is within 0.6 degrees of x
    angle,      ///< so many degrees from x towards y; measured from the origin of the coordinates
    points      ///< from a point, where the distance along the line is zero, towards another one
  };
  Kind kind = Kind::automatic;    ///< how the line is given
  double degrees = 0.0;           ///< of an angle
  std::array<double, 2> first{};  ///< (x, y), metres
  std::array<double, 2> last{};   ///< (x, y), metres
};

/// \brief Reads "auto", "30" (degrees from x towards y; 0 takes x as it is) or "x,y:x,y" (from a
/// point towards another one). \throws InputError with the forms that are allowed
SurveyLine parse_survey_line(const std::string& text);

/// Options of Survey.
struct SurveyOptions {
  Elevations elevations = Elevations::standard;   ///< what elevations in headers are
  LengthUnit unit = LengthUnit::automatic;        ///< of coordinates, elevations and depths
  SurveyLine line = {};                           ///< on which 2D models see the survey
  std::array<double, 3> origin = {0.0, 0.0, 0.0}; /**< the model's (0, 0, 0) in the survey's x, y
                                                    and depth, metres; in 2D the first number is a
                                                    distance along the line, the second is unused */
  double interval = 0.0;          ///< seconds between samples, whatever files say; 0: as they say
  bool keep_zero_traces = false;  ///< keep traces all of whose samples are zero
};

/// A shot's traces as its file has them.
template <int Dim>
struct ShotGather {
  wave::Shot<Dim> shot;  ///< number, sources, receivers in the order of `samples`; there may be
                         ///< no receiver left, where all traces are zero
  std::vector<float> samples;        ///< receivers x count
  std::int64_t count = 0;            ///< samples in a trace
  double dt = 0.0;                   ///< seconds between samples
  double t0 = 0.0;                   ///< seconds from the shot to the first sample
  std::vector<std::int64_t> traces;  ///< number of each trace in its file, counted from 1
  std::string name;                  ///< what messages call the shot: "'line.sgy', shot 12"
  std::vector<std::string> notes;    ///< what was done to it, in words
};

namespace detail {
class SurveyFiles;
}

/// \brief The shots of a survey, of which the headers are in memory and the traces in files.
///
/// Paths:
/// - a SEG-Y file of any number of shots (.sgy, .segy): traces with the same field record number
///   (bytes 9-12) and source position make a shot;
/// - a folder with the summary.json and gathers of model_waves, or that summary.json itself;
/// - a folder of SEG-Y files, which are taken in the order of their names.
///
/// Traces whose identification (bytes 29-30) says that they are no seismic data are left out and
/// counted in notes(). Shots are numbered by their field records where these are unique, else from
/// 1. Moves, does not copy; an object serves one thread at a time.
template <int Dim>
class Survey {
 public:
  /// Reads all headers and no trace.
  /// \throws FileError, which names the file and the trace, for what the formats' readers refuse;
  /// coordinates that are no lengths; intervals, numbers of samples or units that differ; several
  /// delays in one shot; two live traces of a shot at the same place
  /// \throws InputError for options out of range
  explicit Survey(const std::filesystem::path& path, const SurveyOptions& options = {});
  ~Survey();
  /// Takes over the survey of another one, which is of no use afterwards.
  Survey(Survey&&) noexcept;
  /// \overload
  Survey& operator=(Survey&&) noexcept;

  /// Number of shots.
  std::size_t size() const { return m_shots.size(); }
  /// The shots in the order of the files, without samples.
  const std::vector<wave::Shot<Dim>>& shots() const { return m_shots; }
  /// Seconds from shot `k` to its first sample.
  double t0(std::size_t k) const;
  /// Seconds between samples.
  double interval() const;
  /// Samples in every trace.
  std::int64_t samples() const;
  /// Seconds from a shot to the end of its data, the first shot's delay included.
  double duration() const;
  /// What was found and done, in words.
  const std::vector<std::string>& notes() const { return m_notes; }
  /// What messages call a shot: "'line.sgy', shot 12".
  std::string name(std::size_t k) const;

  /// \brief Leaves out the receivers that are outside of a grid, and shots with a source outside or
  /// without a receiver; notes() says how many.
  /// \throws InputError if no shot is left: the text compares positions with the grid, and proposes
  /// the other meaning of elevations where that would bring them inside
  void keep_inside(const Grid<Dim>& grid);

  /// \brief Reads the traces of shot `k`.
  /// \throws FileError for samples that are not finite, naming the trace, and for files that have
  /// changed or cannot be read
  ShotGather<Dim> read(std::size_t k) const;

 private:
  std::unique_ptr<detail::SurveyFiles> m_files;
  std::vector<wave::Shot<Dim>> m_shots;
  std::vector<std::size_t> m_index;  // of each shot in m_files
  std::vector<std::string> m_notes;
  SurveyOptions m_options;
};

}  // namespace moho::survey
