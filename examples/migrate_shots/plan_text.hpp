// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The printed plan of a migration.

#include "app/format.hpp"
#include "app/plan_text.hpp"
#include "app/survey_data.hpp"
#include "migrate_shots/job.hpp"

#include <moho/wave/boundary_text.hpp>

namespace moho::examples::migrate_shots {

/// Prints a plan.
template <class T, int Dim>
void print_plan(const Session& session, const Options& o, const EarthModel<T>& model,
                const SurveyData<Dim>& data, const Job<T, Dim>& job,
                const rtm::MigrationPlan<Dim>& p) {
  const snapshot::StoragePlan& storage = p.storage;
  print_model(session, model, p.medium, p.time.dt, wave::boundaries_string(job.boundaries));
  session.print("data      ", o.data, ": ", counted(job.shots.size(), "shot"), ", ",
                counted(data.traces, "trace"));
  for (const std::string& note : data.notes) session.print("          ", note);
  session.print("          wavelet ", o.wavelet, o.wavelet_note, ", up to ",
                significant(p.frequency, 4), " Hz, peak at ", significant(p.peak_time, 4),
                " s, zero at its ", survey::to_string(o.zero), "; mute ", o.mute_text);
  print_late_wavelet(session, job.wavelet, p.time);
  session.print(
      scheme_text(o.order, p.time.dt, p.limits.largest_dt, p.time.steps, p.nodes_per_wave));
  std::string largest;
  for (int d = 0; d < Dim; ++d) largest += concat(d == 0 ? "" : " x ", p.extents[d]);
  session.print(
      "          largest shot ", largest, " nodes with layers, ",
      format_bytes(static_cast<double>(p.memory.peak)), " on ", o.space,
      !p.stream.empty()
          ? concat(" and ", format_bytes(static_cast<double>(p.memory.host)), " on the host")
      : !p.slabs.empty()       ? " on each device besides snapshots"
      : p.concurrent_shots > 1 ? " each besides snapshots"
                               : " besides snapshots");
  if (job.shots.size() > 1) print_concurrent_shots(session, p.concurrent_shots, o.at_once);
  if (p.batch_size > 1) session.print("          ", p.batch_size, " of them in the same launches");
  if (!p.one_by_one.empty()) session.print("          --batch ", o.batch, ": none, ", p.one_by_one);
  print_slabs(session, p.slabs, o.space);
  for (const std::string& line : p.stream) {
    session.print(&line == &p.stream.front() ? "stream    " : "          ", line);
  }
  const auto disk = static_cast<double>(storage.budget.disk);
  const std::string bytes =
      concat(", ", format_bytes(static_cast<double>(storage.strategy.bytes)), " of ",
             format_bytes(static_cast<double>(storage.budget.device)),
             disk > 0.0 ? concat(" and ", format_bytes(disk), " of disk") : "");
  session.print("snapshots ", every(storage.interval, "step"), ", ", storage.snapshots,
                " of them: ", storage.strategy.name, p.stream.empty() ? bytes : "", "; ",
                storage.strategy.reason);
  if (storage.files) {
    session.print("          files in ", storage.folder.string(), ": ", storage.files->text());
  }
  if (storage.interval > p.wavelet_interval) {
    session.print("          note: the wavelet wants one ", every(p.wavelet_interval, "step"),
                  "; with fewer the image is aliased in time");
  }
  if (!complete_receivers(o)) {
    session.print("          note: no illumination_receiver.npy: with --expand ",
                  domain::to_string(o.expand),
                  " receivers' waves are stepped only where sources' waves are (--condition ",
                  "receiver steps them everywhere)");
  }
  session.print("time      about ", text::seconds(p.seconds), " s");
  std::fflush(stdout);
}

}  // namespace moho::examples::migrate_shots
