//! Stores stacks as a tree of bounded size: the time of small nodes is added to their callers.

use std::collections::HashMap;

use dyno_record::StackNode;

/// The parent of top nodes.
const ROOT: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    frame: u32,
    /// Time in the function itself, without its callees.
    self_weight: u64,
    /// The part of that time that comes from merged callees.
    merged: u64,
}

/// Calls from the outermost inwards, with the time in each. A caller stands before its callees.
#[derive(Debug)]
pub(super) struct StackTree {
    nodes: Vec<Node>,
    children: HashMap<(u32, u32), u32>,
    nodes_max: usize,
    /// Time in programs that are too small for a node.
    rest: u64,
}

impl StackTree {
    /// A tree with at most `nodes_max` nodes plus one stack.
    pub(super) fn new(nodes_max: usize) -> Self {
        Self { nodes: Vec::new(), children: HashMap::new(), nodes_max, rest: 0 }
    }

    /// Adds `weight` to the stack of these frames, outermost first.
    pub(super) fn add(&mut self, frames: &[u32], weight: u64) {
        let mut at = ROOT;
        for &frame in frames {
            let next = self.nodes.len() as u32;
            let parent = at;
            at = *self.children.entry((parent, frame)).or_insert(next);
            if at == next {
                self.nodes.push(Node { parent, frame, self_weight: 0, merged: 0 });
            }
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.self_weight += weight;
        }
        if self.nodes.len() > self.nodes_max {
            self.prune(self.nodes_max / 2);
        }
    }

    /// Time in each node, including its callees.
    fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.nodes.iter().map(|node| node.self_weight).collect();
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
        // A caller has at least the time of its callees and stands before them, so it is kept if they are.
        order.sort_by_key(|&at| (std::cmp::Reverse(totals[at]), at));
        let mut retained = vec![false; self.nodes.len()];
        order.iter().take(keep).for_each(|&at| retained[at] = true);
        let mut moved = vec![ROOT; self.nodes.len()];
        let mut nodes: Vec<Node> = Vec::with_capacity(keep);
        for (at, node) in self.nodes.iter().enumerate() {
            let parent = moved.get(node.parent as usize).copied().unwrap_or(ROOT);
            // The caller's index replaces that of a removed node.
            moved[at] = parent;
            if retained[at] {
                moved[at] = nodes.len() as u32;
                nodes.push(Node { parent, ..*node });
            } else if let Some(caller) = nodes.get_mut(parent as usize) {
                caller.self_weight += node.self_weight;
                caller.merged += node.self_weight;
            } else {
                self.rest += node.self_weight;
            }
        }
        self.children =
            nodes.iter().enumerate().map(|(at, node)| ((node.parent, node.frame), at as u32)).collect();
        self.nodes = nodes;
    }

    /// Time in programs that were too small to keep.
    pub(super) fn rest(&self) -> u64 {
        self.rest
    }

    /// Number of nodes with at least `least`.
    pub(super) fn larger_than(&self, least: u64) -> usize {
        self.totals().into_iter().filter(|total| *total >= least).count()
    }

    /// Time that was added to callers.
    pub(super) fn merged(&self) -> u64 {
        self.nodes.iter().map(|node| node.merged).sum()
    }

    /// All nodes, each directly before its callees, largest first; `frame_of` maps their frames.
    pub(super) fn nodes(&self, frame_of: &mut dyn FnMut(u32) -> u32) -> Vec<StackNode> {
        let totals = self.totals();
        let mut called: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            called.entry(node.parent).or_default().push(at as u32);
        }
        for list in called.values_mut() {
            // The largest comes last, because the list is taken from its end.
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
