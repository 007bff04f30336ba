import { existsSync, readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isObject, asObjects, asText, asTexts, type JsonObject } from '../../platform/lib/json/json-values.ts';
import { parseDocument, type NamesFile, type AttackFile } from './reference-files.ts';
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

const idSources = new Set(['mitre-attack', 'mitre-mobile-attack', 'mitre-ics-attack']);

/**
 * Reads ATT&CK STIX bundles (https://github.com/mitre-attack/attack-stix-data): techniques with tactics, platforms and the successors
 * of revoked ids, groups and software. If several bundles contain an object, the first one counts.
 */
export function readAttackBundles(bundles: JsonObject[]): AttackFile {
  const objects = bundles.flatMap((bundle) => asObjects(bundle['objects']));
  const successorOf = new Map<unknown, unknown>();
  for (const object of objects)
    if (object['relationship_type'] === 'revoked-by') successorOf.set(object['source_ref'], object['target_ref']);
  const idByRef = new Map(objects.map((object) => [object['id'], attackId(object)]));
  const version = asText(objects.find(({ type }) => type === 'x-mitre-collection')?.['x_mitre_version']);
  const made: AttackFile = {
    ...(version ? { attackVersion: version } : {}),
    tactics: [],
    techniques: [],
    groups: [],
    software: [],
  };
  const seen = new Set<string>();
  for (const object of objects) {
    const id = attackId(object);
    const name = asText(object['name']);
    const { type } = object;
    // Mitigations of old versions share the ids of their techniques.
    const key = `${asText(type)} ${id}`;
    if (!id || !name || seen.has(key)) continue;
    seen.add(key);
    const isGone = object['revoked'] === true || object['x_mitre_deprecated'] === true;
    if (type === 'attack-pattern' && /^T\d{4}(?:\.\d{3})?$/.test(id))
      made.techniques.push(techniqueOf(object, { id, name, successor: idByRef.get(successorOf.get(object['id'])) }));
    const shortName = asText(object['x_mitre_shortname']);
    if (type === 'x-mitre-tactic' && shortName && !isGone) made.tactics.push({ id, name, shortName });
    if (type === 'intrusion-set' && !isGone)
      made.groups.push({ id: nameId(id), name, aliases: othersOf(name, asTexts(object['aliases'])) });
    if ((type === 'malware' || type === 'tool') && !isGone)
      made.software.push({ id: nameId(id), name, type, aliases: othersOf(name, asTexts(object['x_mitre_aliases'])) });
  }
  const order = listTacticsInOrder(objects, idByRef);
  return { ...made, tactics: made.tactics.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id)) };
}

/** Returns the ids of the tactics in the order of the matrices. */
const listTacticsInOrder = (objects: JsonObject[], idByRef: Map<unknown, string | undefined>): (string | undefined)[] =>
  objects
    .filter(({ type }) => type === 'x-mitre-matrix')
    .flatMap((matrix) => asTexts(matrix['tactic_refs']).map((ref) => idByRef.get(ref)));

function techniqueOf(
  object: JsonObject,
  { id, name, successor }: { id: string; name: string; successor: string | undefined },
): AttackFile['techniques'][number] {
  const isGone = object['revoked'] === true || object['x_mitre_deprecated'] === true;
  const phases = asObjects(object['kill_chain_phases']).map((phase) => asText(phase['phase_name']));
  return {
    id,
    name,
    tactics: [...new Set(phases.filter((phase) => phase !== undefined))],
    platforms: asTexts(object['x_mitre_platforms']).map((platform) =>
      platform.toLowerCase().replaceAll(/[\s/]+/g, '-'),
    ),
    ...(successor ? { revokedBy: successor } : isGone ? { deprecated: true } : {}),
  };
}

const attackId = (object: JsonObject): string | undefined =>
  asText(
    asObjects(object['external_references']).find(({ source_name: source }) => idSources.has(asText(source) ?? ''))?.[
      'external_id'
    ],
  );

/** Returns the id of a group or of software, or undefined for one that an old version misuses. */
const nameId = (id: string): string | undefined => (/^[GS]\d{4}$/.test(id) ? id : undefined);

const othersOf = (name: string, aliases: string[]): string[] => [...new Set(aliases.filter((alias) => alias !== name))];

const isStixBundle = (document: unknown): document is JsonObject =>
  isObject(document) && Array.isArray(document['objects']);
