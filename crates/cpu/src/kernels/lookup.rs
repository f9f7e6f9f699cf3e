//! Rows of elements that go to places of their own, by generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::lookup::{Args, LANES, Lookup, Step};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

/// The kernel.
#[derive(Clone, Debug)]
pub struct Looker(Entry<Args>);

/// Where the elements of a row go, vector by vector.
#[derive(Debug)]
pub struct Places {
    steps: Vec<Step>,
    lanes: Vec<[u32; LANES]>,
    /// Bytes that are read and written.
    reach: [usize; 2],
}

impl Places {
    /// Elements at places of the destination and the source, of so many bytes, by vectors of so many lanes.
    #[must_use]
    pub fn new(row: &[[u32; 2]], sizes: [usize; 2], lanes: usize) -> Places {
        let mut all: Vec<[usize; 2]> = row.iter().map(|place| place.map(|at| at as usize)).collect();
        all.sort_unstable();
        let mut places = Places { steps: Vec::new(), lanes: Vec::new(), reach: [0; 2] };
        while let Some(first) = all.first().map(|place| place[0]) {
            let vector: Vec<[usize; 2]> = all.extract_if(.., |place| place[0] < first + lanes).collect();
            places.vector(first, vector, sizes, lanes);
        }
        places
    }

    /// The steps of a vector of the destination: from the vectors of the source that it comes from.
    fn vector(&mut self, first: usize, mut left: Vec<[usize; 2]>, [written, read]: [usize; 2], lanes: usize) {
        while let Some(start) = left.iter().map(|place| place[1]).min() {
            let mut step = Step { from: start * read, to: first * written, reads: 0, writes: 0 };
            let mut from = [0; LANES];
            for [to, at] in left.extract_if(.., |place| place[1] < start + lanes) {
                from[to - first] = (at - start) as u32;
                step.writes |= 1 << (to - first);
                step.reads |= 1 << (at - start);
            }
            let end = |mask: u16, size: usize| (LANES - mask.leading_zeros() as usize) * size;
            let ends = [step.from + end(step.reads, read), step.to + end(step.writes, written)];
            self.reach = [self.reach[0].max(ends[0]), self.reach[1].max(ends[1])];
            self.steps.push(step);
            self.lanes.push(from);
        }
    }

    /// The steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.steps[..]) + size_of_val(&self.lanes[..])
    }
}

impl Looker {
    /// The kernel for elements of destination and source.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, [to, from]: [Elem; 2]) -> Result<Looker, Error> {
        Ok(Looker(code::get(isa, &Lookup { from, to })?))
    }

    /// Moves a row, whose places count from a byte of destination and source.
    ///
    /// # Panics
    /// When an element lies outside its memory.
    pub fn run(&self, places: &Places, (to, written): (Buf<'_>, usize), (from, read): (Buf<'_>, usize)) {
        if places.is_empty() {
            return;
        }
        let args = Args {
            from: Read::from(from).at("elements", read, Some(places.reach[0])),
            to: Written::from(to).at("places", written, Some(places.reach[1])),
            steps: places.steps.as_ptr(),
            lanes: places.lanes.as_ptr(),
            count: places.steps.len(),
        };
        // SAFETY: all lanes that the steps name lie in their memory, which was asked for them, and there are lanes for every step.
        unsafe { self.0.call(&args) }
    }
}
