// SPDX-License-Identifier: BSD-3-Clause
#include "invert_times/output.hpp"

#include "app/format.hpp"

namespace moho::examples::invert_times {

std::string iteration_text(const tomography::IterationReport& r) {
  if (r.iteration == 0) {
    return concat("start       chi^2 ", significant(r.chi2, 4), ", rms ",
                  significant(1e3 * r.rms, 3), " ms, ", significant(r.seconds, 2), " s");
  }
  std::string text = concat(
      "iteration ", r.iteration, ": chi^2 ", significant(r.chi2, 4), " (linear ",
      significant(r.chi2_linear, 3), "), lambda ", significant(r.lambda, 3), " (deviation ",
      significant(1.0 / r.lambda, 2), "), ", significant(r.dof, 3), " degrees of freedom, rms ",
      significant(1e3 * r.rms, 3), " ms, ", significant(r.seconds, 2), " s");
  if (r.step < 1.0) text += concat(", step ", significant(r.step, 2));
  if (r.held > 0) text += concat(", ", counted(r.held, "node"), " at a bound");
  if (r.rejected > 0) text += concat(", ", counted(r.rejected, "pick"), " without weight");
  return text;
}

}  // namespace moho::examples::invert_times
