import { fetchBytes, FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import type { ReferenceDocument } from './read-reference-files.ts';
import { galaxyKinds } from './galaxy.ts';
import { parseDocument } from '../reference-files.ts';
import { warningListIds } from './warning-lists.ts';

/** Where the sources publish: MITRE ATT&CK (its terms of use), MISP galaxy and warning lists (CC0 1.0). */
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

export type FetchedDocuments = {
  given: ReferenceDocument[];
  /** What is published there no more. */
  absent: string[];
};

/** Fetches all that is used, one after another. A source that drops a file stops nothing; any other failure does. */
export async function fetchOfficialDocuments(allow: readonly string[], base = raw): Promise<FetchedDocuments> {
  const made: FetchedDocuments = { given: [], absent: [] };
  for (const { stem, path } of places) {
    const url = new URL(path, base).href;
    try {
      const fetched = await fetchBytes({ url, allow, bytesMax, timeoutMs });
      if (fetched.kind === 'fetched') made.given.push({ name: url, stem, document: parseDocument(fetched.bytes, url) });
    } catch (error) {
      if (!(error instanceof FetchStatusError) || error.status !== 404)
        throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
      made.absent.push(url);
    }
  }
  return made;
}
