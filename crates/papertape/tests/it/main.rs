//! The product as a whole, put together as the binary does it.

mod mcp_day;
mod mcp_http;
mod mcp_names;
mod mcp_stdio;
mod mcp_support;
