/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch.h"
#include "one_blas_thread.h"
#include "talk.h"

int main(int argc, char **argv)
{
    cli_variables_restore();
    cli_talk_start();
    return cli_talk_finish(cli_dispatch(argc, argv));
}
