/* SPDX-License-Identifier: Apache-2.0 */
/* A command line, a word a line, in an empty folder. SIGINT came before it began, so that whatever
 * takes long ends at once: what is tried is how words are understood, not what commands compute.
 * Words cannot leave the folder, and numbers are small: sizes of planted models are taken at their
 * word. */
#include "fuzz.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "talk.h"

enum { WORDS = 32, DIGITS = 2 };

/* in place: no slash, no number above 99 (behind a '.', of more digits), no exponent */
static void tame(char *word)
{
    size_t run = 0, kept = 0;
    int fraction = 0;
    for (const char *s = word; *s; s++) {
        int digit = isdigit((unsigned char)*s);
        fraction = *s == '.' || (fraction && digit);
        run = digit && !fraction ? run + 1 : 0;
        int exponent = (*s == 'e' || *s == 'E') && s > word && isdigit((unsigned char)s[-1]);
        if (run <= DIGITS)
            word[kept++] = *s == '/' || exponent ? '_' : *s;
    }
    word[kept] = '\0';
}

static void begin(void)
{
    fuzz_silence();
    fuzz_enter();
    cli_talk_start();
    raise(SIGINT);
    alarm(0); /* which would end a command that does not end by itself */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int started;
    char text[1024], *rest = text, *words[WORDS + 1] = {NULL};
    int count = 0;
    if (!started++)
        begin();
    snprintf(text, sizeof text, "%.*s", (int)size, (const char *)bytes);
    while (rest && count < WORDS)
        tame(words[count++] = strsep(&rest, "\n"));
    const cli_command *command = cli_find_command(words[0]);
    int status = command ? cli_run(command, count, words) : CLI_EXIT_USAGE;
    if (status < 0 || (status > CLI_EXIT_UNCERTIFIED && status != CLI_EXIT_INTERRUPTED))
        abort();
    fuzz_tidy();
    return 0;
}
