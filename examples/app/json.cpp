// SPDX-License-Identifier: BSD-3-Clause
#include "app/json.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace moho::examples {

struct Json::Node {
  enum class Kind { plain, numbers, list, object };
  Kind kind = Kind::plain;
  nlohmann::ordered_json plain;   // any value without parts
  std::vector<double> numbers;    // of a list of numbers, or of its rows
  std::size_t columns = 0;        // length of rows; 0: a plain list of numbers
  std::vector<Json> values;       // of a list or an object
  std::vector<std::string> keys;  // of an object

  static void write(const Node* node, int level, const Sink& put);
  static Json value(const nlohmann::ordered_json& text);
};

namespace {

// Length of the UTF-8 character at a position; 0 if the bytes are not UTF-8.
std::size_t character_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(at + k) & 0xc0) != 0x80) return 0;
  }
  // not overlong, no surrogate, not above U+10FFFF
  const unsigned second = byte(at + 1);
  const bool odd = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                   (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return odd ? 0 : length;
}

// Writes bytes that are not UTF-8 as \xHH.
std::string escaped(const std::string& text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    if (length > 0) {
      result.append(text, at, length);
      at += length;
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[at++]);
    result += "\\x";
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

}  // namespace

// Writes a list or an object: one line for each value, which each(k) writes.
template <class Each>
static void write_lines(const Json::Sink& put, const char* brackets, std::size_t count, int level,
                        const Each& each) {
  const std::string margin(static_cast<std::size_t>(2 * level), ' ');
  put({brackets, 1});
  for (std::size_t k = 0; k < count; ++k) {
    put(k > 0 ? ",\n  " : "\n  ");
    put(margin);
    each(k);
  }
  if (count > 0) {
    put("\n");
    put(margin);
  }
  put({brackets + 1, 1});
}

void Json::Node::write(const Node* node, int level, const Sink& put) {
  if (node == nullptr) return put("null");
  const auto number = [&](std::size_t k) { put(nlohmann::ordered_json(node->numbers[k]).dump()); };
  const auto value = [&](std::size_t k) { write(node->values[k].m_node.get(), level + 1, put); };
  const std::size_t columns = node->columns;
  switch (node->kind) {
    case Kind::plain:
      return put(node->plain.dump());
    case Kind::numbers:
      if (columns == 0) return write_lines(put, "[]", node->numbers.size(), level, number);
      return write_lines(put, "[]", node->numbers.size() / columns, level, [&](std::size_t row) {
        write_lines(put, "[]", columns, level + 1,
                    [&](std::size_t c) { number(row * columns + c); });
      });
    case Kind::list:
      return write_lines(put, "[]", node->values.size(), level, value);
    case Kind::object:
      return write_lines(put, "{}", node->values.size(), level, [&](std::size_t k) {
        put(nlohmann::ordered_json(escaped(node->keys[k])).dump());
        put(": ");
        value(k);
      });
  }
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
Json::Json(const char* value) : m_node(plain<Node>(escaped(value))) {}
Json::Json(std::string value) : m_node(plain<Node>(escaped(value))) {}

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

void Json::remove(const std::string& key) {
  if (!m_node) return;
  for (std::size_t k = 0; k < m_node->keys.size(); ++k) {
    if (m_node->keys[k] != key) continue;
    m_node->keys.erase(m_node->keys.begin() + static_cast<std::ptrdiff_t>(k));
    m_node->values.erase(m_node->values.begin() + static_cast<std::ptrdiff_t>(k));
    return;
  }
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

void Json::write(const Sink& put) const { Node::write(m_node.get(), 0, put); }

std::string Json::dump() const {
  std::string text;
  write([&](std::string_view part) { text += part; });
  return text;
}

Json Json::Node::value(const nlohmann::ordered_json& text) {
  Json json;
  if (text.is_null()) return json;
  json.m_node = std::make_unique<Node>();
  if (text.is_object()) {
    json.m_node->kind = Kind::object;
    for (const auto& [key, member] : text.items()) {
      json.m_node->keys.push_back(key);
      json.m_node->values.push_back(value(member));
    }
  } else if (text.is_array()) {
    json.m_node->kind = Kind::list;
    for (const auto& member : text) json.m_node->values.push_back(value(member));
  } else {
    json.m_node->plain = text;
  }
  return json;
}

Json Json::parse(const std::string& text) {
  const auto parsed = nlohmann::ordered_json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json() : Node::value(parsed);
}

const Json* Json::find(const std::string& key) const {
  if (!m_node) return nullptr;
  for (std::size_t k = 0; k < m_node->keys.size(); ++k) {
    if (m_node->keys[k] == key) return &m_node->values[k];
  }
  return nullptr;
}

std::vector<std::string> Json::keys() const {
  return m_node ? m_node->keys : std::vector<std::string>();
}

std::size_t Json::size() const { return m_node ? m_node->values.size() : 0; }
const Json& Json::at(std::size_t index) const { return m_node->values.at(index); }

std::string Json::text() const {
  const bool is_text = m_node && m_node->kind == Node::Kind::plain && m_node->plain.is_string();
  return is_text ? m_node->plain.get<std::string>() : std::string();
}

double Json::number(double otherwise) const {
  const bool is_number = m_node && m_node->kind == Node::Kind::plain && m_node->plain.is_number();
  return is_number ? m_node->plain.get<double>() : otherwise;
}

std::vector<double> Json::numbers() const {
  std::vector<double> result;
  for (std::size_t k = 0; k < size(); ++k) result.push_back(at(k).number(0.0));
  return result;
}

std::vector<std::string> Json::texts() const {
  std::vector<std::string> list;
  for (std::size_t k = 0; k < size(); ++k) list.push_back(at(k).text());
  return list;
}

}  // namespace moho::examples
