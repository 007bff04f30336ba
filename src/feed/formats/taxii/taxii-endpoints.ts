import type { FetchSession, FetchedDocument } from '../fetch-session.ts';
import {
  isObject,
  asObjects,
  parseJsonBytes,
  asText,
  asTexts,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';

export const taxiiType = 'application/taxii+json;version=2.1';
const collectionsMax = 50;
const rootsMax = 10;
// What names roots and collections is read between other work.
const namesMaxBytes = 1024 * 1024;

/** The addresses of the objects of the collections that a source's address leads to: one collection, an API root, or discovery. */
export async function findObjectEndpoints(context: FetchSession): Promise<string[]> {
  const url = new URL(context.url);
  const [collection] = /^.*\/collections\/[^/]+\//.exec(`${url.pathname.replace(/\/$/, '')}/`) ?? [];
  if (collection) return [new URL(`${collection}objects/`, url).href];
  const head = await readJson(context, context.url);
  const roots = asTexts(head['api_roots']);
  const bases = roots.length > 0 ? (asText(head['default']) ? [asText(head['default'])!] : roots) : [context.url];
  const found: string[] = [];
  for (const base of bases.slice(0, rootsMax)) {
    const root = new URL(base, context.url).href.replace(/\/?$/, '/');
    const listed = Array.isArray(head['collections']) ? head : await readJson(context, `${root}collections/`);
    const list = Array.isArray(head['collections']) ? root : `${root}collections/`;
    for (const one of asObjects(listed['collections'])) {
      const id = asText(one['id'])?.trim();
      if (id && one['can_read'] !== false) found.push(`${list}${encodeURIComponent(id)}/objects/`);
    }
  }
  if (found.length === 0) throw new Error('the server names no collection that may be read');
  if (found.length > collectionsMax) throw new Error(`the server names more than ${collectionsMax} collections`);
  return found;
}

async function readJson(context: FetchSession, url: string): Promise<JsonObject> {
  const body = parseJsonBytes((await fetchTaxiiResponse(context, url, namesMaxBytes)).bytes);
  if (!isObject(body)) throw new Error('the answer is no TAXII answer');
  return body;
}

/** An answer of a TAXII server. Throws an Error for another media type. */
export async function fetchTaxiiResponse(
  context: FetchSession,
  url: string,
  bytesMax?: number,
): Promise<FetchedDocument> {
  const found = (await context.fetch(url, { accept: taxiiType, ...(bytesMax ? { bytesMax } : {}) }))!;
  const type = found.contentType?.toLowerCase() ?? '';
  if (!/^application\/(?:taxii\+json|vnd\.oasis\.(?:taxii|stix)\+json|json)\b/.test(type))
    throw new Error(`the answer is no TAXII answer (${type.slice(0, 60) || 'no content type'})`);
  return found;
}
