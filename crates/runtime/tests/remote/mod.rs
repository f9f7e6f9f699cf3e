//! A device whose memory the host cannot address, and whose queues are as late as they may be: nothing is done before somebody waits for it.
//! It has the toy's rows, run on copies of its bytes.

#![allow(dead_code, reason = "each test file uses a part")]

use crate::toy::Toy;
use oxidnn_runtime::queue::{Mark, ScratchSource, Ticket};
use oxidnn_runtime::*;
use oxidnn_spec::*;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The bytes of all such devices, by their first address.
#[derive(Clone, Copy)]
struct Bytes;

impl Bytes {
    fn lock(&self) -> MutexGuard<'static, BTreeMap<u64, Vec<u8>>> {
        static BLOCKS: Mutex<BTreeMap<u64, Vec<u8>>> = Mutex::new(BTreeMap::new());
        BLOCKS.lock().unwrap()
    }
    fn read(&self, from: Region) -> Vec<u8> {
        if let Some(host) = from.bytes() {
            let mut bytes = vec![0; from.len()];
            host.read(0, &mut bytes);
            return bytes;
        }
        let blocks = self.lock();
        let (start, block) = blocks.range(..=from.address()).next_back().expect("an address of the device");
        let at = (from.address() - start) as usize;
        block[at..at + from.len()].to_vec()
    }
    fn write(&self, to: Region, bytes: &[u8]) {
        if let Some(host) = to.bytes() {
            return host.write(0, bytes);
        }
        let mut blocks = self.lock();
        let (start, block) = blocks.range_mut(..=to.address()).next_back().expect("an address of the device");
        let at = (to.address() - start) as usize;
        block[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// Frees a block.
struct Block(u64);

impl Drop for Block {
    fn drop(&mut self) {
        Bytes.lock().remove(&self.0).expect("a block is freed once");
    }
}

pub(crate) struct Remote {
    toy: Toy,
    number: u64,
}

impl Remote {
    pub(crate) fn new() -> Remote {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Remote { toy: Toy { builds: Arc::new(AtomicUsize::new(0)) }, number }
    }
}

impl Device for Remote {
    fn kind(&self) -> EngineKind {
        EngineKind::Gpu
    }
    fn name(&self) -> String {
        "remote".into()
    }
    fn fingerprint(&self) -> String {
        format!("remote {}", self.number)
    }
    fn properties(&self) -> Properties {
        Properties { ordinal: self.number as usize, host_visible: false, memory_bytes: Some(1 << 30), units: 1 }
    }
    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused> {
        self.toy.plan(problem, from_row)
    }
    fn allocate(&self, bytes: usize) -> Result<Allocation, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(1 << 20);
        let address = NEXT.fetch_add((bytes as u64).next_multiple_of(256) + 256, Ordering::Relaxed);
        Bytes.lock().insert(address, vec![0; bytes]);
        let region = Region::device(DeviceId::of(&self.fingerprint()), address, bytes);
        // SAFETY: the address is a name of the block alone, until it is freed.
        Ok(unsafe { Allocation::device(region, Box::new(Block(address))) })
    }
    fn queue(&self, _: &QueueSpec) -> Result<Arc<dyn Queue>, Error> {
        Ok(Arc::new(Late::default()))
    }
}

#[derive(Default)]
struct Late {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    jobs: Vec<(Job, Option<Box<dyn Any + Send>>)>,
    submitted: u64,
    done: u64,
}

enum Job {
    Run { exec: Arc<dyn Exec>, args: Vec<(Arg, Use, Tensor, Vec<Region<'static>>)>, scratch: usize },
    Copy(Region<'static>, Region<'static>),
    Fill(Region<'static>, u8),
    Wait(Arc<dyn Queue>, Ticket),
    Nothing,
}

impl Late {
    fn push(&self, job: Job, held: Option<Box<dyn Any + Send>>) -> Ticket {
        let mut state = self.state.lock().unwrap();
        state.jobs.push((job, held));
        state.submitted += 1;
        Ticket(state.submitted)
    }

    fn perform(&self, job: &Job) {
        match job {
            Job::Copy(from, to) => Bytes.write(*to, &Bytes.read(*from)),
            Job::Fill(to, byte) => Bytes.write(*to, &vec![*byte; to.len()]),
            Job::Wait(other, ticket) => other.wait_until(*ticket).unwrap(),
            Job::Nothing => {}
            Job::Run { exec, args, scratch } => {
                let mut copies: Vec<Vec<u8>> = args.iter().map(|a| Bytes.read(a.3[0])).collect();
                // SAFETY: the copies live until the execution is done, and nobody else uses them.
                let buf = |b: &mut Vec<u8>| [Region::host(unsafe { Buf::new(b.as_mut_ptr(), b.len()) })];
                let regions: Vec<[Region; 1]> = copies.iter_mut().map(buf).collect();
                let bound = args.iter().zip(&regions);
                let bound: Vec<Bound<'_>> =
                    bound.map(|(a, r)| Bound { arg: a.0, usage: a.1, tensor: &a.2, regions: r, notes: None }).collect();
                let work = Work::Run { exec, args: &bound, scratch: ScratchSource::Lease(*scratch) };
                // SAFETY: done on return.
                unsafe { queue::Immediate::default().submit(work.into()) }.unwrap();
                let written = args.iter().zip(&copies).filter(|(a, _)| a.1 == Use::Out);
                written.for_each(|(a, copy)| Bytes.write(a.3[0], copy));
            }
        }
    }
}

/// A region of a submission's.
fn kept(region: Region<'_>) -> Region<'static> {
    // SAFETY: whoever submits keeps the memory until the ticket is done.
    unsafe { region.outlive() }
}

impl Queue for Late {
    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Ticket, Error> {
        let job = match submission.work {
            Work::Copy { from, to } => Job::Copy(kept(from), kept(to)),
            Work::Fill { to, byte } => Job::Fill(kept(to), byte),
            Work::Run { exec, args, scratch } => {
                let scratch = match scratch {
                    ScratchSource::Lease(bytes) => bytes,
                    ScratchSource::Given(region) => region.len(),
                };
                let args = args.iter().map(|b| (b.arg, b.usage, b.tensor.clone(), b.regions.iter().copied().map(kept).collect())).collect();
                Job::Run { exec: exec.clone(), args, scratch }
            }
        };
        Ok(self.push(job, submission.held))
    }
    fn is_done(&self, ticket: Ticket) -> Result<bool, Error> {
        Ok(self.state.lock().unwrap().done >= ticket.0)
    }
    fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        loop {
            let mut state = self.state.lock().unwrap();
            if state.done >= ticket.0 {
                return Ok(());
            }
            let (job, held) = state.jobs.remove(0);
            drop(state);
            self.perform(&job);
            drop((job, held));
            self.state.lock().unwrap().done += 1;
        }
    }
    fn wait(&self) -> Result<(), Error> {
        let last = self.state.lock().unwrap().submitted;
        self.wait_until(Ticket(last))
    }
    fn wait_for(&self, other: &Arc<dyn Queue>, ticket: Ticket) -> Result<(), Error> {
        self.push(Job::Wait(other.clone(), ticket), None);
        Ok(())
    }
    fn mark(&self) -> Result<Arc<dyn Mark>, Error> {
        Ok(Arc::new(Point(self.push(Job::Nothing, None))))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct Point(Ticket);

impl Mark for Point {
    fn ticket(&self) -> Ticket {
        self.0
    }
    fn since(&self, _: &dyn Mark) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
