//! The one place that enters code compiled for a wider instruction set than the crate's.
//!
//! A kernel is a [`Body`]: ordinary Rust, generic over the number of lanes, marked `#[inline(always)]`. [`Simd::run`] inlines it into a
//! function with the wanted `#[target_feature]`s, and the compiler's vectoriser does the rest. Where the code does not depend on the lanes,
//! `multiversion!` makes such functions of a function.

use crate::target::Isa;

/// Proof that this processor has an instruction set: only [`Simd::new`] makes one, after asking the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simd(Isa);

/// Code that is compiled once for every instruction set.
pub trait Body {
    /// What it returns.
    type Out;
    /// Runs it with vectors of `W` lanes of `f32`; `FMA` says whether a fused multiply-add is one instruction. Implementations must be
    /// `#[inline(always)]`, or they are compiled for the baseline.
    fn run<const W: usize, const FMA: bool>(self) -> Self::Out;
}

/// Whether the baseline has a fused multiply-add instruction.
const BASELINE_FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn avx512<B: Body>(body: B) -> B::Out {
    body.run::<16, true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<B: Body>(body: B) -> B::Out {
    body.run::<8, true>()
}

impl Simd {
    /// The proof for `isa`, if this processor has it.
    pub fn new(isa: Isa) -> Option<Simd> {
        isa.is_present().then_some(Simd(isa))
    }

    /// The widest that this processor has.
    pub fn host() -> Simd {
        Simd(Isa::detect())
    }

    /// The instruction set.
    pub const fn isa(self) -> Isa {
        self.0
    }

    /// Runs `body`, compiled for the instruction set.
    #[inline]
    pub fn run<B: Body>(self, body: B) -> B::Out {
        match self.0 {
            // SAFETY: a `Simd` of AVX-512 exists only where the processor has the features named.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512(body) },
            // SAFETY: a `Simd` of AVX2 exists only where the processor has AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { avx2(body) },
            _ => body.run::<4, BASELINE_FMA>(),
        }
    }
}

/// Makes a function with a [`Simd`] as a further, first argument, compiled for each instruction set.
macro_rules! multiversion {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<$t:ident: $bound:ident>)? ($($arg:ident: $ty:ty),*) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name $(<$t: $bound>)? (simd: $crate::kernels::multiversion::Simd, $($arg: $ty),*) $(-> $out)? {
            // A body of its own for each: closures in it that all shared would be compiled for the baseline.
            #[inline(always)]
            fn body<const W: usize $(, $t: $bound)?>($($arg: $ty),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
            fn avx512 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $out)? {
                body::<16 $(, $t)?>($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $out)? {
                body::<8 $(, $t)?>($($arg),*)
            }

            match simd.isa() {
                // SAFETY: a `Simd` of AVX-512 exists only where the processor has the features named.
                #[cfg(target_arch = "x86_64")]
                $crate::target::Isa::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: a `Simd` of AVX2 exists only where the processor has AVX2 and FMA.
                #[cfg(target_arch = "x86_64")]
                $crate::target::Isa::Avx2 => unsafe { avx2($($arg),*) },
                _ => body::<4 $(, $t)?>($($arg),*),
            }
        }
    };
}
pub(crate) use multiversion;
