// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/detail/run.hpp>
#include <moho/cluster/distributor.hpp>
#include <moho/cluster/process.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/text.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

namespace moho::cluster {

double Clock::now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void Clock::wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(std::min(seconds, 1.0)));
}

MissingShots::MissingShots(const Report& report)
    : Error([&] {
        std::string text =
            concat(text::counted(report.missing.size(), "shot has", "shots have"), " no result");
        std::size_t listed = 0;
        for (const MissingShot& missing : report.missing) {
          if (++listed > 5) {
            text += concat("; and ", report.missing.size() - 5, " more");
            break;
          }
          text += concat("; shot ", missing.shot, ": ", missing.reason);
        }
        for (const SiteReport& site : report.sites) {
          if (!site.exclusion.empty()) {
            text += concat("; site ", site.name, " is excluded: ", site.exclusion);
          }
        }
        return text +
               ": finished shots are kept; correct the cause and resume with the same journal";
      }()),
      m_report(report) {}

namespace {

void check(const Campaign& campaign, const std::vector<Task>& tasks,
           const std::vector<std::unique_ptr<Site>>& sites, const DistributeOptions& options) {
  check_work(campaign.work);
  if (sites.empty()) {
    throw InputError("sites: none is given (allowed: 1 and more): name a site");
  }
  std::set<std::string> names;
  for (const auto& site : sites) {
    const std::string& name = site->options().name;
    if (!names.insert(name).second) {
      throw InputError(concat("sites: '", name, "' is repeated (allowed: each name once)"));
    }
    const double longest = site->options().time_limit;
    if (longest > 0.0 && options.shot_time_limit > longest) {
      throw InputError(concat(
          "site ", name, ": its time limit is ", longest, " s, but the limit of a shot is ",
          options.shot_time_limit,
          " s (allowed: up to that of the site): raise the limit of the site, or remove the site"));
    }
    if (longest > 0.0 && !site->options().one_job_per_chunk &&
        options.shot_time_limit * static_cast<double>(options.shots_per_job) > longest) {
      throw InputError(concat("site ", name, ": its time limit is ", longest, " s, and ",
                              text::counted(options.shots_per_job, "shot"), " of ",
                              options.shot_time_limit, " s take ",
                              options.shot_time_limit * static_cast<double>(options.shots_per_job),
                              " s: give fewer shots to a job"));
    }
  }
  std::set<std::int64_t> shots;
  for (const Task& task : tasks) {
    if (!shots.insert(task.shot).second) {
      throw InputError(
          concat("tasks: the shot ", task.shot,
                 " is repeated (allowed: each number once): give each shot another number"));
    }
  }
  const auto count = static_cast<std::int64_t>(tasks.size());
  if (options.shots_per_job < 1 || (count > 0 && options.shots_per_job > count)) {
    throw InputError(concat("shots per job is ", options.shots_per_job, " (allowed: 1 to ", count,
                            ", the shots of the survey)"));
  }
  if (options.max_attempts < 1 || options.max_lost < 1) {
    throw InputError(concat("attempts: ", options.max_attempts, " attempts and ", options.max_lost,
                            " losses of a shot (allowed: 1 and more of both)"));
  }
  if (options.max_missing < 0) {
    throw InputError(concat("missing shots: ", options.max_missing, " (allowed: 0 and more)"));
  }
}

}  // namespace

Report distribute(Campaign campaign, const std::vector<Task>& tasks,
                  const std::vector<std::unique_ptr<Site>>& sites, const DistributeOptions& options,
                  const OnResult& on_result, Clock* clock) {
  check(campaign, tasks, sites, options);
  campaign.work.key = campaign.journal.key();
  Clock real;
  detail::Run run(campaign, tasks, sites, options, on_result, clock != nullptr ? *clock : real);
  Report report = run.run();
  if (!report.stopped && static_cast<std::int64_t>(report.missing.size()) > options.max_missing) {
    throw MissingShots(report);
  }
  return report;
}

std::int64_t cancel_jobs(Campaign campaign, const std::vector<std::unique_ptr<Site>>& sites) {
  const SubmissionLog log = read_submission_log(campaign.journal.take_events());
  std::int64_t count = 0;
  std::string unanswered;
  std::vector<Event> events;
  for (const auto& site : sites) {
    std::vector<std::string> ids, tokens;
    try {
      for (const auto& [token, record] : log.batches) {
        if (record.site != site->options().name) continue;
        const std::vector<std::string> all =
            record.ids.empty() ? site->system().find(record.batch) : record.ids;
        for (std::size_t k = 0; k < all.size(); ++k) {
          if (record.ended.count(record.batch.jobs[k].token) > 0) continue;
          ids.push_back(all[k]);
          tokens.push_back(record.batch.jobs[k].token);
        }
      }
      site->system().cancel(ids);
    } catch (const NoAnswer& error) {
      unanswered +=
          concat(unanswered.empty() ? "" : "; ", site->options().name, ": ", error.what());
      continue;
    }
    count += static_cast<std::int64_t>(ids.size());
    for (const std::string& token : tokens) events.push_back({"over", token, "ended", "", "0"});
  }
  campaign.journal.add_events(events);
  if (!unanswered.empty()) throw NoAnswer(unanswered);
  return count;
}

}  // namespace moho::cluster
