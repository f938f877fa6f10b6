// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Requests for huge pages change no values, for any address and size.

#include "spaces.hpp"

#include <moho/core/field.hpp>
#include <moho/core/kokkos.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

constexpr std::size_t megabyte = 1u << 20;

TEST(LargePages, LeaveWhatMemoryHolds) {
  std::vector<std::uint32_t> memory(16 * megabyte / sizeof(std::uint32_t));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint32_t>(i * 7919u);
  for (const std::size_t skip : {std::size_t(0), std::size_t(1), std::size_t(1000)}) {
    for (const std::size_t bytes : {std::size_t(0), std::size_t(4096), 2 * megabyte, 4 * megabyte,
                                    7 * megabyte + 12, 15 * megabyte}) {
      moho::detail::advise_huge_pages(memory.data() + skip, bytes);
    }
  }
  moho::detail::advise_huge_pages(nullptr, 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    wrong += memory[i] != static_cast<std::uint32_t>(i * 7919u);
  }
  EXPECT_EQ(wrong, 0u);
}

template <class Exec>
class LargeFields : public ::testing::Test {};
TYPED_TEST_SUITE(LargeFields, moho::testing::TestSpaces, moho::testing::SpaceName);

TYPED_TEST(LargeFields, HoldWhatIsWritten) {
  const typename TypeParam::Exec exec;
  moho::Grid<2> grid;
  grid.extents = {2001, 1203};  // 9.6 MB
  const auto field = moho::make_field<float>(exec, grid, "large");
  EXPECT_EQ(field.extent(0), 2001u);
  EXPECT_EQ(field.extent(1), 1203u);
  Kokkos::deep_copy(exec, field, 3.5f);
  exec.fence();
  const auto host = Kokkos::create_mirror_view(field);
  Kokkos::deep_copy(host, field);
  double sum = 0.0;
  for (int i = 0; i < 2001; ++i) {
    for (int j = 0; j < 1203; ++j) sum += static_cast<double>(host(i, j));
  }
  EXPECT_EQ(sum, 3.5 * 2001 * 1203);
}

}  // namespace
