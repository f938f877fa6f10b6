// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The whole module of reverse time migration.

#include <moho/rtm/codec/codec.hpp>
#include <moho/rtm/codec/container.hpp>
#include <moho/rtm/expand.hpp>
#include <moho/rtm/first_arrivals.hpp>
#include <moho/rtm/gathers.hpp>
#include <moho/rtm/migrate.hpp>
#include <moho/rtm/packed_store.hpp>
#include <moho/rtm/prepare.hpp>
#include <moho/rtm/rates.hpp>
#include <moho/rtm/replay_store.hpp>
#include <moho/rtm/reverse.hpp>
#include <moho/rtm/stores.hpp>
#include <moho/rtm/strategy.hpp>
#include <moho/rtm/threaded_store.hpp>
#include <moho/rtm/window.hpp>
