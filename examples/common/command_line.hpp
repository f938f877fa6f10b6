// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The options of an example program: what is said about them in --help, and what was given
/// on the command line and in the --config file, read strictly.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// An option as --help tells it.
struct OptionText {
  /// How it is given.
  enum class Kind {
    value,     ///< once, with a value
    repeated,  ///< any number of times, each with a value
    flag       ///< without a value; a file writes "name = true"
  };
  std::string name;  ///< without the dashes
  std::string form;  ///< what --help calls its value: "FILE", "x,z[,y]"; empty for a flag
  std::string text;  ///< what it is, and its default
  Kind kind = Kind::value;
};

/// A flag.
OptionText flag(std::string name, std::string text);
/// An option that may be repeated.
OptionText repeated(std::string name, std::string form, std::string text);
/// --precision, with float as the default.
OptionText precision_option();
/// --space.
OptionText space_option();
/// --memory: most memory `what`.
OptionText memory_option(const std::string& what, const std::string& preset = "what is free");
/// --resume: go on behind the last `part` that is whole.
OptionText resume_option(const std::string& part);
/// --coordinates: the order of three numbers of a volume, of which xyz alone is allowed.
OptionText coordinates_option();
/// --out.
OptionText out_option(const std::string& program);

/// Two lists as one.
std::vector<OptionText> joined(std::vector<OptionText> first,
                               const std::vector<OptionText>& second);

/// Options under a heading.
struct OptionGroup {
  std::string title;
  std::vector<OptionText> options;
};

/// Options of which a choice on the command line replaces the others in the --config file.
struct Alternatives {
  std::set<std::string> choices;  ///< those to choose from
  std::set<std::string> details;  ///< those that belong to a choice and go with it
};

/// A program as --help describes it.
struct Description {
  std::string program;              ///< its name
  std::string intro, outro;         ///< of --help, above and below the options
  std::vector<OptionGroup> groups;  ///< all but --config, --help and --version
  std::string config_note;          ///< ends the text of --config
  std::string version_note;         ///< ends the text of --version
  std::vector<Alternatives> alternatives;
  std::map<std::string, std::string> aliases;  ///< further names of options, to their names
};

/// What was given.
class Arguments {
 public:
  /// \brief Reads a command line of long options, "--name value" or "--name=value", none
  /// abbreviated, and the file that --config names.
  /// \throws InputError for what is unknown, belongs to no option, or lacks its value
  Arguments(const Description& description, const std::vector<std::string>& arguments);

  /// The text of --help, or empty.
  const std::string& help() const { return m_help; }
  /// Was --version given?
  bool version() const { return m_version; }
  /// The file of --config, or empty.
  const std::string& config() const { return m_config; }

  /// \brief Returns a message with the options named as they were written, "--data" for "--shots".
  ///
  /// A message that begins with an option, "--name ...", gets the line of the file that has the
  /// option in front.
  std::string with_line(const std::string& message) const;

  /// Was an option with a value given? A flag: is it set?
  bool given(const std::string& name) const { return m_values.count(name) > 0; }
  /// Its value; empty if it was not given.
  std::string text(const std::string& name) const;
  /// All its values.
  std::vector<std::string> texts(const std::string& name) const;
  /// All that was given, in files and on the command line, as the words of a command line.
  std::vector<std::string> words() const;
  /// Its value as a number above `lowest`, or from there.
  /// \param form what is allowed, for messages
  /// \throws InputError
  double number(const std::string& name, const std::string& form, double lowest,
                bool include_lowest) const;
  /// The position of its value among names, or `otherwise` if it was not given. \throws InputError
  std::size_t choice(const std::string& name, const std::vector<std::string>& names,
                     std::size_t otherwise) const;

 private:
  // Replaces names of options by the aliases that were written for them.
  std::string as_written(std::string message) const;

  std::string m_help, m_config;
  bool m_version = false;
  std::map<std::string, std::string> m_written;  ///< aliases that were given, by names
  std::map<std::string, std::vector<std::string>> m_values;
  std::map<std::string, int> m_lines;  ///< of the file, by options that have their value from there
};

/// A file that an option names.
struct InputName {
  std::string option;  ///< without the dashes
  std::string path;
};

/// What can be asked of every program; its own options are derived from these.
struct CommonOptions {
  bool double_precision = false;
  std::string space;       ///< name of the execution space
  std::size_t memory = 0;  ///< most bytes in the space; 0: what is free
  std::string out;         ///< folder for the results
  std::string config;      ///< the file that options were read from, if any
  bool plot = true;        ///< draw the picture
  bool quiet = false;      ///< print nothing but errors
  bool resume = false;     ///< go on after the last whole part of an earlier run
  /// All that was given, as the words of a command line.
  std::vector<std::string> words;
  /// Files that will be read. What is no file may be among them, such as a number.
  std::vector<InputName> inputs;
};

/// The space of this build that sequential methods run on.
std::string sequential_space();

/// \brief Reads them; the folder is <program>_out by default.
/// \throws InputError
void read_common(const Arguments& arguments, const std::string& program, CommonOptions& options);

}  // namespace moho::examples
