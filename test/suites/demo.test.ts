import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { expectedHits } from '../../src/demo/demo-summary.ts';
import { newProgramDir, removeProgramDir, root } from '../support/program.ts';
import { demoPages, expectPageRuns, startBlock, startService, type RunningService } from '../support/typed-commands.ts';

const folder = newProgramDir();
afterAll(() => removeProgramDir(folder));

const demo = (...args: string[]) =>
  promisify(execFile)(process.execPath, [resolve(root, 'bin/tocsin.mjs'), 'demo', ...args], {
    cwd: folder,
    timeout: 200_000,
  });

describe('the demo as the guide starts it', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(startBlock('docs/guide/categories.md', 'run: demo'), /The API stays up/, 300_000);
  }, 320_000);
  afterAll(() => service.stop());

  test('finds every expected stage', () => {
    // Headlines shorten the ARN of a user to what follows the account.
    for (const { entity } of expectedHits) expect(service.output()).toContain(entity.replace(/^arn:.*:/, ''));
    expect(service.output()).toContain('Every stage of the intrusion');
    expect(service.output()).toMatch(/Threat feed: \d+ items/);
  });

  test('prints what the README shows', () => {
    const [, shown = ''] =
      /```\n([^`]+score \d+\n[^`]+)```/.exec(readFileSync(resolve(root, 'README.md'), 'utf8')) ?? [];
    const [name, , ...found] = shown.trimEnd().split('\n');
    expect(found).toHaveLength(2);
    for (const line of [name, ...found]) expect(service.output()).toContain(line);
  });

  test('stored the events of its runs, so that the console shows what happened', async () => {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/events?types=hit.created`, {
      headers: { authorization: 'Bearer choose-a-long-random-key' },
    });
    const { events } = (await response.json()) as { events: { data: { headline: string } }[] };
    expect(events.length).toBeGreaterThanOrEqual(expectedHits.length);
  });

  test('joins the hits of the intrusion to one incident with its stages in order, and leaves the benign ones alone', async () => {
    const get = async <Body>(path: string): Promise<Body> => {
      const headers = { authorization: 'Bearer choose-a-long-random-key' };
      return (await (await fetch(`http://127.0.0.1:${service.port}${path}`, { headers })).json()) as Body;
    };
    type Hits = { hits: { entity: string; incidentId: string | null }[] };
    const joined = await vi.waitUntil(
      async () => {
        const { hits } = await get<Hits>('/api/hits?limit=100');
        return hits.filter(({ incidentId }) => incidentId !== null).length === 5 && hits;
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(joined.flatMap(({ entity, incidentId }) => (incidentId === null ? [entity] : [])).toSorted()).toEqual([
      'arn:aws:iam::111122223333:user/ingrid.solberg',
      'claire.tan',
    ]);
    const { incidents } = await get<{ incidents: { id: string }[] }>('/api/incidents');
    expect(incidents).toHaveLength(1);
    const { stages } = await get<{ stages: { tactic: string }[] }>(`/api/incidents/${incidents[0]!.id}`);
    expect(stages.map(({ tactic }) => tactic)).toEqual(['initial-access', 'persistence', 'discovery', 'impact']);
  });

  // The agent runs its first suggestions over a week of logs.
  test.each(demoPages)('runs the commands of %s', (page) => expectPageRuns(service, page));
});

test('exits after the summary with --once and leaves nothing behind', async () => {
  const logs = mkdtempSync(resolve(folder, 'logs-'));
  writeFileSync(resolve(logs, 'signins.ndjson'), '{"timestamp":"2026-01-05T09:00:00Z","user":"ada"}\n');
  const { stdout } = await demo('--once', '--logs', logs);
  expect(stdout).toContain('Threat feed');
  expect(stdout).not.toContain('The API stays up');
  expect(readdirSync(resolve(folder, '.tocsin-demo'))).toEqual([]);
});
