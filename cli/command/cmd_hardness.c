/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>

#include "files.h"
#include "scope.h"
#include "words.h"

typedef struct {
    cli_shared shared;
    int variable_alpha;
    size_t k, m; /* 0: not given */
} hardness_arguments;

#define TO(kind, field) CLI_TO(kind, hardness_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE",
     "encode: write the instance to FILE (.npz, needed); assign: write V to FILE (.npy, needed)",
     TO(CLI_TEXT, shared.output)},
    {"variable-alpha", 0, NULL, "encode: the weights of the two neurons are to be found too",
     TO(CLI_FLAG, variable_alpha)},
    {"neurons", 'k', "K",
     "encode: pad the instance to K neurons, all but two of which have no weight (default 2)",
     CLI_WHOLE, offsetof(hardness_arguments, k), 2, INT_MAX, "a whole number of at least 2"},
    {"labels", 'm', "M",
     "encode: pad the instance to M labels, all but one of which are 0 (default 1)", CLI_WHOLE,
     offsetof(hardness_arguments, m), 1, INT_MAX, "a whole number of at least 1"},
    {0},
};

static const cli_example examples[] = {
    {"unrelu hardness encode formula.cnf -o inst.npz", "a formula as a question to two neurons"},
    {"unrelu hardness assign inst.npz -1 2 3 -o V.npy", "the neurons of an assignment"},
    {"unrelu hardness check inst.npz V.npy", "0 where it satisfies the formula"},
    {"unrelu hardness decode inst.npz V.npy", "from neurons, found by any means, to literals"},
    {0},
};

static int encode(const hardness_arguments *a)
{
    const cli_shared *shared = &a->shared;
    CLI_MADE unrelu_hardness *instance = NULL;
    CLI_TRY(cli_require_output("hardness encode", shared, "the instance goes"));
    CLI_TRY(cli_check_output(shared, ".npz"));
    cli_interrupt_at_once(1); /* nothing is written yet */
    CLI_CALL(unrelu_hardness_encode(shared->files[1], a->variable_alpha, &instance, &err));
    cli_interrupt_at_once(0);
    CLI_CALL(unrelu_hardness_pad(instance, a->k ? a->k : 2, a->m ? a->m : 1, &err));
    CLI_CALL(unrelu_hardness_save(instance, shared->output, &err));
    cli_note("%s: %zu variables, X is %zu x %zu, alpha %s", shared->output, instance->variables,
             instance->n, instance->d, a->variable_alpha ? "variable" : "(1, 1)");
    if (a->k || a->m)
        cli_note("%s: padded with zeros to %zu neurons and %zu labels", shared->output, instance->k,
                 instance->m);
    return 0;
}

/* ---- assign ---- */

/* the words of one argument; ended: by a 0 */
static int add_words(const char *text, int *literals, size_t *count, int *ended)
{
    static const char blanks[] = " \t\r\n";
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        char *end;
        size_t length = strcspn(text, blanks);
        long value = strtol(text, &end, 10);
        int shown = (int)(length < 40 ? length : 40);
        if (end != text + length || value > INT_MAX || value < -INT_MAX)
            return cli_usage("hardness assign: '%.*s' is no literal: whole numbers are needed",
                             shown, text);
        if (*ended)
            return cli_usage("hardness assign: '%.*s' follows the 0 that ends the assignment",
                             shown, text);
        *ended = value == 0;
        if (value != 0)
            literals[(*count)++] = (int)value;
        text += length;
    }
    return 0;
}

static unrelu_status write_v(const char *path, const double *V, size_t k, size_t d,
                             unrelu_error *err)
{
    unrelu_sink *sink = NULL;
    unrelu_status status = unrelu_sink_open(path, k, d, NULL, &sink, err);
    if (status != UNRELU_OK)
        return status;
    status = unrelu_sink_write(sink, V, k, err);
    if (status == UNRELU_OK)
        return unrelu_sink_commit(sink, err);
    unrelu_sink_abort(sink);
    return status;
}

static int assign(const hardness_arguments *a)
{
    const cli_shared *shared = &a->shared;
    CLI_MADE unrelu_hardness *instance = NULL;
    CLI_TRY(cli_require_output("hardness assign", shared, "V goes"));
    CLI_TRY(cli_check_output(shared, ".npy"));
    CLI_CALL(unrelu_hardness_load(shared->files[1], &instance, &err));
    size_t room = 1, count = 0;
    int ended = 0;
    for (size_t i = 2; i < shared->file_count; i++)
        room += strlen(shared->files[i]);
    CLI_ARRAY int *literals = unrelu_alloc(room, sizeof *literals);
    CLI_ARRAY double *V = unrelu_alloc(instance->k * instance->d, sizeof *V);
    double residual = 0;
    if (!literals || !V)
        return cli_no_memory();
    for (size_t i = 2; i < shared->file_count; i++)
        CLI_TRY(add_words(shared->files[i], literals, &count, &ended));
    CLI_CALL(unrelu_hardness_assign(instance, literals, count, V, &err));
    CLI_CALL(unrelu_hardness_residual(instance, V, &residual, &err));
    CLI_CALL(write_v(shared->output, V, instance->k, instance->d, &err));
    cli_note("%s: V is %zu x %zu, the assignment %s", shared->output, instance->k, instance->d,
             residual == 0 ? "satisfies the formula" : "does not satisfy the formula");
    return 0;
}

/* ---- check, decode ---- */

static int read_v(const hardness_arguments *a)
{
    const cli_shared *shared = &a->shared;
    CLI_MADE unrelu_hardness *instance = NULL;
    CLI_SCOPE(cli_close) unrelu_source *source = NULL;
    double residual = 0;
    CLI_CALL(unrelu_hardness_load(shared->files[1], &instance, &err));
    CLI_TRY(cli_open(shared->files[2], NULL, 1, &source));
    CLI_ARRAY double *V = unrelu_alloc(instance->k * instance->d, sizeof *V);
    CLI_ARRAY int *literals = unrelu_alloc(instance->variables + 1, sizeof *literals);
    if (!V || !literals)
        return cli_no_memory();
    CLI_CALL(unrelu_hardness_read(instance, source, V, &err));
    CLI_CALL(unrelu_hardness_residual(instance, V, &residual, &err));
    if (strcmp(shared->files[0], "check") == 0) {
        printf("%.6g\n", residual);
        return 0;
    }
    CLI_CALL(unrelu_hardness_decode(instance, V, literals, &err));
    for (size_t i = 0; i < instance->variables; i++)
        printf("%d ", literals[i]);
    printf("0\n");
    if (residual != 0)
        cli_warning("V does not solve the instance exactly (residual %.6g): hold the literals "
                    "against the formula",
                    residual);
    return 0;
}

/* ---- the command ---- */

static const char actions[] = "encode|assign|check|decode";

static const struct {
    int (*run)(const hardness_arguments *);
    const char *files;
    size_t least, most;
    int writes;
} table[] = {
    /* in the order of actions */
    {encode, "FORMULA.cnf -o INSTANCE", 2, 2, 1},
    {assign, "INSTANCE LITERAL... -o V", 3, SIZE_MAX, 1},
    {read_v, "INSTANCE V", 3, 3, 0},
    {read_v, "INSTANCE V", 3, 3, 0},
};

static int run(void *arguments)
{
    const hardness_arguments *a = arguments;
    const char *word = a->shared.files[0];
    char near[96];
    int i = cli_word_index(actions, word);
    if (i < 0)
        return cli_usage("hardness: '%s' is not one of encode, assign, check, decode%s", word,
                         cli_suggestion(word, actions, "", near, sizeof near));
    if (a->shared.file_count < table[i].least || a->shared.file_count > table[i].most)
        return cli_usage("hardness %s: too %s arguments; usage: unrelu hardness %s %s", word,
                         a->shared.file_count < table[i].least ? "few" : "many", word,
                         table[i].files);
    if (a->shared.output && !table[i].writes)
        return cli_usage("hardness: -o does not apply to '%s', which prints", word);
    if (a->variable_alpha && table[i].run != encode)
        return cli_usage("hardness: --variable-alpha does not apply to '%s': the instance says it",
                         word);
    if ((a->k || a->m) && table[i].run != encode)
        return cli_usage("hardness: %s does not apply to '%s': the instance says it",
                         a->k ? "-k" : "-m", word);
    return table[i].run(a);
}

const cli_command cli_hardness = {
    .name = "hardness",
    .files = {"encode|assign|check|decode FILE...", 1, SIZE_MAX},
    .brief = "Turn a formula into a network that is hard to find, and back",
    .doc = "To find two neurons that give known labels is as hard as to satisfy a formula. These "
           "make instances of it whose answer is known.\n\nencode FORMULA.cnf: writes the formula, "
           "in DIMACS, as inputs X and labels A with weights alpha = (1, 1): V with alpha f(V x) = "
           "a for every row exists exactly where the formula can be satisfied. -k and -m ask the "
           "same of more neurons and labels, as Theorem 2 does: with zeros.\n\nassign INSTANCE "
           "LITERAL...: writes V (2 x d, or K x d) for an assignment: 3 makes variable 3 true, -3 "
           "false, as "
           "is any that is not mentioned; a final 0 may stand. V is written as well where the "
           "assignment does not satisfy the formula.\n\ncheck INSTANCE V: prints the residual, the "
           "largest |alpha f(V x) - a|, which is exactly 0 for an assignment that satisfies the "
           "formula, 1 for any other.\n\ndecode INSTANCE V: prints V as literals, with a 0 at the "
           "end.",
    .words = actions,
    .options = options,
    .has = CLI_HAS_NUMBERS,
    .examples = examples,
    .size = sizeof(hardness_arguments),
    .run = run,
};
