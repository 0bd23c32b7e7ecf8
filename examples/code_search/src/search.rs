//! The search itself: file by file, until the page is full.

use std::{
    cmp::Ordering,
    ops::Range,
    time::{Duration, Instant},
};

use ignore::overrides::Override;
use regex::bytes::Regex;
use trueform::prelude::*;

use crate::{
    folder::{self, Folder, is_within, order},
    query::{Match, Page, Position, Query},
};

/// Most bytes of a line that a match shows.
pub const MAX_LINE_BYTES: usize = 300;

/// Longest time for a page. After it the page ends, and the next page continues from there.
pub const MAX_SEARCH_TIME: Duration = Duration::from_secs(10);

/// Progress is reported each time that this many files were searched.
pub const PROGRESS_FILES: u32 = 100;

/// Most bytes of a line that are searched. A match after them is not found.
pub const MAX_SEARCHED_BYTES: usize = 1 << 16;

/// After this many bytes of one file, the time limit and the cancellation are checked.
const CHECKED_BYTES: usize = 1 << 14;

/// How many bytes before the match are shown if a line is cut.
const BYTES_BEFORE: usize = 60;

/// Why a page ends before the last file.
enum End {
    /// It is full, or its time is over.
    At(Position),
    Cancelled,
}

impl Query {
    /// Searches `folder` for a page.
    ///
    /// # Errors
    /// If the pattern, the glob or the cursor is not one; if the client cancelled the search.
    pub(crate) fn run(&self, folder: &Folder, context: &Context) -> Result<Page, ToolError> {
        self.run_until(Instant::now() + MAX_SEARCH_TIME, folder, context)
    }

    fn run_until(
        &self,
        end: Instant,
        folder: &Folder,
        context: &Context,
    ) -> Result<Page, ToolError> {
        let mut search = Search {
            regex: self.regex()?,
            glob: self.glob()?,
            limit: self.limit as usize,
            end,
            context,
            page: Page::default(),
        };
        match search.files(folder, &self.position()?) {
            Ok(()) => {}
            Err(End::At(position)) => search.page.next_cursor = Some(position.to_string()),
            Err(End::Cancelled) => return Err(ToolError::new("the search was cancelled")),
        }
        Ok(search.page)
    }
}

struct Search<'a> {
    regex: Regex,
    glob: Override,
    limit: usize,
    end: Instant,
    context: &'a Context,
    page: Page,
}

impl Search<'_> {
    fn files(&mut self, folder: &Folder, begin: &Position) -> Result<(), End> {
        let first = begin.path.clone();
        let files =
            folder.files(move |folder| order(&first, folder).is_le() || is_within(&first, folder));
        let mut has_begun = false;
        for file in files {
            let Ok(file) = file else {
                self.page.skipped += 1;
                continue;
            };
            let after = match order(&file.path, &begin.path) {
                Ordering::Less => continue,
                Ordering::Equal => begin.line,
                Ordering::Greater => 0,
            };
            // Without at least one file a page, a search would make no progress.
            self.check(
                || Position {
                    line: after,
                    path: file.path.clone(),
                },
                has_begun,
            )?;
            has_begun = true;
            if !fits(&self.glob, &file.path) {
                continue;
            }
            match folder::read(&file.location) {
                Ok(bytes) if !bytes.contains(&0) => self.lines(&file.path, &bytes, after)?,
                Ok(_) | Err(_) => self.page.skipped += 1,
            }
        }
        Ok(())
    }

    fn lines(&mut self, path: &str, bytes: &[u8], after: usize) -> Result<(), End> {
        self.page.files_searched += 1;
        let searched = self.page.files_searched;
        if searched.is_multiple_of(PROGRESS_FILES) {
            let found = self.page.matches.len();
            let message = format!("{found} matches in {searched} files");
            self.context
                .progress(f64::from(searched), None, Some(&message));
        }
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
        let mut unchecked = 0;
        for (index, line) in lines.skip(after) {
            let at = || Position {
                line: index,
                path: path.to_owned(),
            };
            if CHECKED_BYTES <= unchecked {
                self.check(at, true)?;
                unchecked = 0;
            }
            unchecked += line.len();
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = &line[..line.len().min(MAX_SEARCHED_BYTES)];
            let Some(found) = self.regex.find(line) else {
                continue;
            };
            // Only a match that has no room says for sure that there is another page.
            if self.page.matches.len() == self.limit {
                return Err(End::At(at()));
            }
            self.page.matches.push(Match {
                path: path.to_owned(),
                line: index + 1,
                text: shown(line, found.range()),
            });
        }
        Ok(())
    }

    /// Whether to go on. The time counts if `may_end`.
    fn check(&self, at: impl FnOnce() -> Position, may_end: bool) -> Result<(), End> {
        if self.context.is_cancelled() {
            return Err(End::Cancelled);
        }
        match may_end && self.end <= Instant::now() {
            true => Err(End::At(at())),
            false => Ok(()),
        }
    }
}

/// Whether `glob` matches the file at `path`, or a folder that contains it.
fn fits(glob: &Override, path: &str) -> bool {
    let slashes = path.match_indices('/');
    let mut folders = slashes.map(|(end, _)| glob.matched(&path[..end], true));
    match folders.find(|matched| !matched.is_none()) {
        Some(matched) => matched.is_whitelist(),
        None => !glob.matched(path, false).is_ignore(),
    }
}

/// The text of `line`; of a long one the part around `found`.
fn shown(line: &[u8], found: Range<usize>) -> String {
    let from = match found.end <= MAX_LINE_BYTES {
        true => 0,
        false => found.start.saturating_sub(BYTES_BEFORE),
    };
    let to = line.len().min(from + MAX_LINE_BYTES);
    let text = String::from_utf8_lossy(&line[from..to]);
    let mut text = &*text;
    // What is left of a character that was cut in two.
    let (mut before, mut after) = ("", "");
    if 0 < from {
        text = text.trim_start_matches(char::REPLACEMENT_CHARACTER);
        before = "…";
    }
    if to < line.len() {
        text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        after = "…";
    }
    format!("{before}{text}{after}")
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let long =
            |before: usize, after: usize| format!("{}X{}", "a".repeat(before), "b".repeat(after));
        for (line, expected) in [
            ("  fn main() {".to_owned(), "  fn main() {".to_owned()),
            (long(9, 290), long(9, 290)),
            (long(9, 300), format!("{}…", long(9, 290))),
            (long(299, 9), format!("{}…", long(299, 0))),
            (long(300, 9), format!("…{}", long(60, 9))),
            (long(1000, 1000), format!("…{}…", long(60, 239))),
            // Of two bytes each: neither end splits one.
            (
                format!("{}xX{}", "é".repeat(200), "é".repeat(200)),
                format!("…{}xX{}…", "é".repeat(29), "é".repeat(119)),
            ),
        ] {
            let at = line.find('X').unwrap_or(0);
            let found = shown(line.as_bytes(), at..at + 1);
            assert_eq!(found, expected, "{line}");
            assert!(found.len() <= MAX_LINE_BYTES + 6, "{line}");
        }
        assert_eq!(shown(b"caf\xe9", 0..1), "caf\u{fffd}");
    }

    /// A search whose time limit is zero.
    #[tool(blocking)]
    fn hurried(
        State(folder): State<Folder>,
        context: Context,
        Args(query): Args<Query>,
    ) -> Result<Json<Page>, ToolError> {
        query.run_until(Instant::now(), &folder, &context).map(Json)
    }

    #[tokio::test]
    async fn a_page_without_time_gets_on() {
        let files = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            let line = format!("needle{}\n", " ".repeat(93));
            std::fs::write(files.path().join(name), line.repeat(300)).unwrap();
        }
        let folder = Folder::open(files.path()).unwrap();
        let server = Server::new("hurried", "1")
            .state(folder)
            .tools(tools![hurried]);
        let client = server.connect().await.unwrap();
        let mut query = serde_json::json!({"pattern": "needle", "limit": 1000});
        let mut pages = Vec::new();
        // More pages than the search has, so that a search without progress ends too.
        while pages.len() < 10 {
            let result = client.call_tool("hurried", &query).await.unwrap();
            let page = result.structured_content.unwrap().to_value();
            pages.push(page["matches"].as_array().unwrap().len());
            match page.get("next_cursor") {
                Some(next) => query["cursor"] = next.clone(),
                None => break,
            }
        }
        assert_eq!(pages, [164, 136, 164, 136, 164, 136]);
    }

    type Outcome = Result<u32, String>;

    /// A search that reports to the test how it ended.
    #[tool(blocking)]
    fn watched(
        State(folder): State<Folder>,
        State(ended): State<mpsc::UnboundedSender<Outcome>>,
        context: Context,
        Args(query): Args<Query>,
    ) {
        let page = query.run(&folder, &context);
        let outcome = page.map(|page| page.files_searched);
        ended
            .send(outcome.map_err(|error| error.to_string()))
            .unwrap();
    }

    #[tokio::test]
    async fn a_cancelled_search_ends() {
        let files = tempfile::tempdir().unwrap();
        // After the first report of progress there is work for longer than a page may take.
        for number in 0..1000 {
            let line = match number {
                ..PROGRESS_FILES => String::new(),
                _ => (0..8192u32)
                    .map(|at| {
                        if at.wrapping_mul(at) % 7 < 3 {
                            'a'
                        } else {
                            'b'
                        }
                    })
                    .collect(),
            };
            std::fs::write(files.path().join(format!("{number:04}")), line).unwrap();
        }
        let (sender, mut ended) = mpsc::unbounded_channel::<Outcome>();
        let folder = Folder::open(files.path()).unwrap();
        let server = Server::new("watched", "1")
            .state(folder)
            .state(sender)
            .tools(tools![watched]);
        let client = server.connect().await.unwrap();
        let (sender, mut reports) = mpsc::unbounded_channel();
        let query = serde_json::json!({"pattern": "[ab]*a[ab]{200}[c-z]"});
        let call = client
            .call_tool("watched", query)
            .on_progress(move |report| {
                sender.send(report).unwrap();
            });
        // Dropped at the first report, the call is cancelled.
        tokio::select! {
            _ = reports.recv() => {}
            result = call => panic!("{result:?}"),
        }
        let outcome = tokio::time::timeout(2 * MAX_SEARCH_TIME, ended.recv());
        assert_eq!(
            outcome.await.unwrap().unwrap(),
            Err("the search was cancelled".to_owned())
        );
    }
}
