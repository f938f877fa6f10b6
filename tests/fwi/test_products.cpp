// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 5
//
// Products of the source wavefield with D of the adjoint field where D is not stored, against those
// where it is. Devices have a kernel for small sections and one for large ones, and keep copies for
// extended images.

#include <moho/fwi/gradient.hpp>

#include <utility>

#include "fwi/support.hpp"

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;

template <class C>
class Products : public ::testing::Test {};
TYPED_TEST_SUITE(Products, TestCases, CaseName);

/// Sums of products over a box and the arrays that they are made from.
template <class T, int Dim, class Memory>
struct Sums {
  using Array = moho::wave::Storage<T, Memory>;
  Array scale, illumination, by_potential, kept_source[2], kept_change[2];
  moho::fwi::detail::AddScale<T, Dim> add{};

  Sums(const Instance<Memory>& exec, const moho::Box<Dim>& box, const Array (&source)[2],
       bool density, bool keep) {
    const auto count = static_cast<std::size_t>(box.size());
    const auto zeros = [&](const char* name) {
      Array array = moho::allocate<Array>(exec, name, count);
      moho::fill(exec, array, T(0));
      return array;
    };
    scale = zeros("scale");
    illumination = zeros("illumination");
    add.p = source[0].data();
    add.q = source[1].data();
    add.snapshot = add.sums = add.potential_sums = moho::fwi::detail::dense(box);
    add.scale = scale.data();
    add.illumination = illumination.data();
    add.weight = T(0.75);
    add.time = T(0.5);
    if (density) {
      by_potential = zeros("potential");
      add.by_potential = by_potential.data();
    }
    for (int f = 0; keep && f < 2 && source[f].size() > 0; ++f) {
      add.kept_source[f] = (kept_source[f] = zeros("source")).data();
      add.kept_change[f] = (kept_change[f] = zeros("change")).data();
    }
  }
};

template <class T, class Memory>
std::vector<double> host_values(const moho::wave::Storage<T, Memory>& array) {
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
  return {values.data(), values.data() + values.size()};
}

template <class T, int Dim, class Memory>
void expect_products_of_stored_operator(const Instance<Memory>& exec, Medium medium,
                                        const Grid<Dim>& grid, int order, bool keep) {
  namespace detail = moho::fwi::detail;
  using Array = moho::wave::Storage<T, Memory>;
  PropagatorOptions<Dim> options;
  options.order = order;
  options.dt = 2e-4;
  options.boundaries = moho::wave::all_faces<Dim>(FaceKind::sponge, 4);
  const Propagator<T, Dim, Memory> propagator(
      exec, grid, random_model<T, Dim, Memory>(exec, grid, medium, 5), options);
  const auto nu = propagator.make_wavefield(exec);
  set_random(exec, nu, 7);
  moho::Box<Dim> box = moho::whole_box(grid);
  box.lower[0] += 1;
  box.upper[Dim - 1] -= 2;
  Array source[2], change[2];
  std::mt19937 random(11);
  for (int f = 0; f < nu.fields; ++f) {
    source[f] = moho::allocate<Array>(exec, "source", static_cast<std::size_t>(box.size()));
    const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace(), source[f]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<T>(uniform(random, -1.0, 1.0));
    }
    Kokkos::deep_copy(source[f], values);
    change[f] = moho::allocate<Array>(exec, "change", nu.now[f].size());
  }
  const bool density = medium == Medium::variable_density;
  Sums<T, Dim, Memory> one(exec, box, source, density, keep),
      other(exec, box, source, density, keep);
  moho::wave::kernel::StepArguments<T> s;
  const auto window = propagator.medium_window();
  ASSERT_TRUE(moho::wave::kernel::bind_operator(exec, propagator.scheme(), window, nu, box, s));
  detail::launch_scale_products<T, Dim, Memory>(exec, propagator.scheme().stencil(), order, s,
                                                one.add, {});
  moho::wave::apply_operator<T, Dim, Memory>(exec, propagator.scheme(), window, nu, box, change[0],
                                             change[1]);
  other.add.change_p = change[0].data();
  other.add.change_q = change[1].data();
  other.add.layout = nu.layout;
  detail::launch_add_scale<T, Dim, Memory>(exec, box, other.add);
  exec.fence();
  const auto expect_close = [&](const Array& a, const Array& b, const char* what) {
    const auto x = host_values<T, Memory>(a), y = host_values<T, Memory>(b);
    ASSERT_EQ(x.size(), y.size());
    if (y.empty()) return;
    double max_difference = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i)
      max_difference = std::max(max_difference, std::fabs(x[i] - y[i]));
    EXPECT_GT(largest(y), 0.0) << what;
    EXPECT_LE(max_difference, by_precision<T>(2e-6, 4e-15) * largest(y)) << what;
  };
  expect_close(one.scale, other.scale, "scale");
  expect_close(one.illumination, other.illumination, "illumination");
  for (int f = 0; f < 2; ++f) {
    expect_close(one.kept_source[f], other.kept_source[f], "kept source");
    expect_close(one.kept_change[f], other.kept_change[f], "kept change");
  }
  if (!density) return;
  const auto u = host_values<T, Memory>(source[0]), sum = host_values<T, Memory>(one.by_potential);
  const auto field = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), nu.now[0]);
  double max_difference = 0.0;
  for (std::int64_t n = 0; n < box.size(); ++n) {
    const auto at = static_cast<std::size_t>(nu.layout.flat(box.node(n)));
    const auto i = static_cast<std::size_t>(n);
    max_difference = std::max(max_difference, std::fabs(-0.75 * u[i] * field[at] - sum[i]));
  }
  EXPECT_GT(largest(sum), 0.0) << "potential";
  EXPECT_LE(max_difference, by_precision<T>(2e-7, 1e-15)) << "potential";
}

MEMORY_TEST(Products, OfSmallSectionsAreThoseOfAStoredOperator) {
  Grid<2> grid = cube<2>(61, 10.0);
  grid.extents[0] = 43;
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    for (const bool keep : {false, !moho::is_host_memory<Memory>}) {
      expect_products_of_stored_operator<T, 2, Memory>(exec, medium, grid, 8, keep);
    }
    expect_products_of_stored_operator<T, 2, Memory>(exec, medium, grid, 2, false);
  }
}
// on devices with more values than the kernel for sections takes
MEMORY_TEST(Products, OfLargeSectionsAreThoseOfAStoredOperator) {
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    const int fields = medium == Medium::vti ? 2 : 1;
    Grid<2> grid = cube<2>(1021, 10.0);
    grid.extents[0] = 530;
    if (!moho::is_host_memory<Memory>) {
      grid.extents[0] = moho::fwi::detail::largest_section_products / (1021 * fields) + 7;
    }
    expect_products_of_stored_operator<T, 2, Memory>(exec, medium, grid, 8, false);
  }
}
MEMORY_TEST(Products, OfVolumesAreThoseOfAStoredOperator) {
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    expect_products_of_stored_operator<T, 3, Memory>(exec, medium, cube<3>(21, 10.0), 4,
                                                     !moho::is_host_memory<Memory>);
  }
}

}  // namespace
