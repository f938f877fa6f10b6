// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/checksum.hpp>
#include <moho/snapshot/codec/container.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace moho::snapshot {

namespace {

constexpr char magic[8] = {'M', 'O', 'H', 'O', 'S', 'N', 'A', 'P'};
constexpr std::uint32_t byte_order = 0x01020304u;
constexpr std::uint32_t other_byte_order = 0x04030201u;
constexpr std::uint32_t version = 1;

/// Fixed first part of a container.
struct Beginning {
  char magic[8];
  std::uint32_t order, version;
  std::uint64_t total_bytes;   ///< bytes of the container
  std::uint64_t header_bytes;  ///< bytes up to and including the CRC of the header
  std::uint32_t dim, mode;
  std::int32_t bits, exponent;
  float quantum, levels, peak, reserved;
  double max;
  std::int64_t extents[3];
  double spacing[3], origin[3];
  std::int64_t lower[3], upper[3];
  std::int64_t step;
  double time;
  std::uint64_t table_bytes, lengths, payload_bytes;
};
static_assert(std::is_trivially_copyable_v<Beginning> && sizeof(Beginning) == 232);

std::size_t pieces_of(std::size_t bytes) { return (bytes + checksum_piece - 1) / checksum_piece; }

// Arguments of a view without initial values. Any thread may read a file: views are filled without
// Kokkos.
auto uninitialised(const char* label) {
  return Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing);
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw FileError(concat("'", name, "' is no whole snapshot (", why,
                         "): it was damaged or cut, make it again"));
}

}  // namespace

template <int Dim>
std::vector<std::uint8_t> to_container(const Packed<Dim, Kokkos::HostSpace>& packed,
                                       const SnapshotLabel<Dim>& label) {
  const PackedHeader<Dim>& header = packed.header;
  label.grid.check();
  if (!(intersection(header.box, whole_box(label.grid)) == header.box)) {
    throw InputError(concat(
        "snapshot: its box ", box_string(header.box), " is not in the grid (allowed: boxes in ",
        box_string(whole_box(label.grid)), "): give the grid of the wavefield"));
  }
  const std::vector<std::uint8_t> table = detail::pack_lengths(header.code_lengths);
  Beginning begin{};
  std::memcpy(begin.magic, magic, sizeof(magic));
  begin.order = byte_order;
  begin.version = version;
  begin.dim = Dim;
  begin.mode = static_cast<std::uint32_t>(header.mode);
  begin.bits = header.bits;
  begin.exponent = header.exponent;
  begin.quantum = header.quantum;
  begin.levels = header.levels;
  begin.peak = header.peak;
  begin.max = header.max;
  for (int d = 0; d < Dim; ++d) {
    begin.extents[d] = label.grid.extents[d];
    begin.spacing[d] = label.grid.spacing[d];
    begin.origin[d] = label.grid.origin[d];
    begin.lower[d] = header.box.lower[d];
    begin.upper[d] = header.box.upper[d];
  }
  begin.step = label.step;
  begin.time = label.time;
  begin.table_bytes = table.size();
  begin.lengths = packed.lengths.size();
  begin.payload_bytes = static_cast<std::uint64_t>(packed.payload_bytes);
  const auto payload_bytes = static_cast<std::size_t>(packed.payload_bytes);
  const std::size_t lengths_bytes = packed.lengths.size() * sizeof(std::uint16_t);
  begin.header_bytes = sizeof(begin) + table.size() + lengths_bytes + 4;
  begin.total_bytes = begin.header_bytes + payload_bytes + 4 * (pieces_of(payload_bytes) + 1);

  std::vector<std::uint8_t> bytes(begin.total_bytes);
  std::size_t end = 0;
  const auto append = [&](const void* data, std::size_t count) {
    if (count > 0) std::memcpy(bytes.data() + end, data, count);
    end += count;
  };
  append(&begin, sizeof(begin));
  append(table.data(), table.size());
  append(packed.lengths.data(), lengths_bytes);
  const std::uint32_t header_crc = io::crc32c(bytes.data(), end);
  append(&header_crc, 4);
  append(packed.payload.data(), payload_bytes);
  std::vector<std::uint32_t> crcs;
  for (std::size_t at = 0; at < payload_bytes; at += checksum_piece) {
    crcs.push_back(
        io::crc32c(packed.payload.data() + at, std::min(checksum_piece, payload_bytes - at)));
  }
  crcs.push_back(io::crc32c(crcs.data(), 4 * crcs.size()));
  append(crcs.data(), 4 * crcs.size());
  return bytes;
}

namespace {

// Returns the fixed part of a container of `dim` dimensions, whose header has its original bytes.
Beginning read_beginning(const std::uint8_t* data, std::size_t bytes, const std::string& name,
                         std::uint32_t dim) {
  Beginning begin{};
  if (bytes < sizeof(begin) + 8) refuse(name, concat("it has ", bytes, " bytes"));
  std::memcpy(&begin, data, sizeof(begin));
  if (std::memcmp(begin.magic, magic, sizeof(magic)) != 0) {
    refuse(name, "it does not begin as snapshots do");
  }
  if (begin.order == other_byte_order) {
    throw FileError(concat("'", name,
                           "' was written on a machine of the other byte order (allowed: that of "
                           "this machine): read it on such a machine"));
  }
  if (begin.order != byte_order) refuse(name, "its byte order is unknown");
  if (begin.total_bytes != bytes) {
    refuse(name, concat("it has ", bytes, " bytes and says that it had ", begin.total_bytes));
  }
  if (begin.header_bytes < sizeof(begin) + 4 || begin.header_bytes > bytes - 4) {
    refuse(name, "its header's length makes no sense");
  }
  const auto header_bytes = static_cast<std::size_t>(begin.header_bytes);
  std::uint32_t crc = 0;
  std::memcpy(&crc, data + header_bytes - 4, 4);
  if (crc != io::crc32c(data, header_bytes - 4)) refuse(name, "its header's checksum is wrong");
  if (begin.version != version) {
    throw FileError(concat("'", name, "' is a snapshot of version ", begin.version,
                           " (allowed: ", version, "): read it with the program that wrote it"));
  }
  if (begin.dim != dim) {
    throw FileError(concat("'", name, "' is a snapshot of ", begin.dim,
                           " dimensions (allowed: ", dim, "): read it as what it is"));
  }
  return begin;
}

// Sets header and label to the values of a container, which must be consistent.
template <int Dim>
void read_header(const Beginning& begin, const std::string& name, PackedHeader<Dim>& header,
                 SnapshotLabel<Dim>& label) {
  if (begin.mode > static_cast<std::uint32_t>(CodecMode::paper)) refuse(name, "unknown mode");
  header.mode = static_cast<CodecMode>(begin.mode);
  header.bits = begin.bits;
  header.exponent = begin.exponent;
  header.quantum = begin.quantum;
  header.levels = begin.levels;
  header.peak = begin.peak;
  header.max = begin.max;
  for (int d = 0; d < Dim; ++d) {
    label.grid.extents[d] = begin.extents[d];
    label.grid.spacing[d] = begin.spacing[d];
    label.grid.origin[d] = begin.origin[d];
    header.box.lower[d] = begin.lower[d];
    header.box.upper[d] = begin.upper[d];
  }
  label.step = begin.step;
  label.time = begin.time;
  const bool numbers = std::isfinite(header.quantum) && std::isfinite(header.levels) &&
                       std::isfinite(header.peak) && header.levels > 0.0f;
  if (!numbers || header.exponent < -1100 || header.exponent > 1100 ||
      (header.mode == CodecMode::blocks && header.bits != 8 && header.bits != 12 &&
       header.bits != 16)) {
    refuse(name, "its parameters make no sense");
  }
  try {
    label.grid.check();
  } catch (const InputError& error) {
    refuse(name, error.what());
  }
  for (int d = 0; d < Dim; ++d) {
    if (header.box.lower[d] < 0 || header.box.upper[d] > label.grid.extents[d]) {
      refuse(name, "its box is not in its grid");
    }
  }
}

// Refuses lengths that contradict those of the container. \param blocks number of blocks
void check_lengths(const Beginning& begin, std::uint64_t blocks, bool variable,
                   const std::string& name) {
  const std::size_t bytes = begin.total_bytes, header_bytes = begin.header_bytes;
  const std::size_t rest = header_bytes - sizeof(begin) - 4;
  if (begin.lengths != (variable ? blocks : 0) || begin.table_bytes > rest ||
      (rest - begin.table_bytes) / 2 < begin.lengths ||
      begin.table_bytes + 2 * begin.lengths != rest || begin.payload_bytes > bytes - header_bytes ||
      begin.total_bytes != begin.header_bytes + begin.payload_bytes +
                               4 * (pieces_of(static_cast<std::size_t>(begin.payload_bytes)) + 1)) {
    refuse(name, "its lengths do not go together");
  }
}

// Refuses a payload whose checksums are wrong; they follow it.
void check_payload(const std::uint8_t* payload, std::size_t payload_bytes,
                   const std::string& name) {
  std::uint32_t crc = 0;
  const std::uint8_t* const list = payload + payload_bytes;
  const std::size_t pieces = pieces_of(payload_bytes);
  std::memcpy(&crc, list + 4 * pieces, 4);
  if (crc != io::crc32c(list, 4 * pieces)) refuse(name, "its list of checksums is damaged");
  for (std::size_t i = 0; i < pieces; ++i) {
    std::memcpy(&crc, list + 4 * i, 4);
    if (crc != io::crc32c(payload + i * checksum_piece,
                          std::min(checksum_piece, payload_bytes - i * checksum_piece))) {
      refuse(name, concat("the checksum of MiB ", i, " of its payload is wrong"));
    }
  }
}

// Sets the lengths and offsets of blocks. \param bytes of the lengths
template <int Dim>
void read_lengths(const std::uint8_t* bytes, std::uint64_t count, const std::string& name,
                  Packed<Dim, Kokkos::HostSpace>& packed) {
  packed.lengths = Kokkos::View<std::uint16_t*, Kokkos::HostSpace>(
      uninitialised("moho::snapshot::lengths"), count);
  packed.offsets = Kokkos::View<std::int64_t*, Kokkos::HostSpace>(
      uninitialised("moho::snapshot::offsets"), (count + packed.group - 1) / packed.group);
  std::fill_n(packed.lengths.data(), count, std::uint16_t{0});
  if (count > 0) {
    std::memcpy(packed.lengths.data(), bytes, 2 * count);
  }
  std::int64_t sum = 0;
  for (std::uint64_t b = 0; b < count; ++b) {
    if (b % packed.group == 0) packed.offsets(b / packed.group) = sum;
    // words of 32 bits, at least the corner and the lengths
    if (packed.header.mode == CodecMode::lorenzo && packed.lengths(b) != 0 &&
        (packed.lengths(b) % 4 != 0 || packed.lengths(b) < 12)) {
      refuse(name, "its lengths do not go together");
    }
    sum += packed.lengths(b);
  }
  if (sum != packed.payload_bytes) refuse(name, "its lengths do not go together");
}

}  // namespace

template <int Dim>
Packed<Dim, Kokkos::HostSpace> from_container(const std::uint8_t* data, std::size_t bytes,
                                              const std::string& name, SnapshotLabel<Dim>& label) {
  const Beginning begin = read_beginning(data, bytes, name, Dim);
  Packed<Dim, Kokkos::HostSpace> packed;
  PackedHeader<Dim>& header = packed.header;
  read_header(begin, name, header, label);
  const BlockGrid<Dim> blocks(header.box);
  const auto count = static_cast<std::uint64_t>(blocks.size());
  check_lengths(begin, count, header.variable(), name);
  packed.payload_bytes = static_cast<std::int64_t>(begin.payload_bytes);
  const auto payload_bytes = static_cast<std::size_t>(begin.payload_bytes);
  const std::uint8_t* const table = data + sizeof(begin);
  const int alphabets = PackedHeader<Dim>::alphabets(header.mode);
  header.code_lengths = detail::unpack_lengths(
      std::vector<std::uint8_t>(table, table + begin.table_bytes), alphabets);
  if (alphabets > 0 && header.code_lengths.empty()) refuse(name, "its codes make no sense");
  const std::uint8_t* const payload = data + begin.header_bytes;
  check_payload(payload, payload_bytes, name);
  packed.payload = Kokkos::View<std::uint8_t*, Kokkos::HostSpace>(
      uninitialised("moho::snapshot::payload"), payload_bytes + packed.padding);
  if (payload_bytes > 0) std::memcpy(packed.payload.data(), payload, payload_bytes);
  std::fill_n(packed.payload.data() + payload_bytes, packed.padding, std::uint8_t{0});
  if (!header.variable()) {
    if (packed.payload_bytes != header.first_block() + blocks.size() * 64 * header.bits) {
      refuse(name, "its lengths do not go together");
    }
    return packed;
  }
  read_lengths(table + begin.table_bytes, count, name, packed);
  return packed;
}

template std::vector<std::uint8_t> to_container<2>(const Packed<2, Kokkos::HostSpace>&,
                                                   const SnapshotLabel<2>&);
template std::vector<std::uint8_t> to_container<3>(const Packed<3, Kokkos::HostSpace>&,
                                                   const SnapshotLabel<3>&);
template Packed<2, Kokkos::HostSpace> from_container<2>(const std::uint8_t*, std::size_t,
                                                        const std::string&, SnapshotLabel<2>&);
template Packed<3, Kokkos::HostSpace> from_container<3>(const std::uint8_t*, std::size_t,
                                                        const std::string&, SnapshotLabel<3>&);

}  // namespace moho::snapshot
