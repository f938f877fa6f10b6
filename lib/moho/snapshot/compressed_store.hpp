// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Stores of compressed snapshots in memory or files, and of uncompressed ones in files.

#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/core/queue.hpp>
#include <moho/core/timeline.hpp>
#include <moho/snapshot/codec/codec.hpp>
#include <moho/snapshot/codec/container.hpp>
#include <moho/snapshot/compressed_limit.hpp>
#include <moho/snapshot/snapshot_file.hpp>
#include <moho/snapshot/stores.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::snapshot {

namespace detail {
/// Decodes a snapshot into consecutive nodes.
template <class T, int Dim, class Memory>
void decode_dense(const Instance<Memory>& exec, Codec<T, Dim, Memory>& codec,
                  const Packed<Dim, Memory>& packed, const wave::Storage<T, Memory>& to) {
  const Box<Dim>& box = packed.header.box;
  StoreNodes<T, Dim> functor{to.data(), dense_strides(box)};
  for (int d = 0; d < Dim; ++d) functor.first -= box.lower[d] * functor.strides[d];
  codec.decode_each(exec, packed, box, functor);
}

/// \brief Returns true if one kernel decodes a snapshot and adds its products.
///
/// It does on hosts, and on devices in the mode blocks. Devices are faster with two kernels in
/// other modes (docs/performance/migration.md).
template <class Memory>
bool images_nodes(CodecMode mode) {
  return is_host_memory<Memory> || mode == CodecMode::blocks;
}

/// Decodes a snapshot and adds its products to an image, in one kernel.
template <class T, int Dim, class Memory>
void image_packed(const Instance<Memory>& exec, Codec<T, Dim, Memory>& codec,
                  const Packed<Dim, Memory>& packed,
                  const Correlation<T, Dim, Memory>& correlation) {
  codec.decode_each(exec, packed, correlation.interior,
                    kernel::PointProducts<T, Dim>::of(correlation));
}
}  // namespace detail

/// \brief Store of snapshots that the run's instance compresses, in its memory or the host's.
///
/// Snapshots beyond the limit of the memory are in a file, with the same bits. The run waits for
/// the disk.
template <class T, int Dim, class Memory>
class CompressedStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param options options of the codec
  /// \param on_host true to store them in the host's memory; runs on a host always do so
  /// \param limit memory of the snapshots; save() throws MemoryError beyond it if it has no files
  /// \param timeline receives spans of writing and reading; may be null
  explicit CompressedStore(const CodecOptions& options, bool on_host = false,
                           const CompressedLimit<Dim>& limit = {}, Timeline* timeline = nullptr)
      : m_codec(options),
        m_on_host(on_host && !is_host_memory<Memory>),
        m_memory(limit, timeline) {}
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override;
  Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) override;
  bool correlate(const Instance<Memory>& exec, std::int64_t time,
                 const Correlation<T, Dim, Memory>& correlation) override;
  SnapshotReport report() const override;

 private:
  const Packed<Dim, Memory>& packed_at(const Instance<Memory>& exec, std::int64_t time);

  Codec<T, Dim, Memory> m_codec;
  bool m_on_host;
  detail::LimitedMemory<Dim> m_memory;
  std::map<std::int64_t, Packed<Dim, Memory>> m_here;
  std::map<std::int64_t, Packed<Dim, Kokkos::HostSpace>> m_there;
  Packed<Dim, Memory> m_scratch;
  wave::Storage<T, Memory> m_values;
  std::int64_t m_largest = 0;
  double m_raw = 0.0, m_kept = 0.0;
};

/// \brief Store of snapshots in a file.
///
/// The instance of the run compresses the snapshots, or they are not compressed. A thread writes
/// them concurrently with the forward propagation, and prefetches them for the backward
/// propagation. When the queue is full the run waits (seconds_waited of the report). Snapshots that
/// are in the queue at the end of the forward propagation are not written: they are used first.
template <class T, int Dim, class Memory>
class FileStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param files folder, grid, largest size of the file, length of the queue
  /// \param codec codec of the snapshots; empty: uncompressed
  /// \param timeline receives spans of writing and reading; may be null
  /// \throws FileError if no file can be made in the folder; InputError for an empty queue
  FileStore(const SnapshotFileOptions<Dim>& files, const std::optional<CodecOptions>& codec,
            Timeline* timeline = nullptr);
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override;
  void end_forward(const Instance<Memory>& exec) override;
  Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) override;
  bool correlate(const Instance<Memory>& exec, std::int64_t time,
                 const Correlation<T, Dim, Memory>& correlation) override;
  SnapshotReport report() const override;

 private:
  struct Piece {
    std::int64_t time = 0;
    Packed<Dim, Kokkos::HostSpace> packed;  ///< the compressed snapshot
    Box<Dim> box;                           ///< box of an uncompressed snapshot
    std::vector<T> values;                  ///< values of an uncompressed snapshot
  };
  void write(const Piece& piece);
  Piece read(std::int64_t time) const;
  std::shared_ptr<Piece> next(std::int64_t time);

  SnapshotFileOptions<Dim> m_options;
  std::optional<Codec<T, Dim, Memory>> m_codec;
  Timeline* m_timeline;
  SnapshotFile m_file;
  Queue<std::shared_ptr<Piece>>* m_queue = nullptr;
  std::atomic<bool> m_turned{false};                      ///< the forward propagation has ended
  std::map<std::int64_t, std::shared_ptr<Piece>> m_last;  ///< not written; of the file's thread
  std::map<std::int64_t, Box<Dim>> m_boxes;
  Packed<Dim, Memory> m_scratch;
  wave::Storage<T, Memory> m_values;
  std::int64_t m_largest = 0;
  double m_raw = 0.0, m_kept = 0.0, m_waited = 0.0;
  std::unique_ptr<Stages> m_stages;  ///< its threads use the other members
};

template <class T, int Dim, class Memory>
void CompressedStore<T, Dim, Memory>::save(const Instance<Memory>& exec,
                                           const wave::Wavefield<T, Dim, Memory>& wavefield,
                                           const Box<Dim>& box, std::int64_t time) {
  m_largest = std::max(m_largest, box.size());
  m_raw += static_cast<double>(box.size()) * sizeof(T);
  if (m_on_host) {
    m_codec.encode(exec, wavefield.layout, wavefield.now[0], box, m_scratch);
    m_kept += static_cast<double>(m_scratch.bytes());
    auto packed = copy_packed<Kokkos::HostSpace>(exec, m_scratch);
    if (!m_memory.claim(detail::held_bytes(packed))) return m_memory.write(time, packed);
    m_there[time] = std::move(packed);
  } else {
    Packed<Dim, Memory> packed;
    m_codec.encode(exec, wavefield.layout, wavefield.now[0], box, packed);
    m_kept += static_cast<double>(packed.bytes());
    if (!m_memory.claim(detail::held_bytes(packed))) {
      return m_memory.write(time, copy_packed<Kokkos::HostSpace>(exec, packed));
    }
    m_here[time] = std::move(packed);
  }
}

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> CompressedStore<T, Dim, Memory>::load(const Instance<Memory>& exec,
                                                               std::int64_t time) {
  if (static_cast<std::int64_t>(m_values.size()) < m_largest) {
    m_values = allocate<wave::Storage<T, Memory>>(exec, "moho::snapshot::snapshot", m_largest);
  }
  const Packed<Dim, Memory>& packed = packed_at(exec, time);
  detail::decode_dense<T, Dim, Memory>(exec, m_codec, packed, m_values);
  return {packed.header.box, m_values};
}

template <class T, int Dim, class Memory>
bool CompressedStore<T, Dim, Memory>::correlate(const Instance<Memory>& exec, std::int64_t time,
                                                const Correlation<T, Dim, Memory>& correlation) {
  if (!detail::images_nodes<Memory>(m_codec.options().mode)) return false;
  detail::image_packed<T, Dim, Memory>(exec, m_codec, packed_at(exec, time), correlation);
  return true;
}

template <class T, int Dim, class Memory>
const Packed<Dim, Memory>& CompressedStore<T, Dim, Memory>::packed_at(const Instance<Memory>& exec,
                                                                      std::int64_t time) {
  if (m_memory.has(time)) {
    m_scratch = copy_packed<Memory>(exec, m_memory.read(time));
    return m_scratch;
  }
  if (m_on_host) {
    const auto found = m_there.find(time);
    if (found == m_there.end()) detail::no_snapshot(time);
    m_scratch = copy_packed<Memory>(exec, found->second);
    return m_scratch;
  }
  const auto found = m_here.find(time);
  if (found == m_here.end()) detail::no_snapshot(time);
  return found->second;
}

template <class T, int Dim, class Memory>
SnapshotReport CompressedStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = concat("compressed (", to_string(m_codec.options().mode), ")",
                       m_on_host ? " in the host's memory" : "",
                       m_memory.written() > 0 ? ", some in files" : "");
  report.snapshots = static_cast<std::int64_t>(m_here.size() + m_there.size()) + m_memory.written();
  report.raw_bytes = m_raw;
  report.kept_bytes = m_kept;
  (m_on_host ? report.host_bytes : report.device_bytes) += static_cast<std::size_t>(
      m_memory.written() > 0 ? static_cast<double>(m_memory.held()) : m_kept);
  report.disk_bytes = m_memory.file_bytes();
  report.device_bytes += m_values.size() * sizeof(T);
  return report;
}

template <class T, int Dim, class Memory>
FileStore<T, Dim, Memory>::FileStore(const SnapshotFileOptions<Dim>& files,
                                     const std::optional<CodecOptions>& codec, Timeline* timeline)
    : m_options(files), m_timeline(timeline), m_file(files.folder, files.limit, timeline) {
  if (codec) m_codec.emplace(*codec);
  m_stages = std::make_unique<Stages>();
  m_queue = &m_stages->template queue<std::shared_ptr<Piece>>(detail::queue_length(files.queue));
  m_stages->start("write snapshots", {m_queue}, {}, [this] {
    if (m_timeline != nullptr) m_timeline->name_thread("files");
    while (const auto piece = m_queue->pop()) {
      if (m_turned) {
        m_last[(*piece)->time] = *piece;
      } else {
        write(**piece);
      }
    }
  });
}

template <class T, int Dim, class Memory>
void FileStore<T, Dim, Memory>::save(const Instance<Memory>& exec,
                                     const wave::Wavefield<T, Dim, Memory>& wavefield,
                                     const Box<Dim>& box, std::int64_t time) {
  const auto piece = std::make_shared<Piece>();
  piece->time = time;
  m_boxes[time] = box;
  m_largest = std::max(m_largest, box.size());
  m_raw += static_cast<double>(box.size()) * sizeof(T);
  if (m_codec) {
    m_codec->encode(exec, wavefield.layout, wavefield.now[0], box, m_scratch);
    piece->packed = copy_packed<Kokkos::HostSpace>(exec, m_scratch);
    m_kept += static_cast<double>(piece->packed.bytes());
  } else {
    if (static_cast<std::int64_t>(m_values.size()) < box.size()) {
      m_values = allocate<wave::Storage<T, Memory>>(exec, "moho::snapshot::snapshot", box.size());
    }
    detail::take_box<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[0], box,
                                     m_values.data());
    piece->box = box;
    piece->values.resize(static_cast<std::size_t>(box.size()));
    m_kept += static_cast<double>(box.size()) * sizeof(T);
    copy(exec, HostElements<T>(piece->values.data(), piece->values.size()),
         Kokkos::subview(m_values, std::pair<std::size_t, std::size_t>(0, piece->values.size())));
    exec.fence();
  }
  const Stopwatch watch;
  m_queue->push(piece);
  m_waited += watch.seconds();
}

template <class T, int Dim, class Memory>
void FileStore<T, Dim, Memory>::write(const Piece& piece) {
  if (!m_codec) {
    m_file.write(piece.time, piece.values.data(), piece.values.size() * sizeof(T));
    return;
  }
  const auto bytes = to_container<Dim>(piece.packed, {m_options.grid, piece.time, 0.0});
  m_file.write(piece.time, bytes.data(), bytes.size());
}

template <class T, int Dim, class Memory>
typename FileStore<T, Dim, Memory>::Piece FileStore<T, Dim, Memory>::read(std::int64_t time) const {
  Piece piece;
  piece.time = time;
  if (m_codec) {
    const std::vector<std::uint8_t> bytes = m_file.read(time);
    SnapshotLabel<Dim> label;
    piece.packed = from_container<Dim>(bytes.data(), bytes.size(), m_file.name(), label);
    return piece;
  }
  piece.box = m_boxes.at(time);
  piece.values.resize(m_file.size_of(time) / sizeof(T));
  m_file.read(time, piece.values.data());
  return piece;
}

template <class T, int Dim, class Memory>
void FileStore<T, Dim, Memory>::end_forward(const Instance<Memory>&) {
  const Stopwatch watch;
  m_turned = true;
  m_queue->finish();
  m_stages->join();
  m_waited += watch.seconds();
  m_stages = std::make_unique<Stages>();
  m_queue =
      &m_stages->template queue<std::shared_ptr<Piece>>(detail::queue_length(m_options.queue));
  m_stages->start("read snapshots", {}, {m_queue}, [this] {
    if (m_timeline != nullptr) m_timeline->name_thread("files");
    for (auto it = m_boxes.rbegin(); it != m_boxes.rend(); ++it) {
      const auto last = m_last.extract(it->first);
      if (!m_queue->push(last ? last.mapped() : std::make_shared<Piece>(read(it->first)))) return;
    }
  });
}

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> FileStore<T, Dim, Memory>::load(const Instance<Memory>& exec,
                                                         std::int64_t time) {
  if (static_cast<std::int64_t>(m_values.size()) < m_largest) {
    m_values = allocate<wave::Storage<T, Memory>>(exec, "moho::snapshot::snapshot", m_largest);
  }
  const std::shared_ptr<Piece> piece = next(time);
  if (m_codec) {
    m_scratch = copy_packed<Memory>(exec, piece->packed);
    detail::decode_dense<T, Dim, Memory>(exec, *m_codec, m_scratch, m_values);
    return {m_scratch.header.box, m_values};
  }
  copy(exec,
       Kokkos::subview(m_values, std::pair<std::size_t, std::size_t>(0, piece->values.size())),
       HostElements<const T>(piece->values.data(), piece->values.size()));
  exec.fence();
  return {piece->box, m_values};
}

template <class T, int Dim, class Memory>
std::shared_ptr<typename FileStore<T, Dim, Memory>::Piece> FileStore<T, Dim, Memory>::next(
    std::int64_t time) {
  if (m_boxes.count(time) == 0) detail::no_snapshot(time);
  const Stopwatch watch;
  std::shared_ptr<Piece> piece;
  do {
    const auto read = m_queue->pop();
    if (!read) detail::no_snapshot(time);
    piece = *read;
  } while (piece->time != time);
  m_waited += watch.seconds();
  return piece;
}

template <class T, int Dim, class Memory>
bool FileStore<T, Dim, Memory>::correlate(const Instance<Memory>& exec, std::int64_t time,
                                          const Correlation<T, Dim, Memory>& correlation) {
  if (!m_codec || !detail::images_nodes<Memory>(m_codec->options().mode)) return false;
  m_scratch = copy_packed<Memory>(exec, next(time)->packed);
  detail::image_packed<T, Dim, Memory>(exec, *m_codec, m_scratch, correlation);
  return true;
}

template <class T, int Dim, class Memory>
SnapshotReport FileStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = m_codec ? concat("disk, compressed (", to_string(m_codec->options().mode), ")")
                        : std::string("disk");
  report.snapshots = static_cast<std::int64_t>(m_boxes.size());
  report.raw_bytes = m_raw;
  report.kept_bytes = m_kept;
  report.disk_bytes = static_cast<std::size_t>(m_file.size());
  report.device_bytes = m_values.size() * sizeof(T);
  report.seconds_waited = m_waited;
  return report;
}

}  // namespace moho::snapshot

/// \cond
#ifdef MOHO_SNAPSHOT_KERNELS
namespace moho::snapshot {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, CompressedStore)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, FileStore)
}  // namespace moho::snapshot
#endif
/// \endcond
