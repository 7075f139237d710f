/* Dual coordinate descent for the hinge and its square on CSR rows; see loops/hinge_descent.py. */
#include "rows.h"

#define MANY 8192 /* rows in play that are read faster forwards; fewer come from the cache in any order */
#define LONG 64   /* rows read straight through; fewer with a free intercept, by which each row feels the last */
#define SHORT 16
#define RELAXED 1.3 /* step over the step to the optimum of one alpha */

enum { ACTIVE, DONE, RUN, STEP };                          /* of place */
enum { B, BALANCE, VALUE, GAP, HIGH, LOW, BEFORE }; /* of work */

/* a turn is twice the number of a run of rows, plus 1 if it is read backwards: its length, and where a step of it is */
static inline int64_t run_length(int64_t turn, int64_t run, int64_t active)
{
    const int64_t first = (turn >> 1) * run;
    return first + run < active ? run : active - first;
}

static inline int64_t position(int64_t turn, int64_t step, int64_t run, int64_t active)
{
    const int64_t first = (turn >> 1) * run;
    return turn & 1 ? first + run_length(turn, run, active) - 1 - step : first + step;
}

#define LOOP "hinge_descent.inc"
#include "csr_instances.inc"
