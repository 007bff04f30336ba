import { sql } from 'kysely';
import type { Deps } from '../../../src/app/deps.ts';
import { findCandidate } from '../../../src/detection/runs/judging/candidates.store.ts';
import { openCases } from '../../../src/detection/runs/judging/review-cases.store.ts';
import { withdrawEvents } from '../../../src/detection/runs/judging/withdrawn-events.store.ts';
import { storeProposal } from '../../../src/detection/runs/responses/agent-calls.ts';
import { runNextHunt } from '../../../src/agents/hunting/run-hunts.ts';
import { placeWaitingHits } from '../../../src/detection/incidents/place-hits.ts';
import { inOrg, queryRow, queryRows } from '../../../src/platform/db/db.ts';
import { uuidv7 } from '../../../src/platform/lib/ids.ts';
import type { TestOrg } from '../harness.ts';
import { callsOf } from './api-calls.ts';

/** Makes a candidate of the analyst one that a judge left to a person, because no model judges here. Returns the ID of its case. */
export async function openReviewCase({ db, clock }: Deps, { id: orgId }: TestOrg): Promise<string> {
  return inOrg(db, orgId, async (tx) => {
    const found = await queryRow<{ id: string; detectionId: string }>(tx)`
      update candidates set state = 'review', case_id = id, hit_id = null where organization_id = ${orgId}
        and id = (select id from candidates where organization_id = ${orgId} and state = 'judged' and hit_id is not null order by id desc limit 1)
      returning id, detection_id as "detectionId"`;
    const { id, detectionId } = found!;
    const candidate = (await findCandidate(tx, orgId, id))!;
    await openCases(tx, { orgId, detectionId }, [{ candidate, caseKey: null }], clock());
    await sql`insert into dismissal_days (organization_id, detection_id, day, dismissals, sampled, salt)
      values (${orgId}, ${detectionId}, ${clock()}, 1, 1, gen_random_uuid())`.execute(tx);
    return id;
  });
}

/** Sets hit statuses, writes comments and creates proposals, exceptions and test cases. */
export async function fillProof(deps: Deps, org: TestOrg, mark: string): Promise<string[]> {
  const { get, post, put } = callsOf(org);
  const { hits } = await get('/api/hits');
  const url = `/api/detections/${hits[0].detectionId}`;
  await post(`/api/hits/${hits[0].id}/status`, { status: 'false_positive', reason: mark });
  await put('/api/entity-notes', { notes: [{ entity: mark, note: mark }] });
  await post('/api/entities/user/marked/aliases', { alias: `marked ${mark}`, reason: mark });
  await put('/api/value-lists/marked', { description: mark, columns: ['value', 'note'], rows: [[mark, mark]] });
  const source = { query: `SELECT '${mark}' AS value` };
  await put('/api/value-lists/queried', { columns: ['value'], source });
  await put('/api/enrichers/marked', {
    kind: 'http',
    settings: { url: `https://intel.example/{value}?by=${encodeURIComponent(mark)}`, fields: ['a'] },
  });
  await inOrg(deps.db, org.id, (tx) =>
    sql`insert into enrichments (organization_id, enricher_id, value, fields, at, until)
      select organization_id, id, ${mark}, '{}', now(), now() from enrichers where organization_id = ${org.id}`.execute(
      tx,
    ),
  );
  await put('/api/skills/marked', { description: mark, body: mark, files: [{ path: 'a.md', text: mark }] });
  await post('/api/rehearsals', { technique: 'T1136.003' });
  const ruleSource = await post('/api/rule-sources', { name: mark, url: 'sigmahq:core', enabled: false });
  const { id } = await post(`${url}/exceptions`, { entity: mark, reason: mark });
  await put(`${url}/tests`, { tests: [{ name: mark, events: [], expect: [] }] });
  const comment = await post(`/api/hits/${hits[0].id}/comments`, { body: mark });
  await inOrg(deps.db, org.id, (tx) =>
    withdrawEvents(tx, org.id, { eventIds: [mark], reason: mark, now: deps.clock() }),
  );
  const incident = await fillIncident(deps, org, { hitIds: hits.map((hit: { id: string }) => hit.id), mark });
  const hunt = await fillHunt(deps, org, mark);
  return [
    id,
    comment.id,
    ruleSource.id,
    incident,
    ...hunt,
    ...(await fillProposals(deps, org, { hitId: hits[0].id, mark })),
  ];
}

/** Opens an incident with a comment and a linked hit, and leaves a hit in the queue. */
async function fillIncident(
  deps: Deps,
  org: TestOrg,
  { hitIds, mark }: { hitIds: string[]; mark: string },
): Promise<string> {
  const { post } = callsOf(org);
  while (await placeWaitingHits(deps));
  const { id } = await post('/api/incidents', { hitIds: [hitIds[0]] });
  await post(`/api/incidents/${id}/comments`, { body: `@ada ${mark}` });
  await inOrg(deps.db, org.id, async (tx) => {
    await sql`insert into incident_links (organization_id, incident_id, hit_id, value_key, at)
      select organization_id, ${id}, hit_id, value_key, now() from hit_connections where organization_id = ${org.id} limit 1`.execute(
      tx,
    );
    await sql`update hits set last_seen_at = last_seen_at + interval '1 second' where organization_id = ${org.id} and id = ${hitIds[0]}`.execute(
      tx,
    );
  });
  return id;
}

/** Runs a hunt and adds what it found to an incident. Returns the IDs of both. */
async function fillHunt(deps: Deps, org: TestOrg, mark: string): Promise<string[]> {
  const { get, post } = callsOf(org);
  const question = `SELECT '${mark.replaceAll("'", "''")}' AS user, 'e1' AS _id`;
  const { id } = await post('/api/hunts', { name: mark, kind: 'sql', question, span: { days: 1 } });
  const run = await post(`/api/hunts/${id}/run`);
  while (await runNextHunt(deps, new AbortController().signal));
  const { findings } = await get(`/api/hunt-runs/${run.id}/findings`);
  const { id: incident } = await post(`/api/hunt-runs/${run.id}/incident`, { findingIds: [findings[0].id] });
  return [id, run.id, incident];
}

/** Stores calls that an agent proposed, because no model answers here. */
async function fillProposals(
  { db, clock }: Deps,
  { id: orgId }: TestOrg,
  { hitId, mark }: { hitId: string; mark: string },
): Promise<string[]> {
  const now = clock();
  const proposed = {
    set_hit_status: { status: 'benign', reason: mark },
    propose_exception: { entity: mark, reason: mark },
  };
  return inOrg(db, orgId, async (tx) => {
    const agent = await queryRow<{ id: string }>(tx)`
      select id from agents where organization_id = ${orgId} and name = ${mark} order by id desc limit 1`;
    const event = { source: 'manual' as const, triggerId: null, hitId, inputs: {} };
    const run = { orgId, id: uuidv7(now), detectionId: agent!.id, event };
    for (const [tool, input] of Object.entries(proposed))
      await storeProposal(tx, run, { tool, input, reason: mark }, now);
    const calls = await queryRows<{ id: string }>(tx)`select id from agent_calls where organization_id = ${orgId}`;
    return calls.map(({ id }) => id);
  });
}
