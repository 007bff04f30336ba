-- What a source asks of who reads it, sealed (a password, a token, a key).
alter table feed_sources add column sealed_auth bytea;
