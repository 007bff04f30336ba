import { inOrg, type Db } from '../../../../platform/db/db.ts';
import type { OrgId } from '../../../../platform/lib/org-id.ts';
import type { Candidate } from '../../../analysis/candidate.ts';
import { findNotes } from '../../../entities/entity-notes.store.ts';
import type { FeedTools } from '../../../tools/tool-definition.ts';
import type { EntityContext } from '../../../verdicts/model/entity-context.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { listEarlierHits, readPrevalence } from './entity-context.store.ts';

const notesMax = 10;
const hitsMax = 10;
const valuesMax = 100;
const indicatorsMax = 20;
const valueCharsMax = 500;
const prevalenceDays = 30;
const dayMs = 86_400_000;

export type EntityContextDeps = { db: Db; feedTools?: (orgId: OrgId) => FeedTools };

/** Reads what the organization knows of the entity of a candidate: notes, earlier hits, prevalence, and the threat feed. */
export async function readEntityContext(
  { db, feedTools }: EntityContextDeps,
  { orgId, detectionId }: Pick<ActiveRun, 'orgId' | 'detectionId'>,
  { entity, entityType, rows, facts }: Candidate,
): Promise<EntityContext> {
  const before = new Date(String(facts['windowFrom']));
  const from = new Date(before.getTime() - prevalenceDays * dayMs);
  const values = listValues(rows);
  const organization = await inOrg(db, orgId, async (tx) => ({
    notes: await findNotes(tx, orgId, { entity, entityType, values }, notesMax),
    earlierHits: await listEarlierHits(tx, orgId, { entity, entityType, before }, hitsMax),
    prevalence: {
      ...(await readPrevalence(tx, { orgId, detectionId }, { entity, entityType, from, to: before })),
      days: prevalenceDays,
    },
  }));
  const indicators = [entity, ...values].filter(isIndicator).slice(0, indicatorsMax);
  const feed = indicators.length > 0 ? await feedTools?.(orgId).findKnownIndicators(indicators) : [];
  return { organization, outside: { feed: feed ?? [] } };
}

/** Lists distinct short values of the rows. */
function listValues(rows: Candidate['rows']): string[] {
  const values = new Set<string>();
  for (const { fields } of rows) {
    for (const value of Object.values(fields)) {
      if (value.length > 1 && value.length <= valueCharsMax) values.add(value);
      if (values.size === valuesMax) return [...values];
    }
  }
  return [...values];
}

/** Returns whether a value may be an address, a domain, a URL or a hash. The feed decides. */
const isIndicator = (value: string): boolean =>
  !/\s/.test(value) &&
  (/^[0-9a-f]{32}(?:[0-9a-f]{8}|[0-9a-f]{32})?$/i.test(value) || /[\p{L}\p{N}][.:][\p{L}\p{N}:]/u.test(value));
