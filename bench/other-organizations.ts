import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDb } from '../src/platform/db/db.ts';
import { createCaller, createOrganizationWithKey, pullDocument, type ApiCall } from '../test/support/api-client.ts';
import { mispAttribute, mispEvent } from '../test/support/feed/misp-documents.ts';
import { rssFeed, sentences } from '../test/support/feed/rss-documents.ts';
import { stixBundle } from '../test/support/feed/stix-documents.ts';
import { kevCatalogWith } from '../test/support/feed/kev-document.ts';
import { apiKey, withRunningProgram, type RunningProgram } from '../test/support/program-environment.ts';
import type { Benchmark, BenchmarkRow } from './benchmark.ts';

const itemsMade = 2_000;
const [listLines, stixIndicators, gzipLines] = [300_000, 100_000, 480_000];
const mispAttributes = 50_000;
// As many articles as one pull reads, which make 12 of the 16 MiB that a feed may have.
const [rssArticles, articleSentences] = [200, 400];
const everyMs = 50;
// Quiet and busy rounds alternate, so that a slow minute of the machine hits both. 1,200 requests of each kind, of which the twelfth slowest
// is the 99th percentile.
const rounds = 3;
const roundMs = 20_000;
const roundMaxMs = 40_000;

type Probe = { label: string; send: () => Promise<unknown> };
/** The times of the answered requests by probe, and the number of requests that failed. */
type Observation = { times: Map<string, number[]>; failed: number; tookMs: number };

/** The requests of the organization that must not notice the other one. */
function createProbes(url: string, key: string, call: ApiCall): Probe[] {
  let page = 0;
  const events = Array.from({ length: 50 }, (_, n) => JSON.stringify({ user: `user${n}`, n })).join('\n');
  const sendEvents = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
    const response = await fetch(`${url}/api/logs/auth`, {
      method: 'POST',
      headers,
      body: `${events}\n{"page":${page}}`,
    });
    if (response.status !== 200) throw new Error(`POST /api/logs/auth: ${response.status}`);
    await response.arrayBuffer();
  };
  return [
    { label: '`GET /healthz`', send: () => fetch(`${url}/healthz`).then((response) => response.arrayBuffer()) },
    // Another page each time, because a cached one would not reach the database.
    { label: '`GET /items`', send: () => call('GET', `/items?perPage=20&page=${(page = (page % 90) + 1)}`) },
    { label: '`GET /api/detections`', send: () => call('GET', '/api/detections') },
    { label: '`POST /api/logs`', send: sendEvents },
  ];
}

/** Sends every probe 20 times a second until `work` ends, whether or not the previous ones were answered. */
async function observe(probes: Probe[], work: () => Promise<unknown>): Promise<Observation> {
  const times = new Map<string, number[]>(probes.map(({ label }) => [label, []]));
  let failed = 0;
  const sent: Promise<void>[] = [];
  const sendProbe = async ({ label, send }: Probe): Promise<void> => {
    const startMs = performance.now();
    await send().catch(() => (failed += 1));
    times.get(label)!.push(performance.now() - startMs);
  };
  const timer = setInterval(() => sent.push(...probes.map(sendProbe)), everyMs);
  const startMs = performance.now();
  try {
    const working = work();
    // The program of this load is stopped afterwards, and with it work that takes longer.
    working.catch(() => undefined);
    await Promise.race([working, sleep(roundMaxMs)]);
  } finally {
    clearInterval(timer);
  }
  const tookMs = performance.now() - startMs;
  await Promise.all(sent);
  return { times, failed, tookMs };
}

/** Returns the nearest-rank percentile. */
function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

const list = (): string =>
  Array.from({ length: listLines }, (_, n) => `h${n.toString(36)}.evil-${n % 97}.top`).join('\n');

/** Indicators that belong to no report: one item each for a TAXII source, and one item together for a bundle. */
const bundle = (): string =>
  JSON.stringify(stixBundle(Array.from({ length: stixIndicators }, (_, n) => `s${n}.evil-host.top`)));

const event = (): string =>
  JSON.stringify(
    mispEvent('large', {
      Attribute: Array.from({ length: mispAttributes }, (_, n) => mispAttribute('domain', `m${n}.evil-host.top`)),
    }),
  );

const articles = (): string =>
  rssFeed(
    Array.from({ length: rssArticles }, (_, n) => ({
      id: `e${n}`,
      title: `Report ${n}`,
      html: sentences(articleSentences).join(' '),
    })),
  );

/** `prepare` builds what is sent, before the measurement, because it would block this process as well. */
type Load = { label: string; prepare: () => Send };
/** Sends the load for the `n`th time. */
type Send = (running: RunningProgram, n: number) => Promise<unknown>;

/** Sends a load again and again for `roundMs`, because a single short one would be observed too rarely for a percentile. */
async function sendRepeatedly(send: Send, running: RunningProgram, sent: { count: number }): Promise<void> {
  const untilMs = performance.now() + roundMs;
  while (performance.now() < untilMs) await send(running, (sent.count += 1));
}

const emptyObservation = (): Observation => ({ times: new Map(), failed: 0, tookMs: 0 });

/** Adds the observation of a further round. */
function addRound(total: Observation, round: Observation): void {
  for (const [label, times] of round.times) total.times.set(label, [...(total.times.get(label) ?? []), ...times]);
  total.failed += round.failed;
  total.tookMs += round.tookMs;
}

/** Prepares pulls of a document, each by a new source. */
const pullOf =
  (kind: string, createText: () => string): (() => Send) =>
  () => {
    const text = createText();
    return async ({ call }, n) => {
      const { added, skipped } = await pullDocument(call, { kind, name: `${kind} ${n}` }, text);
      if (added === 0) throw new Error(`the ${kind} pull added nothing: ${JSON.stringify(skipped)}`);
    };
  };

const loads: Load[] = [
  {
    label: 'a list of 300,000 lines is pulled',
    prepare: pullOf('csv', list),
  },
  {
    label: '100,000 STIX indicators are pulled',
    prepare: pullOf('stix', bundle),
  },
  { label: 'a MISP event of 50,000 attributes is pulled', prepare: pullOf('misp', event) },
  { label: '200 articles of 60,000 characters are pulled from an RSS feed', prepare: pullOf('rss', articles) },
  { label: '480,000 events arrive in 1.4 kB of gzip', prepare: () => sendBomb },
  // The control: what the lack of processors alone does to the same requests.
  { label: 'another program computes on every core', prepare: () => computeElsewhere },
];

async function computeElsewhere(): Promise<void> {
  const script = `const until = Date.now() + ${roundMs}; while (Date.now() < until);`;
  const programs = cpus().map(() => spawn(process.execPath, ['-e', script], { stdio: 'ignore' }));
  await Promise.all(programs.map((program) => once(program, 'exit')));
}

async function sendBomb({ url }: RunningProgram): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-ndjson' };
  const body = new Uint8Array(gzipSync('{}\n'.repeat(gzipLines)));
  const response = await fetch(`${url}/api/logs/bomb`, { method: 'POST', headers, body });
  if (response.status !== 200) throw new Error(`POST /api/logs/bomb: ${response.status}`);
}

/** Measures one load in a program of its own. */
async function measureUnder({ label, prepare }: Load, report: (text: string) => void): Promise<BenchmarkRow[]> {
  const env = { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'error' };
  return withRunningProgram(env, async (running) => {
    const db = openDb(running.databaseUrl, 1);
    const other = await createOrganizationWithKey({ db }, 'other');
    await db.destroy();
    const call = createCaller(running.url, other.key);
    await pullDocument(call, { kind: 'kev', name: 'bench' }, kevCatalogWith('Northmere', itemsMade));
    const send = prepare();
    const probes = createProbes(running.url, other.key, call);
    await observe(probes, () => sleep(roundMs / 4));
    const [quiet, busy] = [emptyObservation(), emptyObservation()];
    const sent = { count: 0 };
    for (let round = 1; round <= rounds; round++) {
      report(`${label}: round ${round} of ${rounds}`);
      addRound(quiet, await observe(probes, () => sleep(roundMs)));
      addRound(busy, await observe(probes, () => sendRepeatedly(send, running, sent)));
    }
    const rows = probes.flatMap((probe) =>
      [0.5, 0.99].map((share): BenchmarkRow => {
        const [tocsin, baseline] = [busy, quiet].map(({ times }) => percentile(times.get(probe.label)!, share));
        const name = `${label}: ${probe.label}, ${share === 0.5 ? 'median' : '99th percentile'}`;
        return { label: name, unit: 'ms', tocsin: tocsin!, baseline: baseline!, share: baseline! / tocsin! };
      }),
    );
    rows.push({ label: `${label}: failed requests`, unit: 'requests', tocsin: busy.failed, baseline: quiet.failed });
    rows.push({ label: `${label}: observed in ${rounds} rounds`, unit: 's', tocsin: busy.tookMs / 1000 });
    return rows;
  });
}

async function measure(report: (text: string) => void): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const load of loads) rows.push(...(await measureUnder(load, report)));
  return rows;
}

/** Measures how much one organization notices of the largest pulls and bodies of another. */
export const otherOrganizationsBenchmark: Benchmark = {
  title: 'Response times of one organization while another one sends a lot (baseline: in between)',
  run: measure,
};
