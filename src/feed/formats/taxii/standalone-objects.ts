import { isObject, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { listContentRefs } from '../stix/stix-objects.ts';

/** The ids and references of objects. `areNew` is set if no object was changed and all references are valid. */
export type ObjectLinks = { ids: string[]; refs: string[]; areNew: boolean };

export function readObjectLinks(objects: unknown[]): ObjectLinks {
  const all = objects.filter(isObject);
  const refs = all.flatMap(listContentRefs);
  return {
    ids: all.map(({ id }) => id).filter(isText),
    refs: [...new Set(refs.filter(isText))],
    areNew: all.every(isNew) && refs.every(isText),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Returns whether objects are new and refer only to each other. A changed object may belong to an item that is not among them, and a
 * reference to another object requires that object.
 */
export function areStandalone(pages: ObjectLinks[]): boolean {
  const ids = new Set(pages.flatMap((page) => page.ids));
  return pages.every(({ refs, areNew }) => areNew && refs.every((ref) => ids.has(ref)));
}

const isNew = (object: JsonObject): boolean =>
  object['revoked'] !== true && (object['modified'] === undefined || object['modified'] === object['created']);
