// SPDX-License-Identifier: BSD-3-Clause
#include "app/sites_report.hpp"

#include "app/format.hpp"

#include <moho/core/error.hpp>

#include <cstddef>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace moho::examples {

std::vector<std::string> report_lines(const cluster::Report& report) {
  std::vector<std::string> lines;
  std::ostringstream head;
  head << std::left << std::setw(12) << "site" << std::right << std::setw(8) << "shots"
       << std::setw(8) << "jobs" << std::setw(10) << "failures" << std::setw(8) << "lost"
       << std::setw(12) << "shots/min" << std::setw(12) << "worked s" << std::setw(12) << "sent";
  lines.push_back(head.str());
  for (const cluster::SiteReport& site : report.sites) {
    std::ostringstream line;
    line << std::left << std::setw(12) << site.name << std::right << std::setw(8) << site.shots
         << std::setw(8) << site.jobs << std::setw(10) << site.failures << std::setw(8) << site.lost
         << std::setw(12) << fixed(60.0 * site.rate, 2) << std::setw(12)
         << fixed(site.compute_time, 1) << std::setw(12)
         << format_bytes(site.bytes + site.sum_bytes);
    if (!site.exclusion.empty()) line << "  excluded: " << site.exclusion;
    lines.push_back(line.str());
  }
  lines.push_back(concat(counted(report.done, "shot is", "shots are"), " done, ",
                         report.done_earlier, " of them earlier; ", report.resubmitted,
                         " were resubmitted, ", report.duplicates, " had a second result"));
  for (const std::string& note : report.notes) lines.push_back("note: " + note);
  return lines;
}

void add_report(cluster::Report& total, const cluster::Report& report) {
  total.done += report.done;
  total.done_earlier += report.done_earlier;
  total.resubmitted += report.resubmitted;
  total.duplicates += report.duplicates;
  total.begin = report.begin;
  total.last_shot = report.last_shot;
  total.notes.insert(total.notes.end(), report.notes.begin(), report.notes.end());
  if (total.sites.empty()) {
    total.sites = report.sites;
    return;
  }
  for (std::size_t k = 0; k < total.sites.size(); ++k) {
    cluster::SiteReport& sum = total.sites[k];
    const cluster::SiteReport& site = report.sites[k];
    sum.shots += site.shots;
    sum.jobs += site.jobs;
    sum.failures += site.failures;
    sum.lost += site.lost;
    sum.compute_time += site.compute_time;
    sum.bytes += site.bytes;
    sum.sum_bytes += site.sum_bytes;
    if (site.rate > 0.0) sum.rate = site.rate;  // the last one
    sum.exclusion = site.exclusion;
  }
}

Json sites_json(const cluster::Report& report) {
  Json list = Json::array();
  for (const cluster::SiteReport& site : report.sites) {
    list.push_back(Json::object({{"name", site.name},
                                 {"shots", site.shots},
                                 {"jobs", site.jobs},
                                 {"bytes", site.bytes},
                                 {"sum_bytes", site.sum_bytes},
                                 {"seconds", site.compute_time}}));
  }
  Json json = Json::object({{"list", list}, {"resubmitted", report.resubmitted}});
  if (report.last_shot > 0.0) {
    json["begin"] = report.begin;
    json["last_shot"] = report.last_shot;
  }
  return json;
}

void record_time_after_shots(Session& session) {
  const Json* const sites = session.summary.find("sites");
  const Json* const last = sites != nullptr ? sites->find("last_shot") : nullptr;
  if (last == nullptr) return;
  const double seconds = cluster::Clock().now() - last->number(0.0);
  const double before = last->number(0.0) - sites->find("begin")->number(0.0);
  session.summary["sites"]["seconds_after_last_shot"] = seconds;
  session.summary["sites"]["part_after_last_shot"] = seconds / (seconds + before);
}

}  // namespace moho::examples
