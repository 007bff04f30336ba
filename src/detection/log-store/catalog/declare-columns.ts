import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { appError, type FieldError } from '../../../platform/lib/errors.ts';
import { contentVersion, type RecordVersion } from '../../../platform/http/etag.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireMatch } from '../../../platform/orgs/record-version.ts';
import {
  lockDataset,
  findCatalogVersion,
  loadCatalog,
  loadStatistics,
  saveCatalog,
  type CatalogCache,
} from './catalog.store.ts';
import type { ColumnDeclaration, DatasetColumns } from './datasets.schema.ts';
import { catalogLimits, findField, isReservedName, checkDatasetName, type CatalogField } from './catalog.ts';
import { countMisfits, decideType, type ColumnType } from './column-types.ts';
import { listCatalogColumns } from './columns.ts';
import type { ColumnStats } from './merge-catalog.ts';

/** `clock` is slot time. */
export type DeclareColumnsDeps = { db: Db; clock: Clock; logCatalogs: CatalogCache };

/** Returns the columns of a dataset, which may have no events yet. Throws 404. */
export function readColumns(
  { db, logCatalogs }: DeclareColumnsDeps,
  { orgId }: Caller,
  dataset: string,
): Promise<DatasetColumns> {
  return inOrg(db, orgId, async (tx) => {
    const current = await findCatalogVersion(tx, orgId, dataset);
    if (!current) throw appError('not_found', `Dataset ${dataset} not found.`);
    const fields = await loadCatalog(tx, logCatalogs, current);
    return { name: dataset, columns: listCatalogColumns(fields, await loadStatistics(tx, orgId, dataset)) };
  });
}

/** The version of a dataset's declarations is their content. */
export const versionOfColumns = ({ columns }: Pick<DatasetColumns, 'columns'>): RecordVersion =>
  contentVersion(columns.flatMap(({ name, type, declared }) => (declared ? [`${name} ${type}`] : [])).toSorted());

/**
 * Declares the types of columns of a dataset, which may be new. The list replaces the earlier one: a column that is not in it follows its data
 * again. A dotted name is a key inside objects, which events must have had. Applies to all events, stored ones included. Throws a 400 that
 * names the entry, and 412 if `ifMatch` is not the ETag of the declarations.
 */
export async function declareColumns(
  { db, clock, logCatalogs }: DeclareColumnsDeps,
  caller: Caller,
  { dataset, columns, ifMatch }: { dataset: string; columns: ColumnDeclaration[]; ifMatch?: string | undefined },
): Promise<DatasetColumns> {
  checkDatasetName(dataset);
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const { version } = await lockDataset(tx, orgId, { dataset, now: clock() });
    const current = { orgId, dataset, version };
    const before = await loadCatalog(tx, logCatalogs, current);
    const stats = await loadStatistics(tx, orgId, dataset);
    const seen = versionOfColumns({ columns: listCatalogColumns(before, stats) });
    await requireMatch(tx, ifMatch, seen, { resourceType: 'dataset', resourceId: dataset, action: declareAction });
    const fields = applyDeclarations(before, stats, columns);
    if (fields.some((field, index) => field !== before[index])) {
      await saveCatalog(tx, current, { before, fields });
      await auditDeclarations(tx, caller, { dataset, before, fields });
    }
    return { name: dataset, columns: listCatalogColumns(fields, stats) };
  });
}

const declareAction = 'dataset.columns_declared';

async function auditDeclarations(
  tx: Tx,
  caller: Caller,
  { dataset, before, fields }: { dataset: string; before: CatalogField[]; fields: CatalogField[] },
): Promise<void> {
  await insertAudit(tx, caller, {
    action: declareAction,
    resourceType: 'dataset',
    resourceId: dataset,
    before: toAudited(before),
    after: toAudited(fields),
  });
}

const toAudited = (fields: CatalogField[]) => ({
  columns: listDeclared(fields, ''),
  ...versionOfColumns({ columns: listCatalogColumns(fields) }),
});

const listDeclared = (fields: CatalogField[], prefix: string): ColumnDeclaration[] =>
  fields.flatMap(({ name, declared, nested }) => [
    ...(declared ? [{ name: prefix + name, type: declared as ColumnDeclaration['type'] }] : []),
    ...listDeclared(nested, `${prefix}${name}.`),
  ]);

/** Returns the fields with exactly these declarations. Fields that do not change stay the same objects. */
export function applyDeclarations(
  fields: CatalogField[],
  stats: ColumnStats[],
  columns: ColumnDeclaration[],
): CatalogField[] {
  const known = [...fields, ...listNewFields(fields, columns)];
  const wanted = new Map<CatalogField, ColumnType>();
  const errors: FieldError[] = [];
  for (const [index, { name, type }] of columns.entries()) {
    const field = findColumn(known, name);
    const error = !field ? explainUnknown(known, name) : wanted.has(field) ? repeated(name) : undefined;
    if (error) errors.push({ pointer: `/columns/${index}/name`, ...error });
    else wanted.set(field!, type);
  }
  if (errors[0]) throw appError('validation_failed', errors[0].detail, { errors });
  return declareLevel(known, stats, wanted);
}

/** Returns fields for columns that no event has had. A dotted name could be a key with dots or a path, so it must be known. */
function listNewFields(fields: CatalogField[], columns: ColumnDeclaration[]): CatalogField[] {
  const added: CatalogField[] = [];
  for (const { name } of columns) {
    if (name.includes('.') || isReservedName(name) || findField([...fields, ...added], name)) continue;
    if (fields.length + added.length >= catalogLimits.columnsMax) continue;
    added.push({ name, keys: [name], type: 'NULL', nested: [], open: false });
  }
  return added;
}

function findColumn(fields: CatalogField[], name: string): CatalogField | undefined {
  const flat = findField(fields, name);
  if (flat || !name.includes('.')) return flat;
  let [level, found]: [CatalogField[], CatalogField | undefined] = [fields, undefined];
  for (const part of name.split('.')) {
    found = findField(level, part);
    if (!found) return undefined;
    level = found.nested;
  }
  return found;
}

function explainUnknown(fields: CatalogField[], name: string): { code: string; detail: string } {
  if (isReservedName(name)) return { code: 'invalid_name', detail: `${name} is a column of every dataset.` };
  if (!name.includes('.'))
    return {
      code: 'limit',
      detail: `The dataset already has ${catalogLimits.columnsMax} columns, which is the maximum.`,
    };
  const names = listCatalogColumns(fields).map((column) => column.name);
  return { code: 'unknown_column', detail: `No event has had the key ${name}${didYouMean(name, names)}` };
}

const repeated = (name: string): { code: string; detail: string } => ({
  code: 'duplicate',
  detail: `The column ${name} is in the list twice. Names are compared without regard to case.`,
});

function declareLevel(
  fields: CatalogField[],
  stats: ColumnStats[],
  wanted: Map<CatalogField, ColumnType>,
): CatalogField[] {
  const byName = new Map(stats.map((entry) => [entry.name, entry]));
  return fields.map((field) => {
    const entry = byName.get(field.name);
    const declared = wanted.get(field);
    const nested = declareLevel(field.nested, entry?.nested ?? [], wanted);
    const isSameNested = nested.every((inner, index) => inner === field.nested[index]);
    if (declared === field.declared && isSameNested) return field;
    const { declared: _earlier, ...rest } = field;
    const counts = entry?.counts ?? {};
    const followed = field.declared ? decideType(counts, 'NULL') : field.type;
    const type = declared ?? followed;
    const mixed = countMisfits(counts, type) > 0;
    return { ...rest, type, mixed, nested, ...(declared ? { declared } : {}) };
  });
}
