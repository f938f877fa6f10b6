// SPDX-License-Identifier: BSD-3-Clause
#include <moho/snapshot/codec/detail/huffman.hpp>

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace moho::snapshot::detail {

namespace {

/// Computes the lengths of one alphabet.
void lengths_of(const std::uint64_t* counts, std::uint8_t* lengths) {
  std::vector<int> used;
  for (int s = 0; s < symbols; ++s) {
    lengths[s] = 0;
    if (counts[s] > 0) used.push_back(s);
  }
  if (used.empty()) return;
  if (used.size() == 1) {
    lengths[used[0]] = 1;
    return;
  }
  // Huffman's tree: the two rarest nodes are merged
  const std::size_t leaves = used.size();
  std::vector<std::size_t> parent(2 * leaves - 1, 0);
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (std::size_t i = 0; i < leaves; ++i) queue.emplace(counts[used[i]], i);
  for (std::size_t next = leaves; next < parent.size(); ++next) {
    const Entry a = queue.top();
    queue.pop();
    const Entry b = queue.top();
    queue.pop();
    parent[a.second] = parent[b.second] = next;
    queue.emplace(a.first + b.first, next);
  }
  std::vector<int> depth(parent.size(), 0);
  for (std::size_t i = parent.size() - 1; i-- > 0;) depth[i] = depth[parent[i]] + 1;

  // Limit of the lengths. A code of n bits occupies 2^(longest_code - n) of code_states states.
  // While these do not suffice, the rarest symbols whose codes may grow get longer codes.
  std::vector<std::size_t> order(leaves);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[used[a]] < counts[used[b]]; });
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < leaves; ++i) {
    depth[i] = std::min(depth[i], longest_code);
    taken += std::int64_t(1) << (longest_code - depth[i]);
  }
  while (taken > code_states) {
    for (const std::size_t i : order) {
      if (depth[i] == longest_code) continue;
      taken -= std::int64_t(1) << (longest_code - depth[i] - 1);
      ++depth[i];
      break;
    }
  }
  // remaining states go to the most frequent symbols
  for (std::size_t k = leaves; k-- > 0;) {
    const std::size_t i = order[k];
    while (depth[i] > 1 && taken + (std::int64_t(1) << (longest_code - depth[i])) <= code_states) {
      taken += std::int64_t(1) << (longest_code - depth[i]);
      --depth[i];
    }
  }
  for (std::size_t i = 0; i < leaves; ++i) lengths[used[i]] = static_cast<std::uint8_t>(depth[i]);
}

/// Calls function(alphabet, symbol, code, length) for all symbols that occur; first bit lowest.
template <class Function>
void for_codes(const std::vector<std::uint8_t>& lengths, const Function& function) {
  for (std::size_t alphabet = 0; alphabet < lengths.size() / symbols; ++alphabet) {
    const std::uint8_t* const own = lengths.data() + alphabet * symbols;
    // the first code of each length, then the next for each symbol
    std::uint32_t next[longest_code + 1] = {}, used[longest_code + 1] = {};
    for (int s = 0; s < symbols; ++s) {
      if (own[s] <= longest_code) ++used[own[s]];
    }
    for (int length = 2; length <= longest_code; ++length) {
      next[length] = (next[length - 1] + used[length - 1]) << 1;
    }
    for (int s = 0; s < symbols; ++s) {
      const int length = own[s];
      if (length == 0 || length > longest_code) continue;
      std::uint32_t code = 0;
      for (int b = 0; b < length; ++b) code |= (next[length] >> b & 1u) << (length - 1 - b);
      function(alphabet, s, code, length);
      ++next[length];
    }
  }
}

}  // namespace

std::vector<std::uint8_t> code_lengths(const std::vector<std::uint64_t>& counts) {
  std::vector<std::uint8_t> lengths(counts.size(), 0);
  for (std::size_t i = 0; i + symbols <= counts.size(); i += symbols) {
    lengths_of(counts.data() + i, lengths.data() + i);
  }
  return lengths;
}

bool valid_lengths(const std::vector<std::uint8_t>& lengths) {
  if (lengths.size() % symbols != 0) return false;
  for (std::size_t i = 0; i < lengths.size(); i += symbols) {
    std::int64_t taken = 0;
    for (std::size_t s = 0; s < symbols; ++s) {
      if (lengths[i + s] > longest_code) return false;
      if (lengths[i + s] > 0) taken += std::int64_t(1) << (longest_code - lengths[i + s]);
    }
    if (taken > code_states) return false;
  }
  return true;
}

std::vector<std::uint32_t> encoding_table(const std::vector<std::uint8_t>& lengths) {
  std::vector<std::uint32_t> table(lengths.size(), 0);
  for_codes(lengths, [&](std::size_t alphabet, int symbol, std::uint32_t code, int length) {
    table[alphabet * symbols + static_cast<std::size_t>(symbol)] =
        code | static_cast<std::uint32_t>(length) << 16;
  });
  return table;
}

std::vector<std::uint16_t> decoding_table(const std::vector<std::uint8_t>& lengths) {
  // unused states decode as the end of a block
  std::vector<std::uint16_t> table(lengths.size() / symbols * code_states, 1u << 8);
  for_codes(lengths, [&](std::size_t alphabet, int symbol, std::uint32_t code, int length) {
    for (std::uint32_t state = code; state < code_states; state += 1u << length) {
      table[alphabet * code_states + state] = static_cast<std::uint16_t>(symbol | length << 8);
    }
  });
  return table;
}

std::vector<std::uint8_t> pack_lengths(const std::vector<std::uint8_t>& lengths) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < lengths.size(); i += symbols) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + symbols / 8, 0);
    bool half = false;
    for (std::size_t s = 0; s < symbols; ++s) {
      const std::uint8_t length = lengths[i + s];
      if (length == 0) continue;
      bytes[begin + s / 8] = static_cast<std::uint8_t>(bytes[begin + s / 8] | 1u << s % 8);
      if (half) {
        bytes.back() = static_cast<std::uint8_t>(bytes.back() | length << 4);
      } else {
        bytes.push_back(length);
      }
      half = !half;
    }
  }
  return bytes;
}

std::vector<std::uint8_t> unpack_lengths(const std::vector<std::uint8_t>& bytes, int alphabets) {
  std::vector<std::uint8_t> lengths(static_cast<std::size_t>(alphabets) * symbols, 0);
  std::size_t at = 0;
  for (std::size_t i = 0; i < lengths.size(); i += symbols) {
    const std::size_t begin = at;
    at += symbols / 8;
    if (at > bytes.size()) return {};
    bool half = false;
    for (std::size_t s = 0; s < symbols; ++s) {
      if ((bytes[begin + s / 8] >> s % 8 & 1u) == 0) continue;
      if (at >= bytes.size()) return {};
      lengths[i + s] = half ? bytes[at] >> 4 : bytes[at] & 15u;
      if (lengths[i + s] == 0) return {};
      if (half) ++at;
      half = !half;
    }
    if (half) ++at;
  }
  if (at != bytes.size() || !valid_lengths(lengths)) return {};
  return lengths;
}

}  // namespace moho::snapshot::detail
