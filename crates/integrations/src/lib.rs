//! Other systems: external agents, tools over MCP, spans over OpenTelemetry, telemetry for Prometheus, and runs that other tools
//! recorded, which are imported through the service.
//!
//! It may know the service and everything below it. It must never know the HTTP API or the command line, and
//! nothing below may know it: the binary passes it on as [`papertape_service::integrations`].

pub mod ai_trader;
pub mod external_agents;
pub mod imports;
pub mod mcp;
pub mod metrics;
pub mod otlp;
pub mod stockbench;
pub mod tradingagents;
