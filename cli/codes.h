/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CODES_H
#define CLI_CODES_H

typedef struct {
    const char *code, *means;
} cli_code;

/* The flags and warnings of docs/formats.md; ends with a code of NULL. */
extern const cli_code cli_codes[];

#endif
