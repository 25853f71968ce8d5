//! A PostgreSQL server with a standby that has each commit before it is reported: synchronous streaming replication.

use super::{User, as_user, programs, run, user, watch};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command};
use std::sync::Mutex;

/// Both servers. Each listens on the socket `.s.PGSQL.5432` in its own folder.
pub struct Replicated {
    programs: PathBuf,
    user: Option<User>,
    home: PathBuf,
    /// Closing it makes the watchdog stop both servers.
    _watch: Mutex<ChildStdin>,
}

impl Replicated {
    /// Starts both, and waits until commits wait for the standby.
    ///
    /// # Errors
    /// A message that says what is missing or failed.
    pub fn start() -> Result<Self, String> {
        let (programs, user) = (programs()?, user()?);
        let home = tempfile::Builder::new()
            .prefix("papertape-pg-")
            .tempdir()
            .map_err(|error| format!("cannot make a directory for PostgreSQL: {error}"))?
            .keep();
        let servers = Self {
            _watch: Mutex::new({
                own(user.as_ref(), &home)?;
                watch(&programs, user.as_ref(), &home)?
            }),
            programs,
            user,
            home,
        };
        for folder in [servers.primary(), servers.standby()] {
            std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            own(servers.user.as_ref(), &folder)?;
        }
        let (primary, standby) = (servers.data("primary"), servers.data("standby"));
        let initdb = ["-U", "papertape", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"];
        servers.run("initdb", &initdb, &primary)?;
        servers.begin(&primary, &servers.primary())?;
        let socket = servers.primary().display().to_string();
        let copy = ["-h", &socket, "-U", "papertape", "-R", "-X", "stream", "-c", "fast", "--no-sync", "-D"];
        servers.run("pg_basebackup", &copy, &standby)?;
        servers.begin(&standby, &servers.standby())?;
        // Only now, because the copy must not wait for a standby of its own once it is promoted.
        servers.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        servers.sql("SELECT pg_reload_conf()")?;
        while servers.sql("SELECT sync_state FROM pg_stat_replication")? != "sync" {}
        Ok(servers)
    }

    /// The folder with the first server's socket.
    #[must_use]
    pub fn primary(&self) -> PathBuf {
        self.home.join("primary")
    }

    /// The folder with the standby's socket.
    #[must_use]
    pub fn standby(&self) -> PathBuf {
        self.home.join("standby")
    }

    /// Ends all processes of the first server with SIGKILL, as if its machine had failed.
    ///
    /// # Errors
    /// A message if its processes cannot be found.
    pub fn kill_primary(&self) -> Result<(), String> {
        let file = self.data("primary").join("postmaster.pid");
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let parent: i32 = text.lines().next().and_then(|line| line.parse().ok()).ok_or("has no process")?;
        let kill = |process: i32| {
            let process = Pid::from_raw(process).ok_or("is not a process")?;
            // One that has ended meanwhile is not an error.
            let _ = kill_process(process, Signal::KILL);
            Ok::<(), String>(())
        };
        // It must not start new ones, nor react to their end.
        let process = Pid::from_raw(parent).ok_or("is not a process")?;
        kill_process(process, Signal::STOP).map_err(|error| error.to_string())?;
        for child in children(parent)? {
            kill(child)?;
        }
        kill(parent)
    }

    /// Makes the standby a server of its own, and waits until it accepts writes.
    ///
    /// # Errors
    /// The server's message.
    pub fn promote(&self) -> Result<(), String> {
        self.run("pg_ctl", &["promote", "-w", "-D"], &self.data("standby"))
    }

    fn data(&self, server: &str) -> PathBuf {
        self.home.join(format!("data-{server}"))
    }

    fn begin(&self, data: &Path, socket: &Path) -> Result<(), String> {
        let options = format!(
            "-c listen_addresses='' -c unix_socket_directories='{}' -c max_connections=200",
            socket.display()
        );
        let log = self.home.join("log").display().to_string();
        self.run("pg_ctl", &["-w", "-l", &log, "-o", &options, "start", "-D"], data)
    }

    /// Runs a program on a data directory.
    fn run(&self, program: &str, args: &[&str], data: &Path) -> Result<(), String> {
        let mut command = as_user(self.user.as_ref(), &self.programs.join(program));
        run(command.args(args).arg(data), &self.home)
    }

    /// What a statement on the first server returns.
    fn sql(&self, sql: &str) -> Result<String, String> {
        let done = Command::new(self.programs.join("psql"))
            .args(["-At", "-v", "ON_ERROR_STOP=1", "-U", "papertape", "-d", "postgres", "-c", sql, "-h"])
            .arg(self.primary())
            .output()
            .map_err(|error| error.to_string())?;
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    }
}

fn own(user: Option<&User>, folder: &Path) -> Result<(), String> {
    let Some(user) = user else { return Ok(()) };
    chown(folder, Some(user.uid), Some(user.gid))
        .map_err(|error| format!("cannot give {} to {}: {error}", folder.display(), user.name))
}

/// The processes that a process has started and not waited for.
fn children(parent: i32) -> Result<Vec<i32>, String> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc").map_err(|error| error.to_string())?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // `PID (NAME) STATE PARENT …`; a name may contain blanks.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let after_name = stat.rsplit_once(')').map(|(_, rest)| rest);
        let found = after_name.and_then(|rest| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
        if found == Some(parent) {
            children.push(process);
        }
    }
    Ok(children)
}
