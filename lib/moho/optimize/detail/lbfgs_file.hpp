// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The file of a saved search (internal): pieces of bytes with length and checksum each.

#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <type_traits>
#include <vector>

namespace moho::optimize::detail {

/// Writes a sequence of pieces.
class LbfgsWriter {
 public:
  /// Creates the file. \throws FileError
  LbfgsWriter(const std::filesystem::path& path, int scalar_bytes, std::int64_t count);
  /// Writes a value as a piece.
  template <class Value>
  void write(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put(&value, sizeof(Value));
  }
  /// Writes an array as a piece.
  template <class Value>
  void write_array(const Value* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put(values, count * sizeof(Value));
  }
  /// Completes the file and renames it to its final name. \throws FileError
  void commit() { m_file.commit(); }

 private:
  void put(const void* data, std::size_t bytes);
  io::AtomicFile m_file;
};

/// Reads the pieces in the order of writing.
class LbfgsReader {
 public:
  /// Opens a file. \throws FileError for other kinds of files, other versions and other precisions
  LbfgsReader(const std::filesystem::path& path, int scalar_bytes);
  /// Returns the number of unknowns.
  std::int64_t count() const { return m_count; }
  /// Reads the next value. \throws FileError
  template <class Value>
  void read(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (next() != sizeof(Value)) damaged();
    get(&value, sizeof(Value));
  }
  /// Returns the next array. \throws FileError
  template <class Value>
  std::vector<Value> read_array() {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::uint64_t bytes = next();
    if (bytes % sizeof(Value) != 0) damaged();
    std::vector<Value> values(static_cast<std::size_t>(bytes / sizeof(Value)));
    get(values.data(), static_cast<std::size_t>(bytes));
    return values;
  }
  /// Checks that all pieces have been read. \throws FileError otherwise
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
