// Powers for local response normalisation.
#pragma once

// x^y for x >= 0 with relative error 2^-20 (1 + |y log x|), for results that are rounded to 16 bits or fewer.
DEVICE float short_power(float x, float y) {
    float l, r;
    asm("lg2.approx.f32 %0, %1;" : "=f"(l) : "f"(x));
    asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(y * l));
    return r;
}
