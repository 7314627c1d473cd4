//! Determines the server's block size, which is fixed when it is built.

use dyno_engine::TargetError;
use dyno_engine::advice::own_block_size;
use dyno_plan::Bytes;

use crate::wire::PostgresConnection;

/// The block size to use: the server's, which a requested size must equal.
pub(crate) fn chosen_block_size(wish: Option<Bytes>, server: Bytes) -> Result<Bytes, TargetError> {
    let way_out = "use a server that was built with that block size";
    own_block_size(wish, server, "this server's block size is", way_out)
}

/// The server's block size in bytes.
pub(crate) fn block_size(connection: &mut PostgresConnection) -> Result<Bytes, TargetError> {
    let rows = connection.simple("SHOW block_size")?;
    rows.first()
        .and_then(|row| row.parse(0))
        .map(Bytes)
        .ok_or_else(|| TargetError::database("the server's block size cannot be read from SHOW block_size"))
}
