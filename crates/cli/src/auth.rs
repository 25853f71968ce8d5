//! `papertape auth`

use super::failure::usage;
use super::output::{json, note, say};
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_service::access::{Scope, TokenHash, new_token};
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

/// What of the access to the server.
#[derive(Debug, Args)]
pub(super) struct AuthArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a token, and print it with the lines that let it in
    Token(TokenArgs),
}

#[derive(Debug, Args)]
struct TokenArgs {
    /// Whose it is, or what for
    name: String,
    /// What it allows
    #[arg(long, value_enum, default_value = "read")]
    scope: Scope,
}

/// Makes it. It is kept nowhere: the configuration gets its hash.
pub(super) fn auth(common: &Common, config: &Config, args: &AuthArgs) -> Outcome {
    let What::Token(TokenArgs { name, scope }) = &args.what;
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(usage("a token's name is a text of one line"));
    }
    if config.auth.tokens.iter().any(|token| token.name == *name) {
        return Err(usage(format!("there is a token `{name}` already: take its lines out, or name another")));
    }
    let token = new_token();
    let hash = TokenHash::of(&token);
    if common.json {
        json(&json!({ "name": name, "scope": scope, "token": token, "hash": hash }))?;
    } else {
        say(&token)?;
        let (name, scope) = (toml::Value::from(name.as_str()), scope.as_str());
        note!("this is the token; it is not shown again. Let it in by the config file:\n");
        say(format_args!("[[auth.tokens]]\nname = {name}\nscope = \"{scope}\"\nhash = \"{hash}\""))?;
    }
    Ok(ExitCode::SUCCESS)
}
