//! Chats through the one door: taking facts in, reading, searching, and who may see what.

mod archive;
mod coverage;
mod people;
mod reading;
mod scope;
mod searching;
mod waiting;
mod world;

/// Makes a test of each story on both engines.
macro_rules! on_both {
    ($($story:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $story() {
                super::$story(testkit::On::Sqlite).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $story() {
                super::$story(testkit::On::Postgres).await;
            })*
        }
    };
}
pub(crate) use on_both;
