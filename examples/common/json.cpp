// SPDX-License-Identifier: BSD-3-Clause
#include "common/json.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace moho::examples {

struct Json::Node {
  enum class Kind { plain, numbers, list, object };
  Kind kind = Kind::plain;
  nlohmann::ordered_json plain;   // anything that has no parts
  std::vector<double> numbers;    // of a list, or of its rows
  std::size_t columns = 0;        // of rows; 0: a list of numbers
  std::vector<Json> values;       // of a list or an object
  std::vector<std::string> keys;  // of an object

  static nlohmann::ordered_json text(const Node* node);
};

nlohmann::ordered_json Json::Node::text(const Node* node) {
  using Text = nlohmann::ordered_json;
  if (node == nullptr) return nullptr;
  switch (node->kind) {
    case Kind::plain:
      return node->plain;
    case Kind::numbers: {
      if (node->columns == 0) return node->numbers;
      Text rows = Text::array();
      for (std::size_t k = 0; k < node->numbers.size(); k += node->columns) {
        Text row = Text::array();
        for (std::size_t c = 0; c < node->columns; ++c) row.push_back(node->numbers[k + c]);
        rows.push_back(std::move(row));
      }
      return rows;
    }
    case Kind::list: {
      Text list = Text::array();
      for (const Json& value : node->values) list.push_back(text(value.m_node.get()));
      return list;
    }
    case Kind::object:
      break;
  }
  Text object = Text::object();
  for (std::size_t k = 0; k < node->values.size(); ++k) {
    object[node->keys[k]] = text(node->values[k].m_node.get());
  }
  return object;
}

namespace {
template <class Node, class Value>
std::unique_ptr<Node> plain(Value&& value) {
  auto node = std::make_unique<Node>();
  node->plain = std::forward<Value>(value);
  return node;
}
}  // namespace

Json::Json() = default;
Json::Json(bool value) : m_node(plain<Node>(value)) {}
Json::Json(int value) : m_node(plain<Node>(value)) {}
Json::Json(long value) : m_node(plain<Node>(value)) {}
Json::Json(long long value) : m_node(plain<Node>(value)) {}
Json::Json(unsigned value) : m_node(plain<Node>(value)) {}
Json::Json(unsigned long value) : m_node(plain<Node>(value)) {}
Json::Json(unsigned long long value) : m_node(plain<Node>(value)) {}
Json::Json(double value) : m_node(plain<Node>(value)) {}
Json::Json(const char* value) : m_node(plain<Node>(std::string(value))) {}
Json::Json(std::string value) : m_node(plain<Node>(std::move(value))) {}

Json::Json(std::vector<double> values) : m_node(std::make_unique<Node>()) {
  m_node->kind = Node::Kind::numbers;
  m_node->numbers = std::move(values);
}

Json::Json(const std::vector<std::int64_t>& values) : m_node(std::make_unique<Node>()) {
  m_node->kind = Node::Kind::list;
  m_node->values.assign(values.begin(), values.end());
}

Json::Json(const std::vector<std::string>& values) : m_node(std::make_unique<Node>()) {
  m_node->kind = Node::Kind::list;
  m_node->values.assign(values.begin(), values.end());
}

Json::Json(const Json& other)
    : m_node(other.m_node ? std::make_unique<Node>(*other.m_node) : nullptr) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) {
  if (this != &other) *this = Json(other);
  return *this;
}
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::object(std::initializer_list<Member> members) {
  Json result;
  result.m_node = std::make_unique<Node>();
  result.m_node->kind = Node::Kind::object;
  for (const Member& member : members) result[member.key] = member.value;
  return result;
}

Json Json::array(std::initializer_list<Json> values) {
  Json result;
  result.m_node = std::make_unique<Node>();
  result.m_node->kind = Node::Kind::list;
  result.m_node->values.assign(values.begin(), values.end());
  return result;
}

Json Json::rows(std::vector<double> values, std::size_t columns) {
  if (columns == 0) return array();
  Json result(std::move(values));
  result.m_node->columns = columns;
  return result;
}

Json& Json::operator[](const std::string& key) {
  if (!m_node) *this = object();
  for (std::size_t k = 0; k < m_node->keys.size(); ++k) {
    if (m_node->keys[k] == key) return m_node->values[k];
  }
  m_node->keys.push_back(key);
  m_node->values.emplace_back();
  return m_node->values.back();
}

void Json::merge(const Json& other) {
  if (!other.m_node) return;
  for (std::size_t k = 0; k < other.m_node->keys.size(); ++k) {
    (*this)[other.m_node->keys[k]] = other.m_node->values[k];
  }
}

void Json::push_back(Json value) {
  if (!m_node) *this = array();
  m_node->values.push_back(std::move(value));
}

std::string Json::dump() const {
  // file names need not be text
  return Node::text(m_node.get())
      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace moho::examples
