//! What becomes of the files of an archive.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
};

use serde_json::value::RawValue;

use super::{
    ARCHIVE_PAGES_MAX, ArchiveFile, ArchivedPage, Links,
    files::{BLOCKS, MARKDOWN},
    front_matter,
    names::{MACOS, title_of},
};
use crate::{
    Error, Result,
    id::{PageId, PageImportId},
    pages::{
        DEPTH_MAX,
        content::{Blocks, CONTENT_BYTES_MAX, CONTENT_TOO_LARGE, ContentDraft},
    },
    problems::Problems,
};

/// Also what a Markdown file's name may end with, where others wrote it.
const MARKDOWN_LONG: &str = ".markdown";
/// What a single Markdown file is called where it is at fault.
const SINGLE_FILE: &str = "file";
/// Files at fault that are named.
const PROBLEMS_MAX: usize = 20;

/// The pages that an archive becomes, without what they say, which may be too much to hold at once.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchivePlan {
    /// Each after the one that it is under, siblings in their order.
    pub pages: Vec<PlannedPage>,
    /// Which new page stands for which exported one.
    pub links: Links,
    /// Files that are no pages and were left out.
    pub skipped: Vec<String>,
}

/// A page that an import makes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPage {
    /// Its id.
    pub id: PageId,
    /// What it is under; none for what lies at the top of the archive.
    pub parent_id: Option<PageId>,
    /// How deep it lies in the archive; 1 at the top.
    pub depth: u32,
    /// The rest, with the links already to the new pages. It says nothing: that is read from its files.
    pub page: ArchivedPage,
    /// Where what it says is to be read.
    pub source: PageSource,
}

/// The files of a page, by their places within the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageSource {
    /// The Markdown; none for a folder without a file.
    pub markdown: Option<usize>,
    /// The blocks, where there are any.
    pub blocks: Option<usize>,
    /// Bytes of what the page says.
    pub bytes: usize,
}

impl PageSource {
    /// Whether the page says anything.
    pub const fn says_something(&self) -> bool {
        self.bytes > 0
    }
}

/// The names of folders and, at the end, of the file without its extension.
type Path = Vec<String>;

/// What was found in an archive so far. Of each page there is what its front matter says, and where its files are.
#[derive(Debug, Default)]
pub struct ArchiveScan {
    found: Found,
    problems: Problems,
}

#[derive(Debug, Default)]
struct Found {
    pages: BTreeMap<Path, Option<(ArchivedPage, PageSource)>>,
    blocks: HashMap<Path, FoundBlocks>,
    skipped: Vec<String>,
}

#[derive(Debug)]
struct FoundBlocks {
    name: String,
    place: usize,
    bytes: usize,
}

impl ArchiveScan {
    /// Looks at the file that stands at `place` in the archive, one after the other. What is at fault with it is told in the
    /// end, with what is at fault with others, unless the archive can't be read any further.
    pub fn take(&mut self, place: usize, file: ArchiveFile) -> Result<()> {
        if self.problems.count() < PROBLEMS_MAX {
            let taken = self.found.take(place, file);
            self.problems.keep(taken)?;
        }
        Ok(())
    }

    /// Notes a file that is at fault before it could be looked at.
    pub fn refuse(&mut self, fault: Error) -> Result<()> {
        self.problems.keep(Err::<(), _>(fault)).map(drop)
    }

    /// The pages that the files become, by the import `import_id`: of the same files always the same.
    ///
    /// 400 names each file at fault: one that leads out of the archive, stands twice, is no text, is larger than a page may
    /// be, or has front matter of ours that can't be read; and says where the archive has too many pages or too deep folders.
    pub fn into_plan(self, import_id: PageImportId) -> Result<ArchivePlan> {
        let Self { mut found, problems } = self;
        problems.into_result()?;
        found.join_blocks()?;
        found.into_plan(import_id)
    }
}

/// The pages that these files become, with what they say.
#[cfg(any(test, feature = "fuzzing"))]
#[expect(clippy::needless_pass_by_value, reason = "tests make the files right where they are asked about")]
pub(crate) fn plan(files: Vec<ArchiveFile>, import_id: PageImportId) -> Result<ArchivePlan> {
    let mut scan = ArchiveScan::default();
    for (place, file) in files.iter().cloned().enumerate() {
        scan.take(place, file)?;
    }
    scan.into_plan(import_id)?.with_contents(&files)
}

#[cfg(any(test, feature = "fuzzing"))]
impl ArchivePlan {
    /// The same with what the pages say.
    pub(crate) fn with_contents(mut self, files: &[ArchiveFile]) -> Result<Self> {
        let file = |place: Option<usize>| place.map(|place| files[place].clone());
        for planned in &mut self.pages {
            let PageSource { markdown, blocks, bytes } = planned.source;
            planned.page.content = planned_content(&self.links, file(markdown), file(blocks))?;
            assert_eq!(planned.page.content.bytes(), bytes, "a page says as much as was found");
        }
        Ok(self)
    }
}

/// Whether an import looks into a file of this name.
pub fn is_read(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    [MARKDOWN, MARKDOWN_LONG, BLOCKS].iter().any(|extension| lower.ends_with(extension))
}

/// The page that a single Markdown file becomes, by the import `import_id`; `title` is what it is called where it doesn't say so itself.
pub fn plan_file(title: &str, text: &[u8], import_id: PageImportId) -> Result<ArchivePlan> {
    let text = std::str::from_utf8(text).map_err(|_| Error::invalid(SINGLE_FILE, "Is no text in UTF-8."))?;
    let mut page = front_matter::read(SINGLE_FILE, text, title)?;
    let said = content(SINGLE_FILE, mem::take(&mut page.content))?;
    let source = PageSource { markdown: Some(0), blocks: None, bytes: said.bytes() };
    let pages = vec![PlannedPage { id: import_id.page(0), parent_id: None, depth: 1, page, source }];
    Ok(ArchivePlan { pages, links: Links::default(), skipped: Vec::new() })
}

/// What a page says, of its files, with the links to the new pages.
pub fn planned_content(
    links: &Links,
    markdown: Option<ArchiveFile>,
    blocks_file: Option<ArchiveFile>,
) -> Result<ContentDraft> {
    let markdown = match markdown {
        Some(ArchiveFile { name, bytes }) => {
            let text = String::from_utf8(bytes).map_err(|_| Error::invalid(&name, "Is no text in UTF-8."))?;
            links.renew(&front_matter::read(&name, &text, "")?.content.markdown)
        }
        None => String::new(),
    };
    let blocks = blocks_file.map(|file| blocks(&file)).transpose()?;
    let blocks = blocks.map(|blocks| Blocks::from_json_text(links.renew(blocks.as_str())));
    Ok(ContentDraft { blocks, markdown })
}

impl Found {
    fn take(&mut self, place: usize, file: ArchiveFile) -> Result<()> {
        let Some(mut path) = path(&file.name)? else { return Ok(()) };
        let Some(name) = path.pop() else { return Ok(()) };
        if let Some(stem) = cut(&name, BLOCKS) {
            path.push(stem);
            let bytes = blocks(&file)?.as_str().len();
            let blocks = FoundBlocks { name: file.name.clone(), place, bytes };
            return if self.blocks.insert(path, blocks).is_some() { Err(twice(&file.name)) } else { Ok(()) };
        }
        let Some(stem) = cut(&name, MARKDOWN).or_else(|| cut(&name, MARKDOWN_LONG)) else {
            self.skipped.push(file.name);
            return Ok(());
        };
        let text = String::from_utf8(file.bytes).map_err(|_| Error::invalid(&file.name, "Is no text in UTF-8."))?;
        let mut page = front_matter::read(&file.name, &text, &title_of(&stem))?;
        let said = content(&file.name, mem::take(&mut page.content))?;
        let source = PageSource { markdown: Some(place), blocks: None, bytes: said.bytes() };
        path.push(stem);
        if path.len() > DEPTH_MAX as usize {
            return Err(too_deep());
        }
        // A folder is a page too, even where no file says what stands on it.
        for depth in 1..path.len() {
            self.pages.entry(path[..depth].to_vec()).or_default();
        }
        if self.pages.insert(path, Some((page, source))).flatten().is_some() {
            return Err(twice(&file.name));
        }
        if self.pages.len() > ARCHIVE_PAGES_MAX { Err(too_many()) } else { Ok(()) }
    }

    /// Puts blocks beside the Markdown that they belong to; those without are left out.
    fn join_blocks(&mut self) -> Result<()> {
        for (path, blocks) in self.blocks.drain() {
            match self.pages.get_mut(&path) {
                Some(Some((_, source))) => {
                    source.blocks = Some(blocks.place);
                    source.bytes += blocks.bytes;
                    if source.bytes > CONTENT_BYTES_MAX {
                        return Err(Error::invalid(blocks.name, CONTENT_TOO_LARGE));
                    }
                }
                _ => self.skipped.push(blocks.name),
            }
        }
        self.skipped.sort_unstable();
        Ok(())
    }

    fn into_plan(self, import_id: PageImportId) -> Result<ArchivePlan> {
        if self.pages.is_empty() {
            return Err(Error::bad_request("nothing_to_import", "There is no Markdown file in it."));
        }
        let numbered = self.pages.keys().enumerate();
        let ids: HashMap<Path, PageId> = numbered.map(|(place, path)| (path.clone(), import_id.page(place))).collect();
        let mut links = Links::default();
        for (path, page) in &self.pages {
            if let Some(exported) = page.as_ref().and_then(|(page, _)| page.id) {
                links.add(exported, ids[path]);
            }
        }
        let planned = |(path, page): (Path, Option<(ArchivedPage, PageSource)>)| {
            let (name, folder) = path.split_last()?;
            let (page, source) = page.unwrap_or_else(|| (ArchivedPage::empty(title_of(name)), PageSource::default()));
            let parent_id = ids.get(folder).copied();
            let depth = u32::try_from(path.len()).unwrap_or(u32::MAX);
            Some(PlannedPage { id: ids[&path], parent_id, depth, page: renewed(page, &links), source })
        };
        let mut pages: Vec<PlannedPage> = self.pages.into_iter().filter_map(planned).collect();
        // Parents come first, whatever their names; the sort is stable, so that names order what positions don't.
        pages.sort_by(|a, b| a.depth.cmp(&b.depth).then(position(a).total_cmp(&position(b))));
        Ok(ArchivePlan { pages, links, skipped: self.skipped })
    }
}

/// Those without a position stand after those that have one.
fn position(planned: &PlannedPage) -> f64 {
    planned.page.position.unwrap_or(f64::INFINITY)
}

fn renewed(mut page: ArchivedPage, links: &Links) -> ArchivedPage {
    for json in [&mut page.schema, &mut page.views, &mut page.properties] {
        *json = json.take().map(|json| links.renew(&json));
    }
    page
}

/// The folders and the name of a file; none for what operating systems and programs add for themselves.
fn path(name: &str) -> Result<Option<Path>> {
    let parts: Path = name.split(['/', '\\']).map(str::to_owned).collect();
    let leads_out = |part: &String| part.is_empty() || part == ".." || part == "." || part.ends_with(':');
    if parts.iter().any(leads_out) || name.chars().any(char::is_control) {
        return Err(Error::invalid(name.escape_debug().to_string(), "Is no name of a file within an archive."));
    }
    let is_extra = parts[0] == MACOS || parts.iter().any(|part| part.starts_with('.'));
    Ok((!is_extra).then_some(parts))
}

/// The name without this extension, in whatever case it stands; nothing where it has another one, or is nothing else.
fn cut(name: &str, extension: &str) -> Option<String> {
    let (stem, end) = name.split_at_checked(name.len().checked_sub(extension.len())?)?;
    (!stem.is_empty() && end.eq_ignore_ascii_case(extension)).then(|| stem.to_owned())
}

fn blocks(file: &ArchiveFile) -> Result<Blocks> {
    let wrong = || Error::invalid(&file.name, "Is no JSON array.");
    let json: Box<RawValue> = serde_json::from_slice(&file.bytes).map_err(|_| wrong())?;
    Blocks::check(json).map_err(|_| wrong())
}

/// The content, where a page can have it.
fn content(name: &str, draft: ContentDraft) -> Result<ContentDraft> {
    if draft.bytes() > CONTENT_BYTES_MAX {
        return Err(Error::invalid(name, CONTENT_TOO_LARGE));
    }
    ContentDraft::check(draft.blocks, draft.markdown).map_err(|_| Error::invalid(name, "Must not have a NUL in it."))
}

fn twice(name: &str) -> Error {
    Error::invalid(name, "Stands twice in the archive.")
}

fn too_deep() -> Error {
    Error::bad_request("too_deep", "Pages are nested too deeply.")
}

fn too_many() -> Error {
    Error::bad_request("too_many_pages", format!("An archive has at most {ARCHIVE_PAGES_MAX} pages."))
}
