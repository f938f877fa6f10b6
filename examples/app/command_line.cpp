// SPDX-License-Identifier: BSD-3-Clause
#include "app/command_line.hpp"

#include <moho/core/error.hpp>
#include <moho/core/suggestions.hpp>
#include <moho/core/text.hpp>
#include <moho/io/text_file.hpp>

#include <boost/program_options.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace moho::examples {

namespace po = boost::program_options;

namespace {

constexpr unsigned width = 100, min_width_of_texts = 60;
constexpr std::string_view letters_of_names = "abcdefghijklmnopqrstuvwxyz0123456789-";

// Converts the options of a heading.
po::options_description to_boost(const Description& description, std::size_t group) {
  po::options_description list(description.groups()[group], width, min_width_of_texts);
  for (const Option& option : description.rows()) {
    if (option.kind == Option::Kind::none || option.group != group) continue;
    const po::value_semantic* value = nullptr;
    if (option.kind == Option::Kind::flag) {
      // true if given; a file may write "name = true"
      value = po::value<bool>()->zero_tokens();
    } else if (option.kind == Option::Kind::repeated) {
      value = po::value<std::vector<std::string>>()->value_name(option.form);
    } else {
      value = po::value<std::string>()->value_name(option.form);
    }
    list.add_options()(option.name.c_str(), value, option.text.c_str());
  }
  return list;
}

// All names that a program knows, including aliases.
std::vector<std::string> known_names(const Description& description,
                                     const po::options_description& known) {
  std::vector<std::string> names;
  for (const auto& option : known.options()) names.push_back(option->long_name());
  for (const auto& [alias, name] : description.aliases) names.push_back(alias);
  return names;
}

po::variables_map parse_line(const Description& description,
                             const std::vector<std::string>& arguments,
                             const po::options_description& known) {
  po::variables_map values;
  const std::string see = concat("see ", description.program, " --help"), help = ": " + see;
  // remedy for an unknown name
  const auto instead = [&](const std::string& name, bool exact) {
    const std::vector<std::string> names = known_names(description, known);
    const bool is_name = std::find(names.begin(), names.end(), name) != names.end();
    const std::string text = text::suggestion(
        exact && is_name ? std::vector{name} : text::nearest_names(name, names), "--");
    return text.empty() ? help : concat(": ", text, " S", see.substr(1));
  };
  try {
    namespace style = po::command_line_style;
    const int how = style::allow_long | style::long_allow_next | style::long_allow_adjacent;
    const po::parsed_options parsed =
        po::command_line_parser(arguments).options(known).style(how).run();
    for (const po::option& option : parsed.options) {
      if (option.position_key >= 0) {
        const std::string& word = option.original_tokens.front();
        const bool one_dash = word.size() > 1 && word[0] == '-';
        const std::string name = word.substr(1, word.find('=') - 1);
        throw InputError(concat("'", word, "' belongs to no option (allowed: --name value)",
                                one_dash ? instead(name, true) : help));
      }
      if (!option.value.empty() && option.value.front().rfind("--", 0) == 0) {
        throw InputError(concat("the value of --", option.string_key, " is missing before ",
                                option.value.front(), help));
      }
    }
    po::store(parsed, values);
  } catch (const po::unknown_option& error) {
    const std::string name = error.get_option_name();
    const auto begin = std::min(name.find_first_not_of('-'), name.size());
    throw InputError(error.what() + instead(name.substr(begin, name.find('=') - begin), false));
  } catch (const po::error& error) {
    throw InputError(error.what() + help);
  }
  return values;
}

bool is_repeated(const Description& description, const std::string& name) {
  return std::any_of(description.rows().begin(), description.rows().end(),
                     [&](const Option& option) {
                       return option.kind == Option::Kind::repeated && option.name == name;
                     });
}

// Value of a line of a --config file: the text before an unquoted #, without its quotes.
// \throws std::string, the reason, for an unreadable value
std::string value_of(std::string_view text) {
  text = text::trim(text);
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) {
    return std::string(text::trim(text.substr(0, text.find('#'))));
  }
  const auto end = text.find(text.front(), 1);
  if (end == std::string_view::npos) throw concat("the quote ", text.substr(0, 1), " has no end");
  const std::string_view rest = text::trim(text.substr(end + 1));
  if (!rest.empty() && rest.front() != '#') {
    throw concat("there is '", rest, "' behind the quoted value");
  }
  return std::string(text.substr(1, end - 1));
}

// Reads the options of a file, one "name = value" a line.
// \param lines gets the line of each option \param written gets aliases by the names that they
// stand for
std::vector<po::option> read_file(const Description& description, const std::string& file,
                                  const po::options_description& known,
                                  std::map<std::string, int>& lines,
                                  std::map<std::string, std::string>& written) {
  std::string text;
  try {
    text = io::read_text(file, std::uint64_t{1} << 24);
  } catch (const FileError& error) {
    throw InputError(concat("--config ", file, ": cannot be read: ", error.what()));
  }
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // the byte order mark of UTF-8
  std::vector<po::option> options;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const auto refuse = [&](const std::string& why) {
      return InputError(concat("--config ", file, ":", number, ": ", why,
                               " (allowed: one \"name = value\" a line with the names of ",
                               description.program,
                               " --help): mend the line; a value may stand in quotes, and # "
                               "starts a comment"));
    };
    const std::string_view whole = text::trim(line);
    if (whole.empty() || whole.front() == '#') continue;
    const auto equals = whole.find('=');
    std::string name(text::trim(whole.substr(0, std::min(equals, whole.find('#')))));
    if (equals == std::string_view::npos || whole.find('#') < equals) {
      throw refuse(concat("'", name, "' has no value"));
    }
    const auto alias = description.aliases.find(name);
    if (alias != description.aliases.end()) {
      written.emplace(alias->second, name);
      name = alias->second;
    }
    const po::option_description* const option = known.find_nothrow(name, false);
    if (option == nullptr) {
      const std::string near =
          text::suggestion(text::nearest_names(name, known_names(description, known)));
      throw refuse(concat("'", name, "' is no option of ", description.program,
                          near.empty() ? "" : ", ", near));
    }
    po::option one;
    one.string_key = name;
    try {
      one.value = {value_of(whole.substr(equals + 1))};
    } catch (const std::string& why) {
      throw refuse(why);
    }
    if (option->semantic()->max_tokens() == 0) {
      for (char& letter : one.value.front()) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      }
      const std::string& flag = one.value.front();
      const std::set<std::string> yes{"true", "yes", "on", "1"}, no{"false", "no", "off", "0"};
      if (yes.count(flag) + no.count(flag) == 0) {
        throw refuse(concat("'", name, "' is '", flag, "', neither true nor false"));
      }
    }
    const auto [before, first] = lines.emplace(name, number);
    if (!first && !is_repeated(description, name)) {
      throw refuse(concat("'", name, "' was given in line ", before->second, ", too"));
    }
    options.push_back(one);
  }
  return options;
}

// Adds the options of a file; options already present have priority.
// Returns the lines of the options that were added.
std::map<std::string, int> parse_file(const Description& description, const std::string& file,
                                      const po::options_description& known,
                                      po::variables_map& values,
                                      std::map<std::string, std::string>& written) {
  po::parsed_options parsed(&known);
  std::map<std::string, int> lines;
  std::map<std::string, std::string> aliases;
  parsed.options = read_file(description, file, known, lines, aliases);
  std::set<std::string> dropped;
  for (const Alternatives& group : description.alternatives) {
    const bool chosen = std::any_of(group.choices.begin(), group.choices.end(),
                                    [&](const std::string& key) { return values.count(key) > 0; });
    if (!chosen) continue;
    dropped.insert(group.choices.begin(), group.choices.end());
    dropped.insert(group.details.begin(), group.details.end());
  }
  auto& list = parsed.options;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const po::option& o) { return dropped.count(o.string_key) > 0; }),
             list.end());
  for (auto line = lines.begin(); line != lines.end();) {
    const bool added = values.count(line->first) == 0 && dropped.count(line->first) == 0;
    line = added ? std::next(line) : lines.erase(line);
  }
  for (const auto& [name, alias] : aliases) {
    if (lines.count(name) > 0) written.emplace(name, alias);
  }
  try {
    po::store(parsed, values);
  } catch (const po::error& error) {
    throw InputError(concat("--config ", file, ": ", error.what()));
  }
  return lines;
}

}  // namespace

Arguments::Arguments(const Description& description, const std::vector<std::string>& arguments) {
  po::options_description in_file, all;
  for (std::size_t k = 0; k < description.groups().size(); ++k) {
    in_file.add(to_boost(description, k));
  }
  po::options_description console("Other", width, min_width_of_texts);
  const std::string config =
      "read options from a file, one \"name = value\" a line, # starts a comment, values may stand "
      "in quotes; the command line wins" +
      description.config_note;
  console.add_options()("config", po::value<std::string>()->value_name("FILE"), config.c_str())(
      "help", "this text")("version", "versions of the program and of what it was built with");
  all.add(in_file).add(console);

  std::vector<std::string> words = arguments;
  for (std::string& word : words) {
    for (const auto& [alias, name] : description.aliases) {
      const std::string full = "--" + alias;
      if (word != full && word.rfind(full + "=", 0) != 0) continue;
      const auto same = [&, name = "--" + name](const std::string& other) {
        return other == name || other.rfind(name + "=", 0) == 0;
      };
      if (!is_repeated(description, name) &&
          std::any_of(arguments.begin(), arguments.end(), same)) {
        throw InputError(concat("--", name, " and --", alias,
                                " are one option, which was given more than once (allowed: once): "
                                "leave one of them out"));
      }
      word.replace(2, alias.size(), name);
      m_written[name] = alias;
      break;
    }
  }
  po::variables_map values;
  try {
    values = parse_line(description, words, all);
  } catch (const InputError& error) {
    throw InputError(as_written(error.what()));
  }
  if (values.count("help")) {
    std::ostringstream options;  // with an empty line before each level of groups
    options << all;
    m_help = description.intro + options.str().substr(1) + description.outro;
    return;
  }
  m_version = values.count("version") > 0;
  if (m_version) return;
  if (values.count("config")) {
    m_config = values["config"].as<std::string>();
    m_lines = parse_file(description, m_config, in_file, values, m_written);
    for (const auto& [alias, name] : description.aliases) {
      const auto line = m_lines.find(name);
      if (line != m_lines.end()) m_lines.emplace(alias, line->second);
    }
  }
  for (const Option& option : description.rows()) {
    const auto found = values.find(option.name);
    if (option.kind == Option::Kind::none || found == values.end()) continue;
    if (option.kind == Option::Kind::value) {
      m_values[option.name] = {found->second.as<std::string>()};
    } else if (option.kind == Option::Kind::repeated) {
      m_values[option.name] = found->second.as<std::vector<std::string>>();
    } else if (found->second.as<bool>()) {
      m_values[option.name] = {};
    }
  }
}

std::string Arguments::with_line(const std::string& message) const {
  const std::string text = as_written(message);
  if (message.rfind("--", 0) != 0) return text;
  const auto end = message.find_first_not_of(letters_of_names, 2);
  const auto line = m_lines.find(message.substr(2, end == std::string::npos ? end : end - 2));
  if (line == m_lines.end()) return text;
  return concat("--config ", m_config, ":", line->second, ": ", text);
}

std::string Arguments::as_written(std::string message) const {
  for (const auto& [name, alias] : m_written) {
    const std::string canonical = "--" + name;
    for (std::size_t at = 0; (at = message.find(canonical, at)) != std::string::npos;) {
      const std::size_t end = at + canonical.size();
      const auto in_name = [&](std::size_t k) {
        return k < message.size() && letters_of_names.find(message[k]) != std::string_view::npos;
      };
      const bool whole = !in_name(end) && (at == 0 || !in_name(at - 1));
      if (whole) message.replace(at + 2, name.size(), alias);
      at += whole ? 2 + alias.size() : canonical.size();
    }
  }
  return message;
}

std::string Arguments::text(const std::string& name) const {
  const auto found = m_values.find(name);
  return found == m_values.end() || found->second.empty() ? std::string() : found->second.front();
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
  const auto found = m_values.find(name);
  return found == m_values.end() ? std::vector<std::string>() : found->second;
}

}  // namespace moho::examples
