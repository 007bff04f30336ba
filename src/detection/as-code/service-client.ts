import { withoutTrailingSlashes } from '../../platform/lib/outbound-http/addresses.ts';
import { setTimeout } from 'node:timers/promises';
import type { ExportedSet } from '../detections/bulk/bulk.schema.ts';
import type { AgentList, Detection } from '../detections/record/detection.schema.ts';
import {
  CreateTrigger,
  type AgentSchedule,
  type AgentTriggerList,
} from '../detections/triggers/agent-triggers.schema.ts';
import type { TestSet } from '../detections/test-cases.schema.ts';
import { outboundFetch } from '../../platform/lib/outbound-http/proxy.ts';
import { readAllPages } from '../../platform/lib/page-request.ts';
import { parseRetryAfterMs } from '../../platform/lib/outbound-http/send-request.ts';
import {
  hashFields,
  isAgentFile,
  toFileTrigger,
  toUpdateBody,
  withoutTests,
  toFileFields,
  toTestSet,
  withTests,
  type AgentStarts,
  type FieldChange,
  type FileFields,
} from '../managed/file-fields.ts';
import type { ServiceDetection } from './plan.ts';

/** The operations of the service's API that a folder needs. */
export type ServiceClient = {
  list: () => Promise<ServiceDetection[]>;
  create: (fields: FileFields) => Promise<ServiceDetection>;
  /** Updates the detection without its tests. Throws if it no longer has the fields `known`. */
  update: (
    id: string,
    change: { changes: FieldChange[]; fields: FileFields; known: FileFields },
  ) => Promise<ServiceDetection>;
  /** Stores the tests of a detection, or what starts a response agent. */
  putTests: (detection: ServiceDetection, fields: FileFields) => Promise<ServiceDetection>;
  /** Throws if the detection no longer has the fields `known`. */
  remove: (id: string, known: FileFields) => Promise<void>;
};

/** The parts of a problem document that explain it. */
export type ProblemBody = { detail?: string; errors?: { pointer: string; detail: string }[] };

/** An answer other than 200. `errors` are the invalid fields of the request, if it is about those. */
export class ServiceError extends Error {
  readonly errors: ProblemBody['errors'];
  constructor(message: string, { errors }: ProblemBody) {
    super(message);
    this.errors = errors;
  }
}

const timeoutMs = 60_000;
const streamMs = 3_600_000;
const attemptsMax = 10;
const noTests: TestSet = { tests: [], localQuery: null };

/** `onProgress` receives the progress of long work, for which the response then has no time limit of its own. */
type CallOptions = { body?: unknown; ifMatch?: string; onProgress?: (progress: unknown) => void };

/** Sends a request to the service and returns the body and ETag of its answer. Throws a ServiceError for any other answer than 200. */
export type ServiceCall = <T>(
  method: string,
  path: string,
  options?: CallOptions,
) => Promise<{ body: T; etag: string | null }>;

/** `setting` is where the key comes from, for messages. Default: TOCSIN_API_KEY. */
type ServiceTarget = { url: string; key: string; setting?: string };

/** Returns a function that calls the service at `url`. */
export const createServiceCall =
  (target: ServiceTarget): ServiceCall =>
  async <T>(method: string, path: string, options: CallOptions = {}) => {
    const response = await sendWithRetries(target, method, path, options);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const text = isStream ? await readStream(response, options.onProgress) : await response.text();
    if (response.status === 401)
      throw new Error(`${target.url} rejects the API key in ${target.setting ?? 'TOCSIN_API_KEY'}`);
    const body = parseObject(text);
    // The address may belong to another server or to a proxy.
    const status = `status ${response.status}`;
    if (body === undefined)
      throw new Error(`${method} ${target.url}${path}: the response is not from Tocsin (check TOCSIN_URL), ${status}`);
    if (response.status !== 200) throw new ServiceError(describeProblem(body) ?? `${method} ${path}: ${status}`, body);
    return { body: body as T, etag: response.headers.get('etag') };
  };

/** Creates a client for the service at `url`. With `validate`, the service checks every detection on its SIEM before it is stored. */
export function createServiceClient(target: { url: string; key: string; validate: boolean }): ServiceClient {
  const call = createServiceCall(target);
  const query = target.validate ? '?validate=true' : '';
  /** Returns the detection if it still has the fields `known`. */
  const getUnchanged = async (id: string, known: FileFields) => {
    const { body: record, etag } = await call<Detection>('GET', pathOf(known, id));
    const tests = isAgentFile(known)
      ? await readStarts(call, id)
      : (await call<TestSet>('GET', `/api/detections/${id}/tests`)).body;
    if (record.deletedAt !== null || hashFields(toFileFields(record, tests)) !== hashFields(known))
      throw new Error('the detection changed in the service during this run. Run plan again.');
    return { record, etag, tests };
  };
  return {
    list: async () => {
      const { detections } = (await call<{ detections: Detection[] }>('GET', '/api/detections')).body;
      const exported = (await call<ExportedSet>('GET', '/api/detections/export')).body.detections;
      const tests = new Map(exported.map((detection) => [detection['id'], detection as Partial<TestSet>]));
      const agents: ServiceDetection[] = [];
      for (const record of await listResponseAgents(call))
        agents.push(toServiceDetection(record, await readStarts(call, record.id)));
      return [
        ...detections.map((record) => toServiceDetection(record, { ...noTests, ...tests.get(record.id) })),
        ...agents,
      ];
    },
    create: async (fields) => {
      const body = withoutTests(fields);
      const path = isAgentFile(fields) ? pathOf(fields) : pathOf(fields) + query;
      return toServiceDetection((await call<Detection>('POST', path, { body })).body, noTests);
    },
    update: async (id, { changes, fields, known }) => {
      const { record, etag, tests } = await getUnchanged(id, known);
      const body = toUpdateBody(changes, fields);
      if (Object.keys(body).length === 0) return toServiceDetection(record, tests);
      const path = isAgentFile(fields) ? pathOf(fields, id) : pathOf(fields, id) + query;
      const updated = await call<Detection>('PUT', path, { body, ...toIfMatch(etag) });
      return toServiceDetection(updated.body, tests);
    },
    putTests: async ({ id, fields: current }, fields) => {
      if (isAgentFile(fields)) return applyStarts(call, id, fields);
      const path = `/api/detections/${id}/tests`;
      return { id, fields: withTests(current, (await call<TestSet>('PUT', path, { body: toTestSet(fields) })).body) };
    },
    remove: async (id, known) => {
      const { etag } = await getUnchanged(id, known);
      await call('DELETE', pathOf(known, id), toIfMatch(etag));
    },
  };
}

const toIfMatch = (etag: string | null): CallOptions => (etag === null ? {} : { ifMatch: etag });

const toServiceDetection = (record: Detection, apart: Partial<TestSet & AgentStarts>): ServiceDetection => ({
  id: record.id,
  fields: toFileFields(record, apart),
});

const pathOf = (fields: FileFields, id?: string): string =>
  `/api/${isAgentFile(fields) ? 'agents' : 'detections'}${id === undefined ? '' : `/${id}`}`;

/** Lists the response agents of a service that are not built in. */
async function listResponseAgents(call: ServiceCall): Promise<Detection[]> {
  const { entries } = await readAllPages(async (query) => {
    const path = `/api/agents?${new URLSearchParams({ type: 'response', ...query }).toString()}`;
    const { agents, nextCursor } = (await call<AgentList>('GET', path)).body;
    return { entries: agents.filter(({ isBuiltIn }) => !isBuiltIn), nextCursor };
  });
  return entries;
}

async function readStarts(call: ServiceCall, id: string): Promise<AgentStarts> {
  const { triggers } = (await call<AgentTriggerList>('GET', `/api/agents/${id}/triggers`)).body;
  const { inputs } = (await call<AgentSchedule>('GET', `/api/agents/${id}/schedule`)).body;
  return { triggers: triggers.map(toFileTrigger), scheduleInputs: inputs };
}

/** Brings what starts a response agent to its file. A trigger is recognized by its name and source. Secrets of webhooks stay in the service. */
async function applyStarts(call: ServiceCall, id: string, fields: FileFields): Promise<ServiceDetection> {
  const path = `/api/agents/${id}/triggers`;
  const { triggers = [], scheduleInputs = {} } = fields as Partial<AgentStarts>;
  const { triggers: before } = (await call<AgentTriggerList>('GET', path)).body;
  const isSame = (one: AgentStarts['triggers'][number], other: AgentStarts['triggers'][number]): boolean =>
    one.name === other.name && one.source === other.source;
  for (const old of before)
    if (!triggers.some((one) => isSame(one, toFileTrigger(old)))) await call('DELETE', `${path}/${old.id}`);
  for (const trigger of triggers) {
    const old = before.find((one) => isSame(trigger, toFileTrigger(one)));
    const { source, ...body } = CreateTrigger.parse(trigger);
    if (!old) await call('POST', path, { body: { source, ...body } });
    else if (hashFields(toFileTrigger(old)) !== hashFields(trigger)) await call('PUT', `${path}/${old.id}`, { body });
  }
  const { inputs } = (await call<AgentSchedule>('GET', `/api/agents/${id}/schedule`)).body;
  if (hashFields(inputs) !== hashFields(scheduleInputs))
    await call('PUT', `/api/agents/${id}/schedule`, { body: { inputs: scheduleInputs } });
  return toServiceDetection((await call<Detection>('GET', `/api/agents/${id}`)).body, await readStarts(call, id));
}

/** Sends a request and repeats it after the pause that a 429 response requests (TOCSIN_RATE_LIMIT). */
async function sendWithRetries(...request: Parameters<typeof send>): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await send(...request);
    const waitMs = parseRetryAfterMs(response.headers.get('retry-after') ?? undefined) ?? 1000;
    if (response.status !== 429 || attempt === attemptsMax || waitMs > timeoutMs) return response;
    await response.body?.cancel();
    await setTimeout(waitMs);
  }
}

async function send(
  { url, key }: { url: string; key: string },
  method: string,
  path: string,
  { body, ifMatch, onProgress }: CallOptions,
): Promise<Response> {
  try {
    return await outboundFetch(withoutTrailingSlashes(url) + path, {
      method,
      // A redirect must not forward the API key to another server.
      redirect: 'error',
      signal: AbortSignal.timeout(onProgress ? streamMs : timeoutMs),
      headers: {
        ...(onProgress ? { accept: 'text/event-stream' } : {}),
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    const { cause, message } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new Error(`${new URL(url).origin} does not respond (check TOCSIN_URL): ${reason}`, { cause: error });
  }
}

/** Returns what a problem document says: each wrong field, or its detail. */
export function describeProblem({ detail, errors }: ProblemBody): string | undefined {
  return errors?.map(({ pointer, detail: text }) => `${pointer.replace(/^\//, '')}: ${text}`).join('; ') ?? detail;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads server-sent events to their end and returns the data of the result. Throws a ServiceError for a problem. */
async function readStream(response: Response, onProgress: CallOptions['onProgress']): Promise<string> {
  let unread = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const events = (unread + chunk).split('\n\n');
    unread = events.pop()!;
    for (const event of events) {
      const [, type, data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(event) ?? [];
      if (type === 'progress') onProgress?.(JSON.parse(data));
      if (type === 'result') return data;
      if (type !== 'problem') continue;
      const problem = JSON.parse(data) as ProblemBody;
      throw new ServiceError(describeProblem(problem) ?? 'The request failed.', problem);
    }
  }
  throw new Error('The service closed the connection before the result. See its log.');
}
