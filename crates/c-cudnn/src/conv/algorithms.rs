//! cuDNN's convolution algorithms, and what each selects here.
//!
//! All direct algorithms are one to oxidnn. Programs use the first one of each pass (`IMPLICIT_GEMM`, `ALGO_0`) without a workspace, so it uses the library's
//! scratch; the others use the caller's workspace. FFT is not supported; Winograd is if oxidnn has a kernel for the problem.

use super::request::{Pass, Request};
use crate::enums::*;
use crate::status::Failure;
use crate::values;
use oxidnn_spec::op::ConvAlg;

/// What an algorithm selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct How {
    pub(crate) alg: ConvAlg,
    /// Scratch is the caller's.
    pub(crate) own: bool,
}

const LEASED: Option<How> = Some(How { alg: ConvAlg::Direct, own: false });
const DIRECT: Option<How> = Some(How { alg: ConvAlg::Direct, own: true });
const WINOGRAD: Option<How> = Some(How { alg: ConvAlg::Winograd, own: true });

/// The algorithms of a pass, the preferred one first.
pub(super) fn table(pass: Pass) -> &'static [(i32, Option<How>)] {
    match pass {
        Pass::Forward => &[
            (CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, DIRECT),
            (CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, LEASED),
            (CUDNN_CONVOLUTION_FWD_ALGO_GEMM, DIRECT),
            (CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, DIRECT),
            (CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, WINOGRAD),
            (CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, WINOGRAD),
            (CUDNN_CONVOLUTION_FWD_ALGO_FFT, None),
            (CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, None),
        ],
        Pass::Data => &[
            (CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, DIRECT),
            (CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, LEASED),
            (CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, WINOGRAD),
            (CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, WINOGRAD),
            (CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, None),
            (CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, None),
        ],
        Pass::Filter => &[
            (CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, DIRECT),
            (CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, LEASED),
            (CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, DIRECT),
            (CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD, WINOGRAD),
            (CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, WINOGRAD),
            (CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, None),
            (CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING, None),
        ],
    }
}

/// The name of the enumeration of a pass's algorithms.
fn kind(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "cudnnConvolutionFwdAlgo_t",
        Pass::Data => "cudnnConvolutionBwdDataAlgo_t",
        Pass::Filter => "cudnnConvolutionBwdFilterAlgo_t",
    }
}

impl Request {
    /// What the algorithm with this number selects.
    ///
    /// # Errors
    /// `BAD_PARAM` for unknown algorithms, `NOT_SUPPORTED` for those that oxidnn does not have.
    pub(crate) fn how(&self, number: i32) -> Result<How, Failure> {
        match table(self.pass).iter().find(|a| a.0 == number) {
            Some((_, Some(how))) => Ok(*how),
            Some(_) => Err(Failure::unsupported(format_args!(
                "{}: oxidnn has no convolution by Fourier's transform",
                name(kind(self.pass), number)
            ))),
            None => {
                values::check("algo", kind(self.pass), number)?;
                Err(Failure::invalid("algo", name(kind(self.pass), number), "an algorithm, not their number"))
            }
        }
    }
}
