alter table taxii_objects add column created text;
comment on column taxii_objects.created is 'When the source created an object that came as STIX, which its revocation repeats. Null for objects that we write.';
