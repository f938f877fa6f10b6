// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Chain of devices whose members are processes with one device each.

#include <moho/stream/engine.hpp>
#include <moho/stream/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::stream {

/// \brief Runs a schedule whose devices are processes; rank 0 holds the volume.
///
/// The output of a rank is a message to the next one; that of the last rank returns to rank 0. All
/// ranks call the function, with the same schedule. Messages of a rank are concurrent with its
/// steps.
/// \param ranks as many as the schedule has devices
/// \param schedule of the run
/// \param pipeline of this rank, whose number in the chain is the rank; begin() was called
/// \param volume on rank 0; null on the others
/// \param options progress, which receives the nodes of this rank, and the timeline of this rank;
///   other members are ignored
/// \returns nodes stepped by all ranks and bytes between volume and chain on rank 0, 0 nodes on the
///   others; on all ranks a node that was not finite on one of them
/// \throws InputError for another number of ranks, or a volume in a file
template <class T, int Dim, class Memory>
StreamReport run_stream_ranks(StreamRanks& ranks, const Schedule& schedule,
                              Pipeline<T, Dim, Memory>& pipeline, HostVolume<T, Dim>* volume,
                              const StreamRunOptions<T>& options = {});

/// Sends the factors of sources by nodes from rank 0 to all ranks.
/// \param factors those of node_factors() on rank 0
template <class T, class Memory>
wave::Storage<const T, Memory> share_factors(StreamRanks& ranks, const Instance<Memory>& exec,
                                             const wave::Storage<const T, Memory>& factors) {
  std::vector<T> values;
  if (ranks.rank() == 0 && factors.size() > 0) values = download(exec, factors);
  auto count = static_cast<std::int64_t>(values.size());
  ranks.broadcast(&count, sizeof(count));
  values.resize(static_cast<std::size_t>(count));
  ranks.broadcast(values.data(), values.size() * sizeof(T));
  if (values.empty()) return {};
  return upload(exec, values, "moho::stream::factors");
}

template <class T, int Dim, class Memory>
StreamReport run_stream_ranks(StreamRanks& ranks, const Schedule& schedule,
                              Pipeline<T, Dim, Memory>& pipeline, HostVolume<T, Dim>* volume,
                              const StreamRunOptions<T>& options) {
  const int rank = ranks.rank(), size = ranks.size();
  if (size != schedule.shape().devices || rank != pipeline.device()) {
    throw InputError(concat("ranks: there are ", size, " (allowed: ", schedule.shape().devices,
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
  const bool first = rank == 0, last = rank == size - 1, alone = size == 1;
  const Elements leaving = buffer(), arriving = first ? Elements() : buffer(),
                 returning = first && !alone ? buffer() : Elements();
  wave::kernel::ProgressTimer pace(report.iterations);
  const auto bytes = [&](const std::vector<StreamRange>& ranges) {
    std::int64_t sum = 0;
    for (const StreamRange& range : ranges) sum += pipeline.message_elements(range);
    return static_cast<std::size_t>(sum) * sizeof(T);
  };
  const auto planes = [](const std::vector<StreamRange>& ranges) {
    std::int64_t sum = 0;
    for (const StreamRange& range : ranges) sum += range.planes.count();
    return static_cast<double>(sum);
  };
  detail::Spans<Memory> spans;
  spans.zero.set(pipeline.stepping());
  for (std::int64_t i = 0; i < report.iterations; ++i) {
    // records the work of an instance as a span of the timeline
    const auto noted = [&](const Instance<Memory>& exec, const char* stage, double moved, bool any,
                           const auto& function) {
      const bool note = any && options.timeline != nullptr && i < options.noted;
      if (note) spans.begin(exec, concat(stage, " ", rank), stage, moved);
      function();
      if (note) spans.end(exec);
    };
    const StreamWork work = schedule.iteration(i, rank);
    const std::vector<StreamRange> ended =
        first ? schedule.iteration(i, size - 1).stores : std::vector<StreamRange>{};
    // the previous iteration stepped the planes that leave
    noted(pipeline.storing(), last ? "to the host" : "to the next",
          static_cast<double>(bytes(work.stores)), !work.stores.empty(), [&] {
            T* to = leaving.data();
            for (const StreamRange& range : work.stores) {
              pipeline.pack(range, to);
              to += pipeline.message_elements(range);
            }
          });
    pipeline.storing().fence();
    if (!alone) {
      if (!work.stores.empty()) ranks.send(leaving.data(), bytes(work.stores), last ? 0 : rank + 1);
      if (!first && !work.loads.empty()) {
        ranks.receive(arriving.data(), bytes(work.loads), rank - 1);
      }
      if (!ended.empty()) ranks.receive(returning.data(), bytes(ended), size - 1);
    }
    noted(pipeline.stepping(), "steps", 0.0, !work.stages.empty(), [&] { pipeline.step(work); });
    const double arrives = pipeline.plane_bytes(true) * planes(work.loads);
    if (first) {
      noted(pipeline.loading(), "to the device", arrives, !work.loads.empty(), [&] {
        for (const StreamRange& range : work.loads) {
          pipeline.load(range, volume->parameters(), volume->state(), nullptr);
        }
      });
      report.bytes_in += arrives;
    }
    ranks.wait_received();
    if (!first) {
      noted(pipeline.loading(), "to the device", arrives, !work.loads.empty(), [&] {
        const T* from = arriving.data();
        for (const StreamRange& range : work.loads) {
          pipeline.unpack(range, from);
          from += pipeline.message_elements(range);
        }
      });
    } else {
      const T* from = alone ? leaving.data() : returning.data();
      for (const StreamRange& range : ended) {
        pipeline.unload_message(range, volume->state(), from);
        from += pipeline.message_elements(range);
      }
      report.bytes_out += pipeline.plane_bytes(false) * planes(ended);
    }
    ranks.wait_sent();
    pipeline.stepping().fence();
    pipeline.loading().fence();
    if (options.progress && (pace.due(i + 1) || i + 1 == report.iterations)) {
      options.progress(pace.report(i + 1, pipeline.points()));
    }
  }
  if (first) volume->commit(schedule.shape().steps);
  report.seconds = pace.seconds();
  // nodes of all ranks, on rank 0
  double points = pipeline.points();
  std::vector<double> others(static_cast<std::size_t>(size), 0.0);
  if (!first) ranks.send(&points, sizeof(points), 0);
  for (int r = 1; first && r < size; ++r) {
    ranks.receive(&others[static_cast<std::size_t>(r)], sizeof(double), r);
  }
  ranks.wait_received();
  ranks.wait_sent();
  for (const double one : others) points += one;
  report.points = first ? points : 0.0;
  report.bad = ranks.least(pipeline.bad());
  if (options.timeline != nullptr) spans.add_to(*options.timeline);
  return report;
}

}  // namespace moho::stream
