import { z } from 'zod';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError } from '../../platform/lib/errors.ts';
import { findContinuousState, type ContinuousStateRow } from './continuous-detections.store.ts';

const time = z.iso.datetime().nullable();

export const ContinuousMatching = z
  .strictObject({
    state: z
      .enum(['off', 'checking', 'matching', 'paused', 'not_possible'])
      .describe(
        '`off`: the detection is not continuous or not enabled. `checking`: a worker with the role `match` has not looked at it yet. `matching`: events are matched when they arrive. `paused`: it matched too many and runs at its slots only. `not_possible`: it runs at its slots only, for `reason`.',
      ),
    reason: z.string().nullable().describe('Why events are not matched when they arrive.'),
    dataset: z.string().nullable(),
    expensive: z
      .boolean()
      .describe(
        'No text is known that an event must have to match, so that the condition is evaluated for every event.',
      ),
    matchedSince: time.describe('Events that arrived from this time on have been matched with the current revision.'),
    waitingSince: time.describe(
      'Arrival of the oldest event of the dataset that waits to be matched. Null: none waits.',
    ),
    matchedAt: time.describe('When an event matched last.'),
    latencyMs: z
      .number()
      .nullable()
      .describe(
        'Time from the arrival of the first event of the latest matching batch to the stored candidates, in milliseconds.',
      ),
    events: z.number().describe('Events that matched.'),
    missed: z
      .number()
      .describe('Events that a slot found although they should have matched when they arrived. Expected: 0.'),
  })
  .meta({ id: 'ContinuousMatching' });
export type ContinuousMatching = z.infer<typeof ContinuousMatching>;

export type ContinuousDeps = { db: Db };

/** Returns whether and how fast the events of a detection are matched when they arrive. Throws `not_found`. */
export async function readContinuous(
  { db }: ContinuousDeps,
  { orgId }: Caller,
  id: string,
): Promise<ContinuousMatching> {
  const row = await inOrg(db, orgId, (tx) => findContinuousState(tx, { orgId, detectionId: id }));
  if (!row) throw appError('not_found', `Detection ${id} not found.`);
  const iso = (time: Date | null): string | null => time?.toISOString() ?? null;
  return {
    ...describeState(row),
    dataset: row.dataset,
    expensive: row.expensive,
    matchedSince: iso(row.matchedFrom),
    waitingSince: iso(row.waitingSince),
    matchedAt: iso(row.matchedAt),
    latencyMs: row.latencyMs,
    events: row.events,
    missed: row.missed,
  };
}

function describeState(row: ContinuousStateRow): Pick<ContinuousMatching, 'state' | 'reason'> {
  if (!row.continuous) return { state: 'off', reason: 'The detection is not continuous.' };
  if (!row.active) return { state: 'off', reason: 'The detection is disabled or has no schedule.' };
  if (!row.isKnown)
    return { state: 'checking', reason: 'A worker with the role match has to check the detection first.' };
  if (row.obstacle !== null) return { state: 'not_possible', reason: row.obstacle };
  if (row.pausedAt !== null) {
    const reason = `It matched ${row.minuteEvents} events in the minute of ${row.pausedAt.toISOString()}, more than TOCSIN_CONTINUOUS_PER_MINUTE allows. Change the detection to match its events again.`;
    return { state: 'paused', reason };
  }
  return { state: 'matching', reason: null };
}
