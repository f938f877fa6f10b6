// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/detail/write_advice.hpp>
#include <moho/io/write_error.hpp>

#include <cerrno>

namespace moho::io {

void throw_write_error(const std::string& what, int reason) {
  const std::string text = what + detail::write_advice(reason);
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) throw DiskError(text);
  throw FileError(text);
}

}  // namespace moho::io
