// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 20, threads 2 for *openmp*.HasTheBitsInCoreIn3D
// ctest: sanitizers without *.HasTheBitsInCoreIn3D
// ctest: sanitizers without *.ImageHasTheBitsInCoreIn2D
// ctest: sanitizers without StreamGradient/*.HasTheBitsInCoreIn2D
// ctest: sanitizers without StreamGradientForecast.IsNearWhatAHostTakes
//
// Streamed gradients: bits of the gradient in core with random boundaries, for any block, updates
// and number of devices.

#include <moho/fwi/stream_gradient.hpp>

#include "fwi/support.hpp"
#include "stream/support.hpp"

#include <cstdio>
#include <ctime>

namespace {

using namespace moho::testing;
using moho::Field;
using moho::Grid;
using moho::Point;
using moho::Points;
using moho::fwi::ExtendedImage;
using moho::fwi::InvertedParameters;
using moho::fwi::Lags;
using moho::fwi::ShotGradientOptions;
using moho::fwi::ShotGradients;
using moho::fwi::StreamedGradientOptions;
using moho::fwi::StreamedGradients;
using moho::wave::RandomLayerOptions;
using moho::wave::Shot;
using ::testing::HasSubstr;

using HostModelMemory = Kokkos::HostSpace;
Instance<HostModelMemory> host() { return Kokkos::DefaultHostExecutionSpace(); }

template <class C>
class StreamGradient : public ::testing::Test {};
TYPED_TEST_SUITE(StreamGradient, LongTestCases, CaseName);

// True with several threads, for which launches for single planes take long on a busy machine.
bool few_launches(const Instance<Kokkos::HostSpace>& exec) { return exec.concurrency() > 1; }
#ifdef KOKKOS_ENABLE_CUDA
bool few_launches(const Instance<Kokkos::CudaSpace>&) { return false; }
#endif

/// Compared results.
struct Outcome {
  std::vector<double> vp, density, epsilon, delta, illumination, image;
  double misfit = 0.0;
  double points = 0.0;
};

/// A survey of two shots over a rough model.
template <class T, int Dim>
struct Survey {
  Medium medium;
  InvertedParameters unknowns;
  Grid<Dim> grid;
  Model<T, Dim, HostModelMemory> model;
  Boundaries<Dim> faces, source_faces;
  std::vector<Shot<Dim>> shots;
  std::vector<double> wavelet;
  PropagatorOptions<Dim> options;
  std::int64_t steps = 41, product_interval = 1;
  std::optional<Lags> lags;  ///< of an extended image

  Survey(Medium medium_, const InvertedParameters& unknowns_, const Boundaries<Dim>& faces_,
         const Boundaries<Dim>& source_faces_, int order, std::int64_t deeper = 0)
      : medium(medium_), unknowns(unknowns_), faces(faces_), source_faces(source_faces_) {
    grid = cube<Dim>(Dim == 2 ? 23 : 13, 10.0);
    grid.extents[0] += 6;
    grid.extents[Dim - 1] += deeper;
    grid.spacing[Dim - 1] = 9.0;
    if (Dim == 3) steps = 26;
    model = rough_model<T, Dim>(grid, medium);
    options.order = order;
    options.boundaries = faces;
    options.dt = 9e-4;
    std::mt19937 numbers(7);
    for (int k = 0; k < 2; ++k) {
      Shot<Dim> shot;
      shot.number = k;
      const auto position = [&] {
        Point<Dim> p{};
        for (int d = 0; d < Dim; ++d) p[d] = uniform(numbers, 0.05, 0.95) * grid.upper(d);
        return p;
      };
      shot.sources = {position()};
      for (int r = 0; r < 6; ++r) {
        shot.receivers.push_back(position());
        // the box of the first shot's receivers excludes some nodes
        if (k == 0) shot.receivers.back()[Dim - 1] *= 0.2;
      }
      shots.push_back(shot);
    }
    wavelet = short_wavelet();
  }
  static RandomLayerOptions layers(std::size_t k) {
    RandomLayerOptions random;
    random.seed = 100 + k;
    return random;
  }
  template <class Memory>
  Outcome in_core(const Instance<Memory>& exec) const {
    const auto own = moho::stream::detail::model_in<T, Dim, Memory>(exec, grid, model);
    const Propagator<T, Dim, Memory> propagator(
        exec, moho::wave::extended_grid(grid, faces),
        moho::wave::extend_model<T, Dim, Memory>(exec, grid, own, faces), options);
    ShotGradients<T, Dim, Memory> gradients(exec, propagator, unknowns, product_interval);
    auto field = propagator.make_wavefield(exec);
    std::vector<double> samples;
    for (const double value : wavelet) samples.push_back(value);
    const auto amplitudes = series_of<T, Memory>(exec, samples, 1);
    Outcome result;
    std::optional<ExtendedImage<T, Dim, Memory>> image;
    if (lags) image.emplace(exec, gradients.box(), *lags);
    for (std::size_t k = 0; k < shots.size(); ++k) {
      auto behind = options;
      behind.boundaries = source_faces;
      const Propagator<T, Dim, Memory> other(
          exec, moho::wave::extended_grid(grid, source_faces),
          moho::wave::extend_model<T, Dim, Memory>(exec, grid, own, source_faces, layers(k)),
          behind);
      const auto set = [&](const Propagator<T, Dim, Memory>& of, const Points<Dim>& positions) {
        return moho::wave::PointSet<T, Dim, Memory>(exec, of.grid(), of.layout(), positions,
                                                    moho::wave::point_options(of, "point", true));
      };
      const auto sources = set(propagator, shots[k].sources);
      const auto other_sources = set(other, shots[k].sources);
      const auto receivers = set(propagator, shots[k].receivers);
      const moho::wave::SourceTerm<T, Dim, Memory> forward{&propagator, &sources, amplitudes};
      const moho::wave::SourceTerm<T, Dim, Memory> leg{&other, &other_sources, amplitudes};
      moho::snapshot::DeviceArena<T, Memory> arena{"snapshots"};
      moho::snapshot::BoundaryStore<T, Dim, Memory> store(
          exec, leg, arena,
          moho::snapshot::BoundaryStoreOptions{gradients.fields(), gradients.outside()});
      ShotGradientOptions<T, Dim, Memory> run;
      run.steps = steps;
      run.source = &leg;
      if (image) run.extended = &*image;
      result.misfit +=
          gradients
              .add(exec, field, forward, receivers, misfit_of_squares<T, Memory>(exec), store, run)
              .misfit;
    }
    const auto found = gradients.derivatives(exec, grid, own);
    result.vp = values_of<T, Dim, Memory>(exec, found.vp);
    if (unknowns.density) result.density = values_of<T, Dim, Memory>(exec, found.density);
    if (unknowns.anisotropy) {
      result.epsilon = values_of<T, Dim, Memory>(exec, found.epsilon);
      result.delta = values_of<T, Dim, Memory>(exec, found.delta);
    }
    result.illumination = values_of<T, Dim, Memory>(exec, gradients.illumination(exec, grid));
    if (image) {
      image->flush(exec);
      const std::vector<T> values = moho::download(exec, image->values());
      result.image.assign(values.begin(), values.end());
    }
    return result;
  }

  StreamedGradientOptions<Dim> streamed_options() const {
    StreamedGradientOptions<Dim> o;
    o.propagator = options;
    o.source_faces = source_faces;
    o.wavelet = wavelet;
    o.steps = steps;
    o.product_interval = product_interval;
    o.unknowns = unknowns;
    o.lags = lags;
    o.measure = false;
    o.rates.slabs = {{8, 1e9}};
    o.rates.in = o.rates.out = 1e10;
    return o;
  }
  template <class Memory>
  Outcome streamed(const Instance<Memory>& exec,
                   StreamedGradients<T, Dim, Memory>& gradients) const {
    Outcome result;
    gradients.update(model);
    gradients.clear();
    for (std::size_t k = 0; k < shots.size(); ++k) {
      const auto report = gradients.add(shots[k], layers(k), misfit_of_squares<T, Memory>(exec));
      result.misfit += report.misfit;
      result.points += report.points;
    }
    const auto found = gradients.derivatives();
    result.vp = values_of<T, Dim, HostModelMemory>(host(), found.vp);
    if (unknowns.density) {
      result.density = values_of<T, Dim, HostModelMemory>(host(), found.density);
    }
    if (unknowns.anisotropy) {
      result.epsilon = values_of<T, Dim, HostModelMemory>(host(), found.epsilon);
      result.delta = values_of<T, Dim, HostModelMemory>(host(), found.delta);
    }
    result.illumination = values_of<T, Dim, HostModelMemory>(host(), gradients.illumination());
    if (lags) {
      const std::vector<T> values = moho::download(host(), gradients.extended_image().values());
      result.image.assign(values.begin(), values.end());
    }
    return result;
  }
};

/// Options of the stream of a case.
struct SourceMethod {
  std::int64_t block, updates, lag;
  int devices;
  bool hold;
};

template <class T, int Dim, class Memory>
void expect_the_same_bits(const Instance<Memory>& exec, const Survey<T, Dim>& survey,
                          const std::vector<SourceMethod>& methods, const std::string& what) {
  const Outcome expected = survey.in_core(exec);
  ASSERT_GT(largest(expected.vp), 0.0);
  ASSERT_GT(largest(expected.illumination), 0.0);
  if (survey.lags) {
    ASSERT_GT(largest(expected.image), 0.0);
  }
  if (survey.unknowns.anisotropy) {
    ASSERT_GT(largest(expected.epsilon), 0.0);
    ASSERT_GT(largest(expected.delta), 0.0);
  }
  for (const SourceMethod& method : methods) {
    auto options = survey.streamed_options();
    options.wishes.block = method.block;
    options.wishes.updates = method.updates;
    options.wishes.lag = method.lag;
    options.wishes.devices = std::min(method.devices, available_devices(exec));
    options.wishes.hold_parameters = method.hold;
    // sums stay on the device if memory suffices
    if (!method.hold) {
      options.rates.in = options.rates.out = 0.0;
    }
    StreamedGradients<T, Dim, Memory> gradients(exec, survey.grid, survey.model, survey.shots,
                                                options);
    const Outcome found = survey.streamed(exec, gradients);
    const std::string where = moho::concat(what, ", ", Dim, "D, block ", method.block, ", updates ",
                                           method.updates, ", lag ", gradients.plan().shape.lag,
                                           ", devices ", gradients.plan().shape.devices,
                                           gradients.plan().resident ? ", parameters held" : "",
                                           gradients.plan().sums_held ? ", sums held" : "");
    EXPECT_EQ(found.misfit, expected.misfit) << where;
    EXPECT_EQ(found.vp, expected.vp) << where;
    EXPECT_EQ(found.density, expected.density) << where;
    EXPECT_EQ(found.epsilon, expected.epsilon) << where;
    EXPECT_EQ(found.delta, expected.delta) << where;
    EXPECT_EQ(found.illumination, expected.illumination) << where;
    EXPECT_EQ(found.image, expected.image) << where << ", lags";
    // the memory is that of the plan
    EXPECT_EQ(gradients.device_bytes() + gradients.need().fixed, gradients.plan().device_bytes)
        << where;
  }
}

template <int Dim>
Boundaries<Dim> random_faces(bool free) {
  auto faces = moho::wave::all_faces<Dim>(FaceKind::random, Dim == 2 ? 11 : 7);
  if (free) faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  return faces;
}
template <int Dim>
Boundaries<Dim> absorbing(FaceKind kind, int width, bool free) {
  auto faces = moho::wave::all_faces<Dim>(kind, width);
  if (free) faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  return faces;
}

struct Kind2 {
  Medium medium;
  InvertedParameters unknowns;
};
const std::vector<Kind2> gradient_kinds = {{Medium::isotropic, {}},
                                           {Medium::variable_density, {}},
                                           {Medium::variable_density, {.density = true}},
                                           {Medium::vti, {}},
                                           {Medium::vti, {.anisotropy = true}},
                                           {Medium::tti, {}},
                                           {Medium::tti, {.anisotropy = true}}};

std::string name_of(const Kind2& kind) {
  return moho::concat(to_string(kind.medium), kind.unknowns.density ? " by density" : "",
                      kind.unknowns.anisotropy ? " by epsilon and delta" : "");
}

MEMORY_TEST(StreamGradient, HasTheBitsInCoreIn2D) {
  const std::vector<SourceMethod> methods = {{1, few_launches(exec) ? 11 : 1, 0, 1, false},
                                             {5, 3, 0, 1, true},
                                             {7, 8, 0, 1, false},
                                             {41, 8, 0, 1, true},
                                             {4, 2, 0, 2, false},
                                             {3, 3, 9, 3, false},
                                             {41, 60, 0, 1, true}};
  std::size_t number = 0;
  for (const Kind2& kind : gradient_kinds) {
    for (const FaceKind face : {FaceKind::sponge, FaceKind::cpml}) {
      if (kind.medium == Medium::tti && face == FaceKind::cpml)
        continue;  // TTI has no perfectly
                   // matched layers
      // wider and narrower than the random layers, and with a free surface
      for (const int width : {6, 14}) {
        Survey<T, 2> survey(kind.medium, kind.unknowns, absorbing<2>(face, width, width == 6),
                            random_faces<2>(width == 6), width == 6 ? 8 : 4);
        survey.product_interval = width == 6 ? 1 : 3;
        std::vector<SourceMethod> some;
        for (int k = 0; k < (few_launches(exec) ? 1 : 3); ++k) {
          some.push_back(methods[number++ % methods.size()]);
        }
        expect_the_same_bits<T, 2, Memory>(
            exec, survey, some, moho::concat(name_of(kind), ", ", to_string(face), " of ", width));
      }
    }
  }
}

// Free and rigid faces across the stream, which have no layers.
MEMORY_TEST(StreamGradient, HasTheBitsInCoreBehindOtherFaces) {
  for (const Kind2& kind : gradient_kinds) {
    Boundaries<2> faces = absorbing<2>(FaceKind::sponge, 6, true);
    faces.lower[0] = {FaceKind::free_surface, 0};
    faces.upper[0] = {FaceKind::rigid, 0};
    Boundaries<2> own = random_faces<2>(true);
    own.lower[0] = {FaceKind::free_surface, 0};
    own.upper[0] = {FaceKind::rigid, 0};
    const Survey<T, 2> survey(kind.medium, kind.unknowns, faces, own, 8);
    std::vector<SourceMethod> methods = {
        {6, 4, 0, 1, false}, {2, 3, 0, 1, true}, {5, 2, 0, 2, false}};
    if (few_launches(exec)) methods.resize(1);
    expect_the_same_bits<T, 2, Memory>(exec, survey, methods,
                                       moho::concat(name_of(kind), ", free across x"));
  }
}

MEMORY_TEST(StreamGradient, HasTheBitsInCoreIn3D) {
  for (const Kind2& kind : gradient_kinds) {
    Survey<T, 3> survey(kind.medium, kind.unknowns, absorbing<3>(FaceKind::sponge, 5, true),
                        random_faces<3>(true), 4);
    survey.product_interval = 2;
    expect_the_same_bits<T, 3, Memory>(exec, survey, {{5, 3, 0, 1, false}, {4, 4, 0, 2, false}},
                                       name_of(kind));
  }
}

// Extended images: lags along x beyond and within a block, none, and half of the model; one shot
// after the other; groups of one to eight pairs; runs that end within a group.
MEMORY_TEST(StreamGradient, ImageHasTheBitsInCoreIn2D) {
  const std::vector<SourceMethod> methods = {{1, few_launches(exec) ? 11 : 1, 0, 1, false},
                                             {5, 3, 0, 1, true},
                                             {7, 8, 0, 1, false},
                                             {41, 8, 0, 1, true},
                                             {4, 10, 0, 2, false},
                                             {3, 3, 9, 3, false},
                                             {2, 60, 0, 1, false}};
  std::size_t number = 0;
  for (const Kind2& kind : gradient_kinds) {
    for (const std::int64_t lag : {0, 3, 14}) {
      Survey<T, 2> survey(kind.medium, kind.unknowns,
                          absorbing<2>(FaceKind::sponge, lag == 3 ? 14 : 6, lag == 3),
                          random_faces<2>(lag == 3), lag == 3 ? 8 : 4);
      survey.product_interval = lag == 0 ? 3 : lag == 3 ? 1 : 2;
      survey.lags = Lags{lag, 0};
      std::vector<SourceMethod> some;
      for (int k = 0; k < (few_launches(exec) ? 1 : 3); ++k) {
        some.push_back(methods[number++ % methods.size()]);
      }
      expect_the_same_bits<T, 2, Memory>(exec, survey, some,
                                         moho::concat(name_of(kind), ", half offsets to ", lag));
    }
  }
}

// Images without layers across x, so that a sweep follows the one before almost without a gap.
// A short last sweep completes its groups at earlier stages than the sweep before; sweeps whose
// updates are no multiple of the interval keep pairs at different stages.
MEMORY_TEST(StreamGradient, ImageHasTheBitsInCoreIfSweepsOverlap) {
  struct Case {
    std::int64_t interval, steps, updates;
  };
  for (const Case& one : {Case{4, 100, 32}, Case{2, 83, 20}, Case{1, 42, 5}, Case{8, 119, 39}}) {
    Boundaries<2> faces = absorbing<2>(FaceKind::sponge, 6, false);
    Boundaries<2> own = random_faces<2>(false);
    faces.lower[0] = faces.upper[0] = own.lower[0] = own.upper[0] = {FaceKind::rigid, 0};
    Survey<T, 2> survey(Medium::isotropic, {}, faces, own, 8);
    survey.grid.extents = {172, 9};
    survey.model = rough_model<T, 2>(survey.grid, survey.medium);
    survey.options.dt = 1.5e-3;
    survey.steps = one.steps;
    survey.wavelet.resize(static_cast<std::size_t>(one.steps + 1), 0.0);
    survey.product_interval = one.interval;
    survey.lags = Lags{1, 0};
    for (Shot<2>& shot : survey.shots) {
      shot.sources = {{1300.0 - 900.0 * shot.number, 30.0}};
      shot.receivers.clear();
      for (int r = 0; r < 17; ++r) shot.receivers.push_back({100.0 * r + 5.0, 20.0});
    }
    expect_the_same_bits<T, 2, Memory>(exec, survey, {{8, one.updates, 0, 1, false}},
                                       moho::concat("rigid across x, interval ", one.interval));
  }
}

MEMORY_TEST(StreamGradient, ImageHasTheBitsInCoreIn3D) {
  std::int64_t number = 0;
  for (const Kind2& kind : gradient_kinds) {
    const Lags lags[] = {{3, 0}, {0, 2}, {2, 1}};
    Survey<T, 3> survey(kind.medium, kind.unknowns, absorbing<3>(FaceKind::sponge, 5, true),
                        random_faces<3>(true), 4, number % 2);  // odd and even rows
    survey.product_interval = 2;
    survey.lags = lags[number++ % 3];
    expect_the_same_bits<T, 3, Memory>(
        exec, survey, {{5, 3, 0, 1, false}, {2, 4, 0, 2, false}},
        moho::concat(name_of(kind), ", half offsets to ", survey.lags->x, ", ", survey.lags->y));
  }
}

// The image of a stream has the focusing objective and the transpose of an image in core.
MEMORY_TEST(StreamGradient, ImageFocusesAndScattersOnTheHost) {
  Survey<T, 2> survey(Medium::isotropic, {}, absorbing<2>(FaceKind::sponge, 6, true),
                      random_faces<2>(true), 4);
  survey.lags = Lags{3, 0};
  auto options = survey.streamed_options();
  options.wishes.block = 6;
  options.wishes.updates = 5;
  StreamedGradients<T, 2, Memory> gradients(exec, survey.grid, survey.model, survey.shots, options);
  EXPECT_THAT([&] { gradients.extended_image(); }, ::testing::ThrowsMessage<moho::InputError>(
                                                       HasSubstr("extended_image: there is none")));
  survey.streamed(exec, gradients);
  const auto image = gradients.extended_image();
  ExtendedImage<T, 2, HostModelMemory> other(host(), image.box(), image.lags());
  moho::copy(host(), other.values(), image.values());
  const double focus = image.focus(host(), survey.grid);
  EXPECT_GT(focus, 0.0);
  EXPECT_EQ(focus, other.focus(host(), survey.grid));
  using Array = typename ExtendedImage<T, 2, HostModelMemory>::Array;
  const auto make = [&](T value) {
    const auto array =
        moho::allocate<Array>(host(), "nodes", static_cast<std::size_t>(image.box().size()));
    moho::fill(host(), array, value);
    return array;
  };
  const Array source = make(T(2)), to = make(T(0)), expected = make(T(0));
  image.scatter(host(), source, to, 1.5);
  other.scatter(host(), source, expected, 1.5);
  EXPECT_EQ(moho::download(host(), to), moho::download(host(), expected));
}

// Runs allocate the memory of their plan; a smaller budget is an error.
MEMORY_TEST(StreamGradient, KeepsToItsMemory) {
  const Survey<T, 2> survey(Medium::isotropic, {}, absorbing<2>(FaceKind::cpml, 6, true),
                            random_faces<2>(true), 8);
  auto options = survey.streamed_options();
  const auto make = [&] {
    return std::make_unique<StreamedGradients<T, 2, Memory>>(exec, survey.grid, survey.model,
                                                             survey.shots, options);
  };
  const auto free = make();
  moho::stream::StreamShape one = free->need().shape;
  const std::size_t min = free->need().device_bytes(one, false);
  EXPECT_GT(free->plan().device_bytes, min);
  EXPECT_GT(free->seconds(), free->plan().forecast.seconds);
  options.wishes.hold_parameters = false;
  options.wishes.device_memory = min;
  const auto tight = make();
  EXPECT_EQ(tight->plan().device_bytes, min);
  EXPECT_FALSE(tight->plan().sums_held);
  if (!few_launches(exec)) {
    EXPECT_EQ(survey.streamed(exec, *tight).vp, survey.in_core(exec).vp);
  }
  options.wishes.device_memory = min - 1;
  EXPECT_THAT([&] { make(); }, ::testing::ThrowsMessage<moho::MemoryError>(
                                   HasSubstr("does not hold the planes of one stage")));
  options.wishes.device_memory = 0;
  options.memory = 1000;
  EXPECT_THAT([&] { make(); }, ::testing::ThrowsMessage<moho::MemoryError>(
                                   HasSubstr("memory: the volumes of both wavefields take")));
}

MEMORY_TEST(StreamGradient, RefusesWhatDoesNotStream) {
  const auto message = [&](Medium medium, const InvertedParameters& unknowns,
                           const Boundaries<2>& own, std::int64_t product_interval) {
    Survey<T, 2> survey(medium, unknowns, absorbing<2>(FaceKind::sponge, 6, false), own, 4);
    survey.product_interval = product_interval;
    if (medium == Medium::tti) {
      survey.options.equations = moho::wave::Equations::fletcher;
    }
    try {
      StreamedGradients<T, 2, Memory>(exec, survey.grid, survey.model, survey.shots,
                                      survey.streamed_options());
    } catch (const moho::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto own = random_faces<2>(false);
  EXPECT_EQ(message(Medium::isotropic, {}, own, 1), "");
  EXPECT_THAT(message(Medium::tti, {}, own, 1),
              HasSubstr("equations: Fletcher's are not self-adjoint"));
  EXPECT_THAT(message(Medium::isotropic, {.anisotropy = true}, own, 1),
              HasSubstr("unknowns: epsilon and delta of a medium 'isotropic'"));
  EXPECT_THAT(message(Medium::isotropic, {.density = true}, own, 1),
              HasSubstr("the density of a medium 'isotropic'"));
  EXPECT_THAT(message(Medium::isotropic, {}, absorbing<2>(FaceKind::sponge, 6, false), 1),
              HasSubstr("source_faces: a face is 'sponge' (allowed: random"));
  EXPECT_THAT(message(Medium::isotropic, {}, own, 100),
              HasSubstr("steps is 41, product_interval is 100"));
}

// A survey with enough nodes and steps that one gradient takes some tenths of a second.
Survey<float, 2> survey_of_forecasts() {
  using Case = Survey<float, 2>;
  Case survey(Medium::isotropic, {}, all_faces<2>(FaceKind::sponge, 20),
              all_faces<2>(FaceKind::random, 20), 8);
  survey.grid.extents[0] = 201;
  survey.grid.extents[1] = 101;
  survey.model.vp = random_field<float, 2, HostModelMemory>(host(), survey.grid, 3, 1900.0, 2600.0);
  survey.steps = 200;
  survey.product_interval = 3;
  survey.wavelet.resize(201, 0.0);
  for (Shot<2>& shot : survey.shots) {
    shot.receivers.clear();
    for (int r = 0; r < 60; ++r) shot.receivers.push_back({30.0 * r, 100.0});
  }
  return survey;
}

TEST(StreamGradientForecast, CountsWhatPrecedesAndFollowsTheRuns) {
  const auto survey = survey_of_forecasts();
  auto options = survey.streamed_options();
  options.wishes.block = 16;
  options.wishes.updates = 20;
  using Gradients = StreamedGradients<float, 2, HostModelMemory>;
  const auto seconds = [&](const auto& change) {
    auto changed = options;
    change(changed.rates);
    return Gradients(host(), survey.grid, survey.model, survey.shots, changed).seconds();
  };
  const double plain = seconds([](auto&) {});
  const double nodes = 241.0 * 141.0;
  const auto added = [&](const auto& change) { return seconds(change) - plain; };
  // the parameters of the source's propagation are prepared once in each shot
  EXPECT_NEAR(added([&](auto& rates) { rates.load = nodes; }), 1.0, 1e-6);
  // the derivative by vp reads sums and vp, and is written
  const double model_nodes = 201.0 * 101.0;
  EXPECT_NEAR(added([&](auto& rates) { rates.clear = 3.0 * 4.0 * model_nodes; }), 1.0, 1e-6);
  // launches of all three propagations: stages of 200 steps in blocks of 16 planes
  const double stages = 200.0 * 241.0 / 16.0;
  const double launched = added([&](auto& rates) {
                            rates.in = rates.out = rates.memory = 0.0;
                            rates.stage_seconds = 1e-3;
                          }) +
                          plain -
                          seconds([](auto& rates) { rates.in = rates.out = rates.memory = 0.0; });
  EXPECT_NEAR(launched, 3.0 * stages * 1e-3, 0.3 * launched);
  // a slower link, also for traces and sums
  EXPECT_GT(added([](auto& rates) { rates.in = rates.out = 1e8; }), 0.0);
}

#ifdef KOKKOS_ENABLE_SERIAL
// One thread, measured by its processor time, on which other processes have the least effect.
TEST(StreamGradientForecast, IsNearWhatAHostTakes) {
  const Instance<HostModelMemory> exec = Kokkos::Serial();
  const auto survey = survey_of_forecasts();
  auto options = survey.streamed_options();
  options.measure = true;
  options.rates = {};
  options.wishes.device_memory = 4 << 20;
  std::vector<double> ratios;
  for (int trial = 0; trial < 6; ++trial) {
    StreamedGradients<float, 2, HostModelMemory> gradients(exec, survey.grid, survey.model,
                                                           survey.shots, options);
    gradients.update(survey.model);
    gradients.add(survey.shots[0], survey.layers(0),
                  misfit_of_squares<float, HostModelMemory>(exec));
    const std::clock_t start = std::clock();
    gradients.add(survey.shots[1], survey.layers(1),
                  misfit_of_squares<float, HostModelMemory>(exec));
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    ratios.push_back(gradients.seconds() / taken);
    std::printf("forecast over measured: %.2f (%.3f s)\n", ratios.back(), taken);
    if (ratios.back() > 0.3 && ratios.back() < 4.0) break;
  }
  EXPECT_GT(ratios.back(), 0.3);
  EXPECT_LT(ratios.back(), 4.0);
}
#endif

}  // namespace
