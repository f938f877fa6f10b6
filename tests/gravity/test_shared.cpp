// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Products that several processes compute together, and jobs that they share. Threads stand for
// processes.

#include "gravity/ensembles.hpp"
#include "processes.hpp"

#include <moho/gravity/share.hpp>
#include <moho/gravity/shared_operator.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using namespace moho::testing;
using moho::gravity::FieldOperator;
using moho::gravity::MagneticJob;

class Process : public ThreadProcess {
 public:
  using ThreadProcess::ThreadProcess;
  void scatter_rows(const double* all, std::int64_t width,
                    const std::vector<moho::mpi::Part>& parts, double* mine) {
    if (root()) m_run.address = all;
    wait();
    const moho::mpi::Part part = parts[static_cast<std::size_t>(m_rank)];
    if (!root()) {
      const double* const from = static_cast<const double*>(m_run.address);
      std::copy(from + width * part.first, from + width * part.last, mine);
    }
    wait();
  }
};

std::vector<double> shared_numbers(std::size_t count, unsigned seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(random.between(-1.0, 1.0));
  return values;
}

// 5,000 cells are several chunks of prisms, whose order must not depend on the processes.
TEST(SharedOperator, HasTheBitsOfOneProcess) {
  const moho::Instance<Kokkos::HostSpace> exec = Kokkos::Serial();
  const RegularMesh mesh{{25, 20, 10}, {0, 0, 10}, {2500, 2000, 1010}};
  const auto prisms = moho::gravity::mesh_prisms(
      mesh, std::vector<double>(static_cast<std::size_t>(mesh.size()), 1.0));
  Random random(3);
  std::vector<double> stations;
  for (int i = 0; i < 150; ++i) {
    for (const double x : {random.between(0, 2500), random.between(0, 2000), -20.0}) {
      stations.push_back(x);
    }
  }
  const Components components{Component::gz, Component::gxz};
  const auto make = [&](const std::vector<double>& rows, const std::vector<double>& positions) {
    moho::gravity::OperatorOptions options;
    options.all_stations = 150;
    return moho::gravity::make_field_operator(exec, rows, positions, components, options);
  };
  const auto densities = shared_numbers(5000, 1), weights = shared_numbers(300, 2);
  std::vector<double> field, sums, squares;
  const auto one = make(prisms, stations);
  one->apply(densities, field);
  one->adjoint(weights, sums);
  one->column_squares(weights, squares);
  for (const int count : {1, 2, 3, 4}) {
    on_processes<Process>(count, [&](Process& process) {
      moho::gravity::SharedOperator<Process> shared(process, prisms, stations, 2, make);
      EXPECT_EQ(shared.prisms(), 5000);
      EXPECT_EQ(shared.values(), 300);
      if (!process.root()) return shared.serve();
      std::vector<double> found;
      shared.apply(densities, found);
      EXPECT_EQ(found, field) << count;
      shared.adjoint(weights, found);
      EXPECT_EQ(found, sums) << count;
      shared.column_squares(weights, found);
      EXPECT_EQ(found, squares) << count;
      shared.stop();
    });
  }
}

// More processes than prisms, and than blocks of stations.
TEST(SharedOperator, ServesProcessesWithoutWork) {
  const moho::Instance<Kokkos::HostSpace> exec = Kokkos::Serial();
  const std::vector<double> prisms{0, 10, 0, 10, 5, 15, 1, 20, 30, 0, 10, 5, 15, 1};
  const std::vector<double> stations{0, 0, -3, 9, 9, -4};
  const auto make = [&](const std::vector<double>& rows, const std::vector<double>& positions) {
    return moho::gravity::make_field_operator(exec, rows, positions, {Component::gz});
  };
  std::vector<double> field;
  make(prisms, stations)->apply({1.0, -2.0}, field);
  on_processes<Process>(3, [&](Process& process) {
    moho::gravity::SharedOperator<Process> shared(process, prisms, stations, 1, make);
    if (!process.root()) return shared.serve();
    std::vector<double> found;
    shared.apply({1.0, -2.0}, found);
    EXPECT_EQ(found, field);
    shared.stop();
  });
}

MagneticJob job_of(bool regular, bool magnetic) {
  MagneticJob job;
  job.regular = regular;
  job.mesh = {{4, 3, 2}, {0, 0, 10}, {400, 300, 210}};
  job.stations = {10, 20, -30, 300, 100, -20};
  job.components = {Component::gz};
  job.options.far_tolerance = 1e-9;
  job.ambient = {5e4, 60.0, 3.0};
  if (magnetic) job.magnetic_components = moho::gravity::all_magnetic_components();
  const auto numbers = shared_numbers(24, 5);
  for (std::size_t i = 0; i < 24; ++i) {
    const double value = i % 3 == 0 ? 0.0 : 0.01 * std::abs(numbers[i]);
    if (regular) job.densities.push_back(value);
    const double x = 100.0 * static_cast<double>(i);
    if (!regular) job.prisms.insert(job.prisms.end(), {x, x + 90.0, 0, 50, 10, 60, value});
    if (magnetic) job.remanence.insert(job.remanence.end(), {numbers[i], 0.5, -numbers[i]});
  }
  return job;
}

// The parts of all processes have the field of the whole.
TEST(SharedJobs, AddUpToTheWhole) {
  const moho::Instance<Kokkos::HostSpace> exec = Kokkos::Serial();
  for (const auto& [regular, magnetic] :
       {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    const MagneticJob whole = job_of(regular, magnetic);
    const auto compute = [&](const MagneticJob& job) {
      return job.magnetic_components.empty()
                 ? moho::gravity::compute_field<double>(exec, job)
                 : moho::gravity::compute_magnetic_field<double>(exec, job);
    };
    const auto expected = compute(whole).results;
    for (const int count : {1, 2, 5}) {
      on_processes<Process>(count, [&](Process& process) {
        const MagneticJob mine =
            moho::gravity::share_job(process, process.root() ? whole : MagneticJob());
        EXPECT_EQ(mine.options.far_tolerance, 1e-9);
        EXPECT_EQ(mine.ambient.inclination, 60.0);
        std::vector<double> results;
        process.collectively([&] { results = compute(mine).results; });
        process.sum_to_root(results);
        if (!process.root()) return;
        ASSERT_EQ(results.size(), expected.size());
        for (std::size_t i = 0; i < results.size(); ++i) {
          EXPECT_NEAR(results[i], expected[i], 1e-12 * std::abs(expected[i]) + 1e-13);
        }
      });
    }
  }
}

}  // namespace
