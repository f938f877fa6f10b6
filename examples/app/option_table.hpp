// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The options of a program as a table.
///
/// A row has the name of an option, its help, its variable, and its member of summary.json.
///
///     d.group("Scheme");
///     d.bind(o.order, "order", "n", "of differences in space (default: 8)", even(16));
///     d.bind(o.dt, "dt", "s | auto", "time step", positive("seconds"), {.word = "auto"});
///
/// --help, reading with its checks, and the members of the summary follow the order of rows.

#include "app/json.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::examples {

class Arguments;

/// Rule that converts the text of an option to a value, and the value to a member of summary.json.
template <class V>
struct Rule {
  /// \param option its name with dashes, for messages \throws InputError for an invalid text
  std::function<V(const std::string& option, const std::string& text)> read;
  /// Makes the member of summary.json. Null: the option has no member.
  std::function<Json(const V&)> show = [](const V& value) {
    if constexpr (std::is_constructible_v<Json, const V&>) return Json(value);
    return Json();
  };
};

/// Properties of an option in addition to its value.
struct Traits {
  std::string word = {};           ///< allowed text that leaves the value unset, such as "auto"
  std::optional<Json> unset = {};  ///< member of an unset value, instead of `word`; null: omitted
  std::string key = {};            ///< of the member; by default the option's name with _ for -
  bool hidden = false;             ///< omitted from the summary and the comparison of --resume
  bool file = false;               ///< the value may name a file that the program reads
  std::vector<std::string> words = {};  ///< values that are never files
  bool free = false;                    ///< may have another value when a run is resumed
  bool local = false;                   ///< omitted from the commands of jobs at sites
};

/// A row of the table: an option, or a check, or a member of the summary without an option.
struct Option : Traits {
  /// Number of times that an option may be given, and whether it has a value.
  enum class Kind {
    none,      ///< never: the row is no option
    value,     ///< once, with a value
    repeated,  ///< any number of times, each with a value
    flag       ///< without a value; a file writes "name = true"
  };
  Kind kind = Kind::none;  ///< see Kind
  std::string name;        ///< without the dashes
  std::string form;        ///< of its value in --help: "FILE", "x,z[,y]"; empty for a flag
  std::string text;        ///< its help: meaning and default
  std::size_t group = 0;   ///< position of its heading
  std::function<void(const Arguments&)> read;  ///< stores its value, or checks; may be empty
  std::function<Json()> shown;                 ///< its member; empty or null: omitted
  /// Returns true if the member of a run that is resumed gives the same bits; empty: equal ones do.
  std::function<bool(const Json&)> same_bits = {};

  /// Omits the member while a condition is false.
  void show_if(std::function<bool()> condition);
};

/// Options of which a choice on the command line replaces those in the --config file.
struct Alternatives {
  std::set<std::string> choices;  ///< the options to choose from
  std::set<std::string> details;  ///< options that belong to a choice and are replaced with it
};

/// A file that an option names.
struct InputName {
  std::string option;  ///< without the dashes
  std::string path;    ///< as the option has it
};

/// The table of a program's options. The variables of its rows must outlive it.
class Description {
 public:
  using Text = const std::string&;

  std::string program;       ///< name of the program
  std::string intro, outro;  ///< of --help, above and below the options
  std::string config_note;   ///< end of the text of --config
  std::string version_note;  ///< end of the text of --version
  std::vector<Alternatives> alternatives;
  /// alternative names of options, mapped to their names
  std::map<std::string, std::string> aliases;

  /// Starts a heading of --help for the rows that follow. Headings keep the order of first calls.
  void group(Text title);

  /// Adds an option with a value. An unset value equals T().
  /// The returned row is valid until the next call.
  template <class T, class V>
  Option& bind(T& target, Text name, Text form, Text text, Rule<V> rule, const Traits& traits = {});
  /// \overload whose value is any text
  Option& bind(std::string& target, Text name, Text form, Text text, const Traits& traits = {});
  /// \overload that may be repeated
  Option& bind(std::vector<std::string>& target, Text name, Text form, Text text,
               const Traits& traits = {});
  /// Adds a flag. \param value of the variable if the flag is given
  Option& flag(bool& target, Text name, Text text, const Traits& traits = {}, bool value = true);
  /// Adds an option whose functions `read` and `shown` the caller sets, or that checks read.
  Option& add(Text name, Text form, Text text, const Traits& traits = {},
              Option::Kind kind = Option::Kind::value);
  /// Adds a check, or a value computed from several options. \param read may throw InputError
  void check(std::function<void(const Arguments&)> read);
  /// Moves members of the summary after another one. \param keys of rows, in their new order
  void move_in_summary(Text after, const std::vector<std::string>& keys);

  /// Returns the row of an option of the table.
  Option& option(Text name);
  /// Returns all rows.
  const std::vector<Option>& rows() const { return m_rows; }
  /// Returns the headings of --help.
  const std::vector<std::string>& groups() const { return m_groups; }

  /// Stores all values and runs the checks. \throws InputError for an invalid value
  void read(const Arguments& given) const;
  /// Returns the files that options name, in the order of rows.
  /// Values that name no file may be among them.
  std::vector<InputName> inputs(const Arguments& given) const;
  /// Returns the options of a job at a site, as the words of a command line.
  std::vector<std::string> words(const Arguments& given) const;
  /// Returns the requested options for summary.json.
  Json requested() const { return members(false); }
  /// Returns the requested options that must be equal in a run and its resumption.
  Json compared() const { return members(true); }
  /// Replaces members of a fingerprint by those of an earlier run that give the same bits.
  void adopt(Json& fingerprint, const Json& earlier) const;

 private:
  static void read_by(Option& row, std::function<void(Text option, Text text)> read);
  Json members(bool compared) const;

  std::vector<Option> m_rows;
  std::vector<std::string> m_groups;
  std::size_t m_group = 0;           // heading of the rows that follow
  std::vector<std::size_t> m_order;  // order of rows in the summary
};

template <class T, class V>
Option& Description::bind(T& target, Text name, Text form, Text text, Rule<V> rule,
                          const Traits& traits) {
  constexpr bool is_optional = requires { target.has_value(); };
  Option& row = add(name, form, text, traits);
  read_by(row, [&target, read = rule.read](const std::string& option, const std::string& said) {
    if constexpr (is_optional) {
      target = static_cast<typename T::value_type>(read(option, said));
    } else {
      target = static_cast<T>(read(option, said));
    }
  });
  if (row.hidden) return row;
  row.shown = [&target, show = rule.show, unset = row.unset] {
    if constexpr (std::equality_comparable<T>) {
      if (unset && target == T()) return *unset;
    }
    if constexpr (is_optional) {
      return target ? show(static_cast<V>(*target)) : Json();
    } else {
      return show(static_cast<V>(target));
    }
  };
  return row;
}

}  // namespace moho::examples
