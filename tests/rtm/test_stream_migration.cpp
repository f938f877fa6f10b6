// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 25
// ctest: sanitizers without *.HasTheBitsInCoreIn3D
//
// Streamed migration: bits of the migration in core with random layers, for all media, blocks,
// updates and numbers of devices; gathers, added accumulators, apertures, modelled data; choice and
// refusals.

#include <moho/rtm/migration.hpp>

#include "rtm/squares.hpp"
#include "stream/support.hpp"
#include "wave/support.hpp"

namespace moho::testing {
namespace {

using rtm::ImagingStep;
using rtm::MigrationInput;
using rtm::ShotImage;
using ::testing::HasSubstr;

using Host = Kokkos::HostSpace;
Instance<Host> host() { return Kokkos::DefaultHostExecutionSpace(); }

template <class C>
class StreamMigration : public ::testing::Test {};
TYPED_TEST_SUITE(StreamMigration, LongTestCases, CaseName);

/// Survey of two shots over a rough model, with noise as data.
template <class T, int Dim>
MigrationInput<T, Dim> rough_survey(const Kind& kind, int order = 4, std::int64_t length = 0) {
  MigrationInput<T, Dim> input;
  input.grid = cube<Dim>(Dim == 2 ? 27 : 15, 10.0);
  input.grid.extents[0] = std::max(length, input.grid.extents[0] + 8);
  input.grid.spacing[Dim - 1] = 9.0;
  auto& model = input.model;
  const auto random = [&](unsigned seed, double low, double high) {
    return random_field<T, Dim, Host>(host(), input.grid, seed, low, high);
  };
  model.vp = random(3, 3000.0, 4000.0);
  if (kind.medium == Medium::variable_density) model.density = random(4, 1500.0, 2500.0);
  if (wave::fields_of(kind.medium) == 2) {
    model.epsilon = random(5, 0.05, 0.3);
    model.delta = random(6, -0.1, 0.04);
  }
  if (kind.medium == Medium::tti) {
    model.theta = random(9, 0.1, 1.0);
    if (Dim == 3) model.phi = random(10, 0.0, 3.0);
  }
  input.faces = wave::all_faces<Dim>(FaceKind::sponge, 6);
  if (wave::info(kind.medium).cpml) input.faces = wave::all_faces<Dim>(FaceKind::cpml, 5);
  input.faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
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
  o.modelling.time.time = Dim == 2 ? 0.12 : 0.08;
  o.modelling.order = order;
  o.modelling.equations = kind.equations;
  o.storage.method = "random";
  o.storage.interval = 1;
  o.storage.random_width = 5;
  o.concurrent_shots = 1;
  stream::PairRates rates;
  rates.both.slabs = {{4, 1e9}};
  rates.single = rates.both;
  o.stream_rates = rates;
  return input;
}

template <int Dim>
survey::ShotGather<Dim> noise(const wave::Shot<Dim>& shot) {
  survey::ShotGather<Dim> gather;
  gather.shot = shot;
  gather.name = "noise";
  gather.dt = 2e-3;
  gather.count = 30;
  std::mt19937 numbers(static_cast<unsigned>(shot.number));
  for (std::size_t r = 0; r < shot.receivers.size(); ++r) {
    gather.traces.push_back(static_cast<std::int64_t>(r) + 1);
    for (int n = 0; n < gather.count; ++n) {
      gather.samples.push_back(static_cast<float>(uniform(numbers, -1.0, 1.0)));
    }
  }
  return gather;
}

/// Images of all shots.
template <class T, int Dim, class Memory>
std::vector<ShotImage<T, Dim>> images(const Instance<Memory>& exec,
                                      const MigrationInput<T, Dim>& input, bool others = false) {
  rtm::Migration<T, Dim, Memory> migration(exec, input);
  if (others) migration.accumulate(Squares{});
  EXPECT_EQ(migration.plan().stream.empty(),
            input.options.stream.block == 0 && input.options.stream.device_memory == 0);
  std::vector<ShotImage<T, Dim>> result;
  for (std::size_t k = 0; k < input.shots.size(); ++k) {
    result.push_back(
        migration.migrate(input.data_model ? migration.model_data(k) : noise<Dim>(input.shots[k])));
  }
  return result;
}

template <class T, int Dim>
void expect_equal(const std::vector<ShotImage<T, Dim>>& streamed,
                  const std::vector<ShotImage<T, Dim>>& core, std::size_t parts,
                  const std::string& what) {
  ASSERT_EQ(streamed.size(), core.size());
  for (std::size_t k = 0; k < core.size(); ++k) {
    ASSERT_EQ(core[k].largest.size(), parts);
    for (std::size_t p = 0; p < parts; ++p) EXPECT_GT(core[k].largest[p], 0.0) << what;
    EXPECT_EQ(streamed[k].values, core[k].values) << what << ", shot " << k;
    EXPECT_EQ(streamed[k].largest, core[k].largest) << what;
    EXPECT_EQ(streamed[k].offsets, core[k].offsets) << what << ", offsets of shot " << k;
    EXPECT_EQ(streamed[k].columns, core[k].columns) << what;
    EXPECT_EQ(streamed[k].report.storage, "stream");
    EXPECT_EQ(core[k].report.storage, "random");
  }
}

template <class T, int Dim, class Memory>
void all_media(const Instance<Memory>& exec) {
  std::mt19937 random(11 + Dim);
  int number = 0;
  for (const Kind& kind : kinds) {
    auto input = rough_survey<T, Dim>(kind, number % 2 == 0 ? 4 : 8);
    input.options.storage.interval = 1 + number % 3;
    auto& offsets = input.options.offsets;
    Index<Dim> column{};
    column[0] = 3;
    offsets.columns.push_back(column);
    column[0] = input.grid.extents[0] - 9;
    if (Dim == 3) column[1] = 5;
    offsets.columns.push_back(column);
    offsets.max_half_offset = 6;
    offsets.offset_step = 1 + number % 2;
    const auto core = images(exec, input);
    ASSERT_FALSE(core[0].offsets.empty());
    for (int devices = 1; devices <= available_devices(exec); ++devices) {
      auto& stream = input.options.stream;
      stream.block = draw(random, 2, 17);
      stream.updates = draw(random, 1, 9);
      stream.devices = devices;
      expect_equal(images(exec, input), core, 3,
                   concat("medium ", number, ", block ", stream.block, ", updates ", stream.updates,
                          ", devices ", devices));
    }
    ++number;
  }
}

MEMORY_TEST(StreamMigration, HasTheBitsInCoreIn2D) { all_media<T, 2, Memory>(exec); }
MEMORY_TEST(StreamMigration, HasTheBitsInCoreIn3D) { all_media<T, 3, Memory>(exec); }

MEMORY_TEST(StreamMigration, TakesAddedAccumulatorsAndApertures) {
  auto input = rough_survey<T, 2>({Medium::vti});
  input.options.aperture = {{40.0}, 15.0};
  input.options.storage.interval = 2;
  const auto core = images(exec, input, true);
  EXPECT_FALSE(core[0].window.whole());
  for (const std::int64_t block : {3, 29}) {
    input.options.stream.block = block;
    input.options.stream.updates = 5;
    expect_equal(images(exec, input, true), core, 5, concat("block ", block));
  }
}

MEMORY_TEST(StreamMigration, ModelsData) {
  auto input = rough_survey<T, 2>({Medium::isotropic});
  input.options.modelling.time.time = 0.4;
  input.data_model = input.model;
  input.data_model->vp = random_field<T, 2, Host>(host(), input.grid, 77, 3000.0, 4000.0);
  input.options.data.mute = survey::parse_mute("arrivals:0.001:0.002");
  const auto core = images(exec, input);
  input.options.stream.block = 8;
  expect_equal(images(exec, input), core, 3, "modelled data");
}

MEMORY_TEST(StreamMigration, StreamsWhatDoesNotFit) {
  auto input = rough_survey<T, 2>({Medium::isotropic}, 4, 300);
  input.options.stream_rates.reset();
  input.options.storage.method = "auto";
  auto& o = input.options.stream;
  o.device_memory = std::size_t{1} << 30;
  const rtm::Migration<T, 2, Memory> large(exec, input);
  EXPECT_TRUE(large.plan().stream.empty());
  input.options.storage.method = "random";
  o.device_memory = 0;
  const auto core = images(exec, input);
  // a random source wavefield takes more than the modelling of a shot
  const auto nodes = static_cast<std::size_t>(input.grid.size());
  o.device_memory = large.plan().memory.peak + 3 * nodes * sizeof(T);
  const rtm::Migration<T, 2, Memory> migration(exec, input);
  const rtm::MigrationPlan<2>& plan = migration.plan();
  ASSERT_FALSE(plan.stream.empty());
  EXPECT_LE(plan.stream_plan.device_bytes, o.device_memory);
  EXPECT_EQ(plan.storage.strategy.keep, snapshot::StorageMethod::random_layers);
  EXPECT_GT(plan.seconds, 0.0);
  EXPECT_THAT(plan.text(), HasSubstr("stream    "));
  expect_equal(images(exec, input), core, 3, "little memory");
}

MEMORY_TEST(StreamMigration, Refuses) {
  const auto error_of = [&](const auto& change) {
    auto input = rough_survey<T, 2>({Medium::isotropic});
    input.options.stream.block = 4;
    change(input.options);
    return message_of<Error>([&] { rtm::Migration<T, 2, Memory>(exec, input); });
  };
  EXPECT_THAT(error_of([](auto& o) { o.domain = domain::ExpansionMethod::layers; }),
              HasSubstr("the method random is not possible here"));
  EXPECT_THAT(error_of([](auto& o) {
                o.storage.method = "auto";
                o.domain = domain::ExpansionMethod::layers;
              }),
              HasSubstr("stream: the domain is 'layers' (allowed in a stream: none)"));
  EXPECT_THAT(error_of([](auto& o) { o.storage.method = "device"; }),
              HasSubstr("stream: the storage is 'device' (allowed in a stream: auto or random)"));
  EXPECT_THAT(error_of([](auto& o) { o.storage.host = 1000; }),
              HasSubstr("memory: the volumes of both wavefields take"));
}

}  // namespace
}  // namespace moho::testing
