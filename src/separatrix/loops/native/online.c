/* Rosenblatt's rule, one point after the other; see loops/online.py. */
#include "rows.h"

enum { UPDATES, PASSES, MISTAKES }; /* of counts */

static inline int is_mistake(double score, double step, double tie)
{
    return score != 0.0 ? (score < 0.0) == (step > 0.0) : step < tie;
}

#define LOOP "online_dense.inc"
#include "dense_instances.inc"
#define LOOP "online_csr.inc"
#include "csr_instances.inc"
