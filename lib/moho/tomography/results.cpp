// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/csv.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/vtk.hpp>
#include <moho/tomography/detail/places.hpp>
#include <moho/tomography/picks.hpp>
#include <moho/tomography/remarks.hpp>
#include <moho/tomography/results.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace moho::tomography {

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
void write_picks(const std::filesystem::path& path, const PickSet<Dim>& picks,
                 const std::vector<PickFit>& fits) {
  io::Table table;
  if constexpr (Dim == 2) {
    name_columns(table, {"source", "receiver", "sx", "sz", "rx", "rz", "offset", "time", "error",
                         "predicted", "residual", "z", "weight", "flag"});
  } else {
    name_columns(table, {"source", "receiver", "sx", "sy", "sz", "rx", "ry", "rz", "offset", "time",
                         "error", "predicted", "residual", "z", "weight", "flag"});
  }
  for (std::size_t k = 0; k < fits.size(); ++k) {
    const Pick& pick = picks.picks[k];
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
void write_statics(const std::filesystem::path& path, const PickSet<Dim>& picks,
                   const Delays& delays) {
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

template <int Dim>
void write_sources(const std::filesystem::path& path, const Points<Dim>& sources,
                   const Delays& delays) {
  io::Table table;
  if constexpr (Dim == 2) {
    name_columns(table, {"number", "x", "z", "dx", "dz", "origin"});
  } else {
    name_columns(table, {"number", "x", "y", "z", "dx", "dy", "dz", "origin"});
  }
  for (std::size_t k = 0; k < sources.size(); ++k) {
    table.values.push_back(static_cast<double>(k));
    add_point<Dim>(table, sources[k]);
    for (std::size_t d = 0; d < Dim; ++d) table.values.push_back(delays.moves[k * Dim + d]);
    table.values.push_back(delays.origin[k]);
  }
  io::write_csv(path, table);
}

template <int Dim>
void write_rays(const std::filesystem::path& path, const PickSet<Dim>& picks,
                const InversionResult<Dim>& result) {
  constexpr std::size_t max = 20000;
  const rays::RayPaths<Dim>& all = result.paths;
  const std::size_t stride = (picks.picks.size() + max - 1) / max;
  std::vector<io::VtkCellData> data{{"source", {}}, {"receiver", {}}, {"residual", {}}};
  std::vector<std::int64_t> first{0};
  std::vector<Point<Dim>> points;
  for (std::size_t k = 0; k < picks.picks.size(); k += stride) {
    points.insert(points.end(), all.points.begin() + all.first[k],
                  all.points.begin() + all.first[k + 1]);
    first.push_back(static_cast<std::int64_t>(points.size()));
    data[0].values.push_back(picks.picks[k].source);
    data[1].values.push_back(picks.picks[k].receiver);
    data[2].values.push_back(result.fits[k].residual);
  }
  io::write_vtk_polylines<Dim>(path, first, points, data,
                               {.title = "first-arrival rays, metres and seconds"});
}

std::string export_name(const std::string& format) {
  return format == "vtk" ? "model.vtk" : format == "rsf" ? "velocity.rsf" : "picks.sgt";
}

template <int Dim>
void write_export(const std::filesystem::path& folder, const std::string& format,
                  const InversionJob<Dim>& job, const InversionResult<Dim>& result) {
  const std::filesystem::path path = folder / export_name(format);
  if (format == "vtk") {
    io::write_vtk_grid<Dim>(path, job.grid,
                            {{"velocity", result.velocity},
                             {"coverage", result.coverage},
                             {"deviation", result.appraisal.deviation},
                             {"resolution", result.appraisal.resolution},
                             {"ground", {result.mask.begin(), result.mask.end()}}},
                            {.title = "velocity in m/s, metres", .binary = true});
  } else if (format == "rsf") {
    io::Array<double> velocity;
    velocity.data = result.velocity;
    std::vector<io::RsfAxis> axes;
    for (int d = 0; d < Dim; ++d) {
      velocity.shape.push_back(job.grid.extents[d]);
      axes.push_back(
          {job.grid.extents[d], job.grid.spacing[d], job.grid.origin[d], axis_name<Dim>(d), "m"});
    }
    io::write_rsf<double>(path, velocity, axes);
  } else {
    PickSet<Dim> picks = job.picks;
    for (Pick& pick : picks.picks) {
      if (pick.error > 0.0) continue;
      pick.error = job.options.error_absolute + job.options.error_relative * pick.time;
    }
    write_sgt<Dim>(path, picks);
  }
}

namespace {

// |z| of the picks of a station, and the number of those beyond four.
struct StationMisfit {
  std::vector<double> z;
  std::int64_t bad = 0;
};

// \param text names a station by its number
template <class Text>
void add_stations(const Text& text, const std::vector<StationMisfit>& stations,
                  std::vector<std::string>& lines) {
  for (std::size_t k = 0; k < stations.size(); ++k) {
    std::vector<double> z = stations[k].z;
    if (z.size() < 3 || lines.size() >= 8) continue;
    const auto middle = z.begin() + static_cast<std::ptrdiff_t>(z.size() / 2);
    std::nth_element(z.begin(), middle, z.end());
    if (*middle <= 3.0) continue;
    lines.push_back(concat(text(k), ": half of its ", z.size(), " picks are ",
                           text::significant(*middle, 2),
                           " standard deviations away or more (position, polarity or delay)"));
  }
}

}  // namespace

template <int Dim>
std::vector<std::string> bad_picks(const PickSet<Dim>& picks, const std::vector<PickFit>& fits) {
  std::vector<StationMisfit> sources(picks.sources.size()), receivers(picks.receivers.size());
  std::int64_t bad = 0;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    const double z = std::abs(fits[k].z());
    bad += z > 4.0 ? 1 : 0;
    StationMisfit& s = sources[static_cast<std::size_t>(picks.picks[k].source)];
    StationMisfit& r = receivers[static_cast<std::size_t>(picks.picks[k].receiver)];
    for (StationMisfit* const station : {&s, &r}) {
      station->z.push_back(z);
      station->bad += z > 4.0 ? 1 : 0;
    }
  }
  if (bad == 0) return {"no pick is more than 4 standard deviations away"};
  const auto fewer = [](const StationMisfit& a, const StationMisfit& b) { return a.bad < b.bad; };
  const auto s = std::max_element(sources.begin(), sources.end(), fewer);
  const auto r = std::max_element(receivers.begin(), receivers.end(), fewer);
  const auto source = [&](std::size_t k) { return detail::source_text<Dim>(picks, k); };
  const auto receiver = [&](std::size_t k) { return detail::receiver_text<Dim>(picks, k); };
  std::vector<std::string> lines{
      concat(text::counted(bad, "pick"),
             " more than 4 standard deviations away (flag in picks.csv), most of ",
             source(static_cast<std::size_t>(s - sources.begin())), " (", s->bad, ") and ",
             receiver(static_cast<std::size_t>(r - receivers.begin())), " (", r->bad, ")")};
  add_stations(source, sources, lines);
  add_stations(receiver, receivers, lines);
  return lines;
}

template <int Dim>
std::string describe_start(const InversionResult<Dim>& result, double target) {
  const double chi2 = result.reports.front().chi2;
  if (!(chi2 < target)) return "";
  return concat("the start model has chi^2 ", text::significant(chi2, 3),
                " and fits the picks within their errors: smaller errors would change it");
}

template <int Dim>
std::vector<std::string> remarks_on_result(const InversionJob<Dim>& job,
                                           const InversionResult<Dim>& result) {
  std::vector<std::string> remarks =
      describe_edges(edge_rays<Dim>(job.grid, result.paths), job.options.names);
  for (const std::string& line :
       {describe_gcv<Dim>(result.reports.back(), result.fits.size(), job.options),
        describe_start<Dim>(result, job.options.target)}) {
    if (!line.empty()) remarks.insert(remarks.begin(), line);
  }
  return remarks;
}

template <int Dim>
std::string describe_moves(const PickSet<Dim>& picks, const InversionResult<Dim>& result) {
  double far = 0.0, late = 0.0;
  for (std::size_t k = 0; k < result.sources.size(); ++k) {
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      square += std::pow(result.sources[k][d] - picks.sources[k][d], 2);
    }
    far = std::max(far, std::sqrt(square));
    late = std::max(late, std::abs(result.delays.origin[k]));
  }
  return concat("sources moved by up to ", text::significant(far, 3), " m, origin times up to ",
                text::significant(1e3 * late, 3), " ms");
}

std::string describe_iteration(const IterationReport& r) {
  using text::significant;
  if (r.iteration == 0) {
    return concat("start       chi^2 ", significant(r.chi2, 4), ", rms ",
                  significant(1e3 * r.rms, 3), " ms, ", significant(r.seconds, 2), " s");
  }
  std::string line =
      concat("iteration ", r.iteration, ": chi^2 ", significant(r.chi2, 4), " (linear ",
             significant(r.chi2_linear, 3), "), lambda ", significant(r.lambda, 3), " (deviation ",
             significant(1.0 / r.lambda, 2), "), at least ", significant(r.dof, 3),
             " degrees of freedom, rms ", significant(1e3 * r.rms, 3), " ms, ",
             significant(r.seconds, 2), " s");
  if (r.step < 1.0) line += concat(", step ", significant(r.step, 2));
  if (r.held > 0) line += concat(", ", text::counted(r.held, "node"), " at a bound");
  if (r.rejected > 0) {
    line += concat(", ", text::counted(r.rejected, "pick"), " without weight");
  }
  return line;
}

void write_history(const std::filesystem::path& path, const std::vector<IterationReport>& reports) {
  io::Table table;
  name_columns(table, {"iteration", "chi2", "chi2_linear", "rms", "lambda", "dof", "rho", "step",
                       "krylov", "traces", "held", "rejected", "seconds"});
  for (const IterationReport& r : reports) {
    for (const double value :
         {static_cast<double>(r.iteration), r.chi2, r.chi2_linear, r.rms, r.lambda, r.dof, r.rho,
          r.step, static_cast<double>(r.krylov), static_cast<double>(r.traces),
          static_cast<double>(r.held), static_cast<double>(r.rejected), r.seconds}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

void write_lambda(const std::filesystem::path& path, const std::vector<DampingPoint>& curve) {
  io::Table table;
  name_columns(table, {"lambda", "chi2", "norm", "dof", "gcv"});
  for (const DampingPoint& p : curve) {
    for (const double value : {p.lambda, p.chi2, p.norm, p.dof, p.gcv}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

void write_layers(const std::filesystem::path& path, const std::vector<CheckLayer>& layers) {
  io::Table table;
  name_columns(table, {"depth", "correlation", "recovered", "covered", "z"});
  for (const CheckLayer& layer : layers) {
    for (const double value :
         {layer.depth, layer.correlation, layer.recovered, layer.covered, layer.z}) {
      table.values.push_back(value);
    }
  }
  io::write_csv(path, table);
}

template void write_picks<2>(const std::filesystem::path&, const PickSet<2>&,
                             const std::vector<PickFit>&);
template void write_picks<3>(const std::filesystem::path&, const PickSet<3>&,
                             const std::vector<PickFit>&);
template void write_sources<2>(const std::filesystem::path&, const Points<2>&, const Delays&);
template void write_sources<3>(const std::filesystem::path&, const Points<3>&, const Delays&);
template void write_rays<2>(const std::filesystem::path&, const PickSet<2>&,
                            const InversionResult<2>&);
template void write_rays<3>(const std::filesystem::path&, const PickSet<3>&,
                            const InversionResult<3>&);
template void write_export<2>(const std::filesystem::path&, const std::string&,
                              const InversionJob<2>&, const InversionResult<2>&);
template void write_export<3>(const std::filesystem::path&, const std::string&,
                              const InversionJob<3>&, const InversionResult<3>&);
template std::string describe_start<2>(const InversionResult<2>&, double);
template std::string describe_start<3>(const InversionResult<3>&, double);
template std::vector<std::string> remarks_on_result<2>(const InversionJob<2>&,
                                                       const InversionResult<2>&);
template std::vector<std::string> remarks_on_result<3>(const InversionJob<3>&,
                                                       const InversionResult<3>&);
template std::string describe_moves<2>(const PickSet<2>&, const InversionResult<2>&);
template std::string describe_moves<3>(const PickSet<3>&, const InversionResult<3>&);
template std::vector<std::string> bad_picks<2>(const PickSet<2>&, const std::vector<PickFit>&);
template std::vector<std::string> bad_picks<3>(const PickSet<3>&, const std::vector<PickFit>&);
template void write_statics<2>(const std::filesystem::path&, const PickSet<2>&, const Delays&);
template void write_statics<3>(const std::filesystem::path&, const PickSet<3>&, const Delays&);

}  // namespace moho::tomography
