import { afterAll, expect, test } from 'vitest';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { callOk, postSuggestion } from '../../support/detection/detection-factory.ts';

const started = await startConsole();
const browser = await openBrowser();
const org = await started.newOrg();
const report = await callOk(org, 'POST', '/api/feed/items', {
  title: `A headline for search engines, ${'unbroken'.repeat(20)}`,
  publisher: 'Computer emergency response team of the northern lakes and the eastern marshes',
  text: `APT29 uses WellMess in attacks on banks.\n\nIndicators\n${Array.from({ length: 30 }, (_, index) => `${'a'.repeat(60)}-${index}[.]bad-host[.]top`).join('\n')}`,
});
const source = await callOk(org, 'POST', '/api/feed/sources', {
  kind: 'rss',
  name: 'A blog with a name that is far too long for a narrow window',
  url: `https://blog.invalid/${'path/'.repeat(40)}feed.xml`,
});
await postSuggestion(org, { name: 'A suggested detection with a name that is far too long for a narrow window' });
const { page, context, complaints } = await newPage(browser, { viewport: { width: 320, height: 640 } });
afterAll(() => context.close());
await signIn(page, started.origin, org, '/feed');

/** Elements that scroll sideways. A row of tabs may. */
const findOverflow = `[...document.querySelectorAll('main, main :not(nav)')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
  .map((one) => one.outerHTML.slice(0, 120))`;

test.each([
  ['the feed', '/feed', 'A headline'],
  ['an open item', `/feed?item=${report.id}`, 'Filter indicators'],
  ['the page of an item', `/feed/${report.id}`, 'Filter indicators'],
  ['the entities', '/entities', 'WellMess'],
  ['an entity', '/entities?kind=actor&name=APT29', 'Uses malware'],
  ['looked-up values', '/indicators?values=evil-bank.top+google.com', 'Unknown'],
  ['a value', '/indicators?values=evil-bank.top&value=evil-bank.top', 'Sightings in your logs'],
  ['the sources', '/sources', 'Not pulled yet'],
  ['a source', `/sources?source=${source.id}`, 'Visible to'],
  ['the catalog', '/sources?source=new', 'Known Exploited Vulnerabilities'],
  ['a new source', '/sources?source=own', 'Address'],
  ['the suggestions', '/suggestions', 'A suggested detection'],
  ['the relevance profile', '/settings/relevance', 'Keywords'],
])('fits into a window of 320 pixels, which is 1,280 pixels at 400 percent: %s', async (_name, path, text) => {
  await page.goto(`${started.origin}/console${path}`);
  await page.locator(`text=${text} >> visible=true`).or(page.getByPlaceholder(text)).first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate<string[]>(findOverflow)).toEqual([]);
  expect(complaints.splice(0)).toEqual([]);
});
