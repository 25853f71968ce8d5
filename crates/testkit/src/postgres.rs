//! A temporary PostgreSQL for tests: one server per test process, one schema per test.
//!
//! It is started from the system's own PostgreSQL, in a temporary directory, behind a Unix socket, with
//! durability enabled, and is stopped when the test process ends, however it ends. If
//! `PAPERTAPE_TEST_POSTGRES_URL` is set, that server is used instead, and its schemas are not removed.

mod standby;

pub use standby::Replicated;
use std::io::Write as _;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable that names a server to use.
pub const URL_VARIABLE: &str = "PAPERTAPE_TEST_POSTGRES_URL";

/// A schema for one test.
#[derive(Clone, Debug)]
pub struct TestDatabase {
    /// The server and its database.
    pub url: String,
    /// A unique schema name; the schema does not exist yet.
    pub schema: String,
}

/// A schema of its own on this process's server, which is started on the first call.
///
/// # Errors
/// A message that says what is missing: the programs of PostgreSQL, or a user to run them as.
pub fn place() -> Result<TestDatabase, String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let url = match std::env::var(URL_VARIABLE) {
        Ok(url) => url,
        Err(_) => server()?,
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Ok(TestDatabase { url, schema: format!("t{since}_{}_{number}", std::process::id()) })
}

/// The URL of this process's server.
fn server() -> Result<String, String> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    SERVER.get_or_init(Server::start).as_ref().map(|server| server.url.clone()).map_err(Clone::clone)
}

struct Server {
    url: String,
    /// Closing it makes the watchdog stop the server, at the latest when the process ends.
    _watch: Mutex<ChildStdin>,
}

impl Server {
    fn start() -> Result<Self, String> {
        let programs = programs()?;
        let user = user()?;
        let home = tempfile::Builder::new()
            .prefix("papertape-pg-")
            .tempdir()
            .map_err(|error| format!("cannot make a directory for PostgreSQL: {error}"))?
            // The watchdog removes it, because it must outlive this process.
            .keep();
        if let Some(user) = &user {
            chown(&home, Some(user.uid), Some(user.gid))
                .map_err(|error| format!("cannot give {} to {}: {error}", home.display(), user.name))?;
        }
        let watch = watch(&programs, user.as_ref(), &home)?;
        let data = home.join("data");
        run(
            as_user(user.as_ref(), &programs.join("initdb")).arg("-D").arg(&data).args([
                "-U",
                "papertape",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
            ]),
            &home,
        )?;
        let options = format!(
            "-c listen_addresses='' -c unix_socket_directories='{}' -c max_connections=200",
            home.display()
        );
        run(
            as_user(user.as_ref(), &programs.join("pg_ctl"))
                .arg("-D")
                .arg(&data)
                .arg("-l")
                .arg(home.join("log"))
                .args(["-w", "-o", &options, "start"]),
            &home,
        )?;
        let host = home.display().to_string().replace('/', "%2F");
        Ok(Self { url: format!("postgresql://papertape@{host}/postgres"), _watch: Mutex::new(watch) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let watch = self._watch.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The watchdog also reacts to the end of its input, which follows immediately.
        let _ = watch.write_all(b"stop\n");
    }
}

/// Starts the watchdog process, which outlives this one, then stops the server and removes its directory. It is
/// in its own process group, so that killing the tests does not kill it.
fn watch(programs: &Path, user: Option<&User>, home: &Path) -> Result<ChildStdin, String> {
    let script = r#"read -r _; for data in "$2"/data*; do "$1/pg_ctl" -D "$data" -m immediate -w stop; done
        rm -rf "$2""#;
    let mut child = as_user(user, Path::new("sh"))
        .args(["-c", script, "sh"])
        .arg(programs)
        .arg(home)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cannot start the watch over PostgreSQL: {error}"))?;
    child.stdin.take().ok_or_else(|| "the watch over PostgreSQL has no input".to_owned())
}

/// The folder with the programs of the newest PostgreSQL on the system.
///
/// # Errors
/// A message that says what to install.
pub fn programs() -> Result<PathBuf, String> {
    let installed = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, folder)| folder.join("initdb").is_file())
        .max_by_key(|(version, _)| *version)
        .map(|(_, folder)| folder);
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
    };
    installed.or_else(on_path).ok_or_else(|| {
        format!(
            "PostgreSQL is not installed: neither /usr/lib/postgresql/*/bin nor PATH has `initdb`. \
             Install the package `postgresql`, or set {URL_VARIABLE} to a server"
        )
    })
}

struct User {
    name: String,
    uid: u32,
    gid: u32,
}

/// The user to run the server as: PostgreSQL refuses to run as root. `None`: the user who runs the tests.
fn user() -> Result<Option<User>, String> {
    use std::os::unix::fs::MetadataExt as _;
    let own = std::fs::metadata("/proc/self").map(|meta| meta.uid()).unwrap_or(1);
    if own != 0 {
        return Ok(None);
    }
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |wanted: &str| {
        passwd.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let (uid, gid) = (fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?);
            (fields.first() == Some(&wanted)).then(|| User { name: wanted.to_owned(), uid, gid })
        })
    };
    find("postgres")
        .or_else(|| find("nobody"))
        .map(Some)
        .ok_or_else(|| "there is neither a user `postgres` nor `nobody` to run PostgreSQL as".to_owned())
}

fn as_user(user: Option<&User>, program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    command
}

fn run(command: &mut Command, home: &Path) -> Result<(), String> {
    let log = home.join("log");
    let failed = |why: String| {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        format!("PostgreSQL did not start: {why}\n{log}")
    };
    // Into files, not pipes: the server keeps them open.
    let output = std::fs::File::create(home.join("output")).map_err(|error| failed(error.to_string()))?;
    let errors = output.try_clone().map_err(|error| failed(error.to_string()))?;
    let status = command
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    Err(failed(std::fs::read_to_string(home.join("output")).unwrap_or_default()))
}
