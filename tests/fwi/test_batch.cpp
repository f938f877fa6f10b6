// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 20
//
// Gradients of shots that advance in the same launches: the bits of shots computed one by one.

#include <moho/fwi/objective.hpp>

#include "fwi/support.hpp"

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::InputError;
using moho::Points;
using moho::fwi::BatchedGradient;
using moho::fwi::InvertedParameters;
using moho::fwi::SourceField;
using ::testing::HasSubstr;

template <class C>
class Batch : public ::testing::Test {};
TYPED_TEST_SUITE(Batch, TestCases, CaseName);

template <class T, int Dim, class Memory>
struct BatchShots {
  using Gradients = moho::fwi::ShotGradients<T, Dim, Memory>;
  SmallShot<T, Dim, Memory> first;
  std::vector<moho::wave::PointSet<T, Dim, Memory>> sources, receivers;
  std::vector<moho::wave::SourceTerm<T, Dim, Memory>> terms;
  std::vector<std::unique_ptr<moho::snapshot::DeviceArena<T, Memory>>> arenas;

  BatchShots(const Instance<Memory>& exec, const Grid<Dim>& grid, const Boundaries<Dim>& faces,
             const Model<T, Dim, Memory>& model, int count)
      : first(exec, grid, faces, model) {
    first.steps = 71;
    first.product_interval = 3;
    for (int k = 0; k < count; ++k) {
      sources.push_back(first.points(2, static_cast<unsigned>(20 + k)));
      receivers.push_back(first.points(5 + k, static_cast<unsigned>(40 + k), 10.0));
      arenas.push_back(std::make_unique<moho::snapshot::DeviceArena<T, Memory>>("snapshots"));
    }
    for (int k = 0; k < count; ++k) {
      terms.push_back({first.propagator.get(), &sources[static_cast<std::size_t>(k)],
                       first.forward.amplitudes});
    }
  }
  // half the sum of squares
  moho::fwi::ShotMisfit<T, Memory> energy(std::size_t k) const {
    return [this, k](const moho::wave::PointSeries<const T, Memory>& rows,
                     const moho::wave::PointSeries<T, Memory>& derivative) {
      const auto values = numbers_of<T, Memory>(first.exec, rows);
      double sum = 0.0;
      for (const double value : values) sum += 0.5 * value * value;
      copy(
          first.exec, derivative,
          series_of<T, Memory>(first.exec, values, static_cast<std::size_t>(receivers[k].count())));
      first.exec.fence();
      return sum;
    };
  }
  moho::fwi::ShotGradientOptions<T, Dim, Memory> options() const {
    moho::fwi::ShotGradientOptions<T, Dim, Memory> result;
    result.steps = first.steps;
    return result;
  }
};

template <class T, int Dim, class Memory>
void expect_bits_of_single_shots(const Instance<Memory>& exec, Medium medium,
                                 const InvertedParameters& unknowns, const Boundaries<Dim>& faces) {
  Grid<Dim> grid = cube<Dim>(Dim == 2 ? 34 : 17, 10.0);
  grid.extents[0] += 3;
  auto model = random_model<T, Dim, Memory>(exec, grid, medium, 5);
  BatchShots<T, Dim, Memory> shots(exec, grid, faces, model, 3);
  using Gradients = typename BatchShots<T, Dim, Memory>::Gradients;
  const auto& propagator = *shots.first.propagator;
  std::vector<std::unique_ptr<Gradients>> gradients, expected;
  std::vector<std::unique_ptr<moho::snapshot::SnapshotStore<T, Dim, Memory>>> stores;
  std::vector<BatchedGradient<T, Dim, Memory>> members;
  for (std::size_t k = 0; k < 3; ++k) {
    for (auto* list : {&gradients, &expected}) {
      list->push_back(
          std::make_unique<Gradients>(exec, propagator, unknowns, shots.first.product_interval));
    }
    stores.push_back(std::make_unique<moho::snapshot::MemoryStore<T, Dim, Memory>>(
        *shots.arenas[k], gradients[k]->fields()));
    members.push_back({gradients[k].get(), &shots.terms[k], &shots.receivers[k], shots.energy(k),
                       stores[k].get()});
  }
  auto wavefields = moho::wave::make_wavefields<T, Dim, Memory>(exec, propagator.scheme(), 3);
  // whatever they hold before
  for (auto& wavefield : wavefields) set_random(exec, wavefield, 3);
  wavefields[1].advance();
  const auto reports = Gradients::add_batch(exec, members, wavefields, shots.options());
  auto single = propagator.make_wavefield(exec);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string what = moho::concat(to_string(medium), ", shot ", k);
    moho::snapshot::MemoryStore<T, Dim, Memory> store(*shots.arenas[k], expected[k]->fields());
    const auto report = expected[k]->add(exec, single, shots.terms[k], shots.receivers[k],
                                         shots.energy(k), store, shots.options());
    EXPECT_EQ(reports[k].misfit, report.misfit) << what;
    EXPECT_GT(reports[k].misfit, 0.0) << what;
    EXPECT_EQ(reports[k].points, report.points) << what;
    const auto one = gradients[k]->derivatives(exec, grid, model);
    const auto other = expected[k]->derivatives(exec, grid, model);
    for (int n = 0; n < 4; ++n) {
      if (parameter(other, n).data() == nullptr) continue;
      const auto values = values_of<T, Dim, Memory>(exec, parameter(other, n));
      EXPECT_GT(norm(values), 0.0) << what;
      EXPECT_EQ((values_of<T, Dim, Memory>(exec, parameter(one, n))), values) << what << ", " << n;
    }
    EXPECT_EQ((values_of<T, Dim, Memory>(exec, gradients[k]->illumination(exec, grid))),
              (values_of<T, Dim, Memory>(exec, expected[k]->illumination(exec, grid))))
        << what;
  }
}

template <class T, int Dim, class Memory>
void expect_bits_of_media(const Instance<Memory>& exec) {
  auto faces = moho::wave::all_faces<Dim>(FaceKind::sponge, 6);
  faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  auto layers = moho::wave::all_faces<Dim>(FaceKind::cpml, 6);
  const auto check = [&](Medium medium, const InvertedParameters& unknowns,
                         const Boundaries<Dim>& of) {
    expect_bits_of_single_shots<T, Dim, Memory>(exec, medium, unknowns, of);
  };
  check(Medium::isotropic, {}, faces);
  check(Medium::isotropic, {}, layers);
  check(Medium::variable_density, {.density = true}, faces);
  check(Medium::variable_density, {}, layers);
  check(Medium::vti, {.anisotropy = true}, faces);
  check(Medium::vti, {}, layers);
  check(Medium::tti, {}, faces);
}
MEMORY_TEST(Batch, HasTheBitsOfSingleShotsIn2D) { expect_bits_of_media<T, 2, Memory>(exec); }
MEMORY_TEST(Batch, HasTheBitsOfSingleShotsIn3D) {
  expect_bits_of_single_shots<T, 3, Memory>(exec, Medium::isotropic, {},
                                            moho::wave::all_faces<3>(FaceKind::sponge, 4));
}

/// Store whose snapshots are saved by separate launches.
template <class T, class Memory>
struct StoreByStep : moho::snapshot::MemoryStore<T, 2, Memory> {
  using moho::snapshot::MemoryStore<T, 2, Memory>::MemoryStore;
  bool stays() const override { return false; }
};

// Steps in one launch against a launch for each step. With 501 x 401 nodes threads have several
// nodes: the later ones begin at x = 264 on an H200.
MEMORY_TEST(Batch, SectionsHaveTheBitsOfSingleSteps) {
  if (moho::is_host_memory<Memory>) GTEST_SKIP() << "hosts have no such launches";
  struct Run {
    std::int64_t steps, product_interval, check_every;
  };
  for (const Index<2>& nodes : {Index<2>{45, 37}, Index<2>{501, 401}}) {
    Grid<2> grid = cube<2>(31, 10.0);
    grid.extents = nodes;
    for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
      const auto model = random_model<T, 2, Memory>(exec, grid, medium, 5);
      SmallShot<T, 2, Memory> shot(exec, grid, moho::wave::all_faces<2>(FaceKind::cpml, 10), model,
                                   8);
      const double width = grid.upper(0);
      const auto points = [&](int count, double z) {
        moho::Points<2> positions;
        for (int k = 0; k < count; ++k) positions.push_back({width * (0.7 + 0.02 * k), z});
        return moho::wave::PointSet<T, 2, Memory>(
            exec, shot.extended, shot.propagator->layout(), positions,
            moho::wave::point_options(*shot.propagator, "point", true));
      };
      shot.sources = points(2, 103.0);
      shot.receivers = points(9, 100.0);
      for (const Run& run :
           {Run{139, 1, 200}, Run{75, 3, 200}, Run{65, 2, 200}, Run{139, 70, 200}, Run{9, 2, 1}}) {
        moho::fwi::ShotGradientOptions<T, 2, Memory> options;
        options.steps = run.steps;
        options.check_every = run.check_every;
        const auto gradient = [&](auto& store) {
          moho::fwi::ShotGradients<T, 2, Memory> gradients(exec, *shot.propagator, {},
                                                           run.product_interval);
          auto wavefield = shot.propagator->make_wavefield(exec);
          gradients.add(
              exec, wavefield, shot.forward, shot.receivers,
              [&](const auto& rows, const auto& derivative) {
                copy(exec, derivative, rows);
                exec.fence();
                return 1.0;
              },
              store, options);
          return std::pair(
              values_of<T, 2, Memory>(exec, gradients.derivatives(exec, grid, model).vp),
              values_of<T, 2, Memory>(exec, gradients.illumination(exec, grid)));
        };
        const int fields = medium == Medium::vti ? 2 : 1;
        moho::snapshot::MemoryStore<T, 2, Memory> store(shot.arena, fields);
        const auto found = gradient(store);
        StoreByStep<T, Memory> by_step(shot.arena, fields);
        const auto expected = gradient(by_step);
        const std::string what =
            moho::concat(to_string(medium), ", ", nodes[0], " nodes, ", run.steps, " steps");
        const auto middle = static_cast<std::ptrdiff_t>(found.first.size() * 3 / 5);
        EXPECT_GT(norm(std::vector<double>(found.first.begin() + middle, found.first.end())), 0.0)
            << what;
        EXPECT_TRUE(found.first == expected.first) << what;
        EXPECT_TRUE(found.second == expected.second) << what;
      }
    }
  }
}

MEMORY_TEST(Batch, RefusesWhatMakesNoSense) {
  const Grid<2> grid = cube<2>(34, 10.0);
  const auto model = random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 5);
  BatchShots<T, 2, Memory> shots(exec, grid, moho::wave::all_faces<2>(FaceKind::sponge, 6), model,
                                 2);
  using Gradients = typename BatchShots<T, 2, Memory>::Gradients;
  const auto& propagator = *shots.first.propagator;
  Gradients gradients(exec, propagator, {}, 3);
  moho::snapshot::MemoryStore<T, 2, Memory> store(*shots.arenas[0]);
  const std::vector<BatchedGradient<T, 2, Memory>> two(
      2, {&gradients, &shots.terms[0], &shots.receivers[0], shots.energy(0), &store});
  auto wavefields = moho::wave::make_wavefields<T, 2, Memory>(exec, propagator.scheme(), 1);
  EXPECT_THAT(
      message_of<InputError>([&] { Gradients::add_batch(exec, two, wavefields, shots.options()); }),
      HasSubstr("there are 1 for 2 shots"));
  wavefields = moho::wave::make_wavefields<T, 2, Memory>(exec, propagator.scheme(), 2);
  auto options = shots.options();
  options.source = &shots.terms[0];
  EXPECT_THAT(message_of<InputError>([&] { Gradients::add_batch(exec, two, wavefields, options); }),
              HasSubstr("source is given for shots in the same launches"));
  options = shots.options();
  options.steps = 2;
  EXPECT_THAT(message_of<InputError>([&] { Gradients::add_batch(exec, two, wavefields, options); }),
              HasSubstr("steps is 2 (allowed: 3 or more"));
}

// Five shots over a smooth model, with data of another one.
template <class T, class Memory>
struct SmallSurvey {
  Grid<2> grid{{33, 27}, {10.0, 10.0}, {}};
  moho::fwi::ObjectiveData<T, 2, Memory> data;
  moho::fwi::ObjectiveOptions<2> options;
  Model<T, 2, Memory> start;

  explicit SmallSurvey(const Instance<Memory>& exec) {
    start.vp = field_of<T, 2, Memory>(exec, grid,
                                      [](const Index<2>& node) { return 1900.0 + 10.0 * node[1]; });
    data.model.vp = field_of<T, 2, Memory>(exec, grid, [](const Index<2>& node) {
      return 1900.0 + 10.0 * node[1] + (node[0] > 12 && node[1] > 10 ? 100.0 : 0.0);
    });
    for (int k = 0; k < 5; ++k) {
      data.shots.push_back({k + 1,
                            {{60.0 + 45.0 * k, 30.0}},
                            moho::wave::point_line<2>({50.0, 20.0}, {270.0, 20.0}, 10 + k)});
    }
    options.modelling.time.time = 0.3;
    options.modelling.time.dt = 0.0012;
    options.source_field = SourceField::stored;
    options.bounds = {{1500.0, 2600.0}};
  }
};

MEMORY_TEST(Batch, SizeDoesNotChangeAnObjective) {
  SmallSurvey<T, Memory> survey(exec);
  const auto faces = moho::wave::all_faces<2>(FaceKind::sponge, 8);
  std::vector<double> expected;
  double misfit = 0.0;
  for (const auto& [concurrent, batch] :
       {std::pair{1, 1}, std::pair{2, 2}, std::pair{5, 3}, std::pair{5, 5}, std::pair{0, 4}}) {
    survey.options.concurrent_shots = concurrent;
    survey.options.batch_size = batch;
    auto objective =
        moho::fwi::make_objective(exec, survey.grid, survey.start, faces,
                                  moho::wave::ricker_wavelet(14.0), survey.data, survey.options);
    EXPECT_EQ(objective.plan().batch_size, batch);
    EXPECT_EQ(objective.plan().source_field, SourceField::stored);
    std::mt19937 random(2);
    std::vector<T> x(static_cast<std::size_t>(survey.grid.size()));
    for (T& value : x) value = static_cast<T>(uniform(random, -0.02, 0.02));
    const auto gradient = objective.make_gradient();
    for (int turn = 0; turn < 2; ++turn) {  // another model between
      auto other = x;
      if (turn == 0) std::fill(other.begin(), other.end(), T(0));
      const double value = objective.evaluate(moho::upload(exec, other, "x"), gradient);
      if (turn == 0) continue;
      const auto found = moho::download(exec, gradient);
      const std::vector<double> values(found.begin(), found.end());
      if (batch == 1) {
        misfit = value;
        expected = values;
        EXPECT_GT(norm(values), 0.0);
      }
      EXPECT_EQ(value, misfit);
      EXPECT_EQ(values, expected);
    }
    int shots = 0;
    objective.begin(moho::upload(exec, x, "x"));
    objective.contributions([](std::size_t k) { return k != 1; },
                            [&](moho::fwi::ShotContribution<T>&& part) {
                              EXPECT_NE(part.shot, 1U);
                              ++shots;
                            });
    EXPECT_EQ(shots, 4);
  }
  if (moho::is_host_memory<Memory>) return;
  survey.options.source_field = SourceField::automatic;
  survey.options.batch_size = survey.options.concurrent_shots = 0;
  EXPECT_GT(moho::fwi::make_objective(exec, survey.grid, survey.start, faces,
                                      moho::wave::ricker_wavelet(14.0), survey.data, survey.options)
                .plan()
                .batch_size,
            1);
}

}  // namespace
