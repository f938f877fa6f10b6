// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Labels, instances and fences of rtm: expanding domains, snapshots and imaging. Domains by layers
// and by the eikonal equation wait only while they are made. Domains by amplitude also wait every
// few steps, when the host reads the amplitude.

#include "events.hpp"
#include "wave/support.hpp"

#include <moho/rtm/rtm.hpp>
#include <moho/wave/model_shot.hpp>

#include <memory>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Points;
using moho::domain::DomainOptions;
using moho::domain::ExpandingDomain;
using moho::domain::ExpansionMethod;
using moho::wave::PointSet;
using moho::wave::ShotOptions;

const Contract prepares{{"domain", "eikonal"}, true};
const Contract returns{{"domain", "wave"}, true};

template <class S>
class RtmContract : public ::testing::Test {};
TYPED_TEST_SUITE(RtmContract, TestSpaces, SpaceName);

template <int Dim, class Memory>
void hold_domains(const Instance<Memory>& exec, Medium medium) {
  const auto faces = moho::wave::all_faces<Dim>(FaceKind::sponge, 4);
  const Grid<Dim> grid = cube<Dim>(Dim == 2 ? 81 : 29, 10.0);
  Constants constants;
  constants.epsilon = 0.2;
  constants.delta = 0.1;
  const auto model = constant_model<float, Dim, Memory>(exec, grid, medium, constants);
  PropagatorOptions<Dim> options;
  options.order = 4;
  options.boundaries = faces;
  const auto propagator = make_propagator(exec, grid, model, options);
  Points<Dim> positions(1);
  for (int d = 0; d < Dim; ++d) positions[0][d] = 142.0;
  const PointSet<float, Dim, Memory> sources(exec, grid, propagator.layout(), positions,
                                             point_options(propagator, "source", true));
  const PointSet<float, Dim, Memory> receivers(exec, grid, propagator.layout(), positions,
                                               point_options(propagator, "receiver", false));
  const std::vector<double> wavelet = moho::wave::ricker(0.02 / propagator.dt(), propagator.dt());
  for (const ExpansionMethod method : {ExpansionMethod::none, ExpansionMethod::layers,
                                       ExpansionMethod::eikonal, ExpansionMethod::amplitude}) {
    SCOPED_TRACE(to_string(method));
    std::vector<std::int64_t> fences;
    for (const int steps : {8, 24}) {
      std::unique_ptr<ExpandingDomain<float, Dim, Memory>> domain;
      hold(exec, "make_domain", prepares, [&] {
        domain =
            moho::domain::make_domain(method, exec, propagator, model, sources, DomainOptions{});
      });
      ShotOptions<float, Dim, Memory> shot;
      shot.steps = steps;
      shot.check_every = 0;
      shot.domain = domain.get();
      fences.push_back(fences_in(hold(exec, "model_shot", returns, [&] {
        model_shot(exec, propagator, sources, wavelet, receivers, shot);
      })));
    }
    if (method == ExpansionMethod::amplitude) {
      // 24 steps read the amplitude twice, 8 steps never; each reading waits twice
      EXPECT_LE(fences[1], fences[0] + 4);
    } else {
      EXPECT_EQ(fences[0], fences[1]);
    }
  }
}

template <class Memory>
void domains(const Instance<Memory>& exec) {
  hold_domains<2, Memory>(exec, Medium::isotropic);
  hold_domains<2, Memory>(exec, Medium::vti);
  hold_domains<3, Memory>(exec, Medium::isotropic);
}
TYPED_TEST(RtmContract, Domains) { domains(own_instance<typename TypeParam::Exec>()); }

// Snapshots are taken and imaged on the instance of the run. Only encoding waits, for the number of
// bytes, and tables of codes, which are copied from the host.
template <class Memory>
void stores(const Instance<Memory>& exec) {
  const Grid<2> grid = cube<2>(70, 10.0);
  const auto model = constant_model<float, 2, Memory>(exec, grid, Medium::isotropic, Constants{});
  const auto propagator = make_propagator(exec, grid, model, PropagatorOptions<2>{});
  auto wavefield = propagator.make_wavefield(exec);
  moho::fill(exec, wavefield.now[0], 1.0f);
  const auto sums = moho::rtm::make_image<float, 2, Memory>(exec, grid);
  exec.fence();
  const auto correlation = moho::rtm::correlation<float, 2, Memory>(
      wavefield.layout, wavefield.now[0], propagator.interior(), 0.5, sums);
  const auto box = propagator.interior();
  moho::snapshot::DeviceArena<float, Memory> arena("moho::rtm::snapshots");
  moho::snapshot::MemoryStore<float, 2, Memory> raw(arena);
  const Contract submits{{"snapshot", "rtm"}, false}, waits{{"snapshot", "rtm"}, true};
  raw.save(exec, wavefield, box, 1);  // the arena allocates its memory
  hold(exec, "MemoryStore::save", submits, [&] { raw.save(exec, wavefield, box, 2); });
  hold(exec, "add_to_image", submits, [&] {
    moho::rtm::add_to_image<float, 2, Memory>(exec, raw.load(exec, 2), correlation.layout,
                                              correlation.field, correlation.interior, box, 0.5,
                                              sums);
  });
  for (const char* const codec : {"bits:12", "max:1e-3", "snr:55", "paper:1e-3"}) {
    SCOPED_TRACE(codec);
    moho::snapshot::CompressedStore<float, 2, Memory> packed(moho::snapshot::parse_codec(codec));
    hold(exec, "CompressedStore::save", waits, [&] { packed.save(exec, wavefield, box, 1); });
    const bool tables = codec[0] == 's' || codec[0] == 'p';
    bool imaged = false;
    hold(exec, "CompressedStore::correlate", tables ? waits : submits,
         [&] { imaged = packed.correlate(exec, 1, correlation); });
    EXPECT_EQ(imaged, moho::is_host_memory<Memory> || codec[0] == 'b');
    moho::snapshot::Codec<float, 2, Memory> codec_of(moho::snapshot::parse_codec(codec));
    moho::snapshot::Packed<2, Memory> one;
    hold(exec, "Codec::encode", waits,
         [&] { codec_of.encode(exec, wavefield.layout, wavefield.now[0], box, one); });
    hold(exec, "image_packed", tables ? waits : submits, [&] {
      moho::snapshot::detail::image_packed<float, 2, Memory>(exec, codec_of, one, correlation);
    });
    hold(exec, "CompressedStore::load", waits, [&] { packed.load(exec, 1); });
  }
}
TYPED_TEST(RtmContract, Stores) { stores(own_instance<typename TypeParam::Exec>()); }

}  // namespace
