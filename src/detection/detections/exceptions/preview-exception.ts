import { inOrg } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { compileExceptions } from '../../analysis/exceptions/exceptions.ts';
import { readDetection } from '../require-detection.ts';
import { listHitsSince } from './exceptions.store.ts';
import type { ExceptionDeps } from './exceptions.ts';
import type { ExceptionPreview, PreviewException } from './exceptions.schema.ts';

const days = 30;
const readMax = 1000;
const listedMax = 50;

/** Returns which hits of the last 30 days an exception would have hidden. Stores nothing. */
export async function previewException(
  { db, clock }: ExceptionDeps,
  { orgId }: Caller,
  detectionId: string,
  { entity, field, value }: PreviewException,
): Promise<ExceptionPreview> {
  const now = clock();
  const from = new Date(now.getTime() - days * 86_400_000);
  const hits = await inOrg(db, orgId, async (tx) => {
    await readDetection(tx, { orgId, now }, detectionId);
    return listHitsSince(tx, { orgId, detectionId }, from, readMax + 1);
  });
  const isComplete = hits.length <= readMax;
  const examined = hits.slice(0, readMax);
  const matches = compileExceptions([{ entity: entity ?? null, field: field ?? null, value: value ?? null }]);
  const hidden = examined.filter((hit) =>
    matches({ entity: hit.entity, rows: JSON.parse(hit.rows), facts: JSON.parse(hit.facts) }),
  );
  return {
    from: from.toISOString(),
    examined: examined.length,
    isComplete,
    hidden: hidden.length,
    hiddenByStatus: Object.fromEntries(
      [...Map.groupBy(hidden, ({ status }) => status)].map(([status, list]) => [status, list.length]),
    ),
    hits: hidden.slice(0, listedMax).map(({ id, entity, headline, severity, status, createdAt }) => ({
      id,
      entity,
      headline,
      severity,
      status,
      createdAt: createdAt.toISOString(),
    })),
  };
}
