import type { TestApp, TestOrg } from '../harness.ts';
import type { CreateSource } from '../../../src/feed/sources/sources.schema.ts';
import { fileSource } from './kev-source.ts';
import { stixIndicator } from './stix-documents.ts';

export type Report = { words?: string; revoked?: boolean; labels?: string[]; tlp?: 'red' | undefined };

const red = 'marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed';
const uuidOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Creates a source of numbered reports, each with the domain `r<number>.example`. `write` replaces reports and pulls the source. */
export async function reportSource(app: TestApp, org: TestOrg, input: Partial<CreateSource> = {}) {
  const source = await fileSource(app, org, { ...input, kind: 'stix' });
  const objectsByNumber = new Map<number, object[]>();
  let day = 0;
  return {
    source: source.source,
    async write(reports: Record<string, Report>) {
      day += 1;
      const modified = new Date(Date.UTC(2024, 0, 1, 0, 0, day)).toISOString();
      for (const [number, report] of Object.entries(reports))
        objectsByNumber.set(Number(number), objectsOf(Number(number), { modified, ...report }));
      const result = await source.pull({
        type: 'bundle',
        id: `bundle--${uuidOf(0)}`,
        objects: [...objectsByNumber.values()].flat(),
      });
      if (result.error !== undefined || result.skipped.length > 0) throw new Error(JSON.stringify(result));
      return result;
    },
  };
}

export type ReportSource = Awaited<ReturnType<typeof reportSource>>;

function objectsOf(
  number: number,
  { modified, words = '', revoked = false, labels, tlp }: Report & { modified: string },
): object[] {
  const indicator = stixIndicator(`r${number}.example`, uuidOf(number), modified);
  const report = {
    type: 'report',
    id: `report--${uuidOf(number)}`,
    spec_version: '2.1',
    created: '2024-01-01T00:00:00.000Z',
    modified,
    name: `Report ${number} ${words}`.trim(),
    description: `It says: ${words}.`,
    published: '2024-01-01T00:00:00Z',
    object_refs: [indicator.id],
    revoked,
    ...(labels ? { labels } : {}),
    ...(tlp ? { object_marking_refs: [red] } : {}),
  };
  return [report, indicator];
}
