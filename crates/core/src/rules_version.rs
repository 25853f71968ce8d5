//! The version of the rules that a job runs and is recorded under.

/// The version of the rules that this program runs jobs under.
///
/// It covers all that decides what a job comes to and how its record is verified: prompts, fills,
/// redaction, digests, what is skipped as done, the hash chains. A job keeps the version that it was queued
/// under. Jobs of older versions stay readable and are verified by the rules that they were written with;
/// they are neither continued nor replayed, since this program would ask and book otherwise.
///
/// # What each version changed
/// 1. The first. Each session has a chain of hashes over its steps, their rows and its close; the summaries'
///    steps stand in the same chain.
/// 2. Chains cover whole jobs: an anchor of what the job was to do, a chain of each agent's days, a head of
///    the job that can be published. A session's links also cover failed attempts, where a step was copied
///    from, and instructions; summaries have a chain of their own that covers their texts. Hostile
///    and malformed answers are bounded and read more strictly, what models wrote is fenced in prompts, financing
///    is charged per calendar night, and the universe of symbols is that of the day.
pub const RULES_VERSION: u32 = 2;

/// Why a job of older rules that has not ended cannot run.
pub const OLDER_RULES: &str = "started by an older version; branch it or run it again";
