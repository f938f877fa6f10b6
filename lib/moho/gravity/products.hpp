// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Choice of the operator that computes products with the matrix of fields.

#include <moho/gravity/fmm.hpp>
#include <moho/gravity/lattice.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace moho::gravity {

/// \brief Returns the choice itself, or that of `automatic`: a lattice where stations are on one,
/// fmm where it is expected to be faster than direct sums. \param wanted the choice \param
/// on_lattice true if the stations are on the lattice of a mesh \param prisms,stations numbers of
/// both \param components those computed \param on_host true for hosts
inline Products choose_products(Products wanted, bool on_lattice, std::int64_t prisms,
                                std::int64_t stations, const Components& components, bool on_host) {
  if (wanted != Products::automatic) return wanted;
  if (on_lattice) return Products::lattice;
  return fmm_pays(prisms, stations, components, on_host) ? Products::fmm : Products::direct;
}

/// \brief Returns the operator of a choice other than automatic.
/// \param exec where everything runs
/// \param products the choice \param mesh the prisms as a whole mesh, for a lattice
/// \param prisms rows of x1, x2, y1, y2, z1, z2, density (ignored)
/// \param stations rows of x, y, z \param components components, in the order of values
/// \param options constant, tolerance and memory
/// \throws InputError, MemoryError as the operators
template <class Memory>
std::unique_ptr<FieldOperator> make_products(const Instance<Memory>& exec, Products products,
                                             const RegularMesh& mesh,
                                             const std::vector<double>& prisms,
                                             const std::vector<double>& stations,
                                             const Components& components,
                                             const FmmOptions& options = {}) {
  const OperatorOptions sums{options.constant, options.far_tolerance, options.memory_budget};
  if (products == Products::lattice) {
    return make_lattice_operator(exec, mesh, stations, components, sums);
  }
  if (products == Products::fmm) {
    return make_fmm_operator(exec, prisms, stations, components, options);
  }
  return make_field_operator(exec, prisms, stations, components, sums);
}

/// Returns the bytes of an operator on a host before it is made; for fmm those of direct sums,
/// which need less. \param products a choice other than automatic \param mesh,stations those of a
/// lattice \param prisms number of prisms \param components number of components
inline double bytes_of_products(Products products, const RegularMesh& mesh, std::int64_t prisms,
                                const std::vector<double>& stations, std::size_t components) {
  if (products == Products::lattice) {
    return lattice_bytes(mesh, find_lattice(mesh, stations), components);
  }
  return 80.0 * static_cast<double>(prisms) +
         64.0 * static_cast<double>(components * (stations.size() / 3));
}

/// Returns the largest difference of an operator from direct sums at 12 stations, of the largest
/// value of its component. Densities alternate in sign.
template <class Memory>
double difference_from_direct(const Instance<Memory>& exec, FieldOperator& field,
                              const std::vector<double>& prisms,
                              const std::vector<double>& stations, const Components& components) {
  const auto chosen = spread_stations(stations.size() / 3, 12);
  const auto some = make_field_operator(exec, prisms, stations_at(stations, chosen), components);
  return difference_at(field, *some, chosen, components.size());
}

}  // namespace moho::gravity
