import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../../platform/lib/json/json-values.ts';
import { readAttackBundles } from './attack-stix.ts';
import { AttackFile, validateDocument, WarningListFile, WarningListsFile, NamesFile } from '../reference-files.ts';
import {
  findDocumentKind,
  readReferenceFiles,
  type ReferenceDocument,
  type ReferenceDocumentKind,
} from './read-reference-files.ts';
import { readGalaxyCluster } from './galaxy.ts';
import { getInstalledPath } from '../read-installed.ts';
import { fetchOfficialDocuments } from './official-sources.ts';
import { warningListIds, type WarningList } from './warning-lists.ts';

export type ReferenceDataUpdate = {
  attack?: { version: string | undefined; techniques: number; groups: number; software: number };
  names?: { names: number; aliases: number };
  warninglists?: { lists: number; entries: number };
  /** Files that are published no more. */
  absent: string[];
};

type UpdateOptions = {
  dataDir: string;
  /** A file or folder; the sources' official places otherwise. */
  from: string | undefined;
  fetchAllow: readonly string[];
  /** Another address in front of the official paths. */
  base?: string;
};

/**
 * Takes knowledge into the data directory: ATT&CK, MISP galaxy and warning lists, as far as they are given. Each of the three replaces
 * what was held of it. Throws an Error where any document is bad; then everything that was held stays.
 */
export async function updateReferenceData({
  dataDir,
  from,
  fetchAllow,
  base,
}: UpdateOptions): Promise<ReferenceDataUpdate> {
  const { given, absent } =
    from === undefined
      ? await fetchOfficialDocuments(fetchAllow, base)
      : { given: await readReferenceFiles(from), absent: [] };
  const byKind = Map.groupBy(given, (one) => getDocumentKind(one));
  const of = (kind: ReferenceDocumentKind): ReferenceDocument[] => byKind.get(kind) ?? [];
  const attack = buildAttack(of('attack'), of('bundle'));
  const names = buildNames(of('names'), of('cluster'));
  const lists = buildWarningLists(of('lists'), of('list'));
  if (!attack && !names && !lists) throw new Error(`${from ?? 'the official places'}: nothing that is used`);
  await mkdir(join(dataDir, 'knowledge'), { recursive: true });
  if (attack) await replace(getInstalledPath(dataDir, 'attack'), Buffer.from(JSON.stringify(attack)));
  if (names) await replace(getInstalledPath(dataDir, 'names'), Buffer.from(JSON.stringify({ names })));
  if (lists) await replace(getInstalledPath(dataDir, 'lists'), gzipSync(JSON.stringify({ lists })));
  return { ...countEntries(attack, names, lists), absent };
}

function getDocumentKind({ name, document }: ReferenceDocument): ReferenceDocumentKind {
  const kind = findDocumentKind(document);
  if (kind) return kind;
  throw new Error(`${name} is no ATT&CK bundle, MISP galaxy cluster or warning list`);
}

function buildAttack(own: ReferenceDocument[], bundles: ReferenceDocument[]): AttackFile | undefined {
  const [first] = own;
  if (first) return validateDocument(AttackFile, first.document, { name: first.name, what: 'table of ATT&CK' });
  if (bundles.length === 0) return undefined;
  const made = readAttackBundles(bundles.map(({ document }) => document as JsonObject));
  return validateDocument(AttackFile, made, {
    name: bundles.map(({ name }) => name).join(', '),
    what: 'ATT&CK bundle',
  });
}

function buildNames(own: ReferenceDocument[], clusters: ReferenceDocument[]): NamesFile['names'] | undefined {
  if (own.length + clusters.length === 0) return undefined;
  const names = [
    ...own.flatMap(
      ({ name, document }) => validateDocument(NamesFile, document, { name, what: 'table of names' }).names,
    ),
    ...clusters.flatMap(({ stem, document }) => readGalaxyCluster(document as JsonObject, stem)),
  ];
  const name = [...own, ...clusters].map((one) => one.name).join(', ');
  return validateDocument(NamesFile, { names }, { name, what: 'MISP galaxy cluster' }).names;
}

function buildWarningLists(own: ReferenceDocument[], single: ReferenceDocument[]): WarningList[] | undefined {
  if (own.length + single.length === 0) return undefined;
  const what = 'warning list';
  const lists = [
    ...own.flatMap(({ name, document }) => validateDocument(WarningListsFile, document, { name, what }).lists),
    ...single.map(({ name, stem, document }) => ({
      id: stem,
      ...validateDocument(WarningListFile, document, { name, what }),
    })),
  ].filter(({ id }) => warningListIds.has(id));
  if (lists.length > 0) return lists;
  throw new Error(`${[...own, ...single].map(({ name }) => name).join(', ')} holds none of the lists that are used`);
}

/** Whoever reads meanwhile sees the old file or the new one, whole. */
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
