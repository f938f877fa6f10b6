// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reports of the steps of shots: snapshots and the nodes that were stepped.

#include <moho/domain/factory.hpp>
#include <moho/wave/snapshots.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace moho::python {

/// What a call reports in addition to traces.
struct ShotSteps {
  void* snapshots = nullptr;                    ///< of the first shot, on the host; null: none
  std::vector<domain::SnapshotDomain> domains;  ///< of each snapshot; empty without expansion
  std::vector<double> stepped;                  ///< fraction of the nodes of each shot
};

/// Returns a function that writes parts of snapshots to memory of the host.
template <class T>
std::function<void(const wave::SnapshotPart<T>&)> write_snapshots(void* to) {
  return [first = static_cast<T*>(to)](const wave::SnapshotPart<T>& part) {
    std::copy_n(part.values, part.count, first + part.index * part.size + part.begin);
  };
}

/// Returns pairs of the lower and upper positions of domains.
inline nanobind::list domains_of(const std::vector<domain::SnapshotDomain>& domains) {
  nanobind::list list;
  for (const domain::SnapshotDomain& one : domains) {
    list.append(nanobind::make_tuple(one.lower, one.upper));
  }
  return list;
}

}  // namespace moho::python
