// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Files of the state of an inversion between two minimisations.

#include <moho/gravity_inversion/inversion.hpp>

#include <cstdint>
#include <filesystem>

namespace moho::gravity_inversion {

/// \brief Writes a state as a .npy file of doubles.
/// \throws FileError
void write_state(const std::filesystem::path& path, const InversionState& state);

/// \brief Reads what write_state() wrote.
/// \param path the file
/// \param cells number of cells of the problem
/// \throws FileError for another file or another number of cells
InversionState read_state(const std::filesystem::path& path, std::int64_t cells);

}  // namespace moho::gravity_inversion
