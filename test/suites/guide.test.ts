import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/program.ts';
import {
  blocksOf,
  demoPages,
  expectPageRuns,
  startBlock,
  startService,
  type RunningService,
} from '../support/typed-commands.ts';

const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
/** In the order of the index, which is the reading order. */
const guides = [...index.matchAll(/^\| \[.*?\]\(((?:guide|operate)\/.*?)\)/gm)].map(([, path]) => `docs/${path}`);
const first = 'docs/guide/first-detection.md';
const isTyped = (page: string) => blocksOf(page).some(({ mark }) => mark === 'run');

test('the index lists every page', () => {
  const pages = ['docs/guide', 'docs/operate'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  expect(guides.toSorted()).toEqual(pages.toSorted());
});

const markdown = ['docs', 'deploy', '.github'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
);
const pages = [...markdown, ...readdirSync(root), 'packages/client/README.md'].filter((name) => name.endsWith('.md'));

test.each(pages)('the links in %s point to existing files and headings', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  for (const [, path = '', heading] of text.matchAll(/\]\((?!http)([^)#]*)(?:#([^)]+))?\)/g)) {
    const target = path === '' ? page : join(dirname(page), path);
    expect(existsSync(join(root, target)), path).toBe(true);
    if (heading) expect(headingsOf(target), `${path}#${heading}`).toContain(heading);
  }
});

describe('the commands of a page run in order', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(startBlock(first, 'run: start'), /listens on/);
  });
  afterAll(() => service.stop());

  const others = guides.filter((page) => isTyped(page) && page !== first && !demoPages.includes(page));
  // `tocsin doctor` fails once a page has added a connection to an example host.
  const callsDoctor = (page: string) =>
    blocksOf(page).some(({ mark, shell }) => mark === 'run' && / doctor\b/.test(shell));
  const [checking, remaining] = [others.filter(callsDoctor), others.filter((page) => !callsDoctor(page))];
  // The feed pages wait for background loops of the service.
  test.each([first, ...checking, ...remaining])('%s', (page) => expectPageRuns(service, page));
});

function headingsOf(page: string): string[] {
  const headings = readFileSync(join(root, page), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}
