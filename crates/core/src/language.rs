//! The languages of texts for users and models.

use crate::words::words;
use serde::{Deserialize, Serialize};

/// The language of texts for users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Chinese.
    #[default]
    Zh,
    /// English.
    En,
}

words!(Language { Zh = "zh", En = "en" });

impl Language {
    /// The label of a status of a job, a model-day or a task in this language.
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
