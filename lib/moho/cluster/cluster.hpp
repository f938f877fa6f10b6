// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief All public headers of the cluster module.

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/job.hpp>
#include <moho/cluster/job_system.hpp>
#include <moho/cluster/journal.hpp>
#include <moho/cluster/partition.hpp>
#include <moho/cluster/policy.hpp>
#include <moho/cluster/process.hpp>
#include <moho/cluster/relay.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/shot_numbers.hpp>
#include <moho/cluster/site.hpp>
#include <moho/cluster/sites_file.hpp>
#include <moho/cluster/slurm_jobs.hpp>
#include <moho/cluster/submission_log.hpp>
#include <moho/cluster/text.hpp>
#include <moho/cluster/worker.hpp>
