// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/io.hpp>

#include <cmath>
#include <fstream>

namespace moho::io {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::ElementsAre;

TEST(Model, ReadsEveryKindOfFile) {
  const Folder folder;
  const Array<float> values{{2, 3}, {1, 2, 3, 4, 5, 6}};
  write_npy(folder / "a.npy", values);
  std::vector<RsfAxis> axes(2);
  axes[0].spacing = 12.5;
  axes[0].origin = 100;
  axes[1].spacing = 7.5;
  write_rsf(folder / "a.rsf", values, axes);
  write_segy_model(folder / "a.sgy", values, {12.5, 7.5}, {100, 0});
  write_segy_model(folder / "A.SEGY", values, {12.5, 7.5}, {100, 0});
  for (const char* name : {"a.npy", "a.rsf", "a.sgy", "A.SEGY"}) {
    const LoadedModel<double> model = read_model<double>(folder / name);
    EXPECT_EQ(model.values.shape, values.shape) << name;
    EXPECT_THAT(model.values.data, ElementsAre(1, 2, 3, 4, 5, 6)) << name;
    EXPECT_EQ(read_model<float>(folder / name).values.data, values.data) << name;
    if (model.format == "npy") {
      EXPECT_FALSE(model.has_spacing());
      EXPECT_THAT(model.spacing, ElementsAre(0, 0));
      continue;
    }
    EXPECT_TRUE(model.has_spacing());
    EXPECT_THAT(model.spacing, ElementsAre(12.5, 7.5)) << name;
    EXPECT_THAT(model.origin, ElementsAre(100, 0)) << name;
    EXPECT_EQ(model.format, name[2] == 'r' ? "rsf" : "segy");
  }
}

TEST(Model, HeadersTellTheShapeAndTheFiles) {
  const Folder folder;
  const Array<float> flat{{4, 3}, std::vector<float>(12, 1.0f)};
  const Array<double> volume{{4, 5, 3}, std::vector<double>(60, 1.0)};
  write_npy(folder / "a.npy", flat);
  write_rsf(folder / "a.rsf", flat);
  write_segy_model(folder / "a.sgy", flat, {12.5, 7.5}, {100, 0});
  write_npy(folder / "b.npy", volume);
  write_rsf(folder / "b.rsf", volume, {}, {.one_file = false});
  write_segy_model(folder / "b.segy", volume, {10, 20, 5}, {0, 0, 0});
  for (const char* name : {"a.npy", "a.rsf", "a.sgy", "b.npy", "b.rsf", "b.segy"}) {
    const ModelHeader header = peek_model<float>(folder / name);
    EXPECT_EQ(header.shape, read_model<float>(folder / name).values.shape) << name;
    EXPECT_EQ(header.files, files_of(folder / name)) << name;
    EXPECT_EQ(header.files.size(), std::string(name) == "b.rsf" ? 2u : 1u) << name;
    EXPECT_EQ(header.files.front(), folder / name);
  }
  EXPECT_EQ(files_of(folder / "b.rsf").back(), folder / "b.rsf@");
  EXPECT_THAT(files_of(folder / "none.rsf"), ElementsAre(folder / "none.rsf"));
  EXPECT_THAT(message_of<FileError>([&] { (void)peek_model<float>(folder / "none.npy"); }),
              HasSubstr("none.npy"));
  EXPECT_EQ(node_of(folder / "a.npy"),
            node_of(folder / "../" / folder.path().filename() / "a.npy"));
  EXPECT_NE(node_of(folder / "a.npy"), node_of(folder / "b.npy"));
  EXPECT_FALSE(node_of(folder / "none.npy"));
}

TEST(Model, LengthsComeInMetres) {
  const Folder folder;
  const Array<float> values{{2, 3}, {1, 2, 3, 4, 5, 6}};
  const auto rsf = [&](const std::string& x, const std::string& z) {
    std::vector<RsfAxis> axes(2);
    axes[0].spacing = 0.5;
    axes[0].origin = 2.0;
    axes[1].spacing = 0.25;
    axes[0].unit = x;
    axes[1].unit = z;
    write_rsf(folder / "a.rsf", values, axes);
    return read_model<float>(folder / "a.rsf");
  };
  LoadedModel<float> model = rsf("km", "Kilometers");
  EXPECT_THAT(model.spacing, ElementsAre(500, 250));
  EXPECT_THAT(model.origin, ElementsAre(2000, 0));
  EXPECT_EQ(model.length_unit, "km");
  EXPECT_EQ(model.values.data, values.data);
  model = rsf("", "ft");
  EXPECT_THAT(model.spacing, ElementsAre(0.5, ::testing::DoubleNear(0.25 * 0.3048, 1e-12)));
  EXPECT_EQ(model.length_unit, "ft");
  EXPECT_EQ(rsf("m", "km").length_unit, "mixed");
  EXPECT_EQ(rsf("", "").length_unit, "");
  EXPECT_THAT(message_of<FileError>([&] { rsf("m", "s"); }),
              AllOf(HasSubstr("has unit1=s (allowed for a model: m, km or ft)")));

  write_segy_model(folder / "a.sgy", values, {10, 5}, {100, 0});
  EXPECT_EQ(read_model<float>(folder / "a.sgy").length_unit, "m");
  std::fstream file(folder / "a.sgy", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3254);
  file.write("\0\2", 2);
  file.close();
  model = read_model<float>(folder / "a.sgy");
  EXPECT_EQ(model.length_unit, "ft");
  EXPECT_THAT(model.spacing, ElementsAre(::testing::DoubleNear(3.048, 1e-12),
                                         ::testing::DoubleNear(1.524, 1e-12)));
  EXPECT_THAT(model.origin, ElementsAre(::testing::DoubleNear(30.48, 1e-12), 0));
}

TEST(Model, FilesAreComparedWithNodes) {
  LoadedModel<float> model{{{2, 3}, {1, 2, 3, 4, 5, 6}}, {10, 0}, {100, 0}, "rsf"};
  model.has_origin = {true, false};
  const ModelNodes nodes = nodes_of(model, {7.5}, {40, 30});
  EXPECT_THAT(nodes.spacing, ElementsAre(10, 7.5));
  EXPECT_THAT(nodes.origin, ElementsAre(100, 30));
  const auto text = [&](ModelNodes other) {
    return message_of<InputError>([&] { check_nodes("--a f", model, other, "b", "mend it"); });
  };
  check_nodes("--a f", model, nodes, "b", "mend it");
  check_nodes("--a f", model, {{2, 3}, {10.0009, 1}, {100.09, 0}}, "b", "mend it");
  check_nodes("--a f", model, {{2, 3}, {0, 0}, {std::nan(""), 0}}, "b", "mend it");
  EXPECT_EQ(text({{2, 4}, {10, 10}, {100, 0}}),
            "--a f: its shape is 2 x 3 (allowed: 2 x 4, that of b): mend it");
  EXPECT_EQ(text({{2, 3}, {10.002, 10}, {100, 0}}),
            "--a f: its nodes are 10 m apart along x (allowed: 10.002 m, as in b): mend it");
  EXPECT_EQ(text({{2, 3}, {10, 10}, {101, 0}}),
            "--a f: its first node is at x = 100 m (allowed: 101 m, as in b): mend it");
}

TEST(Model, MakesAGrid) {
  LoadedModel<float> model{{{2, 3}, {1, 2, 3, 4, 5, 6}}, {0, 7.5}, {100, 0}, "npy"};
  EXPECT_THAT(message_of<InputError>([&] { (void)model_grid<2>(model); }),
              HasSubstr("spacing along x"));
  EXPECT_THAT(message_of<InputError>([&] { (void)model_grid<3>(model, 1.0); }),
              HasSubstr("2 x 3 (3 wanted)"));
  const Grid<2> grid = model_grid<2>(model, 10.0);
  EXPECT_EQ(grid.extents[0], 2);
  EXPECT_EQ(grid.extents[1], 3);
  EXPECT_EQ(grid.spacing[0], 10.0);
  EXPECT_EQ(grid.spacing[1], 7.5);
  EXPECT_EQ(grid.origin[0], 100.0);
}

TEST(Model, RefusesOtherFiles) {
  const Folder folder;
  const auto refusal = [&](const std::string& name) {
    return message_of<FileError>([&] { (void)read_model<float>(folder / name); });
  };
  EXPECT_THAT(refusal("a.dat"), AllOf(HasSubstr("'.dat'"), HasSubstr(".npy, .rsf, .sgy, .segy")));
  EXPECT_THAT(refusal("a"), HasSubstr(".npy, .rsf"));
  EXPECT_THAT(refusal("a.npy"), HasSubstr("No such file"));
  write_npy(folder / "a.npy", Array<float>{{4}, {1, 2, 3, 4}});
  EXPECT_THAT(refusal("a.npy"), AllOf(HasSubstr("shape 4 "), HasSubstr("2 axes (x, z)")));
  write_npy(folder / "a.npy", Array<float>{{1, 1, 2, 2}, {1, 2, 3, 4}});
  EXPECT_THAT(refusal("a.npy"), HasSubstr("1 x 1 x 2 x 2"));
  write_npy(folder / "a.npy", Array<std::int32_t>{{4}, {1, 2, 3, 4}});
  EXPECT_THAT(refusal("a.npy"), HasSubstr("2 axes (x, z)"));
  std::vector<RsfAxis> axes(2);
  axes[1].spacing = -5;
  write_rsf<float>(folder / "a.rsf", {{2, 2}, {1, 2, 3, 4}}, axes);
  EXPECT_THAT(refusal("a.rsf"), HasSubstr("spacing of -5"));
  write_npy(folder / "a.rsf", Array<float>{{2, 2}, {1, 2, 3, 4}});
  EXPECT_THAT(refusal("a.rsf"), HasSubstr("no RSF header"));
}

TEST(Model, IntegersAreConvertedWithANote) {
  const Folder folder;
  write_npy(folder / "a.npy", Array<std::int32_t>{{2, 2}, {1, 2, 3, 1 << 24}});
  const auto model = read_model<float>(folder / "a.npy");
  EXPECT_THAT(model.values.data, ElementsAre(1, 2, 3, 1 << 24));
  EXPECT_EQ(model.format, "npy");
  EXPECT_THAT(model.notes, ElementsAre("the integers were converted to float"));
  write_npy(folder / "a.npy", Array<std::int64_t>{{2, 2}, {1, 2, 3, (1 << 24) + 1}});
  EXPECT_THAT(message_of<FileError>([&] { (void)read_model<float>(folder / "a.npy"); }),
              HasSubstr("holds the integer 16777217 (allowed: up to 16777216"));
  EXPECT_EQ(read_model<double>(folder / "a.npy").values.data[3], 16777217.0);
  std::filesystem::resize_file(folder / "a.npy", std::filesystem::file_size(folder / "a.npy") - 1);
  EXPECT_THAT(message_of<FileError>([&] { (void)read_model<double>(folder / "a.npy"); }),
              HasSubstr("is truncated"));
}

}  // namespace
}  // namespace moho::io
