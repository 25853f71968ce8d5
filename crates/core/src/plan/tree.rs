//! The tree of a plan's tasks, and every change to it.

use super::{
    MAX_DEPTH, MAX_TASKS, NewTask, PlanError, PlanId, Task, TaskChanges, TaskId, TaskStatus, TaskWrite,
};
use crate::job::JobStatus;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// All tasks of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    plan: PlanId,
    tasks: BTreeMap<TaskId, Task>,
}

/// The effect of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The task that the change was about.
    pub task: Option<TaskId>,
    /// Tasks that are new or changed, renumbered siblings included.
    pub kept: BTreeSet<TaskId>,
    /// Tasks that were removed.
    pub gone: BTreeSet<TaskId>,
}

impl Tree {
    /// A tree of `tasks`, which must be all tasks of the plan.
    #[must_use]
    pub fn new(plan: PlanId, tasks: impl IntoIterator<Item = Task>) -> Self {
        Self { plan, tasks: tasks.into_iter().map(|task| (task.id, task)).collect() }
    }

    /// The task with this ID.
    #[must_use]
    pub fn get(&self, task: TaskId) -> Option<&Task> {
        self.tasks.get(&task)
    }

    /// The number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there are no tasks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The status of a plan with these tasks when no job works on it: completed when each is completed or
    /// skipped; partial when some are completed; failed when none is completed and one failed; otherwise
    /// queued.
    #[must_use]
    pub fn derived_status(&self) -> JobStatus {
        let is = |status| self.tasks.values().any(|task| task.status == status);
        let is_open = is(TaskStatus::Failed) || is(TaskStatus::Queued) || is(TaskStatus::Running);
        match (is_open, is(TaskStatus::Completed)) {
            _ if self.tasks.is_empty() => JobStatus::Queued,
            (false, _) => JobStatus::Completed,
            (true, true) => JobStatus::Partial,
            (true, false) if is(TaskStatus::Failed) => JobStatus::Failed,
            (true, false) => JobStatus::Queued,
        }
    }

    /// The children of a task (`None`: the top-level tasks), by position.
    #[must_use]
    pub fn children(&self, parent: Option<TaskId>) -> Vec<&Task> {
        let mut children: Vec<&Task> = self.tasks.values().filter(|task| task.parent_id == parent).collect();
        children.sort_by_key(|task| (task.position, task.id));
        children
    }

    /// All tasks, each before its children, siblings by position.
    #[must_use]
    pub fn in_order(&self) -> Vec<&Task> {
        let mut below: BTreeMap<Option<TaskId>, Vec<&Task>> = BTreeMap::new();
        for task in self.tasks.values() {
            below.entry(task.parent_id).or_default().push(task);
        }
        for siblings in below.values_mut() {
            // A stack: the last one pushed is popped first.
            siblings.sort_by_key(|task| std::cmp::Reverse((task.position, task.id)));
        }
        let mut open = below.remove(&None).unwrap_or_default();
        let mut order = Vec::with_capacity(self.tasks.len());
        while let Some(task) = open.pop() {
            order.push(task);
            open.extend(below.remove(&Some(task.id)).unwrap_or_default());
        }
        order
    }

    /// Applies the change, or leaves the tree unchanged. `fresh` is the ID for a new task without a reserved
    /// one.
    ///
    /// # Errors
    /// Why the change is rejected.
    pub fn apply(&mut self, write: &TaskWrite, fresh: TaskId, at: Timestamp) -> Result<Changed, PlanError> {
        let before = self.clone();
        let applied = match write {
            TaskWrite::Create(new) => self.create(new, fresh, at),
            TaskWrite::Update { task, changes } => self.update(*task, changes),
            TaskWrite::Move { task, parent, position } => self.shift(*task, *parent, *position),
            TaskWrite::Delete { task } => self.delete(*task),
        };
        let task = match applied.and_then(|task| self.waits_end().map(|()| task)) {
            Ok(task) => task,
            Err(refusal) => {
                *self = before;
                return Err(refusal);
            }
        };
        let mut changed = Changed { task: Some(task), ..Changed::default() };
        for (id, task) in &mut self.tasks {
            if before.tasks.get(id) != Some(task) {
                task.updated_at = at;
                changed.kept.insert(*id);
            }
        }
        changed.gone = before.tasks.into_keys().filter(|id| !self.tasks.contains_key(id)).collect();
        Ok(changed)
    }

    fn create(&mut self, new: &NewTask, fresh: TaskId, at: Timestamp) -> Result<TaskId, PlanError> {
        if let Some(origin) = &new.origin
            && let Some(there) = self.tasks.values().find(|task| task.origin.as_ref() == Some(origin))
        {
            return Ok(there.id);
        }
        let id = new.id.unwrap_or(fresh);
        if self.tasks.contains_key(&id) {
            return Ok(id);
        }
        new.check()?;
        if self.tasks.len() >= MAX_TASKS {
            return Err(PlanError::TooManyTasks);
        }
        let task = Task {
            id,
            plan_id: self.plan,
            parent_id: None,
            name: new.name.clone(),
            status: TaskStatus::Queued,
            instruction: new.instruction.clone(),
            position: 0,
            depth: 0,
            path: String::new(),
            dependencies: self.dependencies(&new.dependencies, id)?,
            execution_result: None,
            origin: new.origin.clone(),
            created_at: at,
            updated_at: at,
        };
        self.tasks.insert(id, task);
        self.put(id, new.parent, new.position)?;
        Ok(id)
    }

    fn update(&mut self, id: TaskId, changes: &TaskChanges) -> Result<TaskId, PlanError> {
        changes.check()?;
        let dependencies = match &changes.dependencies {
            Some(wanted) => Some(self.dependencies(wanted, id)?),
            None => None,
        };
        let task = self.tasks.get_mut(&id).ok_or(PlanError::NoTask(id))?;
        if let Some(name) = &changes.name {
            task.name.clone_from(name);
        }
        if let Some(instruction) = &changes.instruction {
            task.instruction.clone_from(instruction);
        }
        task.status = changes.status.unwrap_or(task.status);
        if let Some(dependencies) = dependencies {
            task.dependencies = dependencies;
        }
        if let Some(result) = &changes.execution_result {
            task.execution_result.clone_from(result);
        }
        Ok(id)
    }

    fn shift(
        &mut self,
        id: TaskId,
        parent: Option<TaskId>,
        position: Option<u32>,
    ) -> Result<TaskId, PlanError> {
        let old_parent = self.tasks.get(&id).ok_or(PlanError::NoTask(id))?.parent_id;
        if parent.is_some_and(|parent| self.subtree(id).contains(&parent)) {
            return Err(PlanError::BelowItself);
        }
        self.put(id, parent, position)?;
        if old_parent != parent {
            self.number(old_parent, None);
        }
        Ok(id)
    }

    fn delete(&mut self, id: TaskId) -> Result<TaskId, PlanError> {
        let parent = self.tasks.get(&id).ok_or(PlanError::NoTask(id))?.parent_id;
        let deleted = self.subtree(id);
        self.tasks.retain(|id, _| !deleted.contains(id));
        for task in self.tasks.values_mut() {
            task.dependencies.retain(|dependency| !deleted.contains(dependency));
        }
        self.number(parent, None);
        Ok(id)
    }

    /// Moves a task with its subtree to a parent and position.
    fn put(&mut self, id: TaskId, parent: Option<TaskId>, position: Option<u32>) -> Result<(), PlanError> {
        let (path, depth) = match parent {
            None => (String::new(), 0),
            Some(parent_id) => {
                let parent = self.tasks.get(&parent_id).filter(|parent| parent.id != id);
                let parent = parent.ok_or(PlanError::NoParent(parent_id))?;
                (parent.path.clone(), parent.depth + 1)
            }
        };
        if let Some(task) = self.tasks.get_mut(&id) {
            task.parent_id = parent;
        }
        self.place(id, &path, depth)?;
        self.number(parent, Some((id, position)));
        Ok(())
    }

    /// Sets path and depth of a task and of its subtree.
    fn place(&mut self, id: TaskId, above: &str, depth: u32) -> Result<(), PlanError> {
        let mut open = vec![(id, above.to_owned(), depth)];
        while let Some((id, above, depth)) = open.pop() {
            if depth > MAX_DEPTH {
                return Err(PlanError::TooDeep);
            }
            let path = format!("{above}/{id}");
            open.extend(self.children(Some(id)).iter().map(|child| (child.id, path.clone(), depth + 1)));
            if let Some(task) = self.tasks.get_mut(&id) {
                task.path = path;
                task.depth = depth;
            }
        }
        Ok(())
    }

    /// Renumbers the children of a task from 0, with one of them at a given position.
    fn number(&mut self, parent: Option<TaskId>, put: Option<(TaskId, Option<u32>)>) {
        let mut order: Vec<TaskId> = self.children(parent).iter().map(|task| task.id).collect();
        if let Some((id, position)) = put {
            order.retain(|other| *other != id);
            let last = order.len();
            let at = position.and_then(|position| usize::try_from(position).ok()).unwrap_or(last).min(last);
            order.insert(at, id);
        }
        for (id, position) in order.into_iter().zip(0..) {
            if let Some(task) = self.tasks.get_mut(&id) {
                task.position = position;
            }
        }
    }

    /// A task and its descendants.
    fn subtree(&self, id: TaskId) -> BTreeSet<TaskId> {
        let mut found = BTreeSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if found.insert(id) {
                open.extend(self.children(Some(id)).iter().map(|child| child.id));
            }
        }
        found
    }

    /// Dependencies, deduplicated and sorted by ID.
    fn dependencies(&self, requested: &[TaskId], of: TaskId) -> Result<Vec<TaskId>, PlanError> {
        let requested: BTreeSet<TaskId> = requested.iter().copied().collect();
        for dependency in &requested {
            if *dependency != of && !self.tasks.contains_key(dependency) {
                return Err(PlanError::NoDependency(*dependency));
            }
        }
        Ok(requested.into_iter().collect())
    }

    /// Checks that every task can start and end. A task starts when its parent has started and all its
    /// dependencies have ended; it ends when all its children have. The error names the tasks that never can.
    fn waits_end(&self) -> Result<(), PlanError> {
        let mut waits: BTreeMap<Moment, BTreeSet<Moment>> = BTreeMap::new();
        for task in self.tasks.values() {
            let (begin, end) = (Moment::Begin(task.id), Moment::End(task.id));
            let begins = waits.entry(begin).or_default();
            begins.extend(task.dependencies.iter().map(|dependency| Moment::End(*dependency)));
            begins.extend(task.parent_id.map(Moment::Begin));
            waits.entry(end).or_default().insert(begin);
            if let Some(parent) = task.parent_id {
                waits.entry(Moment::End(parent)).or_default().insert(end);
            }
        }
        let mut waited_by: BTreeMap<Moment, Vec<Moment>> = BTreeMap::new();
        let mut left: BTreeMap<Moment, usize> = BTreeMap::new();
        for (moment, before) in &waits {
            left.insert(*moment, before.len());
            for earlier in before {
                waited_by.entry(*earlier).or_default().push(*moment);
            }
        }
        let mut ready: Vec<Moment> =
            left.iter().filter(|(_, count)| **count == 0).map(|(moment, _)| *moment).collect();
        while let Some(moment) = ready.pop() {
            left.remove(&moment);
            for later in waited_by.remove(&moment).unwrap_or_default() {
                if let Some(count) = left.get_mut(&later) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(later);
                    }
                }
            }
        }
        // Each remaining task waits for another remaining one, so following the waits finds a cycle.
        let Some(mut at) = left.keys().next().copied() else { return Ok(()) };
        let mut walked: Vec<Moment> = Vec::new();
        while !walked.contains(&at) {
            walked.push(at);
            let next = waits.get(&at).and_then(|before| before.iter().find(|m| left.contains_key(m)));
            match next {
                Some(next) => at = *next,
                None => break,
            }
        }
        let from = walked.iter().position(|moment| *moment == at).unwrap_or(0);
        let mut round: Vec<TaskId> = walked[from..].iter().map(|moment| moment.task()).collect();
        round.dedup();
        Err(PlanError::Cycle(round))
    }
}

/// The start or the end of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Begin(TaskId),
    End(TaskId),
}

impl Moment {
    const fn task(self) -> TaskId {
        match self {
            Self::Begin(task) | Self::End(task) => task,
        }
    }
}
