// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The prisms of an ensemble for each rank, and the sum of their fields. Not included by
/// <moho/gravity/gravity.hpp>; link moho::gravity_mpi.
///
/// The scheme is that of Couder-Castaneda et al. (2013): every rank computes the field of its part
/// of the prisms (mpi::part_of()) at all stations with forward(), and one reduction adds the
/// results:
///
///     mpi::Session session(argc, argv);
///     mpi::together(session.communicator(), [&] {
///       const mpi::Part part = mpi::part_of(prisms, session.size(), session.rank());
///       ...                                        // forward() of the part, results to the host
///     });
///     add_fields(session.communicator(), results);

#include <moho/gravity/types.hpp>
#include <moho/mpi/mpi.hpp>

#include <vector>

namespace moho::gravity {

/// Hands each rank its prisms of a list that the root has: rows of seven numbers. Collective.
/// \param all the list, read on the root alone
/// \param parts the parts of all ranks, the same on every rank
/// \param mine where the calling rank's rows go; a root that keeps its rows in `all` gives nullptr
inline void scatter_prisms(MPI_Comm communicator, const double* all,
                           const std::vector<mpi::Part>& parts, double* mine, int root = 0) {
  mpi::scatter_rows(communicator, all, 7, parts, mine, root);
}

/// Adds the fields that the ranks computed, a row a component and a column a station as forward()
/// leaves them, into the root's. Collective.
inline void add_fields(MPI_Comm communicator, std::vector<double>& results, int root = 0) {
  mpi::reduce_to_root(communicator, results.data(), static_cast<std::int64_t>(results.size()),
                      root);
}

}  // namespace moho::gravity
