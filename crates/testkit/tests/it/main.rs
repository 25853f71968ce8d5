//! Tests of the test kit, and the project's own rules as tests.

mod rules;
