// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Survey and models of a run; errors of the library in terms of options.

#include "app/memory.hpp"
#include "app/shot_list.hpp"
#include "app/summary.hpp"
#include "app/survey_program.hpp"
#include "migrate_shots/options.hpp"

#include <moho/core/disk_error.hpp>
#include <moho/rtm/migration_types.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace moho::examples::migrate_shots {

/// Input that is read but not yet checked against the model.
template <class T, int Dim>
struct Job : SurveyJob<T, Dim> {
  explicit Job(const ShotList& shots_of_run) : list(shots_of_run) {}
  const Options* options = nullptr;  ///< must outlive the job
  rtm::OffsetOptions<Dim> offsets;   ///< columns are nodes of the complete model
  const ShotList& list;              ///< shots that are complete
};

/// \brief Returns the arguments of the migration.
/// \param on_host true if it runs in the memory of the host \param scratch folder of snapshots
template <class T, int Dim>
rtm::MigrationInput<T, Dim> migration_input(const Job<T, Dim>& job, bool on_host,
                                            const std::filesystem::path& scratch) {
  const Options& o = *job.options;
  rtm::MigrationInput<T, Dim> input;
  input.grid = job.grid;
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  input.model = to_model<T, Dim, Kokkos::HostSpace>(host, job.grid, *job.values);
  if (job.true_values != nullptr) {
    input.data_model = to_model<T, Dim, Kokkos::HostSpace>(host, job.grid, *job.true_values);
  }
  input.faces = job.boundaries;
  input.wavelet = job.wavelet;
  input.shots = job.shots;
  rtm::MigrationOptions<Dim>& options = input.options;
  options.modelling = job.modelling;
  options.modelling.memory = o.device_memory;
  options.domain = o.expand;
  options.domain_options = o.domain;
  options.complete_receivers = complete_receivers(o);
  options.aperture = {o.aperture, o.aperture.empty() ? 0.0 : 0.25 * o.aperture.front()};
  options.data.zero = o.zero;
  options.data.mute = o.mute;
  options.data.spreading = o.spreading;
  options.data.normalise = o.normalise;
  options.storage = {
      o.snapshots, o.error, o.every, on_host && o.memory > 0 ? o.memory : o.device_memory,
      o.memory,    o.disk,  scratch, !o.snapshot_folder.empty()};
  if (o.width) options.storage.random_width = *o.width;
  options.stream.block = o.block;
  options.stream.updates = o.updates;
  options.stream.devices = o.devices;
  options.stream.device_memory = o.device_memory;
  options.offsets = job.offsets;
  options.concurrent_shots = o.only_shot ? 1 : o.at_once;
  options.batch_size = o.only_shot ? 1 : o.batch;
  options.keep_data = job.shots.front().number;
  return input;
}

/// Returns the text of the progress of a migration.
std::string describe(const rtm::MigrationProgress& now, std::int64_t shot);

/// Returns the message of an InputError of the library in the words of options.
std::string in_words(const std::string& text, const Options& options,
                     const std::map<std::string, std::string>& names,
                     const std::map<std::string, std::string>& true_names,
                     const std::map<std::string, std::string>& others);

/// Returns the option of those that share a shot.
inline const char* devices_option(const Options& options) {
  return options.ranks_per_shot == 1 ? "--devices" : "--ranks-per-shot";
}

/// Returns the error of too little memory of the library in the words of options.
MemoryError in_words(const MemoryError& error, const Options& options);

/// Returns the message of an overflowed wavefield or a full disk in the words of options.
/// \param resumes true if shots are complete, with which --resume goes on
std::string in_words_of_scheme(std::string text, bool resumes);

/// Returns the message for an image of zeros. \param time of the run, s
std::string zero_image_text(const std::string& mute, double time);

/// \brief Calls a function of the library. Its errors are rethrown in the words of options.
template <class T, int Dim, class Function>
void with_options(const Job<T, Dim>& job, const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    const std::string text = in_words(error.what(), *job.options, job.names, job.true_names,
                                      {{"sources", job.sources_name},
                                       {"receivers", job.receivers_name},
                                       {"wavelet", job.wavelet_name},
                                       {"offsets", "--offset"},
                                       {"batch_size", "--batch"},
                                       {"snapshot_steps", "--snapshot-steps"},
                                       {"spreading", "--spreading"},
                                       {"devices", devices_option(*job.options)}});
    if (text == error.what()) throw;
    throw InputError(text);
  } catch (const MemoryError& error) {
    throw in_words(error, *job.options);
  } catch (const DiskError& error) {
    throw DiskError(in_words_of_scheme(error.what(), job.list.any()));
  } catch (const FileError& error) {
    throw FileError(in_words_of_scheme(error.what(), job.list.any()));
  } catch (const Error& error) {
    const std::string text = in_words_of_scheme(error.what(), job.list.any());
    if (text == error.what()) throw;
    throw Error(text);
  }
}

}  // namespace moho::examples::migrate_shots
