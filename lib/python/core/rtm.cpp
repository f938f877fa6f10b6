// SPDX-License-Identifier: BSD-3-Clause
//
// Reverse-time migration of surveys for the Python package.

#include "bindings.hpp"
#include "checkpoint.hpp"
#include "device.hpp"
#include "plan_numbers.hpp"
#include "slab_plan.hpp"
#include "survey_input.hpp"
#include "wave_input.hpp"
#include "worker.hpp"

#include <moho/core/timer.hpp>
#include <moho/rtm/array_sums.hpp>
#include <moho/rtm/migration.hpp>
#include <moho/rtm/offsets_at.hpp>
#include <moho/rtm/shot_arrays.hpp>
#include <moho/survey/record_times.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

// Options of Migration besides the model and the shots.
struct ImagingInput {
  std::string expand, mute, spreading, zero;
  bool complete_receivers = false, normalise = false;
  std::vector<double> aperture, columns;
  double half_offset = 0.0;
  snapshot::StorageOptions storage;
  stream::StreamRequest stream;  // device_memory, devices (0: automatic), block, updates
  RandomLayers random;
  int concurrent_shots = 0;
  Checkpoint checkpoint;  // file of the sums
};

// What Migration shows of its plan, and of its offset gathers.
struct MigrationPlan {
  double dt = 0.0, frequency = 0.0, offset_step = 0.0;
  std::int64_t steps = 0, snapshot_steps = 0, half_offsets = 0;
  int concurrent_shots = 1;
  std::size_t memory = 0;
  std::string medium, storage, text;
  stream::SlabPlan slabs;
  bool streamed = false;
  PlanNumbers numbers;
};

// The numbers of a plan that moho.Plan has.
template <int Dim>
PlanNumbers numbers_of(const rtm::MigrationPlan<Dim>& plan, int order) {
  const snapshot::StoragePlan& storage = plan.storage;
  return {{"medium", std::string(wave::info(plan.medium).name)},
          {"nodes", nodes_of<Dim>(plan.extents)},
          {"order", whole_number(order)},
          {"dt", plan.time.dt},
          {"largest_dt", plan.limits.largest_dt},
          {"steps", plan.time.steps},
          {"frequency", plan.frequency},
          {"peak_time", plan.peak_time},
          {"nodes_per_wave", plan.nodes_per_wave},
          {"storage", storage.strategy.name},
          {"storage_reason", storage.strategy.reason},
          {"snapshot_steps", storage.interval},
          {"snapshots", whole_number(storage.snapshots)},
          {"snapshot_bytes", whole_number(storage.strategy.bytes)},
          {"concurrent_shots", whole_number(plan.concurrent_shots)},
          {"batch_size", whole_number(plan.batch_size)},
          {"stream", plan.stream},
          {"memory", whole_number(plan.memory.peak)},
          {"shots", whole_number(plan.shots)},
          {"seconds", plan.seconds}};
}

// A migration in a precision and dimension. Its members are used on the worker.
class AnyMigration : public Resource {
 public:
  virtual void prepare(const WaveInput& wave, const std::vector<GatherInput>& gathers,
                       const ImagingInput& imaging, MigrationPlan& plan) = 0;
  virtual void add(Job& job, const std::vector<GatherInput>& gathers) = 0;
  virtual std::vector<std::int64_t> added() = 0;  // numbers of shots
  virtual void image(const std::string& condition, double level, void* out) = 0;
  // Sum of a part: 0 image, 1 source and 2 receiver illumination.
  virtual void part(std::size_t part, void* out) = 0;
  // Columns x half offsets x depths.
  virtual std::vector<double> offset_gathers() = 0;
};

template <class T, int Dim, class Memory>
class MigrationOf : public AnyMigration {
 public:
  void release() override {
    m_migration.reset();
    m_sums.close();
  }

  void prepare(const WaveInput& wave, const std::vector<GatherInput>& gathers,
               const ImagingInput& imaging, MigrationPlan& shown) override {
    const Grid<Dim> grid = grid_of<Dim>(wave.fields.front().second, wave.spacing, wave.origin);
    const rtm::HostModel<T, Dim> model = host_model(grid, wave);
    const rtm::MigrationOptions<Dim> options = options_of(wave, grid, imaging);
    m_grid = grid;
    m_offsets = options.offsets;
    m_sums = rtm::ArraySums(static_cast<double>(memory_budget(host(), 0)));
    m_complete = options.complete_receivers || options.domain == domain::ExpansionMethod::none;
    m_migration.emplace(
        instance(),
        rtm::MigrationInput<T, Dim>{grid, model, std::nullopt, faces_of<Dim>(wave, model.medium()),
                                    wavelet_of(wave), shots_of<Dim>(gathers), options});
    const rtm::MigrationPlan<Dim>& plan = m_migration->plan();
    shown.dt = plan.time.dt;
    shown.frequency = plan.frequency;
    shown.steps = plan.time.steps;
    shown.snapshot_steps = plan.storage.interval;
    shown.concurrent_shots = plan.concurrent_shots;
    shown.memory = plan.memory.peak;
    shown.medium = wave::info(plan.medium).name;
    shown.storage = plan.storage.strategy.name;
    shown.text = plan.text();
    shown.slabs = plan.slabs;
    shown.streamed = !plan.stream.empty();
    shown.half_offsets = options.offsets.count();
    m_checkpoint = imaging.checkpoint;
    if (m_checkpoint.exists()) resume();
    shown.numbers = numbers_of(plan, wave.order);
    shown.offset_step = static_cast<double>(options.offsets.offset_step) * grid.spacing[0];
  }

  void add(Job& job, const std::vector<GatherInput>& gathers) override {
    auto& one = migration();
    for (const GatherInput& gather : gathers) {
      if (one.partial().shots().count(gather.number) > 0) {
        throw InputError(concat("gathers: shot ", gather.number,
                                " of the survey was added before (allowed: each shot once)"));
      }
    }
    m_job = &job;
    m_done = 0.0;
    m_count = static_cast<double>(gathers.size());
    const Reset reset{m_job};
    const Saver saver(*this);
    std::size_t k = 0;
    one.migrate_each(
        [&]() {
          return k < gathers.size()
                     ? std::optional<std::size_t>(static_cast<std::size_t>(gathers[k++].number - 1))
                     : std::nullopt;
        },
        [&](std::size_t position) {
          const auto found =
              std::find_if(gathers.begin(), gathers.end(), [&](const GatherInput& gather) {
                return gather.number == static_cast<std::int64_t>(position) + 1;
              });
          return gather_of<Dim>(*found, concat("gathers[", found - gathers.begin(), "]"));
        },
        [&](std::size_t, rtm::ShotImage<T, Dim>&& image) {
          take(image);
          m_done += 1.0;
          if (m_since_save.seconds() > std::max(10.0, 20.0 * m_save_seconds)) save();
        });
    if (m_unsaved) save();
  }

  std::vector<std::int64_t> added() override {
    const std::set<std::int64_t>& shots = migration().partial().shots();
    return {shots.begin(), shots.end()};
  }

  void image(const std::string& condition, double level, void* out) override {
    if (condition == "zero-lag") {
      finish(rtm::ZeroLag{}, out);
    } else if (condition == "source") {
      finish(rtm::SourceNormalised{level}, out);
    } else if (condition == "receiver") {
      if (!m_complete) {
        throw InputError(
            "condition receiver: the receiver illumination lacks nodes that expand leaves out "
            "(allowed: expand none, or complete_receivers): set complete_receivers");
      }
      finish(rtm::ReceiverNormalised{level}, out);
    } else if (condition == "laplacian") {
      finish(rtm::LaplacianNormalised{level}, out);
    } else {
      finish(rtm::InverseScattering{}, out);
    }
  }

  void part(std::size_t part, void* out) override { give(sum(static_cast<int>(part)), out); }

  std::vector<double> offset_gathers() override {
    auto& one = migration();
    if (gather_size() == 0) return {};
    if (m_sums.closed() || m_sums.shots().empty()) return one.offset_gathers();
    return m_sums.template part<double>(host(), "offsets", 0);
  }

 private:
  struct Reset {
    Job*& job;
    ~Reset() { job = nullptr; }
  };

  // Saves the shots that were complete before an exception.
  class Saver {
   public:
    explicit Saver(MigrationOf& of) : m_of(of) {}
    Saver(const Saver&) = delete;
    Saver& operator=(const Saver&) = delete;
    ~Saver() {
      if (std::uncaught_exceptions() == m_before || !m_of.m_unsaved) return;
      try {
        m_of.save();
      } catch (...) {  // the first exception says why the call ended
      }
    }

   private:
    MigrationOf& m_of;
    int m_before = std::uncaught_exceptions();
  };

  static Instance<Memory> instance() { return instance_in<Memory>(); }
  static Exec host() { return instance_in<Kokkos::HostSpace>(); }
  // Writes the sums to the checkpoint, if one was given.
  void save() {
    m_unsaved = false;
    if (m_checkpoint.path.empty()) return;
    const Stopwatch watch;
    write_sums(m_checkpoint, {m_sums.pack(), migration().partial().pack()});
    m_save_seconds = watch.seconds();
    m_since_save = {};
  }
  // Takes the sums of the checkpoint.
  void resume() {
    const MigrationSums sums = read_sums(m_checkpoint);
    try {
      rtm::PartialImage<T, Dim> image(m_grid, rtm::shot_parts, m_offsets);
      image.merge(host(), sums.image);
      m_sums.merge(host(), sums.arrays);
      m_migration->merge(image);
    } catch (const InputError&) {
      refuse_damaged_sums(m_checkpoint.path);
    }
  }
  // The model on the host; copied from arrays in device memory.
  static rtm::HostModel<T, Dim> host_model(const Grid<Dim>& grid, const WaveInput& wave) {
    if constexpr (!is_host_memory<Memory>) {
      for (const auto& [parameter, field] : wave.fields) {
        if (!on_device(field)) continue;
        return wave::download_model<T, Dim, Memory>(
            instance(), grid, model_in<T, Dim, Memory>(instance(), grid, wave, true));
      }
    }
    return model_in<T, Dim, Kokkos::HostSpace>(host(), grid, wave, false);
  }
  rtm::MigrationOptions<Dim> options_of(const WaveInput& wave, const Grid<Dim>& grid,
                                        const ImagingInput& imaging) {
    rtm::MigrationOptions<Dim> options;
    options.modelling = modelling_of<Dim>(wave);
    options.domain = domain::parse_expansion(imaging.expand);
    options.complete_receivers = imaging.complete_receivers;
    options.aperture = {imaging.aperture,
                        imaging.aperture.empty() ? 0.0 : 0.25 * imaging.aperture.front()};
    options.data.zero = survey::parse_wavelet_zero(imaging.zero);
    options.data.mute = survey::parse_mute(imaging.mute);
    options.data.spreading = survey::parse_spreading(imaging.spreading);
    options.data.normalise = imaging.normalise;
    options.storage = imaging.storage;
    options.storage.random_width = imaging.random.width;
    options.modelling.seed = imaging.random.seed;
    options.stream = imaging.stream;
    std::size_t& limit = options.stream.device_memory;
    options.modelling.memory = options.storage.device = limit > 0 ? limit : wave.memory;
    if (!is_host_memory<Memory>) {
      limit = options.storage.device;
    } else if (wave.memory > 0) {
      options.storage.device = wave.memory;
      // all devices of a host share its memory
      const int devices = options.stream.devices;
      if (limit == 0 && devices > 1) limit = wave.memory / static_cast<std::size_t>(devices);
    }
    options.offsets = rtm::offsets_at(grid, imaging.columns, imaging.half_offset);
    options.concurrent_shots = imaging.concurrent_shots;
    options.progress = [this](const rtm::MigrationProgress& now) {
      if (m_job == nullptr) return;
      m_job->report(std::min(shots_of_call(now) / m_count, 1.0),
                    concat("shot ", now.shot + 1, now.backward ? ", back" : ", forward"));
    };
    return options;
  }
  // Shots that a call has migrated, with fractions of the running ones.
  double shots_of_call(const rtm::MigrationProgress& now) const {
    if (now.concurrent_shots > 1) return now.shots_done;
    return m_done + now.shots_done - static_cast<double>(now.shot);
  }
  rtm::Migration<T, Dim, Memory>& migration() {
    if (m_migration) return *m_migration;
    throw InputError(
        "migration: close() was called (allowed: before): make another moho.Migration");
  }
  std::size_t gather_size() const {
    return m_offsets.columns.size() *
           static_cast<std::size_t>(m_offsets.count() * m_grid.extents[Dim - 1]);
  }
  // Adds the arrays of a shot.
  void take(const rtm::ShotImage<T, Dim>& image) {
    m_migration->add(image);
    m_unsaved = true;
    if (m_sums.closed()) return;
    m_sums.add(host(), image.number, rtm::image_array(m_grid, image.window.box),
               image.values.data());
    if (gather_size() > 0) {
      m_sums.add(host(), image.number, rtm::gather_array(m_offsets, m_grid.extents[Dim - 1]),
                 rtm::all_columns(image, m_offsets).data());
    }
  }
  // The sums of the program, whose scales differ by 2^15 at most, or those of the library.
  rtm::HostField<T, Dim> sum(int part) {
    auto& one = migration();
    if (m_sums.closed() || m_sums.shots().empty()) {
      return one.partial().part(host(), static_cast<std::size_t>(part));
    }
    const auto field = make_field<T>(host(), m_grid, "moho::python::sum");
    const std::vector<T> values = m_sums.template part<T>(host(), "image", part);
    std::copy(values.begin(), values.end(), field.data());
    return field;
  }
  template <class Condition>
  void finish(const Condition& condition, void* out) {
    rtm::ImageParts<T, Dim> parts{m_grid, {}};
    for (int part = 0; part < rtm::shot_parts; ++part) parts.fields.push_back(sum(part));
    give(condition.finish(host(), parts), out);
  }
  static void give(const rtm::HostField<T, Dim>& field, void* out) {
    std::copy_n(field.data(), field.size(), static_cast<T*>(out));
  }

  std::optional<rtm::Migration<T, Dim, Memory>> m_migration;
  Grid<Dim> m_grid;
  rtm::OffsetOptions<Dim> m_offsets;
  bool m_complete = true;  // the receiver illumination
  rtm::ArraySums m_sums;   // with the bits of the program
  Job* m_job = nullptr;    // the present one
  double m_done = 0.0, m_count = 1.0;
  Checkpoint m_checkpoint;
  bool m_unsaved = false;  // shots that the checkpoint lacks
  Stopwatch m_since_save;
  double m_save_seconds = 0.0;
};

// Returns a migration in a memory for fields like vp.
template <class Memory>
std::shared_ptr<AnyMigration> migration_like(const AnyInput& vp) {
  return with_kind(vp.dtype(), vp.ndim(), [](auto kind) -> std::shared_ptr<AnyMigration> {
    using T = typename decltype(kind)::Scalar;
    refuse_missing_kernels<T>();
    if constexpr (has_wave_kernels<T>) {
      return std::make_shared<MigrationOf<T, decltype(kind)::dim, Memory>>();
    } else {
      return nullptr;
    }
  });
}

// The migration of a survey.
class Migration {
 public:
  Migration(const WaveInput& wave, const std::vector<GatherInput>& gathers,
            const ImagingInput& imaging, const std::string& space, const nb::object& progress) {
    const AnyInput& vp = wave.fields.front().second;
    m_migration = with_memory(
        space, [&](auto memory) { return migration_like<typename decltype(memory)::type>(vp); });
    run(progress, [&](Job&) {
      own(m_migration);
      m_migration->prepare(wave, gathers, imaging, m_plan);
    });
  }
  Migration(const Migration&) = delete;
  Migration& operator=(const Migration&) = delete;
  ~Migration() { disown(m_migration); }

  const MigrationPlan& plan() const { return m_plan; }
  void add(const std::vector<int>& numbers, const std::vector<Input>& traces,
           const std::vector<Input>& sources, const std::vector<Input>& receivers,
           const std::vector<double>& intervals, const std::vector<double>& starts,
           const nb::object& progress) {
    std::vector<GatherInput> gathers = make_gathers(traces, sources, receivers, intervals, starts);
    for (std::size_t k = 0; k < gathers.size(); ++k) gathers[k].number = numbers.at(k) + 1;
    run(progress, [&](Job& job) { m_migration->add(job, gathers); });
  }
  std::vector<std::int64_t> added() {
    std::vector<std::int64_t> numbers;
    run(nb::none(), [&](Job&) { numbers = m_migration->added(); });
    return numbers;
  }
  void image(const std::string& condition, double level, const Output& out) {
    run(nb::none(), [&](Job&) { m_migration->image(condition, level, out.data()); });
  }
  void part(std::size_t part, const Output& out) {
    run(nb::none(), [&](Job&) { m_migration->part(part, out.data()); });
  }
  nb::object offset_gathers() {
    std::vector<double> values;
    run(nb::none(), [&](Job&) { values = m_migration->offset_gathers(); });
    auto [data, array] = make_array<double>({values.size()});
    std::copy(values.begin(), values.end(), data);
    return nb::cast(array);
  }
  void close() {
    run(nb::none(), [&](Job&) { m_migration->release(); });
  }

 private:
  MigrationPlan m_plan;
  std::shared_ptr<AnyMigration> m_migration;
};

// Makes a migration from the arguments of the package: fields in the order of wave::Parameter.
Migration* make_migration(
    const std::vector<OptionalField>& fields, const std::vector<double>& spacing,
    const std::vector<double>& origin, const std::string& wavelet, const OptionalInput& samples,
    double wavelet_interval, const std::string& faces, bool free_surface,
    const std::vector<double>& times, int order, const std::string& equations, double sigma,
    std::optional<double> source_taper, std::size_t memory, const std::vector<Input>& traces,
    const std::vector<Input>& sources, const std::vector<Input>& receivers,
    const std::vector<double>& intervals, const std::vector<double>& starts,
    const std::string& expand, const std::string& mute, const std::string& spreading,
    const std::string& zero, bool normalise, bool complete_receivers,
    const std::vector<double>& aperture, const std::vector<double>& columns, double half_offset,
    const std::string& snapshots, const std::string& error, std::int64_t snapshot_steps,
    int concurrent_shots, const std::vector<std::int64_t>& sizes, const std::string& space,
    const std::string& checkpoint, const std::string& made_from, const nb::object& progress) {
  ImagingInput imaging;
  imaging.checkpoint = {checkpoint, made_from};
  imaging.expand = expand;
  imaging.mute = mute;
  imaging.spreading = spreading;
  imaging.zero = zero;
  imaging.normalise = normalise;
  imaging.complete_receivers = complete_receivers;
  imaging.aperture = aperture;
  imaging.columns = columns;
  imaging.half_offset = half_offset;
  imaging.storage.method = snapshots;
  imaging.storage.error = error;
  imaging.storage.interval = snapshot_steps;
  imaging.concurrent_shots = concurrent_shots;
  imaging.stream = stream_request(sizes);
  imaging.random = random_layers(sizes);
  return new Migration(make_wave_input(fields, spacing, origin, wavelet, samples, wavelet_interval,
                                       faces, free_surface, times, order, equations, sigma,
                                       std::nullopt, source_taper, memory),
                       make_gathers(traces, sources, receivers, intervals, starts), imaging, space,
                       progress);
}

// Returns the length of a run that has all samples of data with a duration and an interval.
double run_length(double duration, double interval, const std::string& zero,
                  const std::string& wavelet, const OptionalInput& samples,
                  double wavelet_interval) {
  WaveInput given;
  given.wavelet = wavelet;
  given.wavelet_samples = samples;
  given.wavelet_interval = wavelet_interval;
  return survey::run_length(
      duration, survey::time_shift(survey::parse_wavelet_zero(zero), wavelet_of(given), interval));
}

// The angle gather of an offset gather: angles x depths.
nb::object angle_gather(const Input& gather, double offset_step, double spacing,
                        const std::vector<double>& angles) {
  const auto* const first = static_cast<const double*>(gather.data());
  const std::vector<double> values(first, first + gather.size());
  std::vector<double> result;
  run(nb::none(), [&](Job&) {
    result =
        rtm::angle_gather(values, static_cast<std::int64_t>(gather.shape(0)),
                          static_cast<std::int64_t>(gather.shape(1)), offset_step, spacing, angles);
  });
  auto [data, array] = make_array<double>({angles.size(), gather.shape(1)});
  std::copy(result.begin(), result.end(), data);
  return nb::cast(array);
}

}  // namespace

void bind_rtm(nb::module_& m) {
  nb::class_<MigrationPlan>(m, "MigrationPlan")
      .def_ro("dt", &MigrationPlan::dt)
      .def_ro("frequency", &MigrationPlan::frequency)
      .def_ro("apart", &MigrationPlan::offset_step)
      .def_ro("steps", &MigrationPlan::steps)
      .def_ro("snapshot_steps", &MigrationPlan::snapshot_steps)
      .def_ro("half_offsets", &MigrationPlan::half_offsets)
      .def_ro("concurrent_shots", &MigrationPlan::concurrent_shots)
      .def_ro("memory", &MigrationPlan::memory)
      .def_ro("medium", &MigrationPlan::medium)
      .def_ro("storage", &MigrationPlan::storage)
      .def_prop_ro("slabs", [](const MigrationPlan& plan) { return slabs_of(plan.slabs); })
      .def_ro("streamed", &MigrationPlan::streamed)
      .def_ro("text", &MigrationPlan::text)
      .def_prop_ro("numbers", [](const MigrationPlan& plan) { return dict_of(plan.numbers); });
  nb::class_<Migration>(m, "Migration")
      .def_prop_ro("plan", &Migration::plan)
      .def("add", &Migration::add, nb::arg("numbers"), nb::arg("traces"), nb::arg("sources"),
           nb::arg("receivers"), nb::arg("intervals"), nb::arg("starts"),
           nb::arg("progress").none())
      .def("added", &Migration::added)
      .def("image", &Migration::image, nb::arg("condition"), nb::arg("level"),
           nb::arg("out").noconvert())
      .def("part", &Migration::part, nb::arg("part"), nb::arg("out").noconvert())
      .def("offset_gathers", &Migration::offset_gathers)
      .def("close", &Migration::close);
  m.def("make_migration", &make_migration, nb::arg("fields"), nb::arg("spacing"), nb::arg("origin"),
        nb::arg("wavelet"), nb::arg("samples").none(), nb::arg("wavelet_interval"),
        nb::arg("faces"), nb::arg("free_surface"), nb::arg("times"), nb::arg("order"),
        nb::arg("equations"), nb::arg("sigma"), nb::arg("source_taper").none(), nb::arg("memory"),
        nb::arg("traces"), nb::arg("sources"), nb::arg("receivers"), nb::arg("intervals"),
        nb::arg("starts"), nb::arg("expand"), nb::arg("mute"), nb::arg("spreading"),
        nb::arg("zero"), nb::arg("normalise"), nb::arg("complete_receivers"), nb::arg("aperture"),
        nb::arg("columns"), nb::arg("half_offset"), nb::arg("snapshots"), nb::arg("error"),
        nb::arg("snapshot_steps"), nb::arg("concurrent_shots"), nb::arg("sizes"), nb::arg("space"),
        nb::arg("checkpoint"), nb::arg("made_from"), nb::arg("progress").none(),
        nb::rv_policy::take_ownership);
  m.def("run_length", &run_length, nb::arg("duration"), nb::arg("interval"), nb::arg("zero"),
        nb::arg("wavelet"), nb::arg("samples").none(), nb::arg("wavelet_interval"));
  m.def("angle_gather", &angle_gather, nb::arg("gather").noconvert(), nb::arg("apart"),
        nb::arg("spacing"), nb::arg("angles"));
}

}  // namespace moho::python
