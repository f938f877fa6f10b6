// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Coefficients of differences: known values, exactness for polynomials, orders of convergence.

#include <moho/wave/kernel/coefficients.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

using moho::wave::Coefficients;
using moho::wave::first_derivative;
using moho::wave::largest_radius;
using moho::wave::required_points_per_wavelength;
using moho::wave::second_derivative;
using ::testing::HasSubstr;

// They are compile-time constants.
static_assert(second_derivative(1)[0] == -2.0 && second_derivative(1)[1] == 1.0);
static_assert(first_derivative(1)[0] == 0.0 && first_derivative(1)[1] == 0.5);
static_assert(second_derivative(1)[2] == 0.0 && first_derivative(1)[2] == 0.0);
constexpr Coefficients eighth = second_derivative(4);
static_assert(eighth[1] > 1.59 && eighth[1] < 1.61);

// Values from tables.
TEST(Coefficients, AreThoseOfTheBooks) {
  const double second4[] = {-5.0 / 2, 4.0 / 3, -1.0 / 12};
  const double second8[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  const double first4[] = {0.0, 2.0 / 3, -1.0 / 12};
  const double first8[] = {0.0, 4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(second_derivative(2)[k], second4[k], 1e-15);
    EXPECT_NEAR(first_derivative(2)[k], first4[k], 1e-15);
  }
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(eighth[k], second8[k], 1e-15);
    EXPECT_NEAR(first_derivative(4)[k], first8[k], 1e-15);
  }
}

// Differences of order 2R are exact for x^n at 0 for n up to 2R + 1 (first: 2R), and not beyond.
TEST(Coefficients, AreExactForPolynomialsUpToTheirOrder) {
  for (int radius = 1; radius <= largest_radius; ++radius) {
    const Coefficients c = second_derivative(radius), d = first_derivative(radius);
    for (int half = 1; half <= radius + 1; ++half) {
      double second = 0.0, first = 0.0, size_second = 0.0, size_first = 0.0;
      for (int k = 1; k <= radius; ++k) {
        const double even = std::pow(k, 2 * half), odd = std::pow(k, 2 * half - 1);
        second += 2.0 * c[static_cast<std::size_t>(k)] * even;
        first += 2.0 * d[static_cast<std::size_t>(k)] * odd;
        size_second += std::fabs(2.0 * c[static_cast<std::size_t>(k)] * even);
        size_first += std::fabs(2.0 * d[static_cast<std::size_t>(k)] * odd);
      }
      const double exact_second = half == 1 ? 2.0 : 0.0, exact_first = half == 1 ? 1.0 : 0.0;
      if (half <= radius) {
        EXPECT_NEAR(second, exact_second, 1e-14 * size_second) << radius << ' ' << half;
        EXPECT_NEAR(first, exact_first, 1e-14 * size_first) << radius << ' ' << half;
      } else {
        EXPECT_GT(std::fabs(second - exact_second), 0.5) << radius;
        EXPECT_GT(std::fabs(first - exact_first), 0.5) << radius;
      }
    }
    double sum = c[0];
    for (int k = 1; k <= radius; ++k) sum += 2.0 * c[static_cast<std::size_t>(k)];
    EXPECT_NEAR(sum, 0.0, 1e-15);
  }
}

double second_error(int radius, double h) {
  const Coefficients c = second_derivative(radius);
  const double x = 0.7;
  double sum = c[0] * std::sin(x);
  for (int k = 1; k <= radius; ++k) {
    sum += c[static_cast<std::size_t>(k)] * (std::sin(x + k * h) + std::sin(x - k * h));
  }
  return std::fabs(sum / (h * h) + std::sin(x));
}
double first_error(int radius, double h) {
  const Coefficients d = first_derivative(radius);
  const double x = 0.7;
  double sum = 0.0;
  for (int k = 1; k <= radius; ++k) {
    sum += d[static_cast<std::size_t>(k)] * (std::sin(x + k * h) - std::sin(x - k * h));
  }
  return std::fabs(sum / h - std::cos(x));
}

TEST(Coefficients, ConvergeAtTheirOrder) {
  for (int radius = 1; radius <= largest_radius; ++radius) {
    // spacings at which the error exceeds rounding
    const double h =
        0.05 * std::pow(1.6, radius - 1) > 1.0 ? 1.0 : 0.05 * std::pow(1.6, radius - 1);
    const double order = 2.0 * radius;
    const double second = std::log2(second_error(radius, h) / second_error(radius, h / 2));
    const double first = std::log2(first_error(radius, h) / first_error(radius, h / 2));
    EXPECT_NEAR(second, order, 0.05 * order) << "h " << h;
    EXPECT_NEAR(first, order, 0.05 * order) << "h " << h;
  }
}

// Symbols are the differences of waves.
TEST(Coefficients, SymbolsAreWhatTheDifferencesDo) {
  for (int radius = 1; radius <= largest_radius; ++radius) {
    const Coefficients c = second_derivative(radius), d = first_derivative(radius);
    for (const double theta : {0.1, 1.0, 2.5, 3.14159265358979323846}) {
      double second = -c[0], first = 0.0;
      for (int k = 1; k <= radius; ++k) {
        second -= 2.0 * c[static_cast<std::size_t>(k)] * std::cos(k * theta);
        first += 2.0 * d[static_cast<std::size_t>(k)] * std::sin(k * theta);
      }
      EXPECT_NEAR(moho::wave::second_derivative_symbol(radius, theta), second, 1e-14);
      EXPECT_NEAR(moho::wave::first_derivative_symbol(radius, theta), first, 1e-14);
    }
    // the shortest wave has the largest symbol, and no symbol is negative
    const double max = moho::wave::largest_symbol(radius);
    EXPECT_GE(max, 4.0 - 1e-14);
    EXPECT_LT(max, 3.14159265358979323846 * 3.14159265358979323846);
    for (double theta = 0.0; theta < 3.14159; theta += 0.01) {
      const double symbol = moho::wave::second_derivative_symbol(radius, theta);
      const double slope = moho::wave::first_derivative_symbol(radius, theta);
      EXPECT_LE(symbol, max);
      EXPECT_GE(symbol, -1e-14);
      EXPECT_LE(slope * slope, symbol + 1e-12);  // of mixed and of pure derivatives
    }
  }
}

TEST(Coefficients, PointsPerWavelength) {
  double before = 1e9;
  for (int order = 2; order <= 16; order += 2) {
    const double points = required_points_per_wavelength(order);
    EXPECT_LT(points, before);
    EXPECT_GT(points, 2.0);
    before = points;
    const auto error = [&](double p) {
      const double theta = 2.0 * 3.14159265358979323846 / p;
      return std::fabs(std::sqrt(moho::wave::second_derivative_symbol(order / 2, theta)) / theta -
                       1.0);
    };
    for (double p = points; p < 4.0 * points; p *= 1.05) EXPECT_LE(error(p), 0.01);
    EXPECT_GT(error(0.99 * points), 0.01);
    EXPECT_GT(required_points_per_wavelength(order, 0.001), points);
  }
}

TEST(Coefficients, OrdersThatAreNot) {
  for (int order = 2; order <= 16; order += 2) EXPECT_NO_THROW(moho::wave::check_order(order));
  for (const int order : {-2, 0, 1, 3, 7, 17, 18}) {
    try {
      moho::wave::check_order(order);
      FAIL() << order;
    } catch (const moho::InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("order is " + std::to_string(order) +
                                          " (allowed: 2, 4, 6, 8, 10, 12, 14, 16): 8 is a good"));
    }
    EXPECT_THROW(required_points_per_wavelength(order), moho::InputError);
  }
}

}  // namespace
