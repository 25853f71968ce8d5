//! Parameters of actions, and their validation.

use crate::fault::LocalizedMessage;
use papertape_core::time::parse_date;
use serde_json::{Map, Value, json};

/// Max characters of a text parameter; a plan's instruction fits many times over.
const MAX_TEXT_CHARS: usize = 20_000;
/// Max entries of a list.
const MAX_ENTRIES: usize = 200;
/// The largest integer that every client can send.
const MAX_INTEGER: i64 = 9_007_199_254_740_991;

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub param_type: ParamType,
    /// Whether it is required.
    pub required: bool,
    /// Its description for the model.
    pub description: &'static str,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// A text.
    Text,
    /// An integer, 0 or more.
    Whole,
    /// A number greater than zero.
    Amount,
    /// `true` or `false`.
    Flag,
    /// A day, YYYY-MM-DD.
    Day,
    /// Texts.
    Texts,
    /// Integers.
    Wholes,
    /// An object.
    Object,
    /// Objects.
    Objects,
}

papertape_core::words!(ParamType {
    Text = "text", Whole = "whole number", Amount = "number", Flag = "true or false",
    Day = "YYYY-MM-DD", Texts = "list of strings", Wholes = "list of whole numbers",
    Object = "object", Objects = "list of objects",
});

impl Parameter {
    pub(crate) const fn required(
        name: &'static str,
        param_type: ParamType,
        description: &'static str,
    ) -> Self {
        Self { name, param_type, required: true, description }
    }

    pub(crate) const fn optional(
        name: &'static str,
        param_type: ParamType,
        description: &'static str,
    ) -> Self {
        Self { name, param_type, required: false, description }
    }

    /// Its JSON schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut schema = match self.param_type {
            ParamType::Text => json!({ "type": "string" }),
            ParamType::Whole => json!({ "type": "integer", "minimum": 0 }),
            ParamType::Amount => json!({ "type": "number", "exclusiveMinimum": 0 }),
            ParamType::Flag => json!({ "type": "boolean" }),
            ParamType::Day => json!({ "type": "string", "format": "date" }),
            ParamType::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            ParamType::Wholes => json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
            ParamType::Object => json!({ "type": "object" }),
            ParamType::Objects => json!({ "type": "array", "items": { "type": "object" } }),
        };
        schema["description"] = self.description.into();
        schema
    }

    /// The value as the action reads it. Corrects frequent formatting mistakes of models (a number given as text,
    /// one text instead of a list).
    pub(crate) fn read(&self, value: Value) -> Result<Value, LocalizedMessage> {
        let wrong = |what: &str, chinese: &str| {
            let name = self.name;
            Err(LocalizedMessage::new(
                format!("`{name}` must be {what}"),
                format!("`{name}` 必须是{chinese}"),
            ))
        };
        match (self.param_type, value) {
            (ParamType::Text, Value::String(text)) => self.text(text),
            (ParamType::Text, Value::Number(number)) => Ok(number.to_string().into()),
            (ParamType::Text, _) => wrong("a string", "文本"),
            (ParamType::Whole, value) => match whole(&value) {
                Some(number) => Ok(number.into()),
                None => wrong("a whole number, 0 or more", "不小于 0 的整数"),
            },
            (ParamType::Amount, value) => match &value {
                Value::Number(number) if number.as_f64().is_some_and(|amount| amount > 0.0) => Ok(value),
                _ => wrong("a number above zero", "大于零的数"),
            },
            (ParamType::Flag, Value::Bool(flag)) => Ok(flag.into()),
            (ParamType::Flag, Value::String(text)) if text == "true" || text == "false" => {
                Ok((text == "true").into())
            }
            (ParamType::Flag, _) => wrong("true or false", " true 或 false"),
            (ParamType::Day, Value::String(text)) => match parse_date(text.trim()) {
                Ok(day) => Ok(day.to_string().into()),
                Err(_) => wrong("a day, YYYY-MM-DD", "日期，形如 YYYY-MM-DD"),
            },
            (ParamType::Day, _) => wrong("a day, YYYY-MM-DD", "日期，形如 YYYY-MM-DD"),
            (ParamType::Texts, Value::String(text)) => Ok(json!([self.text(text)?])),
            (ParamType::Texts, Value::Array(items)) => self.list(items, |item| match item {
                Value::String(text) => self.text(text),
                _ => wrong("a list of strings", "文本列表"),
            }),
            (ParamType::Texts, _) => wrong("a list of strings", "文本列表"),
            (ParamType::Wholes, Value::Array(items)) => self.list(items, |item| match whole(&item) {
                Some(number) => Ok(number.into()),
                None => wrong("a list of whole numbers", "整数列表"),
            }),
            (ParamType::Wholes, _) => wrong("a list of whole numbers", "整数列表"),
            (ParamType::Object, Value::Object(map)) => Ok(map.into()),
            (ParamType::Object, _) => wrong("an object", "对象"),
            (ParamType::Objects, Value::Array(items)) => self.list(items, |item| match item {
                Value::Object(map) => Ok(map.into()),
                _ => wrong("a list of objects", "对象列表"),
            }),
            (ParamType::Objects, Value::Object(map)) => Ok(json!([map])),
            (ParamType::Objects, _) => wrong("a list of objects", "对象列表"),
        }
    }

    fn text(&self, text: String) -> Result<Value, LocalizedMessage> {
        let name = self.name;
        let count = text.chars().count();
        if text.trim().is_empty() {
            return Err(LocalizedMessage::new(format!("`{name}` is empty"), format!("`{name}` 为空")));
        }
        if count > MAX_TEXT_CHARS {
            return Err(LocalizedMessage::new(
                format!("`{name}` has {count} characters; the limit is {MAX_TEXT_CHARS}"),
                format!("`{name}` 有 {count} 个字符，最多 {MAX_TEXT_CHARS} 个"),
            ));
        }
        if text.contains('\0') {
            return Err(LocalizedMessage::new(
                format!("`{name}` contains a NUL character"),
                format!("`{name}` 含有 NUL 字符"),
            ));
        }
        Ok(text.into())
    }

    fn list(
        &self,
        items: Vec<Value>,
        read: impl Fn(Value) -> Result<Value, LocalizedMessage>,
    ) -> Result<Value, LocalizedMessage> {
        if items.len() > MAX_ENTRIES {
            let (name, count) = (self.name, items.len());
            return Err(LocalizedMessage::new(
                format!("`{name}` has {count} entries; the limit is {MAX_ENTRIES}"),
                format!("`{name}` 有 {count} 项，最多 {MAX_ENTRIES} 项"),
            ));
        }
        items.into_iter().map(read).collect::<Result<Vec<_>, _>>().map(Value::Array)
    }
}

/// An integer, 0 or more, in any notation.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            // 3.0 is an integer to many JSON writers.
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9.0e15)?;
            format!("{float:.0}").parse().ok()
        })?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (0..=MAX_INTEGER).contains(&number).then_some(number)
}

/// The parameters as the action reads them: `null` values are dropped, every other one is converted to its type.
///
/// # Errors
/// A message that names what is missing, unknown or of the wrong type.
pub fn read(
    parameters: &[Parameter],
    given: Map<String, Value>,
) -> Result<Map<String, Value>, LocalizedMessage> {
    let mut read = Map::new();
    for (name, value) in given {
        if value.is_null() {
            continue;
        }
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
            let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
            let (none, none_zh) = if known.is_empty() { ("none", "无") } else { ("", "") };
            let (known, name) = (known.join(", "), name.chars().take(80).collect::<String>());
            return Err(LocalizedMessage::new(
                format!("unknown parameter `{name}`; expected one of: {known}{none}"),
                format!("没有参数 `{name}`；可用的有：{known}{none_zh}"),
            ));
        };
        read.insert(name, parameter.read(value)?);
    }
    match parameters.iter().find(|parameter| parameter.required && !read.contains_key(parameter.name)) {
        Some(Parameter { name, description, .. }) => Err(LocalizedMessage::new(
            format!("`{name}` is missing: {description}"),
            format!("缺少 `{name}`"),
        )),
        None => Ok(read),
    }
}
