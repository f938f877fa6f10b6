// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options and input of magnetic fields.

#include "model_gravity/input.hpp"

namespace moho::examples::model_gravity {

/// Adds the options of magnetic fields to the table.
void bind_magnetic(Description& d, Options& o);
/// Returns the remanence of all prisms, A/m along x, y and z; empty without --remanence.
std::vector<double> load_remanence(const Options& o, Input& input);
/// Returns lines on the ambient field and the magnetisation.
std::string magnetic_text(const Options& o, const Input& input);

}  // namespace moho::examples::model_gravity
