//! Figures in Prometheus' text format, version 0.0.4.

use std::fmt::Write as _;

/// How a figure moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only up, but for a new start of the process.
    Counter,
    /// Up and down.
    Gauge,
}

/// One figure under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Labels with their values.
    pub labels: Vec<(&'static str, String)>,
    /// The figure, as it is printed.
    pub value: String,
}

/// Figures of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// How it moves.
    pub kind: Kind,
    /// The figures.
    pub samples: Vec<Sample>,
}

impl Family {
    /// A family without figures yet.
    #[must_use]
    pub fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, help, kind, samples: Vec::new() }
    }

    /// With one figure more.
    #[must_use]
    pub fn with(mut self, labels: &[(&'static str, &str)], value: impl ToString) -> Self {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.samples.push(Sample { labels, value: value.to_string() });
        self
    }
}

impl Sample {
    /// `{name="value",…}`; nothing where there is no label.
    #[must_use]
    pub fn shown_labels(&self) -> String {
        if self.labels.is_empty() {
            return String::new();
        }
        let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let one = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escaped(value));
        format!("{{{}}}", self.labels.iter().map(one).collect::<Vec<_>>().join(","))
    }
}

/// The figures as text.
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
            let _ = writeln!(text, "{name}{} {}", sample.shown_labels(), sample.value);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_the_format_wants_them() {
        let family = Family::new("a_total", Kind::Counter, "What it is.")
            .with(&[("model", "x::\"y\"\\\n"), ("kind", "k")], 3)
            .with(&[], "0.10");
        let expected = "# HELP a_total What it is.\n# TYPE a_total counter\n\
                        a_total{model=\"x::\\\"y\\\"\\\\\\n\",kind=\"k\"} 3\na_total 0.10\n";
        assert_eq!(render(&[family]), expected);
    }
}
