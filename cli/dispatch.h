/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DISPATCH_H
#define CLI_DISPATCH_H

/* Runs the command that the arguments of the program name; returns its exit status. */
int cli_dispatch(int argc, char **argv);

#endif
