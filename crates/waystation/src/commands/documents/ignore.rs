//! The rules of `.gitignore` files, as far as most repositories use them: names, paths, `*`, `**`, `?`,
//! folders, and exceptions with `!`.

/// One rule.
#[derive(Clone, Debug)]
struct Rule {
    /// The folder it stands in, with a slash at the end; empty for the outermost.
    base: String,
    pattern: Vec<char>,
    is_exception: bool,
    is_folder: bool,
    /// Whether it is about a path from its folder on, or about a name anywhere below.
    is_anchored: bool,
}

/// The rules that hold in a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Adds the rules of a file that stands in a folder.
    pub(super) fn add(&mut self, base: &str, text: &str) {
        for line in text.lines() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (line, is_exception) =
                line.strip_prefix('!').map_or((line, false), |line| (line, true));
            let (line, is_folder) =
                line.strip_suffix('/').map_or((line, false), |line| (line, true));
            let is_anchored = line.contains('/');
            let line = line.strip_prefix('/').unwrap_or(line);
            self.rules.push(Rule {
                base: base.to_owned(),
                pattern: line.chars().collect(),
                is_exception,
                is_folder,
                is_anchored,
            });
        }
    }

    /// Whether something is to be passed over; the last rule that fits decides.
    pub(super) fn ignores(&self, path: &str, is_folder: bool) -> bool {
        self.rules
            .iter()
            .rev()
            .find(|rule| rule.fits(path, is_folder))
            .is_some_and(|rule| !rule.is_exception)
    }
}

impl Rule {
    fn fits(&self, path: &str, is_folder: bool) -> bool {
        let Some(path) = path.strip_prefix(self.base.as_str()) else { return false };
        if self.is_folder && !is_folder {
            return false;
        }
        let name = if self.is_anchored { path } else { path.rsplit('/').next().unwrap_or(path) };
        let name: Vec<char> = name.chars().collect();
        matches(&self.pattern, &name)
    }
}

/// Whether a name fits a pattern. The table keeps the work to the product of the two lengths.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let mut fits = vec![false; name.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    let mut rest = pattern;
    while let Some((sign, after)) = rest.split_first() {
        let (is_deep, after) = match (sign, after) {
            ('*', ['*', '/', after @ ..] | ['*', after @ ..]) => (true, after),
            (_, after) => (false, after),
        };
        fits = step(*sign, is_deep, &fits, name);
        rest = after;
    }
    fits.last().copied().unwrap_or(false)
}

fn step(sign: char, is_deep: bool, fits: &[bool], name: &[char]) -> Vec<bool> {
    let mut next = vec![false; fits.len()];
    for place in 0..fits.len() {
        let here = fits.get(place).copied().unwrap_or(false);
        let before = place.checked_sub(1).and_then(|place| name.get(place)).copied();
        let fit = if sign == '*' {
            let goes_on = place > 0
                && next.get(place - 1).copied().unwrap_or(false)
                && (is_deep || before != Some('/'));
            here || goes_on
        } else {
            let was = place.checked_sub(1).and_then(|place| fits.get(place)).copied();
            was.unwrap_or(false) && before.is_some_and(|c| c == sign || (sign == '?' && c != '/'))
        };
        if let Some(slot) = next.get_mut(place) {
            *slot = fit;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_git_reads_them() {
        let mut rules = Rules::default();
        rules.add("", "# comment\ntarget/\n*.log\n!keep.log\n/build\ndocs/**/draft-?.md\n");
        rules.add("sub/", "local.txt\n");
        for (path, is_folder) in [
            ("target", true),
            ("a/target", true),
            ("x.log", false),
            ("a/b.log", false),
            ("build", false),
            ("docs/a/b/draft-1.md", false),
            ("docs/draft-1.md", false),
            ("sub/local.txt", false),
        ] {
            assert!(rules.ignores(path, is_folder), "{path}");
        }
        for (path, is_folder) in [
            ("target", false),
            ("keep.log", false),
            ("a/build", false),
            ("docs/draft-12.md", false),
            ("local.txt", false),
            ("README.md", false),
        ] {
            assert!(!rules.ignores(path, is_folder), "{path}");
        }
    }
}
