// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/wave_fields.hpp"
#include "stream_waves/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/domain/expand.hpp>
#include <moho/stream/modelling.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace moho::examples::stream_waves {

namespace detail {

/// \brief Removes the file of a volume when its shot is done, and when the shot is refused.
///
/// A file that existed before this run is kept unless remove() is called.
class VolumeGuard {
 public:
  explicit VolumeGuard(const std::string& path) : m_path(path) {
    std::error_code ignored;
    m_armed = !path.empty() && !std::filesystem::exists(path, ignored);
  }
  VolumeGuard(const VolumeGuard&) = delete;
  VolumeGuard& operator=(const VolumeGuard&) = delete;
  ~VolumeGuard() {
    if (m_armed) remove();
  }
  /// Keeps the file for --resume: a failure while steps are computed does not remove it.
  void keep() { m_armed = false; }
  /// Removes the file. Mapped pages stay readable.
  void remove() {
    std::error_code ignored;
    if (!m_path.empty()) std::filesystem::remove(m_path, ignored);
    m_armed = false;
  }

 private:
  std::string m_path;
  bool m_armed = false;
};

/// Streams shots, one after the other on each chain. Those of a volume in memory share it; each
/// with a file has one of its own, which no other shot can go on with.
template <class T, int Dim, class Memory>
class Shots {
 public:
  Shots(const Instance<Memory>& exec, const WaveJob<T, Dim>& job, const StreamJob<T>& streaming)
      : m_exec(exec), m_job(job), m_streaming(streaming) {}

  Report run() {
    m_report.device = device_name(m_exec);
    m_report.threads = m_exec.concurrency();
    std::size_t first = 0;
    while (first < m_job.shots.size() && m_job.is_there(first)) ++first;
    const std::size_t planned = first < m_job.shots.size() ? first : 0;
    // a run that was ended between a gather and this left the volume of a shot that is done
    for (std::size_t k = 0; k < m_job.shots.size() && m_streaming.resume; ++k) {
      if (m_streaming.file.empty() || !m_job.is_there(k) || m_streaming.only_plan) continue;
      if (stream::is_volume_of(m_streaming.file, key_of(k))) {
        VolumeGuard(m_streaming.file).remove();
      }
    }
    plan(planned);
    m_report.take(m_stream->modelling());
    m_report.bytes = m_stream->plan().device_bytes;
    m_report.plan = m_stream->plan();
    m_report.need = m_stream->need();
    m_report.rates = m_stream->rates();
    m_report.chains = m_stream->chains();
    m_streaming.planned(m_report);
    // a file that cannot be used is found before anything is written
    std::optional<VolumeGuard> file;
    if (!m_streaming.file.empty() && first < m_job.shots.size() && !m_streaming.only_plan) {
      file.emplace(m_streaming.file);
      prepare();
    }
    if (!m_job.begins(m_report)) return m_report;
    if (m_streaming.ranks != nullptr && first < m_job.shots.size()) {
      m_job.together([&] { prepare(); });
    }
    std::vector<std::size_t> some;  // that are modelled side by side
    const auto model = [&] {
      if (some.empty()) return;
      if (!m_prepared) prepare();
      shots(some, file ? &*file : nullptr, some.front() == first);
      some.clear();
    };
    for (std::size_t k = first; k < m_job.shots.size() && !m_stream->idle(); ++k) {
      if (!takes(k)) continue;
      if (!m_streaming.file.empty() && k > first) {
        file.emplace(m_streaming.file);
        plan(k);
      }
      some.push_back(k);
      if (static_cast<int>(some.size()) == m_stream->chains()) model();
    }
    model();
    return m_report;
  }

 private:
  using Stream = stream::Streaming<T, Dim, Memory>;

  // The library's messages in the words of options.
  template <class Function>
  auto in_options(const Function& function) const {
    try {
      return function();
    } catch (const InputError& error) {
      std::string text = error.what();
      if (text.rfind("device memory", 0) == 0) text[6] = '-';
      throw InputError(m_job.in_options(text, {{"device-memory", "--device-memory"},
                                               {"block", "--block"},
                                               {"updates", "--updates"},
                                               {"lag", "--lag"},
                                               {"devices", "--devices"},
                                               {"groups", "--groups"}}));
    } catch (const MemoryError& error) {
      const std::string text = error.what();
      if (text.rfind("a device memory", 0) != 0) throw;
      throw MemoryError("--device-memory: " + text);
    } catch (const FileError& error) {
      throw FileError(concat("--host-volume: ", error.what()));
    }
  }

  // Is a shot this chain's? All of its ranks know.
  bool takes(std::size_t k) const {
    char mine = m_stream->leads() && m_job.takes(k) ? 1 : 0;
    if (stream::StreamRanks* const chain = m_stream->chain_ranks()) {
      chain->broadcast(&mine, sizeof(mine));
    }
    return mine != 0;
  }

  // What the volume of a shot is known by.
  std::string key_of(std::size_t k) const {
    return concat(m_streaming.run, " shot ", m_job.shots[k].number);
  }

  void plan(std::size_t k) {
    const ScopedPhase<Instance<Memory>> phase(m_exec, m_report.phases, "plan");
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    stream::StreamingOptions<Dim> options;
    options.modelling = m_job.modelling;  // sources are those of the shots
    options.wishes = m_streaming.wishes;
    options.in_core = m_streaming.in_core;
    options.file = m_streaming.file;
    options.key = key_of(k);
    options.resume = m_streaming.resume;
    options.measure = !m_stream;
    options.ranks = m_streaming.ranks;
    if (m_stream) options.rates = m_stream->rates();
    m_stream.reset();
    m_prepared = false;
    in_options([&] {
      m_stream.emplace(m_exec, m_job.grid,
                       to_model<T, Dim, Kokkos::HostSpace>(host, m_job.grid, *m_job.values),
                       m_job.boundaries, m_job.wavelet, m_job.shots, options);
    });
  }

  void prepare() {
    const ScopedPhase<Instance<Memory>> phase(m_exec, m_report.phases, "prepare");
    in_options([&] { m_stream->prepare(); });
    m_prepared = true;
    m_report.locked = m_stream->locked();
    m_report.lock_text = m_stream->lock_text();
    // the volume has it now
    if (m_streaming.file.empty() && m_job.expand == domain::Expansion::none) m_job.drop_values();
    m_streaming.prepared(m_report);
  }

  // The boxes of a shot, where steps are only done where waves have come to.
  std::function<Box<Dim>(std::int64_t)> boxes(const wave::Shot<Dim>& shot) {
    if (m_job.expand == domain::Expansion::none) return {};
    using Host = Kokkos::HostSpace;
    const Stopwatch watch;
    const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
    const wave::ModellingPlan<Dim>& plan = m_stream->modelling();
    wave::PropagatorOptions<Dim> options;
    options.dt = plan.time.dt;
    options.order = m_job.modelling.order;
    options.boundaries = plan.faces;
    options.frequency = plan.frequency;
    options.equations = m_job.modelling.equations;
    options.sigma = m_job.modelling.sigma;
    const wave::Scheme<T, Dim, Host> scheme(host, plan.grid, plan.medium, plan.limits, options);
    const wave::PointSet<T, Dim, Host> sources(host, plan.grid, scheme.layout(), shot.sources,
                                               wave::point_options(scheme, "source", true));
    domain::DomainOptions domain;
    domain.onset = domain::onset(plan.wavelet, plan.time.dt);
    domain.frequency = plan.frequency;
    const auto model = to_model<T, Dim, Host>(host, m_job.grid, *m_job.values);
    const auto rule = domain::shot_boxes<T, Dim, Host>(m_job.expand, host, m_job.grid, model,
                                                       scheme, sources, domain);
    m_report.domain_seconds += watch.seconds();
    m_report.phases.add("boxes", watch.seconds());
    return [rule](std::int64_t level) { return rule.box(level); };
  }

  void shots(const std::vector<std::size_t>& numbers, VolumeGuard* file, bool first) {
    std::vector<wave::Shot<Dim>> some;
    std::vector<stream::StreamShotOptions<Dim>> options;
    for (const std::size_t k : numbers) {
      some.push_back(m_job.shots[k]);
      stream::StreamShotOptions<Dim>& one = options.emplace_back();
      one.box = boxes(some.back());
      if (k != numbers.front()) continue;
      if (first) one.timeline = m_streaming.timeline;
      if (m_job.progress) {
        one.progress = [this, k](const wave::ShotProgress& now) { m_job.tell(k, now); };
      }
    }
    const auto results = in_options([&] {
      try {
        return m_stream->shots(some, options);
      } catch (const wave::NotFinite& failure) {
        // such a volume is of no use to --resume
        if (file != nullptr) file->remove();
        throw wave::overflow_error<Dim>(failure, m_job.grid, m_stream->modelling().time.steps,
                                        overflow_advice);
      } catch (const InputError&) {
        throw;  // thrown before the first step: a new file holds no state
      } catch (const MemoryError&) {
        throw;
      } catch (...) {
        if (file != nullptr) file->keep();
        throw;
      }
    });
    // until the gather is written the volume holds the only result
    if (file != nullptr) file->keep();
    double seconds = 0.0;
    for (const auto& result : results) seconds = std::max(seconds, result.report.seconds);
    m_report.phases.add("steps", seconds);
    m_report.seconds += seconds;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      count(results[n], first && file != nullptr);
      if (m_stream->leads()) keep(numbers[n], results[n], static_cast<int>(n));
    }
    // the gather is there, and no other shot may go on with the file
    if (file != nullptr) file->remove();
  }

  void count(const stream::StreamShotResult<T>& result, bool continued) {
    const stream::StreamReport& report = result.report;
    m_report.points += report.points;
    const auto nodes = static_cast<double>(m_stream->modelling().grid.size());
    const bool whole = m_job.expand == domain::Expansion::none;
    m_report.whole_points +=
        whole || !m_stream->leads() ? report.points : nodes * static_cast<double>(result.steps);
    m_report.steps = result.steps;
    if (continued && m_streaming.resume && whole) {
      m_report.went_on_at = result.steps - std::llround(report.points / nodes);
    }
    m_report.iterations += report.iterations;
    m_report.bytes_in += report.bytes_in;
    m_report.bytes_out += report.bytes_out;
    m_report.staging_seconds += report.staging_seconds;
  }

  void keep(std::size_t k, const stream::StreamShotResult<T>& result, int chain) {
    if (k == 0) {
      const Stopwatch watch;
      const Box<Dim> interior = m_stream->interior();
      std::vector<T> values(static_cast<std::size_t>(interior.size()));
      m_stream->copy_out(0, interior, values.data(), chain);
      m_streaming.wavefield(values.data(), result.steps);
      m_report.phases.add("write", watch.seconds());
    }
    m_job.gather(k,
                 Gather<T>{result.traces.data(), static_cast<std::int64_t>(result.traces.extent(0)),
                           static_cast<std::int64_t>(result.traces.extent(1))});
  }

  const Instance<Memory>& m_exec;
  const WaveJob<T, Dim>& m_job;
  const StreamJob<T>& m_streaming;
  std::optional<Stream> m_stream;
  bool m_prepared = false;
  Report m_report;
};

}  // namespace detail

template <class T, int Dim, class Memory>
Report compute_on(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                  const StreamJob<T>& streaming) {
  return detail::Shots<T, Dim, Memory>(exec, job, streaming).run();
}

/// One kind of call on one memory.
#define MOHO_STREAM_WAVES(T, Dim, Memory)                                                     \
  template Report compute_on<T, Dim, Memory>(const Instance<Memory>&, const WaveJob<T, Dim>&, \
                                             const StreamJob<T>&)

}  // namespace moho::examples::stream_waves
