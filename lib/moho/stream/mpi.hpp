// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief MPI ranks as the processes of a stream: a chain of devices, one for each rank.

#include <moho/mpi/mpi.hpp>
#include <moho/stream/detail/rank_engine.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace moho::stream {

/// Ranks of a communicator.
class MpiRanks : public StreamRanks {
 public:
  /// \param communicator has to outlive the object, unless `owned` transfers its ownership
  /// \param owned true: the object frees the communicator
  /// \param collectively implementation of collectively(); empty: mpi::collectively()
  explicit MpiRanks(MPI_Comm communicator, bool owned = false,
                    std::function<void(const std::function<void()>&)> collectively = {})
      : m_communicator(communicator), m_owned(owned), m_together(std::move(collectively)) {}
  ~MpiRanks() override {
    int over = 0;
    MPI_Finalized(&over);
    if (m_owned && over == 0) MPI_Comm_free(&m_communicator);
  }

  int rank() const override { return mpi::rank_in(m_communicator); }
  int size() const override { return mpi::size_of(m_communicator); }
  void collectively(const std::function<void()>& function) override {
    m_together ? m_together(function) : mpi::collectively(m_communicator, function);
  }
  void broadcast(void* bytes, std::size_t count) override {
    mpi::broadcast(m_communicator, static_cast<char*>(bytes), static_cast<std::int64_t>(count));
  }
  std::int64_t min(std::int64_t value) override {
    std::int64_t result = value;
    mpi::check(MPI_Allreduce(&value, &result, 1, MPI_INT64_T, MPI_MIN, m_communicator),
               "MPI_Allreduce");
    return result;
  }
  int of_host(bool counts) override {
    MPI_Comm host = MPI_COMM_NULL;
    mpi::check(
        MPI_Comm_split_type(m_communicator, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
    const int mine = counts ? 1 : 0;
    int all = 0;
    mpi::check(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, host), "MPI_Allreduce");
    MPI_Comm_free(&host);
    return all;
  }
  std::unique_ptr<StreamRanks> part(int number) override {
    MPI_Comm some = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split(m_communicator, number < 0 ? MPI_UNDEFINED : number, rank(), &some),
               "MPI_Comm_split");
    if (some == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiRanks>(some, true);
  }
  void send(const void* bytes, std::size_t count, int to) override {
    in_pieces(static_cast<const char*>(bytes), count, [&](const char* at, int some) {
      mpi::check(MPI_Isend(at, some, MPI_BYTE, to, tag, m_communicator, &m_sent.emplace_back()),
                 "MPI_Isend");
    });
  }
  void receive(void* bytes, std::size_t count, int from) override {
    in_pieces(static_cast<char*>(bytes), count, [&](char* at, int some) {
      mpi::check(
          MPI_Irecv(at, some, MPI_BYTE, from, tag, m_communicator, &m_received.emplace_back()),
          "MPI_Irecv");
    });
  }
  void wait_received() override { wait(m_received); }
  void wait_sent() override { wait(m_sent); }

 private:
  static constexpr int tag = 714;
  // MPI counts with int
  template <class Byte, class Function>
  static void in_pieces(Byte* bytes, std::size_t count, const Function& function) {
    constexpr std::size_t piece = std::size_t(1) << 30;
    for (std::size_t at = 0; at < count; at += piece) {
      function(bytes + at, static_cast<int>(std::min(piece, count - at)));
    }
  }
  static void wait(std::vector<MPI_Request>& requests) {
    mpi::check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
               "MPI_Waitall");
    requests.clear();
  }

  MPI_Comm m_communicator;
  bool m_owned;
  std::function<void(const std::function<void()>&)> m_together;
  std::vector<MPI_Request> m_sent, m_received;
};

}  // namespace moho::stream
