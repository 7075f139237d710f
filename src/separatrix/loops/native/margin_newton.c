/* Newton's method on the hinge, smoothed about multipliers, or on its square; see loops/margin_newton.py. */
#include "rows.h"

#define FLAT 0.3      /* slope along a step, relative to the first, that is near enough to its end */
#define TRIES 12      /* to find the length of a step */
#define SMALLEST 0.1  /* of the bracket of that length, the least and the most that is cut off at each try */
#define LARGEST 0.9
#define REFINED 2     /* times that multipliers are moved to make v stationary: the second for what rounding left */
#define LEAST 1e-15   /* of a diagonal entry, below which a pivot is rounding */

enum { WIDTH, BEST };    /* of at */
enum { STEPS, BEST_AT }; /* of place */

/* alpha_i = a_i + rate_i lack_i, clipped to [0, cap_i] */
static void clipped(int64_t n, const double *restrict a, const double *restrict rate,
                    const double *restrict x, const double *restrict cap, double *restrict alpha)
{
    for (int64_t i = 0; i < n; i++) {
        const double s = a[i] + rate[i] * x[i];
        alpha[i] = smaller(larger(s, 0.0), cap[i]);
    }
}

/* out_j += sum_r weight_r z_rj over four rows at a time */
static void gathered(const double *restrict Z, int64_t p, const int64_t *restrict chosen, int64_t count,
                     const double *restrict weight, double *restrict out)
{
    int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *restrict z0 = Z + chosen[r] * p, *restrict z1 = Z + chosen[r + 1] * p;
        const double *restrict z2 = Z + chosen[r + 2] * p, *restrict z3 = Z + chosen[r + 3] * p;
        const double w0 = weight[chosen[r]], w1 = weight[chosen[r + 1]];
        const double w2 = weight[chosen[r + 2]], w3 = weight[chosen[r + 3]];
        for (int64_t j = 0; j < p; j++) out[j] += (w0 * z0[j] + w1 * z1[j]) + (w2 * z2[j] + w3 * z3[j]);
    }
    for (; r < count; r++) {
        const double *restrict z = Z + chosen[r] * p, w = weight[chosen[r]];
        for (int64_t j = 0; j < p; j++) out[j] += w * z[j];
    }
}

/* the lower half of H += sum_r weight_r z_r z_r' */
static void squared_up(const double *restrict Z, int64_t p, const int64_t *restrict chosen, int64_t count,
                       const double *restrict weight, double *restrict H)
{
    int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *restrict z0 = Z + chosen[r] * p, *restrict z1 = Z + chosen[r + 1] * p;
        const double *restrict z2 = Z + chosen[r + 2] * p, *restrict z3 = Z + chosen[r + 3] * p;
        for (int64_t j = 0; j < p; j++) {
            double *restrict row = H + j * p;
            const double w0 = weight[chosen[r]] * z0[j], w1 = weight[chosen[r + 1]] * z1[j];
            const double w2 = weight[chosen[r + 2]] * z2[j], w3 = weight[chosen[r + 3]] * z3[j];
            for (int64_t k = 0; k <= j; k++) row[k] += (w0 * z0[k] + w1 * z1[k]) + (w2 * z2[k] + w3 * z3[k]);
        }
    }
    for (; r < count; r++) {
        const double *restrict z = Z + chosen[r] * p;
        for (int64_t j = 0; j < p; j++) {
            double *restrict row = H + j * p;
            const double w = weight[chosen[r]] * z[j];
            for (int64_t k = 0; k <= j; k++) row[k] += w * z[k];
        }
    }
}

/* H x = g by Cholesky's factors, in place; directions that rounding has left without curvature get no step */
static void solved(double *restrict H, int64_t p, double *restrict x)
{
    for (int64_t j = 0; j < p; j++) {
        double *restrict row = H + j * p;
        for (int64_t k = 0; k < j; k++) {
            const double *restrict other = H + k * p;
            row[k] = (row[k] - dense_dot_f64(row, other, k)) * other[k];
        }
        const double pivot = row[j] - dense_dot_f64(row, row, j);
        row[j] = pivot > LEAST * row[j] ? 1.0 / __builtin_sqrt(pivot) : 0.0;
    }
    for (int64_t j = 0; j < p; j++) x[j] = (x[j] - dense_dot_f64(H + j * p, x, j)) * H[j * p + j];
    for (int64_t j = p - 1; j >= 0; j--) {
        const double *restrict row = H + j * p;
        x[j] *= row[j];
        for (int64_t k = 0; k < j; k++) x[k] -= row[k] * x[j];
    }
}

/* The free alpha moved least so that sum_i alpha_i y_i z_i = R v: v is known to more digits than (1 - m_i) / h is.
   Of rows that depend on others some stay. */
static void stationary(const double *restrict Z, int64_t n, int64_t p, const double *restrict y,
                       const double *restrict cap, const double *restrict ridge, const double *restrict v,
                       double *restrict alpha, const int64_t *restrict freed, int64_t count, double *restrict K,
                       double *restrict x, double *restrict g)
{
    for (int time = 0; time < REFINED; time++) {
        for (int64_t j = 0; j < p; j++) g[j] = -(ridge[j] * v[j]);
        for (int64_t i = 0; i < n; i++)
            if (alpha[i] != 0.0)
                for (int64_t j = 0; j < p; j++) g[j] += y[i] * alpha[i] * Z[i * p + j];
        for (int64_t r = 0; r < count; r++) {
            const double *restrict z = Z + freed[r] * p;
            for (int64_t s = 0; s <= r; s++) K[r * count + s] = dense_dot_f64(z, Z + freed[s] * p, p);
            x[r] = dense_dot_f64(z, g, p);
        }
        solved(K, count, x);
        for (int64_t r = 0; r < count; r++) {
            const int64_t i = freed[r];
            alpha[i] = smaller(larger(alpha[i] - y[i] * x[r], 0.0), cap[i]);
        }
    }
}

EXPORT int64_t margin_newton(const double *restrict Z, int64_t n, int64_t p, const double *restrict y,
                             const double *restrict c, const double *restrict cap, const double *restrict ridge,
                             int64_t squared, double narrower, double goal, int64_t patience, int64_t most,
                             double *restrict v, double *restrict a, double *restrict m, double *restrict alpha,
                             double *restrict at, int64_t *restrict place, double *restrict work,
                             int64_t *restrict chosen, int64_t budget)
{
    double *restrict lack = work, *restrict rate = lack + n, *restrict signed_ = rate + n, *restrict dm = signed_ + n;
    double *restrict trial = dm + n, *restrict dv = trial + n, *restrict H = dv + p;
    const double tiny = 2.2250738585072014e-308;
    double least = INFINITE;
    for (int64_t i = 0; i < n; i++) least = smaller(least, c[i]);
    for (;;) {
        double h = at[WIDTH];
        int64_t inside = 0, used = 0;
        double weight = 0.0;
        for (int64_t i = 0; i < n; i++) {
            lack[i] = 1.0 - m[i];
            rate[i] = c[i] / h;
            trial[i] = larger(lack[i], 0.0);
        }
        clipped(n, a, rate, lack, cap, alpha);
        double loss, slack = 0.0;
        if (squared) {
            for (int64_t i = 0; i < n; i++) dm[i] = trial[i] * trial[i];
            loss = dense_dot_f64(c, dm, n);
        } else {
            loss = dense_dot_f64(c, trial, n);
            slack = loss - dense_dot_f64(alpha, lack, n);
        }
        /* rows that pull, then rows that also bend */
        for (int64_t i = 0; i < n; i++)
            if (alpha[i] != 0.0) {
                chosen[used++] = i;
                signed_[i] = y[i] * alpha[i];
            }
        for (int64_t j = 0; j < p; j++) dv[j] = 0.0;
        gathered(Z, p, chosen, used, signed_, dv);
        for (int64_t r = 0; r < used; r++)
            if (alpha[chosen[r]] < cap[chosen[r]]) {
                chosen[inside++] = chosen[r];
                weight += c[chosen[r]];
            }
        const double loose = larger(weight, least) / h;
        double left = 0.0, value = 0.0;
        for (int64_t j = 0; j < p; j++) {
            dv[j] -= ridge[j] * v[j];
            left += dv[j] * (dv[j] / (ridge[j] > 0.0 ? ridge[j] : loose));
            value += v[j] * (ridge[j] * v[j]);
        }
        left *= 0.5;
        value = 0.5 * value + loss;
        const double gap = (slack + left) / larger(value, tiny);
        if (gap < at[BEST]) {
            at[BEST] = gap;
            place[BEST_AT] = place[STEPS];
        }
        if (!(gap > goal) || place[STEPS] >= most || place[STEPS] - place[BEST_AT] > patience) {
            if (!squared && inside <= 2 * p)
                stationary(Z, n, p, y, cap, ridge, v, alpha, chosen, inside, H, trial, dv);
            return 1;
        }
        if (budget <= 0) return 0;
        budget -= (used + n + inside * (p + 1) / 2) * p + p * p * p / 6 + ROW_COST * n;
        place[STEPS]++;
        if (left <= slack) {
            for (int64_t i = 0; i < n; i++) a[i] = alpha[i];
            at[WIDTH] = narrower * h;
            continue;
        }
        for (int64_t j = 0; j < p * p; j++) H[j] = 0.0;
        squared_up(Z, p, chosen, inside, rate, H);
        for (int64_t j = 0; j < p; j++)
            H[j * p + j] += ridge[j] > 0.0 ? ridge[j] : H[j * p + j] > 0.0 ? 0.0 : loose;
        solved(H, p, dv);
        for (int64_t i = 0; i < n; i++) dm[i] = y[i] * dense_dot_f64(Z + i * p, dv, p);
        /* the length: where the slope along dv, which grows, is near 0; at most 1 */
        double linear = 0.0, square = 0.0;
        for (int64_t j = 0; j < p; j++) {
            linear += dv[j] * (ridge[j] * v[j]);
            square += dv[j] * (ridge[j] * dv[j]);
        }
        const double first = linear - dense_dot_f64(alpha, dm, n);
        double low = 0.0, high = 1.0, low_slope = first, high_slope = 0.0, t = 1.0;
        for (int try = 0; try < TRIES; try++) {
            for (int64_t i = 0; i < n; i++) trial[i] = lack[i] - t * dm[i];
            clipped(n, a, rate, trial, cap, signed_);
            const double now = (linear + t * square) - dense_dot_f64(signed_, dm, n);
            if (__builtin_fabs(now) <= FLAT * __builtin_fabs(first) || (t == 1.0 && now < 0.0)) break;
            if (now > 0.0) {
                high = t;
                high_slope = now;
            } else {
                low = t;
                low_slope = now;
            }
            t = low + (high - low) * smaller(larger(low_slope / (low_slope - high_slope), SMALLEST), LARGEST);
        }
        for (int64_t j = 0; j < p; j++) v[j] += t * dv[j];
        for (int64_t i = 0; i < n; i++) m[i] += t * dm[i];
    }
}
