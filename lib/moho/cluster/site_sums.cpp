// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/site_sums.hpp>
#include <moho/cluster/text.hpp>
#include <moho/io/checksum.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;

constexpr int max_failures = 3;  // of the sum of a site, after which its shots are computed again
constexpr int max_rounds = 5;    // in which sums are collected

// Shots with results at a site that sends their sum.
struct HeldShots {
  Site* site = nullptr;
  SumRequest request;
  std::vector<std::int64_t> shots;
  bool complete = false, lost = false;
  int failures = 0;
  double silent_since = -1.0;
};

using Answer = std::future<std::optional<ShotResult>>;

// Waits for an answer that was not taken yet. Returns its position.
std::size_t wait_for_any(const std::vector<Answer>& answers) {
  for (;;) {
    for (std::size_t k = 0; k < answers.size(); ++k) {
      if (!answers[k].valid()) continue;
      if (answers[k].wait_for(std::chrono::milliseconds(2)) == std::future_status::ready) return k;
    }
  }
}

// Adds the report of a further round.
void add(Report& total, Report&& more) {
  if (total.sites.empty()) {
    total = std::move(more);
    return;
  }
  for (std::size_t k = 0; k < total.sites.size(); ++k) {
    SiteReport& sum = total.sites[k];
    const SiteReport& site = more.sites[k];
    sum.shots += site.shots;
    sum.jobs += site.jobs;
    sum.failures += site.failures;
    sum.lost += site.lost;
    sum.compute_time += site.compute_time;
    sum.bytes += site.bytes;
    sum.exclusion = site.exclusion;
  }
  total.missing = std::move(more.missing);
  total.done = more.done;
  total.seconds += more.seconds;
  total.batches += more.batches;
  total.resubmitted += more.resubmitted;
  total.duplicates += more.duplicates;
  total.last_shot = std::max(total.last_shot, more.last_shot);
  total.stopped = more.stopped;
  total.notes = std::move(more.notes);
}

// Collects the sums of all sites after a run of distribute().
class Collection {
 public:
  Collection(Campaign& campaign, const std::vector<std::unique_ptr<Site>>& sites,
             const DistributeOptions& options, const OnSum& on_sum, Clock& clock)
      : m_campaign(campaign), m_options(options), m_on_sum(on_sum), m_clock(clock) {
    for (const auto& site : sites) {
      if (site->sends_sums()) m_held.push_back({site.get(), {}, {}});
    }
    m_others = sites.size() > 1;
  }

  // Returns true if all sums are complete, or the run is stopped. Otherwise shots are missing.
  bool collect(bool& arrays, Report& report) {
    find_shots(arrays);
    for (double pause = 0.0;; m_clock.wait(pause)) {
      std::vector<HeldShots*> pending;
      for (HeldShots& held : m_held) {
        if (!held.shots.empty() && !held.complete && !held.lost) pending.push_back(&held);
      }
      if (pending.empty()) return discard_lost_shots();
      if (m_options.stop && m_options.stop()) {
        report.stopped = true;
        return true;
      }
      // sites add and send at the same time
      std::vector<Answer> answers;
      for (HeldShots* held : pending) {
        answers.push_back(std::async(std::launch::async, [&work = m_campaign.work, held] {
          return held->site->sum(work, held->request);
        }));
      }
      bool silent = false;
      for (std::size_t taken = 0; taken < pending.size(); ++taken) {
        const std::size_t k = wait_for_any(answers);
        const auto sum = take(*pending[k], answers[k]);
        silent = silent || pending[k]->silent_since >= 0.0;
        if (!sum) continue;
        if (!m_on_sum(pending[k]->shots, m_campaign.journal.folder() / sum->file)) {
          for (const Answer& other : answers) {
            if (other.valid()) other.wait();
          }
          if (std::exchange(arrays, true)) throw Error("the arrays of shots cannot be added");
          m_added.clear();
          return collect(arrays, report);
        }
        complete(*pending[k], *sum, report);
      }
      const bool pending_sums = std::any_of(pending.begin(), pending.end(), [](const auto* held) {
        return !held->complete && !held->lost;
      });
      pause = silent ? 1.0 : pending_sums ? 0.1 : 0.0;
    }
  }

  // Returns why the sum of a site was lost.
  const std::string& reason() const { return m_reason; }

 private:
  // Sorts the results whose shots are in no sum yet by site and job.
  void find_shots(bool arrays) {
    for (HeldShots& held : m_held) {
      held = {held.site, {}, {}};
      held.request.arrays = arrays;
      std::string text = arrays ? "arrays" : "sum";
      for (const ShotResult& result : m_campaign.journal.results()) {
        const fs::path file = result.file;
        auto part = file.begin();
        if (part->string() != held.site->options().name) continue;
        const std::string job = (++part)->string();
        if (m_added.count(result.shot) > 0) continue;
        held.request.shots[job].push_back({result.shot, 1.0});
        held.shots.push_back(result.shot);
      }
      for (const auto& [job, tasks] : held.request.shots)
        text += ' ' + job + ' ' + shots_text(tasks);
      held.request.token =
          concat(m_campaign.journal.get("name").value_or(m_campaign.work.campaign), '.',
                 m_campaign.work.evaluation, ".sum-", io::checksum_text(io::checksum(text)), ".0");
      if (held.shots.empty()) continue;
      m_campaign.journal.add_events({{"sum", held.request.token, held.site->options().name}});
    }
  }

  void complete(HeldShots& held, const ShotResult& sum, Report& report) {
    held.complete = true;
    m_added.insert(held.shots.begin(), held.shots.end());
    for (SiteReport& site : report.sites) {
      if (site.name != held.site->options().name) continue;
      site.sum_bytes += static_cast<double>(sum.bytes);
    }
  }

  // Takes the answer of a site. Returns its sum if it is here.
  std::optional<ShotResult> take(HeldShots& held, Answer& answer) {
    const std::string& name = held.site->options().name;
    const auto notify = [&](const std::string& line) {
      if (m_options.on_message) m_options.on_message(line);
    };
    try {
      const auto sum = answer.get();
      held.silent_since = -1.0;
      return sum;
    } catch (const NoAnswer& error) {
      const double now = m_clock.now();
      if (held.silent_since < 0.0) {
        held.silent_since = now;
        notify(concat("site ", name, " does not answer: ", error.what()));
      }
      held.lost = m_others && now - held.silent_since >= m_options.silence_timeout;
      if (held.lost) m_reason = concat("site ", name, " does not answer");
    } catch (const FileError& error) {
      m_reason = concat("the sum of site ", name, ": ", error.what());
      notify(m_reason);
      held.lost = ++held.failures >= max_failures;
    }
    if (held.lost) {
      notify(concat("site ", name, ": its sum cannot be collected; ", held.shots.size(),
                    " of its shots are computed again"));
    }
    return std::nullopt;
  }

  // Marks the shots of lost sums as not done. Returns true if there are none.
  bool discard_lost_shots() {
    bool all = true;
    for (const HeldShots& held : m_held) {
      if (!held.lost) continue;
      all = false;
      for (const std::int64_t shot : held.shots) {
        // without its file, the report is not accepted again
        const auto report = m_campaign.journal.result(shot);
        std::error_code error;
        if (report) fs::remove(m_campaign.journal.folder() / report->file, error);
        m_campaign.journal.discard(shot, m_reason);
      }
    }
    return all;
  }

  Campaign& m_campaign;
  const DistributeOptions& m_options;
  const OnSum& m_on_sum;
  Clock& m_clock;
  std::vector<HeldShots> m_held;
  std::set<std::int64_t> m_added;  // shots of complete sums
  bool m_others = false;
  std::string m_reason;
};

}  // namespace

Report distribute_sums(Campaign campaign, const std::vector<Task>& tasks,
                       const std::vector<std::unique_ptr<Site>>& sites,
                       const DistributeOptions& options, const OnResult& on_result,
                       const OnSum& on_sum, Clock* clock) {
  Clock real;
  campaign.work.key = campaign.journal.key();
  std::map<std::int64_t, std::string> passed;  // results that on_result has received
  const OnResult once = [&](std::int64_t shot, const fs::path& result) {
    std::string& before = passed[shot];
    if (std::exchange(before, result.string()) != result.string()) on_result(shot, result);
  };
  Report total;
  bool arrays = false;
  Collection collection(campaign, sites, options, on_sum, clock != nullptr ? *clock : real);
  for (int round = 0; round < max_rounds; ++round) {
    add(total, distribute(campaign, tasks, sites, options, once, clock));
    if (total.stopped) return total;
    if (collection.collect(arrays, total)) return total;
  }
  throw Error(concat(collection.reason(), ": correct the cause and resume with the same journal"));
}

void forget_sums(const fs::path& journal, const std::vector<std::unique_ptr<Site>>& sites) {
  std::map<std::string, std::vector<std::string>> tokens;  // by site
  for (const auto& event : read_journal(journal).events) {
    if (event.size() < 3) continue;
    if (event[0] == "batch") tokens[event[2]].push_back(event[1] + ".0");  // of one job
    if (event[0] == "sum") tokens[event[2]].push_back(event[1]);
  }
  std::vector<std::future<void>> answers;
  for (const auto& site : sites) {
    const auto at = tokens.find(site->options().name);
    if (!site->sends_sums() || at == tokens.end()) continue;
    answers.push_back(std::async(std::launch::async, [&site, at] { site->forget(at->second); }));
  }
  for (auto& answer : answers) answer.get();
}

}  // namespace moho::cluster
