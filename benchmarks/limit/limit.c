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

/* The best `top` pairs j, k so far, the least of them first. */
typedef struct {
    double value;
    int32_t j, k;
} One;

static int is_below(One a, One b) {
    return a.value != b.value ? a.value < b.value : a.j != b.j ? a.j > b.j : a.k > b.k;
}

static int put(One *heap, int n, int top, One one) {
    if (n < top) {
        int at = n++;
        for (; at > 0 && is_below(one, heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
        heap[at] = one;
    } else if (is_below(heap[0], one)) {
        int at = 0;
        for (int child; (child = 2 * at + 1) < top; at = child) {
            if (child + 1 < top && is_below(heap[child + 1], heap[child])) child++;
            if (!is_below(heap[child], one)) break;
            heap[at] = heap[child];
        }
        heap[at] = one;
    }
    return n;
}

/* What the table t[levels][r][r] shares beyond its three pairs, in nats: iterative proportional fitting, which is left
 * as soon as it is below the bar. */
static double interaction(const long *t, int levels, int r, long n, double bar) {
    const int dims[3] = {levels, r, r}, size = levels * r * r;
    double fitted[size], value = 0;
    for (int c = 0; c < size; c++) fitted[c] = 1;
    for (int round = 0; round < 200; round++) {
        double worst = 0;
        for (int axis = 0, below = size; axis < 3; axis++) {
            below /= dims[axis];
            for (int high = 0; high < size; high += dims[axis] * below)
                for (int low = high; low < high + below; low++) {
                    double now = 0, wanted = 0;
                    for (int l = 0; l < dims[axis]; l++) now += fitted[low + l * below], wanted += t[low + l * below];
                    if (fabs(now - wanted) > worst) worst = fabs(now - wanted);
                    for (int l = 0; l < dims[axis]; l++) fitted[low + l * below] *= now > 0 ? wanted / now : 0;
                }
        }
        const int is_fitted = worst <= 1e-9 * n;
        if (!is_fitted && round % 4 && round < 199) continue;
        value = 0;
        for (int c = 0; c < size; c++)
            if (t[c]) value += t[c] * log(t[c] / fitted[c]);
        value /= n;
        if (is_fitted || value < bar) break;
    }
    return value;
}

static inline double bracket(double square) {
    const double s = square < 1 ? sqrt(square) : 1;
    return 1 + s * (1.0 / 3 + s * 2 / 3);
}

/* Columns of r = 2 or 3 levels, rows parted by the levels of a target, and for each part and column what chi is made of:
 * see xordal/counting/_screens.py, where the bounds are derived. */
typedef struct {
    int N, B, S, r, levels;
    long n;
    const u64 *words;
    const long *start, *rows;
    const int *w;
    double *x, *weight, *mix, *odds; /* [levels][2][S], the same, [levels][S], [levels][B] */
} Given;

static Given given(const u64 *words, int N, int r, int levels, const long *start, const int *w, const int32_t *x,
                   const long *rows) {
    Given g = {N, (N + 7) / 8, (N + 7) / 8 * 8, r, levels, 0, words, start, rows, w, 0, 0, 0, 0};
    const size_t S = g.S;
    g.x = malloc(sizeof(double) * levels * 2 * S), g.weight = calloc(levels * 2 * S, sizeof(double));
    g.mix = calloc(levels * S, sizeof(double)), g.odds = calloc((size_t)levels * g.B, sizeof(double));
    for (int a = 0; a < levels; a++) {
        g.n += rows[a];
        for (int k = 0; k < N; k++) {
            const double one = x[a * 2 * S + k], other = r == 3 ? x[(a * 2 + 1) * S + k] : 0, last = rows[a] - one - other;
            const double A = one > 0 ? 1 / one : 0, O = other > 0 ? 1 / other : 0, C = last > 0 ? 1 / last : 0;
            g.x[a * 2 * S + k] = one, g.x[(a * 2 + 1) * S + k] = other;
            if (r == 2) g.weight[a * 2 * S + k] = A > 0 && C > 0 ? A + C : 0;
            if (r == 3) {
                const double mix = A + C > 0 ? C / (A + C) : 0;
                g.weight[a * 2 * S + k] = A + C, g.weight[(a * 2 + 1) * S + k] = O + C - C * mix, g.mix[a * S + k] = mix;
            }
            const double odds = fmax(A, fmax(O, C)) * rows[a] - 1;
            if (odds > g.odds[(size_t)a * g.B + k / 8]) g.odds[(size_t)a * g.B + k / 8] = odds;
        }
    }
    return g;
}

/* the chi that a pair of these blocks must reach to share as much as the bar given the target */
static double least_chi(const Given *g, int jb, int kb, int size, double bar) {
    double lacking = 0;
    for (int a = 0; a < g->levels; a++) {
        double most = 0;
        for (int b = kb; b < kb + size; b++) most = fmax(most, g->odds[(size_t)a * g->B + b]);
        if (g->rows[a]) lacking = fmax(lacking, most * g->odds[(size_t)a * g->B + jb] * g->n / g->rows[a]);
    }
    double limit = bar, upper = 2 * bar;
    for (int i = 0; i < 2; i++) limit = 2 * bar / bracket(upper * lacking), upper = 2 * bar / bracket(limit * lacking);
    return fmax(limit, expm1(bar)) * (1 - 1e-9) - 1e-9;
}

/* chi of one j with the blocks from kb on, counts[levels][r - 1][r - 1][8][L] */
static inline void squares(const Given *g, const int32_t *counts, int lane, int j, int kb, int L, double *restrict chi) {
    const size_t S = g->S;
    for (int k = 0; k < L; k++) chi[k] = 0;
    for (int a = 0; a < g->levels; a++) {
        const size_t at = a * 2 * S + kb * 8, of_j = a * 2 * S + j;
        const double *restrict y0 = g->x + at, *restrict v0 = g->weight + at, share = g->rows[a] ? 1.0 / g->rows[a] : 0;
        const double p0 = g->x[of_j] * share, w0 = g->weight[of_j] * g->rows[a] / g->n;
        if (g->r == 2) {
            const int32_t *restrict t = counts + (size_t)a * 8 * L + lane * L;
            for (int k = 0; k < L; k++) {
                const double d = t[k] - p0 * y0[k];
                chi[k] += w0 * v0[k] * d * d;
            }
        } else {
            const int32_t *restrict t00 = counts + (size_t)a * 32 * L + lane * L, *restrict t01 = t00 + 8 * L;
            const int32_t *restrict t10 = t01 + 8 * L, *restrict t11 = t10 + 8 * L;
            const double *restrict y1 = y0 + S, *restrict v1 = v0 + S, *restrict mix = g->mix + a * S + kb * 8;
            const double p1 = g->x[of_j + S] * share, w1 = g->weight[of_j + S] * g->rows[a] / g->n, m = g->mix[a * S + j];
            for (int k = 0; k < L; k++) {
                const double d10 = t10[k] - p1 * y0[k], d11 = t11[k] - p1 * y1[k];
                const double d00 = t00[k] - p0 * y0[k] + m * d10, d01 = t01[k] - p0 * y1[k] + m * d11;
                const double z0 = d00 + mix[k] * d01, z1 = d10 + mix[k] * d11;
                chi[k] += w0 * (v0[k] * z0 * z0 + v1[k] * d01 * d01) + w1 * (v0[k] * z1 * z1 + v1[k] * d11 * d11);
            }
        }
    }
}

/* The full table [levels][r][r] of j and v, whose counts stand at t, the next combination of values a step further. */
static void full_table(const Given *g, const int32_t *t, size_t step, int j, int v, long *table) {
    const int r = g->r, p = r - 1;
    for (int a = 0; a < g->levels; a++, table += r * r) {
        const double *one = g->x + (size_t)a * 2 * g->S + j, *other = g->x + (size_t)a * 2 * g->S + v;
        long corner = g->rows[a];
        for (int c = 0; c < p; c++) table[p * r + c] = (long)other[(size_t)c * g->S], corner -= table[p * r + c];
        for (int b = 0; b < p; b++) {
            table[b * r + p] = (long)one[(size_t)b * g->S];
            for (int c = 0; c < p; c++) {
                table[b * r + c] = t[((size_t)a * p * p + b * p + c) * step];
                table[b * r + p] -= table[b * r + c], table[p * r + c] -= table[b * r + c];
            }
            corner -= table[b * r + p];
        }
        table[p * r + p] = corner;
    }
}

/* what j and v share given the target, in nats, from their table: a bound on their interaction */
static double shared_given(const long *table, int r, int levels, long n, const double *logs) {
    double sum = 0;
    for (int a = 0; a < levels; a++, table += r * r) {
        long all = 0;
        for (int b = 0; b < r; b++) {
            long in_row = 0, in_column = 0;
            for (int c = 0; c < r; c++) {
                sum += logs[table[b * r + c]];
                in_row += table[b * r + c], in_column += table[c * r + b];
            }
            sum -= logs[in_row] + logs[in_column], all += in_row;
        }
        sum += logs[all];
    }
    return sum / n;
}

/* The `top` pairs j, k of columns with r = 2 or 3 values that share most with a target beyond what smaller sets share:
 * the rows of each level of the target lie apart, pushed together. words: for each level the blocks [r - 1][B][w][8],
 * from start[level] on; x: [levels][2][S] rows with each of the first values; rows: of each level. The bar rises with
 * the best found so far. Returns how many were found, the best first. */
long scan_given(const u64 *words, int N, int r, int levels, const long *start, const int *w, const int32_t *x,
                const long *rows, const double *logs, int top, int threads, int32_t *sets, double *values) {
    Given g = given(words, N, r, levels, start, w, x, rows);
    const int B = g.B, C = 32, P = r - 1;
    One *all = malloc(sizeof(One) * (size_t)top * (threads + 1));
    int n_all = 0;
    double floor = 0;
#pragma omp parallel num_threads(threads)
    {
        int32_t *counts = malloc(sizeof(int32_t) * levels * P * P * 8 * C * 8);
        double *chi = malloc(sizeof(double) * C * 8);
        One *heap = malloc(sizeof(One) * top);
        long table[levels * r * r];
        int n_heap = 0;
#pragma omp for schedule(dynamic, 1)
        for (int jb = 0; jb < B; jb++)
            for (int kb = jb; kb < B; kb += C) {
                const int size = kb + C < B ? C : B - kb, L = size * 8;
                double bar;
#pragma omp atomic read
                bar = floor;
                const double limit = least_chi(&g, jb, kb, size, bar);
                for (int a = 0; a < levels; a++)
                    for (int b = 0; b < P; b++)
                        for (int c = 0; c < P; c++)
                            for (int q = 0; q < size; q++)
                                product(words + start[a] + ((size_t)b * B + jb) * w[a] * 8,
                                        words + start[a] + ((size_t)c * B + kb + q) * w[a] * 8, w[a],
                                        counts + ((size_t)a * P * P + b * P + c) * 8 * L + q * 8, L);
                for (int lane = 0; lane < 8; lane++) {
                    const int j = jb * 8 + lane;
                    if (j >= N) continue;
                    int hits = 0;
                    squares(&g, counts, lane, j, kb, L, chi);
                    for (int k = 0; k < L; k++) hits += chi[k] >= limit;
                    if (!hits) continue;
                    for (int k = 0; k < L; k++) {
                        const int v = kb * 8 + k;
                        if (chi[k] < limit || v <= j || v >= N) continue;
                        full_table(&g, counts + lane * L + k, (size_t)8 * L, j, v, table);
                        if (shared_given(table, r, levels, g.n, logs) < bar) continue;
                        const double value = interaction(table, levels, r, g.n, bar);
                        if (value < bar) continue;
                        n_heap = put(heap, n_heap, top, (One){value, j, v});
                        if (n_heap < top || heap[0].value <= bar) continue;
#pragma omp critical
                        {
                            if (heap[0].value > floor) floor = heap[0].value;
                            bar = floor;
                        }
                    }
                }
            }
#pragma omp critical
        for (int h = 0; h < n_heap; h++) n_all = put(all, n_all, top, heap[h]);
        free(counts), free(chi), free(heap);
    }
    for (int left = n_all; left > 0; left--) { /* the least of what is left goes last */
        int least = 0;
        for (int h = 1; h < left; h++)
            if (is_below(all[h], all[least])) least = h;
        sets[2 * left - 2] = all[least].j, sets[2 * left - 1] = all[least].k, values[left - 1] = all[least].value;
        all[least] = all[left - 1];
    }
    free(all), free(g.x), free(g.weight), free(g.mix), free(g.odds);
    return n_all;
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
