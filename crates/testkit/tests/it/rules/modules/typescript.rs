//! The imports of the web pages. A file and a folder of one name are one module, and `index` is its folder.

use super::graph::{Graph, Module};
use super::repo;
use regex::Regex;

/// The graph of the pages, without their tests.
pub(super) fn pages() -> Graph {
    let files = repo::texts();
    let sources =
        files.iter().filter_map(|file| Some((file.path.strip_prefix("web/src/")?, file.text.as_str())));
    graph(sources.filter(|(path, _)| !path.starts_with("test/") && !path.contains(".test.")))
}

/// The graph of these files, by their path below the sources.
pub(super) fn graph<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Graph {
    let imports = Regex::new(r"(?m)^[^/\n*]*?\b(?:from|import)\s*\(?\s*['\x22]([^'\x22\n]+)['\x22]")
        .expect("well formed");
    let mut graph = Graph::default();
    for (path, text) in files.filter(|(path, _)| path.ends_with(".ts") || path.ends_with(".tsx")) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for import in imports.captures_iter(text) {
            let used = &import[1];
            let used = match used.strip_prefix("@/") {
                Some(used) => module(used),
                None if used.starts_with('.') => module(&format!("{folder}/{used}")),
                None => continue,
            };
            graph.refer(&module(path), &used, &used.join("/"));
        }
    }
    graph
}

/// The module of a path, with `.` and `..` worked out.
fn module(path: &str) -> Module {
    let mut module = Module::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(module.pop()),
            part => module.push(part.trim_end_matches(".tsx").trim_end_matches(".ts").to_owned()),
        }
    }
    module.pop_if(|last| last == "index");
    module
}
