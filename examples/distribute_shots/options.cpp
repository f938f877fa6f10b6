// SPDX-License-Identifier: BSD-3-Clause
#include "distribute_shots/options.hpp"

#include "app/arguments.hpp"
#include "app/common_options.hpp"
#include "app/distribute.hpp"

#include <moho/cluster/shot_numbers.hpp>
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

// Stores what is to be done, its journal and folders. Returns whether sites are needed for it.
bool read_action(const Arguments& given, Options& o) {
  o.quiet = given.given("quiet");
  if (given.given("relay")) {
    o.action = Action::relay;
    return false;
  }
  if (given.given("relay-run")) {
    o.action = Action::run_relay;
    o.relay = given.text("relay-run");
    return false;
  }
  int actions = 0;
  for (const char* name : {"status", "cancel", "probe", "resume"}) actions += given.given(name);
  if (actions > 1) {
    throw InputError("--resume, --status, --cancel and --probe exclude each other: give one");
  }
  o.journal = given.text("journal");
  if (o.journal.empty()) {
    throw InputError("--journal is missing: name the journal of the run, in a separate folder");
  }
  o.resume = given.given("resume");
  o.action = given.given("status")   ? Action::status
             : given.given("cancel") ? Action::cancel
             : given.given("probe")  ? Action::probe
                                     : Action::compute;
  return o.action != Action::status;
}

void read_command(const Arguments& given, const std::vector<std::string>& command, Options& o) {
  o.work.command = command.empty() ? given.texts("command") : command;
  if (!command.empty() && given.given("command")) {
    throw InputError("--command and words after -- exclude each other: give one of them");
  }
  if (o.action != Action::probe && o.work.command.empty()) {
    throw InputError("the command is missing: give its words after --");
  }
  if (o.work.command.empty()) o.work.command = {"true"};
}

void read_inputs(const Arguments& given, cluster::Work& work) {
  for (const std::string& text : given.texts("input")) {
    const std::size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size()) {
      throw InputError(concat("--input is '", text, "' (allowed: NAME=FILE)"));
    }
    const fs::path path = fs::absolute(text.substr(equal + 1));
    if (!fs::exists(path)) {
      throw InputError(concat("--input ", text, ": '", path.string(), "' does not exist"));
    }
    work.inputs.emplace_back(text.substr(0, equal), path.string());
  }
}

// Describes what the results depend on.
void describe_survey(cluster::Work& work) {
  for (std::size_t k = 0; k < work.command.size(); ++k) {
    work.survey[concat("word ", k)] = work.command[k];
  }
  for (const auto& [name, path] : work.inputs) {
    if (fs::is_directory(path)) continue;
    const io::FileIdentity file = io::identify_file(path);
    work.survey["input " + name] =
        concat(file.bytes, " bytes, CRC-32C ", io::checksum_text(file.checksum));
  }
  work.survey["evaluation"] = std::to_string(work.evaluation);
}

}  // namespace

Description describe(Options& o) {
  const auto flag = Option::Kind::flag, repeated = Option::Kind::repeated;
  Description d;
  d.program = "distribute_shots";
  d.intro = intro;
  d.outro = outro;
  d.group("Work");
  d.add("shots", "LIST",
        "numbers and ranges: 1-24,30,40-80:2 (default with --resume: those of the last run)");
  d.add("input", "NAME=FILE",
        "input file or folder of the programs; copied once to each remote site", {}, repeated);
  o.work.campaign = "shots";
  d.bind(o.work.campaign, "name", "NAME",
         "name of the run, part of the names of jobs (default: shots)");
  d.bind(o.work.evaluation, "evaluation", "n",
         "number of the evaluation, in an inversion (default: 0)", count(0, std::int64_t{1} << 40));
  d.add("command", "WORD", "a word of the command, instead of the words after --", {}, repeated);
  d.group("Sites");
  bind_distribute(d, o.distribute);
  d.group("Run");
  d.add("journal", "FILE", "journal of the run; results are written to its folder");
  d.add("resume", {}, "resume from the journal: keep finished shots and adopt running jobs", {},
        flag);
  d.add("status", {}, "print a table of the content of the journal", {}, flag);
  d.add("cancel", {}, "cancel all jobs recorded in the journal", {}, flag);
  d.add("probe", {}, "check whether the sites can be used", {}, flag);
  d.bind(o.collect, "collect", "DIR", "unpack results into DIR/shot_<number>",
         parsed([](const std::string& text) { return fs::path(text); }));
  d.add("quiet", {}, "print errors only", {}, flag);
  d.group("For relays at remote sites");
  d.add("relay", {}, "answer a request from standard input", {}, flag);
  d.add("relay-run", "DIR", "compute the chunk in this folder");
  return d;
}

void read_options(const Description& d, const Arguments& given,
                  const std::vector<std::string>& command, const std::function<bool()>& stop,
                  Options& o) {
  if (!read_action(given, o)) return;
  d.read(given);
  if (o.distribute.sites.empty()) {
    throw InputError("--sites is missing: name the sites file, see distribute_shots --help");
  }
  read_command(given, command, o);
  read_inputs(given, o.work);
  cluster::check_work(o.work);
  // Throws if the command names an unknown input.
  static_cast<void>(cluster::expand_command(o.work, 0, "out", "programs"));
  if (o.action == Action::compute) {
    o.shots = given.text("shots");
    if (given.given("shots")) {
      o.tasks = cluster::parse_shots(o.shots, "--shots", stop);
    } else if (!o.resume) {
      throw InputError("--shots is missing: name the shots, 1-24");
    }
  }
  describe_survey(o.work);
}

}  // namespace moho::examples::distribute_shots
