//! Search: the newest fifty among all messages, for a common word and for a rare pair of words.

use anyhow::Result;
use protocol::Role;
use serde_json::{Value, json};

use crate::grown::Grown;
use crate::growth;
use crate::place::Place;
use crate::rig::{self, Rig};
use crate::stats::{self, Load};
use crate::table::{self, Bar, Row};

const SEARCHES: usize = 200;
const CATCH_UP_SECONDS_MAX: f64 = 900.0;

/// Searches through the catalogue, once the index has caught up.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let count = growth::large(place);
    let grown = Grown::kept(place, count).await?;
    let rig = Rig::open(&grown.folder)?;
    let caller = rig::caller(&rig::agent(0), Role::Worker);
    let began = stats::now();
    while is_behind(&rig, &caller).await? {
        if stats::since(began) > CATCH_UP_SECONDS_MAX {
            anyhow::bail!("the search index did not catch up");
        }
        tokio::time::sleep(stats::seconds(0.5)).await;
    }
    table::say(&format!("  the index took {:.0} s to catch up", stats::since(began)));
    let mut rows = Vec::new();
    for (number, query) in [("9a", "deadline"), ("9b", "\"bounded the attempts\" backoff")] {
        let mut load = Load::default();
        for _ in 0..SEARCHES {
            let sent = stats::now();
            rig.call(&caller, "search_messages", &json!({ "query": query })).await?;
            load.millis.push(stats::since(sent) * 1e3);
        }
        rows.push(Row {
            number,
            what: format!("search for {query} among {count}, all of which hold it"),
            ours: format!("p50 {:.2} ms, p99 {:.2} ms", load.p50(), load.p99()),
            reference: "—".to_owned(),
            value: Some(load.p50()),
            unit: "ms",
            bar: Bar::AtMost(5.0),
        });
    }
    rig.stop().await?;
    Ok(rows)
}

async fn is_behind(rig: &Rig, caller: &std::sync::Arc<protocol::Caller>) -> Result<bool> {
    let answer = rig.call(caller, "search_messages", &json!({ "query": "deadline" })).await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    Ok(answer.get("index_behind").and_then(Value::as_bool).unwrap_or(true))
}
