import { isObject, asObjects, asText, asTexts, type JsonObject } from '../../platform/lib/json/json-values.ts';
import type { AttackFile } from './reference-files.ts';

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

export const isStixBundle = (document: unknown): document is JsonObject =>
  isObject(document) && Array.isArray(document['objects']);
