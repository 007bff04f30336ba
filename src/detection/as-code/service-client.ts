import { setTimeout } from 'node:timers/promises';
import type { ExportedSet } from '../detections/bulk/bulk.schema.ts';
import type { Detection } from '../detections/record/detection.schema.ts';
import type { TestSet } from '../detections/test-cases/test-cases.schema.ts';
import { retryAfter } from '../../platform/lib/outbound-http/fetch.ts';
import {
  bodyOf,
  definitionOf,
  fieldsOfRecord,
  testsOf,
  withTests,
  type FieldChange,
  type Fields,
} from './detection-fields-file.ts';
import type { Known } from './plan.ts';

/** The service, as far as a folder needs it. */
export type Service = {
  list: () => Promise<Known[]>;
  create: (fields: Fields) => Promise<Known>;
  /** Without its tests, as `create`. Throws where the detection is no longer as `known` says. */
  update: (id: string, change: { changes: FieldChange[]; fields: Fields; known: Fields }) => Promise<Known>;
  putTests: (made: Known, fields: Fields) => Promise<Known>;
  /** Throws where the detection is no longer as `known` says. */
  remove: (id: string, known: Fields) => Promise<void>;
};

type Problem = { detail?: string; errors?: { pointer: string; detail: string }[] };
type Found = { record: Detection; etag: string | null };

const timeoutMs = 60_000;
const triesMax = 10;
const noTests: TestSet = { tests: [], localQuery: null };

/** `validate`: every write is checked against its SIEM first. `isSame` tells whether two sets of fields are equal. */
export function serviceAt(
  at: { url: string; key: string; validate: boolean },
  isSame: (one: Fields, other: Fields) => boolean,
): Service {
  const call = async <T>(method: string, path: string, more: { body?: unknown; ifMatch?: string } = {}) => {
    const answer = await sendInTime(at, method, path, more);
    const text = await answer.text();
    if (answer.status === 401) throw new Error(`${at.url} does not know the key in TOCSIN_API_KEY`);
    const body = jsonOf(text);
    // Another server may be at that address, or one in between that answers for it.
    if (body === undefined)
      throw new Error(`${method} ${at.url}${path}: no answer of Tocsin (TOCSIN_URL), ${wordOf(answer)}`);
    if (answer.status !== 200) throw new Error(problemOf(body as Problem) ?? `${method} ${path}: ${wordOf(answer)}`);
    return { body: body as T, etag: answer.headers.get('etag') };
  };
  const query = at.validate ? '?validate=true' : '';
  /** The detection as it is now, if that is as `known` says. */
  const findSame = async (id: string, known: Fields): Promise<Found & { tests: TestSet }> => {
    const { body: record, etag } = await call<Detection>('GET', `/api/detections/${id}`);
    const tests = (await call<TestSet>('GET', `/api/detections/${id}/tests`)).body;
    if (record.deletedAt !== null || !isSame(fieldsOfRecord(record, tests), known))
      throw new Error('it changed in the service while this ran; plan again');
    return { record, etag, tests };
  };
  return {
    list: async () => {
      const { detections } = (await call<{ detections: Detection[] }>('GET', '/api/detections')).body;
      const exported = (await call<ExportedSet>('GET', '/api/detections/export')).body.detections;
      const tests = new Map(exported.map((one) => [one['id'], one as Partial<TestSet>]));
      return detections.map((record) => knownOf(record, { ...noTests, ...tests.get(record.id) }));
    },
    create: async (fields) => {
      const body = definitionOf(fields);
      return knownOf((await call<Detection>('POST', `/api/detections${query}`, { body })).body, noTests);
    },
    update: async (id, { changes, fields, known }) => {
      const { record, etag, tests } = await findSame(id, known);
      const body = bodyOf(changes, fields);
      const ifMatch = etag === null ? {} : { ifMatch: etag };
      const path = `/api/detections/${id}${query}`;
      const isUnchanged = Object.keys(body).length === 0;
      return knownOf(isUnchanged ? record : (await call<Detection>('PUT', path, { body, ...ifMatch })).body, tests);
    },
    putTests: async ({ id, fields: made }, fields) => {
      const path = `/api/detections/${id}/tests`;
      return { id, fields: withTests(made, (await call<TestSet>('PUT', path, { body: testsOf(fields) })).body) };
    },
    remove: async (id, known) => {
      await findSame(id, known);
      await call('DELETE', `/api/detections/${id}`);
    },
  };
}

const knownOf = (record: Detection, tests: TestSet): Known => ({
  id: record.id,
  fields: fieldsOfRecord(record, tests),
});

/** Where the service asks for a pause (TOCSIN_RATE_LIMIT), it gets one. */
async function sendInTime(...given: Parameters<typeof send>): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const answer = await send(...given);
    const waitMs = retryAfter(answer.headers.get('retry-after') ?? undefined) ?? 1000;
    if (answer.status !== 429 || tries === triesMax || waitMs > timeoutMs) return answer;
    await answer.body?.cancel();
    await setTimeout(waitMs);
  }
}

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

const wordOf = ({ status }: Response): string => `status ${status}`;

function problemOf({ detail, errors }: Problem): string | undefined {
  return errors?.map((one) => `${one.pointer.replace(/^\//, '')}: ${one.detail}`).join('; ') ?? detail;
}

function jsonOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}
