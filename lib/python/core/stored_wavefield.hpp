// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The wavefield of a shot at all steps, for its gradient.

#include "worker.hpp"

#include <moho/fwi/gradient_types.hpp>
#include <moho/snapshot/stores.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace moho::python {

/// \brief Memory of a wavefield that a later shot uses again.
///
/// Memory of more than a GiB is freed instead.
template <class T, class Memory>
class SpareMemory {
 public:
  using Arena = snapshot::DeviceArena<T, Memory>;
  /// Returns the memory, or that of a new arena.
  std::unique_ptr<Arena> take() {
    return m_arena ? std::move(m_arena) : std::make_unique<Arena>("moho::python::wavefield");
  }
  /// Keeps memory for the next shot.
  void put(std::unique_ptr<Arena> used) {
    if (used->bytes() <= std::size_t{1} << 30) m_arena = std::move(used);
  }
  /// Returns the bytes that are kept.
  std::size_t bytes() const { return m_arena ? m_arena->bytes() : 0; }

 private:
  std::unique_ptr<Arena> m_arena;
};

/// Returns a number for a model that is loaded; no other one of the process has it.
inline std::int64_t next_model_number() {
  static std::atomic<std::int64_t> count{0};
  return ++count;
}

/// The wavefield of a shot at all steps.
template <class T, int Dim, class Memory>
struct StoredWavefield : Resource {
  using Spare = SpareMemory<T, Memory>;
  fwi::InvertedParameters wanted;  ///< parameters whose gradient it serves
  std::int64_t model_number = 0;   ///< of the model of the shot
  std::weak_ptr<Spare> spare;      ///< gone with closed shots
  std::unique_ptr<typename Spare::Arena> arena;
  std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> store;

  StoredWavefield(const std::shared_ptr<Spare>& from, const fwi::InvertedParameters& of, int fields)
      : wanted(of),
        spare(from),
        arena(from->take()),
        store(std::make_unique<snapshot::MemoryStore<T, Dim, Memory>>(*arena, fields)) {}
  void release() override {
    store.reset();
    if (const auto to = spare.lock(); to && arena) to->put(std::move(arena));
    arena.reset();
  }
};

}  // namespace moho::python
