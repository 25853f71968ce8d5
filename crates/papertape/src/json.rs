//! How numbers print in what the product answers: the API's bodies, its streams, and `--json`. Never used for anything
//! that is hashed or stored.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io::{self, Write};

/// Above this a double does not hold every whole number, and prints as doubles do.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A value as one line of JSON.
///
/// # Errors
/// A map whose keys are not texts.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    write(value, CompactFormatter)
}

/// A value as JSON for people.
///
/// # Errors
/// As [`to_vec`].
pub fn to_string_pretty<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    write(value, PrettyFormatter::new()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn write<T: Serialize + ?Sized>(value: &T, layout: impl Formatter) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(256);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Shortest(layout)))?;
    Ok(bytes)
}

/// Numbers in their shortest form (`100000`, not `100000.0`), everything else as the layout has it.
struct Shortest<F>(F);

impl<F: Formatter> Formatter for Shortest<F> {
    fn write_f64<W: Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        if value.fract() == 0.0 && value.abs() < MAX_WHOLE {
            // A negative zero is a zero.
            return write!(writer, "{:.0}", value + 0.0);
        }
        self.0.write_f64(writer, value)
    }

    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Goal: every number prints in its shortest form and reads back as the same number.
    #[test]
    fn numbers_print_in_their_shortest_form() {
        let cases = [
            (100_000.0, "100000"),
            (-0.0, "0"),
            (0.0, "0"),
            (-12.0, "-12"),
            (0.1, "0.1"),
            (8104.05, "8104.05"),
            (1e300, "1e+300"),
            (1e-7, "1e-7"),
            (9_007_199_254_740_991.0, "9007199254740991"),
        ];
        for (number, printed) in cases {
            assert_eq!(to_vec(&number).expect("a number"), printed.as_bytes(), "{number}");
            let back: f64 = serde_json::from_str(printed).expect("a number");
            assert!((back - number).abs() <= f64::EPSILON * number.abs(), "{number}");
        }
        assert_eq!(to_vec(&f64::NAN).expect("null"), b"null");
        let pretty = to_string_pretty(&json!({ "a": [1.0, {}], "b": null })).expect("JSON");
        assert_eq!(pretty, "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": null\n}");
    }
}
