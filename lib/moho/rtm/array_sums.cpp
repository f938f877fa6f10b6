// SPDX-License-Identifier: BSD-3-Clause
#include <moho/rtm/array_sums.hpp>
#include <moho/rtm/detail/sum_bytes.hpp>

#include <moho/core/error.hpp>

#include <type_traits>
#include <utility>

namespace moho::rtm {

namespace {

constexpr std::int64_t bins_title = 0x31304d55534e4942;  // "BINSUM01"

using detail::damaged_sums;
using detail::put;
using Reader = detail::SumReader;

template <int Dim>
Grid<Dim> grid_of(const std::vector<std::int64_t>& extents) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) grid.extents[d] = extents[static_cast<std::size_t>(d)];
  return grid;
}

InputError unknown(const std::string& name) {
  return InputError(concat("array sums: there is none of '", name,
                           "' (allowed: names of arrays that were added to open sums)"));
}

InputError added_twice(std::int64_t shot) {
  return InputError(concat("shot ", shot, ": it is already in the sums (allowed: each shot once)"));
}

template <int Dim>
ImageSum<Dim> unpack_sum(const std::vector<std::int64_t>& extents, const std::string& bytes) {
  return ImageSum<Dim>::unpack(grid_of<Dim>(extents), bytes);
}

}  // namespace

template <class T>
void ArraySums::add(const Instance<Kokkos::HostSpace>& exec, std::int64_t shot,
                    const ShotArray& array, const T* values) {
  const std::size_t axes = array.grid.size();
  bool good = (axes == 2 || axes == 3) && array.parts > 0 && array.parts < 1000 &&
              array.lower.size() == axes && array.upper.size() == axes;
  for (std::size_t d = 0; good && d < axes; ++d) {
    good = array.lower[d] >= 0 && array.lower[d] <= array.upper[d] &&
           array.upper[d] <= array.grid[d] && array.grid[d] > 0;
  }
  if (!good) {
    throw InputError(concat("array '", array.name, "' of shot ", shot,
                            ": invalid grid, box or parts (allowed: 1 to 999 parts on a box inside "
                            "of a grid of 2 or 3 axes)"));
  }
  m_shots.insert(shot);
  if (m_closed) return;
  if (array.bins) return add_bins(exec, shot, array, values);
  const auto parts = static_cast<int>(array.parts);
  auto at = m_sums.find(array.name);
  if (at == m_sums.end()) {
    Sum sum = axes == 2 ? Sum(ImageSum<2>::within(m_memory, grid_of<2>(array.grid), parts))
                        : Sum(ImageSum<3>::within(m_memory, grid_of<3>(array.grid), parts));
    at = m_sums.emplace(array.name, std::move(sum)).first;
  }
  const bool open = std::visit(
      [&]<int Dim>(ImageSum<Dim>& sum) {
        Box<Dim> box;
        for (int d = 0; d < Dim; ++d) {
          box.lower[d] = array.lower.at(static_cast<std::size_t>(d));
          box.upper[d] = array.upper.at(static_cast<std::size_t>(d));
        }
        sum.add(exec, shot, box, values);
        return !sum.closed();
      },
      at->second);
  if (!open) close();
}

template <class T>
void ArraySums::add_bins(const Instance<Kokkos::HostSpace>& exec, std::int64_t shot,
                         const ShotArray& array, const T* values) {
  std::int64_t count = 1;
  bool whole = true;
  for (std::size_t d = 0; d < array.grid.size(); ++d) {
    count *= array.grid[d];
    whole = whole && array.lower[d] == 0 && array.upper[d] == array.grid[d];
  }
  const auto parts = static_cast<std::size_t>(array.parts);
  auto at = m_bins.find(array.name);
  if (at == m_bins.end()) {
    const double bytes = BinnedSum::bytes_per_element * static_cast<double>(count * array.parts);
    // merging needs a sum, another one, and its bytes
    if (3.0 * bytes >= 0.5 * m_memory) return close();
    at = m_bins.emplace(array.name, Bins()).first;
    at->second.parts.reserve(parts);
    for (std::size_t p = 0; p < parts; ++p) at->second.parts.emplace_back(exec, count);
  }
  Bins& sum = at->second;
  if (!whole || sum.parts.size() != parts || sum.parts.front().count() != count) {
    throw InputError(concat("array '", array.name, "' of shot ", shot, ": ", array.parts,
                            " parts of ", count, " nodes (allowed: ", sum.parts.size(), " of ",
                            sum.parts.front().count(), ", on the complete grid)"));
  }
  if (!sum.shots.insert(shot).second) throw added_twice(shot);
  for (std::size_t p = 0; p < parts; ++p) {
    sum.parts[p].add(exec, values + p * static_cast<std::size_t>(count));
  }
  exec.fence();
}

std::vector<BinnedSumState> ArraySums::bins(const Instance<Kokkos::HostSpace>& exec,
                                            const std::string& name) const {
  const auto at = m_bins.find(name);
  if (at == m_bins.end()) throw unknown(name);
  std::vector<BinnedSumState> states;
  for (const auto& part : at->second.parts) states.push_back(part.state(exec));
  return states;
}

template <class T>
std::vector<T> ArraySums::part(const Instance<Kokkos::HostSpace>& exec, const std::string& name,
                               int p) const {
  const auto at = m_sums.find(name);
  if (at == m_sums.end()) throw unknown(name);
  return std::visit([&](const auto& sum) { return sum.template part<T>(exec, p); }, at->second);
}

// Sums in bins have no axes: title, parts, and the content of each.
static std::string pack_bins(const std::vector<BinnedSumState>& parts) {
  std::string bytes;
  put(bytes, bins_title);
  put(bytes, static_cast<std::int64_t>(parts.size()));
  for (const BinnedSumState& part : parts) put(bytes, part);
  return bytes;
}

void ArraySums::merge_bins(const Instance<Kokkos::HostSpace>& exec, const std::string& name,
                           const std::string& packed, const std::set<std::int64_t>& shots) {
  Reader from(packed, false);
  if (from.number() != bins_title) throw damaged_sums();
  std::vector<BinnedSumState> parts;
  for (std::int64_t left = from.number(); left > 0; --left) {
    parts.push_back(from.sum());
  }
  if (!from.at_end() || parts.empty() || parts.front().upper.empty()) throw damaged_sums();
  Bins& own = m_bins[name];
  if (own.parts.empty()) {
    const auto count = static_cast<std::int64_t>(parts.front().upper.size());
    own.parts.reserve(parts.size());
    while (own.parts.size() < parts.size()) own.parts.emplace_back(exec, count);
  }
  if (own.parts.size() != parts.size()) throw damaged_sums();
  for (std::size_t p = 0; p < parts.size(); ++p) own.parts[p].merge(exec, parts[p]);
  own.shots.insert(shots.begin(), shots.end());
}

std::string ArraySums::pack() const {
  std::string bytes;
  put(bytes, m_closed ? 1 : 0);
  put(bytes, static_cast<std::int64_t>(m_shots.size()));
  for (const std::int64_t shot : m_shots) put(bytes, shot);
  put(bytes, static_cast<std::int64_t>(names()));
  const Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  for (const auto& entry : m_bins) {
    put(bytes, entry.first);
    put(bytes, static_cast<std::int64_t>(0));
    put(bytes, pack_bins(bins(exec, entry.first)));
  }
  for (const auto& [name, sum] : m_sums) {
    put(bytes, name);
    std::visit(
        [&]<int Dim>(const ImageSum<Dim>& own) {
          const std::string packed = own.pack();
          put(bytes, static_cast<std::int64_t>(Dim));
          put(bytes, packed);
        },
        sum);
  }
  detail::put_checksum(bytes);
  return bytes;
}

void ArraySums::merge(const Instance<Kokkos::HostSpace>& exec, const std::string& bytes) {
  Reader from(bytes, true);
  const bool other_closed = from.number() != 0;
  std::set<std::int64_t> shots;
  for (std::int64_t left = from.number(); left > 0; --left) {
    const std::int64_t shot = from.number();
    if (m_shots.count(shot) > 0) throw added_twice(shot);
    shots.insert(shot);
  }
  const bool empty = m_shots.empty();
  std::int64_t count = from.number();
  if (!other_closed && !m_closed && !empty && !shots.empty() &&
      count != static_cast<std::int64_t>(names())) {
    throw InputError("array sums: sums of other arrays (allowed: those of the same names)");
  }
  for (; count > 0; --count) {
    const std::string name = from.text();
    const std::int64_t axes = from.number();
    const std::string packed = from.text();
    // title and extents
    Reader head(packed, false);
    head.number();
    std::vector<std::int64_t> extents;
    for (std::int64_t d = 0; d < axes && d < 3; ++d) extents.push_back(head.number());
    if (axes != 0 && axes != 2 && axes != 3) throw damaged_sums();
    if (m_closed) continue;
    if (axes == 0) {
      if (!empty && m_bins.count(name) == 0) throw unknown(name);
      merge_bins(exec, name, packed, shots);
      continue;
    }
    Sum sum = axes == 2 ? Sum(unpack_sum<2>(extents, packed)) : Sum(unpack_sum<3>(extents, packed));
    const auto at = m_sums.find(name);
    if (at == m_sums.end()) {
      if (!empty) throw unknown(name);
      m_sums.emplace(name, std::move(sum));
      continue;
    }
    const bool open = std::visit(
        [&](auto& own) {
          auto* const other = std::get_if<std::decay_t<decltype(own)>>(&sum);
          if (other == nullptr) throw damaged_sums();
          own.merge(exec, std::move(*other));
          return !own.closed();
        },
        at->second);
    if (!open) close();
  }
  if (!from.at_end()) throw damaged_sums();
  m_shots.insert(shots.begin(), shots.end());
  if (other_closed) close();
}

template void ArraySums::add(const Instance<Kokkos::HostSpace>&, std::int64_t, const ShotArray&,
                             const float*);
template void ArraySums::add(const Instance<Kokkos::HostSpace>&, std::int64_t, const ShotArray&,
                             const double*);
template std::vector<float> ArraySums::part(const Instance<Kokkos::HostSpace>&, const std::string&,
                                            int) const;
template std::vector<double> ArraySums::part(const Instance<Kokkos::HostSpace>&, const std::string&,
                                             int) const;

}  // namespace moho::rtm
