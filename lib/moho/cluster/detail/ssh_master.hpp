// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One ssh connection for all requests and transfers of a site (internal).

#include <moho/cluster/process.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace moho::cluster::detail {

/// \brief Master connection of ssh: programs started with options() share it.
///
/// It is optional: without it, or after its end, each program opens a separate connection. It is
/// not used if the user's configuration of ssh names a ControlPath for the host.
class SshMaster {
 public:
  SshMaster() = default;
  SshMaster(const SshMaster&) = delete;
  SshMaster& operator=(const SshMaster&) = delete;
  /// Closes the connection.
  ~SshMaster();
  /// \brief Opens the connection, and waits until it is open or has failed.
  ///
  /// It ends with the calling thread. A repeated call opens it again if it has ended, at most once
  /// in 30 s, without waiting.
  /// \param ssh program and options \param host name of the host
  void open(const std::vector<std::string>& ssh, const std::string& host);
  /// Returns options of ssh that use the connection; empty while it does not exist.
  std::vector<std::string> options() const;

 private:
  bool runs();
  std::filesystem::path m_socket;  // in a private folder; empty before the first call of open()
  int m_process = 0;               // 0: it does not run
  double m_opened_at = 0.0;
  bool m_unusable = false;
};

}  // namespace moho::cluster::detail
