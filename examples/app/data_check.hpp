// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of data against the model: positions and samples.
///
/// Programs run them before the first step.

#include <moho/core/error.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/left_out.hpp>
#include <moho/survey/onset_check.hpp>
#include <moho/survey/prepare.hpp>

#include <functional>
#include <optional>
#include <string>

namespace moho::examples {

/// \brief Refuses a survey if more than a tenth of its shots or traces is outside of the model.
/// \param name of the data in messages: "--shots line.sgy" \param elevations of trace headers
/// \param allowed true accepts any survey with at least one shot and trace inside
/// \throws InputError with the option that is likely wrong
void check_left_out(const std::string& name, const survey::LeftOut& out,
                    survey::Elevations elevations, bool allowed);

/// Describes data that begin before or after first arrivals.
std::string describe(const survey::OnsetDifference& found);

/// \brief Reads the traces of a survey: files with unusable samples fail before the first result.
/// \param name of the data in messages \param only number of a single shot; empty: all
/// \param rank,size of the processes that divide the shots \param each called with each gather
/// \throws InputError for unusable samples
template <int Dim>
void check_traces(const std::string& name, const survey::Survey<Dim>& survey,
                  std::optional<std::size_t> only, int rank, int size,
                  const std::function<void(const survey::ShotGather<Dim>&)>& each = {}) {
  for (std::size_t k = 0; k < survey.size(); ++k) {
    if (only ? k != *only : k % static_cast<std::size_t>(size) != static_cast<std::size_t>(rank)) {
      continue;
    }
    try {
      const survey::ShotGather<Dim> gather = survey.read(k);
      if (each) each(gather);
    } catch (const FileError& error) {
      throw InputError(concat(name, ": ", error.what()));
    }
  }
}

}  // namespace moho::examples
