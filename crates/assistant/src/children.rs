//! Parses the children into which a model would decompose a node: which are created, in which order, and what is
//! left out.

use papertape_core::language::Language;
use papertape_core::plan::{MAX_NAME_CHARS, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Max dropped dependencies listed per decomposition.
pub const MAX_LISTED: usize = 100;
/// Max characters stored of an index that is not a number.
const PLACE_CHARS: usize = 80;

/// What a decomposition left out of the model's responses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Children that were not created, by node and reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<LeftOutChildren>,
    /// Dependencies that were dropped: the first [`MAX_LISTED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<LeftOutDependency>,
    /// Number of dropped dependencies that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_dependencies: u32,
}

/// Children of one node that were not created, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutChildren {
    /// The task they would be children of; `None` for the plan itself.
    pub parent: Option<TaskId>,
    /// Why.
    pub reason: ChildReason,
    /// Number of children.
    pub count: u32,
}

/// Why a child was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildReason {
    /// It has no name.
    NoName,
    /// It is not an object, or a field of it has another type.
    Malformed,
    /// Its node already has `max_children`.
    MaxChildren,
    /// The job has already created `total_node_budget` tasks.
    NodeBudget,
    /// The task could not be created.
    Failed,
}

/// A dropped dependency between children of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutDependency {
    /// The node's task; `None` for the plan itself.
    pub parent: Option<TaskId>,
    /// The dependent child.
    pub from: ChildRef,
    /// The child it depends on.
    pub to: ChildRef,
    /// Why it was dropped.
    pub reason: DependencyReason,
}

/// A child in the model's response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildRef {
    /// Its index in the response's list, from 0, or whatever the response has instead.
    pub place: Value,
    /// Its name; `None` if it has none or does not exist.
    pub name: Option<String>,
    /// The task created from it, if any.
    pub task_id: Option<TaskId>,
}

/// Why a dependency was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DependencyReason {
    /// It would close a cycle with the dependencies before it.
    Cycle,
    /// The child that it names was not created.
    NotMade,
    /// The response has no child at that index.
    Unknown,
}

impl LeftOut {
    /// Counts children of a node that are not created.
    pub(crate) fn children(&mut self, parent: Option<TaskId>, reason: ChildReason, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let same = self.children.iter_mut().find(|one| one.parent == parent && one.reason == reason);
        match same {
            _ if count == 0 => {}
            Some(same) => same.count = same.count.saturating_add(count),
            None => self.children.push(LeftOutChildren { parent, reason, count }),
        }
    }

    /// Lists a dropped dependency, or counts it.
    pub(crate) fn dependency(&mut self, dropped: LeftOutDependency) {
        if self.dependencies.len() < MAX_LISTED {
            self.dependencies.push(dropped);
        } else {
            self.more_dependencies = self.more_dependencies.saturating_add(1);
        }
    }

    /// Number of children left out for this reason.
    #[must_use]
    pub fn count(&self, reason: ChildReason) -> u32 {
        self.children.iter().filter(|one| one.reason == reason).map(|one| one.count).sum()
    }

    /// Number of dropped dependencies.
    #[must_use]
    pub fn dropped(&self) -> u32 {
        u32::try_from(self.dependencies.len()).unwrap_or(u32::MAX).saturating_add(self.more_dependencies)
    }

    /// A message with the number of items left out; empty if there are none.
    #[must_use]
    pub fn words(&self, language: Language) -> String {
        use ChildReason::{Failed, Malformed, MaxChildren, NoName, NodeBudget};
        let reasons = [
            (NoName, "without a name", "没有名称"),
            (Malformed, "malformed", "格式错误"),
            (MaxChildren, "over max_children", "超出 max_children"),
            (NodeBudget, "over total_node_budget", "超出 total_node_budget"),
            (Failed, "not created", "创建失败"),
        ];
        let counts = reasons.map(|(reason, english, chinese)| (self.count(reason), english, chinese));
        let dropped = (self.dropped(), "dependencies dropped", "依赖被丢弃");
        let counted = counts.into_iter().chain([dropped]).filter(|(count, ..)| *count > 0);
        let words = counted.map(|(count, english, chinese)| match language {
            Language::En => format!("{count} {english}"),
            Language::Zh => format!("{count} 个{chinese}"),
        });
        words.collect::<Vec<_>>().join(if language == Language::En { ", " } else { "，" })
    }

    /// Whether nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.children.is_empty() && self.dependencies.is_empty()
    }
}

/// A child as requested by the model.
#[derive(Debug)]
pub(crate) struct Child {
    /// Its index in the response's list.
    pub(crate) place: usize,
    pub(crate) name: String,
    pub(crate) instruction: String,
    /// Indexes of the children it depends on.
    pub(crate) after: Vec<usize>,
}

/// A parsed response.
#[derive(Debug, Default)]
pub(crate) struct Children {
    /// Children that can be created, each after those it depends on.
    pub(crate) made: Vec<Child>,
    /// Number of children left out, by reason.
    pub(crate) left_out: Vec<(ChildReason, usize)>,
    /// Dropped dependencies: from, to, and reason.
    pub(crate) dropped: Vec<(usize, Value, DependencyReason)>,
    /// The names in the response, by index.
    pub(crate) names: Vec<Option<String>>,
}

impl Children {
    /// One child, without dependencies.
    pub(crate) fn one(name: String, instruction: String) -> Self {
        let names = vec![Some(name.clone())];
        let child = Child { place: 0, name, instruction, after: Vec::new() };
        Self { made: vec![child], names, ..Self::default() }
    }

    /// A reference to a child of the response, with its task if it was created as one of these.
    pub(crate) fn reference(&self, place: &Value, made: &[(usize, TaskId)]) -> ChildRef {
        let at = place_of(place);
        let name = at.and_then(|at| self.names.get(at)?.clone());
        let task_id = made.iter().find(|(place, _)| Some(*place) == at).map(|(_, task)| *task);
        let place = match place {
            Value::Number(_) => place.clone(),
            Value::String(text) => text.chars().take(PLACE_CHARS).collect::<String>().into(),
            other => other.to_string().chars().take(PLACE_CHARS).collect::<String>().into(),
        };
        ChildRef { place, name: name.map(|name| name.chars().take(MAX_NAME_CHARS).collect()), task_id }
    }
}

/// Omits a zero.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A child as serialized.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    instruction: Option<String>,
    #[serde(default)]
    dependencies: Option<Vec<Value>>,
}

/// The response's schema.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": {
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "instruction": { "type": "string" },
                "dependencies": { "type": "array", "items": { "type": "integer" } },
            },
            "required": ["name", "instruction", "dependencies"],
        } } },
        "required": ["children"],
    })
}

/// Parses the children in a response, wherever its JSON object is: at most `max_children`, and at most `room`.
pub(crate) fn read(text: &str, max_children: u32, room: u32) -> Result<Children, String> {
    let object = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let answer: Value = serde_json::from_str(object.unwrap_or(text))
        .map_err(|error| format!("the answer cannot be parsed: {error}"))?;
    let answered = answer["children"].as_array().ok_or("the answer has no `children`")?;
    let [max_children, room] = [max_children, room].map(|most| usize::try_from(most).unwrap_or(usize::MAX));
    let mut read = Children::default();
    let (mut children, mut wanted) = (Vec::new(), Vec::new());
    for (place, value) in answered.iter().enumerate() {
        let name = value["name"].as_str().map(str::trim).filter(|name| !name.is_empty());
        read.names.push(name.map(str::to_owned));
        let written = serde_json::from_value::<Written>(value.clone());
        let reason = match (name, written) {
            (None, _) if value.is_object() && !is_other(&value["name"]) => ChildReason::NoName,
            (None, _) | (_, Err(_)) => ChildReason::Malformed,
            _ if children.len() >= max_children => ChildReason::MaxChildren,
            _ if children.len() >= room => ChildReason::NodeBudget,
            (Some(name), Ok(written)) => {
                let instruction = written.instruction.unwrap_or_default();
                children.push(Child { place, name: name.to_owned(), instruction, after: Vec::new() });
                wanted.push(written.dependencies.unwrap_or_default());
                continue;
            }
        };
        read.left_out.push((reason, 1));
    }
    for (at, dependencies) in wanted.into_iter().enumerate() {
        for dependency in dependencies {
            let place = children[at].place;
            match depend(&mut children, at, &dependency, answered.len()) {
                Ok(()) => {}
                Err(reason) => read.dropped.push((place, dependency, reason)),
            }
        }
    }
    read.made = in_order(children);
    Ok(read)
}

/// Whether it is a value other than text.
fn is_other(name: &Value) -> bool {
    !name.is_null() && !name.is_string()
}

/// An index in a list, given as a number or as text.
fn place_of(place: &Value) -> Option<usize> {
    let place = place.as_u64().or_else(|| place.as_str()?.trim().parse().ok())?;
    usize::try_from(place).ok()
}

/// Makes a child depend on another one.
fn depend(children: &mut [Child], at: usize, on: &Value, answered: usize) -> Result<(), DependencyReason> {
    let place = place_of(on).filter(|place| *place < answered).ok_or(DependencyReason::Unknown)?;
    let to = children.iter().position(|child| child.place == place).ok_or(DependencyReason::NotMade)?;
    if waits_for(children, to, at) {
        return Err(DependencyReason::Cycle);
    }
    let after = &mut children[at].after;
    if !after.contains(&place) {
        after.push(place);
    }
    Ok(())
}

/// Whether a child is another one, or depends on it directly or indirectly.
fn waits_for(children: &[Child], from: usize, to: usize) -> bool {
    let mut seen = vec![false; children.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            let next = |place: &usize| children.iter().position(|child| child.place == *place);
            open.extend(children[at].after.iter().filter_map(next));
        }
    }
    false
}

/// Children in the order of creation: each after those it depends on, otherwise in the original order.
fn in_order(mut children: Vec<Child>) -> Vec<Child> {
    let mut ordered: Vec<Child> = Vec::new();
    while !children.is_empty() {
        let is_made = |place: &usize| ordered.iter().any(|child| child.place == *place);
        // There are no cycles, so there is always a child without open dependencies.
        let free = children.iter().position(|child| child.after.iter().all(is_made)).unwrap_or_default();
        ordered.push(children.remove(free));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(read: &Children) -> Vec<(usize, Vec<usize>)> {
        read.made.iter().map(|child| (child.place, child.after.clone())).collect()
    }

    // Goal: whatever children a response has, those not created are counted by reason, and indexes in
    // `dependencies` remain those of the response's list.
    #[test]
    fn children_that_are_left_out_are_counted() {
        let answer = json!({ "children": [
            { "name": " ", "instruction": "a" },
            { "instruction": "b" },
            { "name": "A", "instruction": "c", "dependencies": [] },
            "nothing",
            { "name": 5 },
            { "name": "B", "instruction": ["d"] },
            { "name": "C", "dependencies": ["2", 1, 9, "x", -1] },
            { "name": "D" },
            { "name": "E" },
        ] });
        let found = read(&answer.to_string(), 3, 2).expect("reads");
        use ChildReason::{Malformed, MaxChildren, NoName, NodeBudget};
        let reasons: Vec<ChildReason> = found.left_out.iter().map(|(reason, _)| *reason).collect();
        assert_eq!(reasons, [NoName, NoName, Malformed, Malformed, Malformed, NodeBudget, NodeBudget]);
        assert_eq!(places(&found), [(2, vec![]), (6, vec![2])]);
        use DependencyReason::{NotMade, Unknown};
        let dropped: Vec<(usize, Value, DependencyReason)> = found.dropped;
        let expected =
            [(json!(1), NotMade), (json!(9), Unknown), (json!("x"), Unknown), (json!(-1), Unknown)];
        assert_eq!(dropped, expected.map(|(to, reason)| (6, to, reason)));
        let found = read(&answer.to_string(), 2, 9).expect("reads");
        assert_eq!(found.left_out.last(), Some(&(MaxChildren, 1)));
    }

    // Goal: only the edge that closes a cycle is dropped; edges to later children are kept, and each child comes
    // after those it depends on.
    #[test]
    fn the_edge_that_closes_a_cycle_is_dropped() {
        let child = |dependencies: Value| json!({ "name": "x", "dependencies": dependencies });
        let answer = json!({ "children": [
            child(json!([2, 0])), child(json!([0])), child(json!([3])), child(json!([1, 4])), child(json!([])),
        ] });
        let found = read(&answer.to_string(), 10, 10).expect("reads");
        let cycles = [(0, json!(0)), (3, json!(1))].map(|(from, to)| (from, to, DependencyReason::Cycle));
        assert_eq!(found.dropped, cycles);
        assert_eq!(places(&found), [(4, vec![]), (3, vec![4]), (2, vec![3]), (0, vec![2]), (1, vec![0])]);
    }

    // Goal: no response, however odd, produces children with circular dependencies.
    #[test]
    fn answers_without_children_are_named() {
        assert!(read("no JSON", 5, 5).expect_err("fails").starts_with("the answer cannot be parsed"));
        assert_eq!(read("{}", 5, 5).expect_err("fails"), "the answer has no `children`");
        let none = read(r#"Here: {"children": []}."#, 5, 5).expect("reads");
        assert!(none.made.is_empty() && none.left_out.is_empty() && none.dropped.is_empty());
    }
}
