/* The three functions of the BLAS kind against plain loops, and what they refuse. */
#include <math.h>

#include "helpers.h"

enum { M = 5, N = 7, K = 6 };

static size_t at(char transposed, int row, int column, int leading) {
    return transposed == 'T' ? (size_t)column * leading + row : (size_t)row * leading + column;
}

static void single(char transa, char transb, float alpha, float beta) {
    float a[64], b[64], c[64], want[64];
    fill(a, 64, 1);
    fill(b, 64, 2);
    fill(c, 64, 3);
    memcpy(want, c, sizeof c);
    int lda = transa == 'T' ? M + 1 : K, ldb = transb == 'T' ? K + 1 : N, ldc = N + 1;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)a[at(transa, m, k, lda)] * b[at(transb, k, n, ldb)];
            want[m * ldc + n] = (float)(alpha * sum + beta * c[m * ldc + n]);
        }
    OK(dnnl_sgemm(transa, transb, M, N, K, alpha, a, lda, b, ldb, beta, c, ldc));
    for (int i = 0; i < 64; i++)
        NEAR(c[i], want[i], 1e-6);
}

/* `shared` holds bytes that are read as u8 or as s8. */
static void integer(bool is_signed, char transa, char transb, char offset) {
    uint8_t a[64];
    int8_t b[64];
    int32_t c[64], want[64], co[8];
    for (int i = 0; i < 64; i++) {
        a[i] = (uint8_t)(i * 7 % 120);
        b[i] = (int8_t)(i * 5 % 31 - 15);
        c[i] = want[i] = i - 20;
    }
    for (int i = 0; i < 8; i++)
        co[i] = 3 * i - 4;
    const int ao = 2, bo = -1;
    int lda = transa == 'T' ? M : K, ldb = transb == 'T' ? K : N;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int sum = 0;
            for (int k = 0; k < K; k++) {
                int left = a[at(transa, m, k, lda)];
                sum += (left - ao) * (b[at(transb, k, n, ldb)] - bo);
            }
            int add = offset == 'F' ? co[0] : offset == 'C' ? co[m] : co[n];
            want[m * N + n] = sum + 2 * c[m * N + n] + add;
        }
    if (is_signed)
        OK(dnnl_gemm_s8s8s32(transa, transb, offset, M, N, K, 1.0f, (int8_t *)a, lda, ao, b, ldb, bo, 2.0f, c, N, co));
    else
        OK(dnnl_gemm_u8s8s32(transa, transb, offset, M, N, K, 1.0f, a, lda, ao, b, ldb, bo, 2.0f, c, N, co));
    for (int i = 0; i < M * N; i++)
        EQUAL(c[i], want[i]);
}

static void refused(void) {
    float f[64] = {0}, g[64];
    uint8_t u[64] = {0};
    int8_t s[64] = {0};
    int32_t c[64] = {0}, co[8] = {0};
    INVALID(dnnl_sgemm('X', 'N', M, N, K, 1, f, K, f, N, 0, f, N));
    INVALID(dnnl_sgemm('N', 'X', M, N, K, 1, f, K, f, N, 0, f, N));
    INVALID(dnnl_sgemm('N', 'N', -1, N, K, 1, f, K, f, N, 0, f, N));
    INVALID(dnnl_sgemm('N', 'N', M, N, K, 1, f, K - 1, f, N, 0, f, N));
    INVALID(dnnl_sgemm('N', 'N', M, N, K, 1, f, K, f, N - 1, 0, f, N));
    INVALID(dnnl_sgemm('N', 'N', M, N, K, 1, f, K, f, N, 0, f, N - 1));
    INVALID(dnnl_gemm_u8s8s32('N', 'N', 'X', M, N, K, 1, u, K, 0, s, N, 0, 0, c, N, co));
    INVALID(dnnl_gemm_u8s8s32('N', 'N', 'F', M, N, K, 1, u, K - 1, 0, s, N, 0, 0, c, N, co));
    INVALID(dnnl_gemm_s8s8s32('N', 'Q', 'F', M, N, K, 1, s, K, 0, s, N, 0, 0, c, N, co));
    INVALID(dnnl_gemm_s8s8s32('N', 'N', 'F', M, -N, K, 1, s, K, 0, s, N, 0, 0, c, N, co));
    GUARDED(dnnl_sgemm('N', 'N', M, N, K, 1, NULL, K, f, N, 0, f, N));
    GUARDED(dnnl_gemm_s8s8s32('N', 'N', 'F', M, N, K, 1, s, K, 0, NULL, N, 0, 0, c, N, co));
    OK(dnnl_sgemm('N', 'N', 0, N, K, 1, f, K, f, N, 0, f, N));
    OK(dnnl_sgemm('n', 't', M, N, K, 1, f, K, f, K, 0, g, N));
}

void area_gemm(void) {
    static const char trans[] = {'N', 'T'}, offsets[] = {'F', 'C', 'R'};
    for (int i = 0; i < 4; i++) {
        single(trans[i / 2], trans[i % 2], 1, 0);
        single(trans[i / 2], trans[i % 2], 0.5f, 2);
        for (int o = 0; o < COUNT_OF(offsets); o++) {
            integer(false, trans[i / 2], trans[i % 2], offsets[o]);
            integer(true, trans[i / 2], trans[i % 2], offsets[o]);
        }
    }
    refused();
}
