// SPDX-License-Identifier: BSD-3-Clause
// ctest: sanitizers without Diffractor/*
// ctest: sanitizers without *.InverseScatteringIsHalfTheLaplacian
// ctest: sanitizers without *.ReciprocalShotsGiveTheSameImage
// ctest: threads 2 for *openmp*.StoresGiveTheSameImage:*openmp*.OffsetZeroIsTheImage
//
// Migration of a shot: position of a diffractor, boxes against the complete grid, all stores
// against uncompressed snapshots, inverse scattering, sums and gathers.

#include <moho/rtm/migrate.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/checkpoint_store.hpp>
#include <moho/snapshot/stores.hpp>

#include <moho/domain/expand.hpp>

#include <map>
#include <memory>

#include "section.hpp"

namespace moho::testing {
namespace {

TEST(AngleGather, FindsTheSlope) {
  constexpr std::int64_t offsets = 21, depths = 101;
  std::vector<double> gather(offsets * depths, 0.0);
  const double slope = std::tan(30.0 * pi / 180.0);  // -dz/dh
  for (std::int64_t h = 0; h < offsets; ++h) {
    for (std::int64_t z = 0; z < depths; ++z) {
      const double along =
          static_cast<double>(z) * 5.0 - 250.0 - slope * static_cast<double>(h - 10) * 10.0;
      gather[static_cast<std::size_t>(h * depths + z)] = std::exp(-along * along / 200.0);
    }
  }
  const std::vector<double> angles{-30.0, 0.0, 15.0, 30.0, 45.0};
  const auto result = rtm::angle_gather(gather, offsets, depths, 10.0, 5.0, angles);
  for (std::size_t a = 0; a < angles.size(); ++a) {
    const double value = result[a * depths + 50];
    if (angles[a] == 30.0) {
      EXPECT_GT(value, 20.0);
    } else {
      EXPECT_LT(value, 14.0) << angles[a];
    }
  }
  EXPECT_THROW(rtm::angle_gather(gather, 20, depths, 10.0, 5.0, angles), InputError);
  EXPECT_THROW(rtm::angle_gather(gather, offsets, depths, 10.0, 5.0, {90.0}), InputError);
}

template <class C>
class Migration : public ::testing::Test {};
TYPED_TEST_SUITE(Migration, LongTestCases, CaseName);

MEMORY_TEST(Migration, LaplacianOfWaves) {
  const Grid<2> grid{{60, 50}, {10.0, 8.0}, {0.0, 0.0}};
  const auto field = field_of<T, 2, Memory>(exec, grid, [](const Index<2>& node) {
    return std::cos(0.02 * 10.0 * static_cast<double>(node[0])) *
           std::cos(0.03 * 8.0 * static_cast<double>(node[1]));
  });
  const auto result = values_of<T, Memory>(exec, rtm::laplacian<T, 2, Memory>(exec, grid, field));
  const auto given = values_of<T, Memory>(exec, field);
  for (std::int64_t x = 4; x < 56; ++x) {
    for (std::int64_t z = 4; z < 46; ++z) {
      const auto i = static_cast<std::size_t>(x * 50 + z);
      EXPECT_NEAR(result[i], -(0.02 * 0.02 + 0.03 * 0.03) * given[i], by_precision<T>(3e-7, 2e-9));
    }
  }
}

template <class C>
class Diffractor : public ::testing::Test {};
TYPED_TEST_SUITE(Diffractor, LongTestCases, CaseName);

// The Laplacian of the normalised image is largest within a quarter of the wavelength from the
// diffractor. With parameters of another medium it is not.
MEMORY_TEST(Diffractor, ComesOutWhereItIs) {
  for (const Medium medium : {Medium::isotropic, Medium::vti, Medium::tti}) {
    Section<T, Memory> section(exec, medium);
    const auto data = section.data();
    for (const Medium migrated : {medium, Medium::isotropic}) {
      section.medium = migrated;
      Migrated<T, Memory> migration(section, data);
      snapshot::DeviceArena<T, Memory> arena("snapshots");
      snapshot::MemoryStore<T, 2, Memory> store(arena);
      migration.run(section, store, migration.options());
      const auto image = values_of<T, Memory>(
          exec, rtm::laplacian<T, 2, Memory>(
                    exec, section.grid,
                    rtm::normalised<T, 2, Memory>(exec, section.grid, migration.sums.image,
                                                  migration.sums.source_illumination)));
      // away from the source and the receivers
      double max = 0.0;
      Index<2> at{};
      for (std::int64_t x = 5; x < 96; ++x) {
        for (std::int64_t z = 25; z < 66; ++z) {
          const double value = std::fabs(image[static_cast<std::size_t>(x * 71 + z)]);
          if (value <= max) continue;
          max = value;
          at = {x, z};
        }
      }
      const double away = 10.0 * std::hypot(static_cast<double>(at[0] - section.diffractor[0]),
                                            static_cast<double>(at[1] - section.diffractor[1]));
      const double wavelength = 2000.0 / 12.0;
      if (migrated == medium) {
        EXPECT_LE(away, 0.25 * wavelength) << wave::to_string(medium);
      } else if (medium == Medium::tti) {
        EXPECT_GT(away, 0.25 * wavelength) << "TTI data with isotropic parameters";
      }
    }
  }
}

MEMORY_TEST(Migration, BoxesOfTheSourceAreEnough) {
  const Section<T, Memory> section(exec, Medium::isotropic, 0.6);
  const auto data = section.data();
  Migrated<T, Memory> whole(section, data), boxed(section, data);
  snapshot::DeviceArena<T, Memory> arena("snapshots");
  snapshot::MemoryStore<T, 2, Memory> store(arena);
  whole.run(section, store, whole.options());
  for (const auto expansion : {domain::ExpansionMethod::layers, domain::ExpansionMethod::eikonal,
                               domain::ExpansionMethod::amplitude}) {
    domain::DomainOptions domain_options;
    domain_options.frequency = boxed.modelling.plan().frequency;
    const auto domain = domain::make_domain<T, 2, Memory>(
        expansion, exec, boxed.modelling.propagator(), boxed.modelling.extended_model(),
        boxed.sources, domain_options);
    auto options = boxed.options();
    options.domain = domain.get();
    // backward propagation on the complete grid, and on the boxes
    options.margin = 1000;
    snapshot::MemoryStore<T, 2, Memory> first(arena);
    boxed.run(section, first, options);
    const auto expected = boxed.image(section);
    options.margin = 4;
    snapshot::MemoryStore<T, 2, Memory> second(arena);
    const auto again = domain::make_domain<T, 2, Memory>(
        expansion, exec, boxed.modelling.propagator(), boxed.modelling.extended_model(),
        boxed.sources, domain_options);
    options.domain = again.get();
    boxed.run(section, second, options);
    EXPECT_LT(relative_error(boxed.image(section), expected), 1e-6) << domain::to_string(expansion);
    // the boxes of the forward propagation omit values below rounding or the amplitude's threshold
    const double bound =
        expansion == domain::ExpansionMethod::amplitude ? 5e-3 : by_precision<T>(5e-6, 1e-6);
    EXPECT_LT(relative_error(boxed.image(section), whole.image(section)), bound)
        << domain::to_string(expansion);
    EXPECT_LT(boxed.report.forward.points, 0.9 * whole.report.forward.points);
    EXPECT_LT(boxed.report.backward.points, 0.95 * whole.report.backward.points);
    // R^2 lacks nodes outside the boxes, unless the backward propagation is on the complete grid
    const auto illumination = [&](const Migrated<T, Memory>& migrated) {
      return values_of<T, Memory>(exec, migrated.sums.receiver_illumination);
    };
    EXPECT_GT(relative_error(illumination(boxed), illumination(whole)), 1e-3);
    const auto last = domain::make_domain<T, 2, Memory>(
        expansion, exec, boxed.modelling.propagator(), boxed.modelling.extended_model(),
        boxed.sources, domain_options);
    options.domain = last.get();
    options.complete_receivers = true;
    snapshot::MemoryStore<T, 2, Memory> third(arena);
    boxed.run(section, third, options);
    EXPECT_LT(relative_error(illumination(boxed), illumination(whole)),
              by_precision<T>(1e-6, 1e-14));
    EXPECT_LT(relative_error(boxed.image(section), whole.image(section)), bound);
    EXPECT_LT(boxed.report.forward.points, 0.9 * whole.report.forward.points);
  }
}

// Images by all stores, with and without boxes, in all media.
MEMORY_TEST(Migration, StoresGiveTheSameImage) {
  for (const Medium medium :
       {Medium::isotropic, Medium::variable_density, Medium::vti, Medium::tti}) {
    for (const bool boxes : {false, true}) {
      // with sanitizers each medium once, either with or without boxes
      if (sanitized && boxes == (medium == Medium::vti || medium == Medium::tti)) continue;
      Section<T, Memory> section(exec, medium, 0.3, sanitized);
      if (medium != Medium::tti) section.faces = wave::all_faces<2>(FaceKind::cpml, 12);
      section.faces.lower[1] = {FaceKind::free_surface, 0};
      if (medium == Medium::vti) section.faces.upper[0] = {FaceKind::random, 12};
      Migrated<T, Memory> migration(section, section.data());
      auto options = migration.options(7);
      std::unique_ptr<domain::ExpandingDomain<T, 2, Memory>> domain;
      const auto run = [&](SnapshotStore<T, 2, Memory>& store) {
        domain::DomainOptions domain_options;
        domain_options.frequency = migration.modelling.plan().frequency;
        domain = domain::make_domain<T, 2, Memory>(
            domain::ExpansionMethod::layers, exec, migration.modelling.propagator(),
            migration.modelling.extended_model(), migration.sources, domain_options);
        options.domain = boxes ? domain.get() : nullptr;
        migration.run(section, store, options);
        return migration.image(section);
      };
      snapshot::DeviceArena<T, Memory> arena("snapshots");
      snapshot::HostArena<T, Memory> host_arena("snapshots");
      snapshot::MemoryStore<T, 2, Memory> raw(arena);
      const auto expected = run(raw);
      EXPECT_GT(largest(expected), 0.0);
      const std::int64_t snapshots = options.steps / options.snapshot_interval;
      {
        snapshot::PinnedStore<T, 2, Memory> store(exec, host_arena,
                                                  migration.modelling.propagator().grid().size());
        EXPECT_EQ(run(store), expected) << "host, " << wave::to_string(medium);
        EXPECT_EQ(migration.report.snapshots.snapshots, snapshots);
      }
      for (const auto& [piece, states] : {std::pair{5, 20}, std::pair{1, 3}, std::pair{4, 0}}) {
        snapshot::CheckpointStore<T, 2, Memory> store(exec, migration.forward, arena, snapshots,
                                                      options.snapshot_interval, piece, states);
        EXPECT_EQ(run(store), expected)
            << "replay of " << piece << " with " << states << ", " << wave::to_string(medium);
        EXPECT_GT(migration.report.snapshots.points, 0.0);
      }
      {
        snapshot::BoundaryStore<T, 2, Memory> store(exec, migration.forward, arena);
        EXPECT_LT(relative_error(run(store), expected), by_precision<T>(1e-4, 1e-11))
            << "reverse, " << wave::to_string(medium);
      }
    }
  }
}

// sum(grad S . grad R - S_t R_t / v^2) = 1/2 Lap sum(S R) (Douma et al. 2010).
MEMORY_TEST(Migration, InverseScatteringIsHalfTheLaplacian) {
  Section<T, Memory> section(exec, Medium::isotropic, 0.6);
  Migrated<T, Memory> migration(section, section.data());
  const double dt = migration.modelling.plan().time.dt;
  std::map<std::int64_t, std::vector<double>> s, r;
  auto options = migration.options(1);
  const Box<2> interior = migration.modelling.propagator().interior();
  options.imaged = [&](const auto& snapshot, const auto& receivers, std::int64_t time) {
    const auto field = download(exec, receivers.now[0]);
    const auto source = download(exec, snapshot.values);
    std::vector<double>&to_s = s[time], &to_r = r[time];
    for (std::int64_t n = 0; n < interior.size(); ++n) {
      to_r.push_back(static_cast<double>(
          field[static_cast<std::size_t>(receivers.layout.flat(interior.node(n)))]));
      to_s.push_back(static_cast<double>(source[static_cast<std::size_t>(n)]));
    }
  };
  snapshot::DeviceArena<T, Memory> arena("snapshots");
  snapshot::MemoryStore<T, 2, Memory> store(arena);
  migration.run(section, store, options);
  const std::int64_t last = s.rbegin()->first;
  std::vector<double> direct(static_cast<std::size_t>(interior.size()), 0.0);
  const auto gradient = [&](const std::vector<double>& u, std::int64_t i, std::int64_t stride) {
    constexpr double c[] = {0.8, -0.2, 4.0 / 105.0, -1.0 / 280.0};
    double sum = 0.0;
    for (std::int64_t k = 1; k <= 4; ++k) {
      sum += c[k - 1] *
             (u[static_cast<std::size_t>(i + k * stride)] -
              u[static_cast<std::size_t>(i - k * stride)]) /
             10.0;
    }
    return sum;
  };
  for (std::int64_t n = 2; n < last; ++n) {
    for (std::int64_t x = 4; x < 97; ++x) {
      for (std::int64_t z = 4; z < 67; ++z) {
        const std::int64_t i = x * 71 + z;
        const auto at = static_cast<std::size_t>(i);
        const double st = (s[n + 1][at] - s[n - 1][at]) / (2.0 * dt);
        const double rt = (r[n + 1][at] - r[n - 1][at]) / (2.0 * dt);
        direct[at] += dt * (gradient(s[n], i, 71) * gradient(r[n], i, 71) +
                            gradient(s[n], i, 1) * gradient(r[n], i, 1) - st * rt / 4e6);
      }
    }
  }
  const auto image = values_of<T, Memory>(
      exec, rtm::laplacian<T, 2, Memory>(exec, section.grid, migration.sums.image));
  double difference = 0.0, norm = 0.0;
  for (std::int64_t x = 10; x < 91; ++x) {
    for (std::int64_t z = 20; z < 61; ++z) {  // away from the source and the receivers
      const auto i = static_cast<std::size_t>(x * 71 + z);
      difference += std::pow(direct[i] - 0.5 * image[i], 2);
      norm += std::pow(direct[i], 2);
    }
  }
  EXPECT_LT(std::sqrt(difference / norm), 0.02);
}

// The gather at half offset zero is the image; shots that exchange source and receiver agree.
MEMORY_TEST(Migration, OffsetZeroIsTheImage) {
  Section<T, Memory> section(exec, Medium::isotropic, 0.5);
  Migrated<T, Memory> migration(section, section.data());
  snapshot::DeviceArena<T, Memory> arena("snapshots");
  snapshot::MemoryStore<T, 2, Memory> store(arena);
  rtm::OffsetOptions<2> offsets;
  offsets.columns = {{40, 0}, {58, 0}};
  offsets.max_half_offset = 8;
  offsets.offset_step = 2;
  migration.run(section, store, migration.options(), offsets);
  const auto image = migration.image(section);
  const auto gathers = download(exec, migration.sums.offsets);
  ASSERT_EQ(gathers.size(), 2u * 9u * 71u);
  double outside = 0.0;
  for (std::size_t c = 0; c < 2; ++c) {
    const auto x = static_cast<std::size_t>(offsets.columns[c][0]);
    for (std::size_t z = 0; z < 71; ++z) {
      EXPECT_EQ(static_cast<double>(gathers[(c * 9 + 4) * 71 + z]), image[x * 71 + z]);
      outside = std::max(outside, std::fabs(static_cast<double>(gathers[c * 9 * 71 + z])));
    }
  }
  EXPECT_GT(outside, 0.0);
  offsets.columns[0][0] = 101;
  EXPECT_THROW((rtm::make_image<T, 2, Memory>(exec, section.grid, offsets)), InputError);
}

MEMORY_TEST(Migration, ReciprocalShotsGiveTheSameImage) {
  Section<T, Memory> section(exec, Medium::isotropic, 0.6);
  section.shot.receivers = {{700.0, 60.0}};
  section.shot.sources = {{300.0, 20.0}};
  std::vector<std::vector<double>> images;
  for (int way = 0; way < 2; ++way) {
    Migrated<T, Memory> migration(section, section.data());
    snapshot::DeviceArena<T, Memory> arena("snapshots");
    snapshot::MemoryStore<T, 2, Memory> store(arena);
    migration.run(section, store, migration.options(1));
    images.push_back(migration.image(section));
    std::swap(section.shot.sources, section.shot.receivers);
  }
  EXPECT_LT(relative_error(images[1], images[0]), 1e-3);
}

MEMORY_TEST(Migration, RefusesBadOptions) {
  Section<T, Memory> section(exec, Medium::isotropic, 0.1);
  Migrated<T, Memory> migration(section, section.data());
  snapshot::DeviceArena<T, Memory> arena("snapshots");
  snapshot::MemoryStore<T, 2, Memory> store(arena);
  auto options = migration.options();
  options.snapshot_interval = 0;
  EXPECT_THROW(migration.run(section, store, options), InputError);
  options.snapshot_interval = options.steps + 1;
  EXPECT_THROW(migration.run(section, store, options), InputError);
  options = migration.options();
  options.margin = -1;
  EXPECT_THROW(migration.run(section, store, options), InputError);
  EXPECT_THROW(store.load(exec, 12345), Error);
}

}  // namespace
}  // namespace moho::testing
