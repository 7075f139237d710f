/* X' diag(h) X of CSR rows; see loops/csr_gram.py. */
#include "rows.h"

#define LOOP "csr_gram.inc"
#include "csr_instances.inc"
