// Screens every triple (i, j, k) of columns by one-bit matrix products: mma.sync m16n8k256 with AND and popcount.
//
// Columns are bit planes in *slots*: a variable of r levels has r - 1 planes, padded to PJ slots (1, 2 or 4). Slot s
// stands for u_s = weight_s (x_s + part_s (x of the planes before it)), which makes the u of one variable, less their
// means kappa_s = weight_s part_s, an orthonormal basis of the functions of its levels. In that basis the chi of a
// triple, of which log(1 + chi) bounds the total correlation, is a sum of squares (screening.py has the proof):
//   s_ijk = E[u_i u_j u_k] - kappa_i rho_jk - kappa_j rho_ik - kappa_k (rho_ij + kappa_i kappa_j)
//   chi   = sum s_ijk^2 + sum rho_ij^2 + sum rho_ik^2 + sum rho_jk^2
//
//
// A block walks over groups of four slots i. x_i is ANDed into the fragments of j on their way from shared memory into
// the product, so that n_ijk never touches memory; rho_jk stays in registers, from a first product with all rows in the
// place of x_i.
//
// Compiled with PI, PJ: planes of i, and of j and k; STREAM: rows pass through shared memory in chunks, since they do
// not fit; WIDE as in tile.cuh.

#define OF_I (TJ + TK + 4)  // words with what is known of a slot i: its rho with the tile, and its scalars

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

// Rows with each combination of planes of three variables, and of two and one of them.
struct Counts {
  int i[PI], j[PJ], k[PJ], ij[PI][PJ], ik[PI][PJ], jk[PJ][PJ], ijk[PI][PJ][PJ];
};

__device__ __forceinline__ void count(Counts &n, const unsigned *I, const unsigned *J, const unsigned *K, int words) {
  n = Counts();
  for (int w = 0; w < words; w += 4) {
    uint4 of_i[PI], of_j[PJ], of_k[PJ];
#pragma unroll
    for (int a = 0; a < PI; ++a) of_i[a] = *(const uint4 *)(I + a * words + w);
#pragma unroll
    for (int b = 0; b < PJ; ++b)
      of_j[b] = *(const uint4 *)(J + b * words + w), of_k[b] = *(const uint4 *)(K + b * words + w);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      unsigned i[PI], j[PJ], k[PJ];
#pragma unroll
      for (int a = 0; a < PI; ++a) i[a] = word_of(of_i[a], m), n.i[a] += __popc(i[a]);
#pragma unroll
      for (int b = 0; b < PJ; ++b) {
        j[b] = word_of(of_j[b], m), n.j[b] += __popc(j[b]);
        k[b] = word_of(of_k[b], m), n.k[b] += __popc(k[b]);
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
}

#if PI == 1 && PJ == 1

__device__ __forceinline__ float pair_sum(float a, float b, float both) {
  return x_log_x(both) + x_log_x(a - both) + x_log_x(b - both) + x_log_x(1.0f - a - b + both);
}

// The same from what is known of single slots and of two: popcounts of jk and ijk are all that is left.
__device__ __forceinline__ void count_rest(Counts &n, const unsigned *I, const unsigned *J, const unsigned *K, int words) {
  for (int w = 0; w < words; w += 4) {
    const uint4 i = *(const uint4 *)(I + w), j = *(const uint4 *)(J + w), k = *(const uint4 *)(K + w);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      const unsigned both = word_of(j, m) & word_of(k, m);
      n.jk[0][0] += __popc(both), n.ijk[0][0][0] += __popc(both & word_of(i, m));
    }
  }
}

// What is measured of a triple, in nats, right to 4e-5; of an interaction a bound.
__device__ __forceinline__ float measure_of(int measure, const Counts &n, float rows) {
  const float per_row = 1.0f / rows;
  const int rest = n.i[0] + n.j[0] + n.k[0] - n.ij[0][0] - n.ik[0][0] - n.jk[0][0] + n.ijk[0][0][0];
  const int cells[8] = {n.ijk[0][0][0], n.ij[0][0] - n.ijk[0][0][0], n.ik[0][0] - n.ijk[0][0][0],
                        n.jk[0][0] - n.ijk[0][0][0], n.i[0] - n.ij[0][0] - n.ik[0][0] + n.ijk[0][0][0],
                        n.j[0] - n.ij[0][0] - n.jk[0][0] + n.ijk[0][0][0],
                        n.k[0] - n.ik[0][0] - n.jk[0][0] + n.ijk[0][0][0], (int)rows - rest};
  float all = 0.0f;
#pragma unroll
  for (int c = 0; c < 8; ++c) all += x_log_x(cells[c] * per_row);
  const float i = n.i[0] * per_row, j = n.j[0] * per_row, k = n.k[0] * per_row;
  const float of_i = x_log_x(i) + x_log_x(1.0f - i), of_j = x_log_x(j) + x_log_x(1.0f - j);
  const float of_k = x_log_x(k) + x_log_x(1.0f - k);
  if (measure == 0) return all - of_i - of_j - of_k;
  const float of_ij = pair_sum(i, j, n.ij[0][0] * per_row), of_ik = pair_sum(i, k, n.ik[0][0] * per_row);
  const float of_jk = pair_sum(j, k, n.jk[0][0] * per_row);
  if (measure == 1) return all - fmaxf(of_i + of_jk, fmaxf(of_j + of_ik, of_k + of_ij));
  return all - fmaxf(of_ik + of_jk - of_k, fmaxf(of_ij + of_jk - of_j, of_ij + of_ik - of_i));
}

#else

// The total correlation, which no measure exceeds. The last level of each variable, which has no plane, is the rest.
__device__ __forceinline__ float measure_of(int measure, const Counts &n, float rows) {
  const float per_row = 1.0f / rows;
  float total = 0.0f;
  int rest_i = (int)rows, rest_j = (int)rows, rest_k = (int)rows;
#pragma unroll
  for (int a = 0; a < PI; ++a) rest_i -= n.i[a], total -= x_log_x(n.i[a] * per_row);
#pragma unroll
  for (int b = 0; b < PJ; ++b) {
    rest_j -= n.j[b], rest_k -= n.k[b];
    total -= x_log_x(n.j[b] * per_row) + x_log_x(n.k[b] * per_row);
  }
  total -= x_log_x(rest_i * per_row) + x_log_x(rest_j * per_row) + x_log_x(rest_k * per_row);
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
        total += x_log_x(cell * per_row);
        left -= cell;
      }
      total += x_log_x(left * per_row);
    }
  return total;
}

#endif

// What is sought, and where it is written down: sets as places of their variables among those scanned. In shared memory.
struct Goal {
  static const int SIZE = 3;
  const unsigned *bits, *i_bits;
  const float4 *i_scalars;
  const float *i_rho;
  const float2 *slots;
  const unsigned char *kinds;
  const float *bars;  // nats below which a set is not written down, by levels
  int words, room_slots, j0, k0, measure;  // 0 total, 1 needed, 2 interaction
  float n_rows, spare;         // what rounding may take off chi of binary columns, by (weight + 1)^2
  int *sets;
  unsigned long long *n_found, room;

  __device__ __forceinline__ bool look_again(const int4 &set, int *places) const {
    const int packed = __float_as_int(i_scalars[set.x].w), slot_j = j0 + set.y, slot_k = k0 + set.z;
    const unsigned *I = i_bits + (long long)set.x * words, *J = bits + (long long)slot_j * words;
    const unsigned *K = bits + (long long)slot_k * words;
    Counts counts = Counts();
#if PI == 1 && PJ == 1
    if (n_rows <= FEW) {
      const float4 scalar = i_scalars[set.x];
      const float2 of_i = {scalar.x * n_rows, scalar.y}, of_j = slots[slot_j], of_k = slots[slot_k];
      const float *rho = i_rho + (long long)set.x * room_slots;
      counts.i[0] = rows_with(of_i, n_rows), counts.j[0] = rows_with(of_j, n_rows);
      counts.k[0] = rows_with(of_k, n_rows);
      counts.ij[0][0] = rows_with(of_i, of_j, rho[slot_j], n_rows);
      counts.ik[0][0] = rows_with(of_i, of_k, rho[slot_k], n_rows);
      count_rest(counts, I, J, K, words);
    } else
#endif
      count(counts, I, J, K, words);
    const int j = slot_j / PJ, k = slot_k / PJ;
    places[0] = packed << 8 >> 8, places[1] = j, places[2] = k;
    const int levels = ((packed >> 24 & 7) * LEVELS + (kinds[j] & 7)) * LEVELS + (kinds[k] & 7);
    return !(measure_of(measure, counts, n_rows) < bars[levels]);
  }
};

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
    if (__any_sync(~0u, mask)) take(goal, queue, mask, i_row + ii, at_j, at_k, 0);
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
    if (__any_sync(~0u, mask)) take(goal, queue, mask, i_row + vi, at_j, at_k, 0);
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
    goal = {bits, i_bits, i_scalars, i_rho, slots, kinds, bars, words, room_slots, j0, k0, measure,
            n_rows, spare, sets, n_found, room};
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
      if (next_group >= 0) copy_rows(stage + TILE, i_bits, i, 4, words, from, n);
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
        copy_rows(to + chunk * panel * ROW, i_bits, first, panel, words, chunk * CHUNK, min(CHUNK, words - chunk * CHUNK));
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
