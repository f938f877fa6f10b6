// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/timeline.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace moho {

namespace {

/// Returns a text as a JSON string, with quotes.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Formats seconds as microseconds with three decimals, independent of the locale.
std::string microseconds(double seconds) {
  const auto nanoseconds = static_cast<std::int64_t>(std::llround(seconds * 1e9));
  const std::int64_t part = nanoseconds % 1000;
  std::string digits = std::to_string(part);
  digits.insert(0, 3 - digits.size(), '0');
  return std::to_string(nanoseconds / 1000) + '.' + digits;
}

}  // namespace

int Timeline::thread_number() {
  const std::thread::id id = std::this_thread::get_id();
  for (const Thread& thread : m_threads) {
    if (thread.id == id) return thread.number;
  }
  m_threads.push_back({id, static_cast<int>(m_names.size())});
  m_names.emplace_back();
  return m_threads.back().number;
}

void Timeline::add(std::string_view stage, double begin, double end, std::int64_t bytes) {
  const std::lock_guard lock(m_mutex);
  auto known = std::find(m_stages.begin(), m_stages.end(), stage);
  if (known == m_stages.end()) known = m_stages.insert(known, std::string(stage));
  m_entries.push_back({static_cast<int>(known - m_stages.begin()), thread_number(),
                       std::max(begin, 0.0), std::max(begin, end), bytes});
}

void Timeline::name_thread(std::string_view name) {
  const std::lock_guard lock(m_mutex);
  const std::thread::id id = std::this_thread::get_id();
  auto thread = std::find_if(m_threads.begin(), m_threads.end(),
                             [&](const Thread& known) { return known.id == id; });
  const auto row = std::find(m_names.begin(), m_names.end(), name);
  const int number = static_cast<int>(row - m_names.begin());
  if (row == m_names.end()) m_names.emplace_back(name);
  // The system reuses the identifier of a thread that has ended for a new thread with another name.
  if (thread == m_threads.end()) {
    m_threads.push_back({id, number});
  } else {
    thread->number = number;
  }
}

std::vector<Timeline::Span> Timeline::spans() const {
  std::vector<Span> result;
  {
    const std::lock_guard lock(m_mutex);
    result.reserve(m_entries.size());
    for (const Entry& entry : m_entries) {
      result.push_back({m_stages[static_cast<std::size_t>(entry.stage)], entry.thread, entry.begin,
                        entry.end, entry.bytes});
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return result;
}

std::vector<Timeline::Total> Timeline::totals() const {
  const std::lock_guard lock(m_mutex);
  std::vector<Total> result(m_stages.size());
  for (std::size_t n = 0; n < m_stages.size(); ++n) result[n].stage = m_stages[n];
  for (const Entry& entry : m_entries) {
    Total& total = result[static_cast<std::size_t>(entry.stage)];
    total.seconds += entry.end - entry.begin;
    total.bytes += entry.bytes;
    ++total.spans;
  }
  return result;
}

std::string Timeline::json(int process) const {
  const std::vector<Span> all = spans();
  const std::string pid = std::to_string(process);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  const char* separator = "\n";
  {
    const std::lock_guard lock(m_mutex);
    for (std::size_t n = 0; n < m_names.size(); ++n) {
      const std::string name = m_names[n].empty() ? "thread " + std::to_string(n) : m_names[n];
      text += separator;
      text += "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + pid +
              ",\"tid\":" + std::to_string(n) + ",\"args\":{\"name\":" + quoted(name) + "}}";
      separator = ",\n";
    }
  }
  for (const Span& span : all) {
    text += separator;
    text += "{\"ph\":\"X\",\"cat\":\"moho\",\"name\":" + quoted(span.stage) + ",\"pid\":" + pid +
            ",\"tid\":" + std::to_string(span.thread) + ",\"ts\":" + microseconds(span.begin) +
            ",\"dur\":" + microseconds(span.seconds()) +
            ",\"args\":{\"bytes\":" + std::to_string(span.bytes) + "}}";
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace moho
