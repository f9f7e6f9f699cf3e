//! `oxidnn knobs`: the settings that environment variables control.

use crate::print;
use anyhow::Result;
use oxidnn_runtime::knobs::{self, Setting};
use std::process::ExitCode;

/// Columns before the meaning of a knob.
const INDENT: usize = 4;

/// Runs the command.
pub(crate) fn run(json: bool) -> Result<ExitCode> {
    if !json {
        print::line(print::wrapped("Environment variables: each name with OXIDNN_, ONEDNN_ or DNNL_ before it.", 0));
    }
    for setting in knobs::list() {
        let Setting { knob, value, variable } = setting;
        if json {
            print::line(serde_json::json!({
                "name": knob.name, "values": knob.values, "default": knob.default, "value": value, "variable": variable, "help": knob.help
            }));
            continue;
        }
        let from = variable.map_or(String::new(), |v| format!(", by {v}"));
        print::line(format_args!("{} is {value}{from}", knob.name));
        print::line(print::wrapped(&format!("{} (default {})", knob.values, knob.default), INDENT));
        print::line(print::wrapped(knob.help, INDENT));
    }
    Ok(ExitCode::SUCCESS)
}
