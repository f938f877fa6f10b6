// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief All public headers of moho::io.

#include <moho/io/array.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/csv.hpp>
#include <moho/io/exact_sum.hpp>
#include <moho/io/field.hpp>
#include <moho/io/file_lock.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/model.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/numbered.hpp>
#include <moho/io/owned_folder.hpp>
#include <moho/io/point_tables.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/segy.hpp>
#include <moho/io/sparse.hpp>
#include <moho/io/text_columns.hpp>
#include <moho/io/text_file.hpp>
#include <moho/io/units.hpp>
#include <moho/io/vtk.hpp>
#include <moho/io/writer.hpp>
