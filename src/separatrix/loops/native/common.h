/* What the loops share: how they are exported, how sums are split into lanes.
 *
 * Every sum over a long axis has LANES partial sums that are added in one fixed order, so that every processor level
 * gives the same bits and the compiler needs no licence to reorder. Nothing here may be compiled with -ffast-math. */
#ifndef SEPARATRIX_COMMON_H
#define SEPARATRIX_COMMON_H

#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define LANES 8 /* doubles: one register of 512 bits, two of 256, four of 128 */

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef float half_lanes __attribute__((vector_size(4 * LANES)));

/* the next LANES numbers, from any address */
static inline __attribute__((always_inline)) lanes load_f64(const double *from) {
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline __attribute__((always_inline)) lanes load_f32(const float *from) {
    half_lanes v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, lanes);
}

/* ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)): the fixed order in which partial sums are added */
static inline __attribute__((always_inline)) double total(lanes v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* sum_j a_j b_j: entry j goes to lane j mod LANES, then the lanes are added */
#define DOT(NAME, T, LOAD)                                                                                             \
    static inline double NAME(const T *restrict a, const double *restrict b, int64_t d) {                              \
        lanes sum = {0};                                                                                               \
        int64_t j = 0;                                                                                                 \
        for (; j + LANES <= d; j += LANES) sum += LOAD(a + j) * load_f64(b + j);                                       \
        for (int l = 0; j < d; j++, l++) sum[l] += (double)a[j] * b[j];                                                \
        return total(sum);                                                                                             \
    }
DOT(dot_f64, double, load_f64)
DOT(dot_f32, float, load_f32)
#undef DOT

#endif
