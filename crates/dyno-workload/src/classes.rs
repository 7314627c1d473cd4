//! The classes of a workload's operations by number.

use crate::ClassId;
use dyno_record::{COMMIT, CONNECT, Class, RowEffect, SLICE};

/// The classes of a workload, including commits, slices and connections, which every workload has.
#[derive(Debug, Clone)]
pub struct Classes {
    of_operations: Vec<Class>,
}

impl Classes {
    /// Classes of operations, in the order of their numbers.
    pub fn new(of_operations: Vec<Class>) -> Self {
        Self { of_operations }
    }

    /// Joins the classes of several workloads, each with the index of its workload.
    pub fn beside_each_other(all: impl IntoIterator<Item = Self>) -> Self {
        let placed = |(place, one): (usize, Self)| {
            one.of_operations.into_iter().map(move |class| Class { workload: place, ..class })
        };
        Self { of_operations: all.into_iter().enumerate().flat_map(placed).collect() }
    }

    /// The classes of the workload with the index `place`.
    pub fn of_workload(&self, place: usize) -> impl Iterator<Item = ClassId> + '_ {
        self.operations()
            .filter(move |&class| class.place().is_some_and(|at| self.of_operations[at].workload == place))
    }

    /// The classes of operations, without commits, slices and connections.
    pub fn of_operations(&self) -> &[Class] {
        &self.of_operations
    }

    /// The number of classes, including commits, slices and connections.
    pub fn count(&self) -> usize {
        ClassId::operation(0).index() + self.of_operations.len()
    }

    /// The classes of operations by number.
    pub fn operations(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.of_operations.len() as u8).map(ClassId::operation)
    }

    /// All classes by number, those of operations first.
    pub fn all(&self) -> impl Iterator<Item = ClassId> + use<> {
        self.operations().chain([ClassId::COMMIT, ClassId::SLICE, ClassId::CONNECT])
    }

    /// The name of the class in records.
    pub fn name(&self, class: ClassId) -> &str {
        match class.place() {
            Some(place) => &self.of_operations[place].name,
            None if class == ClassId::COMMIT => COMMIT,
            None if class == ClassId::CONNECT => CONNECT,
            None => SLICE,
        }
    }

    /// The effect of operations of `class` on rows; classes that are not operations touch no rows.
    #[inline]
    pub fn touch(&self, class: ClassId) -> RowEffect {
        class.place().map_or(RowEffect::Read, |place| self.of_operations[place].rows)
    }
}
