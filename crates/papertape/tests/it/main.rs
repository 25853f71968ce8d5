//! The product, driven as its users drive it.

mod api_answers;
mod api_errors;
mod api_guards;
mod api_openapi;
mod api_paging;
mod api_support;
mod api_writes;
