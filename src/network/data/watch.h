/* SPDX-License-Identifier: Apache-2.0 */
/* Over a recovery: how long it may go on, and what is found so far. Methods show what they have, at
 * no more cost than a copy; where the caller wants no more, or the time is over, all that asks
 * ur_cancelled hears so, and recover/unfinished.c makes a network of the closest. */
#ifndef UR_WATCH_H
#define UR_WATCH_H

#include "base/arena.h"
#include "network/data/frame.h"
#include "network/problem/problem.h"

#include <stdatomic.h>

/* kinds of what is kept: the best of each, as they are not compared before they are fitted */
typedef enum {
    UR_KEPT_NEURONS, /* each of them exact; better with more of them */
    UR_KEPT_KINKS,   /* the same without their signs */
    UR_KEPT_STUDENT, /* of signless: rows without signs; better with a smaller share */
    UR_KEPT_FIT,     /* all neurons of a network; better with a smaller criterion */
    UR_KEPT_KINDS,
} ur_kept_kind;

typedef struct {
    size_t k, q; /* rows: in the data's coordinates, as of ur_frame_back; k 0: nothing */
    double *rows;
    ur_terms terms;
    size_t wanted; /* how many neurons there are; 0: not known */
    size_t starts;
    double measure; /* less is better */
    ur_arena arena;
} ur_kept;

typedef struct ur_watch {
    unrelu_exec exec; /* what the work sees */
    const unrelu_exec *user;
    double limit, end;  /* seconds, and of ur_seconds; without a limit infinite */
    atomic_int stopped; /* an unrelu_wish, the first that was not to go on */
    atomic_int late;    /* the time was over */
    int finishing;      /* only UNRELU_STOP counts */
    ur_kept kept[UR_KEPT_KINDS];
    const char **tried; /* sentences of ur_watch_tell */
    size_t tried_count, tried_room;
    ur_arena arena; /* of these */
} ur_watch;

#define UR_WATCH(name) __attribute__((cleanup(ur_watch_end))) ur_watch name = {0}
/* limit: seconds from now on; 0: none */
void ur_watch_begin(ur_watch *watch, const unrelu_exec *user, double limit);
void ur_watch_end(ur_watch *watch);
/* whether it was stopped by a limit, or by a caller who wants what there is */
int ur_watch_keeps(const ur_watch *watch);

/* what is found: rows of a frame, first those known (k x p), then others */
typedef struct {
    ur_kept_kind kind;
    size_t known, others;
    const double *V, *W;
    size_t wanted, starts;
    double measure;
} ur_find;
/* kept where it is better than what is; watch may be NULL */
unrelu_status ur_watch_show(ur_watch *watch, const ur_frame *frame, ur_find find,
                            unrelu_error *err);

/* a branch that was tried, and how it ended; watch may be NULL */
unrelu_status ur_watch_tell(ur_watch *watch, unrelu_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
