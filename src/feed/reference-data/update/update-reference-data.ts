import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../../platform/lib/json/json-values.ts';
import { readAttackBundles } from './attack-stix.ts';
import { Attack, checked, List, Lists, Names } from '../reference-files.ts';
import { kindOfDocument, readGiven, type Given, type GivenKind } from './read-files.ts';
import { readCluster } from './galaxy.ts';
import { heldPath } from '../installed.ts';
import { readOfficial } from './official-sources.ts';
import { listIds, type Warninglist } from './warning-lists.ts';

export type Taken = {
  attack?: { version: string | undefined; techniques: number; groups: number; software: number };
  names?: { names: number; aliases: number };
  warninglists?: { lists: number; entries: number };
  /** Files that are published no more. */
  absent: string[];
};

type Update = {
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
export async function updateKnowledge({ dataDir, from, fetchAllow, base }: Update): Promise<Taken> {
  const { given, absent } =
    from === undefined ? await readOfficial(fetchAllow, base) : { given: await readGiven(from), absent: [] };
  const byKind = Map.groupBy(given, (one) => kindGiven(one));
  const of = (kind: GivenKind): Given[] => byKind.get(kind) ?? [];
  const attack = attackOf(of('attack'), of('bundle'));
  const names = namesOf(of('names'), of('cluster'));
  const lists = listsOf(of('lists'), of('list'));
  if (!attack && !names && !lists) throw new Error(`${from ?? 'the official places'}: nothing that is used`);
  await mkdir(join(dataDir, 'knowledge'), { recursive: true });
  if (attack) await replace(heldPath(dataDir, 'attack'), Buffer.from(JSON.stringify(attack)));
  if (names) await replace(heldPath(dataDir, 'names'), Buffer.from(JSON.stringify({ names })));
  if (lists) await replace(heldPath(dataDir, 'lists'), gzipSync(JSON.stringify({ lists })));
  return { ...figuresOf(attack, names, lists), absent };
}

function kindGiven({ name, document }: Given): GivenKind {
  const kind = kindOfDocument(document);
  if (kind) return kind;
  throw new Error(`${name} is no ATT&CK bundle, MISP galaxy cluster or warning list`);
}

function attackOf(own: Given[], bundles: Given[]): Attack | undefined {
  const [first] = own;
  if (first) return checked(Attack, first.document, { name: first.name, what: 'table of ATT&CK' });
  if (bundles.length === 0) return undefined;
  const made = readAttackBundles(bundles.map(({ document }) => document as JsonObject));
  return checked(Attack, made, { name: bundles.map(({ name }) => name).join(', '), what: 'ATT&CK bundle' });
}

function namesOf(own: Given[], clusters: Given[]): Names['names'] | undefined {
  if (own.length + clusters.length === 0) return undefined;
  const names = [
    ...own.flatMap(({ name, document }) => checked(Names, document, { name, what: 'table of names' }).names),
    ...clusters.flatMap(({ stem, document }) => readCluster(document as JsonObject, stem)),
  ];
  const name = [...own, ...clusters].map((one) => one.name).join(', ');
  return checked(Names, { names }, { name, what: 'MISP galaxy cluster' }).names;
}

function listsOf(own: Given[], single: Given[]): Warninglist[] | undefined {
  if (own.length + single.length === 0) return undefined;
  const what = 'warning list';
  const lists = [
    ...own.flatMap(({ name, document }) => checked(Lists, document, { name, what }).lists),
    ...single.map(({ name, stem, document }) => ({ id: stem, ...checked(List, document, { name, what }) })),
  ].filter(({ id }) => listIds.has(id));
  if (lists.length > 0) return lists;
  throw new Error(`${[...own, ...single].map(({ name }) => name).join(', ')} holds none of the lists that are used`);
}

/** Whoever reads meanwhile sees the old file or the new one, whole. */
async function replace(path: string, bytes: Buffer): Promise<void> {
  await writeFile(`${path}.new`, bytes);
  await rename(`${path}.new`, path);
}

function figuresOf(
  attack: Attack | undefined,
  names: Names['names'] | undefined,
  lists: Warninglist[] | undefined,
): Omit<Taken, 'absent'> {
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
