/* SPDX-License-Identifier: Apache-2.0 */
/* Samples in a member of a .npz. A stored member is read at its offset like a .npy, a deflated
 * one is inflated in order; only a deflated array in Fortran order, whose rows come last to
 * hand, is spooled to a temporary file. */
#include "base/error.h"
#include "read/array.h"
#include "read/input_file.h"
#include "read/npz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SPOOL_CHUNK = 1 << 18 };

/* How many arrays there are; the last of them; and "a, b, c" of the first few. */
static size_t list_arrays(const ur_archive *archive, zip_int64_t *last, char *out, size_t size)
{
    enum { SHOWN = 12, WIDTH = 40 };
    size_t used = 0, arrays = 0;
    zip_int64_t entries = zip_get_num_entries(archive->zip, 0);
    for (zip_int64_t i = 0; i < entries; i++) {
        const char *name = zip_get_name(archive->zip, (zip_uint64_t)i, 0);
        size_t length = name ? strlen(name) : 0;
        if (length <= 4 || strcmp(name + length - 4, ".npy") != 0)
            continue;
        *last = i;
        int shown = length - 4 > WIDTH ? WIDTH : (int)length - 4;
        if (arrays == SHOWN && used < size)
            snprintf(out + used, size - used, ", ...");
        else if (arrays < SHOWN && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", arrays ? ", " : "", shown,
                                     name);
        arrays++;
    }
    return arrays;
}

/* Without a name: the only array, of a file that does not say it is something else. */
static unrelu_status find_array(const unrelu_source *source, const char *path,
                                const ur_archive *archive, const char *member, zip_int64_t *index,
                                unrelu_error *err)
{
    char kind[64] = "", names[600] = "";
    *index = member ? ur_archive_find(archive, member) : -1;
    if (*index >= 0)
        return UNRELU_OK;
    if (!member)
        UR_TRY(unrelu_file_kind(path, kind, sizeof kind, err));
    if (!strcmp(kind, "summary"))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is a summary, not samples; give it to 'unrelu fit' or 'unrelu merge', "
                       "or name the file it was made of",
                       source->label);
    if (*kind)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is a %.40s model, not samples; name a sample file, or one array of it "
                       "as %s:NAME",
                       source->label, kind, source->label);
    size_t arrays = list_arrays(archive, index, names, sizeof names);
    if (member)
        return ur_fail(err, UNRELU_EFORMAT, "%s: there is no array of that name; the file holds %s",
                       source->label, *names ? names : "no arrays");
    if (arrays == 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s holds no arrays; write it with numpy.savez(file, x=samples)",
                       source->label);
    if (arrays > 1)
        return ur_fail(err, UNRELU_EFORMAT, "%s holds %zu arrays (%s); name one, as %s:NAME",
                       source->label, arrays, names, source->label);
    return UNRELU_OK;
}

/* Rows are read at an offset where that is possible, in Fortran order from a spool; else the member
 * stays open as a stream. */
static unrelu_status place_rows(const unrelu_source *source, const char *path, ur_array *a,
                                unrelu_error *err)
{
    uint64_t size;
    int fd, regular;
    if (a->member.stored && !ur_file_open_read(path, &fd, &size, &regular, NULL)) {
        uint64_t offset = ur_zip_offset(fd, a->archive.file_size, a->index, a->member.size);
        unsigned char magic[6];
        if (offset && !ur_file_read_at(fd, source->label, magic, sizeof magic, offset, NULL) &&
            !memcmp(magic, "\x93NUMPY", sizeof magic)) {
            a->fd = fd;
            a->base = offset + a->npy.data;
            return UNRELU_OK;
        }
        close(fd);
    }
    if (!a->npy.fortran)
        return UNRELU_OK;
    UR_TRY(ur_archive_check_expansion(&a->archive, source->label, err));
    UR_ARENA(arena);
    unsigned char *chunk = ur_take(&arena, SPOOL_CHUNK, 1);
    size_t total = a->npy.count * a->npy.item;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_spool_open(source->label, &a->fd, err));
    for (size_t done = 0; done < total;) {
        size_t part = total - done < SPOOL_CHUNK ? total - done : SPOOL_CHUNK;
        UR_TRY(ur_member_next(&a->member, chunk, part, err));
        UR_TRY(ur_spool_write(a->fd, source->label, chunk, part, done, err));
        done += part;
    }
    return ur_member_finish(&a->member, err);
}

unrelu_status ur_npz_member_open(unrelu_source *source, const char *path, const char *member,
                                 unrelu_error *err)
{
    ur_array *a = NULL;
    UR_TRY(ur_array_new(source, &a, err));
    UR_TRY(ur_archive_open(path, source->label, &a->archive, err));
    UR_TRY(find_array(source, path, &a->archive, member, &a->index, err));
    UR_TRY(ur_member_open(&a->archive, a->index, source->label, &a->member, err));
    UR_TRY(ur_npy_read(ur_member_next, &a->member, a->member.size, source->label, &a->npy, err));
    UR_TRY(ur_array_start(source, err));
    UR_TRY(place_rows(source, path, a, err));
    UR_TRY(ur_array_cut(source, err));
    if (!member) {
        const char *name = zip_get_name(a->archive.zip, (zip_uint64_t)a->index, 0);
        snprintf(source->note, sizeof source->note, "array '%.*s' read", (int)strlen(name) - 4,
                 name);
    }
    if (a->fd >= 0) {
        ur_member_close(&a->member);
        ur_archive_close(&a->archive);
    }
    return UNRELU_OK;
}
