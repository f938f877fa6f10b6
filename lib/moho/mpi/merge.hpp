// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Results sent to one rank during the computation, and partial sums merged at its end.

#include <moho/mpi/mpi.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace moho::mpi {

/// \brief Messages of bytes to the root, sent and received without waiting.
///
///     Outbox outbox(communicator);
///     for (auto k = counter.next(); k < shots; k = counter.next()) {
///       outbox.send(compute(k));
///       for (const auto& result : outbox.received()) add(result);  // on the root
///     }
///     outbox.finish();
///
/// Long messages are transferred while both ranks call functions of MPI. Messages of one rank
/// arrive in order.
class Outbox {
 public:
  /// \param communicator of the ranks; must outlive the object
  /// \param root rank that receives
  /// \param piece bytes per message of MPI, less than 2^31
  explicit Outbox(MPI_Comm communicator, int root = 0, std::int64_t piece = default_piece)
      : m_communicator(communicator), m_root(root), m_piece(piece) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  /// Waits until all messages are sent, and cancels those that were not received.
  ~Outbox() {
    for (Message& message : m_sent) {
      MPI_Waitall(static_cast<int>(message.requests.size()), message.requests.data(),
                  MPI_STATUSES_IGNORE);
    }
    for (Message& message : m_incoming) {
      for (MPI_Request& request : message.requests) {
        if (request == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    }
  }

  /// Begins to send bytes to the root, which may be this rank. Not collective.
  void send(std::string bytes) {
    for (auto message = m_sent.begin(); message != m_sent.end();) {
      message = is_complete(*message) ? m_sent.erase(message) : std::next(message);
    }
    Message& message = m_sent.emplace_back();
    message.bytes = std::move(bytes);
    message.size = static_cast<std::int64_t>(message.bytes.size());
    check(MPI_Isend(&message.size, 1, MPI_INT64_T, m_root, size_tag, m_communicator,
                    &message.requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
    each_piece(message, [&](char* data, int count, MPI_Request* request) {
      check(MPI_Isend(data, count, MPI_BYTE, m_root, data_tag, m_communicator, request),
            "MPI_Isend");
    });
  }

  /// Returns the messages that have arrived at the root. Not collective.
  /// \param wait true: waits for a message if no message has arrived
  std::vector<std::string> received(bool wait = false) {
    for (;;) {
      while (accept(false)) {
      }
      std::vector<std::string> complete;
      for (auto message = m_incoming.begin(); message != m_incoming.end();) {
        if (!is_complete(*message)) {
          ++message;
          continue;
        }
        complete.push_back(std::move(message->bytes));
        message = m_incoming.erase(message);
      }
      if (!wait || !complete.empty()) return complete;
      if (m_incoming.empty()) {
        accept(true);
        continue;
      }
      Message& first = m_incoming.front();
      check(MPI_Waitall(static_cast<int>(first.requests.size()), first.requests.data(),
                        MPI_STATUSES_IGNORE),
            "MPI_Waitall");
    }
  }

  /// Waits until the root has received the messages of this rank. The root must call received().
  void finish() {
    for (Message& message : m_sent) {
      check(MPI_Waitall(static_cast<int>(message.requests.size()), message.requests.data(),
                        MPI_STATUSES_IGNORE),
            "MPI_Waitall");
    }
    m_sent.clear();
  }

 private:
  static constexpr int size_tag = 714, data_tag = 715;
  struct Message {
    std::int64_t size = 0;
    std::string bytes;
    std::vector<MPI_Request> requests;  // of the size and all pieces
  };

  // Calls transfer(data, count, request) for each piece of a message.
  template <class Transfer>
  void each_piece(Message& message, const Transfer& transfer) {
    for (std::int64_t at = 0; at < message.size; at += m_piece) {
      const int some = static_cast<int>(std::min(m_piece, message.size - at));
      MPI_Request request = MPI_REQUEST_NULL;
      transfer(message.bytes.data() + at, some, &request);
      message.requests.push_back(request);
    }
  }
  static bool is_complete(Message& message) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(message.requests.size()), message.requests.data(), &done,
                      MPI_STATUSES_IGNORE),
          "MPI_Testall");
    return done != 0;
  }
  // Begins to receive a message whose size has arrived. Returns false if no size has arrived.
  bool accept(bool wait) {
    MPI_Status status;
    int found = 1;
    if (wait) {
      check(MPI_Probe(MPI_ANY_SOURCE, size_tag, m_communicator, &status), "MPI_Probe");
    } else {
      check(MPI_Iprobe(MPI_ANY_SOURCE, size_tag, m_communicator, &found, &status), "MPI_Iprobe");
    }
    if (found == 0) return false;
    const int source = status.MPI_SOURCE;
    Message& message = m_incoming.emplace_back();
    check(MPI_Recv(&message.size, 1, MPI_INT64_T, source, size_tag, m_communicator,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    message.bytes.resize(static_cast<std::size_t>(message.size));
    each_piece(message, [&](char* data, int count, MPI_Request* request) {
      check(MPI_Irecv(data, count, MPI_BYTE, source, data_tag, m_communicator, request),
            "MPI_Irecv");
    });
    return true;
  }

  MPI_Comm m_communicator;
  int m_root;
  std::int64_t m_piece;
  std::list<Message> m_sent, m_incoming;
};

/// \brief Merges a value of each rank into that of the root, along a binomial tree. Collective.
///
/// Each rank sends one message, and the time grows with the logarithm of the number of ranks.
/// \param communicator of the ranks
/// \param pack returns the value of this rank as std::string; not called on the root
/// \param merge receives the packed value of another rank, as std::string&&
/// \param root rank that has the result
/// \param piece bytes per message of MPI, less than 2^31
template <class Pack, class Merge>
void merge_to_root(MPI_Comm communicator, const Pack& pack, const Merge& merge, int root = 0,
                   std::int64_t piece = default_piece) {
  constexpr int tag = 716;
  const int size = size_of(communicator);
  const int relative = (rank_in(communicator) - root + size) % size;
  for (int step = 1; step < size; step *= 2) {
    if ((relative & step) != 0) {
      const int to = (relative - step + root) % size;
      const std::string bytes = pack();
      const auto count = static_cast<std::int64_t>(bytes.size());
      check(MPI_Send(&count, 1, MPI_INT64_T, to, tag, communicator), "MPI_Send");
      for (std::int64_t at = 0; at < count; at += piece) {
        check(MPI_Send(bytes.data() + at, static_cast<int>(std::min(piece, count - at)), MPI_BYTE,
                       to, tag, communicator),
              "MPI_Send");
      }
      return;
    }
    if (relative + step >= size) continue;
    const int from = (relative + step + root) % size;
    std::int64_t count = 0;
    check(MPI_Recv(&count, 1, MPI_INT64_T, from, tag, communicator, MPI_STATUS_IGNORE), "MPI_Recv");
    std::string bytes(static_cast<std::size_t>(count), '\0');
    for (std::int64_t at = 0; at < count; at += piece) {
      check(MPI_Recv(bytes.data() + at, static_cast<int>(std::min(piece, count - at)), MPI_BYTE,
                     from, tag, communicator, MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
    merge(std::move(bytes));
  }
}

}  // namespace moho::mpi
