//! Handles the end of a pipeline in a script.

use dyno_workload::custom::syntax::WorkloadError;

use super::block::{Node, PgbenchBlockKind, PgbenchBlockParser, PgbenchOpenBlock};
use super::script::PgbenchMetaCommand;

/// The note on a pipeline that is only a part of its script: each statement waits for the one before.
pub(super) const ONE_BY_ONE: &str = "statements of a pipeline that is not the whole script are sent one by \
                                     one, each after the response to the one before";

impl PgbenchBlockParser<'_> {
    /// Makes the contents of a pipeline one database transaction, up to the point where it waits for answers.
    pub(super) fn end_pipeline(&mut self, meta: &PgbenchMetaCommand) -> Result<(), WorkloadError> {
        if !matches!(self.top().kind, PgbenchBlockKind::Pipeline) {
            let problem = format!("\\{} without \\startpipeline", meta.name);
            let hint = "write \\startpipeline before it, and end in between what has begun in between";
            return Err(self.fault(meta.at, &problem, hint));
        }
        let Some(PgbenchOpenBlock { at, mut nodes, .. }) = self.open.pop() else { return Ok(()) };
        let transaction_count = nodes.iter().filter(|node| matches!(node, Node::Transaction { .. })).count();
        let asking = nodes.iter().filter(|node| !matches!(node, Node::Set(_))).count();
        let is_within = self.in_transaction();
        if is_within || asking == 0 || (transaction_count == 1 && asking == 1) {
            if is_within {
                self.notes.push((at, ONE_BY_ONE.to_owned()));
            }
            for node in &mut nodes {
                if let Node::Transaction { pipeline, .. } = node {
                    *pipeline = Some(at);
                }
            }
            self.top().nodes.extend(nodes);
        } else if transaction_count == 0 && nodes.iter().all(|node| node.has_no_transaction()) {
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
