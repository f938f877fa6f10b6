// SPDX-License-Identifier: BSD-3-Clause
#include "app/common_options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>

namespace moho::examples {

namespace {

// Reads an execution space of this build by name.
std::string parse_space(const std::string& name) {
  parse_name("--space", name, {"serial", "openmp", "cuda"});
  const auto names = space_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string list;
    for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
    throw InputError(concat("--space ", name, " is not in this program (it has: ", list,
                            "): choose one of these, or build moho with a Kokkos that has it"));
  }
  return name;
}

}  // namespace

std::string sequential_space() { return space_names().front(); }

void bind_precision(Description& d, CommonOptions& o, const std::string& text) {
  d.bind(o.double_precision, "precision", "TYPE", text, one_of({"float", "double"}));
}

void bind_space(Description& d, CommonOptions& o) {
  Option& row = d.add("space", "NAME",
                      "where to compute: serial, openmp or cuda (default: the fastest that this "
                      "program was built with)",
                      {.local = true});
  row.read = [&o](const Arguments& given) {
    o.space = given.given("space") ? parse_space(given.text("space")) : default_space_name();
  };
  row.shown = [&o] { return Json(o.space); };
}

void bind_memory(Description& d, CommonOptions& o, const std::string& what,
                 const std::string& preset) {
  d.bind(o.memory, "memory", "BYTES",
         "most memory " + what + ", such as 512M or 8G (default: " + preset + ")", bytes(),
         {.unset = "what is free", .free = true});
}

void bind_out(Description& d, CommonOptions& o) {
  const std::string preset = d.program + "_out";
  d.bind(o.out, "out", "DIR", "folder for the results (default: " + preset + ")",
         nonempty("the name of a folder", preset), {.free = true, .local = true});
  d.check([&o, preset](const Arguments& given) {
    if (!given.given("out")) o.out = preset;
  });
}

void bind_no_plot(Description& d, CommonOptions& o, const std::string& what) {
  d.flag(o.plot, "no-plot", "draw no " + what, {.key = "plot", .free = true, .local = true}, false);
}

void bind_quiet(Description& d, bool& quiet) {
  d.flag(quiet, "quiet", "print nothing but errors", {.hidden = true, .local = true});
}

void bind_resume(Description& d, CommonOptions& o, const std::string& part) {
  d.flag(o.resume, "resume",
         "go on after the last whole " + part +
             " of an interrupted run in the folder of --out, with the same bits; "
             "options and input files must be the same",
         {.hidden = true, .local = true});
}

void bind_plan(Description& d, CommonOptions& o, const std::string& text) {
  d.flag(o.plan, "plan", text, {.hidden = true, .local = true});
}

void bind_coordinates(Description& d) {
  d.add("coordinates", "xyz",
        "order of three numbers of a volume; xyz is the only one, and the default. With names, "
        "x=..,z=..,y=.., any order is accepted")
      .read = [](const Arguments& given) {
    if (!given.given("coordinates") || given.text("coordinates") == "xyz") return;
    throw InputError(concat("--coordinates is '", given.text("coordinates"),
                            "' (allowed: xyz): name numbers in another order, such as "
                            "x=..,z=..,y=.."));
  };
}

void bind_config(Description& d, CommonOptions& o) {
  d.add({}, {}, {}, {.key = "config", .free = true}, Option::Kind::none).shown = [&o] {
    return o.config.empty() ? Json() : Json(o.config);
  };
}

}  // namespace moho::examples
