//! Connections that break, repeat, fall silent and come back.

use std::time::Duration;

use connector_api::ConnectorError;
use testkit::fakes::FakeSignal;

use super::sink::{Memory, follow, follow_until_broken};
use super::{ANTTI, client, client_for, envelope, text};

#[tokio::test]
async fn a_message_arrives_with_its_chat_and_its_person() {
    let fake = FakeSignal::start().await;
    let memory = Memory::default();
    let client = client(&fake.url());
    let ended = follow(&client, &memory, async {
        memory.until_connected(1).await;
        fake.deliver(&envelope("text"));
        memory.until_messages(1).await;
    });
    ended.await.unwrap();
    let facts = memory.facts();
    assert_eq!(facts.messages[0].text, "Kaffee um drei? ☕");
    assert_eq!(facts.messages[0].message_id, format!("{ANTTI}:1750000000001"));
    assert_eq!(facts.chats[0].chat_id, ANTTI);
    assert_eq!(facts.people[0].name.as_deref(), Some("Antti"));
}

#[tokio::test]
async fn a_stream_dropped_in_the_middle_of_an_event_loses_nothing() {
    let fake = FakeSignal::start().await;
    fake.keep_events();
    let client = client(&fake.url());
    let memory = Memory::default();
    let broken = follow_until_broken(&client, &memory, async {
        memory.until_connected(1).await;
        fake.deliver(&text(1));
        memory.until_messages(1).await;
        fake.deliver_torn(&text(2));
    });
    assert!(matches!(broken.await, Err(ConnectorError::Unreachable { .. })));
    assert_eq!(memory.facts().messages.len(), 1, "half an event is none");
    let ended = follow(&client, &memory, async {
        memory.until_messages(2).await;
        fake.deliver(&text(3));
        memory.until_messages(3).await;
    });
    ended.await.unwrap();
    assert_eq!(memory.facts().messages.len(), 3, "and nothing comes twice");
    assert_eq!(memory.texts().len(), 3);
}

#[tokio::test]
async fn a_daemon_that_forgot_repeats_and_nothing_is_doubled() {
    let fake = FakeSignal::start().await;
    fake.keep_events();
    let client = client(&fake.url());
    let memory = Memory::default();
    let broken = follow_until_broken(&client, &memory, async {
        memory.until_connected(1).await;
        fake.deliver(&text(1));
        memory.until_messages(1).await;
        fake.restart();
    });
    broken.await.unwrap_err();
    let ended = follow(&client, &memory, async {
        memory.until_connected(2).await;
        fake.deliver(&text(1));
        fake.deliver(&text(2));
        memory.until_messages(3).await;
    });
    ended.await.unwrap();
    assert_eq!(memory.texts().len(), 2);
}

#[tokio::test]
async fn what_was_said_while_nobody_listened_comes_when_somebody_does() {
    let fake = FakeSignal::start().await;
    for url in [fake.url(), fake.tcp_url(), fake.unix_url()] {
        fake.deliver(&text(1));
        fake.deliver(&text(2));
        let memory = Memory::default();
        let client = client(&url);
        follow(&client, &memory, memory.until_messages(2)).await.unwrap();
        assert_eq!(memory.texts().len(), 2, "{url}");
        wait_until_alone(&fake).await;
    }
}

/// The fake notices only by and by that somebody has hung up.
async fn wait_until_alone(fake: &FakeSignal) {
    while fake.listeners() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn pieces_and_signs_of_life_do_not_matter() {
    let fake = FakeSignal::start().await;
    fake.cut_into(3);
    let memory = Memory::default();
    let client = client(&fake.url());
    let ended = follow(&client, &memory, async {
        memory.until_connected(1).await;
        for sent_ms in 1..=20 {
            fake.keep_alive();
            fake.deliver(&text(sent_ms));
        }
        memory.until_messages(20).await;
    });
    ended.await.unwrap();
    assert_eq!(memory.texts().len(), 20);
}

#[tokio::test]
async fn lines_over_tcp_and_a_socket_say_the_same_as_events() {
    let fake = FakeSignal::start().await;
    fake.cut_into(7);
    let mut told = Vec::new();
    for url in [fake.url(), fake.tcp_url(), fake.unix_url()] {
        let memory = Memory::default();
        let client = client(&url);
        let ended = follow(&client, &memory, async {
            memory.until_connected(1).await;
            fake.deliver(&envelope("text"));
            fake.deliver(&envelope("own_group"));
            memory.until_messages(2).await;
        });
        ended.await.unwrap();
        let mut facts = memory.facts();
        facts.held.clear();
        told.push(facts);
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
}

#[tokio::test]
async fn a_daemon_that_says_everything_twice_is_heard_once() {
    let fake = FakeSignal::start().await;
    fake.receive_unasked();
    let memory = Memory::default();
    let client = client(&fake.tcp_url());
    let ended = follow(&client, &memory, async {
        memory.until_connected(1).await;
        fake.deliver(&text(1));
        fake.deliver(&text(2));
        memory.until_messages(2).await;
    });
    ended.await.unwrap();
    assert_eq!(memory.facts().messages.len(), 2);
}

#[tokio::test]
async fn a_line_dropped_in_the_middle_is_an_error_and_no_message() {
    let fake = FakeSignal::start().await;
    let memory = Memory::default();
    let client = client(&fake.tcp_url());
    let broken = follow_until_broken(&client, &memory, async {
        memory.until_connected(1).await;
        fake.deliver_torn(&text(1));
    });
    assert!(matches!(broken.await, Err(ConnectorError::Unreachable { .. })));
    assert!(memory.facts().messages.is_empty());
}

#[tokio::test]
async fn silence_ends_the_stream() {
    let fake = FakeSignal::start().await;
    for url in [fake.url(), fake.tcp_url()] {
        let mut client = client(&url);
        client.silence_max = Duration::from_millis(100);
        let memory = Memory::default();
        let broken = follow_until_broken(&client, &memory, async {
            memory.until_connected(1).await;
            fake.fall_silent();
        });
        assert!(matches!(broken.await, Err(ConnectorError::Unreachable { .. })), "{url}");
        fake.speak_again();
    }
}

#[tokio::test]
async fn a_quiet_daemon_on_a_socket_is_asked_whether_it_lives() {
    let fake = FakeSignal::start().await;
    let mut client = client(&fake.unix_url());
    client.silence_max = Duration::from_millis(40);
    let memory = Memory::default();
    let ended = follow(&client, &memory, async {
        memory.until_connected(1).await;
        fake.until_called("version", 3).await;
        fake.deliver(&text(1));
        memory.until_messages(1).await;
    });
    ended.await.unwrap();
}

#[tokio::test]
async fn time_is_whole_only_while_connected() {
    let fake = FakeSignal::start().await;
    let client = client(&fake.url());
    let memory = Memory::default();
    for gap_ms in [1_000_000, 0] {
        let ended = follow(&client, &memory, async {
            let before = memory.facts().messages.len();
            memory.until_connected(memory.connections() + 1).await;
            memory.pass(500);
            fake.deliver(&text(1));
            memory.until_messages(before + 1).await;
        });
        ended.await.unwrap();
        memory.pass(gap_ms);
    }
    let held = memory.facts().held;
    let stretch = |at: usize| (held[at].from.unwrap().as_ms(), held[at].to.as_ms());
    assert_eq!(stretch(0), (1_750_000_000_000, 1_750_000_000_500));
    assert_eq!(stretch(1), (1_750_001_000_500, 1_750_001_001_000));
    assert!(held.iter().all(|held| held.chat_id.is_none()));
}

#[tokio::test]
async fn signs_of_life_stretch_what_is_whole() {
    let fake = FakeSignal::start().await;
    let memory = Memory::default();
    let client = client(&fake.url());
    let ended = follow(&client, &memory, async {
        memory.until_connected(1).await;
        memory.pass(120_000);
        fake.keep_alive();
        memory.until(|memory| !memory.facts().held.is_empty()).await;
    });
    ended.await.unwrap();
    assert_eq!(memory.facts().held[0].to.as_ms(), 1_750_000_120_000);
    assert!(memory.facts().messages.is_empty());
}

#[tokio::test]
async fn another_account_of_the_same_daemon_is_not_ours() {
    let fake = FakeSignal::start().await;
    let memory = Memory::default();
    let client = client(&fake.tcp_url());
    let ended = follow(&client, &memory, async {
        memory.until_connected(1).await;
        fake.deliver_to("+4915199999999", &text(1));
        fake.deliver(&text(2));
        memory.until_messages(1).await;
    });
    ended.await.unwrap();
    assert_eq!(memory.facts().messages[0].sent_at.as_ms(), 2);
}

#[tokio::test]
async fn an_account_the_daemon_does_not_have_is_a_wrong_setting() {
    let fake = FakeSignal::start().await;
    for url in [fake.url(), fake.unix_url()] {
        let memory = Memory::default();
        let client = client_for(&url, "+4915199999999");
        let refused = follow_until_broken(&client, &memory, async {}).await;
        let Err(ConnectorError::Setting { field, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(field, "account");
        assert_eq!(memory.connections(), 0);
    }
}

#[tokio::test]
async fn nobody_there_is_a_passing_error() {
    let url = FakeSignal::start().await.url();
    let memory = Memory::default();
    let client = client(&url);
    let refused = follow_until_broken(&client, &memory, async {}).await;
    assert!(refused.unwrap_err().is_passing());
}
