// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A chain of devices whose members are MPI ranks, one device each.

#include <moho/mpi/mpi.hpp>
#include <moho/stream/engine.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::stream {

namespace detail {
/// Sends or receives elements in pieces that an int can count.
template <class T>
void add_messages(std::vector<MPI_Request>& requests, T* data, std::int64_t count, int rank,
                  int tag, MPI_Comm comm, bool sends) {
  constexpr std::int64_t most = (std::int64_t(1) << 30) / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t begin = 0; begin < count; begin += most) {
    const auto bytes =
        static_cast<int>(std::min(most, count - begin) * static_cast<std::int64_t>(sizeof(T)));
    requests.emplace_back();
    if (sends) {
      mpi::check(MPI_Isend(data + begin, bytes, MPI_BYTE, rank, tag, comm, &requests.back()),
                 "MPI_Isend");
    } else {
      mpi::check(MPI_Irecv(data + begin, bytes, MPI_BYTE, rank, tag, comm, &requests.back()),
                 "MPI_Irecv");
    }
  }
}
inline void wait_all(std::vector<MPI_Request>& requests) {
  mpi::check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
             "MPI_Waitall");
  requests.clear();
}
}  // namespace detail

/// \brief Runs a schedule whose devices are the ranks of a communicator: rank 0 has the volume, and
/// what a rank hands on goes to the next one as a message; the last one's goes back to rank 0.
///
/// All ranks call it, with the same schedule. While a rank steps, its messages are on their way.
/// \param comm as many ranks as the schedule has devices
/// \param schedule of the run
/// \param pipeline of this rank, whose number in the chain is the rank; begin() was called
/// \param volume on rank 0; null on the others
/// \returns nodes stepped by this rank, and a node that was not finite
/// \throws InputError for another number of ranks, or a volume in a file
template <class T, int Dim, class Memory>
StreamReport run_stream_ranks(MPI_Comm comm, const Schedule& schedule,
                              Pipeline<T, Dim, Memory>& pipeline, HostVolume<T, Dim>* volume) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (ranks != schedule.shape().devices || rank != pipeline.device()) {
    throw InputError(concat("ranks: there are ", ranks, " (allowed: ", schedule.shape().devices,
                            ", one for each device of the schedule)"));
  }
  if (volume != nullptr && volume->in_file()) {
    throw InputError(
        "volume: it is in a file (allowed: in memory): a chain of ranks does not say which of its "
        "sweeps are whole");
  }
  using Elements = Kokkos::View<T*, StagingMemory<Memory>>;
  StreamReport report;
  report.iterations = schedule.iterations();
  const std::int64_t most =
      pipeline.staging_elements(schedule.shape().block + 2 * schedule.shape().halo);
  const auto buffer = [&] {
    return Elements(Kokkos::view_alloc("moho::stream::message", Kokkos::WithoutInitializing),
                    static_cast<std::size_t>(most));
  };
  const Elements leaving = buffer(), arriving = buffer(), returning = buffer();
  const bool first = rank == 0, last = rank == ranks - 1;
  wave::detail::Pace pace(report.iterations);
  std::vector<MPI_Request> sends, receives;
  const auto elements = [&](const std::vector<StreamRange>& ranges) {
    std::int64_t sum = 0;
    for (const StreamRange& range : ranges) sum += pipeline.message_elements(range);
    return sum;
  };
  constexpr int on = 1, back = 2;  // tags
  for (std::int64_t i = 0; i < report.iterations; ++i) {
    const StreamWork work = schedule.iteration(i, rank);
    // what leaves was stepped by the iteration before
    T* to = leaving.data();
    for (const StreamRange& range : work.stores) {
      pipeline.pack(range, to);
      to += pipeline.message_elements(range);
    }
    pipeline.storing().fence();
    const bool alone = first && last;
    if (!alone) {
      detail::add_messages(sends, leaving.data(), elements(work.stores), last ? 0 : rank + 1,
                           last ? back : on, comm, true);
      if (!first) {
        detail::add_messages(receives, arriving.data(), elements(work.loads), rank - 1, on, comm,
                             false);
      }
    }
    const std::vector<StreamRange> ended =
        first ? schedule.iteration(i, ranks - 1).stores : std::vector<StreamRange>{};
    if (first && !alone) {
      detail::add_messages(receives, returning.data(), elements(ended), ranks - 1, back, comm,
                           false);
    }
    pipeline.step(work);
    if (first) {
      for (const StreamRange& range : work.loads) {
        pipeline.load(range, volume->parameters(), volume->state(), nullptr);
      }
    }
    detail::wait_all(receives);
    if (!first) {
      const T* from = arriving.data();
      for (const StreamRange& range : work.loads) {
        pipeline.unpack(range, from);
        from += pipeline.message_elements(range);
      }
    } else {
      const T* from = alone ? leaving.data() : returning.data();
      for (const StreamRange& range : ended) {
        pipeline.unload_message(range, volume->state(), from);
        from += pipeline.message_elements(range);
      }
    }
    detail::wait_all(sends);
    pipeline.stepping().fence();
    pipeline.loading().fence();
  }
  if (first) volume->commit(schedule.shape().steps);
  report.seconds = pace.seconds();
  report.points = pipeline.points();
  report.bad_node = pipeline.bad_node();
  return report;
}

/// The factors of sources by nodes, from rank 0 to all. \param factors those of node_factors() on
/// rank 0
template <class T, class Memory>
wave::Storage<const T, Memory> share_factors(MPI_Comm comm, const Instance<Memory>& exec,
                                             const wave::Storage<const T, Memory>& factors) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<T> values;
  if (rank == 0 && factors.size() > 0) values = download(exec, factors);
  auto count = static_cast<std::int64_t>(values.size());
  mpi::broadcast(comm, &count, 1);
  values.resize(static_cast<std::size_t>(count));
  mpi::broadcast(comm, values.data(), count);
  if (values.empty()) return {};
  return upload(exec, values, "moho::stream::factors");
}

}  // namespace moho::stream
