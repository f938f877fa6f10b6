// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The whole module of surveys of many shots.

#include <moho/cluster/journal.hpp>
