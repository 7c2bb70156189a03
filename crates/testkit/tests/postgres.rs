//! The throw-away server starts, keeps databases apart, and leaves nothing behind.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use postgres::{Client, NoTls};
use waystation_testkit::postgres::{Stop, ThrowawayPostgres, fresh_database};

fn connect(url: &str) -> Client {
    Client::connect(url, NoTls).expect("the server accepts")
}

#[test]
fn a_started_server_answers() {
    let server = ThrowawayPostgres::start();
    let row = connect(&server.url()).query_one("SELECT 1", &[]).unwrap();
    assert_eq!(row.get::<_, i32>(0), 1);
}

#[test]
fn two_databases_do_not_see_each_other() {
    let mut first = connect(&fresh_database());
    let mut second = connect(&fresh_database());
    first.batch_execute("CREATE TABLE seen (number INT)").unwrap();
    assert!(first.query("SELECT number FROM seen", &[]).unwrap().is_empty());
    assert!(second.query("SELECT number FROM seen", &[]).is_err());
}

#[test]
fn a_database_keeps_every_letter() {
    let row = connect(&fresh_database()).query_one("SHOW server_encoding", &[]).unwrap();
    assert_eq!(row.get::<_, String>(0), "UTF8");
}

#[test]
fn a_dropped_server_leaves_no_folder() {
    let server = ThrowawayPostgres::start();
    let folder = folder_of(&server.url());
    assert!(Path::new(&folder).exists());
    drop(server);
    assert!(!Path::new(&folder).exists());
}

#[test]
fn a_stopped_server_refuses_and_is_found_again_with_its_data() {
    let mut server = ThrowawayPostgres::start();
    let url = server.fresh_database();
    for (round, how) in [Stop::Kill, Stop::Immediate].into_iter().enumerate() {
        connect(&url).batch_execute(&format!("CREATE TABLE kept_{round} (n INT)")).unwrap();
        connect(&url).batch_execute("CHECKPOINT").unwrap();
        server.stop(how);
        assert!(Client::connect(&url, NoTls).is_err());
        server.start_again();
        connect(&url).query(&format!("SELECT n FROM kept_{round}"), &[]).unwrap();
    }
    let folder = folder_of(&url);
    drop(server);
    assert!(!Path::new(&folder).exists());
}

/// Not a test of its own: the program that the next test kills while its server runs.
#[test]
#[ignore = "run by a_killed_program_takes_its_server_along"]
fn keep_a_server_until_killed() {
    let server = ThrowawayPostgres::start();
    writeln!(std::io::stdout(), "{}", server.url()).unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn a_killed_program_takes_its_server_along() {
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "keep_a_server_until_killed"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let url = lines
        .map_while(Result::ok)
        .find_map(|line| line.find("postgresql://").map(|at| line[at..].to_owned()))
        .expect("the program prints the URL of its server");
    connect(&url);
    program.kill().unwrap();
    program.wait().unwrap();
    wait_until("the server is gone", || Client::connect(&url, NoTls).is_err());
    wait_until("its folder is gone", || !Path::new(&folder_of(&url)).exists());
}

fn folder_of(url: &str) -> String {
    url.split_once("host=").expect("the URL names the socket's folder").1.to_owned()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let waited = (0..1_500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_so()
    });
    assert!(waited, "waited in vain until {what}");
}
