//! Telemetry in Prometheus's text format, version 0.0.4.

use std::fmt::Write as _;

/// How a value changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only up, except at a restart of the process.
    Counter,
    /// Up and down.
    Gauge,
}

/// One value with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Labels with their values.
    pub labels: Vec<(&'static str, String)>,
    /// The value as printed.
    pub value: String,
}

/// All samples of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The metric's name.
    pub name: &'static str,
    /// A sentence that describes it.
    pub help: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its samples.
    pub samples: Vec<Sample>,
}

impl Family {
    /// A family without samples.
    #[must_use]
    pub fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, help, kind, samples: Vec::new() }
    }

    /// Adds a sample.
    #[must_use]
    pub fn with(mut self, labels: &[(&'static str, &str)], value: impl ToString) -> Self {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.samples.push(Sample { labels, value: value.to_string() });
        self
    }
}

impl Sample {
    /// `{name="value",…}`; empty if there are no labels.
    #[must_use]
    pub fn render_labels(&self) -> String {
        if self.labels.is_empty() {
            return String::new();
        }
        let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let one = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escaped(value));
        format!("{{{}}}", self.labels.iter().map(one).collect::<Vec<_>>().join(","))
    }
}

/// The telemetry as text.
#[must_use]
pub fn render(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families {
        let Family { name, help, kind, samples } = family;
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for sample in samples {
            let _ = writeln!(text, "{name}{} {}", sample.render_labels(), sample.value);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_rendered_in_the_text_format() {
        let family = Family::new("a_total", Kind::Counter, "What it is.")
            .with(&[("model", "x::\"y\"\\\n"), ("kind", "k")], 3)
            .with(&[], "0.10");
        let expected = "# HELP a_total What it is.\n# TYPE a_total counter\n\
                        a_total{model=\"x::\\\"y\\\"\\\\\\n\",kind=\"k\"} 3\na_total 0.10\n";
        assert_eq!(render(&[family]), expected);
    }
}
