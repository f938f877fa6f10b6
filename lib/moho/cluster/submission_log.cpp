// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/submission_log.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>

#include <algorithm>

namespace moho::cluster {

namespace {

std::vector<std::string> read_ids(const Event& event, const Batch& batch) {
  std::vector<std::string> ids;
  if (event.size() == 3 && event[2] == "=") {
    for (const Job& job : batch.jobs) ids.push_back(job.token);
  } else if (event.size() == 3 && event[2].size() > 2 &&
             event[2].compare(event[2].size() - 2, 2, "_*") == 0) {
    const std::string stem = event[2].substr(0, event[2].size() - 1);
    for (std::size_t k = 0; k < batch.jobs.size(); ++k) ids.push_back(stem + std::to_string(k));
  } else {
    ids.assign(event.begin() + 2, event.end());
  }
  if (ids.size() != batch.jobs.size()) ids.clear();
  return ids;
}

}  // namespace

Event batch_event(const Batch& batch, const std::string& site, double time) {
  Event event{"batch",
              batch.token,
              site,
              format_number(time),
              format_number(batch.jobs[0].time_limit),
              format_number(batch.jobs[0].memory)};
  for (const Job& job : batch.jobs) event.push_back(shots_text(job.tasks));
  return event;
}

Event sent_event(const Batch& batch, const std::vector<std::string>& ids) {
  bool tokens = ids.size() == batch.jobs.size(), array = tokens && !ids.empty();
  const std::string stem = array ? ids[0].substr(0, ids[0].rfind('_')) : "";
  for (std::size_t k = 0; k < ids.size() && k < batch.jobs.size(); ++k) {
    tokens = tokens && ids[k] == batch.jobs[k].token;
    array = array && ids[k] == stem + '_' + std::to_string(k);
  }
  Event event{"sent", batch.token};
  if (tokens) {
    event.emplace_back("=");
  } else if (array) {
    event.push_back(stem + "_*");
  } else {
    event.insert(event.end(), ids.begin(), ids.end());
  }
  return event;
}

SubmissionLog read_submission_log(const std::vector<Event>& events) {
  SubmissionLog log;
  for (const Event& event : events) {
    if (event.size() < 2) continue;
    const std::string& kind = event[0];
    std::int64_t shot = 0;
    if (kind == "start") {
      read_number(event[1], log.begin_time);
      log.excluded_sites.clear();
      log.heartbeats.clear();
      log.remaining = -1.0;
    } else if (kind == "batch" && event.size() > 6) {
      BatchRecord record;
      record.batch.token = event[1];
      record.site = event[2];
      double seconds = 0.0, memory = 0.0;
      bool good = read_number(event[3], record.time) && read_number(event[4], seconds) &&
                  read_number(event[5], memory);
      for (std::size_t k = 6; good && k < event.size(); ++k) {
        Job job;
        job.token = concat(event[1], '.', k - 6);
        job.time_limit = seconds;
        job.memory = memory;
        good = read_shots(event[k], job.tasks);
        record.batch.jobs.push_back(job);
      }
      std::int64_t number = 0;
      read_number(std::string_view(event[1]).substr(event[1].rfind('.') + 1), number);
      log.next_batch = std::max(log.next_batch, number + 1);
      if (good) log.batches[event[1]] = record;
    } else if (kind == "sent" && event.size() > 2) {
      const auto at = log.batches.find(event[1]);
      if (at != log.batches.end()) at->second.ids = read_ids(event, at->second.batch);
    } else if (kind == "void") {
      log.batches.erase(event[1]);
    } else if (kind == "over" && event.size() == 5) {
      const auto at = log.batches.find(event[1].substr(0, event[1].rfind('.')));
      if (at == log.batches.end()) continue;
      at->second.ended.insert(event[1]);
      if (at->second.ended.size() == at->second.batch.jobs.size()) log.batches.erase(at);
    } else if (kind == "fail" && event.size() == 5 && read_number(event[1], shot)) {
      ShotRecord& record = log.shots[shot];
      int cause = 0;
      if (!read_number(event[2], cause) || cause < 0 ||
          cause > static_cast<int>(Cause::not_begun)) {
        continue;
      }
      const auto named = static_cast<Cause>(cause);
      if (counts_as_attempt(named)) {
        ++record.attempts;
        if (!event[3].empty()) record.nodes.insert(event[3]);
      } else {
        ++record.lost;
      }
      record.reason = concat(to_string(named), event[4].empty() ? "" : ": ", event[4]);
      ++log.failures[event[3]][to_string(named)];
      log.last_failures.push_back(
          concat("shot ", shot, event[3].empty() ? "" : " on ", event[3], ": ", record.reason));
      if (log.last_failures.size() > 10) {
        log.last_failures.erase(log.last_failures.begin());
      }
    } else if (kind == "give" && event.size() == 3 && read_number(event[1], shot)) {
      log.shots[shot].given_up = true;
    } else if (kind == "pause" && event.size() == 3) {
      log.excluded_sites[event[1]] = event[2];
    } else if (kind == "beat" && event.size() == 4) {
      double time = 0.0, done = 0.0;
      if (read_number(event[1], time) && read_number(event[2], done) &&
          read_number(event[3], log.remaining)) {
        log.heartbeats.emplace_back(time, done);
      }
    }
  }
  return log;
}

}  // namespace moho::cluster
