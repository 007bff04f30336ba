import type { Detection } from '../detections/schema.ts';
import { fieldsOfRecord, type Fields } from './fields.ts';
import type { Known } from './plan.ts';

/** The service, as far as a folder needs it. */
export type Service = {
  list: () => Promise<Known[]>;
  create: (fields: Fields) => Promise<Known>;
  /** Throws where the detection is no longer as `known` says. */
  update: (id: string, body: Fields, known: Fields) => Promise<Known>;
  remove: (id: string) => Promise<void>;
};

type Problem = { detail?: string; errors?: { pointer: string; detail: string }[] };

const timeoutMs = 60_000;

/** `validate`: every write is checked against its SIEM first. `isSame` tells whether two sets of fields are equal. */
export function serviceAt(
  at: { url: string; key: string; validate: boolean },
  isSame: (one: Fields, other: Fields) => boolean,
): Service {
  const call = async (method: string, path: string, more: { body?: unknown; ifMatch?: string } = {}) => {
    const answer = await send(at, method, path, more);
    if (answer.status !== 200) throw new Error(await problemOf(answer));
    return { record: (await answer.json()) as Detection, etag: answer.headers.get('etag') };
  };
  const query = at.validate ? '?validate=true' : '';
  return {
    list: async () => {
      const { record } = await call('GET', '/api/detections');
      return (record as unknown as { detections: Detection[] }).detections.map(knownOf);
    },
    create: async (body) => knownOf((await call('POST', `/api/detections${query}`, { body })).record),
    update: async (id, body, known) => {
      const now = await call('GET', `/api/detections/${id}`);
      if (now.record.deletedAt !== null || !isSame(fieldsOfRecord(now.record), known))
        throw new Error('it changed in the service while this ran; plan again');
      const ifMatch = now.etag === null ? {} : { ifMatch: now.etag };
      return knownOf((await call('PUT', `/api/detections/${id}${query}`, { body, ...ifMatch })).record);
    },
    remove: async (id) => {
      await call('DELETE', `/api/detections/${id}`);
    },
  };
}

const knownOf = (record: Detection): Known => ({ id: record.id, fields: fieldsOfRecord(record) });

async function send(
  { url, key }: { url: string; key: string },
  method: string,
  path: string,
  { body, ifMatch }: { body?: unknown; ifMatch?: string },
): Promise<Response> {
  try {
    return await fetch(url.replace(/\/+$/, '') + path, {
      method,
      // The key goes nowhere but where it was meant to go.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new Error(`${new URL(url).origin} does not answer (TOCSIN_URL): ${causeOf(error)}`, { cause: error });
  }
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

async function problemOf(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const { detail, errors } = JSON.parse(text) as Problem;
    const fields = errors?.map((one) => `${one.pointer.replace(/^\//, '')}: ${one.detail}`).join('; ');
    return fields ?? detail ?? `status ${answer.status}`;
  } catch {
    return `status ${answer.status}`;
  }
}
