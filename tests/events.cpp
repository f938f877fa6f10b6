// SPDX-License-Identifier: BSD-3-Clause

#include "events.hpp"

#include <algorithm>
#include <cstring>
#include <regex>
#include <stdexcept>
#include <utility>

namespace moho::testing {

namespace {

Events* recorder = nullptr;

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// True for a fence that a program asked for, by itself or through a copy, a fill, a view or a
// reduction. Kokkos has more of its own, when it allocates and frees for example.
bool asked_for(const Event& fence) {
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
  event.everywhere = (device & 0xffffffu) == 0;  // the part that tells instances apart
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
  // Kokkos waits for all instances before it calls a tool, and older releases destroy the elements
  // of views of classes by a kernel of the default instance
  if (event.kind == Event::Kind::fence && begins(event.name, "Kokkos::Tools::")) return;
  if (begins(event.name, "Kokkos::View::destruction")) return;
  m_list.push_back(std::move(event));
}

std::vector<std::string> breaches(std::uint32_t device, bool host, const std::vector<Event>& events,
                                  const Contract& contract) {
  static const std::regex label("moho::(([a-z_]+)::)?[a-z0-9_]+");
  std::vector<std::string> result;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::kernel) {
      std::smatch parts;
      if (std::regex_match(event.name, parts, label)) {
        const std::string module = parts[2];
        const bool core = module.empty();
        if (!core && std::find(contract.modules.begin(), contract.modules.end(), module) ==
                         contract.modules.end()) {
          result.push_back("the kernel '" + event.name + "' belongs to another module");
        }
      } else if (host || (!begins(event.name, "Kokkos::ViewFill") &&
                          !begins(event.name, "Kokkos::ViewCopy"))) {
        // on devices moho::fill() and moho::copy() are Kokkos's
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
      if (!asked_for(event)) continue;
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
    return event.kind == Event::Kind::fence && asked_for(event);
  });
}

}  // namespace moho::testing

// Kokkos 3.4 tells no tool of fences. The linker's option --wrap sends calls of these two functions
// here.
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
