/* SPDX-License-Identifier: Apache-2.0 */
/* The library's sentences name options in backquotes; what a user reads has flags in their place,
 * wherever a sentence is shown. */
#include "files.h"

#include "cli.h"
#include "flags.h"
#include "talk.h"

#include "unrelu/unrelu.h"

#define SENTENCE "give `rank`, not `k`, of `nothing`"
#define FLAGS    "give --rank, not -k, of `nothing`"

static void check(const char *text, const char *wanted)
{
    assert_string_equal(cli_flagged(text).text, wanted);
}

static void options_become_flags(void **state)
{
    (void)state;
    check(SENTENCE, FLAGS);
    check("", "");
    check("`rank`", "--rank");
    check("`k`", "-k");
    check("`k``rank``p`", "-k--rank-p");
    check("`additive-noise` SD or auto", "--additive-noise SD or auto");
    check("`threads` is of every command that computes", "--threads is of every command that "
                                                         "computes");
}

static void what_is_no_option_stays(void **state)
{
    (void)state;
    check("`ran` `rank2` `K` `--rank` `` `nothing`", "`ran` `rank2` `K` `--rank` `` `nothing`");
    check("of `nothing` and `rank`", "of `nothing` and --rank");
    check("one ` alone, `rank", "one ` alone, `rank");
    check("rank 3, k 4", "rank 3, k 4");
}

/* ---- every place that shows a sentence ---- */

/* words are split at blanks; what is printed goes to the file "said" */
static void run(const cli_command *command, const char *line)
{
    enum { MOST = 20 };
    char words[256], *argv[MOST + 1] = {NULL}, *rest = words;
    int argc = 0, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    snprintf(words, sizeof words, "%s", line);
    for (char *word; argc < MOST && (word = strsep(&rest, " "));)
        argv[argc++] = word;
    fflush(stdout);
    FILE *said = fopen("said", "w");
    assert_non_null(said);
    dup2(fileno(said), STDOUT_FILENO);
    dup2(fileno(said), STDERR_FILENO);
    int status = cli_run(command, argc, argv);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    fclose(said);
    assert_int_equal(status, 0);
}

/* how often the file has the sentence with flags; with backquotes it must not */
static void check_file(const char *path, size_t wanted)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    size_t count = 0;
    for (const char *s = text; (s = strstr(s, FLAGS)); s++)
        count++;
    assert_null(strstr(text, "`rank`"));
    assert_null(strstr(text, "`k`"));
    assert_int_equal(count, wanted);
}

static const unrelu_warning *warn(const char *code, size_t *count)
{
    static unrelu_warning warning;
    warning = (unrelu_warning){code, SENTENCE};
    *count = 1;
    return &warning;
}

/* in the text (and beside it), in JSON, and on the page */
static void check_shown(size_t text, size_t json, size_t page)
{
    setenv("COLUMNS", "1000", 1);
    run(&cli_show, "show model.npz");
    check_file("said", text);
    run(&cli_show, "show -q --json model.npz");
    check_file("said", json);
    run(&cli_report, "report -q model.npz -o page.html");
    check_file("page.html", page);
}

static void a_gaussian_is_shown_with_flags(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_gaussian *model = NULL;
    run(&cli_generate, "generate gaussian -q -d 3 -n 200 -o gaussian");
    run(&cli_fit, "fit -q gaussian/x.npy --rank 2 -o model.npz");
    assert_int_equal(unrelu_gaussian_load("model.npz", &model, &err), UNRELU_OK);
    model->how_k = SENTENCE;
    model->warnings = warn("collinear", &model->warning_count);
    assert_int_equal(unrelu_gaussian_save(model, "model.npz", &err), UNRELU_OK);
    unrelu_gaussian_free(model);
    check_shown(2, 2, 2); /* how_k, the warning */
}

static void a_network_is_shown_with_flags(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_network *model = NULL;
    run(&cli_generate, "generate network -q -d 3 -k 2 -m 2 -n 20 -o network");
    assert_int_equal(unrelu_network_load("network/truth.npz", &model, &err), UNRELU_OK);
    model->verdict = UNRELU_VERDICT_UNCERTIFIED;
    model->how_k = SENTENCE;
    model->guarantee = SENTENCE;
    model->guarantee_because = SENTENCE;
    model->assumption = SENTENCE;
    model->warnings = warn("uncertified", &model->warning_count);
    assert_int_equal(unrelu_network_save(model, "model.npz", &err), UNRELU_OK);
    unrelu_network_free(model);
    /* how_k, guarantee, because, assumption, the warning: in text twice; in JSON guarantee_because,
     * the member, too */
    check_shown(6, 6, 5);
}

static void a_mixture_is_shown_with_flags(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_mixture *model = NULL;
    run(&cli_generate, "generate mixture -q -d 4 -p 2 -n 5 -o mixture");
    assert_int_equal(unrelu_mixture_load("mixture/truth.npz", &model, &err), UNRELU_OK);
    model->how_p = SENTENCE;
    static const unrelu_verdict verdicts[] = {UNRELU_VERDICT_UNCERTIFIED, UNRELU_VERDICT_AMBIGUOUS};
    for (size_t i = 0; i < 2; i++) {
        model->verdict = verdicts[i];
        model->warnings = warn(i ? "ambiguous" : "uncertified", &model->warning_count);
        assert_int_equal(unrelu_mixture_save(model, "model.npz", &err), UNRELU_OK);
        check_shown(3, 2, 2); /* how_p, the warning: in text twice */
    }
    unrelu_mixture_free(model);
}

static void an_error_is_told_with_flags(void **state)
{
    (void)state;
    unrelu_error err = {.text = SENTENCE};
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    FILE *said = fopen("said", "w");
    assert_non_null(said);
    dup2(fileno(said), STDERR_FILENO);
    int status = cli_exit(UNRELU_EUSAGE, &err);
    dup2(before, STDERR_FILENO);
    close(before);
    fclose(said);
    assert_int_equal(status, CLI_EXIT_USAGE);
    check_file("said", 1);
}

static int enter_directory(void **state)
{
    return files_setup(state) == 0 ? chdir(files_directory) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_become_flags),
        cmocka_unit_test(what_is_no_option_stays),
        cmocka_unit_test(a_gaussian_is_shown_with_flags),
        cmocka_unit_test(a_network_is_shown_with_flags),
        cmocka_unit_test(a_mixture_is_shown_with_flags),
        cmocka_unit_test(an_error_is_told_with_flags),
    };
    return cmocka_run_group_tests(tests, enter_directory, files_teardown);
}
