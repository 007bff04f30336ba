-- A session must not create a key that is valid longer than the credential that signed in: a key that expires, or a secret that was replaced and ends
-- with its overlap.
alter table console_sessions add column credential_expires_at timestamptz;
comment on column console_sessions.credential_expires_at is 'When the credential that signed in ends: keys that the session creates end no later. Null: never.';
