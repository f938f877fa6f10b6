// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/regularisation.hpp>

#include <moho/core/launch.hpp>
#include <moho/core/reduce_blocks.hpp>

#include <cmath>

namespace moho::gravity_inversion {

Regularisation::Regularisation(const Host& exec, std::size_t cells, const std::vector<Link>& links)
    : m_exec(exec),
      m_ends(links),
      m_offset(cells + 1, 0),
      m_at(2 * links.size()),
      m_cells(cells),
      m_links(links.size()),
      m_inverse(cells) {
  for (const Link& link : links) {
    ++m_offset[static_cast<std::size_t>(link.first) + 1];
    ++m_offset[static_cast<std::size_t>(link.second) + 1];
  }
  for (std::size_t k = 0; k < cells; ++k) m_offset[k + 1] += m_offset[k];
  std::vector<std::int64_t> next(m_offset.begin(), m_offset.end() - 1);
  for (std::size_t n = 0; n < links.size(); ++n) {
    const auto put = [&](std::int64_t cell, double sign) {
      std::int64_t& at = next[static_cast<std::size_t>(cell)];
      m_at[static_cast<std::size_t>(at++)] = {static_cast<std::int64_t>(n), sign};
    };
    put(links[n].first, 1.0);
    put(links[n].second, -1.0);
  }
}

void Regularisation::set(const std::vector<double>& weights, const std::vector<double>& compact,
                         double small, const std::array<double, 3>& smooth) {
  const double* const c = weights.data();
  const double* const v = compact.empty() ? nullptr : compact.data();
  const Link* const ends = m_ends.data();
  double* const links = m_links.data();
  launch("moho::gravity_inversion::set_links", m_exec, static_cast<std::int64_t>(m_links.size()),
         [=](const std::int64_t n) {
           const Link link = ends[n];
           const double both = v == nullptr ? 1.0 : v[link.first] * v[link.second];
           links[n] = 0.5 * smooth[static_cast<std::size_t>(link.axis)] *
                      (c[link.first] + c[link.second]) * both;
         });
  double* const cells = m_cells.data();
  double* const inverse = m_inverse.data();
  const std::int64_t* const offset = m_offset.data();
  const End* const at = m_at.data();
  launch("moho::gravity_inversion::set_cells", m_exec, static_cast<std::int64_t>(m_cells.size()),
         [=](const std::int64_t k) {
           cells[k] = small * c[k] * (v == nullptr ? 1.0 : v[k]);
           double sum = cells[k];
           for (std::int64_t e = offset[k]; e < offset[k + 1]; ++e) sum += links[at[e].link];
           inverse[k] = 1.0 / (sum > 0.0 ? sum : c[k]);
         });
}

double Regularisation::value(const std::vector<double>& model, const std::vector<double>& reference,
                             std::vector<double>* gradient) const {
  const double* const m = model.data();
  const double* const m0 = reference.empty() ? nullptr : reference.data();
  const double* const cells = m_cells.data();
  const double* const links = m_links.data();
  const Link* const ends = m_ends.data();
  const auto count = static_cast<std::int64_t>(m_cells.size());
  const auto change = [=](const std::int64_t k) { return m0 == nullptr ? m[k] : m[k] - m0[k]; };
  if (gradient != nullptr) {
    gradient->resize(m_cells.size());
    double* const g = gradient->data();
    const std::int64_t* const offset = m_offset.data();
    const End* const at = m_at.data();
    launch("moho::gravity_inversion::gradient", m_exec, count, [=](const std::int64_t k) {
      double sum = cells[k] * change(k);
      for (std::int64_t e = offset[k]; e < offset[k + 1]; ++e) {
        const Link link = ends[at[e].link];
        sum += at[e].sign * links[at[e].link] * (m[link.first] - m[link.second]);
      }
      g[k] = sum;
    });
  }
  const double squares = sum_of_blocks(
      "moho::gravity_inversion::squares", m_exec, count,
      [=](const std::int64_t k, double& sum) { sum += cells[k] * change(k) * change(k); });
  const double differences = sum_of_blocks(
      "moho::gravity_inversion::differences", m_exec, static_cast<std::int64_t>(m_links.size()),
      [=](const std::int64_t n, double& sum) {
        const double difference = m[ends[n].first] - m[ends[n].second];
        sum += links[n] * difference * difference;
      });
  return squares + differences;
}

void Regularisation::apply(double factor, const double* vector, double* product) const {
  const double* const cells = m_cells.data();
  const double* const links = m_links.data();
  const Link* const ends = m_ends.data();
  const auto count = static_cast<std::int64_t>(m_cells.size());
  launch("moho::gravity_inversion::apply", m_exec, static_cast<std::int64_t>(rows()),
         [=](const std::int64_t row) {
           if (row < count) {
             product[row] = factor * std::sqrt(cells[row]) * vector[row];
             return;
           }
           const Link link = ends[row - count];
           product[row] =
               factor * std::sqrt(links[row - count]) * (vector[link.first] - vector[link.second]);
         });
}

void Regularisation::add_reference(double factor, const double* reference, double* product) const {
  const double* const cells = m_cells.data();
  launch("moho::gravity_inversion::add_reference", m_exec,
         static_cast<std::int64_t>(m_cells.size()),
         [=](const std::int64_t k) { product[k] += factor * std::sqrt(cells[k]) * reference[k]; });
}

void Regularisation::add_adjoint(double factor, const double* product, double* vector) const {
  const double* const cells = m_cells.data();
  const double* const links = m_links.data();
  const std::int64_t* const offset = m_offset.data();
  const End* const at = m_at.data();
  const auto count = static_cast<std::int64_t>(m_cells.size());
  launch("moho::gravity_inversion::add_adjoint", m_exec, count, [=](const std::int64_t k) {
    double sum = vector[k] + factor * std::sqrt(cells[k]) * product[k];
    for (std::int64_t e = offset[k]; e < offset[k + 1]; ++e) {
      const End end = at[e];
      sum += end.sign * factor * std::sqrt(links[end.link]) * product[count + end.link];
    }
    vector[k] = sum;
  });
}

}  // namespace moho::gravity_inversion
