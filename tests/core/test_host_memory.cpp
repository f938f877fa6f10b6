// SPDX-License-Identifier: BSD-3-Clause
//
// Limits of control groups, tested with files as the system provides them.

#include <moho/core/host_memory.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
constexpr std::size_t mebi = std::size_t(1) << 20;

// A folder that represents the root of a machine with 8 GiB available.
class Machine {
 public:
  Machine() {
    std::string name = (fs::temp_directory_path() / "moho-memory-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    m_root = name;
    put("proc/meminfo", "MemTotal: 16777216 kB\nMemFree: 1024 kB\nMemAvailable: 8388608 kB\n");
  }
  ~Machine() {
    std::error_code ignored;
    fs::remove_all(m_root, ignored);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((m_root / path).parent_path());
    std::ofstream(m_root / path) << text;
  }
  void put_number(const std::string& path, std::size_t number) const {
    put(path, std::to_string(number) + "\n");
  }
  moho::HostMemory memory() const { return moho::host_memory(m_root); }

 private:
  fs::path m_root;
};

TEST(HostMemory, WithoutGroupsIsWhatIsAvailable) {
  const Machine machine;
  EXPECT_EQ(machine.memory().bytes, 8192 * mebi);
  EXPECT_FALSE(machine.memory().of_control_group);
}

TEST(HostMemory, Version2CountsAllGroupsAbove) {
  const Machine machine;
  machine.put("proc/self/cgroup", "0::/batch/job\n");
  machine.put("proc/self/mountinfo",
              "22 20 0:5 / /proc rw - proc proc rw\n"
              "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  machine.put("sys/fs/cgroup/batch/job/memory.max", "max\n");
  machine.put_number("sys/fs/cgroup/batch/job/memory.current", 5 * mebi);
  EXPECT_EQ(machine.memory().bytes, 8192 * mebi);
  machine.put_number("sys/fs/cgroup/batch/memory.max", 1000 * mebi);
  machine.put_number("sys/fs/cgroup/batch/memory.current", 300 * mebi);
  // the page cache can be reclaimed
  machine.put("sys/fs/cgroup/batch/memory.stat", "anon 1\ninactive_file " +
                                                     std::to_string(40 * mebi) + "\nactive_file " +
                                                     std::to_string(10 * mebi) + "\nslab 7\n");
  EXPECT_EQ(machine.memory().bytes, 750 * mebi);
  EXPECT_TRUE(machine.memory().of_control_group);
  machine.put_number("sys/fs/cgroup/batch/job/memory.max", 100 * mebi);
  EXPECT_EQ(machine.memory().bytes, 95 * mebi);
  machine.put_number("sys/fs/cgroup/batch/job/memory.current", 200 * mebi);
  EXPECT_EQ(machine.memory().bytes, 0u);
}

TEST(HostMemory, Version2InAContainerThatShowsItsGroupAsTheTop) {
  const Machine machine;
  machine.put("proc/self/cgroup", "0::/docker/0123\n");
  machine.put("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  machine.put_number("sys/fs/cgroup/memory.max", 512 * mebi);
  machine.put_number("sys/fs/cgroup/memory.current", 12 * mebi);
  EXPECT_EQ(machine.memory().bytes, 500 * mebi);
}

TEST(HostMemory, Version1) {
  const Machine machine;
  machine.put("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/slurm/job_7\n0::/\n");
  machine.put("proc/self/mountinfo",
              "35 31 0:32 / /sys/fs/cgroup/cpu,memory rw - cgroup cgroup rw,cpu,memory\n"
              "36 31 0:33 / /sys/fs/cgroup/devices rw - cgroup cgroup rw,devices\n");
  const std::string group = "sys/fs/cgroup/cpu,memory/slurm/";
  machine.put(group + "job_7/memory.limit_in_bytes", "9223372036854771712\n");  // no limit
  machine.put_number(group + "job_7/memory.usage_in_bytes", 100 * mebi);
  EXPECT_EQ(machine.memory().bytes, 8192 * mebi);
  machine.put_number(group + "job_7/memory.limit_in_bytes", 2000 * mebi);
  machine.put(group + "job_7/memory.stat",
              "inactive_file 5\ntotal_inactive_file " + std::to_string(30 * mebi) + "\n");
  EXPECT_EQ(machine.memory().bytes, 1930 * mebi);
  EXPECT_TRUE(machine.memory().of_control_group);
}

TEST(HostMemory, Version1WhereTheMountBeginsAtTheGroup) {
  const Machine machine;
  machine.put("proc/self/cgroup", "4:memory:/docker/0123/inner\n");
  machine.put("proc/self/mountinfo",
              "35 31 0:32 /docker/0123 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  machine.put_number("sys/fs/cgroup/memory/memory.limit_in_bytes", 64 * mebi);
  machine.put_number("sys/fs/cgroup/memory/memory.usage_in_bytes", 4 * mebi);
  machine.put_number("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", 32 * mebi);
  machine.put_number("sys/fs/cgroup/memory/inner/memory.usage_in_bytes", 4 * mebi);
  EXPECT_EQ(machine.memory().bytes, 28 * mebi);
}

TEST(HostMemory, OfThisMachine) {
  const moho::HostMemory memory = moho::host_memory();
  EXPECT_GT(memory.bytes, 0u);
}

}  // namespace
