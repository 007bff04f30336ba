import { fetchBytes, FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import type { ReferenceDocument } from './read-reference-files.ts';
import { galaxyKinds } from './galaxy.ts';
import { parseDocument } from '../reference-files.ts';
import { warningListIds } from './warning-lists.ts';

/** The official locations of MITRE ATT&CK (its own terms of use), MISP galaxy and the MISP warning lists (CC0 1.0). */
const raw = 'https://raw.githubusercontent.com/';
const places = [
  ...['enterprise', 'mobile', 'ics'].map((domain) => ({
    stem: `${domain}-attack`,
    path: `mitre-attack/attack-stix-data/master/${domain}-attack/${domain}-attack.json`,
  })),
  ...[...galaxyKinds.keys()].map((stem) => ({ stem, path: `MISP/misp-galaxy/main/clusters/${stem}.json` })),
  ...[...warningListIds].map((stem) => ({ stem, path: `MISP/misp-warninglists/main/lists/${stem}/list.json` })),
];
const bytesMax = 128 * 1024 * 1024;
const timeoutMs = 300_000;

/** `base` replaces the base URL of the official locations. */
export type FetchOptions = {
  base?: string | undefined;
  reportProgress?: ((done: number, total: number, label: string) => void) | undefined;
};

export type FetchedDocuments = {
  documents: ReferenceDocument[];
  /** URLs of files that are no longer published. */
  absent: string[];
};

/** Fetches all documents in sequence and reports each. A missing file (status 404) is reported in `absent`. Any other failure throws. */
export async function fetchOfficialDocuments(
  allow: readonly string[],
  { base = raw, reportProgress }: FetchOptions = {},
): Promise<FetchedDocuments> {
  const result: FetchedDocuments = { documents: [], absent: [] };
  for (const [index, { stem, path }] of places.entries()) {
    const url = new URL(path, base).href;
    try {
      const fetched = await fetchBytes({ url, allow, bytesMax, timeoutMs });
      if (fetched.kind === 'fetched')
        result.documents.push({ name: url, stem, document: parseDocument(fetched.bytes, url) });
    } catch (error) {
      if (!(error instanceof FetchStatusError) || error.status !== 404)
        throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
      result.absent.push(url);
    }
    reportProgress?.(index + 1, places.length, stem);
  }
  return result;
}
