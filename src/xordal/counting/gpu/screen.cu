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
#define CHUNK 32            // words of a chunk of rows, where they are streamed
#define ROW (CHUNK + 4)     // 4 words apart modulo 32, so that fragments load without bank conflicts
#define LEVELS 6
#define OF_I (TJ + TK + 4)  // words with what is known of a slot i: its rho with the tile, and its scalars

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

// Where a slot of a tile lies in shared memory: in the order in which fragments hold it.
__device__ __forceinline__ int row_of_j(int s) { return (s & 96) + (s & 3) * 8 + ((s & 31) >> 2); }
__device__ __forceinline__ int row_of_k(int s) {
  int r = s & 15;
  return (s & 32) + ((((s >> 4) & 1) * 2 + ((r >> 1) & 1)) * 8) + ((r >> 2) * 2) + (r & 1);
}

__device__ __forceinline__ void copy_tile(unsigned *J, unsigned *K, int stride, const unsigned *bits, int j0, int k0,
                                          long long words, int from, int n_words) {
  int n_pieces = n_words >> 2;
  for (int t = threadIdx.x; t < (TJ + TK) * n_pieces; t += THREADS) {
    int s = t / n_pieces, w = (t % n_pieces) * 4;
    if (s < TJ) copy16(J + row_of_j(s) * stride + w, bits + (j0 + s) * words + from + w);
    else copy16(K + row_of_k(s - TJ) * stride + w, bits + (k0 + s - TJ) * words + from + w);
  }
}

__device__ __forceinline__ void copy_known(unsigned *to, int stride, int n, long long i, const float *i_rho,
                                           const float4 *i_scalars, long long room_slots, int j0, int k0) {
  for (int t = threadIdx.x; t < n * (OF_I / 4); t += THREADS) {
    const int r = t / (OF_I / 4), p = t % (OF_I / 4) * 4;
    const float *rho = i_rho + (i + r) * room_slots;
    const void *from = p < TJ ? (const void *)(rho + j0 + p)
                       : p < TJ + TK ? (const void *)(rho + k0 + p - TJ) : (const void *)(i_scalars + i + r);
    copy16(to + r * stride + p, from);
  }
}

__device__ __forceinline__ void multiply(int *c, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Add the products of some words. J and K point to the thread's place in the first fragment, I to its first word.
template <int N_I>
__device__ __forceinline__ void add_products(Products *acc, const unsigned *J, const unsigned *K, int stride,
                                             const unsigned *I, int i_stride, int n_words) {
  for (int w = 0; w < n_words; w += 8) {
    unsigned A[2][4], B[4][2];
#pragma unroll
    for (int a = 0; a < 2; ++a) {
      const unsigned *p = J + a * 16 * stride + w;
      A[a][0] = p[0], A[a][1] = p[8 * stride], A[a][2] = p[4], A[a][3] = p[8 * stride + 4];
    }
#pragma unroll
    for (int b = 0; b < 4; ++b) B[b][0] = K[b * 8 * stride + w], B[b][1] = K[b * 8 * stride + w + 4];
#pragma unroll
    for (int ii = 0; ii < N_I; ++ii) {
      unsigned x0 = N_I == 1 ? ~0u : I[ii * i_stride + w], x1 = N_I == 1 ? ~0u : I[ii * i_stride + w + 4];
#pragma unroll
      for (int a = 0; a < 2; ++a) {
        unsigned M[4] = {A[a][0] & x0, A[a][1] & x0, A[a][2] & x1, A[a][3] & x1};
#pragma unroll
        for (int b = 0; b < 4; ++b) multiply(acc[ii][a][b], M, B[b]);
      }
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

// What a thread knows of its slots j and k.
struct Own {
  float wj[4], cj[4], wk[8], ck[8], rho[4][8];
  int j, k;  // its first slots
};

// E[u_a u_b] - kappa_a kappa_b of the thread's slots, from the products with all rows. NaN, which reaches no limit,
// where k is not after j or a slot is empty.
__device__ __forceinline__ void correlate(Own &own, Products &all, float per_row, int n_slots) {
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
          u[b][c] = own.wk[vk + c] * (count + (c ? own.ck[vk + c] * before : 0.0f));
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
          float mean = own.wj[vj + b] * own.cj[vj + b] * own.wk[vk + c] * own.ck[vk + c];
          float both = own.wj[vj + b] * (u[b][c] + (b ? own.cj[vj + b] * before : 0.0f)) * per_row;
          before += u[b][c];
          own.rho[vj + b][vk + c] = is_there ? both - mean : __int_as_float(0x7fffffff);
        }
      }
    }
}

// Triples that reach the limit, as places of their variables among those scanned.
struct Found {
  int *sets;
  unsigned long long *n;
  unsigned long long room;
};

__device__ __noinline__ void add(const Found &found, int i, int j, int k) {
  unsigned long long at = atomicAdd(found.n, 1ull);
  if (at < found.room) found.sets[3 * at] = i, found.sets[3 * at + 1] = j, found.sets[3 * at + 2] = k;
}

// What is known of four slots i: scalars[ii] = (weight / rows, part, limit or what rounding may take off it, level
// and place of the variable as bits), and their rho with all slots of the tile.
#if PI == 1 && PJ == 1

// 8 operations a triple; the second look, which writes down, is rare.
template <bool WRITES>
__device__ __forceinline__ bool look(const Own &own, Products &acc, float4 scalar, const float *of_j,
                                     const float *of_k, float n_rows, const Found &found) {
  const int i = __float_as_int(scalar.w) << 8 >> 8;
  const float kappa = scalar.x * n_rows * scalar.y;
  float limit[4], both[4], b[4];
#pragma unroll
  for (int jp = 0; jp < 4; ++jp) {
    float rho = of_j[jp], mean = own.wj[jp] * own.cj[jp];
    limit[jp] = own.j + jp > i ? scalar.z - rho * rho : __int_as_float(0x7f800000);
    both[jp] = scalar.x * own.wj[jp], b[jp] = rho + kappa * mean;
  }
  bool any = false;
#pragma unroll
  for (int kk = 0; kk < 8; ++kk) {
    const float weight = own.wk[kk], minus = MINUS_START(weight), mean = weight * own.ck[kk];
    const float rho = of_k[(kk >> 2) * 16 + (kk & 3)], square = rho * rho;
#pragma unroll
    for (int jp = 0; jp < 4; ++jp) {
      float count = fmaf(AS_FLOAT(AT(acc, jp, kk)), weight, minus);
      float s = fmaf(count, both[jp], -mean * b[jp]);
      s = fmaf(-own.wj[jp] * own.cj[jp], rho, s);
      s = fmaf(-kappa, own.rho[jp][kk], s);
      float chi = fmaf(s, s, fmaf(own.rho[jp][kk], own.rho[jp][kk], square));
      if (WRITES) {
        if (chi >= limit[jp]) add(found, i, own.j + jp, own.k + (kk >> 2) * 16 + (kk & 3));
      } else {
        any |= chi >= limit[jp];
      }
    }
  }
  return any;
}

__device__ __forceinline__ void look_at(const Own &own, Products *acc, const float4 *scalars, const float *of_j,
                                        const float *of_k, int stride, float n_rows, const float *limits,
                                        const unsigned char *levels, const Found &found) {
#pragma unroll
  for (int ii = 0; ii < 4; ++ii) {
    float4 scalar = scalars[ii * stride / 4];
    if (look<false>(own, acc[ii], scalar, of_j + ii * stride, of_k + ii * stride, n_rows, found))
      look<true>(own, acc[ii], scalar, of_j + ii * stride, of_k + ii * stride, n_rows, found);
  }
}

#else

// The planes of three variables together.
__device__ __forceinline__ float chi_of(const Own &own, Products *acc, int vi, int vj, int vk, const float4 *scalar,
                                        const float *of_j, const float *of_k, int stride, float n_rows) {
  float u[PI][PJ][PJ], chi = 0.0f;
#pragma unroll
  for (int a = 0; a < PI; ++a)
#pragma unroll
    for (int b = 0; b < PJ; ++b) {
      float before = 0.0f;
#pragma unroll
      for (int c = 0; c < PJ; ++c) {
        float count = AS_FLOAT(AT(acc[vi + a], vj + b, vk + c)) - (WIDE ? 0.0f : 8388608.0f);
        u[a][b][c] = own.wk[vk + c] * (count + (c ? own.ck[vk + c] * before : 0.0f));
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
        float one = u[a][b][c];
        u[a][b][c] = own.wj[vj + b] * (one + (b ? own.cj[vj + b] * before : 0.0f));
        before += one;
      }
    }
#pragma unroll
  for (int b = 0; b < PJ; ++b)
#pragma unroll
    for (int c = 0; c < PJ; ++c) {
      float before = 0.0f, rho_jk = own.rho[vj + b][vk + c];
      const float kj = own.wj[vj + b] * own.cj[vj + b], kk = own.wk[vk + c] * own.ck[vk + c];
      chi = fmaf(rho_jk, rho_jk, chi);
#pragma unroll
      for (int a = 0; a < PI; ++a) {
        const float4 of_i = scalar[(vi + a) * stride / 4];
        const float kappa = of_i.x * n_rows * of_i.y, rho_ij = of_j[(vi + a) * stride + vj + b];
        const float rho_ik = of_k[(vi + a) * stride + (vk >> 2) * 16 + (vk & 3) + c];
        float one = u[a][b][c], s = of_i.x * (one + (a ? of_i.y * before : 0.0f));
        before += one;
        s -= kappa * rho_jk + kj * rho_ik + kk * (rho_ij + kappa * kj);
        chi = fmaf(s, s, chi);
        if (c == 0) chi = fmaf(rho_ij, rho_ij, chi);
        if (b == 0) chi = fmaf(rho_ik, rho_ik, chi);
      }
    }
  return chi;
}

__device__ __forceinline__ void look_at(const Own &own, Products *acc, const float4 *scalars, const float *of_j,
                                        const float *of_k, int stride, float n_rows, const float *limits,
                                        const unsigned char *levels, const Found &found) {
#pragma unroll
  for (int vi = 0; vi < 4; vi += PI) {
    const float4 of_i = scalars[vi * stride / 4];
    const int packed = __float_as_int(of_i.w), place = packed << 8 >> 8, bars = packed >> 24 & 127;
#pragma unroll
    for (int vj = 0; vj < 4; vj += PJ)
#pragma unroll
      for (int vk = 0; vk < 8; vk += PJ) {
        const int j = (own.j + vj) / PJ, k = (own.k + (vk >> 2) * 16 + (vk & 3)) / PJ;
        float chi = chi_of(own, acc, vi, vj, vk, scalars, of_j, of_k, stride, n_rows);
        float limit = limits[(bars * LEVELS + levels[j]) * LEVELS + levels[k]] - of_i.z;
        if (chi >= limit && j > place) add(found, place, j, k);
      }
  }
}

#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
screen(const unsigned *__restrict__ bits, const float2 *__restrict__ slots, const unsigned char *__restrict__ levels,
       const unsigned *__restrict__ i_bits, const float4 *__restrict__ i_scalars, const float *__restrict__ i_rho,
       const float *__restrict__ limits, int n_slots, int room_slots, int words, int n_i, int i_first, int panel,
       int n_stages, long long first_block, float n_rows, int *sets, unsigned long long *n_found, unsigned long long room) {
  extern __shared__ __align__(16) unsigned shared[];
  const Found found = {sets, n_found, room};
  // Tiles (tj, tk) with tk >= 2 tj, those with most i first.
  const int n_tk = room_slots / TK, n_tj = room_slots / TJ;
  int tj, tk;
  {
    long long x = first_block + (long long)blockIdx.x;  // counted from the last tj, which has two tk, the one before four, ...
    long long r = (long long)((sqrt(1.0 + 4.0 * (double)x) - 1.0) * 0.5);
    while (r * (r + 1) > x) --r;
    while ((r + 1) * (r + 2) <= x) ++r;
    tj = n_tj - 1 - (int)r, tk = n_tk - 1 - (int)(x - r * (r + 1));
  }
  const int j0 = tj * TJ, k0 = tk * TK;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
  const int wj = (warp >> 1) * 32, wk = (warp & 1) * 32;
  Own own;
  own.j = j0 + wj + 4 * g, own.k = k0 + wk + 4 * q;
#pragma unroll
  for (int jp = 0; jp < 4; ++jp) {
    float2 slot = slots[own.j + jp];
    own.wj[jp] = slot.x, own.cj[jp] = slot.y;
  }
#pragma unroll
  for (int kk = 0; kk < 8; ++kk) {
    float2 slot = slots[own.k + (kk >> 2) * 16 + (kk & 3)];
    own.wk[kk] = slot.x, own.ck[kk] = slot.y;
  }
  const float per_row = 1.0f / n_rows;
  Products acc[4];
  // An i comes before the last j of the tile; where i is the base of a scan, i_first is -1 and there is but one.
  const int last = (j0 + TJ) / PJ - 1;
  const int n_here = min((long long)n_i, (long long)max(last - i_first, 0) * PI + 3) / 4 * 4;
#if STREAM
  // A stage: a chunk of the tile and of four i, and, with the last chunk, what is known of the i.
  const int n_chunks = (words + CHUNK - 1) / CHUNK, known = (TJ + TK + 4) * ROW, stage_words = known + 4 * OF_I;
  const int groups = n_here / 4, mine = max(groups - (int)blockIdx.y + (int)gridDim.y - 1, 0) / (int)gridDim.y;
  if (mine == 0) return;
  const int steps = (mine + 1) * n_chunks;  // the first chunks are multiplied with all rows
  auto fetch = [&](int step) {
    if (step < steps) {
      unsigned *stage = shared + (step % n_stages) * stage_words;
      const int chunk = step % n_chunks, group = step / n_chunks - 1, from = chunk * CHUNK;
      const int n = min(CHUNK, words - from), n_pieces = n / 4;
      copy_tile(stage, stage + TJ * ROW, ROW, bits, j0, k0, words, from, n);
      const long long i = 4 * (blockIdx.y + (long long)group * gridDim.y);
      if (group >= 0)
        for (int t = threadIdx.x; t < 4 * n_pieces; t += THREADS)
          copy16(stage + (TJ + TK + t / n_pieces) * ROW + t % n_pieces * 4,
                 i_bits + (i + t / n_pieces) * words + from + t % n_pieces * 4);
      if (group >= 0 && chunk == n_chunks - 1) copy_known(stage + known, OF_I, 4, i, i_rho, i_scalars, room_slots, j0, k0);
    }
    commit();
  };
  for (int s = 0; s < n_stages - 1; ++s) fetch(s);
  for (int step = 0; step < steps; ++step) {
    if (n_stages == 4) wait_but<2>(); else if (n_stages == 3) wait_but<1>(); else wait_but<0>();
    __syncthreads();
    fetch(step + n_stages - 1);
    const unsigned *stage = shared + (step % n_stages) * stage_words;
    const int chunk = step % n_chunks, group = step / n_chunks - 1, n = min(CHUNK, words - chunk * CHUNK);
    const unsigned *J = stage + (wj + g) * ROW + q, *K = stage + (TJ + wk + g) * ROW + q;
    if (chunk == 0)
#pragma unroll
      for (int ii = 0; ii < 4; ++ii) clear(acc[ii]);
    if (group < 0) add_products<1>(acc, J, K, ROW, J, ROW, n);
    else add_products<4>(acc, J, K, ROW, stage + (TJ + TK) * ROW + q, ROW, n);
    if (chunk < n_chunks - 1) continue;
    const float *rho = (const float *)(stage + known);
    if (group < 0) correlate(own, acc[0], per_row, n_slots);
    else
      look_at(own, acc, (const float4 *)(rho + TJ + TK), rho + wj + 4 * g, rho + TJ + wk + 4 * q, OF_I, n_rows, limits,
              levels, found);
  }
#else
  // The tile stays; i come in panels, each block having every gridDim.y-th, the next one under way.
  const int stride = words + 4, i_row = words + OF_I, panel_words = panel * i_row;
  unsigned *J = shared, *K = J + TJ * stride, *panels = K + TK * stride;
  if ((int)blockIdx.y * panel >= n_here) return;
  copy_tile(J, K, stride, bits, j0, k0, words, 0, words);
  auto fetch = [&](int first, int half) {
    if (first < n_here) {
      unsigned *to = panels + half * panel_words;
      const int n_pieces = words / 4;
      for (int t = threadIdx.x; t < panel * n_pieces; t += THREADS)
        copy16(to + t / n_pieces * i_row + t % n_pieces * 4,
               i_bits + (long long)(first + t / n_pieces) * words + t % n_pieces * 4);
      copy_known(to + words, i_row, panel, first, i_rho, i_scalars, room_slots, j0, k0);
    }
    commit();
  };
  const int step = panel * gridDim.y;
  int first = panel * blockIdx.y, half = 0;
  fetch(first, 0);
  wait_but<0>();
  __syncthreads();
  const unsigned *my_j = J + (wj + g) * stride + q, *my_k = K + (wk + g) * stride + q;
  clear(acc[0]);
  add_products<1>(acc, my_j, my_k, stride, J, 0, words);
  correlate(own, acc[0], per_row, n_slots);
  for (; first < n_here; first += step, half ^= 1) {
    fetch(first + step, half ^ 1);
    const unsigned *here = panels + half * panel_words;
    for (int at = 0; at < panel && first + at < n_here; at += 4) {
      const unsigned *four = here + at * i_row;
      const float *rho = (const float *)(four + words);
#pragma unroll
      for (int ii = 0; ii < 4; ++ii) clear(acc[ii]);
      add_products<4>(acc, my_j, my_k, stride, four + q, i_row, words);
      look_at(own, acc, (const float4 *)(rho + TJ + TK), rho + wj + 4 * g, rho + TJ + wk + 4 * q, i_row, n_rows, limits,
              levels, found);
    }
    wait_but<0>();
    __syncthreads();
  }
#endif
}
