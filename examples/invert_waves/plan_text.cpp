// SPDX-License-Identifier: BSD-3-Clause
#include "invert_waves/plan_text.hpp"

#include "app/format.hpp"
#include "app/plan_text.hpp"
#include "app/summary.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace moho::examples::invert_waves {

void print_plan(Session& session, const Options& o, const PlanInput& input,
                const fwi::ObjectivePlan& p) {
  print_model(session, input.model, p.medium, p.time.dt, input.faces);
  session.print("data      ", o.data, ": ", counted(input.shots, "shot"), ", ",
                counted(input.traces, "trace"), ", ", format_bytes(p.data_bytes));
  for (const std::string& note : input.notes) session.print("          ", note);
  std::string bands;
  for (const double band : o.bands) {
    bands += concat(bands.empty() ? ", bands up to " : ", ", significant(band, 4));
  }
  session.print("          wavelet ", o.wavelet, o.wavelet_note, bands, bands.empty() ? "" : " Hz",
                ", up to ", significant(p.frequency, 4), " Hz in the last");
  std::string unknowns;
  for (std::size_t u = 0; u < o.unknowns.size(); ++u) {
    unknowns += concat(u > 0 ? ", " : "", o.unknowns[u], " from ", significant(p.bounds[u].low, 5),
                       " to ", significant(p.bounds[u].high, 5));
  }
  session.print("unknowns  ", unknowns, "; ", format_count(p.variables),
                p.variables < 1000.0 ? "" : " ", "of them, misfit ", fwi::to_string(o.misfit.kind));
  session.print(scheme_text(o.order, p.time.dt, p.max_dt, p.time.steps, p.nodes_per_wave,
                            " within the bounds"));
  print_slabs(session, p.slabs, o.space);
  if (p.stream.empty()) {
    session.print("gradient  ", every(p.product_interval, "step"), ", source's wavefield by ",
                  fwi::to_string(p.source_field), ": ", format_bytes(p.source_bytes), " besides ",
                  format_bytes(p.fixed_bytes), " of ", format_bytes(p.budget),
                  p.slabs.empty() ? ""
                  : p.slabs.ranks ? " on each rank"
                                  : " on each device");
  } else {
    session.print("gradient  ", every(p.product_interval, "step"),
                  ", source's wavefield by random, beside the adjoint field in a stream");
    for (const std::string& line : p.stream) session.print("stream    ", line);
  }
  if (p.stream.empty() && p.slabs.empty() && input.shots > 1)
    print_concurrent_shots(session, p.concurrent_shots, o.at_once);
  if (p.batch_size > 1) session.print("          ", p.batch_size, " of them in the same launches");
  if (o.extended) {
    session.print("lags      ", o.lags.count(), " of the result: ", format_bytes(p.lags_bytes),
                  p.lags_stream.empty() ? " of that" : " on the host, in a stream of their own");
    for (const std::string& line : p.lags_stream) session.print("          ", line);
    if (p.lags_sum_bytes > 0.0) {
      session.print("          ", format_bytes(p.lags_sum_bytes), " of the host to add shots");
    }
  }
  const fwi::SearchLength length{o.bands.size(), o.iterations, o.extended, o.lags_every,
                                 o.data == "modelled"};
  session.print("time      about ", text::seconds(p.seconds), " s an evaluation, ",
                text::seconds(length.seconds(p.seconds)), " s for ", length.counts());
  std::fflush(stdout);
}

void add_plan(Session& session, const Options& o, const PlanInput& input,
              const fwi::ObjectivePlan& plan) {
  Json& summary = session.summary;
  summary["asked"] = session.requested();
  summary["model"] = input.description;
  summary["scheme"] = Json::object({{"dt", plan.time.dt},
                                    {"largest_dt", plan.max_dt},
                                    {"steps", plan.time.steps},
                                    {"order", o.order},
                                    {"highest_frequency", plan.frequency},
                                    {"gradient_steps", plan.product_interval},
                                    {"source_field", fwi::to_string(plan.source_field)},
                                    {"source_field_bytes", plan.source_bytes},
                                    {"at_once", plan.concurrent_shots},
                                    {"batch_size", plan.batch_size}});
  const auto add_stream = [&](const char* name, const stream::StreamPlan& s) {
    summary[name] = stream_json(s);
    summary[name]["sums_resident"] = s.sums_held;
    summary[name]["points_per_second"] = s.forecast.points_per_second;
  };
  if (!plan.slabs.empty()) summary["devices"] = slabs_json(plan.slabs);
  if (!plan.stream.empty()) add_stream("stream", plan.stream_plan);
  if (!plan.lags_stream.empty()) add_stream("lags_stream", plan.lags_stream_plan);
  Json bounds = Json::object();
  for (std::size_t u = 0; u < o.unknowns.size(); ++u) {
    bounds[o.unknowns[u]] = Json::array({plan.bounds[u].low, plan.bounds[u].high});
  }
  summary["bounds"] = bounds;
  summary["unknowns"] = Json(o.unknowns);
  summary["shots"] = input.shots;
}

}  // namespace moho::examples::invert_waves
