// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Remarks on the input and the result of an inversion, in words.

#include <moho/core/argument_names.hpp>
#include <moho/gravity_inversion/cells.hpp>
#include <moho/gravity_inversion/inversion.hpp>

#include <map>
#include <string>
#include <vector>

namespace moho::gravity_inversion {

/// Returns the names of arguments in remarks where they are options, "--compact".
/// \param automatic word of an automatic beta
/// \param further what to give for further compact rounds
ArgumentNames option_names(const std::string& automatic, const std::string& further);

/// \brief Returns remarks on stations inside of cells, below the ground, or far from all cells.
///
/// Each has the row of the first station, counted from 1.
/// \param heights station_heights() of these \param ground true: they are above a ground
/// \param names of "mesh" and "topography" in remarks
std::vector<std::string> remarks_on_stations(const Cells& cells,
                                             const std::vector<double>& stations,
                                             const Heights& heights, bool ground,
                                             const ArgumentNames& names = {});

/// Returns a remark on the components of a table that are not inverted; empty if all are.
/// \param name of the table: "--errors"
std::string remark_on_unused(const std::string& name,
                             const std::map<gravity::Component, double>& values,
                             const gravity::Components& inverted);

/// Returns remarks where a number of rounds has no effect, where compact rounds have no bounds, and
/// where bounds allow densities below 10 kg/m^3 alone, as those in g/cm^3 do.
std::vector<std::string> remarks_on_options(const InversionProblem& problem,
                                            const InversionOptions& options);

/// Returns true for a chi^2 above the target by more than the tolerance.
bool is_above_target(const InversionOptions& options, double chi2);

/// Returns what to do about a chi^2 above the target; empty if it is not above.
/// \param state of the inversion that ended \param chi2 of its model
std::string advice_on(const InversionOptions& options, const InversionState& state, double chi2);

}  // namespace moho::gravity_inversion
