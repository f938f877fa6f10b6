// SPDX-License-Identifier: BSD-3-Clause

#include "gravity/extended.hpp"

#include <limits>

namespace moho::testing {

namespace {

// log(2) and pi as sums of two doubles; test_extended checks both by identities.
const Extended log_two(0.6931471805599453, 2.3190468138462996e-17);
const Extended pi_value(3.141592653589793, 1.2246467991473532e-16);

Extended scaled(const Extended& a, double power_of_two) {
  return {a.high * power_of_two, a.low * power_of_two};
}

// Returns exp(x) - 1: the series for small x, then doubling, exp(2 x) - 1 = 2 e + e^2.
Extended exponential(double x) {
  const double turns = std::nearbyint(x / log_two.high);
  const Extended reduced = scaled(Extended(x) - log_two * Extended(turns), 1.0 / 512.0);
  Extended term = reduced, sum = reduced;
  for (int n = 2; n <= 10; ++n) {
    term = term * reduced / Extended(n);
    sum += term;
  }
  for (int i = 0; i < 9; ++i) sum = scaled(sum, 2.0) + sum * sum;
  return scaled(sum + Extended(1.0), std::ldexp(1.0, static_cast<int>(turns)));
}

// Sine and cosine for |x| <= pi / 2: the series for x / 16, then doubling of 1 - cos. That
// difference keeps its digits.
void sine_cosine(double x, Extended& sine, Extended& cosine) {
  const Extended reduced(x / 16.0);
  const Extended square = reduced * reduced;
  Extended term = reduced;
  sine = reduced;
  for (int n = 3; n <= 23; n += 2) {
    term = -term * square / Extended(static_cast<double>(n * (n - 1)));
    sine += term;
  }
  Extended versed = sine * sine / (Extended(1.0) + square_root(Extended(1.0) - sine * sine));
  for (int i = 0; i < 4; ++i) {
    const Extended doubled = scaled(sine * sine, 2.0);
    sine = scaled(sine * (Extended(1.0) - versed), 2.0);
    versed = doubled;
  }
  cosine = Extended(1.0) - versed;
}

}  // namespace

Extended pi_extended() { return pi_value; }

Extended square_root(const Extended& a) {
  if (is_zero(a)) return {};
  const double root = std::sqrt(a.high);
  const Extended rest = a - exact_product(root, root);
  const Extended better = exact_quick_sum(root, rest.high / (2.0 * root));
  return better + (a - better * better) / Extended(2.0 * root);
}

Extended logarithm(const Extended& a) {
  const double start = std::log(a.high);
  const Extended excess = a * exponential(-start) - Extended(1.0);
  return Extended(start) + excess - scaled(excess * excess, 0.5);
}

Extended arc_tangent(const Extended& y, const Extended& x) {
  if (is_negative(x)) return arc_tangent(-y, -x);
  const double start = std::atan(y.high / x.high);
  Extended sine, cosine;
  sine_cosine(start, sine, cosine);
  return Extended(start) + (y * cosine - x * sine) / (x * cosine + y * sine);
}

namespace {

// Returns ln(w + r), with r^2 = u^2 + v^2 + w^2. For w < 0 the form ln((u^2 + v^2) / (r - w))
// avoids cancellation. On the line u = v = 0 beyond the edge's end the numerator cancels in the
// difference of the edge's ends and is omitted. At the corner the factor of the logarithm is 0.
Extended log_term(const Extended& u, const Extended& v, const Extended& w, const Extended& r) {
  if (is_zero(r)) return {};
  if (!is_negative(w)) return logarithm(w + r);
  const Extended square = u * u + v * v;
  if (is_zero(square)) return -logarithm(r - w);
  return logarithm(square) - logarithm(r - w);
}

// Returns atan(v w / (u r)); for u = 0 the limit from the side of `outside`.
Extended atan_term(const Extended& u, const Extended& v, const Extended& w, const Extended& r,
                   double outside) {
  const Extended product = v * w;
  if (is_zero(product)) return {};
  if (!is_zero(u)) return arc_tangent(product, u * r);
  const bool negative = is_negative(product) != (outside < 0.0);
  return scaled(pi_value, negative ? -0.5 : 0.5);
}

}  // namespace

ExtendedField extended_prism(const Prism& prism, const Station& station, double constant) {
  Extended faces[3][2];
  bool between[3];
  for (int a = 0; a < 3; ++a) {
    for (int i = 0; i < 2; ++i) faces[a][i] = exact_sum(prism[2 * a + i], -station[a]);
    between[a] = faces[a][0].high <= 0.0 && faces[a][1].high >= 0.0;
  }
  Extended sum[10];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) {
        // indices start at 0, so the sign of (-1)^(i+j+k) is opposite to that for indices from 1
        const Extended sign((i + j + k) % 2 == 0 ? -1.0 : 1.0);
        const Extended &x = faces[0][i], &y = faces[1][j], &z = faces[2][k];
        const Extended r = square_root(x * x + y * y + z * z);
        const Extended lx = log_term(y, z, x, r), ly = log_term(z, x, y, r),
                       lz = log_term(x, y, z, r);
        const Extended ax = atan_term(x, y, z, r, i == 0 ? 1.0 : -1.0),
                       ay = atan_term(y, z, x, r, j == 0 ? 1.0 : -1.0),
                       az = atan_term(z, x, y, r, k == 0 ? 1.0 : -1.0);
        sum[0] += sign * (x * y * lz + y * z * lx + z * x * ly -
                          scaled(x * x * ax + y * y * ay + z * z * az, 0.5));
        sum[1] += -sign * (y * lz + z * ly - x * ax);
        sum[2] += -sign * (z * lx + x * lz - y * ay);
        sum[3] += -sign * (x * ly + y * lx - z * az);
        sum[4] += -sign * ax;
        sum[5] += -sign * ay;
        sum[6] += -sign * az;
        sum[7] += sign * lz;
        sum[8] += sign * ly;
        sum[9] += sign * lx;
      }
    }
  }
  // where the gradient does not exist
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  bool on_face[3];
  for (int a = 0; a < 3; ++a) on_face[a] = is_zero(faces[a][0]) || is_zero(faces[a][1]);
  if (between[0] && between[1] && between[2]) {
    const auto diagonal = [](int a) { return 4 + a; };
    const auto mixed = [](int a, int b) { return 6 + a + b; };  // xy 7, xz 8, yz 9
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3;
      if (on_face[a] && on_face[b]) {
        sum[diagonal(a)] = sum[diagonal(b)] = sum[mixed(a, b)] = Extended(nan);
      }
    }
  }
  ExtendedField field;
  for (int c = 0; c < 10; ++c) {
    const double unit = c == 0 ? 1.0 : c < 4 ? 1e5 : 1e9;
    field[static_cast<std::size_t>(c)] =
        sum[c] * exact_product(constant, prism[6]) * Extended(unit);
  }
  return field;
}

Field exact_prism(const Prism& prism, const Station& station, double constant) {
  const ExtendedField field = extended_prism(prism, station, constant);
  Field rounded;
  for (std::size_t c = 0; c < field.size(); ++c) rounded[c] = to_double(field[c]);
  return rounded;
}

}  // namespace moho::testing
