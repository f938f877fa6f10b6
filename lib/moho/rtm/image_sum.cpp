// SPDX-License-Identifier: BSD-3-Clause
#include <moho/rtm/image_sum.hpp>

#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace moho::rtm {

namespace {

constexpr std::int64_t title = 0x32304d5553474d49;  // "IMGSUM02"

InputError twice(std::int64_t number) {
  return InputError(
      concat("shot ", number, ": it is already in the image (allowed: each shot once)"));
}

/// Appends plain values to bytes.
class Packer {
 public:
  explicit Packer(std::size_t expected) { m_bytes.reserve(expected); }
  template <class T>
  void add(const T* values, std::size_t count) {
    const auto* const from = reinterpret_cast<const char*>(values);
    m_bytes.append(from, count * sizeof(T));
  }
  void number(std::int64_t value) { add(&value, 1); }
  /// Returns all bytes and their checksum.
  std::string finish() {
    number(io::crc32c(m_bytes.data(), m_bytes.size()));
    return std::move(m_bytes);
  }

 private:
  std::string m_bytes;
};

/// Reads the values of a Packer. \throws InputError for bytes without their checksum
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : m_bytes(bytes) {
    std::int64_t checksum = -1;
    if (bytes.size() >= sizeof(checksum)) {
      m_end = bytes.size() - sizeof(checksum);
      std::memcpy(&checksum, bytes.data() + m_end, sizeof(checksum));
    }
    if (checksum != static_cast<std::int64_t>(io::crc32c(bytes.data(), m_end))) fail();
  }
  template <class T, class Values = std::vector<T>>
  Values values(std::int64_t count) {
    if (count < 0 || static_cast<std::size_t>(count) > (m_end - m_at) / sizeof(T)) fail();
    Values result(static_cast<std::size_t>(count));
    if (count == 0) return result;
    std::memcpy(result.data(), m_bytes.data() + m_at, result.size() * sizeof(T));
    m_at += result.size() * sizeof(T);
    return result;
  }
  std::int64_t number() { return values<std::int64_t>(1).front(); }
  void finish() const {
    if (m_at != m_end) fail();
  }
  [[noreturn]] static void fail() {
    throw InputError(
        "image sum: its bytes are damaged, or of another grid (allowed: bytes of pack()): make it "
        "again");
  }

 private:
  const std::string& m_bytes;
  std::size_t m_at = 0, m_end = 0;
};

}  // namespace

template <int Dim>
template <class T>
void ImageSum<Dim>::add(const Instance<Kokkos::HostSpace>& exec, std::int64_t number,
                        const Box<Dim>& box, const T* values) {
  if (m_shots.count(number) > 0) throw twice(number);
  try {
    for (std::size_t p = 0; p < m_parts.size(); ++p) {
      m_parts[p].add(exec, m_grid, box, values + p * static_cast<std::size_t>(box.size()));
    }
  } catch (const SumOverflow&) {
    close();
  } catch (const InputError&) {
    close();
  }
  m_shots.insert(number);
}

template <int Dim>
void ImageSum<Dim>::merge(const Instance<Kokkos::HostSpace>& exec, ImageSum&& other) {
  for (const std::int64_t number : other.m_shots) {
    if (m_shots.count(number) > 0) throw twice(number);
  }
  if (other.closed()) close();
  if (!closed() &&
      (other.m_parts.size() != m_parts.size() || !(whole_box(other.m_grid) == whole_box(m_grid)))) {
    throw InputError(concat("image sum: ", other.m_parts.size(), " parts of ",
                            shape_string(other.m_grid), " nodes (allowed: ", m_parts.size(),
                            " parts of ", shape_string(m_grid),
                            "): merge sums of the same migration"));
  }
  try {
    for (std::size_t p = 0; p < m_parts.size(); ++p) {
      m_parts[p].merge(exec, std::move(other.m_parts[p]));
    }
  } catch (const SumOverflow&) {
    close();
  } catch (const InputError&) {
    close();  // more terms than a sum has
  }
  m_shots.insert(other.m_shots.begin(), other.m_shots.end());
}

template <int Dim>
template <class T>
std::vector<T> ImageSum<Dim>::part(const Instance<Kokkos::HostSpace>& exec, int p) const {
  if (closed()) throw InputError("image sum: it is closed (allowed: open sums)");
  std::vector<T> values(static_cast<std::size_t>(m_grid.size()));
  m_parts.at(static_cast<std::size_t>(p)).result(exec, values.data());
  return values;
}

template <int Dim>
std::string ImageSum<Dim>::pack() const {
  double expected = 256.0 + 8.0 * static_cast<double>(m_shots.size());
  if (!closed()) expected += bytes(m_grid, static_cast<int>(m_parts.size()));
  Packer packer(static_cast<std::size_t>(expected));
  packer.number(title);
  for (int d = 0; d < Dim; ++d) packer.number(m_grid.extents[d]);
  packer.number(static_cast<std::int64_t>(m_shots.size()));
  for (const std::int64_t shot : m_shots) packer.number(shot);
  packer.number(static_cast<std::int64_t>(m_parts.size()));
  for (const WindowedSum& part : m_parts) {
    const WindowedSumState& state = part.state();
    packer.number(state.terms);
    packer.number(state.zero ? 1 : 0);
    packer.number(state.exponent);
    packer.number(static_cast<std::int64_t>(state.differences.size()));
    packer.add(state.values.data(), state.values.size());
    for (const auto& differences : state.differences) {
      packer.add(differences.data(), differences.size());
    }
  }
  return packer.finish();
}

template <int Dim>
ImageSum<Dim> ImageSum<Dim>::unpack(const Grid<Dim>& grid, const std::string& bytes) {
  Unpacker from(bytes);
  if (from.number() != title) Unpacker::fail();
  for (int d = 0; d < Dim; ++d) {
    if (from.number() != grid.extents[d]) Unpacker::fail();
  }
  ImageSum sum(grid, 0);
  const std::int64_t shots = from.number();
  for (const std::int64_t shot : from.values<std::int64_t>(shots)) sum.m_shots.insert(shot);
  if (static_cast<std::int64_t>(sum.m_shots.size()) != shots) Unpacker::fail();
  const std::int64_t parts = from.number();
  for (std::int64_t p = 0; p < parts; ++p) {
    WindowedSumState state;
    state.terms = from.number();
    state.zero = from.number() != 0;
    state.exponent = static_cast<int>(from.number());
    const std::int64_t differences = from.number();
    if (differences < 0 || differences >= moho::detail::largest_window) Unpacker::fail();
    state.count = grid.size();
    const std::int64_t held = state.zero ? 0 : state.count;
    state.values = from.values<std::int64_t, HostArray<std::int64_t>>(held);
    for (std::int64_t j = 0; j < differences; ++j) {
      state.differences.push_back(from.values<std::int16_t, HostArray<std::int16_t>>(held));
    }
    sum.m_parts.emplace_back(std::move(state));
  }
  from.finish();
  return sum;
}

template class ImageSum<2>;
template class ImageSum<3>;
template void ImageSum<2>::add(const Instance<Kokkos::HostSpace>&, std::int64_t, const Box<2>&,
                               const float*);
template std::vector<float> ImageSum<2>::part(const Instance<Kokkos::HostSpace>&, int) const;
template void ImageSum<2>::add(const Instance<Kokkos::HostSpace>&, std::int64_t, const Box<2>&,
                               const double*);
template std::vector<double> ImageSum<2>::part(const Instance<Kokkos::HostSpace>&, int) const;
template void ImageSum<3>::add(const Instance<Kokkos::HostSpace>&, std::int64_t, const Box<3>&,
                               const float*);
template std::vector<float> ImageSum<3>::part(const Instance<Kokkos::HostSpace>&, int) const;
template void ImageSum<3>::add(const Instance<Kokkos::HostSpace>&, std::int64_t, const Box<3>&,
                               const double*);
template std::vector<double> ImageSum<3>::part(const Instance<Kokkos::HostSpace>&, int) const;

}  // namespace moho::rtm
