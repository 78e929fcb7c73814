/* SPDX-License-Identifier: Apache-2.0 */
#include "unrelu/unrelu.h"

const char *unrelu_version(void)
{
    return UNRELU_VERSION;
}
