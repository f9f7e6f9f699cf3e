// Powers for local response normalisation.
#pragma once

// x^y to 2^-20 (1 + |y log x|), relative, for results that are rounded to 16 bits or fewer; none of a negative x.
DEVICE float short_power(float x, float y) {
    float l, r;
    asm("lg2.approx.f32 %0, %1;" : "=f"(l) : "f"(x));
    asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(y * l));
    return r;
}
