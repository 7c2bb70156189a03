//! Codex' configuration before, with and after us.

use super::super::tests::station;
use super::*;

const THEIRS: &str = r#"# my settings
model = "gpt-5"      # the large one
notify = ["notify-send", "--app", "codex"] # a bubble

[mcp_servers.docs]   # reads the manuals
command = "docs"

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "say done"

[projects."/work"]
trust_level = "trusted"
"#;

#[test]
fn comments_and_order_stay_and_the_old_notification_is_called_by_ours() {
    let connected = connect(THEIRS, &station(), Scope::User).unwrap();
    insta::assert_snapshot!("codex_config", connected.text);
    assert_eq!(connect(&connected.text, &station(), Scope::User).unwrap().text, connected.text);
}

#[test]
fn undoing_gives_back_the_file_as_it_was() {
    for theirs in [THEIRS, "", "model = \"x\"\n"] {
        let connected = connect(theirs, &station(), Scope::User).unwrap();
        let gone = disconnect(&connected.text, Some(&connected.changes)).unwrap();
        assert_eq!(gone.text, theirs);
        assert_eq!(gone.left, Vec::<String>::new());
    }
}

#[test]
fn undoing_leaves_what_others_did_since() {
    let connected = connect(THEIRS, &station(), Scope::User).unwrap();
    let since = connected.text.replace("notify-send", "other-notify").replace("large", "largest");
    let gone = disconnect(&since, Some(&connected.changes)).unwrap();
    assert_eq!(
        gone.text,
        THEIRS.replace("notify-send", "other-notify").replace("large", "largest")
    );
}

#[test]
fn a_server_of_that_name_comes_back() {
    let theirs = "[mcp_servers.waystation]\nurl = \"http://127.0.0.1:7788/mcp\"\nbearer_token_env_var = \"T\"\n";
    let connected = connect(theirs, &station(), Scope::User).unwrap();
    assert!(!connected.text.contains("7788"), "{}", connected.text);
    let gone = disconnect(&connected.text, Some(&connected.changes)).unwrap();
    assert_eq!(gone.text, theirs);
}

#[test]
fn what_a_person_adds_to_our_entry_stays_when_the_name_changes() {
    let connected = connect("", &station(), Scope::User).unwrap();
    let since = connected.text.replace(
        "[mcp_servers.waystation]\n",
        "[mcp_servers.waystation]\nstartup_timeout_sec = 30 # slow disk\n",
    );
    let other = Station { agent: "other".to_owned(), ..station() };
    let again = connect(&since, &other, Scope::User).unwrap();
    assert!(again.text.contains("startup_timeout_sec = 30 # slow disk"), "{}", again.text);
    assert!(!again.text.contains("coder"), "{}", again.text);
}

#[test]
fn hooks_on_one_line_are_kept_and_added_to() {
    let theirs = "hooks.Stop = [{ hooks = [{ type = \"command\", command = \"say done\" }] }]\n";
    let connected = connect(theirs, &station(), Scope::User).unwrap();
    let parsed: toml::Table = connected.text.parse().unwrap();
    assert_eq!(parsed["hooks"]["Stop"].as_array().unwrap().len(), 2, "{}", connected.text);
    assert_eq!(connect(&connected.text, &station(), Scope::User).unwrap().text, connected.text);
    let gone = disconnect(&connected.text, None).unwrap();
    assert_eq!(gone.text, theirs);
}

#[test]
fn what_cannot_be_taken_out_is_named() {
    let wrapped = "notify = [\"mine\", \"/opt/bin/waystation\", \"hook\", \"codex-notify\"]\n[mcp_servers.waystation]\nurl = \"x\"\n";
    let gone = disconnect(wrapped, None).unwrap();
    assert_eq!((gone.text.as_str(), gone.left.len()), (wrapped, 2));
}

#[test]
fn a_file_that_is_something_else_is_left_alone() {
    for theirs in ["notify = \"x\"\n", "mcp_servers = 1\n", "[[hooks]]\na = 1\n", "= x"] {
        assert!(connect(theirs, &station(), Scope::User).is_err(), "{theirs}");
    }
}

#[test]
fn a_project_gets_no_notification() {
    let connected = connect("", &station(), Scope::Project).unwrap();
    assert!(!connected.text.contains("notify ="), "{}", connected.text);
    assert!(connected.text.contains("[mcp_servers.waystation]"), "{}", connected.text);
}

#[test]
fn trust_is_read_where_codex_writes_it() {
    let connected = connect("", &station(), Scope::User).unwrap().text;
    assert!(!are_hooks_trusted(&connected));
    let marks = ["session_start", "user_prompt_submit", "stop", "session_end"]
        .map(|name| format!("[hooks.state.\"/h/config.toml:{name}:0:0\"]\ntrusted_hash = \"x\"\n"));
    let trusted = format!("{connected}\n{}", marks.concat());
    assert!(are_hooks_trusted(&trusted));
    assert_eq!(connect(&trusted, &station(), Scope::User).unwrap().text, trusted);
    let gone = disconnect(&trusted, None).unwrap();
    assert_eq!(gone.left.len(), 1, "{:?}", gone.left);
}
