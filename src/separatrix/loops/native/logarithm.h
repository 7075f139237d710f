/* log(1 + x) without branches, so that loops over it are vectorised, to about one unit in the last place. */
#ifndef SEPARATRIX_LOGARITHM_H
#define SEPARATRIX_LOGARITHM_H

#include "common.h"

#define LN2_HIGH 6.93147180369123816490e-01 /* 33 bits: products with exponents of doubles are exact */
#define LN2_LOW 1.90821492927058770002e-10

static inline double of_bits(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int64_t bits_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* log(1 + x) for x >= 0: with 1 + x = 2^k m, 1/sqrt(2) < m <= sqrt(2), k ln(2) + 2 atanh((m - 1) / (m + 1)), and what
   1 + x has lost by rounding. */
static inline double log1p_positive(double x) {
    double u = 1.0 + x, lost = x - (u - 1.0);
    uint64_t bits = (uint64_t)bits_of(u) + (0x3FF0000000000000 - 0x3FE6A09E667F3BCD);
    double k = of_bits((int64_t)((bits >> 52) | 0x4330000000000000)) - (0x1.0p52 + 1023.0);
    double f = of_bits((int64_t)((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD)) - 1.0;
    double z = f / (2.0 + f), q = z * z;
    double p = 1.0 / 21.0;
    p = p * q + 1.0 / 19.0;
    p = p * q + 1.0 / 17.0;
    p = p * q + 1.0 / 15.0;
    p = p * q + 1.0 / 13.0;
    p = p * q + 1.0 / 11.0;
    p = p * q + 1.0 / 9.0;
    p = p * q + 1.0 / 7.0;
    p = p * q + 1.0 / 5.0;
    p = p * q + 1.0 / 3.0;
    double tail = (2.0 * z) * (q * p) + (k * LN2_LOW + lost / u);
    double log = k * LN2_HIGH + (2.0 * z + tail);
    return x < __builtin_inf() ? log : x; /* infinity and NaN stay */
}

#endif
