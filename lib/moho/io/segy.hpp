// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief SEG-Y files: traces with their headers, shot gathers and models.
///
/// Reading follows SEG-Y revision 1 (SEG Technical Standards Committee, 2002), both byte orders,
/// with fixed trace length. Coordinates and elevations are scaled by their scalars: a positive
/// scalar multiplies, a negative one divides, 0 counts as 1. Byte positions below are those of the
/// standard, counted from 1.

#include <moho/io/array.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace moho::io {

/// What is used of a trace header.
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
  std::int32_t coordinate_units =
      0;                      ///< 0 unknown, 1 length, 2 seconds of arc, 3, 4 degrees (89-90)
  std::int32_t samples = 0;   ///< number of samples in this trace (115-116); 0 if not said
  std::int32_t interval = 0;  ///< sample interval in this trace (117-118); 0 if not said
};

/// What the headers of a SEG-Y file say about all of its traces.
struct SegyHeader {
  std::string text;            ///< textual header in ASCII, 40 lines with line ends
  bool little_endian = false;  ///< byte order of the file
  int format = 0;              ///< sample format code (3225-3226): 1 IBM, 5 IEEE, 2, 3, 8 integers
  int revision = 0;            ///< major revision (3501)
  bool fixed_length = false;   ///< the file says that all traces have the same length (3503-3504)
  std::int32_t interval = 0;  ///< sample interval, microseconds for time (3217-3218); 0 if not said
  std::int32_t measurement_system = 0;  ///< 0 unknown, 1 metres, 2 feet (3255-3256)
  std::int64_t traces = 0;              ///< number of traces
  std::int64_t samples = 0;             ///< number of samples in every trace
};

/// A SEG-Y file that stays open, whose traces are read when they are asked for: files may be larger
/// than memory. Traces count from 0. An object serves one thread at a time.
class SegyReader {
 public:
  /// Opens a file and reads what stands before its traces. The file's length must be the headers
  /// and a whole number of traces of equal length. \throws FileError
  explicit SegyReader(const std::filesystem::path& path);
  ~SegyReader();
  /// Takes over the open file of another one, which is of no use afterwards.
  SegyReader(SegyReader&&) noexcept;
  /// \overload
  SegyReader& operator=(SegyReader&&) noexcept;

  /// The path as it was given, for messages.
  const std::string& name() const;
  /// What holds for all traces.
  const SegyHeader& header() const;
  /// The header of a trace. \throws FileError also when it says another number of samples than the
  /// file does
  SegyTrace trace(std::int64_t number) const;
  /// Reads the samples of a trace, header().samples of them. T: float or double. \throws FileError
  template <class T>
  void read(std::int64_t number, T* samples) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// A SEG-Y file. T: float or double.
template <class T>
struct SegyFile {
  std::string text;            ///< textual header in ASCII, 40 lines with line ends
  bool little_endian = false;  ///< byte order of the file
  int format = 0;              ///< sample format code (3225-3226): 1 IBM, 5 IEEE, 2, 3, 8 integers
  int revision = 0;            ///< major revision (3501)
  std::int32_t interval = 0;   ///< sample interval as it stands in the file: microseconds for time;
                               ///< binary header (3217-3218), else the first trace's; 0 if unknown
  std::int32_t coordinate_units =
      0;  ///< 0 unknown, 1 length, 2 seconds of arc, 3, 4 degrees (89-90)
  std::int32_t measurement_system = 0;  ///< 0 unknown, 1 metres, 2 feet (3255-3256)
  std::vector<SegyTrace> headers;       ///< one per trace
  Array<T> samples;                     ///< traces x samples
};

/// Reads a SEG-Y file.
///
/// Sample formats 1 (IBM), 5 (IEEE), 2, 3 and 8 (integers). The file's length must be the headers
/// and a whole number of traces, which is checked before memory is allocated; traces of different
/// lengths and a variable number of extended textual headers are refused. \throws FileError
template <class T>
SegyFile<T> read_segy(const std::filesystem::path& path);

/// The traces of one shot.
template <class T>
struct Gather {
  std::int32_t record = 0;                 ///< field record number
  double source_x = 0.0;                   ///< source position
  double source_y = 0.0;                   ///< source position
  double source_elevation = 0.0;           ///< surface elevation at the source
  double source_depth = 0.0;               ///< source depth below the surface
  double interval = 0.0;                   ///< seconds between samples; 0 if the file does not say
  double delay = 0.0;                      ///< seconds from the shot to the first sample
  std::vector<double> receiver_x;          ///< one per trace
  std::vector<double> receiver_y;          ///< one per trace
  std::vector<double> receiver_elevation;  ///< one per trace
  Array<T> samples;                        ///< traces x samples
};

/// Reads shot records. Traces with the same field record number and source position make a gather;
/// gathers stand in the order in which they begin in the file, traces in the file's order. T: float
/// or double. \throws FileError also when the coordinates are no lengths or one record has several
/// delays
template <class T>
std::vector<Gather<T>> read_gathers(const std::filesystem::path& path);

/// Writes shot records as SEG-Y revision 1, big endian, IEEE floats, with EBCDIC textual header.
/// Every gather must have the same number of samples (at most 65535) and interval (whole
/// microseconds). One scalar serves all coordinates and one all elevations: the smallest decimal
/// division that keeps them exact, or the finest that fits 32 bits. Delays are written in
/// milliseconds, to 0.1 or finer where they need it and fit. Offsets (37-40) are negative where the
/// receiver has the smaller x, or the smaller y at the same x. T: float or double (rounded to
/// float).
///
/// \param about lines of the textual header below its own five: at most 33 of 76 characters, what
/// is
///        more is cut off
/// \throws FileError, InputError
template <class T>
void write_gathers(const std::filesystem::path& path, const std::vector<Gather<T>>& gathers,
                   const std::vector<std::string>& about = {});

/// A model of 2 or 3 dimensions out of a SEG-Y file; axes (x, z) or (x, y, z).
template <class T>
struct SegyModel {
  Array<T> values;                      ///< (traces, samples), or (in-lines, cross-lines, samples)
  std::vector<double> spacing;          ///< one per axis; 0 where the file does not say
  std::vector<double> origin;           ///< one per axis
  std::int32_t interval = 0;            ///< sample interval as it stands in the file
  std::int32_t measurement_system = 0;  ///< 0 unknown, 1 metres, 2 feet (3255-3256)
};

/// Reads a model.
///
/// Traces that form a full rectangle of in-line and cross-line numbers, both more than one, make a
/// 3D model whose slower number is x; otherwise the model is 2D. Spacing and origin along x (and y)
/// come from the ensemble coordinates, or the source coordinates where those are all zero, and are
/// given only where traces are equally spaced. A line that does not run along +x is measured along
/// itself, from 0. Depth: the interval counts thousandths of the unit of length (7500 is 7.5 m), as
/// programs for time sections show it when they take microseconds for milliseconds; `interval` has
/// it unscaled. The delay of the first trace is the depth of the first sample. T: float or double.
/// \throws FileError
template <class T>
SegyModel<T> read_segy_model(const std::filesystem::path& path);

/// Writes a model of 2 or 3 dimensions so that read_segy_model() gives it back: one trace per (x)
/// or (x, y) in the array's order, in-line and cross-line numbers from 1, ensemble coordinates,
/// depth interval in thousandths. The last spacing must be a whole number of thousandths, at
/// most 65.535, and the last origin fit the delay field (16 bits with a decimal scalar). IEEE
/// floats, revision 1, big endian. \throws FileError, InputError
template <class T>
void write_segy_model(const std::filesystem::path& path, const Array<T>& values,
                      const std::vector<double>& spacing, const std::vector<double>& origin);

}  // namespace moho::io
