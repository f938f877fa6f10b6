// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 30
//
// Waves against known solutions: Green's functions in two and three dimensions, ellipses,
// reflections; orders of convergence; symmetry and linearity.

#include <complex>

#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;

template <class Case>
class GreenTest : public ::testing::Test {};
TYPED_TEST_SUITE(GreenTest, LongTestCases, CaseName);

template <class Memory>
class DoubleTest : public ::testing::Test {};
TYPED_TEST_SUITE(DoubleTest, TestSpaces, SpaceName);

constexpr double speed = 2000.0;

template <int Dim>
PropagatorOptions<Dim> rigid(double dt, int order = 8) {
  PropagatorOptions<Dim> options;
  options.dt = dt;
  options.order = order;
  options.boundaries = moho::wave::all_faces<Dim>(FaceKind::rigid);
  return options;
}

/// Returns amplitude * S(t - delay) at the times of a trace.
std::vector<double> delayed(const Ricker& signal, double amplitude, double delay, double dt,
                            std::size_t samples) {
  std::vector<double> trace(samples, 0.0);
  for (std::size_t n = 1; n < samples; ++n) {
    trace[n] = amplitude * signal(static_cast<double>(n) * dt - delay);
  }
  return trace;
}

/// Returns the error of a trace 300 m from a source in 3D, before reflections of the faces.
template <class T, class Memory>
double error_in_space(const Instance<Memory>& exec, double dt) {
  const Grid<3> grid{{78, 72, 72}, {10.0, 10.0, 10.0}, {}};
  const auto model = constant_model<T, 3, Memory>(exec, grid, Medium::isotropic, {speed});
  const Propagator<T, 3, Memory> propagator(exec, grid, model, rigid<3>(dt));
  const Ricker signal{15.0, 0.1};
  const int steps = static_cast<int>(std::lround(0.38 / dt));
  const Index<3> source{24, 36, 36}, receiver{54, 36, 36};
  const Traces traces = run_shot(exec, propagator, source, signal, {receiver}, steps);
  const double distance = 300.0;
  return relative_error(traces[0], delayed(signal, 1000.0 / (4.0 * pi * distance), distance / speed,
                                           dt, traces[0].size()));
}

// Order 8, 10 m, 2000 m/s, Ricker of 15 Hz, 300 m, 0.38 s: the accuracy of another program.
MEMORY_TEST(GreenTest, PointSourceIn3D) {
  const double steps[] = {0.002, 0.001, 0.0005, 0.00025};
  const double published[] = {4.60e-2, 1.13e-2, 2.61e-3, 5.93e-4};
  double before = 0.0;
  // the finest step once, in double precision
  const bool all = std::is_same_v<T, double> && exec.name() == moho::default_space_name();
  for (int i = 0; i < (all ? 4 : 3); ++i) {
    const double error = error_in_space<T, Memory>(exec, steps[i]);
    EXPECT_LE(error, 1.005 * published[i]) << "dt " << steps[i];
    // second order in time
    if (i > 0) {
      EXPECT_GT(before / error, 3.8) << "dt " << steps[i];
    }
    before = error;
  }
}

/// Returns the phase of a plane wave, near the maximum of the sine around node 20.
template <int Dim>
double phase(const Index<Dim>& node, double h) {
  constexpr double wave[3] = {0.8, -0.55, 0.65};
  double sum = 1.2;
  for (int d = 0; d < Dim; ++d) {
    sum += wave[d == Dim - 1 ? 2 : d] * h * (1.0 + 0.15 * d) * static_cast<double>(node[d] - 20);
  }
  return sum;
}

// One step of plane waves p and q against the equations: the largest difference in the middle of a
// grid. Velocity, epsilon and delta are rough, because they are not differentiated.
template <int Dim, class Memory>
double error_of_operator(const Instance<Memory>& exec, const Kind& kind, int order, double h) {
  using T = double;
  Grid<Dim> grid = cube<Dim>(Dim == 2 ? 45 : 40, h);
  for (int d = 0; d < Dim; ++d) grid.spacing[d] = h * (1.0 + 0.15 * d);
  auto model = random_model<T, Dim, Memory>(exec, grid, kind.medium, 4);
  constexpr double theta = 0.6, phi = -1.1, k[3] = {0.8, -0.55, 0.65}, slowly = 0.4;
  if (kind.medium == Medium::tti) model.theta = constant<T, Dim, Memory>(exec, grid, theta);
  if (kind.medium == Medium::tti && Dim == 3) model.phi = constant<T, Dim, Memory>(exec, grid, phi);
  // 1 / density = 2 + sin(slowly * phase)
  if (kind.medium == Medium::variable_density) {
    model.density = field_of<T, Dim, Memory>(exec, grid, [&](const Index<Dim>& node) {
      return 1.0 / (2.0 + std::sin(slowly * phase<Dim>(node, h)));
    });
  }
  PropagatorOptions<Dim> options = rigid<Dim>(0.0, order);
  options.equations = kind.equations;
  const auto propagator = make_propagator(exec, grid, model, options);
  const auto wavefield = propagator.make_wavefield(exec);
  const auto wave = [&](int f, const Index<Dim>& node) {
    return std::sin(phase<Dim>(node, h) + 0.7 * f);
  };
  // p over the stepped field
  const auto pressure = [&](const Index<Dim>& node) {
    if (kind.medium != Medium::variable_density) return 1.0;
    return 1.0 / std::sqrt(2.0 + std::sin(slowly * phase<Dim>(node, h)));
  };
  for (int f = 0; f < wavefield.fields; ++f) {
    for (const int times : {1, 2}) {
      set_nodes<T, Dim, Memory>(
          exec, wavefield.layout, times == 1 ? wavefield.now[f] : wavefield.next[f],
          [&](const Index<Dim>& node) { return times * wave(f, node) / pressure(node); });
    }
  }
  Box<Dim> box;
  for (int d = 0; d < Dim; ++d) {
    box.lower[d] = 19;
    box.upper[d] = 21;
  }
  propagator.step(exec, wavefield, box);

  double square = 0.0, along = 0.0;
  const double axis[3] = {std::sin(theta) * (Dim == 3 ? std::cos(phi) : 1.0),
                          std::sin(theta) * std::sin(phi), std::cos(theta)};
  for (int d = 0; d < 3; ++d) {
    if (Dim == 2 && d == 1) continue;
    square += k[d] * k[d];
    along += k[d] * (kind.medium == Medium::tti ? axis[d] : (d == 2 ? 1.0 : 0.0));
  }
  along *= along;
  double max = 0.0;
  const auto vp = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.vp);
  const auto density = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.density);
  const auto epsilon = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.epsilon);
  const auto delta = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.delta);
  std::vector<double> after[2];
  for (int f = 0; f < wavefield.fields; ++f) {
    after[f] = nodes_of<T, Dim, Memory>(exec, wavefield.layout, wavefield.next[f]);
  }
  for (std::int64_t n = 0; n < box.size(); ++n) {
    const Index<Dim> node = box.node(n);
    const std::int64_t i = grid.flat(node);
    const double v = vp.data()[i] * propagator.dt(), u = phase<Dim>(node, h);
    const double p = wave(0, node), q = wave(1, node);
    double exact[2] = {-square * p, 0.0};
    if (kind.medium == Medium::variable_density) {
      const double b = 2.0 + std::sin(slowly * u);
      exact[0] =
          density.data()[i] * square * (-b * p + slowly * std::cos(slowly * u) * std::cos(u));
    } else if (kind.fields() == 2) {
      const double h1p = -along * p, h2p = -(square - along) * p, h1q = -along * q,
                   h2q = -(square - along) * q;
      const double e = epsilon.data()[i], d = delta.data()[i];
      if (kind.fletcher()) {
        const double shear = std::fabs(e - d) / 0.75;
        exact[0] = (1.0 + 2.0 * e) * h2p + h1q + shear * (h1p - h1q);
        exact[1] = (1.0 + 2.0 * d) * h2p + h1q - shear * (h2p - h2q);
      } else {
        const double r = std::sqrt(1.0 + 2.0 * std::min(e, d));
        exact[0] = (1.0 + 2.0 * e) * h2p + r * h1q;
        exact[1] = r * h2p + h1q;
      }
    }
    for (int f = 0; f < wavefield.fields; ++f) {
      const double found = pressure(node) * after[f][static_cast<std::size_t>(i)] / (v * v);
      max = std::max(max, std::fabs(found - exact[f]) / square);
    }
  }
  return max;
}

template <int Dim, class Memory>
void expect_order_in_space(const Instance<Memory>& exec) {
  for (const Kind& kind : kinds) {
    for (int order = 2; order <= 16; order += 2) {
      const double h = std::min(1.0, 0.08 * std::pow(1.5, order / 2 - 1));
      const double coarse = error_of_operator<Dim, Memory>(exec, kind, order, h);
      const double fine = error_of_operator<Dim, Memory>(exec, kind, order, h / 2);
      // errors of several kinds may cancel at one of the two
      const double slope = std::log2(coarse / fine);
      EXPECT_GT(slope, 0.92 * order)
          << kind.name() << ' ' << Dim << "D, errors " << coarse << ", " << fine;
      EXPECT_LT(slope, 1.25 * order) << kind.name() << ' ' << Dim << 'D';
      EXPECT_LT(coarse, 5e-3) << kind.name() << " order " << order;
    }
  }
}

MEMORY_TEST(DoubleTest, OrderInSpaceIn2D) { expect_order_in_space<2, Memory>(exec); }
MEMORY_TEST(DoubleTest, OrderInSpaceIn3D) { expect_order_in_space<3, Memory>(exec); }

// epsilon = delta: circles become ellipses.
template <class T, class Memory>
void expect_ellipsoids(const Instance<Memory>& exec, const Kind& kind, double thomsen, double theta,
                       double phi) {
  const double h = 5.0, dt = 0.0005;
  const Grid<3> grid = cube<3>(55, h);
  const auto model = constant_model<T, 3, Memory>(exec, grid, kind.medium,
                                                  {speed, 1.0, thomsen, thomsen, theta, phi});
  PropagatorOptions<3> options = rigid<3>(dt);
  options.equations = kind.equations;
  const Propagator<T, 3, Memory> propagator(exec, grid, model, options);
  const Ricker signal{40.0, 0.0375};
  const Index<3> center{27, 27, 27};
  const std::vector<Index<3>> receivers{{27, 27, 37}, {37, 27, 27}, {27, 17, 27},
                                        {33, 33, 33}, {34, 22, 21}, {21, 27, 35}};
  // reflections of the faces arrive later
  const Traces traces = run_shot(exec, propagator, center, signal, receivers, 180);
  const double axis[3] = {std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi),
                          std::cos(theta)};
  for (std::size_t r = 0; r < receivers.size(); ++r) {
    double along = 0.0, square = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double x = h * static_cast<double>(receivers[r][d] - center[d]);
      along += axis[d] * x;
      square += x * x;
    }
    const double stretch = 1.0 + 2.0 * thomsen;
    const double distance = std::sqrt(along * along + (square - along * along) / stretch);
    const auto expected = delayed(signal, h * h * h / (4.0 * pi * stretch * distance),
                                  distance / speed, dt, traces[r].size());
    EXPECT_LT(relative_error(traces[r], expected), 0.02)
        << kind.name() << " receiver " << moho::format_index(receivers[r]) << " epsilon " << thomsen
        << " theta " << theta;
  }
}

MEMORY_TEST(GreenTest, EllipticVti) {
  for (const Kind& kind : kinds) {
    if (kind.medium == Medium::vti) expect_ellipsoids<T, Memory>(exec, kind, 0.2, 0.0, 0.0);
  }
}
MEMORY_TEST(GreenTest, EllipticTtiIsItsRotation) {
  for (const Kind& kind : kinds) {
    if (kind.medium == Medium::tti) expect_ellipsoids<T, Memory>(exec, kind, 0.2, 0.7, 2.2);
  }
}

// Both equations: the velocity across the axis is sqrt(1 + 2 epsilon) times that along it, as in
// exact theory; the axis lies along (3, 4).
MEMORY_TEST(GreenTest, VelocitiesAlongAndAcrossATiltedAxis) {
  const Grid<2> grid = cube<2>(221, 10.0);
  for (const Kind& kind : kinds) {
    if (kind.medium != Medium::tti) continue;
    const auto model = constant_model<T, 2, Memory>(exec, grid, kind.medium,
                                                    {speed, 1.0, 0.2, 0.05, std::atan2(3.0, 4.0)});
    PropagatorOptions<2> options = rigid<2>(0.001);
    options.equations = kind.equations;
    const Propagator<T, 2, Memory> propagator(exec, grid, model, options);
    // 50 and 100 nodes from the source along and across
    const Traces traces = run_shot(exec, propagator, {110, 110}, Ricker{15.0, 0.1},
                                   {{140, 150}, {170, 190}, {150, 80}, {190, 50}}, 650);
    const auto peak = [&](const std::vector<double>& trace) {
      std::size_t at = 1;
      for (std::size_t n = 1; n + 1 < trace.size(); ++n) at = trace[n] > trace[at] ? n : at;
      const double a = trace[at - 1], b = trace[at], c = trace[at + 1];
      return 0.001 * (static_cast<double>(at) + 0.5 * (a - c) / (a - 2.0 * b + c));
    };
    const double along = 500.0 / (peak(traces[1]) - peak(traces[0]));
    const double across = 500.0 / (peak(traces[3]) - peak(traces[2]));
    EXPECT_NEAR(along, speed, 0.015 * speed) << kind.name();
    EXPECT_NEAR(across, speed * std::sqrt(1.4), 0.015 * speed) << kind.name();
  }
}

// epsilon = delta = 0: the angles have no effect.
template <class T, int Dim, class Memory>
void expect_no_axis(const Instance<Memory>& exec) {
  const Grid<Dim> grid = cube<Dim>(Dim == 2 ? 60 : 30, 10.0);
  Index<Dim> source{}, receiver{};
  for (int d = 0; d < Dim; ++d) {
    source[d] = 9 + d;
    receiver[d] = 20 - d;
  }
  Model<T, Dim, Memory> model;
  model.vp = random_field<T, Dim, Memory>(exec, grid, 1, 2000.0, 3000.0);
  PropagatorOptions<Dim> options = rigid<Dim>(0.001);
  options.boundaries.lower[Dim - 1] = {FaceKind::free_surface, 0};
  const Propagator<T, Dim, Memory> isotropic(exec, grid, model, options);
  const auto expected = run_shot(exec, isotropic, source, Ricker(), {receiver}, 250)[0];
  for (const Kind& kind : kinds) {
    if (kind.fields() != 2) continue;
    auto anisotropic = random_model<T, Dim, Memory>(exec, grid, kind.medium, 8);
    anisotropic.vp = model.vp;
    anisotropic.epsilon = anisotropic.delta = constant<T, Dim, Memory>(exec, grid, 0.0);
    options.equations = kind.equations;
    const Propagator<T, Dim, Memory> propagator(exec, grid, anisotropic, options);
    const auto found = run_shot(exec, propagator, source, Ricker(), {receiver}, 250)[0];
    EXPECT_LT(relative_difference(found, expected), by_precision<T>(5e-4, 1e-10))
        << kind.name() << ' ' << Dim << 'D';
  }
}
MEMORY_TEST(GreenTest, ZeroThomsenParametersAreIsotropicAtAnyAngle) {
  expect_no_axis<T, 2, Memory>(exec);
  expect_no_axis<T, 3, Memory>(exec);
}

// In 2D a source of one frequency radiates -i/4 H0^(2)(k r).
MEMORY_TEST(GreenTest, PointSourceIn2DIsHankels) {
  const Grid<2> grid = cube<2>(301, 10.0);
  const auto model = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {speed});
  const double dt = 0.0005;
  const Propagator<T, 2, Memory> propagator(exec, grid, model, rigid<2>(dt));
  const Ricker signal{15.0, 0.1};
  const Traces traces =
      run_shot(exec, propagator, {150, 150}, signal, {{180, 150}, {180, 190}}, 2000);
  const double distances[] = {300.0, 500.0};
  for (const double frequency : {6.0, 10.0, 15.0, 20.0, 25.0}) {
    const double omega = 2.0 * pi * frequency;
    for (std::size_t r = 0; r < 2; ++r) {
      std::complex<double> wave = 0.0, source = 0.0;
      for (std::size_t n = 0; n < traces[r].size(); ++n) {
        const double t = static_cast<double>(n) * dt;
        wave += traces[r][n] * std::polar(1.0, -omega * t);
        source += signal(t) * std::polar(1.0, -omega * t);
      }
      const double kr = omega / speed * distances[r];
      const std::complex<double> hankel(std::cyl_bessel_j(0.0, kr), -std::cyl_neumann(0.0, kr));
      const std::complex<double> expected =
          source * 100.0 * std::complex<double>(0.0, -0.25) * hankel;
      EXPECT_LT(std::abs(wave - expected) / std::abs(expected), 0.01)
          << frequency << " Hz, " << distances[r] << " m";
    }
  }
}

// Two half-spaces of equal velocity. At every angle the reflection coefficient is (rho2 - rho1) /
// (rho2 + rho1), so that the reflection is the wave of an image source.
MEMORY_TEST(GreenTest, DensityReflects) {
  const Grid<2> grid = cube<2>(201, 10.0);
  const double low = 1000.0, high = 2500.0;
  const std::int64_t last = 99;  // last node of the upper half-space; the interface is 5 m below
  const auto layers = [&](double below) {
    auto model = constant_model<T, 2, Memory>(exec, grid, Medium::variable_density, {speed, low});
    model.density = field_of<T, 2, Memory>(
        exec, grid, [&](const Index<2>& node) { return node[1] <= last ? low : below; });
    return model;
  };
  const Propagator<T, 2, Memory> one(exec, grid, layers(low), rigid<2>(0.001));
  const Propagator<T, 2, Memory> two(exec, grid, layers(high), rigid<2>(0.001));
  const Index<2> source{90, 70}, above{120, 75}, below{110, 130};
  const Index<2> image{above[0], 2 * last + 1 - above[1]};
  const double coefficient = (high - low) / (high + low);
  double errors[2];
  for (const bool slow : {false, true}) {
    const Ricker signal{slow ? 7.5 : 15.0, slow ? 0.2 : 0.1};
    const Traces whole = run_shot(exec, one, source, signal, {above, image, below}, 600);
    const Traces halves = run_shot(exec, two, source, signal, {above, below}, 600);
    std::vector<double> reflected = whole[1], transmitted = whole[2];
    for (double& value : reflected) value *= coefficient;
    for (double& value : transmitted) value *= 1.0 + coefficient;
    errors[slow] = relative_error(difference(halves[0], whole[0]), reflected);
    EXPECT_LT(relative_error(halves[1], transmitted), 0.03);
  }
  EXPECT_LT(errors[false], 0.05);
  EXPECT_LT(errors[true], 0.5 * errors[false]);  // the interface becomes sharper
}

// <w, A u> = <u, A w> for noise u and w in the rough model, up to rounding. A is the spatial
// operator over (v^2, and for p and q the matrix of a, r).
template <class T, int Dim, class Memory>
void expect_self_adjoint(const Instance<Memory>& exec, const Kind& kind,
                         const Boundaries<Dim>& boundaries, const char* what) {
  Grid<Dim> grid = cube<Dim>(Dim == 2 ? 41 : 21, 10.0);
  for (int d = 0; d < Dim; ++d) grid.extents[d] += 2 * d;
  auto model = random_model<T, Dim, Memory>(exec, grid, kind.medium, 12);
  if (kind.fields() == 2) {  // epsilon > delta
    model.epsilon = random_field<T, Dim, Memory>(exec, grid, 1, 0.25, 0.4);
    model.delta = random_field<T, Dim, Memory>(exec, grid, 2, -0.1, 0.15);
  }
  PropagatorOptions<Dim> options = rigid<Dim>(0.0);
  options.boundaries = boundaries;
  const auto propagator = make_propagator(exec, grid, model, options);
  const Box<Dim> box = moho::whole_box(grid);
  const auto epsilon = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.epsilon);
  const auto delta = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.delta);
  const auto vp = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.vp);

  std::vector<double> states[2][2], applied[2][2];
  std::mt19937 random(3);
  for (int i = 0; i < 2; ++i) {
    const auto wavefield = propagator.make_wavefield(exec);
    for (int f = 0; f < wavefield.fields; ++f) {
      std::vector<double>& state = states[i][f];
      for (std::int64_t n = 0; n < box.size(); ++n) {
        bool silent = false;  // zero on free surfaces
        for (int d = 0; d < Dim; ++d) {
          const std::int64_t at = box.node(n)[d];
          silent =
              silent || (at == 0 && boundaries.lower[d].kind == FaceKind::free_surface) ||
              (at == grid.extents[d] - 1 && boundaries.upper[d].kind == FaceKind::free_surface);
        }
        const double value = uniform(random, -1.0, 1.0);
        state.push_back(silent ? 0.0 : static_cast<double>(static_cast<T>(value)));
      }
      const auto value = [&](const Index<Dim>& node) {
        return state[static_cast<std::size_t>(grid.flat(node))];
      };
      set_nodes<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[f], value);
      set_nodes<T, Dim, Memory>(exec, wavefield.layout, wavefield.next[f],
                                [&](const Index<Dim>& node) { return 2.0 * value(node); });
    }
    propagator.step(exec, wavefield);
    for (int f = 0; f < wavefield.fields; ++f) {
      applied[i][f] = nodes_of<T, Dim, Memory>(exec, wavefield.layout, wavefield.next[f]);
    }
  }
  const auto product = [&](int left, int right, bool sizes) {
    double sum = 0.0;
    for (std::int64_t n = 0; n < box.size(); ++n) {
      const auto i = static_cast<std::size_t>(n);
      const double scale = std::pow(vp.data()[n] * propagator.dt(), 2);
      double term = states[left][0][i] * applied[right][0][i];
      if (kind.fields() == 2) {
        // the inverse of (a r; r 1)
        const double a = 1.0 + 2.0 * static_cast<double>(epsilon.data()[n]);
        const double r = std::sqrt(1.0 + 2.0 * static_cast<double>(delta.data()[n]));
        const double p = applied[right][0][i], q = applied[right][1][i];
        term =
            (states[left][0][i] * (p - r * q) + states[left][1][i] * (a * q - r * p)) / (a - r * r);
      }
      sum += sizes ? std::fabs(term / scale) : term / scale;
    }
    return sum;
  };
  EXPECT_NEAR(product(0, 1, false), product(1, 0, false),
              by_precision<T>(1e-6, 1e-14) * product(0, 1, true))
      << kind.name() << ' ' << Dim << "D " << what;
  EXPECT_LT(product(0, 0, false), 0.0);  // and nothing grows
}

MEMORY_TEST(GreenTest, OperatorsAreSelfAdjoint) {
  for (const Kind& kind : kinds) {
    if (kind.fletcher()) continue;
    expect_self_adjoint<T, 2, Memory>(exec, kind, moho::wave::all_faces<2>(FaceKind::rigid),
                                      "rigid");
    expect_self_adjoint<T, 3, Memory>(exec, kind, moho::wave::all_faces<3>(FaceKind::rigid),
                                      "rigid");
    auto free2 = moho::wave::all_faces<2>(FaceKind::rigid);
    auto free3 = moho::wave::all_faces<3>(FaceKind::rigid);
    free2.lower[1].kind = free3.lower[2].kind = FaceKind::free_surface;
    expect_self_adjoint<T, 2, Memory>(exec, kind, free2, "free top");
    expect_self_adjoint<T, 3, Memory>(exec, kind, free3, "free top");
    free2 = moho::wave::all_faces<2>(FaceKind::free_surface);
    free3 = moho::wave::all_faces<3>(FaceKind::free_surface);
    expect_self_adjoint<T, 2, Memory>(exec, kind, free2, "free everywhere");
    expect_self_adjoint<T, 3, Memory>(exec, kind, free3, "free everywhere");
  }
}

// Source and receiver are exchanged in a rough model.
MEMORY_TEST(GreenTest, Reciprocity) {
  const Grid<3> grid{{30, 27, 33}, {10.0, 12.0, 9.0}, {}};
  for (const Kind& kind : kinds) {
    if (kind.fields() == 2) continue;  // with q, p alone is not reciprocal
    const auto model = random_model<T, 3, Memory>(exec, grid, kind.medium, 21);
    PropagatorOptions<3> options = rigid<3>(0.0);
    options.boundaries.lower[2] = {FaceKind::free_surface, 0};
    const auto propagator = make_propagator(exec, grid, model, options);
    const Index<3> here{5, 7, 4}, there{24, 15, 27};
    const Ricker signal{25.0, 0.05};
    const auto to = run_shot(exec, propagator, here, signal, {there}, 300)[0];
    const auto back = run_shot(exec, propagator, there, signal, {here}, 300)[0];
    EXPECT_LT(relative_difference(to, back), by_precision<T>(3e-5, 1e-13)) << kind.name();
  }
}

// Twice one wave minus three times another, all faces and media.
MEMORY_TEST(GreenTest, Linearity) {
  const Grid<2> grid{{45, 52}, {10.0, 8.0}, {}};
  for (const Kind& kind : kinds) {
    const auto model = random_model<T, 2, Memory>(exec, grid, kind.medium, 21);
    PropagatorOptions<2> options = rigid<2>(0.0);
    options.equations = kind.equations;
    options.boundaries =
        moho::wave::all_faces<2>(kind.medium == Medium::tti ? FaceKind::sponge : FaceKind::cpml, 8);
    options.boundaries.lower[1] = {FaceKind::free_surface, 0};
    const auto propagator = make_propagator(exec, grid, model, options);
    Wavefield<T, 2, Memory> waves[3];
    for (auto& wavefield : waves) wavefield = propagator.make_wavefield(exec);
    std::mt19937 random(5);
    for (int f = 0; f < waves[0].fields; ++f) {
      for (const bool now : {true, false}) {
        std::vector<double> values[2];
        for (auto& list : values) {
          for (std::int64_t n = 0; n < grid.size(); ++n) list.push_back(uniform(random, -1.0, 1.0));
        }
        for (int w = 0; w < 3; ++w) {
          set_nodes<T, 2, Memory>(exec, waves[w].layout, now ? waves[w].now[f] : waves[w].next[f],
                                  [&](const Index<2>& node) {
                                    const auto i = static_cast<std::size_t>(grid.flat(node));
                                    if (w < 2) return values[w][i];
                                    return 2.0 * values[0][i] - 3.0 * values[1][i];
                                  });
        }
      }
    }
    for (int n = 0; n < 20; ++n) {
      for (auto& wavefield : waves) {
        propagator.step(exec, wavefield);
        wavefield.advance();
      }
    }
    for (int f = 0; f < waves[0].fields; ++f) {
      std::vector<double> nodes[3];
      for (int w = 0; w < 3; ++w) {
        nodes[w] = nodes_of<T, 2, Memory>(exec, waves[w].layout, waves[w].now[f]);
      }
      for (std::size_t i = 0; i < nodes[0].size(); ++i) {
        nodes[0][i] = 2.0 * nodes[0][i] - 3.0 * nodes[1][i];
      }
      EXPECT_LT(relative_difference(nodes[0], nodes[2]), by_precision<T>(1e-4, 1e-12))
          << kind.name();
    }
  }
}

}  // namespace
