// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/job.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>

#include <algorithm>
#include <set>
#include <system_error>

namespace moho::cluster {

namespace {
namespace fs = std::filesystem;
constexpr const char* job_title = "moho job 1";
}  // namespace

void check_work(const Work& work) {
  if (!is_safe_name(work.campaign, 40)) {
    throw InputError(concat("campaign: the name '", work.campaign,
                            "' (allowed: up to 40 letters, digits and . _ -, a letter or digit "
                            "first): give another name"));
  }
  if (work.evaluation < 0) {
    throw InputError(
        concat("campaign: the evaluation ", work.evaluation, " (allowed: 0 and more)"));
  }
  if (work.command.empty() || work.command[0].empty()) {
    throw InputError(
        "command: it has no words (allowed: a program and its arguments): name the "
        "program that computes a shot");
  }
  std::set<std::string> names;
  for (const auto& [name, path] : work.inputs) {
    if (!is_safe_name(name)) {
      throw InputError(concat("input: the name '", name,
                              "' (allowed: letters, digits and . _ -): give another name"));
    }
    if (!names.insert(name).second) {
      throw InputError(concat("input: the name '", name, "' is repeated: use each name once"));
    }
  }
}

std::string checksum_of(const Fingerprint& survey) {
  std::string text;
  for (const auto& [name, value] : survey) text += join_words({name, value}) + '\n';
  return io::checksum_text(io::checksum(text));
}

std::string to_text(const Work& work, const Job& job) {
  std::string text = add_checksum(job_title);
  const auto line = [&](const std::vector<std::string>& words) {
    text += add_checksum(join_words(words));
  };
  line({"token", job.token});
  line({"campaign", work.campaign, std::to_string(work.evaluation)});
  for (const auto& [name, value] : work.survey) line({"survey", name, value});
  std::vector<std::string> command{"command"};
  command.insert(command.end(), work.command.begin(), work.command.end());
  line(command);
  for (const auto& [name, path] : work.inputs) line({"input", name, path});
  if (work.sums) line({"sums"});
  line({"limits", format_number(job.time_limit), format_number(job.memory)});
  if (job.shots_per_job > 1 || job.shot_time_limit > 0.0 || job.max_memory > 0.0) {
    line({"chunk", std::to_string(job.shots_per_job), format_number(job.shot_time_limit),
          format_number(job.max_memory)});
  }
  for (const std::string& node : job.excluded_nodes) line({"avoid", node});
  for (const Task& task : job.tasks) {
    line({"shot", std::to_string(task.shot), format_number(task.cost)});
  }
  text += add_checksum("end");
  Mac mac(work.key);
  mac.add(text.data(), text.size());
  return text + mac.line();
}

std::pair<Work, Job> parse_job(const std::string& text, const std::string& name, const Key& key) {
  const auto damaged = [&](const char* why) {
    return FileError(concat("'", name, "' is not a job of moho (", why,
                            "): give a file that distribute_shots wrote"));
  };
  Work work;
  work.key = key;
  Job job;
  bool first = true, complete = false;
  const std::size_t length = text.size() - std::min(mac_bytes, text.size());
  const std::string_view body = std::string_view(text).substr(0, length);
  for (const std::string_view line : split_lines(body)) {
    const auto content = remove_checksum(line);
    if (!content) throw damaged(first ? "its first line is wrong" : "a line is damaged");
    if (first && *content != job_title) throw damaged("its first line is wrong");
    const auto words = parse_line(*content);
    if (!words || words->empty()) throw damaged("a line is damaged");
    const std::string& kind = (*words)[0];
    const std::size_t count = words->size() - 1;
    bool good = true;
    Task task;
    if (first) {
      first = false;
    } else if (kind == "token" && count == 1) {
      job.token = (*words)[1];
    } else if (kind == "campaign" && count == 2) {
      work.campaign = (*words)[1];
      good = read_number((*words)[2], work.evaluation);
    } else if (kind == "survey" && count == 2) {
      work.survey[(*words)[1]] = (*words)[2];
    } else if (kind == "command") {
      work.command.assign(words->begin() + 1, words->end());
    } else if (kind == "input" && count == 2) {
      work.inputs.emplace_back((*words)[1], (*words)[2]);
    } else if (kind == "sums" && count == 0) {
      work.sums = true;
    } else if (kind == "limits" && count == 2) {
      good = read_number((*words)[1], job.time_limit) && read_number((*words)[2], job.memory);
    } else if (kind == "chunk" && count == 3) {
      good = read_number((*words)[1], job.shots_per_job) &&
             read_number((*words)[2], job.shot_time_limit) &&
             read_number((*words)[3], job.max_memory);
    } else if (kind == "avoid" && count == 1) {
      job.excluded_nodes.push_back((*words)[1]);
    } else if (kind == "shot" && count == 2) {
      good = read_number((*words)[1], task.shot) && read_number((*words)[2], task.cost);
      job.tasks.push_back(task);
    } else if (kind == "end" && count == 0) {
      complete = true;
    } else {
      good = false;
    }
    if (!good) throw damaged("a line is invalid");
  }
  if (!complete) throw damaged("its end is missing");
  Mac mac(key);
  mac.add(body.data(), body.size());
  if (!same_mac(mac.line(), std::string_view(text).substr(length))) {
    throw damaged("it was not written with the key of its journal");
  }
  return {work, job};
}

double time_limit_of(const std::string& text) {
  double limit = 0.0;
  for (const std::string_view line : split_lines(text)) {
    const auto content = remove_checksum(line);
    const auto words = content ? parse_line(*content) : std::nullopt;
    if (words && words->size() == 3 && (*words)[0] == "limits" && read_number((*words)[1], limit)) {
      return limit;
    }
  }
  return 0.0;
}

JobFiles files_of(const fs::path& folder, const std::string& job_token) {
  const std::size_t point = job_token.rfind('.');
  const std::string batch = job_token.substr(0, point), number = job_token.substr(point + 1);
  const fs::path stem = folder / "jobs" / batch / number;
  const auto with = [&](const char* end) {
    fs::path path = stem;
    return path += end;
  };
  return {with(".job"), with(".log"), with(".report"), with(".lock"), folder / "work" / job_token};
}

std::string result_name(std::int64_t shot, const std::string& job_token) {
  return concat("results/", shot, '.', job_token, ".result");
}

std::string report_name(std::int64_t shot) { return concat("reports/", shot, ".result"); }

std::string shots_text(const std::vector<Task>& tasks) {
  std::string text;
  for (const Task& task : tasks) {
    if (!text.empty()) text += ',';
    text += std::to_string(task.shot);
  }
  return text;
}

bool read_shots(std::string_view text, std::vector<Task>& tasks) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    Task task;
    if (!read_number(text.substr(0, comma), task.shot)) return false;
    tasks.push_back(task);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return !tasks.empty();
}

JobReport read_report(const fs::path& path) {
  JobReport report;
  std::string text;
  std::error_code error;
  // each rank of a job writes a separate report
  for (int rank = 0;; ++rank) {
    fs::path file = path;
    if (rank > 0) file += concat('.', rank);
    if (!fs::exists(file, error)) break;
    try {
      text += io::InputFile(file).text(std::uint64_t{64} << 20) + '\n';
    } catch (const FileError&) {
      break;
    }
  }
  std::set<std::int64_t> open;
  for (const std::string_view line : split_lines(text)) {
    const auto content = remove_checksum(line);
    const auto words = parse_line(content.value_or(""));
    if (!words || words->size() < 2) continue;
    const std::string& kind = (*words)[0];
    ShotFailure failure;
    double seconds = 0.0;
    int exit = 0;
    const bool shot = read_number((*words)[1], failure.shot);
    if (kind == "begin" && words->size() == 4 && shot) {
      open.insert(failure.shot);
      report.host = (*words)[2];
    } else if (kind == "done" && words->size() == 3 && shot && read_number((*words)[2], seconds)) {
      open.erase(failure.shot);
      report.done.push_back(failure.shot);
      report.seconds += seconds;
    } else if ((kind == "failed" || kind == "disk") && words->size() == 5 && shot &&
               read_number((*words)[2], failure.exit) && read_number((*words)[3], failure.signal)) {
      failure.disk = kind == "disk";
      failure.message = (*words)[4];
      open.erase(failure.shot);
      report.failures.push_back(failure);
    } else if (kind == "stopped" && words->size() == 2) {
      report.message = (*words)[1];
    } else if (kind == "end" && words->size() == 2 && read_number((*words)[1], exit)) {
      report.exit = exit;
    }
  }
  if (!open.empty()) report.current = *open.begin();
  return report;
}

}  // namespace moho::cluster
