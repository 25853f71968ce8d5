//! The sandbox of an agent's program: bubblewrap, with no network, a read-only file system and two writable folders.
//!
//! The doors of the session are reached at an address of loopback inside the sandbox. Our own binary listens there, and
//! passes connections on to a Unix socket, which is all that connects the sandbox with the outside.

use super::doors::DoorSocket;
use papertape_service::config::ExternalAgent;
use papertape_service::doors::DoorListener;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::process::Command;

/// Where the doors are reached inside. The sandbox has a loopback of its own, so the port is always free.
pub(super) const DOORS: &str = "127.0.0.1:8377";

/// Folders of programs and libraries. Some are links on some systems.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];
/// What programs read of `/etc`. Nothing in it is secret.
const ETC: [&str; 13] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "pki",
    "ssl",
    "timezone",
];
/// The writable folders.
const WORK: &str = "/papertape";
const TEMPORARY: &str = "/tmp";
/// Our binary and the socket.
const BINARY: &str = "/run/papertape/papertape";
const SOCKET: &str = "/run/papertape/doors.sock";

const INSTALL: &str = "install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`; Fedora: `dnf install bubblewrap`), or \
                       set `sandbox = false`";

/// How sandboxes are made on this machine.
#[derive(Clone, Debug)]
pub(super) struct SandboxTools {
    /// `bwrap`.
    pub(super) bubblewrap: PathBuf,
    /// Our own binary.
    pub(super) own: PathBuf,
    /// Files and folders that are never shown.
    pub(super) hidden: Vec<PathBuf>,
}

impl SandboxTools {
    /// Makes a sandbox that does nothing.
    ///
    /// # Errors
    /// What is missing on this machine, and how to get it.
    pub(super) fn check(&self) -> Result<(), String> {
        if !cfg!(target_os = "linux") {
            return Err("a sandbox needs Linux; set `sandbox = false`".to_owned());
        }
        let tried = std::process::Command::new(&self.bubblewrap)
            .args(ISOLATION)
            .args(["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"])
            .stdin(Stdio::null())
            .output();
        match tried {
            Ok(tried) if tried.status.success() => Ok(()),
            Ok(tried) => {
                let reason = String::from_utf8_lossy(&tried.stderr);
                Err(format!(
                    "this machine allows no sandbox ({}): allow unprivileged user namespaces, which some systems \
                     disable with kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns, or \
                     set `sandbox = false`",
                    reason.lines().next().unwrap_or("bwrap failed")
                ))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(format!("a sandbox needs the program `bwrap`, which was not found: {INSTALL}"))
            }
            Err(error) => Err(format!("`{}` cannot be run ({error}): {INSTALL}", self.bubblewrap.display())),
        }
    }
}

/// Namespaces of its own, no capabilities, no terminal, and an end with ours.
const ISOLATION: [&str; 10] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
];

/// The sandbox of one agent of one job. Dropping it removes its folder.
pub(super) struct Sandbox {
    tools: SandboxTools,
    folder: TempDir,
    doors: DoorSocket,
}

impl Sandbox {
    /// # Errors
    /// A sentence.
    pub(super) fn new(tools: SandboxTools, doors: &Arc<DoorListener>) -> Result<Self, String> {
        let failed = |error: io::Error| format!("the sandbox's folder: {error}");
        let folder = TempDir::with_prefix("papertape-agent-").map_err(failed)?;
        for at in [WORK, TEMPORARY] {
            std::fs::create_dir(below(folder.path(), at)).map_err(failed)?;
        }
        let doors = DoorSocket::open(Arc::clone(doors)).map_err(failed)?;
        Ok(Self { tools, folder, doors })
    }

    /// The command that runs the program inside.
    ///
    /// # Errors
    /// A folder that cannot be shown, or a program that would not be visible.
    pub(super) fn command(
        &self,
        config: &ExternalAgent,
        program: &Path,
        arguments: &[String],
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Command, String> {
        let shown = self.shown(config)?;
        if !SYSTEM
            .iter()
            .map(Path::new)
            .chain(shown.iter().map(PathBuf::as_path))
            .any(|at| program.starts_with(at))
        {
            return Err(format!(
                "`{}` is not visible in the sandbox: add its folder to `sandbox_paths`",
                program.display()
            ));
        }
        let mut command = Command::new(&self.tools.bubblewrap);
        command.args(ISOLATION).args(["--hostname", "papertape"]);
        system(&mut command);
        command.args(["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--tmpfs", "/dev/shm"]);
        // Two folders, as paths in `/tmp` that are shown get their mount points in the second one.
        for at in [WORK, TEMPORARY] {
            bind(&mut command, "--bind", below(self.folder.path(), at), at);
        }
        for path in &shown {
            bind(&mut command, "--ro-bind", path, path);
        }
        for hidden in self.hidden() {
            self.hide(&mut command, &hidden, &shown);
        }
        bind(&mut command, "--ro-bind", &self.tools.own, BINARY);
        bind(&mut command, "--ro-bind", self.doors.path(), SOCKET);
        let cwd = config.cwd.as_ref().and_then(|cwd| cwd.canonicalize().ok());
        command.args(["--remount-ro", "/", "--chdir"]).arg(cwd.unwrap_or_else(|| WORK.into()));
        command.args(["--", BINARY, "sandbox-forward", "--socket", SOCKET, "--listen", DOORS, "--"]);
        command.arg(program).args(arguments);
        command.env_clear().envs(environment).env("HOME", WORK).env("TMPDIR", TEMPORARY);
        Ok(command)
    }

    /// What the config shows, without links.
    fn shown(&self, config: &ExternalAgent) -> Result<Vec<PathBuf>, String> {
        let mut shown = Vec::new();
        for path in config.cwd.iter().chain(&config.sandbox_paths) {
            let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
            if path.parent().is_none() {
                return Err("a sandbox cannot show the root folder".to_owned());
            }
            if let Some(hidden) = self.hidden().find(|hidden| path.starts_with(hidden)) {
                let (path, hidden) = (path.display(), hidden.display());
                return Err(format!("a sandbox cannot show {path}: {hidden} holds Papertape's own data"));
            }
            shown.push(path);
        }
        Ok(shown)
    }

    /// Covers what lies in a folder that is shown.
    fn hide(&self, command: &mut Command, hidden: &Path, shown: &[PathBuf]) {
        let visible = SYSTEM.iter().map(Path::new).chain(shown.iter().map(PathBuf::as_path));
        if !visible.into_iter().any(|folder| hidden.starts_with(folder)) {
            return;
        }
        if hidden.is_dir() {
            command.arg("--tmpfs").arg(hidden).arg("--remount-ro").arg(hidden);
        } else {
            bind(command, "--ro-bind", self.doors.empty_file(), hidden);
        }
    }

    fn hidden(&self) -> impl Iterator<Item = PathBuf> {
        self.tools.hidden.iter().filter_map(|path| path.canonicalize().ok())
    }
}

/// Where a folder of the sandbox lies in its own folder.
fn below(folder: &Path, at: &str) -> PathBuf {
    folder.join(at.trim_start_matches('/'))
}

/// Programs, libraries and the settings that they read.
fn system(command: &mut Command) {
    for path in SYSTEM.map(Path::new) {
        match std::fs::read_link(path) {
            Ok(target) => {
                command.arg("--symlink").arg(target).arg(path);
            }
            Err(_) if path.is_dir() => bind(command, "--ro-bind", path, path),
            Err(_) => {}
        }
    }
    for name in ETC {
        let path = Path::new("/etc").join(name);
        bind(command, "--ro-bind-try", &path, &path);
    }
}

fn bind(command: &mut Command, how: &str, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) {
    command.arg(how).arg(from).arg(to);
}
