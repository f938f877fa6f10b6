// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of summary.json; no header of the JSON library is included.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace moho::examples {

/// A JSON value: null, boolean, number, text, list or object.
/// Members of an object keep their order.
class Json {
 public:
  struct Member;

  /// Makes null.
  Json();
  Json(std::nullptr_t) : Json() {}
  Json(bool value);
  Json(int value);
  Json(long value);
  Json(long long value);
  Json(unsigned value);
  Json(unsigned long value);
  Json(unsigned long long value);
  Json(float value) : Json(static_cast<double>(value)) {}
  Json(double value);
  Json(const char* value);
  Json(std::string value);
  Json(std::vector<double> values);
  Json(const std::vector<std::int64_t>& values);
  Json(const std::vector<std::string>& values);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  /// Makes an object of these members.
  static Json object(std::initializer_list<Member> members = {});
  /// Makes a list of these values.
  static Json array(std::initializer_list<Json> values = {});
  /// Makes a list of rows of `columns` numbers.
  static Json rows(std::vector<double> values, std::size_t columns);

  /// Returns a member of an object; a missing one is added as null. Null becomes an object.
  Json& operator[](const std::string& key);
  /// Removes a member.
  void remove(const std::string& key);
  /// Adds the members of another object.
  void merge(const Json& other);
  /// Appends to a list; null becomes a list.
  void push_back(Json value);
  /// Returns the text of the value, two blanks for each level, no line end.
  ///
  /// Bytes that are not UTF-8, which names of files may have, are written as \\xHH: a backslash, x
  /// and two hexadecimal digits.
  std::string dump() const;
  using Sink = std::function<void(std::string_view)>;
  /// Passes the text of dump() to `put` in parts: a long text needs no memory of its own.
  void write(const Sink& put) const;

  /// Parses a text. Returns null if it is not JSON.
  static Json parse(const std::string& text);
  /// Returns true for null.
  bool null() const { return m_node == nullptr; }
  /// Returns a member of an object; nullptr if it is missing, or for other values.
  const Json* find(const std::string& key) const;
  /// Names of the members of an object.
  std::vector<std::string> keys() const;
  /// Returns the number of values of a list or an object; 0 for other values.
  std::size_t size() const;
  /// Returns a value of a list or an object by its position, from 0.
  const Json& at(std::size_t index) const;
  /// Returns the text of a text value; empty for other values.
  std::string text() const;
  /// Returns the number of a numeric value; `otherwise` for other values.
  double number(double otherwise) const;
  /// Returns the numbers of a list; 0 for other values.
  std::vector<double> numbers() const;
  /// Returns the texts of a list.
  std::vector<std::string> texts() const;

 private:
  struct Node;
  std::unique_ptr<Node> m_node;
};

/// A member of an object.
struct Json::Member {
  std::string key;  ///< its name
  Json value;       ///< its value
};

/// Returns positions as a list of lists of coordinates.
template <class Points>
Json points_json(const Points& points) {
  std::vector<double> values;
  const std::size_t columns = points.empty() ? 0 : points.front().size();
  values.reserve(columns * points.size());
  for (const auto& p : points) {
    for (std::size_t d = 0; d < columns; ++d) values.push_back(p[d]);
  }
  return Json::rows(std::move(values), columns);
}

}  // namespace moho::examples
