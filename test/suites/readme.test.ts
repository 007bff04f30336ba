import { globSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { qualityPage, renderQualityPage } from '../../quality/quality-page.ts';
import { catalogPage, renderCatalogPage } from '../../scripts/catalog-table.ts';
import { libraryPage, renderLibraryPage } from '../../scripts/library-table.ts';
import { renderShippedFields, shippedFieldsFile } from '../../scripts/shipped-fields.ts';
import { settingsPage, withSettings } from '../../scripts/settings-table.ts';
import { root, until } from '../support/program.ts';
import { blocksOf, startBlock, startService, runBlocks, type RunningService } from '../support/typed-commands.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

test('the settings page matches the settings (npm run generate writes it)', () => {
  const page = readFileSync(settingsPage, 'utf8');
  expect(withSettings(page)).toBe(page);
});

test('the page of the library matches its files (npm run generate writes it)', () => {
  expect(renderLibraryPage()).toBe(readFileSync(libraryPage, 'utf8'));
});

test('the fields of shipped content match the library and the mappings (npm run generate writes them)', () => {
  expect(renderShippedFields()).toBe(readFileSync(shippedFieldsFile, 'utf8'));
});

test('the page of the catalog matches its entries (npm run generate writes it)', () => {
  expect(renderCatalogPage()).toBe(readFileSync(catalogPage, 'utf8'));
});

test('the page of the quality matches its notes (npm run generate writes it)', () => {
  expect(renderQualityPage()).toBe(readFileSync(qualityPage, 'utf8'));
});

test('the README refers only to existing files and scripts', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [, name = ''] of readme.matchAll(/npm run (?:--silent )?([\w:-]+)/g)) expect(scripts).toHaveProperty(name);
  for (const [, path = ''] of readme.matchAll(/\]\((?!http|#)([^)#]+)/g))
    expect(() => readFileSync(join(root, path)), path).not.toThrow(/ENOENT/);
});

test.each(['docs/architecture.md', 'CONTRIBUTING.md'])('%s names only source files that exist', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const named = [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, file = '']) => file);
  const files = globSync('**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules', 'dist'] });
  // The types of the API are generated.
  const missing = named.filter(
    (file) => !file.endsWith('.d.ts') && !files.some((one) => `/${one}`.endsWith(`/${file}`)),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

test('the tree in the README lists every room', () => {
  const lines = /```\nsrc\/\n([^`]+)```/.exec(readme)?.[1]?.split('\n') ?? [];
  const listed: string[] = [];
  let half = '';
  for (const line of lines) {
    const [, indent = '', name = ''] = /^( +)([\w-]+)\/( |$)/.exec(line) ?? [];
    if (indent.length === 2) half = name;
    if (indent.length === 4) listed.push(`${half}/${name}`);
  }
  const rooms = ['platform', 'detection', 'feed', 'agents'].flatMap((folder) =>
    readdirSync(join(root, 'src', folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${folder}/${name}`),
  );
  expect(listed.toSorted()).toEqual(rooms.toSorted());
});

type Json = ReturnType<typeof JSON.parse>;

/** Splits concatenated JSON responses, because curl prints them without a line break. */
const jsonValues = (text: string): Json[] =>
  text
    .trim()
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the commands of the README run in order', () => {
  const marked = (mark: string) => blocksOf('README.md').filter((block) => block.mark === mark);
  const script = marked('run');
  let service: RunningService;
  let answers: Json[][] = [];

  beforeAll(async () => {
    service = await startService(startBlock('README.md', 'run: start'), /listens on/);
    answers = (await runBlocks(service, script)).map(jsonValues);
  });
  afterAll(() => service.stop());

  test('every response is a success', () => {
    expect(script.length).toBeGreaterThan(7);
    const flat = answers.flat();
    expect(flat.length).toBeGreaterThanOrEqual(
      script
        .map(({ shell }) => shell)
        .join('')
        .split('curl ').length - 1,
    );
    for (const answer of flat) expect(answer).not.toHaveProperty('requestId');
  });

  test('the detection goes through its life cycle', () => {
    const [[ready], [created], [list], [updated], [deleted, restored], [dismissed]] = answers as Json[][] &
      [Json[], Json[], Json[], Json[], Json[], Json[]];
    expect(ready.status).toBe('ok');
    expect(created).toMatchObject({ agentType: 'detection', cronSchedule: '0 * * * *', enabled: true });
    expect(list).toEqual({ detections: [created] });
    expect(updated).toMatchObject({
      id: created.id,
      tags: ['attack.t1078', 'identity'],
      cronSchedule: '15 * * * *',
      name: created.name,
    });
    expect(deleted.deletedAt).not.toBeNull();
    expect(restored).toMatchObject({ id: created.id, deletedAt: null, enabled: true });
    expect(dismissed).toEqual({ suggestions: [] });
  });

  test('the feed is empty', () => {
    const [items, stats] = answers[6]!;
    expect(items).toMatchObject({ items: [], total: 0, page: 1, perPage: 5, hasNext: false });
    expect(stats).toMatchObject({ totalItems: 0, severityBreakdown: { critical: 0 } });
  });

  test('the requested run finds the logs that were sent', async () => {
    const [receipt, run, runs, hits] = answers[7]!;
    expect(receipt).toMatchObject({ accepted: 1, rejected: [] });
    expect(runs.runs.map(({ id }: { id: string }) => id)).toContain(run.runId);
    expect(hits).toHaveProperty('hits');
    const get = async (path: string): Promise<Json> =>
      (
        await fetch(`http://127.0.0.1:${service.port}${path}`, {
          headers: { authorization: 'Bearer choose-a-long-random-key' },
        })
      ).json();
    // The README waits three seconds, which may be too short on a busy machine.
    const finished = await until(
      async () => {
        const found = await get(`/api/runs/${run.runId}`);
        return found.status === 'completed' || found.status === 'failed' ? found : undefined;
      },
      () => 'the run does not end',
    );
    expect(finished).toMatchObject({ status: 'completed', rowsTotal: 1, triggered: true, hitCount: 1, failure: null });
    const [hit] = (await get('/api/hits')).hits;
    expect(hit).toMatchObject({
      entity: 'ada',
      status: 'open',
      evidence: expect.arrayContaining([expect.objectContaining({ field: 'user', value: 'ada' })]),
    });
  });
});
