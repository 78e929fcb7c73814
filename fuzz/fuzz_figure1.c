/* SPDX-License-Identifier: Apache-2.0 */
/* The table by which an interrupted 'unrelu reproduce' goes on: behind a first byte '2' that of
 * two-layer, else that of figure1. '@' stands for the version, so that seeds outlive a release. */
#include "fuzz.h"

#include <string.h>

#include "reproduce/study.h"

enum { ROOM = 1 << 16 };

static size_t fill_in(const uint8_t *bytes, size_t size, char *text)
{
    const char *version = unrelu_version();
    size_t length = strlen(version), used = 0;
    for (size_t i = 0; i < size && used + length < ROOM; i++) {
        memcpy(text + used, bytes[i] == '@' ? version : (const char *)&bytes[i],
               bytes[i] == '@' ? length : 1);
        used += bytes[i] == '@' ? length : 1;
    }
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static study s;
    static char text[ROOM];
    static int started;
    if (!started++)
        fuzz_silence();
    size_t first = size > 0 && bytes[0] == '2';
    cli_study_plan(&s, first ? &cli_study_two_layer : &cli_study_figure1, 0, 1, 1);
    const char *path = fuzz_file("figure1.csv", text, fill_in(bytes + first, size - first, text));
    if (cli_study_load(&s, path) != 0)
        return 0;
    (void)cli_study_print(&s);
    cli_json json = cli_study_json(&s);
    json_decref(json.object);
    return 0;
}
