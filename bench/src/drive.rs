//! Putting load on something: many clients that post one after the other, or posts at a fixed rate.

use std::future::Future;
use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinSet;

use crate::stats::{self, Load};

/// A client that posts.
pub(crate) trait Poster: Send + 'static {
    /// Posts once, and ends when it was acknowledged.
    fn post(&mut self) -> impl Future<Output = Result<()>> + Send;
}

/// Lets every client post, one post after the other, for a while.
pub(crate) async fn drive<P: Poster>(posters: Vec<P>, time: Duration) -> Result<Load> {
    let cpu = stats::cpu();
    let began = stats::now();
    let mut tasks = JoinSet::new();
    for mut poster in posters {
        tasks.spawn(async move {
            let mut millis = Vec::new();
            while began.elapsed() < time {
                let sent = stats::now();
                poster.post().await?;
                millis.push(stats::since(sent) * 1e3);
            }
            Ok::<_, anyhow::Error>(millis)
        });
    }
    let mut load = Load::default();
    while let Some(ended) = tasks.join_next().await {
        load.millis.extend(ended??);
    }
    load.count = load.millis.len();
    load.seconds = stats::since(began);
    load.cpu = stats::cpu() - cpu;
    Ok(load)
}

/// Posts at a fixed rate, whether earlier posts have been acknowledged or not. A post's time counts
/// from the moment it was due.
pub(crate) async fn drive_at<P: Poster>(
    mut posters: Vec<P>,
    rate: f64,
    time: Duration,
) -> Result<Load> {
    const TICK: Duration = Duration::from_millis(1);
    let cpu = stats::cpu();
    let began = stats::now();
    let mut ticks = tokio::time::interval(TICK);
    let mut tasks: JoinSet<Result<(P, f64)>> = JoinSet::new();
    let (mut load, mut due) = (Load::default(), 0.0);
    while began.elapsed() < time {
        let at = ticks.tick().await.into_std();
        due += rate * TICK.as_secs_f64();
        while due >= 1.0 {
            due -= 1.0;
            while let Some(ended) = tasks.try_join_next() {
                finish(ended?, &mut posters, &mut load)?;
            }
            while posters.is_empty()
                && let Some(ended) = tasks.join_next().await
            {
                finish(ended?, &mut posters, &mut load)?;
            }
            let Some(mut poster) = posters.pop() else {
                anyhow::bail!("a fixed rate needs at least one client");
            };
            tasks.spawn(async move {
                poster.post().await?;
                Ok((poster, stats::since(at) * 1e3))
            });
        }
    }
    while let Some(ended) = tasks.join_next().await {
        finish(ended?, &mut posters, &mut load)?;
    }
    load.count = load.millis.len();
    load.seconds = stats::since(began);
    load.cpu = stats::cpu() - cpu;
    Ok(load)
}

fn finish<P>(ended: Result<(P, f64)>, posters: &mut Vec<P>, load: &mut Load) -> Result<()> {
    let (poster, millis) = ended?;
    posters.push(poster);
    load.millis.push(millis);
    Ok(())
}
