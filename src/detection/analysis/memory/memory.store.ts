import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { AnalysisWindow } from '../analysis-definition.ts';
import {
  emptyPast,
  type MemoryEntry,
  type MemoryQuery,
  type MemoryScope,
  type PastMemory,
  type PastWindow,
} from './memory.ts';
import { countEarlierWindows, listEarlierWindows } from './memory-windows.store.ts';
import { batches, fillKnown, inScope, type Reach } from './recall-known.ts';
import { append } from './recall.ts';

/** `examined` false: filled from the past, so never examined. */
export type WrittenWindow = PastWindow & { examined?: boolean };

/**
 * Writes what a window gave, in place of what was remembered of that window before. A window without rows is written too:
 * that nothing happened is knowledge. Not to be called for a window that was covered only in part.
 */
export async function writeMemory(
  tx: Tx,
  scope: MemoryScope,
  window: WrittenWindow,
  entries: readonly MemoryEntry[],
): Promise<void> {
  const { orgId, detectionId, generation } = scope;
  await sql`delete from memory where organization_id = ${orgId} and detection_id = ${detectionId}
    and generation = ${generation} and window_from = ${window.from}`.execute(tx);
  await sql`insert into memory_windows (organization_id, detection_id, generation, window_from, window_to, examined)
    values (${orgId}, ${detectionId}, ${generation}, ${window.from}, ${window.to}, ${window.examined ?? true})
    on conflict (organization_id, detection_id, generation, window_from) do update set window_to = excluded.window_to,
      examined = memory_windows.examined or excluded.examined`.execute(tx);
  for (const batch of batches(entries)) {
    await sql`insert into memory (organization_id, detection_id, generation, window_from, key, entity, number, value)
      select ${orgId}::uuid, ${detectionId}::uuid, ${generation}, ${window.from}::timestamptz, key, entity, number, value
      from unnest(${batch.map(({ key }) => key)}::text[], ${batch.map(({ entity }) => entity)}::text[],
        ${batch.map(({ number }) => number)}::float8[], ${batch.map(({ value }) => value)}::text[]) as given (key, entity, number, value)`.execute(
      tx,
    );
  }
}

/** Whether exactly this is what is remembered of the window. */
export async function remembers(
  tx: Tx,
  { orgId, detectionId, generation }: MemoryScope,
  window: PastWindow,
  entries: readonly MemoryEntry[],
): Promise<boolean> {
  const { rows } = await sql<MemoryEntry>`select key, entity, number, value from memory where organization_id = ${orgId}
    and detection_id = ${detectionId} and generation = ${generation} and window_from = ${window.from}`.execute(tx);
  const textOf = ({ key, entity, number, value }: MemoryEntry): string => JSON.stringify([key, entity, number, value]);
  const known = new Set(rows.map(textOf));
  return rows.length === entries.length && entries.every((entry) => known.has(textOf(entry)));
}

/** Answers what a category asked of the past before `window`: the same as `recallFrom` over the same windows. */
export async function recallMemory(
  tx: Tx,
  scope: MemoryScope,
  window: AnalysisWindow,
  query: MemoryQuery,
): Promise<PastMemory> {
  const windows = query.want === 'nothing' ? [] : await listEarlierWindows(tx, scope, window.from, query.since);
  const past = emptyPast(windows, await countEarlierWindows(tx, scope, window.from));
  const starts = windows.map(({ from }) => from);
  const reach = { starts, first: starts[0]!, last: starts.at(-1)! };
  if (windows.length === 0) return past;
  if (query.want === 'known') await fillKnown(tx, scope, { pairs: query.pairs, reach }, past);
  if (query.want === 'samples') await fillSamples(tx, scope, { entities: query.entities, reach }, past);
  if (query.want === 'values') await fillValues(tx, scope, { entities: query.entities, reach }, past);
  return past;
}

/** Forgets windows that begin before `before`, of every generation: no category reaches back more than 26 weeks. Counts of windows stay. Answers how many entries went. */
export async function forgetMemory(tx: Tx, orgId: OrgId, detectionId: string, before: Date): Promise<number> {
  const { numAffectedRows } = await sql`delete from memory
    where organization_id = ${orgId} and detection_id = ${detectionId} and window_from < ${before}`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

type EntitiesQuery = { entities: string[]; reach: Reach };

// Rows are folded into arrays per entity: eight weeks of hours are 1,344 samples of each.
async function fillSamples(
  tx: Tx,
  scope: MemoryScope,
  { entities, reach }: EntitiesQuery,
  past: PastMemory,
): Promise<void> {
  for (const batch of batches(entities)) {
    const { rows } = await sql<{ entity: string; at: number[]; numbers: number[] }>`
      select entity, array_agg((extract(epoch from window_from) * 1000)::float8 order by window_from, key collate "C") as at,
        array_agg(number order by window_from, key collate "C") as numbers
      from memory where entity = any(${batch}::text[]) and number is not null and ${inScope(scope, reach)}
      group by entity`.execute(tx);
    for (const { entity, at, numbers } of rows)
      past.samples.set(
        entity,
        at.map((time, n) => ({ at: time, number: numbers[n]! })),
      );
  }
}

async function fillValues(
  tx: Tx,
  scope: MemoryScope,
  { entities, reach }: EntitiesQuery,
  past: PastMemory,
): Promise<void> {
  for (const batch of batches(entities)) {
    const { rows } = await sql<{ entity: string; at: number; key: string; value: string }>`
      select entity, (extract(epoch from window_from) * 1000)::float8 as at, key, value
      from memory where entity = any(${batch}::text[]) and value is not null and ${inScope(scope, reach)}
      order by window_from, key collate "C"`.execute(tx);
    for (const { entity, at, key, value } of rows) append(past.values, entity, { at, key, value });
  }
}
