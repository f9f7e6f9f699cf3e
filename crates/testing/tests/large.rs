//! Describing a product takes neither memory nor time that grows with its tensors: sizes of which a table would abort the process, or take hours,
//! are described by every row that takes them.

use oxidnn_cpu::CpuDevice;
use oxidnn_runtime::Engine;
use oxidnn_spec::text::{self, Settings};
use oxidnn_testing::{harness, targets};

/// Sizes of 2^36 and a little more, in every place that a plan might walk through.
const LINES: &[&str] = &[
    "--conv mb1ic16oc16iw68719476736ow1kw68719476736",
    "--conv mb1ic16oc16iw68719476737ow68719476737kw3pw1",
    "--conv --stag=abx --dtag=abx mb1ic16oc16iw68719476737ow68719476737kw1",
    "--conv --dt=bf16 mb1ic16oc16iw68719476737ow68719476737kw3pw1",
    "--conv --dt=u8:s8:f32 mb1ic16oc16iw68719476737ow68719476737kw3pw1",
    "--conv mb1ic16oc16iw3ow68719476739kw3pw34359738369",
    "--conv --alg=auto mb1ic16oc16ih8388608iw8388608oh8388608ow8388608kh3kw3ph1pw1",
    "--conv mb68719476736ic16oc16iw3ow3kw3pw1",
    "--conv mb1ic16oc68719476736iw3ow3kw1",
    "--conv g68719476736mb1ic68719476736oc68719476736iw3ow3kw3pw1",
    "--conv g16mb1ic16oc16iw68719476736ow68719476736kw3pw1",
    "--conv g16mb1ic16oc16iw3ow68719476739kw3pw34359738369",
    "--conv g16mb1ic16oc16ih68719476736iw3oh68719476736ow3kh3kw3ph1pw1",
    "--conv --dir=BWD_D mb1ic16oc16iw68719476736ow1kw68719476736",
    "--conv --dir=BWD_D mb1ic16oc16iw68719476736ow1kw1sw68719476736",
    "--conv --dir=BWD_W mb1ic16oc16iw68719476736ow1kw68719476736",
    "--conv --dir=BWD_W mb1ic16oc16iw68719476737ow68719476737kw3pw1",
    "--deconv mb1ic16oc16iw1ow68719476736kw68719476736",
    "--deconv mb1ic16oc16iw2ow68719476737kw1sw68719476736",
    "--deconv mb1ic16oc16iw68719476736ow68719476736kw3pw1",
    "--matmul 68719476736x16:16x16",
    "--matmul 16x68719476736:68719476736x16",
    "--matmul 4x16:16x68719476736",
    "--matmul --dt=u8:s8:f32 68719476736x16:16x160",
    "--matmul 68719476736x1x16:1x16x16",
    "--ip mb68719476736ic16oc16",
    "--ip mb2ic68719476736oc16",
    "--ip mb2ic16oc68719476736",
    "--ip --dir=BWD_W mb68719476736ic16oc16",
];

#[test]
fn products_of_any_size_are_described() {
    let engines = std::iter::once(oxidnn_cpu::engine()).chain(targets::narrower().into_iter().map(|t| Engine::new(CpuDevice::new(t))));
    for engine in engines {
        for line in LINES {
            let case = text::parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}")).remove(0);
            let rows = harness::rows(&engine, &case.problem).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert!(rows.last().is_some_and(|row| row.impl_name() == harness::REFERENCE_ROW), "{line}: {} rows", rows.len());
        }
    }
}
