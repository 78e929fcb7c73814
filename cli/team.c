/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include "talk.h"

const cli_team *cli_team_joined;

int cli_team_leads(void)
{
    return !cli_team_joined || cli_team_joined->rank == 0;
}

int cli_team_shares(void)
{
    return cli_team_joined && cli_team_joined->ranks > 1;
}

int cli_team_refuse(const char *what, const char *needs)
{
    return cli_team_shares()
               ? cli_usage("%s needs %s and cannot be split over %zu ranks: run it with 'unrelu', "
                           "or on one rank",
                           what, needs, cli_team_joined->ranks)
               : 0;
}
