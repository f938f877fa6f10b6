// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Remote sites, reached by ssh.
///
/// A relay, which is a distributor at the remote site, computes chunks of shots. It continues while
/// the connection is down. ssh starts and queries it; rsync transfers files.
///
/// Requests and answers are lines with checksums, on standard input and output. The remote command
/// is the path of the program and one option; no shell reads anything else.

#include <moho/cluster/process.hpp>
#include <moho/cluster/site.hpp>
#include <moho/cluster/site_sums.hpp>

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

/// Returns the version of moho; relays of other versions are refused.
const char* version();

/// Settings of a site in the sites file: names and values; names may repeat.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Access to a remote site.
struct RelayOptions {
  std::string host;      ///< name or user@name, as in ssh's configuration
  std::string folder;    ///< remote folder for all campaigns
  std::string programs;  ///< remote folder of moho's programs
  std::vector<std::string> ssh{"ssh", "-oBatchMode=yes", "-oConnectTimeout=20",
                               "-oServerAliveInterval=15"};  ///< program and options
  std::string rsync = "rsync";                               ///< program at both ends
  Settings system_settings;          ///< settings of the remote job system, passed to the relay
  double command_timeout = 60.0;     ///< time limit of a request in seconds
  double transfer_timeout = 3600.0;  ///< time limit of a transfer in seconds
  /// For tests: runs a command; empty: run_command().
  std::function<CommandResult(const Command&)> run;
};

/// A remote site, reached by ssh. A job is a chunk of shots.
class RelaySite : public Site, private JobSystem {
 public:
  /// \param options options of the site. `one_job_per_chunk` is set; `max_jobs` becomes 2: one
  /// chunk is computed while the next is transferred
  /// \param campaign folder of the journal
  /// \param relay access to the site
  /// \throws InputError for hosts, folders and options with characters that ssh, rsync or a shell
  /// would expand
  RelaySite(SiteOptions options, const std::filesystem::path& campaign, RelayOptions relay);
  /// Ends requests and transfers in progress.
  ~RelaySite() override;
  std::string remote_folder() const override { return m_relay.host + ':' + m_relay.folder; }
  JobSystem& system() override { return *this; }
  std::string probe(const Work& work) override;
  void prepare(const Work& work, const Batch& batch) override;
  CollectedResults collect(const Work& work, const Job& job,
                           const std::vector<std::int64_t>& shots) override;
  JobReport report(const Job& job) override;
  void remove_duplicate(const ShotResult& result) override;
  /// \copydoc Site::remove_job_files
  /// With Work::sums the remote files remain until forget().
  void remove_job_files(const Job& job) override;
  bool sends_sums() const override { return true; }
  std::optional<ShotResult> sum(const Work& work, const SumRequest& request) override;
  void forget(const std::vector<std::string>& tokens) override;

 private:
  struct Background;
  // State of a job at the remote site.
  struct KnownJob {
    std::string state;                            // that of the last answer; empty: not known yet
    int exit = -1;                                // exit status of its relay
    std::map<std::int64_t, std::string> results;  // shots, and paths below the chunk's folder
    std::set<std::int64_t> fetched, in_transfer;  // shots with local results; shots that the rsync
                                                  // process transfers
    JobReport report;
    int starts = 0;
    int transfer_process = 0;  // rsync; 0: none
    int failed_transfers = 0;  // consecutive failures
    double retry_at = 0.0;
  };
  std::string probe() override;
  std::vector<std::string> submit(const Batch& batch) override;
  std::vector<std::string> find(const Batch& batch) override;
  std::vector<JobStatus> query(const std::vector<std::string>& ids) override;
  void cancel(const std::vector<std::string>& ids) override;
  bool limits_memory() const override;
  double settling_time() const override { return 0.0; }
  // Queries return the last answer; the interval between requests is separate.
  std::pair<double, double> query_intervals() const override { return {0.02, 0.05}; }

  std::vector<std::vector<std::string>> request(const std::vector<std::vector<std::string>>& lines,
                                                double wait = 0.0);
  void begin_look(const std::vector<std::string>& ids);
  void take_look(const std::vector<std::vector<std::string>>& answer);
  void fetch_sum_ahead(const std::string& job);
  std::vector<std::string> ssh_words() const;
  std::string rsync_shell() const;
  void transfer(const std::vector<std::string>& words, const std::string& input = {});
  std::string send_input(const std::string& name, const std::string& path);

  std::filesystem::path m_campaign;
  RelayOptions m_relay;
  std::map<std::string, std::string> m_sent;  // local and remote paths of inputs
  std::map<std::string, KnownJob> m_known;    // by job token
  bool m_keeps_files = false;                 // results are needed for sums
  std::unique_ptr<Background> m_background;
};

/// \brief Answers one request of a RelaySite (`distribute_shots --relay`).
/// \param in request
/// \param out answer
/// \param program path of this program, used to start relays
/// \return exit status
int serve_relay_request(std::istream& in, std::ostream& out, const std::filesystem::path& program);

/// Creates the sites of a relay from its settings.
using SiteFactory = std::function<std::vector<std::unique_ptr<Site>>(
    const Settings& settings, const std::filesystem::path& campaign)>;

/// \brief Computes a chunk at the remote site (`distribute_shots --relay-run FOLDER`).
/// \param folder folder of the chunk
/// \param make_sites creates the sites
/// \param make_sum creates sums of shots; empty: this program makes none
/// \return exit status
int run_relay(const std::filesystem::path& folder, const SiteFactory& make_sites,
              const SumFactory& make_sum = {});

}  // namespace moho::cluster
