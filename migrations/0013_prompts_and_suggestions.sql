-- Who wrote a version of a prompt; and the highest number given out, since an older version may be the active one.
alter table agent_prompts add column key_id text;
alter table agents add column latest_prompt_version int not null default 1;

-- What a suggestion is about, the passages that it comes from, the noise to expect, and what it is a look-alike of whatever its text.
alter table agents add column technique text, add column evidence text not null default '[]', add column estimate text,
  add column suggestion_key text;
create index on agents (organization_id, suggestion_key) where suggestion_key is not null;

set local role tocsin_system;
update agents a set latest_prompt_version = (
  select max(version) from agent_prompts p where p.organization_id = a.organization_id and p.agent_id = a.id
) where active_prompt_id is not null;
update agent_prompts p set key_id = (
  select v.key_id from agent_revisions v
  where v.organization_id = p.organization_id and v.agent_id = p.agent_id and v.definition::json ->> 'promptId' = p.id::text
  order by v.revision limit 1
);
reset role;
