// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory of the host that is page-locked where it lies, so that copies to and from devices
/// run at the full rate of the link and beside other work.

#include <moho/core/instance.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho {

/// \brief Page-locks ranges of host memory for the devices of `Memory`, until it is destroyed.
///
/// The system may refuse: there are limits on locked memory, and some file systems' pages cannot be
/// locked. Copies then need buffers that are locked (StagingMemory), and every byte moves three
/// times through the host's memory. For hosts there is nothing to lock, and nothing to refuse.
template <class Memory>
class PageLock {
 public:
  PageLock() = default;
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;
  /// The ranges belong to the new one.
  PageLock(PageLock&& other) noexcept
      : m_pieces(std::move(other.m_pieces)),
        m_bytes(std::exchange(other.m_bytes, 0)),
        m_why(std::move(other.m_why)) {
    other.m_pieces.clear();
  }
  ~PageLock() { release(); }

  /// Locks a range. False where the system refuses; why() says what it said,
  /// and the range is as it was.
  bool lock(void* begin, std::size_t bytes);
  /// Unlocks all ranges. Nothing may be copied to or from them any more.
  void release();
  /// Bytes locked.
  std::size_t bytes() const { return m_bytes; }
  /// What the system said when it refused.
  const std::string& why() const { return m_why; }

 private:
  std::vector<void*> m_pieces;
  std::size_t m_bytes = 0;
  std::string m_why;
};

template <class Memory>
bool PageLock<Memory>::lock(void* begin, std::size_t bytes) {
  if constexpr (is_host_memory<Memory>) {
    (void)begin, (void)bytes;
    return true;
  } else {
#ifdef KOKKOS_ENABLE_CUDA
    // in one piece: a copy must not span two of them
    const cudaError_t status = cudaHostRegister(begin, bytes, cudaHostRegisterPortable);
    if (status != cudaSuccess) {
      m_why = cudaGetErrorString(status);
      cudaGetLastError();  // it is dealt with here
      return false;
    }
    m_pieces.push_back(begin);
    m_bytes += bytes;
    return true;
#endif
  }
}

template <class Memory>
void PageLock<Memory>::release() {
#ifdef KOKKOS_ENABLE_CUDA
  for (void* piece : m_pieces) cudaHostUnregister(piece);
#endif
  m_pieces.clear();
  m_bytes = 0;
}

}  // namespace moho
