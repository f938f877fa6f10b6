// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/ranks.hpp"

#include <moho/core/error.hpp>

#ifdef MOHO_WITH_MPI
#include <moho/mpi/mpi.hpp>
#endif

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace moho::examples {

#ifdef MOHO_WITH_MPI

struct Ranks::Session {
  mpi::Session session;
};

namespace {
// Was this process started by something that knows of MPI? All of mpirun, mpiexec and srun tell
// their processes who they are through the environment. Starting MPI takes longer than many a run.
bool launched() {
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

Ranks::Ranks(int& argc, char**& argv) {
  if (!launched()) return;
  // Started without mpirun, Open MPI would start a daemon that only helps to start further
  // programs.
  ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  m_session.reset(new Session{mpi::Session(argc, argv)});
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

int Ranks::rank() const { return m_session ? m_session->session.rank() : 0; }
int Ranks::size() const { return m_session ? m_session->session.size() : 1; }
int Ranks::rank_on_host() const { return m_session ? m_session->session.rank_on_host() : 0; }
int Ranks::size_of_host() const { return m_session ? m_session->session.size_of_host() : 1; }

void Ranks::together(const std::function<void()>& function) {
  try {
    m_session ? mpi::together(m_session->session.communicator(), function) : function();
  } catch (...) {
    m_agreed = true;
    throw;
  }
}

void Ranks::broadcast(void* bytes, std::size_t count) {
  if (!m_session) return;
  mpi::broadcast(m_session->session.communicator(), static_cast<char*>(bytes),
                 static_cast<std::int64_t>(count));
}

void Ranks::scatter_rows(const double* all, std::int64_t width, const std::vector<mpi::Part>& parts,
                         double* mine) {
  if (!m_session) return;
  mpi::scatter_rows(m_session->session.communicator(), all, width, parts, root() ? nullptr : mine);
}

void Ranks::sum_to_root(std::vector<double>& values) {
  if (!m_session) return;
  mpi::reduce_to_root(m_session->session.communicator(), values.data(),
                      static_cast<std::int64_t>(values.size()));
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
  if (m_session) m_session->session.finish();
  m_finished = true;
}

void Ranks::abort(int status) {
  if (m_session) m_session->session.abort(status);
  std::exit(status);
}

#else

struct Ranks::Session {};

Ranks::Ranks(int&, char**&) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    const char* size = std::getenv(name);
    if (size == nullptr || std::atoi(size) < 2) continue;
    throw InputError(concat(
        "mpirun started ", size,
        " ranks, but this program was built without MPI (each of them would do all the work "
        "and write the same files): start it without mpirun, or build moho where CMake finds "
        "MPI"));
  }
}
Ranks::~Ranks() = default;

bool Ranks::with_mpi() { return false; }
std::string Ranks::version() { return {}; }
int Ranks::rank() const { return 0; }
int Ranks::size() const { return 1; }
int Ranks::rank_on_host() const { return 0; }
int Ranks::size_of_host() const { return 1; }

void Ranks::together(const std::function<void()>& function) {
  m_agreed = true;
  function();
}

void Ranks::broadcast(void*, std::size_t) {}
void Ranks::scatter_rows(const double*, std::int64_t, const std::vector<mpi::Part>&, double*) {}
void Ranks::sum_to_root(std::vector<double>&) {}
std::vector<std::vector<char>> Ranks::gather_bytes(const std::vector<char>& mine) { return {mine}; }
std::vector<RankReport> Ranks::gather(const RankReport& mine) { return {mine}; }
void Ranks::finish() { m_finished = true; }
void Ranks::abort(int status) { std::exit(status); }

#endif

}  // namespace moho::examples
