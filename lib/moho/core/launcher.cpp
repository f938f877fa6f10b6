// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/launcher.hpp>

#include <cstdlib>

namespace moho {

std::string launch_of_process() {
  std::string text;
  // of Open MPI, PMIx, Hydra, MVAPICH, Slurm, ALPS, PALS, JSM, Flux
  for (const char* name :
       {"OMPI_MCA_ess_base_jobid", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_NAMESPACE",
        "PMIX_RANK", "PMI_JOBID", "PMI_SIZE", "PMI_RANK", "PMI_FD", "PMI_PORT",
        "MV2_COMM_WORLD_SIZE", "SLURM_STEP_ID", "ALPS_APP_ID", "PALS_APID", "JSM_NAMESPACE_ID",
        "FLUX_JOB_ID"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) text += std::string(name) + '=' + value + ';';
  }
  return text;
}

}  // namespace moho
