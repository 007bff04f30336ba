import { ExternalError } from '../../platform/lib/external-error.ts';
import { asObject, asObjects, asText, parseJsonText, type JsonObject } from '../../platform/lib/json/json-values.ts';
import type { TextResponse } from '../../platform/lib/outbound-http/request-text.ts';

export const sightingStatuses = ['seen', 'false_positive'] as const;
export type SightingStatus = (typeof sightingStatuses)[number];

/** That an organization saw a value of a record, or considers it a false positive. `id` and everything else are the same on every attempt. */
export type OutgoingSighting = {
  id: string;
  status: SightingStatus;
  value: string;
  recordId: string;
  at: Date;
  /** The ID of the TLP marking of the record in STIX. */
  markingId: string;
  /** Where the other system says what became of an earlier attempt, or null. */
  reference: string | null;
};

/** What became of a sighting. Of one that is `posted`, the other system says so later, at `reference`. */
export type SightingReceipt = { id: string; state: 'sent' | 'posted' | 'refused'; reference?: string; error?: string };

export type SightingsSession = {
  /** The address for sightings, without a slash at its end. */
  url: string;
  call: (request: {
    method: string;
    url: string;
    headers: Record<string, string>;
    body?: object;
  }) => Promise<TextResponse>;
};

/** How a kind of source accepts sightings. */
export type SightingsTarget = {
  statuses: readonly SightingStatus[];
  /** What an address of sightings matches, and how people are told. */
  urlPattern: RegExp;
  urlHint: string;
  /** Yields a receipt for each sighting as soon as it is known. Throws an `ExternalError` if the rest has to be sent again. */
  send: (sightings: OutgoingSighting[], session: SightingsSession) => AsyncGenerator<SightingReceipt, void, void>;
};

/** A response that says nothing about the sightings themselves. `retryAfterMs` is how long the other system wants to be left alone. */
export class SightingsNotSentError extends ExternalError {
  readonly retryAfterMs: number | undefined;
  constructor({ status, text, retryAfterMs }: TextResponse) {
    super(`status ${status}: ${text.slice(0, 300)}`);
    this.retryAfterMs = retryAfterMs;
  }
}

const isOk = ({ status }: TextResponse): boolean => status >= 200 && status <= 299;

function readObject({ text }: TextResponse): JsonObject {
  try {
    return asObject(parseJsonText(text));
  } catch (error) {
    throw new ExternalError('the response is not JSON', { cause: error });
  }
}

/** By value, because the sighting then counts for the same attribute in every event of the instance. */
export const mispSightings: SightingsTarget = {
  statuses: sightingStatuses,
  urlPattern: /^https?:\/\/[^?#]+$/,
  urlHint: 'The address of the MISP instance, such as https://misp.example.',
  send: async function* (sightings, { url, call }) {
    const headers = { accept: 'application/json' };
    for (const { id, status, value, at } of sightings) {
      const type = status === 'seen' ? '0' : '1';
      const body = { values: [value], type, source: 'Tocsin', timestamp: Math.floor(at.getTime() / 1000) };
      const response = await call({ method: 'POST', url: `${url}/sightings/add`, headers, body });
      // MISP refuses with status 200 or 403, depending on its version, and a key without rights with 403 as well.
      const message = /could not add/i.test(response.text) ? response.text : undefined;
      if (message === undefined && !isOk(response)) throw new SightingsNotSentError(response);
      yield message === undefined ? { id, state: 'sent' } : { id, state: 'refused', error: message };
    }
  },
};

const mediaType = 'application/taxii+json;version=2.1';
const indicatorId = /^indicator--[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
/** Statuses with which a server refuses the objects, so that another attempt would fail as well. */
const refusals = [400, 413, 415, 422];

/** STIX 2.1 sighting objects, posted together to a collection (TAXII 2.1, section 5.5). The server says later which of them it accepted (section 4.3). */
export const taxiiSightings: SightingsTarget = {
  statuses: ['seen'],
  urlPattern: /^https?:\/\/[^?#]+\/collections\/[^/?#]+\/?$/,
  urlHint: 'The address of a collection, such as https://taxii.example/root/collections/ID/.',
  send: async function* (sightings, { url, call }) {
    const get = async (address: string) => call({ method: 'GET', url: address, headers: { accept: mediaType } });
    const isThere = async (name: string): Promise<boolean> => {
      const response = await get(`${url}/objects/${name}/`);
      return isOk(response) && asObjects(readObject(response)['objects']).length > 0;
    };
    const root = url.replace(/\/collections\/[^/]+$/, '');
    const posted = Map.groupBy(
      sightings.filter(({ reference }) => reference !== null),
      ({ reference }) => reference!,
    );
    for (const [reference, members] of posted) {
      const response = await get(`${root}/status/${encodeURIComponent(reference)}/`);
      // Servers may forget the status of what they accepted.
      if (response.status === 404) for (const { id } of members) yield { id, state: 'sent' };
      else if (isOk(response)) yield* readStatus(readObject(response), members, isThere);
      else throw new SightingsNotSentError(response);
    }
    const fresh: OutgoingSighting[] = [];
    for (const sighting of sightings.filter(({ reference }) => reference === null)) {
      if (indicatorId.test(sighting.recordId)) fresh.push(sighting);
      else
        yield {
          id: sighting.id,
          state: 'refused',
          error: 'the source states the value in a report, not in an indicator of its own',
        };
    }
    if (fresh.length === 0) return;
    const collection = await get(`${url}/`);
    if (!isOk(collection)) throw new SightingsNotSentError(collection);
    if (readObject(collection)['can_write'] !== true) throw new ExternalError('the collection does not accept objects');
    const headers = { accept: mediaType, 'content-type': mediaType };
    const body = { objects: fresh.map(toSightingObject) };
    const response = await call({ method: 'POST', url: `${url}/objects/`, headers, body });
    if (refusals.includes(response.status)) {
      const error = `status ${response.status}: ${response.text.slice(0, 300)}`;
      for (const { id } of fresh) yield { id, state: 'refused', error };
    } else if (isOk(response)) yield* readStatus(readObject(response), fresh, isThere);
    else throw new SightingsNotSentError(response);
  },
};

/** Contains nothing of the log rows, and not even their number. */
const toSightingObject = ({ id, recordId, at, markingId }: OutgoingSighting) => ({
  type: 'sighting',
  spec_version: '2.1',
  id: `sighting--${id}`,
  created: at.toISOString(),
  modified: at.toISOString(),
  first_seen: at.toISOString(),
  sighting_of_ref: indicatorId.exec(recordId)![0],
  object_marking_refs: [markingId],
});

/** Yields what a status resource says about sightings. `isThere` returns whether the collection has an object. */
async function* readStatus(
  status: JsonObject,
  sightings: OutgoingSighting[],
  isThere: (name: string) => Promise<boolean>,
): AsyncGenerator<SightingReceipt, void, void> {
  const failures = new Map(asObjects(status['failures']).map((one) => [asText(one['id']), asText(one['message'])]));
  const reference = asText(status['id']);
  const isDone = status['status'] !== 'pending';
  for (const { id } of sightings) {
    const name = `sighting--${id}`;
    // Servers such as medallion refuse an object that an attempt whose response was lost has added.
    if (failures.has(name) && !(await isThere(name)))
      yield { id, state: 'refused', error: failures.get(name) ?? 'the server refused the object' };
    else if (isDone || failures.has(name)) yield { id, state: 'sent' };
    else if (reference !== undefined) yield { id, state: 'posted', reference };
    else throw new ExternalError('the response has no id of a status');
  }
}
