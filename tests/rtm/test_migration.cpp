// SPDX-License-Identifier: BSD-3-Clause
//
// Migration of a survey: each shot has the bits of migrate_shot(); images have the same bits for
// any order, grouping and number of concurrent shots; conditions and accumulators of users;
// refusals.

#include <moho/rtm/image_sum.hpp>
#include <moho/rtm/migration.hpp>

#include <limits>
#include <numeric>

#include "section.hpp"

namespace moho::testing {
namespace {

using rtm::HostField;
using rtm::ImageParts;
using rtm::ImagingStep;
using rtm::MigrationInput;
using rtm::MigrationOptions;
using rtm::PartialImage;
using rtm::ShotImage;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Survey of a few shots over a small section; the data contain the wave of a diffractor.
template <class T, class Memory>
struct SmallSurvey {
  Section<T, Memory> section;
  std::vector<wave::Shot<2>> shots;
  MigrationOptions<2> options;
  std::vector<survey::ShotGather<2>> gathers;

  explicit SmallSurvey(const Instance<Memory>& exec)
      : section(exec, Medium::isotropic, 0.45, true) {
    for (int k = 0; k < 4; ++k) {
      auto shot = section.shot;
      shot.number = 11 + k;
      shot.sources = {{60.0 + 110.0 * k, 20.0}};
      // each shot has a line of half the section
      shot.receivers = wave::point_line<2>({60.0 + 40.0 * k, 20.0}, {280.0 + 40.0 * k, 20.0}, 12);
      shots.push_back(shot);
    }
    options.modelling.time.time = 0.45;
    options.modelling.order = 4;
    options.storage.method = "device";
    options.storage.error = "lossless";
    options.concurrent_shots = 1;
    options.aperture = {{60.0}, 30.0};
    options.offsets.columns = {{10, 0}, {24, 0}};
    options.offsets.max_half_offset = 3;
    auto modelled = migration(true);
    for (std::size_t k = 0; k < shots.size(); ++k) gathers.push_back(modelled.model_data(k));
  }
  rtm::HostModel<T, 2> host_model(double added) const {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    rtm::HostModel<T, 2> model;
    model.vp = field_of<T, 2, Kokkos::HostSpace>(host, section.grid, [&](const Index<2>& node) {
      return node[0] == section.diffractor[0] && node[1] == section.diffractor[1] ? 2000.0 + added
                                                                                  : 2000.0;
    });
    return model;
  }
  rtm::Migration<T, 2, Memory> migration(bool with_data_model = false) const {
    MigrationInput<T, 2> input;
    input.grid = section.grid;
    input.model = host_model(0.0);
    if (with_data_model) input.data_model = host_model(800.0);
    input.faces = section.faces;
    input.wavelet = wave::ricker_wavelet(12.0);
    input.shots = shots;
    input.options = options;
    return rtm::Migration<T, 2, Memory>(section.exec, input);
  }
  rtm::Migration<T, 2, Memory> made(const std::vector<wave::Shot<2>>& of) const {
    return rtm::make_migration(section.exec, section.grid, section.model(0.0), section.faces,
                               wave::ricker_wavelet(12.0), of, options);
  }
};

template <class View>
std::vector<double> numbers(const View& field) {
  return std::vector<double>(field.data(), field.data() + field.size());
}

template <class C>
class SurveyMigration : public ::testing::Test {};
TYPED_TEST_SUITE(SurveyMigration, LongTestCases, CaseName);

// Reference: a shot of the complete grid by migrate_shot().
template <class T, class Memory>
std::vector<T> by_hand(const SmallSurvey<T, Memory>& survey, const rtm::MigrationPlan<2>& plan,
                       std::size_t k) {
  const auto& section = survey.section;
  const auto& exec = section.exec;
  const survey::ShotGather<2>& gather = survey.gathers[k];
  wave::ModellingOptions<2> options = survey.options.modelling;
  options.time.dt = plan.time.dt;
  options.sources = gather.shot.sources;
  options.sources.insert(options.sources.end(), gather.shot.receivers.begin(),
                         gather.shot.receivers.end());
  auto modelling = wave::make_modelling(exec, section.grid, section.model(0.0), section.faces,
                                        wave::ricker_wavelet(12.0), options);
  const auto& chosen = modelling.plan();
  survey::PrepareOptions prepare;
  prepare.dt = plan.time.dt;
  prepare.samples = plan.time.steps + 1;
  const double highest = snapshot::highest_of_products(chosen.wavelet, plan.time.dt);
  prepare.highest =
      std::min(highest, chosen.limits.min_velocity / (chosen.nodes_per_wave_wanted * 10.0));
  prepare.wavelet = plan.wavelet;
  prepare.end_taper =
      std::min(3.0 / highest, plan.time.dt * static_cast<double>(plan.time.steps) / 3.0);
  const auto data = survey::prepare(gather, prepare);
  const auto rows = static_cast<std::int64_t>(data.shot.receivers.size());
  std::vector<T> values(static_cast<std::size_t>(data.count * rows));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t n = 0; n < data.count; ++n) {
      values[static_cast<std::size_t>(n * rows + r)] =
          static_cast<T>(data.samples[static_cast<std::size_t>(r * data.count + n)]);
    }
  }
  const auto series = [&](const std::vector<T>& from, std::int64_t points) {
    const auto to = allocate<wave::PointSeries<T, Memory>>(
        exec, "amplitudes", static_cast<std::int64_t>(from.size()) / points, points);
    copy(exec, Storage<T, Memory>(to.data(), from.size()),
         HostElements<const T>(from.data(), from.size()));
    exec.fence();
    return to;
  };
  const auto sources = modelling.sources(exec, data.shot);
  const wave::PointSet<T, 2, Memory> receivers(
      exec, chosen.grid, modelling.propagator().layout(), data.shot.receivers,
      wave::point_options(modelling.propagator(), "receiver", true));
  const SourceTerm<T, 2, Memory> forward{
      &modelling.propagator(), &sources,
      series(std::vector<T>(chosen.wavelet.begin(), chosen.wavelet.end()), 1)};
  const SourceTerm<T, 2, Memory> backward{&modelling.propagator(), &receivers,
                                          series(values, rows)};
  const auto sums = rtm::make_image<T, 2, Memory>(exec, section.grid);
  snapshot::DeviceArena<T, Memory> arena("snapshots");
  snapshot::MemoryStore<T, 2, Memory> store(arena);
  MigrateOptions<T, 2, Memory> migrate;
  migrate.steps = plan.time.steps;
  migrate.snapshot_interval = plan.storage.interval;
  migrate.complete_receivers = true;
  rtm::migrate_shot<T, 2, Memory>(exec, modelling.propagator(), modelling.wavefield(), forward,
                                  backward, store, migrate, sums);
  std::vector<T> result;
  const Field<T, 2, Memory> fields[] = {sums.image, sums.source_illumination,
                                        sums.receiver_illumination};
  for (const auto& field : fields) {
    const auto part = download(exec, field);
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

MEMORY_TEST(SurveyMigration, IsTheLoopBelowToTheBit) {
  SmallSurvey<T, Memory> survey(exec);
  survey.options.aperture = {};
  survey.options.offsets = {};
  auto migration = survey.made(survey.shots);
  EXPECT_EQ(migration.plan().storage.strategy.keep, snapshot::StorageMethod::raw);
  EXPECT_EQ(migration.plan().shots, survey.shots.size());
  EXPECT_THAT(migration.plan().text(), HasSubstr("raw snapshots"));
  for (const std::size_t k : {std::size_t{0}, std::size_t{2}}) {
    const ShotImage<T, 2> image = migration.migrate(survey.gathers[k]);
    EXPECT_EQ(image.number, survey.shots[k].number);
    EXPECT_EQ(image.report.receivers, 12);
    ASSERT_EQ(image.values, by_hand(survey, migration.plan(), k)) << "shot " << k;
    double largest = 0.0;
    for (std::int64_t i = 0; i < image.window.grid.size(); ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(image.part(0)[i])));
    }
    EXPECT_GT(largest, 0.0);
    EXPECT_EQ(image.largest[0], largest);
  }
}

// Boundary values have as many layers as the differences of the equations reach.
MEMORY_TEST(SurveyMigration, PlansBoundaryValuesByTheReachOfTheEquations) {
  for (const wave::MediumInfo& row : wave::media) {
    for (const auto equations : {wave::Equations::self_adjoint, wave::Equations::fletcher}) {
      const Section<T, Memory> section(exec, row.medium, 0.45, true);
      MigrationOptions<2> options;
      options.modelling.time.time = 0.45;
      options.modelling.order = 4;
      options.modelling.equations = equations;
      options.storage.method = "boundary";
      options.storage.error = "snr:40";
      options.concurrent_shots = 1;
      const auto migration =
          rtm::make_migration(exec, section.grid, section.model(0.0), section.faces,
                              wave::ricker_wavelet(12.0), {section.shot}, options);
      const rtm::MigrationPlan<2>& plan = migration.plan();
      const std::int64_t border = 2 * (section.grid.extents[0] + section.grid.extents[1]);
      const double layer_bytes = static_cast<double>(plan.time.steps * border * row.fields) *
                                 static_cast<double>(sizeof(T));
      const int passes = wave::info(wave::stencil_of(row.medium, equations)).passes;
      EXPECT_NEAR(static_cast<double>(plan.storage.strategy.bytes) / layer_bytes, 2.0 * passes,
                  1e-3)
          << row.name;
    }
  }
}

// A number of processes that share memory, as long as the object exists.
struct Sharing {
  explicit Sharing(const MemorySharing& sharing) { set_memory_sharing(sharing); }
  ~Sharing() { set_memory_sharing(MemorySharing{}); }
};

MEMORY_TEST(SurveyMigration, PlansWithItsShareOfTheFreeMemory) {
  SmallSurvey<T, Memory> survey(exec);
  const auto budget = [&] {
    return static_cast<double>(survey.migration().plan().storage.budget.device);
  };
  const double whole = budget();
  const Sharing four({4, 4});
  // other programs allocate and free at the same time
  EXPECT_NEAR(budget(), 0.25 * whole, 0.1 * whole);
  // a limit is that of a process
  survey.options.storage.device = static_cast<std::size_t>(0.5 * whole);
  EXPECT_NEAR(budget(), 0.5 * whole, 0.1 * whole);
}

// Shots see windows of different sizes.
MEMORY_TEST(SurveyMigration, PlansTheBytesOfFixedNumbersOfBits) {
  SmallSurvey<T, Memory> survey(exec);
  survey.options.storage.method = "compressed";
  for (const char* const error : {"bits:8", "bits:12"}) {
    survey.options.storage.error = error;
    auto migration = survey.migration();
    const auto planned = static_cast<double>(migration.plan().storage.strategy.bytes);
    const auto count = static_cast<double>(migration.plan().storage.snapshots);
    double max = 0.0;
    for (const auto& gather : survey.gathers) {
      const ShotImage<T, 2> shot = migration.migrate(gather);
      const auto nodes = static_cast<double>(shot.window.grid.size());
      max = std::max(max, count * nodes * sizeof(T) / shot.report.ratio);
    }
    EXPECT_GE(planned, max) << error;
    // headers: up to 1 KiB a snapshot
    EXPECT_LT(planned, 1.01 * max + 1024.0 * count) << error;
  }
}

MEMORY_TEST(SurveyMigration, HasTheSameBitsInAnyOrderAndGrouping) {
  const SmallSurvey<T, Memory> survey(exec);
  auto forward = survey.migration(), backward = survey.migration(), merged = survey.migration();
  std::vector<ShotImage<T, 2>> images;
  for (const auto& gather : survey.gathers) images.push_back(forward.migrate(gather));
  for (const auto& image : images) forward.add(image);
  for (auto image = images.rbegin(); image != images.rend(); ++image) backward.add(*image);
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  std::vector<PartialImage<T, 2>> groups(
      3, PartialImage<T, 2>(survey.section.grid, 3, survey.options.offsets));
  for (const std::size_t k : {2, 0, 3, 1}) groups[k % 3].add(host, images[k]);
  merged.merge(groups[1]);
  PartialImage<T, 2> read(survey.section.grid, 3, survey.options.offsets);
  for (const std::size_t g : {2, 0}) read.merge(host, groups[g].pack());
  merged.merge(read);
  const auto expected = numbers(forward.image(rtm::ZeroLag{}));
  EXPECT_EQ(numbers(backward.image(rtm::ZeroLag{})), expected);
  EXPECT_EQ(numbers(merged.image(rtm::ZeroLag{})), expected);
  EXPECT_EQ(backward.offset_gathers(), forward.offset_gathers());
  EXPECT_EQ(merged.offset_gathers(), forward.offset_gathers());
  EXPECT_EQ(merged.partial().shots(), (std::set<std::int64_t>{11, 12, 13, 14}));
  std::string bytes = merged.partial().pack();
  EXPECT_THAT(message_of<InputError>([&] { read.merge(host, bytes); }),
              HasSubstr("it is already in the image"));
  for (const std::size_t at : {std::size_t(0), bytes.size() / 2, bytes.size() - 1}) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_THAT(message_of<InputError>([&] { read.merge(host, other); }), HasSubstr("damaged"));
  }

  // the sums are those of the shots
  const Grid<2>& grid = survey.section.grid;
  std::vector<double> sum(static_cast<std::size_t>(grid.size()), 0.0);
  std::vector<double> gathers(forward.offset_gathers().size(), 0.0);
  const std::size_t column = gathers.size() / 2;
  double largest = 0.0, largest_offset = 0.0;
  std::size_t windows = 0;
  for (const auto& image : images) {
    largest = std::max(largest, image.largest[0]);
    windows += image.window.whole() ? 0 : 1;
    for (std::int64_t i = 0; i < image.window.grid.size(); ++i) {
      sum[static_cast<std::size_t>(grid.flat(image.window.box.node(i)))] +=
          static_cast<double>(image.part(0)[i]);
    }
    for (std::size_t c = 0; c < image.columns.size(); ++c) {
      for (std::size_t i = 0; i < column; ++i) {
        const auto value = static_cast<double>(image.offsets[c * column + i]);
        gathers[static_cast<std::size_t>(image.columns[c]) * column + i] += value;
        largest_offset = std::max(largest_offset, std::fabs(value));
      }
    }
  }
  EXPECT_GT(windows, 0U);
  ASSERT_GT(largest_offset, 0.0);
  const double rounding = by_precision<T>(1e-6, 1e-11);
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(expected[i], sum[i], rounding * largest);
  for (std::size_t i = 0; i < gathers.size(); ++i) {
    EXPECT_NEAR(forward.offset_gathers()[i], gathers[i], 1e-11 * largest_offset);
  }
  // they are also those of the files of programs
  std::vector<rtm::StoredPart<2>> parts;
  for (const auto& image : images) parts.push_back({image.window.box, {}});
  const std::vector<T> stacked = rtm::stack<T, 2>(host, grid, parts, [&](std::size_t k) {
    return std::vector<T>(images[k].part(0), images[k].part(0) + images[k].window.grid.size());
  });
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(stacked[i]), sum[i], rounding * largest);
  }
}

MEMORY_TEST(SurveyMigration, HasTheSameBitsConcurrently) {
#if !defined(KOKKOS_ENABLE_SERIAL)
  if (is_host_memory<Memory>) GTEST_SKIP() << "concurrent shots need the Serial space";
#endif
  SmallSurvey<T, Memory> survey(exec);
  survey.options.domain = domain::ExpansionMethod::layers;
  survey.options.complete_receivers = true;
  std::vector<std::vector<double>> images;
  for (const int concurrent : {1, 3}) {
    survey.options.concurrent_shots = concurrent;
    std::size_t reports = 0;
    survey.options.progress = [&](const rtm::MigrationProgress& now) {
      ++reports;
      EXPECT_LE(now.shots_done, 4.0);
      EXPECT_EQ(now.concurrent_shots, concurrent);
    };
    auto migration = survey.migration();
    EXPECT_EQ(migration.plan().concurrent_shots, concurrent);
    std::vector<std::size_t> read;
    migration.add_all(survey.gathers.size(), [&](std::size_t k) {
      read.push_back(k);
      return survey.gathers[k];
    });
    std::sort(read.begin(), read.end());
    EXPECT_EQ(read, (std::vector<std::size_t>{0, 1, 2, 3}));
    EXPECT_GT(reports, 0U);
    EXPECT_GT(migration.phases().seconds("migrate"), 0.0);
    images.push_back(numbers(migration.image(rtm::InverseScattering{})));
    images.push_back(numbers(migration.image(rtm::ReceiverNormalised{})));
  }
  EXPECT_EQ(images[2], images[0]);
  EXPECT_EQ(images[3], images[1]);
}

MEMORY_TEST(SurveyMigration, ModelsTheDataOfItsModel) {
  const SmallSurvey<T, Memory> survey(exec);
  auto given = survey.migration(), modelled = survey.migration(true);
  // modelled data have the step of the run and no low-pass; given data differ by that alone
  std::vector<std::size_t> order;
  std::size_t next = 0;
  modelled.migrate_each(
      [&]() { return next < 4 ? std::optional<std::size_t>(next++) : std::nullopt; }, {},
      [&](std::size_t k, ShotImage<T, 2>&& image) {
        order.push_back(k);
        EXPECT_EQ(image.values, modelled.migrate(modelled.model_data(k)).values);
        modelled.add(image);
      });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
  for (const auto& gather : survey.gathers) given.add(gather);
  EXPECT_LT(
      relative_error(numbers(modelled.image(rtm::ZeroLag{})), numbers(given.image(rtm::ZeroLag{}))),
      0.1);
  EXPECT_THAT(message_of<InputError>([&] { given.model_data(0); }), StartsWith("data_model: "));
}

/// Accumulator of positive and negative products S R: two parts.
template <class T>
struct AddBySign {
  rtm::ImagingOperands<T, 2> operands;
  T *positive, *negative;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<2>& node) const {
    const T product = operands.weight * operands.source(node) * operands.receivers(node);
    const std::int64_t to = operands.at(node);
    if (product > T(0)) positive[to] += product;
    if (product < T(0)) negative[to] += product;
  }
};

struct ProductsBySign {
  static constexpr int part_count = 2;
  template <class T, int Dim, class Memory>
  void add(const Instance<Memory>& exec, const ImagingStep<T, Dim, Memory>& step,
           const std::vector<Field<T, Dim, Memory>>& parts) const {
    if constexpr (Dim == 2) {
      launch_box("moho::rtm::products_by_sign", exec, step.box(),
                 AddBySign<T>{step.operands(), parts[0].data(), parts[1].data()});
    }
  }
};

/// Condition: the sum of the magnitudes of the products.
struct MagnitudeOfProducts {
  using accumulator = ProductsBySign;
  template <class T, int Dim>
  HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>&,
                           const ImageParts<T, Dim>& parts) const {
    for (std::size_t i = 0; i < parts[0].size(); ++i) parts[0].data()[i] -= parts[1].data()[i];
    return parts[0];
  }
};

/// Condition on the sums of the library: the square root of the source illumination.
struct SourceAmplitude {
  using accumulator = rtm::PointProducts;
  template <class T, int Dim>
  HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>&,
                           const ImageParts<T, Dim>& parts) const {
    for (std::size_t i = 0; i < parts[1].size(); ++i) {
      parts[1].data()[i] = std::sqrt(parts[1].data()[i]);
    }
    return parts[1];
  }
};
static_assert(rtm::ImagingCondition<MagnitudeOfProducts>);
static_assert(rtm::ImagingCondition<SourceAmplitude>);
static_assert(rtm::Accumulator<ProductsBySign>);
static_assert(!rtm::Accumulator<rtm::PointProducts>);

MEMORY_TEST(SurveyMigration, TakesConditionsOfUsers) {
  SmallSurvey<T, Memory> survey(exec);
  // the products are then added to decompressed snapshots
  survey.options.storage.method = "compressed";
  survey.options.storage.error = "bits:16";
  auto plain = survey.migration(), own = survey.migration();
  own.accumulate(ProductsBySign{});
  for (const std::size_t k : {1, 2}) {
    plain.add(survey.gathers[k]);
    const auto image = own.migrate(survey.gathers[k]);
    EXPECT_EQ(image.largest.size(), 5U);
    own.add(image);
  }
  const auto zero_lag = numbers(plain.image(rtm::ZeroLag{}));
  const auto same = numbers(own.image(rtm::ZeroLag{}));
  const auto magnitude = numbers(own.image(MagnitudeOfProducts{}));
  const auto amplitude = numbers(own.image(SourceAmplitude{}));
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  const auto illumination = numbers(own.partial().part(host, 1));
  const auto positive = numbers(own.partial().part(host, 3));
  const auto negative = numbers(own.partial().part(host, 4));
  const double largest = *std::max_element(magnitude.begin(), magnitude.end());
  ASSERT_GT(largest, 0.0);
  std::size_t cancelled = 0;
  for (std::size_t i = 0; i < zero_lag.size(); ++i) {
    EXPECT_NEAR(same[i], zero_lag[i], by_precision<T>(1e-5, 1e-11) * largest);
    EXPECT_NEAR(positive[i] + negative[i], zero_lag[i], by_precision<T>(1e-5, 1e-11) * largest);
    EXPECT_NEAR(amplitude[i] * amplitude[i], illumination[i],
                by_precision<T>(1e-6, 1e-14) * illumination[i]);
    EXPECT_GE(positive[i], 0.0);
    EXPECT_LE(negative[i], 0.0);
    cancelled += magnitude[i] > 2.0 * std::fabs(zero_lag[i]) ? 1 : 0;
  }
  EXPECT_GT(cancelled, 0U);
  EXPECT_THAT(message_of<InputError>([&] { plain.image(MagnitudeOfProducts{}); }),
              HasSubstr("its accumulator was not added"));
  EXPECT_THAT(message_of<InputError>([&] { own.accumulate(ProductsBySign{}); }),
              HasSubstr("before the first shot"));
}

MEMORY_TEST(SurveyMigration, RefusesWhatCannotBe) {
  SmallSurvey<T, Memory> survey(exec);
  EXPECT_THAT(message_of<InputError>([&] { survey.made({}); }), StartsWith("shots: "));
  auto outside = survey.shots;
  outside[1].sources[0][0] = -40.0;
  EXPECT_THAT(message_of<InputError>([&] { survey.made(outside); }),
              HasSubstr("shot 12: source 1"));
  auto migration = survey.migration();
  auto wrong = survey.gathers[0];
  wrong.shot.number = 99;
  EXPECT_THAT(message_of<InputError>([&] { migration.migrate(wrong); }),
              HasSubstr("the shot 99 is not in the survey"));
  wrong = survey.gathers[0];
  wrong.samples.pop_back();
  EXPECT_THAT(message_of<InputError>([&] { migration.migrate(wrong); }), StartsWith("gather: "));
  // the number of a shot, but another source or receiver
  wrong = survey.gathers[1];
  wrong.shot.number = survey.gathers[0].shot.number;
  EXPECT_THAT(message_of<InputError>([&] { migration.add(wrong); }),
              HasSubstr("gather: shot 11 has a source at (170, 20) m"));
  wrong = survey.gathers[0];
  wrong.shot.receivers[3][0] += 1.0;
  EXPECT_THAT(message_of<InputError>([&] { migration.add(wrong); }),
              HasSubstr("gather: shot 11 has a receiver at (121, 20) m"));
  EXPECT_THAT(message_of<InputError>(
                  [&] { migration.add_all(1, [&](std::size_t) { return survey.gathers[1]; }); }),
              HasSubstr("shot 12 (allowed: shot 11"));
  migration.add(survey.gathers[0]);
  EXPECT_THAT(message_of<InputError>([&] { migration.add(survey.gathers[0]); }),
              HasSubstr("shot 11: it is already in the image"));
  auto other = survey.migration();
  other.add(survey.gathers[0]);
  EXPECT_THAT(message_of<InputError>([&] { other.merge(migration.partial()); }),
              HasSubstr("shot 11: it is already in the image"));
  // a shot without a live trace adds nothing
  auto silent = survey.gathers[1];
  silent.shot.receivers.clear();
  silent.samples.clear();
  const auto before = numbers(migration.image(rtm::ZeroLag{}));
  migration.add(silent);
  EXPECT_EQ(numbers(migration.image(rtm::ZeroLag{})), before);

  survey.options.domain = domain::ExpansionMethod::layers;
  auto boxed = survey.migration();
  boxed.add(survey.gathers[0]);
  EXPECT_THAT(message_of<InputError>([&] { boxed.image(rtm::ReceiverNormalised{}); }),
              HasSubstr("set complete_receivers"));
  survey.options.domain = domain::ExpansionMethod::none;
  survey.options.storage.method = "somewhere";
  EXPECT_THAT(message_of<InputError>([&] { survey.migration(); }), StartsWith("storage: "));
  survey.options.storage.method = "disk";  // without a budget for files
  EXPECT_THAT(message_of<InputError>([&] { survey.migration(); }),
              HasSubstr("storage: the method disk is not possible here ("));
  survey.options.storage.method = "auto";
  survey.options.storage.device = 1 << 16;
  survey.options.concurrent_shots = 4;
  EXPECT_THROW(survey.migration(), Error);
}

}  // namespace
}  // namespace moho::testing
