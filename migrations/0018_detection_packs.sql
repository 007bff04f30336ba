create table pack_installs (
  organization_id uuid not null,
  pack text not null,
  file text not null,
  detection_id uuid not null,
  version text not null,
  fields text not null,
  applied_at timestamptz not null,
  primary key (organization_id, pack, file),
  foreign key (organization_id, detection_id) references agents (organization_id, id)
);
comment on table pack_installs is 'Detections that an organization has from a pack of the operator, by file of the pack.';
comment on column pack_installs.version is 'Version of the pack that was applied last.';
comment on column pack_installs.fields is 'JSON of the fields and tests that were applied last, overrides included. What differs from them was edited by the organization.';
create index on pack_installs (organization_id, detection_id);
select tocsin_protect('pack_installs');
