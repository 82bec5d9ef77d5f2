//! A resource that does what tests want to see: waits, crashes, fails to load, sets timers.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
};

use domain::{Error, Result, Timestamp};
use kernel::{Command, CpuKind, Handle, Resource, SelfRef, TimerFired, Turn};
use store::Change;
use tokio::sync::Semaphore;

/// What outlives a probe, and what tests look at.
#[derive(Default)]
pub struct World {
    pub loads: AtomicU32,
    /// So many of the next loads fail.
    pub loads_to_fail: AtomicU32,
    /// The next loads panic while this is set.
    pub loads_panic: AtomicBool,
    /// The next loads wait here while it is set.
    pub load_gate: Mutex<Option<Arc<Gate>>>,
    /// Every note that was handled, as (key, note), in order.
    pub notes: Mutex<Vec<(String, u32)>>,
    /// Every timer that was handed over, as (key, name, when).
    pub fired: Mutex<Vec<(String, String, Timestamp)>>,
    /// The keys that a handler is at right now, to see that there never are two for one.
    busy: Mutex<HashSet<String>>,
    /// So many of the next timers crash their handler.
    pub timers_to_crash: AtomicU32,
}

impl World {
    pub fn notes_of(&self, key: &str) -> Vec<u32> {
        self.notes.lock().expect("notes").iter().filter(|(of, _)| of == key).map(|(_, note)| *note).collect()
    }

    pub fn fired_names(&self) -> Vec<String> {
        self.fired.lock().expect("fired").iter().map(|(_, name, _)| name.clone()).collect()
    }

    pub fn loads(&self) -> u32 {
        self.loads.load(SeqCst)
    }
}

/// Where a handler waits until the test lets it go on.
pub struct Gate {
    reached: Semaphore,
    opened: Semaphore,
}

impl Gate {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { reached: Semaphore::new(0), opened: Semaphore::new(0) })
    }

    /// Returns once somebody waits at the gate.
    pub async fn reached(&self) {
        self.reached.acquire().await.expect("an open semaphore").forget();
    }

    /// Lets whoever waits, and whoever will, pass.
    pub fn open(&self) {
        self.opened.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    async fn pass(&self) {
        self.reached.add_permits(1);
        self.opened.acquire().await.expect("an open semaphore").forget();
    }
}

/// The resource.
pub struct Probe {
    /// How many commands this load has handled.
    age: u32,
    /// Whether somebody has it open.
    held: bool,
}

impl Resource for Probe {
    type Key = String;
    type Services = Arc<World>;

    const KIND: &'static str = "probe";

    async fn load(_: &String, world: &Arc<World>) -> Result<Self> {
        world.loads.fetch_add(1, SeqCst);
        let gate = world.load_gate.lock().expect("gate").clone();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        assert!(!world.loads_panic.load(SeqCst), "a load that panics");
        let fails = world.loads_to_fail.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        if fails { Err(Error::internal("a load that fails")) } else { Ok(Self { age: 0, held: false }) }
    }

    fn is_in_use(&self) -> bool {
        self.held
    }
}

macro_rules! command {
    ($command:ident -> $reply:ty, $name:literal) => {
        impl Command for $command {
            type Reply = $reply;
            const NAME: &'static str = $name;
        }
    };
}

/// Notes a number, with an `await` in the middle; answers how many commands this load has handled.
#[derive(Clone)]
pub struct Note(pub u32);
command!(Note -> u32, "note");

/// Opens it, or leaves it.
pub struct Hold(pub bool);
command!(Hold -> (), "hold");

impl Handle<Hold> for Probe {
    async fn handle(&mut self, Hold(held): &Hold, _: &mut Turn<'_, Self>) -> Result<()> {
        self.held = *held;
        Ok(())
    }
}

/// Has itself note so many numbers, behind what waits already.
pub struct NoteLater(pub u32);
command!(NoteLater -> SelfRef<Probe>, "note_later");

impl Handle<NoteLater> for Probe {
    async fn handle(&mut self, NoteLater(times): &NoteLater, turn: &mut Turn<'_, Self>) -> Result<SelfRef<Self>> {
        let me = turn.self_ref();
        (0..*times).try_for_each(|number| me.tell(Note(number), turn.context().clone()))?;
        Ok(me)
    }
}

/// Panics.
pub struct Crash;
command!(Crash -> (), "crash");

/// Waits at a gate.
pub struct Wait(pub Arc<Gate>);
command!(Wait -> (), "wait");

/// Fails with this error.
pub struct Fail(pub Error);
command!(Fail -> (), "fail");

/// Answers, and kills its host's task on the way out: nothing catches a panic there.
pub struct KillHost;
command!(KillHost -> (), "kill_host");

impl Drop for KillHost {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a command that panics when it is dropped");
    }
}

/// Computes off the arbiters until the other end of the channel speaks.
pub struct Compute(pub Mutex<Option<std::sync::mpsc::Receiver<u32>>>);
command!(Compute -> u32, "compute");

/// Holds its thread until the test sets the flag.
pub struct Spin(pub Arc<AtomicBool>);
command!(Spin -> (), "spin");

/// Sets a timer of this resource.
pub struct SetTimer {
    pub name: &'static str,
    pub due: Timestamp,
}
command!(SetTimer -> (), "set_timer");

/// Cancels a timer of this resource.
pub struct CancelTimer(pub &'static str);
command!(CancelTimer -> (), "cancel_timer");

impl Handle<Note> for Probe {
    async fn handle(&mut self, command: &Note, turn: &mut Turn<'_, Self>) -> Result<u32> {
        let world = turn.services();
        let alone = world.busy.lock().expect("busy").insert(turn.key().clone());
        assert!(alone, "two handlers at once for {}", turn.key());
        let before = self.age;
        tokio::task::yield_now().await;
        self.age = before + 1;
        world.notes.lock().expect("notes").push((turn.key().clone(), command.0));
        world.busy.lock().expect("busy").remove(turn.key());
        Ok(self.age)
    }
}

impl Handle<Crash> for Probe {
    async fn handle(&mut self, _: &Crash, _: &mut Turn<'_, Self>) -> Result<()> {
        panic!("boom")
    }
}

impl Handle<Wait> for Probe {
    async fn handle(&mut self, command: &Wait, _: &mut Turn<'_, Self>) -> Result<()> {
        command.0.pass().await;
        Ok(())
    }
}

impl Handle<Fail> for Probe {
    async fn handle(&mut self, command: &Fail, _: &mut Turn<'_, Self>) -> Result<()> {
        self.age += 1;
        Err(command.0.clone())
    }
}

impl Handle<KillHost> for Probe {
    async fn handle(&mut self, _: &KillHost, _: &mut Turn<'_, Self>) -> Result<()> {
        Ok(())
    }
}

impl Handle<Compute> for Probe {
    async fn handle(&mut self, command: &Compute, turn: &mut Turn<'_, Self>) -> Result<u32> {
        let receiver = command.0.lock().expect("receiver").take().expect("computed once");
        turn.cpu(CpuKind::Password, move || receiver.recv().expect("a number")).await
    }
}

impl Handle<Spin> for Probe {
    async fn handle(&mut self, Spin(enough): &Spin, _: &mut Turn<'_, Self>) -> Result<()> {
        while !enough.load(SeqCst) {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

impl Handle<SetTimer> for Probe {
    async fn handle(&mut self, command: &SetTimer, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        change.timer_set(Self::KIND, turn.key(), command.name, command.due);
        turn.commit(change).await
    }
}

impl Handle<CancelTimer> for Probe {
    async fn handle(&mut self, command: &CancelTimer, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        change.timer_cancel(Self::KIND, turn.key(), command.0);
        turn.commit(change).await
    }
}

/// A timer named `again` sets itself once more; one named `commits` commits; others leave settling to the kernel.
impl Handle<TimerFired> for Probe {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let world = turn.services();
        let crashes = world.timers_to_crash.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        assert!(!crashes, "a timer that crashes");
        let mut change = Change::new();
        if fired.name == "again" {
            change.timer_set(Self::KIND, turn.key(), &fired.name, fired.due.after(std::time::Duration::from_mins(1)));
        }
        if fired.name == "again" || fired.name == "commits" {
            turn.commit(change).await?;
        }
        world.fired.lock().expect("fired").push((turn.key().clone(), fired.name.clone(), turn.now()));
        if fired.name == "refused" { Err(Error::not_found("There is nothing here.")) } else { Ok(()) }
    }
}
