-- Texts of messages that the index of words has not come to yet: see `src/search/behind.rs`.
CREATE TABLE texts_to_index (
    text_id INTEGER PRIMARY KEY
) STRICT;
