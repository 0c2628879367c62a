// Sets that pass a screen on their way out: 32 of a warp's are counted and measured at once, each by a lane, and those
// that have enough are added to what is found. Goal says what is sought: look_again(set, places) measures one set and
// gives the places of its SIZE variables among those scanned; sets, n_found and room are where they are written down.

#define QUEUE 64            // sets that a warp keeps before it writes down half of them
#define QUEUES (THREADS / 32 * (QUEUE + 1) * 4)
#define GOAL 32             // words of what is sought

struct Queue {
  int n, nothing[3];
  int4 sets[QUEUE];  // slot i; first slots j and k of the tile; slot h of a set of four
};

// Measure the first sets of a queue and write those down that have enough.
template <class Goal> __device__ __noinline__ void write_down(const Goal &goal, Queue &queue, int n) {
  const int lane = threadIdx.x & 31;
  int places[Goal::SIZE];
  const bool is_found = lane < n && goal.look_again(queue.sets[lane], places);
  const unsigned who = __ballot_sync(~0u, is_found);
  unsigned long long at = 0;
  if (lane == 0 && who) at = atomicAdd(goal.n_found, (unsigned long long)__popc(who));
  at = __shfl_sync(~0u, at, 0) + __popc(who & ((1u << lane) - 1));
  if (is_found && at < goal.room)
#pragma unroll
    for (int v = 0; v < Goal::SIZE; ++v) goal.sets[Goal::SIZE * at + v] = places[v];
  const int4 rest = queue.sets[32 + lane];
  __syncwarp();
  queue.sets[lane] = rest;
  if (lane == 0) queue.n -= n;
  __syncwarp();
}

// Take in the sets of all lanes: bit b is that of the lane's (b modulo 4 / PJ)-th j and (b / (4 / PJ))-th k.
template <class Goal>
__device__ __noinline__ void take(const Goal &goal, Queue &queue, unsigned mask, int i_row, int at_j, int at_k, int h) {
  const int lane = threadIdx.x & 31;
  while (const unsigned who = __ballot_sync(~0u, mask)) {
    const int n = queue.n;
    if (mask) {
      const int bit = __ffs(mask) - 1, vk = bit / (4 / PJ) * PJ;
      queue.sets[n + __popc(who & ((1u << lane) - 1))] =
          make_int4(i_row, at_j + bit % (4 / PJ) * PJ, at_k + (vk >> 2) * 16 + (vk & 3), h);
      mask &= mask - 1;
    }
    __syncwarp();
    if (lane == 0) queue.n = n + __popc(who);
    __syncwarp();
    if (n + __popc(who) >= 32) write_down(goal, queue, 32);
  }
}
