//! Parquet, column by column: what `samples` and `timeline` share.
//!
//! The low-level interface of the parquet crate is used, because the row-wise one is slow and the
//! Arrow one would double the build.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::error::RecordError;
use crate::files::Draft;

/// Rows that are decoded, or gathered for encoding, at a time: the columns of one batch stay in
/// the second-level cache, and the cost of a call is spread over many values.
pub(crate) const BATCH_ROWS: usize = 8192;

/// The format of our Parquet files; readers refuse a larger one.
const FORMAT: u32 = 1;

/// The key of the format in a file's metadata.
const FORMAT_KEY: &str = "slowpath.format";

/// What is wrong with a file, before its path is added.
#[derive(Debug)]
pub(crate) enum Flaw {
    Parquet(ParquetError),
    Damaged(String),
    Newer(u32),
    Unopened(io::Error),
}

impl From<ParquetError> for Flaw {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error)
    }
}

impl Flaw {
    /// The error that this is in a file.
    pub(crate) fn at(self, path: &Path) -> RecordError {
        match self {
            Self::Parquet(source) => RecordError::parquet(path)(source),
            Self::Damaged(problem) => RecordError::damaged(path, problem),
            Self::Newer(found) => RecordError::Newer {
                path: path.to_owned(),
                found,
                known: FORMAT,
            },
            Self::Unopened(source) => RecordError::io("open", path)(source),
        }
    }
}

/// Whether a group has a column of that name.
pub(crate) fn has_column(group: &dyn RowGroupReader, name: &str) -> bool {
    let schema = group.metadata().schema_descr();
    let mut columns = schema.columns().iter();
    columns.any(|column| column.path().string() == name)
}

/// A cell of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Null,
    Number(i64),
    Text(&'a [u8]),
}

/// The cell that all cells of a column of a group are, where its statistics say that they are one:
/// nothing has to be decoded then.
pub(crate) fn only_cell<'a>(group: &'a dyn RowGroupReader, name: &str) -> Option<Cell<'a>> {
    let metadata = group.metadata();
    let mut columns = metadata.columns().iter();
    let column = columns.find(|column| column.column_path().string() == name)?;
    let statistics = column.statistics()?;
    let is_required = column.column_descr().max_def_level() == 0;
    match statistics.null_count_opt() {
        Some(nulls) if nulls == metadata.num_rows() as u64 => return Some(Cell::Null),
        Some(0) => {}
        None if is_required => {}
        _ => return None,
    }
    match statistics {
        Statistics::Int32(of) if of.min_opt() == of.max_opt() => {
            of.min_opt().map(|&value| Cell::Number(value.into()))
        }
        Statistics::Int64(of) if of.min_opt() == of.max_opt() => {
            of.min_opt().map(|&value| Cell::Number(value))
        }
        // Of a long text only the begin may be kept.
        Statistics::ByteArray(of) if of.min_is_exact() && of.max_is_exact() => {
            let is_one = of.min_opt() == of.max_opt();
            of.min_opt()
                .filter(|_| is_one)
                .map(|text| Cell::Text(text.data()))
        }
        _ => None,
    }
}

/// A Parquet file that is being written; it gets its name when it is whole.
pub(crate) struct TableWriter {
    draft: Draft,
    writer: SerializedFileWriter<File>,
    path: PathBuf,
}

impl TableWriter {
    /// Begins a file with the columns of a message type in Parquet's schema language.
    pub(crate) fn create(
        path: &Path,
        message_type: &str,
        tune: impl FnOnce(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
    ) -> Result<Self, RecordError> {
        let mut draft = Draft::create(path)?;
        let file = draft
            .file()
            .try_clone()
            .map_err(RecordError::io("write", path))?;
        let format = KeyValue::new(FORMAT_KEY.to_owned(), FORMAT.to_string());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("slowpath ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![format]));
        let properties = Arc::new(tune(properties).build());
        let writer = parse_message_type(message_type)
            .and_then(|schema| SerializedFileWriter::new(file, Arc::new(schema), properties))
            .map_err(RecordError::parquet(path))?;
        Ok(Self {
            draft,
            writer,
            path: path.to_owned(),
        })
    }

    /// Appends a row group; `write` writes every column, in order.
    pub(crate) fn group(
        &mut self,
        write: impl FnOnce(&mut SerializedRowGroupWriter<'_, File>) -> Result<(), Flaw>,
    ) -> Result<(), RecordError> {
        let mut group = self
            .writer
            .next_row_group()
            .map_err(RecordError::parquet(&self.path))?;
        write(&mut group).map_err(|flaw| flaw.at(&self.path))?;
        group.close().map_err(RecordError::parquet(&self.path))?;
        Ok(())
    }

    /// Ends the file and gives it its name.
    pub(crate) fn publish(self) -> Result<(), RecordError> {
        self.writer
            .close()
            .map_err(RecordError::parquet(&self.path))?;
        self.draft.publish()
    }
}

/// Writes the next column of a row group from its cells, in order; a required column has no `None`.
pub(crate) fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), Flaw> {
    let Some(mut column) = group.next_column()? else {
        return Err(Flaw::Damaged(
            "there are more columns than its schema has".to_owned(),
        ));
    };
    let mut values = Vec::with_capacity(BATCH_ROWS);
    let mut levels = Vec::with_capacity(BATCH_ROWS);
    let mut cells = cells.peekable();
    while cells.peek().is_some() {
        values.clear();
        levels.clear();
        for cell in cells.by_ref().take(BATCH_ROWS) {
            levels.push(i16::from(cell.is_some()));
            values.extend(cell);
        }
        // Levels are ignored by a required column, which then needs one value a row.
        column
            .typed::<T>()
            .write_batch(&values, Some(&levels), None)?;
    }
    column.close()?;
    Ok(())
}

/// The next cell of a required column.
pub(crate) fn next<'a, T: DataType>(
    cells: &mut impl Iterator<Item = Option<&'a T::T>>,
) -> Result<T::T, Flaw>
where
    T::T: Copy + 'a,
{
    let cell = cells.next().flatten().copied();
    cell.ok_or_else(|| Flaw::Damaged("a column ends early".to_owned()))
}

/// The repeats that have a file `N` with this ending in a folder, in order; none without a folder.
pub(crate) fn repeats_in(folder: &Path, ending: &str) -> Result<Vec<u16>, RecordError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::io("read", folder)(error)),
    };
    let mut repeats = Vec::new();
    for entry in entries {
        let name = entry.map_err(RecordError::io("read", folder))?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(ending));
        repeats.extend(number.and_then(|number| number.parse::<u16>().ok()));
    }
    repeats.sort_unstable();
    Ok(repeats)
}

/// Reads a Parquet file row group by row group; `read` gets each group and its number of rows.
///
/// The parquet crate trusts lengths and offsets in a file, and panics or runs out of memory where
/// they are wrong. What comes here is known to be as we wrote it, see [`crate::manifest`].
pub(crate) fn read_groups(
    path: &Path,
    mut read: impl FnMut(&dyn RowGroupReader, usize) -> Result<(), Flaw>,
) -> Result<(), RecordError> {
    let mut groups = || {
        let table = TableReader::open(path)?;
        for (index, rows) in table.rows()?.into_iter().enumerate() {
            read(&*table.group(index)?, rows)?;
        }
        Ok(())
    };
    groups().map_err(|flaw: Flaw| flaw.at(path))
}

/// A Parquet file that is being read.
pub(crate) struct TableReader(SerializedFileReader<File>);

impl TableReader {
    /// Opens a file of ours.
    pub(crate) fn open(path: &Path) -> Result<Self, Flaw> {
        let file = File::open(path).map_err(Flaw::Unopened)?;
        let reader = SerializedFileReader::new(file)?;
        check_format(&reader)?;
        Ok(Self(reader))
    }

    /// The number of rows of each row group.
    pub(crate) fn rows(&self) -> Result<Vec<usize>, Flaw> {
        let groups = self.0.metadata().row_groups().iter().enumerate();
        groups
            .map(|(index, group)| {
                usize::try_from(group.num_rows())
                    .map_err(|_| Flaw::Damaged(format!("row group {index} has less than no rows")))
            })
            .collect()
    }

    /// A row group.
    pub(crate) fn group(&self, index: usize) -> Result<Box<dyn RowGroupReader + '_>, Flaw> {
        Ok(self.0.get_row_group(index)?)
    }
}

fn check_format(reader: &SerializedFileReader<File>) -> Result<(), Flaw> {
    let pairs = reader.metadata().file_metadata().key_value_metadata();
    let format = pairs
        .into_iter()
        .flatten()
        .find(|pair| pair.key == FORMAT_KEY);
    let Some(format) = format.and_then(|pair| pair.value.as_ref()) else {
        return Err(Flaw::Damaged(format!("its metadata has no {FORMAT_KEY}")));
    };
    match format.parse() {
        Ok(format) if format > FORMAT => Err(Flaw::Newer(format)),
        Ok(_) => Ok(()),
        Err(_) => Err(Flaw::Damaged(format!(
            "{FORMAT_KEY} {format:?} is not a number"
        ))),
    }
}

/// The cells of one column of a row group, a batch at a time.
pub(crate) struct Cursor<T: DataType> {
    reader: ColumnReaderImpl<T>,
    name: &'static str,
    nullable: bool,
    values: Vec<T::T>,
    levels: Vec<i16>,
}

impl<T: DataType> Cursor<T> {
    /// The column of that name, wherever it stands: a file may have more columns than we read.
    pub(crate) fn open(group: &dyn RowGroupReader, name: &'static str) -> Result<Self, Flaw> {
        let metadata = group.metadata();
        let schema = metadata.schema_descr();
        let position = schema
            .columns()
            .iter()
            .position(|column| column.path().string() == name);
        let Some(position) = position else {
            return Err(Flaw::Damaged(format!("column {name} is missing")));
        };
        let column = schema.column(position);
        let flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
        if column.physical_type() != T::get_physical_type() || !flat {
            let expected = T::get_physical_type();
            return Err(Flaw::Damaged(format!(
                "column {name} is not a plain {expected}"
            )));
        }
        let nullable = column.max_def_level() == 1;
        let reader = get_typed_column_reader(group.get_column_reader(position)?);
        Ok(Self {
            reader,
            name,
            nullable,
            values: Vec::new(),
            levels: Vec::new(),
        })
    }

    /// Passes over so many cells.
    pub(crate) fn skip(&mut self, rows: usize) -> Result<(), Flaw> {
        if self.reader.skip_records(rows)? == rows {
            Ok(())
        } else {
            Err(self.ends_early())
        }
    }

    fn ends_early(&self) -> Flaw {
        Flaw::Damaged(format!("column {} ends early", self.name))
    }

    /// The next `rows` cells; nulls are `None`.
    pub(crate) fn batch(
        &mut self,
        rows: usize,
    ) -> Result<impl Iterator<Item = Option<&T::T>>, Flaw> {
        self.values.clear();
        self.levels.clear();
        let levels = self.nullable.then_some(&mut self.levels);
        let (read, present, _) = self
            .reader
            .read_records(rows, levels, None, &mut self.values)?;
        let counted = if self.nullable {
            let there = self.levels.iter().filter(|&&level| level > 0);
            (self.levels.len(), there.count())
        } else {
            (read, self.values.len())
        };
        if read != rows || counted != (rows, present) {
            return Err(self.ends_early());
        }
        let mut values = self.values.iter();
        let levels = self.nullable.then_some(&self.levels);
        Ok((0..rows).map(move |row| match levels {
            Some(levels) if levels[row] == 0 => None,
            _ => values.next(),
        }))
    }
}
