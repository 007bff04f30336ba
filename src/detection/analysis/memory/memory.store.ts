import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import { splitIntoBatches } from '../../../platform/lib/concurrency/batches.ts';
import type { AnalysisWindow } from '../analysis-definition.ts';
import {
  createEmptyRecall,
  type MemoryEntry,
  type MemoryQuery,
  type MemoryScope,
  type RecalledMemory,
  type MemoryWindow,
  learningWindows,
} from './memory.ts';
import { batchSize, fillKnown, listSummaries, buildMemoryCondition, type RecallRange } from './recall-known.ts';
import { appendToList } from './recall.ts';

/** `examined` is false for a window that is only backfilled. */
type MemoryWindowInput = MemoryWindow & { examined?: boolean };

/** Replaces the memory of a window. Write windows without rows too, because an empty window is history. Never write a partly covered window. */
export async function writeMemory(
  tx: Tx,
  scope: MemoryScope,
  window: MemoryWindowInput,
  entries: readonly MemoryEntry[],
): Promise<void> {
  const { orgId, detectionId, generation } = scope;
  await sql`delete from memory where organization_id = ${orgId} and detection_id = ${detectionId}
    and generation = ${generation} and window_from = ${window.from}`.execute(tx);
  await sql`insert into memory_windows (organization_id, detection_id, generation, window_from, window_to, examined)
    values (${orgId}, ${detectionId}, ${generation}, ${window.from}, ${window.to}, ${window.examined ?? true})
    on conflict (organization_id, detection_id, generation, window_from) do update set window_to = excluded.window_to,
      examined = memory_windows.examined or excluded.examined`.execute(tx);
  for (const batch of splitIntoBatches(entries, batchSize)) {
    await sql`insert into memory (organization_id, detection_id, generation, window_from, key, entity, number, value)
      select ${orgId}::uuid, ${detectionId}::uuid, ${generation}, ${window.from}::timestamptz, key, entity, number, value
      from unnest(${batch.map(({ key }) => key)}::text[], ${batch.map(({ entity }) => entity)}::text[],
        ${batch.map(({ number }) => number)}::float8[], ${batch.map(({ value }) => value)}::text[]) as entries (key, entity, number, value)`.execute(
      tx,
    );
  }
}

/** Returns whether a window is remembered as examined with exactly these entries. A window without entries is remembered too, see `writeMemory`. */
export async function isRemembered(
  tx: Tx,
  { orgId, detectionId, generation }: MemoryScope,
  window: MemoryWindow,
  entries: readonly MemoryEntry[],
): Promise<boolean> {
  const isOfWindow = sql`organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation}
    and window_from = ${window.from}`;
  if (!(await queryRow(tx)`select from memory_windows where ${isOfWindow} and examined`)) return false;
  const rows = await queryRows<MemoryEntry>(tx)`select key, entity, number, value from memory where ${isOfWindow}`;
  const toText = ({ key, entity, number, value }: MemoryEntry): string => JSON.stringify([key, entity, number, value]);
  const stored = new Set(rows.map(toText));
  return rows.length === entries.length && entries.every((entry) => stored.has(toText(entry)));
}

/** Runs a memory query for `window`, with the same result as `recallFromWindows`. */
export async function recallMemory(
  tx: Tx,
  scope: MemoryScope,
  window: AnalysisWindow,
  query: MemoryQuery,
): Promise<RecalledMemory> {
  const windows = query.want === 'nothing' ? [] : await listEarlierWindows(tx, scope, window.from, query.since);
  const past = createEmptyRecall(windows, await countEarlierWindows(tx, scope, window.from));
  const starts = windows.map(({ from }) => from);
  const range = { starts, first: starts[0]!, last: starts.at(-1)! };
  if (windows.length === 0) return past;
  if (query.want === 'known') await fillKnown(tx, scope, { ...query, range }, past);
  if (query.want === 'samples') await fillSamples(tx, scope, { ...query, range }, past);
  if (query.want === 'values') await fillValues(tx, scope, { ...query, range }, past);
  if (query.want === 'samples' || query.want === 'values')
    past.summaries = await listSummaries(tx, scope, { key: query.summaryKey, range });
  return past;
}

type EntitiesQuery = { entities: string[]; range: RecallRange; summaryKey: string };

// Aggregates rows into arrays per entity, because eight weeks of hours are 1,344 samples each.
async function fillSamples(
  tx: Tx,
  scope: MemoryScope,
  { entities, range, summaryKey }: EntitiesQuery,
  past: RecalledMemory,
): Promise<void> {
  for (const batch of splitIntoBatches(entities, batchSize)) {
    const { rows } = await sql<{ entity: string; at: number[]; numbers: number[] }>`
      select entity, array_agg((extract(epoch from window_from) * 1000)::float8 order by window_from, key collate "C") as at,
        array_agg(number order by window_from, key collate "C") as numbers
      from memory where entity = any(${batch}::text[]) and number is not null and key <> ${summaryKey} and ${buildMemoryCondition(scope, range)}
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
  { entities, range, summaryKey, valuesSince }: EntitiesQuery & { valuesSince: Date },
  past: RecalledMemory,
): Promise<void> {
  for (const batch of splitIntoBatches(entities, batchSize)) {
    const { rows } = await sql<{ entity: string; at: number; key: string; value: string }>`
      select entity, (extract(epoch from window_from) * 1000)::float8 as at, key, value
      from memory where entity = any(${batch}::text[]) and value is not null and key <> ${summaryKey}
        and window_from >= ${valuesSince} and ${buildMemoryCondition(scope, range)}
      order by window_from, key collate "C"`.execute(tx);
    for (const { entity, at, key, value } of rows) appendToList(past.values, entity, { at, key, value });
  }
}

/** Returns the remembered windows that begin at or after `since` and end by `before`, in order. */
export async function listEarlierWindows(
  tx: Tx,
  scope: MemoryScope,
  before: Date,
  since: Date,
): Promise<MemoryWindow[]> {
  const { rows } = await sql<MemoryWindow>`
    select window_from as "from", window_to as "to" from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from >= ${since} and window_from < ${before} and window_to <= ${before}
    order by window_from`.execute(tx);
  return rows;
}

/** Returns the starts, in epoch milliseconds, of those windows that were examined, not only read to fill the memory. */
export async function listExaminedStarts(
  tx: Tx,
  scope: MemoryScope,
  windows: readonly MemoryWindow[],
): Promise<Set<number>> {
  const starts = windows.map(({ from }) => from.toISOString());
  const { rows } = await sql<{ from: Date }>`
    select window_from as "from" from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and examined and window_from = any(${starts}::timestamptz[])`.execute(tx);
  return new Set(rows.map(({ from }) => from.getTime()));
}

/** `examined` is false for a window known only from the backfill of memory. */
type MemoryWindowRow = MemoryWindow & { examined: boolean };

/** Returns the input of `findWindowsToRevisit`: the later windows with `late` in their lookback, and the first windows, one of which ends learning. */
export async function listRevisitCandidates(
  tx: Tx,
  scope: MemoryScope,
  late: MemoryWindow,
  lookbackMs: number,
): Promise<MemoryWindowRow[]> {
  const mine = sql`organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}`;
  const columns = sql`window_from as "from", window_to as "to", examined`;
  const until = new Date(late.from.getTime() + lookbackMs);
  const { rows } = await sql<MemoryWindowRow>`
    (select ${columns} from memory_windows where ${mine} order by window_from limit ${learningWindows + 2})
    union
    (select ${columns} from memory_windows where ${mine} and window_from >= ${late.to} and window_from <= ${until})
    order by 1`.execute(tx);
  return rows;
}

/** Counts the windows of the generation that end by `before`. */
export async function countEarlierWindows(tx: Tx, scope: MemoryScope, before: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from < ${before} and window_to <= ${before}`.execute(tx);
  return rows[0]?.count ?? 0;
}
