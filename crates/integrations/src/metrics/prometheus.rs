//! Builds the metric families that Prometheus's text format is rendered from.

use anyhow::Result;
use prometheus::TextEncoder;
use prometheus::proto::{Counter, Gauge, LabelPair, Metric, MetricFamily};

pub(super) use prometheus::proto::MetricType;

/// All samples of one name.
pub(super) struct Family(MetricFamily);

impl Family {
    /// A family without samples.
    pub(super) fn new(name: &str, kind: MetricType, help: &str) -> Self {
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        Self(family)
    }

    /// Adds a sample.
    pub(super) fn with(mut self, labels: &[(&str, &str)], value: f64) -> Self {
        let label = |(name, value): &(&str, &str)| {
            let mut pair = LabelPair::default();
            pair.set_name((*name).to_owned());
            pair.set_value((*value).to_owned());
            pair
        };
        let mut sample = Metric::from_label(labels.iter().map(label).collect());
        if self.0.get_field_type() == MetricType::COUNTER {
            let mut counter = Counter::default();
            counter.set_value(value);
            sample.set_counter(counter);
        } else {
            let mut gauge = Gauge::default();
            gauge.set_value(value);
            sample.set_gauge(gauge);
        }
        self.0.mut_metric().push(sample);
        self
    }
}

/// The families that have samples, as text.
///
/// # Errors
/// A family without a name.
pub(super) fn render(families: Vec<Family>) -> Result<String> {
    let families: Vec<_> = families.into_iter().map(|family| family.0).collect();
    let sampled: Vec<_> = families.into_iter().filter(|family| !family.get_metric().is_empty()).collect();
    Ok(TextEncoder::new().encode_to_string(&sampled)?)
}
