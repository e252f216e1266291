//! The graph of a sequence: which thought a number means, and which thoughts are active.
//!
//! Numbers are scoped to branches. A branch sees its own thoughts, then its parent's up to the number it forked at, and so on
//! to `main`; the nearest scope wins. Within a branch, a rewind takes the position of its target, so the active thoughts of a
//! branch are the newest at each position up to its head's. Where the facts lie is left to whoever fills [`Facts`].

/// The index of `main`.
pub const MAIN: u32 = 0;

/// How many stretches of superseded thoughts with one number are passed over to find an active one. Each costs the same few
/// steps through an index, so the dearest search costs about what a walk through as many nested branches does.
const STRETCHES_MAX: u32 = 500;

/// A branch as the walk through scopes needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    pub parent: u32,
    pub ordinal: u32,
    pub number: u32,
}

/// A thought as the graph knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub ordinal: u32,
    pub branch: u32,
    pub number: u32,
    pub position: u32,
    /// The branch's newest rewind up to this thought, itself included; 0 before the first.
    pub stretch: u32,
}

/// What the graph asks of a sequence. Each answer costs the same however long the sequence is.
pub trait Facts {
    type Error;

    /// Where `branch` begins; none for `main`.
    fn fork(&self, branch: u32) -> Result<Option<Fork>, Self::Error>;
    /// The thought with this ordinal.
    fn node(&self, ordinal: u32) -> Result<Option<Node>, Self::Error>;
    /// The newest thought of `branch`.
    fn head(&self, branch: u32) -> Result<Option<Node>, Self::Error>;
    /// The newest thought of `branch` called `number`, not newer than the ordinal `until`.
    fn called(&self, branch: u32, number: u32, until: u32) -> Result<Option<Node>, Self::Error>;
    /// The newest thought of `branch` at `position`, not newer than the ordinal `until`.
    fn newest_at(
        &self,
        branch: u32,
        position: u32,
        until: u32,
    ) -> Result<Option<Node>, Self::Error>;
}

/// A number resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub node: Node,
    pub is_active: bool,
}

/// The thought that `number` means when seen from `branch`; `cutoff` hides larger numbers of that first scope.
pub fn resolve<F: Facts>(
    facts: &F,
    branch: u32,
    number: u32,
    cutoff: Option<u32>,
) -> Result<Option<Resolved>, F::Error> {
    let (mut branch, mut cutoff) = (branch, cutoff.unwrap_or(u32::MAX));
    loop {
        if number <= cutoff
            && let Some(found) = resolve_within(facts, branch, number)?
        {
            return Ok(Some(found));
        }
        let Some(fork) = facts.fork(branch)? else {
            return Ok(None);
        };
        // A parent is older than its branch, so the walk ends even if a row is damaged.
        if fork.parent >= branch {
            return Ok(None);
        }
        branch = fork.parent;
        cutoff = cutoff.min(fork.number);
    }
}

/// The newest active thought of `branch` called `number`, or the newest superseded one when none is active.
pub fn resolve_within<F: Facts>(
    facts: &F,
    branch: u32,
    number: u32,
) -> Result<Option<Resolved>, F::Error> {
    let Some(newest) = facts.called(branch, number, u32::MAX)? else {
        return Ok(None);
    };
    match facts.head(branch)? {
        Some(head) => find_active(facts, head, newest).map(Some),
        None => Ok(None),
    }
}

/// The same among the thoughts that are active up to `head`, an active thought.
pub fn resolve_up_to<F: Facts>(
    facts: &F,
    head: Node,
    number: u32,
) -> Result<Option<Resolved>, F::Error> {
    match facts.called(head.branch, number, head.ordinal)? {
        Some(newest) => find_active(facts, head, newest).map(Some),
        None => Ok(None),
    }
}

/// The newest active thought with the number of `newest`, itself the newest of them.
///
/// Active thoughts lie in stretches, each begun by a rewind that set aside what lies between it and the stretch before. A
/// thought that is not active was set aside by the rewind that began the stretch which now holds its position, so the search
/// goes on in front of that stretch. Most numbers are met once and found by the first look.
fn find_active<F: Facts>(facts: &F, head: Node, newest: Node) -> Result<Resolved, F::Error> {
    let (mut head, mut node) = (head, newest);
    for _ in 0..STRETCHES_MAX {
        let holder = match node.position > head.position {
            true => head,
            false => facts
                .newest_at(node.branch, node.position, head.ordinal)?
                .unwrap_or(node),
        };
        if holder.ordinal == node.ordinal {
            return Ok(Resolved {
                node,
                is_active: true,
            });
        }
        let Some(start) = facts.node(holder.stretch)? else {
            break;
        };
        let position = start.position.saturating_sub(1);
        let before = start.ordinal.saturating_sub(1);
        let Some(last) = facts.newest_at(node.branch, position, before)? else {
            break;
        };
        let Some(older) = facts.called(node.branch, node.number, last.ordinal)? else {
            break;
        };
        (head, node) = (last, older);
    }
    Ok(Resolved {
        node: newest,
        is_active: false,
    })
}

/// Whether `branch` is `ancestor` or begins, over any number of forks, where it still sees the thoughts of `ancestor` up to
/// `number`. Nearer thoughts of the same number do not matter: they may be younger than the claim that is checked.
pub fn sees<F: Facts>(
    facts: &F,
    branch: u32,
    ancestor: u32,
    number: u32,
) -> Result<bool, F::Error> {
    let mut branch = branch;
    while branch > ancestor {
        match facts.fork(branch)? {
            Some(fork) if fork.parent < branch && number <= fork.number => branch = fork.parent,
            _ => return Ok(false),
        }
    }
    Ok(branch == ancestor)
}

/// Whether no rewind has set the thought aside.
pub fn is_active<F: Facts>(facts: &F, node: Node) -> Result<bool, F::Error> {
    let Some(head) = facts.head(node.branch)? else {
        return Ok(false);
    };
    if head.position < node.position {
        return Ok(false);
    }
    Ok(facts
        .newest_at(node.branch, node.position, u32::MAX)?
        .is_some_and(|newest| newest.ordinal == node.ordinal))
}

/// Which of `nodes`, all of one branch and in ascending order, are active.
///
/// Rewinds among them are settled without asking; those after them cut off a tail, which is found by halving.
pub fn active_among<F: Facts>(facts: &F, nodes: &[Node]) -> Result<Vec<Node>, F::Error> {
    let mut path: Vec<Node> = Vec::new();
    for node in nodes {
        while path
            .last()
            .is_some_and(|last| last.position >= node.position)
        {
            path.pop();
        }
        path.push(*node);
    }
    let Some(last) = path.last() else {
        return Ok(path);
    };
    let Some(head) = facts.head(last.branch)? else {
        return Ok(Vec::new());
    };
    if head.ordinal == last.ordinal {
        return Ok(path);
    }
    path.retain(|node| node.position <= head.position);
    let (mut low, mut high) = (0, path.len());
    while low < high {
        let middle = low.midpoint(high);
        let Some(node) = path.get(middle) else { break };
        let newest = facts.newest_at(node.branch, node.position, u32::MAX)?;
        if newest.is_some_and(|newest| newest.ordinal == node.ordinal) {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    path.truncate(low);
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::{
        Facts, Fork, MAIN, Node, Resolved, STRETCHES_MAX, active_among, is_active, resolve, sees,
    };

    /// Rows in memory, with a count of the questions asked.
    #[derive(Default)]
    struct Rows {
        nodes: Vec<Node>,
        forks: Vec<Fork>,
        asked: Cell<u32>,
    }

    impl Rows {
        /// Appends to `branch`; a rewind takes the place of the thought with the ordinal `rewinds_to`.
        fn add(&mut self, branch: u32, number: u32, rewinds_to: Option<u32>) -> u32 {
            let ordinal = u32::try_from(self.nodes.len()).unwrap() + 1;
            let head = self.nodes.iter().rfind(|node| node.branch == branch);
            let fork = branch
                .checked_sub(1)
                .and_then(|index| self.forks.get(index as usize));
            let start = fork.map_or(0, |fork| self.nodes[fork.ordinal as usize - 1].position);
            let position = match rewinds_to {
                Some(target) => self.nodes[target as usize - 1].position,
                None => head.map_or(start, |head| head.position) + 1,
            };
            let stretch = match rewinds_to {
                Some(_) => ordinal,
                None => head.map_or(0, |head| head.stretch),
            };
            self.nodes.push(Node {
                ordinal,
                branch,
                number,
                position,
                stretch,
            });
            ordinal
        }

        fn begin(&mut self, parent: u32, ordinal: u32) -> u32 {
            let number = self.nodes[ordinal as usize - 1].number;
            self.forks.push(Fork {
                parent,
                ordinal,
                number,
            });
            u32::try_from(self.forks.len()).unwrap()
        }

        fn newest(&self, is: impl Fn(&Node) -> bool) -> Option<Node> {
            self.asked.set(self.asked.get() + 1);
            self.nodes.iter().rfind(|node| is(node)).copied()
        }
    }

    impl Facts for Rows {
        type Error = Infallible;

        fn fork(&self, branch: u32) -> Result<Option<Fork>, Infallible> {
            self.asked.set(self.asked.get() + 1);
            let index = branch.checked_sub(1);
            Ok(index
                .and_then(|index| self.forks.get(index as usize))
                .copied())
        }

        fn node(&self, ordinal: u32) -> Result<Option<Node>, Infallible> {
            Ok(self.newest(|node| node.ordinal == ordinal))
        }

        fn head(&self, branch: u32) -> Result<Option<Node>, Infallible> {
            Ok(self.newest(|node| node.branch == branch))
        }

        fn called(&self, branch: u32, number: u32, until: u32) -> Result<Option<Node>, Infallible> {
            Ok(self.newest(|node| {
                node.branch == branch && node.number == number && node.ordinal <= until
            }))
        }

        fn newest_at(
            &self,
            branch: u32,
            position: u32,
            until: u32,
        ) -> Result<Option<Node>, Infallible> {
            Ok(self.newest(|node| {
                node.branch == branch && node.position == position && node.ordinal <= until
            }))
        }
    }

    #[track_caller]
    fn check(rows: &Rows, branch: u32, number: u32, expected: Option<(u32, bool)>) {
        let Ok(found) = resolve(rows, branch, number, None);
        let found = found.map(|Resolved { node, is_active }| (node.ordinal, is_active));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_nearest_scope_wins_and_a_fork_hides_what_follows_it() {
        let mut rows = Rows::default();
        for number in 1..=5 {
            rows.add(MAIN, number, None);
        }
        let b = rows.begin(MAIN, 3);
        rows.add(b, 4, None);
        let c = rows.begin(b, 6);
        rows.add(c, 2, None);
        check(&rows, MAIN, 4, Some((4, true)));
        check(&rows, b, 4, Some((6, true)));
        check(&rows, b, 5, None);
        check(&rows, c, 2, Some((7, true)));
        check(&rows, c, 3, Some((3, true)));
        // What an ancestor says later under a number before the fork is seen; siblings are not.
        rows.add(MAIN, 3, None);
        check(&rows, c, 3, Some((8, true)));
        check(&rows, MAIN, 6, None);
        assert_eq!(sees(&rows, c, MAIN, 3), Ok(true));
        assert_eq!(sees(&rows, c, MAIN, 4), Ok(false));
        assert_eq!(sees(&rows, MAIN, c, 1), Ok(false));
    }

    /// Every way of rewinding seven thoughts three times: the search agrees with a look at each row.
    #[test]
    fn every_rewind_leaves_what_was_not_set_aside() {
        for program in 0..7_u32.pow(3) {
            let mut rows = Rows::default();
            for number in 1..=7 {
                rows.add(MAIN, number % 3, None);
            }
            for at in [program % 7, program / 7 % 7, program / 49] {
                let active: Vec<Node> = rows
                    .nodes
                    .iter()
                    .filter(|node| is_active(&rows, **node) == Ok(true))
                    .copied()
                    .collect();
                assert_eq!(active_among(&rows, &rows.nodes), Ok(active.clone()));
                let target = active[at as usize % active.len()].ordinal;
                rows.add(MAIN, at % 3, Some(target));
                rows.add(MAIN, 1, None);
            }
            for number in 0..3 {
                let called = || rows.nodes.iter().filter(|node| node.number == number);
                let active = called().rfind(|node| is_active(&rows, **node) == Ok(true));
                let expected = active
                    .map(|node| (node.ordinal, true))
                    .or(called().next_back().map(|node| (node.ordinal, false)));
                check(&rows, MAIN, number, expected);
            }
        }
    }

    /// A row that no append could have written must not keep a call busy for ever.
    #[test]
    fn damaged_rows_end_the_walk() {
        let mut rows = Rows::default();
        rows.add(MAIN, 1, None);
        let b = rows.begin(MAIN, 1);
        rows.add(b, 2, None);
        rows.forks[0].parent = b;
        check(&rows, b, 1, None);
        rows.forks[0].parent = 9;
        check(&rows, b, 1, None);
        assert_eq!(sees(&rows, b, MAIN, 1), Ok(false));
        // Two thoughts at one place, neither of them begun by a rewind.
        let mut rows = Rows::default();
        for _ in 0..500 {
            rows.add(MAIN, 1, None);
            rows.nodes.last_mut().unwrap().position = 1;
        }
        rows.nodes.last_mut().unwrap().number = 2;
        check(&rows, MAIN, 1, Some((499, false)));
        assert!(rows.asked.get() < 20, "{}", rows.asked.get());
    }

    /// Number 5 is active once, and was set aside `stretches` times since, each time by a rewind of its own.
    #[track_caller]
    fn check_stretches(stretches: u32, is_found: bool) {
        let mut rows = Rows::default();
        rows.add(MAIN, 5, None);
        for _ in 0..stretches {
            let target = rows.add(MAIN, 5, None);
            rows.add(MAIN, 6, Some(target));
            rows.add(MAIN, 7, None);
        }
        let newest = stretches * 3 - 1;
        let expected = if is_found { (1, true) } else { (newest, false) };
        check(&rows, MAIN, 5, Some(expected));
        // Two questions about the newest, and four for each stretch.
        let looked_at = stretches.min(STRETCHES_MAX);
        assert!(
            rows.asked.get() <= 2 + 4 * looked_at + 1,
            "{}",
            rows.asked.get()
        );
    }

    #[test]
    fn an_active_thought_is_found_behind_many_rewinds_at_a_constant_cost_each() {
        check_stretches(1, true);
        check_stretches(100, true);
        check_stretches(STRETCHES_MAX - 1, true);
        check_stretches(STRETCHES_MAX + 1, false);
    }
}
