/* Dual coordinate descent for the hinge and its square on CSR rows; see loops/hinge_descent.py. */
#include "rows.h"

#define MANY 8192 /* rows in play that are read faster forwards; fewer come from the cache in any order */
#define LONG 64   /* rows read straight through; fewer with a free intercept, by which each row feels the last */
#define SHORT 16
#define RELAXED 1.3 /* step over the step to the optimum of one alpha */

enum { ACTIVE, DONE, RUN, STEP };                          /* of place */
enum { B, BALANCE, VALUE, GAP, HIGH, LOW, BEFORE }; /* of work */

/* rows of a run, of which the last may be short */
static inline int64_t run_length(int64_t number, int64_t run, int64_t active)
{
    const int64_t first = number * run;
    return first + run < active ? run : active - first;
}

#define LOOP "hinge_descent.inc"
#include "csr_instances.inc"
