// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Interface to the communicating processes of a stream; moho/stream/mpi.hpp implements it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace moho::stream {

/// Ranks that write into the memory of each other's devices.
struct StreamPeers {
  std::array<bool, 2> sides = {};  ///< this rank and the previous one; this rank and the next one
  /// The same sides, where ranks also wait for events of each other's devices.
  std::array<bool, 2> signals = {};
  bool anywhere = false;    ///< some neighbours among all ranks
  bool everywhere = false;  ///< all neighbours among all ranks
};

/// \brief Processes with a device each. Functions are collective unless stated otherwise.
class StreamRanks {
 public:
  StreamRanks() = default;
  StreamRanks(const StreamRanks&) = delete;
  StreamRanks& operator=(const StreamRanks&) = delete;
  virtual ~StreamRanks() = default;

  /// Returns the number of this process, from 0. Not collective.
  virtual int rank() const = 0;
  /// Returns the number of processes. Not collective.
  virtual int size() const = 0;
  /// Calls a function on every rank. If it throws on one, all throw the same exception.
  virtual void collectively(const std::function<void()>& function) = 0;
  /// Sends plain bytes of rank 0 to all ranks.
  virtual void broadcast(void* bytes, std::size_t count) = 0;
  /// Returns the minimum of the values of all ranks.
  virtual std::int64_t min(std::int64_t value) = 0;
  /// Returns the number of ranks on this rank's machine that pass true, including this one.
  virtual int of_host(bool counts) = 0;
  /// \brief Returns the ranks with the same number as a separate group, in the same order.
  /// \param number not negative; a negative one excludes this rank, which receives null
  virtual std::unique_ptr<StreamRanks> part(int number) = 0;

  /// Starts to send bytes, which must stay unchanged until wait_sent().
  ///
  /// Messages between two ranks arrive in the order in which they were sent. Not collective.
  virtual void send(const void* bytes, std::size_t count, int to) = 0;
  /// Starts to receive bytes, as many as are sent. Not collective.
  virtual void receive(void* bytes, std::size_t count, int from) = 0;
  /// Waits until all started receptions are complete. Not collective.
  virtual void wait_received() = 0;
  /// Waits until all started transmissions are complete. Not collective.
  virtual void wait_sent() = 0;

  /// \brief Returns where planes pass between ranks, in words for summaries. Not collective.
  std::string exchange() const {
    if (!m_peers) return "host memory";
    return m_peers->everywhere ? "device memory"
           : m_peers->anywhere ? "device memory and page-locked host memory"
                               : "page-locked host memory";
  }
  /// \brief Returns whether the previous and the next rank write planes into the memory of this
  /// rank's device, and this rank into that of theirs. Not collective.
  ///
  /// The first exchange between devices tests it; before, and on hosts, it has no value. Planes
  /// of other neighbours pass through page-locked memory and messages.
  const std::optional<StreamPeers>& peers() const { return m_peers; }
  /// Sets peers(), in place of a test. Neighbours must agree. Not collective.
  void set_peers(const StreamPeers& peers) { m_peers = peers; }

 private:
  std::optional<StreamPeers> m_peers;
};

}  // namespace moho::stream
