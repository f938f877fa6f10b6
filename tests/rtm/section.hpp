// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Section with a diffractor, its scattered data, and their migration, for tests.

#include <moho/rtm/migrate.hpp>
#include <moho/wave/modelling.hpp>

#include <vector>

#include "wave/support.hpp"

namespace moho::testing {

using rtm::ImageSums;
using rtm::MigrateOptions;
using snapshot::SnapshotStore;
using wave::SourceTerm;

/// Returns the values of a field.
template <class T, class Memory>
std::vector<double> values_of(const Instance<Memory>& exec, const Field<T, 2, Memory>& field) {
  const auto values = download(exec, field);
  return std::vector<double>(values.begin(), values.end());
}

#ifdef MOHO_BOUNDS_CHECK
constexpr bool sanitized = true;  // the complete section takes minutes in tests of all stores
#else
constexpr bool sanitized = false;
#endif

/// Section with one diffractor, a source and a line of receivers.
///
/// A small one has a fifth of the nodes.
template <class T, class Memory>
struct Section {
  Instance<Memory> exec;
  Medium medium;
  Grid<2> grid{{101, 71}, {10.0, 10.0}, {0.0, 0.0}};
  wave::Shot<2> shot{0, {{380.0, 20.0}}, wave::point_line<2>({0.0, 20.0}, {1000.0, 20.0}, 51)};
  wave::Boundaries<2> faces = wave::all_faces<2>(FaceKind::sponge, 24);
  wave::ModellingOptions<2> options;
  Index<2> diffractor{{58, 42}};

  Section(const Instance<Memory>& instance, Medium of, double time = 0.9, bool small = false)
      : exec(instance), medium(of) {
    if (small) {
      grid.extents = {46, 31};
      shot = {0, {{190.0, 20.0}}, wave::point_line<2>({0.0, 20.0}, {450.0, 20.0}, 24)};
      diffractor = {25, 16};
    }
    options.time.time = time;
    options.time.dt = 0.0015;
    options.time.snapshot_every = 0.0;
    // epsilon = delta at sources avoids shear waves
    options.sources = shot.sources;
    options.sources.insert(options.sources.end(), shot.receivers.begin(), shot.receivers.end());
    options.keep_model = true;
  }
  Model<T, 2, Memory> model(double added) const {
    auto result = constant_model<T, 2, Memory>(
        exec, grid, medium, {.vp = 2000.0, .epsilon = 0.3, .delta = 0.1, .theta = 0.6});
    result.vp = field_of<T, 2, Memory>(exec, grid, [&](const Index<2>& node) {
      return node[0] == diffractor[0] && node[1] == diffractor[1] ? 2000.0 + added : 2000.0;
    });
    return result;
  }
  wave::Modelling<T, 2, Memory> modelling(double added) const {
    return wave::make_modelling(exec, grid, model(added), faces, wave::ricker_wavelet(12.0),
                                options);
  }
  /// Returns the scattered data of the diffractor, steps x receivers.
  wave::PointSeries<T, Memory> data() const {
    auto with = modelling(800.0).shot(exec, shot).gather;
    const auto without = modelling(0.0).shot(exec, shot).gather;
    const auto a = download(exec, with), b = download(exec, without);
    std::vector<T> difference(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
    copy(exec, Storage<T, Memory>(with.data(), with.size()),
         HostElements<const T>(difference.data(), difference.size()));
    exec.fence();
    return with;
  }
};

/// Source terms of a shot over a smooth model.
template <class T, class Memory>
struct Migrated {
  wave::Modelling<T, 2, Memory> modelling;
  wave::PointSet<T, 2, Memory> sources, receivers;
  moho::wave::SourceTerm<T, 2, Memory> forward, backward;
  ImageSums<T, 2, Memory> sums;
  rtm::MigrateReport<2> report;

  Migrated(const Section<T, Memory>& section, const wave::PointSeries<T, Memory>& data)
      : modelling(section.modelling(0.0)),
        sources(modelling.sources(section.exec, section.shot)),
        receivers(section.exec, modelling.plan().grid, modelling.propagator().layout(),
                  section.shot.receivers,
                  wave::point_options(modelling.propagator(), "receiver", true)) {
    const auto& wavelet = modelling.plan().wavelet;
    const auto amplitudes = allocate<wave::PointSeries<T, Memory>>(section.exec, "amplitudes",
                                                                   wavelet.size(), std::size_t{1});
    std::vector<T> values(wavelet.begin(), wavelet.end());
    copy(section.exec, Storage<T, Memory>(amplitudes.data(), values.size()),
         HostElements<const T>(values.data(), values.size()));
    section.exec.fence();
    forward = {&modelling.propagator(), &sources, amplitudes};
    backward = {&modelling.propagator(), &receivers, data};
  }
  MigrateOptions<T, 2, Memory> options(std::int64_t snapshot_interval = 6) const {
    MigrateOptions<T, 2, Memory> result;
    result.steps = modelling.plan().time.steps;
    result.snapshot_interval = snapshot_interval;
    return result;
  }
  void run(const Section<T, Memory>& section, SnapshotStore<T, 2, Memory>& store,
           const MigrateOptions<T, 2, Memory>& options, const rtm::OffsetOptions<2>& offsets = {}) {
    sums = rtm::make_image<T, 2, Memory>(section.exec, section.grid, offsets);
    report =
        rtm::migrate_shot<T, 2, Memory>(section.exec, modelling.propagator(), modelling.wavefield(),
                                        forward, backward, store, options, sums);
  }
  std::vector<double> image(const Section<T, Memory>& section) const {
    return values_of<T, Memory>(section.exec, sums.image);
  }
};

}  // namespace moho::testing
