/* SPDX-License-Identifier: Apache-2.0 */
/* Early returns: what a scope holds ends with it, however it is left. */
#ifndef CLI_SCOPE_H
#define CLI_SCOPE_H

#include <stdlib.h>
#include <string.h>

#include "talk.h"

/* before a variable's declaration: end(&variable) is called where its scope is left */
#define CLI_SCOPE(end) __attribute__((cleanup(end)))
/* the same for a pointer to memory from malloc */
#define CLI_MEMORY CLI_SCOPE(cli_free_memory)
/* for one to memory from unrelu_alloc or of the library, which --max-memory counts: what grows with
 * the data */
#define CLI_ARRAY CLI_SCOPE(cli_free_array)
/* and for one to what the library made: a model, a goodness, a hard instance */
#define CLI_MADE CLI_SCOPE(cli_free_made)

/* Returns the status of the call, an exit status or one of the library, where it is not 0. */
#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        __auto_type cli_status = (call);                                                           \
        if (cli_status != 0)                                                                       \
            return cli_status;                                                                     \
    } while (0)

/* The same for a function of the library, whose last argument is &err: that is declared here. */
#define CLI_CALL(call)                                                                             \
    do {                                                                                           \
        unrelu_error err = {0};                                                                    \
        CLI_TRY(cli_exit(call, &err));                                                             \
    } while (0)

static inline void cli_free_memory(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}

static inline void cli_free_array(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    unrelu_free(memory);
}

static inline void cli_free_made(void *pointer)
{
    unrelu_model *model;
    memcpy(&model, pointer, sizeof model);
    unrelu_model_free(model);
}

#endif
