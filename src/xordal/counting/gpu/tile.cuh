// What all screens share: a tile of columns as bits in shared memory, and one-bit products with it: mma.sync m16n8k256
// with AND and popcount. The sources of a screen are put together in the order tile.cuh, queue.cuh, its own.
//
// A block holds a tile of 128 slots j and 64 slots k. A warp has 32 x 32 of it, a thread the slots j 4g .. 4g+3 and k
// 16b + 4q .. 16b + 4q+3: all planes of a variable.
//
// Compiled with WIDE: counts may exceed 2^22.

#define TJ 128
#define TK 64
#define THREADS 256
#define CHUNK 32            // words of a chunk of rows
#define ROW (CHUNK + 4)     // its distance in shared memory: 4 modulo 32, so that fragments load without bank conflicts
#define TILE ((TJ + TK) * ROW)
#define SLOTS (2 * (TJ + TK))
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

// A chunk of n rows of bits, at most 32.
__device__ __forceinline__ void copy_rows(unsigned *to, const unsigned *bits, long long first, int n, long long words, int from,
                                       int n_words) {
  const int w = (threadIdx.x & 7) * 4, r = threadIdx.x >> 3;
  if (w < n_words && r < n) copy16(to + r * ROW + w, bits + (first + r) * words + from + w);
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

__device__ __forceinline__ float x_log_x(float x) { return x > 0.0f ? x * __logf(x) : 0.0f; }

// Rows with a one in a binary slot, and in two, from what is known of them: weight, part and rho are right to 2^-23, so
// that these are the whole numbers up to FEW rows. An empty slot has weight 0, and no rows.
#define FEW 2097152.0f
__device__ __forceinline__ int rows_with(float2 slot, float n_rows) { return __float2int_rn(slot.y * n_rows); }
__device__ __forceinline__ int rows_with(float2 a, float2 b, float rho, float n_rows) {
  return a.x * b.x > 0.0f ? __float2int_rn((rho / (a.x * b.x) + a.y * b.y) * n_rows) : 0;
}

// Word m of four.
__device__ __forceinline__ unsigned word_of(const uint4 &words, int m) {
  return m == 0 ? words.x : m == 1 ? words.y : m == 2 ? words.z : words.w;
}
