// SPDX-License-Identifier: BSD-3-Clause

#include "events.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace moho::testing {

namespace {

Events* recorder = nullptr;

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool is_word(const std::string& text) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), good);
}

// Returns true for "moho::<module>::<what>" and, without a module, "moho::<what>".
bool is_label(const std::string& name, std::string& owner) {
  const std::string prefix = "moho::";
  if (!begins(name, prefix)) return false;
  const std::size_t colons = name.find("::", prefix.size());
  if (colons == std::string::npos) return is_word(name.substr(prefix.size()));
  owner = name.substr(prefix.size(), colons - prefix.size());
  return is_word(owner) && is_word(name.substr(colons + 2));
}

// Returns true for a fence of the program: an explicit one, or that of a copy, fill, view or
// reduction.
//
// Kokkos adds further fences, for example in allocations and deallocations.
bool requested(const Event& fence) {
  if (begins(fence.name, "moho::")) return true;
  for (const char* part : {"Unnamed", "Kokkos::fence", "Kokkos::deep_copy", "Kokkos::View",
                           "mirror", "Kokkos::resize", "Not Device Accessible"}) {
    if (contains(fence.name, part)) return true;
  }
  return false;
}

void note_kernel(const char* name, std::uint32_t device, std::uint64_t*) {
  if (recorder != nullptr) recorder->add({Event::Kind::kernel, name, device});
}

void note_copy(Kokkos::Tools::SpaceHandle to_space, const char* to, const void*,
               Kokkos::Tools::SpaceHandle from_space, const char* from, const void*,
               std::uint64_t) {
  if (recorder == nullptr) return;
  Event event{Event::Kind::copy, std::string(from) + " -> " + to};
  const std::string host = Kokkos::HostSpace::name();
  event.host_only = host == to_space.name && host == from_space.name;
  recorder->add(event);
}

#if KOKKOS_VERSION >= 30500
void note_fence(const char* name, std::uint32_t device, std::uint64_t*) {
  if (recorder == nullptr) return;
  Event event{Event::Kind::fence, name, device};
  event.everywhere = (device & 0xffffffu) == 0;  // the bits that identify the instance
  recorder->add(event);
}
#endif

}  // namespace

Events::Events() {
  if (recorder != nullptr) throw std::logic_error("Events: there is a recorder already");
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(note_kernel);
  tools::set_begin_parallel_reduce_callback(note_kernel);
  tools::set_begin_parallel_scan_callback(note_kernel);
  tools::set_begin_deep_copy_callback(note_copy);
#if KOKKOS_VERSION >= 30500
  tools::set_begin_fence_callback(note_fence);
#endif
  recorder = this;
}

Events::~Events() {
  recorder = nullptr;
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
  tools::set_begin_deep_copy_callback(nullptr);
#if KOKKOS_VERSION >= 30500
  tools::set_begin_fence_callback(nullptr);
#endif
}

void Events::add(Event event) {
  // Kokkos fences all instances before it calls a tool. Older releases destroy the elements of
  // views of classes with a kernel of the default instance.
  if (event.kind == Event::Kind::fence && begins(event.name, "Kokkos::Tools::")) return;
  if (begins(event.name, "Kokkos::View::destruction")) return;
  m_list.push_back(std::move(event));
}

std::vector<std::string> breaches(std::uint32_t device, bool host, const std::vector<Event>& events,
                                  const Contract& contract) {
  std::vector<std::string> result;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::kernel) {
      std::string module;
      if (is_label(event.name, module)) {
        const bool core = module.empty();
        if (!core && std::find(contract.modules.begin(), contract.modules.end(), module) ==
                         contract.modules.end()) {
          result.push_back("the kernel '" + event.name + "' belongs to another module");
        }
      } else if (host || (!begins(event.name, "Kokkos::ViewFill") &&
                          !begins(event.name, "Kokkos::ViewCopy"))) {
        // on devices moho::fill() and moho::copy() are Kokkos's kernels
        result.push_back("the kernel '" + event.name + "' has no label of moho's");
      }
      if (event.device != device) {
        result.push_back("the kernel '" + event.name +
                         "' does not run on the instance that was given");
      }
    } else if (event.kind == Event::Kind::copy) {
      if (event.host_only) {
        result.push_back("the copy or fill '" + event.name + "' of host memory is no kernel");
      }
    } else {
      if (!requested(event)) continue;
      if (event.everywhere) {
        result.push_back("'" + event.name + "' waits for all instances");
      } else if (!contract.waits) {
        result.push_back("'" + event.name + "' waits for the instance, and returns no host data");
      }
    }
  }
  return result;
}

std::int64_t kernels_in(const std::vector<Event>& events) {
  return std::count_if(events.begin(), events.end(),
                       [](const Event& event) { return event.kind == Event::Kind::kernel; });
}

std::int64_t fences_in(const std::vector<Event>& events) {
  return std::count_if(events.begin(), events.end(), [](const Event& event) {
    return event.kind == Event::Kind::fence && requested(event);
  });
}

}  // namespace moho::testing

// Kokkos 3.4 reports no fences to tools: the linker's option --wrap redirects calls of these two
// functions.
#if KOKKOS_VERSION < 30500
namespace {
using HostInstance = moho::Instance<Kokkos::HostSpace>;

void note_own_fence(const char* name, bool everywhere) {
  using moho::testing::Event;
  using moho::testing::recorder;
  if (recorder == nullptr) return;
  Event event{Event::Kind::fence, name};
  event.everywhere = everywhere;
  recorder->add(event);
}
}  // namespace

void fence_of_kokkos() __asm__("__real__ZN6Kokkos5fenceEv");
void fence_of_kokkos_noted() __asm__("__wrap__ZN6Kokkos5fenceEv");
void fence_of_kokkos_noted() {
  note_own_fence("Kokkos::fence(): Unnamed Global Fence", true);
  fence_of_kokkos();
}

void fence_of_host(const HostInstance*) __asm__(
    "__real__ZNK4moho8InstanceIN6Kokkos9HostSpaceEE5fenceEv");
void fence_of_host_noted(const HostInstance*) __asm__(
    "__wrap__ZNK4moho8InstanceIN6Kokkos9HostSpaceEE5fenceEv");
void fence_of_host_noted(const HostInstance* exec) {
  note_own_fence("moho::Instance::fence(): Unnamed Instance Fence", false);
  fence_of_host(exec);
}
#endif
