// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The whole module of reverse time migration.

#include <moho/rtm/expand.hpp>
#include <moho/rtm/replay.hpp>
#include <moho/rtm/strategy.hpp>
