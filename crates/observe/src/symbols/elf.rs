//! What unwinding needs of an executable or library: where it is mapped, and its call frame
//! information.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use flate2::read::ZlibDecoder;
use framehop::ExplicitModuleSectionInfo;
use gimli::{BaseAddresses, EhFrame, EhFrameHdr, NativeEndian, UnwindSection};
use object::elf::PF_X;
use object::read::ReadCache;
use object::{CompressionFormat, Object, ObjectSection, ObjectSegment, SegmentFlags};

/// Bytes of a section as the unwinder holds them.
pub(crate) type Bytes = Arc<[u8]>;

/// The largest section that is read, packed or not: that of Chromium has 30 MB.
const MOST_SECTION_BYTES: u64 = 256 << 20;
/// No machine has smaller pages; segments are mapped by whole ones.
const PAGE_BYTES: u64 = 4096;

/// Where `text` stands in Go's `runtime.moduledata`: after a pointer, six slices and three more.
const GO_MODULE_TEXT: usize = 8 + 6 * 24 + 3 * 8;

/// A part of a file that is mapped as a whole, executable.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

/// An ELF file as far as it is needed to unwind.
#[derive(Clone, Debug)]
pub(super) struct Image {
    segments: Vec<Segment>,
    sections: ExplicitModuleSectionInfo<Bytes>,
}

impl Image {
    /// Reads a file; an error if it is no ELF file, or a broken one.
    pub(super) fn read(file: &File) -> io::Result<Self> {
        let cache = ReadCache::new(file);
        let object = object::File::parse(&cache).map_err(io::Error::other)?;
        let base = object.segments().map(|s| s.address()).min().unwrap_or(0);
        // A page may be mapped twice, as the end of one segment and the begin of another.
        let segments = object.segments().filter_map(|s| executable(&s)).collect();
        let mut sections = ExplicitModuleSectionInfo {
            base_svma: base,
            text_svma: range(&object, ".text"),
            got_svma: range(&object, ".got"),
            eh_frame_svma: range(&object, ".eh_frame"),
            eh_frame: data(&object, ".eh_frame"),
            eh_frame_hdr_svma: range(&object, ".eh_frame_hdr"),
            eh_frame_hdr: data(&object, ".eh_frame_hdr"),
            ..ExplicitModuleSectionInfo::default()
        };
        // The unwinder looks at one of both, and at this one only without the other.
        if sections.eh_frame.is_none() {
            sections.debug_frame = data(&object, ".debug_frame");
        }
        Ok(Self { segments, sections })
    }

    /// What it keeps in memory.
    pub(super) fn bytes(&self) -> usize {
        let sections = &self.sections;
        [
            &sections.eh_frame,
            &sections.eh_frame_hdr,
            &sections.debug_frame,
        ]
        .into_iter()
        .flatten()
        .map(|section| section.len())
        .sum()
    }

    /// The address, as the file counts, of what stands at an offset of it.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        let holds = |s: &&Segment| {
            let begin = s.offset - s.offset % PAGE_BYTES;
            let end = s.offset.saturating_add(s.bytes);
            (begin..end).contains(&offset)
        };
        let segment = self.segments.iter().find(holds)?;
        // Where the first page begins before the segment, so does its address.
        Some(
            segment
                .address
                .wrapping_add(offset)
                .wrapping_sub(segment.offset),
        )
    }

    /// Where the function begins that an address lies in, by its unwind information.
    pub(super) fn function_start(&self, at: u64) -> Option<u64> {
        let sections = &self.sections;
        let (header, frames) = (&sections.eh_frame_hdr, &sections.eh_frame);
        let (header_at, frames_at) = (&sections.eh_frame_hdr_svma, &sections.eh_frame_svma);
        let mut bases = BaseAddresses::default()
            .set_eh_frame_hdr(header_at.as_ref()?.start)
            .set_eh_frame(frames_at.as_ref()?.start);
        if let Some(text) = &sections.text_svma {
            bases = bases.set_text(text.start);
        }
        let word_bytes = size_of::<u64>() as u8;
        let header = EhFrameHdr::new(header.as_deref()?, NativeEndian);
        let header = header.parse(&bases, word_bytes).ok()?;
        let frames = EhFrame::new(frames.as_deref()?, NativeEndian);
        let find = EhFrame::cie_from_offset;
        let entry = header.table()?.fde_for_address(&frames, &bases, at, find);
        Some(entry.ok()?.initial_address())
    }

    /// What the unwinder is given of the file, mapped at `mapped` from `offset` on; nothing if it
    /// has no such part.
    pub(super) fn module(
        &self,
        name: &str,
        mapped: Range<u64>,
        offset: u64,
    ) -> Option<framehop::Module<Bytes>> {
        let bias = mapped.start.wrapping_sub(self.address_of(offset)?);
        let base = bias.wrapping_add(self.sections.base_svma);
        let sections = self.sections.clone();
        Some(framehop::Module::new(
            name.to_owned(),
            mapped,
            base,
            sections,
        ))
    }
}

/// What the file of a Go program holds of its functions: the first of `names` that it has, and where
/// its code begins.
pub(super) fn go_sections(file: &File, names: &[&str]) -> io::Result<Option<(Bytes, u64)>> {
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache).map_err(io::Error::other)?;
    let bytes = names.iter().find_map(|name| data(&object, name));
    Ok(bytes.map(|bytes| (bytes, go_text(&object).unwrap_or(0))))
}

/// A section of a file, unpacked; nothing if the file has none of that name.
pub(crate) fn section(file: &File, name: &str) -> io::Result<Option<Bytes>> {
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache).map_err(io::Error::other)?;
    Ok(data(&object, name))
}

/// Where the code of Go's own begins: as its description of the module says (since Go 1.26 in a
/// section of its own), or all of `.text` if no C linker put something before it.
fn go_text<'a>(object: &impl Object<'a>) -> Option<u64> {
    let stated = data(object, ".go.module").and_then(|module| {
        let word = module.get(GO_MODULE_TEXT..GO_MODULE_TEXT + 8)?;
        Some(u64::from_ne_bytes(word.try_into().ok()?))
    });
    // In a program that may lie anywhere it is filled in when the program starts.
    stated.filter(|text| *text != 0).or_else(|| {
        let own = object.section_by_name(".eh_frame").is_none();
        own.then_some(object.section_by_name(".text")?.address())
    })
}

fn executable<'a>(segment: &impl ObjectSegment<'a>) -> Option<Segment> {
    let SegmentFlags::Elf { p_flags, .. } = segment.flags() else {
        return None;
    };
    let (offset, bytes) = segment.file_range();
    p_flags.contains(PF_X).then(|| Segment {
        offset,
        bytes,
        address: segment.address(),
    })
}

fn range<'a>(object: &impl Object<'a>, name: &str) -> Option<Range<u64>> {
    let section = object.section_by_name(name)?;
    let begin = section.address();
    Some(begin..begin.checked_add(section.size())?)
}

/// The bytes of a section, unpacked (Go packs its debug sections by default).
fn data<'a>(object: &impl Object<'a>, name: &str) -> Option<Bytes> {
    let section = object.section_by_name(name)?;
    let held = section.compressed_file_range().ok()?;
    if held.uncompressed_size == 0 || held.uncompressed_size > MOST_SECTION_BYTES {
        return None;
    }
    let packed = section.compressed_data().ok()?;
    match packed.format {
        CompressionFormat::None => Some(packed.data.into()),
        CompressionFormat::Zlib => {
            let mut bytes = Vec::new();
            let most = held.uncompressed_size;
            let mut unpacked = ZlibDecoder::new(packed.data).take(most);
            unpacked.read_to_end(&mut bytes).ok()?;
            Some(bytes.into())
        }
        _ => None,
    }
}
