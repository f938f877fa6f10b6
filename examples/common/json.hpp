// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of summary.json, put together without a JSON library in sight.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace moho::examples {

/// A JSON value: null, a truth value, a number, a text, a list, or an object whose members keep
/// their order.
class Json {
 public:
  struct Member;

  /// Null.
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

  /// An object of these members.
  static Json object(std::initializer_list<Member> members = {});
  /// A list of these values.
  static Json array(std::initializer_list<Json> values = {});
  /// A list of rows of so many numbers.
  static Json rows(std::vector<double> values, std::size_t columns);

  /// A member of an object, made null where it is missing; null becomes an object.
  Json& operator[](const std::string& key);
  /// Takes a member away.
  void remove(const std::string& key);
  /// Adds the members of another object.
  void merge(const Json& other);
  /// Adds to the end of a list; null becomes a list.
  void push_back(Json value);
  /// The text, two blanks for each level, without a line end. Bytes of texts that are no UTF-8, as
  /// names of files may have them, are written as \\xHH: a backslash, x and two digits.
  std::string dump() const;

  /// The value that a text says; null for a text that is no JSON.
  static Json parse(const std::string& text);
  /// Is it null?
  bool null() const { return m_node == nullptr; }
  /// A member of an object; nullptr if it is not there, or this is no object.
  const Json* find(const std::string& key) const;
  /// Names of the members of an object.
  std::vector<std::string> keys() const;
  /// Number of values of a list or an object; 0 for all else.
  std::size_t size() const;
  /// A value of a list or an object.
  const Json& at(std::size_t place) const;
  /// A text; empty for all else.
  std::string text() const;
  /// A number; `otherwise` for all else.
  double number(double otherwise) const;
  /// The texts of a list.
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

/// Positions as a list of lists of coordinates.
template <class Points>
Json points_json(const Points& points) {
  std::vector<double> values;
  std::size_t columns = 0;
  for (const auto& p : points) {
    columns = p.size();
    for (std::size_t d = 0; d < columns; ++d) values.push_back(p[d]);
  }
  return Json::rows(std::move(values), columns);
}

}  // namespace moho::examples
