-- What reflections mean: a unit vector of 32-bit floats, little-endian. Made anew whenever that is wished, so
-- no chain covers it. A vector that takes the place of another gets a new id.

CREATE TABLE reflection_vectors (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    reflection_id INTEGER NOT NULL UNIQUE REFERENCES trade_reflections (id) ON DELETE CASCADE,
    model         TEXT    NOT NULL,
    dimension     INTEGER NOT NULL CHECK (dimension > 0),
    vector        BLOB    NOT NULL CHECK (length(vector) = 4 * dimension)
) STRICT;
CREATE INDEX reflection_vectors_by_model ON reflection_vectors (model, id);
