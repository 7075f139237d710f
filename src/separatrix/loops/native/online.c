/* Rosenblatt's rule, one point after the other; see loops/online.py. */
#include "rows.h"

#define AHEAD 4        /* rows that are on their way from memory while one is worked on */
#define AHEAD_BYTES 1024 /* of a dense row that are asked for: the processor guesses the rest itself */

enum { UPDATES, PASSES, MISTAKES }; /* of counts */

static inline int is_mistake(double score, double step, double tie)
{
    return score != 0.0 ? (score < 0.0) == (step > 0.0) : step < tie;
}

#define LOOP "online_dense.inc"
#include "dense_instances.inc"
#define LOOP "online_csr.inc"
#include "csr_instances.inc"
