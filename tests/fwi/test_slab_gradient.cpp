// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 20
// ctest: sanitizers without *.HasTheBitsOfOneDeviceInVolumes
// ctest: sanitizers without *.HasTheBitsOfOneDeviceInSections
//
// Gradients over a grid in slabs: bits of the gradient on one device, for any medium, face, number
// of slabs and storage of the source wavefield.

#include <moho/fwi/slab_gradient.hpp>
#include <moho/fwi/streamed.hpp>
#include <moho/stream/device_count.hpp>

#include "fwi/support.hpp"
#include "stream/support.hpp"

#include <limits>
#include <optional>
#include <stdexcept>

namespace moho::testing::slab_gradient {
namespace {

using moho::Field;
using moho::Grid;
using moho::Point;
using moho::Points;
using moho::fwi::ExtendedImage;
using moho::fwi::InvertedParameters;
using moho::fwi::Lags;
using moho::fwi::ShotGradientOptions;
using moho::fwi::ShotGradients;
using moho::fwi::SlabGradientOptions;
using moho::fwi::SlabGradients;
using moho::fwi::SlabShotOptions;
using moho::fwi::SourceField;
using moho::wave::Shot;
using ::testing::AllOf;
using ::testing::HasSubstr;

using HostModelMemory = Kokkos::HostSpace;
Instance<HostModelMemory> host() { return Kokkos::DefaultHostExecutionSpace(); }

template <class C>
class SlabGradient : public ::testing::Test {};
TYPED_TEST_SUITE(SlabGradient, LongTestCases, CaseName);

/// Numbers of slabs; hosts simulate any number of devices. Three have one with two neighbours and
/// two with one: sanitizers check these alone.
template <class Memory>
std::vector<int> slab_counts(const Instance<Memory>& exec) {
#ifdef MOHO_BOUNDS_CHECK
  if (is_host_memory<Memory>) return {3};
#endif
  if (is_host_memory<Memory>) return {1, 2, 3};
  std::vector<int> counts;
  for (int n = 1; n <= moho::stream::device_count(exec); ++n) counts.push_back(n);
  return counts;
}

/// Compared results.
struct Outcome {
  std::vector<double> vp, density, epsilon, delta, illumination, traces, image;
  double misfit = 0.0;
  double points = 0.0;
};

/// Two shots over a rough model.
template <class T, int Dim>
struct Survey {
  InvertedParameters unknowns;
  Grid<Dim> grid;
  Model<T, Dim, HostModelMemory> initial, model;  ///< layers are those of the initial model
  std::vector<Shot<Dim>> shots;
  SlabGradientOptions<Dim> options;
  SourceField method = SourceField::boundary_shell;
  std::optional<Lags> lags;  ///< of an extended image

  Survey(Medium medium, const InvertedParameters& unknowns_, const Boundaries<Dim>& faces,
         int order)
      : unknowns(unknowns_) {
    grid = cube<Dim>(Dim == 2 ? 23 : 13, 10.0);
    grid.extents[0] = Dim == 2 ? 47 : 31;
    grid.spacing[Dim - 1] = 9.0;
    model = rough_model<T, Dim>(grid, medium);
    initial = model;
    initial.vp = random_field<T, Dim, HostModelMemory>(host(), grid, 12, 2000.0, 2300.0);
    options.propagator.order = order;
    options.propagator.boundaries = faces;
    options.propagator.dt = 9e-4;
    options.unknowns = unknowns;
    options.steps = Dim == 2 ? 67 : 41;
    std::mt19937 numbers(7);
    const auto position = [&] {
      Point<Dim> p{};
      for (int d = 0; d < Dim; ++d) p[d] = uniform(numbers, 0.05, 0.95) * grid.upper(d);
      return p;
    };
    for (int k = 0; k < 2; ++k) {
      Shot<Dim> shot;
      shot.number = k;
      shot.sources = {position(), position()};
      for (int r = 0; r < 9; ++r) shot.receivers.push_back(position());
      shots.push_back(shot);
    }
    options.wavelet = short_wavelet();
  }

  /// Options of a shot's random layers.
  static moho::wave::RandomLayerOptions random_of(const Shot<Dim>& shot) {
    moho::wave::RandomLayerOptions random;
    random.seed = 40 + static_cast<std::uint64_t>(shot.number);
    return random;
  }
  template <class Memory>
  Propagator<T, Dim, Memory> with_random_layers(const Instance<Memory>& exec,
                                                const Model<T, Dim, Memory>& own,
                                                const Shot<Dim>& shot) const {
    auto other = options.propagator;
    other.boundaries = *options.source_faces;
    return {exec, moho::wave::extended_grid(grid, other.boundaries),
            moho::wave::extend_model<T, Dim, Memory>(exec, grid, own, other.boundaries,
                                                     random_of(shot)),
            other};
  }
  // Snapshots of a source wavefield, or of the separate one with random layers.
  template <class Memory>
  std::unique_ptr<moho::snapshot::SnapshotStore<T, Dim, Memory>> make_store(
      const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
      const ShotGradients<T, Dim, Memory>& gradients,
      const moho::wave::SourceTerm<T, Dim, Memory>& forward,
      const moho::wave::SourceTerm<T, Dim, Memory>& separate,
      moho::snapshot::DeviceArena<T, Memory>& arena) const {
    if (method == SourceField::stored) {
      return std::make_unique<moho::snapshot::MemoryStore<T, Dim, Memory>>(arena,
                                                                           gradients.fields());
    }
    if (method == SourceField::replay) {
      const auto source = moho::fwi::source_field_bytes(
          propagator.scheme(), gradients.snapshot_nodes(), gradients.outside(), options.steps,
          options.product_interval);
      return std::make_unique<moho::snapshot::CheckpointStore<T, Dim, Memory>>(
          exec, forward, arena, options.steps / options.product_interval, options.product_interval,
          source.piece, source.states, gradients.fields());
    }
    return std::make_unique<moho::snapshot::BoundaryStore<T, Dim, Memory>>(
        exec, separate, arena,
        moho::snapshot::BoundaryStoreOptions{gradients.fields(), gradients.outside()});
  }
  template <class Memory>
  Outcome on_one_device(const Instance<Memory>& exec) const {
    const auto own = moho::stream::detail::model_in<T, Dim, Memory>(exec, grid, model);
    const auto first = moho::stream::detail::model_in<T, Dim, Memory>(exec, grid, initial);
    const auto& faces = options.propagator.boundaries;
    const auto extended = [&](const Model<T, Dim, Memory>& of) {
      return moho::wave::extend_model<T, Dim, Memory>(exec, grid, of, faces, options.random);
    };
    Propagator<T, Dim, Memory> propagator(exec, moho::wave::extended_grid(grid, faces),
                                          extended(first), options.propagator);
    propagator.update(exec, extended(own));
    ShotGradients<T, Dim, Memory> gradients(exec, propagator, unknowns, options.product_interval);
    auto field = propagator.make_wavefield(exec);
    std::optional<ExtendedImage<T, Dim, Memory>> image;
    if (lags) image.emplace(exec, gradients.box(), *lags);
    Outcome result;
    for (const Shot<Dim>& shot : shots) {
      const auto set = [&](const Points<Dim>& positions) {
        return wave::PointSet<T, Dim, Memory>(exec, propagator.grid(), propagator.layout(),
                                              positions,
                                              moho::wave::point_options(propagator, "point", true));
      };
      const auto sources = set(shot.sources);
      const auto receivers = set(shot.receivers);
      const moho::wave::SourceTerm<T, Dim, Memory> forward{
          &propagator, &sources,
          moho::wave::wavelet_series<T, Memory>(exec, options.wavelet, options.steps,
                                                sources.count())};
      std::optional<Propagator<T, Dim, Memory>> other;
      wave::PointSet<T, Dim, Memory> other_sources;
      auto separate = forward;
      if (method == SourceField::random) {
        other.emplace(with_random_layers(exec, own, shot));
        other_sources =
            wave::PointSet<T, Dim, Memory>(exec, other->grid(), other->layout(), shot.sources,
                                           moho::wave::point_options(*other, "point", true));
        separate.propagator = &*other;
        separate.points = &other_sources;
      }
      moho::snapshot::DeviceArena<T, Memory> arena{"snapshots"};
      const auto store = make_store<Memory>(exec, propagator, gradients, forward, separate, arena);
      ShotGradientOptions<T, Dim, Memory> run;
      run.steps = options.steps;
      if (method == SourceField::random) run.source = &separate;
      if (image) run.extended = &*image;
      const auto record = [&](const moho::wave::PointSeries<const T, Memory>& rows,
                              const moho::wave::PointSeries<T, Memory>& derivative) {
        if (&shot == &shots.front()) result.traces = numbers_of<T, Memory>(exec, rows);
        return misfit_of_squares<T, Memory>(exec)(rows, derivative);
      };
      const auto done = gradients.add(exec, field, forward, receivers, record, *store, run);
      result.misfit += done.misfit;
      result.points += done.points;
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
      const auto values = download(exec, image->values());
      result.image.assign(values.begin(), values.end());
    }
    return result;
  }

  template <class Memory>
  SlabGradients<T, Dim, Memory> slabs(const Instance<Memory>& exec, int devices) const {
    auto divided = options;
    divided.devices = devices;
    SlabGradients<T, Dim, Memory> gradients(exec, grid, initial, shots, divided);
    gradients.set_source_field(method);
    return gradients;
  }
  template <class Memory>
  Outcome in_slabs(SlabGradients<T, Dim, Memory>& gradients) const {
    Outcome result;
    gradients.update(model);
    gradients.clear();
    if (lags) gradients.begin_image(*lags);
    for (const Shot<Dim>& shot : shots) {
      const auto done = gradients.add(
          shot, [](const Instance<Memory>& on) { return misfit_of_squares<T, Memory>(on); },
          {.random = random_of(shot)});
      result.misfit += done.misfit;
      result.points += done.points;
    }
    const auto found = gradients.derivatives(model);
    const auto values = [](const auto& field) {
      return values_of<T, Dim, HostModelMemory>(host(), field);
    };
    result.vp = values(found.vp);
    if (unknowns.density) result.density = values(found.density);
    if (unknowns.anisotropy) {
      result.epsilon = values(found.epsilon);
      result.delta = values(found.delta);
    }
    result.illumination = values(gradients.illumination());
    if (lags) {
      const std::vector<T> image = gradients.extended_image();
      result.image.assign(image.begin(), image.end());
      gradients.end_image();
    }
    const auto traces = gradients.model(shots.front());
    result.traces.assign(traces.data(), traces.data() + traces.size());
    return result;
  }
  /// Compares results of all numbers of slabs with those of one device.
  template <class Memory>
  void expect_equal(const Instance<Memory>& exec, const std::string& what) const {
    const Outcome expected = on_one_device(exec);
    ASSERT_GT(largest(expected.vp), 0.0) << what;
    if (lags) {
      EXPECT_EQ(static_cast<std::int64_t>(expected.image.size()), grid.size() * lags->count())
          << what;
      EXPECT_GT(largest(expected.image), 0.0) << what;
    }
    const std::vector<int> counts = slab_counts(exec);
    for (const int devices : counts) {
      auto gradients = slabs(exec, devices);
      if (lags && lags->x > gradients.max_lag()) {
        EXPECT_GT(devices, 3) << what;
        continue;
      }
      EXPECT_EQ(gradients.devices(), devices);
      // a second evaluation has no traces of the first
      for (int run = devices == counts.back() ? 0 : 1; run < 2; ++run) {
        const Outcome found = in_slabs(gradients);
        const std::string of = moho::concat(what, ", slabs ", devices, ", run ", run);
        EXPECT_EQ(found.misfit, expected.misfit) << of;
        EXPECT_EQ(found.points, expected.points) << of;
        EXPECT_EQ(found.traces, expected.traces) << of;
        EXPECT_EQ(found.vp, expected.vp) << of;
        EXPECT_EQ(found.density, expected.density) << of;
        EXPECT_EQ(found.epsilon, expected.epsilon) << of;
        EXPECT_EQ(found.delta, expected.delta) << of;
        EXPECT_EQ(found.illumination, expected.illumination) << of;
        EXPECT_EQ(found.image, expected.image) << of;
      }
    }
  }
};

/// Media with their unknowns.
struct Case {
  Medium medium;
  InvertedParameters unknowns;
};
template <class Memory>
std::vector<Case> cases(const Instance<Memory>& exec) {
  // on hosts with several threads the gradient on one device is slow; slabs have one thread each
  if (is_host_memory<Memory> && exec.concurrency() > 1) {
    return {{Medium::variable_density, {true, false}}};
  }
  return {{Medium::isotropic, {}},
          {Medium::variable_density, {}},
          {Medium::variable_density, {true, false}},
          {Medium::vti, {false, true}},
          {Medium::tti, {}},
          {Medium::tti, {false, true}}};
}

template <int Dim>
std::vector<Boundaries<Dim>> all_kinds_of_faces() {
  std::vector<Boundaries<Dim>> faces{moho::wave::all_faces<Dim>(FaceKind::sponge, 6),
                                     moho::wave::all_faces<Dim>(FaceKind::cpml, 7),
                                     moho::wave::all_faces<Dim>(FaceKind::random, 5)};
  faces[0].lower[Dim - 1] = {FaceKind::free_surface, 0};
  faces[1].lower[Dim - 1] = {FaceKind::free_surface, 0};
  return faces;
}

template <class T, int Dim, class Memory>
void expect_the_bits_of_one(const Instance<Memory>& exec, int order) {
  for (const Case& one : cases(exec)) {
    for (const auto& faces : all_kinds_of_faces<Dim>()) {
      if (one.medium == Medium::tti && faces.lower[0].kind == FaceKind::cpml) continue;
      const Survey<T, Dim> survey(one.medium, one.unknowns, faces, order);
      survey.expect_equal(exec, moho::concat(moho::wave::to_string(one.medium), ", ", Dim, "D, ",
                                             to_string(faces.lower[0].kind)));
    }
  }
}

MEMORY_TEST(SlabGradient, HasTheBitsOfOneDeviceInSections) {
  expect_the_bits_of_one<T, 2, Memory>(exec, 4);
}

MEMORY_TEST(SlabGradient, HasTheBitsOfOneDeviceInVolumes) {
  expect_the_bits_of_one<T, 3, Memory>(exec, 2);
}

// Source wavefields that are stored or replayed, and products of every third step.
MEMORY_TEST(SlabGradient, HasTheBitsOfOneDeviceByEveryMethod) {
  for (const SourceField method : {SourceField::stored, SourceField::replay}) {
    for (const Case& one : cases(exec)) {
      const FaceKind kind = one.medium == Medium::tti ? FaceKind::sponge : FaceKind::cpml;
      Survey<T, 2> survey(one.medium, one.unknowns, wave::all_faces<2>(kind, 5), 4);
      survey.method = method;
      survey.options.product_interval = 3;
      survey.expect_equal(exec, moho::concat(moho::wave::to_string(one.medium), ", ",
                                             moho::fwi::to_string(method)));
    }
  }
}

// Source wavefields with random layers of other widths than those of the adjoint field, at one side
// none, and products of every second step.
MEMORY_TEST(SlabGradient, HasTheBitsOfOneDeviceWithRandomLayers) {
  for (const Case& one : cases(exec)) {
    auto faces =
        wave::all_faces<2>(one.medium == Medium::tti ? FaceKind::sponge : FaceKind::cpml, 6);
    faces.upper[0] = {FaceKind::rigid, 0};
    faces.lower[1] = {FaceKind::free_surface, 0};
    for (const int width : {3, 17}) {
      Survey<T, 2> survey(one.medium, one.unknowns, faces, 4);
      survey.method = SourceField::random;
      survey.options.source_faces = moho::snapshot::random_faces(faces, width);
      survey.options.product_interval = 2;
      survey.expect_equal(exec, moho::concat(moho::wave::to_string(one.medium), ", ", width));
    }
  }
}

// Extended images: lags up to the planes of a slab between two others, along y in 3D, more pairs of
// wavefields than a pass adds, and all methods for the source wavefield.
MEMORY_TEST(SlabGradient, HasTheExtendedImageOfOneDevice) {
  int number = 0;
  for (const Case& one : cases(exec)) {
    for (const std::int64_t lag : {3, 20}) {
      Survey<T, 2> survey(one.medium, one.unknowns, wave::all_faces<2>(FaceKind::sponge, 6), 4);
      survey.lags = Lags{lag, 0};
      survey.method = std::vector<SourceField>{SourceField::random, SourceField::boundary_shell,
                                               SourceField::replay}[number++ % 3];
      survey.options.source_faces =
          moho::snapshot::random_faces(survey.options.propagator.boundaries, 9);
      survey.options.product_interval = 3;
      survey.expect_equal(exec, moho::concat(moho::wave::to_string(one.medium), ", lag ", lag));
    }
  }
  Survey<T, 3> volume(Medium::isotropic, {}, wave::all_faces<3>(FaceKind::cpml, 6), 2);
  volume.lags = Lags{5, 3};
  volume.expect_equal(exec, "3D");
}

// The source wavefield with random layers takes a medium and two wavefields, the image its values
// and pairs; two slabs take less each.
MEMORY_TEST(SlabGradient, PlansTheMemoryOfLayersAndImages) {
  for (const Case& one : cases(exec)) {
    Survey<T, 2> survey(one.medium, one.unknowns, wave::all_faces<2>(FaceKind::sponge, 6), 4);
    survey.options.source_faces =
        moho::snapshot::random_faces(survey.options.propagator.boundaries, 17);
    const auto own = moho::stream::detail::model_in<T, 2, Memory>(exec, survey.grid, survey.model);
    const auto random = survey.with_random_layers(exec, own, survey.shots.front());
    const auto wavefield = random.make_wavefield(exec);
    const auto two = 2.0 * static_cast<double>(wavefield.bytes());
    const auto padded = static_cast<double>(wavefield.now[0].size() * sizeof(T));
    const auto gradients = survey.slabs(exec, 1);
    const double bytes = gradients.bytes(1).source.random;
    EXPECT_GT(bytes, two + padded);
    EXPECT_LT(bytes, two + 10.0 * padded);
    EXPECT_LT(gradients.bytes(2).source.random, 0.75 * bytes);
    EXPECT_EQ(gradients.image_bytes({4, 0}, 1),
              (ExtendedImage<T, 2, Memory>::bytes_of(whole_box(survey.grid), {4, 0})));
    EXPECT_LT(gradients.image_bytes({4, 0}, 2), 0.75 * gradients.image_bytes({4, 0}, 1));
  }
}

MEMORY_TEST(SlabGradient, RefusesLagsOverTheNeighbours) {
  const Survey<T, 2> survey(Medium::isotropic, {}, wave::all_faces<2>(FaceKind::sponge, 6), 4);
  for (const int devices : slab_counts(exec)) {
    auto gradients = survey.slabs(exec, devices);
    EXPECT_THAT(
        [&] {
          gradients.begin_image({1, 0});
        },
        ::testing::ThrowsMessage<moho::InputError>(HasSubstr("after update()")));
    gradients.update(survey.model);
    EXPECT_THAT([&] { gradients.extended_image(); },
                ::testing::ThrowsMessage<moho::InputError>(HasSubstr("after begin_image()")));
    // half of the 47 planes of the model, and the planes of each slab between two others
    std::int64_t max = 23;
    for (std::size_t g = 1; g + 1 < gradients.planes().size(); ++g) {
      max = std::min(max, gradients.planes()[g].count());
    }
    EXPECT_EQ(gradients.max_lag(), max);
    gradients.begin_image({gradients.max_lag(), 0});
    EXPECT_THAT(
        [&] {
          gradients.begin_image({gradients.max_lag() + 1, 0});
        },
        ::testing::ThrowsMessage<moho::InputError>(HasSubstr(
            devices > 2 ? moho::concat(max, ", the planes of the model in the thinnest of ",
                                       devices, " slabs")
                        : "half of the nodes")));
    EXPECT_GT(gradients.image_bytes({2, 0}, devices), gradients.image_bytes({1, 0}, devices));
    EXPECT_LT(gradients.image_bytes({2, 0}, devices + 1), gradients.image_bytes({2, 0}, devices));
  }
}

// Errors of a slab end all of them, and the object can be used afterwards.
MEMORY_TEST(SlabGradient, PassesOnErrors) {
  const Survey<T, 2> survey(Medium::isotropic, {}, moho::wave::all_faces<2>(FaceKind::sponge, 6),
                            4);
  const int devices = slab_counts(exec).back();
  auto gradients = survey.slabs(exec, devices);
  EXPECT_THAT([&] { gradients.model(survey.shots.front()); },
              ::testing::ThrowsMessage<moho::InputError>(HasSubstr("after update()")));
  const Outcome expected = survey.in_slabs(gradients);
  int calls = 0;
  std::mutex mutex;
  const auto failing = [&](const Instance<Memory>& on) -> moho::fwi::ShotMisfit<T, Memory> {
    const std::lock_guard<std::mutex> lock(mutex);
    if (++calls < devices) return misfit_of_squares<T, Memory>(on);
    return [](const auto&, const auto&) -> double { throw std::runtime_error("no data"); };
  };
  EXPECT_THAT([&] { gradients.add(survey.shots.front(), failing); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("no data")));
  EXPECT_EQ(survey.in_slabs(gradients).vp, expected.vp);
  EXPECT_THAT([&] { gradients.set_source_field(SourceField::automatic); },
              ::testing::ThrowsMessage<moho::InputError>(HasSubstr("shell, random, stored")));
  EXPECT_THAT([&] { gradients.set_source_field(SourceField::random); },
              ::testing::ThrowsMessage<moho::InputError>(HasSubstr("with source_faces")));
  Model<T, 2, HostModelMemory> other = survey.model;
  other.density = survey.model.vp;
  EXPECT_THAT([&] { gradients.update(other); },
              ::testing::ThrowsMessage<moho::InputError>(HasSubstr("medium")));
  if (!is_host_memory<Memory>) return;
  EXPECT_THAT([&] { survey.slabs(exec, 30); },
              ::testing::ThrowsMessage<moho::InputError>(
                  AllOf(HasSubstr("devices is 30"), HasSubstr("allowed"))));
}

// Refusals of numbers of devices have the number and those allowed.
TEST(GradientInSlabs, RefusalsHaveNumbers) {
  moho::fwi::ObjectiveOptions<2> options;
  const auto refused = [&](const char* text) {
    EXPECT_THAT([&] { moho::fwi::gradient_in_slabs(options); },
                ::testing::ThrowsMessage<moho::InputError>(HasSubstr(text)));
  };
  options.devices = 3;
  options.concurrent_shots = 2;
  refused("(concurrent_shots) is 2 (allowed with devices 3: 1)");
  options.devices = 0;
  refused("(concurrent_shots) is 2 (allowed with devices 0 (auto): 1)");
  options.source_field = SourceField::random;
  options.block = 8;
  refused("devices is 0 (auto) (allowed with block: 1 or more, those of a chain)");
  options.devices = 3;
  EXPECT_FALSE(moho::fwi::gradient_in_slabs(options));
}

// An overflow is found in all slabs at the same step, at the node of one device.
MEMORY_TEST(SlabGradient, NamesTheNodeOfAnOverflow) {
  Survey<T, 2> survey(Medium::isotropic, {}, moho::wave::all_faces<2>(FaceKind::sponge, 6), 4);
  for (double& sample : survey.options.wavelet) sample = 0.9 * std::numeric_limits<T>::max();
  std::vector<std::string> texts;
  for (const int devices : slab_counts(exec)) {
    auto gradients = survey.slabs(exec, devices);
    gradients.update(survey.model);
    SlabShotOptions options;
    options.check_every = 1;
    try {
      gradients.model(survey.shots.front(), options);
      ADD_FAILURE() << "no overflow";
    } catch (const moho::wave::NotFinite& error) {
      texts.emplace_back(error.what());
    }
  }
  for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
}

}  // namespace
}  // namespace moho::testing::slab_gradient
