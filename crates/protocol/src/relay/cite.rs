//! Citing: `[[ref:id]]` in a text names a document that the text leans on.

const OPEN: &str = "[[ref:";
const CLOSE: &str = "]]";

/// What a text cites, in the order of first mention.
pub fn cited(text: &str) -> Vec<&str> {
    let mut ids = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(OPEN) {
        rest = after;
        let Some((id, behind)) = after.split_once(CLOSE) else { break };
        let id = id.trim();
        // Whatever opens and does not close on the same line is no citation, but one may follow.
        if id.is_empty() || id.contains(['[', '\n']) {
            continue;
        }
        rest = behind;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Those documents that a text was made from and does not cite, in their order.
pub fn missing<'a>(text: &str, retrieval_refs: &'a [String]) -> Vec<&'a str> {
    let cited = cited(text);
    let mut missing: Vec<&str> = Vec::new();
    for id in retrieval_refs {
        if !cited.contains(&id.as_str()) && !missing.contains(&id.as_str()) {
            missing.push(id);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn citations_are_found_wherever_they_stand() {
        let text = "See [[ref:ref_1]], [[ref: ref_2 ]] and [[ref:ref_1]] again.";
        assert_eq!(cited(text), ["ref_1", "ref_2"]);
        assert_eq!(cited("[[ref:]] [[ref:broken [[ref:whole]] [[ref:open"), ["whole"]);
        assert_eq!(cited("[[ref:a\nb]] [[ref:c]]"), ["c"]);
        assert!(cited("[ref:a] [[a]] ref:a").is_empty());
    }

    #[test]
    fn what_is_not_cited_is_named_once_and_in_order() {
        let all = refs(&["b", "a", "c", "a"]);
        assert_eq!(missing("only [[ref:c]]", &all), ["b", "a"]);
        assert!(missing("[[ref:a]][[ref:b]][[ref:c]]", &all).is_empty());
        assert!(missing("nothing to cite", &[]).is_empty());
        assert_eq!(missing("[[ref:ab]]", &refs(&["a"])), ["a"], "a part of a name is not the name");
    }
}
