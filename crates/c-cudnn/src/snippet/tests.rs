use super::torch;
use oxidnn_spec::Problem;

/// The line for a problem.
fn line(problem: &str) -> Option<String> {
    torch(&problem.parse::<Problem>().expect("a problem").op)
}

#[test]
fn convolutions_name_sizes_strides_and_groups() {
    let text =
        line("--conv --dir=FWD_I --dt=f32 --stag=acdb --wtag=abcd --dtag=acdb mb2ic3ih5iw6oc4oh5ow6kh3kw3ph1pw1").expect("PyTorch has it");
    let expected = "import torch; x = torch.empty_strided((2, 3, 5, 6), (90, 1, 18, 3), dtype=torch.float32).fill_(1); \
                    w = torch.empty_strided((4, 3, 3, 3), (27, 9, 3, 1), dtype=torch.float32).fill_(1); \
                    torch.nn.functional.conv2d(x, w, stride=(1, 1), padding=(1, 1), dilation=(1, 1), groups=1)";
    assert_eq!(text, expected);
    let text = line("--conv --dir=BWD_D --dt=bf16 g2mb1ic4iw8oc4ow8kw1").expect("PyTorch has it");
    assert!(
        text.contains("w = w.flatten(0, 1); ") && text.ends_with("groups=2)") && text.contains("torch.nn.grad.conv1d_input(x.shape, w, dy"),
        "{text}"
    );
}

#[test]
fn what_pytorch_has_no_function_of_has_no_line() {
    let text = line("--matmul --dt=f16:f16:f16 3x4:4x5").expect("PyTorch has it");
    assert!(text.ends_with("torch.matmul(a, b)") && text.contains("dtype=torch.float16"), "{text}");
    assert!(
        line("--pool --dir=FWD_I --alg=max mb1ic2ih4iw4oh2ow2kh2kw2sh2sw2")
            .expect("so")
            .ends_with("torch.nn.functional.max_pool2d(x, (2, 2), (2, 2), (0, 0))")
    );
    assert_eq!(line("--shuffle --axis=1 --group=2 1x4x2x2"), None);
}
