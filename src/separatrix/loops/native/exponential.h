/* exp without calls or branches, so that a loop over it becomes vector instructions; the same bits everywhere. */
#ifndef SEPARATRIX_EXPONENTIAL_H
#define SEPARATRIX_EXPONENTIAL_H

#include "common.h"

/* exp(x) = 2^k exp(r), |r| <= log(2)/2, by a polynomial of degree 13; about 1 ulp. 0 and infinity beyond the range of
   doubles, subnormal in between; NaN for NaN. */
static inline double exponential_f64(double x)
{
    const double shift = 0x1.8p52; /* added to a small number, it leaves the nearest whole one in the last bits */
    double y = x < 710.0 ? x : 710.0;
    y = y > -746.0 ? y : -746.0;
    const double shifted = y * 0x1.71547652b82fep0 + shift, k = shifted - shift;
    const double r = (y - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
    const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const double p0 = 1.0 + r, p2 = 0x1p-1 + r * 0x1.5555555555555p-3;
    const double p4 = 0x1.5555555555555p-5 + r * 0x1.1111111111111p-7;
    const double p6 = 0x1.6c16c16c16c17p-10 + r * 0x1.a01a01a01a01ap-13;
    const double p8 = 0x1.a01a01a01a01ap-16 + r * 0x1.71de3a556c734p-19;
    const double p10 = 0x1.27e4fb7789f5cp-22 + r * 0x1.ae64567f544e4p-26;
    const double p12 = 0x1.1eed8eff8d898p-29 + r * 0x1.6124613a86d09p-33;
    const double high = (p8 + r2 * p10) + r4 * p12;
    /* the largest terms last, for their rounding is all that counts */
    const double p = p0 + (r2 * (p2 + r2 * p4) + (r4 * (r2 * p6) + r8 * high));
    /* 2^k in two factors, each of which a double holds */
    const double shifted_half = k * 0.5 + shift;
    int64_t bits, half;
    memcpy(&bits, &shifted, 8);
    memcpy(&half, &shifted_half, 8);
    bits -= 0x4338000000000000; /* the bits of shift: k is left, and half of it */
    half -= 0x4338000000000000;
    const uint64_t first = (uint64_t)(half + 1023) << 52, second = (uint64_t)(bits - half + 1023) << 52;
    double a, b;
    memcpy(&a, &first, 8);
    memcpy(&b, &second, 8);
    const double value = p * a * b;
    return x == x ? value : x;
}

/* The same in single precision, by a polynomial of degree 7. */
static inline float exponential_f32(float x)
{
    const float shift = 0x1.8p23f;
    float y = x < 89.0f ? x : 89.0f;
    y = y > -104.0f ? y : -104.0f;
    const float shifted = y * 0x1.715476p0f + shift, k = shifted - shift;
    const float r = (y - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
    const float r2 = r * r;
    const float p2 = 0x1p-1f + r * 0x1.555556p-3f, p4 = 0x1.555556p-5f + r * 0x1.111112p-7f;
    const float p6 = 0x1.6c16c2p-10f + r * 0x1.a01a02p-13f;
    const float p = (1.0f + r) + r2 * (p2 + r2 * (p4 + r2 * p6));
    int32_t bits, half;
    memcpy(&bits, &shifted, 4);
    bits -= 0x4b400000;
    half = bits >> 1;
    const uint32_t first = (uint32_t)(half + 127) << 23, second = (uint32_t)(bits - half + 127) << 23;
    float a, b;
    memcpy(&a, &first, 4);
    memcpy(&b, &second, 4);
    const float value = p * a * b;
    return x == x ? value : x;
}

#endif
