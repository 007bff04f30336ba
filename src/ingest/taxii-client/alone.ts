import { isObject, type JsonObject } from '../extract/json.ts';

/** References that say who made an object and who may see it, not what it consists of. */
const outside = new Set(['created_by_ref', 'object_marking_refs']);

/**
 * Whether objects are new and refer to none but each other. A changed object may belong to an item that is not among them, and a reference
 * that leads out of them needs what it leads to.
 */
export function standsAlone(objects: unknown[]): boolean {
  const all = objects.filter(isObject);
  const ids = new Set(all.map(({ id }) => id));
  return all.every((object) => isNew(object) && referencesOf(object).every((ref) => ids.has(ref)));
}

const isNew = (object: JsonObject): boolean =>
  object['revoked'] !== true && (object['modified'] === undefined || object['modified'] === object['created']);

function referencesOf(object: JsonObject): unknown[] {
  const named = Object.entries(object).filter(([name]) => /_refs?$/.test(name) && !outside.has(name));
  return named.flatMap(([, value]) => (Array.isArray(value) ? value : [value]));
}
