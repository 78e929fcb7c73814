/* SPDX-License-Identifier: Apache-2.0 */
/* The option tables as --help, as a man page and as docs/cli.md; the tables of methods and rules of
 * the library as docs/methods.md. */
#include "docs.h"

#include <stdio.h>
#include <string.h>

#include "talk.h"
#include "width.h"

#include "unrelu/unrelu.h"

static const char intro[] =
    "unrelu learns back what a ReLU hid: from samples that were cut off at zero the distribution "
    "behind them, with standard errors; from inputs and labels the two-layer network that maps one "
    "to the other, exactly where the data allow it; from samples of a mixture of rectified units "
    "the mixing matrix and what is behind it.";

static const cli_code exits[] = {
    {"0", "done"},
    {"1", "internal error, or not enough memory"},
    {"2", "usage: options that do not exist, contradict each other or are out of range"},
    {"3", "a file could not be read or written, or its content is invalid"},
    {"4", "the data cannot support the model"},
    {"5", "finished, but without the certificate that the answer is the only one, or with an "
          "approximation of labels that carry no noise, or (recover) with what there was at ^C or "
          "--time-limit"},
    {"130",
     "interrupted; nothing was written. 143: terminated; 129: hung up; 152: at the limit of CPU "
     "time"},
};

enum { EXITS = sizeof exits / sizeof *exits };

/* ---- help -------------------------------------------------------------------------- */

enum { DOC_COLUMN = 29 };

void cli_print_version(void)
{
    printf("unrelu %s\n", unrelu_version());
}

/* in the order of the table */
void cli_print_help(const cli_command *command)
{
    const cli_option *o = cli_option_at(command, 0);
    printf("Usage: unrelu %s [OPTION...] %s\n%s.\n\n", command->name, command->files.usage,
           command->brief);
    cli_print_wrapped(command->doc, 0, 0);
    if (o->kind != CLI_HEADING)
        putchar('\n');
    for (size_t i = 0; (o = cli_option_at(command, i)); i++) {
        char letter[] = {'-', (char)o->letter, ',', '\0'};
        if (o->kind == CLI_HEADING) {
            printf("\n %s\n", o->doc);
            continue;
        }
        int column = printf("  %3s --%s%s%s", o->letter ? letter : "", o->name, o->arg ? "=" : "",
                            o->arg ? cli_option_arg(o) : "");
        if (column > DOC_COLUMN - 2) {
            putchar('\n');
            column = 0;
        }
        cli_print_wrapped(o->doc, column, DOC_COLUMN);
    }
    printf("\n Examples, as they run one after another in the folder 'examples':\n");
    for (const cli_example *e = command->examples; e->line; e++)
        printf("  %s\n      %s\n", e->line, e->does);
}

void cli_print_overview(void)
{
    printf("Usage: unrelu COMMAND [OPTION...] ...\n"
           "unrelu learns back what a ReLU hid.\n\n Commands:\n");
    for (size_t i = 0; i < cli_command_count; i++)
        printf("  %-12s%s\n", cli_commands[i]->name, cli_commands[i]->brief);
    printf("\n 'unrelu help COMMAND' explains one; 'unrelu --version' prints the version.\n");
}

/* ---- man --------------------------------------------------------------------------- */

static void man_text(const char *s)
{
    int line_start = 1;
    for (; *s; s++) {
        if (s[0] == '\n' && s[1] == '\n') {
            printf("\n.PP\n");
            s++;
            line_start = 1;
            continue;
        }
        if (line_start && (*s == '.' || *s == '\''))
            printf("\\&");
        printf(*s == '-' ? "\\-" : *s == '\\' ? "\\e" : *s == '\'' ? "\\(aq" : "%c", *s);
        line_start = *s == '\n';
    }
}

static void man_item(const char *head, const char *text)
{
    printf(".TP\n\\fB");
    man_text(head);
    printf("\\fR\n");
    man_text(text);
    putchar('\n');
}

static void man_option(const cli_option *o)
{
    if (o->kind == CLI_HEADING) {
        printf(".P\n%s\n", o->doc);
        return;
    }
    printf(".TP\n\\fB");
    if (o->letter)
        printf("\\-%c\\fR, \\fB", o->letter);
    man_text("--");
    man_text(o->name);
    printf("\\fR");
    if (o->arg) {
        printf("=\\fI");
        man_text(cli_option_arg(o));
        printf("\\fR");
    }
    putchar('\n');
    man_text(o->doc);
    putchar('\n');
}

static void write_man(void)
{
    printf(".\\\" Generated from the option tables of the program.\n"
           ".TH UNRELU 1 \"\" \"unrelu %s\" \"User Commands\"\n"
           ".SH NAME\nunrelu \\- learn back what a ReLU hid\n"
           ".SH SYNOPSIS\n\\fBunrelu\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] ...\n.br\n"
           "\\fBunrelu\\fR \\-\\-help\n.br\n\\fBunrelu\\fR \\-\\-version\n"
           ".SH DESCRIPTION\n",
           unrelu_version());
    man_text(intro);
    printf("\n.PP\nResults go to standard output, all else to standard error. Long options may be "
           "cut short where that leaves one.\n.SH COMMANDS\n");
    for (size_t k = 0; k < cli_command_count; k++) {
        const cli_command *c = cli_commands[k];
        printf(".SS unrelu %s [OPTION...] %s\n%s.\n.PP\n", c->name, c->files.usage, c->brief);
        man_text(c->doc);
        putchar('\n');
        for (size_t i = 0; cli_option_at(c, i); i++)
            man_option(cli_option_at(c, i));
        printf(".P\nExamples, as they run one after another in the folder 'examples':\n");
        for (const cli_example *e = c->examples; e->line; e++)
            man_item(e->line, e->does);
    }
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < EXITS; i++)
        printf(".TP\n%s\n%s\n", exits[i].code, exits[i].means);
    printf(".SH FLAGS AND WARNINGS\nWhat is off is flagged in the table that \\fBfit\\fR prints, "
           "and said on standard error; in JSON it is in \\fIflags\\fR and \\fIwarnings\\fR.\n");
    for (const cli_code *c = cli_codes; c->code; c++)
        man_item(c->code, c->means);
    printf(".SH ENVIRONMENT\n.TP\nNO_COLOR\nwhere set and not empty, no colours are used\n"
           ".TP\nCOLUMNS\nwidth of the text that is printed (80 where it is not set)\n"
           ".SH SEE ALSO\nThe same is there as a C library: <unrelu/unrelu.h>, "
           "\\fBpkg\\-config\\fR(1) unrelu. Models are files that numpy.load opens.\n.PP\n"
           "S. Wu, A. G. Dimakis, S. Sanghavi, \\(lqLearning Distributions Generated by "
           "One\\-Layer ReLU Networks\\(rq, NeurIPS 2019.\n.PP\n"
           "A. Bakshi, R. Jayaram, D. P. Woodruff, \\(lqLearning Two Layer Rectified Neural "
           "Networks in Polynomial Time\\(rq, COLT 2019.\n");
}

/* ---- markdown ---------------------------------------------------------------------- */

static void markdown_cell(const char *s)
{
    for (; *s; s++)
        printf(*s == '|' ? "\\|" : "%c", *s);
}

static void markdown_option(const cli_option *o)
{
    if (o->kind == CLI_HEADING) {
        printf("| **%s** | |\n", o->doc);
        return;
    }
    printf("| `");
    if (o->letter)
        printf("-%c`, `", o->letter);
    printf("--%s", o->name);
    if (o->arg) {
        putchar('=');
        markdown_cell(cli_option_arg(o));
    }
    printf("` | ");
    markdown_cell(o->doc);
    printf(" |\n");
}

static void write_markdown(void)
{
    printf("<!-- Generated by `make docs` from the option tables of cli/: edit those. -->\n"
           "# The command line\n\n%s\n\n| command | |\n|---|---|\n",
           intro);
    for (size_t i = 0; i < cli_command_count; i++)
        printf("| [`%s`](#unrelu-%s) | %s |\n", cli_commands[i]->name, cli_commands[i]->name,
               cli_commands[i]->brief);
    printf("\nResults go to standard output, all else to standard error, where every line starts "
           "with `unrelu: `.\nLong options may be cut short where that leaves one; a negative "
           "number may follow an option as it is.\n`-q` leaves errors only, `--json` prints one "
           "JSON object, `NO_COLOR` and `COLUMNS` are obeyed.\nFlags and warning codes are listed "
           "in [formats.md](formats.md#flags-and-warning-codes).\n\n## Exit status\n\n| | "
           "|\n|---|---|\n");
    for (size_t i = 0; i < EXITS; i++)
        printf("| %s | %s |\n", exits[i].code, exits[i].means);
    for (size_t k = 0; k < cli_command_count; k++) {
        const cli_command *c = cli_commands[k];
        printf("\n## unrelu %s\n\n    unrelu %s [OPTION...] %s\n\n%s.\n\n%s\n\n", c->name, c->name,
               c->files.usage, c->brief, c->doc);
        printf("| option | |\n|---|---|\n");
        for (size_t i = 0; cli_option_at(c, i); i++)
            markdown_option(cli_option_at(c, i));
        printf("\nExamples, as they run one after another in the folder `examples`:\n\n```\n");
        for (const cli_example *e = c->examples; e->line; e++)
            printf("%s   # %s\n", e->line, e->does);
        printf("```\n");
    }
}

/* ---- methods and rules ------------------------------------------------------------- */

static void markdown_rules(int (*rule_at)(size_t i, unrelu_rule *out))
{
    unrelu_rule rule;
    printf("| what is asked | warning | verdict |\n|---|---|---|\n");
    for (size_t i = 0; rule_at(i, &rule); i++) {
        int told = rule.worst == UNRELU_VERDICT_EXACT;
        printf("| ");
        markdown_cell(rule.sentence);
        printf(" | `%s` | %s%s%s |\n", rule.code, told ? "" : "`",
               told ? "as it was" : unrelu_verdict_name(rule.worst), told ? "" : "`");
    }
}

static void write_conditions(void)
{
    unrelu_method method;
    unrelu_condition condition;
    printf(
        "\n## When the promise of a method holds\n\nA run asks each condition of the theorem and "
        "tells in `guarantee` whether it holds: `no` where one is broken,\n`untested` where one "
        "cannot be tested, else `yes`, with the figures that decide. Tests of laws reject what "
        "holds with\nthe chance that is told, and do not prove what they do not reject; \"n large "
        "enough\" is not asked, as the theorems do\nnot say how large.\n\n"
        "| method | theorem | condition | how it is tested |\n|---|---|---|---|\n");
    for (size_t i = 0; unrelu_recover_method_at(i, &method); i++)
        for (size_t j = 0; unrelu_recover_condition_at(i, j, &condition); j++) {
            printf("| `%s` | %s | ", method.name, condition.theorem);
            markdown_cell(condition.what);
            printf(" | ");
            markdown_cell(condition.how);
            printf(" |\n");
        }
}

static void write_methods(void)
{
    unrelu_method method;
    printf(
        "<!-- Generated by `make docs` from the tables of methods and of rules in src/: edit "
        "those. -->\n# Methods and rules\n\n## Methods of `recover`\n\nWhat `--method` may be. How "
        "they work is told in [method-network.md](method-network.md) and\n"
        "[method-hard.md](method-hard.md). The theorems are those of the two-layer paper.\n\n"
        "| method | what it needs | what is promised | what a run checks |\n|---|---|---|---|\n");
    for (size_t i = 0; unrelu_recover_method_at(i, &method); i++) {
        const char *cells[] = {method.needs, method.theorem, method.checks};
        printf("| `%s`", method.name);
        for (size_t j = 0; j < 3; j++) {
            printf(" | ");
            markdown_cell(cells[j]);
        }
        printf(" |\n");
    }
    write_conditions();
    printf("\n## What can be wrong with an exact fit of `recover`\n\nA network that meets the "
           "labels is `exact` where it keeps these rules. All of them are asked, in this order;\n"
           "each one that is broken is told by a warning, and the first gives the verdict. Why "
           "they are asked is told "
           "in\n[method-network.md](method-network.md#the-default-exact-labels).\n\n");
    markdown_rules(unrelu_recover_rule_at);
    printf("\n## What can be wrong with a mixture of `unmix`\n\nWithout noise a mixture is "
           "`exact`, with noise `noisy`, where it keeps these rules; asked and told as above. Why "
           "they\nare asked is told in [method-mixture.md](method-mixture.md#verdicts).\n\n");
    markdown_rules(unrelu_unmix_rule_at);
}

int cli_write_docs(const char *format)
{
    static const struct {
        const char *name;
        void (*write)(void);
    } formats[] = {{"man", write_man},
                   {"markdown", write_markdown},
                   {"methods", write_methods},
                   {"bash", cli_write_bash},
                   {"zsh", cli_write_zsh}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) != 0)
            continue;
        formats[i].write();
        return 0;
    }
    return cli_usage("--write-docs: say man, markdown, methods, bash or zsh");
}
