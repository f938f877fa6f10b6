// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 25
// ctest: sanitizers without *.HasTheBitsOfOneDeviceInVolumes
// ctest: sanitizers without *.HasTheGathersOfOneDeviceInVolumes
// ctest: sanitizers without *.HasTheBitsOfOneDeviceInSections
//
// Migration over a grid in slabs: bits of the complete grid, for all media, faces, numbers of
// slabs, storage methods, domains, windows, accumulators, offset gathers and modelled data; choice
// and refusals.

#include <moho/rtm/migration.hpp>

#include <filesystem>
#include <limits>

#include "fwi/support.hpp"
#include "rtm/squares.hpp"
#include "stream/support.hpp"

namespace moho::testing::slab_migration {
namespace {

using moho::Field;
using moho::Grid;
using moho::Point;
using moho::domain::ExpansionMethod;
using moho::rtm::MigrationInput;
using moho::rtm::ShotImage;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Host = Kokkos::HostSpace;
Instance<Host> host() { return Kokkos::DefaultHostExecutionSpace(); }

template <class C>
class SlabMigration : public ::testing::Test {};
TYPED_TEST_SUITE(SlabMigration, LongTestCases, CaseName);

/// Numbers of slabs besides one; hosts simulate any number of devices.
template <class Memory>
std::vector<int> slab_counts(const Instance<Memory>& exec) {
  std::vector<int> counts;
  for (int n = 2; n <= available_devices(exec); ++n) counts.push_back(n);
  return counts;
}

/// Two shots over a rough model, with noise as data.
template <class T, int Dim>
MigrationInput<T, Dim> rough_survey(Medium medium, const wave::Boundaries<Dim>& faces,
                                    const std::string& storage, int order = 4,
                                    std::int64_t length = 0) {
  MigrationInput<T, Dim> input;
  input.grid = cube<Dim>(Dim == 2 ? 27 : 12, 10.0);
  input.grid.extents[0] = std::max<std::int64_t>(length, Dim == 2 ? 53 : 31);
  input.grid.spacing[Dim - 1] = 9.0;
  auto& model = input.model;
  const auto random = [&](unsigned seed, double low, double high) {
    return random_field<T, Dim, Host>(host(), input.grid, seed, low, high);
  };
  model.vp = random(3, 3000.0, 4000.0);
  if (medium == Medium::variable_density) model.density = random(4, 1500.0, 2500.0);
  if (wave::fields_of(medium) == 2) {
    model.epsilon = random(5, 0.05, 0.3);
    model.delta = random(6, -0.1, 0.04);
  }
  if (medium == Medium::tti) {
    model.theta = random(9, 0.1, 1.0);
    if (Dim == 3) model.phi = random(10, 0.0, 3.0);
  }
  input.faces = faces;
  input.wavelet = wave::ricker_wavelet(15.0);
  std::mt19937 numbers(7);
  for (int k = 0; k < 2; ++k) {
    wave::Shot<Dim> shot;
    shot.number = 3 + k;
    const auto position = [&] {
      Point<Dim> p{};
      for (int d = 0; d < Dim; ++d) p[d] = uniform(numbers, 0.1, 0.9) * input.grid.upper(d);
      return p;
    };
    shot.sources = {position()};
    for (int r = 0; r < 5; ++r) shot.receivers.push_back(position());
    input.shots.push_back(shot);
  }
  auto& o = input.options;
  o.modelling.time.dt = 8e-4;
  o.modelling.time.time = Dim == 2 ? 0.16 : 0.12;
  o.modelling.order = order;
  o.storage.method = storage;
  o.storage.interval = 3;
  o.storage.random_width = 5;
  o.concurrent_shots = 1;
  return input;
}

template <int Dim>
survey::ShotGather<Dim> noise(const wave::Shot<Dim>& shot) {
  survey::ShotGather<Dim> gather;
  gather.shot = shot;
  gather.name = "noise";
  gather.dt = 2e-3;
  gather.count = 90;
  std::mt19937 numbers(static_cast<unsigned>(shot.number));
  for (std::size_t r = 0; r < shot.receivers.size(); ++r) {
    gather.traces.push_back(static_cast<std::int64_t>(r) + 1);
    for (int n = 0; n < gather.count; ++n) {
      gather.samples.push_back(static_cast<float>(uniform(numbers, -1.0, 1.0)));
    }
  }
  return gather;
}

/// Images of some shots. \param devices number of slabs
template <class T, int Dim, class Memory>
std::vector<ShotImage<T, Dim>> images(const Instance<Memory>& exec, MigrationInput<T, Dim> input,
                                      int devices, std::size_t count = 1, bool squares = false) {
  input.options.stream.devices = devices;
  rtm::Migration<T, Dim, Memory> migration(exec, input);
  EXPECT_TRUE(migration.plan().stream.empty());
  EXPECT_EQ(migration.plan().slabs.planes.size(), devices > 1 ? devices : 0);
  if (squares) migration.accumulate(Squares{});
  std::vector<ShotImage<T, Dim>> result;
  for (std::size_t k = 0; k < count; ++k) {
    result.push_back(
        migration.migrate(input.data_model ? migration.model_data(k) : noise<Dim>(input.shots[k])));
  }
  return result;
}

template <class T, int Dim>
void expect_equal(const std::vector<ShotImage<T, Dim>>& slabs,
                  const std::vector<ShotImage<T, Dim>>& core, const std::string& what) {
  ASSERT_EQ(slabs.size(), core.size());
  for (std::size_t k = 0; k < core.size(); ++k) {
    const std::string of = concat(what, ", shot ", k);
    EXPECT_GT(core[k].largest[0], 0.0) << of;
    EXPECT_EQ(slabs[k].values, core[k].values) << of;
    EXPECT_EQ(slabs[k].largest, core[k].largest) << of;
    EXPECT_EQ(slabs[k].columns, core[k].columns) << of;
    EXPECT_EQ(slabs[k].offsets, core[k].offsets) << of;
    // slabs share the threads that compress
    const std::string& storage = core[k].report.storage;
    EXPECT_THAT(slabs[k].report.storage, StartsWith(storage.substr(0, storage.find(" by ")))) << of;
    EXPECT_EQ(slabs[k].report.points, core[k].report.points) << of;
    EXPECT_EQ(slabs[k].report.whole_points, core[k].report.whole_points) << of;
    EXPECT_EQ(slabs[k].report.recomputed_points, core[k].report.recomputed_points) << of;
    EXPECT_EQ(slabs[k].report.forward_boxes, core[k].report.forward_boxes) << of;
    EXPECT_EQ(slabs[k].report.backward_boxes, core[k].report.backward_boxes) << of;
  }
}

/// Compares all numbers of slabs with one device.
template <class T, int Dim, class Memory>
void expect_the_bits_of_one(const Instance<Memory>& exec, const MigrationInput<T, Dim>& input,
                            const std::string& what, std::size_t shots = 1, bool squares = false) {
  const auto core = images<T, Dim, Memory>(exec, input, 1, shots, squares);
  for (const int devices : slab_counts(exec)) {
    expect_equal(images<T, Dim, Memory>(exec, input, devices, shots, squares), core,
                 concat(what, ", slabs ", devices));
  }
}

/// Gathers at each plane of the model, in descending order, and at one of them twice.
template <class T, int Dim>
void set_all_columns(MigrationInput<T, Dim>& input, std::int64_t largest,
                     std::int64_t offset_step) {
  auto& offsets = input.options.offsets;
  for (std::int64_t x = input.grid.extents[0] - 1; x >= 0; --x) {
    Index<Dim> column{};
    column[0] = x;
    if (Dim == 3) column[1] = (5 * x) % input.grid.extents[1];
    offsets.columns.push_back(column);
  }
  offsets.columns.push_back(offsets.columns[7]);
  offsets.max_half_offset = largest;
  offsets.offset_step = offset_step;
}

/// Returns the values of gathers that are not zero.
template <class T, int Dim>
std::int64_t nonzero_offsets(const ShotImage<T, Dim>& image) {
  return std::count_if(image.offsets.begin(), image.offsets.end(),
                       [](const T value) { return value != T(0); });
}

template <int Dim>
std::vector<wave::Boundaries<Dim>> all_kinds_of_faces() {
  std::vector<wave::Boundaries<Dim>> faces{wave::all_faces<Dim>(FaceKind::sponge, 6),
                                           wave::all_faces<Dim>(FaceKind::cpml, 5),
                                           wave::all_faces<Dim>(FaceKind::random, 5)};
  faces[0].lower[Dim - 1] = {FaceKind::free_surface, 0};
  faces[1].lower[Dim - 1] = {FaceKind::free_surface, 0};
  faces[2].upper[Dim - 1] = {FaceKind::rigid, 0};
  return faces;
}

constexpr Medium media[] = {Medium::isotropic, Medium::variable_density, Medium::vti, Medium::tti};
constexpr const char* exact_methods[] = {"device", "boundary", "replay"};
constexpr const char* methods_without_domain[] = {"device", "boundary", "replay", "random"};

template <class T, int Dim, class Memory>
void all_media(const Instance<Memory>& exec, int order) {
  int number = 0;
  for (const Medium medium : media) {
    for (const auto& faces : all_kinds_of_faces<Dim>()) {
      if (medium == Medium::tti && faces.lower[0].kind == FaceKind::cpml) continue;
      const std::string storage = exact_methods[number++ % 3];
      expect_the_bits_of_one<T, Dim, Memory>(exec,
                                             rough_survey<T, Dim>(medium, faces, storage, order),
                                             concat(wave::to_string(medium), ", ", Dim, "D, ",
                                                    to_string(faces.lower[0].kind), ", ", storage));
    }
  }
}

MEMORY_TEST(SlabMigration, HasTheBitsOfOneDeviceInSections) { all_media<T, 2, Memory>(exec, 4); }
MEMORY_TEST(SlabMigration, HasTheBitsOfOneDeviceInVolumes) { all_media<T, 3, Memory>(exec, 4); }

// Layers of other widths than those of the receivers' wavefield, at one side none; each shot has
// other random layers.
MEMORY_TEST(SlabMigration, RunsRandomLayersBack) {
  for (const Medium medium : media) {
    auto faces = wave::all_faces<2>(medium == Medium::tti ? FaceKind::sponge : FaceKind::cpml, 9);
    faces.upper[0] = {FaceKind::rigid, 0};
    faces.lower[1] = {FaceKind::free_surface, 0};
    auto input = rough_survey<T, 2>(medium, faces, "random");
    input.options.storage.random_width = 13;
    expect_the_bits_of_one<T, 2, Memory>(exec, input, wave::to_string(medium), 2);
    const auto layers = images<T, 2, Memory>(exec, input, 1);
    input.options.modelling.seed += 1;
    const auto others = images<T, 2, Memory>(exec, input, 1);
    EXPECT_NE(others[0].values, layers[0].values);
  }
}

template <class T, int Dim, class Memory>
void gathers_of_all_media(const Instance<Memory>& exec) {
  int number = 0;
  for (const Medium medium : media) {
    const std::string storage = methods_without_domain[number++];
    auto input =
        rough_survey<T, Dim>(medium, wave::all_faces<Dim>(FaceKind::sponge, 6), storage, 4);
    set_all_columns(input, Dim == 2 ? 12 : 6, Dim == 2 ? 3 : 2);
    const auto core = images<T, Dim, Memory>(exec, input, 1);
    EXPECT_EQ(core[0].columns.size(), input.options.offsets.columns.size());
    EXPECT_GT(nonzero_offsets(core[0]), static_cast<std::int64_t>(core[0].offsets.size() / 3));
    std::vector<int> counts = slab_counts(exec);
    if (is_host_memory<Memory>) counts.push_back(4);
    for (const int devices : counts) {
      expect_equal(
          images<T, Dim, Memory>(exec, input, devices), core,
          concat("gathers, ", wave::to_string(medium), ", ", storage, ", slabs ", devices));
    }
  }
}

MEMORY_TEST(SlabMigration, HasTheGathersOfOneDeviceInSections) {
  gathers_of_all_media<T, 2, Memory>(exec);
}
MEMORY_TEST(SlabMigration, HasTheGathersOfOneDeviceInVolumes) {
  gathers_of_all_media<T, 3, Memory>(exec);
}

// A column on each side of a cut, while other slabs are without columns.
MEMORY_TEST(SlabMigration, HasTheGathersOfColumnsAtACut) {
  for (const int devices : slab_counts(exec)) {
    auto input = rough_survey<T, 2>(Medium::variable_density, wave::all_faces<2>(FaceKind::cpml, 5),
                                    "device");
    input.options.stream.devices = devices;
    const auto planes = rtm::Migration<T, 2, Memory>(exec, input).plan().slabs.planes;
    for (const std::int64_t largest : {1, 7}) {
      for (const std::int64_t side : {0, 1}) {
        input.options.offsets = {{{planes[0] - 5 - side, 0}}, largest, 1};
        const auto core = images<T, 2, Memory>(exec, input, 1);
        EXPECT_GT(nonzero_offsets(core[0]), static_cast<std::int64_t>(core[0].offsets.size() / 3));
        expect_equal(images<T, 2, Memory>(exec, input, devices), core,
                     concat("slabs ", devices, ", side ", side, ", largest ", largest));
      }
    }
  }
}

MEMORY_TEST(SlabMigration, HasTheBitsOfOneDeviceForAllStorageMethods) {
  int number = 0;
  for (const char* const method :
       {"device", "memory", "boundary", "replay", "random", "disk", "compressed", "threads"}) {
    auto input = rough_survey<T, 2>(Medium::vti, wave::all_faces<2>(FaceKind::sponge, 6), method);
    input.options.storage.folder = std::filesystem::temp_directory_path();
    input.options.storage.disk = std::size_t{1} << 28;
    // blocks of a slab are those of the complete grid
    if (number++ > 4) input.options.storage.error = "bits:16";
    expect_the_bits_of_one<T, 2, Memory>(exec, input, method, 2);
    input.options.offsets = {{{40, 0}, {9, 0}}, 5, 1};
    expect_the_bits_of_one<T, 2, Memory>(exec, input, concat(method, ", gathers"));
  }
}

// The quanta of the other codecs depend on the amplitudes of a slab.
MEMORY_TEST(SlabMigration, KeepsTheErrorBoundsOfCodecs) {
  for (const char* const error : {"max:1e-3", "snr:55"}) {
    auto input = rough_survey<T, 2>(Medium::isotropic, wave::all_faces<2>(FaceKind::sponge, 6),
                                    "compressed");
    input.options.storage.error = error;
    input.options.modelling.time.time = 0.3;
    const auto core = images<T, 2, Memory>(exec, input, 1);
    for (const int devices : slab_counts(exec)) {
      const auto slabs = images<T, 2, Memory>(exec, input, devices);
      double max = 0.0;
      for (std::size_t i = 0; i < core[0].values.size() / 3; ++i) {
        max = std::max(max, std::fabs(static_cast<double>(slabs[0].values[i]) -
                                      static_cast<double>(core[0].values[i])));
      }
      EXPECT_GT(max, 0.0) << error;
      EXPECT_LT(max, 3e-2 * core[0].largest[0]) << error;
    }
  }
}

// Slabs have different numbers of nodes, and of blocks of a codec.
MEMORY_TEST(SlabMigration, PlansTheBytesOfFixedNumbersOfBits) {
  auto input = rough_survey<T, 2>(Medium::isotropic, wave::all_faces<2>(FaceKind::sponge, 14),
                                  "compressed", 4, 100);
  input.options.storage.error = "bits:12";
  for (const int devices : slab_counts(exec)) {
    input.options.stream.devices = devices;
    rtm::Migration<T, 2, Memory> migration(exec, input);
    const auto planned = static_cast<double>(migration.plan().storage.strategy.bytes);
    const ShotImage<T, 2> shot = migration.migrate(noise<2>(input.shots[0]));
    const auto raw = static_cast<double>(migration.plan().storage.snapshots * input.grid.size() *
                                         static_cast<std::int64_t>(sizeof(T)));
    EXPECT_GE(devices * planned, raw / shot.report.ratio) << devices;
  }
}

MEMORY_TEST(SlabMigration, ExpandsWithArrivals) {
  int number = 0;
  for (const ExpansionMethod method : {ExpansionMethod::layers, ExpansionMethod::eikonal}) {
    for (const char* const storage : exact_methods) {
      const Medium medium = media[number++ % 4];
      auto input =
          rough_survey<T, 2>(medium, wave::all_faces<2>(FaceKind::sponge, 6), storage, 4, 140);
      // at one end: other slabs have no snapshots at first
      input.shots[0].sources = {{113.0, 40.0}};
      input.shots[0].receivers = wave::point_line<2>({203.0, 20.0}, {303.0, 20.0}, 4);
      input.options.domain = method;
      input.options.complete_receivers = storage == std::string("replay");
      input.options.offsets = {{{11, 0}, {37, 0}, {130, 0}, {76, 0}}, 20, 4};
      const auto core = images<T, 2, Memory>(exec, input, 1);
      EXPECT_GT(nonzero_offsets(core[0]), 0);
      EXPECT_LT(core[0].report.points, 0.9 * core[0].report.whole_points);
      EXPECT_THAT(core[0].report.slab_planes, ::testing::IsEmpty());
      if (slab_counts(exec).size() > 0) {  // cuts follow the waves
        const auto halves = images<T, 2, Memory>(exec, input, 2);
        const std::vector<std::int64_t>& planes = halves[0].report.slab_planes;
        ASSERT_EQ(planes.size(), 2u);
        EXPECT_EQ(planes[0] + planes[1], 152);
        EXPECT_LT(planes[0], 60);
      }
      expect_the_bits_of_one<T, 2, Memory>(exec, input,
                                           concat(domain::to_string(method), ", ", storage));
    }
  }
}

MEMORY_TEST(SlabMigration, TakesAccumulatorsAndWindows) {
  for (const char* const storage : methods_without_domain) {
    auto input = rough_survey<T, 2>(Medium::variable_density, wave::all_faces<2>(FaceKind::cpml, 5),
                                    storage, 4, 160);
    input.options.aperture = {{60.0}, 45.0};
    for (int k = 0; k < 2; ++k) {
      input.shots[k].receivers =
          wave::point_line<2>({500.0 + 300.0 * k, 20.0}, {900.0 + 250.0 * k, 20.0}, 7);
      input.shots[k].sources = {{613.0 + 300.0 * k, 31.0}};
    }
    input.options.offsets = {{{125, 0}, {64, 0}, {96, 0}, {3, 0}}, 8, 2};
    const auto core = images<T, 2, Memory>(exec, input, 1, 2, true);
    EXPECT_NE(core[0].columns, core[1].columns);
    EXPECT_FALSE(core[0].window.whole());
    EXPECT_NE(core[0].window.grid.extents[0], core[1].window.grid.extents[0]);
    expect_the_bits_of_one<T, 2, Memory>(exec, input, storage, 2, true);
  }
}

MEMORY_TEST(SlabMigration, ModelsData) {
  auto input =
      rough_survey<T, 2>(Medium::isotropic, wave::all_faces<2>(FaceKind::sponge, 6), "boundary");
  input.options.modelling.time.time = 0.3;
  input.options.data.mute = survey::parse_mute("arrivals:0.001:0.002");
  for (const Medium medium : {Medium::isotropic, Medium::tti}) {
    input.data_model = rough_survey<T, 2>(medium, input.faces, "device").model;
    input.data_model->vp = random_field<T, 2, Host>(host(), input.grid, 77, 3000.0, 4000.0);
    expect_the_bits_of_one<T, 2, Memory>(exec, input, wave::to_string(medium), 2);
  }
}

MEMORY_TEST(SlabMigration, PlansTheMemory) {
  auto input = rough_survey<T, 2>(Medium::isotropic, wave::all_faces<2>(FaceKind::sponge, 6),
                                  "replay", 4, 400);
  input.options.storage.error = "snr:55";
  stream::PairRates rates;
  rates.both.slabs = {{4, 1e9}};
  rates.single = rates.both;
  input.options.stream_rates = rates;
  auto& o = input.options.stream;
  o.devices = slab_counts(exec).empty() ? 1 : 2;
  if (o.devices == 1) return;
  const rtm::Migration<T, 2, Memory> migration(exec, input);
  const stream::SlabPlan slabs = migration.plan().slabs;
  ASSERT_EQ(slabs.planes.size(), 2);
  EXPECT_EQ(slabs.planes[0] + slabs.planes[1], 412);
  EXPECT_GT(slabs.bytes[0], static_cast<std::int64_t>(migration.plan().memory.peak) / 2);
  EXPECT_EQ(slabs.max_bytes(), std::max(slabs.bytes[0], slabs.bytes[1]));
  EXPECT_GT(migration.plan().seconds, 0.0);
  EXPECT_THAT(migration.plan().text(), HasSubstr("in slabs on 2 devices: 206, 206 planes"));
  // two columns: their gathers, and two wavefields at the lines that they read
  auto with_gathers = input;
  with_gathers.options.offsets = {{{100, 0}, {300, 0}}, 6, 2};
  const auto more = rtm::Migration<T, 2, Memory>(exec, with_gathers).plan().slabs;
  const std::int64_t pairs = 2 * 7, depths = input.grid.extents[1];
  EXPECT_EQ(more.bytes[0] - slabs.bytes[0],
            pairs * (3 * depths * static_cast<std::int64_t>(sizeof(T)) + 3 * 8));
  // less than a slab: more devices
  o.device_memory = migration.plan().memory.peak / 20 * 19;
  EXPECT_THAT(
      [&] { (rtm::Migration<T, 2, Memory>(exec, input)); },
      ::testing::ThrowsMessage<MemoryError>(AllOf(HasSubstr("devices is 2 (allowed: 4 to 58): "),
                                                  HasSubstr("; needed on each of 2 devices: "))));
  o.device_memory = 1000;
  EXPECT_THAT(
      [&] { (rtm::Migration<T, 2, Memory>(exec, input)); },
      ::testing::ThrowsMessage<MemoryError>(
          AllOf(HasSubstr("devices is 2 (allowed: none of"), HasSubstr("the largest slab of 2"))));
  o.device_memory = migration.plan().memory.peak / 20 * 19;
  // nothing is required of the storage: a stream, for which the memory does not suffice either
  input.options.storage.method = "auto";
  EXPECT_THAT([&] { (rtm::Migration<T, 2, Memory>(exec, input)); },
              ::testing::ThrowsMessage<MemoryError>(HasSubstr("the planes of one stage")));
  o.device_memory = 0;
  input.options.storage.error = "bits:8";
  const auto aligned = rtm::Migration<T, 2, Memory>(exec, input).plan().slabs.planes;
  EXPECT_EQ(aligned, (std::vector<std::int64_t>{208, 204}));
}

MEMORY_TEST(SlabMigration, Refuses) {
  const auto error_of = [&](const auto& change) {
    auto input =
        rough_survey<T, 2>(Medium::isotropic, wave::all_faces<2>(FaceKind::sponge, 6), "device");
    input.options.stream.devices = 2;
    change(input.options);
    return message_of<Error>([&] { rtm::Migration<T, 2, Memory>(exec, input); });
  };
  EXPECT_THAT(error_of([](auto& o) { o.domain = ExpansionMethod::amplitude; }),
              HasSubstr("devices is 2 (allowed: 1 with the domain amplitude)"));
  if (!is_host_memory<Memory>) return;
  const std::string refusal = error_of([](auto& o) { o.stream.devices = 40; });
  EXPECT_THAT(refusal, AllOf(HasSubstr("devices is 40 (allowed: up to "), HasSubstr("planes")));
  const int max = std::stoi(refusal.substr(refusal.find("up to ") + 6));
  EXPECT_GT(max, 2);
  EXPECT_THAT(error_of([&](auto& o) { o.stream.devices = max + 1; }),
              HasSubstr(concat("devices is ", max + 1, " (allowed: up to ", max, ", so that")));
  EXPECT_THAT(error_of([&](auto& o) { o.stream.devices = max; }),
              ::testing::Not(HasSubstr("so that each has")));
  EXPECT_THAT(error_of([](auto& o) { o.stream.devices = 0; }), ::testing::Not(HasSubstr("slab")));
}

// Columns read nodes of the neighbours of a slab only.
MEMORY_TEST(SlabMigration, LimitsHalfOffsets) {
  auto input =
      rough_survey<T, 2>(Medium::isotropic, wave::all_faces<2>(FaceKind::sponge, 6), "device");
  input.options.offsets = {{{20, 0}}, 23, 1};
  input.options.stream.devices = 3;
  stream::PairRates rates;
  rates.both.slabs = {{4, 1e9}};
  rates.single = rates.both;
  input.options.stream_rates = rates;
  if (available_devices(exec) < 3) return;
  EXPECT_THAT([&] { (rtm::Migration<T, 2, Memory>(exec, input)); },
              ::testing::ThrowsMessage<InputError>(
                  HasSubstr("offsets: the largest half offset is 23 nodes (allowed: 0 to 22 nodes, "
                            "220 m, the planes of the model in the thinnest of 3 slabs)")));
  for (const std::int64_t largest : {21, 22}) {
    input.options.offsets.max_half_offset = largest;
    expect_the_bits_of_one<T, 2, Memory>(exec, input, concat("half offset ", largest));
  }
  // nothing is required of the storage: a stream
  input.options.offsets.max_half_offset = 23;
  input.options.storage.method = "auto";
  const rtm::Migration<T, 2, Memory> migration(exec, input);
  EXPECT_TRUE(migration.plan().slabs.empty());
  EXPECT_THAT(migration.plan().text(), HasSubstr("no slabs: offsets: the largest half offset is"));
}

// An overflow is located as on one device.
MEMORY_TEST(SlabMigration, NamesTheNodeOfAnOverflow) {
  auto input =
      rough_survey<T, 2>(Medium::tti, wave::all_faces<2>(FaceKind::rigid, 0), "device", 16);
  input.options.modelling.equations = wave::Equations::fletcher;
  input.options.modelling.time.time = 3.0;
  input.model.theta = random_field<T, 2, Host>(host(), input.grid, 9, -1.5, 1.5);
  input.model.epsilon = random_field<T, 2, Host>(host(), input.grid, 5, 0.2, 0.4);
  input.model.delta = random_field<T, 2, Host>(host(), input.grid, 6, -0.2, 0.1);
  std::vector<std::string> texts;
  for (int devices = 1; devices <= available_devices(exec); ++devices) {
    input.options.stream.devices = devices;
    rtm::Migration<T, 2, Memory> migration(exec, input);
    texts.push_back(message_of<Error>([&] { migration.migrate(noise<2>(input.shots[0])); }));
  }
  EXPECT_THAT(texts.front(), HasSubstr("is no longer finite"));
  for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
}

}  // namespace
}  // namespace moho::testing::slab_migration
