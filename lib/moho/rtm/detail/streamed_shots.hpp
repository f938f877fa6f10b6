// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Migration of shots whose wavefields stream through devices (internal).

#include <moho/core/exact_sum.hpp>
#include <moho/rtm/detail/random_source.hpp>
#include <moho/rtm/detail/stream_image.hpp>
#include <moho/rtm/migrate.hpp>
#include <moho/rtm/migration_types.hpp>
#include <moho/stream/reversed_pair.hpp>
#include <moho/survey/trace_memory.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::rtm::detail {

/// \brief Both wavefields of a shot on the host, which stream through devices, and their image.
///
/// Volumes and rates stay for later shots on the same window.
template <class T, int Dim, class Memory>
class StreamedShots {
  using Host = Kokkos::HostSpace;
  using Pair = stream::ReversedPair<T, Dim, Memory>;
  using Image = StreamImage<T, Dim, Memory>;
  using Setup = ImageSetup<T, Dim, Memory>;

 public:
  /// \param exec instance of the first device
  /// \param input arguments of the migration; they outlive the object
  /// \param modelling options with the time step of all shots
  /// \param interval steps between snapshots
  /// \param results bytes of images that wait on the host
  StreamedShots(const Instance<Memory>& exec, const MigrationInput<T, Dim>& input,
                const wave::ModellingOptions<Dim>& modelling, std::int64_t interval,
                std::size_t results)
      : m_exec(exec),
        m_input(input),
        m_modelling(modelling),
        m_interval(interval),
        m_results(results),
        m_rates(input.options.stream_rates) {
    if (m_rates) m_data_rates = m_rates->single;
  }
  StreamedShots(const StreamedShots&) = delete;
  StreamedShots& operator=(const StreamedShots&) = delete;

  /// Adds an accumulator to those of the shots that follow.
  void accumulate(const typename Setup::Added& added) {
    m_added.push_back(added);
    m_pair.reset();
  }
  /// \brief Plans the streams of a shot; nothing large is allocated.
  /// \param window,part nodes of the model and the model there
  /// \param shot live sources and receivers
  /// \throws InputError, MemoryError
  void open(const survey::ShotWindow<Dim>& window, const HostModel<T, Dim>& part,
            const wave::Shot<Dim>& shot);
  /// Plan of modelling of the latest shot.
  const wave::ModellingPlan<Dim>& modelling() const { return m_plan; }
  /// Both wavefields of the latest shot.
  const Pair& pair() const { return *m_pair; }
  /// \brief Migrates the shot of open() and sets values, largest and offsets of its image.
  /// \param shot of the prepared data
  /// \param rows data, samples x receivers
  /// \param offsets columns in the window
  /// \param tell receives progress: 0 forward, 1 backward propagation; may be empty
  /// \param result receives the image; its window is that of open()
  /// \throws Error with step and node if a wavefield overflows
  MigrateReport<Dim> migrate(const wave::Shot<Dim>& shot, HostSeries<T> rows,
                             const OffsetOptions<Dim>& offsets,
                             const std::function<void(int, const wave::ShotProgress&)>& tell,
                             ShotImage<T, Dim>& result);
  /// Models traces of a shot, receivers x (steps + 1), over a data model in a window.
  wave::Traces<T> model_data(const survey::ShotWindow<Dim>& window, const HostModel<T, Dim>& part,
                             const wave::Shot<Dim>& shot);

 private:
  void make_pair(const survey::ShotWindow<Dim>& window, const wave::Shot<Dim>& shot);
  void collect(ShotImage<T, Dim>& result) const;

  Instance<Memory> m_exec;
  const MigrationInput<T, Dim>& m_input;
  const wave::ModellingOptions<Dim>& m_modelling;
  std::int64_t m_interval;
  std::size_t m_results;
  std::vector<typename Setup::Added> m_added;
  std::optional<stream::PairRates> m_rates;  ///< measured once
  std::optional<stream::StreamRates> m_data_rates;
  Box<Dim> m_window{};  ///< of m_pair
  wave::ModellingPlan<Dim> m_plan;
  HostModel<T, Dim> m_model;  ///< as stepped
  bool m_loaded = false;      ///< true if m_pair has m_model
  std::shared_ptr<Setup> m_setup;
  std::unique_ptr<Pair> m_pair;
};

template <class T, int Dim, class Memory>
void StreamedShots<T, Dim, Memory>::open(const survey::ShotWindow<Dim>& window,
                                         const HostModel<T, Dim>& part,
                                         const wave::Shot<Dim>& shot) {
  const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
  // points of other shots may be outside of the part of a shot
  const bool same = m_pair && m_window == window.box && window.whole();
  const bool tapers = wave::info(part.medium()).allowed.has(wave::Parameter::delta);
  if (same && !tapers) return;
  wave::ModellingOptions<Dim> options = m_modelling;
  options.sources = tapered_points(shot);
  options.memory = std::numeric_limits<std::size_t>::max();  // the plan of the stream checks it
  m_plan = wave::plan_modelling<T, Dim, Host>(host, window.grid, part, m_input.faces,
                                              m_input.wavelet, options);
  m_model = tapered_model(window.grid, part, m_plan, options.sources);
  m_loaded = false;
  if (same) return;
  m_pair.reset();
  make_pair(window, shot);
  m_window = window.box;
}

template <class T, int Dim, class Memory>
void StreamedShots<T, Dim, Memory>::make_pair(const survey::ShotWindow<Dim>& window,
                                              const wave::Shot<Dim>& shot) {
  const MigrationOptions<Dim>& given = m_input.options;
  stream::ReversedPairOptions<Dim> o;
  o.propagator = propagator_options(m_plan, m_modelling);
  o.random = m_plan.random;
  o.source_faces = snapshot::random_faces(m_input.faces, given.storage.random_width);
  o.wavelet = m_plan.wavelet;
  o.steps = m_plan.time.steps;
  o.interval = m_interval;
  o.wishes = given.stream;
  o.memory = given.storage.host;
  if (o.memory > 0) o.memory -= std::min(o.memory - 1, given.storage.reserved + m_results);
  o.measure = !m_rates;
  if (m_rates) o.rates = *m_rates;
  m_setup = std::make_shared<Setup>();
  m_setup->grid = window.grid;
  m_setup->added = m_added;
  m_setup->offsets = given.offsets;
  m_setup->columns = given.offsets.columns.size();
  const std::shared_ptr<const Setup> setup = m_setup;
  // the model of the window if it is a part, the image, and traces that are prepared
  const std::size_t nodes = static_cast<std::size_t>(window.grid.size()) * sizeof(T);
  const auto fields = static_cast<std::size_t>(m_model.given().size());
  const std::size_t on_host =
      nodes * (static_cast<std::size_t>(setup->parts()) + (window.whole() ? 0 : fields)) +
      static_cast<std::size_t>(survey::shot_trace_bytes<T>(m_input.shots, given.data_samples,
                                                           o.steps + 1, is_host_memory<Memory>)
                                   .host);
  stream::PairActions<T, Dim, Memory> actions;
  actions.need = [setup, on_host](const wave::Scheme<T, Dim, Memory>& scheme) {
    stream::PairRequirements need = Image::need(*setup, scheme);
    need.host_bytes = on_host;
    return need;
  };
  actions.make = [setup](const stream::PairDevice<T, Dim, Memory>& device)
      -> std::unique_ptr<stream::PairAction<T, Dim, Memory>> {
    return std::make_unique<Image>(device, setup);
  };
  m_pair = std::make_unique<Pair>(
      m_exec, window.grid, m_model,
      window.whole() ? m_input.shots : std::vector<wave::Shot<Dim>>{shot}, o, actions);
  m_rates = m_pair->rates();
}

template <class T, int Dim, class Memory>
MigrateReport<Dim> StreamedShots<T, Dim, Memory>::migrate(
    const wave::Shot<Dim>& shot, HostSeries<T> rows, const OffsetOptions<Dim>& offsets,
    const std::function<void(int, const wave::ShotProgress&)>& tell, ShotImage<T, Dim>& result) {
  const std::string name = concat("shot ", shot.number);
  MigrateReport<Dim> report;
  if (!m_loaded) m_pair->update(m_model);
  m_loaded = true;
  m_pair->clear();
  m_setup->offsets = offsets;
  stream::PairShotOptions options;
  options.prefix = name + ": ";
  options.timeline = m_input.options.timeline;
  if (tell) {
    options.progress = [&tell](int propagation, const wave::ShotProgress& now) {
      tell(propagation == 2 ? 1 : 0, now);
    };
  }
  const auto series = upload_rows<T, Memory>(m_exec, rows);
  rows = {};
  const Stopwatch watch;
  try {
    const stream::PairReport done =
        m_pair->run(shot, random_layers_of(m_plan, shot), series, options);
    report.forward.points = report.forward.whole_points = done.forward.points;
    report.backward.points = report.backward.whole_points = done.backward.points;
    report.forward.seconds = done.forward.seconds;
    report.backward.seconds = done.backward.seconds;
  } catch (const wave::NotFinite& failure) {
    throw wave::overflow_error<Dim>(failure.with_context(name), m_input.grid, m_plan.time.steps);
  }
  report.seconds = watch.seconds();
  report.snapshots.kind = "stream";
  report.snapshots.snapshots = m_plan.time.steps / m_interval;
  collect(result);
  return report;
}

template <class T, int Dim, class Memory>
void StreamedShots<T, Dim, Memory>::collect(ShotImage<T, Dim>& result) const {
  const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
  const Grid<Dim>& grid = result.window.grid;
  const double taper = m_input.options.aperture.taper;
  std::vector<std::vector<double>> weights;
  if (!result.window.whole() && taper > 0.0) {
    for (const auto& axis : survey::window_weights(result.window, taper)) weights.push_back(axis);
  }
  const auto nodes = static_cast<std::size_t>(grid.size());
  // sums are those of p / sqrt(rho), as in scale_by_density()
  std::vector<T> roots(m_model.density.size());
  for (std::size_t n = 0; n < roots.size(); ++n) {
    roots[n] = static_cast<T>(std::sqrt(static_cast<double>(m_model.density.data()[n])));
  }
  const auto& sums = m_pair->sums();
  result.values.resize(sums.size() * nodes);
  for (std::size_t p = 0; p < sums.size(); ++p) {
    T* const values = result.values.data() + p * nodes;
    copy(host, HostElements<T>(values, nodes), HostElements<const T>(sums[p].first, nodes));
    if (p < PointProducts::part_count) {
      for (std::size_t n = 0; n < roots.size(); ++n) values[n] *= roots[n] * roots[n];
    }
    if (!weights.empty()) {
      TaperWindow<T, Dim> functor{values, grid, {}};
      for (int d = 0; d < Dim; ++d)
        functor.weights[d] = weights[static_cast<std::size_t>(d)].data();
      launch_box("moho::rtm::taper", host, whole_box(grid), functor);
    }
    result.largest.push_back(largest_magnitude(host, wave::Storage<T, Host>(values, nodes)));
  }
  host.fence();
  // the device with the latest level has the sums of all levels
  const Image* latest = nullptr;
  for (const auto& action : m_pair->actions()) {
    const auto* const image = static_cast<const Image*>(action.get());
    if (latest == nullptr || image->level() > latest->level()) latest = image;
  }
  result.offsets = latest->gathers();
  if (roots.empty() || result.offsets.empty()) return;
  const OffsetOptions<Dim>& offsets = m_setup->offsets;
  const std::int64_t depths = grid.extents[Dim - 1];
  T* value = result.offsets.data();
  for (const Index<Dim>& column : offsets.columns) {
    for (std::int64_t k = 0; k < offsets.count(); ++k) {
      const std::int64_t h = (k - offsets.count() / 2) * offsets.offset_step;
      for (std::int64_t depth = 0; depth < depths; ++depth, ++value) {
        Index<Dim> left = column;
        left[Dim - 1] = depth;
        Index<Dim> right = left;
        left[0] -= h;
        right[0] += h;
        if (!whole_box(grid).contains(left) || !whole_box(grid).contains(right)) continue;
        *value *= roots[static_cast<std::size_t>(grid.flat(left))] *
                  roots[static_cast<std::size_t>(grid.flat(right))];
      }
    }
  }
}

template <class T, int Dim, class Memory>
wave::Traces<T> StreamedShots<T, Dim, Memory>::model_data(const survey::ShotWindow<Dim>& window,
                                                          const HostModel<T, Dim>& part,
                                                          const wave::Shot<Dim>& shot) {
  stream::StreamingOptions<Dim> options;
  options.modelling = m_modelling;
  options.modelling.time.interval = m_modelling.time.dt;
  options.modelling.time.snapshot_every = 0.0;
  options.modelling.memory = m_input.options.storage.host;
  options.modelling.sources.clear();  // the stream takes those of the shot
  options.wishes = m_input.options.stream;
  options.in_core = false;
  options.measure = !m_data_rates;
  if (m_data_rates) options.rates = *m_data_rates;
  stream::Streaming<T, Dim, Memory> modelling(m_exec, window.grid, part, m_input.faces,
                                              m_input.wavelet, {shot}, options);
  m_data_rates = modelling.rates();
  try {
    return modelling.shot(shot).traces;
  } catch (const wave::NotFinite& failure) {
    throw wave::overflow_error<Dim>(failure.with_context(concat("data of shot ", shot.number)),
                                    m_input.grid, m_plan.time.steps);
  }
}

}  // namespace moho::rtm::detail

/// \cond
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm::detail {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, StreamedShots)
}  // namespace moho::rtm::detail
#endif
/// \endcond
