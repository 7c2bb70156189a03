//! The containment index: it finds what a scan of all messages finds, and survives damage.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails the test")]

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use protocol::{Timestamp, fold, limits};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use waystation_store::{
    ContainmentDoc, ContainmentFilter, ContainmentHit, ContainmentIndex, ContainmentPage,
    ContainmentQuery, ContainmentScope, ContainmentShape, IndexProgress, Place, RankedQuery,
    RemovedDoc, StoreError,
};

/// Blocks and segments so small that a few messages fill many.
const SMALL: ContainmentShape = ContainmentShape {
    block_bytes: 200,
    block_messages: 2,
    segment_blocks: 64,
    signature_bits: 512,
};

fn open() -> (TempDir, ContainmentIndex) {
    let folder = tempfile::tempdir().unwrap();
    let index = ContainmentIndex::open(folder.path(), "db", 2).unwrap();
    (folder, index)
}

fn doc(row: i64, thread_row: i64, text: &str) -> ContainmentDoc {
    ContainmentDoc {
        row,
        thread_row,
        workspace: "main".into(),
        sender: "ana".into(),
        content_type: 1,
        sent: Timestamp::from_ms(row * 1_000),
        text: text.into(),
    }
}

fn query(needle: &str) -> ContainmentQuery {
    ContainmentQuery {
        needle: needle.into(),
        filter: ContainmentFilter::of_workspace("main"),
        after: None,
        limit: 50,
        offset: 0,
        work_max: limits::containment::WORK_MAX,
    }
}

fn upto(upto: i64) -> IndexProgress {
    IndexProgress { upto, changes_upto: 0 }
}

fn rows(page: &ContainmentPage) -> Vec<i64> {
    page.hits.iter().map(|hit| hit.row).collect()
}

async fn found(index: &ContainmentIndex, needle: &str) -> Vec<i64> {
    rows(&index.find(query(needle)).await.unwrap())
}

async fn with_texts(texts: &[&str]) -> (TempDir, ContainmentIndex) {
    let (folder, index) = open();
    let docs = texts.iter().zip(1..).map(|(text, row)| doc(row, 1, text)).collect();
    index.index(docs, Vec::new(), upto(1)).await.unwrap();
    (folder, index)
}

#[tokio::test]
async fn any_part_of_a_text_is_found_whatever_its_case() {
    let (_folder, index) = with_texts(&["The Meeting is at 9", "no meetup", "MEETING!"]).await;
    assert_eq!(found(&index, "eet").await, [3, 2, 1]);
    assert_eq!(found(&index, "MEETING").await, [3, 1]);
    assert_eq!(found(&index, "g is a").await, [1]);
    assert_eq!(found(&index, "!").await, [3]);
    assert_eq!(found(&index, "absent").await, [0; 0]);
    assert_eq!(found(&index, "").await, [3, 2, 1]);
}

#[tokio::test]
async fn any_script_is_found() {
    let (_folder, index) = with_texts(&[
        "明日の会議は9時",
        "ประชุมพรุ่งนี้",
        "Große STRASSE",
        "👩🏽\u{200D}💻 done ❤\u{FE0F}",
        "cafe\u{301} اجتماع",
    ])
    .await;
    assert_eq!(found(&index, "会議").await, [1]);
    assert_eq!(found(&index, "会").await, [1]);
    assert_eq!(found(&index, "ชุม").await, [2]);
    assert_eq!(found(&index, "straße").await, [3]);
    assert_eq!(found(&index, "GROSSE").await, [3]);
    assert_eq!(found(&index, "💻").await, [4]);
    assert_eq!(found(&index, "🏽").await, [4]);
    assert_eq!(found(&index, "❤").await, [4]);
    assert_eq!(found(&index, "CAFÉ").await, [5]);
    assert_eq!(found(&index, "تماع").await, [5]);
}

#[tokio::test]
async fn no_hit_lies_across_two_messages() {
    let (_folder, index) = with_texts(&["ab", "cd"]).await;
    assert_eq!(found(&index, "bc").await, [0; 0]);
    assert_eq!(found(&index, "da").await, [0; 0]);
}

#[tokio::test]
async fn the_newest_is_what_was_sent_last_and_not_what_came_last() {
    let (_folder, index) = open();
    let mut docs: Vec<_> = (1..=4).map(|row| doc(row, row % 2, "word")).collect();
    docs[0].sent = Timestamp::from_ms(9_000);
    index.index(docs, Vec::new(), upto(4)).await.unwrap();
    let mut late = doc(5, 1, "word");
    late.sent = Timestamp::from_ms(2_500);
    index.index(vec![late], Vec::new(), upto(5)).await.unwrap();
    assert_eq!(found(&index, "word").await, [1, 4, 3, 5, 2]);
}

#[tokio::test]
async fn a_hit_says_where_it_stands() {
    let (_folder, index) = with_texts(&["one", "two"]).await;
    let page = index.find(query("two")).await.unwrap();
    let hit = ContainmentHit {
        row: 2,
        thread_row: 1,
        sent: Timestamp::from_ms(2_000),
        sender: "ana".into(),
        content_type: 1,
    };
    let expected =
        ContainmentPage { hits: vec![hit], next: None, truncated: false, offset_left: 0 };
    assert_eq!(page, expected);
}

#[tokio::test]
async fn an_edited_message_is_found_by_its_new_text_alone() {
    let (_folder, index) = with_texts(&["first text", "second text"]).await;
    let edited = IndexProgress { upto: 2, changes_upto: 7 };
    index.index(vec![doc(1, 1, "third thing")], Vec::new(), edited).await.unwrap();
    assert_eq!(found(&index, "first").await, [0; 0]);
    assert_eq!(found(&index, "third").await, [1]);
    assert_eq!(found(&index, "").await, [2, 1]);
    assert_eq!(index.progress(), edited);
}

#[tokio::test]
async fn of_a_message_that_comes_twice_at_once_the_last_is_kept() {
    let (_folder, index) = open();
    let docs = vec![doc(1, 1, "early"), doc(2, 1, "other"), doc(1, 1, "late")];
    index.index(docs, Vec::new(), upto(2)).await.unwrap();
    assert_eq!(found(&index, "early").await, [0; 0]);
    assert_eq!(found(&index, "").await, [2, 1]);
}

#[tokio::test]
async fn a_message_that_comes_and_goes_at_once_is_gone() {
    let (_folder, index) = with_texts(&["one", "two"]).await;
    let removed = vec![RemovedDoc { row: 2, thread_row: 1 }, RemovedDoc { row: 3, thread_row: 1 }];
    let docs = vec![doc(2, 1, "two again"), doc(3, 1, "three")];
    index.index(docs, removed, upto(3)).await.unwrap();
    assert_eq!(found(&index, "").await, [1]);
}

#[tokio::test]
async fn a_removed_message_is_gone_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = ContainmentIndex::open_shaped(folder.path(), "db", 1, SMALL).unwrap();
    let text = |row| format!("filler {row} {}", if row % 50 == 7 { "topsecret" } else { "open" });
    let docs = (1..=400).map(|row| doc(row, 1 + row % 2, &text(row))).collect();
    index.index(docs, Vec::new(), upto(400)).await.unwrap();
    let secret = found(&index, "topsecret").await;
    assert_eq!(secret, [357, 307, 257, 207, 157, 107, 57, 7]);
    let removed = secret.iter().map(|row| RemovedDoc { row: *row, thread_row: 1 + row % 2 });
    index.index(Vec::new(), removed.collect(), IndexProgress::default()).await.unwrap();
    assert_eq!(found(&index, "topsecret").await, [0; 0]);
    assert_eq!(index.progress(), upto(400));
    index.close();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b"topsecret"));
    }
}

#[tokio::test]
async fn workspaces_never_mix() {
    let (_folder, index) = open();
    let mut other = doc(2, 1, "word");
    other.workspace = "other".into();
    index.index(vec![doc(1, 1, "word")], Vec::new(), upto(1)).await.unwrap();
    index.index(vec![other], Vec::new(), upto(2)).await.unwrap();
    assert_eq!(found(&index, "word").await, [1]);
    let mut elsewhere = query("word");
    elsewhere.filter.workspace = "nowhere".into();
    assert_eq!(rows(&index.find(elsewhere).await.unwrap()), [0; 0]);
}

#[tokio::test]
async fn a_very_long_message_is_found() {
    let (_folder, index) = open();
    let long = format!("{}needle{}", "hay ".repeat(30_000), " straw".repeat(20_000));
    let docs = vec![doc(1, 1, "needle"), doc(2, 1, &long), doc(3, 1, "needles")];
    index.index(docs, Vec::new(), upto(3)).await.unwrap();
    assert_eq!(found(&index, "needle").await, [3, 2, 1]);
}

#[tokio::test]
async fn a_search_that_asks_too_much_is_refused() {
    let (_folder, index) = with_texts(&["one"]).await;
    let long = query(&"x".repeat(limits::SEARCH_QUERY_CHARS_MAX + 1));
    assert!(matches!(index.find(long).await, Err(StoreError::BadQuery(_))));
    let mut far = query("one");
    far.offset = limits::containment::OFFSET_MAX + 1;
    assert!(matches!(index.find(far).await, Err(StoreError::BadQuery(_))));
}

#[tokio::test]
async fn a_closed_index_says_so() {
    let (_folder, index) = with_texts(&["one"]).await;
    index.close();
    assert!(matches!(index.find(query("one")).await, Err(StoreError::Closed)));
}

#[tokio::test]
async fn a_damaged_file_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("containment.db");
    std::fs::write(&path, b"this is not a database, whatever it may say").unwrap();
    let index = ContainmentIndex::open(folder.path(), "db", 1).unwrap();
    assert_eq!(index.progress(), IndexProgress::default());
    index.index(vec![doc(1, 1, "one")], Vec::new(), upto(1)).await.unwrap();
    assert_eq!(found(&index, "one").await, [1]);
}

#[tokio::test]
async fn damage_that_is_found_while_searching_leads_to_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = ContainmentIndex::open(folder.path(), "db", 1).unwrap();
    let docs = || (1..=2_000).map(|row| doc(row, row % 7, "some text that fills pages")).collect();
    index.index(docs(), Vec::new(), upto(2_000)).await.unwrap();
    index.close();
    let path = folder.path().join("containment.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let from = 4 * 4_096;
    bytes[from..].fill(0x5A);
    std::fs::write(&path, bytes).unwrap();
    let index = ContainmentIndex::open(folder.path(), "db", 1).unwrap();
    if index.progress() != IndexProgress::default() {
        assert!(index.find(query("absent")).await.is_err());
        let again = index.index(docs(), Vec::new(), upto(2_000)).await;
        assert!(matches!(again, Err(StoreError::Corrupt { .. })));
    }
    assert_eq!(index.progress(), IndexProgress::default());
    index.index(docs(), Vec::new(), upto(2_000)).await.unwrap();
    assert_eq!(found(&index, "fills").await.len(), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_see_whole_batches_while_more_come_in() {
    let folder = tempfile::tempdir().unwrap();
    let index = ContainmentIndex::open_shaped(folder.path(), "db", 2, SMALL).unwrap();
    let writing = {
        let index = index.clone();
        async move {
            for batch in 0..60_i64 {
                let docs = (1..=10).map(|nth| doc(batch * 10 + nth, nth % 4, "steady word"));
                index.index(docs.collect(), Vec::new(), upto(batch * 10 + 10)).await.unwrap();
            }
        }
    };
    let reading = async {
        let mut before = 0;
        while before < 600 {
            let known = usize::try_from(index.progress().upto).unwrap();
            let mut all = query("dy wo");
            all.limit = limits::containment::HITS_MAX;
            let hits = index.find(all).await.unwrap().hits.len();
            assert!(hits % 10 == 0 && hits >= before && hits >= known);
            before = hits;
        }
    };
    tokio::join!(writing, reading);
}

fn ranked(text: &str) -> RankedQuery {
    RankedQuery {
        text: text.into(),
        filter: ContainmentFilter::of_workspace("main"),
        limit: 10,
        work_max: limits::containment::WORK_MAX,
    }
}

async fn best(index: &ContainmentIndex, text: &str) -> Vec<i64> {
    let page = index.find_ranked(ranked(text)).await.unwrap();
    assert!(page.hits.is_sorted_by(|one, next| one.score >= next.score));
    page.hits.iter().map(|hit| hit.hit.row).collect()
}

#[tokio::test]
async fn the_best_message_has_the_words_whole_in_order_and_often() {
    let (_folder, index) = with_texts(&[
        "budget review on monday",
        "we review the budget, and more words that say little about it",
        "budgetary reviewers",
        "review",
        "nothing",
    ])
    .await;
    assert_eq!(best(&index, "Budget Review").await, [1, 2, 3]);
    assert_eq!(best(&index, "review").await, [4, 1, 2, 3]);
    assert_eq!(best(&index, "budget nothing").await, [0; 0]);
    let none = index.find_ranked(ranked("  ")).await;
    assert!(matches!(none, Err(StoreError::BadQuery(_))));
}

#[tokio::test]
async fn ranking_says_when_it_left_out_older_messages() {
    let (_folder, index) = open();
    let docs = (1..=6_000).map(|row| doc(row, row % 9, "the same words")).collect();
    index.index(docs, Vec::new(), upto(6_000)).await.unwrap();
    let page = index.find_ranked(ranked("words same")).await.unwrap();
    assert!(page.truncated);
    assert_eq!(page.hits[0].hit.row, 6_000);
    let mut narrow = ranked("words same");
    narrow.filter.scope = ContainmentScope::Threads(vec![3]);
    assert!(!index.find_ranked(narrow).await.unwrap().truncated);
}

// What follows compares the index with a scan of all messages.

const LETTERS: &[&str] = &[
    "a",
    "A",
    "b",
    "e",
    "E",
    "t",
    "T",
    "n",
    " ",
    " ",
    "ß",
    "ẞ",
    "ss",
    "SS",
    "ü",
    "Ü",
    "u\u{308}",
    "é",
    "e\u{301}",
    "\u{301}",
    "Σ",
    "ς",
    "σ",
    "İ",
    "ı",
    "i",
    "会",
    "議",
    "明",
    "日",
    "ก",
    "ำ",
    "ั",
    "ا",
    "ج",
    "한",
    "\u{1112}\u{1161}\u{11AB}",
    "👩",
    "🏽",
    "\u{200D}",
    "💻",
    "❤",
    "\u{FE0F}",
    ".",
    "!",
    "'",
    "%",
    "_",
    "\\",
    "\0",
    "\n",
    "ﬁ",
    "ffi",
    "Я",
    "я",
    "\u{10FFFF}",
];
const SENDERS: [&str; 4] = ["ana", "bo", "Ćira", "+358 40"];
const WORKSPACES: [&str; 2] = ["main", "other"];
const THREADS: i64 = 6;

#[derive(Clone, Debug)]
struct Text(Vec<usize>);

impl Text {
    fn written(&self) -> String {
        self.0.iter().map(|letter| LETTERS[letter % LETTERS.len()]).collect()
    }
}

fn text(letters: std::ops::Range<usize>) -> impl Strategy<Value = Text> {
    // Half of the letters come from few, so that longer runs occur more than once.
    let letter = prop_oneof![0..9_usize, 0..LETTERS.len()];
    prop::collection::vec(letter, letters).prop_map(Text)
}

#[derive(Clone, Debug)]
enum Step {
    /// New messages: thread, minute, sender, content type and text of each.
    Add(Vec<(i64, i64, usize, u16, Text)>),
    /// Known messages again, at another time and with another text: which, and how far off.
    Edit(Vec<(usize, i64, Text)>),
    Remove(Vec<usize>),
    Reopen,
    Ask(Box<Question>),
}

#[derive(Clone, Debug)]
struct Question {
    /// A part of a message: which, from where, and how long; or something else.
    part: Option<(usize, usize, usize)>,
    other: Text,
    threads: Option<Vec<i64>>,
    denied: Vec<i64>,
    senders: Option<Vec<usize>>,
    content_types: Option<Vec<u16>>,
    since: Option<i64>,
    before: Option<i64>,
    workspace: usize,
    limit: usize,
    offset: usize,
    is_hurried: bool,
}

fn question() -> impl Strategy<Value = Question> {
    let place = (any::<usize>(), any::<usize>(), 0..8_usize);
    let what = (prop::option::weighted(0.8, place), text(0..4));
    let threads = prop::option::of(prop::collection::vec(0..THREADS, 0..4));
    let scope = (threads, prop::collection::vec(0..THREADS, 0..2), 0..4_usize);
    let senders = prop::option::weighted(0.3, prop::collection::vec(0..SENDERS.len() + 1, 0..3));
    let codes = prop::option::weighted(0.3, prop::collection::vec(0..3_u16, 0..3));
    let time = (prop::option::weighted(0.3, 0..60_i64), prop::option::weighted(0.3, 0..60_i64));
    (what, scope, (senders, codes), time, (1..30_usize, 0..20_usize, any::<bool>())).prop_map(
        |((part, other), (threads, denied, workspace), (senders, content_types), time, page)| {
            let workspace = usize::from(workspace == 0);
            let (since, before) = time;
            let (limit, offset, is_hurried) = page;
            Question {
                part,
                other,
                threads,
                denied,
                senders,
                content_types,
                since,
                before,
                workspace,
                limit,
                offset,
                is_hurried,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let message = (0..THREADS, 0..60_i64, 0..SENDERS.len(), 0..3_u16, text(0..40));
    prop_oneof![
        4 => prop::collection::vec(message, 1..60).prop_map(Step::Add),
        1 => prop::collection::vec((any::<usize>(), -9..9_i64, text(0..40)), 1..8)
            .prop_map(Step::Edit),
        1 => prop::collection::vec(any::<usize>(), 1..5).prop_map(Step::Remove),
        1 => Just(Step::Reopen),
        8 => question().prop_map(|question| Step::Ask(Box::new(question))),
    ]
}

/// What must be found: the log itself.
#[derive(Default)]
struct Log {
    docs: BTreeMap<i64, ContainmentDoc>,
    rows: i64,
    changes: i64,
}

impl Log {
    fn progress(&self) -> IndexProgress {
        IndexProgress { upto: self.rows, changes_upto: self.changes }
    }

    fn pick(&self, nth: usize) -> Option<&ContainmentDoc> {
        self.docs.values().nth(nth % self.docs.len().max(1))
    }

    fn add(&mut self, (thread, minute, sender, content_type, text): (i64, i64, usize, u16, Text)) {
        self.rows += 1;
        let doc = ContainmentDoc {
            row: self.rows,
            thread_row: thread,
            workspace: WORKSPACES[usize::from(thread == 0)].into(),
            sender: SENDERS[sender].into(),
            content_type,
            sent: Timestamp::from_ms(minute * 60_000),
            text: text.written(),
        };
        self.docs.insert(self.rows, doc);
    }

    /// All hits, newest first.
    fn scan(&self, query: &ContainmentQuery) -> Vec<i64> {
        let needle = fold(&query.needle).into_owned();
        let filter = &query.filter;
        let is_in = |doc: &&ContainmentDoc| {
            fold(&doc.text).contains(&needle)
                && *doc.workspace == *filter.workspace
                && match &filter.scope {
                    ContainmentScope::Workspace => true,
                    ContainmentScope::Threads(threads) => threads.contains(&doc.thread_row),
                }
                && !filter.denied_threads.contains(&doc.thread_row)
                && filter
                    .senders
                    .as_ref()
                    .is_none_or(|senders| senders.iter().any(|sender| **sender == *doc.sender))
                && filter
                    .content_types
                    .as_ref()
                    .is_none_or(|codes| codes.contains(&doc.content_type))
                && filter.since.is_none_or(|since| doc.sent >= since)
                && filter.before.is_none_or(|before| doc.sent < before)
        };
        let mut hits: Vec<_> =
            self.docs.values().filter(is_in).map(|doc| (doc.sent, doc.row)).collect();
        hits.sort_unstable_by(|one, other| other.cmp(one));
        hits.into_iter().map(|(_, row)| row).collect()
    }

    fn query(&self, question: &Question) -> ContainmentQuery {
        let part = question.part.and_then(|(nth, from, letters)| {
            let text: Vec<char> = self.pick(nth)?.text.chars().collect();
            let from = from % text.len().max(1);
            Some(text.iter().skip(from).take(letters + 1).collect::<String>())
        });
        let minute = |minute: i64| Timestamp::from_ms(minute * 60_000);
        let name = |sender: &usize| (*SENDERS.get(*sender).unwrap_or(&"nobody")).to_owned();
        ContainmentQuery {
            needle: part.unwrap_or_else(|| question.other.written()),
            filter: ContainmentFilter {
                workspace: WORKSPACES[question.workspace].into(),
                scope: question
                    .threads
                    .clone()
                    .map_or(ContainmentScope::Workspace, ContainmentScope::Threads),
                denied_threads: question.denied.clone(),
                senders: question.senders.as_ref().map(|all| all.iter().map(name).collect()),
                content_types: question.content_types.clone(),
                since: question.since.map(minute),
                before: question.before.map(minute),
            },
            after: None,
            limit: question.limit,
            offset: 0,
            work_max: if question.is_hurried {
                Duration::ZERO
            } else {
                limits::containment::WORK_MAX
            },
        }
    }
}

struct Trial {
    folder: TempDir,
    index: ContainmentIndex,
    shape: ContainmentShape,
    log: Log,
}

impl Trial {
    fn new(shape: ContainmentShape) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = ContainmentIndex::open_shaped(folder.path(), "db", 1, shape).unwrap();
        Self { folder, index, shape, log: Log::default() }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Add(messages) => {
                let before = self.log.rows;
                for message in messages {
                    self.log.add(message);
                }
                let docs = self.log.docs.range(before + 1..).map(|(_, doc)| doc.clone());
                self.index.index(docs.collect(), vec![], self.log.progress()).await.unwrap();
            }
            Step::Edit(edits) => {
                let mut docs = Vec::new();
                for (nth, minutes, text) in edits {
                    let Some(mut doc) = self.log.pick(nth).cloned() else { continue };
                    doc.sent = doc.sent.plus_ms(minutes * 60_000);
                    doc.text = text.written();
                    self.log.docs.insert(doc.row, doc.clone());
                    docs.push(doc);
                }
                self.log.changes += 1;
                self.index.index(docs, vec![], self.log.progress()).await.unwrap();
            }
            Step::Remove(nths) => {
                let mut removed = Vec::new();
                for nth in nths {
                    let Some(doc) = self.log.pick(nth) else { continue };
                    let (row, thread_row) = (doc.row, doc.thread_row);
                    removed.push(RemovedDoc { row, thread_row });
                    self.log.docs.remove(&row);
                }
                self.log.changes += 1;
                self.index.index(vec![], removed, self.log.progress()).await.unwrap();
            }
            Step::Reopen => {
                self.index.close();
                self.index =
                    ContainmentIndex::open_shaped(self.folder.path(), "db", 1, self.shape).unwrap();
                assert_eq!(self.index.progress(), self.log.progress());
            }
            Step::Ask(question) => self.ask(&question).await,
        }
    }

    async fn ask(&self, question: &Question) {
        let query = self.log.query(question);
        let expected = self.log.scan(&query);
        assert_eq!(self.all_pages(query.clone()).await, expected, "{:?}", query.needle);
        let offset = question.offset;
        let wanted: Vec<i64> = expected.into_iter().skip(offset).take(query.limit).collect();
        let page = self.page(ContainmentQuery { offset, ..query }).await;
        assert_eq!(page, wanted);
    }

    /// Everything, page by page.
    async fn all_pages(&self, mut query: ContainmentQuery) -> Vec<i64> {
        let mut all = Vec::new();
        loop {
            let page = self.index.find(query.clone()).await.unwrap();
            assert!(page.truncated || page.next.is_none() || page.hits.len() == query.limit);
            all.extend(rows(&page));
            let Some(next) = page.next else { return all };
            assert!(query.after.is_none_or(|after| next < after), "a page must lead further");
            query.after = Some(next);
        }
    }

    /// One page, asked for until it is full.
    async fn page(&self, mut query: ContainmentQuery) -> Vec<i64> {
        let mut page = self.index.find(query.clone()).await.unwrap();
        let mut hits = rows(&page);
        while page.truncated {
            query.after = page.next;
            query.offset = page.offset_left;
            query.limit -= page.hits.len();
            page = self.index.find(query.clone()).await.unwrap();
            hits.extend(rows(&page));
        }
        hits
    }
}

fn run(shape: ContainmentShape, steps: Vec<Step>) {
    Runtime::new().unwrap().block_on(async {
        let mut trial = Trial::new(shape);
        for step in steps {
            trial.take(step).await;
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn finds_what_a_scan_of_all_messages_finds_across_sealed_segments(
        steps in prop::collection::vec(step(), 20..60),
    ) {
        run(SMALL, steps);
    }

    #[test]
    fn finds_what_a_scan_of_all_messages_finds_in_blocks_of_the_usual_size(
        steps in prop::collection::vec(step(), 1..30),
    ) {
        run(ContainmentShape::default(), steps);
    }
}

#[test]
fn places_are_ordered_by_time_and_then_by_row() {
    let place = |ms, row| Place { sent: Timestamp::from_ms(ms), row };
    assert!(place(1, 9) < place(2, 1) && place(2, 1) < place(2, 2));
}
