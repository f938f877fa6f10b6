// SPDX-License-Identifier: BSD-3-Clause
//
// Modelling of shots for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "wave_input.hpp"
#include "worker.hpp"

#include <moho/wave/modelling.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace moho::python {

namespace {

namespace nb = nanobind;

// What Shots shows of its plan.
struct ShotsPlan {
  double dt = 0.0, interval = 0.0, source_taper = 0.0, frequency = 0.0;
  std::int64_t steps = 0, samples = 0;
  std::size_t memory = 0;
  std::string medium, faces;
};

// Modelling in a precision and dimension. Its members are used on the worker.
class AnyModelling : public Resource {
 public:
  // Returns the number of samples, before traces are allocated.
  virtual void prepare(const WaveInput& given, ShotsPlan& plan) = 0;
  virtual void shot(Job& job, const Input& sources, const Input& receivers, void* traces) = 0;
};

template <class T, int Dim>
class ModellingOf : public AnyModelling {
 public:
  void release() override { m_modelling.reset(); }

  void prepare(const WaveInput& given, ShotsPlan& shown) override {
    const Grid<Dim> grid = grid_of<Dim>(given.fields.front().second, given.spacing, given.origin);
    const wave::ModellingOptions<Dim> options = modelling_of<Dim>(given);
    auto model = wave::borrow_model<T>(instance(), grid, values_of<T>(given));
    const wave::Boundaries<Dim> faces = faces_of<Dim>(given, model.medium());
    m_modelling.emplace(wave::make_modelling<T, Dim, Memory>(instance(), grid, std::move(model),
                                                             faces, wavelet_of(given), options));
    const wave::ModellingPlan<Dim>& plan = m_modelling->plan();
    shown = {plan.time.dt,
             plan.time.interval,
             plan.source_taper,
             plan.frequency,
             plan.time.steps,
             plan.time.samples,
             plan.memory.most,
             wave::info(plan.medium).name,
             wave::boundaries_string(plan.faces)};
  }

  void shot(Job& job, const Input& sources, const Input& receivers, void* traces) override {
    if (!m_modelling) {
      throw InputError("shots: close() was called (allowed: before): make another moho.Shots");
    }
    const wave::Shot<Dim> shot{0, points_of<Dim>(sources), points_of<Dim>(receivers)};
    m_modelling->check(instance(), {shot});
    auto options = m_modelling->shot_options();
    options.progress = [&](const wave::ShotProgress& now) {
      job.report(static_cast<double>(now.step) / static_cast<double>(now.steps), "stepping");
    };
    const auto result = m_modelling->shot(instance(), shot, options);
    std::copy_n(result.traces.data(), result.traces.size(), static_cast<T*>(traces));
  }

 private:
  static Exec instance() { return Kokkos::DefaultHostExecutionSpace(); }

  std::optional<wave::Modelling<T, Dim, Memory>> m_modelling;
};

// Shots over one model.
class Shots {
 public:
  Shots(const WaveInput& given, const nb::object& progress)
      : m_double(given.fields.front().second.dtype() == nb::dtype<double>()) {
    const Input& vp = given.fields.front().second;
    m_modelling = with_kind(vp.dtype(), vp.ndim(), [](auto kind) -> std::shared_ptr<AnyModelling> {
      using T = typename decltype(kind)::Scalar;
#ifdef MOHO_SINGLE_KERNELS
      if constexpr (std::is_same_v<T, double>) {
        throw InputError(
            "vp: it is float64 (allowed in this build, which has MOHO_SINGLE_WAVES: float32): "
            "convert it with astype");
      } else
#endif
        return std::make_shared<ModellingOf<T, decltype(kind)::dim>>();
    });
    run(progress, [&](Job&) {
      own(m_modelling);
      m_modelling->prepare(given, m_plan);
    });
  }
  Shots(const Shots&) = delete;
  Shots& operator=(const Shots&) = delete;
  ~Shots() { disown(m_modelling); }

  const ShotsPlan& plan() const { return m_plan; }

  nb::object shot(const Input& sources, const Input& receivers, const nb::object& progress) {
    return m_double ? shot_in<double>(sources, receivers, progress)
                    : shot_in<float>(sources, receivers, progress);
  }
  void close() {
    run(nb::none(), [&](Job&) { m_modelling->release(); });
  }

 private:
  template <class T>
  nb::object shot_in(const Input& sources, const Input& receivers, const nb::object& progress) {
    auto [traces, array] =
        make_array<T>({receivers.shape(0), static_cast<std::size_t>(m_plan.samples)});
    run(progress,
        [&, data = traces](Job& job) { m_modelling->shot(job, sources, receivers, data); });
    return nb::cast(array);
  }

  bool m_double;
  ShotsPlan m_plan;
  std::shared_ptr<AnyModelling> m_modelling;
};

// Makes shots from the arguments of the package: fields in the order of wave::Parameter.
Shots* make_shots(const std::vector<OptionalInput>& fields, const std::vector<double>& spacing,
                  const std::vector<double>& origin, const std::string& wavelet,
                  const OptionalInput& samples, double wavelet_interval, const std::string& faces,
                  bool free_surface, const std::vector<double>& times, int order,
                  const std::string& equations, double sigma, const OptionalInput& sources,
                  std::optional<double> source_taper, std::size_t memory,
                  const nb::object& progress) {
  return new Shots(
      make_wave_input(fields, spacing, origin, wavelet, samples, wavelet_interval, faces,
                      free_surface, times, order, equations, sigma, sources, source_taper, memory),
      progress);
}

}  // namespace

void bind_wave(nb::module_& m) {
  nb::class_<ShotsPlan>(m, "ShotsPlan")
      .def_ro("dt", &ShotsPlan::dt)
      .def_ro("interval", &ShotsPlan::interval)
      .def_ro("source_taper", &ShotsPlan::source_taper)
      .def_ro("frequency", &ShotsPlan::frequency)
      .def_ro("steps", &ShotsPlan::steps)
      .def_ro("samples", &ShotsPlan::samples)
      .def_ro("memory", &ShotsPlan::memory)
      .def_ro("medium", &ShotsPlan::medium)
      .def_ro("faces", &ShotsPlan::faces);
  nb::class_<Shots>(m, "Shots")
      .def_prop_ro("plan", &Shots::plan)
      .def("shot", &Shots::shot, nb::arg("sources").noconvert(), nb::arg("receivers").noconvert(),
           nb::arg("progress").none())
      .def("close", &Shots::close);
  m.def("make_shots", &make_shots, nb::arg("fields"), nb::arg("spacing"), nb::arg("origin"),
        nb::arg("wavelet"), nb::arg("samples").none(), nb::arg("wavelet_interval"),
        nb::arg("faces"), nb::arg("free_surface"), nb::arg("times"), nb::arg("order"),
        nb::arg("equations"), nb::arg("sigma"), nb::arg("sources").none(),
        nb::arg("source_taper").none(), nb::arg("memory"), nb::arg("progress").none(),
        nb::rv_policy::take_ownership);
}

}  // namespace moho::python
