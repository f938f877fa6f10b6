// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/result.hpp>
#include <moho/cluster/site.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>

#include <system_error>

namespace moho::cluster {

namespace fs = std::filesystem;

Site::Site(SiteOptions options) : m_options(std::move(options)) {
  if (!is_safe_name(m_options.name, 40)) {
    throw InputError(concat("site: the name '", m_options.name,
                            "' (allowed: up to 40 letters, digits and . _ -, a letter or digit "
                            "first): give another name"));
  }
  if (m_options.max_jobs < 1) {
    throw InputError(concat("site ", m_options.name, ": jobs is ", m_options.max_jobs,
                            " (allowed: 1 and more): give the largest number of jobs"));
  }
  if (!(m_options.rate >= 0.0) || m_options.min_chunk < 1) {
    throw InputError(concat("site ", m_options.name, ": the rate ", m_options.rate,
                            " and the smallest chunk ", m_options.min_chunk,
                            " (allowed: 0 and more shots a second, 1 and more shots)"));
  }
}

std::optional<ShotResult> Site::sum(const Work&, const SumRequest&) {
  throw FileError(concat("site ", m_options.name, ": it sends no sums"));
}

FolderSite::FolderSite(SiteOptions options, const fs::path& campaign,
                       std::unique_ptr<JobSystem> system)
    : Site(std::move(options)),
      m_campaign(campaign),
      m_folder(fs::absolute(campaign) / m_options.name),
      m_system(std::move(system)) {}

std::string FolderSite::probe(const Work&) {
  try {
    make_private_folders(m_folder / "results");
    check_private_folder(m_folder);
    return m_system->probe();
  } catch (const FileError& wrong) {
    throw InputError(concat("site ", m_options.name, ": ", wrong.what()));
  } catch (const InputError& wrong) {
    throw InputError(concat("site ", m_options.name, ": ", wrong.what()));
  }
}

void write_jobs(const fs::path& folder, const Work& work, const Batch& batch) {
  make_private_folders(folder / "results");
  make_private_folders(folder / "work");
  make_private_folders(folder / "jobs" / batch.token);
  for (const Job& job : batch.jobs) {
    write_private_text(files_of(folder, job.token).job, to_text(work, job));
  }
}

void FolderSite::prepare(const Work& work, const Batch& batch) {
  write_jobs(m_folder, work, batch);
}

CollectedResults FolderSite::collect(const Work& work, const Job& job,
                                     const std::vector<std::int64_t>& shots) {
  CollectedResults collected;
  std::error_code error;
  for (const std::int64_t shot : shots) {
    const std::string file = m_options.name + '/' + result_name(shot, job.token);
    if (!fs::exists(m_campaign / file, error)) continue;
    try {
      collected.complete.push_back(check_result(m_campaign, file, work, shot));
    } catch (const FileError& wrong) {
      collected.damaged.emplace_back(shot, wrong.what());
    }
  }
  return collected;
}

JobReport FolderSite::report(const Job& job) {
  return read_report(files_of(m_folder, job.token).report);
}

void FolderSite::remove_duplicate(const ShotResult& result) {
  std::error_code error;
  fs::remove(m_campaign / result.file, error);
}

void FolderSite::remove_job_files(const Job& job) {
  std::error_code error;
  const JobFiles files = files_of(m_folder, job.token);
  for (const fs::path& file : {files.job, files.log, files.report, files.lock}) {
    fs::remove(file, error);
  }
  fs::remove(files.job.parent_path(), error);  // removed only if empty
}

}  // namespace moho::cluster
