//! Bodies that are files: read once, before the load, and shared by all requests.

use std::sync::Arc;

use crate::drive::{Drive, LoadError};

/// The file of each endpoint that has one.
pub(crate) type Files = Vec<Option<Arc<[u8]>>>;

/// Reads the files of all endpoints.
///
/// # Errors
/// When one cannot be read.
pub(crate) fn read(drive: &Drive<'_>) -> Result<Files, LoadError> {
    let scenario = &drive.plan.scenario;
    let one = |endpoint: &slowpath_core::scenario::Endpoint| {
        let Some(file) = &endpoint.body_file else {
            return Ok(None);
        };
        let path = scenario.folder.join(file.expand(&drive.places));
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(source) => Err(LoadError::BodyFile {
                endpoint: endpoint.name.clone(),
                path,
                source,
            }),
        }
    };
    scenario.endpoints.iter().map(one).collect()
}
