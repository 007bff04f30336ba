import { inOrg, queryRows, type Db, type Tx } from '../../../../platform/db/db.ts';
import {
  butNot,
  countColumns,
  equalsText,
  UnsupportedError,
  type CountsQuery,
} from '../../../siem/dialects/dialect.ts';
import { SiemError, type DatasetField, type QueryRow, type QuerySources } from '../../../siem/connector.ts';
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

/** Returns the fields of datasets that a column of an observation, or of the candidate's rows, stands for. */
type FindFields = (observation: string, column: string) => Promise<DatasetField[]>;

type Lookup = { run: ActiveRun; file: CaseFile; findFields: FindFields; from: Date; to: Date; signal: AbortSignal };

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
  const { entity, facts } = file.candidate;
  if (asked.size === 0 || !run.connection.guide) return () => false;
  const windowFrom = new Date(String(facts['windowFrom']));
  const from = new Date(windowFrom.getTime() - lookbackDays * dayMs);
  const to = new Date(windowFrom.getTime() - recentDays * dayMs);
  const lookup = { run, file, findFields: createFindFields(run, file, signal), from, to, signal };
  const found = new Set<string>();
  for (const [key, cell] of [...asked].slice(0, cellsMax))
    if (cell.text !== entity && (await isEstablished(db, lookup, cell))) found.add(key);
  return ({ field, value }) => found.has(keyOf(field, value));
}

const keyOf = (field: string, text: string): string => JSON.stringify([field, text]);

const isShort = ({ proof, text }: CitedCell): boolean =>
  proof === 'if-established' && text.length <= lengthMax && text.trim().split(/\s+/).length <= wordsMax;

async function isEstablished(db: Db, lookup: Lookup, cell: CitedCell): Promise<boolean> {
  const { run, file, findFields } = lookup;
  const { entity } = file.candidate;
  const entityFields = await findEntityFields(lookup, cell.observation);
  for (const { dataset, field } of await findFields(cell.observation, cell.field)) {
    const entityField = entityFields.find((one) => one.dataset === dataset)?.field;
    if (entityField === undefined || entityField === field) continue;
    const where = butNot(equalsText(field, cell.text), equalsText(entityField, entity));
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

/** Returns the fields that have the entity: those of the rows of the observation itself first, because another dataset may call it otherwise. */
async function findEntityFields({ file, findFields }: Lookup, observation: string): Promise<DatasetField[]> {
  const { candidate, observations } = file;
  const sources = [
    { id: observation, rows: observations.find(({ id }) => id === observation)?.rows ?? [] },
    { id: 'rows', rows: candidate.rows },
  ];
  const fields: DatasetField[] = [];
  for (const { id, rows } of sources) {
    const column = rows
      .flatMap((row) => Object.entries(row.fields))
      .find(([, value]) => value === candidate.entity)?.[0];
    if (column !== undefined) fields.push(...(await findFields(id, column)));
  }
  return fields;
}

/** A column that a query renames stands for the field that it comes from, and any other for the field of its name. */
function createFindFields(run: ActiveRun, file: CaseFile, signal: AbortSignal): FindFields {
  const read = new Map<string, Promise<QuerySources>>();
  const readSources = (query: string): Promise<QuerySources> => {
    const sources = read.get(query) ?? run.connection.sourcesOf!(query, signal).catch(toNoSources);
    read.set(query, sources);
    return sources;
  };
  return async (observationId, column) => {
    const observation = file.observations.find(({ id }) => id === observationId);
    // A count names its dataset and its field.
    const { dataset } = (observation?.input ?? {}) as { dataset?: unknown };
    if (typeof dataset === 'string') return [{ dataset, field: column }];
    const query = observation ? observation.query : run.definition.detectionQuery;
    if (query === null || !run.connection.sourcesOf) return [];
    const { datasets, fields } = await readSources(query);
    const renamed = findRenamed(fields, column);
    return renamed ? [renamed] : datasets.map((name) => ({ dataset: name, field: column }));
  };
}

/** Returns the field of a column, or of a key inside of a column. */
function findRenamed(fields: QuerySources['fields'], column: string): DatasetField | undefined {
  const keys = column.split('.');
  for (let length = keys.length; length > 0; length -= 1) {
    const found = fields.get(keys.slice(0, length).join('.').toLowerCase());
    if (found) return { ...found, field: [found.field, ...keys.slice(length)].join('.') };
  }
  return undefined;
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

const toNoSources = (error: unknown): QuerySources => ({ datasets: rethrowUnlessRefused(error), fields: new Map() });

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
