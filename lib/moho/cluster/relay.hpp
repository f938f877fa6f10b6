// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A site behind ssh: a relay there runs the distributor on the site's own system, so that a
/// broken line stops nothing; ssh starts it and asks it, rsync carries files.
///
/// What goes over the line are lines of words with checksums, on standard input and output. The
/// remote command is the program's path and one word; nothing else of it is ever read by a shell.

#include <moho/cluster/process.hpp>
#include <moho/cluster/site.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// The version of moho that this is; relays of others are refused.
const char* version();

/// The settings of a site as its file has them: name and value, names may repeat.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How a site is reached.
struct RelayOptions {
  std::string host;      ///< as ssh knows it: name or user@name
  std::string folder;    ///< at the site, for all campaigns
  std::string programs;  ///< folder of moho's programs there
  std::vector<std::string> ssh{"ssh", "-oBatchMode=yes", "-oConnectTimeout=20",
                               "-oServerAliveInterval=15"};  ///< program and options
  std::string rsync = "rsync";                               ///< program, here and there
  Settings system_settings;          ///< of the site's own system, for the relay
  double command_timeout = 60.0;     ///< seconds that a question may take
  double transfer_timeout = 3600.0;  ///< seconds that files may take
  /// Runs a command; empty: run_command(). For tests.
  std::function<CommandResult(const Command&)> run;
};

/// A site behind ssh. One job is a chunk of shots.
class RelaySite : public Site, private JobSystem {
 public:
  /// \param options of the site; `chunks` is set, and at most two jobs are there: one computes, the
  /// next travels
  /// \param campaign folder of the journal
  /// \param relay how it is reached
  /// \throws InputError for a host, folder or option with characters that ssh, rsync or a shell
  /// would expand
  RelaySite(SiteOptions options, const std::filesystem::path& campaign, RelayOptions relay);
  JobSystem& system() override { return *this; }
  std::string probe(const Work& work) override;
  void prepare(const Work& work, const Batch& batch) override;
  CollectedResults collect(const Work& work, const Job& job,
                           const std::vector<std::int64_t>& shots) override;
  JobReport report(const Job& job) override;
  void remove_duplicate(const ShotResult& result) override;
  void remove_job_files(const Job& job) override;

 private:
  // what the relay of a job has said
  struct KnownJob {
    std::string state;                            // running, done, dead, none
    std::map<std::int64_t, std::string> results;  // shots, and files below its folder
    std::set<std::int64_t> fetched, in_transfer;  // those that are here; that the process fetches
    JobReport report;
    int starts = 0;
    int transfer_process = 0;  // rsync
    int failed_transfers = 0;  // in a row
    double retry_at = 0.0;
  };
  std::string probe() override;
  std::vector<std::string> submit(const Batch& batch) override;
  std::vector<std::string> find(const Batch& batch) override;
  std::vector<JobStatus> query(const std::vector<std::string>& ids) override;
  void cancel(const std::vector<std::string>& ids) override;
  double settling_time() const override { return 0.0; }
  std::pair<double, double> query_intervals() const override { return {1.0, 20.0}; }

  std::vector<std::vector<std::string>> request(const std::vector<std::vector<std::string>>& lines);
  void transfer(const std::vector<std::string>& words, const std::string& input = {});
  std::string send_input(const std::string& name, const std::string& path);

  std::filesystem::path m_campaign;
  RelayOptions m_relay;
  std::map<std::string, std::string> m_sent;  // inputs: path here, path there
  std::map<std::string, KnownJob> m_known;    // by job token
};

/// \brief Answers one question of a RelaySite: what `distribute_shots --relay` does.
/// \param in the question \param out the answer
/// \param program path of this program, which a relay is started with
/// \return exit status
int serve_relay_request(std::istream& in, std::ostream& out, const std::filesystem::path& program);

/// Makes the sites of a relay from its settings.
using SiteFactory = std::function<std::vector<std::unique_ptr<Site>>(
    const Settings& settings, const std::filesystem::path& campaign)>;

/// \brief Computes a chunk at the site: what `distribute_shots --relay-run FOLDER` does.
/// \return exit status
int run_relay(const std::filesystem::path& folder, const SiteFactory& make_sites);

}  // namespace moho::cluster
