// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arguments of Objective other than model and data.

#include "slab_plan.hpp"
#include "survey_input.hpp"
#include "wave_input.hpp"

#include <moho/fwi/objective_types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::python {

/// Options of Objective other than model and data.
struct InversionInput {
  std::vector<wave::Parameter> parameters;
  std::vector<fwi::Range> bounds;
  bool logarithmic = true;
  fwi::MisfitOptions misfit;
  fwi::OffsetWeights offset_weights;
  survey::MuteOptions mute;
  survey::WaveletZero zero = survey::WaveletZero::start;
  fwi::SourceField source_field = fwi::SourceField::automatic;
  std::vector<double> bands;
  OptionalInput mask;
  int concurrent_shots = 0;
  stream::StreamRequest stream;  ///< device_memory, devices (0: automatic), block, updates
  RandomLayers random;
  std::int64_t product_interval = 0;
};

/// Returns the method for the source wavefield of a name; automatic for other texts.
inline fwi::SourceField source_field_of(const std::string& name) {
  using fwi::SourceField;
  for (const SourceField one : {SourceField::boundary_shell, SourceField::random,
                                SourceField::stored, SourceField::replay}) {
    if (name == fwi::to_string(one)) return one;
  }
  return SourceField::automatic;
}

/// Options that decide where gradients are computed; the other ones are preset.
template <int Dim>
fwi::ObjectiveOptions<Dim> stream_options(const WaveInput& wave, const InversionInput& inversion) {
  fwi::ObjectiveOptions<Dim> options;
  options.modelling = modelling_of<Dim>(wave);
  options.modelling.seed = inversion.random.seed;
  options.random_width = inversion.random.width;
  options.memory = options.modelling.memory;
  options.device_memory = inversion.stream.device_memory;
  options.block = inversion.stream.block;
  options.updates = inversion.stream.updates;
  options.devices = inversion.stream.devices;
  options.parameters = inversion.parameters;
  options.source_field = inversion.source_field;
  options.concurrent_shots = inversion.concurrent_shots;
  options.names = {{"data", "gathers"},
                   {"product_interval", "gradient_steps"},
                   {"(concurrent_shots)", "concurrent_shots"},
                   {"source_field random", "source_field='random'"},
                   {"misfit correlation", "misfit='correlation'"}};
  return options;
}

}  // namespace moho::python
