// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Kernel labels, instances and fences of gravity.

#include "events.hpp"
#include "gravity/ensembles.hpp"

#include <moho/gravity/fmm.hpp>
#include <moho/gravity/operator.hpp>

#include <string>

namespace {

using namespace moho::testing;

const Contract returns{{"gravity"}, true};

constexpr RegularMesh small_mesh{{12, 10, 8}, {0.0, 0.0, 0.0}, {1200.0, 1000.0, 800.0}};

template <class T, class Memory>
void hold_strategies(const Instance<Memory>& exec, bool overlaps) {
  Random random(7);
  std::vector<double> numbers, heights;
  for (std::int64_t i = 0; i < small_mesh.size(); ++i) {
    numbers.push_back(random.between(100.0, 400.0));
  }
  for (int i = 0; i < 40; ++i) {
    for (const double x : {random.between(0.0, 1200.0), random.between(0.0, 1000.0), -50.0}) {
      heights.push_back(x);
    }
  }
  const auto rows = numbers_in(exec, moho::gravity::mesh_prisms(small_mesh, numbers));
  const auto densities = numbers_in(exec, numbers), positions = numbers_in(exec, heights);
  const auto results = results_in(exec, 10, 40);
  std::int64_t kernels = 0;
  Options options;
  options.check_overlaps = overlaps;
  for (const Strategy strategy : general_strategies) {
    options.strategy = strategy;
    kernels += kernels_in(hold(exec, to_string(strategy) + ", prisms", returns, [&] {
      moho::gravity::forward<T>(exec, prisms_of(rows), stations_of(positions), all_ten(), results,
                                options);
    }));
  }
  for (const Strategy strategy :
       {Strategy::automatic, Strategy::tiles, Strategy::by_prisms, Strategy::by_corners}) {
    // by_corners needs double precision
    if (strategy == Strategy::by_corners && sizeof(T) == 4) continue;
    options.strategy = strategy;
    kernels += kernels_in(hold(exec, to_string(strategy) + ", a mesh", returns, [&] {
      moho::gravity::forward<T>(exec, small_mesh, moho::gravity::DensityView<Memory>(densities),
                                stations_of(positions), all_ten(), results, options);
    }));
  }
  EXPECT_GT(kernels, 30);
}

template <class S>
class GravityContract : public ::testing::Test {};
TYPED_TEST_SUITE(GravityContract, TestSpaces, SpaceName);

TYPED_TEST(GravityContract, Double) {
  const auto exec = own_instance<typename TypeParam::Exec>();
  for (const bool overlaps : {false, true}) {
    hold_strategies<double, typename TypeParam::Memory>(exec, overlaps);
  }
}
TYPED_TEST(GravityContract, Single) {
  hold_strategies<float, typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>(),
                                                     false);
}

template <class Memory>
void hold_operator(const Instance<Memory>& exec) {
  const std::vector<double> heights{0.0, 0.0, -50.0, 300.0, 200.0, -80.0};
  const std::vector<double> rho(static_cast<std::size_t>(small_mesh.size()), 100.0);
  const auto positions = numbers_in(exec, heights), densities = numbers_in(exec, rho);
  const auto results = results_in(exec, 2, 2);
  const moho::gravity::Components components{moho::gravity::Component::gz,
                                             moho::gravity::Component::gxz};
  std::optional<moho::gravity::Operator<Memory>> field;
  hold(exec, "Operator", returns,
       [&] { field.emplace(exec, small_mesh, stations_of(positions), components); });
  const Contract submits{{"gravity"}, false};
  hold(exec, "apply", submits, [&] { field->apply(exec, densities, results); });
  hold(exec, "adjoint", submits, [&] { field->adjoint(exec, results, densities); });
  hold(exec, "column_squares", submits, [&] { field->column_squares(exec, results, densities); });
  std::optional<moho::gravity::FmmOperator<Memory>> fast;
  hold(exec, "FmmOperator", returns,
       [&] { fast.emplace(exec, small_mesh, stations_of(positions), components); });
  hold(exec, "apply", submits, [&] { fast->apply(exec, densities, results); });
  hold(exec, "adjoint", submits, [&] { fast->adjoint(exec, results, densities); });
}
template <class T, class Memory>
void hold_magnetic(const Instance<Memory>& exec) {
  const std::vector<double> heights{0.0, 0.0, -50.0, 300.0, 200.0, -80.0};
  const std::vector<double> k(static_cast<std::size_t>(small_mesh.size()), 0.01);
  const std::vector<double> rest(3 * k.size(), 0.5);
  const auto rows = numbers_in(exec, moho::gravity::mesh_prisms(small_mesh, k));
  const auto positions = numbers_in(exec, heights), susceptibilities = numbers_in(exec, k),
             vectors = numbers_in(exec, rest);
  const moho::gravity::RemanenceView<Memory> remanence(vectors.data(), k.size());
  const auto results = results_in(exec, 4, 2);
  const moho::gravity::AmbientField ambient{5e4, 60.0, 2.0};
  hold(exec, "magnetic_field of prisms", returns, [&] {
    moho::gravity::magnetic_field<T>(exec, prisms_of(rows), remanence, stations_of(positions),
                                     moho::gravity::all_magnetic_components(), ambient, results);
  });
  hold(exec, "magnetic_field of a mesh", returns, [&] {
    moho::gravity::magnetic_field<T>(
        exec, small_mesh, moho::gravity::DensityView<Memory>(susceptibilities), remanence,
        stations_of(positions), moho::gravity::all_magnetic_components(), ambient, results);
  });
}
TYPED_TEST(GravityContract, Magnetic) {
  const auto exec = own_instance<typename TypeParam::Exec>();
  hold_magnetic<double, typename TypeParam::Memory>(exec);
  hold_magnetic<float, typename TypeParam::Memory>(exec);
}
TYPED_TEST(GravityContract, Operator) {
  hold_operator<typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}

}  // namespace
