// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/fmm.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

namespace moho::gravity {

namespace detail {

namespace {

using Long = long double;
constexpr Long pi = 3.14159265358979323846264338327950288L;

// Multiply-adds in the time of a pair of direct sums, of several components: measured on a host.
constexpr double multiply_adds_of_pair = 90.0;
// Work of a pair of one component, in pairs of several.
constexpr double pair_of_one_component = 0.65;

std::size_t slot(std::int64_t i) { return static_cast<std::size_t>(i); }

// Returns the harmonics at a point.
std::vector<Long> harmonics_at(int order, Long x, Long y, Long z) {
  std::vector<Long> values(slot(fmm_count(order)), 0.0L);
  const Long r2 = x * x + y * y + z * z;
  Long c = 1.0L, s = 0.0L;
  for (int m = 0; m <= order; ++m) {
    if (m > 0) {
      const Long factor = m == 1 ? 1.0L : std::sqrt((2.0L * m - 1.0L) / (2.0L * m));
      const Long next = factor * (x * c - y * s);
      s = factor * (x * s + y * c);
      c = next;
    }
    Long lower[2] = {0.0L, 0.0L}, here[2] = {c, s};
    for (int n = m; n <= order; ++n) {
      if (n > m) {
        const Long root = std::sqrt(static_cast<Long>(n * n - m * m));
        const Long a = static_cast<Long>(2 * n - 1) / root * z;
        const Long b = std::sqrt(static_cast<Long>((n - 1) * (n - 1) - m * m)) / root * r2;
        for (int k = 0; k < 2; ++k) {
          const Long next = a * here[k] - b * lower[k];
          lower[k] = here[k];
          here[k] = next;
        }
      }
      values[slot(cos_at(n, m))] = here[0];
      if (m > 0) values[slot(sin_at(n, m))] = here[1];
    }
  }
  return values;
}

// Nodes and weights of Gauss's rule between -1 and 1.
void gauss_rule(int count, std::vector<Long>& nodes, std::vector<Long>& weights) {
  for (int k = 0; k < count; ++k) {
    Long x = std::cos(pi * (k + 0.75L) / (count + 0.5L)), slope = 0.0L;
    for (int turn = 0; turn < 12; ++turn) {
      Long lower = 1.0L, here = x;
      for (int n = 2; n <= count; ++n) {
        const Long next = ((2.0L * n - 1.0L) * x * here - (n - 1.0L) * lower) / n;
        lower = here;
        here = next;
      }
      slope = count * (x * here - lower) / (x * x - 1.0L);
      x -= here / slope;
    }
    nodes.push_back(x);
    weights.push_back(2.0L / ((1.0L - x * x) * slope * slope));
  }
}

// Elements of the exchange of x and z: averages over the sphere of products of harmonics.
void set_exchange(FmmTables& tables) {
  const int order = tables.order;
  std::vector<Long> nodes, weights, sums;
  gauss_rule(order + 1, nodes, weights);
  std::int32_t count = 0;
  for (HarmonicRow& row : tables.rows) {
    row.exchange = count;
    for (int m = first_exchanged(row); m <= row.degree; m += 2) ++count;
  }
  sums.assign(slot(count), 0.0L);
  const int turns = 2 * order + 2;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const Long across = std::sqrt(1.0L - nodes[k] * nodes[k]);
    for (int turn = 0; turn < turns; ++turn) {
      // half of a step away from the axes
      const Long angle = 2.0L * pi * (turn + 0.5L) / turns;
      const Long x = across * std::cos(angle), y = across * std::sin(angle), z = nodes[k];
      const std::vector<Long> here = harmonics_at(order, x, y, z);
      const std::vector<Long> exchanged = harmonics_at(order, z, y, x);
      std::size_t element = 0;
      for (std::size_t r = 0; r < tables.rows.size(); ++r) {
        const HarmonicRow& row = tables.rows[r];
        const Long value = exchanged[r] * weights[k] * (0.5L / turns) * (2 * row.degree + 1);
        const int n = row.degree;
        for (int m = first_exchanged(row); m <= n; m += 2) {
          sums[element++] += value * here[slot(row.sine != 0 ? sin_at(n, m) : cos_at(n, m))];
        }
      }
    }
  }
  for (const Long sum : sums) tables.exchange.push_back(static_cast<double>(sum));
}

Long root_of_binomials(int top, int first, int other_top, int second) {
  Long value = 1.0L;
  for (int k = 1; k <= first; ++k) value *= static_cast<Long>(top - first + k) / k;
  for (int k = 1; k <= second; ++k) value *= static_cast<Long>(other_top - second + k) / k;
  return std::sqrt(value);
}

// Elements of the shifts along z.
void set_shifts(FmmTables& tables) {
  const int order = tables.order;
  std::vector<std::int32_t> begin(slot((order + 1) * (order + 1)), 0);
  for (int m = 0; m <= order; ++m) {
    for (int k = m; k <= order; ++k) {
      begin[slot(k * (order + 1) + m)] = static_cast<std::int32_t>(tables.shift.size());
      for (int n = m; n <= order; ++n) {
        const int high = std::max(n, k), low = std::min(n, k);
        tables.shift.push_back(
            static_cast<double>(root_of_binomials(high + m, low + m, high - m, low - m)));
        const Long far = root_of_binomials(n + k, n + m, n + k, n - m);
        tables.inverse.push_back(static_cast<double>((k + m) % 2 == 0 ? far : -far));
      }
    }
  }
  for (HarmonicRow& row : tables.rows) {
    row.shift = begin[slot(row.degree * (order + 1) + row.order)];
  }
}

// A homogeneous polynomial: the coefficient of x^i y^j z^(n-i-j) is at i (n + 1) + j.
using Polynomial = std::vector<Long>;

// Adds a polynomial times a factor and a power of each coordinate.
void add_product(Polynomial& to, int degree, const Polynomial& from, int from_degree, Long factor,
                 int dx, int dy) {
  for (int i = 0; i <= from_degree; ++i) {
    for (int j = 0; j + i <= from_degree; ++j) {
      to[slot((i + dx) * (degree + 1) + j + dy)] += factor * from[slot(i * (from_degree + 1) + j)];
    }
  }
}

// Coefficients of the harmonics, by rows.
void set_polynomials(FmmTables& tables) {
  const int order = tables.order;
  for (int i = 0; i <= order; ++i) {
    const int before = monomial_count(order) - monomial_count(order - i), left = order - i;
    for (int j = 0; j <= left; ++j) {
      tables.powers.push_back(
          {static_cast<short>(i), static_cast<short>(j),
           static_cast<std::int32_t>(before + j * (left + 1) - j * (j - 1) / 2)});
    }
  }
  const auto monomial = [&](int i, int j, int k) {
    const int left = order - i;
    return monomial_count(order) - monomial_count(left) + j * (left + 1) - j * (j - 1) / 2 + k;
  };
  std::vector<Polynomial> all(slot(fmm_count(order)));
  all[0] = {1.0L};
  const auto zero = [](int n) { return Polynomial(slot((n + 1) * (n + 1)), 0.0L); };
  for (int m = 0; m <= order; ++m) {
    if (m > 0) {
      const Long factor = m == 1 ? 1.0L : std::sqrt((2.0L * m - 1.0L) / (2.0L * m));
      Polynomial c = zero(m), s = zero(m);
      const Polynomial& c1 = all[slot(cos_at(m - 1, m - 1))];
      add_product(c, m, c1, m - 1, factor, 1, 0);
      add_product(s, m, c1, m - 1, factor, 0, 1);
      if (m > 1) {
        const Polynomial& s1 = all[slot(sin_at(m - 1, m - 1))];
        add_product(c, m, s1, m - 1, -factor, 0, 1);
        add_product(s, m, s1, m - 1, factor, 1, 0);
      }
      all[slot(cos_at(m, m))] = c;
      all[slot(sin_at(m, m))] = s;
    }
    for (int n = m + 1; n <= order; ++n) {
      const Long root = std::sqrt(static_cast<Long>(n * n - m * m));
      const Long a = static_cast<Long>(2 * n - 1) / root;
      const Long b = std::sqrt(static_cast<Long>((n - 1) * (n - 1) - m * m)) / root;
      for (const bool sine : {false, true}) {
        if (sine && m == 0) continue;
        const auto at = [&](int degree) {
          return slot(sine ? sin_at(degree, m) : cos_at(degree, m));
        };
        Polynomial next = zero(n);
        add_product(next, n, all[at(n - 1)], n - 1, a, 0, 0);
        if (n - 2 >= m) {
          add_product(next, n, all[at(n - 2)], n - 2, -b, 2, 0);
          add_product(next, n, all[at(n - 2)], n - 2, -b, 0, 2);
          add_product(next, n, all[at(n - 2)], n - 2, -b, 0, 0);
        }
        all[at(n)] = next;
      }
    }
  }
  tables.row_begin.push_back(0);
  std::vector<std::vector<std::pair<std::int32_t, double>>> columns(slot(monomial_count(order)));
  for (std::size_t r = 0; r < all.size(); ++r) {
    const int n = tables.rows[r].degree;
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; j + i <= n; ++j) {
        const auto value = static_cast<double>(all[r][slot(i * (n + 1) + j)]);
        if (value == 0.0) continue;
        const int at = monomial(i, j, n - i - j);
        tables.row_monomial.push_back(at);
        tables.row_value.push_back(value);
        columns[slot(at)].emplace_back(static_cast<std::int32_t>(r), value);
      }
    }
    tables.row_begin.push_back(static_cast<std::int32_t>(tables.row_value.size()));
  }
  tables.column_begin.push_back(0);
  for (const auto& column : columns) {
    for (const auto& [row, value] : column) {
      tables.column_row.push_back(row);
      tables.column_value.push_back(value);
    }
    tables.column_begin.push_back(static_cast<std::int32_t>(tables.column_value.size()));
  }
}

// A power of two at or above a length.
double unit_of_length(double length) {
  int exponent = 0;
  const double fraction = std::frexp(length, &exponent);
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

FmmTables make_fmm_tables(int order) {
  FmmTables tables;
  tables.order = order;
  for (int n = 0; n <= order; ++n) {
    for (int r = 0; r <= 2 * n; ++r) {
      HarmonicRow row{};
      row.degree = static_cast<short>(n);
      row.order = static_cast<short>(r <= n ? r : r - n);
      row.sine = static_cast<short>(r > n);
      tables.rows.push_back(row);
    }
  }
  for (int k = 0; k <= 2 * order + 1; ++k) {
    tables.root.push_back(static_cast<double>(std::sqrt(static_cast<Long>(k))));
  }
  for (int m = 0; m <= order; ++m) {
    for (int n = m; n <= order; ++n) {
      const Long root = std::sqrt(static_cast<Long>(n * n - m * m));
      const Long below = std::sqrt(static_cast<Long>(std::max(0, (n - 1) * (n - 1) - m * m)));
      tables.upward.push_back(n > m ? static_cast<double>((2 * n - 1) / root) : 0.0);
      tables.upward.push_back(n > m ? static_cast<double>(below / root) : 0.0);
    }
  }
  set_exchange(tables);
  set_shifts(tables);
  set_polynomials(tables);
  return tables;
}

}  // namespace

const FmmTables& fmm_tables(int order) {
  static std::mutex access;
  static std::map<int, FmmTables> known;
  const std::lock_guard<std::mutex> lock(access);
  const auto found = known.find(order);
  return found != known.end() ? found->second
                              : known.emplace(order, make_fmm_tables(order)).first->second;
}

FmmTables arranged_for_devices(const FmmTables& tables) {
  FmmTables arranged = tables;
  arranged.exchange.clear();
  for (int n = 0; n <= tables.order; ++n) {
    const int rows = 2 * n + 1;
    const std::size_t first = arranged.exchange.size();
    arranged.exchange.resize(first + slot((n / 2 + 1) * rows), 0.0);
    for (int r = 0; r < rows; ++r) {
      const HarmonicRow& row = tables.rows[slot(n * n + r)];
      std::size_t from = slot(row.exchange), to = first + slot(r);
      arranged.rows[slot(n * n + r)].exchange = static_cast<std::int32_t>(to);
      for (int m = first_exchanged(row); m <= n; m += 2, to += slot(rows)) {
        arranged.exchange[to] = tables.exchange[from++];
      }
    }
  }
  const std::size_t pairs = slot((tables.order + 1) * (tables.order + 2) / 2);
  arranged.inverse.assign(slot(tables.order + 1) * pairs, 0.0);
  arranged.shift.assign(slot(tables.order + 1) * pairs, 0.0);
  for (HarmonicRow& row : arranged.rows) {
    const int at = row.degree * (row.degree + 1) / 2 + row.order;
    for (int n = row.order; n <= tables.order; ++n) {
      const std::size_t from = slot(row.shift + n - row.order), to = slot(n) * pairs + slot(at);
      arranged.inverse[to] = tables.inverse[from];
      arranged.shift[to] = tables.shift[from];
    }
    row.shift = at;
  }
  return arranged;
}

SlicedRows slice_rows(const std::vector<std::int32_t>& begin,
                      const std::vector<std::int32_t>& column, const std::vector<double>& value) {
  const auto rows = static_cast<std::int32_t>(begin.size()) - 1;
  const auto length = [&](std::int32_t r) { return begin[slot(r + 1)] - begin[slot(r)]; };
  SlicedRows slices;
  for (std::int32_t r = 0; r < rows; ++r) slices.row.push_back(r);
  std::stable_sort(slices.row.begin(), slices.row.end(),
                   [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });
  slices.row.resize(slot((rows + fmm_slice - 1) / fmm_slice * fmm_slice), -1);
  slices.begin.push_back(0);
  for (std::size_t first = 0; first < slices.row.size(); first += fmm_slice) {
    for (std::int32_t k = 0; k < length(slices.row[first]); ++k) {
      for (std::size_t lane = 0; lane < fmm_slice; ++lane) {
        const std::int32_t row = slices.row[first + lane];
        const bool inside = row >= 0 && k < length(row);
        slices.column.push_back(inside ? column[slot(begin[slot(row)] + k)] : 0);
        slices.value.push_back(inside ? value[slot(begin[slot(row)] + k)] : 0.0);
      }
    }
    slices.begin.push_back(static_cast<std::int32_t>(slices.value.size()));
  }
  return slices;
}

FmmTree split_keys(const std::vector<std::uint64_t>& keys, std::int32_t leaf,
                   std::int32_t padding) {
  constexpr std::uint64_t level_mask = (1u << fmm_level_bits) - 1;
  FmmTree tree;
  FmmNode root{};
  root.end = static_cast<std::int32_t>(keys.size());
  root.parent = -1;
  tree.nodes.push_back(root);
  std::vector<std::int32_t> level{0};  // level of each node's cell; -1: its prisms fit no child
  tree.levels = {0};
  const auto level_of = [&](std::int32_t i) {
    return static_cast<std::int32_t>(keys[slot(i)] & level_mask);
  };
  for (std::size_t first = 0; first < tree.nodes.size();) {
    const std::size_t last = tree.nodes.size();
    tree.levels.push_back(static_cast<std::int32_t>(last));
    for (; first < last; ++first) {
      const FmmNode node = tree.nodes[first];
      if (node.end - node.begin <= leaf || level[first] < 0) continue;
      std::int32_t at = level[first], own = node.begin;
      std::vector<std::pair<std::int32_t, std::int32_t>> runs;
      // one step further down while all are in one child
      for (; at < fmm_levels; ++at) {
        runs.clear();
        own = node.begin;
        while (own < node.end && level_of(own) <= at) ++own;
        const int shift = fmm_level_bits + 3 * (fmm_levels - at - 1);
        for (std::int32_t begin = own; begin < node.end;) {
          const std::uint64_t cell = keys[slot(begin)] >> shift;
          const auto next = std::upper_bound(
              keys.begin() + begin, keys.begin() + node.end, cell,
              [&](std::uint64_t value, std::uint64_t key) { return value < key >> shift; });
          const auto end = static_cast<std::int32_t>(next - keys.begin());
          runs.emplace_back(begin, end);
          begin = end;
        }
        if (own > node.begin || runs.size() > 1) break;
      }
      if (runs.empty() || (own == node.begin && runs.size() == 1)) continue;
      tree.nodes[first].child = static_cast<std::int32_t>(tree.nodes.size());
      const auto add = [&](std::int32_t begin, std::int32_t end, std::int32_t cell) {
        FmmNode child{};
        child.begin = begin;
        child.end = end;
        child.parent = static_cast<std::int32_t>(first);
        tree.nodes.push_back(child);
        level.push_back(cell);
        ++tree.nodes[first].children;
      };
      if (own > node.begin) add(node.begin, own, -1);
      for (const auto& [begin, end] : runs) add(begin, end, at + 1);
    }
  }
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    FmmNode& node = tree.nodes[k];
    if (node.children > 0) continue;
    tree.leaves.push_back(static_cast<std::int32_t>(k));
  }
  // places in the order of the keys
  std::sort(tree.leaves.begin(), tree.leaves.end(), [&](std::int32_t a, std::int32_t b) {
    return tree.nodes[slot(a)].begin < tree.nodes[slot(b)].begin;
  });
  for (const std::int32_t k : tree.leaves) {
    FmmNode& node = tree.nodes[slot(k)];
    node.slot = static_cast<std::int32_t>(tree.slots);
    tree.slots += (node.end - node.begin + padding - 1) / padding * padding;
  }
  return tree;
}

void set_bounds(FmmTree& tree, const std::vector<LeafBounds>& leaves) {
  std::vector<LeafBounds> bounds(tree.nodes.size());
  for (std::size_t k = 0; k < leaves.size(); ++k) bounds[slot(tree.leaves[k])] = leaves[k];
  for (std::size_t k = tree.nodes.size(); k-- > 0;) {
    FmmNode& node = tree.nodes[k];
    LeafBounds& box = bounds[k];
    for (std::int32_t c = 0; c < node.children; ++c) {
      const LeafBounds& child = bounds[slot(node.child + c)];
      for (int n = 0; n < 3; ++n) {
        box.low[n] = c == 0 ? child.low[n] : std::min(box.low[n], child.low[n]);
        box.high[n] = c == 0 ? child.high[n] : std::max(box.high[n], child.high[n]);
      }
    }
    double diagonal2 = 0.0;
    for (int n = 0; n < 3; ++n) {
      const double half = 0.5 * (box.high[n] - box.low[n]);
      node.centre[n] = box.low[n] + half;
      diagonal2 += half * half;
    }
    node.radius = node.children == 0 ? box.radius : std::sqrt(diagonal2);
    double farthest = 0.0;
    for (std::int32_t c = 0; c < node.children; ++c) {
      const FmmNode& child = tree.nodes[slot(node.child + c)];
      double square = 0.0;
      for (int n = 0; n < 3; ++n) {
        const double d = child.centre[n] - node.centre[n];
        square += d * d;
      }
      farthest = std::max(farthest, std::sqrt(square) + child.radius);
    }
    if (node.children > 0) node.radius = std::min(node.radius, farthest);
  }
  for (FmmNode& node : tree.nodes) {
    if (node.radius > 0.0) {
      node.scale = unit_of_length(node.radius);
    } else {
      node.scale = node.parent >= 0 ? 0.5 * tree.nodes[slot(node.parent)].scale : 1.0;
    }
  }
}

FmmOrders choose_orders(unsigned mask, double tolerance) {
  if (!(tolerance >= min_fmm_tolerance && tolerance <= 1e-2)) {
    throw InputError(concat("tolerance: ", tolerance, " (allowed: ", min_fmm_tolerance,
                            " to 0.01, of the largest value of a component): take another one, or "
                            "direct sums"));
  }
  FmmOrders orders;
  orders.derivatives = (mask & mask_gradient) != 0 ? 2 : (mask & mask_attraction) != 0 ? 1 : 0;
  const int base = 12 + 4 * orders.derivatives;
  const double digits = -std::log10(tolerance);
  orders.ratio = tolerance < 0.9e-9 ? 0.4 : 0.45;
  const double more = tolerance < 0.9e-9 ? 8.0 : 8.0 / 3.0 * (digits - 6.0);
  orders.order =
      std::clamp(4 * static_cast<int>(std::ceil((base + more) / 4.0 - 1e-9)), 8, fmm_max_order);
  return orders;
}

namespace {

// Work of a translation of an order, in pairs of direct sums.
double work_of_translation(int order) {
  const double n = order + 1;
  return (n * (2.0 * n - 1.0) * (2.0 * n + 1.0) / 3.0 + 2.0 / 3.0 * n * n * n + 8.0 * n * n) /
         multiply_adds_of_pair;
}

}  // namespace

PairRules make_rules(const FmmOrders& orders) {
  PairRules rules{};
  for (const int order : {8, 12, 16, 20, 24, 28}) {
    if (order > orders.order) break;
    const int k = rules.orders++;
    rules.order[k] = order;
    // the derivatives of a local expansion have lower degrees
    rules.ratio[k] = std::pow(orders.ratio, static_cast<double>(orders.order - orders.derivatives) /
                                                (order - orders.derivatives));
    rules.direct[k] = work_of_translation(order);
  }
  return rules;
}

double work_of(const FmmReport& report, unsigned mask, std::int64_t prisms, std::int64_t stations) {
  const double pair = count_of(mask) == 1 ? pair_of_one_component : 1.0;
  // orders by distance are 20 on average, or less
  const double far =
      static_cast<double>(report.far_pairs) * work_of_translation(std::min(report.order, 20));
  const auto nodes = static_cast<double>(report.prism_nodes + report.station_nodes);
  const double leaves = 3.0 * static_cast<double>(prisms) * monomial_count(report.order) +
                        static_cast<double>(stations) * count_of(mask) * fmm_count(report.order);
  return report.near_pairs +
         (far + nodes * work_of_translation(report.order) + leaves / multiply_adds_of_pair) / pair;
}

Kokkos::Array<std::int32_t, 2> cut_stations(const FmmTree& tree,
                                            const std::vector<std::int32_t>& near,
                                            const std::vector<std::int32_t>& far, int part,
                                            int parts) {
  std::vector<double> work{0.0};
  const auto length = [](const std::vector<std::int32_t>& begin, std::int32_t node) {
    return static_cast<double>(begin[slot(node + 1)] - begin[slot(node)]);
  };
  for (const std::int32_t leaf : tree.leaves) {
    const FmmNode& node = tree.nodes[slot(leaf)];
    const double stations = node.end - node.begin;
    work.push_back(work.back() + stations * (100.0 + fmm_prisms_of_leaf * length(near, leaf)) +
                   work_of_translation(20) * length(far, leaf));
  }
  const auto first_of = [&](int k) {
    if (k == parts) return static_cast<std::int32_t>(tree.nodes[0].end);
    const auto at =
        std::lower_bound(work.begin(), work.end(), work.back() * k / parts) - work.begin();
    return at < static_cast<std::ptrdiff_t>(tree.leaves.size())
               ? tree.nodes[slot(tree.leaves[static_cast<std::size_t>(at)])].begin
               : tree.nodes[0].end;
  };
  return {first_of(part), first_of(part + 1)};
}

void check_parts(int part, int parts) {
  if (parts >= 1 && part >= 0 && part < parts) return;
  throw InputError(concat("part, parts: ", part, ", ", parts,
                          " (allowed: 1 part or more, and a part from 0 to parts - 1)"));
}

void check_fmm_size(std::int64_t prisms, std::int64_t stations) {
  constexpr std::int64_t max = 2000000000;
  if (prisms <= max && stations <= max) return;
  throw InputError(concat("prisms and stations: ", prisms, " and ", stations, " (allowed: ", max,
                          " of each in a tree): take fewer at a time"));
}

void check_pairs(std::size_t pairs) {
  constexpr std::size_t max = 2147483647;
  if (pairs <= max) return;
  throw InputError(
      concat("pairs of nodes: ", pairs, " (allowed: ", max, "): take fewer stations at a time"));
}

std::string fmm_name(std::int64_t prisms, std::int64_t stations) {
  return concat("trees of ", counted(prisms, "prism"), " and ", counted(stations, "station"));
}

}  // namespace detail

bool fmm_pays(std::int64_t prisms, std::int64_t stations, const Components& components,
              bool on_host) {
  const unsigned mask = detail::make_plan(components, gravitational_constant, 1.0).mask;
  const double pair = detail::count_of(mask) == 1 ? detail::pair_of_one_component : 1.0;
  const auto p = static_cast<double>(prisms), s = static_cast<double>(stations);
  // hosts: a product with its construction takes 600 to 5000 pairs a prism and station; devices: it
  // takes 0.02 to 0.04 s at 3e4 prisms and stations, direct sums 0.04 to 0.05 s, and the tables of
  // a process 0.08 s once
  const double min = on_host ? std::max(2e7, 2500.0 * (p + s)) : 2.5e9;
  return pair * p * s > min;
}

}  // namespace moho::gravity
