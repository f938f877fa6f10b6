// SPDX-License-Identifier: BSD-3-Clause
#include <moho/wave/time_plan.hpp>

#include <algorithm>
#include <cmath>

namespace moho::wave {

namespace {

constexpr double microsecond = 1e-6;
// Limit of SEG-Y: 16 bits for microseconds and for samples.
constexpr double longest_interval = 65535.0 * microsecond;
constexpr double max_trace_samples = 65535.0;
// Largest default snapshot; larger ones would fill a disk.
constexpr double max_snapshot_bytes = 512.0 * 1024 * 1024;

}  // namespace

TimePlan make_time_plan(const TimeOptions& o, double largest_dt, double snapshot_bytes) {
  TimePlan plan;
  const auto check_seconds = [](const char* name, double value, bool zero, const char* advice) {
    if (std::isfinite(value) && (value > 0.0 || (zero && value == 0.0))) return;
    throw InputError(concat(name, " is ", value, " s (allowed: ",
                            zero ? "positive numbers, or 0" : "positive numbers", "): ", advice));
  };
  check_seconds("time", o.time, false, "give the time to model");
  check_seconds("dt", o.dt, true, "0 chooses a step");
  check_seconds("interval", o.interval, true, "0 chooses one");
  if (o.snapshot_every) check_seconds("snapshot_every", *o.snapshot_every, true, "0: none");
  if (o.interval > 0.0) {
    const double whole = std::round(o.interval / microsecond);
    if (std::fabs(o.interval / microsecond - whole) > 1e-4 || whole < 1.0 ||
        o.interval > longest_interval) {
      throw InputError(concat("interval is ", o.interval, " s (allowed: whole microseconds up to ",
                              longest_interval, " s, as SEG-Y counts them): ",
                              whole < 1.0                     ? "take a longer one"
                              : o.interval > longest_interval ? "take a shorter one"
                                                              : "round it"));
    }
    plan.interval = whole * microsecond;
  }
  if (o.dt > 0.0) {
    plan.dt = o.dt;
    if (o.interval == 0.0) {
      plan.interval = std::ceil(o.dt / microsecond * (1.0 - 1e-9)) * microsecond;
    }
    if (plan.interval < plan.dt * (1.0 - 1e-9)) {
      throw InputError(concat("interval is ", plan.interval, " s (allowed: dt, ", plan.dt,
                              " s, or more): take a longer one, or a smaller dt"));
    }
  } else {
    const double safe = 0.9 * largest_dt;
    if (o.interval == 0.0) {
      plan.interval =
          std::clamp(std::floor(safe / microsecond) * microsecond, microsecond, longest_interval);
    }
    plan.dt = plan.interval / std::ceil(plan.interval / safe * (1.0 - 1e-12));
  }
  const double samples = std::floor(o.time / plan.interval * (1.0 + 1e-12)) + 1.0;
  if (samples < 2.0) {
    throw InputError(concat("time is ", o.time, " s, less than one sample of ", plan.interval,
                            " s (allowed: longer times): model longer"));
  }
  if (samples > max_trace_samples) {
    const bool ever = o.time < max_trace_samples * longest_interval;
    throw InputError(
        concat("time is ", o.time, " s, which makes ", samples, " samples of ", plan.interval,
               " s (allowed: up to ", max_trace_samples, " samples, as SEG-Y counts them): ",
               ever ? "give a longer interval, or a shorter time" : "give a shorter time"));
  }
  plan.samples = static_cast<std::int64_t>(samples);
  const double end = static_cast<double>(plan.samples - 1) * plan.interval;
  plan.steps = static_cast<std::int64_t>(std::ceil(end / plan.dt * (1.0 - 1e-9)));
  const double interval =
      o.snapshot_every.value_or(snapshot_bytes > max_snapshot_bytes ? 0.0 : 0.25 * o.time);
  if (interval > 0.0) {
    const double every = std::floor(interval / plan.dt * (1.0 + 1e-9));
    if (every > static_cast<double>(plan.steps)) {
      if (o.snapshot_every) {
        throw InputError(concat("snapshot_every is ", interval, " s (allowed: up to ", end,
                                " s, the time modelled, or 0 for none)"));
      }
      plan.snapshot_every = plan.steps;
    } else {
      plan.snapshot_every = std::max<std::int64_t>(static_cast<std::int64_t>(every), 1);
    }
  }
  return plan;
}

}  // namespace moho::wave
