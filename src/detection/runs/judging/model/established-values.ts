import { inOrg, queryRows, type Db, type Tx } from '../../../../platform/db/db.ts';
import {
  butNot,
  countColumns,
  equalsText,
  UnsupportedError,
  type CountsQuery,
} from '../../../siem/dialects/dialect.ts';
import { SiemError, type QueryRow } from '../../../siem/connector.ts';
import { runCounts } from '../../../tools/count-by.ts';
import type { CaseFile } from '../../../verdicts/claims/case-file.ts';
import type { CitedCell } from '../../../verdicts/claims/citations.ts';
import type { IsEstablished } from '../../../verdicts/investigation/task.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';

const lengthMax = 64;
const wordsMax = 3;
const cellsMax = 10;
const entitiesMin = 5;
const daysMin = 7;
/** Entities of which those that were candidates themselves are left out. */
const entitiesRead = 100;
const dayMs = 86_400_000;
const lookbackDays = 37;
const recentDays = 7;
const daySeconds = 86_400;

type Lookup = { run: ActiveRun; file: CaseFile; entityField: string; from: Date; to: Date; signal: AbortSignal };

/**
 * Finds out which of the cited values are established: values of at most 64 characters and three words that at least five other entities had on at least
 * seven days, all more than seven days before the case, and not only as candidates. A value that cannot be looked up is not.
 */
export async function findEstablished(
  { db }: { db: Db },
  run: ActiveRun,
  { file, cells, signal }: { file: CaseFile; cells: readonly CitedCell[]; signal: AbortSignal },
): Promise<IsEstablished> {
  const asked = new Map(cells.filter(isShort).map((cell) => [keyOf(cell.field, cell.text), cell]));
  const { entity, rows, facts } = file.candidate;
  const entityField = rows.flatMap(({ fields }) => Object.entries(fields)).find(([, value]) => value === entity)?.[0];
  if (asked.size === 0 || entityField === undefined || !run.connection.guide) return () => false;
  const windowFrom = new Date(String(facts['windowFrom']));
  const from = new Date(windowFrom.getTime() - lookbackDays * dayMs);
  const to = new Date(windowFrom.getTime() - recentDays * dayMs);
  const lookup = { run, file, entityField, from, to, signal };
  const found = new Set<string>();
  for (const [key, cell] of [...asked].slice(0, cellsMax))
    if (cell.field !== entityField && (await isEstablished(db, lookup, cell))) found.add(key);
  return ({ field, value }) => found.has(keyOf(field, value));
}

const keyOf = (field: string, text: string): string => JSON.stringify([field, text]);

const isShort = ({ proof, text }: CitedCell): boolean =>
  proof === 'if-established' && text.length <= lengthMax && text.trim().split(/\s+/).length <= wordsMax;

async function isEstablished(db: Db, lookup: Lookup, cell: CitedCell): Promise<boolean> {
  const { run, entityField, file } = lookup;
  const where = butNot(equalsText(cell.field, cell.text), equalsText(entityField, file.candidate.entity));
  for (const dataset of await listDatasets(lookup, cell)) {
    const entities = await count(lookup, dataset, { where, by: { field: entityField }, limit: entitiesRead });
    const names = entities.map((row) => String(row[countColumns.value] ?? '')).filter((name) => name !== '');
    if (names.length < entitiesMin) continue;
    const judged = await inOrg(db, run.orgId, (tx) => listCandidateEntities(tx, names, lookup));
    if (names.filter((name) => !judged.has(name.toLowerCase())).length < entitiesMin) continue;
    const days = await count(lookup, dataset, { where, by: { stepSeconds: daySeconds }, limit: lookbackDays });
    if (days.length >= daysMin) return true;
  }
  return false;
}

/** Returns the datasets in which a cell stands: the one that its observation counted, or those that its query reads. */
async function listDatasets({ run, file, signal }: Lookup, cell: CitedCell): Promise<string[]> {
  const observation = file.observations.find(({ id }) => id === cell.observation);
  const { dataset } = (observation?.input ?? {}) as { dataset?: unknown };
  if (typeof dataset === 'string') return [dataset];
  const query = observation ? observation.query : run.definition.detectionQuery;
  return query === null ? [] : ((await run.connection.datasetsOf?.(query, signal).catch(rethrowUnlessRefused)) ?? []);
}

async function count(
  { run, from, to, signal }: Lookup,
  dataset: string,
  counts: Pick<CountsQuery, 'where' | 'by' | 'limit'>,
): Promise<QueryRow[]> {
  const window = { from, to, clock: 'event' as const };
  // Code looks it up, and no model reads it, so that nothing is hidden.
  const sources = { hidden: { datasets: [], fields: [] }, logs: run };
  try {
    return (await runCounts(dataset, counts, { guide: run.connection.guide!, window, sources, signal })).rows;
  } catch (error) {
    return rethrowUnlessRefused(error);
  }
}

/** A query that a SIEM refuses finds nothing, which proves nothing. */
function rethrowUnlessRefused(error: unknown): never[] {
  if (error instanceof UnsupportedError || (error instanceof SiemError && !error.failure.retryable)) return [];
  throw error;
}

/** Returns the names, in lower case, of entities that were candidates of the detection between two times. */
async function listCandidateEntities(
  tx: Tx,
  names: readonly string[],
  { run: { orgId, detectionId }, from, to }: Lookup,
): Promise<Set<string>> {
  const rows = await queryRows<{ entity: string }>(tx)`
      select distinct lower(entity) as entity from candidates
      where organization_id = ${orgId} and detection_id = ${detectionId} and window_from >= ${from} and window_from < ${to}
        and lower(entity) = any(${names.map((name) => name.toLowerCase())}::text[])`;
  return new Set(rows.map(({ entity }) => entity));
}
