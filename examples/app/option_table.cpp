// SPDX-License-Identifier: BSD-3-Clause
#include "app/option_table.hpp"

#include "app/command_line.hpp"

#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>

#include <algorithm>

namespace moho::examples {

void Option::show_if(std::function<bool()> condition) {
  shown = [inner = std::move(shown), condition = std::move(condition)] {
    return condition() ? inner() : Json();
  };
}

void Description::group(Text title) {
  const auto known = std::find(m_groups.begin(), m_groups.end(), title);
  m_group = static_cast<std::size_t>(known - m_groups.begin());
  if (known == m_groups.end()) m_groups.push_back(title);
}

Option& Description::add(Text name, Text form, Text text, const Traits& traits, Option::Kind kind) {
  m_order.push_back(m_rows.size());
  Option& row = m_rows.emplace_back(Option{traits, kind, name, form, text, m_group, {}, {}});
  if (row.key.empty()) {
    row.key = name;
    std::replace(row.key.begin(), row.key.end(), '-', '_');
  }
  if (!row.unset && !row.word.empty()) row.unset = row.word;
  return row;
}

void Description::read_by(Option& row, std::function<void(Text option, Text text)> read) {
  row.read = [read = std::move(read), name = row.name, word = row.word](const Arguments& given) {
    if (!given.given(name) || (!word.empty() && given.text(name) == word)) return;
    try {
      read("--" + name, given.text(name));
    } catch (const InputError& error) {
      throw InputError(text::also_allowed(error.what(), word));
    }
  };
}

Option& Description::bind(std::string& target, Text name, Text form, Text text,
                          const Traits& traits) {
  return bind(target, name, form, text, Rule<std::string>{[](Text, Text s) { return s; }}, traits);
}

Option& Description::bind(std::vector<std::string>& target, Text name, Text form, Text text,
                          const Traits& traits) {
  Option& row = add(name, form, text, traits, Option::Kind::repeated);
  row.read = [&target, name](const Arguments& given) { target = given.texts(name); };
  if (row.hidden) return row;
  row.shown = [&target, unset = row.unset] {
    return unset && target.empty() ? *unset : Json(target);
  };
  return row;
}

Option& Description::flag(bool& target, Text name, Text text, const Traits& traits, bool value) {
  Option& row = add(name, {}, text, traits, Option::Kind::flag);
  row.read = [&target, value, name](const Arguments& given) {
    if (given.given(name)) target = value;
  };
  if (row.hidden) return row;
  row.shown = [&target, unset = row.unset] { return unset && !target ? *unset : Json(target); };
  return row;
}

void Description::check(std::function<void(const Arguments&)> read) {
  add({}, {}, {}, {}, Option::Kind::none).read = std::move(read);
}

void Description::move_in_summary(Text after, const std::vector<std::string>& keys) {
  const auto find = [&](const std::string& key) {
    const auto at = std::find_if(m_order.begin(), m_order.end(),
                                 [&](std::size_t row) { return m_rows[row].key == key; });
    if (at == m_order.end()) throw Error(concat("no option has the member '", key, "'"));
    return at;
  };
  std::vector<std::size_t> moved;
  for (const std::string& key : keys) {
    const auto at = find(key);
    moved.push_back(*at);
    m_order.erase(at);
  }
  m_order.insert(find(after) + 1, moved.begin(), moved.end());
}

Option& Description::option(Text name) {
  for (Option& row : m_rows) {
    if (row.kind != Option::Kind::none && row.name == name) return row;
  }
  throw Error(concat("'", name, "' is no option of ", program));
}

void Description::read(const Arguments& given) const {
  for (const Option& row : m_rows) {
    if (!row.words.empty() && given.given(row.name)) {
      text::check_word_or_file("--" + row.name, given.text(row.name), row.words, row.form);
    }
    if (row.read) row.read(given);
  }
}

std::vector<InputName> Description::inputs(const Arguments& given) const {
  std::vector<InputName> files;
  for (const Option& row : m_rows) {
    if (!row.file) continue;
    for (const std::string& path : given.texts(row.name)) {
      const bool word = std::find(row.words.begin(), row.words.end(), path) != row.words.end();
      if (!word) files.push_back({row.name, path});
    }
  }
  return files;
}

std::vector<std::string> Description::words(const Arguments& given) const {
  std::vector<std::string> words;
  for (const auto& [name, values] : given.values()) {
    const bool local = std::any_of(m_rows.begin(), m_rows.end(), [name = &name](const Option& row) {
      return row.local && row.name == *name;
    });
    if (local) continue;
    if (values.empty()) words.push_back("--" + name);
    for (const std::string& value : values) words.push_back(concat("--", name, "=", value));
  }
  return words;
}

void Description::adopt(Json& fingerprint, const Json& earlier) const {
  for (const Option& row : m_rows) {
    const Json* const before = row.same_bits ? earlier.find("--" + row.key) : nullptr;
    if (before != nullptr && row.same_bits(*before)) fingerprint["--" + row.key] = *before;
  }
}

Json Description::members(bool compared) const {
  Json json = Json::object();
  for (const std::size_t k : m_order) {
    const Option& row = m_rows[k];
    if (!row.shown || (compared && row.free)) continue;
    if (Json value = row.shown(); !value.null()) json[row.key] = std::move(value);
  }
  return json;
}

}  // namespace moho::examples
