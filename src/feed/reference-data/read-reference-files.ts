import { existsSync, readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isObject, asObjects, asText, asTexts, type JsonObject } from '../../platform/lib/json/json-values.ts';
import { isStixBundle } from './attack-stix.ts';
import { parseDocument, type NamesFile } from './reference-files.ts';
import { warningListIds } from './warning-lists.ts';

/** A document of a source. `stem` identifies the list or cluster. */
export type ReferenceDocument = { name: string; stem: string; document: unknown };
export type ReferenceDocumentKind = 'bundle' | 'attack' | 'cluster' | 'names' | 'list' | 'lists';

/** Recognizes the kind of a document by its fields. */
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
 * Reads a file, or a folder with any of: this project's files (`attack.json`, `names.json`, `warninglists.json.gz`) and checkouts of
 * the sources.
 */
export async function readReferenceFiles(from: string): Promise<ReferenceDocument[]> {
  const found = await stat(from).catch(() => undefined);
  if (!found) throw new Error(`${from} does not exist`);
  const paths = found.isDirectory() ? listFiles(from) : [from];
  if (paths.length === 0) throw new Error(`${from} contains no ATT&CK bundle, MISP galaxy cluster or warning list`);
  const documents: ReferenceDocument[] = [];
  for (const path of paths)
    documents.push({ name: path, stem: getStem(path), document: parseDocument(await readBytes(path), path) });
  return documents;
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function listFiles(folder: string): string[] {
  // Git clones, or unpacked branch archives.
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

/** Returns `tool` for `clusters/tool.json` and `alexa` for `lists/alexa/list.json`. */
function getStem(path: string): string {
  const name = basename(path).replace(/\.json(?:\.gz)?$/, '');
  return name === 'list' ? basename(dirname(path)) : name;
}

/** The kind of name per cluster of MISP galaxy (https://github.com/MISP/misp-galaxy), most reliable clusters first. */
export const galaxyKinds: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'threat-actor': 'threat-actor',
    'microsoft-activity-group': 'threat-actor',
    '360net': 'threat-actor',
    malpedia: 'malware',
    ransomware: 'ransomware',
    rat: 'malware',
    stealer: 'malware',
    backdoor: 'malware',
    banker: 'malware',
    botnet: 'malware',
    wiper: 'malware',
    cryptominers: 'malware',
    android: 'malware',
    stalkerware: 'malware',
    'exploit-kit': 'exploit-kit',
    tool: 'tool',
    tds: 'tool',
    'rmm-tool': 'tool',
  }),
);

/** Returns the names of a cluster file. `stem` is its file name without the extension. */
export function readGalaxyCluster(cluster: JsonObject, stem: string): NamesFile['names'] {
  const kind = galaxyKinds.get(stem) ?? galaxyKinds.get(asText(cluster['type']) ?? '');
  if (!kind) throw new Error(`${stem} is not a cluster of actors, malware or tools`);
  return asObjects(cluster['values']).flatMap((one) => {
    const name = asText(one['value']);
    const meta = isObject(one['meta']) ? one['meta'] : {};
    return name ? [{ name: name.slice(0, 1_000), kind, aliases: asTexts(meta['synonyms']).slice(0, 1_000) }] : [];
  });
}

const isGalaxyCluster = (document: unknown): document is JsonObject =>
  isObject(document) && Array.isArray(document['values']);
