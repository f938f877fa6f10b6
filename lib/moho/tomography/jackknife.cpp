// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/csv.hpp>
#include <moho/tomography/jackknife.hpp>

#include <algorithm>

namespace moho::tomography {

template <int Dim>
void check_jackknife(const PickSet<Dim>& picks, int groups, const ArgumentNames& names) {
  const auto sources = static_cast<std::int64_t>(picks.sources.size());
  // the largest group has one source more where the numbers do not divide
  const auto fewest = [&](std::int64_t n) { return sources - (sources + n - 1) / n; };
  if (groups >= 2 && groups <= sources && fewest(groups) >= 2) return;
  std::int64_t lowest = 2;
  while (lowest < sources && fewest(lowest) < 2) ++lowest;
  if (sources < 3) {
    throw InputError(concat(names("jackknife"), " was given for ", sources,
                            " sources (allowed: for 3 or more, two of which are in each run): "
                            "leave it out"));
  }
  throw InputError(concat(names("jackknife"), " is ", groups, ", and there are ", sources,
                          " sources (allowed: ", lowest, " to ", sources,
                          " groups, with two sources in each run): take another number"));
}

template <int Dim>
PickSet<Dim> leave_out(const PickSet<Dim>& picks, int groups, int group) {
  PickSet<Dim> result;
  result.receivers = picks.receivers;
  result.left_out = picks.left_out;
  std::vector<int> number(picks.sources.size(), -1);
  for (std::size_t k = 0; k < number.size(); ++k) {
    if (static_cast<int>(k % static_cast<std::size_t>(groups)) == group) continue;
    number[k] = static_cast<int>(result.sources.size());
    result.sources.push_back(picks.sources[k]);
  }
  for (Pick pick : picks.picks) {
    pick.source = number[static_cast<std::size_t>(pick.source)];
    if (pick.source >= 0) result.picks.push_back(pick);
  }
  return result;
}

namespace {

double median_with_rays(const std::vector<double>& values, const std::vector<double>& coverage) {
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (coverage[i] > 0.0) kept.push_back(values[i]);
  }
  if (kept.empty()) return 0.0;
  const auto middle = kept.begin() + static_cast<std::ptrdiff_t>(kept.size() / 2);
  std::nth_element(kept.begin(), middle, kept.end());
  return *middle;
}

}  // namespace

template <int Dim>
std::string describe_jackknife(const InversionResult<Dim>& result, const JackknifeResult& test) {
  const auto median = [&](const std::vector<double>& values) {
    return text::significant(median_with_rays(values, result.coverage), 2);
  };
  return concat("deviation of ln v by ", test.runs.size(), " runs: median ", median(test.deviation),
                " where rays are, posterior ", median(result.appraisal.deviation));
}

std::string describe_run(const JackknifeRun& run) {
  return concat("jackknife run ", run.group + 1, ": chi^2 ", text::significant(run.last.chi2, 4),
                " of ", text::counted(run.picks, "pick"), " after ",
                text::counted(run.last.iteration, "iteration"));
}

void write_jackknife(const std::filesystem::path& path, const JackknifeResult& test) {
  io::Table table;
  table.names = {"group", "sources", "picks", "iterations", "chi2", "rms", "lambda"};
  table.columns = static_cast<std::int64_t>(table.names.size());
  for (const JackknifeRun& run : test.runs) {
    for (const double value :
         {static_cast<double>(run.group), static_cast<double>(run.sources),
          static_cast<double>(run.picks), static_cast<double>(run.last.iteration), run.last.chi2,
          run.last.rms, run.last.lambda}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

template void check_jackknife<2>(const PickSet<2>&, int, const ArgumentNames&);
template void check_jackknife<3>(const PickSet<3>&, int, const ArgumentNames&);
template PickSet<2> leave_out<2>(const PickSet<2>&, int, int);
template PickSet<3> leave_out<3>(const PickSet<3>&, int, int);
template std::string describe_jackknife<2>(const InversionResult<2>&, const JackknifeResult&);
template std::string describe_jackknife<3>(const InversionResult<3>&, const JackknifeResult&);

}  // namespace moho::tomography
