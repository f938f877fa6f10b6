// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arguments that modelling and inversion of waves have in common.

#include "arrays.hpp"
#include "device.hpp"

#include <moho/core/field.hpp>
#include <moho/core/space.hpp>
#include <moho/domain/types.hpp>
#include <moho/wave/boundary_text.hpp>
#include <moho/wave/model_values.hpp>
#include <moho/wave/plan.hpp>

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::python {

/// An array of the host, if it was given.
using OptionalInput = std::optional<Input>;
/// An array of the host or of a device, if it was given.
using OptionalField = std::optional<AnyInput>;

/// True if the build has kernels of waves in a precision.
#ifdef MOHO_SINGLE_KERNELS
template <class T>
inline constexpr bool has_wave_kernels = std::is_same_v<T, float>;
#else
template <class T>
inline constexpr bool has_wave_kernels = true;
#endif

/// \throws InputError if the build has no kernels of waves in a precision
template <class T>
void refuse_missing_kernels() {
  if (has_wave_kernels<T>) return;
  throw InputError(
      "vp: it is float64 (allowed in this build, which has MOHO_SINGLE_WAVES: float32): convert it "
      "with astype");
}

/// Model, wavelet and scheme of waves, checked for type and shape by the package.
struct WaveInput {
  std::vector<std::pair<wave::Parameter, AnyInput>> fields;
  std::vector<double> spacing, origin;
  std::string wavelet;
  std::optional<Input> wavelet_samples;
  double wavelet_interval = 0.0;
  std::string faces;
  bool free_surface = false;
  wave::TimeOptions time;
  int order = 8;
  std::string equations;
  double sigma = 0.75;
  wave::ParameterStorage parameters = wave::ParameterStorage::full;
  std::optional<Input> sources;
  std::optional<double> source_taper;
  std::size_t memory = 0;
  int concurrent_shots = 1;  ///< 0: automatic
  domain::ExpansionMethod expand = domain::ExpansionMethod::none;
  domain::DomainOptions domain;  ///< of `expand`
  std::uint64_t seed = 2011;     ///< of random layers
};

/// Returns the arguments in the order of the package. \param fields in the order of wave::Parameter
inline WaveInput make_wave_input(
    const std::vector<OptionalField>& fields, const std::vector<double>& spacing,
    const std::vector<double>& origin, const std::string& wavelet, const OptionalInput& samples,
    double wavelet_interval, const std::string& faces, bool free_surface,
    const std::vector<double>& times, int order, const std::string& equations, double sigma,
    const OptionalInput& sources, std::optional<double> source_taper, std::size_t memory) {
  WaveInput given;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    if (fields[k]) given.fields.emplace_back(static_cast<wave::Parameter>(k), *fields[k]);
  }
  given.spacing = spacing;
  given.origin = origin;
  given.wavelet = wavelet;
  given.wavelet_samples = samples;
  given.wavelet_interval = wavelet_interval;
  given.faces = faces;
  given.free_surface = free_surface;
  given.time = {times.at(0), times.at(1), times.at(2), 0.0};
  given.order = order;
  given.equations = equations;
  given.sigma = sigma;
  given.sources = sources;
  given.source_taper = source_taper;
  given.memory = memory;
  return given;
}

/// Sets snapshots, expanding domains and the seed of random layers.
/// \throws InputError for options of domains out of range, whose text begins with "expand_"
inline void set_snapshots_and_domains(WaveInput& given, double snapshot_every,
                                      const std::string& expand,
                                      const domain::DomainOptions& options, std::uint64_t seed) {
  given.time.snapshot_every = snapshot_every;
  given.expand = domain::parse_expansion(expand);
  given.domain = options;
  given.seed = seed;
  try {
    domain::check_options(options);
  } catch (const InputError& error) {
    throw InputError(concat("expand_", error.what()));
  }
}

/// Returns the number of snapshots of a shot.
inline std::int64_t snapshot_count(const wave::TimePlan& time) {
  return time.snapshot_every > 0 ? time.steps / time.snapshot_every : 0;
}

/// \brief Throws MemoryError if the snapshots of a shot exceed the memory of the host.
/// \param grid of the model
/// \param bytes of a value
/// \param time plan with the snapshots
/// \param memory bytes allowed for them and for shots; 0: what is free, with shots allocated
/// \param shots bytes of model, wavefield and traces
template <int Dim>
void check_snapshots(const Grid<Dim>& grid, std::size_t bytes, const wave::TimePlan& time,
                     std::size_t memory, std::size_t shots) {
  const std::int64_t count = snapshot_count(time);
  if (count == 0) return;
  const double needed =
      static_cast<double>(bytes) * static_cast<double>(count) * static_cast<double>(grid.size());
  const double taken = memory > 0 ? static_cast<double>(shots) : 0.0;
  const auto allowed = static_cast<double>(memory_budget(instance_in<Kokkos::HostSpace>(), memory));
  if (taken + needed <= allowed) return;
  throw MemoryError(concat(
      "memory: ", count, " snapshots of ", shape_string(grid), " nodes take ", format_bytes(needed),
      taken > 0.0 ? concat(", shots ", format_bytes(taken)) : std::string(),
      " (allowed: ", format_bytes(allowed), memory > 0 ? ", as asked" : ", what is free",
      "): take a longer snapshot_every"));
}

/// Returns the form of parameters for their bits: 16, 32, or 0 for the automatic choice.
inline wave::ParameterStorage parameter_storage(int bits) {
  return bits == 16   ? wave::ParameterStorage::codes
         : bits == 32 ? wave::ParameterStorage::full
                      : wave::ParameterStorage::automatic;
}

/// Returns the wavelet. \throws InputError for words that name a file, or are unknown
inline wave::WaveletAt wavelet_of(const WaveInput& given) {
  if (given.wavelet_samples) {
    const auto* const first = static_cast<const double*>(given.wavelet_samples->data());
    const std::vector<double> samples(first, first + given.wavelet_samples->size());
    return [samples, interval = given.wavelet_interval](double dt) {
      return wave::resample(samples, interval, dt);
    };
  }
  const wave::WaveletText text = wave::parse_wavelet(given.wavelet);
  if (text.kind == wave::WaveletText::Kind::file) {
    throw InputError(concat("wavelet is '", given.wavelet,
                            "' (allowed: ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], or "
                            "samples): read the file, and give samples and wavelet_interval"));
  }
  return [text](double dt) { return wave::make_wavelet(text, dt); };
}

/// Returns the faces of the model. \throws InputError as parse_boundaries()
template <int Dim>
wave::Boundaries<Dim> faces_of(const WaveInput& given, wave::Medium medium) {
  if (given.faces.empty()) return wave::absorbing_faces<Dim>(medium, given.free_surface);
  const auto kind = wave::info(medium).cpml ? wave::FaceKind::cpml : wave::FaceKind::sponge;
  auto faces = wave::parse_boundaries<Dim>(given.faces, kind, {}, "faces");
  if (given.free_surface) faces.lower[Dim - 1] = {wave::FaceKind::free_surface, 0};
  return faces;
}

/// Waits for the work of all streams of the caller, if a field is in device memory.
inline void wait_for_arrays(const std::vector<std::pair<wave::Parameter, AnyInput>>& fields) {
  for (const auto& [parameter, field] : fields) {
    if (on_device(field)) return Kokkos::fence();
  }
}

/// \brief Returns the model in the memory of an instance.
///
/// Fields in that memory are not copied if `borrows`.
template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> model_in(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     const WaveInput& given, bool borrows) {
  wait_for_arrays(given.fields);
  wave::ModelValues<T> on_host;
  wave::Model<T, Dim, Memory> in_place;
  for (const auto& [parameter, field] : given.fields) {
    const T* const data = static_cast<const T*>(field.data());
    if (on_device(field)) {
      if constexpr (is_host_memory<Memory>) {
        throw InputError(concat(wave::to_string(parameter),
                                ": the array is in device memory (allowed for space 'host': arrays "
                                "of the host): copy it to the host first"));
      }
      using View = Field<T, Dim, Memory>;
      in_place.field(parameter) = wrap_field<View>(const_cast<T*>(data), grid);
    } else {
      on_host.emplace(parameter, std::span<const T>(data, field.size()));
    }
  }
  wave::Model<T, Dim, Memory> model = borrows ? wave::borrow_model<T>(exec, grid, on_host)
                                              : wave::make_model<T>(exec, grid, on_host);
  for (const auto& [parameter, field] : given.fields) {
    if (!on_device(field)) continue;
    auto& to = model.field(parameter);
    if (borrows) {
      to = in_place.field(parameter);
    } else {
      to = make_field<T>(exec, grid, wave::to_string(parameter));
      copy(exec, to, in_place.field(parameter));
      exec.fence();
    }
  }
  return model;
}

/// Returns the options of the scheme.
template <int Dim>
wave::ModellingOptions<Dim> modelling_of(const WaveInput& given) {
  wave::ModellingOptions<Dim> options;
  options.time = given.time;
  options.order = given.order;
  options.equations =
      given.equations == "fletcher" ? wave::Equations::fletcher : wave::Equations::self_adjoint;
  options.sigma = given.sigma;
  options.parameters = given.parameters;
  if (given.sources) options.sources = points_of<Dim>(*given.sources);
  options.source_taper = given.source_taper;
  options.memory = given.memory;
  options.seed = given.seed;
  options.concurrent_shots = given.concurrent_shots;
  // an upper bound: the number of shots is not known
  options.shots = given.concurrent_shots == 0 ? 1024 : given.concurrent_shots;
  return options;
}

}  // namespace moho::python
