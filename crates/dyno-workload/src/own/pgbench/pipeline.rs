//! The end of a pipeline.

use super::super::fault::Fault;
use super::block::{Blocks, Kind, Node, Open};
use super::script::Meta;

/// What is said of a pipeline that is a part of its script: there one statement waits for the one before.
pub(super) const ONE_BY_ONE: &str = "statements of a pipeline that is not all of its script are sent one after the other, each when the one before is answered";

impl Blocks<'_> {
    /// What is within a pipeline is one transaction of the database, up to where it waits for the answers.
    pub(super) fn end_pipeline(&mut self, meta: &Meta) -> Result<(), Fault> {
        if !matches!(self.top().kind, Kind::Pipeline) {
            let problem = format!("\\{} without \\startpipeline", meta.name);
            let hint = "write \\startpipeline before it, and end in between what has begun in between";
            return Err(self.fault(meta.at, &problem, hint));
        }
        let Some(Open { at, mut nodes, .. }) = self.open.pop() else { return Ok(()) };
        let own = nodes.iter().filter(|node| matches!(node, Node::Transaction { .. })).count();
        let asking = nodes.iter().filter(|node| !matches!(node, Node::Set(_))).count();
        let is_within = self.in_transaction();
        if is_within || asking == 0 || (own == 1 && asking == 1) {
            if is_within {
                self.notes.push((at, ONE_BY_ONE.to_owned()));
            }
            for node in &mut nodes {
                if let Node::Transaction { pipeline, .. } = node {
                    *pipeline = Some(at);
                }
            }
            self.top().nodes.extend(nodes);
        } else if own == 0 && nodes.iter().all(|node| node.has_no_transaction()) {
            self.push(Node::Transaction {
                isolation: None,
                nodes,
                at,
                rolls_back: false,
                pipeline: Some(at),
            });
        } else {
            let hint = "put BEGIN first and END last in it, or take both out: a pipeline is one transaction";
            return Err(self.fault(at, "a pipeline with a transaction and other statements", hint));
        }
        Ok(())
    }
}

impl Node {
    fn has_no_transaction(&self) -> bool {
        match self {
            Self::Transaction { .. } => false,
            Self::If(arms) => arms.iter().flat_map(|(_, nodes)| nodes).all(Self::has_no_transaction),
            _ => true,
        }
    }
}
