import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDb } from '../src/platform/db/db.ts';
import { createCaller, createOrganizationWithKey, pullDocument, type ApiCall } from '../test/support/api-client.ts';
import { stixBundle } from '../test/support/feed/stix-documents.ts';
import { kevCatalogWith } from '../test/support/walk/fill-organization.ts';
import { apiKey, withRunningProgram } from '../test/support/program-environment.ts';
import type { Benchmark, BenchmarkRow } from './benchmark.ts';

const itemsMade = 2_000;
const [listLines, stixIndicators, gzipLines] = [300_000, 100_000, 480_000];
const everyMs = 200;
const quietMs = 20_000;
const observedMaxMs = 60_000;

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

/** Sends every probe five times a second until `work` ends, whether or not the previous ones were answered. */
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
    const ended = work();
    await Promise.race([ended, sleep(observedMaxMs)]);
    clearInterval(timer);
    await ended;
  } finally {
    clearInterval(timer);
  }
  const tookMs = performance.now() - startMs;
  await Promise.all(sent);
  return { times, failed, tookMs };
}

function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const list = (): string =>
  Array.from({ length: listLines }, (_, n) => `h${n.toString(36)}.evil-${n % 97}.top`).join('\n');

/** Indicators that belong to no report: one item each for a TAXII source, and one item together for a bundle. */
const bundle = (): string =>
  JSON.stringify(stixBundle(Array.from({ length: stixIndicators }, (_, n) => `s${n}.evil-host.top`)));

async function measure(report: (text: string) => void): Promise<BenchmarkRow[]> {
  return withRunningProgram({ TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'error' }, async (running) => {
    const db = openDb(running.databaseUrl, 1);
    const other = await createOrganizationWithKey({ db }, 'other');
    await db.destroy();
    const call = createCaller(running.url, other.key);
    report(`filling the feed with ${itemsMade} items`);
    await pullDocument(call, { kind: 'kev', name: 'bench' }, kevCatalogWith('Northmere', itemsMade));
    const probes = createProbes(running.url, other.key, call);
    const sendBomb = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-ndjson' };
      const body = new Uint8Array(gzipSync('{}\n'.repeat(gzipLines)));
      const response = await fetch(`${running.url}/api/logs/bomb`, { method: 'POST', headers, body });
      if (response.status !== 200) throw new Error(`POST /api/logs/bomb: ${response.status}`);
    };
    await observe(probes, () => sleep(quietMs / 4));
    report('measuring without load');
    const quiet = await observe(probes, () => sleep(quietMs));
    const rows: BenchmarkRow[] = [];
    const loads: [string, () => Promise<unknown>][] = [
      [
        'another organization pulls a list of 300,000 lines',
        () => pullDocument(running.call, { kind: 'csv', name: 'list' }, list()),
      ],
      [
        'another organization pulls 100,000 STIX indicators',
        () => pullDocument(running.call, { kind: 'stix', name: 'stix' }, bundle()),
      ],
      ['another organization posts 480,000 events in 1.4 kB of gzip', sendBomb],
    ];
    for (const [label, load] of loads) {
      report(label);
      const busy = await observe(probes, load);
      for (const probe of probes)
        for (const share of [0.5, 0.99]) {
          const [tocsin, baseline] = [busy, quiet].map(({ times }) => percentile(times.get(probe.label)!, share));
          const name = `${label}: ${probe.label}, ${share === 0.5 ? 'median' : '99th percentile'}`;
          rows.push({ label: name, unit: 'ms', tocsin: tocsin!, baseline: baseline!, share: baseline! / tocsin! });
        }
      rows.push({ label: `${label}: failed requests`, unit: '', tocsin: busy.failed, baseline: quiet.failed });
      rows.push({ label: `${label}: observed for`, unit: 'ms', tocsin: busy.tookMs });
      await sleep(5_000);
    }
    return rows;
  });
}

/** Measures how much one organization notices of the largest pulls and bodies of another. */
export const otherOrganizationsBenchmark: Benchmark = {
  title: 'Response times of an organization while another one sends a lot (baseline: while it does not)',
  run: measure,
};
