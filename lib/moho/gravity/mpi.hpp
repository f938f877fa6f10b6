// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Distribution of an ensemble's prisms over ranks, and the sum of their fields.
///
/// <moho/gravity/gravity.hpp> does not include this header; link moho::gravity_mpi. The scheme is
/// that of Couder-Castaneda et al. (2013). Every rank computes the field of its part of the prisms
/// (mpi::part_of()) at all stations with forward(). One reduction adds the results:
///
///     mpi::Session session(argc, argv);
///     mpi::collectively(session.communicator(), [&] {
///       const mpi::Part part = mpi::part_of(prisms, session.size(), session.rank());
///       ...                                        // forward() of the part, results to the host
///     });
///     add_fields(session.communicator(), results);

#include <moho/gravity/types.hpp>
#include <moho/mpi/mpi.hpp>

#include <vector>

namespace moho::gravity {

/// Distributes the root's rows of seven numbers: each rank receives its prisms. Collective.
/// \param all all prisms; read on the root only
/// \param parts the parts of all ranks, identical on every rank
/// \param mine out, the calling rank's rows; nullptr on a root that keeps its rows in `all`
inline void scatter_prisms(MPI_Comm communicator, const double* all,
                           const std::vector<mpi::Part>& parts, double* mine, int root = 0) {
  mpi::scatter_rows(communicator, all, 7, parts, mine, root);
}

/// Adds the fields of all ranks into the root's results; a collective call. Results have one row
/// per component and one column per station, as from forward().
inline void add_fields(MPI_Comm communicator, std::vector<double>& results, int root = 0) {
  mpi::reduce_to_root(communicator, results.data(), static_cast<std::int64_t>(results.size()),
                      root);
}

}  // namespace moho::gravity
