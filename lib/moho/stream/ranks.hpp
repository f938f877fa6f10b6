// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What a stream needs of processes that work together, without saying by what messages
/// they do: moho/stream/mpi.hpp has that of MPI.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace moho::stream {

/// \brief Processes with a device each. Functions are collective, except where they say otherwise.
class StreamRanks {
 public:
  StreamRanks() = default;
  StreamRanks(const StreamRanks&) = delete;
  StreamRanks& operator=(const StreamRanks&) = delete;
  virtual ~StreamRanks() = default;

  /// The number of this one, from 0. Not collective.
  virtual int rank() const = 0;
  /// How many there are. Not collective.
  virtual int size() const = 0;
  /// Calls a function on every rank. If it throws on one, all throw the same.
  virtual void together(const std::function<void()>& function) = 0;
  /// Sends plain bytes of rank 0 to all.
  virtual void broadcast(void* bytes, std::size_t count) = 0;
  /// The least of the values that the ranks give.
  virtual std::int64_t least(std::int64_t value) = 0;
  /// How many ranks of this one's machine give true, this one included.
  virtual int of_host(bool counts) = 0;
  /// \brief Ranks with the same number, as processes of their own, in the same order.
  /// \param number not negative; a negative one: this rank belongs to none, and gets null
  virtual std::unique_ptr<StreamRanks> part(int number) = 0;

  /// Begins to send bytes, which stay as they are until wait(). Messages from one rank to another
  /// arrive in the order in which they were sent. Not collective.
  virtual void send(const void* bytes, std::size_t count, int to) = 0;
  /// Begins to receive bytes, as many as are sent. Not collective.
  virtual void receive(void* bytes, std::size_t count, int from) = 0;
  /// Waits until all that was begun to be received is there. Not collective.
  virtual void wait_received() = 0;
  /// Waits until all that was begun to be sent has left. Not collective.
  virtual void wait_sent() = 0;
};

}  // namespace moho::stream
