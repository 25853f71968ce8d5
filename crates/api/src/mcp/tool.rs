//! Tools in MCP's form.

use papertape_core::message::ToolSpec;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

/// A tool that only reads.
pub(super) fn reading(spec: ToolSpec) -> Tool {
    let hints = ToolAnnotations::new().read_only(true).destructive(false).idempotent(true);
    tool(spec).with_annotations(hints.open_world(false))
}

/// A tool that acts within its session.
pub(super) fn acting(spec: ToolSpec) -> Tool {
    tool(spec).with_annotations(ToolAnnotations::new().read_only(false).idempotent(false).open_world(false))
}

fn tool(spec: ToolSpec) -> Tool {
    let schema = match spec.parameters {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    Tool::new(spec.name, spec.description, schema)
}
