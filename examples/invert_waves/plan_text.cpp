// SPDX-License-Identifier: BSD-3-Clause
#include "invert_waves/plan_text.hpp"

#include "app/format.hpp"
#include "app/summary.hpp"

#include <algorithm>
#include <string>

namespace moho::examples::invert_waves {

void print_scheme(Session& session, const Options& o, const fwi::ObjectivePlan& p,
                  std::size_t shots) {
  std::string unknowns;
  for (std::size_t u = 0; u < o.unknowns.size(); ++u) {
    unknowns += concat(u > 0 ? ", " : "", o.unknowns[u], " from ", significant(p.bounds[u].low, 5),
                       " to ", significant(p.bounds[u].high, 5));
  }
  session.print("unknowns  ", unknowns, "; ", format_count(p.variables),
                p.variables < 1000.0 ? "" : " ", "of them, misfit ", fwi::to_string(o.misfit.kind));
  session.print("scheme    order ", o.order, ", dt ", significant(p.time.dt, 6),
                " s (stable up to ", significant(p.max_dt, 4), " within the bounds), ",
                p.time.steps, " steps, ", significant(p.nodes_per_wave, 3),
                " nodes per shortest wave");
  if (p.stream.empty()) {
    session.print("gradient  ", every(p.product_interval, "step"), ", source's wavefield by ",
                  fwi::to_string(p.source_field), ": ", format_bytes(p.source_bytes), " besides ",
                  format_bytes(p.fixed_bytes), " of ", format_bytes(p.budget));
  } else {
    session.print("gradient  ", every(p.product_interval, "step"),
                  ", source's wavefield by random, beside the adjoint field in a stream");
    for (const std::string& line : p.stream) session.print("stream    ", line);
  }
  if (p.stream.empty() && shots > 1) {
    session.print("          ", p.concurrent_shots, p.concurrent_shots == 1 ? " shot" : " shots",
                  " at once", o.at_once == 0 ? " (auto)" : "");
  }
  if (o.extended) {
    session.print("lags      ", o.lags.count(), " of the result: ", format_bytes(p.lags_bytes),
                  " of that");
  }
  const auto most = static_cast<double>(o.iterations) *
                    static_cast<double>(std::max<std::size_t>(o.bands.size(), 1));
  session.print("time      about ", significant(p.seconds, 2), " s an evaluation, ",
                significant(1.15 * p.seconds * most, 2), " s for ", most, " iterations");
}

}  // namespace moho::examples::invert_waves
