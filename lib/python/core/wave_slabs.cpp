// SPDX-License-Identifier: BSD-3-Clause
//
// Modelling of shots in slabs of the grid on several devices, for the Python package.

#include "device.hpp"
#include "modelling.hpp"
#include "streamed_shots.hpp"

#include <moho/core/space.hpp>
#include <moho/stream/survey.hpp>
#include <moho/wave/modelling.hpp>
#include <moho/wave/source_region.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

// Each call plans and fills the slabs again; the model stays on the host.
template <class T, int Dim, class Memory>
class SlabModellingOf : public AnyModelling {
  using Host = Kokkos::HostSpace;

 public:
  explicit SlabModellingOf(int devices) : m_devices(devices) {}

  void release() override { m_model.reset(); }

  void prepare(const WaveInput& given, ShotsPlan& shown) override {
    m_grid = grid_of<Dim>(given.fields.front().second, given.spacing, given.origin);
    m_model.emplace(host_model(given));
    m_faces = faces_of<Dim>(given, m_model->medium());
    m_wavelet = wavelet_of(given);
    m_modelling = modelling_of<Dim>(given);
    m_around = m_modelling.sources;
    m_memory = given.memory;
    m_expand = given.expand;
    m_domain = given.domain;
    // devices are checked with the slabs
    if (!is_host_memory<Memory>) m_modelling.memory = std::numeric_limits<std::size_t>::max();
    const wave::ModellingPlan<Dim> plan = wave::plan_modelling<T, Dim, Host>(
        host(), m_grid, *m_model, m_faces, m_wavelet, m_modelling);
    m_modelling.memory = 0;
    taper(plan.source_taper);
    shown = shots_plan(plan, given.order);
    check_snapshots(m_grid, sizeof(T), plan.time, is_host_memory<Memory> ? given.memory : 0,
                    plan.memory.peak);
    add_slabs(shown);
  }

  void shot(Job& job, const Input& sources, const Input& receivers, const TraceTarget& traces,
            ShotSteps& steps) override {
    survey(job, {sources}, {receivers}, {traces}, steps);
  }

  void survey(Job& job, const std::vector<Input>& sources, const std::vector<Input>& receivers,
              const std::vector<TraceTarget>& traces, ShotSteps& steps) override {
    const auto& model = opened();
    const std::vector<wave::Shot<Dim>> shots = shots_at<Dim>(sources, receivers);
    stream::StreamSurveyOptions<T, Dim> options = options_of();
    StreamedSteps<T, Dim> taken(steps, options);
    wave::ModellingPlan<Dim> plan;
    options.planned = [&](const stream::StreamSurveyReport<Dim>& report) {
      plan = report.modelling;
    };
    options.streaming.snapshots = steps.snapshots != nullptr;
    if (steps.snapshots != nullptr) taken.take_snapshots();
    taken.expand(m_expand, m_domain, instance_in<Memory>(), m_grid, model);
    taken.report(job, shots.size());
    stream::model_shots<T, Dim, Memory>(
        instance_in<Memory>(), m_grid, model, m_faces, m_wavelet, shots,
        [&](std::size_t k, const stream::StreamShotResult<T>& result) {
          std::copy_n(result.traces.data(), result.traces.size(), static_cast<T*>(traces[k].data));
          taken.take(k, result, plan);
        },
        options);
  }

  void update(const WaveInput& given) override {
    opened();
    const wave::Model<T, Dim, Host> before = *m_model;
    m_model.emplace(host_model(given));
    try {
      // the time step stays the same
      m_modelling.time.dt = m_plan.dt;
      m_modelling.time.interval = m_plan.interval;
      wave::plan_modelling<T, Dim, Host>(host(), m_grid, *m_model, m_faces, m_wavelet, m_modelling);
    } catch (...) {
      m_model.emplace(before);
      throw;
    }
    taper(m_plan.source_taper);
  }

  std::shared_ptr<Resource> shot_for_gradient(Job&, const Input&, const Input&, const TraceTarget&,
                                              const std::vector<bool>&) override {
    return nullptr;
  }
  void gradient(Job&, const WaveInput&, const Input&, const Input&, const AnyInput&,
                const std::vector<TraceTarget>&, Resource*) override {
    throw InputError(
        "devices: gradients of shots are for one device (allowed: devices 1, or moho.Objective, "
        "whose gradients several devices share)");
  }

 private:
  static Instance<Host> host() { return instance_in<Host>(); }
  wave::Model<T, Dim, Host> host_model(const WaveInput& given) const {
    return model_in<T, Dim, Host>(host(), m_grid, given, false);
  }
  const wave::Model<T, Dim, Host>& opened() const {
    if (m_model) return *m_model;
    throw shots_are_closed();
  }
  // Tapers delta around the given sources, as one device does, and not around those of calls.
  void taper(double radius) {
    if (radius > 0.0 && !m_around.empty()) {
      m_model->delta = wave::taper_delta<T, Dim, Host>(host(), m_grid, *m_model, m_around, radius);
    }
  }
  stream::StreamSurveyOptions<T, Dim> options_of() const {
    stream::StreamSurveyOptions<T, Dim> options;
    options.streaming.modelling = m_modelling;
    options.streaming.modelling.sources = {};
    options.streaming.modelling.source_taper = 0.0;
    options.streaming.modelling.concurrent_shots = 1;
    options.streaming.wishes.devices = m_devices;
    if (!is_host_memory<Memory>) options.streaming.wishes.device_memory = m_memory;
    options.streaming.divided = true;
    return options;
  }
  // Plans slabs for a shot without receivers.
  void add_slabs(ShotsPlan& shown) {
    m_plan = shown;
    const stream::StreamSurveyOptions<T, Dim> options = options_of();
    const stream::Streaming<T, Dim, Memory> slabs(instance_in<Memory>(), m_grid, *m_model, m_faces,
                                                  m_wavelet, {}, options.streaming);
    m_devices = slabs.plan().shape.devices;
    shown.slabs.planes = slabs.plan().slab_planes;
    shown.slabs.bytes.assign(shown.slabs.planes.size(),
                             static_cast<std::int64_t>(slabs.plan().device_bytes));
  }

  int m_devices;
  std::optional<wave::Model<T, Dim, Host>> m_model;
  Grid<Dim> m_grid;
  wave::Boundaries<Dim> m_faces;
  wave::WaveletAt m_wavelet;
  wave::ModellingOptions<Dim> m_modelling;
  Points<Dim> m_around;  // sources around which delta is tapered
  std::size_t m_memory = 0;
  domain::ExpansionMethod m_expand = domain::ExpansionMethod::none;
  domain::DomainOptions m_domain;
  ShotsPlan m_plan;
};

}  // namespace

std::shared_ptr<AnyModelling> make_slab_modelling(const AnyInput& vp, const std::string& space,
                                                  int devices) {
  return with_memory(space, [&](auto memory) {
    using Space = typename decltype(memory)::type;
    return with_kind(vp.dtype(), vp.ndim(), [&](auto kind) -> std::shared_ptr<AnyModelling> {
      using T = typename decltype(kind)::Scalar;
      refuse_missing_kernels<T>();
      if constexpr (has_wave_kernels<T>) {
        return std::make_shared<SlabModellingOf<T, decltype(kind)::dim, Space>>(devices);
      } else {
        return nullptr;
      }
    });
  });
}

}  // namespace moho::python
