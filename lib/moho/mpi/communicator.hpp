// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The ranks of MPI as processes that share the work of a run.

#include <moho/core/communicator.hpp>
#include <moho/core/rank_errors.hpp>
#include <moho/mpi/counter.hpp>
#include <moho/mpi/merge.hpp>
#include <moho/mpi/mpi.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace moho::mpi {

/// \brief The ranks of a communicator of MPI. Functions throw Error if a call of MPI fails.
class MpiCommunicator : public Communicator {
 public:
  /// \brief Creates the processes of a communicator. Collective, as is the destructor.
  /// \param communicator of the ranks, such as Session::communicator(); must outlive the object
  explicit MpiCommunicator(MPI_Comm communicator)
      : m_communicator(communicator),
        m_rank(rank_in(communicator)),
        m_size(size_of(communicator)) {}

  /// Ends the counter and messages, before MPI is finalised. Collective; only rank() and size() are
  /// called afterwards.
  void finish() {
    m_messages.reset();
    m_counter.reset();
  }

  int rank() const override { return m_rank; }
  int size() const override { return m_size; }
  void collectively(const std::function<void()>& function) override {
    mpi::collectively(m_communicator, function);
  }
  void broadcast(void* bytes, std::size_t count) override {
    mpi::broadcast(m_communicator, static_cast<char*>(bytes), static_cast<std::int64_t>(count));
  }
  void sum_to_root(std::vector<double>& values) override {
    reduce_to_root(m_communicator, values.data(), static_cast<std::int64_t>(values.size()));
  }
  void merge_to_root(const std::function<std::string()>& pack,
                     const std::function<void(std::string&&)>& merge) override {
    mpi::merge_to_root(m_communicator, pack, merge);
  }

  void restart_counter() override {
    if (m_counter) return m_counter->restart(1);
    m_counter.emplace(m_communicator, 1);
  }
  /// \copydoc Communicator::next_item() \pre restart_counter() was called
  std::int64_t next_item() override { return m_counter->next(); }
  void send_to_root(const std::string& bytes) override { messages().send(bytes); }
  /// \copydoc Communicator::received() \throws the error of a rank that called
  /// leave_error_to_root()
  std::vector<std::string> received(bool wait) override {
    std::vector<std::string> all = messages().received(wait);
    for (const std::string& bytes : all) throw_error_of(bytes);
    return all;
  }

 private:
  Outbox& messages() {
    if (!m_messages) m_messages.emplace(m_communicator);
    return *m_messages;
  }

  MPI_Comm m_communicator;
  int m_rank, m_size;
  std::optional<Counter> m_counter;
  std::optional<Outbox> m_messages;  // destroyed before the counter
};

}  // namespace moho::mpi
