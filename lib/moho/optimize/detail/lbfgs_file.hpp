// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The file of a search (internal): pieces of bytes, each with its length and checksum.

#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <type_traits>
#include <vector>

namespace moho::optimize::detail {

/// Writes the pieces one after the other.
class LbfgsWriter {
 public:
  /// Begins the file. \throws FileError
  LbfgsWriter(const std::filesystem::path& path, int scalar_bytes, std::int64_t count);
  /// Adds a value.
  template <class Value>
  void write(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put(&value, sizeof(Value));
  }
  /// Adds an array.
  template <class Value>
  void write_array(const Value* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put(values, count * sizeof(Value));
  }
  /// Gives the file its name. \throws FileError
  void commit() { m_file.commit(); }

 private:
  void put(const void* data, std::size_t bytes);
  io::AtomicFile m_file;
};

/// Reads the pieces in the same order.
class LbfgsReader {
 public:
  /// Opens the file. \throws FileError for other files, other versions and other precisions
  LbfgsReader(const std::filesystem::path& path, int scalar_bytes);
  /// Unknowns.
  std::int64_t count() const { return m_count; }
  /// The next value. \throws FileError
  template <class Value>
  void read(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (next() != sizeof(Value)) damaged();
    get(&value, sizeof(Value));
  }
  /// The next array. \throws FileError
  template <class Value>
  std::vector<Value> read_array() {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::uint64_t bytes = next();
    if (bytes % sizeof(Value) != 0) damaged();
    std::vector<Value> values(static_cast<std::size_t>(bytes / sizeof(Value)));
    get(values.data(), static_cast<std::size_t>(bytes));
    return values;
  }
  /// Throws FileError unless all was read.
  void finish() const;

 private:
  [[noreturn]] void damaged() const;
  std::uint64_t next();
  void get(void* data, std::size_t bytes);
  io::InputFile m_file;
  std::uint64_t m_at = 0;
  std::int64_t m_count = 0;
};

}  // namespace moho::optimize::detail
