/* Dual coordinate descent for the hinge and its square on CSR rows; see loops/hinge_descent.py. */
#include "rows.h"

#define MANY 8192 /* rows in play that are read faster forwards; fewer come from the cache in any order */
#define LONG 64   /* rows read straight through; fewer with a free intercept, by which each row feels the last */
#define SHORT 16
#define RELAXED 1.3 /* step over the step to the optimum of one alpha */

enum { ACTIVE, DONE, RUN, STEP, FIRST, PLACES };
enum { B, BALANCE, VALUE, GAP, HIGH, LOW, BEFORE, WORK };

#define LOOP "hinge_descent.inc"
#include "csr_instances.inc"
