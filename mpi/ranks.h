/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of MPI_COMM_WORLD as the team of a command. */
#ifndef MPI_RANKS_H
#define MPI_RANKS_H

/* Every rank, with the words that it was started with: joins; returns the exit status. */
int ranks_join(char *const *words);
/* Every rank, where its command ends, with its exit status: returns that of all; rank 0 says why.
 */
int ranks_end(int status);

#endif
