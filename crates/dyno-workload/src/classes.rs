//! The classes of a workload's operations by number.

use crate::ClassId;
use dyno_record::{COMMIT, CONNECT, Class, SLICE, Touch};

/// The classes of a workload, and with them commits, slices and connections, which every workload has.
#[derive(Debug, Clone)]
pub struct Classes {
    of_operations: Vec<Class>,
}

impl Classes {
    /// Of operations of these classes, in the order of their numbers.
    pub fn new(of_operations: Vec<Class>) -> Self {
        Self { of_operations }
    }

    /// Those of several workloads one behind the other, each with the place of its workload.
    pub fn beside_each_other(all: impl IntoIterator<Item = Self>) -> Self {
        let placed = |(place, one): (usize, Self)| {
            one.of_operations.into_iter().map(move |class| Class { workload: place, ..class })
        };
        Self { of_operations: all.into_iter().enumerate().flat_map(placed).collect() }
    }

    /// Those of the workload at `place`.
    pub fn of_workload(&self, place: usize) -> impl Iterator<Item = ClassId> + '_ {
        self.operations()
            .filter(move |&class| class.place().is_some_and(|at| self.of_operations[at].workload == place))
    }

    /// Those of operations.
    pub fn of_operations(&self) -> &[Class] {
        &self.of_operations
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        ClassId::operation(0).index() + self.of_operations.len()
    }

    /// Those of operations by number.
    pub fn operations(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.of_operations.len() as u8).map(ClassId::operation)
    }

    /// All by number, those of operations first.
    pub fn all(&self) -> impl Iterator<Item = ClassId> + use<> {
        self.operations().chain([ClassId::COMMIT, ClassId::SLICE, ClassId::CONNECT])
    }

    /// The name in records.
    pub fn name(&self, class: ClassId) -> &str {
        match class.place() {
            Some(place) => &self.of_operations[place].name,
            None if class == ClassId::COMMIT => COMMIT,
            None if class == ClassId::CONNECT => CONNECT,
            None => SLICE,
        }
    }

    /// What operations of `class` do to rows; what is no operation touches none.
    #[inline]
    pub fn touch(&self, class: ClassId) -> Touch {
        class.place().map_or(Touch::Read, |place| self.of_operations[place].rows)
    }
}
