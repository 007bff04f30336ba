import type { FetchSession, FetchedDocument } from '../fetch-session.ts';
import {
  asObjects,
  isObject,
  parseJsonBytes,
  asText,
  asTexts,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const mediaType = 'application/taxii+json;version=2.1';
const collectionsMax = 50;
const rootsMax = 10;
// Discovery documents are parsed in the main thread.
const discoveryMaxBytes = 1024 * 1024;

/** Returns the object endpoints of the readable collections at a source's address: a collection, an API root or discovery. */
export async function findObjectEndpoints(session: FetchSession): Promise<string[]> {
  const url = new URL(session.url);
  const [collection] = /^.*\/collections\/[^/]+\//.exec(`${url.pathname.replace(/\/$/, '')}/`) ?? [];
  if (collection) return [new URL(`${collection}objects/`, url).href];
  const head = await readJson(session, session.url);
  const roots = asTexts(head['api_roots']);
  const preferred = asText(head['default']);
  const bases = roots.length === 0 ? [session.url] : preferred ? [preferred] : roots;
  const endpoints: string[] = [];
  for (const base of bases.slice(0, rootsMax)) {
    const root = new URL(base, session.url).href.replace(/\/?$/, '/');
    const listed = Array.isArray(head['collections']) ? head : await readJson(session, `${root}collections/`);
    const list = Array.isArray(head['collections']) ? root : `${root}collections/`;
    for (const entry of asObjects(listed['collections'])) {
      const id = asText(entry['id'])?.trim();
      if (id && entry['can_read'] !== false) endpoints.push(`${list}${encodeURIComponent(id)}/objects/`);
    }
  }
  if (endpoints.length === 0) throw new ExternalError('the server has no readable collection');
  if (endpoints.length > collectionsMax)
    throw new ExternalError(`the server has more than ${collectionsMax} collections`);
  return endpoints;
}

async function readJson(session: FetchSession, url: string): Promise<JsonObject> {
  const body = parseJsonBytes((await fetchTaxiiResponse(session, url, discoveryMaxBytes)).bytes);
  if (!isObject(body)) throw new ExternalError('the response is not a TAXII response');
  return body;
}

/** Fetches a document of a TAXII server. Throws an Error if it has another media type. */
export async function fetchTaxiiResponse(
  session: FetchSession,
  url: string,
  bytesMax?: number,
): Promise<FetchedDocument> {
  const found = (await session.fetch(url, { accept: mediaType, ...(bytesMax ? { bytesMax } : {}) }))!;
  const type = found.contentType?.toLowerCase() ?? '';
  if (!/^application\/(?:taxii\+json|vnd\.oasis\.(?:taxii|stix)\+json|json)\b/.test(type))
    throw new ExternalError(`the response is not a TAXII response (${type.slice(0, 60) || 'no content type'})`);
  return found;
}
