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
#include <moho/core/cuda.hpp>
#include <moho/core/event.hpp>
#include <moho/stream/ranks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <type_traits>
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
  void record(const Instance<Memory>&, int) {}
};

/// The events of a neighbour.
template <class Memory>
class PeerWaits {
 public:
  /// Opens the events. \return false if that is not possible
  bool open(const Instance<Memory>&, const SignalOffer&) { return false; }
  /// Later work of an instance waits for an event that has been set.
  void make_wait(const Instance<Memory>&, int) const {}
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

/// Returns true for success; else clears the error state of the runtime.
inline bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

/// Writes a handle of CUDA into an offer.
template <class Handle, std::size_t Bytes>
void write_handle(const Handle& handle, unsigned char (&offer)[Bytes]) {
  static_assert(sizeof(Handle) <= Bytes);
  std::memcpy(offer, &handle, sizeof(Handle));
}
/// Returns the handle of CUDA in an offer.
template <class Handle, std::size_t Bytes>
Handle read_handle(const unsigned char (&offer)[Bytes]) {
  static_assert(sizeof(Handle) <= Bytes);
  Handle handle;
  std::memcpy(&handle, offer, sizeof(Handle));
  return handle;
}

/// Device memory that other processes may have mapped.
struct SharedMemory {
  char* data = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  bool used = true;
};

/// A pair of events that other processes may have opened.
struct SharedEvents {
  cudaEvent_t events[2] = {};
  int device = 0;
  bool used = true;
};

/// \brief Resources of devices that other processes may use: SharedMemory or SharedEvents.
///
/// A process must not free memory that another one still maps, or destroy an event for which
/// another one may still wait. What was given back is therefore kept for later calls of take(),
/// until the process ends.
template <class Resource>
class SharedResources {
 public:
  /// Gives a resource back.
  struct Give {
    void operator()(Resource* one) const {
      const std::lock_guard lock(instance().m_mutex);
      one->used = false;
    }
  };
  /// A resource in use.
  using Taken = std::unique_ptr<Resource, Give>;

  /// \brief Returns a resource of the current device, null if none can be made.
  /// \param device number of the current device
  /// \param suits returns true for a kept resource that may be used again
  /// \param make makes a resource, and returns false if the system refuses
  template <class Suits, class Make>
  static Taken take(int device, const Suits& suits, const Make& make) {
    SharedResources& all = instance();
    const std::lock_guard lock(all.m_mutex);
    for (const std::unique_ptr<Resource>& one : all.m_all) {
      if (one->used || one->device != device || !suits(*one)) continue;
      one->used = true;
      return Taken(one.get());
    }
    auto made = std::make_unique<Resource>();
    made->device = device;
    if (!make(*made)) return Taken();
    all.m_all.push_back(std::move(made));
    return Taken(all.m_all.back().get());
  }

 private:
  static SharedResources& instance() {
    static SharedResources all;
    return all;
  }
  std::mutex m_mutex;
  std::vector<std::unique_ptr<Resource>> m_all;
};

}  // namespace detail

template <>
class PeerInbox<Kokkos::CudaSpace> {
 public:
  /// Replaces the memory. \return what another process needs to map it
  PeerOffer allocate(const Instance<Kokkos::CudaSpace>& exec, std::size_t bytes) {
    const moho::detail::ScopedDevice on(exec);
    m_memory.reset();
    m_memory = Resources::take(
        exec.space().cuda_device(),
        [bytes](const detail::SharedMemory& one) { return one.bytes >= bytes; },
        [bytes](detail::SharedMemory& one) {
          void* data = nullptr;
          const bool made = detail::succeeded(cudaMalloc(&data, bytes));
          one.data = static_cast<char*>(data);
          one.bytes = bytes;
          return made;
        });
    PeerOffer offer;
    cudaIpcMemHandle_t handle;
    if (!m_memory || !detail::succeeded(cudaIpcGetMemHandle(&handle, m_memory->data))) {
      m_memory.reset();
      return offer;
    }
    offer.bytes = static_cast<std::int64_t>(bytes);
    offer.machine = detail::machine_id();
    detail::write_handle(handle, offer.handle);
    return offer;
  }
  char* data() const { return m_memory ? m_memory->data : nullptr; }

 private:
  using Resources = detail::SharedResources<detail::SharedMemory>;
  Resources::Taken m_memory;
};

template <>
class PeerOutbox<Kokkos::CudaSpace> {
 public:
  /// Maps memory in place of that before. \return false if it cannot be mapped
  bool open(const Instance<Kokkos::CudaSpace>& exec, const PeerOffer& offer) {
    const moho::detail::ScopedDevice on(exec);
    m_data.reset();
    if (offer.bytes == 0 || offer.machine != detail::machine_id()) return false;
    void* data = nullptr;
    if (!detail::succeeded(
            cudaIpcOpenMemHandle(&data, detail::read_handle<cudaIpcMemHandle_t>(offer.handle),
                                 cudaIpcMemLazyEnablePeerAccess))) {
      return false;
    }
    m_data.reset(static_cast<char*>(data));
    return true;
  }
  char* data() const { return m_data.get(); }

 private:
  struct Close {
    void operator()(char* data) const { cudaIpcCloseMemHandle(data); }
  };
  std::unique_ptr<char, Close> m_data;
};

template <>
class PeerSignals<Kokkos::CudaSpace> {
 public:
  /// Creates the events. \return what another process needs to open them
  SignalOffer create(const Instance<Kokkos::CudaSpace>& exec) {
    const moho::detail::ScopedDevice on(exec);
    m_pair.reset();
    m_pair = Resources::take(
        exec.space().cuda_device(), [](const detail::SharedEvents&) { return true; },
        [](detail::SharedEvents& one) {
          constexpr unsigned int flags = cudaEventDisableTiming | cudaEventInterprocess;
          return detail::succeeded(cudaEventCreateWithFlags(&one.events[0], flags)) &&
                 detail::succeeded(cudaEventCreateWithFlags(&one.events[1], flags));
        });
    SignalOffer offer;
    for (int n = 0; m_pair && n < 2; ++n) {
      cudaIpcEventHandle_t handle;
      if (!detail::succeeded(cudaIpcGetEventHandle(&handle, m_pair->events[n]))) {
        m_pair.reset();
        return offer;
      }
      detail::write_handle(handle, offer.handles[n]);
    }
    if (m_pair) offer.count = 2;
    return offer;
  }
  void record(const Instance<Kokkos::CudaSpace>& exec, int turn) {
    const moho::detail::ScopedDevice on(exec);
    moho::check_cuda(cudaEventRecord(m_pair->events[turn], exec.space().cuda_stream()),
                     "moho::stream::PeerSignals");
  }

 private:
  using Resources = detail::SharedResources<detail::SharedEvents>;
  Resources::Taken m_pair;
};

template <>
class PeerWaits<Kokkos::CudaSpace> {
 public:
  /// Opens the events. \return false if that is not possible
  bool open(const Instance<Kokkos::CudaSpace>& exec, const SignalOffer& offer) {
    const moho::detail::ScopedDevice on(exec);
    close();
    if (offer.count != 2) return false;
    for (int n = 0; n < 2; ++n) {
      cudaEvent_t event = nullptr;
      if (!detail::succeeded(cudaIpcOpenEventHandle(
              &event, detail::read_handle<cudaIpcEventHandle_t>(offer.handles[n])))) {
        close();
        return false;
      }
      m_events[n].reset(event);
    }
    return true;
  }
  void make_wait(const Instance<Kokkos::CudaSpace>& exec, int turn) const {
    const moho::detail::ScopedDevice on(exec);
    moho::check_cuda(cudaStreamWaitEvent(exec.space().cuda_stream(), m_events[turn].get(), 0),
                     "moho::stream::PeerWaits");
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  void close() {
    for (Event& event : m_events) event.reset();
  }
  using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;
  Event m_events[2];
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
    signalled[side] != 0 ? signals[side].record(exec, 0) : exec.fence();
    written[side] = 1;
  }
  exchange(written, arrived);
  for (const Side side : {previous, next}) {
    if (!SlabSides::has_rank(ranks, side) || arrived[side] == 0 || in[side].data() == nullptr)
      continue;
    std::vector<std::uint32_t> words(count);
    if (opened[side] != 0) waits[side].make_wait(exec, 0);
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
  result.everywhere = ranks.min(all ? 1 : 0) == 1;
  result.anywhere = ranks.min(none ? 1 : 0) == 0;
  return result;
}

}  // namespace moho::stream
