// What the screen and the measures of triples need besides: columns as bits, counts of pairs, tables of sets.

// Word w of slot s has a bit for each of 32 rows: whether the slot's variable has the slot's level there.
extern "C" __global__ void pack(const unsigned char *__restrict__ codes, const int *__restrict__ variable,
                                const int *__restrict__ level, long long n_rows, int words, unsigned *bits) {
  const long long slot = blockIdx.x;
  const int lane = threadIdx.x & 31, wanted = level[slot];
  const unsigned char *column = codes + variable[slot] * n_rows;
  for (int w = threadIdx.x >> 5; w < words; w += blockDim.x >> 5) {
    const long long row = 32LL * w + lane;
    const unsigned word = __ballot_sync(~0u, row < n_rows && column[row] == wanted);
    if (lane == 0) bits[slot * words + w] = word;
  }
}

// Rows that four of the first columns and each of the second have in common; a warp per second column.
extern "C" __global__ void pairs(const unsigned *__restrict__ first, const unsigned *__restrict__ second, int words,
                                 int n_second, int *counts) {
  const int lane = threadIdx.x & 31;
  const long long at = 4LL * blockIdx.y;
  for (long long s = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); s < n_second;
       s += gridDim.x * (blockDim.x >> 5)) {
    int n[4] = {0, 0, 0, 0};
    for (int w = lane; w < words; w += 32) {
      const unsigned word = second[s * words + w];
#pragma unroll
      for (int r = 0; r < 4; ++r) n[r] += __popc(word & first[(at + r) * words + w]);
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int sum = __reduce_add_sync(~0u, n[r]);
      if (lane == 0) counts[(at + r) * n_second + s] = sum;
    }
  }
}

// The full table of each set, row-major, with as many levels to an axis as the largest has; a warp per set.
extern "C" __global__ void tables(const unsigned char *__restrict__ codes, const int *__restrict__ sets, long long n_sets,
                                  int order, int n_levels, int n_cells, long long n_rows, int *counts) {
  extern __shared__ int cells[];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, n_warps = blockDim.x >> 5;
  int *mine = cells + warp * n_cells;
  for (long long s = (long long)blockIdx.x * n_warps + warp; s < n_sets; s += (long long)gridDim.x * n_warps) {
    for (int c = lane; c < n_cells; c += 32) mine[c] = 0;
    __syncwarp();
    for (long long row = lane; row < n_rows; row += 32) {
      int cell = 0;
      for (int v = 0; v < order; ++v) cell = cell * n_levels + codes[sets[s * order + v] * n_rows + row];
      atomicAdd(mine + cell, 1);
    }
    __syncwarp();
    for (int c = lane; c < n_cells; c += 32) counts[s * n_cells + c] = mine[c];
    __syncwarp();
  }
}
