/* What a pass does to the scores of a few rows: losses, slopes and curvatures; see loops/passes.py.

   Scores come column after column, z[t * ROWS + r] for task t and row r, so that loops run along the rows. They are
   replaced by what the rows are multiplied with next: slopes, times the rows' weights. Rows that only fill up a block
   have score and weight 0. */
#ifndef SEPARATRIX_POINTWISE_H
#define SEPARATRIX_POINTWISE_H

#include "common.h"
#include "exponential.h"
#include "logarithm.h"

#define ROWS 64 /* the most rows of a block */

enum what { SCORES, GATHER, PRODUCT, SOFTMAX_PRODUCT, LOG, SQUARED_HINGE, SQUARED, SIGMOID, GAUSS_NEWTON, SOFTMAX };

struct task {
    int64_t what, k, K;   /* columns of scores; classes of softmax */
    const double *basis;  /* (K, k), from scores to those of the classes; NULL for the identity */
    const int64_t *codes; /* (n,) the class of each row */
    const double *weight; /* (n, columns), columns = 1 or k */
    int64_t columns;
    double *rows;  /* (n, .) what is read or written for each row; NULL for nothing */
    double *total; /* (3, k) values, what rounding took of them, and sums of slopes; then the gradient */
};

/* the sum of 8, 16, 32 or 64 numbers by pairs, which it destroys */
static inline double by_pairs(double *restrict x, int64_t m) {
    for (int64_t half = m / 2; half; half /= 2) {
#pragma omp simd
        for (int64_t r = 0; r < half; r++) x[r] += x[r + half];
    }
    return x[0];
}

/* sum += x, keeping in *lost what rounding takes away (Neumaier) */
static inline void add_exactly(double *restrict sum, double *restrict lost, double x) {
    double s = *sum, t = s + x, off = __builtin_fabs(s) >= __builtin_fabs(x) ? (s - t) + x : (x - t) + s;
    *lost += off - off == 0.0 ? off : 0.0; /* of an infinite sum, nothing is known */
    *sum = t;
}

/* one column of a loss of y z, y = +-1: l, z and h become weighted losses, weighted slopes and curvatures */
static inline void by_margin(int64_t what, int64_t m, const double *restrict y, const double *restrict w,
                             double *restrict z, double *restrict l, double *restrict h) {
    if (what == LOG) {
#pragma omp simd
        for (int64_t r = 0; r < m; r++) {
            double u = y[r] * z[r], e = exponential_f64(-__builtin_fabs(u)), q = 1.0 / (1.0 + e);
            l[r] = w[r] * (log1p_positive(e) - (u < 0.0 ? u : 0.0));
            z[r] = -y[r] * ((u < 0.0 ? 1.0 : e) * q) * w[r];
            h[r] = (e * q) * q;
        }
    } else if (what == SQUARED_HINGE) {
#pragma omp simd
        for (int64_t r = 0; r < m; r++) {
            double slack = 1.0 - y[r] * z[r];
            h[r] = slack > 0.0 ? 2.0 : 0.0;
            slack = slack < 0.0 ? 0.0 : slack; /* NaN stays */
            l[r] = w[r] * (slack * slack);
            z[r] = (-2.0 * y[r]) * slack * w[r];
        }
    } else if (what == SQUARED) {
#pragma omp simd
        for (int64_t r = 0; r < m; r++) {
            double off = z[r] - y[r];
            l[r] = w[r] * (off * off);
            z[r] = 2.0 * off * w[r];
            h[r] = 2.0;
        }
    } else {
#pragma omp simd
        for (int64_t r = 0; r < m; r++) {
            double u = y[r] * z[r], e = exponential_f64(-__builtin_fabs(u)), large = 1.0 / (1.0 + e), small = e * large;
            double p = u < 0.0 ? small : large, q = u < 0.0 ? large : small; /* of the true and of the wrong class */
            l[r] = w[r] * (q * q);
            z[r] = (-2.0 * y[r]) * (p * q) * q * w[r];
            h[r] = what == SIGMOID ? 2.0 * (p * q) * q * (2.0 * p - q) : 2.0 * (p * q) * (p * q);
        }
    }
}

/* from the columns of scores to those of the classes */
static inline void to_classes(const struct task *task, int64_t m, const double *restrict z, double *restrict S) {
    for (int64_t c = 0; c < task->K; c++) {
        double *restrict s = S + c * ROWS;
        if (!task->basis) {
            memcpy(s, z + c * ROWS, (size_t)m * sizeof *s);
            continue;
        }
        memset(s, 0, (size_t)m * sizeof *s);
        for (int64_t t = 0; t < task->k; t++) {
            const double b = task->basis[c * task->k + t], *restrict from = z + t * ROWS;
            if (b == 0.0) continue; /* as most entries of a basis are */
#pragma omp simd
            for (int64_t r = 0; r < m; r++) s[r] += b * from[r];
        }
    }
}

/* and back, by the transpose, times the rows' weights */
static inline void from_classes(const struct task *task, int64_t m, const double *restrict w, const double *restrict S,
                                double *restrict z) {
    for (int64_t t = 0; t < task->k; t++) {
        double *restrict to = z + t * ROWS;
        memset(to, 0, (size_t)m * sizeof *to);
        for (int64_t c = task->basis ? 0 : t; c < (task->basis ? task->K : t + 1); c++) {
            const double b = task->basis ? task->basis[c * task->k + t] : 1.0, *restrict s = S + c * ROWS;
            if (b == 0.0) continue;
#pragma omp simd
            for (int64_t r = 0; r < m; r++) to[r] += b * (w[r] * s[r]);
        }
    }
}

/* S, the classes' scores, become P - Y for probabilities P; P goes to the rows if they are asked for */
static inline void softmax(const struct task *task, int64_t first, int64_t count, int64_t m,
                           const double *restrict codes, const double *restrict w, double *restrict S,
                           double *restrict l) {
    const int64_t K = task->K;
    double most[ROWS], others[ROWS], seen[ROWS], own[ROWS];
    memcpy(most, S, sizeof most);
    for (int64_t c = 1; c < K; c++)
#pragma omp simd
        for (int64_t r = 0; r < m; r++) most[r] = S[c * ROWS + r] > most[r] ? S[c * ROWS + r] : most[r];
    for (int64_t r = 0; r < ROWS; r++) others[r] = seen[r] = own[r] = 0.0;
    for (int64_t c = 0; c < K; c++) {
        double *restrict s = S + c * ROWS;
        const double class = (double)c;
#pragma omp simd
        for (int64_t r = 0; r < m; r++) { /* the sum of all but one that is exp(0): its logarithm keeps its digits */
            double below = s[r] - most[r], e = exponential_f64(below);
            double taken = below == 0.0 ? 1.0 - seen[r] : 0.0;
            seen[r] += taken;
            others[r] += e - taken;
            own[r] = codes[r] == class ? below : own[r];
            s[r] = e;
        }
    }
#pragma omp simd
    for (int64_t r = 0; r < m; r++) {
        l[r] = w[r] * (log1p_positive(others[r]) - own[r]);
        others[r] = 1.0 / (1.0 + others[r]);
    }
    for (int64_t c = 0; c < K; c++) {
        double *restrict s = S + c * ROWS;
        const double class = (double)c;
#pragma omp simd
        for (int64_t r = 0; r < m; r++) s[r] *= others[r];
        if (task->rows)
            for (int64_t r = 0; r < count; r++) task->rows[(first + r) * K + c] = s[r];
#pragma omp simd
        for (int64_t r = 0; r < m; r++) s[r] -= codes[r] == class ? 1.0 : 0.0;
    }
}

/* S, the classes' scores T of a direction, become P (T - sum P T) */
static inline void softmax_product(const struct task *task, int64_t first, int64_t count, int64_t m,
                                   double *restrict S) {
    const int64_t K = task->K;
    double mean[ROWS] = {0};
    for (int64_t r = 0; r < count; r++) {
        const double *restrict P = task->rows + (first + r) * K;
        for (int64_t c = 0; c < K; c++) mean[r] += P[c] * S[c * ROWS + r];
    }
    for (int64_t c = 0; c < K; c++) {
        for (int64_t r = 0; r < count; r++)
            S[c * ROWS + r] = task->rows[(first + r) * K + c] * (S[c * ROWS + r] - mean[r]);
        for (int64_t r = count; r < m; r++) S[c * ROWS + r] = 0.0;
    }
}

/* the scores z of rows first to first + count become weighted slopes; m rows are computed, a power of 2 from 8 on */
static void pointwise(const struct task *task, int64_t first, int64_t count, int64_t m, double *restrict z,
                      double *restrict S) {
    const int64_t what = task->what, k = task->k;
    double y[ROWS], w[ROWS], l[ROWS], h[ROWS];
    if (what == SCORES) {
        for (int64_t t = 0; t < k; t++)
            for (int64_t r = 0; r < count; r++) task->rows[(first + r) * k + t] = z[t * ROWS + r];
        return;
    }
    if (what == GATHER) {
        for (int64_t t = 0; t < k; t++) {
            for (int64_t r = 0; r < count; r++) z[t * ROWS + r] = task->rows[(first + r) * k + t];
            for (int64_t r = count; r < m; r++) z[t * ROWS + r] = 0.0;
        }
    } else if (what == SOFTMAX || what == SOFTMAX_PRODUCT) {
        for (int64_t r = 0; r < m; r++) w[r] = r < count ? task->weight[first + r] : 0.0;
        to_classes(task, m, z, S);
        if (what == SOFTMAX) {
            for (int64_t r = 0; r < m; r++) y[r] = r < count ? (double)task->codes[first + r] : 0.0;
            softmax(task, first, count, m, y, w, S, l);
            add_exactly(task->total, task->total + k, by_pairs(l, m));
        } else {
            softmax_product(task, first, count, m, S);
        }
        from_classes(task, m, w, S, z);
    } else {
        for (int64_t t = 0; t < k; t++) {
            const double *restrict c = task->weight + (task->columns == 1 ? 0 : t);
            const int64_t columns = task->columns;
            for (int64_t r = 0; r < m; r++) w[r] = r < count ? c[(first + r) * columns] : 0.0;
            if (what == PRODUCT) {
                const double *restrict bend = task->rows + t;
                for (int64_t r = 0; r < count; r++) z[t * ROWS + r] *= bend[(first + r) * k] * w[r];
                continue;
            }
            const int64_t positive = what == SQUARED && k > 1 ? t : 1; /* one task for each class, or for class 1 */
            for (int64_t r = 0; r < m; r++) y[r] = r < count && task->codes[first + r] == positive ? 1.0 : -1.0;
            by_margin(what, m, y, w, z + t * ROWS, l, h);
            if (task->rows)
                for (int64_t r = 0; r < count; r++) task->rows[(first + r) * k + t] = h[r];
            add_exactly(task->total + t, task->total + k + t, by_pairs(l, m));
        }
    }
    for (int64_t t = 0; t < k; t++) {
        memcpy(l, z + t * ROWS, (size_t)m * sizeof *l);
        task->total[2 * k + t] += by_pairs(l, m);
    }
}

#endif
