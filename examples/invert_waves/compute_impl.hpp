// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/summary.hpp"
#include "invert_waves/compute.hpp"
#include "invert_waves/plan_impl.hpp"
#include "invert_waves/shots_impl.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/optimize/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace moho::examples::invert_waves {

namespace detail {

/// A parameter from the unknowns: that of the start times exp(x), or plus x times a scale.
template <class T>
struct FromUnknowns {
  const T *x, *start;
  T* values;
  bool logarithm;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::exp;
    const double change = static_cast<double>(x[i]), from = static_cast<double>(start[i]);
    values[i] = static_cast<T>(logarithm ? from * exp(change) : from + scale * change);
  }
};
/// Adds a shot's derivative by a parameter to that by the unknowns.
template <class T>
struct AddDerivative {
  const T *derivative, *values;
  double* sum;
  bool logarithm;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    sum[i] +=
        static_cast<double>(derivative[i]) * (logarithm ? static_cast<double>(values[i]) : scale);
  }
};
/// Sums as numbers of the run.
template <class T>
struct Rounded {
  const double* sum;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    values[i] = static_cast<T>(sum[i]);
  }
};

/// Inverts, band after band, with models and vectors in Memory.
template <class T, int Dim, class Memory, class ShotsType>
class Inversion {
 public:
  /// \param device of the plan
  Inversion(const Job<T, Dim>& job, PhaseTimes& phases, ShotsType& shots, std::string device,
            int threads)
      : m_exec(shots.exec()), m_job(job), m_o(*job.options), m_phases(phases), m_shots(shots) {
    m_device = std::move(device);
    m_threads = threads;
  }

  void run() {
    Planner<T, Dim, Memory, ShotsType> planner(m_exec, m_job, m_shots);
    m_job.together([&] {
      const ScopedPhase<Instance<Memory>> phase(m_exec, m_phases, "plan");
      m_plan = planner.make();
      if (m_job.check_onsets) m_plan.onset_note = m_shots.check_onsets();
    });
    if constexpr (!ShotsType::streamed) {
      if (m_job.agree) {
        const SourceField way = m_job.agree(m_plan.source_field);
        const std::string note = m_plan.onset_note;
        m_job.together([&] { m_plan = planner.with_way(way); });
        m_plan.onset_note = note;
      }
    }
    m_plan.device = m_device;
    m_plan.threads = m_threads;
    if (!m_job.begins(m_plan)) return;
    m_job.together([&] {
      const ScopedPhase<Instance<Memory>> phase(m_exec, m_phases, "data");
      m_shots.load_data();
    });
    for (const std::string& name : m_o.unknowns) {
      m_fields.push_back(make_field<T>(m_exec, m_job.grid, name));
    }
    if (m_job.only) {
      compute_ordered(m_job.order);
      return;
    }
    if (!m_job.root) return serve();
    search();
    if (m_job.share) {
      Order<T> none;
      m_job.share(none);
    }
  }

 private:
  using Model = wave::Model<T, Dim, Memory>;
  using Vector = Kokkos::View<T*, Memory>;
  using Doubles = Kokkos::View<double*, Memory>;

  void search() {
    begin_search();
    const int bands = std::max<int>(static_cast<int>(m_o.bands.size()), 1);
    for (int band = m_job.state.empty() ? 0 : m_job.band; band < bands; ++band) {
      const bool fresh = m_job.state.empty() || band > m_job.band;
      m_shots.set_band(m_band = band);
      m_in_band = fresh ? 0 : m_job.in_band;
      if (fresh) {
        if (band > 0) m_search->restart(m_exec);
        m_search->extend(m_search->iterations() + m_o.iterations, 0, 0.0);
      }
      while (m_search->wants() == optimize::Want::evaluation) {
        if (m_job.stop && m_job.stop()) return;
        advance(band, bands);
      }
      m_job.band_over(band, m_search->message(), found());
    }
    gather_middle();
    if constexpr (!ShotsType::streamed) {
      if (m_o.extended) extend();
    }
  }

  // Computes shots for the root until there is no other evaluation.
  void serve() {
    for (;;) {
      Order<T> order;
      m_job.share(order);
      if (order.evaluation == 0) return;
      compute_ordered(order);
    }
  }

  // Those shots of an order that this process takes.
  void compute_ordered(const Order<T>& order) {
    if (order.band != m_band) m_shots.set_band(m_band = order.band);
    if (order.size > 0.0) m_shots.set_size(order.size);
    Model model = m_shots.start();
    for (std::size_t u = 0; u < m_fields.size(); ++u) {
      const T* const values = order.model.data() + static_cast<std::int64_t>(u) * nodes();
      copy(m_exec, wave::Storage<T, Memory>(m_fields[u].data(), static_cast<std::size_t>(nodes())),
           HostElements<const T>(values, static_cast<std::size_t>(nodes())));
      field_of(model, m_o.unknowns[u]) = m_fields[u];
    }
    m_exec.fence();
    compute_shots(model);
  }

  void compute_shots(const Model& model) {
    m_shots.evaluate(
        model, m_job.takes,
        [&](std::size_t k, const ShotPart<T>& numbers, const Model& derivative,
            const Field<T, Dim, Memory>& light) {
          ShotPart<T> part = numbers;
          const auto put = [&](const Field<T, Dim, Memory>& field) {
            const std::vector<T> values = download(m_exec, field);
            part.values.insert(part.values.end(), values.begin(), values.end());
          };
          for (const std::string& name : m_o.unknowns) put(field_of(derivative, name));
          put(light);
          m_job.keep(k, part);
        },
        pace());
  }

  std::int64_t nodes() const { return m_job.grid.size(); }
  // The extended image of the result, of all shots.
  void extend() {
    const Stopwatch watch;
    m_extended.emplace(m_exec, m_shots.gradients().box(), m_o.lags);
    m_shots.set_extended(&*m_extended);
    Evaluation ignored;
    m_band_text = "extended image, ";
    evaluate(ignored);
    m_extended->flush(m_exec);
    Extension<T> extension;
    extension.values = download(m_exec, m_extended->values());
    double square = 0.0;
    for (const T value : extension.values) {
      square += 0.5 * static_cast<double>(value) * static_cast<double>(value);
    }
    if (square > 0.0) extension.focus = m_extended->focus(m_exec, m_job.grid) / square;
    m_shots.set_extended(nullptr);
    m_extended.reset();
    m_phases.add("extend", watch.seconds());
    m_job.extended(extension);
  }

  bool logarithm(const std::string& name) const {
    return m_o.logarithms && (name == "vp" || name == "rho");
  }

  void begin_search() {
    const auto count = static_cast<std::size_t>(m_plan.unknowns);
    const std::vector<T> start(count, T(0));
    std::vector<T> lower(count), upper(count);
    const auto each = static_cast<std::size_t>(nodes());
    for (std::size_t u = 0; u < m_o.unknowns.size(); ++u) {
      const std::string& name = m_o.unknowns[u];
      const std::vector<T>& values = m_job.values->at(name);
      double mean = 0.0;
      for (const T value : values) mean += std::fabs(static_cast<double>(value));
      mean /= static_cast<double>(each);
      const bool log = logarithm(name);
      // epsilon and delta are about as large as relative changes of the velocity
      const double scale = log || name == "epsilon" || name == "delta" ? 1.0 : mean;
      m_scales.push_back(scale);
      const auto [least, greatest] = m_plan.bounds[u];
      for (std::size_t i = 0; i < each; ++i) {
        const double value = static_cast<double>(values[i]);
        const auto to = [&](double bound) {
          return static_cast<T>(log ? std::log(bound / value) : (bound - value) / scale);
        };
        // what the mask keeps may be beyond the bounds
        lower[u * each + i] = std::min(to(least), T(0));
        upper[u * each + i] = std::max(to(greatest), T(0));
      }
    }
    m_sum = allocate<Doubles>(m_exec, "moho::fwi::sum", count);
    m_light = allocate<Doubles>(m_exec, "moho::fwi::light", each);
    m_gradient = allocate<Vector>(m_exec, "moho::optimize::gradient", count);
    if (!m_job.state.empty()) {
      m_search.emplace(optimize::Lbfgs<T, Memory>::load(m_exec, m_job.state));
      if (m_search->count() != static_cast<std::int64_t>(count)) {
        throw InputError(concat("--resume: the search in ", m_job.state.string(), " has ",
                                m_search->count(), " unknowns (allowed: ", count,
                                "): leave --resume out to begin again"));
      }
      return;
    }
    optimize::LbfgsOptions options;
    options.memory = m_o.memory_pairs;
    options.first_change = m_o.first_change;
    options.gradient = 1e-12;
    std::vector<unsigned char> mask;
    for (std::size_t u = 0; u < m_o.unknowns.size() && !m_job.mask.empty(); ++u) {
      mask.insert(mask.end(), m_job.mask.begin(), m_job.mask.end());
    }
    optimize::Constraints<T, Memory> constraints{
        upload(m_exec, lower, "lower"), upload(m_exec, upper, "upper"), {}};
    if (!mask.empty()) constraints.mask = upload(m_exec, mask, "mask");
    m_search.emplace(m_exec, upload(m_exec, start, "start"), options, constraints);
  }

  // The model at a point of the search.
  Model model_at(const Kokkos::View<const T*, Memory>& point) const {
    Model model = m_shots.start();
    for (std::size_t u = 0; u < m_fields.size(); ++u) {
      const std::string& name = m_o.unknowns[u];
      launch("moho::fwi::from_unknowns", m_exec, nodes(),
             FromUnknowns<T>{point.data() + static_cast<std::int64_t>(u) * nodes(),
                             field_of(m_shots.start(), name).data(), m_fields[u].data(),
                             logarithm(name), m_scales[u]});
      field_of(model, name) = m_fields[u];
    }
    return model;
  }

  // Evaluates at the point of the search and tells it.
  void advance(int band, int bands) {
    const Stopwatch watch;
    Evaluation row;
    m_band_text = bands > 1 ? concat("band ", band + 1, " of ", bands, ", ") : "";
    const double f = evaluate(row);
    if (m_in_band == 0 && band == 0 && f < 1e-10) {
      throw InputError(concat(m_job.data_name, ": the start explains the data to ", f,
                              " of their energy, nothing is to be inverted (allowed: data that "
                              "differ from those of the start)"));
    }
    if (m_in_band == 0 && m_o.precondition) precondition();
    const std::int64_t before = m_search->iterations();
    const double step = m_search->step();
    m_search->tell(m_exec, f, m_gradient);
    ++m_in_band;
    row.band = band + 1;
    row.frequency = m_shots.frequency_of(band);
    row.evaluation = m_search->evaluations();
    row.iteration = m_search->iterations();
    row.taken = m_in_band == 1 || row.iteration > before;
    row.misfit = f;
    row.relative = f / m_search->first_value();
    row.gradient = m_search->gradient_norm();
    row.step = m_in_band == 1 ? 0.0 : step;
    row.vp_error = error_of_vp();
    row.seconds = watch.seconds();
    m_phases.add("evaluate", row.seconds);
    m_seconds_each = row.seconds;
    const Stopwatch writing;
    m_job.told(row, m_in_band, found());
    m_phases.add("write", writing.seconds());
  }

  double evaluate(Evaluation& row) {
    const Model model = model_at(m_search->point());
    if (model.density.data() != nullptr) m_shots.check_updated_density(model);
    fill(m_exec, m_sum, 0.0);
    fill(m_exec, m_light, 0.0);
    double f = 0.0;
    const auto add = [&](const ShotPart<T>& numbers, const Model& derivative,
                         const Field<T, Dim, Memory>& light) {
      f += numbers.misfit;
      row.points += numbers.points;
      row.modelling += numbers.modelling;
      row.gradients += numbers.gradients;
      for (std::size_t u = 0; u < m_fields.size(); ++u) {
        const std::string& name = m_o.unknowns[u];
        launch("moho::fwi::add_derivative", m_exec, nodes(),
               AddDerivative<T>{field_of(derivative, name).data(), m_fields[u].data(),
                                m_sum.data() + static_cast<std::int64_t>(u) * nodes(),
                                logarithm(name), m_scales[u]});
      }
      launch("moho::fwi::add_light", m_exec, nodes(),
             AddDerivative<T>{light.data(), light.data(), m_light.data(), false, 1.0});
    };
    if (m_job.collect && !m_extended) {
      evaluate_among(model, add);
    } else {
      m_shots.evaluate(
          model, {},
          [&](std::size_t, const ShotPart<T>& numbers, const Model& derivative,
              const Field<T, Dim, Memory>& light) { add(numbers, derivative, light); },
          pace());
    }
    launch("moho::fwi::round", m_exec, static_cast<std::int64_t>(m_gradient.size()),
           Rounded<T>{m_sum.data(), m_gradient.data()});
    m_exec.fence();
    return f;
  }

  // The shots of an evaluation, computed by several processes, in their order.
  template <class Add>
  void evaluate_among(const Model& model, const Add& add) {
    Order<T> order;
    order.evaluation = m_search->evaluations() + 1;
    order.band = m_band;
    order.size = m_shots.size();
    for (const auto& field : m_fields) {
      const std::vector<T> values = download(m_exec, field);
      order.model.insert(order.model.end(), values.begin(), values.end());
    }
    if (m_job.share) {
      m_job.share(order);
      compute_shots(model);
    }
    Model derivative;
    for (const std::string& name : m_o.unknowns) {
      field_of(derivative, name) = make_field<T>(m_exec, m_job.grid, name);
    }
    const auto light = make_field<T>(m_exec, m_job.grid, "light");
    m_job.collect(order, [&](std::size_t, const ShotPart<T>& part) {
      const T* from = part.values.data();
      const auto get = [&](const Field<T, Dim, Memory>& field) {
        copy(m_exec, wave::Storage<T, Memory>(field.data(), static_cast<std::size_t>(nodes())),
             HostElements<const T>(from, static_cast<std::size_t>(nodes())));
        from += nodes();
      };
      for (const std::string& name : m_o.unknowns) get(field_of(derivative, name));
      get(light);
      add(part, derivative, light);
      m_exec.fence();
    });
  }

  typename ShotsType::Pace pace() {
    if (!m_job.progress) return {};
    return [this](std::size_t k, int leg, const wave::ShotProgress& now) {
      tell_progress(k, leg, now);
    };
  }

  void tell_progress(std::size_t k, int leg, const wave::ShotProgress& now) {
    if (!m_search) return;  // it is another process's
    const double part =
        static_cast<double>(now.step) / std::max<double>(1.0, static_cast<double>(now.steps));
    const double done = leg == 0 ? 0.3 * part : leg == 1 ? 0.3 + 0.2 * part : 0.5 + 0.5 * part;
    const double shots = static_cast<double>(m_shots.shots().size());
    const double of_evaluation = (static_cast<double>(k) + done) / shots;
    const double each = m_seconds_each > 0.0 ? m_seconds_each : m_plan.seconds;
    m_job.progress(
        of_evaluation,
        concat(m_band_text, "iteration ", m_search->iterations() + 1, ", evaluation ",
               m_search->evaluations() + 1, ", shot ", k + 1, " of ", m_shots.shots().size(), ", ",
               std::llround(std::max(0.0, each * (1.0 - of_evaluation))), " s left of it"));
  }

  void precondition() {
    const std::vector<double> light = download(m_exec, m_light);
    double most = 0.0;
    for (const double value : light) most = std::max(most, value);
    std::vector<T> factors;
    for (std::size_t u = 0; u < m_fields.size(); ++u) {
      for (const double value : light) {
        factors.push_back(static_cast<T>(most > 0.0 ? 1.0 / (value / most + 0.01) : 1.0));
      }
    }
    m_search->precondition(m_exec, upload(m_exec, factors, "moho::optimize::factors"));
  }

  ModelValues<T> unknowns_at(const Kokkos::View<const T*, Memory>& point) const {
    model_at(point);
    ModelValues<T> values;
    for (std::size_t u = 0; u < m_fields.size(); ++u) {
      values[m_o.unknowns[u]] = download(m_exec, m_fields[u]);
    }
    return values;
  }

  double error_of_vp() const {
    if (!m_job.truth_known) return -1.0;
    const std::vector<T> vp = unknowns_at(m_search->best())["vp"];
    const std::vector<T>& truth = m_job.true_values->at("vp");
    double error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < vp.size(); ++i) {
      const double v = static_cast<double>(truth[i]), d = static_cast<double>(vp[i]) - v;
      error += d * d;
      size += v * v;
    }
    return std::sqrt(error / size);
  }

  Found<T> found() const {
    Found<T> result;
    result.save = [this](const std::filesystem::path& path) { m_search->save(m_exec, path); };
    result.model = [this] { return unknowns_at(m_search->best()); };
    result.gradient = [this] {
      ModelValues<T> values;
      const std::vector<T> all = download(m_exec, m_search->best_gradient());
      for (std::size_t u = 0; u < m_fields.size(); ++u) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(u) * nodes();
        values[m_o.unknowns[u]].assign(begin, begin + nodes());
      }
      return values;
    };
    result.illumination = [this] {
      const std::vector<double> light = download(m_exec, m_light);
      return std::vector<T>(light.begin(), light.end());
    };
    return result;
  }

  void gather_middle() {
    const std::size_t k = m_shots.shots().size() / 2;
    const fwi::ObservedShot& observed = m_shots.observed()[k];
    const wave::Shot<Dim>& shot = m_shots.shots()[k];
    Gather gather;
    gather.shot = shot.number;
    gather.receivers = observed.receivers;
    gather.samples = observed.count;
    gather.dt = observed.dt;
    gather.observed = observed.samples;
    gather.start = m_shots.gather_of(m_shots.start(), shot);
    gather.modelled = m_shots.gather_of(model_at(m_search->best()), shot);
    m_job.gathered(gather);
  }

  Instance<Memory> m_exec;
  const Job<T, Dim>& m_job;
  const Options& m_o;
  PhaseTimes& m_phases;
  ShotsType& m_shots;
  std::string m_device;
  int m_threads = 1;
  Plan m_plan;
  std::optional<fwi::ExtendedImage<T, Dim, Memory>> m_extended;
  std::optional<optimize::Lbfgs<T, Memory>> m_search;
  std::vector<Field<T, Dim, Memory>> m_fields;  ///< of the unknowns
  std::vector<double> m_scales;
  Doubles m_sum, m_light;
  Vector m_gradient;
  std::int64_t m_in_band = 0;
  int m_band = -1;
  double m_seconds_each = 0.0;
  std::string m_band_text;
};

}  // namespace detail

template <class T, int Dim, class Memory>
PhaseTimes compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  PhaseTimes phases;
  const std::string device = device_name(exec);
  const int threads = exec.concurrency();
  bool streams = false;
  job.together([&] { streams = detail::streams(exec, job); });
  if (streams) {
    using Host = Kokkos::HostSpace;
    const Instance<Host> host{Kokkos::DefaultHostExecutionSpace()};
    using Shots = detail::StreamedShots<T, Dim, Memory>;
    std::optional<Shots> shots;
    job.together([&] { shots.emplace(host, exec, job); });
    detail::Inversion<T, Dim, Host, Shots>(job, phases, *shots, device, threads).run();
  } else {
    using Shots = detail::Shots<T, Dim, Memory>;
    std::optional<Shots> shots;
    job.together([&] { shots.emplace(exec, job); });
    detail::Inversion<T, Dim, Memory, Shots>(job, phases, *shots, device, threads).run();
  }
  return phases;
}

/// One kind of call.
#define MOHO_INVERT_WAVES(T, Dim, Memory) \
  template PhaseTimes compute_on<T, Dim, Memory>(const Instance<Memory>&, const Job<T, Dim>&)

}  // namespace moho::examples::invert_waves
