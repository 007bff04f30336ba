import { inOrg } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { ownColumns, type Field } from './catalogue.ts';
import { loadCatalogue } from './catalogue-store.ts';
import { listDatasetRows } from './dataset-store.ts';
import type { LogDeps } from './log-deps.ts';
import type { DatasetList } from './schema.ts';
import { engineType } from './types.ts';

const ownTypes: Record<(typeof ownColumns)[number], string> = {
  _id: 'VARCHAR',
  _time: 'TIMESTAMP',
  _ingested: 'TIMESTAMP',
  _event: 'JSON',
};

/** The columns that a query of a dataset has: first those of every dataset, then the events' own, those inside objects by dotted names. */
export function columnsOf(fields: Field[]): { name: string; type: string }[] {
  const own = ownColumns.map((name) => ({ name, type: ownTypes[name] }));
  return [...own, ...fields.flatMap((field) => withNested(field, field.name))];
}

function withNested(field: Field, path: string): { name: string; type: string }[] {
  return [
    { name: path, type: engineType(field.type) },
    ...field.nested.flatMap((inner) => withNested(inner, `${path}.${inner.name}`)),
  ];
}

/** Every dataset that has an event, by name, with what it holds. */
export async function listDatasets({ db }: Pick<LogDeps, 'db'>, orgId: OrgId): Promise<DatasetList> {
  return inOrg(db, orgId, async (tx) => {
    const found = await listDatasetRows(tx, orgId);
    const datasets = [];
    for (const row of found) {
      const fields = await loadCatalogue(tx, orgId, row.name, row.version);
      datasets.push({
        name: row.name,
        events: row.events,
        firstEventAt: row.first?.toISOString() ?? null,
        lastEventAt: row.last?.toISOString() ?? null,
        lastIngestedAt: row.ingested?.toISOString() ?? null,
        columns: columnsOf(fields),
      });
    }
    return { datasets };
  });
}
