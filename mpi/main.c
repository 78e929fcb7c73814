/* SPDX-License-Identifier: Apache-2.0 */
/* unrelu-mpi: the command unrelu on all ranks of MPI at once. */
#include <mpi.h>

#include "dispatch.h"
#include "one_blas_thread.h"
#include "ranks.h"
#include "talk.h"

int main(int argc, char **argv)
{
    int provided;
    cli_variables_restore();
    /* the library calls its sums from the thread that called it */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    cli_talk_start();
    int status = ranks_join(argv + 1);
    if (status == 0)
        status = cli_talk_finish(cli_dispatch(argc, argv));
    status = ranks_end(status);
    MPI_Finalize();
    return status;
}
