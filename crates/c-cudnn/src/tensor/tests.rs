use super::*;

#[test]
fn strides_follow_the_format() {
    let dims = Dims::from([2, 16, 5, 7]);
    let of = |format, number| strides_of(format, number, &dims).map(|s| s.to_vec());
    assert_eq!(of(CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT), Ok(vec![560, 35, 7, 1]));
    assert_eq!(of(CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT), Ok(vec![560, 1, 112, 16]));
    assert_eq!(of(CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4), Ok(vec![140, 35, 7, 1]), "strides count vectors, sizes channels");
    assert!(of(CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_FLOAT).is_err() && of(9, CUDNN_DATA_FLOAT).is_err());
}

#[test]
fn sizes_in_bytes_reach_the_last_element() {
    let bytes = |number, strides: [i64; 4]| {
        let mut desc = TensorDesc::default();
        desc.set(number, Dims::from([1, 16, 5, 5]), strides.into()).and_then(|()| desc.described("x")?.bytes())
    };
    assert_eq!(bytes(CUDNN_DATA_FLOAT, [400, 25, 5, 1]), Ok(1600));
    assert_eq!(bytes(CUDNN_DATA_INT8x4, [100, 25, 5, 1]), Ok(400));
    assert_eq!(bytes(CUDNN_DATA_HALF, [400, 30, 6, 1]), Ok(2 * (15 * 30 + 4 * 6 + 4 + 1)));
}
