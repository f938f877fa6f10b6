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

namespace detail {

/// A rank of a chain: its buffers of messages and the stages of its iterations.
template <class T, int Dim, class Memory>
class RankOfChain {
 public:
  /// \param ranks,schedule,pipeline,volume,options as for run_stream_ranks(); they must outlive the
  ///   object
  RankOfChain(StreamRanks& ranks, const Schedule& schedule, Pipeline<T, Dim, Memory>& pipeline,
              HostVolume<T, Dim>* volume, const StreamRunOptions<T>& options)
      : m_ranks(ranks),
        m_schedule(schedule),
        m_pipeline(pipeline),
        m_volume(volume),
        m_options(options),
        m_rank(ranks.rank()),
        m_size(ranks.size()) {
    const std::int64_t max =
        pipeline.staging_elements(schedule.shape().block + 2 * schedule.shape().halo);
    const auto buffer = [&] {
      return Elements(Kokkos::view_alloc("moho::stream::message", Kokkos::WithoutInitializing),
                      static_cast<std::size_t>(max));
    };
    m_leaving = buffer();
    if (!first()) m_arriving = buffer();
    if (first() && !alone()) m_returning = buffer();
    m_spans.zero.record(pipeline.stepping());
  }

  /// Returns true on the rank with the volume.
  bool first() const { return m_rank == 0; }

  /// Stores, exchanges, steps and loads the planes of an iteration.
  void iteration(std::int64_t i, StreamReport& report) {
    m_noted = m_options.timeline != nullptr && i < m_options.noted;
    const StreamWork work = m_schedule.iteration(i, m_rank);
    const std::vector<StreamRange> ended =
        first() ? m_schedule.iteration(i, m_size - 1).stores : std::vector<StreamRange>{};
    pack_leaving(work);
    exchange(work, ended);
    noted(m_pipeline.stepping(), "steps", 0.0, !work.stages.empty(),
          [&] { m_pipeline.step(work); });
    const double arrives = m_pipeline.plane_bytes(true) * planes_of(work.loads);
    if (first()) {
      load_from_volume(work, arrives);
      report.bytes_in += arrives;
    }
    m_ranks.wait_received();
    if (first()) {
      unload_to_volume(ended);
      report.bytes_out += m_pipeline.plane_bytes(false) * planes_of(ended);
    } else {
      load_from_message(work, arrives);
    }
    m_ranks.wait_sent();
    m_pipeline.stepping().fence();
    m_pipeline.loading().fence();
  }

  /// Returns the nodes stepped by all ranks on the first one, 0 on the others.
  double points_of_all() {
    double points = m_pipeline.points();
    std::vector<double> others(static_cast<std::size_t>(m_size), 0.0);
    if (!first()) m_ranks.send(&points, sizeof(points), 0);
    for (int r = 1; first() && r < m_size; ++r) {
      m_ranks.receive(&others[static_cast<std::size_t>(r)], sizeof(double), r);
    }
    m_ranks.wait_received();
    m_ranks.wait_sent();
    for (const double one : others) points += one;
    return first() ? points : 0.0;
  }

  /// Adds the noted work of this rank to the timeline of the options, if it exists.
  void add_to_timeline() {
    if (m_options.timeline != nullptr) m_spans.add_to(*m_options.timeline);
  }

 private:
  using Elements = Kokkos::View<T*, StagingMemory<Memory>>;

  bool last() const { return m_rank == m_size - 1; }
  bool alone() const { return m_size == 1; }

  std::size_t bytes_of(const std::vector<StreamRange>& ranges) const {
    std::int64_t sum = 0;
    for (const StreamRange& range : ranges) sum += m_pipeline.message_elements(range);
    return static_cast<std::size_t>(sum) * sizeof(T);
  }
  static double planes_of(const std::vector<StreamRange>& ranges) {
    std::int64_t sum = 0;
    for (const StreamRange& range : ranges) sum += range.planes.count();
    return static_cast<double>(sum);
  }

  // Records the work of an instance as a span of the timeline.
  template <class Function>
  void noted(const Instance<Memory>& exec, const char* stage, double moved, bool any,
             const Function& function) {
    const bool note = any && m_noted;
    if (note) m_spans.begin(exec, concat(stage, " ", m_rank), stage, moved);
    function();
    if (note) m_spans.end(exec);
  }

  // Packs the planes that leave, which the previous iteration stepped, and waits for them.
  void pack_leaving(const StreamWork& work) {
    noted(m_pipeline.storing(), last() ? "to the host" : "to the next",
          static_cast<double>(bytes_of(work.stores)), !work.stores.empty(), [&] {
            T* to = m_leaving.data();
            for (const StreamRange& range : work.stores) {
              m_pipeline.pack(range, to);
              to += m_pipeline.message_elements(range);
            }
          });
    m_pipeline.storing().fence();
  }

  // Starts the messages of an iteration. \param ended planes that the last rank stores
  void exchange(const StreamWork& work, const std::vector<StreamRange>& ended) {
    if (alone()) return;
    if (!work.stores.empty()) {
      m_ranks.send(m_leaving.data(), bytes_of(work.stores), last() ? 0 : m_rank + 1);
    }
    if (!first() && !work.loads.empty()) {
      m_ranks.receive(m_arriving.data(), bytes_of(work.loads), m_rank - 1);
    }
    if (!ended.empty()) m_ranks.receive(m_returning.data(), bytes_of(ended), m_size - 1);
  }

  void load_from_volume(const StreamWork& work, double arrives) {
    noted(m_pipeline.loading(), "to the device", arrives, !work.loads.empty(), [&] {
      for (const StreamRange& range : work.loads) {
        m_pipeline.load(range, m_volume->parameters(), m_volume->state(), nullptr);
      }
    });
  }

  void load_from_message(const StreamWork& work, double arrives) {
    noted(m_pipeline.loading(), "to the device", arrives, !work.loads.empty(), [&] {
      const T* from = m_arriving.data();
      for (const StreamRange& range : work.loads) {
        m_pipeline.unpack(range, from);
        from += m_pipeline.message_elements(range);
      }
    });
  }

  void unload_to_volume(const std::vector<StreamRange>& ended) {
    const T* from = alone() ? m_leaving.data() : m_returning.data();
    for (const StreamRange& range : ended) {
      m_pipeline.unload_message(range, m_volume->state(), from);
      from += m_pipeline.message_elements(range);
    }
  }

  StreamRanks& m_ranks;
  const Schedule& m_schedule;
  Pipeline<T, Dim, Memory>& m_pipeline;
  HostVolume<T, Dim>* m_volume;  // null on other ranks than the first
  const StreamRunOptions<T>& m_options;
  int m_rank, m_size;
  bool m_noted = false;                         // the timeline has this iteration
  Elements m_leaving, m_arriving, m_returning;  // messages to the next, from the previous and last
  Spans<Memory> m_spans;
};

}  // namespace detail

template <class T, int Dim, class Memory>
StreamReport run_stream_ranks(StreamRanks& ranks, const Schedule& schedule,
                              Pipeline<T, Dim, Memory>& pipeline, HostVolume<T, Dim>* volume,
                              const StreamRunOptions<T>& options) {
  if (ranks.size() != schedule.shape().devices || ranks.rank() != pipeline.device()) {
    throw InputError(concat("ranks: there are ", ranks.size(), " (allowed: ",
                            schedule.shape().devices, ", one for each device of the schedule)"));
  }
  if (volume != nullptr && volume->in_file()) {
    throw InputError(
        "volume: it is in a file (allowed: in memory): a chain of ranks does not say which of its "
        "sweeps are whole");
  }
  StreamReport report;
  report.iterations = schedule.iterations();
  detail::RankOfChain<T, Dim, Memory> rank(ranks, schedule, pipeline, volume, options);
  wave::kernel::ProgressTimer pace(report.iterations);
  for (std::int64_t i = 0; i < report.iterations; ++i) {
    rank.iteration(i, report);
    if (options.progress && (pace.due(i + 1) || i + 1 == report.iterations)) {
      options.progress(pace.report(i + 1, pipeline.points()));
    }
  }
  if (rank.first()) volume->commit(schedule.shape().steps);
  report.seconds = pace.seconds();
  report.points = rank.points_of_all();
  report.bad = ranks.min(pipeline.bad());
  rank.add_to_timeline();
  return report;
}

}  // namespace moho::stream
