import type { ExportedSet } from '../detections/bulk-schema.ts';
import type { Detection } from '../detections/schema.ts';
import type { TestSet } from '../detections/test-schema.ts';
import {
  bodyOf,
  changesTests,
  definitionOf,
  fieldsOfRecord,
  testsOf,
  type FieldChange,
  type Fields,
} from './fields.ts';
import type { Known } from './plan.ts';

/** The service, as far as a folder needs it. */
export type Service = {
  list: () => Promise<Known[]>;
  create: (fields: Fields) => Promise<Known>;
  /** Throws where the detection is no longer as `known` says. */
  update: (id: string, change: { changes: FieldChange[]; fields: Fields; known: Fields }) => Promise<Known>;
  remove: (id: string) => Promise<void>;
};

type Problem = { detail?: string; errors?: { pointer: string; detail: string }[] };
type Found = { record: Detection; etag: string | null };

const timeoutMs = 60_000;
const noTests: TestSet = { tests: [], localQuery: null };

/** `validate`: every write is checked against its SIEM first. `isSame` tells whether two sets of fields are equal. */
export function serviceAt(
  at: { url: string; key: string; validate: boolean },
  isSame: (one: Fields, other: Fields) => boolean,
): Service {
  const call = async <T>(method: string, path: string, more: { body?: unknown; ifMatch?: string } = {}) => {
    const answer = await send(at, method, path, more);
    if (answer.status === 401) throw new Error(`${at.url} does not know the key in TOCSIN_API_KEY`);
    if (answer.status !== 200) throw new Error(await problemOf(answer));
    return { body: (await answer.json()) as T, etag: answer.headers.get('etag') };
  };
  const query = at.validate ? '?validate=true' : '';
  const find = async (id: string): Promise<Found> => {
    const { body, etag } = await call<Detection>('GET', `/api/detections/${id}`);
    return { record: body, etag };
  };
  const findTests = async (id: string) => (await call<TestSet>('GET', `/api/detections/${id}/tests`)).body;
  const putTests = async (id: string, fields: Fields) =>
    (await call<TestSet>('PUT', `/api/detections/${id}/tests`, { body: testsOf(fields) })).body;
  return {
    list: async () => {
      const { detections } = (await call<{ detections: Detection[] }>('GET', '/api/detections')).body;
      const exported = (await call<ExportedSet>('GET', '/api/detections/export')).body.detections;
      const tests = new Map(exported.map((one) => [one['id'], one as Partial<TestSet>]));
      return detections.map((record) => knownOf(record, { ...noTests, ...tests.get(record.id) }));
    },
    create: async (fields) => {
      const body = definitionOf(fields);
      const record = (await call<Detection>('POST', `/api/detections${query}`, { body })).body;
      const tests = testsOf(fields);
      const isEmpty = tests.tests.length === 0 && tests.localQuery === null;
      return knownOf(record, isEmpty ? noTests : await putTests(record.id, fields));
    },
    update: async (id, { changes, fields, known }) => {
      const now = await find(id);
      const tests = await findTests(id);
      if (now.record.deletedAt !== null || !isSame(fieldsOfRecord(now.record, tests), known))
        throw new Error('it changed in the service while this ran; plan again');
      const body = bodyOf(changes, fields);
      const ifMatch = now.etag === null ? {} : { ifMatch: now.etag };
      const path = `/api/detections/${id}${query}`;
      const record =
        Object.keys(body).length === 0 ? now.record : (await call<Detection>('PUT', path, { body, ...ifMatch })).body;
      return knownOf(record, changesTests(changes) ? await putTests(id, fields) : tests);
    },
    remove: async (id) => {
      await call('DELETE', `/api/detections/${id}`);
    },
  };
}

const knownOf = (record: Detection, tests: TestSet): Known => ({
  id: record.id,
  fields: fieldsOfRecord(record, tests),
});

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
