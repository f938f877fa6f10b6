// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables of shots and of wavelets.

#include <moho/io/csv.hpp>
#include <moho/wave/geometry.hpp>
#include <moho/wave/plan.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace moho::survey {

/// Reads a table of finite numbers: a .npy file with one or two axes, or any other file as text.
/// \throws FileError
io::Table read_table(const std::string& path);

/// \brief Returns the shots of a table with a row for each source and receiver.
///
///     # shot, kind, x, z          (in 3D: shot, kind, x, y, z)
///     1, source, 1000, 10
///     1, receiver, 0, 20
///     *, receiver, 25, 20
///
/// The shot is a number from 0, or * for all shots; kinds may be shortened to s and r. Positions
/// are in m. Commas, semicolons or blanks separate fields. Text after # and empty lines are
/// skipped. A first row of names, in any case, gives the order of the columns shot, kind, x, y and
/// z.
///
/// Rows may have any order. Shots keep the order in which their numbers first appear. Receivers
/// keep that of their rows; those of all shots follow the others.
/// \param text contents of the table \param name its path, for messages
/// \throws FileError "NAME:LINE: ..." for an unreadable row, for a row of names with another name,
/// a name twice or one missing, or for a shot without source or receiver
template <int Dim>
std::vector<wave::Shot<Dim>> shots_from_text(std::string_view text,
                                             const std::string& name = "shots");

/// Returns the shots of a file with the text of shots_from_text().
/// \param what name of the table in messages, if the file cannot be read
template <int Dim>
std::vector<wave::Shot<Dim>> shots_from_file(const std::string& path,
                                             const std::string& what = "shots");

/// Returns a table from which shots_from_text() reads the same shots, bit by bit.
///
/// Receivers that all shots have in common are written once.
template <int Dim>
std::string format_shots(const std::vector<wave::Shot<Dim>>& shots);

/// \brief Returns the wavelet of a text of wave::parse_wavelet(), also one of a file.
///
/// A file has the columns time (s) and amplitude, at equal intervals from time 0. Times of a column
/// named time_ms or t_ms are in ms; other names than time, t, time_s and t_s are refused. It may
/// have amplitudes alone; the text then gives their interval. The result reads the file when it is
/// called.
/// \param text "ricker:15", "ormsby:5,10,40,50", "file:PATH", "file:PATH:0.002" or a path
/// \param what name of the wavelet in messages about its file
/// \throws InputError for an unknown form. The result throws InputError and FileError for an
/// invalid wavelet.
wave::WaveletAt wavelet_from_text(const std::string& text, const std::string& what = "wavelet");

/// \brief Returns the frequency of the largest amplitude in the spectrum of a wavelet, Hz.
///
/// For a wavelet that is not Ricker's, the Ricker wavelet with equal highest frequency counts.
/// \param text,what as for wavelet_from_text() \throws InputError, FileError for an invalid wavelet
double peak_frequency(const std::string& text, const std::string& what = "wavelet");

}  // namespace moho::survey
