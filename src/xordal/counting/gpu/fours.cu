// Screens every set of four binary columns (h, i, j, k), h < i < j < k, by one-bit products: see tile.cuh.
//
// With u = x / sd, kappa = its mean, and v = u - kappa, the products of the v of two, three and four columns are an
// orthonormal basis, and chi is the sum of the squares of their means (fours.py has the proof): six rho, four
// s, and one t. A block has a tile of j and k, and HS slots h; it walks over i. A step multiplies the tile with the rows
// in which x_i is one and with those in which x_h and x_i are, for each h: one product more than there are h gives
// n_ijk, from which s_ijk follows as in screen.cu, and all n_hijk. The counts of triples that begin with h come from a
// table, which the kernel `threes` fills: those of h, j and k are turned into s once for a block, since they hold for
// all i, and those of h, i and a slot of the tile are two vectors for a step.
//   a_x    = E[u_h u_i v_x] = w_h w_i w_x n_hix / n - kappa_x M,   M = E[u_h u_i] = rho_hi + kappa_h kappa_i
//   s_hix  = a_x - kappa_h rho_ix - kappa_i rho_hx
//   t_hijk = E[u_h u_i u_j u_k] - kappa_j a_k - kappa_k E[u_h u_i u_j] - kappa_h (s_ijk + kappa_i rho_jk) - kappa_i s_hjk
//
// Compiled with HS; STREAM: rows pass through shared memory in chunks, since they do not fit; PJ = 1, WIDE = 0.

#define OF_TILE (TJ + TK)                        // words of a number for each slot of the tile
#define OF_H (OF_TILE + 4)                       // what is known of a slot h: its rho with the tile, and its scalars
#define OF_I (OF_TILE * (1 + HS) + 8)            // of a slot i: its rho, n_hix for each h; its scalars, rho_hi
#define TILE_OF (TJ * TK)                        // of a number for each j and k of the tile
#define NOTHING __int_as_float(0x7fffffff)  // not a number, which reaches no limit

__device__ __forceinline__ void copy4(void *to, const void *from) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from));
}

// Superset counts of a set of four, by bits: h is 1, i 2, j 4, k 8. Sum p log p over the cells of some of its variables.
__device__ __forceinline__ float sum_over(int chosen, const int *n, float per_row) {
  int cells[16];
#pragma unroll
  for (int c = 0; c < 16; ++c) cells[c] = n[c];
#pragma unroll
  for (int v = 1; v < 16; v *= 2)
    if (chosen & v)
#pragma unroll
      for (int c = 0; c < 16; ++c)
        if ((c & ~chosen) == 0 && !(c & v)) cells[c] -= cells[c | v];
  float sum = 0.0f;
#pragma unroll
  for (int c = 0; c < 16; ++c)
    if ((c & ~chosen) == 0) sum += x_log_x(cells[c] * per_row);
  return sum;
}

// What is measured of a set, in nats, right to 4e-5; of an interaction a bound.
__device__ __forceinline__ float measure_of(int measure, float bar, const int *n, float per_row) {
  const float all = sum_over(15, n, per_row);
  if (measure == 2) {
    float least = all + sum_over(3, n, per_row) - sum_over(7, n, per_row) - sum_over(11, n, per_row);
    if (least < bar) return least;  // most are done with the first pair
  }
  float single[4], three[4];
#pragma unroll
  for (int v = 0; v < 4; ++v) single[v] = sum_over(1 << v, n, per_row);
  if (measure == 0) return all - single[0] - single[1] - single[2] - single[3];
  float least = INFINITE;
#pragma unroll
  for (int v = 0; v < 4; ++v) three[v] = sum_over(15 ^ 1 << v, n, per_row);
  if (measure == 1) {
#pragma unroll
    for (int v = 0; v < 4; ++v) least = fminf(least, all - three[v] - single[v]);
    return least;
  }
#pragma unroll
  for (int v = 0; v < 4; ++v)
#pragma unroll
    for (int w = 0; w < v; ++w)
      least = fminf(least, all + sum_over(15 ^ 1 << v ^ 1 << w, n, per_row) - three[v] - three[w]);
  return least;
}

// What is sought, and where it is written down. In shared memory.
struct Goal {
  static const int SIZE = 4;
  const unsigned *bits;
  const float4 *scalars;
  const float *rho, *threes;
  int words, room_slots, j0, k0, h_first, measure;
  float n_rows, bar;
  int *sets;
  unsigned long long *n_found, room;

  __device__ __forceinline__ float2 slot(int v) const {
    const float4 scalar = scalars[v];
    return {scalar.x * n_rows, scalar.y};
  }
  __device__ __forceinline__ bool look_again(const int4 &set, int *places) const {
    const int chosen[4] = {set.w, set.x, j0 + set.y, k0 + set.z};
    const unsigned *rows[4];
    float2 slots[4];
    int n[16] = {(int)n_rows};
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      places[v] = chosen[v], rows[v] = bits + (long long)chosen[v] * words, slots[v] = slot(chosen[v]);
      n[1 << v] = rows_with(slots[v], n_rows);
#pragma unroll
      for (int w = 0; w < v; ++w)
        n[1 << v | 1 << w] = rows_with(slots[v], slots[w], rho[(long long)chosen[w] * room_slots + chosen[v]], n_rows);
    }
    const float *of_h = threes + (long long)(chosen[0] - h_first) * room_slots * room_slots;
    n[7] = (int)of_h[(long long)chosen[1] * room_slots + chosen[2]];
    n[11] = (int)of_h[(long long)chosen[1] * room_slots + chosen[3]];
    n[13] = (int)of_h[(long long)chosen[2] * room_slots + chosen[3]];
#pragma unroll 2
    for (int w = 0; w < words; w += 4) {
      const uint4 h = *(const uint4 *)(rows[0] + w), i = *(const uint4 *)(rows[1] + w);
      const uint4 j = *(const uint4 *)(rows[2] + w), k = *(const uint4 *)(rows[3] + w);
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        const unsigned three = word_of(i, m) & word_of(j, m) & word_of(k, m);
        n[14] += __popc(three), n[15] += __popc(three & word_of(h, m));
      }
    }
    return !(measure_of(measure, bar, n, 1.0f / n_rows) < bar);
  }
};

// The first product of a step, which nothing is added to: quicker than to clear what it is added to.
__device__ __forceinline__ void begin(int *c, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%10,%10,%10,%10};"
               : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(START));
}

// Add the products of eight words of rows: with the rows of i, and with those of i and each h.
template <bool IS_FIRST>
__device__ __forceinline__ void add_words(Products *acc, const unsigned *J, const unsigned *K, const unsigned *I,
                                          const unsigned *H) {
  unsigned A[2][4], B[4][2];
#pragma unroll
  for (int a = 0; a < 2; ++a) {
    const unsigned *p = J + a * 16 * ROW;
    A[a][0] = p[0], A[a][1] = p[8 * ROW], A[a][2] = p[4], A[a][3] = p[8 * ROW + 4];
  }
#pragma unroll
  for (int b = 0; b < 4; ++b) B[b][0] = K[b * 8 * ROW], B[b][1] = K[b * 8 * ROW + 4];
  const unsigned i0 = I[0], i1 = I[4];
#pragma unroll
  for (int r = 0; r <= HS; ++r) {
    const unsigned x0 = r ? i0 & H[(r - 1) * ROW] : i0, x1 = r ? i1 & H[(r - 1) * ROW + 4] : i1;
    unsigned M[2][4];
#pragma unroll
    for (int a = 0; a < 2; ++a)
      M[a][0] = A[a][0] & x0, M[a][1] = A[a][1] & x0, M[a][2] = A[a][2] & x1, M[a][3] = A[a][3] & x1;
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
      for (int b = 0; b < 4; ++b)
        if (IS_FIRST) begin(acc[r][a][b], M[a], B[b]); else multiply(acc[r][a][b], M[a], B[b]);
  }
}

// Add the products of a chunk.
__device__ __forceinline__ void add_fours(Products *acc, const unsigned *J, const unsigned *K, const unsigned *I,
                                          const unsigned *H, int n_words, bool is_first) {
  int w = 0;
  if (is_first) add_words<true>(acc, J, K, I, H), w = 8;
#pragma unroll 1
  for (; w < n_words; w += 8) add_words<false>(acc, J + w, K + w, I + w, H + w);
}

// What is known of n slots i.
__device__ __forceinline__ void copy_known(unsigned *to, int n, long long i, const Goal &goal, int h0) {
  const long long room = goal.room_slots;
  for (int t = threadIdx.x; t < n * (OF_I / 4); t += THREADS) {
    const int r = t / (OF_I / 4), p = t % (OF_I / 4) * 4, row = p / OF_TILE, x = p % OF_TILE;
    unsigned *here = to + r * OF_I + p;
    const float *of_row = row == 0 ? goal.rho + (i + r) * room
                                   : goal.threes + ((h0 - goal.h_first + row - 1) * room + i + r) * room;
    if (row <= HS)
      copy16(here, of_row + (x < TJ ? goal.j0 + x : goal.k0 + x - TJ));
    else if (x == 0)
      copy16(here, goal.scalars + i + r);
    else
#pragma unroll
      for (int h = 0; h < HS; ++h) copy4(here + h, goal.rho + min((long long)h0 + h, room - 1) * room + i + r);
  }
}

// Look at the sets of a slot i with all h, j and k of the thread: 9 operations for each, and 7 for each triple i, j, k.
__device__ __forceinline__ void look_at(const Own &own, Products *acc, const float *of_i, const float *of_h,
                                        const float4 *tiles, int at_j, int at_k, int i, int h0, int h_end, float spare,
                                        const Goal &goal, Queue &queue) {
  const float n_rows = goal.n_rows;
  const float4 scalar = *(const float4 *)(of_i + OF_TILE * (1 + HS));
  const float weight_i = scalar.x * n_rows, kappa_i = weight_i * scalar.y;
  float squares[4][8];  // of s_ijk and rho_jk
#pragma unroll
  for (int kk = 0; kk < 8; ++kk) {  // s_ijk + kappa_i rho_jk comes in the place of n_ijk
    const float4 of_jk = tiles[kk * THREADS + threadIdx.x];
    const float rho_jk[4] = {of_jk.x, of_jk.y, of_jk.z, of_jk.w};
    const float2 of_k = own.of_k[(kk >> 2) * 16 + (kk & 3)];
    const float weight = of_k.x, minus = MINUS_START(weight), kappa = weight * of_k.y;
    const float rho_ik = of_i[TJ + at_k + (kk >> 2) * 16 + (kk & 3)];
#pragma unroll
    for (int jp = 0; jp < 4; ++jp) {
      const float2 of_j = own.of_j[jp];
      const float kappa_j = of_j.x * of_j.y, b = of_i[at_j + jp] + kappa_i * kappa_j;
      const float u = fmaf(AS_FLOAT(AT(acc[0], jp, kk)), weight, minus) * (scalar.x * of_j.x);
      const float g = fmaf(-kappa_j, rho_ik, fmaf(-kappa, b, u)), s = fmaf(-kappa_i, rho_jk[jp], g);
      AT(acc[0], jp, kk) = __float_as_int(g), squares[jp][kk] = fmaf(s, s, rho_jk[jp] * rho_jk[jp]);
    }
  }
#pragma unroll
  for (int h = 0; h < HS; ++h) {
    asm volatile("" ::: "memory");  // what is loaded here is loaded anew, since registers are short
    const float *mine = of_h + h * OF_H, *n_hi = of_i + OF_TILE * (1 + h);
    const float4 known = *(const float4 *)(mine + OF_TILE);
    const float weight_h = known.x * n_rows, kappa_h = weight_h * known.y, weight_hi = weight_h * scalar.x;
    const float rho_hi = of_i[OF_TILE * (1 + HS) + 4 + h], mean = rho_hi + kappa_h * kappa_i;
    const float apart = (weight_h + 1.0f) * (weight_i + 1.0f);
    const float least = fminf(fminf(scalar.z, known.z), own.limit) - spare * apart * apart - rho_hi * rho_hi;
    const bool is_there = h0 + h < i && h0 + h < h_end;
    float limit[4], both[4], b[4], kappa_j[4];
#pragma unroll
    for (int jp = 0; jp < 4; ++jp) {
      const float rho_ij = of_i[at_j + jp], rho_hj = mine[at_j + jp];
      const float2 of_j = own.of_j[jp];
      both[jp] = weight_hi * of_j.x, b[jp] = both[jp] * n_hi[at_j + jp], kappa_j[jp] = of_j.x * of_j.y;
      const float s = b[jp] - kappa_j[jp] * mean - kappa_h * rho_ij - kappa_i * rho_hj;
      limit[jp] = is_there && own.j + jp > i ? least - s * s - rho_ij * rho_ij - rho_hj * rho_hj : INFINITE;
    }
    unsigned mask = 0;
#pragma unroll
    for (int kk = 0; kk < 8; ++kk) {
      const int k = TJ + at_k + (kk >> 2) * 16 + (kk & 3);
      const float2 slot_k = own.of_k[(kk >> 2) * 16 + (kk & 3)];
      const float weight = slot_k.x, minus = MINUS_START(weight), kappa = weight * slot_k.y;
      const float rho_ik = of_i[k], rho_hk = mine[k], a = weight_hi * weight * n_hi[k] - kappa * mean;
      const float s_hik = a - kappa_h * rho_ik - kappa_i * rho_hk;
      const float of_k = fmaf(s_hik, s_hik, fmaf(rho_ik, rho_ik, rho_hk * rho_hk));
      const float4 four = tiles[((1 + h) * 8 + kk) * THREADS + threadIdx.x];
      const float s_hjk[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int jp = 0; jp < 4; ++jp) {
        float t = fmaf(fmaf(AS_FLOAT(AT(acc[1 + h], jp, kk)), weight, minus), both[jp], -kappa * b[jp]);
        t = fmaf(-kappa_j[jp], a, t);
        t = fmaf(-kappa_h, __int_as_float(AT(acc[0], jp, kk)), t);
        t = fmaf(-kappa_i, s_hjk[jp], t);
        const float chi = fmaf(t, t, fmaf(s_hjk[jp], s_hjk[jp], squares[jp][kk] + of_k));
        if (chi >= limit[jp]) mask |= 1u << (kk * 4 + jp);
      }
    }
    if (__any_sync(~0u, mask)) take(goal, queue, mask, i, at_j, at_k, h0 + h);
  }
}

// The slots of a tile, by the number of its block: see screen.cu.
__device__ __forceinline__ void tile_of(long long number, int room_slots, int &j0, int &k0) {
  long long r = (long long)((sqrt(1.0 + 4.0 * (double)number) - 1.0) * 0.5);
  while (r * (r + 1) > number) --r;
  while ((r + 1) * (r + 2) <= number) ++r;
  j0 = (room_slots / TJ - 1 - (int)r) * TJ, k0 = (room_slots / TK - 1 - (int)(number - r * (r + 1))) * TK;
}

// Rows that each h of a range, and each j and k of a tile, have in common: to[h - h_first][j][k], where k >= j.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
threes(const unsigned *__restrict__ bits, int room_slots, int words, int h_first, int n_h, float *to) {
  extern __shared__ __align__(16) unsigned shared[];
  int j0, k0;
  tile_of(blockIdx.x, room_slots, j0, k0);
  const int h = 4 * blockIdx.y, n = min(4, n_h - h);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
  const int wj = (warp >> 1) * 32, wk = (warp & 1) * 32;
  if (h_first + h >= j0 + TJ) return;
  for (int t = threadIdx.x; t < 4 * ROW; t += THREADS) shared[TILE + t] = 0;
  __syncthreads();
  Products acc[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) clear(acc[r]);
  for (int from = 0; from < words; from += CHUNK) {
    const int n_words = min(CHUNK, words - from);
    copy_tile(shared, bits, j0, k0, words, from, n_words);
    copy_rows(shared + TILE, bits, h_first + h, n, words, from, n_words);
    commit();
    wait_but<0>();
    __syncthreads();
    add_products<4>(acc, shared + (wj + g) * ROW + q, shared + (TJ + wk + g) * ROW + q, shared + TILE + q, n_words);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r)
    if (r < n)
#pragma unroll
      for (int jp = 0; jp < 4; ++jp)
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          float *row = to + ((long long)(h + r) * room_slots + j0 + wj + 4 * g + jp) * room_slots + k0 + wk + 4 * q;
          float4 counts;
          counts.x = AS_FLOAT(AT(acc[r], jp, 4 * b)) - 8388608.0f, counts.y = AS_FLOAT(AT(acc[r], jp, 4 * b + 1)) - 8388608.0f;
          counts.z = AS_FLOAT(AT(acc[r], jp, 4 * b + 2)) - 8388608.0f, counts.w = AS_FLOAT(AT(acc[r], jp, 4 * b + 3)) - 8388608.0f;
          *(float4 *)(row + 16 * b) = counts;
        }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
fours(const unsigned *__restrict__ bits, const float2 *__restrict__ slots, const unsigned char *__restrict__ kinds,
      const float4 *__restrict__ scalars, const float *__restrict__ rho, const float *__restrict__ threes,
      const float *__restrict__ limits, float bar, int n_slots, int room_slots, int words, int h_first, int h_end,
      int panel, int n_stages, float n_rows, int measure, float spare, int *sets, unsigned long long *n_found,
      unsigned long long room) {
  extern __shared__ __align__(16) unsigned shared[];
  int j0, k0;
  tile_of(blockIdx.x, room_slots, j0, k0);
  const int h0 = h_first + HS * blockIdx.y, first = h0 + 1;
  const int n_here = min(j0 + TJ - 1, n_slots - 2) - first;  // i comes before the last j
  if (n_here <= 0) return;
  const int n_chunks = (words + CHUNK - 1) / CHUNK;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
  const int wj = (warp >> 1) * 32, wk = (warp & 1) * 32;
  const int my_j = (wj + g) * ROW + q, my_k = (TJ + wk + g) * ROW + q;  // in a tile
  const int at_j = wj + 4 * g, at_k = wk + 4 * q;
  Own own;
  own.j = j0 + at_j, own.k = k0 + at_k;
  own.of_j = (const float2 *)shared + at_j, own.of_k = (const float2 *)shared + TJ + at_k;
  if (threadIdx.x < TJ + TK)
    ((float2 *)shared)[threadIdx.x] = slots[threadIdx.x < TJ ? j0 + threadIdx.x : k0 + threadIdx.x - TJ];
  Goal &goal = *(Goal *)(shared + SLOTS);
  Queue &queue = ((Queue *)(shared + SLOTS + GOAL))[warp];
  static_assert(sizeof(Goal) <= 4 * GOAL && sizeof(Queue) * THREADS / 32 == 4 * QUEUES, "");
  if (threadIdx.x == 0)
    goal = {bits, scalars, rho, threes, words, room_slots, j0, k0, h_first, measure, n_rows, bar, sets, n_found, room};
  if (lane == 0) queue.n = 0;
  unsigned *known_h = shared + SLOTS + GOAL + QUEUES, *tile_words = known_h + HS * OF_H;
  unsigned *stages = tile_words + (1 + HS) * TILE_OF;
  const float *of_h = (const float *)known_h;
  float4 *tiles = (float4 *)tile_words;  // rho_jk, and s_hjk of each h: what a thread has of 4 j and a k
  own.limit = INFINITE;
#pragma unroll
  for (int jp = 0; jp < 4; ++jp) own.limit = fminf(own.limit, limits[kinds[own.j + jp] >> 3]);
#pragma unroll
  for (int kk = 0; kk < 8; ++kk)
    own.limit = fminf(own.limit, limits[kinds[own.k + (kk >> 2) * 16 + (kk & 3)] >> 3]);
#pragma unroll
  for (int kk = 0; kk < 8; ++kk) {  // not a number where k is not after j
    const int k = own.k + (kk >> 2) * 16 + (kk & 3);
    float of_jk[4];
#pragma unroll
    for (int jp = 0; jp < 4; ++jp)
      of_jk[jp] = k > own.j + jp && k < n_slots ? rho[(long long)(own.j + jp) * room_slots + k] : NOTHING;
    tiles[kk * THREADS + threadIdx.x] = make_float4(of_jk[0], of_jk[1], of_jk[2], of_jk[3]);
  }
  for (int t = threadIdx.x; t < HS * OF_H; t += THREADS) {
    const int h = min(h0 + t / OF_H, room_slots - 1), x = t % OF_H;
    known_h[t] = __float_as_int(x < OF_TILE ? rho[(long long)h * room_slots + (x < TJ ? j0 + x : k0 + x - TJ)]
                                            : ((const float *)(scalars + h))[x - OF_TILE]);
  }
  __syncthreads();
  const Single one(own);
#pragma unroll 1
  for (int h = 0; h < HS; ++h) {  // s_hjk of the thread
    const float *mine = of_h + h * OF_H, weight = mine[OF_TILE] * n_rows, kappa = weight * mine[OF_TILE + 1];
    const float *counts = threes + ((long long)(h0 - h_first + h) * room_slots + own.j) * room_slots + own.k;
#pragma unroll
    for (int kk = 0; kk < 8; ++kk) {
      const int b = (kk >> 2) * 16 + (kk & 3);
      const float4 of_jk = tiles[kk * THREADS + threadIdx.x];
      const float rho_jk[4] = {of_jk.x, of_jk.y, of_jk.z, of_jk.w};
      float s[4];
#pragma unroll
      for (int jp = 0; jp < 4; ++jp) {
        const float kj = one.wj[jp] * one.cj[jp], kk_ = one.wk[kk] * one.ck[kk], rho_hj = mine[at_j + jp];
        s[jp] = mine[OF_TILE] * one.wj[jp] * one.wk[kk] * counts[(long long)jp * room_slots + b];
        s[jp] -= kappa * rho_jk[jp] + kj * mine[TJ + at_k + b] + kk_ * (rho_hj + kappa * kj);
      }
      tiles[((1 + h) * 8 + kk) * THREADS + threadIdx.x] = make_float4(s[0], s[1], s[2], s[3]);
    }
  }
  // A warp whose k come before its j, or whose j before i, has no set to look at: it leaves the multiplying to others.
  const int j_end = k0 + wk + 32 > j0 + wj + 1 ? j0 + wj + 32 : 0;
  Products acc[1 + HS];
#if STREAM
  // A stage: a chunk of the tile, of an i and of each h, and, with the last chunk, what is known of the i.
  const int stage_words = TILE + (1 + HS) * ROW + OF_I;
  int next_chunk = 0, next_i = 0, next_stage = 0;
  auto fetch = [&]() {
    if (next_i < n_here) {
      unsigned *stage = stages + next_stage * stage_words;
      const int from = next_chunk * CHUNK, n = min(CHUNK, words - from);
      copy_tile(stage, bits, j0, k0, words, from, n);
      copy_rows(stage + TILE, bits, first + next_i, 1, words, from, n);
      copy_rows(stage + TILE + ROW, bits, h0, min(HS, room_slots - h0), words, from, n);
      if (++next_chunk == n_chunks) {
        copy_known(stage + TILE + (1 + HS) * ROW, 1, first + next_i, goal, h0);
        next_chunk = 0, ++next_i;
      }
    }
    if (++next_stage == n_stages) next_stage = 0;
    commit();
  };
  for (int s = 0; s < n_stages - 1; ++s) fetch();
  int at = 0;
  for (int i = 0; i < n_here; ++i) {
    for (int chunk = 0; chunk < n_chunks; ++chunk) {
      if (n_stages == 4) wait_but<2>(); else if (n_stages == 3) wait_but<1>(); else wait_but<0>();
      __syncthreads();
      fetch();
      const unsigned *stage = stages + at * stage_words;
      if (++at == n_stages) at = 0;
      if (first + i + 1 < j_end)
        add_fours(acc, stage + my_j, stage + my_k, stage + TILE + q, stage + TILE + ROW + q,
                  min(CHUNK, words - chunk * CHUNK), chunk == 0);
    }
    if (first + i + 1 >= j_end) continue;
    const unsigned *stage = stages + (at == 0 ? n_stages - 1 : at - 1) * stage_words;
    look_at(own, acc, (const float *)(stage + TILE + (1 + HS) * ROW), of_h, tiles, at_j, at_k, first + i, h0, h_end,
            spare, goal, queue);
  }
#else
  // Tile and h stay; i come in panels, the next one under way.
  const int panel_words = panel * (n_chunks * ROW + OF_I);
  unsigned *rows_h = stages + n_chunks * TILE, *panels = rows_h + n_chunks * HS * ROW;
  for (int t = threadIdx.x; t < n_chunks * HS * ROW; t += THREADS) rows_h[t] = 0;
  __syncthreads();
  for (int chunk = 0; chunk < n_chunks; ++chunk) {
    const int from = chunk * CHUNK, n = min(CHUNK, words - from);
    copy_tile(stages + chunk * TILE, bits, j0, k0, words, from, n);
    copy_rows(rows_h + chunk * HS * ROW, bits, h0, min(HS, room_slots - h0), words, from, n);
  }
  auto fetch = [&](int at, int half) {
    if (at < n_here) {
      unsigned *to = panels + half * panel_words;
      const int n = min(panel, n_here - at);
      for (int chunk = 0; chunk < n_chunks; ++chunk)
        copy_rows(to + chunk * panel * ROW, bits, first + at, n, words, chunk * CHUNK, min(CHUNK, words - chunk * CHUNK));
      copy_known(to + n_chunks * panel * ROW, n, first + at, goal, h0);
    }
    commit();
  };
  fetch(0, 0);
  wait_but<0>();
  __syncthreads();
  for (int at = 0, half = 0; at < n_here; at += panel, half ^= 1) {
    fetch(at + panel, half ^ 1);
    const unsigned *here = panels + half * panel_words;
    for (int i = 0; i < panel && at + i < n_here && first + at + i + 1 < j_end; ++i) {
      const unsigned *tile = stages, *row = here + i * ROW + q, *of_all_h = rows_h + q;
      for (int left = words; left > 0; left -= CHUNK, tile += TILE, row += panel * ROW, of_all_h += HS * ROW)
        add_fours(acc, tile + my_j, tile + my_k, row, of_all_h, min(CHUNK, left), left == words);
      look_at(own, acc, (const float *)(here + n_chunks * panel * ROW + i * OF_I), of_h, tiles, at_j, at_k,
              first + at + i, h0, h_end, spare, goal, queue);
    }
    wait_but<0>();
    __syncthreads();
  }
#endif
  __syncwarp();
  if (queue.n > 0) write_down(goal, queue, queue.n);
}
