/* exp and log1p without branches, so that loops over them are vectorised, to about one unit in the last place.

   They are the same sums on every machine: no fused multiplications (-ffp-contract=off), no library. NaN stays NaN. */
#ifndef SEPARATRIX_BRANCHLESS_H
#define SEPARATRIX_BRANCHLESS_H

#include <stdint.h>
#include <string.h>

#define LN2_HIGH 6.93147180369123816490e-01 /* 33 bits: its products with the exponents of doubles are exact */
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

/* exp(x) for x <= 0: 2^k (1 + r + r^2 q(r)), |r| <= ln(2)/2, q the Taylor series; subnormal where due, 0 below. */
static inline double exp_negative(double x) {
    const double rounder = 0x1.8p52; /* adding it rounds to a whole number, which then is in the lowest bits */
    x = x < -746.0 ? -746.0 : x;
    double shifted = x * 1.4426950408889634 + rounder, k = shifted - rounder;
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    double q = 1.0 / 6227020800.0;
    q = q * r + 1.0 / 479001600.0;
    q = q * r + 1.0 / 39916800.0;
    q = q * r + 1.0 / 3628800.0;
    q = q * r + 1.0 / 362880.0;
    q = q * r + 1.0 / 40320.0;
    q = q * r + 1.0 / 5040.0;
    q = q * r + 1.0 / 720.0;
    q = q * r + 1.0 / 120.0;
    q = q * r + 1.0 / 24.0;
    q = q * r + 1.0 / 6.0;
    q = q * r + 0.5;
    double p = 1.0 + (r + (r * r) * q);
    /* 2^k may be too small for a normal number: k = 2 h + rest, with 0 <= rest < 64 */
    uint64_t above = ((uint64_t)bits_of(shifted) + 2048) & 4095, rest = above & 63; /* above = k + 2048 */
    double root = of_bits((int64_t)(((above - rest) / 2 - 1024 + 1023) << 52));     /* 2^h */
    return p * of_bits((int64_t)((rest + 1023) << 52)) * root * root;
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
    return x < 0x1.0p1023 ? log : x; /* NaN, and infinity, whose bits are no power of 2 */
}

#endif
