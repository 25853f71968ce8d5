//! Why a connection ended.

use std::sync::{Arc, OnceLock};

/// Why a connection ended, as text that follows the server's name. The first known reason is the one that is set.
pub(super) type Ending = Arc<OnceLock<String>>;
