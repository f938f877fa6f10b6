// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Storage methods that give results the same bits.

#include <moho/snapshot/codec/types.hpp>

#include <string>

namespace moho::snapshot {

/// \brief Returns true if snapshots have the bits of the wavefield, so that results do not depend
/// on which of these methods kept them. \param method,error of StorageOptions; false for "auto",
/// whose choice may lose digits
inline bool is_exact(const std::string& method, const std::string& error) {
  return method == "device" || method == "memory" || method == "replay" ||
         (method == "disk" && error == "lossless");
}

}  // namespace moho::snapshot
