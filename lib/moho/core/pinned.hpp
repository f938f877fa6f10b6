// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Page-locking of existing host memory for fast asynchronous transfers.

#include <moho/core/instance.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho {

/// \brief Page-locks ranges of host memory for the devices of `Memory`, until destruction.
///
/// The system may refuse: locked memory has limits, and the pages of some file systems cannot be
/// locked. Transfers then need page-locked buffers (StagingMemory), and each byte passes three
/// times through host memory. For host memory nothing is locked and lock() returns true.
template <class Memory>
class PinnedRegion {
 public:
  PinnedRegion() = default;
  PinnedRegion(const PinnedRegion&) = delete;
  PinnedRegion& operator=(const PinnedRegion&) = delete;
  /// Takes over the ranges of another object.
  PinnedRegion(PinnedRegion&& other) noexcept
      : m_pieces(std::move(other.m_pieces)),
        m_bytes(std::exchange(other.m_bytes, 0)),
        m_why(std::move(other.m_why)) {
    other.m_pieces.clear();
  }
  ~PinnedRegion() { release(); }

  /// Locks a range; returns false, with the reason in why(), if the system refuses.
  ///
  /// A range that is refused is unchanged.
  bool lock(void* begin, std::size_t bytes);
  /// Unlocks all ranges. No transfer from or to the ranges may be pending.
  void release();
  /// Returns the number of bytes locked.
  std::size_t bytes() const { return m_bytes; }
  /// Returns the system's message of the last refusal.
  const std::string& why() const { return m_why; }

 private:
  std::vector<void*> m_pieces;
  std::size_t m_bytes = 0;
  std::string m_why;
};

template <class Memory>
bool PinnedRegion<Memory>::lock(void* begin, std::size_t bytes) {
  if constexpr (is_host_memory<Memory>) {
    (void)begin, (void)bytes;
    return true;
  } else {
#ifdef KOKKOS_ENABLE_CUDA
    // one registration: a transfer must not span two of them
    const cudaError_t status = cudaHostRegister(begin, bytes, cudaHostRegisterPortable);
    if (status != cudaSuccess) {
      m_why = cudaGetErrorString(status);
      cudaGetLastError();  // clears the error state of the runtime
      return false;
    }
    m_pieces.push_back(begin);
    m_bytes += bytes;
    return true;
#endif
  }
}

template <class Memory>
void PinnedRegion<Memory>::release() {
#ifdef KOKKOS_ENABLE_CUDA
  for (void* piece : m_pieces) cudaHostUnregister(piece);
#endif
  m_pieces.clear();
  m_bytes = 0;
}

}  // namespace moho
