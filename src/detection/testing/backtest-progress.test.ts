import { expect, test } from 'vitest';
import { callOk, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { createScriptedSiem, hour } from '../../../test/support/detection/scripted-runs.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { SiemError } from '../siem/connector.ts';

let search: Parameters<typeof createScriptedSiem>[0] = () => [];
const siem = createScriptedSiem((request, signal) => search(request, signal));
const { app, newOrg } = await startApp({
  clock: () => new Date(hour(24)),
  deps: { connectionFor: () => Promise.resolve(siem) },
});
const origin = await app.listen({ port: 0, host: '127.0.0.1' });

async function newDetection(): Promise<{ org: TestOrg; path: string }> {
  const org = await newOrg();
  const { id } = await postDetection(org, { detectionCategory: 'custom', detectionCadence: 'hourly' });
  siem.requests.length = 0;
  return { org, path: `/api/detections/${id}/backtest` };
}

/** Requests a backtest of three windows as a stream. */
const openStream = (
  org: TestOrg,
  path: string,
  { signal, ...body }: { signal?: AbortSignal; promptVersion?: number },
) =>
  fetch(`${origin}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${org.key}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'idempotency-key': 'first',
    },
    body: JSON.stringify({ from: hour(0), to: hour(3), ...body }),
    ...(signal && { signal }),
  });

const readEvents = (text: string) =>
  text
    .trim()
    .split('\n\n')
    .map((event) => event.replace(/^event: /, '').split('\ndata: '))
    .map(([type, data]) => [type, JSON.parse(data!)]);

test('streams the windows done of all versions, then the result that other clients get', async () => {
  search = () => [];
  const { org, path } = await newDetection();
  const response = await openStream(org, path, { promptVersion: 1 });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const events = readEvents(await response.text());
  const windows = [1, 2, 3, 4, 5, 6].map((windowsDone) => ({ phase: 'examining', windowsDone, windowsTotal: 6 }));
  expect(events.slice(0, -1)).toEqual(
    [...windows, { phase: 'tuning', windowsDone: 6, windowsTotal: 6 }].map((data) => ['progress', data]),
  );
  const whole = await callOk(org, 'POST', path, { from: hour(0), to: hour(3), promptVersion: 1 });
  expect(events.at(-1)).toEqual(['result', whole]);
  const repeated = await openStream(org, path, { promptVersion: 1 });
  expect(readEvents(await repeated.text())).toEqual(events);
});

test('answers an error before the first window with its status, and streams a later one as a problem', async () => {
  search = () => {
    if (siem.requests.length === 2)
      throw new SiemError({
        kind: 'query_error',
        blame: 'author',
        retryable: false,
        message: 'The field usr does not exist.',
      });
    return [];
  };
  const { org, path } = await newDetection();
  const invalid = await openStream(org, path, { promptVersion: 9 });
  expect(invalid.status).toBe(400);
  expect(await invalid.json()).toMatchObject({ errors: [{ pointer: '/promptVersion' }] });
  const events = readEvents(await (await openStream(org, path, {})).text());
  expect(events.map(([type]) => type)).toEqual(['progress', 'problem']);
  expect(events[1]).toMatchObject([
    'problem',
    { status: 422, instance: path, errors: [{ pointer: '/detectionQuery' }] },
  ]);
});

test('stops the query in progress and starts no other one when the client closes the stream', async () => {
  const { promise: stopped, resolve: setStopped } = Promise.withResolvers<void>();
  search = async (_request, signal) => {
    if (siem.requests.length < 2) return [];
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    setStopped();
    throw signal.reason;
  };
  const { org, path } = await newDetection();
  const client = new AbortController();
  const response = await openStream(org, path, { signal: client.signal });
  const { value } = await response.body!.pipeThrough(new TextDecoderStream()).getReader().read();
  expect(value).toContain('"windowsDone":1,"windowsTotal":3');
  client.abort();
  await stopped;
  expect(siem.requests).toHaveLength(2);
});
