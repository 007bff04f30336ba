import type { CollectContext } from '../collect.ts';
import { isObject, objectsOf, parseJsonBytes, textOf, textsOf, type JsonObject } from '../extract/json.ts';

export const taxiiType = 'application/taxii+json;version=2.1';
const collectionsMax = 50;
const rootsMax = 10;

/** The addresses of the objects of the collections that a source's address leads to: one collection, an API root, or discovery. */
export async function objectEndpoints(context: CollectContext): Promise<string[]> {
  const url = new URL(context.url);
  const [collection] = /^.*\/collections\/[^/]+\//.exec(`${url.pathname.replace(/\/$/, '')}/`) ?? [];
  if (collection) return [new URL(`${collection}objects/`, url).href];
  const head = await readJson(context, context.url);
  const roots = textsOf(head['api_roots']);
  const bases = roots.length > 0 ? (textOf(head['default']) ? [textOf(head['default'])!] : roots) : [context.url];
  const found: string[] = [];
  for (const base of bases.slice(0, rootsMax)) {
    const root = new URL(base, context.url).href.replace(/\/?$/, '/');
    const listed = Array.isArray(head['collections']) ? head : await readJson(context, `${root}collections/`);
    const list = Array.isArray(head['collections']) ? root : `${root}collections/`;
    for (const one of objectsOf(listed['collections'])) {
      const id = textOf(one['id'])?.trim();
      if (id && one['can_read'] !== false) found.push(`${list}${encodeURIComponent(id)}/objects/`);
    }
  }
  if (found.length === 0) throw new Error('the server names no collection that may be read');
  if (found.length > collectionsMax) throw new Error(`the server names more than ${collectionsMax} collections`);
  return found;
}

/** An answer of a TAXII server. Throws an Error for another media type or no object. */
export async function readJson(context: CollectContext, url: string): Promise<JsonObject> {
  return (await readEnvelope(context, url)).body;
}

export async function readEnvelope(
  context: CollectContext,
  url: string,
): Promise<{ body: JsonObject; addedLast: string | undefined }> {
  const found = (await context.fetch(url, { accept: taxiiType }))!;
  const type = found.contentType?.toLowerCase() ?? '';
  if (!/^application\/(?:taxii\+json|vnd\.oasis\.(?:taxii|stix)\+json|json)\b/.test(type))
    throw new Error(`the answer is no TAXII answer (${type.slice(0, 60) || 'no content type'})`);
  const body = parseJsonBytes(found.bytes);
  if (!isObject(body)) throw new Error('the answer is no TAXII answer');
  const last = found.headers['x-taxii-date-added-last'];
  return { body, addedLast: typeof last === 'string' ? last : undefined };
}
