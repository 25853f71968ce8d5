//! `papertape auth`

use super::failure::usage;
use super::output::{json, note, say};
use super::{Common, Outcome};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use papertape_protocol::access::Scope;
use papertape_service::access::{TokenHash, new_token};
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct AuthArgs {
    #[command(subcommand)]
    command: AuthCommand,
}

#[derive(Debug, Subcommand)]
enum AuthCommand {
    /// Create a token, and print its lines for the config file
    Token(TokenArgs),
}

#[derive(Debug, Args)]
struct TokenArgs {
    /// Who or what uses the token
    name: String,
    /// What the token allows
    #[arg(long, default_value = "read", value_parser = scopes())]
    scope: Scope,
}

fn scopes() -> impl TypedValueParser<Value = Scope> {
    let value = |scope: Scope, help: &'static str| PossibleValue::new(scope.as_str()).help(help);
    let operate = "Read everything, start and stop jobs, and make changes";
    let values = [value(Scope::Read, "Read everything, change nothing"), value(Scope::Operate, operate)];
    PossibleValuesParser::new(values)
        .map(|text| if text == Scope::Operate.as_str() { Scope::Operate } else { Scope::Read })
}

/// Creates a token. It is not stored: the config file gets its hash.
pub(super) fn auth(common: &Common, config: &Config, args: &AuthArgs) -> Outcome {
    let AuthCommand::Token(TokenArgs { name, scope }) = &args.command;
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(usage("the token's name is empty or has control characters; use one line of text"));
    }
    if config.auth.tokens.iter().any(|token| token.name == *name) {
        return Err(usage(format!(
            "the token `{name}` already exists; remove its lines from the config file, or use another name"
        )));
    }
    let token = new_token();
    let hash = TokenHash::of(&token);
    if common.json {
        json(&json!({ "name": name, "scope": scope, "token": token, "hash": hash }))?;
    } else {
        say(&token)?;
        let (name, scope) = (toml::Value::from(name.as_str()), scope.as_str());
        note!("This token is not shown again. To accept it, add these lines to the config file:\n");
        say(format_args!("[[auth.tokens]]\nname = {name}\nscope = \"{scope}\"\nhash = \"{hash}\""))?;
    }
    Ok(ExitCode::SUCCESS)
}
