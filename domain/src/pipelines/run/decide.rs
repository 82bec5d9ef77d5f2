//! How a run goes on: from an event to its effects.

use std::collections::{BTreeMap, VecDeque};

use super::{
    conclusion::{JobConclusion, JobResult, RunConclusion},
    event::{Begun, Effect, Gate, RunEvent},
    expand,
    plan::Plan,
    state::{JobPlace, JobState, LOST_MAX, Phase, RUN_OUTPUTS_LEN_MAX, RunState, Settled, outputs_len},
};

impl RunState {
    /// Takes in what happened, and says what follows, in the order in which it does.
    pub fn decide(&mut self, plan: &Plan, event: RunEvent) -> Vec<Effect> {
        if self.conclusion.is_some() || self.nodes.len() != plan.nodes() {
            return Vec::new();
        }
        let mut turn = Turn { plan, state: self, effects: Vec::new(), touched: VecDeque::new() };
        turn.take(event);
        turn.go_on();
        turn.effects
    }
}

/// One event, until nothing follows from it any more.
struct Turn<'a> {
    plan: &'a Plan,
    state: &'a mut RunState,
    effects: Vec<Effect>,
    /// Keys to be looked at again, because a job of theirs ended or was made.
    touched: VecDeque<usize>,
}

impl Turn<'_> {
    fn take(&mut self, event: RunEvent) {
        match event {
            RunEvent::Begun => {
                self.state.has_begun = true;
                (0..self.plan.nodes()).for_each(|node| self.try_make(node));
            }
            RunEvent::Passed { job, gate } => self.passed(job, gate),
            RunEvent::Refused { job, gate } => {
                let conclusion = match gate {
                    Gate::Environment => JobConclusion::Failure,
                    Gate::Group | Gate::Slot => JobConclusion::Cancelled,
                };
                if self.phase(job) == Some(Phase::Held(gate)) {
                    self.complete(job, conclusion);
                }
            }
            RunEvent::Started { job } => self.started(job),
            RunEvent::Completed { job, conclusion, outputs } => self.completed(job, conclusion, outputs),
            RunEvent::TimedOut { job } => self.timed_out(job),
            RunEvent::Unclaimed { job } => {
                if self.phase(job) == Some(Phase::Queued) {
                    self.complete(job, JobConclusion::Failure);
                }
            }
            RunEvent::Lost { job, begun } => self.lost(job, begun),
            RunEvent::Displaced { job } => self.cancel(job),
            RunEvent::Cancelled if self.state.has_begun => self.cancelled(),
            RunEvent::Cancelled | RunEvent::ForceCancelled => self.force_cancelled(),
        }
    }

    /// Settles keys whose jobs are over, makes jobs whose needs are, lets jobs take the places of others, and ends the run.
    fn go_on(&mut self) {
        while let Some(node) = self.touched.pop_front() {
            self.fill(node);
            if self.settle(node) {
                self.plan.dependents[node].iter().for_each(|dependent| self.try_make(*dependent));
            }
        }
        if self.state.nodes.iter().all(|node| node.settled.is_some()) {
            let conclusion = self.conclusion();
            self.state.conclusion = Some(conclusion);
            self.effects.push(Effect::End { conclusion });
        }
    }

    /// A run that somebody cancelled, and in which nothing failed, is cancelled, even where nothing but conditions noticed.
    fn conclusion(&self) -> RunConclusion {
        match RunConclusion::of_all(self.state.jobs().filter_map(|(_, job)| job.counted())) {
            RunConclusion::Success | RunConclusion::Skipped if self.state.is_cancelled => RunConclusion::Cancelled,
            conclusion => conclusion,
        }
    }

    fn job(&mut self, place: JobPlace) -> Option<&mut JobState> {
        self.state.nodes.get_mut(place.node)?.jobs.get_mut(place.index)
    }

    fn phase(&self, place: JobPlace) -> Option<Phase> {
        self.state.job(place).map(|job| job.phase)
    }

    fn enter(&mut self, place: JobPlace, phase: Phase) {
        if let Some(job) = self.job(place) {
            job.phase = phase;
        }
    }

    /// Makes the jobs of a key, if all that it needs is over and they aren't there yet. Goes on where some are, of a run that is
    /// run again.
    fn try_make(&mut self, node: usize) {
        let is_settled = |node: &usize| self.state.nodes[*node].settled.is_some();
        if is_settled(&node) || !self.plan.needs[node].iter().all(is_settled) {
            return;
        }
        if self.state.nodes[node].jobs.is_empty() {
            self.state.nodes[node] = expand::node(self.plan, self.state, node);
            self.over_at_once(node);
        }
        self.touched.push_back(node);
    }

    /// Tells of jobs that were over when they were made; one that failed may end the others.
    fn over_at_once(&mut self, node: usize) {
        let jobs = self.state.nodes[node].jobs.iter().enumerate();
        let over: Vec<_> = jobs.filter_map(|(index, job)| Some((index, job.conclusion()?))).collect();
        for (index, conclusion) in over {
            self.ended(JobPlace { node, index }, conclusion);
        }
    }

    /// Lets jobs go on that waited for a place among those of their matrix.
    fn fill(&mut self, node: usize) {
        let of = &self.state.nodes[node];
        let is_held = |job: &JobState| job.phase == Phase::Held(Gate::Slot);
        let taken = of.jobs.iter().filter(|job| !is_held(job) && job.conclusion().is_none()).count();
        let free = of.max_parallel.unwrap_or(of.jobs.len()).saturating_sub(taken);
        let next = of.jobs.iter().enumerate().filter(|(_, job)| is_held(job)).map(|(index, _)| index).take(free);
        for index in next.collect::<Vec<_>>() {
            self.passed(JobPlace { node, index }, Gate::Slot);
        }
    }

    /// Lets a job go on to what holds it next.
    fn passed(&mut self, place: JobPlace, gate: Gate) {
        let Some(job) = self.state.job(place).filter(|job| job.phase == Phase::Held(gate)) else { return };
        let next = match gate {
            Gate::Slot if job.concurrency.is_some() => Some(Gate::Group),
            Gate::Slot | Gate::Group if job.environment.is_some() => Some(Gate::Environment),
            _ => None,
        };
        match next {
            Some(gate) => {
                self.enter(place, Phase::Held(gate));
                self.effects.push(Effect::Ask { job: place, gate });
            }
            None => self.queue(place),
        }
    }

    fn queue(&mut self, place: JobPlace) {
        self.enter(place, Phase::Queued);
        self.effects.push(Effect::Queue { job: place });
    }

    fn started(&mut self, place: JobPlace) {
        if self.phase(place) == Some(Phase::Queued) {
            self.enter(place, Phase::Running);
            self.state.has_started = true;
        }
    }

    fn completed(&mut self, place: JobPlace, conclusion: JobConclusion, outputs: BTreeMap<String, String>) {
        let fits = self.state.outputs_len() + outputs_len(&outputs) <= RUN_OUTPUTS_LEN_MAX;
        let Some(job) = self.job(place).filter(|job| job.is_running()) else { return };
        if fits {
            job.outputs = outputs;
            return self.complete(place, conclusion);
        }
        job.fault = Some(format!("The outputs of a run's jobs take at most {RUN_OUTPUTS_LEN_MAX} bytes."));
        let is_success = conclusion == JobConclusion::Success;
        self.complete(place, if is_success { JobConclusion::Failure } else { conclusion });
    }

    fn lost(&mut self, place: JobPlace, begun: Begun) {
        let Some(job) = self.job(place).filter(|job| job.is_running()) else { return };
        match (job.phase, begun) {
            (Phase::Cancelling, _) => self.complete(place, JobConclusion::Cancelled),
            (_, Begun::Nothing) if job.lost < LOST_MAX => {
                job.lost += 1;
                self.queue(place);
            }
            _ => self.complete(place, JobConclusion::Failure),
        }
    }

    fn timed_out(&mut self, place: JobPlace) {
        if self.state.job(place).is_some_and(JobState::is_running) {
            self.complete(place, JobConclusion::TimedOut);
        }
    }

    fn complete(&mut self, place: JobPlace, conclusion: JobConclusion) {
        if self.job(place).is_none_or(|job| job.conclusion().is_some()) {
            return;
        }
        self.enter(place, Phase::Completed(conclusion));
        self.ended(place, conclusion);
    }

    /// Tells that a job is over; one that failed ends the others of its matrix.
    fn ended(&mut self, place: JobPlace, conclusion: JobConclusion) {
        self.effects.push(Effect::Complete { job: place, conclusion });
        self.touched.push_back(place.node);
        let counted = self.state.job(place).and_then(JobState::counted);
        let is_failure = matches!(counted, Some(JobConclusion::Failure | JobConclusion::TimedOut));
        let of = &self.state.nodes[place.node];
        if is_failure && of.fail_fast {
            (0..of.jobs.len()).for_each(|index| self.cancel(JobPlace { node: place.node, index }));
        }
    }

    /// Stops a job: its runner is told to, or it never starts.
    fn cancel(&mut self, place: JobPlace) {
        match self.phase(place) {
            Some(Phase::Running) => {
                self.enter(place, Phase::Cancelling);
                self.effects.push(Effect::Cancel { job: place });
            }
            Some(Phase::Held(_) | Phase::Queued) => self.complete(place, JobConclusion::Cancelled),
            Some(Phase::Cancelling | Phase::Completed(_)) | None => {}
        }
    }

    fn cancelled(&mut self) {
        self.state.is_cancelled = true;
        for node in 0..self.plan.nodes() {
            let condition = &self.plan.workflow.jobs[node].condition;
            let is_open = self.state.nodes[node].jobs.iter().any(|job| job.conclusion().is_none());
            let goes_on = || condition.evaluate(&self.plan.surroundings(self.state, node)).unwrap_or(false);
            if is_open && !goes_on() {
                (0..self.state.nodes[node].jobs.len()).for_each(|index| self.cancel(JobPlace { node, index }));
            }
        }
    }

    fn force_cancelled(&mut self) {
        self.state.is_cancelled = true;
        for node in 0..self.plan.nodes() {
            if self.state.nodes[node].jobs.is_empty() {
                let job = expand::ended(&self.plan.workflow.jobs[node], JobConclusion::Cancelled, None);
                self.state.nodes[node] = expand::alone(job);
                self.over_at_once(node);
            }
            for index in 0..self.state.nodes[node].jobs.len() {
                let job = JobPlace { node, index };
                if self.phase(job) == Some(Phase::Running) {
                    self.effects.push(Effect::Cancel { job });
                }
                self.complete(job, JobConclusion::Cancelled);
            }
        }
    }

    /// Notes what a key's jobs came to once all are over, and says whether that is new.
    fn settle(&mut self, node: usize) -> bool {
        let of = &self.state.nodes[node];
        let results: Option<Vec<JobResult>> = of.jobs.iter().map(JobState::result).collect();
        let Some(results) = results.filter(|results| !results.is_empty() && of.settled.is_none()) else { return false };
        let result = JobResult::of_all(results);
        let needed = || self.plan.needs[node].iter().filter_map(|place| self.state.nodes[*place].settled);
        let settled = Settled {
            result,
            all_succeeded: result == JobResult::Success && needed().all(|it| it.all_succeeded),
            has_failed: result == JobResult::Failure || needed().any(|it| it.has_failed),
        };
        self.state.nodes[node].settled = Some(settled);
        true
    }
}
