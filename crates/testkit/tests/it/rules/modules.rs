//! No circles between the modules of a folder, in Rust and in TypeScript.
//!
//! A module that uses another one does not need to be understood together with it unless that one uses it back.
//! References go to where an item is defined: re-exports are followed. What a parent and its child use of each other is not
//! looked at: they are one module with an outline.

use super::{hold, repo};
use graph::{Circle, Graph};

mod graph;
mod rust;
mod typescript;

/// Circles that may stay, as the test prints them, each with the reason.
const ALLOWED: &[(&str, &str)] = &[];

/// What breaks the rule: circles that are not allowed, and allowances that are not needed.
fn findings(circles: &[Circle], allowed: &[(&str, &str)]) -> Vec<String> {
    let not_allowed = circles.iter().filter(|circle| allowed.iter().all(|(known, _)| *known != circle.name));
    let mut findings: Vec<String> = not_allowed
        .map(|circle| format!("{}\n      {}", circle.name, circle.references.join("\n      ")))
        .collect();
    let gone = allowed.iter().filter(|(known, _)| circles.iter().all(|circle| circle.name != *known));
    findings.extend(gone.map(|(known, _)| format!("{known}: allowed, but there is no such circle")));
    findings
}

#[test]
fn no_circles_between_modules() {
    let mut circles = Vec::new();
    let mut references = 0;
    for (name, graph) in rust::crates().into_iter().chain([("web".to_owned(), typescript::pages())]) {
        references += graph.references();
        circles.extend(graph.circles(&name));
    }
    assert!(references > 1000, "{references} references: the sources are not read");
    hold(
        "modules of one folder use each other in a circle; move what both need to a module of its own, or to \
         the one that owns it:",
        &findings(&circles, ALLOWED),
    );
}

/// The circles of a crate given as files.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let read =
        |path: &str| files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned());
    rust::graph(&read, &["lib.rs"]).circles("x").into_iter().map(|circle| circle.name).collect()
}

#[test]
fn a_circle_is_found_through_a_re_export_and_a_macro() {
    let a = ("a.rs", "use crate::b::B;\npub struct A(B);");
    assert!(circles_of(&[("lib.rs", "mod a; mod b;"), a, ("b.rs", "pub struct B;")]).is_empty());
    for (lib, b) in [
        ("mod a; mod b;", "use crate::a; pub fn b() -> a::A {}"),
        ("mod a; mod b; pub use a::A;", "use super::{A as Other}; pub struct B(Other);"),
        ("mod a; mod b; pub use a::A;", "pub fn b() { println!(\"{}\", crate::A::new()); }"),
        ("mod a; mod b; use a::A;", "mod inner { use super::super::A; }"),
    ] {
        assert_eq!(circles_of(&[("lib.rs", lib), a, ("b.rs", b)]), ["x: a, b"], "{b}");
    }
}

#[test]
fn tests_comments_and_a_module_above_make_no_circle() {
    for b in [
        "// use crate::a::A;\npub const A: &str = \"crate::a::A\";",
        "#[cfg(test)]\nuse crate::{a::A};\npub struct B;",
        "#[cfg(test)]\nmod tests { use crate::a::A; }",
        "pub struct B; mod inner { use super::B; }",
    ] {
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", b)];
        assert_eq!(circles_of(&files), Vec::<String>::new(), "{b}");
    }
}

#[test]
fn circles_in_folders_below_and_in_the_pages_are_found() {
    let files = [
        ("lib.rs", "mod f;"),
        ("f/mod.rs", "mod a; mod b; mod c;"),
        ("f/a.rs", "use super::b::B;"),
        ("f/b.rs", "use super::c::C;"),
        ("f/c.rs", "use crate::f::a::A;"),
    ];
    assert_eq!(circles_of(&files), ["x::f: a, b, c"]);
    let files = [
        ("run/Page.tsx", "import { a } from './part'\n// import '../list/Rows'"),
        ("run/part.ts", "export const a = () => import('@/list/Rows')"),
        ("list/Rows.tsx", "import type {\n  A,\n} from '../run/part'\nimport React from 'react'"),
    ];
    let graph = typescript::graph(files.iter().map(|(path, text)| (*path, *text)));
    let names: Vec<_> = graph.circles("web").into_iter().map(|circle| circle.name).collect();
    assert_eq!(names, ["web: list, run"]);
}

#[test]
fn an_allowance_ends_with_its_circle() {
    let mut graph = Graph::default();
    let module = |name: &str| vec![name.to_owned()];
    graph.refer(&module("a"), &module("b"), "b::B");
    graph.refer(&module("b"), &module("a"), "a::A");
    let circles = graph.circles("x");
    let found = findings(&circles, &[]);
    assert_eq!(found, ["x: a, b\n      a uses b::B\n      b uses a::A"]);
    assert!(findings(&circles, &[("x: a, b", "one concept")]).is_empty());
    assert_eq!(
        findings(&[], &[("x: a, b", "one concept")]),
        ["x: a, b: allowed, but there is no such circle"]
    );
}
