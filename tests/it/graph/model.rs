//! The contract once more, as naive as it can be: every thought carries a flag and the list of its ancestors.
//!
//! It shares nothing with the store but the arguments and the names of its codes.

use durable_thinking::settings::{LoopGuard, Settings};

pub type Code = &'static str;

/// What a client says, beside the id.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub number: u32,
    pub total: u32,
    pub text: String,
    pub next: bool,
    pub more: bool,
    pub branch: String,
    pub from_thought: Option<u32>,
    pub from_branch: Option<String>,
    pub revises: Option<u32>,
    pub rewind: bool,
    pub summarizes: Option<u32>,
}

/// Where a thought lies: branch, ordinal, number.
pub type Place = (String, u32, u32);

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub ordinal: u32,
    pub thoughts: u32,
    pub branches: u32,
    pub fork: Option<Place>,
    pub revised: Option<Place>,
    pub superseded: Option<u32>,
    pub permille: u32,
    pub completed: bool,
    pub ended_by_guard: bool,
    pub warnings: Vec<Code>,
}

#[derive(Clone, Debug)]
pub struct Thought {
    pub said: Said,
    pub call: usize,
    pub ordinal: u32,
    pub branch: usize,
    pub revises: Option<u32>,
    /// The first thought of a chain of revisions.
    root: Option<u32>,
    pub superseded: bool,
    pub finished: bool,
    /// What lay behind it when it was written, itself included.
    pub path: Vec<u32>,
    /// The thought that it sums up to.
    covers: Option<u32>,
    pub answer: Answer,
}

#[derive(Clone, Debug)]
pub struct Branch {
    pub name: String,
    pub parent: usize,
    /// The thought it begins at; 0 for `main`.
    pub fork: u32,
}

#[derive(Clone, Debug)]
pub struct Sequence {
    pub thoughts: Vec<Thought>,
    pub branches: Vec<Branch>,
}

/// A thought to be, with its references found.
struct Plan {
    branch: Option<usize>,
    fork: u32,
    target: Option<u32>,
    revision_index: usize,
}

impl Sequence {
    pub fn begin(said: &Said, call: usize, settings: &Settings) -> Result<Self, Code> {
        if said.branch != "main" || said.from_thought.is_some() || said.from_branch.is_some() {
            return Err("branch_point_not_found");
        }
        if said.revises.is_some() {
            return Err("revision_target_not_found");
        }
        if said.summarizes.is_some() {
            return Err("summary_target_not_found");
        }
        let mut sequence = Self {
            thoughts: Vec::new(),
            branches: vec![Branch {
                name: "main".to_owned(),
                parent: 0,
                fork: 0,
            }],
        };
        let plan = Plan {
            branch: Some(0),
            fork: 0,
            target: None,
            revision_index: 0,
        };
        sequence.write(said, call, settings, &plan, None);
        Ok(sequence)
    }

    pub fn append(
        &mut self,
        said: &Said,
        call: usize,
        settings: &Settings,
    ) -> Result<Answer, Code> {
        if let Some(known) = self.thoughts.iter().find(|thought| thought.call == call) {
            return Ok(self.again(known));
        }
        let branch = self.index(&said.branch);
        if let Some(newest) = branch.and_then(|branch| self.newest(branch))
            && newest.said == *said
        {
            let mut answer = self.again(newest);
            answer.warnings.push("deduplicated");
            return Ok(answer);
        }
        let fork = match branch {
            None => self.find_fork(said)?,
            Some(branch) => {
                self.check_claim(branch, said)?;
                self.branches[branch].fork
            }
        };
        let mut plan = Plan {
            branch,
            fork,
            target: None,
            revision_index: 0,
        };
        self.find_target(said, settings, &mut plan)?;
        let covers = self.find_covered(said, &plan)?;
        Ok(self.write(said, call, settings, &plan, covers))
    }

    pub fn index(&self, name: &str) -> Option<usize> {
        self.branches.iter().position(|branch| branch.name == name)
    }

    pub fn newest(&self, branch: usize) -> Option<&Thought> {
        self.thoughts
            .iter()
            .rfind(|thought| thought.branch == branch)
    }

    pub fn thought(&self, ordinal: u32) -> &Thought {
        &self.thoughts[ordinal as usize - 1]
    }

    pub fn place(&self, ordinal: u32) -> Place {
        let thought = self.thought(ordinal);
        let name = self.branches[thought.branch].name.clone();
        (name, ordinal, thought.said.number)
    }

    /// `main` is complete, or the loop guard has just ended the chain.
    pub fn completed(&self) -> bool {
        let guard = self
            .thoughts
            .last()
            .is_some_and(|last| last.finished && last.said.next);
        guard || self.newest(0).is_some_and(|newest| newest.finished)
    }

    pub fn hangs(&self, branch: usize) -> bool {
        branch != 0 && {
            let branch = &self.branches[branch];
            self.thought(branch.fork).superseded || self.hangs(branch.parent)
        }
    }

    fn again(&self, thought: &Thought) -> Answer {
        Answer {
            thoughts: self.thoughts.len() as u32,
            branches: self.branches.len() as u32 - 1,
            ..thought.answer.clone()
        }
    }

    fn own(&self, branch: usize) -> impl DoubleEndedIterator<Item = &Thought> {
        self.thoughts
            .iter()
            .filter(move |thought| thought.branch == branch && !thought.superseded)
    }

    /// The thought that a number means, and the branch it lies on, from the nearest scope outwards.
    fn resolve(&self, branch: usize, number: u32, cutoff: u32) -> Option<&Thought> {
        let called = |thought: &&Thought| thought.said.number == number && number <= cutoff;
        let active = self.own(branch).rfind(called);
        let any = self
            .thoughts
            .iter()
            .rfind(|thought| thought.branch == branch && called(thought));
        active.or(any).or_else(|| {
            let Branch { parent, fork, .. } = self.branches[branch];
            (branch != 0)
                .then(|| self.resolve(parent, number, cutoff.min(self.thought(fork).said.number)))
                .flatten()
        })
    }

    fn find_fork(&self, said: &Said) -> Result<u32, Code> {
        let number = said.from_thought.ok_or("branch_not_found")?;
        let source = said.from_branch.as_deref().unwrap_or("main");
        if source == said.branch {
            return Err("invalid_input");
        }
        let source = self.index(source).ok_or("branch_not_found")?;
        let found = self.resolve(source, number, u32::MAX);
        Ok(found.ok_or("branch_point_not_found")?.ordinal)
    }

    /// A branch may be said to begin where it does, as seen from its parent or from any branch below that sees so far.
    fn check_claim(&self, branch: usize, said: &Said) -> Result<(), Code> {
        if branch == 0 {
            return match said.from_branch {
                Some(_) => Err("invalid_input"),
                None => Ok(()),
            };
        }
        let Branch { parent, fork, .. } = self.branches[branch];
        let number = self.thought(fork).said.number;
        if said.from_thought.is_some_and(|claimed| claimed != number) {
            return Err("branch_conflict");
        }
        let Some(name) = &said.from_branch else {
            return Ok(());
        };
        let mut claimed = self.index(name).ok_or("branch_conflict")?;
        while claimed != parent {
            let Branch {
                parent: above,
                fork,
                ..
            } = self.branches[claimed];
            if claimed == 0 || number > self.thought(fork).said.number {
                return Err("branch_conflict");
            }
            claimed = above;
        }
        Ok(())
    }

    fn find_target(&self, said: &Said, settings: &Settings, plan: &mut Plan) -> Result<(), Code> {
        let Some(number) = said.revises else {
            return Ok(());
        };
        let (scope, cutoff) = plan.branch.map_or_else(
            || {
                let fork = self.thought(plan.fork);
                (fork.branch, fork.said.number)
            },
            |branch| (branch, u32::MAX),
        );
        let found = self.resolve(scope, number, cutoff);
        let target = found.ok_or("revision_target_not_found")?;
        if target.superseded {
            return Err("revision_target_superseded");
        }
        let root = target.root.unwrap_or(target.ordinal);
        let before = self
            .thoughts
            .iter()
            .filter(|thought| thought.root == Some(root));
        plan.revision_index = before.count() + 1;
        if settings.max_revisions > 0 && plan.revision_index > settings.max_revisions as usize {
            return Err("revision_limit");
        }
        if said.rewind && plan.branch != Some(target.branch) {
            return Err("invalid_input");
        }
        plan.target = Some(target.ordinal);
        Ok(())
    }

    fn find_covered(&self, said: &Said, plan: &Plan) -> Result<Option<u32>, Code> {
        let Some(number) = said.summarizes else {
            return Ok(None);
        };
        let end = plan.target.filter(|_| said.rewind).unwrap_or(u32::MAX);
        let covered = plan.branch.and_then(|branch| {
            self.own(branch)
                .rfind(|thought| thought.said.number == number && thought.ordinal < end)
        });
        Ok(Some(covered.ok_or("summary_target_not_found")?.ordinal))
    }

    fn write(
        &mut self,
        said: &Said,
        call: usize,
        settings: &Settings,
        plan: &Plan,
        covers: Option<u32>,
    ) -> Answer {
        let reused = said.revises.is_none()
            && plan.branch.is_some_and(|branch| {
                self.own(branch)
                    .any(|thought| thought.said.number == said.number)
            });
        let reopened = plan
            .branch
            .and_then(|branch| self.newest(branch))
            .is_some_and(|newest| newest.finished);
        let branch = plan.branch.unwrap_or(self.branches.len());
        if plan.branch.is_none() {
            self.branches.push(Branch {
                name: said.branch.clone(),
                parent: self.thought(plan.fork).branch,
                fork: plan.fork,
            });
        }
        let mut superseded = None;
        if said.rewind {
            let from = plan.target.unwrap();
            let later = self.thoughts.iter_mut().filter(|thought| {
                thought.branch == branch && thought.ordinal >= from && !thought.superseded
            });
            superseded = Some(later.map(|thought| thought.superseded = true).count() as u32);
        }
        let ordinal = self.thoughts.len() as u32 + 1;
        let mut path = match plan.fork {
            0 => Vec::new(),
            fork => self.thought(fork).path.clone(),
        };
        path.extend(self.own(branch).map(|thought| thought.ordinal));
        path.push(ordinal);
        let root = plan
            .target
            .map(|target| self.thought(target).root.unwrap_or(target));
        let ends = self.guard_speaks(ordinal, said, branch, settings)
            && settings.loop_guard == LoopGuard::Enforce;
        self.thoughts.push(Thought {
            said: said.clone(),
            call,
            ordinal,
            branch,
            revises: plan.target,
            root,
            superseded: false,
            finished: !said.next || ends,
            path,
            covers,
            answer: Answer {
                ordinal,
                thoughts: ordinal,
                branches: self.branches.len() as u32 - 1,
                fork: (branch != 0).then(|| self.place(plan.fork)),
                revised: plan.target.map(|target| self.place(target)),
                superseded,
                permille: 0,
                completed: false,
                ended_by_guard: ends,
                warnings: Vec::new(),
            },
        });
        let warnings = self.warnings(plan, settings, reopened, reused);
        let (permille, completed) = (self.permille(), self.completed());
        let answer = &mut self.thoughts.last_mut().unwrap().answer;
        answer.warnings = warnings;
        answer.permille = permille;
        answer.completed = completed;
        answer.clone()
    }

    fn guard_speaks(&self, ordinal: u32, said: &Said, branch: usize, settings: &Settings) -> bool {
        let unfinished = branch == 0 || self.newest(0).is_some_and(|newest| !newest.finished);
        settings.loop_guard != LoopGuard::Off
            && said.next
            && unfinished
            && ordinal >= settings.loop_guard_at
            && (ordinal - settings.loop_guard_at).is_multiple_of(10)
    }

    fn warnings(
        &self,
        plan: &Plan,
        settings: &Settings,
        reopened: bool,
        reused: bool,
    ) -> Vec<Code> {
        let last = self.thoughts.last().unwrap();
        let largest = self
            .thoughts
            .iter()
            .map(|thought| thought.said.total)
            .max()
            .unwrap();
        let open = (1..self.branches.len())
            .filter(|branch| self.newest(*branch).is_some_and(|newest| !newest.finished))
            .count();
        let own: Vec<&Thought> = self.own(last.branch).collect();
        let covered = own
            .iter()
            .filter_map(|thought| thought.covers)
            .max()
            .unwrap_or(0);
        let bare = own
            .iter()
            .filter(|thought| thought.ordinal > covered)
            .count();
        let early =
            last.branch == 0 && !last.said.next && (last.said.number * 2 < largest || open > 0);
        [
            ("reopened", reopened),
            ("number_reused", reused),
            ("long_thought", last.said.text.chars().count() > 2000),
            ("many_revisions", plan.revision_index >= 4),
            (
                "possible_lost_sequence",
                last.ordinal == 1 && last.said.number > 1,
            ),
            ("early_finish", early),
            (
                "loop_guard",
                self.guard_speaks(last.ordinal, &last.said, last.branch, settings),
            ),
            (
                "summary_due",
                last.said.next && bare >= 50 && (bare - 50).is_multiple_of(10),
            ),
        ]
        .into_iter()
        .filter_map(|(code, applies)| applies.then_some(code))
        .collect()
    }

    /// Steps of the path, not counting corrections in place, out of the total that the last thought states.
    fn permille(&self) -> u32 {
        let last = self.thoughts.last().unwrap();
        if last.finished {
            return 1000;
        }
        let steps = last.path.iter().filter(|ordinal| {
            let thought = self.thought(**ordinal);
            thought.revises.is_none() || thought.said.rewind
        });
        (steps.count() as u32 * 1000 / last.said.total).min(1000)
    }
}
