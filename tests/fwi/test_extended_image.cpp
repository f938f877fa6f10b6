// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Extended images against direct sums; lag zero against the gradient; the transpose; the focusing
// objective and its derivative; a reflector that focuses only with the right velocity.

#include "fwi/support.hpp"
#include "wave/allocations.hpp"

#include <moho/fwi/gradient_memory.hpp>

#include <numeric>

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;
using moho::fwi::ExtendedImage;
using moho::fwi::Lags;
using moho::fwi::ShotGradients;
using ::testing::HasSubstr;

template <class C>
class Extended : public ::testing::Test {};
TYPED_TEST_SUITE(Extended, TestCases, CaseName);

std::vector<double> noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(uniform(random, -1.0, 1.0));
  return values;
}
template <class T, class Memory>
Storage<T, Memory> view_of(const Instance<Memory>& exec, const std::vector<double>& values) {
  const std::vector<T> converted(values.begin(), values.end());
  return moho::upload(exec, converted, "values");
}
template <class T, class Memory>
std::vector<double> doubles_of(const Instance<Memory>& exec, const Storage<T, Memory>& view) {
  const auto values = moho::download(exec, view);
  return std::vector<double>(values.begin(), values.end());
}

template <class T, int Dim, class Memory>
void sums_and_transpose(const Instance<Memory>& exec, const Lags& lags, std::int64_t wide,
                        std::int64_t deep) {
  Grid<Dim> grid = cube<Dim>(11, 10.0);
  grid.extents[0] = wide;
  grid.extents[Dim - 1] = deep;
  const auto layout = moho::wave::make_layout<T>(grid, 2);
  Box<Dim> box = whole_box(grid).grown(-1);
  ExtendedImage<T, Dim, Memory> image(exec, box, lags);
  const auto whole = static_cast<std::size_t>(grid.size()),
             inner = static_cast<std::size_t>(box.size());
  std::vector<double> expected(inner * static_cast<std::size_t>(lags.count()), 0.0);
  std::vector<std::vector<double>> sources, adjoints;
  // more pairs than the buffers hold
  for (unsigned k = 0; k < 11; ++k) {
    sources.push_back(noise(whole, 2 * k));
    adjoints.push_back(noise(whole, 2 * k + 1));
    auto padded = moho::wave::make_storage<T>(exec, layout, "adjoint");
    set_nodes<T, Dim, Memory>(exec, layout, padded, [&](const Index<Dim>& node) {
      return adjoints[k][static_cast<std::size_t>(grid.flat(node))];
    });
    image.add(exec, view_of<T, Memory>(exec, sources[k]).data(), whole_box(grid), layout, padded,
              3.0);
    exec.fence();
  }
  image.flush(exec);
  for (std::int64_t lag = 0; lag < lags.count(); ++lag) {
    const std::int64_t hx = lag % (2 * lags.x + 1) - lags.x, hy = lag / (2 * lags.x + 1) - lags.y;
    for (std::int64_t n = 0; n < box.size(); ++n) {
      Index<Dim> up = box.node(n), down = up;
      up[0] += hx;
      down[0] -= hx;
      if (Dim == 3) up[1] += hy, down[1] -= hy;
      if (!box.contains(up) || !box.contains(down)) continue;
      for (std::size_t k = 0; k < sources.size(); ++k) {
        expected[static_cast<std::size_t>(lag * box.size() + n)] +=
            3.0 * adjoints[k][static_cast<std::size_t>(grid.flat(up))] *
            sources[k][static_cast<std::size_t>(grid.flat(down))];
      }
    }
  }
  const auto found = doubles_of<T, Memory>(exec, image.values());
  EXPECT_LT(relative_difference(found, expected), by_precision<T>(3e-6, 1e-14));

  // <I, add(c, p)> = <scatter(I, p), c>
  ExtendedImage<T, Dim, Memory> other(exec, box, lags);
  const auto c = noise(inner, 91), p = noise(inner, 92);
  auto padded = moho::wave::make_storage<T>(exec, layout, "adjoint");
  set_nodes<T, Dim, Memory>(exec, layout, padded, [&](const Index<Dim>& node) {
    if (!box.contains(node)) return 0.0;
    std::int64_t at = 0;
    for (int d = 0; d < Dim; ++d) at = at * box.extent(d) + node[d] - box.lower[d];
    return c[static_cast<std::size_t>(at)];
  });
  const auto source = view_of<T, Memory>(exec, p);
  other.add(exec, source.data(), box, layout, padded, 2.0);
  other.flush(exec);
  const auto to = view_of<T, Memory>(exec, std::vector<double>(inner, 0.0));
  image.scatter(exec, source, to, 2.0);
  const auto product = doubles_of<T, Memory>(exec, other.values());
  const auto scattered = doubles_of<T, Memory>(exec, to);
  const double one = std::inner_product(found.begin(), found.end(), product.begin(), 0.0);
  const double two = std::inner_product(scattered.begin(), scattered.end(), c.begin(), 0.0);
  EXPECT_NEAR(one, two, by_precision<T>(1e-5, 1e-13) * norm(found) * norm(product));
}

MEMORY_TEST(Extended, SumsAndTransposeIn2D) {
  sums_and_transpose<T, 2, Memory>(exec, {3, 0}, 14, 11);
  sums_and_transpose<T, 2, Memory>(exec, {0, 0}, 14, 12);
}
MEMORY_TEST(Extended, SumsAndTransposeIn3D) {
  sums_and_transpose<T, 3, Memory>(exec, {3, 2}, 14, 11);
  // devices use tiles of eight nodes along x, and vectors of 32 threads along z
  sums_and_transpose<T, 3, Memory>(exec, {9, 1}, 37, 74);
}

MEMORY_TEST(Extended, FocusIsTheMomentOfTheImage) {
  const Grid<3> grid = cube<3>(7, 10.0);
  ExtendedImage<T, 3, Memory> image(exec, whole_box(grid), {2, 1});
  const auto values = noise(image.values().size(), 5);
  copy(exec, image.values(), view_of<T, Memory>(exec, values));
  const auto derivative = view_of<T, Memory>(exec, std::vector<double>(values.size(), 0.0));
  double expected = 0.0;
  const auto size = static_cast<std::size_t>(grid.size());
  std::vector<double> slopes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto lag = static_cast<std::int64_t>(i / size);
    const double hx = 10.0 * static_cast<double>(lag % 5 - 2),
                 hy = 10.0 * static_cast<double>(lag / 5 - 1);
    expected += 0.5 * (hx * hx + hy * hy) * values[i] * values[i];
    slopes[i] = (hx * hx + hy * hy) * values[i];
  }
  EXPECT_NEAR(image.focus(exec, grid, derivative), expected, 1e-6 * expected);
  EXPECT_LT(relative_difference(doubles_of<T, Memory>(exec, derivative), slopes),
            by_precision<T>(1e-6, 1e-14));
}

// v / 2 times the derivative by vp is the sum of the gradient, S dJ/dS: the image at lag zero.
MEMORY_TEST(Extended, LagZeroIsTheGradient) {
  for (const Medium medium : {Medium::isotropic, Medium::vti}) {
    const Grid<2> grid = cube<2>(30, 10.0);
    auto faces = moho::wave::all_faces<2>(FaceKind::sponge, 6);
    const auto model = constant_model<T, 2, Memory>(exec, grid, medium,
                                                    {.vp = 2000.0, .epsilon = 0.2, .delta = 0.1});
    SmallShot<T, 2, Memory> shot(exec, grid, faces, model);
    shot.product_interval = 2;
    shot.observed.assign(static_cast<std::size_t>((shot.steps + 1) * shot.receivers.count()), 0.0);
    ShotGradients<T, 2, Memory> gradients(exec, *shot.propagator, {}, shot.product_interval);
    ExtendedImage<T, 2, Memory> image(exec, gradients.box(), {4, 0});
    auto field = shot.propagator->make_wavefield(exec);
    const auto store = shot.store(gradients, SourceMethod::shell);
    moho::fwi::ShotGradientOptions<T, 2, Memory> options;
    options.steps = shot.steps;
    options.extended = &image;
    gradients.add(exec, field, shot.forward, shot.receivers, shot.least_squares(), *store, options);
    image.flush(exec);
    auto by_vp = values_of<T, 2, Memory>(exec, gradients.derivatives(exec, grid, model).vp);
    for (double& value : by_vp) value *= 1000.0;
    const auto all = doubles_of<T, Memory>(exec, image.values());
    const auto size = static_cast<std::size_t>(grid.size());
    const std::vector<double> zero(all.begin() + static_cast<std::ptrdiff_t>(4 * size),
                                   all.begin() + static_cast<std::ptrdiff_t>(5 * size));
    EXPECT_LT(relative_difference(zero, by_vp), by_precision<T>(1e-5, 1e-13)) << to_string(medium);
  }
}

MEMORY_TEST(Extended, RefusesWhatMakesNoSense) {
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const moho::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Grid<2> grid = cube<2>(9, 10.0);
  const auto make = [&](const Lags& lags) {
    return message([&] { ExtendedImage<T, 2, Memory>(exec, whole_box(grid), lags); });
  };
  EXPECT_EQ(make({4, 0}), "");
  EXPECT_THAT(make({5, 0}), HasSubstr("lags: the largest along x is 5 nodes (allowed: 0 to 4"));
  EXPECT_THAT(make({-1, 0}), HasSubstr("is -1 nodes"));
  EXPECT_THAT(make({2, 1}), HasSubstr("along y is 1 in two dimensions"));
}

MEMORY_TEST(Extended, MemoryIsKnownBefore) {
  const Box<2> box{{0, 0}, {40, 30}};
  using Image = ExtendedImage<T, 2, Memory>;
  {
    const Allocations allocations;
    const Image image(exec, box, Lags{5, 0});
    EXPECT_GE(static_cast<double>(allocations.max), 11.0 * 1200.0 * sizeof(T));
    EXPECT_LE(static_cast<double>(allocations.max), Image::bytes_of(box, {5, 0}));
  }
  const auto fitting = [&](double bytes) {
    return moho::fwi::fitting_lags<T, 2, Memory>(box, {9, 0}, bytes).x;
  };
  EXPECT_EQ(fitting(Image::bytes_of(box, {5, 0})), 5);
  EXPECT_EQ(fitting(Image::bytes_of(box, {5, 0}) - 1.0), 4);
  EXPECT_EQ(fitting(1e12), 9);
  EXPECT_EQ(fitting(0.0), 0);
}

// The kernel of devices, executed here: planes of an image by pairs in rings of different lengths.
template <int Dim, int width>
void tiles_of_rings(const Box<Dim>& box, const Lags& lags, const std::vector<std::int64_t>& cuts) {
  using moho::PlaneRange;
  using moho::fwi::detail::ExtendedPass;
  constexpr int pairs = 5;
  const moho::fwi::detail::DenseBox<Dim> nodes = moho::fwi::detail::dense(box);
  const std::int64_t plane = nodes.strides[0], planes = box.extent(0);
  const auto size = static_cast<std::size_t>(box.size());
  std::mt19937 random(11);
  // small integers, whose sums are exact
  std::vector<float> source[pairs], adjoint[pairs];
  for (auto* list : {&source, &adjoint}) {
    for (std::vector<float>& values : *list) {
      for (std::size_t i = 0; i < size; ++i) {
        values.push_back(static_cast<float>(static_cast<int>(random() % 7) - 3));
      }
    }
  }
  std::vector<float> found(size * static_cast<std::size_t>(lags.count()), 1.0f), expected = found;
  ExtendedPass<float, Dim> pass{};
  pass.nodes = nodes;
  pass.x = lags.x;
  pass.y = lags.y;
  for (std::int64_t lag = 0; lag < lags.count(); ++lag) {
    const std::int64_t hx = lag % (2 * lags.x + 1) - lags.x, hy = lag / (2 * lags.x + 1) - lags.y;
    for (std::int64_t i = 0; i < box.size(); ++i) {
      std::int64_t up = 0, down = 0;
      const auto node = box.node(i);
      if (!pass.moved(node, hx, hy, up) || !pass.moved(node, -hx, -hy, down)) continue;
      float& value = expected[static_cast<std::size_t>(lag * box.size() + i)];
      for (int k = 0; k < pairs; ++k) {
        value += 2.0f * adjoint[k][static_cast<std::size_t>(up)] *
                 source[k][static_cast<std::size_t>(down)];
      }
    }
  }
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    pass.planes = {cuts[c], cuts[c + 1]};
    pass.image_first = cuts[c];
    pass.size = pass.planes.count() * plane;
    pass.slices = 0;
    const PlaneRange read = pass.read();
    std::vector<std::vector<float>> rings;
    for (int k = 0; k < pairs; ++k) {
      const std::int64_t tiles = (read.count() + 7) / 8 + k % 2, slots = 8 * tiles;
      const std::int64_t turn = read.begin / 8 * 8 - 8 * (k % tiles);
      for (const auto* from : {&source[k], &adjoint[k]}) {
        std::vector<float>& ring =
            rings.emplace_back(static_cast<std::size_t>(slots * plane), 1e9f);
        for (std::int64_t x = read.begin; x < read.end; ++x) {
          std::copy_n(from->begin() + x * plane, plane, ring.begin() + (x - turn) % slots * plane);
        }
      }
      pass.add_pair(rings[rings.size() - 2].data(), rings.back().data(), turn, slots);
    }
    std::vector<float> image(static_cast<std::size_t>(pass.size * lags.count()), 1.0f);
    using Kernel = moho::fwi::detail::AddExtendedTiles<float, Dim, width, false, true>;
    Kernel kernel = moho::fwi::detail::extended_tiles<Kernel>(pass, 2.0f);
    for (std::int64_t hy = -lags.y; hy <= lags.y; ++hy) {
      const std::int64_t threads = moho::fwi::detail::set_lag(kernel, image.data(), hy);
      for (std::int64_t n = 0; n < threads; ++n) kernel(n);
    }
    for (std::int64_t lag = 0; lag < lags.count(); ++lag) {
      std::copy_n(image.begin() + lag * pass.size, pass.size,
                  found.begin() + lag * box.size() + cuts[c] * plane);
    }
  }
  EXPECT_EQ(planes, cuts.back());
  EXPECT_EQ(found, expected);
}

TEST(ExtendedTiles, AddPairsInRingsToPlanes) {
  Box<2> flat;
  flat.lower = {3, 2};
  flat.upper = {40, 12};
  tiles_of_rings<2, 2>(flat, {5, 0}, {0, 5, 6, 30, 37});
  tiles_of_rings<2, 1>(flat, {18, 0}, {0, 16, 37});
  tiles_of_rings<2, 2>(flat, {0, 0}, {0, 1, 37});
  Box<3> box;
  box.lower = {0, 4, 1};
  box.upper = {21, 11, 7};
  tiles_of_rings<3, 2>(box, {4, 2}, {0, 7, 15, 21});
}

}  // namespace
