/* LANES numbers in as many registers as they take at this processor level: compilers split a vector that is wider than
   a register badly. The lanes, and so the bits, are the same at every level. */
#ifndef SEPARATRIX_PARTS_H
#define SEPARATRIX_PARTS_H

#include "common.h"

#if defined(__AVX512F__)
#define PARTS 1
#elif defined(__AVX__)
#define PARTS 2
#else
#define PARTS 4
#endif
#define WIDTH (LANES / PARTS)

typedef double part __attribute__((vector_size(8 * WIDTH)));
typedef float half_part __attribute__((vector_size(4 * WIDTH)));

#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline)) /* a loop by itself has all registers for itself */

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

INLINE part part_f64(const double *from) {
    part v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE part part_f32(const float *from) {
    half_part v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, part);
}

INLINE void store(double *to, part v) { memcpy(to, &v, sizeof v); }

/* ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)), as dense sums in rows.h */
INLINE double across(const part *v) {
#if PARTS == 4
    part s = (v[0] + v[2]) + (v[1] + v[3]);
    return s[0] + s[1];
#elif PARTS == 2
    part s = v[0] + v[1];
    return (s[0] + s[2]) + (s[1] + s[3]);
#else
    part s = v[0];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
#endif
}

#endif
