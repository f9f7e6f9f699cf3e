//! Changes of graphs, in benchdnn's words: sizes, layouts, types, properties, attributes and kinds of operations.

use super::run::Net;
use anyhow::{Result, anyhow, bail, ensure};
use oxidnn_graph::{AttrId, AttrValue, LayoutType, LogicalTensor, Op, OpKind, Property};
use oxidnn_spec::{DataType, Dims, FpMath, FpMathMode, Real};
use std::collections::HashSet;

/// One alternative of an option.
#[derive(Clone, Copy)]
pub(super) struct Change<'a> {
    pub(super) option: &'a str,
    pub(super) value: &'a str,
}

/// Changes a graph; nothing where the alternative is empty.
///
/// # Errors
/// Words without a meaning, or parts that the graph does not have.
pub(super) fn apply(net: &mut Net, change: Change<'_>) -> Result<()> {
    if change.value.is_empty() {
        return Ok(());
    }
    match change.option {
        "--op-kind" => for_each_change(change.value, |id, kind| op_kind(net, id, kind)),
        "--op-attrs" => for_each_change(change.value, |id, list| op_attrs(net, id, list)),
        "--dt" => dt(net, change.value),
        "--tensor-property" => for_each_change(change.value, |id, word| {
            let property = property(word)?;
            edit(net, id, |lt| lt.property = property)
        }),
        "--in-shapes" => {
            open(net);
            for_each_change(change.value, |id, shape| in_shape(net, id, shape))
        }
        "--mb" => mb(net, change.value),
        "--layouts" => layouts(net, change.value),
        _ => fpmath(net, change.value),
    }
}

/// Leaves the layouts between operations to the library: `any` is the only word.
fn layouts(net: &mut Net, word: &str) -> Result<()> {
    ensure!(word == "any", "`{word}`: the layouts between operations can be `any`");
    let ids = |ports: fn(&Op) -> &[LogicalTensor]| net.ops.iter().flat_map(ports).map(|lt| lt.id).collect::<HashSet<usize>>();
    let (read, made) = (ids(|op| &op.inputs), ids(|op| &op.outputs));
    read.intersection(&made).try_for_each(|&id| edit(net, id, |lt| lt.layout = LayoutType::Any))
}

/// `ID:VALUE` entries, joined with `+`.
fn for_each_change(list: &str, mut change: impl FnMut(usize, &str) -> Result<()>) -> Result<()> {
    for entry in list.split('+') {
        let (id, value) = entry.split_once(':').ok_or_else(|| anyhow!("`{entry}`: expected a number, a colon and a value"))?;
        change(id.parse().map_err(|_| anyhow!("`{id}` is no number of a tensor or an operation"))?, value)?;
    }
    Ok(())
}

/// Changes every place of a tensor.
fn edit(net: &mut Net, id: usize, mut change: impl FnMut(&mut LogicalTensor)) -> Result<()> {
    let mut found = false;
    for lt in net.ops.iter_mut().flat_map(|op| op.inputs.iter_mut().chain(&mut op.outputs)).filter(|lt| lt.id == id) {
        change(lt);
        found = true;
    }
    ensure!(found, "the graph has no logical tensor {id}");
    Ok(())
}

fn find(net: &mut Net, id: usize) -> Result<&mut Op> {
    net.ops.iter_mut().find(|op| op.id == id).ok_or_else(|| anyhow!("the graph has no operation {id}"))
}

fn kind(name: &str) -> Result<OpKind> {
    (0..).map_while(OpKind::from_number).find(|k| k.name() == name).ok_or_else(|| anyhow!("no operation is called `{name}`"))
}

fn op_kind(net: &mut Net, id: usize, name: &str) -> Result<()> {
    if name != "undef" {
        find(net, id)?.kind = kind(name)?;
        return Ok(());
    }
    // An operation that goes away is bypassed: by its input, of two by that which the graph computes.
    let op = find(net, id)?.clone();
    let made: Vec<&LogicalTensor> =
        op.inputs.iter().filter(|lt| net.ops.iter().any(|o| o.outputs.iter().any(|out| out.id == lt.id))).collect();
    let by = match (&op.inputs[..], &made[..]) {
        ([only], _) => *only,
        (_, [only]) => **only,
        _ => bail!("operation {id} cannot be removed: which of its inputs takes its place is not clear"),
    };
    net.ops.retain(|o| o.id != id);
    let out = op.outputs.first().map(|lt| lt.id);
    net.ops.iter_mut().flat_map(|o| &mut o.inputs).filter(|lt| Some(lt.id) == out).for_each(|lt| *lt = by);
    Ok(())
}

fn op_attrs(net: &mut Net, id: usize, list: &str) -> Result<()> {
    let op = find(net, id)?;
    for entry in list.split('*') {
        let (name, value) = entry.split_once(':').ok_or_else(|| anyhow!("`{entry}`: expected an attribute, a colon and a value"))?;
        let attr = (0..0x100).filter_map(AttrId::from_number).find(|a| a.name() == name);
        let attr = attr.ok_or_else(|| anyhow!("no attribute is called `{name}`"))?;
        if value == "undef" {
            op.attrs.remove(&attr);
        } else {
            op.attrs.insert(attr, attribute(attr, value).ok_or_else(|| anyhow!("`{value}` is no value of {name}"))?);
        }
    }
    Ok(())
}

/// A value of the type that the attribute's number implies.
fn attribute(attr: AttrId, value: &str) -> Option<AttrValue> {
    fn list<T>(value: &str, one: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
        value.split('x').map(one).collect()
    }
    let real = |v: &str| v.parse().ok().map(Real::new);
    Some(match attr as i32 {
        0..0x20 => AttrValue::F32(real(value)?),
        0x20..0x30 => AttrValue::F32s(list(value, real)?),
        0x30..0x40 => AttrValue::S64(value.parse().ok()?),
        0x40..0x60 => AttrValue::S64s(list(value, |v| v.parse().ok())?),
        0x60..0x80 => AttrValue::Bool(matches!(value, "1" | "true")),
        _ => AttrValue::Text(value.to_string()),
    })
}

fn dt(net: &mut Net, value: &str) -> Result<()> {
    let parse = |name: &str| name.parse::<DataType>().map_err(|_| anyhow!("no data type is called `{name}`"));
    if value == "undef" {
        return Ok(());
    }
    if value.contains(':') {
        return for_each_change(value, |id, name| {
            let dtype = parse(name)?;
            edit(net, id, |lt| lt.dtype = Some(dtype))
        });
    }
    let dtype = parse(value)?;
    let float = |lt: &&mut LogicalTensor| matches!(lt.dtype, Some(DataType::F32 | DataType::Bf16 | DataType::F16));
    net.ops.iter_mut().flat_map(|op| op.inputs.iter_mut().chain(&mut op.outputs)).filter(float).for_each(|lt| lt.dtype = Some(dtype));
    Ok(())
}

fn property(word: &str) -> Result<Property> {
    Ok(match word {
        "undef" => Property::Undef,
        "variable" => Property::Variable,
        "constant" => Property::Constant,
        "host_scalar" => Property::HostScalar,
        other => bail!("property `{other}`: expected undef, variable, constant or host_scalar"),
    })
}

/// Forgets the sizes of all results of the graph: they follow from those of its inputs.
fn open(net: &mut Net) {
    let made: Vec<usize> = net.ops.iter().flat_map(|op| &op.outputs).map(|lt| lt.id).collect();
    for lt in net.ops.iter_mut().flat_map(|op| op.inputs.iter_mut().chain(&mut op.outputs)).filter(|lt| made.contains(&lt.id)) {
        *lt = LogicalTensor::new(lt.id, lt.dtype, None, LayoutType::Strided, lt.property).unwrap_or(*lt);
    }
}

/// Strides of a dense tensor whose dimensions, from the outermost, are the letters of `tag`.
fn by_tag(dims: &Dims, tag: &str) -> Result<Dims> {
    let order: Vec<usize> = tag.bytes().map(|b| usize::from(b.wrapping_sub(b'a'))).collect();
    let mut seen = order.clone();
    seen.sort_unstable();
    ensure!(seen.iter().copied().eq(0..dims.len()), "`{tag}` is no order of {} dimensions", dims.len());
    let (mut strides, mut step) = (*dims, 1i64);
    for &d in order.iter().rev() {
        strides[d] = step;
        step = step.saturating_mul(dims[d].max(1));
    }
    Ok(strides)
}

fn sizes(text: &str) -> Result<Dims> {
    let list = text.split('x').map(|v| v.parse::<i64>().ok().filter(|v| *v >= 0)).collect::<Option<Vec<i64>>>();
    list.and_then(|l| Dims::new(&l)).ok_or_else(|| anyhow!("`{text}` are no sizes, such as 2x64x56x56"))
}

fn in_shape(net: &mut Net, id: usize, text: &str) -> Result<()> {
    let (shape, layout) = text.split_once('*').map_or((text, None), |(s, l)| (s, Some(l)));
    let made = net.ops.iter().any(|op| op.outputs.iter().any(|lt| lt.id == id));
    let read = net.ops.iter().any(|op| op.inputs.iter().any(|lt| lt.id == id));
    ensure!(!(made && read), "logical tensor {id} is neither read from outside nor written for others");
    let current = net.ops.iter().flat_map(|op| op.inputs.iter().chain(&op.outputs)).find(|lt| lt.id == id).copied();
    let current = current.ok_or_else(|| anyhow!("the graph has no logical tensor {id}"))?;
    let dims = match shape {
        "" => current.dims.ok_or_else(|| anyhow!("the sizes of logical tensor {id} are not known"))?,
        "scalar" => Dims::default(),
        text => sizes(text)?,
    };
    let made = match layout {
        None => LogicalTensor::with_dims(id, current.dtype, dims, LayoutType::Strided, current.property)?,
        Some(word) => {
            let strides = if word.starts_with(|c: char| c.is_ascii_digit()) { sizes(word)? } else { by_tag(&dims, word)? };
            ensure!(strides.len() == dims.len(), "{} strides for {} dimensions", strides.len(), dims.len());
            LogicalTensor::with_strides(id, current.dtype, dims, strides, current.property)?
        }
    };
    edit(net, id, |lt| *lt = made)
}

/// Changes the first size of all inputs that have the size that most inputs of operations begin with; constants stay.
fn mb(net: &mut Net, value: &str) -> Result<()> {
    let count: i64 = value.parse().map_err(|_| anyhow!("`{value}` is no minibatch"))?;
    if count == 0 {
        return Ok(());
    }
    let made: Vec<usize> = net.ops.iter().flat_map(|op| &op.outputs).map(|lt| lt.id).collect();
    let batched = |lt: &LogicalTensor| {
        let data = lt.property != Property::Constant && !made.contains(&lt.id);
        lt.dims.filter(|d| data && d.len() > 1).map(|d| (lt.id, d))
    };
    let first: Vec<(usize, Dims)> = net.ops.iter().filter_map(|op| batched(op.inputs.first()?)).collect();
    let Some(old) = first.first().map(|(_, d)| d[0]) else { return Ok(()) };
    let all: Vec<(usize, Dims)> = net.ops.iter().flat_map(|op| &op.inputs).filter_map(batched).filter(|(_, d)| d[0] == old).collect();
    open(net);
    for (id, mut dims) in all {
        dims[0] = count;
        edit(net, id, |lt| *lt = LogicalTensor::with_dims(id, lt.dtype, dims, LayoutType::Strided, lt.property).unwrap_or(*lt))?;
    }
    Ok(())
}

fn fpmath(net: &mut Net, value: &str) -> Result<()> {
    let (mode, apply) = value.split_once(':').unwrap_or((value, "false"));
    let mode = match mode {
        "strict" => FpMathMode::Strict,
        "bf16" => FpMathMode::Bf16,
        "f16" => FpMathMode::F16,
        "tf32" => FpMathMode::Tf32,
        "any" => FpMathMode::Any,
        other => bail!("`{other}`: expected strict, bf16, f16, tf32 or any"),
    };
    net.fpmath = FpMath { mode, apply_to_int: matches!(apply, "true" | "1") };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Change, apply, by_tag};
    use crate::graph::load;
    use crate::graph::run::Net;
    use oxidnn_graph::{AttrId, AttrValue, Property};
    use oxidnn_spec::{DataType, Dims};

    fn net() -> Net {
        let text = r#"{"graph": [
            {"id": 0, "kind": "MatMul", "attrs": {"transpose_b": {"type": "bool", "value": 0}},
             "inputs": [{"id": 0, "dtype": "f32", "shape": [2, 4, 8], "stride": [32, 8, 1], "layout_type": "strided"},
                        {"id": 1, "dtype": "f32", "shape": [8, 8], "stride": [8, 1], "layout_type": "strided", "property_type": "constant"}],
             "outputs": [{"id": 2, "dtype": "f32", "shape": [2, 4, 8], "stride": [32, 8, 1], "layout_type": "strided"}]},
            {"id": 1, "kind": "ReLU", "inputs": [{"id": 2, "dtype": "f32", "shape": [2, 4, 8], "stride": [32, 8, 1], "layout_type": "strided"}],
             "outputs": [{"id": 3, "dtype": "f32", "shape": [2, 4, 8], "stride": [32, 8, 1], "layout_type": "strided"}]}]}"#;
        load::graph(text).expect("a graph")
    }

    fn changed(option: &str, value: &str) -> Net {
        let mut net = net();
        apply(&mut net, Change { option, value }).unwrap_or_else(|e| panic!("{option}={value}: {e:#}"));
        net
    }

    #[test]
    fn shapes_are_those_asked_for_and_what_follows_is_open() {
        let net = changed("--in-shapes", "0:3x5x8*acb+1:8x8*ba");
        assert_eq!(net.ops[0].inputs[0].dims, Dims::new(&[3, 5, 8]));
        assert_eq!(net.ops[0].inputs[0].strides[..], [40, 1, 5]);
        assert_eq!(net.ops[0].inputs[1].strides[..], [1, 8]);
        assert_eq!((net.ops[0].outputs[0].dims, net.ops[1].inputs[0].dims), (None, None));
        let net = changed("--mb", "7");
        assert_eq!(net.ops[0].inputs[0].dims, Dims::new(&[7, 4, 8]));
        assert_eq!(net.ops[0].inputs[1].dims, Dims::new(&[8, 8]));
        assert_eq!(by_tag(&Dims::from([2, 3, 4]), "cab").expect("an order")[..], [3, 1, 6]);
    }

    #[test]
    fn types_properties_attributes_and_kinds_change() {
        assert!(changed("--dt", "bf16").ops.iter().all(|o| o.outputs[0].dtype == Some(DataType::Bf16)));
        let net = changed("--dt", "2:f32+3:bf16");
        assert_eq!(net.ops[1].outputs[0].dtype, Some(DataType::Bf16));
        assert_eq!(changed("--tensor-property", "1:variable").ops[0].inputs[1].property, Property::Variable);
        let net = changed("--op-attrs", "0:transpose_b:1*transpose_a:true");
        assert_eq!(net.ops[0].attrs[&AttrId::TransposeB], AttrValue::Bool(true));
        assert_eq!(net.ops[0].attrs[&AttrId::TransposeA], AttrValue::Bool(true));
        assert_eq!(changed("--op-kind", "1:Tanh").ops[1].kind.name(), "Tanh");
        assert_eq!(changed("--op-kind", "1:undef").ops.len(), 1);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let wrong = |option: &str, value: &str, what: &str| {
            let e = apply(&mut net(), Change { option, value }).expect_err("something is wrong").to_string();
            assert!(e.contains(what), "{e}");
        };
        wrong("--in-shapes", "2:1x1", "neither read from outside");
        wrong("--in-shapes", "9:1x1", "no logical tensor 9");
        wrong("--in-shapes", "0:1y1", "no sizes");
        wrong("--in-shapes", "0:*abcd", "no order of 3 dimensions");
        wrong("--dt", "f31", "no data type");
        wrong("--op-attrs", "0:colour:red", "no attribute");
        wrong("--op-kind", "0:Relu7", "no operation is called");
        wrong("--attr-fpmath", "fast", "expected strict");
    }
}
