/* The machine's limit: all triples, or sets of four, of binary columns whose total correlation reaches a bar.
 *
 * The best algorithm we know, written down once for speed and nothing else. For each i: the rows in which x_i has its
 * rarer value are pushed together; then one symmetric product of bit columns, eight by eight, words of eight columns
 * side by side so that no sum over a vector is ever taken; then, from the count of common ones, a bound on the total
 * correlation without logarithms; then, of what the bound leaves, the total correlation from a table of c log c.
 *
 * build: cc -O3 -march=native -fopenmp -shared -fPIC limit.c -o limit.so -lm
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef uint64_t u64;
enum { LANES = 8 };

/* counts[8][stride] of columns a[t][8] with columns b[t][8] */
static inline void product(const u64 *restrict a, const u64 *restrict b, int w, int32_t *restrict out, int stride) {
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512F__) && defined(__AVX512VL__)
    __m512i s[LANES];
    for (int j = 0; j < LANES; j++) s[j] = _mm512_setzero_si512();
    for (int t = 0; t < w; t++) {
        const __m512i k = _mm512_loadu_si512((const void *)(b + 8 * t));
#pragma GCC unroll 8
        for (int j = 0; j < LANES; j++)
            s[j] = _mm512_add_epi64(
                s[j], _mm512_popcnt_epi64(_mm512_and_si512(k, _mm512_set1_epi64((long long)a[8 * t + j]))));
    }
    for (int j = 0; j < LANES; j++) _mm256_storeu_si256((__m256i *)(out + j * stride), _mm512_cvtepi64_epi32(s[j]));
#elif defined(__AVX2__)
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    const __m256i ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2,
                                          2, 3, 2, 3, 3, 4);
    for (int half = 0; half < 8; half += 4) {
        __m256i total[LANES];
        for (int j = 0; j < LANES; j++) total[j] = zero;
        for (int t0 = 0; t0 < w; t0 += 31) {
            const int end = t0 + 31 < w ? t0 + 31 : w;
            __m256i s[LANES];
            for (int j = 0; j < LANES; j++) s[j] = zero;
            for (int t = t0; t < end; t++) {
                const __m256i k = _mm256_loadu_si256((const __m256i *)(b + 8 * t + half));
#pragma GCC unroll 8
                for (int j = 0; j < LANES; j++) {
                    const __m256i x = _mm256_and_si256(k, _mm256_set1_epi64x((long long)a[8 * t + j]));
                    const __m256i lo = _mm256_shuffle_epi8(ones, _mm256_and_si256(x, low));
                    const __m256i hi = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));
                    s[j] = _mm256_add_epi8(s[j], _mm256_add_epi8(lo, hi));
                }
            }
            for (int j = 0; j < LANES; j++) total[j] = _mm256_add_epi64(total[j], _mm256_sad_epu8(s[j], zero));
        }
        for (int j = 0; j < LANES; j++) {
            u64 words[4];
            _mm256_storeu_si256((__m256i *)words, total[j]);
            for (int k = 0; k < 4; k++) out[j * stride + half + k] = (int32_t)words[k];
        }
    }
#else
    for (int j = 0; j < LANES; j++)
        for (int k = 0; k < LANES; k++) {
            int32_t s = 0;
            for (int t = 0; t < w; t++) s += __builtin_popcountll(a[8 * t + j] & b[8 * t + k]);
            out[j * stride + k] = s;
        }
#endif
}

static int width(int w, int W) {
#if defined(__BMI2__)
    (void)W;
    return w;
#else
    (void)w;
    return W;
#endif
}

/* rows of the mask, of one block of eight columns, pushed together */
static int compact(const u64 *restrict x, const u64 *restrict mask, int W, u64 *restrict d, int w) {
#if defined(__BMI2__)
    memset(d, 0, (size_t)w * 64);
    long place = 0;
    for (int t = 0; t < W; t++) {
        const u64 m = mask[t];
        const int r = place & 63, length = __builtin_popcountll(m);
        u64 *q = d + (place >> 6) * 8;
        for (int lane = 0; lane < 8; lane++) q[lane] |= _pext_u64(x[8 * t + lane], m) << r;
        if (r + length > 64)
            for (int lane = 0; lane < 8; lane++) q[8 + lane] = _pext_u64(x[8 * t + lane], m) >> (64 - r);
        place += length;
    }
    return w;
#else
    for (int t = 0; t < W; t++)
        for (int lane = 0; lane < 8; lane++) d[8 * t + lane] = x[8 * t + lane] & mask[t];
    return W;
#endif
}

typedef struct {
    int32_t *sets;
    double *shared;
    long n, room;
} Found;

static void keep(Found *f, int i, int j, int k, double value) {
    if (f->n == f->room) {
        f->room *= 2;
        f->sets = realloc(f->sets, sizeof(int32_t) * 3 * f->room);
        f->shared = realloc(f->shared, sizeof(double) * f->room);
    }
    f->sets[3 * f->n] = i, f->sets[3 * f->n + 1] = j, f->sets[3 * f->n + 2] = k;
    f->shared[f->n++] = value;
}

/* words: [blocks][W][8], the rarer value of each column; N columns, n rows; logs: c log c for c = 0 .. n. Returns how
 * many sets were found and fills at most `room` of them. screen = 0: logarithms of every triple. */
long scan_triples(const u64 *words, int N, long n, const double *logs, double bar, int threads, int screen,
                  int32_t *sets, double *shared, long room) {
    const int W = (int)((n + 63) / 64), B = (N + 7) / 8, S = B * 8;
    const size_t block = (size_t)W * 8;
    int32_t *n2 = malloc(sizeof(int32_t) * S * S), *n1 = malloc(sizeof(int32_t) * S);
    double *h = malloc(sizeof(double) * S);
    double *share = malloc(sizeof(double) * S), *weight = malloc(sizeof(double) * S);
    for (int a = 0; a < B; a++)
        for (int b = a; b < B; b++) product(words + a * block, words + b * block, W, n2 + (size_t)a * 8 * S + b * 8, S);
    for (int a = 0; a < S; a++) {
        n1[a] = n2[(size_t)a * S + a];
        share[a] = (double)n1[a] / n;
        const double v = share[a] * (1 - share[a]);
        weight[a] = v > 0 ? 1 / v : 0;
        h[a] = log((double)n) - (logs[n1[a]] + logs[n - n1[a]]) / n;
        for (int b = 0; b < a; b++) n2[(size_t)a * S + b] = n2[(size_t)b * S + a];
    }
    const double limit = expm1(bar) * (1 - 1e-9) - 1e-9, log_n = log((double)n);
    long total = 0;
#pragma omp parallel num_threads(threads)
    {
        Found found = {malloc(sizeof(int32_t) * 3 * 64), malloc(sizeof(double) * 64), 0, 64};
        u64 *sub = aligned_alloc(64, sizeof(u64) * B * block), *mask = malloc(sizeof(u64) * W);
        int32_t *counts = malloc(sizeof(int32_t) * 8 * S);
        double *chi = malloc(sizeof(double) * S), *chi_i = malloc(sizeof(double) * S);
        double *more = malloc(sizeof(double) * S);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < N - 2; i++) {
            for (int t = 0; t < W; t++) mask[t] = words[(i / 8) * block + 8 * t + i % 8];
            int w = (n1[i] + 63) / 64;
            const int32_t *with_i = n2 + (size_t)i * S;
            const int first = (i + 1) / 8;
            const size_t step = (size_t)width(w, W) * 8;
            for (int b = first; b < B; b++) w = compact(words + b * block, mask, W, sub + b * step, w);
            const double p_i = share[i], i_unit = weight[i] / n / n;
            for (int k = first * 8; k < N; k++) {
                more[k] = with_i[k] - n * p_i * share[k];
                chi_i[k] = more[k] * more[k] * (i_unit * weight[k]);
            }
            for (int jb = first; jb < B; jb++) {
                for (int kb = jb; kb < B; kb++) product(sub + jb * step, sub + kb * step, w, counts + kb * 8, S);
                for (int lane = 0; lane < 8; lane++) {
                    const int j = jb * 8 + lane;
                    if (j <= i || j >= N) continue;
                    const int32_t *restrict row = counts + lane * S, *restrict with_j = n2 + (size_t)j * S;
                    const double p_j = share[j], n_j = n * p_j, chi_ij = chi_i[j];
                    const double j_unit = weight[j] / n / n, unit = weight[i] * j_unit, lean = more[j] + p_i * n_j;
                    int hits = !screen;
                    if (screen)
                        for (int k = j + 1; k < N; k++) {
                            const double jk = with_j[k] - n_j * share[k];
                            const double ijk = row[k] - p_i * jk - p_j * more[k] - share[k] * lean;
                            const double x = chi_ij + chi_i[k] + weight[k] * (jk * jk * j_unit + ijk * ijk * unit);
                            chi[k] = x;
                            hits += x >= limit;
                        }
                    if (!hits) continue;
                    const double alone = h[i] + h[j] - log_n;
                    for (int k = j + 1; k < N; k++) {
                        if (screen && chi[k] < limit) continue;
                        const long t = row[k], x = with_i[k], y = with_j[k], z = n1[k], ij = with_i[j];
                        const double sum = (logs[t] + logs[ij - t]) + (logs[x - t] + logs[y - t]) +
                                           (logs[n1[i] - ij - x + t] + logs[n1[j] - ij - y + t]) +
                                           (logs[z - x - y + t] + logs[n - n1[i] - n1[j] - z + ij + x + y - t]);
                        const double value = alone + h[k] + sum / n;
                        if (value >= bar - 1e-9) keep(&found, i, j, k, value);
                    }
                }
            }
        }
#pragma omp critical
        {
            for (long x = 0; x < found.n; x++, total++)
                if (total < room) {
                    memcpy(sets + 3 * total, found.sets + 3 * x, sizeof(int32_t) * 3);
                    shared[total] = found.shared[x];
                }
        }
        free(found.sets), free(found.shared), free(sub), free(mask), free(counts), free(chi), free(chi_i), free(more);
    }
    free(n2), free(n1), free(h), free(share), free(weight);
    return total;
}

/* All pairs j, k of binary columns that share at least `bar` nats given a target: the rows of each level of the target
 * lie apart, pushed together. words: for each level the blocks [B][w][8], from start[level] on; n1: [levels][S] ones;
 * rows: of each level. Returns how many pairs were found and fills at most `room` of them. */
long scan_given(const u64 *words, int N, int levels, const long *start, const int *w, const int32_t *n1,
                const long *rows, const double *logs, double bar, int threads, int32_t *sets, long room) {
    const int B = (N + 7) / 8, S = B * 8, C = 32;
    long n = 0, total = 0;
    for (int a = 0; a < levels; a++) n += rows[a];
    double *x = malloc(sizeof(double) * levels * S), *weight = malloc(sizeof(double) * levels * S);
    for (int a = 0; a < levels; a++)
        for (int k = 0; k < S; k++) {
            const double one = n1[a * S + k], zero = rows[a] - one;
            x[a * S + k] = one;
            weight[a * S + k] = one > 0 && zero > 0 ? 1 / one + 1 / zero : 0;
        }
    const double limit = expm1(bar) * (1 - 1e-9) - 1e-9;
#pragma omp parallel num_threads(threads)
    {
        Found found = {malloc(sizeof(int32_t) * 3 * 64), malloc(sizeof(double) * 64), 0, 64};
        int32_t *counts = malloc(sizeof(int32_t) * levels * 8 * C * 8);
        double *chi = malloc(sizeof(double) * C * 8);
#pragma omp for schedule(dynamic, 1)
        for (int jb = 0; jb < B; jb++)
            for (int kb = jb; kb < B; kb += C) {
                const int size = kb + C < B ? C : B - kb, L = size * 8;
                for (int a = 0; a < levels; a++)
                    for (int q = 0; q < size; q++)
                        product(words + start[a] + (size_t)jb * w[a] * 8, words + start[a] + (size_t)(kb + q) * w[a] * 8,
                                w[a], counts + (size_t)a * 8 * L + q * 8, L);
                for (int lane = 0; lane < 8; lane++) {
                    const int j = jb * 8 + lane;
                    if (j >= N) continue;
                    int hits = 0;
                    for (int k = 0; k < L; k++) chi[k] = 0;
                    for (int a = 0; a < levels; a++) {
                        const int32_t *restrict t = counts + (size_t)a * 8 * L + lane * L;
                        const double *restrict xa = x + a * S + kb * 8, *restrict wa = weight + a * S + kb * 8;
                        const double r = rows[a] ? x[a * S + j] / rows[a] : 0;
                        const double u = weight[a * S + j] * rows[a] / n;
                        for (int k = 0; k < L; k++) {
                            const double d = t[k] - r * xa[k];
                            chi[k] += u * wa[k] * d * d;
                        }
                    }
                    for (int k = 0; k < L; k++) hits += chi[k] >= limit;
                    if (!hits) continue;
                    for (int k = 0; k < L; k++) {
                        const int v = kb * 8 + k;
                        if (chi[k] < limit || v <= j || v >= N) continue;
                        double sum = 0;
                        for (int a = 0; a < levels; a++) {
                            const long t = counts[(size_t)a * 8 * L + lane * L + k], y = n1[a * S + j], z = n1[a * S + v];
                            sum += logs[t] + logs[y - t] + logs[z - t] + logs[rows[a] - y - z + t] + logs[rows[a]] -
                                   logs[y] - logs[rows[a] - y] - logs[z] - logs[rows[a] - z];
                        }
                        if (sum / n >= bar - 1e-9) keep(&found, j, v, 0, sum / n);
                    }
                }
            }
#pragma omp critical
        {
            for (long f = 0; f < found.n; f++, total++)
                if (total < room) memcpy(sets + 2 * total, found.sets + 3 * f, sizeof(int32_t) * 2);
        }
        free(found.sets), free(found.shared), free(counts), free(chi);
    }
    free(x), free(weight);
    return total;
}

/* All sets h < i < j < k of binary columns whose total correlation reaches the bar. The rows in which h and i have their
 * rarer values are pushed together and multiplied; the other three cells of h and i follow from the triples, which are
 * counted beforehand. What the four share is I(h;i) + I(j;hi) + I(k;hi) + I(j;k|hi); the last is bounded by the squares
 * of the four cells. Sets of four are written four numbers each. */
long scan_fours(const u64 *words, int N, long n, const double *logs, double bar, int threads, int32_t *sets, long room) {
    const int W = (int)((n + 63) / 64), B = (N + 7) / 8, S = B * 8;
    const size_t block = (size_t)W * 8, table = (size_t)S * S;
    int32_t *n2 = malloc(sizeof(int32_t) * table), *n1 = malloc(sizeof(int32_t) * S);
    int32_t *n3 = malloc(sizeof(int32_t) * table * N);
    for (int a = 0; a < B; a++)
        for (int b = a; b < B; b++) product(words + a * block, words + b * block, W, n2 + (size_t)a * 8 * S + b * 8, S);
    for (int a = 0; a < S; a++) {
        n1[a] = n2[(size_t)a * S + a];
        for (int b = 0; b < a; b++) n2[(size_t)a * S + b] = n2[(size_t)b * S + a];
    }
    long total = 0;
#pragma omp parallel num_threads(threads)
    {
        int32_t *found = malloc(sizeof(int32_t) * 4 * 64);
        long n_found = 0, f_room = 64;
        u64 *sub = aligned_alloc(64, sizeof(u64) * B * block), *low = aligned_alloc(64, sizeof(u64) * B * block);
        u64 *mask = malloc(sizeof(u64) * W);
        int32_t *counts = malloc(sizeof(int32_t) * 8 * S);
        double *x = malloc(sizeof(double) * 4 * S), *weight = malloc(sizeof(double) * 4 * S);
        double *info = malloc(sizeof(double) * S);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < N; i++) {
            for (int t = 0; t < W; t++) mask[t] = words[(i / 8) * block + 8 * t + i % 8];
            int w = (n1[i] + 63) / 64;
            const size_t step = (size_t)width(w, W) * 8;
            const int first = (i + 1) / 8;
            for (int b = first; b < B; b++) w = compact(words + b * block, mask, W, sub + b * step, w);
            for (int a = first; a < B; a++)
                for (int b = a; b < B; b++)
                    product(sub + a * step, sub + b * step, w, n3 + i * table + (size_t)a * 8 * S + b * 8, S);
        }
#pragma omp for schedule(dynamic, 1)
        for (int h = 0; h < N - 3; h++) {
            for (int t = 0; t < W; t++) mask[t] = words[(h / 8) * block + 8 * t + h % 8];
            int wh = (n1[h] + 63) / 64;
            const size_t step_h = (size_t)width(wh, W) * 8;
            for (int b = (h + 1) / 8; b < B; b++) wh = compact(words + b * block, mask, W, sub + b * step_h, wh);
            for (int i = h + 1; i < N - 2; i++) {
                const int32_t *with_h = n2 + (size_t)h * S, *with_i = n2 + (size_t)i * S;
                const long r[4] = {with_h[i], n1[h] - with_h[i], n1[i] - with_h[i], n - n1[h] - n1[i] + with_h[i]};
                const int first = (i + 1) / 8;
                int w = (int)((r[0] + 63) / 64);
                const size_t step = (size_t)width(w, wh) * 8;
                for (int t = 0; t < wh; t++) mask[t] = sub[(i / 8) * step_h + 8 * t + i % 8];
                for (int b = first; b < B; b++) w = compact(sub + b * step_h, mask, wh, low + b * step, w);
                const int32_t *with_hi = n3 + h * table + (size_t)i * S;
                double base = logs[n];
                for (int a = 0; a < 4; a++) base += logs[r[a]];
                base = (base - logs[n1[h]] - logs[n - n1[h]] - logs[n1[i]] - logs[n - n1[i]]) / n;
                for (int k = first * 8; k < S; k++) {
                    const long one[4] = {with_hi[k], with_h[k] - with_hi[k], with_i[k] - with_hi[k],
                                         n1[k] - with_h[k] - with_i[k] + with_hi[k]};
                    double sum = logs[n] - logs[n1[k]] - logs[n - n1[k]];
                    for (int a = 0; a < 4; a++) {
                        const long zero = r[a] - one[a];
                        x[a * S + k] = one[a];
                        weight[a * S + k] = one[a] > 0 && zero > 0 ? 1.0 / one[a] + 1.0 / zero : 0;
                        sum += logs[one[a]] + logs[zero] - logs[r[a]];
                    }
                    info[k] = sum / n;
                }
                for (int jb = first; jb < B; jb++) {
                    for (int kb = jb; kb < B; kb++) product(low + jb * step, low + kb * step, w, counts + kb * 8, S);
                    for (int lane = 0; lane < 8; lane++) {
                        const int j = jb * 8 + lane;
                        if (j <= i || j >= N) continue;
                        const int32_t *restrict t = counts + lane * S, *restrict u = n3 + i * table + (size_t)j * S;
                        const int32_t *restrict v = n3 + h * table + (size_t)j * S, *restrict jk = n2 + (size_t)j * S;
                        const double *restrict x0 = x, *restrict x1 = x + S, *restrict x2 = x + 2 * S, *restrict x3 = x + 3 * S;
                        const double *restrict w0 = weight, *restrict w1 = weight + S, *restrict w2 = weight + 2 * S,
                                               *restrict w3 = weight + 3 * S;
                        double p[4], q[4];
                        for (int a = 0; a < 4; a++) {
                            p[a] = r[a] ? x[a * S + j] / r[a] : 0;
                            q[a] = weight[a * S + j] * r[a] / n;
                        }
                        const double limit = bar - base - info[j] - 1e-9;
                        int hits = 0;
                        for (int k = j + 1; k < N; k++) {
                            const double d0 = t[k] - p[0] * x0[k], d1 = v[k] - t[k] - p[1] * x1[k];
                            const double d2 = u[k] - t[k] - p[2] * x2[k];
                            const double d3 = jk[k] - u[k] - v[k] + t[k] - p[3] * x3[k];
                            const double chi = q[0] * w0[k] * d0 * d0 + q[1] * w1[k] * d1 * d1 + q[2] * w2[k] * d2 * d2 +
                                               q[3] * w3[k] * d3 * d3;
                            hits += chi + info[k] >= limit;
                        }
                        if (!hits) continue;
                        for (int k = j + 1; k < N; k++) {
                            const long c[4] = {t[k], v[k] - t[k], u[k] - t[k], (long)jk[k] - u[k] - v[k] + t[k]};
                            double sum = 0;
                            for (int a = 0; a < 4; a++) {
                                const long y = (long)x[a * S + j], z = (long)x[a * S + k];
                                sum += logs[c[a]] + logs[y - c[a]] + logs[z - c[a]] + logs[r[a] - y - z + c[a]] + logs[r[a]] -
                                       logs[y] - logs[r[a] - y] - logs[z] - logs[r[a] - z];
                            }
                            if (sum / n + info[k] < limit) continue;
                            if (n_found == f_room) found = realloc(found, sizeof(int32_t) * 4 * (f_room *= 2));
                            const int32_t set[4] = {h, i, j, k};
                            memcpy(found + 4 * n_found++, set, sizeof set);
                        }
                    }
                }
            }
        }
#pragma omp critical
        for (long f = 0; f < n_found; f++, total++)
            if (total < room) memcpy(sets + 4 * total, found + 4 * f, sizeof(int32_t) * 4);
        free(found), free(sub), free(low), free(mask), free(counts), free(x), free(weight), free(info);
    }
    free(n2), free(n1), free(n3);
    return total;
}

/* a bound on what a cell adds to a divergence, s of the expected rows lacking: see xordal/counting/_screens.py */
static inline double term(double weight, double beyond, double n) {
    const double s = -beyond * n * weight;
    return weight * beyond * beyond * (0.5 + s * (1.0 / 6 + s * (s > 0 ? 1.0 / 3 : 1.0 / 12)));
}

/* As scan_given, of columns of three levels: words holds for each level of the target the blocks [2][B][w][8] of the
 * first two values; x: [levels][3][S] rows with each value. */
long scan_given_three(const u64 *words, int N, int levels, const long *start, const int *w, const int32_t *x,
                      const long *rows, const double *logs, double bar, int threads, int32_t *sets, long room) {
    const int B = (N + 7) / 8, S = B * 8, C = 32;
    long n = 0, total = 0;
    for (int a = 0; a < levels; a++) n += rows[a];
    double *inverse = malloc(sizeof(double) * levels * 3 * S), *count = malloc(sizeof(double) * levels * 3 * S);
    for (long a = 0; a < (long)levels * 3 * S; a++) count[a] = x[a], inverse[a] = x[a] > 0 ? 1.0 / x[a] : 0;
#pragma omp parallel num_threads(threads)
    {
        Found found = {malloc(sizeof(int32_t) * 3 * 64), malloc(sizeof(double) * 64), 0, 64};
        int32_t *counts = malloc(sizeof(int32_t) * levels * 4 * 8 * C * 8);
        double *sum = malloc(sizeof(double) * C * 8);
#pragma omp for schedule(dynamic, 1)
        for (int jb = 0; jb < B; jb++)
            for (int kb = jb; kb < B; kb += C) {
                const int size = kb + C < B ? C : B - kb, L = size * 8;
                for (int a = 0; a < levels; a++)
                    for (int b = 0; b < 2; b++)
                        for (int c = 0; c < 2; c++)
                            for (int q = 0; q < size; q++)
                                product(words + start[a] + ((size_t)b * B + jb) * w[a] * 8,
                                        words + start[a] + ((size_t)c * B + kb + q) * w[a] * 8, w[a],
                                        counts + ((size_t)a * 4 + b * 2 + c) * 8 * L + q * 8, L);
                for (int lane = 0; lane < 8; lane++) {
                    const int j = jb * 8 + lane;
                    if (j >= N) continue;
                    for (int k = 0; k < L; k++) sum[k] = 0;
                    for (int a = 0; a < levels; a++) {
                        double u[3], p[3];
                        const double *restrict y0 = count + (size_t)a * 3 * S + kb * 8, *restrict y1 = y0 + S;
                        const double *restrict i0 = inverse + (size_t)a * 3 * S + kb * 8, *restrict i1 = i0 + S, *restrict i2 = i1 + S;
                        const int32_t *restrict t00 = counts + (size_t)a * 32 * L + lane * L, *restrict t01 = t00 + 8 * L;
                        const int32_t *restrict t10 = t01 + 8 * L, *restrict t11 = t10 + 8 * L;
                        for (int b = 0; b < 3; b++) {
                            const double with_b = count[(size_t)a * 3 * S + b * S + j];
                            p[b] = rows[a] ? with_b / rows[a] : 0;
                            u[b] = with_b > 0 ? rows[a] / with_b / n : 0;
                        }
                        for (int k = 0; k < L; k++) {
                            const double d00 = t00[k] - p[0] * y0[k], d01 = t01[k] - p[0] * y1[k];
                            const double d10 = t10[k] - p[1] * y0[k], d11 = t11[k] - p[1] * y1[k];
                            const double d02 = -d00 - d01, d12 = -d10 - d11, d20 = -d00 - d10, d21 = -d01 - d11;
                            sum[k] += term(u[0] * i0[k], d00, n) + term(u[0] * i1[k], d01, n) + term(u[0] * i2[k], d02, n) +
                                      term(u[1] * i0[k], d10, n) + term(u[1] * i1[k], d11, n) + term(u[1] * i2[k], d12, n) +
                                      term(u[2] * i0[k], d20, n) + term(u[2] * i1[k], d21, n) +
                                      term(u[2] * i2[k], -d20 - d21, n);
                        }
                    }
                    int hits = 0;
                    for (int k = 0; k < L; k++) hits += sum[k] >= bar - 1e-9;
                    if (!hits) continue;
                    for (int k = 0; k < L; k++) {
                        const int v = kb * 8 + k;
                        if (sum[k] < bar - 1e-9 || v <= j || v >= N) continue;
                        double shared = 0;
                        for (int a = 0; a < levels; a++) {
                            const int32_t *one = x + (size_t)a * 3 * S + j, *other = x + (size_t)a * 3 * S + v;
                            const int32_t *t = counts + (size_t)a * 32 * L + lane * L + k;
                            const long t00 = t[0], t01 = t[8 * L], t10 = t[16 * L], t11 = t[24 * L];
                            const long t02 = one[0] - t00 - t01, t12 = one[S] - t10 - t11;
                            const long t20 = other[0] - t00 - t10, t21 = other[S] - t01 - t11;
                            shared += logs[t00] + logs[t01] + logs[t02] + logs[t10] + logs[t11] + logs[t12] + logs[t20] +
                                      logs[t21] + logs[other[2 * S] - t02 - t12] + logs[rows[a]];
                            for (int b = 0; b < 3; b++) shared -= logs[one[b * S]] + logs[other[b * S]];
                        }
                        if (shared / n >= bar - 1e-9) keep(&found, j, v, 0, shared / n);
                    }
                }
            }
#pragma omp critical
        for (long f = 0; f < found.n; f++, total++)
            if (total < room) memcpy(sets + 2 * total, found.sets + 3 * f, sizeof(int32_t) * 2);
        free(found.sets), free(found.shared), free(counts), free(sum);
    }
    free(inverse), free(count);
    return total;
}
