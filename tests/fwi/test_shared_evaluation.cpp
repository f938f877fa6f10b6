// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Evaluations that several processes share. Threads stand for processes, and numbers of the shots
// for their gradients and images.

#include "processes.hpp"

#include <moho/fwi/shared_evaluation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace moho::testing {
namespace {

using fwi::ExtendedSum;
using fwi::SharedTask;
using stream::RankGroups;
using ::testing::HasSubstr;
using Contribution = fwi::ShotContribution<float>;
using Request = fwi::SharedRequest<float>;
using Shared = fwi::SharedEvaluation<float>;
using Values = std::vector<float>;

const std::vector<std::int64_t> numbers{10, 20, 30, 40, 50, 60, 70};

// Data of the objectives of a run.
struct Survey {
  explicit Survey(int processes) : each_has_one(processes) {}
  std::barrier<> each_has_one;
  std::atomic<int> modelled{0};
  std::mutex mutex;
  std::multiset<std::size_t> computed;
  std::multiset<int> computing;  // ranks of the computed shots
};

// Each shot k contributes the misfit 2^k, and the gradient and image (10 (k + 1), x).
class Objective {
 public:
  Objective(Survey& survey, const Communicator& processes)
      : m_survey(survey), m_rank(processes.rank()) {}

  void begin(const Values& x) { m_x = x.at(0), m_corner = 5.0, m_size = 0.25; }
  // Models with values below zero cannot be stepped.
  bool begin_trial(const Values& x, Values*) {
    begin(x);
    return m_x >= 0.0F;
  }
  void begin(const fwi::EvaluationRequest<float>& request) {
    m_x = request.values.at(0), m_corner = request.corner, m_size = request.data_size;
  }
  fwi::EvaluationRequest<float> request() const { return {m_corner, m_size, {m_x}}; }
  template <class Claim, class Take>
  void contributions(const Claim& claim, const Take& take) {
    each_claimed(claim, [&](std::size_t k) {
      EXPECT_EQ(m_corner, 5.0);
      EXPECT_EQ(m_size, 0.25);
      take(Contribution{k, static_cast<double>(1 << k), 1.0, 2.0, 3.0, shot(k)});
    });
  }
  void add(const Contribution& contribution) {
    EXPECT_TRUE(m_added.insert(contribution.shot).second) << contribution.shot;
    EXPECT_EQ(contribution.values, shot(contribution.shot));
    EXPECT_EQ(contribution.backward_seconds, 3.0);
    m_misfit += contribution.misfit;
  }
  double end(Values* gradient) {
    *gradient = {static_cast<float>(m_added.size()), m_x};
    return m_misfit;
  }
  double evaluate(const Values& x, Values* gradient) {
    *gradient = {-1.0F, x.at(0)};
    return -1.0;
  }

  template <class Claim, class Merge>
  fwi::ExtendedResult<float> extended_image(const RankGroups&, bool root, const Claim& claim,
                                            const Merge& merge) {
    std::optional<ExtendedSum> sum;
    one_at_a_time([&] { sum.emplace(2, 1); });
    each_claimed(claim,
                 [&](std::size_t k) { one_at_a_time([&] { sum->add(k, shot(k).data()); }); });
    merge(*sum);
    fwi::ExtendedResult<float> result;
    if (root) result = {sum->values<float>(), static_cast<double>(sum->shots().size())};
    return result;
  }
  fwi::ExtendedResult<float> extended_image(const Values&) { return {{-1.0F}, -1.0}; }
  Values model(std::size_t k) {
    ++m_survey.modelled;
    return shot(k);
  }

 private:
  template <class Function>
  void one_at_a_time(const Function& function) {
    const std::lock_guard<std::mutex> lock(m_survey.mutex);
    function();
  }
  Values shot(std::size_t k) const { return {10.0F * static_cast<float>(k + 1), m_x}; }
  // Waits at its first shot until every process has one.
  template <class Claim, class Compute>
  void each_claimed(const Claim& claim, const Compute& compute) {
    bool first = true;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (!claim(k)) continue;
      if (first) m_survey.each_has_one.arrive_and_wait();
      first = false;
      one_at_a_time([&] {
        m_survey.computed.insert(k);
        m_survey.computing.insert(m_rank);
      });
      compute(k);
    }
  }

  Survey& m_survey;
  int m_rank;
  float m_x = 0.0F;
  double m_corner = 0.0, m_size = 0.0, m_misfit = 0.0;
  std::set<std::size_t> m_added;
};

// Threads of a run as the ranks of RankGroups, in groups of two.
class ThreadRanks : public stream::StreamRanks {
 public:
  ThreadRanks(std::deque<ThreadRun>& runs, std::size_t run, int rank)
      : m_runs(runs), m_process(runs[run], rank) {}
  int rank() const override { return m_process.rank(); }
  int size() const override { return m_process.size(); }
  void broadcast(void* bytes, std::size_t count) override { m_process.broadcast(bytes, count); }
  std::unique_ptr<stream::StreamRanks> part(int number) override {
    return std::make_unique<ThreadRanks>(m_runs, static_cast<std::size_t>(number) + 1, rank() % 2);
  }
  void collectively(const std::function<void()>& function) override { function(); }
  std::int64_t min(std::int64_t value) override { return value; }
  int of_host(bool) override { return size(); }
  void send(const void*, std::size_t, int) override {}
  void receive(void*, std::size_t, int) override {}
  void wait_received() override {}
  void wait_sent() override {}

 private:
  std::deque<ThreadRun>& m_runs;
  ThreadProcess m_process;
};

// Calls search(shared, objective) on the root, while the others serve.
template <class Search>
void run_shared(int count, Survey& survey, const Search& search) {
  on_processes(count, [&](ThreadProcess& process) {
    RankGroups groups(nullptr, 1, 7, "ranks");
    Shared shared(process, groups, numbers);
    Objective objective(survey, process);
    if (!process.root()) return shared.serve(objective);
    search(shared, objective);
    shared.stop();
  });
}

const std::multiset<std::size_t> all_once{0, 1, 2, 3, 4, 5, 6};

TEST(SharedEvaluation, AddsTheShotsOfAllProcessesOnce) {
  for (const int count : {2, 3, 4}) {
    Survey survey(count);
    run_shared(count, survey, [&](Shared& shared, Objective& objective) {
      Values gradient;
      EXPECT_EQ(shared.evaluate(objective, Values{0.5F}, &gradient), 127.0);
      EXPECT_EQ(gradient, (Values{7.0F, 0.5F}));
    });
    EXPECT_EQ(survey.computed, all_once);
    for (int rank = 0; rank < count; ++rank) EXPECT_GE(survey.computing.count(rank), 1U) << rank;
  }
}

TEST(SharedEvaluation, EvaluatesAgainAtAnotherModel) {
  Survey survey(3);
  run_shared(3, survey, [&](Shared& shared, Objective& objective) {
    for (const float x : {1.0F, 2.0F, 3.0F}) {
      Objective next = objective;
      Values gradient;
      EXPECT_EQ(shared.evaluate(next, Values{x}, &gradient), 127.0);
      EXPECT_EQ(gradient, (Values{7.0F, x}));
    }
  });
  EXPECT_EQ(survey.computed.size(), 21U);
}

TEST(SharedEvaluation, ComputesNoShotOfAModelThatCannotBeStepped) {
  Survey survey(3);
  run_shared(3, survey, [&](Shared& shared, Objective& objective) {
    Values gradient;
    EXPECT_EQ(shared.evaluate(objective, Values{-1.0F}, &gradient),
              std::numeric_limits<double>::infinity());
    EXPECT_TRUE(survey.computed.empty());
    EXPECT_EQ(shared.evaluate(objective, Values{0.5F}, &gradient), 127.0);
  });
  EXPECT_EQ(survey.computed, all_once);
}

TEST(SharedEvaluation, MergesTheImagesOfAllProcesses) {
  for (const int count : {2, 4}) {
    Survey survey(count);
    run_shared(count, survey, [&](Shared& shared, Objective& objective) {
      const auto image = shared.extended_image(objective, Values{0.5F});
      EXPECT_EQ(image.values, (Values{280.0F, 3.5F}));
      EXPECT_EQ(image.focus, 7.0);
    });
    EXPECT_EQ(survey.computed, all_once);
  }
}

TEST(SharedEvaluation, OneProcessEvaluatesAlone) {
  Survey survey(1);
  run_shared(1, survey, [&](Shared& shared, Objective& objective) {
    Values gradient;
    EXPECT_EQ(shared.evaluate(objective, Values{0.5F}, &gradient), -1.0);
    EXPECT_EQ(shared.extended_image(objective, Values{0.5F}).focus, -1.0);
    EXPECT_EQ(shared.model(objective, Values{0.5F}, 3), (Values{40.0F, 0.5F}));
  });
}

TEST(SharedEvaluation, RefusesAMisfitThatIsNotFinite) {
  on_processes(3, [&](ThreadProcess& process) {
    RankGroups groups(nullptr, 1, 7, "ranks");
    Shared shared(process, groups, numbers);
    Request request{SharedTask::gradient, {}, 0};
    if (process.root()) shared.send(request);
    if (!process.root()) {
      EXPECT_TRUE(shared.receive(request));
    }
    std::multiset<std::size_t> added;
    const auto add = [&](const Contribution& contribution) { added.insert(contribution.shot); };
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (!shared.claim(k)) continue;
      for (const double misfit :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        try {
          shared.submit({k, misfit, 0, 0, 0, {}}, add);
          ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), HasSubstr(concat("shot ", numbers[k], ": its misfit is ")));
        }
      }
      shared.submit({k, 1.0, 0, 0, 0, {}}, add);
    }
    if (process.root()) {
      shared.collect(add);
      EXPECT_EQ(added, all_once);  // refused contributions were not sent
    }
  });
}

TEST(SharedEvaluation, ReceivesDuringAShotWithoutAdding) {
  on_processes(2, [&](ThreadProcess& process) {
    RankGroups groups(nullptr, 1, 2, "ranks");
    Shared shared(process, groups, {1, 2});
    Request request{SharedTask::gradient, {}, 0};
    if (process.root()) shared.send(request);
    if (!process.root()) {
      EXPECT_TRUE(shared.receive(request));
    }
    std::vector<std::size_t> added;
    const auto add = [&](const Contribution& contribution) { added.push_back(contribution.shot); };
    const std::size_t mine = process.root() ? 0 : 1;
    EXPECT_EQ(shared.claim(0), process.root());
    if (!process.root()) shared.submit({mine, 1.0, 0, 0, 0, {}}, add);
    process.wait();
    shared.poll();
    if (!process.root()) return;
    EXPECT_THAT(process.received(false), ::testing::IsEmpty());
    EXPECT_THAT(added, ::testing::IsEmpty());
    shared.submit({mine, 1.0, 0, 0, 0, {}}, add);
    EXPECT_EQ(added, (std::vector<std::size_t>{0, 1}));
    shared.collect(add);
    EXPECT_EQ(added.size(), 2U);
  });
}

TEST(SharedEvaluation, TheEndReachesAllProcesses) {
  std::atomic<int> ended{0};
  on_processes(4, [&](ThreadProcess& process) {
    RankGroups groups(nullptr, 1, 7, "ranks");
    Shared shared(process, groups, numbers);
    Request request{SharedTask::image, {2.0, 3.0, {4.0F}}, 5};
    if (process.root()) {
      shared.send(request);
      return shared.stop();
    }
    Request received;
    EXPECT_TRUE(shared.receive(received));
    EXPECT_EQ(received.task, SharedTask::image);
    EXPECT_EQ(received.evaluation.corner, 2.0);
    EXPECT_EQ(received.evaluation.data_size, 3.0);
    EXPECT_EQ(received.evaluation.values, Values{4.0F});
    EXPECT_EQ(received.shot, 5U);
    if (!shared.receive(received)) ++ended;
  });
  EXPECT_EQ(ended, 3);
}

TEST(SharedEvaluation, GroupsSubmitEachShotOnce) {
  Survey survey(4);
  std::deque<ThreadRun> runs;
  for (const int size : {4, 2, 2}) runs.emplace_back(size);
  on_processes(4, [&](ThreadProcess& process) {
    ThreadRanks world(runs, 0, process.rank());
    RankGroups groups(&world, 2, 7, "ranks");
    Shared shared(process, groups, numbers);
    Objective objective(survey, process);
    if (!process.root()) return shared.serve(objective);
    Values gradient;
    EXPECT_EQ(shared.evaluate(objective, Values{0.5F}, &gradient), 127.0);
    EXPECT_EQ(shared.model(objective, Values{0.5F}, 3), (Values{40.0F, 0.5F}));
    shared.stop();
  });
  EXPECT_EQ(survey.modelled, 2);           // by the group of the root
  EXPECT_EQ(survey.computed.size(), 14U);  // by both ranks of a group
  for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(survey.computed.count(k), 2U);
}

TEST(SharedEvaluation, AllUseReplayIfAShellDoesNotFitOnOne) {
  using enum fwi::SourceField;
  for (const int without : {-1, 0, 2}) {
    on_processes(3, [&](ThreadProcess& process) {
      RankGroups groups(nullptr, 1, 7, "ranks");
      Shared shared(process, groups, numbers);
      const auto mine = process.rank() == without ? replay : boundary_shell;
      EXPECT_EQ(shared.common_source_field(mine), without < 0 ? boundary_shell : replay);
    });
  }
}

TEST(SharedCounter, GivesEachItemToOneProcess) {
  for (const int count : {1, 3}) {
    std::mutex mutex;
    std::multiset<std::int64_t> claimed;
    on_processes(count, [&](ThreadProcess& process) {
      SharedCounter counter;
      for (int repeat = 0; repeat < 2; ++repeat) {
        counter.begin(process);
        for (std::int64_t item = 0; item < 20; ++item) {
          const bool mine = counter.claim(item);
          EXPECT_TRUE(item > 0 || mine == process.root());
          const std::lock_guard<std::mutex> lock(mutex);
          if (mine) claimed.insert(item);
        }
      }
    });
    EXPECT_EQ(claimed.size(), 40U);
    for (std::int64_t item = 0; item < 20; ++item) EXPECT_EQ(claimed.count(item), 2U);
  }
}

}  // namespace
}  // namespace moho::testing
