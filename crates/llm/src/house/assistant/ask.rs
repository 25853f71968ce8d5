//! What is asked for, read from words.

use super::Question;
use super::period::{Months, Period, period};
use super::several::{VERBS, names_backtest, several};
use serde_json::{Value, json};

/// All that a question asks for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// In the order in which they are named.
    pub(super) backtests: Vec<Backtest>,
    /// A backtest is asked for, and no days are named.
    pub(super) without_days: bool,
    pub(super) compare: bool,
    /// Why it lost, or won: the days that are meant.
    pub(super) why: Option<Option<Period>>,
    /// The same where months are named and no year: the run's days say which.
    pub(super) why_months: Option<Months>,
    /// A greeting, and nothing else.
    pub(super) greets: bool,
    /// Daily bars of a symbol.
    pub(super) prices: Option<(String, Option<Period>)>,
    pub(super) results: bool,
    pub(super) status: bool,
    pub(super) audit: bool,
    /// Jobs that are named.
    pub(super) jobs: Vec<String>,
    pub(super) web: Option<String>,
    pub(super) memory: Option<String>,
    pub(super) plan: Vec<PlanAsk>,
    pub(super) help: bool,
}

/// A backtest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Backtest {
    pub(super) who: Who,
    pub(super) symbols: Vec<String>,
    pub(super) period: Period,
}

/// Who trades.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Who {
    /// Configured agents, or models.
    Models(Vec<String>),
    /// A desk of a model.
    Desk(String),
}

/// The most characters of a plan's name that is made of its goal.
const NAME_CHARS: usize = 60;
/// Something about plans.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PlanAsk {
    Create { name: String, goal: String },
    Decompose(Option<i64>),
    Execute(Option<i64>),
    Show(Option<i64>),
    Status(Option<i64>),
    Delete(Option<i64>),
    AddTask { plan: Option<i64>, name: String },
    Rerun(i64),
    List,
}

/// Words that say who trades.
pub(super) const TRADERS: &[&str] = &[
    " desk",
    " solo",
    "momentum",
    "contrarian",
    "cautious",
    "buy_and_hold",
    "::",
    "交易员",
    "动量",
    "逆势",
    "谨慎",
    "团队",
];

/// Words that mean a run that is there.
const RUNS: &[&str] = &[
    "last run",
    "latest run",
    "newest run",
    "my run",
    "the run",
    "最近一次运行",
    "最新的运行",
    "最新运行",
    "上次运行",
    "最近的运行",
];

/// Companies of the bundled data by their names.
const COMPANIES: [(&str, &str, &str); 5] = [
    ("apple", "苹果", "AAPL"),
    ("google", "谷歌", "GOOG"),
    ("ibm", "国际商业机器", "IBM"),
    ("microsoft", "微软", "MSFT"),
    ("facebook", "脸书", "FB"),
];

/// Words in capitals that are no symbols.
const NO_SYMBOLS: &[&str] = &[
    "AI", "ALL", "AND", "API", "BUY", "CSV", "DO", "FOR", "HOLD", "ID", "IF", "IN", "IT", "JSON", "LLM",
    "MACD", "NOT", "OK", "ON", "OR", "PNL", "RSI", "SELL", "SMA", "THE", "TO", "USD", "UTC", "WHY",
];

pub(super) fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

impl Wanted {
    /// `about_plans`: may it ask for something about plans?
    pub(super) fn read(question: &Question<'_>, about_plans: bool) -> Self {
        let words = question.words;
        let lower = words.to_lowercase();
        if about_plans {
            let plan = plan(words, &lower);
            if !plan.is_empty() {
                return Self { plan, ..Self::default() };
            }
        }
        let mut wanted = Self { jobs: jobs(words), ..Self::default() };
        let (head, why) = split(words, &["why did", "why has", "why was", "tell me why", "为什么", "为何"]);
        let asks = head.to_lowercase();
        let simulates =
            names_backtest(&asks) || (has(&asks, VERBS) && has(&asks, TRADERS) && !has(&asks, RUNS));
        wanted.web = behind(
            words,
            &[
                "search the web for",
                "look on the web for",
                "search online for",
                "联网搜索",
                "搜索网络",
                "上网搜索",
                "网上搜索",
            ],
        );
        wanted.memory = behind(
            words,
            &[
                "search memory for",
                "search the memory for",
                "search memories for",
                "remember about",
                "搜索记忆",
                "查找记忆",
                "查询记忆",
            ],
        );
        wanted.memory = wanted.memory.or_else(|| lessons(words, &lower));
        if simulates && wanted.jobs.is_empty() {
            let symbols = symbols(head, question.before);
            wanted.backtests = several(question);
            match period(head, None) {
                _ if !wanted.backtests.is_empty() => {}
                Some(found) => {
                    wanted.backtests = vec![Backtest { who: who(question), symbols, period: found }];
                }
                // Without days, who and what, the backtest is one that is there.
                None => wanted.without_days = has(&asks, TRADERS) || !symbols.is_empty(),
            }
        }
        wanted.compare = has(
            &lower,
            &["compare", "versus", " vs ", " vs. ", "beat ", "better than", "对比", "比较", "跑赢"],
        );
        wanted.status = has(&lower, &["status", "how far", "progress", "状态", "进度"]);
        wanted.audit = has(&lower, &["audit", "replay", "审计", "重放"]);
        wanted.help = has(&lower, &["help", "what can you do", "帮助", "能做什么"]);
        wanted.why = why.map(|why| {
            let year = wanted.backtests.first().map(|backtest| backtest.period.from.year());
            let found = period(why, year);
            wanted.why_months = if found.is_none() { Months::of(why) } else { None };
            found
        });
        let asks_results =
            has(&lower, &["result", "how did ", "return", "performance", "结果", "收益", "表现", "怎么样"])
                || (has(&lower, RUNS) && !wanted.needs_run());
        if wanted.is_nothing()
            && has(&lower, &["price", "bars", "close", "quote", "价格", "股价", "行情", "收盘"])
        {
            let symbol = symbols(words, question.before).into_iter().next();
            wanted.prices = symbol.map(|symbol| (symbol, period(words, None)));
            if wanted.prices.is_some() {
                return wanted;
            }
        }
        wanted.without_days |= simulates && wanted.is_nothing();
        wanted.greets = wanted.is_nothing() && greets(&lower);
        wanted.results =
            asks_results || (!wanted.backtests.is_empty() && !wanted.compare && wanted.why.is_none());
        wanted
    }

    /// Has nothing been understood?
    pub(super) fn is_nothing(&self) -> bool {
        !self.needs_run()
            && self.plan.is_empty()
            && self.prices.is_none()
            && self.backtests.is_empty()
            && !self.without_days
            && self.web.is_none()
            && self.memory.is_none()
            && !self.help
    }

    /// Is anything asked for that a run is needed for?
    pub(super) fn needs_run(&self) -> bool {
        self.compare || self.why.is_some() || self.results || self.status || self.audit
    }
}

impl Backtest {
    /// As parameters of `run_simulation`.
    pub(super) fn parameters(&self) -> Value {
        let mut asked = json!({
            "start_date": self.period.from.to_string(),
            "end_date": self.period.to.to_string(),
        });
        match &self.who {
            Who::Models(models) => asked["models"] = json!(models),
            Who::Desk(model) => {
                let name = format!("{}-desk", model.rsplit("::").next().unwrap_or(model));
                asked["agents"] = json!([{ "name": name, "kind": "desk", "model": model }]);
            }
        }
        if !self.symbols.is_empty() {
            asked["symbols"] = json!(self.symbols);
        }
        asked
    }
}

/// The text before the first of these words, and the one from it on.
fn split<'a>(text: &'a str, words: &[&str]) -> (&'a str, Option<&'a str>) {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        // Some letter changed its length: places of one are none of the other.
        return (text, None);
    }
    match words.iter().filter_map(|word| lower.find(word)).min() {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    }
}

/// What stands behind one of these words, up to the end of its part of the sentence.
fn behind(text: &str, words: &[&str]) -> Option<String> {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return None;
    }
    let end = words.iter().filter_map(|word| lower.find(word).map(|at| at + word.len())).min()?;
    let rest = text[end..].trim_start_matches([' ', ':', '：', '"', '“', '「']);
    let rest = rest.split(['\n', '.', ';', ',', '?', '。', '；', '，', '？', '"', '”', '」']).next()?.trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Ids of jobs in a text, or `latest`.
pub(super) fn jobs(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let is_job = |word: &&str| {
        let lengths: Vec<usize> = word.split('-').map(str::len).collect();
        lengths == [8, 4, 4, 4, 12]
    };
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !is_part(c)).filter(is_job) {
        if !found.iter().any(|one| one == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Symbols in a text: words in capitals, those that the datasets have in any writing, and companies' names.
pub(super) fn symbols(text: &str, before: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == ':';
    let known = known_symbols(before);
    let mut found: Vec<String> = Vec::new();
    let mut add = |symbol: &str| {
        if !found.iter().any(|one| one == symbol) {
            found.push(symbol.to_owned());
        }
    };
    for word in text.split(|c: char| !is_part(c)) {
        let word = word.trim_end_matches(['.', ':']);
        let upper = word.to_uppercase();
        let letters = word.chars().all(|c| c.is_ascii_uppercase() || c == '.');
        let company = COMPANIES.iter().find(|(name, _, _)| word.to_lowercase() == *name);
        if let Some((_, _, symbol)) = company.filter(|(_, _, symbol)| known.contains(symbol)) {
            add(symbol);
        } else if (2..=6).contains(&word.len())
            && !NO_SYMBOLS.contains(&&*upper)
            && (letters || known.contains(&&*upper))
        {
            add(&upper);
        }
    }
    for (_, name, symbol) in COMPANIES {
        if text.contains(name) && known.contains(&symbol) {
            add(symbol);
        }
    }
    found
}

/// The symbols that the datasets have, as far as the question tells them.
fn known_symbols(before: &str) -> Vec<&str> {
    let lists = ["Datasets: ", "数据集："];
    let line = before.lines().find_map(|line| lists.iter().find_map(|list| line.strip_prefix(list)));
    let is_symbol = |word: &&str| word.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '.' | '-'));
    let words = line.unwrap_or_default().split([',', ';', ' ']).map(str::trim);
    words.filter(|word| !word.is_empty()).filter(is_symbol).collect()
}

/// What lessons are asked for: those on something, or all.
fn lessons(words: &str, lower: &str) -> Option<String> {
    let asks = ["lesson", "learnt", "learned", "reflection", "教训", "学到", "反思"];
    if !has(lower, &asks) {
        return None;
    }
    if has(lower, &["stop", "止损"]) {
        return Some("stop".to_owned());
    }
    let about = behind(words, &["about ", "from ", "on ", "关于"]).filter(|about| about.len() <= 60);
    let symbol = symbols(words, "").into_iter().next();
    Some(symbol.or(about).unwrap_or_else(|| "trade".to_owned()))
}

/// Is it a greeting, or a question who answers?
fn greets(lower: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '\'';
    let words: Vec<&str> = lower.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let first = words.first().copied().unwrap_or_default();
    let hails =
        ["hi", "hello", "hey", "hallo", "thanks", "thank", "good", "你好", "您好", "谢谢", "早上好", "嗨"];
    (words.len() <= 4 && hails.contains(&first))
        || has(
            lower,
            &[
                "who are you",
                "what are you",
                "what is this",
                "how do i start",
                "你是谁",
                "怎么用",
                "如何开始",
            ],
        )
}

/// Who is to trade: configured agents and models by name, else a house model by its manner.
pub(super) fn who(question: &Question<'_>) -> Who {
    let words = question.words;
    let lower = words.to_lowercase();
    let named = configured(words, question.before);
    if !named.is_empty() {
        return Who::Models(named);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | '.' | '/');
    let models = words.split(|c: char| !is_part(c)).filter_map(|word| {
        let word = word.trim_end_matches(['.', ':', ',']);
        let (provider, model) = word.split_once("::")?;
        (!provider.is_empty() && !model.is_empty()).then(|| word.to_owned())
    });
    let mut models: Vec<String> = models.collect();
    if models.is_empty() {
        let manners: [(&[&str], &str); 3] = [
            (&["momentum", "动量", "趋势"], "momentum"),
            (&["contrarian", "cautious", "逆势", "谨慎", "保守"], "contrarian"),
            (&["buy-and-hold trader", "buy_and_hold"], "buy_and_hold"),
        ];
        let meant = manners.iter().filter(|(names, _)| has(&lower, names));
        models = meant.map(|(_, model)| format!("house::{model}")).collect();
    }
    if models.is_empty() {
        models.push("house::momentum".to_owned());
    }
    if has(&lower, &[" desk", "投研团队", "交易台", "团队"]) {
        return Who::Desk(models.swap_remove(0));
    }
    Who::Models(models)
}

/// The configured agents that a text names.
pub(super) fn configured(words: &str, before: &str) -> Vec<String> {
    let lower = words.to_lowercase();
    let lists = ["Configured agents: ", "已配置的交易员："];
    let listed = before.lines().find_map(|line| lists.iter().find_map(|list| line.strip_prefix(list)));
    let all = listed.unwrap_or_default().split(", ").filter(|name| !name.is_empty());
    all.filter(|name| is_word(&lower, &name.to_lowercase())).map(str::to_owned).collect()
}

/// Does the word stand in the text, and not in the middle of another one?
fn is_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        !joins(before) && !joins(after)
    })
}

/// What is asked for about plans, in the order in which it is to be done.
fn plan(words: &str, lower: &str) -> Vec<PlanAsk> {
    let is_plan = has(lower, &["plan", "计划", "decompose", "分解", "execute it", "carry it out", "执行它"]);
    if has(lower, &["rerun task", "run task", "重新执行任务", "重跑任务"]) {
        let id = number(lower, &["rerun task", "run task", "重新执行任务", "重跑任务"]);
        return id.map(PlanAsk::Rerun).into_iter().collect();
    }
    if !is_plan {
        return Vec::new();
    }
    let id = number(lower, &["plan", "计划"]);
    if has(lower, &["list plans", "list the plans", "which plans", "列出计划", "有哪些计划"]) {
        return vec![PlanAsk::List];
    }
    if has(lower, &["add task", "add a task", "添加任务"]) {
        let name = behind(words, &["add task", "add a task", "添加任务"]).unwrap_or_default();
        let name = name.split(" to plan").next().unwrap_or_default();
        let name = name.split("到计划").next().unwrap_or_default().trim().to_owned();
        return if name.is_empty() { Vec::new() } else { vec![PlanAsk::AddTask { plan: id, name }] };
    }
    let mut asks = Vec::new();
    let creates =
        ["create a plan", "create plan", "make a plan", "new plan", "新建计划", "创建计划", "制定计划"];
    let (body, rest) =
        match creates.iter().filter_map(|word| lower.find(word).map(|at| at + word.len())).min() {
            Some(end) if lower.len() == words.len() => (Some(&words[end..]), &lower[end..]),
            _ => (None, lower),
        };
    if let Some(body) = body {
        asks.push(create(body));
    }
    let id = if body.is_some() { None } else { id };
    let then = [
        (["decompose", "break it down", "break down", "分解"], PlanAsk::Decompose(id)),
        (["execute", "carry it out", "carry out", "执行"], PlanAsk::Execute(id)),
    ];
    asks.extend(then.into_iter().filter(|(words, _)| has(rest, words)).map(|(_, ask)| ask));
    if !asks.is_empty() {
        return asks;
    }
    let others: [(&[&str], PlanAsk); 4] = [
        (&["delete", "remove", "删除"], PlanAsk::Delete(id)),
        (&["status", "how far", "进度", "状态"], PlanAsk::Status(id)),
        (&["show", "tasks", "显示", "查看", "任务"], PlanAsk::Show(id)),
        (&["run plan", "run the plan", "运行计划"], PlanAsk::Execute(id)),
    ];
    others.into_iter().find(|(words, _)| has(lower, words)).map(|(_, ask)| ask).into_iter().collect()
}

/// A plan from what stands behind `create a plan`: `NAME: GOAL`, or `to GOAL`.
fn create(body: &str) -> PlanAsk {
    let ends =
        ["; then", ". then", ", then", " and then", "；然后", "。然后", "，然后", "，并分解", "，并执行"];
    let lower = body.to_lowercase();
    let end = ends.iter().filter_map(|end| lower.find(end)).min().filter(|_| lower.len() == body.len());
    let body = body[..end.unwrap_or(body.len())].trim();
    let body = body.trim_start_matches("called").trim_start_matches("named").trim();
    let quotes = ['"', '“', '”', '「', '」', '\''];
    let (name, goal) = match body.split_once([':', '：']) {
        // `::` stands in a model's name.
        Some((name, goal)) if !goal.starts_with(':') => (name, goal),
        _ => {
            let goal = body.trim_start_matches("to ").trim_start_matches("for ");
            (goal, goal)
        }
    };
    let name = shortened(name.trim().trim_matches(quotes).trim());
    let name = if name.is_empty() { "plan".to_owned() } else { name };
    PlanAsk::Create { name, goal: goal.trim().trim_end_matches('.').to_owned() }
}

/// The first words of a text, whole ones.
fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(NAME_CHARS) else { return text.to_owned() };
    let head = &text[..end];
    // Chinese has no spaces between its words.
    let at = head.rfind([' ', ',', '，', '、']).filter(|at| *at >= head.len() / 2).unwrap_or(end);
    head[..at].trim_end_matches([',', '，', '、', ' ']).to_owned()
}

/// The number that follows one of these words.
fn number(text: &str, words: &[&str]) -> Option<i64> {
    words.iter().find_map(|word| {
        text.match_indices(word).find_map(|(at, _)| {
            let rest = text[at + word.len()..].trim_start_matches([' ', '#']);
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
    })
}
