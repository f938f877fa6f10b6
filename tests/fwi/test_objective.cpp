// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 34
// ctest: sanitizers without *.GradientIsThatOfDifferences
// ctest: sanitizers without *.StreamsWithTheBitsInCore
// ctest: sanitizers without *.AnInterruptedSearchHasTheSameBits
//
// The objective of an inversion: gradient, divided evaluations, streams, searches, bands, errors.

#include <moho/fwi/band_search.hpp>

#include "wave/support.hpp"

#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::InputError;
using moho::fwi::ExtendedSum;
using moho::fwi::Objective;
using moho::fwi::ObjectiveData;
using moho::fwi::ObjectiveOptions;
using moho::fwi::Parameter;
using moho::fwi::Range;
using moho::fwi::ShotContribution;
using moho::fwi::SourceField;
using moho::wave::Shot;
using ::testing::HasSubstr;

template <class C>
class ObjectiveOf : public ::testing::Test {};
TYPED_TEST_SUITE(ObjectiveOf, LongTestCases, CaseName);

/// Three shots over a smooth model, with data of a model with an anomaly.
template <class T, class Memory>
struct Inversion {
  Instance<Memory> exec;
  Grid<2> grid;
  Model<T, 2, Memory> start, truth;
  Boundaries<2> faces;
  ObjectiveData<T, 2, Memory> data;
  ObjectiveOptions<2> options;

  Inversion(const Instance<Memory>& instance, Medium medium) : exec(instance) {
    grid = cube<2>(27, 10.0);
    grid.extents[0] = 33;
    start = model(medium, 0.0);
    truth = model(medium, 1.0);
    faces = moho::wave::all_faces<2>(FaceKind::sponge, 8);
    faces.lower[1] = {FaceKind::free_surface, 0};
    for (int k = 0; k < 3; ++k) {
      data.shots.push_back({k + 1,
                            {{60.0 + 95.0 * k, 30.0}},
                            moho::wave::point_line<2>({50.0, 20.0}, {270.0, 20.0}, 12)});
    }
    data.model = truth;
    options.modelling.order = 8;
    options.modelling.time.time = 0.36;
    options.modelling.time.dt = 0.0012;
    options.product_interval = 1;
    options.random_width = 12;
    options.concurrent_shots = 1;
    options.parameters = {Parameter::vp};
    if (medium == Medium::variable_density) options.parameters.push_back(Parameter::density);
    if (medium == Medium::vti) {
      options.parameters.insert(options.parameters.end(), {Parameter::epsilon, Parameter::delta});
    }
    options.bounds = {{1500.0, 2600.0}};
  }

  Model<T, 2, Memory> model(Medium medium, double anomaly) const {
    const auto field = [&](double top, double gradient, double change) {
      return field_of<T, 2, Memory>(exec, grid, [&](const Index<2>& node) {
        const double x = static_cast<double>(node[0] - 16) / 5.0;
        const double z = static_cast<double>(node[1] - 14) / 4.0;
        return top + gradient * static_cast<double>(node[1]) +
               anomaly * change * std::exp(-x * x - z * z);
      });
    };
    Model<T, 2, Memory> result;
    result.vp = field(1900.0, 10.0, 150.0);
    if (medium == Medium::variable_density) result.density = field(1800.0, 5.0, 100.0);
    if (medium == Medium::vti) {
      result.epsilon = field(0.1, 0.002, 0.05);
      result.delta = field(0.03, 0.001, 0.03);
    }
    return result;
  }
  Objective<T, 2, Memory> objective() const {
    return moho::fwi::make_objective(exec, grid, start, faces, moho::wave::ricker_wavelet(14.0),
                                     data, options);
  }
  /// Returns random changes of the variables, zero within order / 2 nodes of the edge of the model.
  std::vector<T> variables(unsigned seed, double size) const {
    std::mt19937 random(seed);
    std::vector<T> x;
    for (std::size_t u = 0; u < options.parameters.size(); ++u) {
      for (std::int64_t n = 0; n < grid.size(); ++n) {
        const Index<2> node = grid.node(n);
        bool edge = false;
        for (int d = 0; d < 2; ++d) edge = edge || node[d] < 4 || node[d] >= grid.extents[d] - 4;
        const double value = size * uniform(random, -1.0, 1.0);
        x.push_back(edge ? T(0) : static_cast<T>(value));
      }
    }
    return x;
  }
};

/// Misfit and gradient of an evaluation.
struct Value {
  double misfit = 0.0;
  std::vector<double> gradient;
  bool operator==(const Value&) const = default;
};
template <class T, class Memory>
std::vector<double> numbers(const Instance<Memory>& exec, const Kokkos::View<T*, Memory>& vector) {
  const auto values = download(exec, vector);
  return {values.begin(), values.end()};
}
template <class T, class Memory>
Value evaluate(const Instance<Memory>& exec, Objective<T, 2, Memory>& objective,
               const std::vector<T>& x) {
  const auto gradient = objective.make_gradient();
  Value value;
  value.misfit = objective.evaluate(moho::upload(exec, x, "x"), gradient);
  value.gradient = numbers<T, Memory>(exec, gradient);
  return value;
}

MEMORY_TEST(ObjectiveOf, GradientIsThatOfDifferences) {
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    for (const auto variables : {moho::fwi::Variables::logarithmic, moho::fwi::Variables::linear}) {
      if (medium == Medium::vti && variables == moho::fwi::Variables::linear) continue;
      Inversion<T, Memory> inversion(exec, medium);
      inversion.options.variables = variables;
      auto objective = inversion.objective();
      const auto x = inversion.variables(1, 0.01);
      const Value value = evaluate<T, Memory>(exec, objective, x);
      // half of it random, half of it along the gradient
      auto direction = inversion.variables(2, 0.5);
      double max = 0.0;
      for (const double g : value.gradient) max = std::max(max, std::abs(g));
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] != T(0)) direction[i] += static_cast<T>(value.gradient[i] / max);
      }
      EXPECT_GT(value.misfit, 1e-6);
      const double slope =
          std::inner_product(direction.begin(), direction.end(), value.gradient.begin(), 0.0);
      const double h = by_precision<T>(5e-3, 1e-5);
      double side[2];
      for (const int sign : {0, 1}) {
        std::vector<T> moved = x;
        for (std::size_t i = 0; i < x.size(); ++i) {
          moved[i] += static_cast<T>((sign == 0 ? -h : h) * static_cast<double>(direction[i]));
        }
        side[sign] = evaluate<T, Memory>(exec, objective, moved).misfit;
      }
      EXPECT_NEAR((side[1] - side[0]) / (2.0 * h) / slope, 1.0, by_precision<T>(2e-2, 1e-6))
          << to_string(medium);
    }
  }
}

MEMORY_TEST(ObjectiveOf, ContributionsInAnyOrderAreAnEvaluation) {
  Inversion<T, Memory> inversion(exec, Medium::variable_density);
  auto objective = inversion.objective();
  const auto x = inversion.variables(3, 0.02);
  const Value expected = evaluate<T, Memory>(exec, objective, x);
  const auto illumination = objective.illumination();

  // computed as in another process, which has neither variables nor sums
  auto other = inversion.objective();
  const auto gradient = objective.make_gradient();
  objective.begin(moho::upload(exec, x, "x"));
  other.begin(objective.request());
  objective.add(other.contribution(2));
  objective.add(objective.contribution(1));
  objective.add(other.contribution(0));
  Value found;
  found.misfit = objective.end(gradient);
  found.gradient = numbers<T, Memory>(exec, gradient);
  EXPECT_EQ(found, expected);
  const auto again = objective.illumination();
  EXPECT_TRUE(std::equal(again.data(), again.data() + again.size(), illumination.data()));

  // claimed by two processes, and with shots computed concurrently
  inversion.options.concurrent_shots = 2;
  auto concurrent = inversion.objective();
  EXPECT_EQ(concurrent.plan().concurrent_shots, 2);
  concurrent.begin(moho::upload(exec, x, "x"));
  std::vector<std::size_t> taken;
  for (const std::size_t rest : {1, 0}) {
    concurrent.contributions([&](std::size_t k) { return k % 2 == rest; },
                             [&](ShotContribution<T>&& part) {
                               taken.push_back(part.shot);
                               concurrent.add(std::move(part));
                             });
  }
  EXPECT_EQ(taken, (std::vector<std::size_t>{1, 0, 2}));
  Value divided;
  divided.misfit = concurrent.end(gradient);
  divided.gradient = numbers<T, Memory>(exec, gradient);
  if (moho::is_host_memory<Memory>) {
    EXPECT_EQ(divided, expected);
  } else {
    EXPECT_NEAR(divided.misfit, expected.misfit, 1e-5 * expected.misfit);
  }
}

MEMORY_TEST(ObjectiveOf, SumsOfAnyPartitionAreAnEvaluation) {
  Inversion<T, Memory> inversion(exec, Medium::variable_density);
  auto objective = inversion.objective();
  const auto x = inversion.variables(3, 0.02);
  const Value expected = evaluate<T, Memory>(exec, objective, x);
  const auto illumination = objective.illumination();
  const auto gradient = objective.make_gradient();
  objective.begin(moho::upload(exec, x, "x"));
  std::vector<ShotContribution<T>> parts;
  for (const std::size_t k : {0, 1, 2}) parts.push_back(objective.contribution(k));
  // the largest of the terms is the first, the second, or the third one
  for (const std::vector<std::vector<std::size_t>>& groups :
       std::vector<std::vector<std::vector<std::size_t>>>{
           {{0, 1, 2}}, {{2, 1}, {0}}, {{1}, {2, 0}}, {{2}, {1}, {0}}, {{}, {0, 2, 1}}}) {
    objective.begin(moho::upload(exec, x, "x"));
    for (const auto& group : groups) {
      auto other = inversion.objective();
      other.begin(objective.request());
      if (group.empty()) continue;
      for (const std::size_t k : group) other.add(parts[k]);
      const moho::fwi::ContributionSum sum = other.sum();
      objective.add(sum);
      EXPECT_THAT(message_of<InputError>([&] { objective.add(sum); }),
                  HasSubstr("allowed: each shot once"));
    }
    Value found;
    found.misfit = objective.end(gradient);
    found.gradient = numbers<T, Memory>(exec, gradient);
    EXPECT_EQ(found, expected);
    const auto again = objective.illumination();
    EXPECT_TRUE(std::equal(again.data(), again.data() + again.size(), illumination.data()));
  }
  objective.begin(moho::upload(exec, x, "x"));
  EXPECT_THAT(message_of<InputError>([&] { objective.sum(); }), HasSubstr("no contribution"));
  objective.add(parts[1]);
  const moho::fwi::ContributionSum good = objective.sum();
  const auto refusal = [&](const auto& change) {
    auto bad = good;
    change(bad);
    objective.begin(moho::upload(exec, x, "x"));
    return message_of<InputError>([&] { objective.add(bad); });
  };
  EXPECT_THAT(refusal([](auto& sum) { sum.shots[0] = 3; }), HasSubstr("its shot is 3 of 3"));
  EXPECT_THAT(refusal([](auto& sum) { sum.sums.pop_back(); }), HasSubstr("2 arrays (allowed"));
  EXPECT_THAT(refusal([](auto& sum) { sum.sums[0].terms = 2; }), HasSubstr("a term of each shot"));
  EXPECT_THAT(refusal([](auto& sum) { sum.sums[0].upper[5] = std::int64_t{1} << 41; }),
              HasSubstr("make the sum again"));
  EXPECT_THAT(refusal([](auto& sum) {
                sum.shots.push_back(1);
                sum.misfits.push_back(1.0);
                for (auto& state : sum.sums) state.terms = 2;
              }),
              HasSubstr("a sum has a shot twice"));
}

MEMORY_TEST(ObjectiveOf, StreamsWithTheBitsInCore) {
  if constexpr (moho::is_host_memory<Memory>) {
    for (const Medium medium : {Medium::isotropic, Medium::variable_density}) {
      Inversion<T, Memory> inversion(exec, medium);
      inversion.options.source_field = SourceField::random;
      inversion.options.product_interval = 3;
      inversion.options.lags = moho::fwi::Lags{3, 0};
      auto in_core = inversion.objective();
      inversion.options.block = 5;
      auto streamed = inversion.objective();
      EXPECT_FALSE(in_core.streamed());
      EXPECT_TRUE(in_core.plan().stream.empty());
      EXPECT_TRUE(streamed.streamed());
      EXPECT_FALSE(streamed.plan().stream.empty());
      const auto x = inversion.variables(5, 0.02);
      const Value expected = evaluate<T, Memory>(exec, in_core, x);
      EXPECT_EQ((evaluate<T, Memory>(exec, streamed, x)), expected) << to_string(medium);
      // the image has a stream of its own
      EXPECT_TRUE(in_core.plan().lags_stream.empty());
      EXPECT_FALSE(streamed.plan().lags_stream.empty());
      const auto image = streamed.extended_image(moho::upload(exec, x, "x"));
      const auto in_memory = in_core.extended_image(moho::upload(exec, x, "x"));
      EXPECT_GT(image.focus, 0.0);
      EXPECT_EQ(image.focus, in_memory.focus) << to_string(medium);
      EXPECT_EQ(image.values, in_memory.values) << to_string(medium);
      EXPECT_EQ((evaluate<T, Memory>(exec, streamed, x)), expected) << to_string(medium);
    }
  }
}

MEMORY_TEST(ObjectiveOf, MethodsOfTheSourceFieldAgree) {
  Inversion<T, Memory> inversion(exec, Medium::isotropic);
  const auto x = inversion.variables(6, 0.02);
  inversion.options.source_field = SourceField::stored;
  auto stored = inversion.objective();
  const Value expected = evaluate<T, Memory>(exec, stored, x);
  inversion.options.source_field = SourceField::automatic;
  auto objective = inversion.objective();
  EXPECT_EQ(objective.plan().source_field, SourceField::boundary_shell);
  for (const SourceField method : {SourceField::boundary_shell, SourceField::replay}) {
    objective.set_source_field(method);
    EXPECT_EQ(objective.plan().source_field, method);
    const Value found = evaluate<T, Memory>(exec, objective, x);
    EXPECT_NEAR(found.misfit, expected.misfit, by_precision<T>(1e-5, 1e-12) * expected.misfit);
    double error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < found.gradient.size(); ++i) {
      error += std::pow(found.gradient[i] - expected.gradient[i], 2);
      size += std::pow(expected.gradient[i], 2);
    }
    EXPECT_LT(std::sqrt(error / size), by_precision<T>(2e-4, 1e-11)) << to_string(method);
  }
}

// Searches in the bands of the options. Evaluations after `stop` use another search and objective.
template <class T, class Memory>
std::vector<double> search(const Inversion<T, Memory>& inversion, std::int64_t stop,
                           const std::filesystem::path& state) {
  using Search = moho::fwi::BandSearch<T, 2, Memory>;
  const auto& exec = inversion.exec;
  const moho::fwi::BandSearchOptions options{inversion.options.bands, 2, 3, 0.01, true, {}};
  auto objective = inversion.objective(), second = inversion.objective();
  const auto gradient = objective.make_gradient();
  std::vector<double> result;
  std::int64_t evaluations = 0;
  const auto minimise = [&](auto& present, Search& search) {  // returns true if it stopped
    while (search.next_band()) {
      while (search.state().wants() == moho::optimize::Want::evaluation) {
        const auto row = search.tell(present.evaluate(search.state().point(), gradient), gradient);
        EXPECT_EQ(row.evaluation, ++evaluations);
        EXPECT_EQ(row.band, search.progress().band + 1);
        EXPECT_EQ(row.in_band == 1, row.relative == 1.0 && row.step == 0.0);
        result.insert(result.end(), {row.frequency, row.misfit, row.gradient, row.step});
        if (row.evaluation == stop) return true;
      }
      EXPECT_LT(search.state().value(), 0.9 * search.state().first_value());
    }
    return false;
  };
  Search search(exec, objective, options);
  EXPECT_EQ(search.bands(), std::max<int>(static_cast<int>(options.bands.size()), 1));
  std::optional<Search> resumed;
  if (minimise(objective, search)) {
    std::string note;
    search.save(state, "made from data");
    resumed.emplace(exec, second, options, state, note);
    EXPECT_EQ(note, "made from data");
    EXPECT_FALSE(minimise(second, *resumed));
  }
  const Search& last = resumed ? *resumed : search;
  const auto vp = objective.values(last.state().best(), Parameter::vp);
  result.insert(result.end(), vp.data(), vp.data() + vp.size());
  return result;
}

MEMORY_TEST(ObjectiveOf, AnInterruptedSearchHasTheSameBits) {
  Inversion<T, Memory> inversion(exec, Medium::isotropic);
  const std::filesystem::path state =
      std::filesystem::temp_directory_path() / moho::concat("objective_", ::getpid(), ".state");
  const auto complete = search<T, Memory>(inversion, -1, state);
  EXPECT_EQ((search<T, Memory>(inversion, 2, state)), complete);
  inversion.options.bands = {9.0, 18.0};
  const auto bands = search<T, Memory>(inversion, -1, state);
  for (const std::int64_t stop : {1, 3, 5}) {
    EXPECT_EQ((search<T, Memory>(inversion, stop, state)), bands) << stop;
  }
  std::filesystem::remove(state);
}

// The response of a band's low-pass is longer than the record; a wavelet cut at the record's end
// would have frequencies that the grid does not carry.
MEMORY_TEST(ObjectiveOf, BandsOutlastShortRecords) {
  Inversion<T, Memory> inversion(exec, Medium::isotropic);
  inversion.options.modelling.time.time = 0.18;
  inversion.options.bands = {6.0, 9.0};
  auto objective = inversion.objective();
  objective.load_data();
  for (const double band : inversion.options.bands) {
    objective.set_band(band);
    const Value value = evaluate<T, Memory>(exec, objective, inversion.variables(8, 0.01));
    EXPECT_GT(value.misfit, 0.0) << band;
  }
}

MEMORY_TEST(ObjectiveOf, BoundsAndMasksHold) {
  Inversion<T, Memory> inversion(exec, Medium::isotropic);
  inversion.options.bounds = {{1880.0, 2200.0}};
  inversion.options.mask = moho::fwi::mask_above(inversion.grid, 50.0);
  auto objective = inversion.objective();
  const auto bounds = objective.bounds();
  const auto upper = download(exec, bounds.upper);
  const auto mask = download(exec, bounds.mask);
  const auto at_upper = objective.values(moho::upload(exec, upper, "upper"), Parameter::vp);
  for (std::int64_t n = 0; n < inversion.grid.size(); ++n) {
    EXPECT_EQ(mask[static_cast<std::size_t>(n)], inversion.grid.node(n)[1] > 5 ? 1 : 0);
    EXPECT_NEAR(at_upper.data()[n], 2200.0, by_precision<T>(1e-2, 1e-9));
  }
}

MEMORY_TEST(ObjectiveOf, ReadsTheDataThatItModels) {
  Inversion<T, Memory> inversion(exec, Medium::isotropic);
  inversion.options.bands = {8.0, 30.0};
  auto modelled = inversion.objective();
  modelled.load_data();
  modelled.set_band(8.0);
  const auto x = inversion.variables(7, 0.02);
  const Value low = evaluate<T, Memory>(exec, modelled, x);
  modelled.set_band(30.0);
  const Value high = evaluate<T, Memory>(exec, modelled, x);
  EXPECT_NE(low.misfit, high.misfit);

  // the data without a low-pass
  inversion.options.bands.clear();
  auto all = inversion.objective();
  all.load_data();
  all.set_band(0.0);
  inversion.data.model = {};
  inversion.data.read = [&](std::size_t k) {
    moho::survey::ShotGather<2> gather;
    gather.name = moho::concat("shot ", k + 1);
    gather.shot = inversion.data.shots[k];
    gather.samples = all.observed()[k].samples;
    gather.count = all.observed()[k].count;
    gather.dt = all.observed()[k].dt;
    return gather;
  };
  inversion.options.bands = {8.0, 30.0};
  auto read = inversion.objective();
  read.set_band(8.0);
  EXPECT_EQ((evaluate<T, Memory>(exec, read, x)), (low));
  EXPECT_THAT(message_of([&] { read.set_band(9.0); }), HasSubstr("corner: it is 9 Hz (allowed"));

  // data end before the modelled time
  inversion.options.modelling.time.time = 0.45;
  inversion.options.complete_records = true;
  inversion.options.names = moho::ArgumentNames{{"time", "--time"}};
  auto longer = inversion.objective();
  EXPECT_THAT(message_of([&] { longer.load_data(); }),
              HasSubstr("--time is 0.45 s, and the data end at 0.36"));
}

MEMORY_TEST(ObjectiveOf, ImagesAtLagsLeaveTheEvaluationUnchanged) {
  Inversion<T, Memory> inversion(exec, Medium::isotropic);
  inversion.options.lags = moho::fwi::Lags{2, 0};
  auto objective = inversion.objective();
  const auto x = inversion.variables(8, 0.02);
  const Value before = evaluate<T, Memory>(exec, objective, x);
  EXPECT_GT(objective.plan().lags_bytes, 0.0);
  const auto image = objective.extended_image(moho::upload(exec, x, "x"));
  EXPECT_EQ(static_cast<std::int64_t>(image.values.size()), 5 * inversion.grid.size());
  EXPECT_GT(image.focus, 0.0);
  EXPECT_LT(image.focus, 400.0);  // the largest lag is 20 m
  const auto factors = download(exec, objective.preconditioner());
  EXPECT_NEAR(*std::min_element(factors.begin(), factors.end()), 1.0 / 1.01, 1e-6);
  EXPECT_LE(*std::max_element(factors.begin(), factors.end()), 100.001);
  // traces of another model in between
  EXPECT_EQ(objective.model(objective.start(), 1).size(),
            12u * static_cast<std::size_t>(objective.observed()[1].count));
  EXPECT_EQ((evaluate<T, Memory>(exec, objective, x)), (before));
}

MEMORY_TEST(ObjectiveOf, ImagesOfAnyPartitionAreOneImage) {
  Inversion<T, Memory> inversion(exec, Medium::vti);
  inversion.options.source_field = SourceField::random;
  inversion.options.product_interval = 4;
  inversion.options.lags = moho::fwi::Lags{3, 0};
  auto objective = inversion.objective();
  const auto x = moho::upload(exec, inversion.variables(6, 0.02), "x");
  EXPECT_EQ(objective.plan().lags_sum_bytes, 16.0 * 7 * static_cast<double>(inversion.grid.size()));
  const auto image = objective.extended_image(x);
  EXPECT_GT(image.focus, 0.0);
  auto other = inversion.objective();
  for (const std::vector<std::vector<std::size_t>>& groups :
       std::vector<std::vector<std::vector<std::size_t>>>{{{2}, {0, 1}}, {{0}, {1}, {2}}}) {
    objective.begin(x);
    ExtendedSum total = objective.make_extended_sum();
    for (const auto& group : groups) {
      other.begin(objective.request());
      ExtendedSum sum = other.make_extended_sum();
      const auto report = other.extended_images(
          [&](std::size_t k) { return std::find(group.begin(), group.end(), k) != group.end(); },
          sum);
      EXPECT_GT(report.points, 0.0);
      for (std::int64_t h = 0; h < sum.lags(); ++h) total.merge(h, sum.pack(h));
      EXPECT_THAT(message_of<InputError>([&] { total.merge(0, sum.pack(0)); }),
                  HasSubstr("allowed: each shot once"));
      if (total.shots().size() == 3) continue;
      EXPECT_THAT(message_of<InputError>([&] { objective.result_of(total); }),
                  HasSubstr("of 3 shots (allowed: all)"));
    }
    const auto found = objective.result_of(total);
    EXPECT_EQ(found.values, image.values);
    EXPECT_EQ(found.focus, image.focus);
  }
  // images of single shots, from the last to the first
  objective.begin(x);
  ExtendedSum total = objective.make_extended_sum();
  for (const std::size_t k : {2, 1, 0}) total.add(objective.extended_contribution(k));
  EXPECT_EQ(objective.result_of(total).values, image.values);
  ShotContribution<T> part;
  part.values.resize(5);
  EXPECT_THAT(message_of<InputError>([&] { total.add(part); }), HasSubstr("an image of 5 values"));
  EXPECT_THAT(message_of<InputError>([&] { total.merge(0, "damaged"); }), HasSubstr("7 bytes"));
  // shots added in single precision
  inversion.options.exact_lags = false;
  auto plain = inversion.objective();
  EXPECT_EQ(plain.plan().lags_sum_bytes, 0.0);
  const auto added = plain.extended_image(x);
  double largest = 0.0, difference = 0.0;
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(image.values[i])));
    difference = std::max(difference, std::abs(static_cast<double>(added.values[i]) -
                                               static_cast<double>(image.values[i])));
  }
  EXPECT_LT(difference, 1e-5 * largest);
}

MEMORY_TEST(ObjectiveOf, RefusesWrongOptions) {
  const Inversion<T, Memory> good(exec, Medium::isotropic);
  const auto refusal = [&](const auto& change) {
    Inversion<T, Memory> inversion = good;
    change(inversion);
    return message_of([&] { inversion.objective(); });
  };
  EXPECT_THAT(refusal([](auto& i) { i.options.parameters = {Parameter::density}; }),
              HasSubstr("parameters: vp is missing"));
  EXPECT_THAT(refusal([](auto& i) { i.options.parameters.push_back(Parameter::density); }),
              HasSubstr("parameters: the start has no density"));
  EXPECT_THAT(refusal([](auto& i) { i.options.parameters.push_back(Parameter::theta); }),
              HasSubstr("parameters: theta is not known to gradients"));
  EXPECT_THAT(refusal([](auto& i) { i.data.shots.clear(); }), HasSubstr("data: it has no shot"));
  EXPECT_THAT(refusal([](auto& i) { i.data.model = {}; }),
              HasSubstr("data: it has neither gathers nor a model"));
  EXPECT_THAT(refusal([](auto& i) {
                i.options.mask = {1, 1};
              }),
              HasSubstr("mask: it has 2 elements"));
  EXPECT_THAT(refusal([](auto& i) {
                i.options.bounds = {{1950.0, 2050.0}};
              }),
              HasSubstr("bounds: vp is 2160 at node (0, 26) of the start (allowed: 1950 to 2050)"));
  EXPECT_THAT(refusal([](auto& i) {
                i.options.bounds = {{500.0, 2600.0}};
              }),
              HasSubstr("bounds: with the least velocity, "));
  EXPECT_THAT(refusal([](auto& i) { i.options.modelling.time.dt = 0.0026; }),
              HasSubstr("dt is 0.0026 s (allowed: below "));
  EXPECT_THAT(refusal([](auto& i) {
                i.options.lags = moho::fwi::Lags{40, 0};
              }),
              HasSubstr("lags: the largest along x is 40 nodes (allowed: 0 to 16"));
  // with the argument names of a program
  EXPECT_THAT(refusal([](auto& i) {
                i.options.names = moho::ArgumentNames{{"source_field", "--field"}};
                i.options.source_field = SourceField::stored;
                i.options.memory = i.options.device_memory = 100000;
              }),
              HasSubstr("--field stored: it takes "));
}

MEMORY_TEST(ObjectiveOf, RefusesCallsOutOfOrder) {
  const Inversion<T, Memory> inversion(exec, Medium::isotropic);
  auto objective = inversion.objective();
  const auto x = objective.start();
  const auto gradient = objective.make_gradient();
  EXPECT_THAT(message_of([&] { objective.contribution(0); }), HasSubstr("no evaluation was begun"));
  EXPECT_THAT(message_of([&] { objective.begin(moho::upload(exec, std::vector<T>(3), "x")); }),
              HasSubstr("x: it has 3 elements"));
  objective.begin(x);
  EXPECT_THAT(message_of([&] { objective.contribution(3); }), HasSubstr("k is 3 (allowed"));
  EXPECT_THAT(message_of([&] { objective.model(3); }), HasSubstr("k is 3 (allowed"));
  ShotContribution<T> part = objective.contribution(1);
  objective.add(part);
  EXPECT_THAT(message_of([&] { objective.add(part); }),
              HasSubstr("its shot is 1 of 3 (allowed: each shot once"));
  part.shot = 0;
  part.values.pop_back();
  EXPECT_THAT(message_of([&] { objective.add(part); }), HasSubstr("values (allowed: "));
  EXPECT_THAT(message_of([&] { objective.end(gradient); }), HasSubstr("end: 1 of 3 shots"));
  objective.add(objective.contribution(0));
  objective.add(objective.contribution(2));
  EXPECT_GT(objective.end(gradient), 0.0);
  EXPECT_GT(objective.report().points, 0.0);
  EXPECT_THAT(message_of([&] { objective.end(gradient); }), HasSubstr("no evaluation was begun"));
  EXPECT_THAT(message_of([&] { objective.component(gradient, Parameter::density); }),
              HasSubstr("density is constant"));
  EXPECT_THAT(message_of([&] { objective.extended_image(x); }), HasSubstr("lags: "));
}

}  // namespace
