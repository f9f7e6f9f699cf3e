pub(crate) mod number {
    use oxidnn_spec::DataType::{self, *};
    pub(crate) fn decode(t: DataType, b: u64) -> f64 {
        match t {
            F32 => f32::from_bits(b as u32) as f64,
            F64 => f64::from_bits(b),
            S32 => b as u32 as i32 as f64,
            S64 => b as i64 as f64,
            S8 => b as u8 as i8 as f64,
            U8 => b as u8 as f64,
            U4 => (b & 15) as f64,
            S4 => (((b << 4) as u8) as i8 >> 4) as f64,
            Bf16 => f32::from_bits((b as u32) << 16) as f64,
            _ => 0.0,
        }
    }
    pub(crate) fn encode(t: DataType, v: f64) -> u64 {
        let r = v.round_ties_even();
        match t {
            F32 => (v as f32).to_bits() as u64,
            F64 => v.to_bits(),
            S32 => r as i32 as u32 as u64,
            S64 => r as i64 as u64,
            S8 => r as i8 as u8 as u64,
            U8 => r as u8 as u64,
            U4 => (r as u8).min(15) as u64,
            S4 => (r as i8).clamp(-8, 7) as u64 & 15,
            Bf16 => ((v as f32).to_bits() >> 16) as u64,
            _ => 0,
        }
    }
}
pub(crate) mod eltwise {
    pub(crate) fn forward(_a: oxidnn_spec::op::EltwiseAlg, alpha: f32, _b: f32, x: f64) -> f64 {
        if x > 0.0 { x } else { x * alpha as f64 }
    }
}
pub(crate) mod binary {
    pub(crate) fn apply(_a: oxidnn_spec::op::BinaryAlg, a: f64, b: f64, _c: f64) -> f64 {
        a + b
    }
}
pub(crate) mod philox {
    pub(crate) fn dropout_keeps(_i: u64, _seed: i64, _off: i64, _p: f32) -> bool {
        true
    }
    pub(crate) fn round_stochastic(_t: oxidnn_spec::DataType, v: f64, _i: u64, _s: u32) -> f64 {
        v
    }
}
