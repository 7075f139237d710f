/* Kernel values from dot products, and dot products of sparse rows; see loops/kernel_rows.py. */
#include "exponential.h"
#include "rows.h"

EXPORT void exponentials_f64(double *restrict values, int64_t count)
{
#pragma omp simd
    for (int64_t k = 0; k < count; k++) values[k] = exponential_f64(values[k]);
}

EXPORT void exponentials_f32(float *restrict values, int64_t count)
{
#pragma omp simd
    for (int64_t k = 0; k < count; k++) values[k] = exponential_f32(values[k]);
}

#define LOOP "kernel_rows.inc"
#include "csr_instances.inc"
