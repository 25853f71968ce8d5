//! How an agent's program is started: where it is found, and which environment it gets.

use super::group::MARK;
use super::process::AgentProcess;
use super::sandbox::Sandbox;
use super::slot::Start;
use papertape_redact::Redactor;
use papertape_service::config::ExternalAgent;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::process::Command;

/// Variables that every program gets. None of them holds a secret.
const INHERITED: [&str; 7] = ["PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "VIRTUAL_ENV"];
/// Beginnings of names of further ones.
const INHERITED_PREFIXES: [&str; 2] = ["LC_", "PYTHON"];

/// A program that can be started.
pub(super) struct Program {
    pub(super) agent: String,
    pub(super) config: ExternalAgent,
    pub(super) redactor: Arc<Redactor>,
    /// `None`: it runs without one.
    pub(super) sandbox: Option<Sandbox>,
}

impl Start for Program {
    fn agent(&self) -> &str {
        &self.agent
    }

    fn start(&self) -> Result<AgentProcess, String> {
        let program = find(&self.config)?;
        let arguments = self.config.command.get(1..).unwrap_or_default();
        let environment = environment(&self.config);
        let command = match &self.sandbox {
            Some(sandbox) => sandbox.command(&self.config, &program, arguments, &environment)?,
            None => {
                let mut command = Command::new(&program);
                command.args(arguments).env_clear().envs(&environment);
                if let Some(cwd) = &self.config.cwd {
                    command.current_dir(cwd);
                }
                command
            }
        };
        let name = program.display();
        AgentProcess::spawn(&self.agent, command, &self.redactor)
            .map_err(|error| format!("`{name}`: {error}"))
    }
}

/// The variables of the program.
fn environment(config: &ExternalAgent) -> BTreeMap<OsString, OsString> {
    let is_inherited = |name: &str| {
        name != MARK
            && (INHERITED.contains(&name)
                || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
                || config.pass_env.iter().any(|passed| passed == name))
    };
    let inherited = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited));
    let set = config.env.iter().map(|(name, value)| (name.into(), value.into()));
    inherited.chain(set).collect()
}

/// The program's file.
///
/// # Errors
/// A sentence without the agent's name.
pub(super) fn find(config: &ExternalAgent) -> Result<PathBuf, String> {
    let Some(program) = config.command.first() else { return Err("it has no command".to_owned()) };
    if let Some(cwd) = config.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(format!("its `cwd` is not a directory: {}", cwd.display()));
    }
    let base = config.cwd.clone().unwrap_or_default();
    let found = if program.contains('/') {
        Some(base.join(program)).filter(|file| is_executable(file))
    } else {
        let path = config.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"));
        let folders = path.iter().flat_map(std::env::split_paths);
        folders.map(|folder| base.join(folder).join(program)).find(|file| is_executable(file))
    };
    let found = found.ok_or_else(|| format!("command not found: `{program}`"))?;
    std::path::absolute(&found).map_err(|error| format!("`{program}`: {error}"))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file() || file.with_extension("exe").is_file()
}
