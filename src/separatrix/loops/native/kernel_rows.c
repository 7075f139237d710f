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

#define TILE 32 /* rows and columns of a matrix that are mirrored together */

EXPORT void radial_square(double *restrict K, int64_t n, const double *restrict terms, double twice)
{
    for (int64_t rows = 0; rows < n; rows += TILE) {
        const int64_t end = rows + TILE < n ? rows + TILE : n;
        for (int64_t i = rows; i < end; i++) {
            double *restrict row = K + i * n;
            const double own = terms[i];
            row[i] = 1.0;
#pragma omp simd
            for (int64_t j = i + 1; j < n; j++) {
                const double exponent = twice * row[j] - (own + terms[j]);
                row[j] = exponential_f64(exponent > 0.0 ? 0.0 : exponent);
            }
        }
        for (int64_t columns = rows; columns < n; columns += TILE) {
            const int64_t last = columns + TILE < n ? columns + TILE : n;
            for (int64_t j = columns; j < last; j++)
                for (int64_t i = rows; i < end && i < j; i++) K[j * n + i] = K[i * n + j];
        }
    }
}

#define LOOP "kernel_rows.inc"
#include "csr_instances.inc"
