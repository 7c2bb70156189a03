//! Making a context fit. The order of cutting is fixed, and whatever is left out is said.
//!
//! Never the system layer, never the live message. First quotations that repeat, then the middle of long
//! results, then the session layer, then documents from the one that fits worst, then whole calls with
//! their results from the oldest, and the task last.

use protocol::limits::relay::SESSION_LAYER_BYTES_MAX;
use protocol::relay::Context;
use serde_json::{Map, Value, json};

use super::Assembled;
use super::budget::{Budget, estimate};
use super::material::{Material, Pair, Reference, Turn};
use super::{session, tools};
use crate::relay::prose::head;

/// What makes a session layer of every turn.
const WHOLE: &str = "whole";
/// What makes one by quoting.
pub(super) const QUOTED: &str = "quoted";
/// What the session layer is cut to, step by step.
const SESSION_STEPS: [usize; 4] = [1_024, 512, 256, 0];
/// What the task is cut to, step by step.
const TASK_STEPS: [usize; 2] = [512, 0];

/// A context that fits, or as nearly as may be.
pub(super) struct Fitted {
    pub(super) assembled: Assembled,
    /// A summary of all turns that was made for it.
    pub(super) fresh_summary: Option<String>,
    /// Whether a model's summary would serve the next turn better.
    pub(super) wants_points: bool,
}

struct Draft<'a> {
    material: &'a Material,
    session: String,
    is_summary: bool,
    wants_points: bool,
    task: Option<String>,
    pairs: Vec<Pair>,
    refs: Vec<Reference>,
    budget: Budget,
}

/// Makes a context of at most so many tokens.
pub(super) fn fit(material: &Material, tokens_max: u64) -> Fitted {
    let mut draft = Draft {
        material,
        session: session::whole(&material.turns),
        is_summary: false,
        wants_points: false,
        task: material.task.clone(),
        pairs: material.pairs.clone(),
        refs: material.refs.clone(),
        budget: Budget::new(tokens_max),
    };
    let fresh_summary = draft.shorten_session();
    draft.cut_repeats();
    draft.cut_results();
    draft.cut_session();
    draft.cut_refs();
    draft.cut_pairs();
    draft.cut_task();
    let wants_points = draft.wants_points;
    Fitted { assembled: draft.finish(), fresh_summary, wants_points }
}

impl Draft<'_> {
    fn bytes(&self) -> usize {
        let pairs: usize = self.pairs.iter().map(|pair| tools::shown(pair).to_string().len()).sum();
        let refs: usize = self.refs.iter().map(|reference| reference.id.len() + 3).sum();
        let texts = self.material.system.len() + self.session.len() + self.material.live_bytes;
        texts + self.task.as_ref().map_or(0, String::len) + pairs + refs
    }

    fn is_over(&self) -> bool {
        estimate(self.bytes()) > self.budget.limit
    }

    /// The session layer never comes to more than its own maximum.
    fn shorten_session(&mut self) -> Option<String> {
        let before = self.session.len();
        self.budget.session = (before > 0).then(|| WHOLE.to_owned());
        if before <= SESSION_LAYER_BYTES_MAX {
            return None;
        }
        let turns = session::without_repeats(&self.material.turns);
        self.is_summary = true;
        let fresh = if self.use_points(&turns) { None } else { self.quote(&turns) };
        let what = format!("{} turns summarised", turns.len());
        self.budget.drop("session", what, before.saturating_sub(self.session.len()));
        fresh
    }

    /// Uses the points that a model has written; answers whether it did.
    fn use_points(&mut self, turns: &[Turn]) -> bool {
        let newest = turns.last().map_or(0, |turn| turn.seq);
        let kept = self.material.kept.as_ref().filter(|kept| kept.is_by_model());
        let is_current = kept.is_some_and(|kept| kept.through_seq == newest);
        self.wants_points = !is_current;
        let Some(kept) = kept else { return false };
        let (points, through_seq) = (&kept.summary, kept.through_seq);
        let pointed = session::with_points(points, through_seq, turns, SESSION_LAYER_BYTES_MAX);
        let Some(pointed) = pointed else { return false };
        self.wants_points = !is_current && !pointed.is_whole;
        self.session = pointed.text;
        self.budget.session = Some(kept.method.clone());
        true
    }

    /// Quotes the turns; answers the summary if it is a fresh one.
    fn quote(&mut self, turns: &[Turn]) -> Option<String> {
        self.budget.session = Some(QUOTED.to_owned());
        let ends = |turn: Option<&Turn>| turn.map_or(0, |turn| turn.seq);
        let (oldest, newest) = (ends(turns.first()), ends(turns.last()));
        let kept = self.material.kept.as_ref().filter(|kept| {
            !kept.is_by_model() && (kept.from_seq, kept.through_seq) == (oldest, newest)
        });
        if let Some(kept) = kept {
            self.session = head(&kept.summary, SESSION_LAYER_BYTES_MAX).to_owned();
            return None;
        }
        self.session = session::summarise(turns, SESSION_LAYER_BYTES_MAX);
        Some(self.session.clone())
    }

    fn cut_repeats(&mut self) {
        // A summary leaves quotations out already.
        if !self.is_over() || self.is_summary {
            return;
        }
        let before = self.session.len();
        self.session = session::whole(&session::without_repeats(&self.material.turns));
        if self.session.len() < before {
            self.budget.drop("session", "repeated quotations", before - self.session.len());
        }
    }

    fn cut_results(&mut self) {
        for index in 0..self.pairs.len() {
            if !self.is_over() {
                return;
            }
            let Some(pair) = self.pairs.get_mut(index) else { return };
            if let Some(saved) = tools::collapse(pair) {
                let what = format!("the middle of the result of {}", pair.id);
                self.budget.drop("tools", what, saved);
            }
        }
    }

    fn cut_session(&mut self) {
        for step in SESSION_STEPS {
            if !self.is_over() || self.session.is_empty() {
                return;
            }
            let before = self.session.len();
            if before <= step {
                continue;
            }
            let turns = session::without_repeats(&self.material.turns);
            self.session = session::summarise(&turns, step);
            self.budget.session = (!self.session.is_empty()).then(|| QUOTED.to_owned());
            let what = format!("{} turns summarised in {step} bytes", turns.len());
            self.budget.drop("session", what, before.saturating_sub(self.session.len()));
        }
    }

    fn cut_refs(&mut self) {
        while self.is_over() && !self.refs.is_empty() {
            // Of equals the later one goes.
            let worst = self
                .refs
                .iter()
                .enumerate()
                .reduce(|worst, next| if next.1.score <= worst.1.score { next } else { worst });
            let Some(index) = worst.map(|(index, _)| index) else { return };
            let reference = self.refs.remove(index);
            self.budget.drop("refs", reference.id.clone(), reference.id.len());
        }
    }

    fn cut_pairs(&mut self) {
        while self.is_over() && !self.pairs.is_empty() {
            let pair = self.pairs.remove(0);
            let bytes = tools::shown(&pair).to_string().len();
            self.budget.drop("tools", format!("{} with its result", pair.id), bytes);
        }
    }

    fn cut_task(&mut self) {
        for step in TASK_STEPS {
            let Some(task) = &self.task else { return };
            if !self.is_over() || task.len() <= step {
                continue;
            }
            let kept = head(task, step).to_owned();
            let saved = task.len() - kept.len();
            self.task = Some(kept).filter(|kept| !kept.is_empty());
            self.budget.drop("task", "the end of the task's description", saved);
        }
    }

    fn finish(mut self) -> Assembled {
        self.budget.estimate = estimate(self.bytes());
        let text = |text: String| Some(text).filter(|text| !text.is_empty());
        let mut other = Map::new();
        if !self.pairs.is_empty() {
            let pairs: Vec<Value> = self.pairs.iter().map(tools::shown).collect();
            other.insert("tools".to_owned(), json!(pairs));
        }
        if !self.refs.is_empty() {
            let refs: Vec<&str> = self.refs.iter().map(|one| one.id.as_str()).collect();
            other.insert("refs".to_owned(), json!(refs));
        }
        let context = Context {
            system: text(self.material.system.clone()),
            session: text(self.session),
            task: self.task,
            other,
        };
        Assembled { context, budget: self.budget }
    }
}
