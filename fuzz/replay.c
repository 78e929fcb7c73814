/* SPDX-License-Identifier: Apache-2.0 */
/* replay FOLDER or FILE...: runs a target on every file there, without libFuzzer: what was found
 * once stays found, with any compiler. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 1 << 20 };

static size_t replayed;

static void replay_file(const char *path)
{
    static uint8_t room[MOST];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    size_t size = fread(room, 1, sizeof room, file);
    fclose(file);
    uint8_t *bytes = malloc(size + !size); /* of its own size, so that a byte beyond it is seen */
    if (!bytes)
        exit(1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = room[i];
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    replayed++;
}

static void replay_folder(const char *path)
{
    char name[4096];
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replay_file(name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    FILE *told = fdopen(dup(1), "w"); /* a target may silence stdout */
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            replay_folder(argv[i]);
        else
            replay_file(argv[i]);
    }
    fprintf(told, "%zu inputs\n", replayed);
    fclose(told);
    return replayed == 0;
}
