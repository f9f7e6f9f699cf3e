// Powers for local response normalisation.
#pragma once

// x^y for x >= 0 with relative error 2^-20 (1 + |y log x|), for results that are rounded to 16 bits or fewer.
DEVICE float short_power(float x, float y) {
    float l, r;
    asm("lg2.approx.f32 %0, %1;" : "=f"(l) : "f"(x));
    asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(y * l));
    return r;
}

// x^y for x >= 0 where y is -0.75 or -1.75, the usual exponents.
DEVICE float root(float x) {
    asm("sqrt.approx.f32 %0, %0;" : "+f"(x));
    return x;
}
DEVICE double root(double x) { return sqrt(x); }
DEVICE real power_of_roots(real x, real y) {
    const real r = rsqrt(x), power = r * root(r);
    return y == (real)-0.75 ? power : power * r * r;
}
