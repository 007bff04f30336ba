import { expect, test } from 'vitest';
import { createErrorRecorder } from '../../../../test/support/error-recorder.ts';
import { fileSource, kevCatalogue, kevRows } from '../../../../test/support/feed/kev-source.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { ThreadError } from '../../../platform/lib/threads/thread-protocol.ts';
import { type Parser, createParser } from '../documents/parser.ts';
import { pullNextDue, type RunPull } from './start-pulls.ts';
import { pullClaimedSource } from './pull-source.ts';

let now = new Date('2026-01-01T00:00:00.000Z');
/** What reading a document throws. Undefined: nothing. */
let fault: Error | undefined;
const recorder = createErrorRecorder();
const runPull: RunPull = (source, options) => pullClaimedSource({ ...app.deps, parser }, source, options);
const app = await startApp({ clock: () => now, deps: { log: recorder.log, runPull } });
const real = createParser(app.dataDir);
const parser: Parser = {
  ...real,
  open: (task, signal) => (fault ? Promise.reject(fault) : real.open(task, signal)),
};

async function start() {
  const org = await app.newOrg();
  const destination = {
    kind: 'webhook',
    name: 'x',
    url: 'https://hooks.example.com/',
    eventTypes: ['feed.source.failed'],
  };
  expect((await org.call('POST', '/api/destinations', destination)).status).toBe(200);
  const source = await fileSource(app, org, { kind: 'kev', schedule: '0 0 * * *' });
  await source.pull(kevCatalogue(1, kevRows(3)));
  const view = async () => (await org.call('GET', `/api/feed/sources/${source.source.id}`)).body;
  const events = () => selectIn(app.deps.db, org.id)`select type from outbox`;
  return { source, view, events };
}

test.each([
  ['a mistake of the program', new TypeError("Cannot read properties of undefined (reading 'x')")],
  ['an error of the database', Object.assign(new Error('deadlock detected'), { code: '40P01' })],
  ['any other error', new Error('secret detail')],
])('%s is ours: it is logged with an ID, retried, and not counted against the source', async (_name, error) => {
  const { source, view, events } = await start();
  recorder.clear();
  fault = error;
  const { error: reason } = await source.pull(kevCatalogue(2, kevRows(4)));
  const id = /^internal error ([0-9a-f-]{36}) of the service, not of the source/.exec(reason!)?.[1];
  expect(JSON.stringify(recorder.errors())).toContain(id);
  expect(await view()).toMatchObject({ failures: 0, lastError: expect.stringContaining(id!) });
  expect((await view()).lastError).not.toContain(error.message);
  expect(await events()).toEqual([]);

  now = new Date(new Date((await view()).nextPullAt).getTime());
  while (await pullNextDue(app.deps));
  const { failures, nextPullAt } = await view();
  expect([failures, new Date(nextPullAt).getTime() - now.getTime()]).toEqual([0, 15 * 60_000]);
  fault = undefined;
  now = new Date(nextPullAt);
  while (await pullNextDue(app.deps));
  expect(await view()).toMatchObject({ failures: 0, lastError: null });
});

test.each([
  ['its content', new ExternalError('the document is not valid JSON')],
  ['its size', new ThreadError('timeout', 'the task took longer than 120 seconds')],
])('%s is the fault of the source', async (_name, error) => {
  const { source, view, events } = await start();
  fault = error;
  expect((await source.pull(kevCatalogue(2, kevRows(4)))).error).toBe(error.message);
  fault = undefined;
  expect(await view()).toMatchObject({ failures: 1, lastError: error.message });
  expect(await events()).toEqual([{ type: 'feed.source.failed' }]);
});
