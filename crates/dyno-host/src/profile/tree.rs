//! Stacks as a tree of bounded size: what is too small is booked on its caller.

use std::collections::HashMap;

use dyno_record::StackNode;

/// The parent of those that have none.
const ROOT: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    frame: u32,
    /// Time in it and not in what it called.
    own: u64,
    /// As much of that as was booked on it for what it called.
    merged: u64,
}

/// Calls from the outermost inwards, with the time spent in each. A caller stands before what it called.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    children: HashMap<(u32, u32), u32>,
    nodes_max: usize,
    /// Time in programs that are too small to be nodes.
    rest: u64,
}

impl Tree {
    /// A tree that never has more than `nodes_max` nodes and one stack.
    pub(super) fn new(nodes_max: usize) -> Self {
        Self { nodes: Vec::new(), children: HashMap::new(), nodes_max, rest: 0 }
    }

    /// Adds `weight` to the stack of these frames, the outermost first.
    pub(super) fn add(&mut self, frames: &[u32], weight: u64) {
        let mut at = ROOT;
        for &frame in frames {
            let next = self.nodes.len() as u32;
            let parent = at;
            at = *self.children.entry((parent, frame)).or_insert(next);
            if at == next {
                self.nodes.push(Node { parent, frame, own: 0, merged: 0 });
            }
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.own += weight;
        }
        if self.nodes.len() > self.nodes_max {
            self.prune(self.nodes_max / 2);
        }
    }

    /// Time in each node and in what it called.
    fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.nodes.iter().map(|node| node.own).collect();
        for at in (0..totals.len()).rev() {
            let parent = self.nodes[at].parent;
            if parent != ROOT {
                totals[parent as usize] += totals[at];
            }
        }
        totals
    }

    /// Keeps the `keep` largest nodes.
    pub(super) fn prune(&mut self, keep: usize) {
        let totals = self.totals();
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        // A caller is not smaller than what it called and stands before it, so it is kept where that is.
        order.sort_by_key(|&at| (std::cmp::Reverse(totals[at]), at));
        let mut kept = vec![false; self.nodes.len()];
        order.iter().take(keep).for_each(|&at| kept[at] = true);
        let mut moved = vec![ROOT; self.nodes.len()];
        let mut nodes: Vec<Node> = Vec::with_capacity(keep);
        for (at, node) in self.nodes.iter().enumerate() {
            let parent = moved.get(node.parent as usize).copied().unwrap_or(ROOT);
            // Of what is left out, the caller's place stands for it.
            moved[at] = parent;
            if kept[at] {
                moved[at] = nodes.len() as u32;
                nodes.push(Node { parent, ..*node });
            } else if let Some(caller) = nodes.get_mut(parent as usize) {
                caller.own += node.own;
                caller.merged += node.own;
            } else {
                self.rest += node.own;
            }
        }
        self.children =
            nodes.iter().enumerate().map(|(at, node)| ((node.parent, node.frame), at as u32)).collect();
        self.nodes = nodes;
    }

    /// Time in programs that were too small to be kept.
    pub(super) fn rest(&self) -> u64 {
        self.rest
    }

    /// How many nodes hold `least` and more.
    pub(super) fn larger_than(&self, least: u64) -> usize {
        self.totals().into_iter().filter(|total| *total >= least).count()
    }

    /// Time that is booked on a caller.
    pub(super) fn merged(&self) -> u64 {
        self.nodes.iter().map(|node| node.merged).sum()
    }

    /// All nodes, each right before what it called, the largest first; `frame_of` each of its frames.
    pub(super) fn nodes(&self, frame_of: &mut dyn FnMut(u32) -> u32) -> Vec<StackNode> {
        let totals = self.totals();
        let mut called: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            called.entry(node.parent).or_default().push(at as u32);
        }
        for list in called.values_mut() {
            // The largest comes last, as it is taken from the end.
            list.sort_by_key(|&at| (totals[at as usize], std::cmp::Reverse(at)));
        }
        let mut out = Vec::with_capacity(self.nodes.len());
        let below = |called: &mut HashMap<u32, Vec<u32>>, at: u32, depth: u32| -> Vec<(u32, u32)> {
            called.remove(&at).into_iter().flatten().map(|at| (at, depth)).collect()
        };
        let mut open = below(&mut called, ROOT, 0);
        while let Some((at, depth)) = open.pop() {
            let node = &self.nodes[at as usize];
            out.push(StackNode { depth, frame: frame_of(node.frame), weight: totals[at as usize] });
            open.extend(below(&mut called, at, depth + 1));
        }
        out
    }
}
