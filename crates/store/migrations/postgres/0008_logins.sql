-- Browsers that are logged in. Neither hash lets anybody in: a cookie cannot be had back from its own, and
-- whoever's token is no longer configured is out.
CREATE TABLE logins (
    cookie_hash TEXT   PRIMARY KEY,
    token_hash  TEXT   NOT NULL,
    ends_at     BIGINT NOT NULL
);
