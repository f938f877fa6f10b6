// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/ranks.hpp"

#include <moho/core/error.hpp>
#include <moho/core/launcher.hpp>

#ifdef MOHO_WITH_MPI
#include <moho/mpi/communicator.hpp>
#endif

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace moho::examples {

namespace {
// Returns true if a worker started this process to compute a shot.
//
// Then MPI variables of the environment belong to the worker. With an mpirun in between, the parent
// is not the worker and the variables are valid.
bool of_a_worker() {
  const char* const worker = std::getenv("MOHO_WORKER");
  return worker != nullptr && std::getenv("MOHO_SHOT") != nullptr &&
         std::atol(worker) == static_cast<long>(::getppid());
}
}  // namespace

#ifdef MOHO_WITH_MPI

struct Ranks::Session {
  explicit Session(int& argc, char**& argv) : session(argc, argv) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  mpi::Session session;
  MPI_Comm communicator = session.communicator();
};

namespace {
// Returns true if an MPI launcher started this process.
//
// mpirun, mpiexec and srun identify their processes by environment variables. Other runs skip MPI,
// whose start takes longer than many of them.
bool launched() {
  if (of_a_worker()) return false;
  constexpr std::string_view prefixes[] = {"OMPI_",  "PMI",   "PRTE_",  "MV2_",  "MPI",
                                           "I_MPI_", "HYDI_", "SLURM_", "PALS_", "ALPS_",
                                           "JSM_",   "FLUX_", "LSB_",   "PBS_"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name = *variable;
    for (const std::string_view prefix : prefixes) {
      if (name.substr(0, prefix.size()) == prefix) return true;
    }
  }
  return false;
}
}  // namespace

Ranks::Ranks(int& argc, char**& argv, bool each_reads)
    : m_all(std::make_unique<Communicator>()), m_each_reads(each_reads) {
  if (!launched()) return;
  // Without mpirun, Open MPI would start a daemon needed only for spawning processes.
  ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  m_session = std::make_unique<Session>(argc, argv);
  m_all = std::make_unique<mpi::MpiCommunicator>(m_session->communicator);
}
Ranks::~Ranks() = default;

bool Ranks::with_mpi() { return true; }

std::string Ranks::version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI";
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

int Ranks::rank_on_host() const { return m_session ? m_session->session.rank_on_host() : 0; }
const void* Ranks::communicator() const { return m_session ? &m_session->communicator : nullptr; }
int Ranks::size_of_host() const { return m_session ? m_session->session.size_of_host() : 1; }

void Ranks::collectively(const std::function<void()>& function) {
  try {
    m_all->collectively(function);
  } catch (...) {
    m_agreed = true;
    throw;
  }
}

void Ranks::scatter_rows(const double* all, std::int64_t width, const std::vector<mpi::Part>& parts,
                         double* mine) {
  if (!m_session) return;
  mpi::scatter_rows(m_session->session.communicator(), all, width, parts, root() ? nullptr : mine);
}

std::vector<std::vector<char>> Ranks::gather_bytes(const std::vector<char>& mine) {
  if (!m_session) return {mine};
  return mpi::gather_bytes(m_session->session.communicator(), mine);
}

std::vector<RankReport> Ranks::gather(const RankReport& mine) {
  if (!m_session) return {mine};
  return mpi::gather_to_root(m_session->session.communicator(), mine);
}

void Ranks::finish() {
  if (m_session) {
    static_cast<mpi::MpiCommunicator&>(*m_all).finish();
    m_session->session.finish();
  }
  m_finished = true;
}

void Ranks::abort(int status) {
  if (m_session) m_session->session.abort(status);
  std::exit(status);
}

#else

struct Ranks::Session {};

Ranks::Ranks(int&, char**&, bool each_reads)
    : m_all(std::make_unique<Communicator>()), m_each_reads(each_reads) {
  if (of_a_worker()) return;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    const char* size = std::getenv(name);
    if (size == nullptr || std::atoi(size) < 2) continue;
    throw InputError(concat(
        "mpirun started ", size,
        " ranks, but this program was built without MPI (each of them would do all the work "
        "and write the same files): start it without mpirun, or build moho where CMake finds MPI"));
  }
}
Ranks::~Ranks() = default;

bool Ranks::with_mpi() { return false; }
std::string Ranks::version() { return {}; }
int Ranks::rank_on_host() const { return 0; }
int Ranks::size_of_host() const { return 1; }
const void* Ranks::communicator() const { return nullptr; }

void Ranks::collectively(const std::function<void()>& function) {
  m_agreed = true;
  function();
}

void Ranks::scatter_rows(const double*, std::int64_t, const std::vector<mpi::Part>&, double*) {}
std::vector<std::vector<char>> Ranks::gather_bytes(const std::vector<char>& mine) { return {mine}; }
std::vector<RankReport> Ranks::gather(const RankReport& mine) { return {mine}; }
void Ranks::finish() { m_finished = true; }
void Ranks::abort(int status) { std::exit(status); }

#endif

std::vector<std::vector<char>> Ranks::gather_to_all(
    const std::function<std::vector<char>()>& function) {
  std::vector<char> mine;
  collectively([&] { mine = function(); });
  std::vector<std::vector<char>> all = gather_bytes(mine);
  all.resize(static_cast<std::size_t>(size()));
  for (std::vector<char>& bytes : all) broadcast_list(*this, bytes);
  return all;
}

std::unique_ptr<Processes> shot_ranks(int& argc, char**& argv) {
  const auto given = [&](const char* option) {
    return std::any_of(argv, argv + argc, [&](const char* word) {
      return std::string_view(word).starts_with(option);
    });
  };
  const char* const of_worker = std::getenv("MOHO_LAUNCH");
  const bool own_launcher = of_worker != nullptr && launch_of_process() != of_worker;
  if (std::getenv("MOHO_WORKER") != nullptr && given("--only-shot") && !own_launcher &&
      !given("--ranks-per-shot")) {
    return std::make_unique<Processes>();
  }
  return std::make_unique<Ranks>(argc, argv, true);
}

}  // namespace moho::examples
