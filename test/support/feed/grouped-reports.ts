import type { TestApp, TestOrg } from '../harness.ts';
import { inOrg, queryRows } from '../../../src/platform/db/db.ts';
import { fileSource } from './kev-source.ts';
import { stixBundle } from './stix-documents.ts';
import type { CreateSource } from '../../../src/feed/sources/sources.schema.ts';

/** Returns a STIX report with domains or hashes. `more` overrides its fields. */
export const stixReport = (number: number, values: string[], more: Record<string, unknown> = {}): object =>
  stixBundle(values, {
    id: `report--00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    name: `Report ${number}`,
    description: undefined,
    ...more,
  });

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
  inOrg(
    app.deps.db,
    org.id,
    (tx) =>
      queryRows<VisibleItemRow>(
        tx,
      )`select id, title, publisher, duplicate_of, status, severity, version, doc from items order by title, publisher`,
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
