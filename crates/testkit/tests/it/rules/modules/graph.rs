//! Who uses whom among the modules of each folder.

use std::collections::{BTreeMap, BTreeSet};

/// The way to a module from the root.
pub(super) type Module = Vec<String>;

/// Modules of one folder that use each other.
pub(super) struct Circle {
    /// The folder and its members.
    pub(super) name: String,
    /// One reference for each pair.
    pub(super) references: Vec<String>,
}

/// By folder, user and used module: an example.
#[derive(Default)]
pub(super) struct Graph(BTreeMap<Module, BTreeMap<String, BTreeMap<String, String>>>);

impl Graph {
    /// Adds a reference, where the ways of the two part. A module above or below another is not its sibling.
    pub(super) fn refer(&mut self, from: &[String], to: &[String], what: &str) {
        let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        if let (Some(user), Some(used)) = (from.get(shared), to.get(shared)) {
            let folder = self.0.entry(from[..shared].to_vec()).or_default();
            let example = || format!("{} uses {what}", from.join("::"));
            folder.entry(user.clone()).or_default().entry(used.clone()).or_insert_with(example);
        }
    }

    /// The number of pairs that refer to each other.
    pub(super) fn references(&self) -> usize {
        self.0.values().flat_map(BTreeMap::values).map(BTreeMap::len).sum()
    }

    /// The groups of siblings in which each reaches each.
    pub(super) fn circles(&self, name: &str) -> Vec<Circle> {
        let mut circles = Vec::new();
        for (folder, uses) in &self.0 {
            let reached: BTreeMap<&str, BTreeSet<&str>> =
                uses.keys().map(|module| (module.as_str(), reached(uses, module))).collect();
            let mut done = BTreeSet::new();
            for (module, others) in &reached {
                if !others.contains(module) || !done.insert(*module) {
                    continue;
                }
                let back = |other: &&&str| reached.get(**other).is_some_and(|from| from.contains(module));
                let members: BTreeSet<&str> = others.iter().filter(back).copied().collect();
                done.extend(&members);
                let inside = uses.iter().filter(|(user, _)| members.contains(user.as_str()));
                let references = inside.flat_map(|(_, used)| {
                    used.iter()
                        .filter(|(used, _)| members.contains(used.as_str()))
                        .map(|(_, example)| example)
                });
                let place: Vec<&str> = [name].into_iter().chain(folder.iter().map(String::as_str)).collect();
                let list: Vec<&str> = members.iter().copied().collect();
                circles.push(Circle {
                    name: format!("{}: {}", place.join("::"), list.join(", ")),
                    references: references.cloned().collect(),
                });
            }
        }
        circles
    }
}

/// All modules that one uses, directly or through others.
fn reached<'a>(uses: &'a BTreeMap<String, BTreeMap<String, String>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = uses.get(from).into_iter().flatten().map(|(used, _)| used.as_str()).collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(uses.get(module).into_iter().flatten().map(|(used, _)| used.as_str()));
        }
    }
    reached
}
