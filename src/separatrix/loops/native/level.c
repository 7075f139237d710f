/* Which of the libraries this processor can run, and from which sources this one was made. */
#include "common.h"

#ifndef SOURCES
#define SOURCES "unknown"
#endif

EXPORT const char separatrix_sources[] = SOURCES;

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

enum { SSE3 = 1 << 0, SSSE3 = 1 << 9, FMA = 1 << 12, CX16 = 1 << 13, SSE41 = 1 << 19, SSE42 = 1 << 20,
       MOVBE = 1 << 22, POPCNT = 1 << 23, OSXSAVE = 1 << 27, AVX = 1 << 28, F16C = 1 << 29 }; /* leaf 1, ecx */
enum { BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8, AVX512F = 1 << 16, AVX512DQ = 1 << 17, AVX512CD = 1 << 28,
       AVX512BW = 1 << 30 };                                        /* leaf 7, ebx; AVX512VL is its sign bit */
enum { LAHF = 1 << 0, LZCNT = 1 << 5 };                             /* leaf 0x80000001, ecx */
enum { XMM_YMM = 0x6, OPMASK_ZMM = 0xe6 };                          /* registers that the operating system saves */

static int has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

/* The x86-64 level, 1 to 4: what the processor has (cpuid) and the operating system saves at a switch (xgetbv). */
EXPORT int32_t separatrix_level(void) {
    unsigned a, b, c, d, saved = 0, basic, ecx1 = 0, ebx7 = 0, more = 0;
    basic = __get_cpuid_max(0, 0);
    if (basic >= 1) { __cpuid(1, a, b, c, d); ecx1 = c; }
    if (basic >= 7) { __cpuid_count(7, 0, a, b, c, d); ebx7 = b; }
    if (__get_cpuid_max(0x80000000u, 0) >= 0x80000001u) { __cpuid(0x80000001u, a, b, c, d); more = c; }
    if (!has(ecx1, SSE3 | SSSE3 | CX16 | SSE41 | SSE42 | POPCNT) || !has(more, LAHF)) return 1;
    if (has(ecx1, OSXSAVE)) __asm__ volatile("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    if (!has(ecx1, FMA | MOVBE | AVX | F16C) || !has(ebx7, BMI1 | AVX2 | BMI2) || !has(more, LZCNT) || !has(saved, XMM_YMM))
        return 2;
    if (!has(ebx7, AVX512F | AVX512DQ | AVX512CD | AVX512BW) || !(ebx7 >> 31) || !has(saved, OPMASK_ZMM)) return 3;
    return 4;
}
#else
EXPORT int32_t separatrix_level(void) { return 0; } /* another processor: there is one library for it */
#endif
