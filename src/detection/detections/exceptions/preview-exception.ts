import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { compileExceptions, namesOfLists, type ExceptionRule } from '../../analysis/exceptions.ts';
import { readListTests } from '../../value-lists/value-lists.store.ts';
import { readDetection } from '../read-detections.ts';
import type { ExceptionPreview, PreviewException } from './exceptions.schema.ts';
import { listHitsSince } from './exceptions.store.ts';

/** Returns the rule of a request, with null for what it leaves out. */
export const toRule = ({ entity, field, value, list, conditions }: PreviewException): ExceptionRule => ({
  entity: entity ?? null,
  field: field ?? null,
  value: value ?? null,
  list: list ?? null,
  conditions: conditions ?? [],
});

const days = 30;
const readMax = 1000;
const listedMax = 50;

/** Returns which hits of the last 30 days an exception would have hidden. Stores nothing. */
export async function previewException(
  { db, clock }: { db: Db; clock: Clock },
  { orgId }: Caller,
  detectionId: string,
  input: PreviewException,
): Promise<ExceptionPreview> {
  const now = clock();
  const from = new Date(now.getTime() - days * 86_400_000);
  const subject = toRule(input);
  const { hits, lists } = await inOrg(db, orgId, async (tx) => {
    await readDetection(tx, { orgId, now }, detectionId);
    return {
      hits: await listHitsSince(tx, { orgId, detectionId }, from, readMax + 1),
      lists: await readListTests(tx, orgId, namesOfLists(subject)),
    };
  });
  const isComplete = hits.length <= readMax;
  const examined = hits.slice(0, readMax);
  const matches = compileExceptions([subject], lists);
  const hidden = examined.filter((hit) =>
    matches({ entity: hit.entity, rows: JSON.parse(hit.rows), facts: JSON.parse(hit.facts) }),
  );
  return {
    from: from.toISOString(),
    examined: examined.length,
    isComplete,
    hidden: hidden.length,
    hiddenByStatus: countByStatus(hidden),
    hits: toPreviewedHits(hidden),
  };
}

type PreviewedHit = ExceptionPreview['hits'][number];

/** Returns the first 50 hits as responses show them. */
export const toPreviewedHits = (
  hits: readonly (Omit<PreviewedHit, 'createdAt'> & { createdAt: Date })[],
): PreviewedHit[] =>
  hits.slice(0, listedMax).map(({ id, entity, headline, severity, status, createdAt }) => ({
    id,
    entity,
    headline,
    severity,
    status,
    createdAt: createdAt.toISOString(),
  }));

export const countByStatus = (hits: readonly Pick<PreviewedHit, 'status'>[]): ExceptionPreview['hiddenByStatus'] =>
  Object.fromEntries([...Map.groupBy(hits, ({ status }) => status)].map(([status, list]) => [status, list.length]));
