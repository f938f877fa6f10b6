// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Migration of shots that advance in the same launches: the bits of shots one by one, refusals, the
// plan of a survey, and overflows.

#include <moho/rtm/migrate_batch.hpp>
#include <moho/rtm/migration.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/compressed_store.hpp>

#include <functional>
#include <limits>
#include <memory>

#include "section.hpp"
#include "squares.hpp"

namespace moho::testing {
namespace {

using rtm::BatchedMigration;
using ::testing::HasSubstr;

template <class C>
class MigrationBatch : public ::testing::Test {};
TYPED_TEST_SUITE(MigrationBatch, TestCases, CaseName);

/// Shots with random points, wavelets and data over a random model.
template <class T, int Dim, class Memory>
struct RandomShots {
  using Store = SnapshotStore<T, Dim, Memory>;

  Instance<Memory> exec;
  Grid<Dim> grid, extended;
  std::unique_ptr<Propagator<T, Dim, Memory>> propagator;
  std::vector<wave::PointSet<T, Dim, Memory>> sources, receivers;
  std::vector<SourceTerm<T, Dim, Memory>> forward, backward;
  std::vector<std::unique_ptr<snapshot::DeviceArena<T, Memory>>> arenas;
  std::vector<std::unique_ptr<Store>> stores;
  std::vector<ImageSums<T, Dim, Memory>> sums;
  MigrateOptions<T, Dim, Memory> options;

  RandomShots(const Instance<Memory>& instance, Medium medium, const Boundaries<Dim>& faces,
              int count)
      : exec(instance), grid(cube<Dim>(Dim == 2 ? 34 : 17, 10.0)) {
    grid.extents[0] += 3;
    extended = wave::extended_grid(grid, faces);
    PropagatorOptions<Dim> scheme;
    scheme.order = 4;
    scheme.boundaries = faces;
    const auto model = random_model<T, Dim, Memory>(exec, grid, medium, 5);
    propagator = std::make_unique<Propagator<T, Dim, Memory>>(make_propagator(
        exec, extended, wave::extend_model<T, Dim, Memory>(exec, grid, model, faces), scheme, 0.8));
    options.steps = 62;
    options.snapshot_interval = 4;
    for (int k = 0; k < count; ++k) {
      const auto seed = static_cast<unsigned>(k);
      sources.push_back(points(1 + k % 2, 20 + seed));
      receivers.push_back(points(5 + k % 3, 40 + seed));
      arenas.push_back(std::make_unique<snapshot::DeviceArena<T, Memory>>("snapshots"));
      sums.push_back(rtm::make_image<T, Dim, Memory>(exec, grid));
    }
    for (std::size_t k = 0; k < sources.size(); ++k) {
      // wavelets and data of different lengths
      forward.push_back({propagator.get(), &sources[k], signal(30 + k, sources[k].count())});
      backward.push_back({propagator.get(), &receivers[k], signal(64 - k, receivers[k].count())});
    }
  }
  wave::PointSet<T, Dim, Memory> points(int count, unsigned seed) const {
    std::mt19937 random(seed);
    Points<Dim> positions;
    for (int n = 0; n < count; ++n) {
      Point<Dim> p{};
      for (int d = 0; d < Dim; ++d) {
        const auto last = static_cast<double>(grid.extents[d] - 6);
        p[d] = grid.origin[d] + grid.spacing[d] * uniform(random, 5.0, last);
      }
      positions.push_back(p);
    }
    return wave::PointSet<T, Dim, Memory>(exec, extended, propagator->layout(), positions,
                                          wave::point_options(*propagator, "point", true));
  }
  wave::PointSeries<T, Memory> signal(std::size_t rows, std::int64_t count) const {
    std::vector<double> values;
    for (std::size_t n = 0; n < rows; ++n) {
      for (std::int64_t p = 0; p < count; ++p) {
        const double t = (static_cast<double>(n) - 14.0 - 3.0 * static_cast<double>(p)) / 5.0;
        values.push_back((1.0 - t * t) * std::exp(-0.5 * t * t));
      }
    }
    return series_of<T, Memory>(exec, values, static_cast<std::size_t>(count));
  }
  /// Returns new stores, of which method 1 compresses and method 2 recomputes.
  std::vector<BatchedMigration<T, Dim, Memory>> members(int method = 0) {
    std::vector<BatchedMigration<T, Dim, Memory>> result;
    stores.clear();
    for (std::size_t k = 0; k < forward.size(); ++k) {
      stores.push_back(store(k, method));
      result.push_back({&forward[k], &backward[k], stores[k].get(), &sums[k]});
    }
    return result;
  }
  std::unique_ptr<Store> store(std::size_t k, int method) const {
    if (method == 1) {
      return std::make_unique<snapshot::CompressedStore<T, Dim, Memory>>(
          snapshot::CodecOptions{.mode = snapshot::CodecMode::blocks, .bits = 12}, false);
    }
    if (method == 2) {
      return std::make_unique<snapshot::BoundaryStore<T, Dim, Memory>>(exec, forward[k],
                                                                       *arenas[k]);
    }
    return std::make_unique<snapshot::MemoryStore<T, Dim, Memory>>(*arenas[k]);
  }
  std::vector<Wavefield<T, Dim, Memory>> wavefields() const {
    return wave::make_wavefields<T, Dim, Memory>(exec, propagator->scheme(),
                                                 static_cast<int>(forward.size()));
  }
};

template <class T, int Dim, class Memory>
std::vector<std::vector<T>> parts_of(const Instance<Memory>& exec,
                                     const ImageSums<T, Dim, Memory>& sums) {
  std::vector<std::vector<T>> parts;
  for (const auto* field : {&sums.image, &sums.source_illumination, &sums.receiver_illumination}) {
    const auto values = download(exec, *field);
    parts.emplace_back(values.begin(), values.end());
  }
  return parts;
}

template <class T, int Dim, class Memory>
void expect_bits_of_single_shots(const Instance<Memory>& exec, Medium medium,
                                 const Boundaries<Dim>& faces, int count = 3, int method = 0) {
  RandomShots<T, Dim, Memory> shots(exec, medium, faces, count);
  auto wavefields = shots.wavefields();
  // whatever they hold before
  for (auto& wavefield : wavefields) set_random(exec, wavefield, 3);
  if (count > 1) wavefields[1].advance();
  const auto reports = rtm::migrate_batch<T, Dim, Memory>(
      exec, *shots.propagator, shots.members(method), wavefields, shots.options);
  ASSERT_EQ(reports.size(), static_cast<std::size_t>(count));
  auto single = shots.propagator->make_wavefield(exec);
  for (std::size_t k = 0; k < reports.size(); ++k) {
    const std::string what = concat(wave::to_string(medium), ", shot ", k, ", method ", method);
    const auto sums = rtm::make_image<T, Dim, Memory>(exec, shots.grid);
    const auto store = shots.store(k, method);
    const auto report =
        rtm::migrate_shot<T, Dim, Memory>(exec, *shots.propagator, single, shots.forward[k],
                                          shots.backward[k], *store, shots.options, sums);
    const auto parts = parts_of<T, Dim, Memory>(exec, shots.sums[k]);
    const auto expected = parts_of<T, Dim, Memory>(exec, sums);
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(parts[p], expected[p]) << what << ", part " << p;
      EXPECT_GT(largest(std::vector<double>(expected[p].begin(), expected[p].end())), 0.0) << what;
    }
    EXPECT_EQ(reports[k].forward.points, report.forward.points) << what;
    EXPECT_EQ(reports[k].backward.points, report.backward.points) << what;
    EXPECT_EQ(reports[k].forward.boxes.numbers(), report.forward.boxes.numbers()) << what;
    EXPECT_EQ(reports[k].snapshots.snapshots, report.snapshots.snapshots) << what;
    EXPECT_EQ(reports[k].snapshots.kind, report.snapshots.kind) << what;
    EXPECT_GT(reports[k].seconds, 0.0) << what;
  }
}

template <int Dim>
Boundaries<Dim> free_above_sponge(int width) {
  auto faces = wave::all_faces<Dim>(FaceKind::sponge, width);
  faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  return faces;
}

MEMORY_TEST(MigrationBatch, HasTheBitsOfSingleShotsIn2D) {
  const auto free = free_above_sponge<2>(6);
  const auto matched = wave::all_faces<2>(FaceKind::cpml, 6);
  auto both = matched;
  both.lower[1] = {FaceKind::free_surface, 0};
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    expect_bits_of_single_shots<T, 2, Memory>(exec, medium, free);
    expect_bits_of_single_shots<T, 2, Memory>(exec, medium, matched);
  }
  expect_bits_of_single_shots<T, 2, Memory>(exec, Medium::isotropic, both, 1);
  expect_bits_of_single_shots<T, 2, Memory>(exec, Medium::tti, free, 2);
}
MEMORY_TEST(MigrationBatch, HasTheBitsOfSingleShotsIn3D) {
  expect_bits_of_single_shots<T, 3, Memory>(exec, Medium::isotropic, free_above_sponge<3>(4));
  expect_bits_of_single_shots<T, 3, Memory>(exec, Medium::vti,
                                            wave::all_faces<3>(FaceKind::cpml, 4), 2);
}
MEMORY_TEST(MigrationBatch, TakesMoreShotsThanALaunch) {
  expect_bits_of_single_shots<T, 2, Memory>(exec, Medium::isotropic, free_above_sponge<2>(6), 18);
}
MEMORY_TEST(MigrationBatch, TakesAllStores) {
  for (const int method : {1, 2}) {
    expect_bits_of_single_shots<T, 2, Memory>(exec, Medium::isotropic, free_above_sponge<2>(6), 2,
                                              method);
  }
}

MEMORY_TEST(MigrationBatch, CallsImagedForEachShot) {
  RandomShots<T, 2, Memory> shots(exec, Medium::isotropic, free_above_sponge<2>(6), 2);
  auto members = shots.members();
  std::vector<std::vector<std::int64_t>> times(2);
  for (std::size_t k = 0; k < 2; ++k) {
    members[k].imaged = [&, k](const auto& snapshot, const auto& receivers, std::int64_t time) {
      EXPECT_EQ(snapshot.box, shots.propagator->interior());
      EXPECT_EQ(receivers.fields, 1);
      times[k].push_back(time);
    };
  }
  auto wavefields = shots.wavefields();
  rtm::migrate_batch<T, 2, Memory>(exec, *shots.propagator, members, wavefields, shots.options);
  EXPECT_EQ(times[0].size(), 15U);
  EXPECT_EQ(times[0].front(), 60);
  EXPECT_EQ(times[0].back(), 4);
  EXPECT_EQ(times[1], times[0]);
}

MEMORY_TEST(MigrationBatch, RefusesWhatIsNotPossible) {
  RandomShots<T, 2, Memory> shots(exec, Medium::isotropic, free_above_sponge<2>(6), 2);
  const auto message = [&](const auto& change) {
    auto options = shots.options;
    auto wavefields = shots.wavefields();
    auto members = shots.members();
    change(options, wavefields, members);
    return message_of<InputError>([&] {
      rtm::migrate_batch<T, 2, Memory>(exec, *shots.propagator, members, wavefields, options);
    });
  };
  EXPECT_THAT(message([](auto& options, auto&, auto&) { options.steps = 3; }),
              HasSubstr("snapshots every 4 of 3 steps"));
  EXPECT_THAT(message([](auto&, auto& wavefields, auto&) { wavefields.pop_back(); }),
              HasSubstr("there are 1 for 2 shots"));
  EXPECT_THAT(message([](auto&, auto& wavefields, auto&) { wavefields[1] = {}; }),
              HasSubstr("wavefields: they do not belong to the propagator"));
  EXPECT_THAT(message([&](auto& options, auto&, auto&) { options.source = &shots.forward[0]; }),
              HasSubstr("source is given for shots in the same launches"));
  EXPECT_THAT(message([](auto& options, auto&, auto&) { options.store_steps = true; }),
              HasSubstr("a part of a grid is given"));
  rtm::OffsetOptions<2> offsets;
  offsets.columns = {{10, 0}};
  offsets.max_half_offset = 2;
  const auto gathers = rtm::make_image<T, 2, Memory>(exec, shots.grid, offsets);
  EXPECT_THAT(message([&](auto&, auto&, auto& members) { members[1].sums = &gathers; }),
              HasSubstr("sums: they have offset gathers"));
  std::vector<Wavefield<T, 2, Memory>> none;
  EXPECT_TRUE(
      (rtm::migrate_batch<T, 2, Memory>(exec, *shots.propagator, {}, none, shots.options)).empty());
}

MEMORY_TEST(MigrationBatch, NamesTheShotThatOverflows) {
  RandomShots<T, 2, Memory> shots(exec, Medium::isotropic, free_above_sponge<2>(6), 3);
  const std::size_t rows = shots.backward[1].amplitudes.extent(0);
  const auto points = static_cast<std::size_t>(shots.receivers[1].count());
  shots.backward[1].amplitudes = series_of<T, Memory>(
      exec, std::vector<double>(rows * points, std::numeric_limits<double>::infinity()), points);
  auto wavefields = shots.wavefields();
  EXPECT_THAT(message_of<wave::NotFinite>([&] {
                rtm::migrate_batch<T, 2, Memory>(exec, *shots.propagator, shots.members(),
                                                 wavefields, shots.options);
              }),
              HasSubstr("backward leg, shot 2 of those in step, step "));
}

/// Six shots over a small section with their data.
template <class T, class Memory>
struct BatchSurvey {
  Section<T, Memory> section;
  rtm::MigrationInput<T, 2> input;
  std::vector<survey::ShotGather<2>> gathers;

  explicit BatchSurvey(const Instance<Memory>& exec)
      : section(exec, Medium::isotropic, 0.45, true) {
    input.grid = section.grid;
    input.model.vp = vp(0.0);
    input.data_model = rtm::HostModel<T, 2>{};
    input.data_model->vp = vp(800.0);
    input.faces = section.faces;
    input.wavelet = wave::ricker_wavelet(12.0);
    for (int k = 0; k < 6; ++k) {
      auto shot = section.shot;
      shot.number = 11 + k;
      shot.sources = {{60.0 + 60.0 * k, 20.0}};
      shot.receivers = wave::point_line<2>({60.0 + 20.0 * k, 20.0}, {280.0 + 20.0 * k, 20.0}, 12);
      input.shots.push_back(shot);
    }
    auto& options = input.options;
    options.modelling.time.time = 0.45;
    options.modelling.order = 4;
    options.storage.method = "device";
    options.storage.error = "lossless";
    options.concurrent_shots = 1;
    auto migration = made();
    for (std::size_t k = 0; k < 6; ++k) gathers.push_back(migration.model_data(k));
    // a shot without two of its receivers, one without any
    auto& few = gathers[2];
    few.samples.resize(few.samples.size() / 12 * 10);
    few.shot.receivers.resize(10);
    few.traces.resize(10);
    gathers[4].shot.receivers.clear();
    gathers[4].samples.clear();
    gathers[4].traces.clear();
  }
  rtm::HostField<T, 2> vp(double added) const {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    return field_of<T, 2, Kokkos::HostSpace>(host, section.grid, [&](const Index<2>& node) {
      const bool there = node[0] == section.diffractor[0] && node[1] == section.diffractor[1];
      return there ? 2000.0 + added : 2000.0;
    });
  }
  rtm::Migration<T, 2, Memory> made() const {
    return rtm::Migration<T, 2, Memory>(section.exec, input);
  }
  /// Returns the images of all shots.
  std::vector<rtm::ShotImage<T, 2>> images(rtm::Migration<T, 2, Memory>& migration,
                                           bool read = true) const {
    std::vector<rtm::ShotImage<T, 2>> result;
    std::size_t k = 0;
    bool over = false;
    migration.migrate_each(
        [&]() -> std::optional<std::size_t> {
          EXPECT_FALSE(over);
          over = k == gathers.size();
          return over ? std::nullopt : std::optional<std::size_t>(k++);
        },
        read ? std::function<survey::ShotGather<2>(std::size_t)>(
                   [&](std::size_t n) { return gathers[n]; })
             : nullptr,
        [&](std::size_t n, rtm::ShotImage<T, 2>&& image) {
          EXPECT_EQ(n, result.size());
          result.push_back(std::move(image));
        });
    return result;
  }
};

MEMORY_TEST(MigrationBatch, SizeDoesNotChangeAnImage) {
#if !defined(KOKKOS_ENABLE_SERIAL)
  if (is_host_memory<Memory>) GTEST_SKIP() << "concurrent shots need the Serial space";
#endif
  BatchSurvey<T, Memory> survey(exec);
  std::vector<rtm::ShotImage<T, 2>> expected;
  std::vector<rtm::HostField<T, 2>> first;
  for (const auto& [concurrent, batch] :
       {std::pair{1, 1}, std::pair{2, 2}, std::pair{6, 4}, std::pair{6, 6}, std::pair{5, 2}}) {
    auto& options = survey.input.options;
    options.concurrent_shots = concurrent;
    options.batch_size = batch;
    options.keep_data = 13;
    std::size_t reports = 0;
    options.progress = [&, max = concurrent](const rtm::MigrationProgress& now) {
      ++reports;
      EXPECT_LE(now.shots_done, 6.0);
      EXPECT_EQ(now.concurrent_shots, max);
    };
    auto migration = survey.made();
    migration.accumulate(Squares{});
    EXPECT_EQ(migration.plan().batch_size, batch);
    EXPECT_EQ(migration.plan().concurrent_shots, concurrent);
    const bool told = migration.plan().text().find("in the same launches") != std::string::npos;
    EXPECT_EQ(told, batch > 1);
    const auto images = survey.images(migration);
    ASSERT_EQ(images.size(), 6U);
    EXPECT_GT(reports, 0U);
    EXPECT_GT(migration.phases().seconds("migrate"), 0.0);
    if (batch == 1) expected = images;
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_EQ(images[k].values, expected[k].values) << k;
      EXPECT_EQ(images[k].largest, expected[k].largest) << k;
      EXPECT_EQ(images[k].report.points, expected[k].report.points);
      EXPECT_EQ(images[k].report.receivers, k == 4 ? 0 : k == 2 ? 10 : 12);
      EXPECT_EQ(images[k].report.notes, expected[k].report.notes);
      EXPECT_EQ(images[k].data != nullptr, k == 2);
      migration.add(images[k]);
    }
    std::size_t c = 0;
    const auto compare = [&](const rtm::HostField<T, 2>& image) {
      if (batch == 1) first.push_back(image);
      const auto& other = first[c++];
      EXPECT_EQ(std::vector<T>(image.data(), image.data() + image.size()),
                std::vector<T>(other.data(), other.data() + other.size()));
    };
    compare(migration.image(rtm::InverseScattering{}));
    compare(migration.image(rtm::SourceNormalised{}));
    compare(migration.image(rtm::ReceiverNormalised{}));
    // a second survey with the memory of the first, with modelled data
    const auto again = survey.images(migration, false);
    EXPECT_EQ(again[0].values, expected[0].values);
    EXPECT_GT(again[4].largest.front(), 0.0);
  }
}

MEMORY_TEST(MigrationBatch, IsPlannedWherePossible) {
  BatchSurvey<T, Memory> survey(exec);
  const auto planned = [&](const auto& change) {
    auto input = survey.input;
    input.options.concurrent_shots = 0;
    input.options.batch_size = 3;
    input.options.storage.method = "auto";
    change(input);
    return rtm::Migration<T, 2, Memory>(exec, input).plan();
  };
  const auto usual = planned([](auto&) {});
  EXPECT_EQ(usual.batch_size, 3);
  EXPECT_EQ(usual.concurrent_shots, 6);
  EXPECT_EQ(usual.storage.strategy.keep, snapshot::StorageMethod::raw);
  EXPECT_EQ(usual.storage.location, snapshot::StorageLocation::device);
  EXPECT_EQ(usual.one_by_one, "");
  const auto size = [&](const auto& change) { return planned(change).batch_size; };
  EXPECT_EQ(size([](auto& input) { input.options.batch_size = 1; }), 1);
  EXPECT_EQ(size([](auto& input) { input.options.batch_size = 7; }), 6);
  EXPECT_EQ(size([](auto& input) { input.options.processes = 3; }), 2);
  // automatic: on devices
  const int automatic = size([](auto& input) { input.options.batch_size = 0; });
  EXPECT_EQ(automatic, is_host_memory<Memory> ? 1 : 3);
  for (const bool replayed : {false, true}) {
    EXPECT_EQ(size([&](auto& input) {
                auto& o = input.options;
                o.batch_size = 0;
                if (replayed) o.storage.method = "replay";
                if (!replayed) o.domain = domain::ExpansionMethod::layers;
              }),
              1);
  }
  // batches that are not possible
  const auto reason = [&](const auto& change) {
    const auto plan = planned(change);
    EXPECT_EQ(plan.batch_size, 1);
    const bool told = plan.text().find("one by one: " + plan.one_by_one) != std::string::npos;
    EXPECT_EQ(told, !plan.one_by_one.empty());
    return plan.one_by_one;
  };
  EXPECT_EQ(reason([](auto& input) {
              input.options.aperture = {{60.0}, 30.0};
            }),
            "shots see different parts of the model");
  EXPECT_EQ(reason([](auto& input) { input.options.processes = 6; }), "a process has one shot");
  EXPECT_EQ(reason([](auto& input) {
              input.options.aperture = {{60.0}, 30.0};
              input.options.batch_size = 0;
            }),
            "");
  // in anelliptic media delta is tapered around the points of a shot: models of shots differ
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  const auto vti = [&](double delta) {
    return size([&](auto& input) {
      input.data_model = std::nullopt;
      input.model.epsilon = constant<T, 2, Kokkos::HostSpace>(host, input.grid, 0.2);
      input.model.delta = constant<T, 2, Kokkos::HostSpace>(host, input.grid, delta);
    });
  };
  EXPECT_EQ(vti(0.1), 1);
  EXPECT_EQ(vti(0.2), 3);
}

MEMORY_TEST(MigrationBatch, RefusesOptionsThatDoNotCombine) {
  BatchSurvey<T, Memory> survey(exec);
  survey.input.options.concurrent_shots = 0;
  const auto message = [&](const auto& change) {
    auto input = survey.input;
    input.options.batch_size = 3;
    change(input.options);
    return message_of<InputError>([&] { rtm::Migration<T, 2, Memory>(exec, input); });
  };
  EXPECT_EQ(message([](auto& o) { o.batch_size = -1; }).substr(0, 38),
            "batch_size is -1 (allowed: 0 or more):");
  EXPECT_THAT(message([](auto& o) { o.domain = domain::ExpansionMethod::layers; }),
              HasSubstr("batch_size is 3 with the domain layers (allowed: 1): "));
  EXPECT_THAT(message([](auto& o) { o.storage.method = "replay"; }),
              HasSubstr("batch_size is 3 with the storage 'replay' (allowed: 1): "));
  EXPECT_THAT(message([](auto& o) {
                o.offsets = {{{10, 0}}, 3, 1};
              }),
              HasSubstr("batch_size is 3 with offset gathers (allowed: 1): "));
  EXPECT_THAT(message([](auto& o) {
                o.storage.method = "auto";
                o.stream.block = 8;
              }),
              HasSubstr("batch_size is 3 with shots over several devices or in a stream"));
  EXPECT_THAT(message([](auto& o) { o.concurrent_shots = 1; }),
              HasSubstr("batch_size is 3 with 1 shot at once (allowed: 1): "));
  EXPECT_THAT(message([](auto& o) { o.concurrent_shots = 2; }),
              HasSubstr("batch_size is 3 with 2 shots at once (allowed: 1 to 2): "));
}

MEMORY_TEST(MigrationBatch, FindsTheShotsThatOverflowAndCompletesTheOthers) {
#if !defined(KOKKOS_ENABLE_SERIAL)
  if (is_host_memory<Memory>) GTEST_SKIP() << "concurrent shots need the Serial space";
#endif
  BatchSurvey<T, Memory> survey(exec);
  auto one_by_one = survey.made();
  const auto expected = survey.images(one_by_one);
  for (const std::size_t k : {std::size_t{3}, std::size_t{5}}) {
    for (auto& sample : survey.gathers[k].samples) {
      sample = std::numeric_limits<std::decay_t<decltype(sample)>>::max();
    }
  }
  using Numbers = std::vector<std::size_t>;
  for (const int batch : {6, 2}) {
    survey.input.options.batch_size = batch;
    survey.input.options.concurrent_shots = batch;
    auto migration = survey.made();
    EXPECT_EQ(migration.plan().batch_size, batch);
    Numbers taken;
    std::size_t k = 0;
    EXPECT_THAT(message_of<Error>([&] {
                  migration.migrate_each([&] { return k < 6 ? std::optional(k++) : std::nullopt; },
                                         [&](std::size_t n) { return survey.gathers[n]; },
                                         [&](std::size_t n, rtm::ShotImage<T, 2>&& image) {
                                           taken.push_back(n);
                                           EXPECT_EQ(image.values, expected[n].values) << n;
                                         });
                }),
                HasSubstr("shot 14, backward leg, step "));
    // no batch begins after one that failed
    EXPECT_EQ(taken, (batch == 6 ? Numbers{0, 1, 2, 4} : Numbers{0, 1, 2})) << batch;
    EXPECT_EQ(k, batch == 6 ? 6U : 4U);
  }
}

}  // namespace
}  // namespace moho::testing
