// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief SEG-Y files: traces with headers, shot gathers and models.
///
/// Reading follows SEG-Y revision 1 (SEG Technical Standards Committee, 2002), in both byte orders,
/// with fixed trace length. Coordinates and elevations are scaled by their scalars: a positive
/// scalar multiplies, a negative one divides, 0 means 1. Byte positions are those of the standard,
/// counted from 1.

#include <moho/io/array.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace moho::io {

/// Largest deviation of a trace of a model from its line, in spacings along the line. Coordinates
/// in headers are integers.
inline constexpr double line_tolerance = 0.05;

/// The fields of a trace header that moho uses.
struct SegyTrace {
  std::int32_t field_record = 0;      ///< original field record number (bytes 9-12)
  std::int32_t trace_number = 0;      ///< trace number within the field record (13-16)
  std::int32_t source_point = 0;      ///< energy source point number (17-20)
  std::int32_t ensemble = 0;          ///< ensemble (CDP) number (21-24)
  std::int32_t inline_number = 0;     ///< in-line number (189-192)
  std::int32_t crossline_number = 0;  ///< cross-line number (193-196)
  double source_x = 0.0;              ///< source coordinate X, scaled (73-76)
  double source_y = 0.0;              ///< source coordinate Y, scaled (77-80)
  double receiver_x = 0.0;            ///< group coordinate X, scaled (81-84)
  double receiver_y = 0.0;            ///< group coordinate Y, scaled (85-88)
  double cdp_x = 0.0;                 ///< ensemble coordinate X, scaled (181-184)
  double cdp_y = 0.0;                 ///< ensemble coordinate Y, scaled (185-188)
  double receiver_elevation = 0.0;    ///< receiver group elevation, scaled (41-44)
  double source_elevation = 0.0;      ///< surface elevation at the source, scaled (45-48)
  double source_depth = 0.0;          ///< source depth below the surface, scaled (49-52)
  double delay = 0.0;                 ///< delay recording time, scaled, milliseconds (109-110)
  std::int32_t identification = 0;    ///< trace identification: 1 seismic data, 2 dead (29-30)
  /// Units of coordinates (89-90): 0 unknown, 1 length, 2 seconds of arc, 3 and 4 degrees.
  std::int32_t coordinate_units = 0;
  std::int32_t samples = 0;   ///< number of samples of this trace (115-116); 0 if not stated
  std::int32_t interval = 0;  ///< sample interval of this trace (117-118); 0 if not stated
};

/// Contents of the headers of a SEG-Y file that are common to all traces.
struct SegyHeader {
  std::string text;            ///< textual header in ASCII, 40 lines ending with newlines
  bool little_endian = false;  ///< byte order of the file
  int format = 0;              ///< sample format code (3225-3226): 1 IBM, 5 IEEE; 2, 3, 8 integers
  int revision = 0;            ///< major revision (3501)
  bool fixed_length = false;   ///< true if all traces have the same length (3503-3504)
  /// Sample interval, microseconds for time (3217-3218); 0 if not stated.
  std::int32_t interval = 0;
  std::int32_t measurement_system = 0;  ///< 0 unknown, 1 metres, 2 feet (3255-3256)
  std::int64_t traces = 0;              ///< number of traces
  std::int64_t samples = 0;             ///< number of samples of each trace
};

/// An open SEG-Y file whose traces are read on request; the file may be larger than memory.
///
/// Traces are numbered from 0. An object is not thread-safe.
class SegyReader {
 public:
  /// Opens a file and reads its headers.
  ///
  /// The file must consist of the headers and an integer number of traces of equal length.
  /// \throws FileError
  explicit SegyReader(const std::filesystem::path& path);
  ~SegyReader();
  /// Takes over the open file of another reader, which may then only be destroyed or assigned to.
  SegyReader(SegyReader&&) noexcept;
  /// \overload
  SegyReader& operator=(SegyReader&&) noexcept;

  /// Returns the path as given, for messages.
  const std::string& name() const;
  /// Returns the headers common to all traces.
  const SegyHeader& header() const;
  /// Reads the header of a trace.
  /// \throws FileError, also if it states another number of samples than the headers of the file
  SegyTrace trace(std::int64_t number) const;
  /// Reads the header().samples samples of a trace. T: float or double. \throws FileError
  template <class T>
  void read(std::int64_t number, T* samples) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// Contents of a SEG-Y file. T: float or double.
template <class T>
struct SegyFile {
  std::string text;            ///< textual header in ASCII, 40 lines ending with newlines
  bool little_endian = false;  ///< byte order of the file
  int format = 0;              ///< sample format code (3225-3226): 1 IBM, 5 IEEE; 2, 3, 8 integers
  int revision = 0;            ///< major revision (3501)
  /// Sample interval as in the file, microseconds for time; 0 if unknown. It is read from the
  /// binary header (3217-3218), else from the first trace.
  std::int32_t interval = 0;
  /// Units of coordinates (89-90): 0 unknown, 1 length, 2 seconds of arc, 3 and 4 degrees.
  std::int32_t coordinate_units = 0;
  std::int32_t measurement_system = 0;  ///< 0 unknown, 1 metres, 2 feet (3255-3256)
  std::vector<SegyTrace> headers;       ///< one per trace
  Array<T> samples;                     ///< traces x samples
};

/// Reads a SEG-Y file.
///
/// Sample formats are 1 (IBM), 5 (IEEE), 2, 3 and 8 (integers). The file must consist of the
/// headers and an integer number of traces, which is checked before memory is allocated. A trace
/// whose header states another number of samples (115-116; 0: as in the file) than the binary
/// header (3221-3222), also in a file of fixed trace length, and a variable number of extended
/// textual headers are errors.
/// \throws FileError
template <class T>
SegyFile<T> read_segy(const std::filesystem::path& path);

/// Refuses coordinates that are not lengths.
///
/// \param name name of the file, for messages
/// \param number number of the trace, from 0
/// \param units code of the trace (bytes 89-90): 1 lengths, or 0, not stated, are allowed
/// \throws FileError
void check_lengths(const std::string& name, std::int64_t number, std::int32_t units);

/// The traces of a shot.
template <class T>
struct Gather {
  std::int32_t record = 0;         ///< field record number
  double source_x = 0.0;           ///< x coordinate of the source, m
  double source_y = 0.0;           ///< y coordinate of the source, m
  double source_elevation = 0.0;   ///< surface elevation at the source, m
  double source_depth = 0.0;       ///< source depth below the surface, m
  double interval = 0.0;           ///< sample interval in seconds; 0 if the file does not state it
  double delay = 0.0;              ///< time of the first sample after the shot, in seconds
  std::vector<double> receiver_x;  ///< x coordinate, m, one per trace
  std::vector<double> receiver_y;  ///< y coordinate, m, one per trace
  std::vector<double> receiver_elevation;  ///< elevation, m, one per trace
  Array<T> samples;                        ///< traces x samples
};

/// Reads shot records. T: float or double.
///
/// Traces with the same field record number and source position form a gather. Gathers are in the
/// order of their first traces in the file, and traces in the order of the file. Positions are in
/// metres; those of files in feet (bytes 3255-3256) are converted.
/// \throws FileError, also if coordinates are not lengths, a record has several delays or a trace
/// another interval than the file
template <class T>
std::vector<Gather<T>> read_gathers(const std::filesystem::path& path);

/// Writes shot records as SEG-Y revision 1, big endian, IEEE floats, EBCDIC textual header.
///
/// All gathers must have the same number of samples (at most 65535) and the same interval (an
/// integer number of microseconds). One scalar applies to all coordinates and one to all
/// elevations. A scalar is the smallest decimal division that represents the values exactly, or the
/// finest whose integers fit into 32 bits. Delays are in milliseconds, with a resolution of 0.1 or
/// finer if necessary and possible. Offsets (37-40) are negative if the receiver has the smaller x,
/// or the smaller y at equal x. T: float or double (rounded to float).
///
/// \param path path of the file
/// \param gathers the shot records
/// \param about lines appended to the five lines of the textual header: at most 33 of 76
/// characters; longer ones are continued in the next line, and text beyond the 33 lines is left out
/// \throws FileError, InputError, also for samples that are not finite in single precision
template <class T>
void write_gathers(const std::filesystem::path& path, const std::vector<Gather<T>>& gathers,
                   const std::vector<std::string>& about = {});

/// A model of 2 or 3 dimensions from a SEG-Y file, with the axes (x, z) or (x, y, z).
template <class T>
struct SegyModel {
  Array<T> values;                      ///< (traces, samples), or (in-lines, cross-lines, samples)
  std::vector<double> spacing;          ///< one per axis; 0 if the file does not state it
  std::vector<double> origin;           ///< one per axis
  std::int32_t interval = 0;            ///< sample interval as in the file
  std::int32_t measurement_system = 0;  ///< 0 unknown, 1 metres, 2 feet (3255-3256)
  /// One per axis: false if the coordinates do not determine the origin, which is 0 then.
  std::vector<bool> has_origin;
  std::vector<std::string> notes;  ///< what differs from the order and coordinates of the file
};

/// Reads a model. T: float or double.
///
/// Traces that form a complete rectangle of in-line and cross-line numbers, more than one of each,
/// are a 3D model. Other files are 2D models. Spacing and origin along x (and y) follow from the
/// ensemble coordinates, or from the source coordinates if those are all zero. They are set only
/// for equidistant traces, or for sections of 10 or more traces that deviate from equidistant ones
/// by at most 0.2 of the spacing: these have the spacing, and the origin along x or y, of the best
/// fit in the sense of least squares.
///
/// Lines that deviate from x or y by at most 0.05 of the spacing have the coordinates of the file.
/// Traces with decreasing coordinates are reversed, and x becomes the first axis of a volume whose
/// x is the faster number. Along other lines positions are distances from the first trace; then,
/// and without coordinates, the slower number of a volume is x. `notes` reports all of this.
///
/// In depth the interval is in thousandths of the unit of length: 7500 means 7.5 m. A program for
/// time sections, which reads microseconds as milliseconds, displays the same number. `interval` is
/// the unscaled number of the file; if traces have another one, the spacing is 0 and a note says
/// so. The delay, one for all traces, is the depth of the first sample.
/// \throws FileError, also for coordinates that are not lengths, dead traces, traces with different
/// delays, a volume whose traces are not sorted by in-line and cross-line numbers, or whose lines
/// are not perpendicular
template <class T>
SegyModel<T> read_segy_model(const std::filesystem::path& path);

/// Writes a model of 2 or 3 dimensions so that read_segy_model() reads the same model.
///
/// The file has one trace per (x) or (x, y) in the order of the array, in-line and cross-line
/// numbers from 1, and ensemble coordinates. The depth interval is in thousandths. The last spacing
/// must be an integer number of thousandths, at most 65.535. The last origin must fit into the
/// delay field (16 bits with a decimal scalar). IEEE floats, revision 1, big endian.
/// \throws FileError, InputError
template <class T>
void write_segy_model(const std::filesystem::path& path, const Array<T>& values,
                      const std::vector<double>& spacing, const std::vector<double>& origin);

}  // namespace moho::io
