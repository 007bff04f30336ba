import { sql } from 'kysely';
import type { TestApp, TestOrg } from '../harness.ts';
import { inOrg, queryRows } from '../../../src/platform/db/db.ts';
import { fileSource } from './kev-source.ts';
import type { CreateSource } from '../../../src/feed/sources/sources.schema.ts';

/** Returns a STIX report with domains. `more` overrides its fields. */
export function stixReport(number: number, values: string[], more: Record<string, unknown> = {}): object {
  const time = { created: '2024-01-01T00:00:00.000Z', modified: '2024-01-01T00:00:00.000Z' };
  const indicators = values.map((value) => ({
    type: 'indicator',
    spec_version: '2.1',
    id: `indicator--${value}`,
    ...time,
    pattern: value.includes('.') ? `[domain-name:value = '${value}']` : `[file:hashes.'SHA-256' = '${value}']`,
    pattern_type: 'stix',
    valid_from: '2024-01-01T00:00:00Z',
  }));
  const report = {
    type: 'report',
    spec_version: '2.1',
    id: `report--00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    ...time,
    name: `Report ${number}`,
    published: '2024-01-01T00:00:00Z',
    object_refs: indicators.map(({ id }) => id),
    ...more,
  };
  return { type: 'bundle', id: `bundle--b${number}`, objects: [report, ...indicators] };
}

export const domains = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `host${from + index}.example`);

/** Pulls one document as a new source and returns the result. */
export async function pullOnce(
  app: TestApp,
  org: TestOrg,
  { kind, content, ...more }: Partial<CreateSource> & { kind: NonNullable<CreateSource['kind']>; content: unknown },
): Promise<Awaited<ReturnType<typeof fileSource>>> {
  const source = await fileSource(app, org, { kind, ...more });
  const result = await source.pull(content);
  if (result.error) throw new Error(result.error);
  return source;
}

export type VisibleItemRow = {
  id: string;
  title: string;
  publisher: string;
  duplicate_of: string | null;
  status: string;
  severity: string;
  version: number;
  doc: string;
};

/** Returns every item that the organization sees, with its columns. */
export const listVisibleItems = (app: TestApp, org: TestOrg): Promise<VisibleItemRow[]> =>
  inOrg(app.deps.db, org.id, (tx) =>
    queryRows(
      tx,
      sql<VisibleItemRow>`select id, title, publisher, duplicate_of, status, severity, version, doc from items order by title, publisher`,
    ),
  );

/** Returns the groups as sorted titles of their items. Checks that the roots and members follow the rules. */
export async function listGroups(app: TestApp, org: TestOrg): Promise<string[][]> {
  const items = await listVisibleItems(app, org);
  const byId = new Map(items.map((item) => [item.id, item]));
  for (const { duplicate_of, doc } of items) {
    if ((JSON.parse(doc) as { duplicateOf?: string }).duplicateOf !== (duplicate_of ?? undefined))
      throw new Error('the root in the document differs from the root in the row');
    if (duplicate_of !== null && byId.get(duplicate_of)?.duplicate_of !== null) throw new Error('a chain');
    if (duplicate_of !== null && byId.get(duplicate_of)?.status === 'retracted') throw new Error('a retracted root');
  }
  const groups = Map.groupBy(items, ({ id, duplicate_of }) => duplicate_of ?? id);
  return [...groups.values()]
    .map((group) => group.map(({ title }) => title).toSorted())
    .toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
}
