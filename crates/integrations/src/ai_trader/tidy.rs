//! Removes AI-Trader's logs once they are in the database: finds and reads the files, backs them up first,
//! and removes the folders that become empty. The caller checks whether the database has a message.

use super::layout::LogFile;
use super::{layout, log};
use crate::imports::{AgentReport, RunReport};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use papertape_agents::recorded::RecordedDay;
use papertape_core::id::ContentHash;
use papertape_core::time::{Date, parse_date};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

const BLOCK: usize = 512;

/// A log file to remove.
#[derive(Clone, Debug)]
pub struct Log {
    /// The file.
    pub path: PathBuf,
    /// The path below the folder, as shown to users.
    pub name: String,
    /// The agent's name.
    pub agent: String,
    /// The agent's folder `log`, above which nothing is removed.
    root: PathBuf,
    /// The content's hash: different content means a different file.
    hash: ContentHash,
}

/// The content of a log.
#[derive(Debug)]
pub struct LogContent {
    /// The day.
    pub date: Date,
    /// Its messages.
    pub day: RecordedDay,
}

/// The files `AGENT/log/**/*.jsonl` of a folder, by name.
///
/// # Errors
/// An I/O error.
pub fn logs(dir: &Path) -> io::Result<Vec<Log>> {
    let nested = dir.join("agent_data");
    let of_agents = if nested.is_dir() { nested } else { dir.to_owned() };
    let mut found = Vec::new();
    for home in layout::entries(&of_agents)? {
        let log = home.join("log");
        let is_folder = fs::symlink_metadata(&log).is_ok_and(|metadata| metadata.is_dir());
        let Some(agent) = home.file_name().and_then(|name| name.to_str()).filter(|_| is_folder) else {
            continue;
        };
        let mut files = Vec::new();
        walk(&log, &mut files)?;
        for path in files {
            let name = path.strip_prefix(dir).unwrap_or(&path).display().to_string();
            let hash = ContentHash::of(&fs::read(&path)?);
            found.push(Log { path, name, agent: agent.to_owned(), root: log.clone(), hash });
        }
    }
    Ok(found)
}

/// Symbolic links are skipped: their targets may belong to someone else.
fn walk(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in layout::entries(dir)? {
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_dir() {
            walk(&path, files)?;
        } else if metadata.is_file() && path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads a log as an import does. The inner `Err` says why its content is unreadable.
///
/// # Errors
/// An I/O error.
pub fn read(log: &Log) -> io::Result<Result<LogContent, String>> {
    let folder = log.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let Ok(date) = parse_date(&folder) else {
        return Ok(Err("its folder's name is not a date".to_owned()));
    };
    let file = LogFile { date, path: log.path.clone(), name: log.name.clone() };
    let (mut agent_report, mut report) = (AgentReport::of(&log.agent), RunReport::default());
    let day = log::read(&file, &log.agent, &mut agent_report, &mut report)?;
    let left_out = report.notes.keys().find(|note| note.contains("not imported"));
    Ok(match (report.problems.first.first(), left_out) {
        (Some(problem), _) => Err(format!("line {}: {}", problem.at.line, problem.reason)),
        (None, Some(note)) => Err(note.clone()),
        (None, None) => Ok(LogContent { date, day }),
    })
}

/// Copies logs into a new tar.gz file, and reads it back to verify its content.
///
/// # Errors
/// An I/O error; a log that has changed since it was read; a copy that differs.
pub fn back_up(logs: &[Log], to: &Path) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", to.display()));
    let file = File::options().write(true).create_new(true).open(to).map_err(named)?;
    let written = write_tar(logs, file).and_then(|()| check(logs, to));
    if written.is_err() {
        // A partial backup is useless.
        let _ = fs::remove_file(to);
    }
    written.map_err(named)
}

fn write_tar(logs: &[Log], file: File) -> io::Result<()> {
    let mut tar = GzEncoder::new(file, Compression::default());
    for log in logs {
        let bytes = fs::read(&log.path)?;
        if ContentHash::of(&bytes) != log.hash {
            return Err(io::Error::other(format!("{} has changed since it was read", log.name)));
        }
        let name = log.name.as_bytes();
        if name.len() > 100 {
            // A longer name goes into an entry of its own, as GNU tar writes it.
            entry(&mut tar, b"././@LongLink", b'L', &[name, b"\0"].concat())?;
        }
        entry(&mut tar, &name[..name.len().min(100)], b'0', &bytes)?;
    }
    tar.write_all(&[0; 2 * BLOCK])?;
    tar.finish()?.sync_all()
}

fn entry(tar: &mut impl io::Write, name: &[u8], kind: u8, bytes: &[u8]) -> io::Result<()> {
    let mut header = [0_u8; BLOCK];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    put(0, name);
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{:011o}\0", bytes.len()).as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar  \0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    tar.write_all(&header)?;
    tar.write_all(bytes)?;
    tar.write_all(&[0; BLOCK][..bytes.len().next_multiple_of(BLOCK) - bytes.len()])
}

/// Verifies that every log is in the copy, byte for byte.
fn check(logs: &[Log], path: &Path) -> io::Result<()> {
    let mut tar = GzDecoder::new(File::open(path)?);
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "the backup differs from the logs");
    let mut held: BTreeMap<Vec<u8>, ContentHash> = BTreeMap::new();
    let mut long: Option<Vec<u8>> = None;
    loop {
        let mut header = [0_u8; BLOCK];
        tar.read_exact(&mut header)?;
        if header == [0; BLOCK] {
            break;
        }
        let size =
            std::str::from_utf8(&header[124..135]).ok().and_then(|text| usize::from_str_radix(text, 8).ok());
        let size = size.ok_or_else(broken)?;
        let mut bytes = vec![0; size.next_multiple_of(BLOCK)];
        tar.read_exact(&mut bytes)?;
        bytes.truncate(size);
        let short: Vec<u8> = header[..100].iter().copied().take_while(|byte| *byte != 0).collect();
        match header[156] {
            b'L' => long = Some(bytes.into_iter().take_while(|byte| *byte != 0).collect()),
            _ => drop(held.insert(long.take().unwrap_or(short), ContentHash::of(&bytes))),
        }
    }
    let is_there = |log: &Log| held.get(log.name.as_bytes()) == Some(&log.hash);
    if logs.iter().all(is_there) { Ok(()) } else { Err(broken()) }
}

/// Removes logs and the folders that become empty, up to the agent's `log`. Returns these folders.
///
/// # Errors
/// An I/O error; a log that has changed since it was copied.
pub fn remove(logs: &[Log]) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for log in logs {
        if ContentHash::of(&fs::read(&log.path)?) != log.hash {
            return Err(io::Error::other(format!("{} has changed since it was copied", log.name)));
        }
        fs::remove_file(&log.path)?;
        let mut folder = log.path.parent();
        while let Some(here) = folder {
            if fs::read_dir(here)?.next().is_some() {
                break;
            }
            fs::remove_dir(here)?;
            folders.push(here.to_owned());
            folder = here.parent().filter(|_| here != log.root);
        }
    }
    Ok(folders)
}
