import { gunzipSync } from 'node:zlib';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestApp, TestOrg } from '../harness.ts';
import { operatorOf, type Caller } from '../../../src/platform/http/caller.ts';
import type { PullResult } from '../../../src/feed/ingestion/pull-plan.ts';
import type { CreateSource, Source } from '../../../src/feed/sources/sources.schema.ts';
import type { SourceKind } from '../../../src/feed/formats/registry.ts';
import { createSource } from '../../../src/feed/sources/update-source.ts';
import { pullSourceNow } from '../../../src/feed/sources/pull/start-pulls.ts';

export type KevRow = Record<string, string | string[]>;
export type Kev = { catalogVersion: string; dateReleased: string; count: number; vulnerabilities: KevRow[] };

export const commandLine = (org: Pick<TestOrg, 'id'>): Caller => operatorOf(org.id);

/** A source that reads a file. `pull` writes the file and pulls the source. */
export type FileSource = { source: Source; url: string; pull: (content: unknown) => Promise<PullResult> };

export async function fileSource(
  app: TestApp,
  org: TestOrg,
  input: CreateSource & { kind: SourceKind },
): Promise<FileSource> {
  const path = join(app.dataDir, `${org.name}-${Math.random().toString(36).slice(2)}.json`);
  const url = pathToFileURL(path).href;
  const source = await createSource(app.deps, commandLine(org), { name: 'test source', url, ...input });
  return {
    source,
    url,
    pull(content) {
      writeFileSync(path, Buffer.isBuffer(content) || typeof content === 'string' ? content : JSON.stringify(content));
      return pullSourceNow(app.deps, commandLine(org), source.id);
    },
  };
}

export const readGzip = (path: string): Buffer => gunzipSync(readFileSync(path));

export function kevRow(number: number, more: KevRow = {}): KevRow {
  return {
    cveID: `CVE-2024-${String(number).padStart(4, '0')}`,
    vendorProject: 'Acme',
    product: 'Windows Gadget',
    vulnerabilityName: `Acme Gadget Vulnerability ${number}`,
    dateAdded: '2024-05-01',
    shortDescription: `Acme Gadget contains flaw ${number}. It allows code execution.`,
    requiredAction: 'Apply updates.',
    dueDate: '2024-05-22',
    knownRansomwareCampaignUse: 'Unknown',
    notes: '',
    cwes: ['CWE-79'],
    ...more,
  };
}

/** Returns a catalog with these rows, released on `day` of January 2025. */
export function kevCatalogue(day: number, vulnerabilities: KevRow[]): Kev {
  const date = `2025-01-${String(day).padStart(2, '0')}`;
  return {
    catalogVersion: date.replaceAll('-', '.'),
    dateReleased: `${date}T12:00:00.000Z`,
    count: vulnerabilities.length,
    vulnerabilities,
  };
}

export const kevRows = (count: number): KevRow[] => Array.from({ length: count }, (_, index) => kevRow(index + 1));
