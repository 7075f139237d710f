/* What all sources share: integers of fixed width, names, and how a function is made visible outside of its library.
 *
 * Sums over a long axis have a fixed number of lanes (plain arrays of 8 doubles: wider vector types make gcc go through
 * memory on processors with narrower registers), added in one fixed order, so that every processor level gives the
 * same bits and the compiler needs no licence to reorder. Nothing here may be compiled with -ffast-math. */
#ifndef SEPARATRIX_COMMON_H
#define SEPARATRIX_COMMON_H

#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define LANES 8

/* A loop is written once in NAME.inc and included for each element type T (float, double) and, where rows are sparse,
 * for each index type I (int32_t, int64_t); SUFFIX is then f64, f32, f64_i32, ... */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, SUFFIX)

#endif
