// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Spans of a timeline that are also regions of Kokkos Tools.

#include <moho/core/kokkos.hpp>
#include <moho/core/timeline.hpp>

#include <string>

namespace moho {

/// \brief A span of a timeline and a region "moho::<stage>" of Kokkos Tools.
///
/// The timeline may be null. Kokkos Tools keep one stack of regions: use this class only on the
/// thread that submits kernels, and TimelineSpan on others. The class does not fence. To measure
/// kernels and not their submission, fence the instance before the end of the scope.
class KernelSpan {
 public:
  /// Begins the span. `stage` must outlive the object.
  KernelSpan(Timeline* timeline, const char* stage, std::int64_t bytes = 0)
      : m_span(timeline, stage, bytes) {
    Kokkos::Profiling::pushRegion(std::string("moho::") + stage);
  }
  KernelSpan(const KernelSpan&) = delete;
  KernelSpan& operator=(const KernelSpan&) = delete;
  ~KernelSpan() { Kokkos::Profiling::popRegion(); }
  /// Sets the number of bytes, if it is known only after the constructor.
  void set_bytes(std::int64_t bytes) { m_span.set_bytes(bytes); }

 private:
  TimelineSpan m_span;
};

}  // namespace moho
