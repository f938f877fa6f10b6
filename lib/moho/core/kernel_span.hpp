// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Spans of a timeline that Kokkos Tools see, too.

#include <moho/core/kokkos.hpp>
#include <moho/core/timeline.hpp>

#include <string>

namespace moho {

/// \brief A span of a timeline, and a region "moho::<stage>" for Kokkos Tools, with a timeline or
/// without.
///
/// Tools keep one stack of regions: make it on the thread that submits kernels and on no other,
/// where TimelineSpan serves. It waits for nothing. Fence the instance before the scope ends where
/// the span is to be that of the kernels and not of their submission.
class KernelSpan {
 public:
  /// Begins it. `stage` has to live as long.
  KernelSpan(Timeline* timeline, const char* stage, std::int64_t bytes = 0)
      : m_span(timeline, stage, bytes) {
    Kokkos::Profiling::pushRegion(std::string("moho::") + stage);
  }
  KernelSpan(const KernelSpan&) = delete;
  KernelSpan& operator=(const KernelSpan&) = delete;
  ~KernelSpan() { Kokkos::Profiling::popRegion(); }
  /// Says how many bytes it was, when that is known only later.
  void set_bytes(std::int64_t bytes) { m_span.set_bytes(bytes); }

 private:
  TimelineSpan m_span;
};

}  // namespace moho
