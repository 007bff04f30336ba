import type { Page } from 'playwright-core';

/** The ids of the demo's records that pages are opened with. */
export type Ids = { hit: string; detection: string; run: string; item: string; agent: string };

export type Shot = {
  name: string;
  path: (ids: Ids) => string;
  /** Opens what the address cannot say. */
  act?: (page: Page) => Promise<void>;
  /** The address for an organization without data, of pages that are worth seeing without. */
  emptyPath?: string;
};

const unfilled = (path: string) => ({ path: () => path, emptyPath: path });

/** Every page of the console, with data of the demo. */
export const shots: Shot[] = [
  { name: 'sign-in', path: () => '/sign-in' },
  { name: 'overview', ...unfilled('/') },
  { name: 'hits', ...unfilled('/hits') },
  { name: 'hit', path: ({ hit }) => `/hits?hit=${hit}` },
  { name: 'hit-page', path: ({ hit }) => `/hits/${hit}` },
  { name: 'hunts', ...unfilled('/hunts') },
  { name: 'review', ...unfilled('/review') },
  { name: 'approvals', ...unfilled('/approvals') },
  { name: 'agents', ...unfilled('/agents') },
  { name: 'agent-new', ...unfilled('/agents/new') },
  { name: 'rule-sources', ...unfilled('/rule-sources') },
  { name: 'agent', path: ({ agent }) => `/agents/${agent}` },
  { name: 'agent-runs', path: ({ agent }) => `/agents/${agent}?tab=runs` },
  { name: 'detections', ...unfilled('/detections') },
  { name: 'detection-new', path: () => '/detections/new' },
  { name: 'detection', path: ({ detection }) => `/detections/${detection}` },
  {
    name: 'detection-definition',
    path: ({ detection }) => `/detections/${detection}?tab=definition`,
    act: async (page) => {
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText('would fire').first().waitFor();
    },
  },
  ...['prompts', 'revisions', 'tests', 'backtest', 'exceptions', 'runs'].map((tab) => ({
    name: `detection-${tab}`,
    path: ({ detection }: Ids) => `/detections/${detection}?tab=${tab}`,
  })),
  { name: 'run', path: ({ run }) => `/runs/${run}` },
  { name: 'run-steps', path: ({ run }) => `/runs/${run}?tab=steps` },
  { name: 'run-replay', path: ({ run }) => `/runs/${run}?tab=replay` },
  { name: 'logs', ...unfilled('/logs?range=7d') },
  { name: 'suggestions', ...unfilled('/suggestions') },
  {
    name: 'suggestion',
    path: () => '/suggestions',
    act: (page) => page.getByRole('option').first().click(),
  },
  { name: 'feed', ...unfilled('/feed') },
  { name: 'item', path: ({ item }) => `/feed/${item}` },
  { name: 'stories', path: ({ item }) => `/stories?story=${item}` },
  { name: 'entities', ...unfilled('/entities') },
  {
    name: 'entity',
    path: () => '/entities?type=actor',
    act: (page) => page.getByRole('row').nth(1).click(),
  },
  { name: 'indicators', ...unfilled('/indicators') },
  { name: 'sources', ...unfilled('/sources') },
  { name: 'source-new', path: () => '/sources?source=new' },
  { name: 'coverage', ...unfilled('/coverage') },
  ...[
    'organization',
    'people',
    'keys',
    'sessions',
    'connections',
    'models',
    'agents',
    'skills',
    'lists',
    'destinations',
    'sources',
    'relevance',
    'audit',
    'usage',
    'retention',
  ].map((section) => ({ name: `settings-${section}`, ...unfilled(`/settings/${section}`) })),
  { name: 'palette', path: () => '/hits', act: (page) => page.keyboard.press('Control+k') },
  { name: 'shortcuts', path: () => '/hits', act: (page) => page.keyboard.press('Shift+?') },
  { name: 'not-found', path: () => '/nowhere' },
];

/** The images of `docs/images/`, by page. */
export const documented: { name: string; themes: ('light' | 'dark')[] }[] = [
  { name: 'overview', themes: ['light', 'dark'] },
  { name: 'hit', themes: ['light', 'dark'] },
  { name: 'detection', themes: ['light'] },
  { name: 'detection-definition', themes: ['light'] },
  { name: 'run', themes: ['light'] },
  { name: 'logs', themes: ['light'] },
  { name: 'suggestion', themes: ['light'] },
  { name: 'item', themes: ['light'] },
  { name: 'coverage', themes: ['light', 'dark'] },
  { name: 'sources', themes: ['light'] },
  { name: 'settings-connections', themes: ['light'] },
];
