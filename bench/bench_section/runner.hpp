// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A shot over a small section, and its gradient.

#include <moho/core/grid.hpp>
#include <moho/core/instance.hpp>
#include <moho/wave/boundary.hpp>
#include <moho/wave/types.hpp>

#include <memory>
#include <vector>

namespace moho::bench {

/// Seconds of a run and its values: traces, or the derivative by vp.
struct SectionRun {
  double seconds = 0.0, forward = 0.0;
  std::vector<float> values;
};

/// A section on a space.
struct SectionRunner {
  virtual ~SectionRunner() = default;
  /// Nodes with layers, times steps.
  virtual double points() const = 0;
  /// Models the shot. \param one true: several steps in a launch where possible
  virtual SectionRun shot(bool one) = 0;
  /// Models the shot, and adds its gradient for zero data.
  virtual SectionRun gradient(bool one) = 0;
};

/// Prepares a section on a space.
/// \param nodes without layers, 51 or more along each axis \param smoke true: few steps
template <class Memory>
std::unique_ptr<SectionRunner> make_section_runner(const Instance<Memory>& exec,
                                                   wave::Medium medium, wave::FaceKind faces,
                                                   const Index<2>& nodes, bool smoke);

}  // namespace moho::bench
