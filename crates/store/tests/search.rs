//! The search index: what is found, what is never found, and what survives damage.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails the test")]

use proptest::prelude::*;
use protocol::Timestamp;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use waystation_store::{
    SearchDoc, SearchHit, SearchIndex, SearchPage, SearchQuery, SearchScope, StoreError,
};

/// Rows this far apart stand in volumes of their own.
const VOLUME: i64 = 40_000;

fn open() -> (TempDir, SearchIndex) {
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path(), "db").unwrap();
    (folder, index)
}

fn doc(row: i64, thread_row: i64, text: &str) -> SearchDoc {
    SearchDoc {
        row,
        thread_row,
        seq: row,
        workspace: "main".into(),
        sender: "ana".into(),
        kind: 1,
        created: Timestamp::from_ms(row * 1_000),
        text: text.into(),
    }
}

fn query(text: &str) -> SearchQuery {
    SearchQuery {
        text: text.into(),
        workspace: "main".into(),
        scope: SearchScope::Workspace,
        sender: None,
        thread_row: None,
        before: None,
        limit: 50,
    }
}

fn rows(page: &SearchPage) -> Vec<i64> {
    page.hits.iter().map(|hit| hit.row).collect()
}

/// One page, asked for until it is full: a slow machine may cut searches short.
async fn page(index: &SearchIndex, mut query: SearchQuery) -> SearchPage {
    let mut page = index.search(query.clone()).await.unwrap();
    while page.truncated {
        query.before = page.next;
        query.limit -= page.hits.len();
        let more = index.search(query.clone()).await.unwrap();
        page.hits.extend(more.hits);
        (page.next, page.truncated) = (more.next, more.truncated);
    }
    page
}

async fn with_texts(texts: &[&str]) -> (TempDir, SearchIndex) {
    let (folder, index) = open();
    let docs = texts.iter().zip(1..).map(|(text, row)| doc(row, 1, text)).collect();
    index.index(docs, i64::try_from(texts.len()).unwrap()).await.unwrap();
    (folder, index)
}

async fn found(index: &SearchIndex, text: &str) -> Vec<i64> {
    rows(&page(index, query(text)).await)
}

#[tokio::test]
async fn all_words_must_occur_and_the_newest_comes_first() {
    let (_folder, index) =
        with_texts(&["the deploy failed", "the deploy went well", "Deploy FAILED again"]).await;
    assert_eq!(found(&index, "deploy").await, [3, 2, 1]);
    assert_eq!(found(&index, "failed deploy").await, [3, 1]);
    assert_eq!(found(&index, "deploy missing").await, [0; 0]);
    let page = page(&index, query("well")).await;
    let hit = SearchHit {
        row: 2,
        thread_row: 1,
        seq: 2,
        sender: "ana".into(),
        kind: 1,
        created: Timestamp::from_ms(2_000),
    };
    assert_eq!(page, SearchPage { hits: vec![hit], next: None, truncated: false });
}

#[tokio::test]
async fn a_page_that_holds_the_oldest_hit_is_the_last() {
    let (_folder, index) = with_texts(&["a gull", "a gull", "a tern", "a gull"]).await;
    for (before, limit, hits, next) in [
        (None, 4, vec![4, 2, 1], None),
        (None, 3, vec![4, 2, 1], None),
        (None, 2, vec![4, 2], Some(2)),
        (Some(2), 2, vec![1], None),
        (Some(2), 1, vec![1], None),
    ] {
        let found = page(&index, SearchQuery { before, limit, ..query("gull") }).await;
        assert_eq!((rows(&found), found.next), (hits, next), "{limit} before {before:?}");
    }
}

#[tokio::test]
async fn phrases_beginnings_and_exclusions_are_understood() {
    let (_folder, index) =
        with_texts(&["roll back the release", "back to roll call", "rollback of release-two"])
            .await;
    assert_eq!(found(&index, "\"roll back\"").await, [1]);
    assert_eq!(found(&index, "rol*").await, [3, 2, 1]);
    assert_eq!(found(&index, "rollb*").await, [3]);
    assert_eq!(found(&index, "release -two").await, [1]);
    assert_eq!(found(&index, "rol* -\"roll back\" -call").await, [3]);
    assert_eq!(found(&index, "\"the rel\"*").await, [1]);
    assert_eq!(found(&index, "release-two").await, [3]);
}

#[tokio::test]
async fn case_and_accents_do_not_matter() {
    let (_folder, index) =
        with_texts(&["Résumé für Žižek", "re\u{301}sume\u{301}", "ПРИВЕТ мир", "हिन्दी भाषा"]).await;
    assert_eq!(found(&index, "resume").await, [2, 1]);
    assert_eq!(found(&index, "RÉSUMÉ zizek FUR").await, [1]);
    assert_eq!(found(&index, "привет").await, [3]);
    assert_eq!(found(&index, "हिन्दी").await, [4]);
}

#[tokio::test]
async fn scripts_without_spaces_are_found_by_any_part() {
    let (_folder, index) = with_texts(&[
        "東京都に行きます",
        "京都の天気",
        "ภาษาไทยง่าย",
        "서울에서 만나요",
        "GPTで東京",
    ])
    .await;
    assert_eq!(found(&index, "東京").await, [5, 1]);
    assert_eq!(found(&index, "京都").await, [2, 1]);
    assert_eq!(found(&index, "東京都に").await, [1]);
    assert_eq!(found(&index, "都").await, [2, 1]);
    assert_eq!(found(&index, "京").await, [5, 2, 1]);
    assert_eq!(found(&index, "東都").await, [0; 0]);
    assert_eq!(found(&index, "ไทย").await, [3]);
    assert_eq!(found(&index, "서울").await, [4]);
    assert_eq!(found(&index, "GPTで東").await, [5]);
    assert_eq!(found(&index, "天気 -東京").await, [2]);
}

#[tokio::test]
async fn nothing_typed_is_an_operator() {
    let (_folder, index) = with_texts(&["alpha", "beta", "alpha beta", "text near or not"]).await;
    let typed = [
        ("alpha OR beta", vec![]),
        ("alpha AND beta", vec![]),
        ("alpha NOT beta", vec![]),
        ("(alpha)", vec![3, 1]),
        ("text:alpha", vec![]),
        ("{text}:alpha", vec![]),
        ("-{text}:alpha", vec![]),
        ("NEAR(alpha beta)", vec![]),
        ("^alpha", vec![3, 1]),
        ("alpha + beta", vec![3]),
        ("\"alpha\" \"beta", vec![3]),
        ("alpha\"beta", vec![3]),
        ("alp*ha", vec![]),
        ("***alpha***", vec![3, 1]),
        ("alpha;DROP TABLE doc;--", vec![]),
        ("'alpha'", vec![3, 1]),
        ("alpha\u{0}beta", vec![3]),
        ("alpha 👍🏽 beta", vec![3]),
        ("\u{e000}w1", vec![]),
        ("\u{e000}t1 alpha", vec![]),
    ];
    for (text, expected) in typed {
        assert_eq!(found(&index, text).await, expected, "{text:?}");
    }
}

#[tokio::test]
async fn a_search_without_a_word_says_what_would_be_right() {
    let (_folder, index) = open();
    for text in ["", "*", "-alpha", "\"\"", "👍️", "\u{0}", "ab*"] {
        let error = index.search(query(text)).await.unwrap_err();
        assert!(matches!(&error, StoreError::BadQuery(why) if why.contains("at least")), "{text}");
    }
    let long = index.search(query(&"word ".repeat(10_000))).await.unwrap_err();
    assert!(matches!(&long, StoreError::BadQuery(why) if why.contains("longer than 500")));
}

#[tokio::test]
async fn only_the_scope_is_searched() {
    let (_folder, index) = open();
    let mut docs: Vec<SearchDoc> = (1..=6).map(|row| doc(row, row % 3, "same words")).collect();
    docs[5].workspace = "other".into();
    docs[4].sender = "ben".into();
    index.index(docs, 6).await.unwrap();
    let page = async |change: &dyn Fn(&mut SearchQuery)| {
        let mut asked = query("words");
        change(&mut asked);
        rows(&page(&index, asked).await)
    };
    assert_eq!(page(&|_| {}).await, [5, 4, 3, 2, 1]);
    assert_eq!(page(&|asked| asked.workspace = "other".into()).await, [6]);
    assert_eq!(page(&|asked| asked.workspace = "none".into()).await, [0; 0]);
    assert_eq!(page(&|asked| asked.sender = Some("ben".into())).await, [5]);
    assert_eq!(page(&|asked| asked.sender = Some("eve".into())).await, [0; 0]);
    assert_eq!(page(&|asked| asked.thread_row = Some(1)).await, [4, 1]);
    let threads = |list: &[i64]| SearchScope::Threads(list.to_vec());
    assert_eq!(page(&|asked| asked.scope = threads(&[0, 1])).await, [4, 3, 1]);
    assert_eq!(page(&|asked| asked.scope = threads(&[])).await, [0; 0]);
    let elsewhere = |asked: &mut SearchQuery| {
        asked.scope = threads(&[1]);
        asked.thread_row = Some(2);
    };
    assert_eq!(page(&elsewhere).await, [0; 0]);
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended() {
    let (_folder, index) = open();
    let docs: Vec<_> = (1..=25).map(|number| doc(number * VOLUME / 7, 1, "word")).collect();
    index.index(docs, 25 * VOLUME).await.unwrap();
    let all = found(&index, "word").await;
    assert_eq!(all.len(), 25);
    let mut asked = SearchQuery { limit: 4, ..query("word") };
    let mut listed = Vec::new();
    loop {
        let page = index.search(asked.clone()).await.unwrap();
        listed.extend(rows(&page));
        match page.next {
            Some(next) => asked.before = Some(next),
            None => break,
        }
    }
    assert_eq!(listed, all);
}

#[tokio::test]
async fn indexing_again_replaces_and_never_goes_back() {
    let (folder, index) = open();
    index.index(vec![doc(1, 1, "first draft"), doc(2, 1, "second")], 2).await.unwrap();
    index.index(vec![doc(1, 1, "first draft"), doc(2, 1, "second")], 2).await.unwrap();
    assert_eq!(found(&index, "first").await, [1]);
    index.index(vec![doc(1, 1, "final text")], 1).await.unwrap();
    assert_eq!(index.indexed_upto(), 2);
    assert_eq!(found(&index, "draft").await, [0; 0]);
    assert_eq!(found(&index, "final").await, [1]);
    index.close();
    assert!(matches!(index.search(query("final")).await, Err(StoreError::Closed)));
    let again = SearchIndex::open(folder.path(), "db").unwrap();
    assert_eq!(again.indexed_upto(), 2);
    assert_eq!(found(&again, "final second").await, [0; 0]);
    assert_eq!(found(&again, "second").await, [2]);
}

#[tokio::test]
async fn an_unusable_file_is_built_again() {
    let damages: [fn(&std::path::Path); 4] = [
        |file| std::fs::File::options().write(true).open(file).unwrap().set_len(5_000).unwrap(),
        |file| std::fs::write(file, "no database, but long enough to be taken for one").unwrap(),
        |file| std::fs::write(file, "").unwrap(),
        |file| {
            let other = rusqlite::Connection::open(file).unwrap();
            other.execute_batch("PRAGMA user_version = 999").unwrap();
        },
    ];
    for damage in damages {
        let (folder, index) = with_texts(&["to be lost"]).await;
        index.close();
        damage(&folder.path().join("search.db"));
        let index = SearchIndex::open(folder.path(), "db").unwrap();
        assert_eq!(index.indexed_upto(), 0);
        assert_eq!(found(&index, "lost").await, [0; 0]);
        index.index(vec![doc(1, 1, "back again")], 1).await.unwrap();
        assert_eq!(found(&index, "again").await, [1]);
    }
}

#[tokio::test]
async fn a_file_that_breaks_while_it_is_open_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path(), "db").unwrap();
    let docs = (1..=2_000).map(|row| doc(row, row, &format!("word{row} same"))).collect();
    index.index(docs, 2_000).await.unwrap();
    index.close();
    let index = SearchIndex::open(folder.path(), "db").unwrap();
    let file = folder.path().join("search.db");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[3 * 4_096..].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    assert!(index.search(query("same")).await.is_err());
    assert!(index.index(vec![doc(2_001, 1, "new")], 2_001).await.is_err());
    assert_eq!(index.indexed_upto(), 0);
    index.index(vec![doc(1, 1, "fed again")], 1).await.unwrap();
    assert_eq!(found(&index, "again").await, [1]);
}

#[tokio::test]
async fn a_full_volume_is_merged_without_losing_anything() {
    let (_folder, index) = open();
    for volume in 0..3 {
        let docs = (1..=20).map(|number| doc(volume * VOLUME + number, number, "kept word"));
        index.index(docs.collect(), volume * VOLUME + 20).await.unwrap();
    }
    index.index(vec![doc(5, 5, "changed word")], 0).await.unwrap();
    let page = page(&index, SearchQuery { limit: 200, ..query("word") }).await;
    assert_eq!(page.hits.len(), 60);
    assert_eq!(found(&index, "changed").await, [5]);
}

#[tokio::test]
async fn a_common_word_is_found_in_whatever_few_threads_are_visible() {
    let (_folder, index) = open();
    // Threads 1 to 300 speak in the first volume, 301 to 600 in the second, eight times each.
    let row_of =
        |thread: i64, turn: i64| (thread - 1) / 300 * VOLUME + turn * 300 + thread % 300 + 1;
    let docs = (0..8).flat_map(|turn| (1..=600).map(move |thread| (turn, thread)));
    let docs = docs.map(|(turn, thread)| doc(row_of(thread, turn), thread, "common word"));
    index.index(docs.collect(), 2 * VOLUME).await.unwrap();
    let scopes: [Vec<i64>; 6] = [
        vec![7],
        (10..30).collect(),
        (1..=60).map(|number| number * 10).collect(),
        (1..=70).collect(),
        (1..=40).chain(301..=340).collect(),
        (100..=500).collect(),
    ];
    for visible in scopes {
        let mut expected: Vec<i64> = (0..8)
            .flat_map(|turn| visible.iter().map(move |thread| row_of(*thread, turn)))
            .collect();
        expected.sort_unstable_by(|a, b| b.cmp(a));
        let scope = SearchScope::Threads(visible);
        let asked = SearchQuery { scope, limit: 200, ..query("word") };
        let newest = page(&index, asked.clone()).await;
        let first: Vec<i64> = expected.iter().copied().take(200).collect();
        assert_eq!(rows(&newest), first);
        let Some(next) = newest.next else { continue };
        let older = page(&index, SearchQuery { before: Some(next), ..asked }).await;
        let second: Vec<i64> = expected.into_iter().skip(200).take(200).collect();
        assert_eq!(rows(&older), second);
    }
}

#[derive(Clone, Debug)]
struct World {
    /// Thread and words of each message.
    messages: Vec<(i64, Vec<usize>)>,
    /// Distance between rows, so that some worlds span several volumes.
    step: i64,
    visible: Vec<i64>,
    wanted: usize,
    limit: usize,
}

fn world() -> impl Strategy<Value = World> {
    let message = (0..120_i64, prop::collection::vec(0..4_usize, 1..4));
    (
        prop::collection::vec(message, 1..150),
        prop::sample::select(vec![1, 400, 9_000]),
        prop_oneof![
            prop::collection::vec(0..130_i64, 0..8),
            prop::collection::vec(0..130_i64, 20..60),
            prop::collection::vec(0..130_i64, 100..400),
        ],
        0..4_usize,
        1..30_usize,
    )
        .prop_map(|(messages, step, visible, wanted, limit)| World {
            messages,
            step,
            visible,
            wanted,
            limit,
        })
}

const WORDS: [&str; 4] = ["amber", "birch", "cedar", "delta"];

async fn check(world: World) {
    let (_folder, index) = open();
    let row_of = |number: usize| (i64::try_from(number).unwrap() + 1) * world.step;
    let docs = world.messages.iter().enumerate().map(|(number, (thread, words))| {
        let text: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        doc(row_of(number), *thread, &text.join(" "))
    });
    index.index(docs.collect(), row_of(world.messages.len())).await.unwrap();
    let expected: Vec<i64> = (0..world.messages.len())
        .rev()
        .filter(|number| {
            let (thread, words) = &world.messages[*number];
            world.visible.contains(thread) && words.contains(&world.wanted)
        })
        .map(row_of)
        .collect();
    let mut listed = Vec::new();
    let mut before = None;
    loop {
        let page = index
            .search(SearchQuery {
                scope: SearchScope::Threads(world.visible.clone()),
                before,
                limit: world.limit,
                ..query(WORDS[world.wanted])
            })
            .await
            .unwrap();
        assert!(page.hits.len() <= world.limit);
        listed.extend(rows(&page));
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    assert_eq!(listed, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_hold_exactly_what_the_scope_allows(world in world()) {
        Runtime::new().unwrap().block_on(check(world));
    }

    #[test]
    fn no_typed_text_is_a_syntax_error(text in ".{0,60}|[\"*()^:+{}\\-a-z \u{0}\u{e000}]{0,40}") {
        let (_folder, index) = open();
        Runtime::new().unwrap().block_on(async {
            index.index(vec![doc(1, 1, "some words to find")], 1).await.unwrap();
            match index.search(query(&text)).await {
                Ok(_) | Err(StoreError::BadQuery(_)) => {}
                Err(error) => panic!("{text:?}: {error:?}"),
            }
        });
    }
}
