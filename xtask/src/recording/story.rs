//! What a recorder wrote down.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use serde_json::Value;

/// A recording.
pub(crate) struct Story {
    /// What it is called.
    pub(crate) title: String,
    /// How many rows and columns all of it takes.
    pub(crate) size: (usize, usize),
    /// The terminals.
    pub(crate) panes: BTreeMap<String, Pane>,
    /// What happened, in order.
    pub(crate) events: Vec<(f64, Event)>,
}

/// A terminal.
pub(crate) struct Pane {
    /// What stands above it.
    pub(crate) title: String,
    /// Its rows and columns.
    pub(crate) size: (u16, u16),
}

/// Something that happened.
pub(crate) enum Event {
    /// A terminal printed something.
    Printed { pane: String, bytes: Vec<u8> },
    /// These are in view from now on, one below the other.
    InView(Vec<String>),
    /// A command was typed.
    Typed(String),
    /// There is something to read: the next thing is not shown before so many seconds.
    Hold(f64),
}

impl Story {
    /// Reads it.
    pub(crate) fn read(text: &[u8]) -> anyhow::Result<Self> {
        let story: Value = serde_json::from_slice(text).context("the recording is no JSON")?;
        let panes = story.get("panes").and_then(Value::as_object).context("there are no panes")?;
        let pane = |(name, pane): (&String, &Value)| {
            let (rows, cols) = pair(pane.get("size"))?;
            let size = (u16::try_from(rows)?, u16::try_from(cols)?);
            let title = word(pane.get("title"))?;
            anyhow::Ok((name.clone(), Pane { title, size }))
        };
        let events =
            story.get("events").and_then(Value::as_array).context("there are no events")?;
        Ok(Self {
            title: word(story.get("title"))?,
            size: pair(story.get("size"))?,
            panes: panes.iter().map(pane).collect::<anyhow::Result<_>>()?,
            events: events.iter().map(event).collect::<anyhow::Result<_>>()?,
        })
    }
}

fn event(value: &Value) -> anyhow::Result<(f64, Event)> {
    let at = value.get("at").and_then(Value::as_f64).context("an event has no time")?;
    let happened = if let Some(pane) = value.get("pane") {
        // A character for each byte.
        let printed = word(value.get("printed"))?;
        let bytes =
            printed.chars().map(|c| u8::try_from(u32::from(c))).collect::<Result<_, _>>()?;
        Event::Printed { pane: word(Some(pane))?, bytes }
    } else if let Some(names) = value.get("in_view").and_then(Value::as_array) {
        Event::InView(names.iter().map(|name| word(Some(name))).collect::<anyhow::Result<_>>()?)
    } else if let Some(seconds) = value.get("hold").and_then(Value::as_f64) {
        Event::Hold(seconds)
    } else if let Some(command) = value.get("typed") {
        Event::Typed(word(Some(command))?)
    } else {
        bail!("an event is of no known kind: {value}");
    };
    Ok((at, happened))
}

fn pair(value: Option<&Value>) -> anyhow::Result<(usize, usize)> {
    let numbers = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    match numbers {
        [rows, cols] => {
            let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
            number(rows).zip(number(cols)).context("a size is two whole numbers")
        }
        _ => bail!("a size is two numbers"),
    }
}

fn word(value: Option<&Value>) -> anyhow::Result<String> {
    value.and_then(Value::as_str).map(str::to_owned).context("a text is missing")
}
