// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 10
//
// Compressed snapshots in a migration: images by one kernel that decodes and correlates, by
// decoding first, by threads of the host and from files, compared with those of uncompressed
// snapshots; snapshots beyond the memory; errors, after which no thread waits.

#include <moho/domain/expand.hpp>
#include <moho/snapshot/compressed_store.hpp>
#include <moho/snapshot/host_compressed_store.hpp>

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "section.hpp"

namespace moho::testing {
namespace {

template <class C>
class PackedStores : public ::testing::Test {};
TYPED_TEST_SUITE(PackedStores, LongTestCases, CaseName);

// Store without correlate(): snapshots are decoded into memory and imaged from there.
template <class T, int Dim, class Memory>
class ByGet : public SnapshotStore<T, Dim, Memory> {
 public:
  explicit ByGet(SnapshotStore<T, Dim, Memory>& store) : m_store(store) {}
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override {
    m_store.save(exec, wavefield, box, time);
  }
  void end_forward(const Instance<Memory>& exec) override { m_store.end_forward(exec); }
  snapshot::Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec,
                                          std::int64_t time) override {
    return m_store.load(exec, time);
  }
  snapshot::SnapshotReport report() const override { return m_store.report(); }

 private:
  SnapshotStore<T, Dim, Memory>& m_store;
};

// Returns the allowed error of an image over its largest value: a few times that of the codec.
template <class T>
double allowed(const std::string& codec) {
  return codec == "snr:55"                              ? 2e-3
         : codec == "max:1e-3" || codec == "paper:1e-3" ? 5e-3
         : codec == "bits:12"                           ? 2e-3
                                                        : 2e-4;
}

MEMORY_TEST(PackedStores, DecodingAndImagingAreOneKernel) {
  Section<T, Memory> section(exec, Medium::isotropic, 0.3);
  Migrated<T, Memory> migration(section, section.data());
  const auto options = migration.options(7);
  const auto run = [&](SnapshotStore<T, 2, Memory>& store, const rtm::OffsetOptions<2>& offsets) {
    migration.run(section, store, options, offsets);
    std::vector<std::vector<double>> sums;
    for (const auto* field : {&migration.sums.image, &migration.sums.source_illumination,
                              &migration.sums.receiver_illumination}) {
      sums.push_back(values_of<T, Memory>(exec, *field));
    }
    return sums;
  };
  snapshot::DeviceArena<T, Memory> arena("snapshots");
  snapshot::MemoryStore<T, 2, Memory> raw(arena);
  const auto expected = run(raw, {});
  for (const std::string codec : {"snr:55", "max:1e-3", "bits:12", "bits:16", "paper:1e-3"}) {
    const snapshot::CodecOptions how = snapshot::parse_codec(codec);
    snapshot::CompressedStore<T, 2, Memory> one(how), two(how);
    ByGet<T, 2, Memory> by_get(two);
    const auto fused = run(one, {});
    // no memory was allocated for a decoded snapshot; devices decode first, except for blocks
    EXPECT_EQ(migration.report.snapshots.device_bytes ==
                  static_cast<std::size_t>(migration.report.snapshots.kept_bytes),
              is_host_memory<Memory> || how.mode == snapshot::CodecMode::blocks);
    const auto separate = run(by_get, {});
    EXPECT_GT(migration.report.snapshots.device_bytes,
              static_cast<std::size_t>(migration.report.snapshots.kept_bytes));
    for (std::size_t n = 0; n < fused.size(); ++n) {
      // in two compiled functions a product and a sum may be rounded once or twice
      EXPECT_LT(relative_error(fused[n], separate[n]), by_precision<T>(2e-6, 2e-14)) << codec << n;
    }
    EXPECT_LT(relative_error(fused[0], expected[0]), allowed<T>(codec)) << codec;
    if (codec != "snr:55" && codec != "bits:12") continue;
    snapshot::FileStore<T, 2, Memory> files(
        {std::filesystem::path(::testing::TempDir()), migration.modelling.plan().grid}, how);
    const auto from_files = run(files, {});
    for (std::size_t n = 0; n < fused.size(); ++n) EXPECT_EQ(from_files[n], fused[n]) << codec;
  }
  // gathers read other nodes: the snapshot is decoded first, and gives the same gathers
  rtm::OffsetOptions<2> offsets;
  offsets.columns = {{50, 0}, {58, 0}};
  offsets.max_half_offset = 6;
  const snapshot::CodecOptions how = snapshot::parse_codec("bits:16");
  snapshot::CompressedStore<T, 2, Memory> packed(how);
  run(packed, offsets);
  const auto gather = download(exec, migration.sums.offsets);
  EXPECT_GT(migration.report.snapshots.device_bytes,
            static_cast<std::size_t>(migration.report.snapshots.kept_bytes));
  snapshot::MemoryStore<T, 2, Memory> again(arena);
  run(again, offsets);
  const auto plain = download(exec, migration.sums.offsets);
  double max = 0.0, off = 0.0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    max = std::max(max, std::fabs(static_cast<double>(plain[i])));
    off = std::max(off, std::fabs(static_cast<double>(gather[i] - plain[i])));
  }
  EXPECT_GT(max, 0.0);
  EXPECT_LT(off, 2e-4 * max);
}

MEMORY_TEST(PackedStores, ThreadsOfTheHostGiveTheSameImage) {
  for (const Medium medium : {Medium::isotropic, Medium::tti}) {
    Section<T, Memory> section(exec, medium, 0.45);
    Migrated<T, Memory> migration(section, section.data());
    auto options = migration.options(7);
    const auto run = [&](SnapshotStore<T, 2, Memory>& store) {
      domain::DomainOptions domain_options;
      domain_options.frequency = migration.modelling.plan().frequency;
      const auto domain = domain::make_domain<T, 2, Memory>(
          domain::ExpansionMethod::layers, exec, migration.modelling.propagator(),
          migration.modelling.extended_model(), migration.sources, domain_options);
      options.domain = domain.get();
      migration.run(section, store, options);
      return migration.image(section);
    };
    const std::int64_t largest = migration.modelling.propagator().interior().size();
    snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
    for (const std::string codec : {"snr:55", "max:1e-3", "bits:12"}) {
      if (medium == Medium::tti && codec != "bits:12") continue;
      const snapshot::CodecOptions how = snapshot::parse_codec(codec);
      snapshot::CompressedStore<T, 2, Memory> packed(how);
      const auto expected = run(packed);
      const auto kept = migration.report.snapshots;
      std::vector<double> first;
      for (const int threads : {1, 2, 3}) {
        Timeline timeline;
        snapshot::HostCompressedStore<T, 2, Memory> store(exec, arena, largest, how, threads,
                                                          &timeline);
        const auto image = run(store);
        // equal to the run's own compression; modes of fixed size have the same bytes
        EXPECT_LT(relative_error(image, expected),
                  codec == "snr:55" ? 1e-3 : by_precision<T>(2e-6, 2e-14))
            << codec << ", " << threads;
        // any number of threads gives the same bits
        if (first.empty()) first = image;
        EXPECT_EQ(image, first) << codec << ", " << threads;
        const auto& report = migration.report.snapshots;
        EXPECT_EQ(report.snapshots, kept.snapshots);
        EXPECT_DOUBLE_EQ(report.raw_bytes, kept.raw_bytes);
        EXPECT_NEAR(report.ratio(), kept.ratio(), 0.05 * kept.ratio());
        if (codec != "snr:55") {
          EXPECT_DOUBLE_EQ(report.kept_bytes, kept.kept_bytes) << codec;
        }
        // each snapshot is compressed once and decompressed once
        for (const auto& total : timeline.totals()) EXPECT_EQ(total.spans, kept.snapshots);
        EXPECT_EQ(timeline.totals().size(), 2u);
      }
    }
  }
}

// A failed thread ends the propagation with its message; an unfinished store is destructible.
MEMORY_TEST(PackedStores, ThreadsThatFailEndTheShot) {
  Section<T, Memory> section(exec, Medium::isotropic, 0.3);
  Migrated<T, Memory> migration(section, section.data());
  const auto& propagator = migration.modelling.propagator();
  auto& wavefield = migration.modelling.wavefield();
  const Box<2> box = propagator.interior();
  snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
  const snapshot::CodecOptions how = snapshot::parse_codec("bits:12");
  for (const int threads : {1, 2}) {
    snapshot::HostCompressedStore<T, 2, Memory> store(exec, arena, box.size(), how, threads);
    fill(exec, wavefield.now[0], std::numeric_limits<T>::quiet_NaN());
    const auto put_all = [&] {
      for (std::int64_t time = 1; time < 20; ++time) store.save(exec, wavefield, box, time);
      store.end_forward(exec);
    };
    try {
      put_all();
      FAIL() << "NaN was compressed";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("codec: the field is nan"), std::string::npos)
          << error.what();
    }
  }
  fill(exec, wavefield.now[0], T(1));
  for (const bool turned : {false, true}) {
    snapshot::HostCompressedStore<T, 2, Memory> store(exec, arena, box.size(), how, 2);
    for (std::int64_t time = 1; time < 10; ++time) store.save(exec, wavefield, box, time);
    if (!turned) continue;
    store.end_forward(exec);
    const auto last = store.load(exec, 9);
    EXPECT_EQ(last.box, box);
    EXPECT_THROW(store.load(exec, 100), Error);
  }
  EXPECT_THROW((snapshot::HostCompressedStore<T, 2, Memory>(exec, arena, box.size(), how, 0)),
               InputError);
}

// Snapshots beyond the memory are in a file, with the same bits; without files they are an error.
MEMORY_TEST(PackedStores, SnapshotsBeyondTheMemoryGoToAFile) {
  Section<T, Memory> section(exec, Medium::isotropic, 0.3);
  Migrated<T, Memory> migration(section, section.data());
  const auto options = migration.options(7);
  const auto run = [&](SnapshotStore<T, 2, Memory>& store) {
    migration.run(section, store, options);
    return migration.image(section);
  };
  const snapshot::CodecOptions how = snapshot::parse_codec("snr:55");
  const std::int64_t largest = migration.modelling.propagator().interior().size();
  const snapshot::SnapshotFileOptions<2> files{std::filesystem::path(::testing::TempDir()),
                                               migration.modelling.plan().grid};
  snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
  using Limit = snapshot::CompressedLimit<2>;
  const auto by_run = [&](const Limit& limit) {
    return std::make_unique<snapshot::CompressedStore<T, 2, Memory>>(how, false, limit);
  };
  const auto by_threads = [&](const Limit& limit) {
    return std::make_unique<snapshot::HostCompressedStore<T, 2, Memory>>(
        exec, arena, largest, how, 2, nullptr, std::nullopt, limit);
  };
  const auto check = [&](const auto& make) {
    const auto expected = run(*make(Limit{}));
    const snapshot::SnapshotReport kept = migration.report.snapshots;
    EXPECT_EQ(kept.disk_bytes, 0u);
    for (const double part : {0.0, 0.5}) {
      const auto bytes = static_cast<std::uint64_t>(part * kept.kept_bytes);
      EXPECT_EQ(run(*make(Limit{bytes, files})), expected) << part;
      const snapshot::SnapshotReport& report = migration.report.snapshots;
      EXPECT_EQ(report.snapshots, kept.snapshots);
      EXPECT_DOUBLE_EQ(report.kept_bytes, kept.kept_bytes);
      EXPECT_GT(report.disk_bytes, static_cast<std::size_t>((1.0 - part) * kept.kept_bytes));
      EXPECT_LE(report.device_bytes + report.host_bytes + static_cast<std::size_t>(kept.kept_bytes),
                kept.device_bytes + kept.host_bytes + bytes);
      EXPECT_NE(report.kind.find(", some in files"), std::string::npos) << report.kind;
      try {
        run(*make(Limit{bytes, {}}));
        ADD_FAILURE() << "the memory was exceeded";
      } catch (const MemoryError& error) {
        EXPECT_NE(std::string(error.what()).find("snapshots up to step "), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("more than planned"), std::string::npos);
      }
    }
  };
  check(by_run);
  check(by_threads);
}

}  // namespace
}  // namespace moho::testing
