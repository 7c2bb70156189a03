//! Places, which are written as a link to a map.

use super::words;

/// A place that somebody shared.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    pub(super) link: String,
    /// Latitude and longitude.
    pub(super) point: Option<(f64, f64)>,
}

const MAPS: &[&str] = &["https://maps.google.com/?q=", "https://maps.apple.com/?q="];
const VENUES: &str = "https://foursquare.com/v/";
/// The word or the name before the link.
const LABEL_CHARACTERS_MAX: usize = 300;
const LABEL_LINES_MAX: usize = 3;

/// Reads `location: https://maps.google.com/?q=1.5,2.5`, with the word in any language.
pub(super) fn read(text: &str) -> Option<Place> {
    let text = words::without_marks(text);
    let text = words::trim(&text);
    let at = text.find("https://")?;
    let (label, link) = text.split_at_checked(at)?;
    let label = label.trim_end().strip_suffix([':', '：'])?;
    // Android writes the name and the address of a place in lines of their own.
    let is_label = !label.is_empty()
        && label.lines().count() <= LABEL_LINES_MAX
        && label.chars().count() <= LABEL_CHARACTERS_MAX;
    if !is_label || link.contains(char::is_whitespace) {
        return None;
    }
    let point = MAPS.iter().find_map(|start| point(link.strip_prefix(start)?));
    (point.is_some() || link.starts_with(VENUES)).then(|| Place { link: link.to_owned(), point })
}

fn point(query: &str) -> Option<(f64, f64)> {
    let (latitude, longitude) = query.split_once(',')?;
    let latitude: f64 = latitude.parse().ok()?;
    let longitude: f64 = longitude.parse().ok()?;
    let is_on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    is_on_earth.then_some((latitude, longitude))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_in_every_language() {
        for text in [
            "location: https://maps.google.com/?q=52.5,-13.25",
            "Helsinki (Helsinki): https://maps.google.com/?q=52.5,-13.25",
            "Helsinki\nMain St 1\nlocation: https://maps.google.com/?q=52.5,-13.25",
            "Standort: https://maps.google.com/?q=52.5,-13.25",
            "\u{200e}位置： https://maps.google.com/?q=52.5,-13.25",
        ] {
            assert_eq!(read(text).unwrap().point, Some((52.5, -13.25)), "{text}");
        }
        assert!(read("Café (Main St): https://foursquare.com/v/4b5").is_some());
    }

    #[test]
    fn a_link_by_itself_is_words() {
        assert_eq!(read("https://maps.google.com/?q=52.5,13.25"), None);
        assert_eq!(read("see: https://example.org/"), None);
        assert_eq!(read("see: https://maps.google.com/?q=952.5,13.25"), None);
    }
}
