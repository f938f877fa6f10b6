// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 5
//
// Snapshots in files: the same bits as in memory, queues of one snapshot, concurrent shots, full
// disks and changed files, after which no thread waits and no file is left.

#include <moho/core/concurrent.hpp>
#include <moho/snapshot/compressed_store.hpp>
#include <moho/snapshot/host_compressed_store.hpp>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "section.hpp"

namespace moho::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

template <class C>
class FileStores : public ::testing::Test {};
TYPED_TEST_SUITE(FileStores, LongTestCases, CaseName);

/// An empty folder, removed at the end.
struct Folder {
  fs::path path = fs::path(::testing::TempDir()) / concat("moho_file_stores_", ::getpid());
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  bool empty() const { return fs::is_empty(path); }
};

/// Creates a store: by threads of the host or by the run, in files or in memory.
template <class T, class Memory>
struct Maker {
  const Instance<Memory>& exec;
  snapshot::HostArena<T, Memory>& arena;
  std::int64_t largest;
  Timeline* timeline = nullptr;

  std::unique_ptr<SnapshotStore<T, 2, Memory>> threads(
      const std::string& codec, int count,
      const std::optional<snapshot::SnapshotFileOptions<2>>& files) const {
    return std::make_unique<snapshot::HostCompressedStore<T, 2, Memory>>(
        exec, arena, largest, snapshot::parse_codec(codec), count, timeline, files);
  }
  std::unique_ptr<SnapshotStore<T, 2, Memory>> kernels(
      const std::string& codec, const snapshot::SnapshotFileOptions<2>& files) const {
    std::optional<snapshot::CodecOptions> how;
    if (!codec.empty()) how = snapshot::parse_codec(codec);
    return std::make_unique<snapshot::FileStore<T, 2, Memory>>(files, how, timeline);
  }
};

std::int64_t spans_of(const Timeline& timeline, const std::string& stage) {
  for (const auto& total : timeline.totals()) {
    if (total.stage == stage) return total.spans;
  }
  return 0;
}

MEMORY_TEST(FileStores, HaveTheBitsOfMemory) {
  const Folder folder;
  Section<T, Memory> section(exec, Medium::isotropic, 0.3);
  Migrated<T, Memory> migration(section, section.data());
  const auto options = migration.options(7);
  const auto run = [&](SnapshotStore<T, 2, Memory>& store) {
    migration.run(section, store, options);
    return migration.image(section);
  };
  snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
  Maker<T, Memory> maker{exec, arena, migration.modelling.propagator().interior().size()};
  snapshot::DeviceArena<T, Memory> here("snapshots");
  for (const std::string codec : {"snr:55", "max:1e-3", "bits:12"}) {
    const auto expected = run(*maker.threads(codec, 2, std::nullopt));
    const auto kept = migration.report.snapshots;
    for (const int threads : {1, 3}) {
      for (const int queue : {1, 4}) {
        Timeline timeline;
        maker.timeline = &timeline;
        const auto store = maker.threads(
            codec, threads, {{folder.path, migration.modelling.plan().grid, 1u << 30, queue}});
        EXPECT_EQ(run(*store), expected) << codec << threads << queue;
        EXPECT_TRUE(folder.empty());
        const auto& report = migration.report.snapshots;
        EXPECT_EQ(report.snapshots, kept.snapshots);
        EXPECT_DOUBLE_EQ(report.kept_bytes, kept.kept_bytes);
        EXPECT_GT(report.disk_bytes, 0u);
        EXPECT_LT(report.disk_bytes, static_cast<std::size_t>(2.0 * kept.kept_bytes));
        const std::size_t buffers =
            static_cast<std::size_t>((threads + 2) * maker.largest) * sizeof(T);
        EXPECT_EQ(is_host_memory<Memory> ? report.device_bytes : report.host_bytes, buffers);
        EXPECT_THAT(report.kind, HasSubstr("of the host, in files"));
        for (const char* stage : {"compress", "decompress"}) {
          EXPECT_EQ(spans_of(timeline, stage), kept.snapshots) << stage;
        }
        // those before and in the queue at the end are not written
        const std::int64_t written = spans_of(timeline, "write snapshot");
        EXPECT_EQ(spans_of(timeline, "read snapshot"), written);
        EXPECT_LE(written, kept.snapshots);
        EXPECT_GE(written, kept.snapshots - queue - 2 * threads - 3);
        maker.timeline = nullptr;
      }
    }
    // compressed by the run
    snapshot::CompressedStore<T, 2, Memory> packed(snapshot::parse_codec(codec));
    const auto by_run = run(packed);
    EXPECT_EQ(
        run(*maker.kernels(codec, {folder.path, migration.modelling.plan().grid, 1u << 30, 1})),
        by_run)
        << codec;
  }
  snapshot::MemoryStore<T, 2, Memory> raw(here);
  const auto expected = run(raw);
  EXPECT_EQ(run(*maker.kernels("", {folder.path, migration.modelling.plan().grid})), expected);
  EXPECT_TRUE(folder.empty());
}

/// Saves and loads snapshots of ones without a propagation.
template <class T, class Memory>
void save_and_load(const Instance<Memory>& exec, wave::Modelling<T, 2, Memory>& modelling,
                   SnapshotStore<T, 2, Memory>& store, const std::function<void()>& turned = {}) {
  const Box<2> box = modelling.propagator().interior();
  for (std::int64_t time = 1; time < 20; ++time) {
    store.save(exec, modelling.wavefield(), box, time);
  }
  store.end_forward(exec);
  if (turned) turned();
  for (std::int64_t time = 19; time > 0; --time) EXPECT_EQ(store.load(exec, time).box, box);
  exec.fence();
}

MEMORY_TEST(FileStores, ReportAFullDisk) {
  const Folder folder;
  Section<T, Memory> section(exec, Medium::isotropic, 0.1);
  auto modelling = section.modelling(0.0);
  fill(exec, modelling.wavefield().now[0], T(1));
  snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
  const Maker<T, Memory> maker{exec, arena, modelling.propagator().interior().size()};
  const auto refused = [&](SnapshotStore<T, 2, Memory>& store) {
    try {
      save_and_load<T, Memory>(exec, modelling, store);
      ADD_FAILURE() << "the limit was exceeded";
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder.path.string()));
      EXPECT_THAT(error.what(), HasSubstr("more than the allowed"));
    }
  };
  for (const std::uint64_t limit : {std::uint64_t{10}, std::uint64_t{40000}}) {
    const snapshot::SnapshotFileOptions<2> files{folder.path, modelling.plan().grid, limit, 1};
    for (const int threads : {1, 2}) refused(*maker.threads("bits:12", threads, files));
    refused(*maker.kernels("bits:12", files));
    refused(*maker.kernels("", files));
  }
  EXPECT_TRUE(folder.empty());
  // nothing was left: the same stores complete with more disk
  const snapshot::SnapshotFileOptions<2> files{folder.path, modelling.plan().grid};
  save_and_load<T, Memory>(exec, modelling, *maker.threads("bits:12", 2, files));
  save_and_load<T, Memory>(exec, modelling, *maker.kernels("", files));
  const snapshot::SnapshotFileOptions<2> none{folder.path / "none", modelling.plan().grid};
  EXPECT_THROW(maker.threads("bits:12", 2, none), FileError);
  EXPECT_THROW(maker.kernels("bits:12", none), FileError);
  const snapshot::SnapshotFileOptions<2> empty{folder.path, modelling.plan().grid, 1u << 20, 0};
  EXPECT_THROW(maker.threads("bits:12", 2, empty), InputError);
  EXPECT_THROW(maker.kernels("bits:12", empty), InputError);
  EXPECT_TRUE(folder.empty());
}

#ifdef __linux__
/// Opens the file without a name in a folder that this process has open; -1 if there is none.
int open_again(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (error || target.string().rfind(folder.string(), 0) != 0) continue;
    return ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
  }
  return -1;
}

MEMORY_TEST(FileStores, ReportFilesThatWereCutOrChanged) {
  const Folder folder;
  Section<T, Memory> section(exec, Medium::isotropic, 0.1);
  auto modelling = section.modelling(0.0);
  fill(exec, modelling.wavefield().now[0], T(1));
  snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
  const Maker<T, Memory> maker{exec, arena, modelling.propagator().interior().size()};
  const snapshot::SnapshotFileOptions<2> files{folder.path, modelling.plan().grid};
  for (const bool cut : {true, false}) {
    const auto damage = [&] {
      const int file = open_again(folder.path);
      ASSERT_GE(file, 0);
      if (cut) {
        EXPECT_EQ(::ftruncate(file, 100), 0);
      } else {
        EXPECT_EQ(::pwrite(file, "damaged", 7, 30), 7);  // of the snapshot read last
      }
      ::close(file);
    };
    const auto refused = [&](SnapshotStore<T, 2, Memory>& store) {
      try {
        save_and_load<T, Memory>(exec, modelling, store, damage);
        ADD_FAILURE() << "the damage was not seen";
      } catch (const FileError& error) {
        EXPECT_THAT(error.what(), HasSubstr(cut ? "the file was cut" : "the checksum of the"));
      }
    };
    refused(*maker.threads("bits:12", 1, files));
    refused(*maker.kernels("bits:12", files));
    refused(*maker.kernels("", files));
  }
  EXPECT_TRUE(folder.empty());
}
#endif

// Concurrent shots write into one folder; a store that is given up does not wait.
TEST(FileStore, ConcurrentShotsHaveFilesOfTheirOwn) {
  using T = float;
  using Memory = Kokkos::HostSpace;
  const Folder folder;
#ifdef KOKKOS_ENABLE_SERIAL
  const Instance<Memory> host = Kokkos::Serial();
#else
  const Instance<Memory> host = Kokkos::DefaultHostExecutionSpace();
#endif
  const std::vector<Instance<Memory>> instances = concurrent_instances(host, 2);
  const auto migrate = [&](int number, bool in_file) {
    const Instance<Memory>& exec = instances[static_cast<std::size_t>(number)];
    Section<T, Memory> section(exec, Medium::isotropic, number == 0 ? 0.3 : 0.25);
    Migrated<T, Memory> migration(section, section.data());
    const auto options = migration.options(5);
    snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
    const Maker<T, Memory> maker{exec, arena, migration.modelling.propagator().interior().size()};
    std::optional<snapshot::SnapshotFileOptions<2>> files;
    if (in_file) files = {{folder.path, migration.modelling.plan().grid}};
    migration.run(section, *maker.threads("snr:55", 2, files), options);
    return migration.image(section);
  };
  const auto first = migrate(0, false), second = migrate(1, false);
  EXPECT_NE(first, second);
  std::vector<double> found[2];
  std::thread other([&] { found[1] = migrate(1, true); });
  found[0] = migrate(0, true);
  other.join();
  EXPECT_EQ(found[0], first);
  EXPECT_EQ(found[1], second);
  EXPECT_TRUE(folder.empty());
}

}  // namespace
}  // namespace moho::testing
