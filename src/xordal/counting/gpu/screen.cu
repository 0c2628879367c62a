// Screens every triple (i, j, k) of columns by one-bit matrix products: mma.sync m16n8k256 with AND and popcount.
//
// Columns are bit planes in *slots*: a variable of r levels has r - 1 planes, padded to PJ slots (1, 2 or 4). Slot s
// stands for u_s = weight_s (x_s + part_s (x of the planes before it)), which makes the u of one variable, less their
// means kappa_s = weight_s part_s, an orthonormal basis of the functions of its levels. In that basis the chi of a
// triple, of which log(1 + chi) bounds the total correlation, is a sum of squares (screening.py has the proof):
//   s_ijk = E[u_i u_j u_k] - kappa_i rho_jk - kappa_j rho_ik - kappa_k (rho_ij + kappa_i kappa_j)
//   chi   = sum s_ijk^2 + sum rho_ij^2 + sum rho_ik^2 + sum rho_jk^2
//
// A block holds a tile of 128 slots j and 64 slots k and walks over groups of four slots i. A warp has 32 x 32 of the
// tile. x_i is ANDed into the fragments of j on their way from shared memory into the product, so that n_ijk never
// touches memory; rho_jk stays in registers, from a first product with all rows in the place of x_i. A thread has
// slots j 4g .. 4g+3 and k 16b + 4q .. 16b + 4q+3: all planes of a variable.
//
// Compiled with PI, PJ: planes of i, and of j and k; STREAM: rows pass through shared memory in chunks, since they do
// not fit; WIDE: counts may exceed 2^22.

#define TJ 128
#define TK 64
#define THREADS 256
#define CHUNK 32            // words of a chunk of rows
#define ROW (CHUNK + 4)     // its distance in shared memory: 4 modulo 32, so that fragments load without bank conflicts
#define TILE ((TJ + TK) * ROW)
#define OF_I (TJ + TK + 4)  // words with what is known of a slot i: its rho with the tile, and its scalars
#define SLOTS (2 * (TJ + TK))
#define QUEUE 64            // sets that a warp keeps before it writes down half of them
#define QUEUES (THREADS / 32 * (QUEUE + 1) * 4)
#define LEVELS 6
#define CLASSES 8           // of the share of a variable's rarest level
#define INFINITE __int_as_float(0x7f800000)

#if WIDE
#define START 0
#define AS_FLOAT(count) ((float)(count))
#define MINUS_START(weight) 0.0f
#else
// Counts start at the bits of 2^23: read as a float they are 2^23 + count, and 2^23 is taken off exactly by an FMA.
#define START 0x4B000000
#define AS_FLOAT(count) __int_as_float(count)
#define MINUS_START(weight) (-8388608.0f * (weight))
#endif

typedef int Products[2][4][4];  // fragments of 16 j, of 8 k, and what a thread has of each

// Of slot j number jp and slot k number kk of a thread.
#define AT(acc, jp, kk) acc[(jp) >> 1][((kk) >> 2) * 2 + (((kk) >> 1) & 1)][((jp) & 1) * 2 + ((kk) & 1)]

__device__ __forceinline__ void copy16(void *to, const void *from) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int N> __device__ __forceinline__ void wait_but() { asm volatile("cp.async.wait_group %0;" ::"n"(N)); }

// A chunk of the tile: a thread copies 16 bytes of six slots. A slot lies where the fragments that hold it begin: slot
// 4g + p of 32 slots j in row 8p + g, and slot 16b + 4q + 2f + e of 32 slots k in row 16b + 8f + 2q + e.
__device__ __forceinline__ void copy_tile(unsigned *tile, const unsigned *bits, int j0, int k0, long long words, int from,
                                          int n_words) {
  const int w = (threadIdx.x & 7) * 4, s = threadIdx.x >> 3;
  if (w >= n_words) return;
  const int row_j = (s & 3) * 8 + (s >> 2), row_k = (s & 16) + (s & 2) * 4 + (s >> 1 & 6) + (s & 1);
  const unsigned *of_j = bits + (j0 + s) * words + from + w, *of_k = bits + (k0 + s) * words + from + w;
#pragma unroll
  for (int m = 0; m < TJ / 32; ++m) copy16(tile + (32 * m + row_j) * ROW + w, of_j + 32 * m * words);
#pragma unroll
  for (int m = 0; m < TK / 32; ++m) copy16(tile + (TJ + 32 * m + row_k) * ROW + w, of_k + 32 * m * words);
}

// A chunk of n slots i, at most 32.
__device__ __forceinline__ void copy_i(unsigned *to, const unsigned *i_bits, long long i, int n, long long words, int from,
                                       int n_words) {
  const int w = (threadIdx.x & 7) * 4, r = threadIdx.x >> 3;
  if (w < n_words && r < n) copy16(to + r * ROW + w, i_bits + (i + r) * words + from + w);
}

// What is known of n slots i.
__device__ __forceinline__ void copy_known(unsigned *to, int n, long long i, const float *i_rho, const float4 *i_scalars,
                                           long long room_slots, int j0, int k0) {
  for (int t = threadIdx.x; t < n * (OF_I / 4); t += THREADS) {
    const int r = t / (OF_I / 4), p = t % (OF_I / 4) * 4;
    const float *rho = i_rho + (i + r) * room_slots;
    const void *from = p < TJ ? (const void *)(rho + j0 + p)
                       : p < TJ + TK ? (const void *)(rho + k0 + p - TJ) : (const void *)(i_scalars + i + r);
    copy16(to + r * OF_I + p, from);
  }
}

__device__ __forceinline__ void multiply(int *c, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Add the products of a chunk. J, K and I point to the thread's words of their first rows.
template <int N_I>
__device__ __forceinline__ void add_products(Products *acc, const unsigned *J, const unsigned *K, const unsigned *I,
                                             int n_words) {
#pragma unroll 2
  for (int w = 0; w < n_words; w += 8) {
    unsigned A[2][4], B[4][2];
#pragma unroll
    for (int a = 0; a < 2; ++a) {
      const unsigned *p = J + a * 16 * ROW + w;
      A[a][0] = p[0], A[a][1] = p[8 * ROW], A[a][2] = p[4], A[a][3] = p[8 * ROW + 4];
    }
#pragma unroll
    for (int b = 0; b < 4; ++b) B[b][0] = K[b * 8 * ROW + w], B[b][1] = K[b * 8 * ROW + w + 4];
#pragma unroll
    for (int ii = 0; ii < N_I; ++ii) {
      const unsigned x0 = N_I == 1 ? ~0u : I[ii * ROW + w], x1 = N_I == 1 ? ~0u : I[ii * ROW + w + 4];
      unsigned M[2][4];
#pragma unroll
      for (int a = 0; a < 2; ++a)
        M[a][0] = A[a][0] & x0, M[a][1] = A[a][1] & x0, M[a][2] = A[a][2] & x1, M[a][3] = A[a][3] & x1;
#pragma unroll
      for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b) multiply(acc[ii][a][b], M[a], B[b]);
    }
  }
}

__device__ __forceinline__ void clear(Products &acc) {
#pragma unroll
  for (int a = 0; a < 2; ++a)
#pragma unroll
    for (int b = 0; b < 4; ++b)
#pragma unroll
      for (int c = 0; c < 4; ++c) acc[a][b][c] = START;
}

// What a thread knows of its slots j and k: of pairs in registers, of single ones in shared memory.
struct Own {
  float rho[4][8];
  const float2 *of_j, *of_k;  // weight and part
  int j, k;                   // its first slots
  float limit;                // the lowest that chi must reach for any of its slots
};

// Weight and part of the slots of a thread.
struct Single {
  float wj[4], cj[4], wk[8], ck[8];
  __device__ __forceinline__ Single(const Own &own) {
#pragma unroll
    for (int jp = 0; jp < 4; ++jp) wj[jp] = own.of_j[jp].x, cj[jp] = own.of_j[jp].y;
#pragma unroll
    for (int kk = 0; kk < 8; ++kk)
      wk[kk] = own.of_k[(kk >> 2) * 16 + (kk & 3)].x, ck[kk] = own.of_k[(kk >> 2) * 16 + (kk & 3)].y;
  }
};

// E[u_a u_b] - kappa_a kappa_b of the thread's slots, from the products with all rows. NaN, which reaches no limit,
// where k is not after j or a slot is empty.
__device__ __forceinline__ void correlate(Own &own, Products &all, float per_row, int n_slots) {
  const Single one(own);
#pragma unroll
  for (int vj = 0; vj < 4; vj += PJ)
#pragma unroll
    for (int vk = 0; vk < 8; vk += PJ) {
      float u[PJ][PJ];
#pragma unroll
      for (int b = 0; b < PJ; ++b) {
        float before = 0.0f;
#pragma unroll
        for (int c = 0; c < PJ; ++c) {
          float count = AS_FLOAT(AT(all, vj + b, vk + c)) - (WIDE ? 0.0f : 8388608.0f);
          u[b][c] = one.wk[vk + c] * (count + (c ? one.ck[vk + c] * before : 0.0f));
          before += count;
        }
      }
      int j = (own.j + vj) / PJ, k = (own.k + (vk >> 2) * 16 + (vk & 3)) / PJ;
      bool is_there = k > j && k * PJ < n_slots;
#pragma unroll
      for (int c = 0; c < PJ; ++c) {
        float before = 0.0f;
#pragma unroll
        for (int b = 0; b < PJ; ++b) {
          float mean = one.wj[vj + b] * one.cj[vj + b] * one.wk[vk + c] * one.ck[vk + c];
          float both = one.wj[vj + b] * (u[b][c] + (b ? one.cj[vj + b] * before : 0.0f)) * per_row;
          before += u[b][c];
          own.rho[vj + b][vk + c] = is_there ? both - mean : __int_as_float(0x7fffffff);
        }
      }
    }
}

// What is sought, and where it is written down: sets as places of their variables among those scanned. In shared memory.
struct Goal {
  const unsigned *bits, *i_bits;
  const float4 *i_scalars;
  const unsigned char *kinds;
  const float *bars;  // nats below which a set is not written down, by levels
  int words, j0, k0, measure;  // 0 total, 1 needed, 2 interaction
  float n_rows, spare;         // what rounding may take off chi of binary columns, by (weight + 1)^2
  int *sets;
  unsigned long long *n_found, room;
};
#define GOAL 32  // words

// Sets on their way out: 32 of them are counted and measured at once, each by a lane, and added to what is found.
struct Queue {
  int n, nothing[3];
  int4 sets[QUEUE];  // slot i; first slots j and k of the tile
};

// Rows with each combination of planes of three variables, and of two and one of them.
struct Counts {
  int i[PI], j[PJ], k[PJ], ij[PI][PJ], ik[PI][PJ], jk[PJ][PJ], ijk[PI][PJ][PJ];
};

__device__ __forceinline__ void count(Counts &n, const unsigned *I, const unsigned *J, const unsigned *K, int words) {
  n = Counts();
  for (int w = 0; w < words; ++w) {
    unsigned i[PI], j[PJ], k[PJ];
#pragma unroll
    for (int a = 0; a < PI; ++a) i[a] = I[a * words + w], n.i[a] += __popc(i[a]);
#pragma unroll
    for (int b = 0; b < PJ; ++b) {
      j[b] = J[b * words + w], n.j[b] += __popc(j[b]);
      k[b] = K[b * words + w], n.k[b] += __popc(k[b]);
    }
#pragma unroll
    for (int b = 0; b < PJ; ++b)
#pragma unroll
      for (int c = 0; c < PJ; ++c) n.jk[b][c] += __popc(j[b] & k[c]);
#pragma unroll
    for (int a = 0; a < PI; ++a)
#pragma unroll
      for (int b = 0; b < PJ; ++b) {
        n.ij[a][b] += __popc(i[a] & j[b]), n.ik[a][b] += __popc(i[a] & k[b]);
#pragma unroll
        for (int c = 0; c < PJ; ++c) n.ijk[a][b][c] += __popc(i[a] & j[b] & k[c]);
      }
  }
}

__device__ __forceinline__ float x_log_x(float x) { return x > 0.0f ? x * __logf(x) : 0.0f; }

#if PI == 1 && PJ == 1

__device__ __forceinline__ float pair_sum(float a, float b, float both) {
  return x_log_x(both) + x_log_x(a - both) + x_log_x(b - both) + x_log_x(1.0f - a - b + both);
}

// What is measured of a triple, in nats, right to 4e-5; of an interaction a bound.
__device__ __forceinline__ float measure_of(int measure, const Counts &n, float rows) {
  const int rest = n.i[0] + n.j[0] + n.k[0] - n.ij[0][0] - n.ik[0][0] - n.jk[0][0] + n.ijk[0][0][0];
  const int cells[8] = {n.ijk[0][0][0], n.ij[0][0] - n.ijk[0][0][0], n.ik[0][0] - n.ijk[0][0][0],
                        n.jk[0][0] - n.ijk[0][0][0], n.i[0] - n.ij[0][0] - n.ik[0][0] + n.ijk[0][0][0],
                        n.j[0] - n.ij[0][0] - n.jk[0][0] + n.ijk[0][0][0],
                        n.k[0] - n.ik[0][0] - n.jk[0][0] + n.ijk[0][0][0], (int)rows - rest};
  float all = 0.0f;
#pragma unroll
  for (int c = 0; c < 8; ++c) all += x_log_x(cells[c] / rows);
  const float i = n.i[0] / rows, j = n.j[0] / rows, k = n.k[0] / rows;
  const float of_i = x_log_x(i) + x_log_x(1.0f - i), of_j = x_log_x(j) + x_log_x(1.0f - j);
  const float of_k = x_log_x(k) + x_log_x(1.0f - k);
  if (measure == 0) return all - of_i - of_j - of_k;
  const float of_ij = pair_sum(i, j, n.ij[0][0] / rows), of_ik = pair_sum(i, k, n.ik[0][0] / rows);
  const float of_jk = pair_sum(j, k, n.jk[0][0] / rows);
  if (measure == 1) return all - fmaxf(of_i + of_jk, fmaxf(of_j + of_ik, of_k + of_ij));
  return all - fmaxf(of_ik + of_jk - of_k, fmaxf(of_ij + of_jk - of_j, of_ij + of_ik - of_i));
}

#else

// The total correlation, which no measure exceeds. The last level of each variable, which has no plane, is the rest.
__device__ __forceinline__ float measure_of(int measure, const Counts &n, float rows) {
  float total = 0.0f;
  int rest_i = (int)rows, rest_j = (int)rows, rest_k = (int)rows;
#pragma unroll
  for (int a = 0; a < PI; ++a) rest_i -= n.i[a], total -= x_log_x(n.i[a] / rows);
#pragma unroll
  for (int b = 0; b < PJ; ++b) {
    rest_j -= n.j[b], rest_k -= n.k[b];
    total -= x_log_x(n.j[b] / rows) + x_log_x(n.k[b] / rows);
  }
  total -= x_log_x(rest_i / rows) + x_log_x(rest_j / rows) + x_log_x(rest_k / rows);
#pragma unroll
  for (int a = 0; a <= PI; ++a)
#pragma unroll
    for (int b = 0; b <= PJ; ++b) {
      int left = a < PI ? b < PJ ? n.ij[a][b] : n.i[a] : b < PJ ? n.j[b] : (int)rows;  // rows of (a, b)
      if (a < PI && b == PJ)
#pragma unroll
        for (int d = 0; d < PJ; ++d) left -= n.ij[a][d];
      if (a == PI && b < PJ)
#pragma unroll
        for (int d = 0; d < PI; ++d) left -= n.ij[d][b];
      if (a == PI && b == PJ) {
        left = rest_i;
#pragma unroll
        for (int d = 0; d < PJ; ++d) {
          left -= n.j[d];
#pragma unroll
          for (int e = 0; e < PI; ++e) left += n.ij[e][d];
        }
      }
#pragma unroll
      for (int c = 0; c < PJ; ++c) {
        int cell = a < PI ? b < PJ ? n.ijk[a][b][c] : n.ik[a][c] : b < PJ ? n.jk[b][c] : n.k[c];
        if (a < PI && b == PJ)
#pragma unroll
          for (int d = 0; d < PJ; ++d) cell -= n.ijk[a][d][c];
        if (a == PI && b < PJ)
#pragma unroll
          for (int d = 0; d < PI; ++d) cell -= n.ijk[d][b][c];
        if (a == PI && b == PJ) {
#pragma unroll
          for (int e = 0; e < PI; ++e) cell -= n.ik[e][c];
#pragma unroll
          for (int d = 0; d < PJ; ++d) {
            cell -= n.jk[d][c];
#pragma unroll
            for (int e = 0; e < PI; ++e) cell += n.ijk[e][d][c];
          }
        }
        total += x_log_x(cell / rows);
        left -= cell;
      }
      total += x_log_x(left / rows);
    }
  return total;
}

#endif

// Measure the first sets of a queue and write those down that have enough.
__device__ __noinline__ void write_down(const Goal &goal, Queue &queue, int n) {
  const int lane = threadIdx.x & 31;
  int i = 0, j = 0, k = 0;
  bool is_found = false;
  if (lane < n) {
    const int4 set = queue.sets[lane];
    const int packed = __float_as_int(goal.i_scalars[set.x].w), slot_j = goal.j0 + set.y, slot_k = goal.k0 + set.z;
    Counts counts;
    count(counts, goal.i_bits + (long long)set.x * goal.words, goal.bits + (long long)slot_j * goal.words,
          goal.bits + (long long)slot_k * goal.words, goal.words);
    i = packed << 8 >> 8, j = slot_j / PJ, k = slot_k / PJ;
    const int levels = ((packed >> 24 & 7) * LEVELS + (goal.kinds[j] & 7)) * LEVELS + (goal.kinds[k] & 7);
    is_found = !(measure_of(goal.measure, counts, goal.n_rows) < goal.bars[levels]);
  }
  const unsigned who = __ballot_sync(~0u, is_found);
  unsigned long long at = 0;
  if (lane == 0 && who) at = atomicAdd(goal.n_found, (unsigned long long)__popc(who));
  at = __shfl_sync(~0u, at, 0) + __popc(who & ((1u << lane) - 1));
  if (is_found && at < goal.room) goal.sets[3 * at] = i, goal.sets[3 * at + 1] = j, goal.sets[3 * at + 2] = k;
  const int4 rest = queue.sets[32 + lane];
  __syncwarp();
  queue.sets[lane] = rest;
  if (lane == 0) queue.n -= n;
  __syncwarp();
}

// Take in the sets of all lanes: bit b is that of the lane's (b modulo 4 / PJ)-th j and (b / (4 / PJ))-th k.
__device__ __noinline__ void take(const Goal &goal, Queue &queue, unsigned mask, int i_row, int at_j, int at_k) {
  const int lane = threadIdx.x & 31;
  while (const unsigned who = __ballot_sync(~0u, mask)) {
    const int n = queue.n;
    if (mask) {
      const int bit = __ffs(mask) - 1, vk = bit / (4 / PJ) * PJ;
      queue.sets[n + __popc(who & ((1u << lane) - 1))] =
          make_int4(i_row, at_j + bit % (4 / PJ) * PJ, at_k + (vk >> 2) * 16 + (vk & 3), 0);
      mask &= mask - 1;
    }
    __syncwarp();
    if (lane == 0) queue.n = n + __popc(who);
    __syncwarp();
    if (n + __popc(who) >= 32) write_down(goal, queue, 32);
  }
}

// What is known of four slots i: scalars[ii] = (weight / rows, part, limit or what rounding may take off it, level
// and place of the variable as bits), and their rho with all slots of the tile.
#if PI == 1 && PJ == 1

// Return the triples of one slot i that reach their limit, as bits: 9 operations for each.
__device__ __forceinline__ unsigned look(const Own &own, const Single &one, Products &acc, const float *of_i, int at_j,
                                         int at_k, float n_rows, float spare) {
  const float4 scalar = *(const float4 *)(of_i + TJ + TK);
  const int i = __float_as_int(scalar.w) << 8 >> 8;
  const float weight_i = scalar.x * n_rows, kappa = weight_i * scalar.y;
  const float least = fminf(scalar.z, own.limit) - spare * (weight_i + 1.0f) * (weight_i + 1.0f);
  float limit[4], both[4], b[4];
#pragma unroll
  for (int jp = 0; jp < 4; ++jp) {
    const float rho = of_i[at_j + jp];
    limit[jp] = own.j + jp > i ? least - rho * rho : INFINITE;
    both[jp] = scalar.x * one.wj[jp], b[jp] = rho + kappa * (one.wj[jp] * one.cj[jp]);
  }
  unsigned mask = 0;
#pragma unroll
  for (int kk = 0; kk < 8; ++kk) {
    const float weight = one.wk[kk], minus = MINUS_START(weight), mean = weight * one.ck[kk];
    const float rho = of_i[TJ + at_k + (kk >> 2) * 16 + (kk & 3)], square = rho * rho;
#pragma unroll
    for (int jp = 0; jp < 4; ++jp) {
      const float count = fmaf(AS_FLOAT(AT(acc, jp, kk)), weight, minus), rho_jk = own.rho[jp][kk];
      float s = fmaf(count, both[jp], -mean * b[jp]);
      s = fmaf(-one.wj[jp] * one.cj[jp], rho, s);
      s = fmaf(-kappa, rho_jk, s);
      const float chi = fmaf(s, s, fmaf(rho_jk, rho_jk, square));
      if (chi >= limit[jp]) mask |= 1u << (kk * 4 + jp);
    }
  }
  return mask;
}

__device__ __forceinline__ void look_at(const Own &own, Products *acc, const float *known, int at_j, int at_k, int i_row,
                                        float n_rows, const float *limits, const Goal &goal, Queue &queue) {
  const Single one(own);
#pragma unroll
  for (int ii = 0; ii < 4; ++ii) {
    const unsigned mask = look(own, one, acc[ii], known + ii * OF_I, at_j, at_k, n_rows, goal.spare);
    if (__any_sync(~0u, mask)) take(goal, queue, mask, i_row + ii, at_j, at_k);
  }
}

#else

// The planes of three variables together.
__device__ __forceinline__ float chi_of(const Own &own, const Single &one, Products *acc, int vi, int vj, int vk,
                                        const float *of_j, const float *of_k, const float *scalars, float n_rows) {
  float u[PI][PJ][PJ], chi = 0.0f;
#pragma unroll
  for (int a = 0; a < PI; ++a)
#pragma unroll
    for (int b = 0; b < PJ; ++b) {
      float before = 0.0f;
#pragma unroll
      for (int c = 0; c < PJ; ++c) {
        float count = AS_FLOAT(AT(acc[vi + a], vj + b, vk + c)) - (WIDE ? 0.0f : 8388608.0f);
        u[a][b][c] = one.wk[vk + c] * (count + (c ? one.ck[vk + c] * before : 0.0f));
        before += count;
      }
    }
#pragma unroll
  for (int a = 0; a < PI; ++a)
#pragma unroll
    for (int c = 0; c < PJ; ++c) {
      float before = 0.0f;
#pragma unroll
      for (int b = 0; b < PJ; ++b) {
        float now = u[a][b][c];
        u[a][b][c] = one.wj[vj + b] * (now + (b ? one.cj[vj + b] * before : 0.0f));
        before += now;
      }
    }
#pragma unroll
  for (int b = 0; b < PJ; ++b)
#pragma unroll
    for (int c = 0; c < PJ; ++c) {
      float before = 0.0f, rho_jk = own.rho[vj + b][vk + c];
      const float kj = one.wj[vj + b] * one.cj[vj + b], kk = one.wk[vk + c] * one.ck[vk + c];
      chi = fmaf(rho_jk, rho_jk, chi);
#pragma unroll
      for (int a = 0; a < PI; ++a) {
        const float4 of_i = *(const float4 *)(scalars + (vi + a) * OF_I);
        const float kappa = of_i.x * n_rows * of_i.y, rho_ij = of_j[(vi + a) * OF_I + vj + b];
        const float rho_ik = of_k[(vi + a) * OF_I + (vk >> 2) * 16 + (vk & 3) + c];
        float now = u[a][b][c], s = of_i.x * (now + (a ? of_i.y * before : 0.0f));
        before += now;
        s -= kappa * rho_jk + kj * rho_ik + kk * (rho_ij + kappa * kj);
        chi = fmaf(s, s, chi);
        if (c == 0) chi = fmaf(rho_ij, rho_ij, chi);
        if (b == 0) chi = fmaf(rho_ik, rho_ik, chi);
      }
    }
  return chi;
}

__device__ __forceinline__ void look_at(const Own &own, Products *acc, const float *known, int at_j, int at_k, int i_row,
                                        float n_rows, const float *limits, const Goal &goal, Queue &queue) {
  const Single one(own);
  const float *scalars = known + TJ + TK;
#pragma unroll
  for (int vi = 0; vi < 4; vi += PI) {
    const float4 of_i = *(const float4 *)(scalars + vi * OF_I);
    const int packed = __float_as_int(of_i.w), place = packed << 8 >> 8, kind = packed >> 24 & 127;
    unsigned mask = 0;
#pragma unroll
    for (int vj = 0; vj < 4; vj += PJ)
#pragma unroll
      for (int vk = 0; vk < 8; vk += PJ) {
        const int j = (own.j + vj) / PJ, k = (own.k + (vk >> 2) * 16 + (vk & 3)) / PJ;
        const int of_j = goal.kinds[j], of_k = goal.kinds[k];
        const int levels = ((kind & 7) * LEVELS + (of_j & 7)) * LEVELS + (of_k & 7);
        const float chi = chi_of(own, one, acc, vi, vj, vk, known + at_j, known + TJ + at_k, scalars, n_rows);
        const float limit = limits[levels * CLASSES + min(kind >> 3, min(of_j >> 3, of_k >> 3))] - of_i.z;
        if (chi >= limit && j > place) mask |= 1u << (vj / PJ + 4 / PJ * (vk / PJ));
      }
    if (__any_sync(~0u, mask)) take(goal, queue, mask, i_row + vi, at_j, at_k);
  }
}

#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
screen(const unsigned *__restrict__ bits, const float2 *__restrict__ slots, const unsigned char *__restrict__ kinds,
       const unsigned *__restrict__ i_bits, const float4 *__restrict__ i_scalars, const float *__restrict__ i_rho,
       const float *__restrict__ limits, const float *__restrict__ bars, int n_slots, int room_slots, int words, int n_i, int i_first, int panel,
       int n_stages, long long first_block, float n_rows, int measure, float spare, int *sets,
       unsigned long long *n_found, unsigned long long room) {
  extern __shared__ __align__(16) unsigned shared[];
  // Tiles (tj, tk) with tk >= 2 tj, counted from the last tj, which has two tk, the one before four, and so on.
  const long long number = first_block + blockIdx.x;
  long long r = (long long)((sqrt(1.0 + 4.0 * (double)number) - 1.0) * 0.5);
  while (r * (r + 1) > number) --r;
  while ((r + 1) * (r + 2) <= number) ++r;
  const int j0 = (room_slots / TJ - 1 - (int)r) * TJ, k0 = (room_slots / TK - 1 - (int)(number - r * (r + 1))) * TK;
  // An i comes before the last j of the tile; where i is the base of a scan, i_first is -1 and there is but one.
  const int last = (j0 + TJ) / PJ - 1;
  const int n_here = (int)min((long long)n_i, (long long)max(last - i_first, 0) * PI + 3) / 4 * 4;
  const int n_chunks = (words + CHUNK - 1) / CHUNK;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
  const int wj = (warp >> 1) * 32, wk = (warp & 1) * 32;
  const int my_j = (wj + g) * ROW + q, my_k = (TJ + wk + g) * ROW + q;  // in a tile
  Own own;
  own.j = j0 + wj + 4 * g, own.k = k0 + wk + 4 * q;
  own.of_j = (const float2 *)shared + wj + 4 * g, own.of_k = (const float2 *)shared + TJ + wk + 4 * q;
  if (threadIdx.x < TJ + TK)
    ((float2 *)shared)[threadIdx.x] = slots[threadIdx.x < TJ ? j0 + threadIdx.x : k0 + threadIdx.x - TJ];
  Goal &goal = *(Goal *)(shared + SLOTS);
  Queue &queue = ((Queue *)(shared + SLOTS + GOAL))[warp];
  static_assert(sizeof(Goal) <= 4 * GOAL && sizeof(Queue) * THREADS / 32 == 4 * QUEUES, "");
  if (threadIdx.x == 0)
    goal = {bits, i_bits, i_scalars, kinds, bars, words, j0, k0, measure, n_rows, spare, sets, n_found, room};
  if (lane == 0) queue.n = 0;
  unsigned *stages = shared + SLOTS + GOAL + QUEUES;
  own.limit = INFINITE;  // of binary columns the limits of all classes are in a row
#pragma unroll
  for (int jp = 0; jp < 4; ++jp) own.limit = fminf(own.limit, limits[kinds[(own.j + jp) / PJ] >> 3]);
#pragma unroll
  for (int kk = 0; kk < 8; ++kk)
    own.limit = fminf(own.limit, limits[kinds[(own.k + (kk >> 2) * 16 + (kk & 3)) / PJ] >> 3]);
  Products acc[4];
#if STREAM
  // A stage: a chunk of the tile and of four i, and, with the last chunk, what is known of the i.
  const int stage_words = TILE + 4 * ROW + 4 * OF_I;
  const int groups = n_here / 4, mine = max(groups - (int)blockIdx.y + (int)gridDim.y - 1, 0) / (int)gridDim.y;
  if (mine == 0) return;
  int next_chunk = 0, next_group = -1, next_stage = 0;  // the first chunks are multiplied with all rows
  auto fetch = [&]() {
    if (next_group < mine) {
      unsigned *stage = stages + next_stage * stage_words;
      const int from = next_chunk * CHUNK, n = min(CHUNK, words - from);
      const long long i = 4 * (blockIdx.y + (long long)next_group * gridDim.y);
      copy_tile(stage, bits, j0, k0, words, from, n);
      if (next_group >= 0) copy_i(stage + TILE, i_bits, i, 4, words, from, n);
      if (++next_chunk == n_chunks) {
        if (next_group >= 0) copy_known(stage + TILE + 4 * ROW, 4, i, i_rho, i_scalars, room_slots, j0, k0);
        next_chunk = 0, ++next_group;
      }
    }
    if (++next_stage == n_stages) next_stage = 0;
    commit();
  };
  for (int s = 0; s < n_stages - 1; ++s) fetch();
  int at = 0;
  for (int group = -1; group < mine; ++group) {
#pragma unroll
    for (int ii = 0; ii < 4; ++ii) clear(acc[ii]);
    for (int chunk = 0; chunk < n_chunks; ++chunk) {
      if (n_stages == 4) wait_but<2>(); else if (n_stages == 3) wait_but<1>(); else wait_but<0>();
      __syncthreads();
      fetch();
      const unsigned *stage = stages + at * stage_words;
      if (++at == n_stages) at = 0;
      const int n = min(CHUNK, words - chunk * CHUNK);
      if (group < 0) add_products<1>(acc, stage + my_j, stage + my_k, stage, n);
      else add_products<4>(acc, stage + my_j, stage + my_k, stage + TILE + q, n);
    }
    const unsigned *stage = stages + (at == 0 ? n_stages - 1 : at - 1) * stage_words;
    if (group < 0) correlate(own, acc[0], 1.0f / n_rows, n_slots);
    else
      look_at(own, acc, (const float *)(stage + TILE + 4 * ROW), wj + 4 * g, wk + 4 * q,
              4 * (blockIdx.y + group * gridDim.y), n_rows, limits, goal, queue);
  }
#else
  // The tile stays; i come in panels, each block having every gridDim.y-th, the next one under way.
  const int step = panel * gridDim.y, panel_words = panel * (n_chunks * ROW + OF_I);
  int first = panel * blockIdx.y, half = 0;
  if (first >= n_here) return;
  for (int chunk = 0; chunk < n_chunks; ++chunk)
    copy_tile(stages + chunk * TILE, bits, j0, k0, words, chunk * CHUNK, min(CHUNK, words - chunk * CHUNK));
  unsigned *panels = stages + n_chunks * TILE;
  auto fetch = [&](int first, int half) {
    if (first < n_here) {
      unsigned *to = panels + half * panel_words;
      for (int chunk = 0; chunk < n_chunks; ++chunk)
        copy_i(to + chunk * panel * ROW, i_bits, first, panel, words, chunk * CHUNK, min(CHUNK, words - chunk * CHUNK));
      copy_known(to + n_chunks * panel * ROW, panel, first, i_rho, i_scalars, room_slots, j0, k0);
    }
    commit();
  };
  fetch(first, 0);
  wait_but<0>();
  __syncthreads();
  clear(acc[0]);
  for (int chunk = 0; chunk < n_chunks; ++chunk) {
    const unsigned *tile = stages + chunk * TILE;
    add_products<1>(acc, tile + my_j, tile + my_k, tile, min(CHUNK, words - chunk * CHUNK));
  }
  correlate(own, acc[0], 1.0f / n_rows, n_slots);
  for (; first < n_here; first += step, half ^= 1) {
    fetch(first + step, half ^ 1);
    const unsigned *here = panels + half * panel_words;
    for (int at = 0; at < panel && first + at < n_here; at += 4) {
#pragma unroll
      for (int ii = 0; ii < 4; ++ii) clear(acc[ii]);
      const unsigned *tile = stages, *four = here + at * ROW + q;
      for (int left = words; left > 0; left -= CHUNK, tile += TILE, four += panel * ROW)
        add_products<4>(acc, tile + my_j, tile + my_k, four, min(CHUNK, left));
      look_at(own, acc, (const float *)(here + n_chunks * panel * ROW + at * OF_I), wj + 4 * g, wk + 4 * q, first + at,
              n_rows, limits, goal, queue);
    }
    wait_but<0>();
    __syncthreads();
  }
#endif
  __syncwarp();
  if (queue.n > 0) write_down(goal, queue, queue.n);
}
