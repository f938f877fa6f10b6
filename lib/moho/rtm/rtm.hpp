// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The whole module of reverse time migration.

#include <moho/rtm/expand.hpp>
#include <moho/rtm/first_arrivals.hpp>
#include <moho/rtm/gathers.hpp>
#include <moho/rtm/prepare.hpp>
#include <moho/rtm/window.hpp>
