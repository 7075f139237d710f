/* Dual coordinate descent for logistic regression on CSR rows; see loops/logistic_descent.py. */
#include "exponential.h"
#include "rows.h"

#define INEXACT 0.1 /* of the left side that Newton's steps may leave */
#define EPS 0x1p-52

#define LOOP "logistic_descent.inc"
#include "csr_instances.inc"
