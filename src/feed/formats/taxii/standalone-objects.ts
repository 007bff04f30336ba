import { isObject, type JsonObject } from '../../../platform/lib/json/json-values.ts';

/** References that say who made an object and who may see it, not what it consists of. */
const outside = new Set(['created_by_ref', 'object_marking_refs']);

/** What objects are called and refer to. `areNew`: none of them was changed, and every reference is one. */
export type ObjectLinks = { ids: string[]; refs: string[]; areNew: boolean };

export function readObjectLinks(objects: unknown[]): ObjectLinks {
  const all = objects.filter(isObject);
  const refs = all.flatMap(referencesOf);
  return {
    ids: all.map(({ id }) => id).filter(isText),
    refs: [...new Set(refs.filter(isText))],
    areNew: all.every(isNew) && refs.every(isText),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Whether objects are new and refer to none but each other. A changed object may belong to an item that is not among them, and a reference
 * that leads out of them needs what it leads to.
 */
export function areStandalone(ties: ObjectLinks[]): boolean {
  const ids = new Set(ties.flatMap((one) => one.ids));
  return ties.every(({ refs, areNew }) => areNew && refs.every((ref) => ids.has(ref)));
}

const isNew = (object: JsonObject): boolean =>
  object['revoked'] !== true && (object['modified'] === undefined || object['modified'] === object['created']);

function referencesOf(object: JsonObject): unknown[] {
  const named = Object.entries(object).filter(([name]) => /_refs?$/.test(name) && !outside.has(name));
  return named.flatMap(([, value]) => (Array.isArray(value) ? value : [value]));
}
