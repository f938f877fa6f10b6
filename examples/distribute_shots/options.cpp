// SPDX-License-Identifier: BSD-3-Clause
#include "distribute_shots/options.hpp"

#include "common/arguments.hpp"
#include "common/distribute.hpp"

#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>

namespace moho::examples::distribute_shots {

namespace {

namespace fs = std::filesystem;

constexpr const char* intro =
    R"(distribute_shots: computes the shots of a survey at several sites and repeats shots that fail.

  distribute_shots --sites FILE --journal FILE --shots 1-24 [options] -- PROGRAM ARGUMENTS...
  distribute_shots --sites FILE --journal FILE --resume [options] -- PROGRAM ARGUMENTS...
  distribute_shots --journal FILE --status
  distribute_shots --sites FILE --journal FILE --cancel [options] -- PROGRAM ARGUMENTS...

The words after -- are the command that computes one shot; no shell reads them. In each word, {shot} is
replaced by the number of the shot, {out} by the folder for the program's files, {programs} by the folder of
moho's programs at the site, and {input:NAME} by the path of an input at the site.
)";

constexpr const char* outro = R"(
The file of --sites has one section per site:
  [here]                   [cluster]                   [far]
  kind = local             kind = slurm                host = me@login.far.example
  slots = 2                partition = gpu             folder = /scratch/me/moho
                           time = 3600                 programs = /opt/moho/bin
                           option = --gres=gpu:1       kind = slurm
Further settings: jobs, rate, least, account, qos, memory, array, command_timeout, ssh_option, rsync.

Results, in the folder of the journal: <site>/results/<shot>.<job>.result, one file per shot with a header, the
files written by the program, and checksums; --collect unpacks them into DIR/shot_<number>.

Examples
  distribute_shots --sites sites.cfg --journal run/journal.txt --shots 1-240 --collect gathers --input vp=vp.npy
      -- {programs}/model_waves --vp {input:vp} --only-shot {shot} --out {out} --no-plot
  distribute_shots --journal run/journal.txt --status
      A table of shots by site, rates, remaining time and failures, also while the run continues.

Exit status: 0 all shots are done, 2 the input is not usable, 1 shots are missing (the message names them) or
another error, 130 interrupted: jobs continue, and --resume finds them.
)";

}  // namespace

Description describe() {
  Description d;
  d.program = "distribute_shots";
  d.intro = intro;
  d.outro = outro;
  d.groups = {
      {"Work",
       {{"shots", "LIST", "numbers and ranges: 1-24,30,40-80:2"},
        repeated("input", "NAME=FILE",
                 "input file or folder of the programs; copied once to each remote site"),
        {"name", "NAME", "name of the run, part of the names of jobs (default: shots)"},
        {"evaluation", "n", "number of the evaluation, in an inversion (default: 0)"},
        repeated("command", "WORD", "a word of the command, instead of the words after --")}},
      {"Sites", distribute_options()},
      {"Run",
       {{"journal", "FILE", "journal of the run; results are written to its folder"},
        flag("resume", "resume from the journal: keep finished shots and adopt running jobs"),
        flag("status", "print a table of the content of the journal"),
        flag("cancel", "cancel all jobs recorded in the journal"),
        flag("probe", "check whether the sites can be used"),
        {"collect", "DIR", "unpack results into DIR/shot_<number>"},
        flag("quiet", "print errors only")}},
      {"For relays at remote sites",
       {flag("relay", "answer a request from standard input"),
        {"relay-run", "DIR", "compute the chunk in this folder"}}}};
  return d;
}

Options read_options(const Arguments& arguments, const std::vector<std::string>& command,
                     const std::function<bool()>& stop) {
  Options o;
  const auto given = [&](const char* name) { return arguments.given(name); };
  o.quiet = given("quiet");
  if (given("relay")) {
    o.action = Action::relay;
    return o;
  }
  if (given("relay-run")) {
    o.action = Action::run_relay;
    o.relay = arguments.text("relay-run");
    return o;
  }
  const int actions = (given("status") ? 1 : 0) + (given("cancel") ? 1 : 0) +
                      (given("probe") ? 1 : 0) + (given("resume") ? 1 : 0);
  if (actions > 1) {
    throw InputError("--resume, --status, --cancel and --probe exclude each other: give one");
  }
  if (!given("journal") || arguments.text("journal").empty()) {
    throw InputError("--journal is missing: name the journal of the run, in a separate folder");
  }
  o.journal = arguments.text("journal");
  if (given("status")) {
    o.action = Action::status;
    return o;
  }
  o.action = given("cancel") ? Action::cancel : given("probe") ? Action::probe : Action::compute;
  o.resume = given("resume");
  read_distribute_options(arguments, o.distribute);
  if (o.distribute.sites.empty()) {
    throw InputError("--sites is missing: name the sites file, see distribute_shots --help");
  }
  o.work.campaign = given("name") ? arguments.text("name") : "shots";
  if (given("evaluation")) {
    o.work.evaluation =
        parse_count("--evaluation", arguments.text("evaluation"), 0, std::int64_t{1} << 40);
  }
  o.work.command = command.empty() ? arguments.texts("command") : command;
  if (!command.empty() && given("command")) {
    throw InputError("--command and words after -- exclude each other: give one of them");
  }
  if (o.action != Action::probe && o.work.command.empty()) {
    throw InputError("the command is missing: give its words after --");
  }
  if (o.work.command.empty()) o.work.command = {"true"};
  for (const std::string& text : arguments.texts("input")) {
    const std::size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size()) {
      throw InputError(concat("--input is '", text, "' (allowed: NAME=FILE)"));
    }
    const fs::path path = fs::absolute(text.substr(equal + 1));
    if (!fs::exists(path)) {
      throw InputError(concat("--input ", text, ": '", path.string(), "' does not exist"));
    }
    o.work.inputs.emplace_back(text.substr(0, equal), path.string());
  }
  cluster::check_work(o.work);
  // Throws if the command names an unknown input.
  static_cast<void>(cluster::expand_command(o.work, 0, "out", "programs"));
  if (o.action == Action::compute) {
    if (!given("shots")) throw InputError("--shots is missing: name the shots, 1-24");
    o.tasks = parse_shots(arguments.text("shots"), stop);
  }
  for (std::size_t k = 0; k < o.work.command.size(); ++k) {
    o.work.survey[concat("word ", k)] = o.work.command[k];
  }
  for (const auto& [name, path] : o.work.inputs) {
    if (fs::is_directory(path)) continue;
    const io::FileIdentity file = io::identify_file(path);
    o.work.survey["input " + name] =
        concat(file.bytes, " bytes, CRC-32C ", io::checksum_text(file.checksum));
  }
  o.work.survey["evaluation"] = std::to_string(o.work.evaluation);
  if (given("collect")) o.collect = arguments.text("collect");
  return o;
}

}  // namespace moho::examples::distribute_shots
