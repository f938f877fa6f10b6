// SPDX-License-Identifier: BSD-3-Clause
//
// Misfits of surveys, their gradients, and the search for a minimum, for the Python package.

#include "bindings.hpp"
#include "checkpoint.hpp"
#include "device.hpp"
#include "inversion_input.hpp"
#include "objective_plan.hpp"
#include "slab_plan.hpp"
#include "survey_input.hpp"
#include "wave_input.hpp"
#include "worker.hpp"

#include <moho/fwi/band_search.hpp>
#include <moho/fwi/objective.hpp>
#include <moho/stream/device_count.hpp>
#include <moho/wave/delta_note.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

// A search for the minimum of an objective. Its members are used on the worker.
class AnySearch : public Resource {
 public:
  // Evaluates at the next point. Returns false after the last iteration.
  virtual bool advance(Job& job, fwi::BandEvaluation& evaluation) = 0;
  // The variables of the best point.
  virtual void best(double* x) = 0;
  virtual std::string message() = 0;
};

// An objective in a precision and dimension. Its members are used on the worker.
class AnyObjective : public Resource {
 public:
  virtual void prepare(Job& job, const WaveInput& wave, const std::vector<GatherInput>& gathers,
                       const InversionInput& inversion, ObjectivePlan& plan) = 0;
  // Bounds of the variables; of nodes outside of the mask both are 0.
  virtual void bounds(double* lower, double* upper) = 0;
  virtual double evaluate(Job& job, const double* x, double* gradient) = 0;
  virtual void values(const double* x, wave::Parameter parameter, void* out) = 0;
  virtual std::vector<float> modelled(Job& job, const double* x, std::size_t k) = 0;
  virtual void illumination(void* out) = 0;
  virtual void set_band(double corner) = 0;
  // Begins a search, or goes on from its checkpoint.
  virtual std::shared_ptr<AnySearch> search(const fwi::BandSearchOptions& options,
                                            const Checkpoint& checkpoint) = 0;
  std::string note;  // on the data, from an evaluation; empty: none
};

// Memory: of models and vectors. Device: where shots are computed; the same memory, unless
// gradients are of several devices or stream.
template <class T, int Dim, class Memory, class Device>
class ObjectiveOf : public AnyObjective,
                    public std::enable_shared_from_this<ObjectiveOf<T, Dim, Memory, Device>> {
  using Inner = fwi::Objective<T, Dim, Memory>;
  using Vector = typename Inner::Vector;

  static Instance<Memory> instance() { return instance_in<Memory>(); }
  // Copies a vector of variables to the host.
  static void give_vector(const typename Inner::ConstVector& from, double* to) {
    const std::vector<T> values = download(instance(), from);
    std::copy(values.begin(), values.end(), to);
  }

  // Reports progress to a job during a scope.
  class Working {
   public:
    Working(ObjectiveOf& of, Job& job) : m_of(of) { m_of.m_job = &job; }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;
    ~Working() { m_of.m_job = nullptr; }

   private:
    ObjectiveOf& m_of;
  };

  class Search : public AnySearch {
   public:
    Search(std::shared_ptr<ObjectiveOf> of, const fwi::BandSearchOptions& options,
           Checkpoint checkpoint)
        : m_of(std::move(of)),
          m_gradient(m_of->objective().make_gradient()),
          m_checkpoint(std::move(checkpoint)) {
      if (!m_checkpoint.exists()) {
        m_search.emplace(instance(), m_of->objective(), options);
        return;
      }
      std::string before;
      m_search.emplace(instance(), m_of->objective(), options, m_checkpoint.path, before);
      m_checkpoint.check(before);
    }
    void release() override {
      m_search.reset();
      m_gradient = {};
      m_of.reset();
    }
    bool advance(Job& job, fwi::BandEvaluation& evaluation) override {
      auto& search = opened();
      auto& objective = m_of->objective();
      const Working working(*m_of, job);
      while (!m_begun || search.state().wants() != optimize::Want::evaluation) {
        if (!search.next_band()) return false;
        m_begun = true;
      }
      search.restore_band();
      const double misfit = objective.evaluate(search.state().point(), m_gradient);
      evaluation = search.tell(misfit, m_gradient);
      if (!m_checkpoint.path.empty()) search.save(m_checkpoint.path, m_checkpoint.made_from);
      return true;
    }
    void best(double* x) override { give_vector(opened().state().best(), x); }
    std::string message() override { return opened().state().message(); }

   private:
    fwi::BandSearch<T, Dim, Memory>& opened() {
      if (m_search) return *m_search;
      throw InputError("search: close() was called (allowed: before): begin another search");
    }

    std::shared_ptr<ObjectiveOf> m_of;
    Vector m_gradient;
    std::optional<fwi::BandSearch<T, Dim, Memory>> m_search;
    Checkpoint m_checkpoint;
    bool m_begun = false;
  };

 public:
  void release() override {
    m_objective.reset();
    m_x = {};
    m_gradient = {};
    m_start = {};
  }

  void prepare(Job& job, const WaveInput& wave, const std::vector<GatherInput>& gathers,
               const InversionInput& inversion, ObjectivePlan& shown) override {
    const Grid<Dim> grid = grid_of<Dim>(wave.fields.front().second, wave.spacing, wave.origin);
    m_start = model_in<T, Dim, Memory>(instance(), grid, wave, false);
    const auto values = [this](const auto& field) {
      return field.data() != nullptr ? download(instance(), field) : std::vector<T>();
    };
    shown.notes = wave::note_of_clamped_deltas(
        wave::clamped_delta_nodes<T>(values(m_start.epsilon), values(m_start.delta)));
    fwi::ObjectiveData<T, Dim, Memory> data;
    data.shots = shots_of<Dim>(gathers);
    // load_data() reads all gathers, after which the arrays of the caller may change
    data.read = [&gathers](std::size_t k) {
      return gather_of<Dim>(gathers.at(k), concat("gathers[", k, "]"));
    };
    const Working working(*this, job);
    m_objective.emplace(make(grid, faces_of<Dim>(wave, m_start.medium()), wavelet_of(wave), data,
                             options_of(wave, inversion)));
    m_objective->load_data();
    this->note.clear();  // times without data have no weight, as documented
    m_gradient = m_objective->make_gradient();
    m_x = m_objective->make_gradient();
    show(shown, wave.order);
  }

  void bounds(double* lower, double* upper) override {
    const auto constraints = objective().bounds();
    give_vector(constraints.lower, lower);
    give_vector(constraints.upper, upper);
    const std::vector<unsigned char> mask = download(instance(), constraints.mask);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == 0) lower[i] = upper[i] = 0.0;
    }
  }

  double evaluate(Job& job, const double* x, double* gradient) override {
    auto& one = objective();
    const Working working(*this, job);
    take(x);
    const double misfit = one.evaluate(m_x, m_gradient);
    if (!one.report().failure.empty()) throw InputError(one.report().failure);
    give_vector(m_gradient, gradient);
    return misfit;
  }

  void values(const double* x, wave::Parameter parameter, void* out) override {
    auto& one = objective();
    take(x);
    give(one.values(m_x, parameter), out);
  }

  std::vector<float> modelled(Job& job, const double* x, std::size_t k) override {
    auto& one = objective();
    const Working working(*this, job);
    take(x);
    return one.model(m_x, k);
  }

  void illumination(void* out) override { give(objective().illumination(), out); }
  void set_band(double corner) override { objective().set_band(corner); }
  std::shared_ptr<AnySearch> search(const fwi::BandSearchOptions& options,
                                    const Checkpoint& checkpoint) override {
    objective();
    return std::make_shared<Search>(this->shared_from_this(), options, checkpoint);
  }

 private:
  // The objective in the memory of its vectors, or with devices that take models of the host.
  Inner make(const Grid<Dim>& grid, const wave::Boundaries<Dim>& faces,
             const wave::WaveletAt& wavelet, const fwi::ObjectiveData<T, Dim, Memory>& data,
             const fwi::ObjectiveOptions<Dim>& options) {
    if constexpr (std::is_same_v<Memory, Device>) {
      return fwi::make_objective<T, Dim, Memory>(instance(), grid, m_start, faces, wavelet, data,
                                                 options);
    } else {
      return fwi::make_streamed_objective<T, Dim, Device>(instance_in<Device>(), grid, m_start,
                                                          faces, wavelet, data, options);
    }
  }
  fwi::ObjectiveOptions<Dim> options_of(const WaveInput& wave, const InversionInput& inversion) {
    fwi::ObjectiveOptions<Dim> options = stream_options<Dim>(wave, inversion);
    options.misfit = inversion.misfit;
    options.offset_weights = inversion.offset_weights;
    options.mute = inversion.mute;
    options.zero = inversion.zero;
    options.parameters = inversion.parameters;
    options.bounds = inversion.bounds;
    options.variables =
        inversion.logarithmic ? fwi::Variables::logarithmic : fwi::Variables::linear;
    options.bands = inversion.bands;
    options.product_interval = inversion.product_interval;
    if (inversion.mask) {
      const auto* const first = static_cast<const unsigned char*>(inversion.mask->data());
      options.mask.assign(first, first + inversion.mask->size());
    }
    options.note = [this](const std::string& one) { this->note = one; };
    options.progress = [this](double fraction, const std::string& what) {
      if (m_job != nullptr) m_job->report(fraction, what);
    };
    return options;
  }
  void show(ObjectivePlan& shown, int order) {
    const fwi::ObjectivePlan& plan = m_objective->plan();
    shown.dt = plan.time.dt;
    shown.frequency = plan.frequency;
    shown.steps = plan.time.steps;
    shown.concurrent_shots = plan.concurrent_shots;
    shown.streamed = m_objective->streamed();
    shown.medium = wave::info(plan.medium).name;
    shown.source_field = fwi::to_string(plan.source_field);
    shown.stream = plan.stream;
    shown.slabs = plan.slabs;
    shown.numbers = numbers_of(plan, order);
    for (const fwi::Range& range : plan.bounds) shown.bounds.emplace_back(range.low, range.high);
  }
  Inner& objective() {
    if (m_objective) return *m_objective;
    throw InputError(
        "objective: close() was called (allowed: before): make another moho.Objective");
  }
  void take(const double* x) {
    std::vector<T> values(m_x.size());
    std::transform(x, x + values.size(), values.begin(),
                   [](double v) { return static_cast<T>(v); });
    copy_elements<T>(instance(), m_x.data(), !is_host_memory<Memory>, values.data(), false,
                     values.size());
  }
  void give(const typename Inner::HostField& field, void* out) {
    std::copy_n(field.data(), field.size(), static_cast<T*>(out));
  }

  wave::Model<T, Dim, Memory> m_start;
  std::optional<Inner> m_objective;
  Vector m_x, m_gradient;
  Job* m_job = nullptr;  // the present one
};

// A search as an object of Python.
class Search {
 public:
  Search(std::shared_ptr<AnyObjective> of, std::size_t variables,
         const fwi::BandSearchOptions& options, const Checkpoint& checkpoint)
      : m_variables(variables) {
    run(nb::none(), [&](Job&) {
      m_search = of->search(options, checkpoint);
      own(m_search);
    });
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search() {
    if (m_search) disown(m_search);
  }

  // The next evaluation, or None.
  nb::object advance(const nb::object& progress) {
    fwi::BandEvaluation found;
    bool goes_on = false;
    run(progress, [&](Job& job) { goes_on = m_search->advance(job, found); });
    if (!goes_on) return nb::none();
    return nb::make_tuple(found.band, found.frequency, found.evaluation, found.iteration,
                          found.taken, found.misfit, found.relative, found.gradient, found.step);
  }
  nb::object best() {
    auto [x, array] = make_array<double>({m_variables});
    run(nb::none(), [&, out = x](Job&) { m_search->best(out); });
    return nb::cast(array);
  }
  std::string message() {
    std::string text;
    run(nb::none(), [&](Job&) { text = m_search->message(); });
    return text;
  }

 private:
  std::size_t m_variables;
  std::shared_ptr<AnySearch> m_search;
};

// True if gradients on a device take models and vectors of the host.
template <class T, int Dim, class Memory>
bool computes_from_host(const WaveInput& wave, const InversionInput& inversion) {
  wave::ParameterSet given;
  for (const auto& [parameter, field] : wave.fields) given.insert(parameter);
  const wave::Medium medium = wave::medium_of(given);
  return fwi::gradient_on_host<T>(
      instance_in<Memory>(), grid_of<Dim>(wave.fields.front().second, wave.spacing, wave.origin),
      medium, faces_of<Dim>(wave, medium), stream_options<Dim>(wave, inversion));
}

// \throws InputError for a model in device memory, of which several devices hold parts
[[maybe_unused]] void refuse_device_arrays(const WaveInput& wave) {
  for (const auto& [parameter, field] : wave.fields) {
    if (!on_device(field)) continue;
    throw InputError(concat(wave::to_string(parameter),
                            ": the array is in device memory (allowed with several devices or a "
                            "stream: arrays of the host): copy it to the host first"));
  }
}

// Returns an objective in a memory for fields like vp. Sets automatic devices that are one device.
template <class Memory>
std::shared_ptr<AnyObjective> objective_like(const WaveInput& wave, InversionInput& inversion) {
  const AnyInput& vp = wave.fields.front().second;
  return with_kind(vp.dtype(), vp.ndim(), [&](auto kind) -> std::shared_ptr<AnyObjective> {
    using T = typename decltype(kind)::Scalar;
    constexpr int Dim = decltype(kind)::dim;
    refuse_missing_kernels<T>();
    if constexpr (has_wave_kernels<T>) {
      int& devices = inversion.stream.devices;
      if (devices == 0 && stream::device_count(instance_in<Memory>()) == 1) devices = 1;
      if constexpr (!is_host_memory<Memory>) {
        if (computes_from_host<T, Dim, Memory>(wave, inversion)) {
          refuse_device_arrays(wave);
          return std::make_shared<ObjectiveOf<T, Dim, Kokkos::HostSpace, Memory>>();
        }
      }
      return std::make_shared<ObjectiveOf<T, Dim, Memory, Memory>>();
    } else {
      return nullptr;
    }
  });
}

// Returns an objective with models and vectors on the host for gradients that did not fit in core,
// and that may stream; null for others, and on hosts, where fwi::make_objective() has tried it.
template <class Memory>
std::shared_ptr<AnyObjective> streamed_objective_like(const WaveInput& wave,
                                                      const InversionInput& inversion) {
  const AnyInput& vp = wave.fields.front().second;
  return with_kind(vp.dtype(), vp.ndim(), [&](auto kind) -> std::shared_ptr<AnyObjective> {
    using T = typename decltype(kind)::Scalar;
    constexpr int Dim = decltype(kind)::dim;
    if constexpr (has_wave_kernels<T> && !is_host_memory<Memory>) {
      if (fwi::gradient_may_stream<Memory>(stream_options<Dim>(wave, inversion))) {
        return std::make_shared<ObjectiveOf<T, Dim, Kokkos::HostSpace, Memory>>();
      }
    }
    return nullptr;
  });
}

// The misfit of a survey as a function of the variables of a model.
class Objective {
 public:
  Objective(const WaveInput& wave, const std::vector<GatherInput>& gathers,
            InversionInput inversion, const std::string& space, const nb::object& progress)
      : m_variables(inversion.parameters.size() * wave.fields.front().second.size()) {
    run(progress, [&](Job& job) {
      const auto prepare = [&](std::shared_ptr<AnyObjective> objective) {
        m_objective = std::move(objective);
        own(m_objective);
        m_objective->prepare(job, wave, gathers, inversion, m_plan);
      };
      with_memory(space, [&](auto memory) {
        using Memory = typename decltype(memory)::type;
        try {
          prepare(objective_like<Memory>(wave, inversion));
        } catch (const fwi::CoreDoesNotFit&) {
          const auto streamed = streamed_objective_like<Memory>(wave, inversion);
          if (!streamed) throw;
          refuse_device_arrays(wave);
          m_objective->release();
          disown(m_objective);
          m_plan = {};
          prepare(streamed);
        }
      });
    });
  }
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  ~Objective() { disown(m_objective); }

  std::size_t variables() const { return m_variables; }
  const ObjectivePlan& plan() const { return m_plan; }
  nb::object bounds() {
    auto [lower, first] = make_array<double>({m_variables});
    auto [upper, second] = make_array<double>({m_variables});
    run(nb::none(), [&, low = lower, high = upper](Job&) { m_objective->bounds(low, high); });
    return nb::make_tuple(first, second);
  }
  nb::object evaluate(const Input& x, const nb::object& progress) {
    auto [gradient, array] = make_array<double>({m_variables});
    double misfit = 0.0;
    run(progress, [&, out = gradient](Job& job) {
      misfit = m_objective->evaluate(job, static_cast<const double*>(x.data()), out);
    });
    return nb::make_tuple(misfit, array);
  }
  void values(const Input& x, int parameter, const Output& out) {
    run(nb::none(), [&](Job&) {
      m_objective->values(static_cast<const double*>(x.data()),
                          static_cast<wave::Parameter>(parameter), out.data());
    });
  }
  // Samples of a shot, receivers x time steps, in one axis.
  nb::object modelled(const Input& x, std::size_t k, const nb::object& progress) {
    std::vector<float> samples;
    run(progress, [&](Job& job) {
      samples = m_objective->modelled(job, static_cast<const double*>(x.data()), k);
    });
    auto [data, array] = make_array<float>({samples.size()});
    std::copy(samples.begin(), samples.end(), data);
    return nb::cast(array);
  }
  void illumination(const Output& out) {
    run(nb::none(), [&](Job&) { m_objective->illumination(out.data()); });
  }
  void set_band(double corner) {
    run(nb::none(), [&](Job&) { m_objective->set_band(corner); });
  }
  std::string take_note() {
    std::string note;
    run(nb::none(), [&](Job&) { note.swap(m_objective->note); });
    return note;
  }
  Search* search(const std::vector<double>& bands, std::int64_t iterations, int pairs,
                 double first_change, bool precondition, const std::string& checkpoint,
                 const std::string& made_from) {
    fwi::BandSearchOptions options;
    options.bands = bands;
    options.iterations = iterations;
    options.memory = pairs;
    options.first_change = first_change;
    options.precondition = precondition;
    options.names = {{"data", "gathers"}};
    return new Search(m_objective, m_variables, options, {checkpoint, made_from});
  }
  void close() {
    run(nb::none(), [&](Job&) { m_objective->release(); });
  }

 private:
  std::size_t m_variables;
  ObjectivePlan m_plan;
  std::shared_ptr<AnyObjective> m_objective;
};

// Makes an objective from the arguments of the package: fields in the order of wave::Parameter,
// gathers as traces, sources, receivers, intervals and starts, bounds as pairs, sizes of the
// stream.
Objective* make_objective(
    const std::vector<OptionalField>& fields, const std::vector<double>& spacing,
    const std::vector<double>& origin, const std::string& wavelet, const OptionalInput& samples,
    double wavelet_interval, const std::string& faces, bool free_surface,
    const std::vector<double>& times, int order, const std::string& equations, double sigma,
    std::optional<double> source_taper, std::size_t memory, const std::vector<Input>& traces,
    const std::vector<Input>& sources, const std::vector<Input>& receivers,
    const std::vector<double>& intervals, const std::vector<double>& starts,
    const std::vector<int>& parameters, const std::vector<double>& bounds, bool logarithmic,
    const std::string& misfit, double huber, const std::string& offset_weights,
    const std::string& mute, const std::string& zero, const std::string& source_field,
    const std::vector<double>& bands, const OptionalInput& mask, int concurrent_shots,
    const std::vector<std::int64_t>& sizes, std::int64_t gradient_steps, const std::string& space,
    const nb::object& progress) {
  InversionInput inversion;
  for (const int parameter : parameters) {
    inversion.parameters.push_back(static_cast<wave::Parameter>(parameter));
  }
  for (std::size_t k = 0; k + 1 < bounds.size(); k += 2) {
    inversion.bounds.push_back({bounds[k], bounds[k + 1]});
  }
  inversion.logarithmic = logarithmic;
  inversion.misfit = {fwi::parse_misfit(misfit), huber};
  if (!offset_weights.empty()) {
    inversion.offset_weights = fwi::parse_offset_weights(offset_weights);
  }
  inversion.mute = survey::parse_mute(mute);
  inversion.zero = survey::parse_wavelet_zero(zero);
  inversion.source_field = source_field_of(source_field);
  inversion.bands = bands;
  inversion.mask = mask;
  inversion.concurrent_shots = concurrent_shots;
  inversion.stream = stream_request(sizes);
  inversion.random = random_layers(sizes);
  inversion.product_interval = gradient_steps;
  return new Objective(make_wave_input(fields, spacing, origin, wavelet, samples, wavelet_interval,
                                       faces, free_surface, times, order, equations, sigma,
                                       std::nullopt, source_taper, memory),
                       make_gathers(traces, sources, receivers, intervals, starts), inversion,
                       space, progress);
}

}  // namespace

void bind_fwi(nb::module_& m) {
  nb::class_<ObjectivePlan>(m, "ObjectivePlan")
      .def_ro("dt", &ObjectivePlan::dt)
      .def_ro("frequency", &ObjectivePlan::frequency)
      .def_ro("steps", &ObjectivePlan::steps)
      .def_ro("concurrent_shots", &ObjectivePlan::concurrent_shots)
      .def_ro("streamed", &ObjectivePlan::streamed)
      .def_ro("notes", &ObjectivePlan::notes)
      .def_ro("medium", &ObjectivePlan::medium)
      .def_ro("source_field", &ObjectivePlan::source_field)
      .def_ro("stream", &ObjectivePlan::stream)
      .def_prop_ro("slabs", [](const ObjectivePlan& plan) { return slabs_of(plan.slabs); })
      .def_ro("bounds", &ObjectivePlan::bounds)
      .def_prop_ro("numbers", [](const ObjectivePlan& plan) { return dict_of(plan.numbers); });
  nb::class_<Search>(m, "Search")
      .def("advance", &Search::advance, nb::arg("progress").none())
      .def("best", &Search::best)
      .def("message", &Search::message);
  nb::class_<Objective>(m, "Objective")
      .def_prop_ro("variables", &Objective::variables)
      .def_prop_ro("plan", &Objective::plan)
      .def("bounds", &Objective::bounds)
      .def("evaluate", &Objective::evaluate, nb::arg("x").noconvert(), nb::arg("progress").none())
      .def("values", &Objective::values, nb::arg("x").noconvert(), nb::arg("parameter"),
           nb::arg("out").noconvert())
      .def("modelled", &Objective::modelled, nb::arg("x").noconvert(), nb::arg("k"),
           nb::arg("progress").none())
      .def("illumination", &Objective::illumination, nb::arg("out").noconvert())
      .def("set_band", &Objective::set_band, nb::arg("corner"))
      .def("take_note", &Objective::take_note)
      .def("search", &Objective::search, nb::arg("bands"), nb::arg("iterations"), nb::arg("pairs"),
           nb::arg("first_change"), nb::arg("precondition"), nb::arg("checkpoint"),
           nb::arg("made_from"), nb::rv_policy::take_ownership)
      .def("close", &Objective::close);
  m.def("make_objective", &make_objective, nb::arg("fields"), nb::arg("spacing"), nb::arg("origin"),
        nb::arg("wavelet"), nb::arg("samples").none(), nb::arg("wavelet_interval"),
        nb::arg("faces"), nb::arg("free_surface"), nb::arg("times"), nb::arg("order"),
        nb::arg("equations"), nb::arg("sigma"), nb::arg("source_taper").none(), nb::arg("memory"),
        nb::arg("traces"), nb::arg("sources"), nb::arg("receivers"), nb::arg("intervals"),
        nb::arg("starts"), nb::arg("parameters"), nb::arg("bounds"), nb::arg("logarithmic"),
        nb::arg("misfit"), nb::arg("huber"), nb::arg("offset_weights"), nb::arg("mute"),
        nb::arg("zero"), nb::arg("source_field"), nb::arg("bands"), nb::arg("mask").none(),
        nb::arg("concurrent_shots"), nb::arg("sizes"), nb::arg("gradient_steps"), nb::arg("space"),
        nb::arg("progress").none(), nb::rv_policy::take_ownership);
}

}  // namespace moho::python
