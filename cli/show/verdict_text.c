/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *cli_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void cli_print_sigma(double sigma)
{
    double decimals = 1 - floor(log10(sigma));
    if (decimals >= 1 && decimals <= 6)
        printf("sigma %.*f", (int)decimals, sigma);
    else
        printf("sigma %.2g", sigma);
}

const char *cli_find_warning(const unrelu_warning *warnings, size_t count, const char *const *codes)
{
    for (; *codes; codes++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(warnings[i].code, *codes) == 0)
                return warnings[i].message;
    return NULL;
}
