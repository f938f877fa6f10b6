// SPDX-License-Identifier: BSD-3-Clause
//
// Shots that stream through the memory of a device, for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "device.hpp"
#include "modelling.hpp"
#include "slab_plan.hpp"
#include "streamed_shots.hpp"

#include <moho/core/space.hpp>
#include <moho/stream/device_count.hpp>
#include <moho/stream/survey.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

// Shots that stream through the memory of a device; their traces are of the type of vp.
struct StreamedSurvey {
  WaveInput model;
  std::vector<Input> sources, receivers;  // of each shot
  stream::StreamRequest wishes;           // devices 0: automatic
  std::string file;
  bool slabs = false;  // true: each device holds a slab of the grid

  template <class T, int Dim, class Memory>
  nb::object compute(const nb::object& progress) const {
    Found<T, Dim> found;
    found.traces.resize(sources.size());
    run(progress, [&](Job& job) { compute_traces<T, Dim, Memory>(job, found); });
    nb::list result;
    for (std::size_t k = 0; k < found.traces.size(); ++k) {
      const std::size_t count = receivers[k].shape(0);
      const std::size_t samples = count == 0 ? 0 : found.traces[k].size() / count;
      result.append(copy_of(found.traces[k], {count, samples}));
    }
    const wave::TimePlan& time = found.plan.time;
    nb::object snapshots = nb::none();
    if (!found.snapshots.empty()) {
      const AnyInput& vp = model.fields.front().second;
      std::vector<std::size_t> shape{static_cast<std::size_t>(snapshot_count(time))};
      for (std::size_t d = 0; d < vp.ndim(); ++d) shape.push_back(vp.shape(d));
      snapshots = to_numpy(std::move(found.snapshots), shape);
    }
    return nb::make_tuple(result, found.interval, time.dt, time.snapshot_every, snapshots,
                          domains_of(found.steps.domains), found.steps.stepped);
  }

 private:
  // Results of compute_traces().
  template <class T, int Dim>
  struct Found {
    std::vector<std::vector<T>> traces;
    double interval = 0.0;
    wave::ModellingPlan<Dim> plan;
    std::vector<T> snapshots;
    ShotSteps steps;
  };

  // Adds snapshots to the options of a survey.
  template <class T, int Dim>
  void add_snapshots(stream::StreamSurveyOptions<T, Dim>& options, StreamedSteps<T, Dim>& taken,
                     Found<T, Dim>& found, const Grid<Dim>& grid) const {
    const bool snapshots = model.time.snapshot_every.value_or(0.0) > 0.0;
    if (snapshots && !options.streaming.divided) {
      throw InputError(
          "snapshot_every was given without slabs (allowed: slabs=True with several devices): the "
          "planes of a stream are at different times, take moho.Shots");
    }
    options.streaming.snapshots = snapshots;
    options.planned = [&found, grid, snapshots](const stream::StreamSurveyReport<Dim>& report) {
      found.plan = report.modelling;
      if (!snapshots) return;
      check_snapshots(grid, sizeof(T), found.plan.time, 0, 0);
      found.snapshots.resize(
          static_cast<std::size_t>(snapshot_count(found.plan.time) * grid.size()));
      found.steps.snapshots = found.snapshots.data();
    };
    if (snapshots) taken.take_snapshots();
  }

  template <class T, int Dim, class Memory>
  void compute_traces(Job& job, Found<T, Dim>& found) const {
    const auto host = instance_in<Kokkos::HostSpace>();
    const Grid<Dim> grid = grid_of<Dim>(model.fields.front().second, model.spacing, model.origin);
    auto values = model_in<T, Dim, Kokkos::HostSpace>(host, grid, model, true);
    const wave::Boundaries<Dim> faces = faces_of<Dim>(model, values.medium());
    const std::vector<wave::Shot<Dim>> shots = shots_at<Dim>(sources, receivers);
    stream::StreamSurveyOptions<T, Dim> options;
    options.streaming.modelling = modelling_of<Dim>(model);
    options.streaming.wishes = wishes;
    options.streaming.divided = slabs;
    if (wishes.devices == 0 && stream::device_count(instance_in<Memory>()) == 1) {
      options.streaming.wishes.devices = 1;
      options.streaming.divided = false;
    }
    const int devices = options.streaming.wishes.devices;
    // hosts have no separate memory: a given one is that of the rings
    options.streaming.in_core =
        file.empty() && devices == 1 && (!is_host_memory<Memory> || wishes.device_memory == 0);
    if (is_host_memory<Memory> && !options.streaming.in_core && !options.streaming.divided &&
        wishes.device_memory == 0) {
      options.streaming.wishes.device_memory = memory_budget(host, 0) / 2;
    }
    options.streaming.file = file;
    StreamedSteps<T, Dim> taken(found.steps, options);
    taken.report(job, shots.size());
    add_snapshots(options, taken, found, grid);
    taken.expand(model.expand, model.domain, host, grid, values);
    stream::model_shots<T, Dim, Memory>(
        instance_in<Memory>(), grid, std::move(values), faces, wavelet_of(model), shots,
        [&](std::size_t k, const stream::StreamShotResult<T>& result) {
          found.interval = result.interval;
          found.traces[k].assign(result.traces.data(), result.traces.data() + result.traces.size());
          taken.take(k, result, found.plan);
        },
        options);
  }
};

// Models shots in a stream. Returns a list of traces, the interval of their samples, the time step,
// the steps between snapshots, snapshots of the first shot if taken, their domains, and fractions
// of nodes stepped.
nb::object stream_shots(const std::vector<OptionalField>& fields,
                        const std::vector<double>& spacing, const std::vector<double>& origin,
                        const std::string& wavelet, const OptionalInput& samples,
                        double wavelet_interval, const std::string& faces, bool free_surface,
                        const std::vector<double>& times, int order, const std::string& equations,
                        double sigma, int parameters, std::optional<double> source_taper,
                        const std::vector<Input>& sources, const std::vector<Input>& receivers,
                        const std::vector<std::int64_t>& sizes, bool slabs, const std::string& file,
                        double snapshot_every, const std::string& expand, int expand_coarsening,
                        std::uint64_t seed, const std::string& space, const nb::object& progress) {
  StreamedSurvey survey{
      make_wave_input(fields, spacing, origin, wavelet, samples, wavelet_interval, faces,
                      free_surface, times, order, equations, sigma, {}, source_taper, 0),
      sources,
      receivers,
      stream_request(sizes),
      file,
      slabs};
  survey.model.parameters = parameter_storage(parameters);
  domain::DomainOptions domain;
  domain.coarsening = expand_coarsening;
  set_snapshots_and_domains(survey.model, snapshot_every, expand, domain, seed);
  survey.wishes.groups = static_cast<int>(sizes.at(4));
  survey.wishes.lag = sizes.at(5);
  survey.wishes.shots = static_cast<std::int64_t>(sources.size());
  const AnyInput& vp = survey.model.fields.front().second;
  return with_memory(space, [&](auto memory) {
    using Memory = typename decltype(memory)::type;
    return with_kind(vp.dtype(), vp.ndim(), [&](auto kind) -> nb::object {
      using T = typename decltype(kind)::Scalar;
      refuse_missing_kernels<T>();
      if constexpr (has_wave_kernels<T>) {
        return survey.compute<T, decltype(kind)::dim, Memory>(progress);
      } else {
        return nb::none();
      }
    });
  });
}

}  // namespace

void bind_stream(nb::module_& m) {
  m.def("stream_shots", &stream_shots, nb::arg("fields"), nb::arg("spacing"), nb::arg("origin"),
        nb::arg("wavelet"), nb::arg("samples").none(), nb::arg("wavelet_interval"),
        nb::arg("faces"), nb::arg("free_surface"), nb::arg("times"), nb::arg("order"),
        nb::arg("equations"), nb::arg("sigma"), nb::arg("parameters"),
        nb::arg("source_taper").none(), nb::arg("sources"), nb::arg("receivers"), nb::arg("sizes"),
        nb::arg("slabs"), nb::arg("file"), nb::arg("snapshot_every"), nb::arg("expand"),
        nb::arg("expand_coarsening"), nb::arg("seed"), nb::arg("space"),
        nb::arg("progress").none());
}

}  // namespace moho::python
