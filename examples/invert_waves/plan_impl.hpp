// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What an inversion chooses and checks before its first shot.

#include "invert_waves/shots_impl.hpp"
#include "invert_waves/stream_shots_impl.hpp"

#include <moho/core/at_once.hpp>
#include <moho/core/space.hpp>
#include <moho/fwi/gradient_memory.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace moho::examples::invert_waves::detail {

/// A parameter of a model by its option.
template <class ModelType>
auto& field_of(ModelType& model, const std::string& option) {
  if (option == "rho") return model.density;
  if (option == "epsilon") return model.epsilon;
  if (option == "delta") return model.delta;
  return model.vp;
}

/// Plans a run, with models and vectors in Memory.
template <class T, int Dim, class Memory, class ShotsType>
class Planner {
 public:
  Planner(const Instance<Memory>& exec, const Job<T, Dim>& job, ShotsType& shots)
      : m_exec(exec), m_job(job), m_o(*job.options), m_shots(shots) {}

  /// Chooses what was left open, and leaves the shots in the last band.
  /// \throws InputError
  Plan make() {
    const double data_dt =
        m_job.true_values != nullptr ? m_shots.limits_of(m_shots.truth()).largest_dt : 0.0;
    m_plan.bounds = m_job.bounds;
    m_plan.limits = m_shots.limits_of(m_shots.start());
    // bounds that nobody asked for are no reason to refuse a time step
    const bool free_bounds = m_o.bounds.count("vp") == 0;
    m_plan.largest_dt = m_shots.limits_of(extreme(true)).largest_dt;
    if (free_bounds && m_shots.options().time.dt >= m_plan.largest_dt &&
        m_shots.options().time.dt < m_plan.limits.largest_dt) {
      bound_of_vp().second *= 0.9999 * m_plan.largest_dt / m_shots.options().time.dt;
      m_plan.largest_dt = m_shots.limits_of(extreme(true)).largest_dt;
    }
    if (data_dt > 0.0) m_plan.largest_dt = std::min(m_plan.largest_dt, data_dt);
    if (m_shots.options().time.dt == 0.0) {
      m_shots.options().time.dt = std::floor(0.9 * m_plan.largest_dt * 1e6) * 1e-6;
      if (!(m_shots.options().time.dt > 0.0)) m_shots.options().time.dt = 0.9 * m_plan.largest_dt;
    } else if (m_shots.options().time.dt >= m_plan.largest_dt) {
      throw InputError(concat("--dt is ", m_shots.options().time.dt, " s (allowed: below ",
                              m_plan.largest_dt,
                              " s, for models up to the bounds): take a smaller one, or lower the "
                              "greatest value of --bounds"));
    }
    const int last = std::max<int>(static_cast<int>(m_o.bands.size()), 1) - 1;
    m_shots.set_band(last);
    const auto& p = m_shots.plan();
    m_plan.medium = p.medium;
    m_plan.time = p.time;
    m_plan.frequency = p.frequency;
    m_plan.nodes_per_wave = p.nodes_per_wave;
    m_plan.every = m_shots.every();
    for (int d = 0; d < Dim; ++d) m_plan.nodes.push_back(p.grid.extents[d]);
    m_plan.unknowns = static_cast<double>(m_o.unknowns.size()) * static_cast<double>(nodes());
    double spacing = 0.0;
    for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, m_job.grid.spacing[d]);
    const double wanted = p.nodes_per_wave_wanted * p.frequency * spacing;
    const double slowest = m_shots.limits_of(extreme(false)).least_velocity;
    if (free_bounds && slowest < wanted) bound_of_vp().first *= 1.0001 * wanted / slowest;
    try {
      wave::check_dispersion(m_job.grid, m_shots.limits_of(extreme(false)), m_shots.options().order,
                             p.frequency);
    } catch (const InputError& error) {
      throw InputError(concat("--bounds: with the least velocity, ", error.what()));
    }
    for (const auto& shot : m_job.shots) {
      m_plan.data_bytes += static_cast<double>(shot.receivers.size()) *
                           static_cast<double>(p.time.steps + 1) * 2.0 * sizeof(float);
    }
    if constexpr (ShotsType::streamed) {
      take_stream();
    } else {
      check_lags();
      choose_source_field(m_o.source_field);
      m_plan.seconds = estimate();
    }
    return m_plan;
  }

  /// The plan of make() with this way of the source's wavefield, on which all ranks agreed.
  /// \throws InputError if it does not fit
  Plan with_way(SourceField way) {
    if (way == m_plan.source_field) return m_plan;
    choose_source_field(way);
    m_plan.seconds = estimate();
    return m_plan;
  }

 private:
  using Model = wave::Model<T, Dim, Memory>;

  std::int64_t nodes() const { return m_job.grid.size(); }
  // A model of the greatest or least values that bounds allow, for limits of the time step.
  Model extreme(bool greatest) {
    Model model = m_shots.start();
    for (std::size_t u = 0; u < m_o.unknowns.size(); ++u) {
      const std::string& name = m_o.unknowns[u];
      if (name == "rho" || name == "delta") continue;
      auto field = make_field<T>(m_exec, m_job.grid, name);
      fill(m_exec, field,
           static_cast<T>(greatest ? m_plan.bounds[u].second : m_plan.bounds[u].first));
      field_of(model, name) = field;
    }
    return model;
  }
  std::pair<double, double>& bound_of_vp() {
    const auto found = std::find(m_o.unknowns.begin(), m_o.unknowns.end(), "vp");
    return m_plan.bounds[static_cast<std::size_t>(found - m_o.unknowns.begin())];
  }
  // What the gradients in a stream have chosen.
  void take_stream() {
    if (m_o.extended) {
      throw InputError(
          "--lags: the gradient streams, and extended images do not (allowed: a gradient in core): "
          "leave --lags, --block and --updates out, or give more --device-memory");
    }
    const auto& gradients = m_shots.gradients();
    m_plan.stream = stream::describe(gradients.plan(), gradients.need(), gradients.rates());
    m_plan.stream_plan = gradients.plan();
    m_plan.source_field = SourceField::random;
    m_plan.source_bytes = 0.0;
    m_plan.fixed_bytes = static_cast<double>(gradients.plan().device_bytes);
    m_plan.budget = static_cast<double>(memory_budget(m_exec, m_o.memory));
    const double volumes = static_cast<double>(gradients.plan().host_bytes);
    const double search =
        (2.0 * m_o.memory_pairs + 8.0) * m_plan.unknowns * sizeof(T) + 8.0 * m_plan.unknowns;
    if (volumes + search > m_plan.budget) {
      throw InputError(concat("--source-field random: on the host its volumes take ",
                              format_bytes(volumes), " and the search ", format_bytes(search),
                              " (allowed: ", format_bytes(m_plan.budget),
                              " in all): take fewer --memory-pairs, a coarser grid, or more memory "
                              "(--memory)"));
    }
    m_plan.seconds = gradients.seconds() * static_cast<double>(m_job.shots.size());
  }
  // Seconds of an evaluation.
  double estimate() {
    auto& field = m_shots.modelling().wavefield();
    field.clear(m_exec);
    wave::RunOptions<T, Dim, Memory> run;
    run.last = 2;
    wave::run_steps<T, Dim, Memory>(m_exec, m_shots.modelling().propagator(), field, run);
    run.last = 12;
    const auto report =
        wave::run_steps<T, Dim, Memory>(m_exec, m_shots.modelling().propagator(), field, run);
    const double legs =
        m_plan.source_field == SourceField::random || m_plan.source_field == SourceField::replay
            ? 4.4
            : 3.4;
    return legs * report.seconds / 10.0 * static_cast<double>(m_plan.time.steps) *
           static_cast<double>(m_job.shots.size());
  }

  void check_lags() {
    const std::size_t asked = is_host_memory<Memory> ? m_o.memory : m_o.device_memory;
    m_plan.budget = static_cast<double>(memory_budget(m_exec, asked));
    if (!m_o.extended) return;
    for (int d = 0; d < 2; ++d) {
      const std::int64_t lag = d == 0 ? m_o.lags.x : m_o.lags.y;
      const std::int64_t most = Dim == 2 && d == 1 ? 0 : (m_job.grid.extents[d] - 1) / 2;
      if (lag <= most) continue;
      throw InputError(concat("--lags: the largest along ", d == 0 ? "x" : "y", " is ", lag,
                              " nodes (allowed: 0 to ", most, ", half of the model): take fewer"));
    }
    m_plan.lags_bytes =
        fwi::ExtendedImage<T, Dim, Memory>::bytes_of(m_shots.gradients().box(), m_o.lags);
  }

  // Throws for lags whose image has no room besides the rest of the gradient, with those that have.
  void refuse_lags(double rest) const {
    const double room = m_plan.budget - rest;
    const Box<Dim> box = m_shots.gradients().box();
    if (fwi::ExtendedImage<T, Dim, Memory>::bytes_of(box, {0, 0}) > room) return;
    const fwi::Lags fitting = fwi::fitting_lags<T, Dim, Memory>(box, m_o.lags, room);
    throw InputError(concat("--lags: ", m_o.lags.count(), " lags take ",
                            format_bytes(m_plan.lags_bytes), " besides ", format_bytes(rest),
                            " of the gradient (allowed: ", format_bytes(m_plan.budget),
                            " in all): ", fitting.count(), fitting.count() == 1 ? " lag" : " lags",
                            " would fit, --lags ", fitting.x,
                            Dim == 3 && m_o.lags.y > 0 ? concat(",", fitting.y) : ""));
  }

  // The way to have the source's wavefield again, and how many shots are computed at once: with
  // --at-once auto as many as need no slower way.
  void choose_source_field(SourceField asked) {
    const auto& modelling = m_shots.modelling();
    // what is tapered around a source is another model for each shot
    const bool one = modelling.plan().source_taper > 0.0;
    const int shots =
        m_job.only ? 1 : static_cast<int>(std::min<std::size_t>(m_job.shots.size(), 1024));
    const int wished =
        one ? 1
            : std::min(shots, m_o.at_once > 0 ? m_o.at_once
                                              : wave::shots_at_once(
                                                    m_exec, modelling.plan().grid.size(), shots));
    if (m_o.at_once > 0 || wished == 1) return choose_source_field(asked, wished);
    choose_source_field(asked, 1);
    const SourceField way = m_plan.source_field;
    for (int at_once = wished; at_once > 1; --at_once) {
      try {
        choose_source_field(asked, at_once);
        if (m_plan.source_field == way) return;
      } catch (const InputError&) {  // no room for so many
      }
    }
    choose_source_field(asked, 1);
  }

  void choose_source_field(SourceField asked, int at_once) {
    const auto& scheme = m_shots.modelling().propagator().scheme();
    const fwi::SourceFieldBytes source =
        fwi::source_field_bytes(scheme, m_shots.gradients().snapshot_nodes(),
                                m_shots.gradients().outside(), m_plan.time.steps, m_plan.every);
    const double state = 2.0 * static_cast<double>(sizeof(T)) *
                         static_cast<double>(scheme.fields()) *
                         static_cast<double>(scheme.layout().size);
    const double search = (2.0 * m_o.memory_pairs + 8.0) * m_plan.unknowns * sizeof(T);
    m_plan.fixed_bytes = static_cast<double>(m_shots.modelling().plan().memory.most) +
                         static_cast<double>(m_shots.gradients().bytes()) + search +
                         8.0 * m_plan.unknowns;
    const wave::MemoryNeed& need = m_shots.modelling().plan().memory;
    m_plan.at_once = at_once;
    // shots at once have places of their own beside those of the run
    const double places = at_once > 1 ? static_cast<double>(at_once) : 0.0;
    m_plan.fixed_bytes += places * (static_cast<double>(need.wavefield + need.gathers) +
                                    static_cast<double>(m_shots.gradients().bytes()));
    if (at_once > 1) {
      // derivatives and illuminations of shots that wait for their turn
      m_plan.fixed_bytes += results_at_once(at_once) * sizeof(T) *
                            (m_plan.unknowns + static_cast<double>(m_job.grid.size()));
    }
    if (m_o.source_field == SourceField::random) m_plan.fixed_bytes += at_once * 2.0 * state;
    m_plan.fixed_bytes += m_plan.lags_bytes;
    const double room = m_plan.budget - m_plan.fixed_bytes;
    const auto take = [&](SourceField way, double bytes) {
      m_plan.source_field = way;
      m_plan.source_bytes = at_once * bytes;
      return m_plan.source_bytes <= room;
    };
    bool fits = false;
    switch (asked) {
      case SourceField::shell:
        fits = take(SourceField::shell, source.shell);
        break;
      case SourceField::random:
        fits = take(SourceField::random, source.random);
        break;
      case SourceField::stored:
        fits = take(SourceField::stored, source.stored);
        break;
      case SourceField::replay:
        fits = take(SourceField::replay, source.replay);
        break;
      default:
        fits = take(SourceField::shell, source.shell) || take(SourceField::replay, source.replay);
    }
    m_shots.set_source_field(m_plan.source_field, source.states, source.piece);
    m_shots.set_at_once(at_once);
    if (fits) return;
    if (m_o.extended) {
      refuse_lags(m_plan.fixed_bytes - m_plan.lags_bytes + m_plan.source_bytes);
    }
    throw InputError(
        concat("--source-field ", invert_waves::to_string(asked), ": it takes ",
               format_bytes(m_plan.source_bytes), " besides ", format_bytes(m_plan.fixed_bytes),
               " (allowed: ", format_bytes(m_plan.budget), " in all): take another way, ",
               at_once > 1 ? "fewer shots --at-once, " : "",
               "fewer steps, a coarser grid, or more memory (--memory, --device-memory)",
               streaming_advice<Memory>(m_o)));
  }

  Instance<Memory> m_exec;
  const Job<T, Dim>& m_job;
  const Options& m_o;
  ShotsType& m_shots;
  Plan m_plan;
};

}  // namespace moho::examples::invert_waves::detail
