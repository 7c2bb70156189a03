//! Whatever bytes arrive, a token counts only as it was signed.

use std::sync::LazyLock;

use proptest::prelude::*;
use waystation_hub::identity::IdentityError;

use crate::world::{NOW, World, claims};

static WORLD: LazyLock<World> = LazyLock::new(World::new);
static TOKEN: LazyLock<String> = LazyLock::new(|| WORLD.with_claims(claims()));

fn verify(token: &str) -> Result<(), IdentityError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(WORLD.verifier.verify(token, NOW)).map(|_| ())
}

proptest! {
    #[test]
    fn a_changed_letter_breaks_a_token(at in 0..TOKEN.len(), letter in "[A-Za-z0-9_.=+/-]") {
        let mut changed = TOKEN.clone();
        changed.replace_range(at..=at, &letter);
        prop_assume!(changed != *TOKEN);
        prop_assert!(verify(&TOKEN).is_ok());
        prop_assert!(verify(&changed).is_err());
    }

    #[test]
    fn a_cut_breaks_a_token(at in 0..TOKEN.len()) {
        prop_assert!(verify(TOKEN.get(..at).unwrap()).is_err());
        prop_assert!(at == 0 || verify(TOKEN.get(at..).unwrap()).is_err());
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}", json in "[{}\\[\\]\":,a-z0-9\\\\]{0,60}") {
        prop_assert!(verify(&text).is_err());
        let signed = WORLD.sign(&WORLD.header().to_string(), &json);
        prop_assert!(verify(&signed).is_err());
        let under_any_header = WORLD.sign(&json, "{}");
        prop_assert!(verify(&under_any_header).is_err());
    }
}
