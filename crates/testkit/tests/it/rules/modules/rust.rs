//! The references of a crate, read from its tokens: also inside macros, which a parser of Rust leaves alone.

use super::graph::{Graph, Module};
use super::repo;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// What is written in a module.
#[derive(Default)]
struct Scope {
    /// Names that `use` brings in, with the written path.
    imports: BTreeMap<String, Vec<String>>,
    /// Every written path of two or more names, and every imported one.
    paths: BTreeSet<Vec<String>>,
}

/// A crate's modules. Those that are compiled only for tests are left out.
struct Reader<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    scopes: BTreeMap<Module, Scope>,
}

/// The graph of each crate.
pub(super) fn crates() -> Vec<(String, Graph)> {
    let folder = repo::root().join("crates");
    let entries = fs::read_dir(&folder).expect("the crates' folder can be read");
    let names = entries.map(|entry| entry.expect("an entry can be read").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("a crate's name is text")).collect();
    names.sort();
    let graph = |name: String| {
        let read = |path: &str| fs::read_to_string(folder.join(&name).join("src").join(path)).ok();
        let graph = graph(&read, &["lib.rs", "main.rs"]);
        (name, graph)
    };
    names.into_iter().map(graph).collect()
}

/// The graph of a crate with these root files, as far as they are there.
pub(super) fn graph(read: &dyn Fn(&str) -> Option<String>, roots: &[&str]) -> Graph {
    let mut graph = Graph::default();
    for text in roots.iter().filter_map(|root| read(root)) {
        let mut reader = Reader { read, scopes: BTreeMap::new() };
        reader.module(Module::new(), tokens(&text));
        for (module, scope) in &reader.scopes {
            for path in &scope.paths {
                if let Some(used) = reader.resolve(module, path, 0) {
                    graph.refer(module, &used, &path.join("::"));
                }
            }
        }
    }
    graph
}

fn tokens(text: &str) -> Vec<TokenTree> {
    text.parse::<TokenStream>().expect("the source compiles").into_iter().collect()
}

/// The name, without the sign of a raw one.
fn name(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(name)) => Some(name.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether `::` is at this place.
fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_sign(tokens.get(at), ':') && is_sign(tokens.get(at + 1), ':')
}

/// Whether `#[cfg(test)]` is at this place.
fn is_for_tests(tokens: &[TokenTree], at: usize) -> bool {
    let attribute = |group: &TokenTree| {
        let text: String = group.to_string().split_whitespace().collect();
        text == "[cfg(test)]"
    };
    is_sign(tokens.get(at), '#') && tokens.get(at + 1).is_some_and(attribute)
}

/// The place after the item that starts here.
fn after_item(tokens: &[TokenTree], start: usize) -> usize {
    let mut imports = false;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            TokenTree::Ident(name) => imports |= *name == "use",
            TokenTree::Punct(sign) if sign.as_char() == ';' => return at + 1,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !imports => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

impl Reader<'_> {
    fn module(&mut self, module: Module, tokens: Vec<TokenTree>) {
        self.scopes.entry(module.clone()).or_default();
        self.scan(&module, &tokens);
    }

    fn scan(&mut self, module: &Module, tokens: &[TokenTree]) {
        let mut at = 0;
        while at < tokens.len() {
            if is_for_tests(tokens, at) {
                at = after_item(tokens, at + 2);
                continue;
            }
            match (&tokens[at], name(tokens.get(at)).as_deref()) {
                (_, Some("mod")) => at = self.child(module, tokens, at + 1),
                (_, Some("use")) => {
                    let end = after_item(tokens, at);
                    self.import(module, &[], &tokens[at + 1..end]);
                    at = end;
                }
                (_, Some(_)) => at = self.path(module, tokens, at),
                (TokenTree::Group(group), _) => {
                    self.scan(module, &group.stream().into_iter().collect::<Vec<_>>());
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// `mod name;` or `mod name { … }`, from the name; returns the place behind it.
    fn child(&mut self, module: &Module, tokens: &[TokenTree], at: usize) -> usize {
        let Some(name) = name(tokens.get(at)) else { return at };
        let child: Module = module.iter().cloned().chain([name]).collect();
        match tokens.get(at + 1) {
            Some(TokenTree::Group(group)) => self.module(child, group.stream().into_iter().collect()),
            _ => {
                let path = child.join("/");
                let text =
                    (self.read)(&format!("{path}.rs")).or_else(|| (self.read)(&format!("{path}/mod.rs")));
                if let Some(text) = text {
                    self.module(child, self::tokens(&text));
                }
            }
        }
        at + 2
    }

    /// A tree of imports, behind its prefix.
    fn import(&mut self, module: &Module, prefix: &[String], tokens: &[TokenTree]) {
        for tree in tokens.split(|token| is_sign(Some(token), ',') || is_sign(Some(token), ';')) {
            let renamed = tree.iter().position(|token| name(Some(token)).as_deref() == Some("as"));
            let (tree, alias) = tree.split_at(renamed.unwrap_or(tree.len()));
            let mut path = prefix.to_vec();
            path.extend(tree.iter().filter_map(|token| name(Some(token))));
            match tree.last() {
                Some(TokenTree::Group(group)) => {
                    self.import(module, &path, &group.stream().into_iter().collect::<Vec<_>>());
                }
                Some(last) => {
                    if path.last().is_some_and(|last| last == "self") {
                        path.pop();
                    }
                    let scope = self.scopes.entry(module.clone()).or_default();
                    let bound = name(alias.get(1)).or_else(|| path.last().cloned());
                    if let Some(bound) = bound.filter(|_| !is_sign(Some(last), '*')) {
                        scope.imports.insert(bound, path.clone());
                    }
                    scope.paths.insert(path);
                }
                None => {}
            }
        }
    }

    /// A path, from its first name; returns the place behind it. One that starts with `::` is another crate's.
    fn path(&mut self, module: &Module, tokens: &[TokenTree], start: usize) -> usize {
        let mut path: Vec<String> = name(tokens.get(start)).into_iter().collect();
        let mut at = start + 1;
        while is_separator(tokens, at)
            && let Some(next) = name(tokens.get(at + 2))
        {
            path.push(next);
            at += 3;
        }
        let outside = start >= 2 && is_separator(tokens, start - 2);
        if path.len() > 1 && !outside {
            self.scopes.entry(module.clone()).or_default().paths.insert(path);
        }
        at
    }

    /// The module of this crate in which the path ends; none if it leads to another crate.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<Module> {
        let (mut found, mut rest) = match path.first()?.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (module.to_vec(), &path[1..]),
            "super" => (module.to_vec(), path),
            first => {
                let scope = self.scopes.get(module)?;
                let known = self.child_of(module, first).is_some() || scope.imports.contains_key(first);
                // A name that is neither is defined here, or another crate's.
                known.then(|| (module.to_vec(), path))?
            }
        };
        while let Some((next, behind)) = rest.split_first() {
            if next == "super" {
                found.pop()?;
            } else if let Some(child) = self.child_of(&found, next) {
                found = child;
            } else if let Some(import) = self.scopes.get(&found).and_then(|scope| scope.imports.get(next))
                && depth < 16
            {
                let whole: Vec<String> = import.iter().chain(behind).cloned().collect();
                return self.resolve(&found, &whole, depth + 1);
            } else {
                break;
            }
            rest = behind;
        }
        Some(found)
    }

    fn child_of(&self, module: &[String], name: &str) -> Option<Module> {
        let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
        self.scopes.contains_key(&child).then_some(child)
    }
}
