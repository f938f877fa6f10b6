// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How Streaming chooses where the volume is held (internal).

#include <moho/stream/driver.hpp>

namespace moho::stream {

// Whether the device holds the whole grid, and if not, how to stream.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::choose() {
  const StreamWishes& wishes = m_options.wishes;
  StreamWishes allowed = wishes;
  const bool asked = wishes.block > 0 || wishes.updates > 0 || wishes.devices > 1;
  if constexpr (is_host_memory<Memory>) {
    m_whole = m_options.in_core && m_options.file.empty() && wishes.devices == 1;
  } else {
    std::size_t free = memory_budget(m_instances.front(), 0);
    for (const Instance<Memory>& one : m_instances) free = std::min(free, memory_budget(one, 0));
    // kernels and launches take some, too
    free -= std::min<std::size_t>(free, std::size_t(512) << 20);
    if (wishes.device_memory == 0) allowed.device_memory = free;
    if (allowed.device_memory > free) {
      throw InputError(concat("device memory is ",
                              format_bytes(static_cast<double>(wishes.device_memory)),
                              " (allowed: up to ", format_bytes(static_cast<double>(free)),
                              ", what is free on the device)"));
    }
    const std::size_t in_core =
        std::max(m_modelling.memory.most, m_modelling.memory.model + m_modelling.memory.extended) +
        m_need.fixed;
    m_whole =
        m_options.in_core && !asked && m_options.file.empty() && in_core <= allowed.device_memory;
    if (m_whole) m_plan.device_bytes = in_core;
  }
  const std::int64_t beside = m_need.shape.beyond();
  if (m_options.in_core && !m_whole && wishes.devices > 1 && wishes.block == 0 &&
      wishes.updates == 0 && m_options.file.empty()) {
    // a slab of the whole model and its wavefield on each device
    const std::int64_t held =
        m_need.shape.planes / wishes.devices + 1 + 2 * (beside + m_need.shape.halo);
    const std::int64_t elements =
        (m_need.parameters + (m_shape->q_factors ? 1 : 0) + 2 * m_need.fields + m_need.work) *
            m_need.plane_elements * held +
        3 * m_need.fields * (m_need.layer_elements * held + m_need.across_elements);
    m_plan.device_bytes = static_cast<std::size_t>(elements) * sizeof(T) + m_need.fixed;
    const bool long_enough = m_need.shape.planes / wishes.devices >= beside;
    m_cut =
        long_enough && (allowed.device_memory == 0 || m_plan.device_bytes <= allowed.device_memory);
  }
  m_rates = m_options.rates;
  if (m_options.measure && !m_whole && !m_cut) {
    measure_rates<T, Dim, Memory>(m_instances.front(), *m_schemes.front(), m_need, allowed,
                                  m_rates);
    if (!m_options.file.empty()) measure_disk(m_options.file, m_rates.disk_in, m_rates.disk_out);
  }
  if (m_cut) {
    m_plan.shape = m_need.shape;
    m_plan.shape.block = m_need.shape.planes;
    m_plan.in_core = m_plan.slabs = m_plan.resident = true;
    m_plan.host_bytes = m_modelling.memory.model;
    m_schedule = std::make_unique<Schedule>(m_plan.shape);
    m_plan.shape.devices = wishes.devices;
    return;
  }
  if (m_whole) {
    StreamShape shape = m_need.shape;
    shape.block = shape.planes;
    if (is_host_memory<Memory> && (wishes.block > 0 || wishes.updates > 0)) {
      shape.updates = std::max<std::int64_t>(wishes.updates, 1);
      shape.lag = wishes.lag > 0 ? wishes.lag : shape.least_lag();
      shape.block = wishes.block > 0 ? wishes.block : std::max<std::int64_t>(shape.lag, 4);
      shape.block = std::min(shape.block, shape.planes);
    }
    m_plan.shape = shape;
    m_plan.in_core = true;
    m_plan.resident = true;
    m_plan.host_bytes = is_host_memory<Memory> ? m_modelling.memory.most : m_modelling.memory.model;
    if (is_host_memory<Memory>) m_plan.device_bytes = m_plan.host_bytes;
  } else {
    m_plan = plan_stream(m_need, allowed, m_rates);
  }
  if (m_options.file.empty()) {
    const std::size_t free = memory_budget(detail::host_instance(), m_options.modelling.memory);
    if (m_plan.host_bytes > free) {
      throw MemoryError(concat("memory: the volume of ", shape_string(m_modelling.grid),
                               " nodes takes ",
                               format_bytes(static_cast<double>(m_plan.host_bytes)),
                               " on the host (allowed: ", format_bytes(static_cast<double>(free)),
                               m_options.modelling.memory > 0 ? ", as asked" : ", what is free",
                               "): keep it in a file, or take fewer nodes"));
    }
  }
  m_schedule = std::make_unique<Schedule>(m_plan.shape);
}

}  // namespace moho::stream
