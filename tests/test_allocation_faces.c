/* SPDX-License-Identifier: Apache-2.0 */
/* Rays and faces of a cone with each allocation failing in turn. */
#include "allocations.h"
#include "nonnegative_inputs.h"

/* a cyclic cone in 5 dimensions, and a polygon whose 300 rows are all inserted */
static unrelu_status find_rays(unrelu_error *err)
{
    double Y[900];
    unrelu_status status = UNRELU_OK;
    for (size_t k = 3; k <= 5 && status == UNRELU_OK; k += 2) {
        size_t rows = k == 3 ? 300 : 30;
        ur_rays rays;
        for (size_t i = 0; i < rows * k; i++) {
            size_t j = i % k;
            double t = 2 * M_PI * (double)(i / k) / (double)rows * (double)((j + 1) / 2);
            Y[i] = j % 2 ? cos(t) : j ? sin(t) : 1;
        }
        ur_unit_rows(rows, k, Y);
        status = ur_rays_find(rows, k, Y, 1e-9, 1000, NULL, &rays, err);
        assert_int_equal(rays.count, status != UNRELU_OK ? 0 : k == 3 ? 300 : 30 * 27 / 2);
        if (status != UNRELU_OK)
            assert_true(!rays.z && !rays.zeros);
        ur_rays_free(&rays);
    }
    return status;
}

static void rays_survive_a_failed_allocation(void **state)
{
    (void)state;
    exhaust(find_rays);
}

static struct {
    nonnegative_case c;
    ur_frame frame;
    double *y;
} world;

static unrelu_status walk_faces(unrelu_error *err)
{
    UR_ARENA(arena);
    ur_neurons q;
    int finished = -1;
    size_t rays, faces, found = 0;
    unrelu_status status =
        ur_neurons_open(&world.frame, world.y, world.c.k, 1e-9, 10000, 1, NULL, &arena, &q, err);
    if (status == UNRELU_OK) {
        status = ur_faces_walk(&q, &finished, &rays, &faces, err);
        found = q.found;
    }
    atomic_store(&countdown, 0);
    if (atomic_load(&failed))
        assert_int_equal(status, UNRELU_ENOMEM);
    if (status == UNRELU_OK)
        assert_true(finished == 1 && found == world.c.k);
    return status;
}

static void faces_survive_a_failed_allocation(void **state)
{
    (void)state;
    unrelu_error err = {0};
    world.c = nonnegative_draw(2, 95);
    size_t n = world.c.n, d = world.c.d, k = world.c.k;
    world.frame = (ur_frame){.n = n, .d = d, .m = k};
    world.frame.x = malloc(n * d * sizeof *world.frame.x);
    world.y = malloc(n * k * sizeof *world.y);
    assert_non_null(world.frame.x);
    assert_non_null(world.y);
    must(ur_qr_pivoted(n, d, world.c.x, 1e-12, &world.frame.p, world.frame.x, NULL, NULL, &err),
         &err);
    for (size_t i = 0; i < n * d; i++)
        world.frame.x[i] *= sqrt((double)n);
    memcpy(world.y, world.c.a, n * k * sizeof *world.y);
    must(ur_orthonormalise(n, k, world.y, &err), &err);
    exhaust(walk_faces);
    free(world.frame.x);
    free(world.y);
    nonnegative_free(&world.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_survive_a_failed_allocation),
        cmocka_unit_test(faces_survive_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
