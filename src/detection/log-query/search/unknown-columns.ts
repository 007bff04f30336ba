import { didYouMean, nearestNames } from '../../../platform/lib/text/nearest-names.ts';
import { SiemError } from '../../siem/connector.ts';
import { findField, isCatalogFull, type CatalogField, type FieldsByDataset } from '../../log-store/catalog/catalog.ts';
import { listCatalogColumns } from '../../log-store/catalog/columns.ts';
import { dataDependentError, missingColumn } from '../../log-engine/engine-failures.ts';
import { findRespelledField, type UnknownPath } from '../../log-engine/queries/nested-paths.ts';
import { anySpellingTextSql } from '../../log-engine/sql/field-sql.ts';
import type { SqlText } from '../../log-engine/sql/sql-text.ts';
import type { ListTable } from '../../log-engine/queries/protocol.ts';
import type { Inspection } from '../../log-engine/inspection/inspection.ts';
import type { ExtraColumn } from '../../log-engine/sql/table-sql.ts';
import type { QuerySource } from './inspect-query.ts';

const listedColumnsMax = 30;
const unknownMax = 100;

/**
 * The names in a query that no catalog has. `columns`: the columns that are added to each table as null. `heads`: the first parts, in lower
 * case, of dotted names that are null.
 */
export type UnknownColumns = { columns: Map<string, string[]>; heads: Set<string> };

/** Names that the engine takes for functions of the session where no column has them. */
const sessionNames = new Set([
  'user',
  'current_user',
  'session_user',
  'current_role',
  'current_catalog',
  'current_schema',
]);

/** Returns the unknown columns that the engine would not report, because it knows their names as something else. */
export function findShadowedColumns(
  { columns, aliases }: Inspection,
  { fields, sources, lists }: Tables & { lists: readonly ListTable[] },
): UnknownColumns {
  const isKnown = (name: string): boolean =>
    aliases.includes(name) ||
    lists.some((list) => list.columns.includes(name)) ||
    [...fields.values()].some((list) => findField(list, name) !== undefined);
  const names = columns.map((column) => column.join('.').toLowerCase());
  const shadowed = [...new Set(names)].filter((name) => sessionNames.has(name) && !isKnown(name));
  const [first] = sources;
  return { columns: new Map(first && shadowed.length > 0 ? [[first.name, shadowed]] : []), heads: new Set() };
}

/** Names and tables that a query could have meant. */
type Tables = { fields: FieldsByDataset; sources: QuerySource[] };

/**
 * Reads the missing column from the engine's error and adds it to the unknown ones. A name without a table is added to one table after the
 * other, because two would make it ambiguous. Returns false for any other error, and for a column that no table can have.
 */
export function addUnknownColumn(unknown: UnknownColumns, error: unknown, { fields, sources }: Tables): boolean {
  const missing = readMissing(error);
  if (!missing || unknown.heads.size + countColumns(unknown) >= unknownMax) return false;
  const { name, kind } = missing;
  if (kind === 'table') {
    const isNew = !unknown.heads.has(name.toLowerCase());
    unknown.heads.add(name.toLowerCase());
    return isNew;
  }
  const lacking = sources.filter((source) => !unknown.columns.get(source.name)?.includes(name));
  // Datasets without events lack every column.
  const inOrder = lacking.toSorted((a, b) => Number(fields.has(a.dataset)) - Number(fields.has(b.dataset)));
  const chosen = kind === 'qualified' ? inOrder : inOrder.slice(0, 1);
  for (const { name: table } of chosen) unknown.columns.set(table, [...(unknown.columns.get(table) ?? []), name]);
  return chosen.length > 0;
}

const countColumns = ({ columns }: UnknownColumns): number =>
  [...columns.values()].reduce((sum, names) => sum + names.length, 0);

function readMissing(error: unknown): { name: string; kind: 'table' | 'qualified' | 'unqualified' } | undefined {
  if (!(error instanceof SiemError) || error.failure.kind !== 'query_error') return undefined;
  const { message } = error.failure;
  const name = missingColumn(message);
  if (name === undefined) return undefined;
  const kind = message.includes('Referenced table')
    ? 'table'
    : message.includes('does not have')
      ? 'qualified'
      : 'unqualified';
  return { name, kind };
}

/** Returns the columns that a table gets in addition to its catalog. A full catalog does not list all keys, so they are read from the events. */
export function listExtraColumns(
  unknown: UnknownColumns,
  { name: table, dataset }: QuerySource,
  fields: FieldsByDataset,
): ExtraColumn[] {
  const isFull = isCatalogFull(fields.get(dataset) ?? []);
  return (unknown.columns.get(table) ?? []).map((name) => ({
    name,
    ...(isFull ? { valueSql: (event: SqlText) => anySpellingTextSql(event, name) } : {}),
  }));
}

/**
 * Returns the columns that a query mentions with another case of letters beyond ASCII and also defines itself, as in
 * `SELECT lower(ärger) AS ärger`. Other such mentions are rewritten.
 */
export function listRespelledColumns({ columns, aliases }: Inspection, fields: CatalogField[]): ExtraColumn[] {
  const names = new Set(columns.map((column) => column.at(-1)!));
  return [...names].flatMap((name) => {
    const field = aliases.includes(name.toLowerCase()) ? findRespelledField(fields, name) : undefined;
    return field ? [{ name, sameAs: field.name }] : [];
  });
}

/**
 * Returns one warning about the unknown columns and paths of a query, or none. Columns of datasets without events are not reported, nor are those
 * of `optional`, which are dotted and in lower case.
 */
export function describeUnknown(
  unknown: UnknownColumns,
  paths: UnknownPath[],
  { fields, sources, optional }: Tables & Pick<Inspection, 'optional'>,
): { code: string; detail: string }[] {
  const datasets = sources.filter(({ name, dataset }) => fields.has(dataset) && unknown.columns.has(name));
  const columns = datasets
    .filter(({ dataset }) => !isCatalogFull(fields.get(dataset)!))
    .flatMap(({ name }) => unknown.columns.get(name)!);
  const names = [...new Set(columns)].map((name) => ({ name, hint: () => hintFor(name, fields) }));
  const expected = new Set(optional);
  const [first, ...more] = [...names, ...paths].filter(({ name }) => !expected.has(name.toLowerCase()));
  if (!first) return [];
  const others = more.length > 0 ? ` The same is true of ${more.map(({ name }) => name).join(', ')}.` : '';
  return [{ code: 'unknown_column', detail: `No event has had ${first.name}, so it is null${first.hint()}${others}` }];
}

/**
 * Turns the engine's error about a missing column into `unknown_column` with the nearest names. A column that a dataset has is missing only where
 * the query uses it. Returns any other error unchanged.
 */
export function explainUnknownColumn(error: unknown, fields: FieldsByDataset): unknown {
  const column = readMissing(error)?.name;
  if (column === undefined) return error;
  const isHidden = listNames(fields).some((name) => name.toLowerCase() === column.toLowerCase());
  const message = isHidden
    ? `${column} is used outside of the subquery that reads it. Add ${column} to the SELECT list of the subquery.`
    : `No column is named ${column}${hintFor(column, fields)}`;
  return dataDependentError('unknown_column', message);
}

const listNames = (fields: FieldsByDataset): string[] => [
  ...new Set([...fields.values()].flatMap((list) => listCatalogColumns(list).map(({ name }) => name))),
];

function hintFor(column: string, fields: FieldsByDataset): string {
  const names = listNames(fields);
  const isListed = names.length <= listedColumnsMax && nearestNames(column, names).length === 0;
  return isListed ? `; the columns are ${names.join(', ')}.` : didYouMean(column, names);
}

export const isColumnError = (error: unknown): boolean =>
  error instanceof SiemError && (error.failure.kind === 'unknown_column' || /[Aa]mbiguous/.test(error.failure.message));
