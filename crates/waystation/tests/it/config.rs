//! A wrong setting is named, and nothing starts with it.

use crate::program::{Home, Ran};

#[test]
fn a_wrong_setting_is_named() {
    for (text, named) in [
        ("lisen = \"127.0.0.1:1\"", "lisen"),
        ("listen = 7788", "listen"),
        ("listen = \"nowhere\"", "listen"),
        ("workspace = \"a b\"", "workspace"),
        ("[limits]\nposts_burst = \"many\"", "posts_burst"),
        ("[limits]\nposts_burst = -1", "posts_burst"),
        ("[limits]\npost_burst = 1", "post_burst"),
        ("[tls]\nmode = \"on\"", "mode"),
        ("[store]\nconnections = -4", "connections"),
        ("[log]\nformat = \"xml\"", "format"),
        ("[log]\nfilter = \"[[[\"", "log.filter"),
        ("[identity]\nissuer = 1", "issuer"),
        ("[[identity.issuers]]\nissuer = \"x\"", "jwks_url"),
        ("[relay]\nredis_url = \"cache:6379\"", "relay.redis_url begins with neither redis://"),
        (
            "[tls]\nmode = \"files\"",
            "tls.mode is \"files\": set tls.certificate and tls.key to PEM",
        ),
        ("[tls]\nmode = \"files\"\ncertificate = \"cert.pem\"", "set tls.certificate and tls.key"),
        ("[tls]\nmode = \"files\"\nkey = \"key.pem\"", "set tls.certificate and tls.key"),
        ("public_url = \"ftp://x\"", "public_url = \"ftp://x\" must be an http or https address"),
        ("public_url = \"hub.example.org\"", "public_url"),
        ("public_url = \"https://\"", "public_url"),
        ("this is no TOML", "TOML"),
    ] {
        let home = Home::new();
        home.configure(text);
        let ran = home.run(&["up", "--listen", "127.0.0.1:0"]);
        assert_eq!(ran.code, 1, "{text}");
        assert!(ran.stderr.contains(named), "{text}: {}", ran.stderr);
        assert!(!home.data().join("waystation.db").exists(), "{text}: nothing was made");
    }
}

#[test]
fn a_wrong_filter_is_named_before_a_hub_is_started_with_it() {
    let home = Home::new();
    home.configure("[log]\nfilter = \"[[[\"\n");
    let ran = home.run(&["threads"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("log.filter = \"[[[\" is not a filter"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("no hub answered"), "{}", ran.stderr);
    assert!(!home.data().join("owner.log").exists(), "a hub was started");
}

#[test]
fn a_wrong_variable_is_named_and_a_missing_file_too() {
    let home = Home::new().with("LIMITS__POSTS_BURST", "many");
    let ran = home.run(&["threads"]);
    assert_eq!(ran.code, 1);
    let said = "WAYSTATION_LIMITS__POSTS_BURST is wrong: expected u32";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let home = Home::new().with("FOO", "1");
    let ran = home.run(&["threads"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("WAYSTATION_FOO is wrong: unknown field"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("config.toml"), "{}", ran.stderr);
    let home = Home::new();
    let ran = home.run(&["threads", "--config", "no-such.toml"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no-such.toml"), "{}", ran.stderr);
}

#[test]
fn a_configuration_may_stand_anywhere() {
    let home = Home::new();
    let file = home.path().join("my.toml");
    std::fs::write(&file, "workspace = \"elsewhere\"\n").unwrap();
    let file = file.to_str().unwrap();
    home.ok(&["thread", "new", "x", "--config", file]);
    let mut command = home.command(&["call", "list_threads"]);
    let ran = Ran::of(command.env("WAYSTATION_CONFIG", file).output().unwrap());
    assert_eq!(ran.json()["threads"][0]["title"], "x");
    let other = home.run(&["threads", "--json"]).json();
    assert_eq!(other["threads"].as_array().unwrap().len(), 0, "that is another workspace");
    let mut elsewhere = home.command(&["thread", "new", "y"]);
    let folder = home.path().join("other");
    assert_eq!(Ran::of(elsewhere.env("WAYSTATION_DATA", &folder).output().unwrap()).code, 0);
    assert!(folder.join("waystation.db").exists());
    // Takes over from the owner that was left there, and ends.
    let up = home.up_with(&["--data", folder.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    assert_eq!(up.stop(), 0);
}

#[test]
fn a_wrong_setting_is_named_without_its_value() {
    for (text, named) in [
        ("[relay]\nredis_url = \"redis://ada:hunter2@cache/1", "line 2"),
        ("[model]\n\nkey = hunter2", "line 3"),
        ("store = \"postgres://x:hunter2@h/db\"", "store in "),
        ("[model]\napi = \"hunter2\"", "model.api in "),
    ] {
        let home = Home::new();
        home.configure(text);
        let ran = home.run(&["threads"]);
        assert_eq!(ran.code, 1, "{text}");
        assert!(ran.stderr.contains(named), "{text}: {}", ran.stderr);
        assert!(!ran.stderr.contains("hunter2"), "{text}: {}", ran.stderr);
    }
    for (name, value) in [
        ("STORE", "postgres://x:hunter2@h/db"),
        ("LIMITS__POSTS_BURST", "hunter2, expected more"),
        ("IDENTITY__STATIC_TOKENS", "[{ token = \"hunter2\", agent = 1 }]"),
    ] {
        let home = Home::new().with(name, value);
        let ran = home.run(&["threads"]);
        assert_eq!(ran.code, 1, "{name}");
        let said = format!("WAYSTATION_{name} is wrong");
        assert!(ran.stderr.contains(&said), "{name}: {}", ran.stderr);
        assert!(!ran.stderr.contains("hunter2"), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_text_may_look_like_a_number_or_a_date() {
    for value in ["123456", "1e5", "true", "1979-05-27", "123 # 4"] {
        let home = Home::new().with("MODEL__KEY", value);
        home.ok(&["threads"]);
    }
}
