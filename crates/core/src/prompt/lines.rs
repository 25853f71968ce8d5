//! The lines of prompts that code recognizes. Who writes a prompt and who reads one both take them from here.
//!
//! A template includes one as `{{ lines.NAME }}`. It is part of the template's text: the text of the file's language, the
//! same for every request. Those in English alone are in all prompts the same.

use crate::language::Language;

/// A line of a prompt, or the words it begins with.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    name: &'static str,
    /// In English.
    pub en: &'static str,
    /// In Chinese.
    pub zh: &'static str,
}

impl Line {
    /// What follows the line's words, in either language.
    #[must_use]
    pub fn strip(self, text: &str) -> Option<&str> {
        text.strip_prefix(self.en).or_else(|| text.strip_prefix(self.zh))
    }

    const fn text(self, language: Language) -> &'static str {
        match language {
            Language::En => self.en,
            Language::Zh => self.zh,
        }
    }
}

/// Puts the lines into a pattern, in place of `{NAME.en}` and `{NAME.zh}`.
#[must_use]
pub fn insert(pattern: &str) -> String {
    ALL.iter().fold(pattern.to_owned(), |pattern, line| {
        let place = |language: &str| format!("{{{}.{language}}}", line.name);
        pattern.replace(&place("en"), line.en).replace(&place("zh"), line.zh)
    })
}

/// Includes the lines in a template: `{{ lines.NAME }}` in its text, `lines.NAME` in an expression.
pub(super) fn include(template: &str, language: Language) -> String {
    if !template.contains("lines.") {
        return template.to_owned();
    }
    ALL.iter().fold(template.to_owned(), |template, line| {
        let text = line.text(language);
        let template = template.replace(&format!("{{{{ lines.{} }}}}", line.name), text);
        template.replace(&format!("lines.{} ", line.name), &format!("\"{text}\" "))
    })
}

macro_rules! lines {
    (
        in_both_languages { $($(#[doc = $doc:literal])+ $name:ident: $en:literal, $zh:literal;)+ }
        in_english { $($(#[doc = $same_doc:literal])+ $same:ident: $text:literal;)+ }
    ) => {
        $($(#[doc = $doc])+ pub const $name: Line = Line { name: stringify!($name), en: $en, zh: $zh };)+
        $($(#[doc = $same_doc])+ pub const $same: &str = $text;)+

        const ALL: &[Line] = &[
            $($name,)+
            $(Line { name: stringify!($same), en: $text, zh: $text },)+
        ];
    };
}

lines! {
    in_both_languages {
        /// The first line of a system prompt: the role that the model plays.
        ROLE: "Role:", "角色：";
        /// The symbols of a trading day.
        SYMBOLS: "Symbols:", "标的：";
        /// There are none.
        NO_SYMBOLS: "(none)", "（无）";
        /// Symbols in which no position may be opened or enlarged.
        CLOSING_ONLY: "Closing only:", "只可减仓或平仓：";
        /// The start of the prompt for a round memory.
        ROUND_TASK: "Write the trader's round memory", "写下交易员的轮次记忆";
        /// Before the session's decision.
        CONCLUDED: "Conclusions:", "本轮的结论：";
        /// Before the fills.
        BOOKED: "Account activity:", "账户变动：";
        /// There are none.
        NOTHING_BOOKED: "- nothing", "- 无";
        /// Before the positions.
        HELD_AT_CLOSE: "Positions at the close:", "收盘持仓：";
        /// There are none.
        NOTHING_HELD: "- none", "- 无";
        /// The label of a round memory's first part.
        CONCLUSION: "Conclusion", "结论";
        /// The label of its second part.
        POSITION: "Position", "仓位";
        /// The label of its third part.
        RISK: "Risk", "风险";
        /// The label of its last part.
        NEXT: "Next", "下轮关注";
        /// The start of the prompt for a reflection.
        REFLECTION_TASK: "Reflect on the trader's closed trade", "复盘交易员已平仓的交易";
        /// Before the trade's figures.
        LEDGER_FACTS: "Ledger facts:", "账本数据：";
        /// Before the position's thesis.
        ENTRY_THESIS: "Thesis at entry:", "开仓时的依据：";
        /// The label of a plan's rating.
        RECOMMENDATION: "Recommendation", "建议";
        /// The label of a proposal's action.
        ACTION: "Action", "操作建议";
        /// The assistant's role in a conversation.
        ASSISTANT: "Papertape assistant", "Papertape 助手";
        /// The assistant's role when it carries out a task.
        WORKER: "Papertape task worker", "Papertape 任务执行者";
        /// The assistant's role when it breaks up a task.
        PLANNER: "Papertape planner", "Papertape 规划者";
        /// The configured agents.
        AGENTS: "Configured agents:", "已配置的交易员：";
        /// The datasets.
        DATASETS: "Datasets:", "数据集：";
        /// Before a user's message.
        USER_MESSAGE: "User message:", "用户说：";
        /// Before a worker's task, with its name.
        WORKER_TASK: "Your task", "你的任务";
        /// Before a planner's task, with its name.
        PLANNER_TASK: "To break down", "待分解";
    }
    in_english {
        /// Ends a trading day.
        FINISH_SIGNAL: "<FINISH_SIGNAL>";
        /// Before the smallest step of a quantity, in a tool's description.
        IN_STEPS_OF: "in steps of";
        /// Before the lot of a quantity, in a tool's description.
        IN_WHOLE_LOTS_OF: "in whole lots of";
        /// The start of the prompt for a summary.
        SUMMARY_TASK: "Summarize the following trading decision in 1-2 sentences";
        /// Its end.
        SUMMARY_END: "Summary:";
        /// A role of the desk.
        MARKET_ANALYST: "Market Analyst";
        /// A role of the desk.
        SENTIMENT_ANALYST: "Sentiment Analyst";
        /// A role of the desk.
        NEWS_ANALYST: "News Analyst";
        /// A role of the desk.
        FUNDAMENTALS_ANALYST: "Fundamentals Analyst";
        /// A role of the desk.
        BULL_RESEARCHER: "Bull Researcher";
        /// A role of the desk.
        BEAR_RESEARCHER: "Bear Researcher";
        /// A role of the desk.
        RESEARCH_MANAGER: "Research Manager";
        /// A role of the desk.
        TRADER: "Trader";
        /// A role of the desk.
        AGGRESSIVE_ANALYST: "Aggressive Analyst";
        /// A role of the desk.
        CONSERVATIVE_ANALYST: "Conservative Analyst";
        /// A role of the desk.
        NEUTRAL_ANALYST: "Neutral Analyst";
        /// A role of the desk.
        PORTFOLIO_MANAGER: "Portfolio Manager";
        /// The symbol of a desk's task.
        SYMBOL: "Symbol:";
        /// The trading day of a desk's task.
        DATE: "Date:";
        /// The day's price and its indicators, as JSON.
        PRICES: "Prices:";
        /// The account, as JSON.
        ACCOUNT: "Account:";
        /// The open orders, as JSON.
        OPEN_ORDERS: "Open orders:";
        /// The limits, as JSON.
        RISK_LIMITS: "Risk limits:";
        /// The source of a fence: the Market Analyst's report.
        MARKET_REPORT: "Market Analyst report";
        /// The source of a fence: a role's argument, behind the role.
        ARGUMENT: "argument";
        /// The source of a fence: the debate of Bull and Bear.
        DEBATE: "Debate so far";
        /// The source of a fence: the Research Manager's plan.
        RESEARCH_PLAN: "Research plan";
        /// The source of a fence: the Trader's proposal.
        TRADER_PROPOSAL: "Trader proposal";
        /// A worker's reply if it could not do its task.
        FAILED: "FAILED:";
        /// The source of a fence: results of actions.
        ACTION_RESULTS: "the results of actions";
        /// The start of the system prompt of a memorization quiz.
        QUIZ_TASK: "You take a multiple-choice quiz about stock prices";
        /// The source of a fence: an earlier task's result.
        TASK: "task ";
    }
}
