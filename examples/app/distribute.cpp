// SPDX-License-Identifier: BSD-3-Clause
#include "app/distribute.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/format.hpp"
#include "app/output_folder.hpp"

#include <moho/cluster/guard.hpp>
#include <moho/cluster/remote_folders.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/submission_log.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/owned_folder.hpp>
#include <moho/io/text_file.hpp>

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace moho::examples {

namespace {
namespace fs = std::filesystem;
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t max_concurrent_shots = 1024;
}  // namespace

void bind_distribute(Description& d, SitesOptions& texts) {
  cluster::DistributeOptions& o = texts.options;
  const std::size_t first = d.rows().size();
  const Traits site{.hidden = true, .local = true};
  d.bind(texts.sites, "sites", "FILE",
         "compute shots at the sites of this file: local processes, Slurm, remote machines by ssh",
         site);
  d.bind(o.shots_per_job, "shots-per-job", "n", "shots per job, computed in turn (default: 1)",
         count(1, no_limit), site);
  d.bind(o.max_attempts, "max-attempts", "n",
         "failures of a shot after which it is given up (default: 3)", count(1, 1000), site);
  d.bind(o.max_lost, "max-lost", "n",
         "losses of a shot for other reasons, such as a failed node, after which it is given up "
         "(default: 10)",
         count(1, 100000), site);
  d.bind(o.max_missing, "may-miss", "n", "largest accepted number of missing shots (default: 0)",
         count(0, no_limit), site);
  d.bind(o.first_pause, "pause", "s",
         "first pause of a site that fails repeatedly; each further pause is twice as long, and "
         "after the third the site is excluded (default: 60)",
         positive("positive, in seconds"), site);
  d.bind(o.partition, "partition", "NAME",
         "division of shots among sites: pull (repeatedly half of the remaining shots, by measured "
         "rates) or parts (once, by the rates in the file: Algorithm 3) (default: pull)",
         one_of({"pull", "parts"}), site);
  d.bind(o.shot_time_limit, "shot-time", "s",
         "time limit of a shot (default: that of the site); of a job, this times its shots",
         positive("positive, in seconds"), site);
  d.bind(o.memory, "job-memory", "BYTES",
         "memory of a job of Slurm, such as 8G (default: that of the site)", bytes(), site);
  d.bind(o.max_memory, "most-memory", "BYTES",
         "largest memory with which a job that ran out of memory is repeated (default: "
         "--job-memory)",
         bytes(), site);
  d.bind(texts.result_bytes, "result-bytes", "BYTES",
         "size of a shot's result, for checking free disk space", bytes(), site);
  std::vector<std::string> names;
  for (std::size_t k = first + 1; k < d.rows().size(); ++k) names.push_back(d.rows()[k].name);
  d.check([&texts, names](const Arguments& given) {
    if (given.given("only-shot") && !texts.sites.empty()) {
      throw InputError("--only-shot and --sites exclude each other: give one of them");
    }
    if (!given.given("most-memory")) texts.options.max_memory = texts.options.memory;
    for (const std::string& name : names) {
      if (!texts.sites.empty() || !given.given(name)) continue;
      throw InputError(concat("--", name, " requires --sites FILE"));
    }
  });
}

void bind_at_once(Description& d, ShotChoice& choice) {
  d.bind(
      choice.at_once, "at-once", "N|auto",
      "shots computed concurrently on one device or host, which small shots leave idle; the same "
      "bits (default: auto, from nodes and memory)",
      count(1, max_concurrent_shots), {.word = "auto", .hidden = true});
}

void bind_only_shot(Description& d, ShotChoice& choice) {
  d.bind(
      choice.only_shot, "only-shot", "n",
      "compute only the shot of this number, with the same bits as in a complete run; results of "
      "all shots together are not written",
      count(0, no_limit), {.hidden = true, .local = true});
}

void check_shots_per_job(const SitesOptions& texts, std::size_t shots) {
  const std::int64_t count = texts.options.shots_per_job;
  if (count <= static_cast<std::int64_t>(shots)) return;
  throw InputError(concat("--shots-per-job is ", count, " (allowed: 1 to ", shots,
                          ", the shots of the survey)"));
}

void refuse_ranks(const Processes& processes) {
  if (processes.alone()) return;
  throw InputError(
      concat("--sites: mpirun started ", processes.size(),
             " ranks (allowed: 1): the sites compute the shots; start the program without mpirun"));
}

cluster::Work make_shot_work(const CommonOptions& options, const std::string& program,
                             const Json& made_from) {
  cluster::Work work;
  work.campaign = program;
  for (const std::string& key : made_from.keys()) work.survey[key] = made_from.find(key)->dump();
  work.command = {
      "{programs}/" + program,   "--only-shot={shot}", "--out={out}", "--no-plot", "--quiet",
      "--space=" + options.space};
  for (std::string word : options.words) {
    const std::string name = word.substr(2, word.find('=') - 2);
    // Replaces the path of an input in the word by {input:KEY}.
    const auto place = [&](const std::string& path, std::size_t at) {
      std::string key;
      for (const auto& [known, there] : work.inputs) {
        if (there == fs::absolute(path).string()) key = known;
      }
      if (key.empty()) {
        key = concat("input", work.inputs.size() + 1);
        work.inputs.emplace_back(key, fs::absolute(path).string());
      }
      word = word.substr(0, at) + "{input:" + key + "}" + word.substr(at + path.size());
    };
    const std::size_t begin = name.size() + 3;
    const bool reads = std::any_of(options.inputs.begin(), options.inputs.end(),
                                   [&](const InputName& input) { return input.option == name; });
    std::error_code error;
    if (reads && begin < word.size() && fs::exists(word.substr(begin), error)) {
      place(word.substr(begin), begin);
    } else {
      for (const InputName& input : options.inputs) {
        if (input.option != name || !fs::exists(input.path, error)) continue;
        const std::size_t at = word.find(input.path, begin);
        if (at == std::string::npos) continue;
        place(input.path, at);
        break;
      }
    }
    work.command.push_back(word);
  }
  return work;
}

namespace {

// Throws if the run that wrote a journal had --keep-shots and this one has not, or vice versa.
void check_keep_shots(const cluster::JournalContent& before, const cluster::Work& work,
                      const fs::path& out) {
  const auto results = before.survey.find("results");
  if (results == before.survey.end() || results->second == work.survey.at("results")) return;
  throw InputError(concat(
      "--resume: --keep-shots is ", work.sums ? "not given" : "given", ", and was ",
      work.sums ? "given" : "not given", " in the run in ", out.string(),
      " (allowed: as in that run, whose results stay): ", work.sums ? "give it, too" : "omit it",
      ", or leave --resume out to begin again"));
}

// Passes the parts of a shot in the unpacked summary.json to `on_part`. Returns true if on_part
// accepted the last one.
bool deliver_parts(std::int64_t shot, const fs::path& unpacked, const OnPart& on_part) {
  const io::InputFile file(unpacked / "summary.json");
  const Json summary = Json::parse(file.text(file.size()));
  const Json* const parts = summary.find("parts");
  bool whole = false;
  for (std::size_t k = 0; parts != nullptr && k < parts->size(); ++k) {
    const Json& part = parts->at(k);
    const Json *number = part.find("number"), *list = part.find("files");
    if (number == nullptr || list == nullptr || number->number(-1.0) != static_cast<double>(shot)) {
      continue;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json* const name = list->at(i).find("name");
      if (name != nullptr && is_plain_name(name->text())) names.push_back(name->text());
    }
    whole = on_part(shot, part, unpacked, names);
  }
  return whole;
}

}  // namespace

cluster::Report compute_parts(const SitesOptions& texts, SitesRun& run, cluster::Work work,
                              const std::vector<std::int64_t>& shots, const Session& session,
                              const OnPart& on_part, const OnSiteSum& on_sum) {
  std::error_code error;
  work.survey["results"] = work.sums ? "sums of sites" : "shots";
  cluster::make_private_folders(run.folder);
  fs::permissions(run.folder, fs::perms::owner_all, error);
  cluster::check_private_folder(run.folder);
  const auto print_line = [&](const std::string& line) {
    session.print("sites     ", line);
    std::fflush(stdout);
  };
  const auto quiet = [](const std::string&) {};
  const fs::path path = run.folder / "journal.txt";
  if (run.resume && fs::exists(path, error)) {
    try {
      check_keep_shots(cluster::read_journal(path), work, session.folder());
    } catch (const FileError&) {
      fs::remove(path, error);  // its process ended before the header was complete
    }
  }
  const auto sites =
      open_sites(texts, run.folder, work, static_cast<std::int64_t>(shots.size()),
                 run.print_sites ? std::function<void(const std::string&)>(print_line) : quiet);
  for (const auto& site : sites) {
    const auto rate = run.rates.find(site->options().name);
    if (rate != run.rates.end()) site->set_initial_rate(rate->second);
  }
  std::vector<cluster::Task> tasks;
  for (const std::int64_t shot : shots) tasks.push_back({shot, 1.0});
  cluster::Journal journal(path, work.survey);
  cluster::record_remote_folders(journal, sites, work.sums);
  cluster::DistributeOptions how = texts.options;
  how.shots_per_job = std::min(how.shots_per_job,
                               std::max<std::int64_t>(static_cast<std::int64_t>(shots.size()), 1));
  how.on_message = print_line;
  how.separate_thread = false;  // the session belongs to this thread
  const auto deliver = [&](std::int64_t shot, const fs::path& result) {
    const fs::path unpacked = run.folder / concat("shot_", shot);
    cluster::unpack_result(result, unpacked, journal.key());
    if (!deliver_parts(shot, unpacked, on_part)) {
      throw Error(concat("the result of shot ", shot, " in ", run.folder.string(),
                         " lacks the files that ", session.program(),
                         " writes for a shot: install this version of the programs at all sites"));
    }
    fs::remove_all(unpacked, error);
  };
  const auto deliver_sum = [&](const std::vector<std::int64_t>& of, const fs::path& result) {
    const fs::path unpacked = run.folder / "sum";
    const auto names = cluster::unpack_result(result, unpacked, journal.key(), true);
    const bool added = on_sum(of, unpacked, names);
    fs::remove_all(unpacked, error);
    return added;
  };
  const cluster::Report report =
      work.sums ? cluster::distribute_sums({work, journal}, tasks, sites, how, deliver, deliver_sum)
                : cluster::distribute({work, journal}, tasks, sites, how, deliver);
  for (const cluster::SiteReport& site : report.sites) {
    if (!(site.rate > 0.0)) continue;
    double& rate = run.rates[site.name];
    rate = rate > 0.0 ? 0.7 * rate + 0.3 * site.rate : site.rate;
  }
  return report;
}

void make_sites_folder(const fs::path& folder) {
  io::make_owned_folder(folder);
  std::error_code error;
  fs::permissions(folder, fs::perms::owner_all, error);
  cluster::check_private_folder(folder);
}

fs::path sites_folder(const fs::path& folder) { return fs::absolute(folder) / ".moho_sites"; }

// Creates the sites of a file.
static std::vector<std::unique_ptr<cluster::Site>> make_sites(const SitesOptions& texts,
                                                              const fs::path& campaign) {
  std::string text;
  try {
    text = io::read_text(texts.sites, std::uint64_t{1} << 24);
  } catch (const FileError& error) {
    throw InputError(concat("--sites ", texts.sites, ": ", error.what()));
  }
  return cluster::make_sites(cluster::parse_sites(text, "--sites " + texts.sites), campaign,
                             programs_folder());
}

void compute_at_sites(const SitesOptions& texts, const CommonOptions& options,
                      const std::vector<std::int64_t>& shots, Session& session,
                      const std::function<void(std::int64_t shot, const Json& more)>& on_shot,
                      const OnSiteSum& on_sum) {
  SitesRun run;
  run.folder = sites_folder(session.folder());
  run.resume = options.resume;
  io::check_owned_folder(run.folder);
  if (shots.empty() || !options.resume) io::remove_owned_folder(run.folder);
  if (shots.empty()) return;
  make_sites_folder(run.folder);
  const Json* const made_from = session.summary.find("fingerprint");
  cluster::Work work =
      make_shot_work(options, session.program(), made_from != nullptr ? *made_from : Json());
  work.sums = static_cast<bool>(on_sum);
  const auto move_files = [&](const fs::path& unpacked, const std::vector<std::string>& names) {
    // List the files in the summary on disk before the first one is moved: --resume replaces only
    // files that a summary lists.
    if (!session.writing()) session.begin_output();
    std::vector<std::string> first;  // a shot that is computed again replaces its files
    for (const std::string& name : names) {
      const bool there =
          std::find(session.files.begin(), session.files.end(), name) != session.files.end();
      if (!there) first.push_back(name);
    }
    session.will_write(first);
    std::error_code error;  // take_in() detects missing files
    for (const std::string& name : names) {
      fs::rename(unpacked / name, session.folder() / name, error);
    }
  };
  const OnPart on_part = [&](std::int64_t shot, const Json& part, const fs::path& unpacked,
                             const std::vector<std::string>& names) {
    move_files(unpacked, names);
    Json more;
    if (const Json* const kept = part.find("more"); kept != nullptr && kept->find("summed")) {
      // No part of the summary: a resumed run finds it in the journal.
      more = *kept;
      for (const std::string& name : names) {
        std::erase(session.files, name);
        session.wrote(name);
      }
    } else if (!session.take_in(part, more)) {
      return false;
    }
    on_shot(shot, more);
    return true;
  };
  const cluster::Report report = compute_parts(texts, run, work, shots, session, on_part, on_sum);
  for (const std::string& line : report_lines(report)) session.print("sites     ", line);
  session.summary["sites"] = sites_json(report);
  if (!work.sums) io::remove_owned_folder(run.folder);
}

// Removes the files of sums of a journal, if it exists.
static void forget_journal(const SitesOptions& texts, const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "journal.txt", error)) return;
  cluster::forget_sums(folder / "journal.txt", make_sites(texts, folder));
}

void forget_sums(const SitesOptions& texts, const fs::path& folder, const fs::path& kept) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path() != kept) forget_journal(texts, entry.path());
  }
}

void leave_sites(const Session& session, const fs::path& folder) {
  for (const cluster::RemoteFolders& left : cluster::remote_folders(folder)) {
    session.print("note      folders of an earlier part of this run may remain at the site ",
                  left.site, ": ", left.names,
                  " (only a run with --sites removes them; its jobs may still run)");
  }
  io::remove_owned_folder(folder);
}

void forget_sites(const SitesOptions& texts, const Session& session) {
  const fs::path folder = sites_folder(session.folder());
  forget_journal(texts, folder);
  io::remove_owned_folder(folder);
}

fs::path programs_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::vector<std::unique_ptr<cluster::Site>> open_sites(
    const SitesOptions& texts, const fs::path& campaign, const cluster::Work& work,
    std::int64_t shots, const std::function<void(const std::string&)>& print_line) {
  auto sites = make_sites(texts, campaign);
  struct statvfs disk {};
  const double need = texts.result_bytes * static_cast<double>(shots);
  if (need > 0.0 && ::statvfs(campaign.c_str(), &disk) == 0) {
    const double there = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
    if (there < need) {
      throw InputError(concat("'", campaign.string(), "' has room for ", format_bytes(there), " (",
                              there, " bytes), and ", shots, " results of ",
                              format_bytes(texts.result_bytes), " take ", format_bytes(need),
                              ": free space, or keep the journal on another disk"));
    }
  }
  for (const auto& site : sites) {
    print_line(concat(site->options().name, ": ", site->probe(work)));
    if (texts.options.memory > 0.0 && !site->system().limits_memory()) {
      print_line(concat("note: --job-memory has no effect at site ", site->options().name,
                        ", whose jobs are processes"));
    }
  }
  return sites;
}

std::string status_text(const fs::path& path) {
  const cluster::JournalContent journal = cluster::read_journal(path);
  const cluster::SubmissionLog log = cluster::read_submission_log(journal.events);
  std::ostringstream out;
  const auto name = journal.values.find("name");
  out << "campaign  " << (name == journal.values.end() ? "not begun" : name->second) << '\n';
  const auto done = static_cast<double>(journal.results.size());
  out << "done      " << counted(journal.results.size(), "shot");
  if (log.remaining >= 0.0 && !log.heartbeats.empty()) {
    // shots done since the last heartbeat
    const double left = std::max(0.0, log.remaining - (done - log.heartbeats.back().second));
    out << ", " << left << " remaining";
    const double seconds = log.heartbeats.back().first - log.begin_time;
    const double before = log.heartbeats.front().second;
    if (log.heartbeats.size() > 1 && seconds > 0.0 && log.heartbeats.back().second > before) {
      const double rate = (log.heartbeats.back().second - before) /
                          (log.heartbeats.back().first - log.heartbeats.front().first);
      out << ", " << fixed(60.0 * rate, 2) << " per minute, about " << fixed(left / rate / 60.0, 1)
          << " minutes remaining";
    }
  }
  out << '\n';
  struct Row {
    std::int64_t done = 0, handed = 0;
  };
  std::map<std::string, Row> rows;
  std::set<std::int64_t> there;
  for (const cluster::ShotResult& result : journal.results) {
    ++rows[result.file.substr(0, result.file.find('/'))].done;
    there.insert(result.shot);
  }
  for (const auto& [token, record] : log.batches) {
    for (const cluster::Job& job : record.batch.jobs) {
      if (record.ended.count(job.token) > 0) continue;
      for (const cluster::Task& task : job.tasks) {
        rows[record.site].handed += there.count(task.shot) > 0 ? 0 : 1;
      }
    }
  }
  out << std::left << std::setw(14) << "site" << std::right << std::setw(10) << "done"
      << std::setw(10) << "submitted" << '\n';
  for (const auto& [site, row] : rows) {
    out << std::left << std::setw(14) << site << std::right << std::setw(10) << row.done
        << std::setw(10) << row.handed;
    const auto paused = log.excluded_sites.find(site);
    if (paused != log.excluded_sites.end()) out << "  excluded: " << paused->second;
    out << '\n';
  }
  for (const auto& [node, causes] : log.failures) {
    out << "failures  " << (node.empty() ? "no node" : node) << ':';
    for (const auto& [cause, count] : causes) out << ' ' << count << " x " << cause << ';';
    out << '\n';
  }
  for (const std::string& line : log.last_failures) out << "          " << line << '\n';
  for (const auto& [shot, record] : log.shots) {
    if (record.given_up && there.count(shot) == 0) {
      out << "given up  shot " << shot << ": " << record.reason << '\n';
    }
  }
  return out.str();
}

}  // namespace moho::examples
