//! The test kit's tests, and the project's own rules as tests.

mod rules;
