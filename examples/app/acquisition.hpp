// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Points, shots and wavelets of options: texts on the command line, or files.

#include "app/survey_text.hpp"

#include <moho/io/csv.hpp>
#include <moho/wave/geometry.hpp>
#include <moho/wave/wavelet.hpp>

#include <string>
#include <vector>

namespace moho::examples {

/// Reads a table of numbers: a .npy file with one or two axes, or any other file as text.
/// \throws FileError for an unreadable file
io::Table read_table(const std::string& path);

/// \brief Reads the points of an option: a text for parse_points(), or the path of a table.
///
/// A table is a .csv, .txt or .npy file with the columns x,z or x,y,z. If its first line names the
/// columns, their order is free and other columns may be present.
/// \param what name of the option in messages: "--receivers"
/// \param text the points, or the path
template <int Dim>
Points<Dim> read_points(const std::string& what, const std::string& text);

/// Returns the number of points that texts and tables hold, at least 1.
/// An unreadable text or table counts as one point; it is refused when it is used.
template <int Dim>
std::size_t count_points(const std::vector<std::string>& texts);

/// Reads shots from a file in the format of parse_shots(). \throws FileError
template <int Dim>
std::vector<wave::Shot<Dim>> read_shots(const std::string& path);

/// Returns the samples of the wavelet of a text, `dt` seconds apart, from time 0.
/// A file has the columns time and amplitude, at equal intervals from time 0. It may have
/// amplitudes alone; the text then gives their interval.
std::vector<double> read_wavelet(const wave::WaveletText& text, double dt);

/// Returns the frequency of the largest amplitude in the spectrum of a wavelet, Hz.
/// For a wavelet that is not Ricker's, the Ricker wavelet with equal highest frequency counts.
/// \throws InputError, FileError for an invalid wavelet
double peak_frequency(const std::string& wavelet);

}  // namespace moho::examples
