import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../platform/lib/json/json-values.ts';
import {
  readAttackBundles,
  findDocumentKind,
  readReferenceFiles,
  type ReferenceDocument,
  type ReferenceDocumentKind,
  readGalaxyCluster,
  galaxyKinds,
} from './read-reference-files.ts';
import {
  AttackFile,
  validateDocument,
  WarningListFile,
  WarningListsFile,
  NamesFile,
  parseDocument,
} from './reference-files.ts';
import { getInstalledPath, nextReferenceDataVersion, versionPath } from './installed-data.ts';
import { warningListIds, type WarningList } from './warning-lists.ts';
import { fetchBytes, FetchStatusError } from '../../platform/lib/outbound-http/fetch.ts';

export type ReferenceDataUpdate = {
  attack?: { version: string | undefined; techniques: number; groups: number; software: number };
  names?: { names: number; aliases: number };
  warninglists?: { lists: number; entries: number };
  /** URLs of files that are no longer published. */
  absent: string[];
};

type UpdateOptions = {
  dataDir: string;
  /** A file or folder. If undefined, the documents are fetched from their official locations. */
  from: string | undefined;
  fetchAllow: readonly string[];
} & FetchOptions;

/**
 * Installs ATT&CK, MISP galaxy names and warning lists into the data directory. Each of the three that is present replaces its
 * installed version. Throws an Error if any document is invalid, before any file is replaced.
 */
export async function updateReferenceData(options: UpdateOptions): Promise<ReferenceDataUpdate> {
  const { dataDir, from, fetchAllow, base, reportProgress } = options;
  const { documents, absent } =
    from === undefined
      ? await fetchOfficialDocuments(fetchAllow, { base, reportProgress })
      : { documents: await readReferenceFiles(from), absent: [] };
  const byKind = Map.groupBy(documents, getDocumentKind);
  const listByKind = (kind: ReferenceDocumentKind): ReferenceDocument[] => byKind.get(kind) ?? [];
  const attack = buildAttack(listByKind('attack'), listByKind('bundle'));
  const names = buildNames(listByKind('names'), listByKind('cluster'));
  const lists = buildWarningLists(listByKind('lists'), listByKind('list'));
  if (!attack && !names && !lists) throw new Error(`${from ?? 'The official locations'} returned no reference data`);
  await mkdir(join(dataDir, 'knowledge'), { recursive: true });
  if (attack) await replace(getInstalledPath(dataDir, 'attack'), Buffer.from(JSON.stringify(attack)));
  if (names) await replace(getInstalledPath(dataDir, 'names'), Buffer.from(JSON.stringify({ names })));
  if (lists) await replace(getInstalledPath(dataDir, 'lists'), gzipSync(JSON.stringify({ lists })));
  await replace(versionPath(dataDir), Buffer.from(`${nextReferenceDataVersion(dataDir, new Date())}\n`));
  return { ...countEntries(attack, names, lists), absent };
}

function getDocumentKind({ name, document }: ReferenceDocument): ReferenceDocumentKind {
  const kind = findDocumentKind(document);
  if (kind) return kind;
  throw new Error(`${name} is not an ATT&CK bundle, MISP galaxy cluster or warning list`);
}

const joinNames = (documents: ReferenceDocument[]): string => documents.map(({ name }) => name).join(', ');

function buildAttack([table]: ReferenceDocument[], bundles: ReferenceDocument[]): AttackFile | undefined {
  if (table) return validateDocument(AttackFile, table.document, table.name);
  if (bundles.length === 0) return undefined;
  const attack = readAttackBundles(bundles.map(({ document }) => document as JsonObject));
  return validateDocument(AttackFile, attack, joinNames(bundles));
}

function buildNames(tables: ReferenceDocument[], clusters: ReferenceDocument[]): NamesFile['names'] | undefined {
  if (tables.length + clusters.length === 0) return undefined;
  const names = [
    ...tables.flatMap(({ name, document }) => validateDocument(NamesFile, document, name).names),
    ...clusters.flatMap(({ stem, document }) => readGalaxyCluster(document as JsonObject, stem)),
  ];
  return validateDocument(NamesFile, { names }, joinNames([...tables, ...clusters])).names;
}

function buildWarningLists(files: ReferenceDocument[], single: ReferenceDocument[]): WarningList[] | undefined {
  if (files.length + single.length === 0) return undefined;
  const lists = [
    ...files.flatMap(({ name, document }) => validateDocument(WarningListsFile, document, name).lists),
    ...single.map(({ name, stem, document }) => ({ id: stem, ...validateDocument(WarningListFile, document, name) })),
  ].filter(({ id }) => warningListIds.has(id));
  if (lists.length > 0) return lists;
  throw new Error(`${joinNames([...files, ...single])} contains none of the supported warning lists`);
}

/** Replaces a file atomically, so that concurrent readers see the old or the new file. */
async function replace(path: string, bytes: Buffer): Promise<void> {
  await writeFile(`${path}.new`, bytes);
  await rename(`${path}.new`, path);
}

function countEntries(
  attack: AttackFile | undefined,
  names: NamesFile['names'] | undefined,
  lists: WarningList[] | undefined,
): Omit<ReferenceDataUpdate, 'absent'> {
  const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);
  return {
    ...(attack && {
      attack: {
        version: attack.attackVersion,
        techniques: attack.techniques.filter(({ revokedBy, deprecated }) => !revokedBy && !deprecated).length,
        groups: attack.groups.length,
        software: attack.software.length,
      },
    }),
    ...(names && { names: { names: names.length, aliases: sum(names.map(({ aliases }) => aliases.length)) } }),
    ...(lists && { warninglists: { lists: lists.length, entries: sum(lists.map(({ list }) => list.length)) } }),
  };
}

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
type FetchOptions = {
  base?: string | undefined;
  reportProgress?: ((done: number, total: number, label: string) => void) | undefined;
};

type FetchedDocuments = {
  documents: ReferenceDocument[];
  /** URLs of files that are no longer published. */
  absent: string[];
};

/** Fetches all documents in sequence and reports each. A missing file (status 404) is reported in `absent`. Any other failure throws. */
async function fetchOfficialDocuments(
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
