/* SPDX-License-Identifier: Apache-2.0 */
/* The library's sentences name options in backquotes, as it knows them: `rank`, `k`. Here they are
 * --rank and -k. Every sentence of the library that a user reads passes through this. */
#ifndef CLI_FLAGS_H
#define CLI_FLAGS_H

typedef struct {
    char text[1024]; /* as long as that of unrelu_error, the longest there is */
} cli_sentence;

/* In place, for the result is never longer. What stands in backquotes and is no command's option
 * stays as it is. */
void cli_name_flags(char *text);

/* Of a text that is to be left alone: cli_flagged(model->how_k).text, as an argument. */
cli_sentence cli_flagged(const char *text);

#endif
