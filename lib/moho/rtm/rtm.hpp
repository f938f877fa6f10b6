// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The whole module of reverse time migration.

#include <moho/rtm/codec/codec.hpp>
#include <moho/rtm/codec/container.hpp>
#include <moho/rtm/expand.hpp>
