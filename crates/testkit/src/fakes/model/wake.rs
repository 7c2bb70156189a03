//! Notices of the hub in an agent's prompt.

const OPENING: &str = "[waystation wake ";

/// What a notice says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wake {
    /// Which wake it is.
    pub(super) id: String,
    /// The thread to read.
    pub(super) thread: String,
    /// Who is meant.
    pub(super) agent: String,
    /// After which number there is something to read.
    pub(super) since_seq: i64,
}

/// Every wake whose notice stands in these texts, again for each time it stands there.
pub(super) fn ids<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let notices = texts.flat_map(|text| text.split(OPENING).skip(1));
    notices.map(|notice| until(notice, ']').to_owned()).collect()
}

/// The last notice in a text.
pub(super) fn last(text: &str) -> Option<Wake> {
    let notice = text.rsplit_once(OPENING)?.1;
    let after = |mark: &str| notice.split_once(mark).map(|(_, rest)| rest);
    Some(Wake {
        id: until(notice, ']').to_owned(),
        thread: until(after("Thread ")?, ' ').to_owned(),
        agent: until(after("(agent ")?, ')').to_owned(),
        since_seq: until(after("since_seq ")?, ')').parse().ok()?,
    })
}

fn until(text: &str, end: char) -> &str {
    text.split(end).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTICE: &str = "[waystation wake wk_1] Thread th_2 has 3 unread message(s) for you (agent ada). \
        Read them with read_messages (thread_id th_2, since_seq 4), act, acknowledge with ack_read, \
        and answer in the thread.";

    #[test]
    fn a_notice_is_read() {
        let text = format!("<system-reminder>{NOTICE}</system-reminder>");
        let wake = last(&text).unwrap();
        assert_eq!((wake.id.as_str(), wake.thread.as_str()), ("wk_1", "th_2"));
        assert_eq!((wake.agent.as_str(), wake.since_seq), ("ada", 4));
    }

    #[test]
    fn a_notice_that_came_twice_counts_twice() {
        assert_eq!(ids([NOTICE, "hello", NOTICE].into_iter()), ["wk_1", "wk_1"]);
    }
}
