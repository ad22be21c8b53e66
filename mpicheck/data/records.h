/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_RECORDS_H
#define TERN_MPICHECK_RECORDS_H

/* Records: lines of text that the probe prints and mpicheck keeps in the file records.txt. They
 * come from other hosts or from a file, so nothing in them is trusted: a record of another form is
 * refused. */

#include "mpicheck/data/measured.h"

/* Returns a copy of a record that a terminal shows as it is: tabulators and line breaks become
 * spaces, what is not printable UTF-8 becomes \xNN. The caller frees the copy. */
char *tern_mc_printable(const char *record);

/* Takes a record, without the "@ " before it; tern_mc_printable has made it. Returns false if it is
 * none, or names a host that is not there; then the data are as before. */
bool tern_mc_take(struct tern_mc_data *data, const char *record);

/* Returns the form of the records that begin with the same word, such as "first FROM TO LATE_MS".
 * Returns NULL if no record begins with it. */
const char *tern_mc_form_of(const char *record);

/* Returns false if only mpicheck itself may say this: which hosts there are, and when phases begin
 * and end. */
bool tern_mc_may_come_from_hosts(const char *record);

/* Reads a file of records. Returns the data. Returns NULL after a message if a record is malformed,
 * or if the file ends without the record `end`. */
struct tern_mc_data *tern_mc_read(const char *path);

#endif
