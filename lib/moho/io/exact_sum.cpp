// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/checksum.hpp>
#include <moho/io/detail/binary.hpp>
#include <moho/io/exact_sum.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/writer.hpp>

#include <cstring>

namespace moho::io {

namespace {

struct SumHeader {
  char magic[8] = {'M', 'O', 'H', 'O', 'S', 'U', 'M', '1'};
  std::uint32_t order = 1;
  std::int32_t exponent = 0;
  std::int64_t count = 0;
  std::int64_t terms = 0;
  std::int64_t bound = 0;
  char rest[20] = {};
  std::uint32_t checksum = 0;
};
static_assert(sizeof(SumHeader) == 64);

std::uint32_t checksum_of(const SumHeader& header) {
  Checksum sum;
  sum.add(&header, sizeof(SumHeader) - sizeof(header.checksum));
  return sum.value();
}

}  // namespace

void write_sum(const std::filesystem::path& path, const ExactSumState& sum) {
  SumHeader header;
  header.exponent = sum.exponent;
  header.count = static_cast<std::int64_t>(sum.values.size());
  header.terms = sum.terms;
  header.bound = sum.bound;
  header.checksum = checksum_of(header);
  const std::size_t bytes = sum.values.size() * sizeof(std::int64_t);
  Checksum values;
  values.add(sum.values.data(), bytes);
  const std::uint32_t end = values.value();
  AtomicFile file(path);
  file.write(&header, sizeof(header));
  file.write(sum.values.data(), bytes);
  file.write(&end, sizeof(end));
  file.commit(sizeof(header) + bytes + sizeof(end));
}

ExactSumState read_sum(const std::filesystem::path& path) {
  const InputFile file(path);
  const auto refuse = [&](const char* why) {
    return FileError(concat("'", file.name(), "' ", why,
                            " (allowed: partial sums as moho writes them): make it again"));
  };
  SumHeader header;
  if (file.size() < sizeof(header)) throw refuse("is too short for a partial sum");
  const SumHeader expected;
  file.read(0, &header, sizeof(header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0) {
    throw refuse("is no partial sum");
  }
  if (header.order != expected.order) throw refuse("was written in another byte order");
  if (header.checksum != checksum_of(header)) throw refuse("has a damaged header");
  const std::uint64_t rest = file.size() - sizeof(header);
  if (header.count < 1 || rest < sizeof(std::uint32_t) ||
      (rest - sizeof(std::uint32_t)) / sizeof(std::int64_t) !=
          static_cast<std::uint64_t>(header.count) ||
      rest % sizeof(std::int64_t) != sizeof(std::uint32_t)) {
    throw refuse("has another length than its header says");
  }
  ExactSumState sum{header.exponent, header.terms, header.bound,
                    detail::allocate<std::int64_t>(file.name(), header.count)};
  const std::size_t bytes = sum.values.size() * sizeof(std::int64_t);
  file.read(sizeof(header), sum.values.data(), bytes);
  std::uint32_t end = 0;
  file.read(sizeof(header) + bytes, &end, sizeof(end));
  Checksum values;
  values.add(sum.values.data(), bytes);
  if (values.value() != end) throw refuse("is damaged");
  return sum;
}

}  // namespace moho::io
