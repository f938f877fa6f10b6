// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Points, shots and wavelets as programs are given them: texts on the command line, or
/// files.

#include "common/survey_text.hpp"

#include <moho/io/csv.hpp>
#include <moho/wave/geometry.hpp>
#include <moho/wave/wavelet.hpp>

#include <string>
#include <vector>

namespace moho::examples {

/// A table of numbers in a file: .npy of one or two axes, everything else as text.
io::Table read_table(const std::string& path);

/// \brief Points of an option: a text as parse_points() takes it, or the path of a table .csv, .txt
/// or .npy with the columns x,z or x,y,z, in any order and among others if they are named in the
/// first line.
/// \param what what to call the option in messages: "--receivers"
/// \param text the points, or the path
template <int Dim>
Points<Dim> read_points(const std::string& what, const std::string& text);

/// Number of points that texts and tables hold, at least 1; what cannot be read counts as one, and
/// is refused when it is used.
template <int Dim>
std::size_t count_points(const std::vector<std::string>& texts);

/// Shots in a file, as parse_shots() takes them.
template <int Dim>
std::vector<wave::Shot<Dim>> read_shots(const std::string& path);

/// The wavelet of a text, at an interval. A file has the columns time, amplitude at equal
/// intervals from time 0, or amplitudes alone, whose interval the text has to give.
std::vector<double> read_wavelet(const wave::WaveletText& text, double dt);

/// The frequency of the largest amplitude in the spectrum of a wavelet, Hz: of a Ricker wavelet its
/// own, of others that of one as broad. \throws InputError, FileError as wavelets do
double peak_frequency(const std::string& wavelet);

}  // namespace moho::examples
