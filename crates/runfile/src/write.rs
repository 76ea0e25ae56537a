//! Writing: each record is one `write` of one whole line to a file opened for appending, so that
//! a killed lab loses at most the line it was writing.

use crate::read::{Break, ReadError, Run};
use crate::{Header, Record};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A run file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Creating it failed.
    #[error("cannot create the run file {path}: {source}; name another place with --output")]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Appending failed: the disk is full, or the file system went away.
    #[error(
        "cannot write to the run file {path}: {source}; what was written before is safe, make \
         room and continue with --resume"
    )]
    Append {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file to resume cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file to resume is finished.
    #[error("the run in {0} ended by itself: there is nothing to resume; `pqlab show` prints it")]
    Finished(PathBuf),
    /// The file to resume is packed: lines cannot be appended to it.
    #[error("{0} is packed with zstd; unpack it with `zstd -d` and resume that")]
    Packed(PathBuf),
    /// Packing the finished file failed; the unpacked one stays.
    #[error("cannot pack the run file {path}: {source}; the unpacked file is complete")]
    Pack {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A run file open for appending.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    file: File,
}

/// Level of compression of a finished run: zstd's default, about 3 times smaller at 300 MB/s.
const COMPRESSION_LEVEL: i32 = 3;

impl RunWriter {
    /// Creates the file, which must not exist, and its folder, and writes the header.
    pub fn create(path: &Path, header: Header) -> Result<RunWriter, WriteError> {
        let failed = |source| WriteError::Create { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = OpenOptions::new().append(true).create_new(true).open(path).map_err(failed)?;
        let mut writer = RunWriter { path: path.to_owned(), file };
        writer.append(&Record::Header(Box::new(header)))?;
        Ok(writer)
    }

    /// Opens an interrupted run to go on with it: a line cut off by the interruption is removed,
    /// everything before it is returned.
    pub fn resume(path: &Path) -> Result<(Run, RunWriter), WriteError> {
        let run = Run::read(path)?;
        if run.footer.is_some() {
            return Err(WriteError::Finished(path.to_owned()));
        }
        if run.packed {
            return Err(WriteError::Packed(path.to_owned()));
        }
        let failed = |source| WriteError::Append { path: path.to_owned(), source };
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        if let Some(Break { intact_bytes, .. }) = run.broken {
            file.set_len(intact_bytes).map_err(failed)?;
        }
        Ok((run, RunWriter { path: path.to_owned(), file }))
    }

    /// Appends one record and hands it to the operating system.
    pub fn append(&mut self, record: &Record) -> Result<(), WriteError> {
        let mut line = serde_json::to_vec(record).expect("records have string keys only");
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(|source| WriteError::Append { path: self.path.clone(), source })
    }

    /// The file being written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Packs a finished run with zstd beside itself and removes the unpacked file; returns the
    /// packed file's path.
    pub fn pack(self) -> Result<PathBuf, WriteError> {
        let mut packed = self.path.clone().into_os_string();
        packed.push(".zst");
        let packed = PathBuf::from(packed);
        let failed = |source| WriteError::Pack { path: self.path.clone(), source };
        let attempt = || -> std::io::Result<()> {
            self.file.sync_data()?;
            let input = File::open(&self.path)?;
            let output = OpenOptions::new().write(true).create_new(true).open(&packed)?;
            zstd::stream::copy_encode(input, &output, COMPRESSION_LEVEL)?;
            output.sync_data()
        };
        if let Err(source) = attempt() {
            // A half-written copy is worth nothing; the original is complete.
            let _ = std::fs::remove_file(&packed);
            return Err(failed(source));
        }
        std::fs::remove_file(&self.path).map_err(failed)?;
        Ok(packed)
    }
}
