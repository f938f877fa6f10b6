// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Store of snapshots that host threads compress and decompress concurrently with the run.

#include <moho/core/concurrent.hpp>
#include <moho/core/device_instances.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/queue.hpp>
#include <moho/core/staging.hpp>
#include <moho/core/text.hpp>
#include <moho/core/timeline.hpp>
#include <moho/snapshot/codec/codec.hpp>
#include <moho/snapshot/codec/container.hpp>
#include <moho/snapshot/compressed_limit.hpp>
#include <moho/snapshot/snapshot_file.hpp>
#include <moho/snapshot/stores.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace moho::snapshot {

/// \brief Store of snapshots in host memory or a file, compressed by host threads (Suh and Wang
/// 2011).
///
/// A snapshot leaves the device through a buffer of page-locked memory, from which a thread
/// compresses it. In the backward propagation, threads decompress ahead in the order of use; the
/// copy to the device is concurrent with the steps. The store has threads + 2 buffers. When all are
/// full the run waits (seconds_waited of the report). Each thread processes a separate snapshot
/// with single-threaded kernels.
///
/// In a file the compressed snapshots pass a queue to one more thread that writes them, except for
/// those that are in the queue at the end of the forward propagation. In the backward propagation
/// this thread reads ahead of the decompressing threads.
///
/// Runs on hosts may use it also; their steps then share the cores with the threads.
template <class T, int Dim, class Memory>
class HostCompressedStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param exec execution instance of the run
  /// \param arena memory of the buffers; the store is its only user until the shot is done
  /// \param largest nodes of the largest box
  /// \param options options of the codec
  /// \param threads number of compressing threads, 1 or more
  /// \param timeline receives spans of compressing, writing, reading and decompressing; may be
  /// null
  /// \param files folder, grid, largest size of the file, length of the queue; empty: snapshots
  /// stay in memory
  /// \param limit memory of snapshots that stay there; those beyond it go to its file, or end the
  /// propagation with a MemoryError
  /// \throws InputError for options out of range or no threads; FileError if no file can be made
  HostCompressedStore(const InstanceOf<Memory>& exec, HostArena<T, Memory>& arena,
                      std::int64_t largest, const CodecOptions& options, int threads,
                      Timeline* timeline = nullptr,
                      const std::optional<SnapshotFileOptions<Dim>>& files = std::nullopt,
                      const CompressedLimit<Dim>& limit = {});
  /// Waits for the threads and for pending copies.
  ~HostCompressedStore() override;
  HostCompressedStore(const HostCompressedStore&) = delete;
  HostCompressedStore& operator=(const HostCompressedStore&) = delete;
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override;
  void end_forward(const Instance<Memory>& exec) override;
  Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) override;
  SnapshotReport report() const override;

 private:
  using Host = Kokkos::HostSpace;
  using HostValues = Kokkos::View<T*, Kokkos::LayoutRight, StagingMemory<Memory>>;
  static constexpr bool on_device = !is_host_memory<Memory>;

  /// Host memory that one thread at a time owns.
  ///
  /// Its copies have a separate instance, so that the next owner of the buffer can wait for them
  /// alone.
  struct Buffer {
    Instance<Memory> lane;
    HostValues values;
  };
  struct Piece {
    std::int64_t time = 0;
    std::size_t buffer = 0;
  };
  struct Entry {
    Box<Dim> box;
    Packed<Dim, Host> packed;           ///< empty in a file
    std::int64_t bytes = 0;             ///< of the compressed snapshot
    std::promise<std::size_t> promise;  ///< receives the index of the buffer with the values
    std::future<std::size_t> decompressed;
  };
  /// Bytes of a snapshot in the file.
  struct FilePiece {
    std::int64_t time = 0;
    std::vector<std::uint8_t> bytes;
  };
  static wave::Layout<Dim> dense_layout(const Box<Dim>& box);
  void start_writing();
  void start_reading();
  void compress(int thread);
  void decompress(int thread);
  void decompress_wanted(int thread);
  std::size_t take_buffer();
  wave::Storage<T, Memory> part(int buffer, const Box<Dim>& box) const {
    return Kokkos::subview(m_here[buffer], std::pair<std::size_t, std::size_t>(
                                               0, static_cast<std::size_t>(box.size())));
  }
  void bring(const Instance<Memory>& exec, Entry& entry, std::int64_t time);

  CodecOptions m_options;
  int m_threads;
  Timeline* m_timeline;
  detail::LimitedMemory<Dim> m_memory;
  std::vector<Instance<Host>> m_hosts;  ///< instances of the threads
  std::vector<Buffer> m_buffers;
  wave::Storage<T, Memory> m_here[2];  ///< buffers in the memory of the run; empty on hosts
  std::int64_t m_user[2] = {-1, -1};   ///< buffer whose lane last used the element
  int m_next = 0;                      ///< index in m_here to fill next
  std::int64_t m_brought = -1;         ///< time of the snapshot in transfer to m_here[m_next]
  std::int64_t m_given = -1;           ///< hosts: the buffer that load() returned
  std::map<std::int64_t, Entry> m_entries;
  std::vector<std::int64_t> m_order;  ///< times in the order of use
  std::size_t m_taken = 0;            ///< taken elements of m_order; guarded by m_mutex
  std::mutex m_mutex;                 ///< guards the order in which threads take snapshots
  std::optional<SnapshotFileOptions<Dim>> m_file_options;
  std::optional<SnapshotFile> m_file;
  std::atomic<bool> m_turned{false};         ///< the forward propagation has ended
  std::map<std::int64_t, FilePiece> m_last;  ///< not written; of the file's thread
  std::unique_ptr<Stages> m_stages;
  Queue<std::size_t>* m_free = nullptr;
  Queue<Piece>* m_full = nullptr;
  Queue<FilePiece>* m_pieces = nullptr;  ///< to or from the file; null in memory
  double m_raw = 0.0, m_waited = 0.0;
};

template <class T, int Dim, class Memory>
HostCompressedStore<T, Dim, Memory>::HostCompressedStore(
    const InstanceOf<Memory>& exec, HostArena<T, Memory>& arena, std::int64_t largest,
    const CodecOptions& options, int threads, Timeline* timeline,
    const std::optional<SnapshotFileOptions<Dim>>& files, const CompressedLimit<Dim>& limit)
    : m_options(options),
      m_threads(threads),
      m_timeline(timeline),
      m_memory(limit, timeline),
      m_file_options(files) {
  check_options(options);
  if (threads < 1) {
    throw InputError(concat("threads that compress are ", threads, " (allowed: 1 or more)"));
  }
  if (files) m_file.emplace(files->folder, files->limit, timeline);
#ifdef KOKKOS_ENABLE_SERIAL
  // two or more, so that none of them is that of a run on the host
  m_hosts = concurrent_instances(Instance<Host>(Kokkos::Serial()), std::max(threads, 2));
#else
  m_hosts = concurrent_instances(Instance<Host>(Kokkos::DefaultHostExecutionSpace()), threads);
#endif
  arena.reset();
  for (int n = 0; n < threads + 2; ++n) {
    m_buffers.push_back({new_instance(Instance<Memory>(exec)), arena.take(largest)});
  }
  if constexpr (on_device) {
    for (auto& here : m_here) {
      here = allocate<wave::Storage<T, Memory>>(Instance<Memory>(exec), "moho::snapshot::snapshot",
                                                largest);
    }
  }
  m_stages = std::make_unique<Stages>();
  m_free = &m_stages->template queue<std::size_t>(m_buffers.size());
  m_full = &m_stages->template queue<Piece>(m_buffers.size());
  for (std::size_t b = 0; b < m_buffers.size(); ++b) m_free->push(b);
  std::vector<QueueEnds*> writes;
  if (m_file) {
    start_writing();
    writes.push_back(m_pieces);
  }
  for (int n = 0; n < threads; ++n) {
    m_stages->start("compress", {m_full}, writes, [this, n] { compress(n); });
  }
}

template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::start_writing() {
  m_pieces = &m_stages->template queue<FilePiece>(detail::queue_length(m_file_options->queue));
  m_stages->start("write snapshots", {m_pieces}, {}, [this] {
    if (m_timeline != nullptr) m_timeline->name_thread("files");
    while (auto piece = m_pieces->pop()) {
      if (m_turned) {
        m_last[piece->time] = std::move(*piece);
      } else {
        m_file->write(piece->time, piece->bytes.data(), piece->bytes.size());
      }
    }
  });
}

template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::start_reading() {
  m_pieces = &m_stages->template queue<FilePiece>(detail::queue_length(m_file_options->queue));
  m_stages->start("read snapshots", {}, {m_pieces}, [this] {
    if (m_timeline != nullptr) m_timeline->name_thread("files");
    for (const std::int64_t time : m_order) {
      auto last = m_last.extract(time);
      if (!m_pieces->push(last ? std::move(last.mapped()) : FilePiece{time, m_file->read(time)})) {
        return;
      }
    }
  });
}

template <class T, int Dim, class Memory>
HostCompressedStore<T, Dim, Memory>::~HostCompressedStore() {
  m_stages.reset();
  if constexpr (on_device) {
    for (const Buffer& buffer : m_buffers) buffer.lane.fence();
  }
}

template <class T, int Dim, class Memory>
wave::Layout<Dim> HostCompressedStore<T, Dim, Memory>::dense_layout(const Box<Dim>& box) {
  wave::Layout<Dim> layout;
  layout.extents = box.upper;
  layout.window = {box.lower[0], box.upper[0]};
  layout.strides = dense_strides(box);
  layout.size = box.size();
  for (int d = 0; d < Dim; ++d) layout.offset -= box.lower[d] * layout.strides[d];
  return layout;
}

template <class T, int Dim, class Memory>
std::size_t HostCompressedStore<T, Dim, Memory>::take_buffer() {
  const Stopwatch watch;
  const auto buffer = m_free->pop();
  m_waited += watch.seconds();
  if (!buffer) throw Cancelled("the work was given up");
  return *buffer;
}

template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::save(const Instance<Memory>& exec,
                                               const wave::Wavefield<T, Dim, Memory>& wavefield,
                                               const Box<Dim>& box, std::int64_t time) {
  const std::size_t number = take_buffer();
  const Buffer& buffer = m_buffers[number];
  const auto to = Kokkos::subview(
      buffer.values, std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(box.size())));
  if constexpr (on_device) {
    if (m_user[m_next] >= 0) {
      wait_on_device(exec, m_buffers[static_cast<std::size_t>(m_user[m_next])].lane);
    }
    const auto here = part(m_next, box);
    detail::take_box<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[0], box, here.data());
    wait_on_device(buffer.lane, exec);
    copy(buffer.lane, to, here);
    m_user[m_next] = static_cast<std::int64_t>(number);
    m_next = 1 - m_next;
  } else {
    detail::take_box<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[0], box, to.data());
  }
  m_raw += static_cast<double>(box.size()) * sizeof(T);
  {
    const std::lock_guard lock(m_mutex);
    m_entries[time].box = box;
  }
  m_full->push({time, number});
}

template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::compress(int thread) {
  if (m_timeline != nullptr) m_timeline->name_thread(concat("compression ", thread));
  const Instance<Host>& host = m_hosts[static_cast<std::size_t>(thread)];
  Codec<T, Dim, Host> codec(m_options);
  while (const auto piece = m_full->pop()) {
    const Buffer& buffer = m_buffers[piece->buffer];
    if constexpr (on_device) buffer.lane.fence();  // the copy is complete
    Entry* entry = nullptr;
    {
      const std::lock_guard lock(m_mutex);
      entry = &m_entries.at(piece->time);
    }
    TimelineSpan span(m_timeline, "compress");
    const wave::Layout<Dim> layout = dense_layout(entry->box);
    codec.encode(
        host, layout,
        Kokkos::View<const T*, Host>(buffer.values.data(), static_cast<std::size_t>(layout.size)),
        entry->box, entry->packed);
    span.set_bytes(entry->packed.raw_bytes());
    entry->bytes = entry->packed.bytes();
    m_free->push(piece->buffer);
    if (!m_file && m_memory.claim(detail::held_bytes(entry->packed))) continue;
    const Packed<Dim, Host> packed = std::exchange(entry->packed, {});
    if (!m_file) {
      m_memory.write(piece->time, packed);
      continue;
    }
    m_pieces->push(
        {piece->time, to_container<Dim>(packed, {m_file_options->grid, piece->time, 0.0})});
  }
}

template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::end_forward(const Instance<Memory>&) {
  const Stopwatch watch;
  m_turned = true;
  m_full->finish();
  m_stages->join();
  m_waited += watch.seconds();
  for (auto it = m_entries.rbegin(); it != m_entries.rend(); ++it) {
    m_order.push_back(it->first);
    it->second.decompressed = it->second.promise.get_future();
  }
  m_user[0] = m_user[1] = -1;
  m_stages = std::make_unique<Stages>();
  m_free = &m_stages->template queue<std::size_t>(m_buffers.size());
  for (std::size_t b = 0; b < m_buffers.size(); ++b) m_free->push(b);
  std::vector<QueueEnds*> reads{m_free};
  if (m_file) {
    start_reading();
    reads.push_back(m_pieces);
  }
  for (int n = 0; n < m_threads; ++n) {
    m_stages->start("decompress", reads, {}, [this, n] { decompress(n); });
  }
}

// No caller waits for a thread that ended early. A request for a snapshot that no other thread has
// taken receives the thread's exception.
template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::decompress(int thread) {
  try {
    decompress_wanted(thread);
  } catch (...) {
    const std::lock_guard lock(m_mutex);
    while (m_taken < m_order.size()) {
      m_entries.at(m_order[m_taken++]).promise.set_exception(std::current_exception());
    }
    throw;
  }
}

template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::decompress_wanted(int thread) {
  if (m_timeline != nullptr) m_timeline->name_thread(concat("compression ", thread));
  const Instance<Host>& host = m_hosts[static_cast<std::size_t>(thread)];
  Codec<T, Dim, Host> codec(m_options);
  for (;;) {
    std::size_t number = 0;
    std::int64_t time = 0;
    std::optional<FilePiece> piece;
    Packed<Dim, Host> unpacked;  // of the piece
    {
      // buffers serve snapshots in the order of use
      const std::lock_guard lock(m_mutex);
      if (m_taken == m_order.size()) return;
      const auto buffer = m_free->pop();
      if (!buffer) return;
      number = *buffer;
      if (m_file) {
        piece = m_pieces->pop();  // in the same order
        if (!piece) return;
      }
      time = m_order[m_taken++];
    }
    Entry& entry = m_entries.at(time);
    try {
      const Buffer& buffer = m_buffers[number];
      if constexpr (on_device) buffer.lane.fence();  // the buffer's values are on the device
      {
        TimelineSpan span(m_timeline, "decompress");
        if (piece) {
          SnapshotLabel<Dim> label;
          unpacked =
              from_container<Dim>(piece->bytes.data(), piece->bytes.size(), m_file->name(), label);
        }
        const bool beyond = !piece && m_memory.has(time);
        if (beyond) unpacked = m_memory.read(time);
        const Packed<Dim, Host>& packed = piece || beyond ? unpacked : entry.packed;
        span.set_bytes(packed.raw_bytes());
        const wave::Layout<Dim> layout = dense_layout(entry.box);
        codec.decode(
            host, packed, layout,
            Kokkos::View<T*, Host>(buffer.values.data(), static_cast<std::size_t>(layout.size)),
            entry.box);
        host.fence();
      }
      entry.promise.set_value(number);
    } catch (...) {
      entry.promise.set_exception(std::current_exception());
    }
  }
}

/// Submits the copy of the decompressed values to the device.
template <class T, int Dim, class Memory>
void HostCompressedStore<T, Dim, Memory>::bring(const Instance<Memory>& exec, Entry& entry,
                                                std::int64_t time) {
  if constexpr (on_device) {
    const Stopwatch watch;
    const std::size_t number = entry.decompressed.get();
    m_waited += watch.seconds();
    const Buffer& buffer = m_buffers[number];
    wait_on_device(buffer.lane, exec);  // the previous result at this address has been used
    copy(buffer.lane, part(m_next, entry.box),
         Kokkos::subview(buffer.values, std::pair<std::size_t, std::size_t>(
                                            0, static_cast<std::size_t>(entry.box.size()))));
    m_user[m_next] = static_cast<std::int64_t>(number);
    m_brought = time;
  } else {
    (void)exec, (void)entry, (void)time;
  }
}

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> HostCompressedStore<T, Dim, Memory>::load(const Instance<Memory>& exec,
                                                                   std::int64_t time) {
  const auto found = m_entries.find(time);
  if (found == m_entries.end()) detail::no_snapshot(time);
  Entry& entry = found->second;
  if constexpr (on_device) {
    if (m_brought != time) {
      if (m_brought >= 0) m_free->push(static_cast<std::size_t>(m_user[m_next]));
      bring(exec, entry, time);
    }
    const auto lane = static_cast<std::size_t>(m_user[m_next]);
    wait_on_device(exec, m_buffers[lane].lane);
    m_free->push(lane);  // the next owner waits for the copy
    const Snapshot<T, Dim, Memory> result{entry.box, part(m_next, entry.box)};
    m_next = 1 - m_next;
    m_brought = -1;
    // the next snapshot is copied concurrently with the steps, if it is decompressed
    if (found != m_entries.begin()) {
      const auto before = std::prev(found);
      if (before->second.decompressed.wait_for(std::chrono::seconds(0)) ==
          std::future_status::ready) {
        bring(exec, before->second, before->first);
      }
    }
    return result;
  } else {
    if (m_given >= 0) m_free->push(static_cast<std::size_t>(m_given));
    const Stopwatch watch;
    m_given = static_cast<std::int64_t>(entry.decompressed.get());
    m_waited += watch.seconds();
    return {entry.box, Kokkos::subview(m_buffers[static_cast<std::size_t>(m_given)].values,
                                       std::pair<std::size_t, std::size_t>(
                                           0, static_cast<std::size_t>(entry.box.size())))};
  }
}

template <class T, int Dim, class Memory>
SnapshotReport HostCompressedStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = concat("compressed (", to_string(m_options.mode), ") by ",
                       text::counted(m_threads, "thread"), " of the host",
                       m_file                   ? ", in files"
                       : m_memory.written() > 0 ? ", some in files"
                                                : "");
  report.snapshots = static_cast<std::int64_t>(m_entries.size());
  report.raw_bytes = m_raw;
  for (const auto& [time, entry] : m_entries) {
    report.kept_bytes += static_cast<double>(entry.bytes);
  }
  std::size_t buffers = 0;
  for (const Buffer& buffer : m_buffers) buffers += buffer.values.size() * sizeof(T);
  report.disk_bytes = m_file ? m_file->size() : m_memory.file_bytes();
  const std::size_t kept = m_memory.written() > 0 ? static_cast<std::size_t>(m_memory.held())
                                                  : static_cast<std::size_t>(report.kept_bytes);
  const std::size_t host = (m_file ? 0 : kept) + buffers;
  (on_device ? report.host_bytes : report.device_bytes) = host;
  report.device_bytes += (m_here[0].size() + m_here[1].size()) * sizeof(T);
  report.seconds_waited = m_waited;
  return report;
}

}  // namespace moho::snapshot

/// \cond
#ifdef MOHO_SNAPSHOT_KERNELS
namespace moho::snapshot {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, HostCompressedStore)
}  // namespace moho::snapshot
#endif
/// \endcond
