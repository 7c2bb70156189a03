//! How long to wait before what failed is tried again, and before a service is asked again whether
//! something arrived.

use protocol::limits::relay as limits;

/// The wait after so many failed attempts, a fifth longer or shorter; `None` when it was tried often
/// enough.
pub(super) fn back_off_ms(attempts: i64, random: u32) -> Option<i64> {
    let place = usize::try_from(attempts.max(1) - 1).ok()?;
    let wait_ms = *limits::OUTBOX_BACKOFF_MS.get(place)?;
    // From 0.8 to 1.2 times as long.
    let thousandths = 800 + i64::from(random % 401);
    Some(wait_ms * thousandths / 1_000)
}

/// The pause before a service is asked again whether something arrived; `None` when it was asked often
/// enough.
pub(super) fn look_again_ms(looks: i64) -> Option<i64> {
    limits::OUTBOX_LOOKS_MS.get(usize::try_from(looks).ok()?).copied()
}

/// What is left of a back-off after the service was asked again and again.
pub(super) fn rest_ms(back_off_ms: i64) -> i64 {
    (back_off_ms - limits::OUTBOX_LOOKS_MS.iter().sum::<i64>()).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_as_long_as_the_table_says_give_or_take_a_fifth() {
        for (attempts, wait_ms) in (1..).zip(limits::OUTBOX_BACKOFF_MS) {
            let all = [0, 1, 200, 400, 401, u32::MAX].map(|random| back_off_ms(attempts, random));
            for one in all.map(Option::unwrap) {
                assert!(one >= wait_ms * 8 / 10 && one <= wait_ms * 12 / 10, "{attempts}: {one}");
            }
            assert_eq!(back_off_ms(attempts, 200), Some(wait_ms));
        }
        assert_eq!(back_off_ms(8, 0), None);
    }

    #[test]
    fn a_service_is_asked_again_with_growing_pauses() {
        let pauses: Vec<i64> = (0..).map_while(look_again_ms).collect();
        assert_eq!(pauses, limits::OUTBOX_LOOKS_MS);
        assert!(pauses.is_sorted());
        assert_eq!(rest_ms(1_000), 0);
    }
}
