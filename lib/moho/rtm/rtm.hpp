// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The complete rtm module with domains, storage of wavefields and surveys.

#include <moho/domain/expand.hpp>
#include <moho/rtm/image_sum.hpp>
#include <moho/rtm/migration.hpp>
#include <moho/rtm/shot_arrays.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/checkpoint_store.hpp>
#include <moho/snapshot/codec/codec.hpp>
#include <moho/snapshot/codec/container.hpp>
#include <moho/snapshot/compressed_store.hpp>
#include <moho/snapshot/host_compressed_store.hpp>
#include <moho/snapshot/rates.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/snapshot/strategy.hpp>
#include <moho/survey/first_arrivals.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/survey/window.hpp>
#include <moho/wave/model_values.hpp>
