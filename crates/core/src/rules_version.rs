//! The version of the rules that a job runs under and is recorded with.

/// The rules version that this program runs jobs under.
///
/// It covers everything that determines a job's result and the verification of its record: prompts, fills,
/// redaction, digests, the steps skipped as done, the hash chains. A job keeps the version that it was queued
/// under. Jobs of older versions stay readable and are verified by their own rules. They cannot be continued
/// or replayed, because this program would send other requests and book other fills.
///
/// # What each version changed
/// 1. The first. Each session has a hash chain over its steps, their rows and its close; the summaries' steps
///    are part of the same chain.
/// 2. Chains cover whole jobs: an anchor over the job's inputs, a chain over each agent's days, and a job
///    head that can be published. A session's links also cover failed attempts, the source of copied steps,
///    and instructions; summaries have a chain of their own that covers their texts. Hostile and malformed
///    answers are bounded and parsed more strictly, text written by models is fenced in prompts, financing is
///    charged per calendar night, and the symbol universe is that of the day.
/// 3. Trading has costs: dated fees, slippage, borrow fees, a participation cap, price limits that slippage does not
///    cross, delistings. The house assistant reads one backtest per message.
/// 4. The texts that models read are corrected: prompts, tool descriptions, tool answers, rejections, memory templates
///    and the house models' texts. Fills, digests and hash chains are those of version 3.
pub const RULES_VERSION: u32 = 4;

/// Why an unfinished job of an older rules version cannot run.
pub const OLDER_RULES: &str = "started by an older version; branch it or run it again";
