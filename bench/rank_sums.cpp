// SPDX-License-Identifier: BSD-3-Clause
//
// Time of sums over ranks, for equation 6 of the paper on gravity (papers.py 004).
//
//   mpirun -n RANKS rank_sums VALUES REPEATS FILE
//
// Each repetition begins with a barrier, and adds VALUES numbers of double precision of all ranks
// at rank 0, as model_gravity adds fields. A tenth of REPEATS runs before and is not counted. FILE
// gets a JSON object with the seconds of rank 0.

#include <moho/core/error.hpp>
#include <moho/core/phases.hpp>
#include <moho/mpi/mpi.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <vector>

namespace {

std::int64_t number(const char* text) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text, &end, 10);
  if (*end != '\0' || value < 1) {
    throw moho::InputError(moho::concat("'", text, "' (allowed: whole numbers from 1)"));
  }
  return value;
}

std::vector<double> time_sums(const moho::mpi::Session& session, std::int64_t values,
                              std::int64_t repeats) {
  std::vector<double> seconds;
  std::vector<double> field(static_cast<std::size_t>(values), 1.0);
  for (std::int64_t k = -repeats / 10; k < repeats; ++k) {
    field.assign(field.size(), 1.0);
    moho::mpi::check(MPI_Barrier(session.communicator()), "MPI_Barrier");
    const moho::Stopwatch watch;
    moho::mpi::reduce_to_root(session.communicator(), field.data(), values);
    if (k >= 0) seconds.push_back(watch.seconds());
  }
  if (session.rank() == 0 && field.back() != session.size()) {
    throw moho::Error(moho::concat("the sum is ", field.back(), " (of ", session.size(), " ones)"));
  }
  return seconds;
}

void write(const char* path, int ranks, std::int64_t values, const std::vector<double>& seconds) {
  std::ofstream file(path);
  file << "{\"ranks\": " << ranks << ", \"bytes\": " << 8 * values << ", \"seconds\": [";
  for (std::size_t k = 0; k < seconds.size(); ++k) file << (k > 0 ? ", " : "") << seconds[k];
  file << "]}\n" << std::flush;
  if (!file) throw moho::FileError(moho::concat("cannot write '", path, "'"));
}

}  // namespace

int main(int argc, char** argv) {
  moho::mpi::Session session(argc, argv);
  try {
    if (argc != 4) throw moho::InputError("usage: mpirun -n RANKS rank_sums VALUES REPEATS FILE");
    const std::int64_t values = number(argv[1]);
    const std::vector<double> seconds = time_sums(session, values, number(argv[2]));
    if (session.rank() == 0) write(argv[3], session.size(), values, seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank_sums: %s\n", error.what());
    session.abort(1);
  }
  return 0;
}
