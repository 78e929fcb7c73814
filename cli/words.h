/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words as the option tables write them: "a|b|N", lower-case words are taken as they
 * stand, a word with capitals is a placeholder. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stddef.h>

/* Writes after the text that is there, as much as there is room for. */
void cli_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Copies the i-th lower-case word of list into word; 0 where there is none. */
int cli_word(const char *list, size_t i, char *word, size_t size);
/* Index of the word that is exactly text, or -1. */
int cli_word_index(const char *list, const char *text);
/* " (did you mean 'x'?)" for the nearest of the words, or "" where none is near. prefix is put
 * before the word: "--" for options. */
const char *cli_suggestion(const char *text, const char *list, const char *prefix, char *buffer,
                           size_t size);

#endif
