// Gradient of linear resampling of NCHW tensors, along one dimension after the other. A CTA has a band of rows of one plane of diff_src. First it adds, for each of
// these rows, the rows of diff_dst that use it, VECTOR columns a thread; then, along these sums in shared memory, each thread adds the columns that use its
// RUN elements.
//
// The generated header has the view `from` of diff_dst, whose rows are `from_step` apart; `spread_of` (resample.cuh), which makes the tables of the rows and columns
// that use an element, at most MOST, and their weights; and `finish_run`, which writes RUN elements.
#include "args.cuh"

#define ENTRY (MOST + 1)

// A place in a row of sums: with a free one behind every 32, threads that read every 2nd, 4th or 8th sum have no bank conflicts.
DEVICE int place(int column) { return column + column / 32; }

extern "C" __global__ void __launch_bounds__(256, 4) spread_planes(const __grid_constant__ Args a) {
    begin();
    extern __shared__ __align__(16) u32 room[];
    const int first = (int)(blockIdx.x % a.bands * a.band), here = min((int)a.band, (int)a.length[2] - first), width = (int)a.length[3];
    u32 *const columns = room, *const rows = columns + width * ENTRY;
    float* const sums = (float*)(rows + a.band * ENTRY);
    for (int i = threadIdx.x; i < width + here; i += 256) {
        const bool is_row = i >= width;
        spread_of(a, is_row ? 0 : 1, is_row ? first + i - width : i, room + i * ENTRY);
    }
    __syncthreads();
    index p[RANK] = {(index)(blockIdx.x / a.bands)};
    p[1] = split(a.channels[0], p[0]);
    const i64 plane = from_at(a, p);
    for (index i = threadIdx.x; i < here * (index)a.vectors[0].n; i += 256) {
        index y = i;
        const int c = split(a.vectors[0], y) * VECTOR;
        const u32* row = rows + y * ENTRY;
        const int from = row[0] & 0xffff, count = row[0] >> 16;
        Vector<from_type, VECTOR> x[MOST];
#pragma unroll
        for (int k = 0; k < MOST; ++k) {
            if (k < count) x[k].load(a.from_data, plane + (from + k) * a.from_step + c);
        }
        real t[VECTOR] = {};
#pragma unroll
        for (int k = 0; k < MOST; ++k) {
            const real weight = __uint_as_float(row[1 + k]);
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) t[v] = k < count ? fma(weight, x[k].number(v), t[v]) : t[v];
        }
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) sums[y * (int)a.pitch + place(c + v)] = t[v];
    }
    __syncthreads();
    const int across = (width + RUN - 1) / RUN, down = 256 / across, own = threadIdx.x % across * RUN;
    if ((int)threadIdx.x >= across * down) return;
    int from[RUN], count[RUN];
    real weights[RUN][MOST];
#pragma unroll
    for (int j = 0; j < RUN; ++j) {
        const u32* column = columns + min(own + j, width - 1) * ENTRY;
        from[j] = column[0] & 0xffff, count[j] = column[0] >> 16;
#pragma unroll
        for (int k = 0; k < MOST; ++k) weights[j][k] = __uint_as_float(column[1 + k]);
    }
    for (int y = threadIdx.x / across; y < here; y += down) {
        const float* line = sums + y * (int)a.pitch;
        real v[RUN] = {};
#pragma unroll
        for (int j = 0; j < RUN; ++j) {
#pragma unroll
            for (int k = 0; k < MOST; ++k) {
                if (k < count[j]) v[j] = fma(weights[j][k], line[place(from[j] + k)], v[j]);
            }
        }
        p[2] = first + y, p[3] = own;
        finish_run<RUN>(a, p, v);
    }
}
