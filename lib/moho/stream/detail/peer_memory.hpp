// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Device memory that ranks of one machine write into for each other (internal).
///
/// A rank passes the handle of an allocation to a neighbour, which maps it and copies planes into
/// it, across NVLink or PCIe between two devices. An event of the neighbour's device follows the
/// copy. MPI only carries the handles, and a byte when the event is submitted; it need not know of
/// devices.

#include <moho/core/copy.hpp>
#include <moho/core/order.hpp>
#include <moho/stream/ranks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace moho::stream {

/// The neighbours of the slab of a rank.
struct SlabSides {
  /// The previous and the next rank.
  enum Side : std::size_t { previous, next };

  /// Returns true if a rank is on a side.
  static bool has_rank(const StreamRanks& ranks, Side side) {
    return side == previous ? ranks.rank() > 0 : ranks.rank() + 1 < ranks.size();
  }
  /// Returns the rank on a side.
  static int rank_on(const StreamRanks& ranks, Side side) {
    return side == previous ? ranks.rank() - 1 : ranks.rank() + 1;
  }
};

/// An allocation that another process may map, as a message.
struct PeerOffer {
  std::int64_t bytes = 0;             ///< 0: no allocation
  std::array<char, 40> machine = {};  ///< identifies the machine since its last start
  unsigned char handle[64] = {};      ///< of CUDA, for another process
};

/// Events that another process may open, as a message.
struct SignalOffer {
  std::int64_t count = 0;             ///< 0: no events; 2: one for each of alternating exchanges
  unsigned char handles[2][64] = {};  ///< of CUDA, for another process
};

/// \brief Events of this device that a neighbour waits for, one for each of alternating exchanges.
///
/// Hosts have no such events.
template <class Memory>
class PeerSignals {
 public:
  /// Creates the events. \return what another process needs to open them
  SignalOffer create(const Instance<Memory>&) { return {}; }
  /// Sets an event after all earlier work of an instance.
  void set(const Instance<Memory>&, int) {}
};

/// The events of a neighbour.
template <class Memory>
class PeerWaits {
 public:
  /// Opens the events. \return false if that is not possible
  bool open(const Instance<Memory>&, const SignalOffer&) { return false; }
  /// Later work of an instance waits for an event that has been set.
  void hold(const Instance<Memory>&, int) const {}
};

/// \brief Memory of this device into which a neighbour writes.
///
/// Host memory is not shared.
template <class Memory>
class PeerInbox {
 public:
  /// Replaces the memory. \return what another process needs to map it
  PeerOffer allocate(const Instance<Memory>&, std::size_t) { return {}; }
  /// Returns the memory, null if nothing is allocated.
  char* data() const { return nullptr; }
};

/// The memory of a neighbour, mapped into this process.
template <class Memory>
class PeerOutbox {
 public:
  /// Maps memory in place of that before. \return false if it cannot be mapped
  bool open(const Instance<Memory>&, const PeerOffer&) { return false; }
  /// Returns the mapped memory, null if nothing is mapped.
  char* data() const { return nullptr; }
};

#ifdef KOKKOS_ENABLE_CUDA

namespace detail {

/// Returns the identifier that Linux gives a machine at its start; zeros on other systems.
inline std::array<char, 40> machine_id() {
  std::array<char, 40> id = {};
  std::ifstream("/proc/sys/kernel/random/boot_id").read(id.data(), 36);
  return id;
}

/// \brief Device memory that other processes may have mapped.
///
/// A process must not free memory that another one still maps. Returned memory is therefore kept
/// for later calls of take(), and freed when the process ends.
class SharedAllocations {
 public:
  struct Allocation {
    char* data;
    std::size_t bytes;
    int device;
    bool used;
  };
  static SharedAllocations& instance() {
    static SharedAllocations all;
    return all;
  }
  /// Returns memory of the current device, null if its free memory does not suffice.
  char* take(int device, std::size_t bytes) {
    const std::lock_guard lock(m_mutex);
    for (Allocation& one : m_all) {
      if (one.used || one.device != device || one.bytes < bytes) continue;
      one.used = true;
      return one.data;
    }
    void* data = nullptr;
    if (cudaMalloc(&data, bytes) != cudaSuccess) {
      cudaGetLastError();  // clears the error state of the runtime
      return nullptr;
    }
    m_all.push_back({static_cast<char*>(data), bytes, device, true});
    return static_cast<char*>(data);
  }
  /// Returns memory for later calls of take().
  void give(char* data) {
    const std::lock_guard lock(m_mutex);
    for (Allocation& one : m_all) {
      if (one.data == data) one.used = false;
    }
  }

 private:
  std::mutex m_mutex;
  std::vector<Allocation> m_all;
};

/// \brief Pairs of events that other processes may have opened.
///
/// A process must not destroy an event for which another one may still wait. Returned events are
/// therefore kept for later calls of take(), until the process ends.
class SharedEvents {
 public:
  struct Pair {
    cudaEvent_t events[2] = {};
    int device = 0;
    bool used = true;
  };
  static SharedEvents& instance() {
    static SharedEvents all;
    return all;
  }
  /// Returns events of the current device, null if the system refuses events for other processes.
  Pair* take(int device) {
    const std::lock_guard lock(m_mutex);
    for (const auto& one : m_all) {
      if (one->used || one->device != device) continue;
      one->used = true;
      return one.get();
    }
    auto made = std::make_unique<Pair>();
    made->device = device;
    for (cudaEvent_t& event : made->events) {
      if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess) !=
          cudaSuccess) {
        cudaGetLastError();
        return nullptr;
      }
    }
    m_all.push_back(std::move(made));
    return m_all.back().get();
  }
  /// Returns events for later calls of take().
  void give(Pair* pair) {
    const std::lock_guard lock(m_mutex);
    pair->used = false;
  }

 private:
  std::mutex m_mutex;
  std::vector<std::unique_ptr<Pair>> m_all;
};

}  // namespace detail

template <>
class PeerInbox<Kokkos::CudaSpace> {
 public:
  PeerInbox() = default;
  PeerInbox(const PeerInbox&) = delete;
  PeerInbox& operator=(const PeerInbox&) = delete;
  ~PeerInbox() { free(); }
  /// Replaces the memory. \return what another process needs to map it
  PeerOffer allocate(const Instance<Kokkos::CudaSpace>& exec, std::size_t bytes) {
    const moho::detail::ScopedDevice on(exec);
    free();
    PeerOffer offer;
    m_data = detail::SharedAllocations::instance().take(exec.space().cuda_device(), bytes);
    cudaIpcMemHandle_t handle;
    static_assert(sizeof(handle) <= sizeof(offer.handle));
    if (m_data == nullptr || cudaIpcGetMemHandle(&handle, m_data) != cudaSuccess) {
      cudaGetLastError();
      free();
      return offer;
    }
    offer.bytes = static_cast<std::int64_t>(bytes);
    offer.machine = detail::machine_id();
    std::memcpy(offer.handle, &handle, sizeof(handle));
    return offer;
  }
  char* data() const { return m_data; }

 private:
  void free() {
    if (m_data != nullptr) detail::SharedAllocations::instance().give(m_data);
    m_data = nullptr;
  }
  char* m_data = nullptr;
};

template <>
class PeerOutbox<Kokkos::CudaSpace> {
 public:
  PeerOutbox() = default;
  PeerOutbox(const PeerOutbox&) = delete;
  PeerOutbox& operator=(const PeerOutbox&) = delete;
  ~PeerOutbox() { close(); }
  /// Maps memory in place of that before. \return false if it cannot be mapped
  bool open(const Instance<Kokkos::CudaSpace>& exec, const PeerOffer& offer) {
    const moho::detail::ScopedDevice on(exec);
    close();
    if (offer.bytes == 0 || offer.machine != detail::machine_id()) return false;
    cudaIpcMemHandle_t handle;
    std::memcpy(&handle, offer.handle, sizeof(handle));
    void* data = nullptr;
    if (cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    m_data = static_cast<char*>(data);
    return true;
  }
  char* data() const { return m_data; }

 private:
  void close() {
    if (m_data != nullptr) cudaIpcCloseMemHandle(m_data);
    m_data = nullptr;
  }
  char* m_data = nullptr;
};

template <>
class PeerSignals<Kokkos::CudaSpace> {
 public:
  PeerSignals() = default;
  PeerSignals(const PeerSignals&) = delete;
  PeerSignals& operator=(const PeerSignals&) = delete;
  ~PeerSignals() { give(); }
  /// Creates the events. \return what another process needs to open them
  SignalOffer create(const Instance<Kokkos::CudaSpace>& exec) {
    const moho::detail::ScopedDevice on(exec);
    give();
    SignalOffer offer;
    m_pair = detail::SharedEvents::instance().take(exec.space().cuda_device());
    for (int n = 0; m_pair != nullptr && n < 2; ++n) {
      cudaIpcEventHandle_t handle;
      static_assert(sizeof(handle) <= sizeof(offer.handles[0]));
      if (cudaIpcGetEventHandle(&handle, m_pair->events[n]) != cudaSuccess) {
        cudaGetLastError();
        give();
        return offer;
      }
      std::memcpy(offer.handles[n], &handle, sizeof(handle));
    }
    if (m_pair != nullptr) offer.count = 2;
    return offer;
  }
  void set(const Instance<Kokkos::CudaSpace>& exec, int turn) {
    const moho::detail::ScopedDevice on(exec);
    moho::detail::check_cuda(cudaEventRecord(m_pair->events[turn], exec.space().cuda_stream()),
                             "moho::stream::PeerSignals");
  }

 private:
  void give() {
    if (m_pair != nullptr) detail::SharedEvents::instance().give(m_pair);
    m_pair = nullptr;
  }
  detail::SharedEvents::Pair* m_pair = nullptr;
};

template <>
class PeerWaits<Kokkos::CudaSpace> {
 public:
  PeerWaits() = default;
  PeerWaits(const PeerWaits&) = delete;
  PeerWaits& operator=(const PeerWaits&) = delete;
  ~PeerWaits() { close(); }
  /// Opens the events. \return false if that is not possible
  bool open(const Instance<Kokkos::CudaSpace>& exec, const SignalOffer& offer) {
    const moho::detail::ScopedDevice on(exec);
    close();
    if (offer.count != 2) return false;
    for (int n = 0; n < 2; ++n) {
      cudaIpcEventHandle_t handle;
      std::memcpy(&handle, offer.handles[n], sizeof(handle));
      if (cudaIpcOpenEventHandle(&m_events[n], handle) != cudaSuccess) {
        cudaGetLastError();
        m_events[n] = nullptr;
        close();
        return false;
      }
    }
    return true;
  }
  void hold(const Instance<Kokkos::CudaSpace>& exec, int turn) const {
    const moho::detail::ScopedDevice on(exec);
    moho::detail::check_cuda(cudaStreamWaitEvent(exec.space().cuda_stream(), m_events[turn], 0),
                             "moho::stream::PeerWaits");
  }

 private:
  void close() {
    for (cudaEvent_t& event : m_events) {
      if (event != nullptr) cudaEventDestroy(event);
      event = nullptr;
    }
  }
  cudaEvent_t m_events[2] = {};
};

#endif

/// \brief Returns which ranks and their neighbours can write each other's device memory.
/// Collective.
///
/// Each rank writes a pattern into the memory of its neighbours, which wait for its event, if they
/// can open it, and compare the pattern. Ranks of hosts and of other machines, and those whose
/// system refuses, cannot.
/// \param exec instance on the device of this rank
template <class Memory>
StreamPeers test_peers(StreamRanks& ranks, const Instance<Memory>& exec) {
  using enum SlabSides::Side;
  using Side = SlabSides::Side;
  using Words = Kokkos::View<std::uint32_t*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  constexpr std::size_t count = std::size_t(1) << 16, bytes = count * sizeof(std::uint32_t);
  const auto pattern = [](int from, int to) {
    std::vector<std::uint32_t> words(count);
    for (std::size_t n = 0; n < count; ++n) {
      words[n] = static_cast<std::uint32_t>(n * 2654435761u + 97u * static_cast<unsigned>(from) +
                                            13u * static_cast<unsigned>(to));
    }
    return words;
  };
  PeerInbox<Memory> in[2];
  PeerOutbox<Memory> out[2];
  PeerSignals<Memory> signals[2];
  PeerWaits<Memory> waits[2];
  PeerOffer mine[2], theirs[2];
  SignalOffer my_signals[2], their_signals[2];
  std::array<char, 2> written{}, arrived{}, seen{}, read{}, opened{}, signalled{};
  // sends a value to each side and receives one from each
  const auto exchange = [&](const auto& sent, auto& received) {
    for (const Side side : {previous, next}) {
      if (!SlabSides::has_rank(ranks, side)) continue;
      ranks.receive(&received[side], sizeof(received[side]), SlabSides::rank_on(ranks, side));
      ranks.send(&sent[side], sizeof(sent[side]), SlabSides::rank_on(ranks, side));
    }
    ranks.wait_received();
    ranks.wait_sent();
  };
  for (const Side side : {previous, next}) {
    if (!SlabSides::has_rank(ranks, side)) continue;
    mine[side] = in[side].allocate(exec, bytes);
    if (mine[side].bytes > 0) my_signals[side] = signals[side].create(exec);
  }
  exchange(mine, theirs);
  exchange(my_signals, their_signals);
  for (const Side side : {previous, next}) {
    if (SlabSides::has_rank(ranks, side) && theirs[side].machine == mine[side].machine) {
      opened[side] = waits[side].open(exec, their_signals[side]) ? 1 : 0;
    }
  }
  exchange(opened, signalled);
  for (const Side side : {previous, next}) {
    if (!SlabSides::has_rank(ranks, side) || !out[side].open(exec, theirs[side])) continue;
    const std::vector<std::uint32_t> words = pattern(ranks.rank(), SlabSides::rank_on(ranks, side));
    copy(exec, Words(reinterpret_cast<std::uint32_t*>(out[side].data()), count),
         HostElements<const std::uint32_t>(words.data(), count));
    // the neighbour waits for the event, or this rank for the copy
    signalled[side] != 0 ? signals[side].set(exec, 0) : exec.fence();
    written[side] = 1;
  }
  exchange(written, arrived);
  for (const Side side : {previous, next}) {
    if (!SlabSides::has_rank(ranks, side) || arrived[side] == 0 || in[side].data() == nullptr)
      continue;
    std::vector<std::uint32_t> words(count);
    if (opened[side] != 0) waits[side].hold(exec, 0);
    copy(exec, HostElements<std::uint32_t>(words.data(), count),
         Words(reinterpret_cast<std::uint32_t*>(in[side].data()), count));
    exec.fence();
    seen[side] = words == pattern(SlabSides::rank_on(ranks, side), ranks.rank()) ? 1 : 0;
  }
  exchange(seen, read);
  StreamPeers result;
  bool all = true, none = true;
  for (const Side side : {previous, next}) {
    if (!SlabSides::has_rank(ranks, side)) continue;
    result.sides[side] = seen[side] != 0 && read[side] != 0;
    result.signals[side] = result.sides[side] && opened[side] != 0 && signalled[side] != 0;
    all = all && result.sides[side];
    none = none && !result.sides[side];
  }
  result.everywhere = ranks.least(all ? 1 : 0) == 1;
  result.anywhere = ranks.least(none ? 1 : 0) == 0;
  return result;
}

}  // namespace moho::stream
