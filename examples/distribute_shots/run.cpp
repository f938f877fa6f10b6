// SPDX-License-Identifier: BSD-3-Clause
//
// distribute_shots: computes the shots of a survey at several sites.

#include "app/distribute.hpp"
#include "app/message.hpp"
#include "app/program.hpp"
#include "app/summary.hpp"
#include "distribute_shots/options.hpp"
#include "distribute_shots/site_sum.hpp"

#include <moho/cluster/guard.hpp>
#include <moho/cluster/relay.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/shot_numbers.hpp>
#include <moho/core/error.hpp>
#include <moho/core/scope_guard.hpp>
#include <moho/io/owned_folder.hpp>
#include <moho/io/writer.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

namespace moho::examples::distribute_shots {

namespace {

namespace fs = std::filesystem;

std::atomic<int> signal_seen{0};

void remember(int signal) { signal_seen = signal; }

void watch_signals() {
  struct sigaction act {};
  act.sa_handler = remember;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &act, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

fs::path folder_of(const fs::path& journal) {
  return journal.parent_path().empty() ? fs::path(".") : journal.parent_path();
}

fs::path cancel_file(const fs::path& journal) {
  fs::path path = journal;
  return path += ".cancel";
}

// Requests, while it exists, that a running distributor releases the journal.
struct CancelRequest {
  fs::path file;
  ~CancelRequest() { std::remove(file.c_str()); }
};

// Opens the journal of a run that is to be cancelled; waits up to 20 s for a running distributor.
std::unique_ptr<cluster::Journal> open_to_cancel(const Options& o) {
  const cluster::JournalOptions how{.start = cluster::JournalStart::resume, .verify = false};
  const CancelRequest request{cancel_file(o.journal)};
  std::ofstream(request.file) << "cancel\n";
  for (int attempt = 0;; ++attempt) {
    try {
      return std::make_unique<cluster::Journal>(o.journal, o.work.survey, how);
    } catch (const cluster::BusyJournal&) {
      if (attempt > 100) throw;
    }
    cluster::Clock().wait(0.2);
  }
}

// Throws for an unusable journal, before any folder is created.
void check_journal(const Options& o) {
  std::error_code error;
  if (o.resume && !fs::exists(o.journal, error)) {
    throw InputError(concat("--journal: the journal '", o.journal.string(),
                            "' does not exist: start without --resume"));
  }
  const bool filled = fs::is_regular_file(o.journal, error) && fs::file_size(o.journal, error) > 0;
  if (!filled) return;
  try {
    static_cast<void>(cluster::read_journal(o.journal));
  } catch (const FileError& wrong) {
    throw InputError(concat("--journal: ", wrong.what()));
  }
}

// Takes the shots of the last run from the journal.
void read_shots(Options& o) {
  o.shots = cluster::read_journal(o.journal).values["shots"];
  if (o.shots.empty())
    throw InputError("--shots is missing, and the journal names none: name them");
  o.tasks = cluster::parse_shots(o.shots, "--shots", [] { return signal_seen != 0; });
}

// Throws if a folder of --collect was not made by moho.
void check_collect(const Options& o) {
  std::error_code error;
  if (o.collect.empty() || !fs::exists(o.collect, error)) return;
  for (const cluster::Task& task : o.tasks) {
    try {
      io::check_owned_folder(o.collect / concat("shot_", task.shot));
    } catch (const InputError& wrong) {
      throw InputError(concat("--collect: ", wrong.what(), ", or name another folder"));
    }
  }
}

int compute(Options& o) {
  const fs::path folder = folder_of(o.journal);
  std::error_code error;
  if (o.action != Action::probe) check_journal(o);
  if (o.resume && o.shots.empty()) read_shots(o);
  check_collect(o);
  cluster::make_private_folders(folder);
  cluster::check_private_folder(folder);
  const auto print_line = [&](const std::string& line) {
    if (o.quiet) return;
    std::puts(one_line(line).c_str());
    std::fflush(stdout);
  };
  cluster::JournalOptions how;
  how.start = o.resume ? cluster::JournalStart::resume : cluster::JournalStart::fresh;
  fs::remove(cancel_file(o.journal), error);
  cluster::DistributeOptions options = o.distribute.options;
  const auto sites = open_sites(o.distribute, folder, o.work,
                                static_cast<std::int64_t>(o.tasks.size()), print_line);
  if (o.action == Action::probe) return exit_done;
  cluster::Journal journal(o.journal, o.work.survey, how);
  if (journal.get("shots") != o.shots) journal.set("shots", o.shots);
  bool cancel = false;
  double looked = 0.0;
  cluster::Clock clock;
  options.on_message = print_line;
  options.stop = [&] {
    if (signal_seen != 0) return true;
    const double now = clock.now();
    if (now - looked > 0.5) {
      looked = now;
      cancel = fs::exists(cancel_file(o.journal), error);
    }
    return cancel;
  };
  const cluster::OnResult collect = [&](std::int64_t shot, const fs::path& result) {
    if (o.collect.empty()) return;
    const fs::path own = o.collect / concat("shot_", shot);
    io::make_owned_folder(own);
    for (const cluster::ResultPart& part : cluster::read_header(result).parts) {
      io::remove_abandoned_parts(own / part.name);  // of a run that was killed
    }
    cluster::unpack_result(result, own, journal.key());
  };
  const auto finish = [&](const cluster::Report& report) {
    for (const std::string& line : report_lines(report)) print_line(line);
  };
  cluster::Report report;
  try {
    report = cluster::distribute({o.work, journal}, o.tasks, sites, options, collect);
  } catch (const cluster::MissingShots& missing) {
    finish(missing.report());
    throw;
  }
  finish(report);
  if (!report.stopped) return exit_done;
  if (cancel) throw Error("cancelled by distribute_shots --cancel, which also cancels the jobs");
  std::fprintf(stderr,
               "distribute_shots: ended by signal %d: jobs continue; --resume resumes with %lld of "
               "%zu shots done\n",
               signal_seen.load(), static_cast<long long>(report.done), o.tasks.size());
  return exit_signal + signal_seen;
}

int cancel(const Options& o) {
  const fs::path folder = folder_of(o.journal);
  const auto quiet = [](const std::string&) {};
  const auto sites = open_sites(o.distribute, folder, o.work, 0, quiet);
  const auto journal = open_to_cancel(o);
  const std::int64_t count = cluster::cancel_jobs({o.work, *journal}, sites);
  if (!o.quiet)
    std::printf("%lld jobs were cancelled; --resume resumes the run\n",
                static_cast<long long>(count));
  return exit_done;
}

int run(Options& o, const fs::path& program) {
  switch (o.action) {
    case Action::status:
      std::fputs(status_text(o.journal).c_str(), stdout);
      return exit_done;
    case Action::cancel:
      return cancel(o);
    case Action::relay:
      return cluster::serve_relay_request(std::cin, std::cout, program);
    case Action::run_relay: {
#ifdef MOHO_WITH_SUMS
      std::unique_ptr<ScopeGuard> kokkos;
      const auto make_sum = [&] {
        try {
          if (!kokkos) kokkos = std::make_unique<ScopeGuard>();
        } catch (const std::exception&) {
          // such as a build for devices on a machine without one
        }
        return make_site_sum(kokkos == nullptr);
      };
#else
      const cluster::SumFactory make_sum;
#endif
      return cluster::run_relay(
          o.relay,
          [&](const cluster::Settings& settings, const fs::path& campaign) {
            return cluster::make_sites({{"site", settings}}, campaign, program.parent_path());
          },
          make_sum);
    }
    default:
      return compute(o);
  }
}

}  // namespace

}  // namespace moho::examples::distribute_shots

int main(int argc, char** argv) {
  using namespace moho;
  using namespace moho::examples;
  using namespace moho::examples::distribute_shots;
  const auto fail = [](const char* what, int status) {
    print_message("distribute_shots", what);
    return status;
  };
  try {
    watch_signals();
    std::vector<std::string> words(argv + 1, argv + argc), command;
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) {
      command.assign(dashes + 1, words.end());
      words.erase(dashes, words.end());
    }
    Options options;
    const Description description = describe(options);
    const Arguments arguments(description, words);
    if (!arguments.help().empty() || arguments.version()) {
      std::fputs(
          (arguments.version() ? version_text(description.program) : arguments.help()).c_str(),
          stdout);
      flush_output();
      return exit_done;
    }
    read_options(
        description, arguments, command, [] { return signal_seen != 0; }, options);
    const int status = run(options, std::filesystem::read_symlink("/proc/self/exe"));
    flush_output();
    return status;
  } catch (const InputError& error) {
    return fail(error.what(), exit_usage);
  } catch (const std::exception& error) {
    return fail(error.what(), signal_seen != 0 ? exit_signal + signal_seen : exit_failure);
  }
}
