// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Definitions of Objective. Included by objective.hpp.

#include <moho/fwi/detail/shot_at.hpp>
#include <moho/fwi/objective.hpp>
#include <moho/wave/model_values.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

template <class T, int Dim, class Memory>
Objective<T, Dim, Memory>::Objective(std::unique_ptr<ShotEvaluator<T, Dim, Memory>> shots)
    : m_shots(std::move(shots)) {
  if (options().parameters.empty() || index_of(Parameter::vp) == options().parameters.size()) {
    throw InputError("parameters: vp is missing (allowed: vp and others)");
  }
  const std::size_t mask = options().mask.size();
  if (mask > 0 && mask != static_cast<std::size_t>(nodes())) {
    throw InputError(concat("mask: it has ", mask, " elements (allowed: ", nodes(),
                            ", the nodes of the model)"));
  }
  std::map<Parameter, std::vector<T>> values;
  for (const Parameter parameter : options().parameters) {
    const auto& field = m_shots->start().field(parameter);
    if (!wave::invertible_parameters.has(parameter)) {
      throw InputError(concat("parameters: ", to_string(parameter),
                              " is not known to gradients (allowed: vp, density, epsilon, delta)"));
    }
    if (field.data() == nullptr) {
      throw InputError(concat("parameters: the start has no ", to_string(parameter),
                              " (allowed: parameters of the start): add it to the model"));
    }
    values[parameter] = download(exec(), field);
  }
  const std::vector<Range> bounds =
      bounds_of<T>(m_shots->grid(), options(),
                   [&](Parameter p) -> const std::vector<T>& { return values.at(p); });
  for (const Parameter parameter : options().parameters) {
    double mean = 0.0;
    for (const T value : values.at(parameter)) mean += std::fabs(static_cast<double>(value));
    mean /= static_cast<double>(nodes());
    // epsilon and delta are about as large as relative changes of the velocity
    m_scales.push_back(logarithmic(parameter) || !is_positive(parameter) ? 1.0 : mean);
  }
  values.clear();
  m_plan = ObjectivePlanner<T, Dim, Memory>(*m_shots).make(bounds);
  m_corner = options().bands.empty() ? 0.0 : options().bands.back();
}

template <class T, int Dim, class Memory>
std::size_t Objective<T, Dim, Memory>::index_of(Parameter parameter) const {
  const auto& all = options().parameters;
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), parameter) - all.begin());
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::check_size(const ConstVector& vector, const char* name) const {
  if (vector.size() == variables()) return;
  throw InputError(concat(name, ": it has ", vector.size(), " elements (allowed: ", variables(),
                          ", those of the parameters on the nodes)"));
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::require_begun(const char* function) const {
  if (m_begun) return;
  throw InputError(
      concat(function, ": no evaluation was begun (allowed: between begin() and end())"));
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::set_source_field(SourceField method) {
  if (m_shots->streamed() || method == m_plan.source_field) return;
  m_shots->plan_memory(m_plan, method);
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::load_data() {
  if (m_shots->data().loaded()) return;
  m_shots->load_data();
  m_ready = false;
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::set_band(double corner) {
  const std::vector<double>& bands = options().bands;
  if (bands.empty() ? corner != 0.0
                    : std::find(bands.begin(), bands.end(), corner) == bands.end()) {
    throw InputError(
        concat("corner: it is ", corner, " Hz (allowed: ",
               bands.empty() ? "0, as options.bands is empty" : "those of options.bands", ")"));
  }
  load_data();
  m_shots->set_band(m_corner = corner);
  m_ready = true;
  m_begun = false;
}

// Loads the data and sets the band, unless done before.
template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::prepare() {
  if (!m_ready) set_band(m_corner);
  if (!m_fields.empty()) return;
  for (const Parameter parameter : options().parameters) {
    m_fields.push_back(make_field<T>(exec(), m_shots->grid(), to_string(parameter)));
  }
}

template <class T, int Dim, class Memory>
typename Objective<T, Dim, Memory>::ConstVector Objective<T, Dim, Memory>::start() const {
  return upload(exec(), std::vector<T>(variables(), T(0)), "start");
}

template <class T, int Dim, class Memory>
optimize::Constraints<T, Memory> Objective<T, Dim, Memory>::bounds() const {
  const auto each = static_cast<std::size_t>(nodes());
  std::vector<T> lower(variables()), upper(variables());
  std::vector<unsigned char> mask;
  for (std::size_t u = 0; u < options().parameters.size(); ++u) {
    const Parameter parameter = options().parameters[u];
    const std::vector<T> values = download(exec(), m_shots->start().field(parameter));
    const bool log = logarithmic(parameter);
    const double scale = m_scales[u];
    // rounded values at the bounds have to stay within what models may have
    const double slack = is_positive(parameter) ? 0.0 : 1e-6;
    const double low = std::max(m_plan.bounds[u].low, wave::info(parameter).lowest + slack);
    const double high = std::min(m_plan.bounds[u].high, wave::info(parameter).highest - slack);
    for (std::size_t i = 0; i < each; ++i) {
      const double value = static_cast<double>(values[i]);
      const auto to = [&](double bound) {
        return static_cast<T>(log ? std::log(bound / value) : (bound - value) / scale);
      };
      // values of constant nodes may exceed the bounds
      lower[u * each + i] = std::min(to(low), T(0));
      upper[u * each + i] = std::max(to(high), T(0));
    }
    mask.insert(mask.end(), options().mask.begin(), options().mask.end());
  }
  optimize::Constraints<T, Memory> constraints{
      upload(exec(), lower, "lower"), upload(exec(), upper, "upper"), {}};
  if (!mask.empty()) constraints.mask = upload(exec(), mask, "mask");
  return constraints;
}

// Returns the model at a vector of variables, in m_fields.
template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> Objective<T, Dim, Memory>::model_at(const ConstVector& x) {
  check_size(x, "x");
  prepare();
  m_begun = false;
  m_changed = true;
  Model model = m_shots->start();
  for (std::size_t u = 0; u < m_fields.size(); ++u) {
    const Parameter parameter = options().parameters[u];
    launch("moho::fwi::model_from_variables", exec(), nodes(),
           detail::ModelFromVariables<T>{x.data() + static_cast<std::int64_t>(u) * nodes(),
                                         m_shots->start().field(parameter).data(),
                                         m_fields[u].data(), logarithmic(parameter), m_scales[u]});
    model.field(parameter) = m_fields[u];
  }
  return model;
}

// Sets the model of an evaluation; returns why it cannot be stepped, or nothing.
template <class T, int Dim, class Memory>
std::string Objective<T, Dim, Memory>::set_model(const ConstVector& x) {
  m_model = model_at(x);
  std::string failure = m_shots->failure_of(m_model);
  m_begun = failure.empty();
  m_summed = false;
  return failure;
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::begin(const ConstVector& x) {
  const std::string failure = set_model(x);
  if (failure.empty()) return;
  throw InputError(concat(options().names("bounds"),
                          ": the inversion has reached a model that cannot be stepped: ", failure));
}

template <class T, int Dim, class Memory>
bool Objective<T, Dim, Memory>::begin_trial(const ConstVector& x, const Vector& gradient) {
  check_size(gradient, "gradient");
  m_report = {};
  m_report.failure = set_model(x);
  if (m_report.failure.empty()) return true;
  fill(exec(), gradient, T(0));
  exec().fence();
  return false;
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::begin(const EvaluationRequest<T>& request) {
  if (request.values.size() != variables()) {
    throw InputError(concat("request: it has ", request.values.size(), " values (allowed: ",
                            variables(), ", those of the parameters on the nodes)"));
  }
  if (!m_ready || request.corner != m_corner) set_band(request.corner);
  if (request.data_size > 0.0) m_shots->data().set_size(request.data_size);
  prepare();
  m_model = m_shots->start();
  const auto count = static_cast<std::size_t>(nodes());
  for (std::size_t u = 0; u < m_fields.size(); ++u) {
    copy(exec(), wave::Storage<T, Memory>(m_fields[u].data(), count),
         HostElements<const T>(request.values.data() + u * count, count));
    m_model.field(options().parameters[u]) = m_fields[u];
  }
  exec().fence();
  m_begun = m_changed = true;
  m_summed = false;
}

template <class T, int Dim, class Memory>
EvaluationRequest<T> Objective<T, Dim, Memory>::request() const {
  require_begun("request");
  EvaluationRequest<T> request{m_corner, m_shots->data().size(), {}};
  for (const auto& field : m_fields) {
    const std::vector<T> values = download(exec(), field);
    request.values.insert(request.values.end(), values.begin(), values.end());
  }
  return request;
}

template <class T, int Dim, class Memory>
ShotContribution<T> Objective<T, Dim, Memory>::contribution(std::size_t k) {
  if (k >= shot_count() || (options().only && k != *options().only)) {
    throw InputError(concat("k is ", k, " (allowed: positions of shots whose data are loaded, of ",
                            shot_count(), ")"));
  }
  ShotContribution<T> result;
  contributions([k](std::size_t shot) { return shot == k; },
                [&](ShotContribution<T>&& computed) { result = std::move(computed); });
  return result;
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::contributions(const Claim& claim, const Take& take) {
  require_begun("contributions");
  const bool changed = std::exchange(m_changed, false);
  m_shots->evaluate(m_model, changed, claim,
                    [&](std::size_t, const ShotContribution<T>& computed, const Model& derivatives,
                        const Field<T, Dim, Memory>& illumination) {
                      ShotContribution<T> contribution = computed;
                      const auto append = [&](const Field<T, Dim, Memory>& field) {
                        const std::vector<T> values = download(exec(), field);
                        contribution.values.insert(contribution.values.end(), values.begin(),
                                                   values.end());
                      };
                      for (const Parameter parameter : options().parameters) {
                        append(derivatives.field(parameter));
                      }
                      append(illumination);
                      take(std::move(contribution));
                    });
}

template <class T, int Dim, class Memory>
double Objective<T, Dim, Memory>::evaluate(const ConstVector& x, const Vector& gradient) {
  if (!begin_trial(x, gradient)) return std::numeric_limits<double>::infinity();
  clear_sums();
  m_changed = false;
  m_shots->evaluate(m_model, true, {},
                    [&](std::size_t k, const ShotContribution<T>& contribution,
                        const Model& derivatives, const Field<T, Dim, Memory>& illumination) {
                      add_fields(k, contribution, derivatives, illumination);
                    });
  return finish(gradient);
}

// Sets all sums of the evaluation to zero.
template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::clear_sums() {
  m_sums.reserve(options().parameters.size() + 1);
  while (m_sums.size() <= options().parameters.size()) m_sums.emplace_back(exec(), nodes());
  for (BinnedSumOn<Memory>& sum : m_sums) sum.clear(exec());
  m_misfits.clear();
  m_report = {};
  m_summed = true;
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::refuse_twice(std::size_t k) const {
  if (k < shot_count() && m_misfits.count(k) == 0) return;
  throw InputError(concat("contribution: its shot is ", k, " of ", shot_count(),
                          " (allowed: each shot once in an evaluation)"));
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::add_fields(std::size_t k, const ShotContribution<T>& contribution,
                                           const Model& derivatives,
                                           const Field<T, Dim, Memory>& illumination) {
  m_misfits.emplace(k, contribution.misfit);
  m_report.add(contribution);
  std::size_t u = 0;
  for (const Parameter parameter : options().parameters) {
    m_sums[u++].template add<T>(exec(), derivatives.field(parameter).data());
  }
  m_sums[u].template add<T>(exec(), illumination.data());
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::add(const ShotContribution<T>& contribution) {
  require_begun("add");
  if (!m_summed) clear_sums();
  refuse_twice(contribution.shot);
  const std::size_t expected = variables() + static_cast<std::size_t>(nodes());
  if (contribution.values.size() != expected) {
    throw InputError(concat("contribution: it has ", contribution.values.size(),
                            " values (allowed: ", expected,
                            ", derivatives and illumination on the nodes)"));
  }
  const auto count = static_cast<std::size_t>(nodes());
  if (m_values.size() == 0) m_values = allocate<Vector>(exec(), "moho::fwi::added", count);
  const T* from = contribution.values.data();
  for (BinnedSumOn<Memory>& sum : m_sums) {
    copy(exec(), m_values, HostElements<const T>(from, count));
    sum.template add<T>(exec(), m_values.data());
    from += count;
  }
  exec().fence();
  m_misfits.emplace(contribution.shot, contribution.misfit);
  m_report.add(contribution);
}

template <class T, int Dim, class Memory>
void Objective<T, Dim, Memory>::add(const ContributionSum& sum) {
  require_begun("add");
  if (!m_summed) clear_sums();
  bool whole = sum.sums.size() == m_sums.size() && sum.misfits.size() == sum.shots.size();
  for (const BinnedSumState& state : sum.sums) {
    whole = whole && state.terms == static_cast<std::int64_t>(sum.shots.size()) &&
            is_sum_of(state, nodes());
  }
  if (!whole) {
    throw InputError(concat("contribution: a sum of ", sum.shots.size(), " shots has ",
                            sum.misfits.size(), " misfits and ", sum.sums.size(),
                            " arrays (allowed: a misfit and a term of each shot, and ",
                            m_sums.size(), " arrays on the nodes): make the sum again"));
  }
  for (const std::size_t k : sum.shots) refuse_twice(k);
  const std::set<std::size_t> once(sum.shots.begin(), sum.shots.end());
  if (once.size() != sum.shots.size()) {
    throw InputError("contribution: a sum has a shot twice (allowed: each shot once)");
  }
  for (std::size_t u = 0; u < m_sums.size(); ++u) m_sums[u].merge(exec(), sum.sums[u]);
  for (std::size_t s = 0; s < sum.shots.size(); ++s) {
    m_misfits.emplace(sum.shots[s], sum.misfits[s]);
  }
  m_report.add(sum);
}

template <class T, int Dim, class Memory>
ContributionSum Objective<T, Dim, Memory>::sum() const {
  require_begun("sum");
  if (!m_summed) throw InputError("sum: no contribution was added (allowed: after add())");
  ContributionSum result;
  for (const auto& [k, misfit] : m_misfits) {
    result.shots.push_back(k);
    result.misfits.push_back(misfit);
  }
  result.points = m_report.points;
  result.forward_seconds = m_report.forward_seconds;
  result.backward_seconds = m_report.backward_seconds;
  for (const BinnedSumOn<Memory>& sum : m_sums) result.sums.push_back(sum.state(exec()));
  return result;
}

template <class T, int Dim, class Memory>
double Objective<T, Dim, Memory>::end(const Vector& gradient) {
  require_begun("end");
  check_size(gradient, "gradient");
  const std::size_t added = m_summed ? m_misfits.size() : 0;
  if (added != shot_count()) {
    throw InputError(
        concat("end: ", added, " of ", shot_count(), " shots were added (allowed: all)"));
  }
  m_values = {};
  return finish(gradient);
}

template <class T, int Dim, class Memory>
double Objective<T, Dim, Memory>::finish(const Vector& gradient) {
  for (std::size_t u = 0; u < m_fields.size(); ++u) {
    const detail::ByVariable<T> by{m_fields[u].data(), logarithmic(options().parameters[u]),
                                   m_scales[u]};
    m_sums[u].template result<T>(exec(), gradient.data() + static_cast<std::int64_t>(u) * nodes(),
                                 by);
  }
  exec().fence();
  m_begun = false;
  m_shots->data().note_amplitudes();
  double misfit = 0.0;
  for (const auto& [k, value] : m_misfits) misfit += value;
  return misfit;
}

// Copies the values of a field in the memory of the instance.
template <class T, int Dim, class Memory>
typename Objective<T, Dim, Memory>::HostField Objective<T, Dim, Memory>::to_host(
    const T* values) const {
  const auto count = static_cast<std::size_t>(nodes());
  const Instance<Kokkos::HostSpace> host{Kokkos::DefaultHostExecutionSpace()};
  const HostField result = make_field<T>(host, m_shots->grid(), "values");
  host.fence();
  const std::vector<T> copied = download(
      exec(),
      Kokkos::View<const T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values, count));
  std::copy(copied.begin(), copied.end(), result.data());
  return result;
}

template <class T, int Dim, class Memory>
typename Objective<T, Dim, Memory>::HostField Objective<T, Dim, Memory>::values(
    const ConstVector& x, Parameter parameter) {
  const Model model = model_at(x);
  return to_host(model.field(parameter).data());
}

template <class T, int Dim, class Memory>
typename Objective<T, Dim, Memory>::HostField Objective<T, Dim, Memory>::component(
    const ConstVector& vector, Parameter parameter) const {
  check_size(vector, "vector");
  const std::size_t u = index_of(parameter);
  if (u == options().parameters.size()) {
    throw InputError(concat("parameter: ", to_string(parameter),
                            " is constant (allowed: those of options.parameters)"));
  }
  return to_host(vector.data() + static_cast<std::int64_t>(u) * nodes());
}

// Returns the illumination of the nodes, zeros before the first evaluation.
template <class T, int Dim, class Memory>
std::vector<double> Objective<T, Dim, Memory>::illumination_sums() const {
  if (m_sums.empty()) return std::vector<double>(static_cast<std::size_t>(nodes()), 0.0);
  const auto sums =
      allocate<Doubles>(exec(), "moho::fwi::illumination", static_cast<std::size_t>(nodes()));
  m_sums.back().template result<double>(exec(), sums.data());
  return download(exec(), sums);
}

template <class T, int Dim, class Memory>
typename Objective<T, Dim, Memory>::HostField Objective<T, Dim, Memory>::illumination() const {
  const Instance<Kokkos::HostSpace> host{Kokkos::DefaultHostExecutionSpace()};
  const HostField result = make_field<T>(host, m_shots->grid(), "illumination");
  host.fence();
  const std::vector<double> sums = illumination_sums();
  std::copy(sums.begin(), sums.end(), result.data());
  return result;
}

template <class T, int Dim, class Memory>
typename Objective<T, Dim, Memory>::ConstVector Objective<T, Dim, Memory>::preconditioner() const {
  const std::vector<double> sums = illumination_sums();
  double max = 0.0;
  for (const double value : sums) max = std::max(max, value);
  std::vector<T> factors;
  for (std::size_t u = 0; u < options().parameters.size(); ++u) {
    for (const double value : sums) {
      factors.push_back(static_cast<T>(max > 0.0 ? 1.0 / (value / max + 0.01) : 1.0));
    }
  }
  return upload(exec(), factors, "moho::optimize::factors");
}

template <class T, int Dim, class Memory>
std::vector<float> Objective<T, Dim, Memory>::model(const ConstVector& x, std::size_t k) {
  const Model model = model_at(x);
  return m_shots->model_shot(model, detail::shot_at(shots(), k));
}

template <class T, int Dim, class Memory>
std::vector<float> Objective<T, Dim, Memory>::model(std::size_t k) {
  require_begun("model");
  return m_shots->model_shot(m_model, detail::shot_at(shots(), k));
}

template <class T, int Dim, class Memory>
ExtendedResult<T> Objective<T, Dim, Memory>::extended_image(const ConstVector& x) {
  const Lags& requested = lags();
  if (!(m_plan.lags_sum_bytes > 0.0)) return m_shots->extended_image(model_at(x), requested);
  begin(x);
  ExtendedSum sum = make_extended_sum();
  extended_images({}, sum);
  m_begun = false;
  // other ranks have no images
  if (options().ranks != nullptr && options().ranks->rank() > 0) return {};
  return result_of(sum);
}

template <class T, int Dim, class Memory>
ExtendedResult<T> Objective<T, Dim, Memory>::extended_image(
    const stream::RankGroups& groups, bool root, const Claim& claim,
    const std::function<void(ExtendedSum&)>& merge) {
  const Lags& requested = lags();
  require_begun("extended_image");
  ExtendedResult<T> result;
  if (shot_count() == 1) {
    if (!root && (groups.ranks() == nullptr || !groups.has_root())) return result;
    m_changed = true;
    groups.leave_errors_to_first([&] { result = m_shots->extended_image(m_model, requested); });
    return result;
  }
  ExtendedSum sum = make_extended_sum();
  groups.leave_errors_to_first([&] { extended_images(claim, sum); });
  merge(sum);
  return root ? result_of(sum) : result;
}

template <class T, int Dim, class Memory>
EvaluationReport Objective<T, Dim, Memory>::extended_images(const Claim& claim, ExtendedSum& sum) {
  const Lags& requested = lags();
  require_begun("extended_images");
  if (sum.lags() != requested.count() || sum.nodes() != nodes()) {
    throw InputError(concat("sum: it has ", sum.lags(), " lags x ", sum.nodes(),
                            " nodes (allowed: ", requested.count(), " x ", nodes(), ")"));
  }
  EvaluationReport report;
  m_shots->extended_images(m_model, requested, claim,
                           [&](const ShotContribution<T>& shot, const T* image) {
                             sum.add<T>(shot.shot, image);
                             report.points += shot.points;
                             report.forward_seconds += shot.forward_seconds;
                             report.backward_seconds += shot.backward_seconds;
                           });
  m_changed = true;
  return report;
}

template <class T, int Dim, class Memory>
ShotContribution<T> Objective<T, Dim, Memory>::extended_contribution(std::size_t k) {
  const Lags& requested = lags();
  require_begun("extended_contribution");
  ShotContribution<T> result;
  const auto count = static_cast<std::ptrdiff_t>(requested.count() * nodes());
  m_shots->extended_images(
      m_model, requested, [k](std::size_t shot) { return shot == k; },
      [&](const ShotContribution<T>& shot, const T* image) {
        result = shot;
        result.values.assign(image, image + count);
      });
  m_changed = true;
  return result;
}

template <class T, int Dim, class Memory>
ExtendedSum Objective<T, Dim, Memory>::make_extended_sum() const {
  return ExtendedSum(lags().count(), nodes());
}

template <class T, int Dim, class Memory>
ExtendedResult<T> Objective<T, Dim, Memory>::result_of(const ExtendedSum& sum) const {
  const Lags& requested = lags();
  if (sum.shots().size() != shot_count()) {
    throw InputError(
        concat("sum: it has ", sum.shots().size(), " of ", shot_count(), " shots (allowed: all)"));
  }
  const Instance<Kokkos::HostSpace> host{Kokkos::DefaultHostExecutionSpace()};
  ExtendedResult<T> result;
  result.values = sum.values<T>();
  double square = 0.0;
  for (const T value : result.values) {
    square += 0.5 * static_cast<double>(value) * static_cast<double>(value);
  }
  if (!(square > 0.0)) return result;
  using Image = ExtendedImage<T, Dim, Kokkos::HostSpace>;
  const typename Image::Array values(result.values.data(), result.values.size());
  const Image image(whole_box(m_shots->grid()), requested, values);
  result.focus = image.focus(host, m_shots->grid()) / square;
  return result;
}

template <class T, int Dim, class Memory>
const Lags& Objective<T, Dim, Memory>::lags() const {
  if (!options().lags) {
    throw InputError("lags: none were planned (allowed: options.lags): set them");
  }
  return *options().lags;
}

/// \cond
#ifdef MOHO_FWI_KERNELS
MOHO_FOR_ALL(MOHO_CLASS, extern template class, ShotEvaluator)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, CoreEvaluator)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, StreamedEvaluator)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, SlabEvaluator)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Objective)
#endif
/// \endcond

}  // namespace moho::fwi
