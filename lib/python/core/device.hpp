// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory spaces of computations, and arrays in either of them.
///
/// A build with CUDA computes on hosts and on the device, which is the default one of Kokkos.

#include "arrays.hpp"
#include "worker.hpp"

#include <moho/core/copy.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::python {

/// The memory of the device, or that of the host in builds without a device.
using DeviceMemory = Kokkos::DefaultExecutionSpace::memory_space;
/// True in builds with a device.
inline constexpr bool has_device = !is_host_memory<DeviceMemory>;

/// The default instance that computes in a memory, and ends with the job. Call it on the worker.
template <class Memory>
Instance<Memory> instance_in() {
  if constexpr (is_host_memory<Memory>) {
    return stopped_by<Memory>(Kokkos::DefaultHostExecutionSpace(), stop_of_jobs());
  } else {
    return stopped_by<Memory>(Kokkos::DefaultExecutionSpace(), stop_of_jobs());
  }
}

/// A contiguous array in the memory of the host or of a device.
using AnyInput = nanobind::ndarray<nanobind::ro, nanobind::c_contig>;

/// Returns true for an array in device memory.
template <class Array>
bool on_device(const Array& array) {
  return array.device_type() == nanobind::device::cuda::value ||
         array.device_type() == nanobind::device::cuda_managed::value;
}

/// Names a memory space without an object of it, for which Kokkos would have to be initialised.
template <class Memory>
struct MemoryName {
  using type = Memory;  ///< the memory space
};

/// Calls function(MemoryName<Memory>()) with the memory of a space, "host" or "cuda".
/// \throws InputError for "cuda" in a build for hosts
template <class Function>
decltype(auto) with_memory(const std::string& space, const Function& function) {
  if constexpr (has_device) {
    if (space == "cuda") return function(MemoryName<DeviceMemory>());
  } else if (space == "cuda") {
    throw InputError(
        "space is 'cuda' (allowed in this build, which computes on hosts: 'host'): give arrays of "
        "the host, or build the package with a Kokkos for CUDA");
  }
  return function(MemoryName<Kokkos::HostSpace>());
}

/// An unmanaged view of an array.
template <class T, class Space>
using Elements = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// \brief Copies elements to or from the memory of an instance, and waits for the copy.
///
/// \param to,to_device destination, and true for device memory
/// \param from,from_device source, and true for device memory
template <class T, class Memory>
void copy_elements(const Instance<Memory>& exec, T* to, bool to_device, const T* from,
                   bool from_device, std::size_t count) {
  if (count == 0) return;
  if constexpr (is_host_memory<Memory>) {
    (void)to_device;
    (void)from_device;
    std::copy_n(from, count, to);
  } else {
    using Host = Kokkos::HostSpace;
    if (to_device && from_device) {
      copy(exec, Elements<T, Memory>(to, count), Elements<const T, Memory>(from, count));
    } else if (to_device) {
      copy(exec, Elements<T, Memory>(to, count), Elements<const T, Host>(from, count));
    } else if (from_device) {
      copy(exec, Elements<T, Host>(to, count), Elements<const T, Memory>(from, count));
    } else {
      std::copy_n(from, count, to);
    }
    exec.fence();
  }
}

/// Device memory of an array of Python; it is released on the worker.
class DeviceBlock : public Resource {
 public:
  explicit DeviceBlock(std::size_t bytes)
      : m_data(Kokkos::kokkos_malloc<DeviceMemory>("moho::python::result", bytes)) {}
  void release() override {
    if (m_data != nullptr) Kokkos::kokkos_free<DeviceMemory>(m_data);
    m_data = nullptr;
  }
  void* data() const { return m_data; }

 private:
  void* m_data;
};

/// An array for results, on the host or on a device.
template <class T>
struct Result {
  T* data = nullptr;
  bool device = false;
  nanobind::object array;  ///< numpy.ndarray, or an object with __dlpack__
};

/// \brief Returns an array for results. Not to be called on the worker.
/// \param device true: in device memory
/// \throws std::bad_alloc
template <class T>
Result<T> make_result(const std::vector<std::size_t>& shape, bool device) {
  if (!device) {
    auto [data, array] = make_array<T>(shape);
    return {data, false, nanobind::cast(array)};
  }
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  std::shared_ptr<DeviceBlock> block;
  run(nanobind::none(), [&](Job&) {
    block = std::make_shared<DeviceBlock>(std::max<std::size_t>(count * sizeof(T), 1));
    own(block);
  });
  auto* const kept = new std::shared_ptr<DeviceBlock>(block);
  const nanobind::capsule owner(kept, [](void* memory) noexcept {
    auto* const held = static_cast<std::shared_ptr<DeviceBlock>*>(memory);
    disown(*held);
    delete held;
  });
  T* const data = static_cast<T*>(block->data());
  nanobind::ndarray<T> array(data, shape.size(), shape.data(), owner, nullptr, nanobind::dtype<T>(),
                             nanobind::device::cuda::value, 0);
  return {data, true, nanobind::cast(array)};
}

}  // namespace moho::python
