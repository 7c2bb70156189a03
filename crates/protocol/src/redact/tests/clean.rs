//! Sentences, logs and code without anything personal in them.

use super::leaves;

#[test]
fn prose_is_left_alone() {
    leaves(&[
        "The release 4.2.1 fixed 17 bugs in 3 days.",
        "Am 12.03.2024 um 14:30 Uhr wurden 1.250,00 € überwiesen.",
        "Le 14/07/2023, 3 500 personnes ont marché pendant 2 h 30.",
        "El 5 de mayo de 2021 se vendieron 12.345 unidades a 19,99 €.",
        "2024年3月5日に1,234件の注文がありました。",
        "W 2023 roku sprzedano 1 234 567 sztuk za 12 345,67 zł.",
        "She scored 99.98 percent on page 1024 of 2048.",
        "Chapter 12, verses 3-7, lines 100-200.",
        "We moved from Python 3.11.4 to 3.12.0 and from Node 18.19.0 to 20.11.1.",
        "Temperatures between -12.5 and 37.2 degrees.",
    ]);
}

#[test]
fn logs_and_code_are_left_alone() {
    leaves(&[
        "2024-05-01T12:00:00.123456Z INFO hub: request took 12.345 ms status=200 bytes=1048576",
        "[ 1234.567890] usb 1-1.2: new high-speed USB device number 5 using xhci_hcd",
        "thread 'main' panicked at src/lib.rs:120:17: index out of bounds: the len is 3 but the index is 7",
        "let x: [u8; 16] = [0x12, 0x34, 0x56, 0x78];",
        "assert_eq!(hash, \"d41d8cd98f00b204e9800998ecf8427e\");",
        "for i in 0..1000000000 { sum += i * 31; }",
        "const MASK: u64 = 0xffff_ffff_0000_0000;",
        "req_id=550e8400-e29b-41d4-a716-446655440000 trace=4bf92f3577b34da6a3ce929d0e0e4736",
        "docker run -p 8080:80 nginx:1.25.3-alpine",
        "diff --git a/x b/x index 5c71efb..f17df05 100644",
        "@@ -120,7 +120,9 @@ fn main() {",
        "select * from orders WHERE id = 1234567890 AND total > 99.95;",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
        "GET /api/v2/items?page=12&per_page=100 HTTP/1.1\" 304 0",
        "memory: 1234567890 / 17179869184 bytes (7.2%)",
        "cron: 0 3 * * 1-5 /usr/bin/backup",
        "{\"timestamp\":1700000000.123,\"level\":\"error\",\"culprit\":\"app.views in get\",\"count\":\"42\"}",
        "line 1: 0: 00000000 11111111 22222222",
        "ETag: W/\"5f3-18c2a7b1d40\"",
        "x-request-id: 8f14e45f-ceea-467f-ab1d-0a1b2c3d4e5f",
    ]);
}
