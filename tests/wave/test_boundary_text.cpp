// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
#include <moho/core/error.hpp>
#include <moho/wave/boundary_text.hpp>
#include <moho/wave/plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using moho::InputError;
using moho::wave::boundaries_string;
using moho::wave::FaceKind;
using moho::wave::Medium;
using moho::wave::parse_boundaries;
using ::testing::HasSubstr;

TEST(BoundaryText, OneKindForAllFaces) {
  const auto sponge = parse_boundaries<3>(" sponge : 40 ");
  for (int d = 0; d < 3; ++d) {
    for (const moho::wave::Face& face : {sponge.lower[d], sponge.upper[d]}) {
      EXPECT_EQ(face.kind, FaceKind::sponge);
      EXPECT_EQ(face.width, 40);
    }
  }
  const auto random = parse_boundaries<2>("random", FaceKind::cpml, {.random = 25});
  EXPECT_EQ(random.upper[1].kind, FaceKind::random);
  EXPECT_EQ(random.upper[1].width, 25);
}

TEST(BoundaryText, FacesByName) {
  const auto faces = parse_boundaries<3>("cpml:10, top = free, back=sponge", FaceKind::rigid);
  EXPECT_EQ(faces.lower[0].kind, FaceKind::cpml);
  EXPECT_EQ(faces.lower[0].width, 10);
  EXPECT_EQ(faces.lower[1].kind, FaceKind::cpml);
  EXPECT_EQ(faces.upper[1].kind, FaceKind::sponge);
  EXPECT_EQ(faces.upper[1].width, 30);
  EXPECT_EQ(faces.lower[2].kind, FaceKind::free_surface);
  EXPECT_EQ(faces.upper[2].kind, FaceKind::cpml);
  // faces that the text does not mention
  const auto others = parse_boundaries<2>("right=rigid", FaceKind::random);
  EXPECT_EQ(others.upper[0].kind, FaceKind::rigid);
  EXPECT_EQ(others.lower[0].kind, FaceKind::random);
  EXPECT_EQ(others.lower[0].width, 40);
}

TEST(BoundaryText, DefaultWidths) {
  EXPECT_EQ(parse_boundaries<2>("cpml").lower[0].width, moho::wave::default_cpml_width);
  EXPECT_EQ(parse_boundaries<3>("bottom=rigid").lower[1].width, moho::wave::default_cpml_width);
  for (const Medium medium : {Medium::isotropic, Medium::tti}) {
    const auto faces = moho::wave::absorbing_faces<3>(medium, true);
    EXPECT_EQ(boundaries_string(faces),
              boundaries_string(parse_boundaries<3>(medium == Medium::tti ? "sponge,top=free"
                                                                          : "cpml,top=free")));
  }
}

TEST(BoundaryText, IsWrittenAndRead) {
  for (const std::string text :
       {"cpml:20", "rigid", "sponge:31,top=free", "cpml:20,left=random:7,right=cpml:8,top=rigid"}) {
    EXPECT_EQ(boundaries_string(parse_boundaries<2>(text)), text);
    EXPECT_EQ(boundaries_string(parse_boundaries<3>(text)), text);
  }
  EXPECT_EQ(boundaries_string(parse_boundaries<3>("cpml:5,front=free")), "cpml:5,front=free");
}

TEST(BoundaryText, Refuses) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_boundaries<2>(text, FaceKind::cpml, {}, "--boundary");
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("cpl"),
            "--boundary 'cpl' is unknown (allowed: rigid, sponge, cpml, free, random): did you "
            "mean cpml?");
  EXPECT_EQ(message("free:3"),
            "--boundary: 'free:3' is not understood (allowed: free, it has no width)");
  EXPECT_EQ(message("cpml:3:4"),
            "--boundary: 'cpml:3:4' is not understood (allowed: cpml or cpml:WIDTH)");
  EXPECT_EQ(message("cpml:65"),
            "--boundary: the width of cpml is '65' (allowed: whole numbers from 1 to 64)");
  EXPECT_EQ(message("sponge:1001"),
            "--boundary: the width of sponge is '1001' (allowed: whole numbers from 1 to 1000)");
  EXPECT_THAT(message("top=free,cpml"), HasSubstr("'cpml' in 'top=free,cpml' names no face"));
  EXPECT_THAT(message("top=free,top=rigid"), HasSubstr("'top' stands twice"));
  EXPECT_EQ(message("front=free"),
            "--boundary: there is no face 'front' in 2D (allowed: left, right, top, bottom)");
}

}  // namespace
