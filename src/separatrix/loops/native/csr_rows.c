/* X' diag(h) X of CSR rows, their squares, and some of them next to each other; see loops/csr_rows.py. */
#include "rows.h"

#define LOOP "csr_rows.inc"
#include "csr_instances.inc"
