//! Arguments of a call, as the API's query parameters.

use crate::error::ServiceError;
use papertape_core::message::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The checked arguments of a call: every one is in the tool's schema.
#[derive(Clone, Debug)]
pub(super) struct Args {
    values: Map<String, Value>,
}

impl Args {
    /// # Errors
    /// An unknown or a missing argument; a limit out of range.
    pub(super) fn of(spec: &ToolSpec, arguments: &Map<String, Value>) -> Result<Self, ServiceError> {
        let properties = spec.parameters["properties"].as_object();
        let known: Vec<&str> =
            properties.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect();
        let invalid = |message: String| Err(ServiceError::invalid("arguments", message));
        if let Some(unknown) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            return invalid(format!(
                "`{}` has no argument `{}`; expected {}",
                spec.name,
                unknown.escape_default(),
                known.join(", ")
            ));
        }
        // An explicit null is an absent argument.
        let given = arguments.iter().filter(|(_, value)| !value.is_null());
        let mut values: Map<String, Value> =
            given.map(|(name, value)| (name.clone(), value.clone())).collect();
        let required = spec.parameters["required"].as_array();
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !values.contains_key(*name)) {
            return invalid(format!("`{missing}` is missing"));
        }
        let limit = &spec.parameters["properties"]["limit"];
        if let (Some(usual), Some(max)) = (limit["default"].as_u64(), limit["maximum"].as_u64()) {
            let rows = values.entry("limit").or_insert_with(|| usual.into());
            if !whole(rows).is_some_and(|rows| (1..=max).contains(&rows.unsigned_abs()) && rows > 0) {
                return Err(ServiceError::invalid(
                    "limit",
                    format!("expected a whole number from 1 to {max}"),
                ));
            }
        }
        Ok(Self { values })
    }

    /// The arguments as the parameters of an API query. Texts, numbers and flags are written as in a URL, except `typed`
    /// ones; a list becomes its items with commas between them.
    ///
    /// # Errors
    /// A value of another type, or that the query rejects.
    pub(super) fn query<T: DeserializeOwned>(&self, typed: &[&str]) -> Result<T, ServiceError> {
        let mut parameters = Map::new();
        for (name, value) in &self.values {
            let parameter = match value {
                value if typed.contains(&name.as_str()) => Some(value.clone()),
                Value::Array(items) => {
                    let items: Option<Vec<String>> = items.iter().map(in_url).collect();
                    items.map(|items| items.join(",").into())
                }
                value => in_url(value).map(Value::from),
            };
            let parameter = parameter
                .ok_or_else(|| ServiceError::invalid("arguments", format!("`{name}` has the wrong type")))?;
            parameters.insert(name.clone(), parameter);
        }
        serde_json::from_value(Value::Object(parameters))
            .map_err(|error| ServiceError::invalid("arguments", error.to_string()))
    }

    /// Only these arguments.
    pub(super) fn only(&self, names: &[&str]) -> Self {
        self.filtered(|name| names.contains(&name))
    }

    /// All arguments but these.
    pub(super) fn without(&self, names: &[&str]) -> Self {
        self.filtered(|name| !names.contains(&name))
    }

    fn filtered(&self, keep: impl Fn(&str) -> bool) -> Self {
        let values = self.values.iter().filter(|(name, _)| keep(name));
        Self { values: values.map(|(name, value)| (name.clone(), value.clone())).collect() }
    }

    /// A text.
    ///
    /// # Errors
    /// Not a text.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, ServiceError> {
        match self.values.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ServiceError::invalid(name, "expected a text")),
        }
    }

    /// A whole number.
    ///
    /// # Errors
    /// Not a whole number.
    pub(super) fn whole(&self, name: &'static str) -> Result<Option<i64>, ServiceError> {
        let invalid = || ServiceError::invalid(name, "expected a whole number");
        self.values.get(name).map(|value| whole(value).ok_or_else(invalid)).transpose()
    }

    /// The rows of a page.
    pub(super) fn limit(&self) -> usize {
        let limit = self.values.get("limit").and_then(whole);
        limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(1)
    }

    /// Halves the rows of a page; `false`: there is one row, or there are no pages.
    pub(super) fn halve_limit(&mut self) -> bool {
        let limit = self.limit();
        let can_shrink = limit > 1;
        if can_shrink {
            self.values.insert("limit".to_owned(), (limit / 2).into());
        }
        can_shrink
    }
}

/// Models sometimes send numbers as texts.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn in_url(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::specs;
    use super::*;
    use papertape_protocol::compare::CompareQuery;
    use papertape_protocol::jobs::JobsQuery;
    use serde_json::json;

    fn parse(tool: &str, arguments: Value) -> Result<Value, String> {
        let spec = specs::find(tool).map_err(|error| error.to_string())?;
        let Value::Object(arguments) = arguments else { return Err("not an object".to_owned()) };
        let args = Args::of(&spec, &arguments).map_err(|error| error.to_string())?;
        Ok(Value::Object(args.values))
    }

    /// Goal: an error names the argument and what was expected; nothing is silently ignored.
    #[test]
    fn invalid_arguments_are_named() {
        let error = |tool, arguments| parse(tool, arguments).expect_err("it is rejected");
        let unknown = error("list_datasets", json!({ "name": "x" }));
        assert_eq!(unknown, "arguments: `list_datasets` has no argument `name`; expected limit, cursor");
        assert_eq!(error("search", json!({})), "arguments: `query` is missing");
        assert_eq!(error("search", json!({ "query": null })), "arguments: `query` is missing");
        for limit in [json!(0), json!(-1), json!(10_000), json!("x"), json!([]), json!(1.5)] {
            let message = error("list_runs", json!({ "limit": limit }));
            assert_eq!(message, "limit: expected a whole number from 1 to 100");
        }
        assert!(
            error("drop_tables", json!({}))
                .starts_with("there is no tool `drop_tables`; expected one of list_runs")
        );
    }

    /// Goal: arguments reach the API's queries with their types, and the default page is small.
    #[test]
    fn arguments_become_a_query() {
        let spec = specs::find("list_runs").expect("a tool");
        let given = json!({ "status": "completed", "from": "2012-10-01", "tag": null });
        let args = Args::of(&spec, given.as_object().expect("an object")).expect("valid");
        let query: JobsQuery = args.query(&[]).expect("a query");
        assert_eq!((query.limit, query.tag), (Some(20), None));
        assert_eq!(query.from, Some(jiff::civil::date(2012, 10, 1)));
        let spec = specs::find("compare_runs").expect("a tool");
        let given = json!({ "select": ["latest", "baseline:random"], "points": 2.5 });
        let args = Args::of(&spec, given.as_object().expect("an object")).expect("valid");
        let query: CompareQuery = args.query(&["points"]).expect("a query");
        assert_eq!((query.select.as_str(), query.points), ("latest,baseline:random", Some(2.5)));
    }
}
