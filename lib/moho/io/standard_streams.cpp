// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/standard_streams.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace moho::io {

void open_closed_standard_streams() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = ::open("/dev/null", O_RDONLY);
  if (opened >= 0) ::close(opened);
}

}  // namespace moho::io
