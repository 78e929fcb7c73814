/* SPDX-License-Identifier: Apache-2.0 */
/* Completions of bash and zsh from the option tables. */
#include <stdio.h>
#include <string.h>

#include "docs.h"
#include "words.h"

static int is_file(const cli_option *o)
{
    return o->arg && (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0);
}

static void print_words(const char *list)
{
    char word[64];
    for (size_t i = 0; cli_word(list, i, word, sizeof word); i++)
        printf("%s%s", i ? " " : "", word);
}

static void print_command_names(void)
{
    for (size_t i = 0; i < cli_command_count; i++)
        printf("%s%s", i ? " " : "", cli_commands[i]->name);
}

void cli_write_bash(void)
{
    const cli_option *o;
    printf("# bash completion of unrelu, generated from its option tables\n"
           "_unrelu()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev='' words=- command=${COMP_WORDS[1]}\n"
           "    ((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    # --option=value comes as three words\n"
           "    if [[ $cur == '=' ]]; then\n        cur=''\n"
           "    elif [[ $prev == '=' ]]; then\n        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    fi\n"
           "    case \"$command $prev\" in\n");
    /* values of options: the words of the table, files where they are files, else nothing */
    for (size_t c = 0; c < cli_command_count; c++)
        for (size_t i = 0; (o = cli_option_at(cli_commands[c], i)); i++) {
            const char *name = cli_commands[c]->name;
            if (!o->arg || is_file(o))
                continue;
            printf("    '%s --%s'", name, o->name);
            if (o->letter)
                printf(" | '%s -%c'", name, o->letter);
            printf(") words='");
            print_words(o->arg);
            printf("' ;;\n");
        }
    printf("    'help help') words='");
    print_command_names();
    printf("' ;;\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        if (!cli_commands[i]->words)
            continue;
        printf("    '%s %s') words='", cli_commands[i]->name, cli_commands[i]->name);
        print_words(cli_commands[i]->words);
        printf("' ;;\n");
    }
    printf("    esac\n    if ((COMP_CWORD == 1)); then\n        words='");
    print_command_names();
    printf(" --help --version'\n    elif [[ $words == - && $cur == -* ]]; then\n"
           "        case $command in\n");
    for (size_t c = 0; c < cli_command_count; c++) {
        printf("        %s) words='", cli_commands[c]->name);
        for (size_t i = 0; (o = cli_option_at(cli_commands[c], i)); i++)
            if (o->name)
                printf("%s--%s", i > 0 ? " " : "", o->name);
        printf("' ;;\n");
    }
    printf("        esac\n    fi\n"
           "    if [[ $words == - ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
           "    else\n"
           "        compopt +o filenames 2> /dev/null\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
           "    fi\n}\ncomplete -o filenames -F _unrelu unrelu\n");
}

/* inside single quotes, inside [...] */
static void zsh_text(const char *s)
{
    for (; *s; s++)
        printf(*s == '\'' ? "'\\''" : strchr("[]:\\", *s) ? "\\%c" : "%c", *s);
}

static void zsh_option(const cli_option *o)
{
    char word[64];
    if (o->kind == CLI_HEADING)
        return;
    printf("            ");
    if (o->letter)
        printf("'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name,
               o->arg ? "=" : "");
    else
        printf("'--%s%s[", o->name, o->arg ? "=" : "");
    zsh_text(o->doc);
    putchar(']');
    if (is_file(o))
        printf(":%s:_files", o->arg);
    else if (o->arg) {
        printf(":");
        zsh_text(o->arg);
        printf(":");
        if (cli_word(o->arg, 0, word, sizeof word)) {
            putchar('(');
            print_words(o->arg);
            putchar(')');
        }
    }
    printf("' \\\n");
}

void cli_write_zsh(void)
{
    printf("#compdef unrelu\n# zsh completion of unrelu, generated from its option tables\n"
           "_unrelu() {\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        printf("        '%s:", cli_commands[i]->name);
        zsh_text(cli_commands[i]->brief);
        printf("'\n");
    }
    printf("    )\n    if ((CURRENT == 2)); then\n"
           "        _describe command commands\n        return\n    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n    ((CURRENT--))\n    case $command in\n");
    for (size_t k = 0; k < cli_command_count; k++) {
        const cli_command *c = cli_commands[k];
        printf("    %s)\n        _arguments -s -S \\\n", c->name);
        for (size_t i = 0; cli_option_at(c, i); i++)
            zsh_option(cli_option_at(c, i));
        if (strcmp(c->name, "help") == 0) {
            printf("            '1:command:(");
            print_command_names();
            printf(")' ;;\n");
        } else if (c->words) {
            printf("            '1:kind:(");
            print_words(c->words);
            printf(")' ;;\n");
        } else {
            printf("            '*:file:_files' ;;\n");
        }
    }
    printf("    esac\n}\n_unrelu \"$@\"\n");
}
