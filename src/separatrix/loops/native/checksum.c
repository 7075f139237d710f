/* A checksum of 64-bit words. See loops/checksum.py: sums modulo 2^64 are exact, so that any order gives the same. */
#include "parts.h"

#define CHAINS 32 /* lanes: products of one lane wait for each other, those of different lanes do not */
#define TOGETHER (CHAINS / WIDTH)

typedef uint64_t words_part __attribute__((vector_size(8 * WIDTH)));

EXPORT uint64_t checksum(const uint64_t *restrict words, int64_t n, uint64_t factor, uint64_t across) {
    words_part sums[TOGETHER] = {{0}};
    uint64_t total = (uint64_t)n;
    for (int64_t i = 0; i + CHAINS <= n; i += CHAINS)
        for (int p = 0; p < TOGETHER; p++) {
            words_part w;
            memcpy(&w, words + i + p * WIDTH, sizeof w);
            sums[p] = sums[p] * factor + (w ^ (w >> 32));
        }
    for (int p = 0; p < TOGETHER; p++)
        for (int l = 0; l < WIDTH; l++) total = total * across + sums[p][l];
    return total ^ (total >> 32);
}
