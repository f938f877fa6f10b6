// SPDX-License-Identifier: BSD-3-Clause
//
// shot_worker: computes the shots of one job of distribute_shots.

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/summary.hpp"

#include <moho/cluster/process.hpp>
#include <moho/cluster/worker.hpp>
#include <moho/core/error.hpp>
#ifdef MOHO_WITH_MPI
#include <moho/mpi/counter.hpp>
#endif

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::shot_worker {

namespace {

constexpr const char* intro =
    R"(shot_worker: computes the shots of one job and writes one result file per shot.

  shot_worker --folder DIR --job TOKEN [options]
  mpirun -n RANKS shot_worker ...          ranks share the shots of the job

distribute_shots starts this program; users call distribute_shots. In a Slurm array the index selects the
job. After the signal USR1, which Slurm sends a minute before the time limit, no further shot is started.
)";

constexpr const char* outro = R"(
Exit status: 0 all shots are done, 1 some failed (the report next to the job file names them), 2 the input is
not usable, 75 it ended before the last shot for lack of time.
)";

Description describe(std::string& token, cluster::WorkerOptions& o) {
  Description d;
  d.program = "shot_worker";
  d.intro = intro;
  d.outro = outro;
  d.group("Job");
  d.check([](const Arguments& given) {
    for (const char* name : {"folder", "job"}) {
      if (given.given(name)) continue;
      throw InputError(concat("--", name, " is missing: see shot_worker --help"));
    }
  });
  const auto path = [](const std::string& text) { return std::filesystem::absolute(text); };
  d.bind(o.folder, "folder", "DIR", "folder of the site, with jobs/, results/ and work/",
         parsed(path));
  d.bind(token, "job", "TOKEN", "token of the job, or of the batch in a Slurm array");
  d.bind(o.programs, "programs", "DIR", "folder of moho's programs (default: that of this program)",
         parsed([](const std::string& text) { return std::filesystem::path(text); }));
  d.bind(o.devices, "devices", "n",
         "number of devices; programs of rank r see only device r modulo n (default: all devices)",
         count(1, 1024));
  return d;
}

std::atomic<bool> stop_requested{false};

void request_stop(int) { stop_requested = true; }

// Returns true if mpirun or srun started this process as a rank.
[[maybe_unused]] bool is_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

#ifdef MOHO_RANKS_PROGRAM
// Replaces this process by the program with MPI.
//
// Without ranks, loading the MPI libraries would more than double the time in which a worker
// starts.
void exec_ranks_program(char** argv) {
  if (!is_rank()) return;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / MOHO_RANKS_PROGRAM;
  ::execv(program.c_str(), argv);
  throw Error(concat("'", program.string(), "' cannot be started (", std::strerror(errno),
                     "), and ranks need it: install all of moho's programs"));
}
#endif

int run(int argc, char** argv) {
  std::string token;
  cluster::WorkerOptions options;
  const Description description = describe(token, options);
  const Arguments arguments(description, {argv + 1, argv + argc});
  if (!arguments.help().empty() || arguments.version()) {
    std::fputs((arguments.version() ? version_text(description.program) : arguments.help()).c_str(),
               stdout);
    flush_output();
    return 0;
  }
  description.read(arguments);
  options.stop = [] { return stop_requested.load(); };
  std::signal(SIGUSR1, request_stop);
  // Jobs of an array share the token of their batch; the array index completes the token of a job.
  if (const char* index = std::getenv("SLURM_ARRAY_TASK_ID")) {
    const bool own = std::filesystem::exists(cluster::files_of(options.folder, token).job);
    if (!own) token = concat(token, '.', parse_count("SLURM_ARRAY_TASK_ID", index, 0, 1 << 30));
  }
  if (token.find('.') == std::string::npos || token.find('/') != std::string::npos) {
    throw InputError(concat("--job is '", token, "', which is not the token of a job"));
  }
#ifdef MOHO_WITH_MPI
  if (is_rank()) {
    mpi::Session session(argc, argv);
    options.rank = session.rank();
    options.ranks_of_host = session.size_of_host();
    mpi::Counter counter(session.communicator());
    options.next_position = [&] { return counter.next(); };
    int status = cluster::run_job(token, options), worst = 0;
    // the job's status is the worst of its ranks: input, then failures, then an early stop
    status = status == cluster::worker_input    ? 3
             : status == cluster::worker_failed ? 2
                                                : (status == 0 ? 0 : 1);
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, session.communicator());
    constexpr int exits[] = {cluster::worker_done, cluster::worker_stopped, cluster::worker_failed,
                             cluster::worker_input};
    return exits[worst];
  }
#endif
  return cluster::run_job(token, options);
}

}  // namespace

}  // namespace moho::examples::shot_worker

int main(int argc, char** argv) {
  using namespace moho;
  try {
#ifdef MOHO_RANKS_PROGRAM
    examples::shot_worker::exec_ranks_program(argv);
#endif
    cluster::close_lock_on_exec();
    return examples::shot_worker::run(argc, argv);
  } catch (const InputError& error) {
    std::fprintf(stderr, "shot_worker: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shot_worker: %s\n", error.what());
    return 1;
  }
}
