//! Reading a verbose line: it is turned into a problem line, which is read by the grammar's own parser.

use super::super::error::{ParseError, Result};
use super::super::{Case, Settings, parse_line};

/// Primitive kinds and their drivers.
const KINDS: [(&str, &str); 21] = [
    ("convolution", "conv"),
    ("deconvolution", "deconv"),
    ("inner_product", "ip"),
    ("matmul", "matmul"),
    ("batch_normalization", "bnorm"),
    ("layer_normalization", "lnorm"),
    ("group_normalization", "gnorm"),
    ("lrn", "lrn"),
    ("pooling", "pool"),
    ("eltwise", "eltwise"),
    ("softmax", "softmax"),
    ("reduction", "reduction"),
    ("resampling", "resampling"),
    ("binary", "binary"),
    ("prelu", "prelu"),
    ("shuffle", "shuffle"),
    ("concat", "concat"),
    ("sum", "sum"),
    ("reorder", "reorder"),
    ("rnn", "rnn"),
    ("sdpa", "sdpa"),
];

const PROPS: [(&str, &str); 5] = [
    ("forward_training", "FWD_D"),
    ("forward_inference", "FWD_I"),
    ("backward_data", "BWD_D"),
    ("backward_weights", "BWD_W"),
    ("backward", "BWD_DW"),
];

/// One memory descriptor.
struct Memory<'a> {
    label: &'a str,
    dtype: &'a str,
    layout: String,
    bias_mask: Option<&'a str>,
}

/// Reads a whole verbose line: that of an execution or a creation, with or without a time stamp, of any version since 1.0.
///
/// # Errors
/// [`ParseError`] for a line that is not a primitive's, or one that describes no legal problem.
pub fn parse(line: &str) -> std::result::Result<Case, ParseError> {
    let text = problem_line(line.trim())?;
    let mut cases = parse_line(&mut Settings::default(), &text)?;
    cases.pop().ok_or_else(|| ParseError::new(&text, "one problem").of("verbose line"))
}

/// The problem line that stands for a verbose line.
fn problem_line(line: &str) -> Result<String> {
    let bad = |expected: &str| ParseError::new(line, expected).of("verbose line");
    let all: Vec<&str> = line.split(',').collect();
    if !all[0].ends_with("dnn_verbose") && !all[0].ends_with("dnnl_verbose") {
        return Err(bad("a line that begins with onednn_verbose"));
    }
    let start = all.iter().position(|f| *f == "exec" || f.starts_with("create") && !f.ends_with(":dispatch") && !f.ends_with(":check"));
    let rest = start.and_then(|i| all.get(i + 2..)).ok_or_else(|| bad("the execution or creation of a primitive"))?;
    let &[kind, _, prop, memory, attributes, auxiliary, problem, ..] = rest else {
        return Err(bad("kind, implementation, prop kind, memory, attributes, auxiliary and problem behind the engine"));
    };
    let kind = kind.trim_end_matches("_v2");
    let known = KINDS.iter().find(|(k, _)| *k == kind);
    let driver = known.ok_or_else(|| ParseError::unknown(kind, "a primitive kind", KINDS.iter().map(|(k, _)| *k)).of("verbose line"))?.1;
    let mut words = vec![format!("--{driver}")];
    let memories: Vec<Memory> = memory.split_whitespace().filter_map(descriptor).collect();
    direction(driver, prop, &memories, &mut words);
    types_and_tags(driver, &memories, &mut words);
    attributes.split_whitespace().for_each(|a| words.extend(attribute(a)));
    auxiliary.split_whitespace().for_each(|a| words.extend(aux(kind, a)));
    words.push(problem.trim().to_string());
    Ok(words.join(" "))
}

/// `src:f32:a:blocked:ab::f0`, or `src_f32::blocked:ab:f0` of older versions; `None` for an absent one.
fn descriptor(text: &str) -> Option<Memory<'_>> {
    let parts: Vec<&str> = text.split(':').collect();
    let old = parts.get(1).is_none_or(|second| second.parse::<crate::DataType>().is_err() && *second != "undef");
    let (label, dtype, rest) = if old {
        let (label, dtype) = old_head(parts[0])?;
        (label, dtype, &parts[1..])
    } else {
        (parts[0], parts[1], &parts[2..])
    };
    let at = |i: usize| rest.get(i).copied().unwrap_or("");
    if dtype == "undef" {
        return None;
    }
    let (flags, kind, tag) = (at(0), at(1), at(2));
    let has_strides = rest.len() > 4 || !at(3).starts_with('f');
    let (strides, extra) = if has_strides { (at(3), rest.get(4..)) } else { ("", rest.get(3..)) };
    let extra = extra.unwrap_or_default();
    let mut layout = match kind {
        _ if flags.contains('a') => "any".to_string(),
        "blocked" => tag.to_string(),
        "sparse" => format!("{tag}/n{}", strides.trim_start_matches("nnz")),
        "host_scalar" => "host".to_string(),
        _ => "any".to_string(),
    };
    if kind == "blocked" && layout != "any" {
        if !strides.is_empty() {
            layout += &format!("/s{strides}");
        }
        for e in extra {
            for (prefix, modifier) in [("s8m", 'c'), ("zpm", 'z'), ("sa", 'a')] {
                if let Some(v) = e.strip_prefix(prefix) {
                    layout += &format!("/{modifier}{v}");
                }
            }
        }
    }
    let bias_mask = extra.iter().find_map(|e| e.split_once("_mask")).map(|(_, mask)| mask);
    Some(Memory { label, dtype, layout, bias_mask })
}

/// `src_f8_e4m3` into name and type.
fn old_head(text: &str) -> Option<(&str, &str)> {
    let cuts = text.match_indices('_').map(|(i, _)| i);
    let mut heads = cuts.map(|i| (&text[..i], &text[i + 1..]));
    heads.find(|(_, dt)| *dt == "undef" || dt.parse::<crate::DataType>().is_ok())
}

fn direction(driver: &str, prop: &str, memories: &[Memory], words: &mut Vec<String>) {
    let Some((_, dir)) = PROPS.iter().find(|(name, _)| *name == prop) else { return };
    if matches!(driver, "matmul" | "reorder" | "binary" | "reduction" | "concat" | "sum") {
        return;
    }
    let bias = memories.iter().any(|m| m.label == "bia");
    let dir = match *dir {
        "FWD_D" if bias => "FWD_B",
        "BWD_W" if bias => "BWD_WB",
        dir => dir,
    };
    words.push(format!("--{}={dir}", if driver == "rnn" { "prop" } else { "dir" }));
}

fn types_and_tags(driver: &str, memories: &[Memory], words: &mut Vec<String>) {
    let find = |labels: &[&str]| labels.iter().find_map(|l| memories.iter().find(|m| m.label == *l));
    let types = |ms: &[&Memory]| ms.iter().map(|m| m.dtype).collect::<Vec<_>>().join(":");
    let tags = |ms: &[&Memory]| ms.iter().map(|m| m.layout.as_str()).collect::<Vec<_>>().join(":");
    let all = |label: &str| memories.iter().filter(|m| m.label == label).collect::<Vec<_>>();
    let mut put = |option: &str, value: String| {
        if !value.is_empty() {
            words.push(format!("--{option}={value}"));
        }
    };
    let (src, dst) = (find(&["src", "data", "diff_src"]), find(&["dst", "diff_dst"]));
    let pair: Vec<&Memory> = src.into_iter().chain(dst).collect();
    match driver {
        "conv" | "deconv" | "ip" | "matmul" => product(driver, &find, &mut put),
        "eltwise" | "lrn" | "bnorm" | "shuffle" => {
            put("dt", src.map_or_else(String::new, |m| m.dtype.into()));
            put("tag", src.map_or_else(String::new, |m| m.layout.clone()));
        }
        "prelu" => {
            let two: Vec<&Memory> = src.into_iter().chain(find(&["wei"])).collect();
            put("sdt", types(&two));
            put("stag", tags(&two));
        }
        "lnorm" | "gnorm" => {
            put("dt", types(&pair));
            put("tag", tags(&pair));
            put("stat-tag", find(&["stats"]).filter(|_| driver == "lnorm").map_or_else(String::new, |m| m.layout.clone()));
        }
        "pool" => {
            put("dt", types(&pair));
            put("tag", tags(&pair[..pair.len().min(1)]));
            put("dtag", tags(&pair[pair.len().min(1)..]));
        }
        "softmax" | "reduction" | "resampling" | "reorder" | "binary" | "concat" | "sum" => {
            let srcs = if matches!(driver, "binary" | "concat" | "sum") { all("src") } else { src.into_iter().collect() };
            put("sdt", types(&srcs));
            put(if driver == "resampling" { "tag" } else { "stag" }, tags(&srcs));
            if let Some(d) = dst {
                put("ddt", d.dtype.into());
                put("dtag", d.layout.clone());
            }
        }
        "sdpa" => {
            let four: Vec<&Memory> = ["qry", "key", "val", "dst"].iter().filter_map(|l| find(&[l])).collect();
            put("dt", types(&four));
            put("tag", tags(&four));
            put("mask-dt", find(&["msk"]).map_or_else(String::new, |m| m.dtype.into()));
            put("scale-dt", find(&["scl"]).map_or_else(String::new, |m| m.dtype.into()));
        }
        _ => recurrent(&find, &mut put),
    }
}

/// Looks a descriptor up by the first of several names.
type Find<'f, 'a> = &'f dyn Fn(&[&str]) -> Option<&'a Memory<'a>>;

/// Options of convolution, deconvolution, inner product and matmul.
fn product(driver: &str, find: Find, put: &mut dyn FnMut(&str, String)) {
    let three: Vec<&Memory> = ["src", "wei", "dst"].iter().filter_map(|l| find(&[l])).collect();
    put("dt", three.iter().map(|m| m.dtype).collect::<Vec<_>>().join(":"));
    for (option, m) in ["stag", "wtag", "dtag"].iter().zip(&three) {
        put(option, m.layout.clone());
    }
    if let Some(bias) = find(&["bia"]) {
        put("bia-dt", bias.dtype.into());
        put("bia-mask", bias.bias_mask.filter(|_| driver == "matmul").unwrap_or("").into());
    }
}

/// Options of a recurrent network.
fn recurrent<'a>(find: Find<'_, 'a>, put: &mut dyn FnMut(&str, String)) {
    let dt = |label: &str, default: &'a str| find(&[label]).map_or(default, |m| m.dtype);
    let layer = dt("src_layer", "f32");
    let cfg = match layer {
        "u8" | "s8" => {
            let iter = dt("src_iter", layer);
            [iter, layer, dt("dst_iter", iter), dt("dst_layer", layer)].concat()
        }
        "bf16" if dt("bias", "bf16") == "f32" => "bf16f32".into(),
        layer => layer.into(),
    };
    put("cfg", cfg);
    // Lines of oneDNN do not list the cells of an LSTM; there they come with the states.
    let cells = find(&["src_iter_c"]).is_some() || find(&["dst_iter_c"]).is_some();
    let with_states = |l: &str| !cells && l.strip_suffix("_c").is_some_and(|iter| find(&[iter]).is_some());
    let optional = ["src_iter", "src_iter_c", "bias", "dst_iter", "dst_iter_c"];
    let absent = optional.into_iter().filter(|l| find(&[l]).is_none() && !with_states(l));
    put("without", absent.collect::<Vec<_>>().join("+"));
    put("with-peephole", find(&["wei_peephole"]).is_some().to_string());
    put("with-projection", find(&["wei_proj", "wei_projection"]).is_some().to_string());
    let three = ["src_layer", "wei_layer", "dst_layer"].map(|l| find(&[l]).map_or("any", |m| m.layout.as_str()));
    put("tag", three.join(":"));
}

/// The option that stands for one attribute.
fn attribute(text: &str) -> Option<String> {
    let (name, value) = text.split_once(':')?;
    Some(match name {
        "rnn_data_qparams" => format!("--attr-rnn-data={value}"),
        "rnn_weights_qparams" => format!("--attr-rnn-weights={value}"),
        "rnn_weights_projection_qparams" => format!("--attr-rnn-projection={value}"),
        "attr-dropout" => format!("--attr-dropout=0.5:1:{value}"),
        name => format!("--{name}={value}"),
    })
}

/// The option that stands for one part of the auxiliary field.
fn aux(kind: &str, text: &str) -> Option<String> {
    let (name, value) = text.split_once(':')?;
    let value = match name {
        "alg" => {
            let alg = value.strip_prefix(kind).map_or(value, |v| v.trim_start_matches('_'));
            let alg = if kind == "softmax" || kind == "lrn" { value } else { alg };
            match alg.strip_suffix("_use_dst_for_bwd") {
                Some(base) => format!("{base}_dst"),
                None => alg.into(),
            }
        }
        "direction" => value.trim_start_matches("unidirectional_").trim_start_matches("bidirectional_").into(),
        "activation" if value == "undef" => return None,
        "activation" => value.trim_start_matches("eltwise_").into(),
        "flags" if kind == "rnn" && !value.contains('O') => return None,
        _ => value.to_string(),
    };
    Some(format!("--{name}={value}"))
}
