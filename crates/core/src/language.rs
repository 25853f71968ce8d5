//! The language of prompts and of texts for users.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A language of prompts and of texts for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];
    /// The language of an agent's prompts whose config names none.
    pub const DEFAULT_FOR_PROMPTS: Self = Self::En;
    /// The language of texts for a user whose language is unknown.
    pub const DEFAULT_FOR_USERS: Self = Self::Zh;

    /// The spelling in the record, in configs and in names of prompt files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// The language of a text: Chinese if it contains a Chinese character.
    #[must_use]
    pub fn detect(text: &str) -> Self {
        let is_chinese = text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        if is_chinese { Self::Zh } else { Self::En }
    }

    /// The language of a tag such as `en-GB` or `zh_CN.UTF-8`; `None` for any other.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_', '.', ';']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| primary.eq_ignore_ascii_case(language.as_str()))
    }

    /// The label of a status of a job, a model-day or a task.
    #[must_use]
    pub fn status(self, status: &str) -> &str {
        match (self, status) {
            (Self::En, status) => status,
            (Self::Zh, "queued") => "排队中",
            (Self::Zh, "running") => "运行中",
            (Self::Zh, "completed") => "已完成",
            (Self::Zh, "partial") => "部分完成",
            (Self::Zh, "failed") => "失败",
            (Self::Zh, "cancelled") => "已取消",
            (Self::Zh, "skipped") => "已跳过",
            (Self::Zh, other) => other,
        }
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|language| language.as_str() == text);
        found.ok_or_else(|| {
            format!("unknown language `{text}`; expected one of {}", Self::ALL.map(Self::as_str).join(", "))
        })
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
