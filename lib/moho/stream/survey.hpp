// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots of a survey over one model larger than a device.

#include <moho/core/phases.hpp>
#include <moho/core/timer.hpp>
#include <moho/stream/detail/volume_file.hpp>
#include <moho/stream/kernel/rank_boxes.hpp>
#include <moho/stream/modelling.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace moho::stream {

/// Plan and report of model_shots() of a stream.
template <int Dim>
struct StreamSurveyReport {
  wave::ModellingPlan<Dim> modelling;  ///< time step, samples, grid
  /// Plan of the latest stream: the largest memory of a device, and the mean forecast, of all shots
  /// so far.
  StreamPlan plan;
  StreamRequirements need;  ///< requirements of the stream
  StreamRates rates;        ///< measured rates
  int chains = 1;           ///< chains of this process, each with one shot at a time
  int recorders = 1;        ///< slabs or devices of a chain with series on the host
  bool locked = true;       ///< true if copies access the volume directly, without
                            ///< buffers
  std::string lock_text;    ///< reason for buffers

  PhaseTimes phases;             ///< "plan", "prepare", "boxes", "steps", "write"
  double seconds = 0.0;          ///< seconds of all steps with injection and recording
  double domain_seconds = 0.0;   ///< seconds of domain computations
  double points = 0.0;           ///< nodes stepped
  double whole_points = 0.0;     ///< nodes of all steps without boxes
  std::int64_t steps = 0;        ///< steps of a shot: time level of the last wavefield
  std::int64_t resumed_at = 0;   ///< steps in a resumed file
  std::int64_t iterations = 0;   ///< of all shots
  double bytes_in = 0.0;         ///< to devices, of all shots
  double bytes_out = 0.0;        ///< from devices, of all shots
  double staging_seconds = 0.0;  ///< seconds of copies between volume and buffers on the host
};

/// Nodes of the step from a time to the next, a subset of the next step's.
template <int Dim>
using StepBoxes = std::function<Box<Dim>(std::int64_t level)>;

/// Options of model_shots() of a stream.
template <class T, int Dim>
struct StreamSurveyOptions {
  /// Memory, file, devices, and modelling without sources. Each shot with a file has its own key:
  /// `streaming.key` and the number of the shot.
  StreamingOptions<Dim> streaming = {};
  /// Returns true if this chain models the shot; called once per shot in ascending order. Empty:
  /// all shots.
  std::function<bool(std::size_t k)> claim = {};
  /// Returns true if the result of the shot exists. Empty: no result exists.
  std::function<bool(std::size_t k)> is_done = {};
  /// Returns the boxes of a shot, see domain::box_factory(). Empty: all nodes.
  std::function<StepBoxes<Dim>(const wave::Shot<Dim>&, const wave::ModellingPlan<Dim>&)> boxes = {};
  bool only_plan = false;  ///< true if `begin` returns false: no file is changed

  /// Called after the plan of the first shot.
  std::function<void(const StreamSurveyReport<Dim>&)> planned = {};
  /// Called after `planned`; false: no shot is modelled. Empty: true.
  std::function<bool(const StreamSurveyReport<Dim>&)> begin = {};
  /// Called after the allocation of volume and rings.
  std::function<void(const StreamSurveyReport<Dim>&)> prepared = {};
  /// Snapshots of the first shot, in slabs (StreamingOptions::divided); `every` is that of the
  /// plan.
  StreamSnapshots<T> snapshots = {};
  /// Receives the last wavefield of the first shot on the nodes of the model, before `take`.
  std::function<void(const T* values, std::int64_t steps)> wavefield = {};
  /// Called about twice a second with the index of a running shot.
  std::function<void(std::size_t k, const wave::ShotProgress&)> progress = {};
  /// Calls a function on all ranks; an error of one rank is thrown by all. Empty: direct call.
  std::function<void(const std::function<void()>&)> collectively = {};
  /// Calls a part of the work, so that callers can rename arguments in its errors. Empty: direct
  /// call.
  std::function<void(const std::function<void()>&)> with_errors = {};
  Timeline* timeline = nullptr;                ///< receives spans of the first shot's first
                                               ///< iterations
  std::string advice = wave::overflow_advice;  ///< advice on options that avoid an overflow
};

namespace detail {

/// \brief Removes the file of a volume after its shot, and after an error before the shot.
///
/// A file that existed before is kept unless remove() is called.
class VolumeGuard {
 public:
  explicit VolumeGuard(const std::string& path) : m_path(path) {
    std::error_code ignored;
    m_armed = !path.empty() && std::filesystem::symlink_status(path, ignored).type() ==
                                   std::filesystem::file_type::not_found;
  }
  VolumeGuard(const VolumeGuard&) = delete;
  VolumeGuard& operator=(const VolumeGuard&) = delete;
  ~VolumeGuard() {
    if (m_armed) remove();
  }
  /// Keeps the file for a later run.
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

/// Streams the shots of each chain sequentially.
/// Shots share a volume in memory. With files each shot has a separate volume, which no other shot
/// resumes.
template <class T, int Dim, class Memory>
class StreamSurvey {
 public:
  using Host = Kokkos::HostSpace;
  using Options = StreamSurveyOptions<T, Dim>;
  using Report = StreamSurveyReport<Dim>;
  using Result = StreamShotResult<T>;
  using Take = std::function<void(std::size_t, const Result&)>;

  StreamSurvey(const Instance<Memory>& exec, const Grid<Dim>& grid,
               wave::Model<T, Dim, Host>&& model, const wave::Boundaries<Dim>& faces,
               const wave::WaveletAt& wavelet, const std::vector<wave::Shot<Dim>>& shots,
               const Options& options)
      : m_exec(exec),
        m_grid(grid),
        m_model(std::move(model)),
        m_faces(faces),
        m_wavelet(wavelet),
        m_shots(shots),
        m_options(options) {}

  Report run(const Take& take);

 private:
  bool is_done(std::size_t k) const { return m_options.is_done && m_options.is_done(k); }
  bool claims(std::size_t k) const;
  const std::string& file() const { return m_options.streaming.file; }
  // Identifies the volume of a shot.
  std::string key_of(std::size_t k) const {
    return concat(m_options.streaming.key, " shot ", m_shots[k].number);
  }
  void call(const std::function<void()>& function) const {
    m_options.with_errors ? m_options.with_errors(function) : function();
  }
  void plan(std::size_t k);
  void prepare(const StepBoxes<Dim>& boxes = {});
  void cut_for_first(std::size_t k);
  StepBoxes<Dim> boxes_of(std::size_t k);
  void plan_slabs(const StreamPlan& plan);
  std::vector<Result> model(const std::vector<wave::Shot<Dim>>& shots,
                            const std::vector<StreamShotOptions<Dim>>& options,
                            const StreamSnapshots<T>& snapshots, VolumeGuard* file);
  void model_group(const std::vector<std::size_t>& group, VolumeGuard* file, bool first,
                   const Take& take);
  void count(Result& result, bool resumed);
  void hand_over_wavefield(const Result& result, int chain);

  const Instance<Memory>& m_exec;
  const Grid<Dim>& m_grid;
  wave::Model<T, Dim, Host> m_model;  // until the last volume has the model
  const wave::Boundaries<Dim>& m_faces;
  const wave::WaveletAt& m_wavelet;
  const std::vector<wave::Shot<Dim>>& m_shots;
  const Options& m_options;
  std::optional<Streaming<T, Dim, Memory>> m_stream;
  bool m_prepared = false;
  std::optional<std::size_t> m_planned;  // a shot whose boxes were found for the plan
  StepBoxes<Dim> m_planned_boxes;
  double m_planned_domain = 0.0;           // seconds of these
  int m_modelled = 0;                      // shots in slabs, or groups of these
  double m_points = 0.0, m_seconds = 0.0;  // of their forecasts
  Report m_report;
};

template <class T, int Dim, class Memory>
auto StreamSurvey<T, Dim, Memory>::run(const Take& take) -> Report {
  std::size_t first = 0;
  while (first < m_shots.size() && is_done(first)) ++first;
  const bool any = first < m_shots.size();
  // an earlier run may have ended between a result and the removal of its volume
  bool done = file().empty();
  for (std::size_t k = 0; k < m_shots.size() && m_options.streaming.resume; ++k) {
    if (file().empty() || !is_done(k) || !is_volume_of(file(), key_of(k))) continue;
    done = true;
    if (!m_options.only_plan) VolumeGuard(file()).remove();
  }
  if (m_options.only_plan && any && !done) {
    call([&] { check_volume(file(), key_of(first), m_options.streaming.resume); });
  }
  plan(any ? first : 0);
  if (any) cut_for_first(first);
  m_report.modelling = m_stream->modelling();
  m_report.plan = m_stream->plan();
  m_report.need = m_stream->need();
  m_report.rates = m_stream->rates();
  m_report.chains = m_stream->chains();
  if (is_host_memory<Memory> && m_options.streaming.ranks == nullptr) {
    m_report.recorders = m_report.plan.shape.devices;
  }
  if (m_options.planned) m_options.planned(m_report);
  // detects an unusable file before any output
  std::optional<VolumeGuard> volume;
  if (!file().empty() && any && !m_options.only_plan) {
    volume.emplace(file());
    prepare();
  }
  if (m_options.begin && !m_options.begin(m_report)) return m_report;
  if (m_options.streaming.ranks != nullptr && any) {
    const auto together = [&] { prepare(); };
    m_options.collectively ? m_options.collectively(together) : together();
  }
  std::vector<std::size_t> group;  // shots modelled concurrently
  const auto model_all = [&] {
    if (group.empty()) return;
    model_group(group, volume ? &*volume : nullptr, group.front() == first, take);
    group.clear();
  };
  for (std::size_t k = first; k < m_shots.size() && !m_stream->idle(); ++k) {
    if (!claims(k)) continue;
    if (!file().empty() && k > first) {
      volume.emplace(file());
      plan(k);
    }
    group.push_back(k);
    if (static_cast<int>(group.size()) == m_stream->chains()) model_all();
  }
  model_all();
  return m_report;
}

// Returns true if this chain models a shot; equal on all its ranks.
template <class T, int Dim, class Memory>
bool StreamSurvey<T, Dim, Memory>::claims(std::size_t k) const {
  char mine = m_stream->leads() && (!m_options.claim || m_options.claim(k)) ? 1 : 0;
  if (StreamRanks* const chain = m_stream->chain_ranks()) chain->broadcast(&mine, sizeof(mine));
  return mine != 0;
}

template <class T, int Dim, class Memory>
void StreamSurvey<T, Dim, Memory>::plan(std::size_t k) {
  const ScopedPhase<Instance<Memory>> phase(m_exec, m_report.phases, "plan");
  StreamingOptions<Dim> options = m_options.streaming;
  options.key = key_of(k);
  options.balance = static_cast<bool>(m_options.boxes);
  if (m_stream) {
    options.measure = false;
    options.rates = m_stream->rates();
  }
  m_stream.reset();
  m_prepared = false;
  call([&] { m_stream.emplace(m_exec, m_grid, m_model, m_faces, m_wavelet, m_shots, options); });
}

template <class T, int Dim, class Memory>
void StreamSurvey<T, Dim, Memory>::prepare(const StepBoxes<Dim>& boxes) {
  const ScopedPhase<Instance<Memory>> phase(m_exec, m_report.phases, "prepare");
  call([&] { m_stream->prepare(boxes); });
  m_prepared = true;
  m_report.locked = m_stream->locked();
  m_report.lock_text = m_stream->lock_text();
  if (file().empty()) m_model = {};  // the volume has the model
  if (m_options.prepared) m_options.prepared(m_report);
}

// Cuts slabs for the boxes of the first shot, so that the plan has their memory and forecast.
template <class T, int Dim, class Memory>
void StreamSurvey<T, Dim, Memory>::cut_for_first(std::size_t k) {
  if (!m_options.boxes || !m_stream->plan().slabs || m_stream->idle()) return;
  m_planned_boxes = boxes_of(k);
  m_planned = k;
  m_planned_domain = m_report.domain_seconds;
  m_stream->cut_for(m_planned_boxes);
}

template <class T, int Dim, class Memory>
StepBoxes<Dim> StreamSurvey<T, Dim, Memory>::boxes_of(std::size_t k) {
  if (!m_options.boxes) return {};
  if (m_planned == k) return m_planned_boxes;
  const Stopwatch watch;
  const wave::ModellingPlan<Dim>& plan = m_stream->modelling();
  StepBoxes<Dim> boxes = detail::boxes_of_ranks<Dim>(
      m_stream->chain_ranks(), plan.time.steps, [&] { return m_options.boxes(m_shots[k], plan); });
  m_report.domain_seconds += watch.seconds();
  m_report.phases.add("boxes", watch.seconds());
  return boxes;
}

template <class T, int Dim, class Memory>
auto StreamSurvey<T, Dim, Memory>::model(const std::vector<wave::Shot<Dim>>& shots,
                                         const std::vector<StreamShotOptions<Dim>>& options,
                                         const StreamSnapshots<T>& snapshots, VolumeGuard* file)
    -> std::vector<Result> {
  try {
    return m_stream->shots(shots, options, snapshots);
  } catch (const wave::NotFinite& failure) {
    // such a volume is not resumable
    if (file != nullptr) file->remove();
    throw wave::overflow_error<Dim>(failure, m_grid, m_stream->modelling().time.steps,
                                    m_options.advice);
  } catch (const InputError&) {
    throw;  // error before the first step: a new file has no state
  } catch (const MemoryError&) {
    throw;
  } catch (...) {
    if (file != nullptr) file->keep();
    throw;
  }
}

template <class T, int Dim, class Memory>
void StreamSurvey<T, Dim, Memory>::model_group(const std::vector<std::size_t>& group,
                                               VolumeGuard* file, bool first, const Take& take) {
  std::vector<wave::Shot<Dim>> shots;
  std::vector<StreamShotOptions<Dim>> options;
  std::vector<double> domain_seconds;
  for (const std::size_t k : group) {
    shots.push_back(m_shots[k]);
    StreamShotOptions<Dim>& one = options.emplace_back();
    const double before = m_report.domain_seconds;
    one.box = boxes_of(k);
    domain_seconds.push_back(m_planned == k ? m_planned_domain : m_report.domain_seconds - before);
    if (k != group.front()) continue;
    if (first) one.timeline = m_options.timeline;
    if (m_options.progress) {
      one.progress = [this, k](const wave::ShotProgress& now) { m_options.progress(k, now); };
    }
  }
  if (!m_prepared) prepare(options.front().box);
  std::vector<Result> results;
  StreamSnapshots<T> snapshots;
  if (group.front() == 0 && m_stream->plan().slabs && m_options.snapshots.take) {
    snapshots = m_options.snapshots;
    snapshots.every = m_stream->modelling().time.snapshot_every;
  }
  call([&] { results = model(shots, options, snapshots, file); });
  // until `take` returns, only the volume has the result
  if (file != nullptr) file->keep();
  double seconds = 0.0;
  for (const Result& result : results) seconds = std::max(seconds, result.report.seconds);
  m_report.phases.add("steps", seconds);
  if (snapshots.every > 0) m_report.phases.add("snapshots", results.front().waited);
  m_report.seconds += seconds;
  if (m_stream->plan().slabs) plan_slabs(m_stream->plan());
  for (std::size_t n = 0; n < group.size(); ++n) {
    count(results[n], first && file != nullptr);
    results[n].domain_seconds = domain_seconds[n];
    m_report.plan.slab_planes = results[n].slab_planes;
    m_report.plan.exchange = results[n].exchange;
    if (!m_stream->leads()) continue;
    if (group[n] == 0 && m_options.wavefield) {
      hand_over_wavefield(results[n], static_cast<int>(n));
    }
    take(group[n], results[n]);
  }
  // after `take`: no other shot may resume from the file
  if (file != nullptr) file->remove();
}

// Adds the memory and the forecast of a shot in slabs.
template <class T, int Dim, class Memory>
void StreamSurvey<T, Dim, Memory>::plan_slabs(const StreamPlan& plan) {
  StreamPlan& all = m_report.plan;
  all.device_bytes =
      m_modelled > 0 ? std::max(all.device_bytes, plan.device_bytes) : plan.device_bytes;
  ++m_modelled;
  if (!(plan.forecast.points_per_second > 0.0)) return;
  m_seconds += plan.forecast.seconds;
  m_points += plan.forecast.seconds * plan.forecast.points_per_second;
  all.forecast.seconds = m_seconds / m_modelled;
  all.forecast.points_per_second = m_points / m_seconds;
}

template <class T, int Dim, class Memory>
void StreamSurvey<T, Dim, Memory>::count(Result& result, bool resumed) {
  const StreamReport& report = result.report;
  m_report.points += report.points;
  const auto nodes = static_cast<double>(m_stream->modelling().grid.size());
  const bool whole = !m_options.boxes;
  result.whole_points =
      whole || !m_stream->leads() ? report.points : nodes * static_cast<double>(result.steps);
  m_report.whole_points += result.whole_points;
  m_report.steps = result.steps;
  if (resumed && m_options.streaming.resume && whole) {
    m_report.resumed_at = result.steps - std::llround(report.points / nodes);
  }
  m_report.iterations += report.iterations;
  m_report.bytes_in += report.bytes_in;
  m_report.bytes_out += report.bytes_out;
  m_report.staging_seconds += report.staging_seconds;
}

template <class T, int Dim, class Memory>
void StreamSurvey<T, Dim, Memory>::hand_over_wavefield(const Result& result, int chain) {
  const Stopwatch watch;
  const Box<Dim> interior = m_stream->interior();
  std::vector<T> values(static_cast<std::size_t>(interior.size()));
  m_stream->copy_pressure(interior, values.data(), chain);
  m_options.wavefield(values.data(), result.steps);
  m_report.phases.add("write", watch.seconds());
}

/// Version of model_shots() with a std::function.
template <class T, int Dim, class Memory>
StreamSurveyReport<Dim> run_survey(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                   wave::Model<T, Dim, Kokkos::HostSpace> model,
                                   const wave::Boundaries<Dim>& faces,
                                   const wave::WaveletAt& wavelet,
                                   const std::vector<wave::Shot<Dim>>& shots,
                                   const typename StreamSurvey<T, Dim, Memory>::Take& take,
                                   const StreamSurveyOptions<T, Dim>& options) {
  return StreamSurvey<T, Dim, Memory>(exec, grid, std::move(model), faces, wavelet, shots, options)
      .run(take);
}

}  // namespace detail

/// \brief Models shots over one model larger than a device, one shot at a time per chain.
///
/// Gathers have the bits of wave::model_shots() on the same device. With a file, an interrupted run
/// resumes from the volume of a shot. The file is removed after the shot.
/// \param exec instance of the first device; the function creates those of other devices
/// \param grid of the model
/// \param model model on the host; released after the copy to the volume, unless volumes are in
/// files
/// \param faces boundary conditions; layers are added
/// \param wavelet of the sources
/// \param shots of the survey
/// \param take called as take(k, result) on this thread of the leading rank of a chain. Arguments:
/// index of a shot in `shots` and its StreamShotResult
/// \param options memory, files, devices, which shots, boxes, callbacks
/// \throws InputError, MemoryError, FileError as Streaming, Error with step and node of the model
/// where a wavefield overflows
template <class T, int Dim, class Memory, class Take>
StreamSurveyReport<Dim> model_shots(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                    wave::Model<T, Dim, Kokkos::HostSpace> model,
                                    const wave::Boundaries<Dim>& faces,
                                    const wave::WaveletAt& wavelet,
                                    const std::vector<wave::Shot<Dim>>& shots, const Take& take,
                                    const StreamSurveyOptions<T, Dim>& options = {}) {
  return detail::run_survey<T, Dim, Memory>(exec, grid, std::move(model), faces, wavelet, shots,
                                            take, options);
}

}  // namespace moho::stream
