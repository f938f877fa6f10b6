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
    R"(distribute_shots: computes the shots of a survey at several places, each once, whatever fails.

  distribute_shots --sites FILE --journal FILE --shots 1-24 [options] -- PROGRAM ARGUMENTS...
  distribute_shots --sites FILE --journal FILE --resume [options] -- PROGRAM ARGUMENTS...
  distribute_shots --journal FILE --status
  distribute_shots --sites FILE --journal FILE --cancel [options] -- PROGRAM ARGUMENTS...

The words behind -- compute one shot. They are a list: no shell reads them. In each word {shot} becomes the
shot's number, {out} the folder into which the program writes its files, {programs} the folder of moho's
programs at the place, {input:NAME} the path of an input there.
)";

constexpr const char* outro = R"(
The file of --sites has a section for each place:
  [here]                   [cluster]                   [far]
  kind = local             kind = slurm                host = me@login.far.example
  slots = 2                partition = gpu             folder = /scratch/me/moho
                           time = 3600                 programs = /opt/moho/bin
                           option = --gres=gpu:1       kind = slurm
Further settings: jobs, rate, least, account, qos, memory, array, command_timeout, ssh_option, rsync.

Results, in the folder of the journal: <place>/results/<shot>.<job>.result, one file a shot with a header, the
files that the program left, and checksums; --collect unpacks them into DIR/shot_<number>.

Examples
  distribute_shots --sites sites.cfg --journal run/journal.txt --shots 1-240 --collect gathers --input vp=vp.npy
      -- {programs}/model_waves --vp {input:vp} --only-shot {shot} --out {out} --no-plot
  distribute_shots --journal run/journal.txt --status
      A table of shots by place, rates, time left and failures; the run may be going on.

Exit status: 0 all shots are there, 2 the input is not usable, 1 shots are missing (they are named) or something
else failed, 130 interrupted: jobs go on, and --resume goes on with them.
)";

}  // namespace

Description describe() {
  Description d;
  d.program = "distribute_shots";
  d.intro = intro;
  d.outro = outro;
  d.groups = {{"Work",
               {{"shots", "LIST", "numbers and ranges: 1-24,30,40-80:2"},
                repeated("input", "NAME=FILE",
                         "a file or folder that programs read; it goes to places "
                         "that are elsewhere, once"),
                {"name", "NAME", "of the run, in the names of jobs (default: shots)"},
                {"evaluation", "n", "number of the model, in an inversion (default: 0)"},
                repeated("command", "WORD", "a word of the command, instead of those behind --")}},
              {"Places", distribute_options()},
              {"Run",
               {{"journal", "FILE", "of the run; results lie in its folder"},
                flag("resume",
                     "go on with the journal: shots that are there stay, jobs that run are "
                     "found again"),
                flag("status", "print a table of what the journal says"),
                flag("cancel", "end all jobs that the journal knows of"),
                flag("probe", "ask the places whether they can be used"),
                {"collect", "DIR", "unpack results into DIR/shot_<number>"},
                flag("quiet", "print nothing but errors")}},
              {"For relays at other machines",
               {flag("relay", "answer a question on standard input"),
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
    throw InputError("--journal is missing: name the file of the run, in a folder of its own");
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
    throw InputError("--sites is missing: name the file of places, see distribute_shots --help");
  }
  o.work.campaign = given("name") ? arguments.text("name") : "shots";
  if (given("evaluation")) {
    o.work.evaluation =
        parse_count("--evaluation", arguments.text("evaluation"), 0, std::int64_t{1} << 40);
  }
  o.work.command = command.empty() ? arguments.texts("command") : command;
  if (!command.empty() && given("command")) {
    throw InputError("--command and words behind -- exclude each other: give one of them");
  }
  if (o.action != Action::probe && o.work.command.empty()) {
    throw InputError("there is no command: give its words behind --");
  }
  if (o.work.command.empty()) o.work.command = {"true"};
  for (const std::string& text : arguments.texts("input")) {
    const std::size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size()) {
      throw InputError(concat("--input is '", text, "' (allowed: NAME=FILE)"));
    }
    const fs::path path = fs::absolute(text.substr(equal + 1));
    if (!fs::exists(path)) {
      throw InputError(concat("--input ", text, ": there is no '", path.string(), "'"));
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
