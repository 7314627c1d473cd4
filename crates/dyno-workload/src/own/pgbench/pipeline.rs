//! The end of a pipeline.

use super::super::fault::Fault;
use super::block::{Blocks, Kind, Node, Open};
use super::script::Meta;

impl Blocks<'_> {
    /// What is within a pipeline is one transaction of the database, up to where it waits for the answers.
    pub(super) fn end_pipeline(&mut self, meta: &Meta) -> Result<(), Fault> {
        if !matches!(self.top().kind, Kind::Pipeline) {
            let problem = format!("\\{} without \\startpipeline", meta.name);
            let hint = "write \\startpipeline before it, and end in between what has begun in between";
            return Err(self.fault(meta.at, &problem, hint));
        }
        let Some(Open { at, nodes, .. }) = self.open.pop() else { return Ok(()) };
        self.notes.push((
            at,
            "statements of a pipeline are sent one after the other, each when the one before is answered"
                .to_owned(),
        ));
        let own = nodes.iter().filter(|node| matches!(node, Node::Transaction { .. })).count();
        let asking = nodes.iter().filter(|node| !matches!(node, Node::Set(_))).count();
        if self.in_transaction() || asking == 0 || (own == 1 && asking == 1) {
            self.top().nodes.extend(nodes);
        } else if own == 0 && nodes.iter().all(|node| node.has_no_transaction()) {
            self.push(Node::Transaction { isolation: None, nodes, at, rolls_back: false });
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
