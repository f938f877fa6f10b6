// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick with 3 ranks
//
// The functions of <moho/mpi/{mpi,counter,merge,communicator}.hpp> and <moho/gravity/mpi.hpp>. The
// number of ranks is that of mpirun. Every rank runs every test; the program fails if one rank
// fails.

#include <moho/gravity/mpi.hpp>
#include <moho/mpi/communicator.hpp>
#include <moho/mpi/counter.hpp>
#include <moho/mpi/merge.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using moho::FileError;
using moho::InputError;
using moho::MemoryError;
using namespace moho::mpi;
using ::testing::HasSubstr;

Session* session = nullptr;

class Mpi : public ::testing::Test {
 protected:
  const MPI_Comm world = session->communicator();
  const int rank = session->rank();
  const int size = session->size();
};

TEST_F(Mpi, RanksOfTheMachine) {
  EXPECT_GE(rank, 0);
  EXPECT_LT(rank, size);
  EXPECT_GE(session->rank_on_host(), 0);
  EXPECT_LT(session->rank_on_host(), session->size_of_host());
  EXPECT_LE(session->size_of_host(), size);
  // All ranks of this test run on one machine.
  EXPECT_EQ(session->size_of_host(), size);
  EXPECT_EQ(session->rank_on_host(), rank);
}

TEST_F(Mpi, ReductionInPieces) {
  for (const std::int64_t piece :
       {std::int64_t(1), std::int64_t(7), std::int64_t(100), default_piece}) {
    for (int root = 0; root < size; ++root) {
      std::vector<double> values(100), expected(100);
      for (int k = 0; k < 100; ++k) {
        const auto at = static_cast<std::size_t>(k);
        values[at] = k + 1000.0 * rank;
        expected[at] = size * k + 1000.0 * (size * (size - 1) / 2);
      }
      const std::vector<double> mine = values;
      reduce_to_root(world, values.data(), 100, root, piece);
      EXPECT_EQ(values, rank == root ? expected : mine) << "pieces of " << piece;
    }
  }
  reduce_to_root(world, static_cast<double*>(nullptr), 0);
}

TEST_F(Mpi, ReductionKeepsValuesThatAreNotNumbers) {
  double value = rank == size - 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  reduce_to_root(world, &value, 1);
  EXPECT_EQ(std::isnan(value), rank == 0 || rank == size - 1);
}

template <class T>
void adds_up(MPI_Comm world, int rank, int size) {
  std::vector<T> values(7, static_cast<T>(rank + 1));
  reduce_to_root(world, values.data(), 7, 0, 3);
  const T sum = static_cast<T>(size * (size + 1) / 2);
  EXPECT_EQ(values, std::vector<T>(7, rank == 0 ? sum : static_cast<T>(rank + 1)));
}
TEST_F(Mpi, SumsOfEveryType) {
  adds_up<float>(world, rank, size);
  adds_up<double>(world, rank, size);
  adds_up<std::int32_t>(world, rank, size);
  adds_up<std::int64_t>(world, rank, size);
}

TEST_F(Mpi, PrismsGoToTheirRanksAndFieldsComeBack) {
  constexpr std::int64_t prisms = 11;
  std::vector<Part> parts;
  for (int q = 0; q < size; ++q) parts.push_back(part_of(prisms, size, q));
  const Part part = parts[static_cast<std::size_t>(rank)];
  std::vector<double> all;
  if (rank == 0) {
    all.resize(static_cast<std::size_t>(7 * prisms));
    std::iota(all.begin(), all.end(), 0.0);
  }
  std::vector<double> mine(static_cast<std::size_t>(7 * part.size()));
  moho::gravity::scatter_prisms(world, all.data(), parts, mine.data());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    EXPECT_EQ(mine[i], 7.0 * static_cast<double>(part.first) + static_cast<double>(i));
  }
  std::vector<double> fields(2, std::accumulate(mine.begin(), mine.end(), 0.0));
  moho::gravity::add_fields(world, fields);
  if (rank == 0) {
    EXPECT_EQ(fields, std::vector<double>(2, 77.0 * 76.0 / 2.0));
  }
}

TEST_F(Mpi, PiecesThatMpiCannotCountAreRefused) {
  double value = 0.0;
  for (const std::int64_t piece : {std::int64_t(0), std::int64_t(-1), std::int64_t(1) << 31}) {
    try {
      reduce_to_root(world, &value, 1, 0, piece);
      ADD_FAILURE() << "pieces of " << piece;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("1 to 2147483647"));
    }
  }
}

TEST_F(Mpi, Broadcast) {
  for (int root = 0; root < size; ++root) {
    std::vector<std::int64_t> values(50, -1);
    if (rank == root) std::iota(values.begin(), values.end(), root);
    broadcast(world, values.data(), 50, root, 64);
    EXPECT_EQ(values.front(), root);
    EXPECT_EQ(values.back(), root + 49);
    std::string text = rank == root ? "from " + std::to_string(root) : "something longer than that";
    broadcast(world, text, root);
    EXPECT_EQ(text, "from " + std::to_string(root));
  }
  std::string nothing = rank == 0 ? "" : "x";
  broadcast(world, nothing);
  EXPECT_EQ(nothing, "");
}

TEST_F(Mpi, ACounterGivesEachPositionToOneRank) {
  moho::mpi::Counter counter(world, 1);
  for (const std::int64_t first : {std::int64_t{1}, std::int64_t{5}}) {
    constexpr std::int64_t count = 40;
    std::vector<std::int64_t> taken(count, 0);
    for (std::int64_t at = counter.next(); at < first + count; at = counter.next()) {
      ASSERT_GE(at, first);
      ++taken[static_cast<std::size_t>(at - first)];
    }
    reduce_to_root(world, taken.data(), count);
    if (rank == 0) {
      EXPECT_EQ(taken, std::vector<std::int64_t>(count, 1));
    }
    counter.restart(5);
  }
}

// Returns the message of a rank: its number, the message's number, then as many bytes.
std::string message_of_rank(int rank, int number) {
  std::string bytes{static_cast<char>(rank), static_cast<char>(number)};
  for (int k = 0; k < 37 * number; ++k) bytes.push_back(static_cast<char>(k + rank));
  return bytes;
}

TEST_F(Mpi, MessagesArriveWithoutWaitingAndInOrder) {
  constexpr int count = 6;
  for (const std::int64_t piece : {std::int64_t(5), default_piece}) {
    Outbox outbox(world, 0, piece);
    std::vector<int> next(static_cast<std::size_t>(size), 0);
    int arrived = 0;
    const auto take = [&](bool wait) {
      for (const std::string& bytes : outbox.received(wait)) {
        const int from = bytes.at(0);
        const int number = next.at(static_cast<std::size_t>(from))++;
        EXPECT_EQ(bytes, message_of_rank(from, number));
        ++arrived;
      }
    };
    for (int number = 0; number < count; ++number) {
      outbox.send(message_of_rank(rank, number));
      if (rank == 0) take(false);
    }
    if (rank == 0) {
      while (arrived < count * size) take(true);
      EXPECT_TRUE(outbox.received().empty());
    }
    outbox.finish();
    EXPECT_EQ(MPI_Barrier(world), MPI_SUCCESS);
  }
}

TEST_F(Mpi, ValuesOfAllRanksAreMerged) {
  for (int root = 0; root < size; ++root) {
    std::vector<int> merged{rank};
    merge_to_root(
        world,
        [&] {
          const auto* const data = reinterpret_cast<const char*>(merged.data());
          return std::string(data, merged.size() * sizeof(int));
        },
        [&](std::string&& bytes) {
          std::vector<int> more(bytes.size() / sizeof(int));
          std::memcpy(more.data(), bytes.data(), bytes.size());
          merged.insert(merged.end(), more.begin(), more.end());
        },
        root, 6);
    if (rank != root) continue;
    std::sort(merged.begin(), merged.end());
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(merged, all);
  }
}

TEST_F(Mpi, ACommunicatorSharesTheWorkOfARun) {
  MpiCommunicator ranks(world);
  moho::Communicator& processes = ranks;
  EXPECT_EQ(processes.rank(), rank);
  EXPECT_EQ(processes.size(), size);
  EXPECT_EQ(processes.root(), rank == 0);
  EXPECT_EQ(processes.alone(), size == 1);
  int number = 10 + rank;
  processes.broadcast(&number, sizeof(number));
  EXPECT_EQ(number, 10);
  std::vector<double> values{1.0, static_cast<double>(rank)};
  processes.sum_to_root(values);
  if (rank == 0) {
    EXPECT_EQ(values, (std::vector<double>{1.0 * size, 0.5 * size * (size - 1)}));
  }

  // Each item is claimed once, its number reaches the root once, in each of two evaluations.
  constexpr int count = 30;
  moho::SharedCounter counter;
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    std::vector<int> found(count, 0);
    int arrived = 0;
    const auto take = [&](int item) { ++found[static_cast<std::size_t>(item)], ++arrived; };
    const auto receive = [&](bool wait) {
      for (const std::string& bytes : processes.received(wait)) take(bytes.at(0));
    };
    counter.begin(processes);
    for (int item = 0; item < count; ++item) {
      const bool mine = counter.claim(item);
      EXPECT_TRUE(item > 0 || mine == (rank == 0));
      if (!mine) continue;
      if (rank == 0) {
        take(item);
        receive(false);
      } else {
        processes.send_to_root(std::string(1, static_cast<char>(item)));
      }
    }
    if (rank == 0) {
      while (arrived < count) receive(true);
      EXPECT_EQ(found, std::vector<int>(count, 1));
    }
  }

  int merged = 1;
  processes.merge_to_root([&] { return std::string(1, static_cast<char>(merged)); },
                          [&](std::string&& bytes) { merged += bytes.at(0); });
  if (rank == 0) {
    EXPECT_EQ(merged, size);
  }
  EXPECT_THROW(processes.collectively([&] {
    if (rank == size - 1) throw InputError("refused");
  }),
               InputError);
  ranks.finish();
  EXPECT_EQ(processes.rank(), rank);
}

TEST_F(Mpi, RowsGoToTheirRanks) {
  // Also fewer rows than ranks, and no rows.
  for (const std::int64_t rows : {std::int64_t(23), std::int64_t(2), std::int64_t(0)}) {
    std::vector<Part> parts;
    for (int q = 0; q < size; ++q) parts.push_back(part_of(rows, size, q));
    const Part mine = parts[static_cast<std::size_t>(rank)];
    std::vector<double> all;
    if (rank == 0) {
      all.resize(static_cast<std::size_t>(3 * rows));
      std::iota(all.begin(), all.end(), 0.0);
    }
    std::vector<double> received(static_cast<std::size_t>(3 * mine.size()), -1.0);
    scatter_rows(world, all.data(), 3, parts, received.data(), 0, 4);
    for (std::size_t k = 0; k < received.size(); ++k) {
      EXPECT_EQ(received[k], static_cast<double>(3 * mine.first) + static_cast<double>(k));
    }
    // The root keeps its rows in place.
    scatter_rows(world, all.data(), 3, parts, rank == 0 ? nullptr : received.data());
  }
}

TEST_F(Mpi, Gather) {
  struct Pair {
    int rank;
    double square;
  };
  const std::vector<Pair> all = gather_to_root(world, Pair{rank, 1.0 * rank * rank});
  ASSERT_EQ(all.size(), rank == 0 ? static_cast<std::size_t>(size) : 0u);
  for (std::size_t q = 0; q < all.size(); ++q) {
    EXPECT_EQ(all[q].rank, static_cast<int>(q));
    EXPECT_EQ(all[q].square, static_cast<double>(q * q));
  }
}

// Returns the message of the exception that collectively() throws on this rank; `function` runs on
// all.
template <class Exception, class Function>
std::string thrown(MPI_Comm world, const Function& function) {
  try {
    collectively(world, function);
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(Mpi, OneRankThatFailsFailsAll) {
  int calls = 0;
  collectively(world, [&] { ++calls; });
  EXPECT_EQ(calls, 1);

  const int last = size - 1;
  const std::string prefix = last == 0 ? "" : "rank " + std::to_string(last) + " of ";
  EXPECT_THAT(thrown<InputError>(world,
                                 [&] {
                                   if (rank == last) throw InputError("no such thing");
                                 }),
              AllOf(HasSubstr(prefix), HasSubstr("no such thing")));
  EXPECT_THAT(thrown<FileError>(world,
                                [&] {
                                  if (rank == last) throw FileError("no such file");
                                }),
              HasSubstr("no such file"));
  EXPECT_THAT(thrown<MemoryError>(world,
                                  [&] {
                                    if (rank == last) throw std::bad_alloc();
                                  }),
              HasSubstr("out of memory"));
  EXPECT_THAT(thrown<moho::Error>(world,
                                  [&] {
                                    if (rank == last) throw std::runtime_error("lost a device");
                                  }),
              HasSubstr("lost a device"));
}

TEST_F(Mpi, OfSeveralFailuresTheLowestRankSpeaks) {
  EXPECT_EQ(
      thrown<InputError>(world, [&] { throw InputError("seen by rank " + std::to_string(rank)); }),
      "seen by rank 0");
  if (size < 3) return;
  EXPECT_EQ(thrown<MemoryError>(world,
                                [&] {
                                  if (rank == 1) throw MemoryError("of one");
                                  if (rank == 2) throw InputError("of another");
                                }),
            "rank 1 of " + std::to_string(size) + ": of one");
}

TEST_F(Mpi, ErrorsOfMpiAreExceptions) {
  double value = 0.0;
  EXPECT_THROW(broadcast(world, &value, 1, size), moho::Error);
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  Session mpi(argc, argv);
  session = &mpi;
  return RUN_ALL_TESTS();
}
