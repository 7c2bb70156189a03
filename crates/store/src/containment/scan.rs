//! Looking through one block.

use super::block::View;
use super::collect::Newest;
use super::filter::Filter;
use super::needle::Needle;
use crate::error::Result;

/// Keeps the messages of a block that contain all needles, as far as they are wanted.
///
/// The first needle leads, so it should be the rarest.
pub(super) fn scan<T>(
    view: &View<'_>,
    filter: &Filter,
    needles: &[Needle],
    found: &mut Newest<T>,
    mut keep: impl FnMut(&View<'_>, usize) -> Result<T>,
) -> Result<()> {
    let (mut next, upto) = filter.range(view);
    let (leading, others) = match needles.split_first() {
        Some((leading, others)) => (Some(leading), others),
        None => (None, needles),
    };
    while next < upto {
        let index = match leading {
            None => next,
            Some(leading) => {
                let start = view.start(next);
                let texts = view.texts.get(start..view.start(upto)).unwrap_or_default();
                let Some(at) = leading.finder.find(texts) else { return Ok(()) };
                view.at(start + at)
            }
        };
        next = index + 1;
        let Some(key) = view.key(index) else { return Ok(()) };
        if !found.wants(key) {
            // The block's other messages are older still.
            return Ok(());
        }
        let text = || view.texts.get(view.start(index)..view.end(index)).unwrap_or_default();
        if filter.admits_message(view, index) && others.iter().all(|other| other.is_in(text())) {
            found.keep(key, keep(view, index)?);
        }
    }
    Ok(())
}
