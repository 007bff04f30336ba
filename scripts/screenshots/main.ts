import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { launchBrowser } from '../../test/support/browser/launch-browser.ts';
import { documented, shots, type Ids, type Shot } from './pages.ts';
import { parseOptions } from '../../test/support/parse-options.ts';
import { withService } from './with-service.ts';

const usage = `Takes screenshots of every page of the console, filled with the demo's data and empty, in light and dark,
at 1,440 and 390 pixels, into screenshots/. With page names it takes only those.

Usage: npm run screenshots -- [OPTION…] [PAGE…]
  --width PIXELS   Another width of the window. Can be repeated.
  --theme THEME    Only light or dark.
  --state STATE    Only filled or empty.
  --docs           Take only the images in docs/images/ and renew them. Accepts none of the other options and no pages.`;

const { values, positionals } = parseOptions(
  {
    options: {
      docs: { type: 'boolean' },
      width: { type: 'string', multiple: true, default: ['1440', '390'] },
      theme: { type: 'string', multiple: true, default: ['light', 'dark'] },
      state: { type: 'string', multiple: true, default: ['filled', 'empty'] },
    },
    allowPositionals: true,
  },
  usage,
);
const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'screenshots');
const images = join(root, 'docs/images');
const documentedWidth = '1440';
const sizes = (values.docs ? [documentedWidth] : values.width).map(toSize);
const themes = pick('theme', values.theme, ['light', 'dark']);
const states = values.docs ? ['filled'] : pick('state', values.state, ['filled', 'empty']);

/** Returns a window of a usual shape: upright up to 1,023 pixels, a screen beyond. */
function toSize(text: string): { width: number; height: number } {
  const width = Number(text);
  if (!Number.isInteger(width) || width < 320 || width > 3840)
    throw new Error(`--width ${text}: must be a whole number from 320 to 3840.`);
  return { width, height: width < 600 ? 844 : width < 1024 ? 1024 : Math.round(width * 0.625) };
}

function pick<Name extends string>(option: string, chosen: string[], names: readonly Name[]): Name[] {
  const unknown = chosen.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--${option} ${unknown}: must be ${names.join(' or ')}.`);
  return names.filter((name) => chosen.includes(name));
}

type SignedIn = { origin: string; options: BrowserContextOptions };

async function signIn(browser: Browser, link: string): Promise<SignedIn> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
  const { origin } = new URL(link);
  const options = { storageState: await context.storageState() };
  await context.close();
  return { origin, options };
}

/** Finds records that show each page at its best: a run and a detection with hits, and an item with indicators. */
async function findIds(read: <T>(path: string) => Promise<T>): Promise<Ids> {
  const agent = await waitForSuggestions(read);
  const { hits } = await read<{ hits: { id: string; detectionId: string }[] }>('/api/hits?severity=high');
  const detection = hits[0]!.detectionId;
  const { runs } = await read<{ runs: { id: string; hitCount: number }[] }>(
    `/api/detections/${detection}/runs?limit=100`,
  );
  const { items } = await read<{ items: { id: string }[] }>('/items?severity=high');
  return { hit: hits[0]!.id, detection, run: runs.find(({ hitCount }) => hitCount > 0)!.id, item: items[0]!.id, agent };
}

/** The demo's agent makes its suggestions in the first minutes. Returns its ID. */
async function waitForSuggestions(read: <T>(path: string) => Promise<T>): Promise<string> {
  const { agents } = await read<{ agents: { id: string; builtInAgentType: string }[] }>('/api/agents?builtIn=true');
  const { id } = agents.find(({ builtInAgentType }) => builtInAgentType === 'threat-research')!;
  for (let tries = 0; tries < 300; tries += 1) {
    const { runs } = await read<{ runs: { status: string }[] }>(`/api/agents/${id}/runs`);
    if (runs.some(({ status }) => status === 'completed')) return id;
    await sleep(1_000);
  }
  throw new Error('The demo made no suggestions within five minutes.');
}

/** Waits until the page has loaded: no skeletons are left and no animation runs. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.waitForTimeout(500);
  await page.waitForSelector('[data-loading]', { state: 'detached', timeout: 20_000 });
  await page.waitForTimeout(300);
}

async function shoot(
  browser: Browser,
  state: string,
  signedIn: SignedIn,
  list: { shot: Shot; path: string }[],
): Promise<void> {
  for (const theme of themes)
    for (const viewport of sizes) {
      const taken = list.filter(({ shot }) => !values.docs || isDocumented(shot, theme));
      const context = await browser.newContext({ ...signedIn.options, viewport, colorScheme: theme });
      for (const { shot, path } of taken) {
        const page = await context.newPage();
        await page.goto(`${signedIn.origin}/console${path}`);
        await settle(page);
        await shot.act?.(page);
        await settle(page);
        await page.screenshot({ path: join(folder, `${shot.name}-${state}-${theme}-${viewport.width}.png`) });
        await page.close();
      }
      await context.close();
      console.error(`${state}, ${theme}, ${viewport.width} pixels: ${taken.length} pages`);
    }
}

/** Encodes a PNG anew, a fifth smaller than the browser does. Without filters, even areas compress best. */
const compress = (png: Buffer): Buffer =>
  PNG.sync.write(PNG.sync.read(png), { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 });

const isDocumented = ({ name }: Shot, theme: 'light' | 'dark'): boolean =>
  documented.some((image) => image.name === name && image.themes.includes(theme));

const chosen = shots.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length === 0) throw new Error(`No page has this name. Pages: ${shots.map(({ name }) => name).join(', ')}.`);
if (values.docs && process.argv.length > 3) throw new Error('--docs accepts no other option and no page.');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
try {
  if (states.includes('filled'))
    await withService('demo', async (service) => {
      const ids = await findIds(service.read);
      const list = chosen.map((shot) => ({ shot, path: shot.path(ids) }));
      await shoot(browser, 'filled', await signIn(browser, service.signInLink), list);
    });
  if (states.includes('empty'))
    await withService('all', async (service) => {
      const list = chosen.flatMap((shot) => (shot.emptyPath === undefined ? [] : [{ shot, path: shot.emptyPath }]));
      await shoot(browser, 'empty', await signIn(browser, service.signInLink), list);
    });
} finally {
  await browser.close();
}
if (values.docs) {
  mkdirSync(images, { recursive: true });
  for (const { name, themes } of documented)
    for (const theme of themes)
      writeFileSync(
        join(images, `${name}-${theme}.png`),
        compress(readFileSync(join(folder, `${name}-filled-${theme}-${documentedWidth}.png`))),
      );
}
