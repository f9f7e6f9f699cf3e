//! `oxidnn knobs`: the settings that environment variables control.

use crate::print;
use anyhow::Result;
use oxidnn_runtime::knobs::{self, Setting};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn run(json: bool) -> Result<ExitCode> {
    let mut table = print::table(["OXIDNN_, ONEDNN_ or DNNL_", "values", "default", "now", "meaning"]);
    for setting in knobs::list() {
        let Setting { knob, value, variable } = setting;
        if json {
            print::line(serde_json::json!({
                "name": knob.name, "values": knob.values, "default": knob.default, "value": value, "variable": variable, "help": knob.help
            }));
        } else {
            let now = variable.map_or(value.clone(), |v| format!("{value} ({v})"));
            table.add_row([knob.name, knob.values, knob.default, &now, knob.help]);
        }
    }
    if !json {
        print::line(&table);
    }
    Ok(ExitCode::SUCCESS)
}
