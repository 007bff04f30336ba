import { existsSync, readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { isStixBundle } from './attack-stix.ts';
import { galaxyKinds, isGalaxyCluster } from './galaxy.ts';
import { parseDocument } from '../reference-files.ts';
import { warningListIds } from './warning-lists.ts';

/** A document of one of the sources, by what it holds. `stem`: which list or cluster it is. */
export type ReferenceDocument = { name: string; stem: string; document: unknown };
export type ReferenceDocumentKind = 'bundle' | 'attack' | 'cluster' | 'names' | 'list' | 'lists';

/** What a document is, or undefined. */
export function findDocumentKind(document: unknown): ReferenceDocumentKind | undefined {
  if (!isObject(document)) return undefined;
  if (isStixBundle(document)) return 'bundle';
  if (isGalaxyCluster(document)) return 'cluster';
  for (const [field, kind] of [
    ['techniques', 'attack'],
    ['names', 'names'],
    ['lists', 'lists'],
    ['list', 'list'],
  ] as const)
    if (Array.isArray(document[field])) return kind;
  return undefined;
}

/**
 * The documents of a file, or of a folder: this project's own forms (`attack.json`, `names.json`, `warninglists.json.gz`), or checkouts
 * of the sources, or several of these side by side.
 */
export async function readReferenceFiles(from: string): Promise<ReferenceDocument[]> {
  const found = await stat(from).catch(() => undefined);
  if (!found) throw new Error(`${from} does not exist`);
  const paths = found.isDirectory() ? listFiles(from) : [from];
  if (paths.length === 0) throw new Error(`${from} holds nothing that is used`);
  const given: ReferenceDocument[] = [];
  for (const path of paths)
    given.push({ name: path, stem: getStem(path), document: parseDocument(await readBytes(path), path) });
  return given;
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function listFiles(folder: string): string[] {
  // As git clones them, or as they unpack from an archive of their branch.
  const checkouts = ['attack-stix-data', 'misp-galaxy', 'misp-warninglists'].flatMap((name) =>
    ['', '-main', '-master'].map((branch) => join(folder, `${name}${branch}`)),
  );
  return [folder, ...checkouts].filter((root) => existsSync(root)).flatMap(listCheckoutFiles);
}

function listCheckoutFiles(root: string): string[] {
  const domains = ['enterprise', 'mobile', 'ics'].flatMap((name) => [
    `${name}-attack.json`,
    `${name}-attack/${name}-attack.json`,
  ]);
  const lists = ['lists', '.'].flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder))
          .filter((id) => warningListIds.has(id))
          .map((id) => `${folder}/${id}/list.json`)
      : [],
  );
  const clusters = [...galaxyKinds.keys()].flatMap((name) => [`clusters/${name}.json`, `${name}.json`]);
  return ['attack.json', 'names.json', 'warninglists.json.gz', 'warninglists.json', ...domains, ...clusters, ...lists]
    .map((name) => join(root, name))
    .filter((path) => existsSync(path));
}

/** `clusters/tool.json`: tool; `lists/alexa/list.json`: alexa. */
function getStem(path: string): string {
  const name = basename(path).replace(/\.json(?:\.gz)?$/, '');
  return name === 'list' ? basename(dirname(path)) : name;
}
