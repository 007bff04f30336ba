import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../at-file-end.ts';
import { closeServer, listen } from '../../listen.ts';
import { testConnectorConformance, type ConformanceFixture } from './connector-conformance.ts';
import {
  SiemError,
  type RemoteConnection,
  type RemoteConnector,
  type SiemConnection,
} from '../../../../src/detection/siem/connector.ts';

export type SiemStandInRequest = { method: string; url: URL; headers: IncomingMessage['headers']; body: string };
export type SiemStandInReply = { status?: number; headers?: Record<string, string>; body?: unknown };
type Fault = SiemStandInReply | 'hang' | 'cut' | 'half';

/** An event of a stand-in. There is one per hour. */
export const firstAt = new Date('2026-03-02T00:00:00.000Z');
export const events = Array.from({ length: 4 }, (_, n) => ({
  id: `e${n}`,
  at: new Date(firstAt.getTime() + n * 3_600_000),
  user: n % 2 === 0 ? 'ada' : 'eve',
}));
export const countByUser = (list: typeof events): [user: string, count: number][] =>
  Object.entries(Object.groupBy(list, ({ user }) => user)).map(([user, group]) => [user, group!.length]);
/** The window of the first `hours` events. */
export const firstHours = (hours: number, clock: SiemConnection['clock'] = 'event') => ({
  from: firstAt,
  to: new Date(firstAt.getTime() + hours * 3_600_000),
  clock,
});
export const standInLimits = { rowsMax: 10, groupsMax: 10, timeoutMs: 60_000 };
export const eventsWithin = (from: Date, to: Date) => events.filter(({ at }) => at >= from && at < to);

export type SiemStandIn = {
  url: string;
  asked: SiemStandInRequest[];
  /** Returns the number of requests that wait for a response. */
  openCount: () => number;
  fail: (fault: Fault | undefined) => void;
  failOnce: (fault: Fault) => void;
};

/** Starts a real HTTP server that responds like an engine, or fails like a network. */
export async function startSiemStandIn(answer: (asked: SiemStandInRequest) => Fault): Promise<SiemStandIn> {
  const asked: SiemStandInRequest[] = [];
  let fault: Fault | undefined;
  let once: Fault | undefined;
  let open = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    open += 1;
    response.on('close', () => (open -= 1));
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://stand-in');
      const { method = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      const failing = once ?? fault;
      once = undefined;
      reply(response, failing ?? answer(one));
    });
  });
  const url = await listen(server);
  atFileEnd(() => closeServer(server));
  return {
    url,
    asked,
    openCount: () => open,
    fail: (next) => {
      fault = next;
    },
    failOnce: (next) => {
      once = next;
    },
  };
}

function reply(response: ServerResponse, given: Fault): void {
  if (given === 'hang') return;
  if (given === 'cut') return void response.socket?.destroy();
  if (given === 'half') {
    response.writeHead(200, { 'content-length': '1000' }).write('{"columns": [');
    setTimeout(() => response.socket?.destroy(), 20);
    return;
  }
  const { status = 200, headers = {}, body = {} } = given;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

/** Starts a stand-in and connects to it. `settings` are built from its URL. */
export async function startAndConnect<S, C>(
  connector: RemoteConnector<S, C>,
  answer: (asked: SiemStandInRequest) => Fault,
  input: { settings: (url: string) => object; credentials: object; clock?: SiemConnection['clock'] },
) {
  const standIn = await startSiemStandIn(answer);
  return { standIn, connection: connectToStandIn(connector, { ...input, settings: input.settings(standIn.url) }) };
}

/** Runs the conformance suite and the failure tests on an HTTP adapter. */
export function testHttpAdapter(
  name: string,
  make: () => Promise<{ standIn: SiemStandIn; connection: SiemConnection }>,
  queries: ConformanceFixture['queries'],
): void {
  testConnectorConformance(name, async () => ({
    connection: (await make()).connection,
    events: events.length,
    firstAt,
    queries,
  }));
  testHttpFailures(name, async () => ({ ...(await make()), query: queries.all }));
}

/** Creates a connection from API input, as the service does. */
export function connectToStandIn<S, C>(
  connector: RemoteConnector<S, C>,
  given: { settings: unknown; credentials: unknown; clock?: SiemConnection['clock']; allow?: string[] },
): SiemConnection & RemoteConnection {
  const { clock = 'event', allow = ['127.0.0.1', 'localhost'] } = given;
  const settings = connector.settings.parse(given.settings);
  const credentials = connector.credentials.parse(given.credentials);
  return { clock, delayMs: 0, ...connector.connect({ settings, credentials, allow }) };
}

const faults: [string, Fault, object][] = [
  ['refused credentials', { status: 401 }, { kind: 'credentials_refused', blame: 'upstream', retryable: false }],
  ['missing rights', { status: 403 }, { kind: 'rights_missing', blame: 'upstream', retryable: false }],
  [
    'throttling',
    { status: 429, headers: { 'retry-after': '5' } },
    { kind: 'throttled', blame: 'upstream', retryable: true },
  ],
  ['an outage', { status: 503, body: 'down' }, { kind: 'unavailable', blame: 'upstream', retryable: true }],
  ['a response that is not JSON', { body: '<html>' }, { blame: 'upstream' }],
  ['a response that is not an object', { body: '5' }, { blame: 'upstream' }],
  [
    'a redirect',
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    { blame: 'upstream', retryable: false },
  ],
  ['a dropped connection', 'cut', { kind: 'unreachable', blame: 'upstream', retryable: true }],
  ['a truncated response', 'half', { blame: 'upstream', retryable: true }],
];

/** Tests how an HTTP adapter handles network and server failures. `make` returns a connection to the stand-in. */
export function testHttpFailures(
  name: string,
  make: () => Promise<{ standIn: SiemStandIn; connection: RemoteConnection; query: string }>,
): void {
  const made = make();
  const window = { from: firstAt, to: new Date(firstAt.getTime() + 3_600_000), clock: 'event' as const };
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => (error instanceof SiemError ? error.failure : error),
    );

  test.each(faults)(`${name}: %s`, async (_name, fault, expected) => {
    const { standIn, connection, query } = await made;
    standIn.fail(fault);
    try {
      const signal = AbortSignal.timeout(60_000);
      expect(await failureOf(connection.search(query, window, standInLimits, signal))).toMatchObject(expected);
      if (fault !== 'half') expect(await failureOf(connection.ping(signal))).toMatchObject(expected);
    } finally {
      standIn.fail(undefined);
    }
  });

  test(`${name}: stops waiting for a slow response when the signal aborts`, async () => {
    const { standIn, connection, query } = await made;
    standIn.fail('hang');
    try {
      // The search's own limit is longer than the test's.
      const limits = { ...standInLimits, timeoutMs: 3_600_000 };
      await expect(connection.search(query, window, limits, AbortSignal.timeout(150))).rejects.toThrow();
    } finally {
      standIn.fail(undefined);
    }
  });
}

/** Tests that an adapter rejects an address that is neither public nor allowed by a setting. */
export async function testPrivateAddress(connection: RemoteConnection): Promise<void> {
  const error = await connection.ping(AbortSignal.timeout(60_000)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect((error as SiemError).failure.message).toContain('TOCSIN_FETCH_ALLOW');
}
