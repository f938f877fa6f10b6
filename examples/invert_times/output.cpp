// SPDX-License-Identifier: BSD-3-Clause
#include "invert_times/output.hpp"

#include <moho/io/csv.hpp>

#include <cmath>
#include <string>

namespace moho::examples::invert_times {

namespace {

template <int Dim>
void add_point(io::Table& table, const Point<Dim>& p) {
  for (int d = 0; d < Dim; ++d) table.values.push_back(p[d]);
}

void name_columns(io::Table& table, std::vector<std::string> names) {
  table.columns = static_cast<std::int64_t>(names.size());
  table.names = std::move(names);
}

}  // namespace

template <int Dim>
void write_picks(const std::filesystem::path& path, const tomography::PickSet<Dim>& picks,
                 const std::vector<tomography::PickFit>& fits) {
  io::Table table;
  if constexpr (Dim == 2) {
    name_columns(table, {"source", "receiver", "sx", "sz", "rx", "rz", "offset", "time", "error",
                         "predicted", "residual", "z", "weight", "flag"});
  } else {
    name_columns(table, {"source", "receiver", "sx", "sy", "sz", "rx", "ry", "rz", "offset", "time",
                         "error", "predicted", "residual", "z", "weight", "flag"});
  }
  for (std::size_t k = 0; k < fits.size(); ++k) {
    const tomography::Pick& pick = picks.picks[k];
    const auto& s = picks.sources[static_cast<std::size_t>(pick.source)];
    const auto& r = picks.receivers[static_cast<std::size_t>(pick.receiver)];
    double square = 0.0;
    for (int d = 0; d + 1 < Dim; ++d) square += (r[d] - s[d]) * (r[d] - s[d]);
    table.values.push_back(pick.source);
    table.values.push_back(pick.receiver);
    add_point<Dim>(table, s);
    add_point<Dim>(table, r);
    const double z = fits[k].z();
    for (const double value :
         {std::sqrt(square), pick.time, fits[k].sigma, fits[k].predicted, fits[k].residual, z,
          fits[k].weight * pick.weight, std::abs(z) > 4.0 ? 1.0 : 0.0}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

template <int Dim>
void write_statics(const std::filesystem::path& path, const tomography::PickSet<Dim>& picks,
                   const tomography::Delays& delays) {
  io::Table table;
  if constexpr (Dim == 2) {
    name_columns(table, {"is_source", "number", "x", "z", "delay"});
  } else {
    name_columns(table, {"is_source", "number", "x", "y", "z", "delay"});
  }
  const auto add = [&](double kind, const Points<Dim>& points, const std::vector<double>& values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      table.values.push_back(kind);
      table.values.push_back(static_cast<double>(k));
      add_point<Dim>(table, points[k]);
      table.values.push_back(values[k]);
    }
  };
  add(1.0, picks.sources, delays.source);
  add(0.0, picks.receivers, delays.receiver);
  io::write_csv(path, table);
}

void write_history(const std::filesystem::path& path,
                   const std::vector<tomography::IterationReport>& reports) {
  io::Table table;
  name_columns(table, {"iteration", "chi2", "chi2_linear", "rms", "lambda", "dof", "rho", "step",
                       "krylov", "traces", "held", "rejected", "seconds"});
  for (const tomography::IterationReport& r : reports) {
    for (const double value :
         {static_cast<double>(r.iteration), r.chi2, r.chi2_linear, r.rms, r.lambda, r.dof, r.rho,
          r.step, static_cast<double>(r.krylov), static_cast<double>(r.traces),
          static_cast<double>(r.held), static_cast<double>(r.rejected), r.seconds}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

void write_lambda(const std::filesystem::path& path,
                  const std::vector<tomography::DampingPoint>& curve) {
  io::Table table;
  name_columns(table, {"lambda", "chi2", "norm", "dof", "gcv"});
  for (const tomography::DampingPoint& p : curve) {
    for (const double value : {p.lambda, p.chi2, p.norm, p.dof, p.gcv}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

void write_layers(const std::filesystem::path& path,
                  const std::vector<tomography::CheckLayer>& layers) {
  io::Table table;
  name_columns(table, {"depth", "correlation", "recovered"});
  for (const tomography::CheckLayer& layer : layers) {
    for (const double value : {layer.depth, layer.correlation, layer.recovered}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

template void write_picks<2>(const std::filesystem::path&, const tomography::PickSet<2>&,
                             const std::vector<tomography::PickFit>&);
template void write_picks<3>(const std::filesystem::path&, const tomography::PickSet<3>&,
                             const std::vector<tomography::PickFit>&);
template void write_statics<2>(const std::filesystem::path&, const tomography::PickSet<2>&,
                               const tomography::Delays&);
template void write_statics<3>(const std::filesystem::path&, const tomography::PickSet<3>&,
                               const tomography::Delays&);

}  // namespace moho::examples::invert_times
