// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluation of shots over a grid that several devices hold in slabs.

#include <moho/fwi/detail/host_evaluator.hpp>
#include <moho/fwi/slab_gradient.hpp>
#include <moho/stream/device_count.hpp>
#include <moho/stream/slab_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace moho::fwi {

/// Reports that the slabs of shots do not fit the devices.
class SlabsDoNotFit : public InputError {
 public:
  using InputError::InputError;
};

/// Evaluator of shots over slabs, one shot at a time. Models, vectors and sums are on the host.
template <class T, int Dim, class Memory>
class SlabEvaluator : public HostEvaluator<T, Dim, Memory, SlabGradients<T, Dim, Memory>> {
  using Gradients = SlabGradients<T, Dim, Memory>;
  using Base = HostEvaluator<T, Dim, Memory, Gradients>;
  using Base::m_exec, Base::m_grid, Base::m_options, Base::m_plan, Base::m_input, Base::m_device,
      Base::m_start, Base::m_gradients, Base::m_data;

 public:
  using Base::Base;
  using typename Base::Claim, typename Base::Model, typename Base::TakeImage;

  bool streamed() const override { return false; }
  void plan_memory(ObjectivePlan& plan, SourceField requested) override;
  /// With ranks, the first one takes images.
  void extended_images(const Model& model, const Lags& lags, const Claim& claim,
                       const TakeImage& take) override;
  /// With ranks, the result of the first one has values.
  ExtendedResult<T> extended_image(const Model& model, const Lags& lags) override;

 protected:
  /// \see HostEvaluator::make()
  std::unique_ptr<Gradients> make(const Model& model, const wave::WaveletAt& wavelet,
                                  wave::ModellingPlan<Dim>& plan) override;
  /// \see HostEvaluator::add_to()
  ShotGradientReport<Dim> add_to(
      Gradients& gradients, std::size_t k, const std::string& prefix,
      const std::function<void(int, const wave::ShotProgress&)>& progress) override;
  /// \see HostEvaluator::tapered_delta()
  Field<T, Dim, Kokkos::HostSpace> tapered_delta(
      const wave::Model<T, Dim, Kokkos::HostSpace>& model, const Points<Dim>& points,
      double radius) const override {
    return stream::detail::taper_delta_on<T, Dim, Memory>(m_device, m_grid, model, points, radius);
  }
  /// \see HostEvaluator::traces_of()
  wave::Traces<T> traces_of(Gradients& gradients, const wave::Shot<Dim>& shot) override {
    return wave::locate_overflow<Dim>(
        m_grid, m_plan.time.steps, "",
        [&](std::int64_t check_every) {
          return gradients.model(shot, {.check_every = check_every});
        },
        this->overflow_advice());
  }

 private:
  // Returns the memory of gradients, misfit and extended image on each device.
  SlabGradientBytes bytes_of(const Gradients& gradients, int devices) const {
    SlabGradientBytes bytes = gradients.bytes(devices);
    // each slab computes the misfit
    bytes.fixed += is_host_memory<Memory> ? this->misfit_bytes() : this->series_bytes();
    double points = 0.0;
    for (const auto& shot : m_input.data.shots) points = std::max(points, this->point_bytes(shot));
    bytes.fixed += points;
    if (m_options.lags) bytes.fixed += gradients.image_bytes(*m_options.lags, devices);
    return bytes;
  }
  // Returns the memory of extended images on the host: the sum, and that of a shot; the image and
  // its copy in the result without a sum; one lag on ranks other than the first.
  double host_image_bytes() const {
    if (!m_options.lags) return 0.0;
    const double lag = static_cast<double>(sizeof(T)) * static_cast<double>(m_grid.size());
    if (m_options.ranks != nullptr && m_options.ranks->rank() > 0) return lag;
    const double image = lag * static_cast<double>(m_options.lags->count());
    return this->lags_sum_bytes() > 0.0 ? this->lags_sum_bytes() + image : 2.0 * image;
  }
  // Returns the bytes of a method for the source wavefield; automatic: the least.
  static double source_bytes(SourceField method, const SlabGradientBytes& bytes) {
    return method == SourceField::stored   ? bytes.source.stored
           : method == SourceField::random ? bytes.source.random
           : method == SourceField::replay ? bytes.source.replay
           : method == SourceField::boundary_shell
               ? bytes.source.shell
               : std::min(bytes.source.shell, bytes.source.replay);
  }
  // Returns why a number of slabs does not fit; empty if it fits.
  std::string obstacle(const Gradients& gradients, SourceField requested, int devices) const {
    if (m_options.lags && m_options.lags->x > gradients.max_lag(devices)) {
      return concat("the largest of ", m_options.names("lags"), " along x is ",
                    gradients.max_lag(devices));
    }
    const auto room = static_cast<double>(device_budget(gradients, devices));
    const SlabGradientBytes bytes = bytes_of(gradients, devices);
    if (method_for(requested, bytes, room) != SourceField::automatic) return {};
    return need_text(requested, bytes, room);
  }
  // Returns the bytes of a slab, and those allowed, as text.
  static std::string need_text(SourceField requested, const SlabGradientBytes& bytes, double room) {
    return concat("each of them needs ",
                  stream::bytes_rounded_up(bytes.fixed + source_bytes(requested, bytes)),
                  " for its slab (allowed: ", format_bytes(room), ")");
  }
  // Returns the memory of the host besides data and slabs: search, extended images, traces of all
  // slabs, and misfits of devices.
  double host_bytes(const Gradients& gradients) const {
    const auto slabs = static_cast<double>(gradients.instances().size());
    return this->search_bytes() + host_image_bytes() + this->series_bytes() +
           (is_host_memory<Memory> ? 0.0 : slabs * this->misfit_bytes());
  }
  template <class Work>
  void with_image(const Model& model, const Lags& lags, const Work& work);
  void plan_lags(ObjectivePlan& plan) const;
  [[noreturn]] void refuse_devices(SourceField requested, double room) const;
  std::string other_devices(SourceField requested) const;
  SourceField method_for(SourceField requested, const SlabGradientBytes& bytes, double room) const;
  std::size_t device_budget(const Gradients& gradients, int devices) const;

  SourceField m_method = SourceField::boundary_shell;
  int m_devices = this->m_options.devices;  ///< 0: not yet chosen
};

// Returns the bytes that each of some devices may use.
template <class T, int Dim, class Memory>
std::size_t SlabEvaluator<T, Dim, Memory>::device_budget(const Gradients& gradients,
                                                         int devices) const {
  if constexpr (is_host_memory<Memory>) {
    // all slabs of a process share the memory of the host with its other arrays
    const int sharing = m_options.ranks != nullptr ? 1 : devices;
    const std::size_t all = memory_budget(m_exec, m_options.rest_of_memory());
    const auto others = static_cast<std::size_t>(host_bytes(gradients) + this->data_bytes());
    const std::size_t each = (all - std::min(all, others)) / static_cast<std::size_t>(sharing);
    return m_options.device_memory > 0 ? std::min(m_options.device_memory, each) : each;
  } else {
    return stream::detail::allowed_device_memory(gradients.instances(), m_options.device_memory);
  }
}

// Returns the method for the source wavefield; automatic if no method fits.
template <class T, int Dim, class Memory>
SourceField SlabEvaluator<T, Dim, Memory>::method_for(SourceField requested,
                                                      const SlabGradientBytes& bytes,
                                                      double room) const {
  const auto fits = [&](double source) { return bytes.fixed + source <= room; };
  const bool any = requested == SourceField::automatic;
  if ((any || requested == SourceField::boundary_shell) && fits(bytes.source.shell)) {
    return SourceField::boundary_shell;
  }
  if (requested == SourceField::stored && fits(bytes.source.stored)) return SourceField::stored;
  if (requested == SourceField::random && fits(bytes.source.random)) return SourceField::random;
  if ((any || requested == SourceField::replay) && fits(bytes.source.replay)) {
    return SourceField::replay;
  }
  return SourceField::automatic;
}

// Returns advice that names the other numbers of devices that suffice; empty without one.
template <class T, int Dim, class Memory>
std::string SlabEvaluator<T, Dim, Memory>::other_devices(SourceField requested) const {
  const Gradients& gradients = *m_gradients;
  const bool ranks = m_options.ranks != nullptr;
  const std::int64_t max = gradients.planes().back().end;
  std::vector<std::int64_t> numbers;
  for (int n = 2; n <= max; ++n) {
    if (gradients.possible(n) && obstacle(gradients, requested, n).empty()) numbers.push_back(n);
  }
  if (numbers.empty()) return {};
  const int accessible =
      is_host_memory<Memory> || ranks ? static_cast<int>(max) : stream::device_count(m_device);
  if (numbers.front() > accessible) {
    return concat("a process with ", numbers.front(), " devices or more, ");
  }
  return concat(
      m_options.names("devices"), " ",
      stream::dividing_numbers(numbers, ranks ? m_options.ranks->size() * m_options.groups : 0),
      ", ");
}

// Throws SlabsDoNotFit. \param room bytes of a device
template <class T, int Dim, class Memory>
void SlabEvaluator<T, Dim, Memory>::refuse_devices(SourceField requested, double room) const {
  const int devices = m_gradients->devices();
  const bool on_host =
      is_host_memory<Memory> && room != static_cast<double>(m_options.device_memory);
  throw SlabsDoNotFit(concat(m_options.names("devices"), " is ", devices, ": ",
                             need_text(requested, bytes_of(*m_gradients, devices), room), ": take ",
                             other_devices(requested),
                             m_options.lags ? concat("fewer ", m_options.names("lags"), ", ") : "",
                             "fewer receivers or steps, a coarser grid, or more memory (",
                             m_options.names(on_host ? "memory" : "device_memory"), ")",
                             this->streaming_advice()));
}

// Plans the extended image.
template <class T, int Dim, class Memory>
void SlabEvaluator<T, Dim, Memory>::plan_lags(ObjectivePlan& plan) const {
  if (!m_options.lags) return;
  this->check_lags();
  const Lags& lags = *m_options.lags;
  const std::int64_t max = m_gradients->max_lag();
  if (lags.x > max) {
    throw InputError(concat(
        m_options.names("lags"), ": the largest along x is ", lags.x, " nodes (allowed: 0 to ", max,
        ", the planes of the model in the thinnest slab): take fewer, or fewer ",
        m_options.names("devices")));
  }
  plan.lags_bytes = m_gradients->image_bytes(lags, m_gradients->devices());
  plan.lags_sum_bytes = this->lags_sum_bytes();
  const double bytes = plan.host_bytes + plan.data_bytes;
  std::int64_t fits = bytes <= plan.budget ? 1 : 0;
  if (m_options.ranks != nullptr) fits = m_options.ranks->min(fits);
  if (fits == 0) this->refuse_lags_on_host(bytes, plan.budget);
}

template <class T, int Dim, class Memory>
void SlabEvaluator<T, Dim, Memory>::plan_memory(ObjectivePlan& plan, SourceField requested) {
  Gradients& gradients = *m_gradients;
  const int devices = gradients.devices();
  plan.budget = static_cast<double>(memory_budget(m_exec, m_options.rest_of_memory()));
  plan.host_bytes = host_bytes(gradients);
  this->check_host(plan, 0.0, plan.host_bytes - host_image_bytes());
  plan_lags(plan);
  auto room = static_cast<double>(device_budget(gradients, devices));
  if (m_options.ranks != nullptr) {
    room = static_cast<double>(m_options.ranks->min(static_cast<std::int64_t>(room)));
  }
  const SlabGradientBytes bytes = bytes_of(gradients, devices);
  m_method = method_for(requested, bytes, room);
  if (m_method == SourceField::automatic) refuse_devices(requested, room);
  gradients.set_source_field(m_method);
  plan.source_field = m_method;
  plan.source_bytes = source_bytes(m_method, bytes);
  plan.fixed_bytes = bytes.fixed;
  plan.budget = room;
  plan.slabs = {};
  plan.slabs.ranks = m_options.ranks != nullptr;
  for (const PlaneRange& planes : gradients.planes()) {
    plan.slabs.planes.push_back(planes.count());
    plan.slabs.bytes.push_back(static_cast<std::int64_t>(plan.device_bytes()));
  }
  this->with_memory_advice([&] { gradients.update(m_start); });
  this->m_stale = true;
  gradients.seconds_of_steps(2);
  // with their products
  const bool more = m_method == SourceField::replay || m_method == SourceField::random;
  const double runs = more ? 4.4 : 3.4;
  plan.seconds = runs * gradients.seconds_of_steps(10) / 10.0 *
                 static_cast<double>(plan.time.steps) *
                 static_cast<double>(m_input.data.shots.size());
}

// Calls work(gradients) with gradients of a model that have an extended image.
template <class T, int Dim, class Memory>
template <class Work>
void SlabEvaluator<T, Dim, Memory>::with_image(const Model& model, const Lags& lags,
                                               const Work& work) {
  Gradients& gradients = this->ready();
  this->m_stale = true;
  if (!(m_plan.source_taper > 0.0)) gradients.update(model);
  try {
    this->with_memory_advice([&] { gradients.begin_image(lags); });
    work(gradients);
  } catch (...) {
    gradients.end_image();
    throw;
  }
  gradients.end_image();
}

template <class T, int Dim, class Memory>
void SlabEvaluator<T, Dim, Memory>::extended_images(const Model& model, const Lags& lags,
                                                    const Claim& claim, const TakeImage& take) {
  with_image(model, lags, [&](Gradients& gradients) {
    const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
      gradients.clear();
      gradients.clear_image();
      this->add_shot(gradients, k, model, contribution);
    };
    this->each_shot(claim, compute, [&](std::size_t, const ShotContribution<T>& contribution) {
      const std::vector<T> image = gradients.extended_image();
      if (!image.empty()) take(contribution, image.data());
    });
  });
}

template <class T, int Dim, class Memory>
ExtendedResult<T> SlabEvaluator<T, Dim, Memory>::extended_image(const Model& model,
                                                                const Lags& lags) {
  using HostImage = ExtendedImage<T, Dim, Kokkos::HostSpace>;
  ExtendedResult<T> result;
  with_image(model, lags, [&](Gradients& gradients) {
    const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
      this->add_shot(gradients, k, model, contribution);
    };
    this->each_shot({}, compute, [](std::size_t, const ShotContribution<T>&) {});
    std::vector<T> values = gradients.extended_image();
    if (values.empty()) return;
    const typename HostImage::Array array(values.data(), values.size());
    result = this->result_of(m_exec, HostImage(whole_box(m_grid), lags, array));
  });
  return result;
}

template <class T, int Dim, class Memory>
std::unique_ptr<SlabGradients<T, Dim, Memory>> SlabEvaluator<T, Dim, Memory>::make(
    const Model& model, const wave::WaveletAt& wavelet, wave::ModellingPlan<Dim>& plan) {
  SlabGradientOptions<Dim> o;
  const Model stepped = this->plan_into(model, wavelet, plan, o);
  if (m_options.source_field == SourceField::random) {
    o.source_faces = random_faces(m_options, m_input.faces);
  }
  const auto with = [&](int devices) {
    o.devices = devices;
    o.ranks = m_options.ranks;
    o.groups = m_options.groups;
    try {
      return std::make_unique<Gradients>(m_device, m_grid, stepped, m_input.data.shots, o,
                                         [this](const Gradients& gradients, int slabs) {
                                           return obstacle(gradients, m_options.source_field,
                                                           slabs);
                                         });
    } catch (const SlabsTooThin& error) {
      // gradients of one process with random layers may stream
      if (error.fits() || m_options.source_field != SourceField::random) throw;
      throw SlabsDoNotFit(error.what());
    }
  };
  if (m_options.ranks != nullptr) m_devices = m_options.ranks->size();
  auto result = with(m_devices > 0 ? m_devices : 2);
  if (m_devices == 0) {
    // as few as have the memory
    const int accessible = stream::device_count(m_device);
    m_devices = 2;
    while (m_devices < accessible &&
           method_for(m_options.source_field, bytes_of(*result, m_devices),
                      static_cast<double>(device_budget(*result, m_devices))) ==
               SourceField::automatic) {
      ++m_devices;
    }
    if (m_devices > 2) result = with(m_devices);
  }
  result->set_source_field(m_method);
  return result;
}

template <class T, int Dim, class Memory>
ShotGradientReport<Dim> SlabEvaluator<T, Dim, Memory>::add_to(
    Gradients& gradients, std::size_t k, const std::string& prefix,
    const std::function<void(int, const wave::ShotProgress&)>& progress) {
  SlabShotOptions options;
  options.prefix = prefix;
  options.random = this->random_of(m_data.shots()[k]);
  options.progress = progress;
  return wave::locate_overflow<Dim>(
      m_grid, m_plan.time.steps, "",
      [&](std::int64_t check_every) {
        options.check_every = check_every;
        return gradients.add(
            m_data.shots()[k],
            [&](const Instance<Memory>& exec) { return this->misfit_of(exec, k); }, options);
      },
      this->overflow_advice());
}

}  // namespace moho::fwi
