// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sources and receivers of a shot, kept for the next one.

#include "device.hpp"
#include "wave_input.hpp"

#include <moho/wave/modelling.hpp>
#include <moho/wave/source_term.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace moho::python {

/// Points and source term of a shot.
template <class T, int Dim, class Memory>
struct ShotPoints {
  Points<Dim> at, to;  ///< positions of sources and receivers
  bool injects;        ///< true if the receivers inject amplitudes, too
  wave::PointSet<T, Dim, Memory> sources, receivers;
  wave::SourceTerm<T, Dim, Memory> source;

  /// \throws InputError as Modelling::check()
  ShotPoints(const Instance<Memory>& exec, const wave::Modelling<T, Dim, Memory>& modelling,
             const wave::Shot<Dim>& shot, bool injecting)
      : at(shot.sources), to(shot.receivers), injects(injecting) {
    using wave::detail::with_argument;
    sources = with_argument("sources", [&] { return modelling.sources(exec, shot); });
    receivers = with_argument("receivers", [&] {
      return injects ? modelling.injecting_receivers(exec, shot) : modelling.receivers(exec, shot);
    });
    const wave::ModellingPlan<Dim>& plan = modelling.plan();
    source = {
        &modelling.propagator(), &sources,
        wave::wavelet_series<T, Memory>(exec, plan.wavelet, plan.time.steps, sources.count())};
  }
  ShotPoints(const ShotPoints&) = delete;
  ShotPoints& operator=(const ShotPoints&) = delete;
};

/// \brief The points of the last shot, for calls with the same positions.
///
/// They do not depend on the values of the model. Points with more than 2^20 weights and amplitudes
/// are not kept.
template <class T, int Dim, class Memory>
class KeptPoints {
 public:
  using Shared = std::shared_ptr<const ShotPoints<T, Dim, Memory>>;

  /// \brief Returns the points of a shot. \throws InputError as Modelling::check()
  /// \param injects true for receivers that inject amplitudes
  Shared of(const wave::Modelling<T, Dim, Memory>& modelling, const Input& sources,
            const Input& receivers, bool injects) {
    const wave::Shot<Dim> shot{0, points_of<Dim>(sources), points_of<Dim>(receivers)};
    if (m_last && same(m_last->at, shot.sources) && same(m_last->to, shot.receivers) &&
        (m_last->injects || !injects)) {
      return m_last;
    }
    m_last.reset();
    auto made = std::make_shared<const ShotPoints<T, Dim, Memory>>(instance_in<Memory>(), modelling,
                                                                   shot, injects);
    const auto numbers = made->sources.weights() + made->receivers.weights() +
                         static_cast<std::int64_t>(made->source.amplitudes.size());
    if (numbers <= std::int64_t{1} << 20) m_last = made;
    return made;
  }
  void release() { m_last.reset(); }

 private:
  static bool same(const Points<Dim>& a, const Points<Dim>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Point<Dim>& one, const Point<Dim>& other) {
                        return std::equal(&one[0], &one[0] + Dim, &other[0]);
                      });
  }

  Shared m_last;
};

}  // namespace moho::python
