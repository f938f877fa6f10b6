// SPDX-License-Identifier: BSD-3-Clause
#include "app/plan_text.hpp"

#include "app/format.hpp"

#include <moho/survey/prepare.hpp>

namespace moho::examples {

void print_model(const Session& session, const ModelGrid& model, wave::Medium medium, double dt,
                 const std::string& faces, const std::string& range) {
  session.print("model     ", model.name, ": ", describe_grid(model));
  session.print("          ", wave::info(medium).title, range, "; boundaries ", faces);
  for (const std::string& note : model.notes) session.print("          note: ", note);
  if (model.sponge.width > 0) session.print("          note: ", wave::describe(model.sponge, dt));
}

void print_late_wavelet(const Session& session, const wave::WaveletAt& wavelet,
                        const wave::TimePlan& time) {
  const double end = time.dt * static_cast<double>(time.steps);
  const std::string note = survey::note_of_late_wavelet(wavelet(time.dt), time.dt, end);
  if (!note.empty()) session.print("          note: ", note);
}

std::string scheme_text(int order, double dt, double max_dt, std::int64_t steps,
                        double nodes_per_wave, const char* where) {
  return concat("scheme    order ", order, ", dt ", significant(dt, 6), " s (stable up to ",
                significant(max_dt, 4), where, "), ", counted(steps, "step"), ", ",
                significant(nodes_per_wave, 3), " nodes per shortest wave");
}

void print_concurrent_shots(const Session& session, int count, int requested) {
  session.print("          ", counted(count, "shot"), " at once", requested == 0 ? " (auto)" : "");
  if (count == 1 && requested > 1)
    session.print("          note: --at-once ", requested, " has no effect on divided shots");
}

}  // namespace moho::examples
