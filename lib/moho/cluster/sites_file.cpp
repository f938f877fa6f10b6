// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/sites_file.hpp>
#include <moho/cluster/slurm_jobs.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>

#include <algorithm>
#include <set>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Settings of a section; records which ones were read.
class SettingsReader {
 public:
  explicit SettingsReader(const SiteSection& section) : m_section(section) {}

  std::string text(const std::string& name, const std::string& default_value = "") {
    const auto all = texts(name);
    if (all.size() > 1) {
      throw InputError(
          concat("site ", m_section.name, ": ", name, " is repeated (allowed: once): remove one"));
    }
    return all.empty() ? default_value : all[0];
  }
  std::vector<std::string> texts(const std::string& name) {
    m_known.insert(name);
    std::vector<std::string> found;
    for (const auto& [key, value] : m_section.settings) {
      if (key == name) found.push_back(value);
    }
    return found;
  }
  double number(const std::string& name, double default_value, double lowest) {
    const std::string value = text(name);
    if (value.empty()) return default_value;
    double result = 0.0;
    if (!read_number(value, result) || !(result >= lowest)) {
      throw InputError(concat("site ", m_section.name, ": ", name, " is '", value,
                              "' (allowed: numbers from ", lowest, ")"));
    }
    return result;
  }
  std::int64_t count(const std::string& name, std::int64_t default_value) {
    const std::string value = text(name);
    if (value.empty()) return default_value;
    std::int64_t result = 0;
    if (!read_number(value, result) || result < 1) {
      throw InputError(concat("site ", m_section.name, ": ", name, " is '", value,
                              "' (allowed: whole numbers from 1)"));
    }
    return result;
  }
  // Throws for settings that were never read.
  void finish() const {
    std::string names;
    for (const std::string& name : m_known) names += (names.empty() ? "" : ", ") + name;
    for (const auto& [key, value] : m_section.settings) {
      if (m_known.count(key) == 0) {
        throw InputError(concat("site ", m_section.name, ": unknown setting '", key,
                                "' (allowed here: ", names, ")"));
      }
    }
  }

 private:
  const SiteSection& m_section;
  std::set<std::string> m_known;
};

}  // namespace

std::vector<SiteSection> parse_sites(const std::string& text, const std::string& name) {
  std::vector<SiteSection> sections;
  int number = 0;
  for (const std::string_view whole : split_lines(text)) {
    ++number;
    const std::string_view line = trimmed(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    const auto wrong = [&](const std::string& why) {
      return InputError(concat(name, ", line ", number, ": ", why));
    };
    if (line.front() == '[') {
      if (line.back() != ']') throw wrong("a section lacks its ] (allowed: [name])");
      SiteSection section;
      section.name = trimmed(line.substr(1, line.size() - 2));
      if (!is_safe_name(section.name, 40)) {
        throw wrong(concat("the site's name '", section.name,
                           "' (allowed: up to 40 letters, digits and . _ -, a letter or digit "
                           "first): give another name"));
      }
      sections.push_back(section);
      continue;
    }
    const std::size_t equal = line.find('=');
    if (equal == std::string_view::npos) {
      throw wrong(concat("'", line, "' (allowed: [name] and setting = value)"));
    }
    if (sections.empty()) throw wrong("a setting before the first [name]: begin with a [name]");
    sections.back().settings.emplace_back(trimmed(line.substr(0, equal)),
                                          trimmed(line.substr(equal + 1)));
  }
  if (sections.empty()) {
    throw InputError(concat(name,
                            ": it describes no site (allowed: [name] and its settings, "
                            "such as kind = local)"));
  }
  return sections;
}

// Returns the workers of all sites that are processes of this machine.
static std::int64_t local_workers(const std::vector<SiteSection>& sections) {
  std::int64_t workers = 0;
  for (const SiteSection& section : sections) {
    SettingsReader read(section);
    const bool local = read.text("host").empty() && read.text("kind", "local") == "local";
    if (local) workers += read.count("slots", 1);
  }
  return workers;
}

std::vector<std::unique_ptr<Site>> make_sites(const std::vector<SiteSection>& sections,
                                              const fs::path& campaign, const fs::path& programs) {
  const std::int64_t workers = local_workers(sections);
  std::vector<std::unique_ptr<Site>> sites;
  for (const SiteSection& section : sections) {
    SettingsReader read(section);
    SiteOptions site;
    site.name = section.name;
    site.rate = read.number("rate", 0.0, 0.0);
    site.min_chunk = read.count("least", 1);
    const std::string host = read.text("host"), kind = read.text("kind", "local");
    const std::string programs_at_site = read.text("programs", fs::absolute(programs).string());
    const fs::path folder = fs::absolute(campaign) / section.name;
    const std::vector<std::string> worker{(fs::path(programs_at_site) / "shot_worker").string(),
                                          "--folder",
                                          folder.string(),
                                          "--programs",
                                          programs_at_site,
                                          "--job"};
    if (kind != "local" && kind != "slurm") {
      throw InputError(
          concat("site ", section.name, ": kind is '", kind, "' (allowed: local, slurm)"));
    }
    const std::int64_t slots = kind == "local" ? read.count("slots", 1) : 0;
    SlurmOptions slurm;
    if (kind == "slurm") {
      slurm.folder = folder;
      slurm.worker = worker;
      slurm.partition = read.text("partition");
      slurm.account = read.text("account");
      slurm.qos = read.text("qos");
      slurm.time_limit = site.time_limit = read.number("time", 0.0, 1.0);
      slurm.memory = read.number("memory", 0.0, 1.0);
      slurm.max_array = read.count("array", 50);
      slurm.sbatch_options = read.texts("option");
      slurm.command_timeout = read.number("command_timeout", 60.0, 1.0);
      for (const std::string& word : slurm.sbatch_options) {
        if (word.size() < 2 || word[0] != '-') {
          throw InputError(concat("site ", section.name, ": option is '", word,
                                  "' (allowed: an option of sbatch in one word, "
                                  "--gres=gpu:1)"));
        }
      }
    }
    site.max_jobs = read.count("jobs", kind == "local" ? 2 * slots : 100);
    if (!host.empty()) {
      RelayOptions relay;
      relay.host = host;
      relay.folder = read.text("folder");
      relay.programs = programs_at_site;
      for (const std::string& word : read.texts("ssh_option")) relay.ssh.push_back(word);
      relay.rsync = read.text("rsync", "rsync");
      for (const auto& [key, value] : section.settings) {
        const std::set<std::string> own{"host", "folder", "ssh_option", "rsync", "rate", "least"};
        if (own.count(key) == 0) relay.system_settings.emplace_back(key, value);
      }
      read.finish();
      sites.push_back(std::make_unique<RelaySite>(site, campaign, relay));
      continue;
    }
    read.finish();
    std::unique_ptr<JobSystem> system;
    if (kind == "local") {
      site.collect_interval = 0.02;
      site.file_delay = 0.0;
      system = std::make_unique<LocalJobs>(folder, worker, static_cast<int>(slots),
                                           static_cast<int>(workers));
    } else {
      system = std::make_unique<SlurmJobs>(slurm);
    }
    sites.push_back(std::make_unique<FolderSite>(site, campaign, std::move(system)));
  }
  return sites;
}

std::vector<std::string> probe_sites(const std::vector<std::unique_ptr<Site>>& sites,
                                     const Work& work) {
  std::vector<std::string> lines;
  for (const auto& site : sites) {
    lines.push_back(concat(site->options().name, ": ", site->probe(work)));
  }
  return lines;
}

}  // namespace moho::cluster
