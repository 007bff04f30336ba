import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { selectIn } from '../../support/select-rows.ts';
import { fileSource, kevCatalogue, kevRows } from '../../support/feed/kev-source.ts';
import { startServer } from '../../support/feed/source-server.ts';

const report = `Acme Bank hit by Emotet
On Monday the actor TA542 sent spearphishing emails with malicious Word attachments to staff of the bank. Once opened, the document
ran PowerShell to download Emotet from a remote server.

Indicators of compromise
evil-bank[.]top
hxxps://evil-bank[.]top/gate.php
`;
const hostile = ['<img src=x onerror=alert(1)>', '<script>alert(2)</script>', '"><svg onload=alert(3)>'];

const started = await startConsole({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const { openPage } = await startPages(started);

async function openFeed(path = '/feed', texts: readonly string[] = [report]) {
  const org = await started.newOrg();
  for (const text of texts) await callOk(org, 'POST', '/api/feed/items', { text, publisher: 'Acme CERT' });
  const page = await openPage(org, path);
  await page.getByRole('option').first().waitFor();
  return { org, page };
}

test('filters in the address and pages through the feed to its end', async () => {
  const { org, page } = await openFeed();
  const catalog = await fileSource(started, org, { kind: 'kev', visibility: 'private' });
  await catalog.pull(kevCatalogue(1, kevRows(120)));
  await page.reload();
  await page.getByText('121 items').waitFor();
  const last = page.getByRole('option', { name: 'Acme Bank hit by Emotet' });
  expect(await last.count()).toBe(0);
  const list = page.getByRole('listbox');
  await expect
    .poll(async () => {
      await list.evaluate((element) => element.parentElement?.scrollTo(0, element.scrollHeight));
      return last.count();
    })
    .toBe(1);

  await page.keyboard.press('/');
  await page.keyboard.type('emotet');
  await page.getByText('1 item', { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get('q')).toBe('emotet');
  await page.getByRole('button', { name: 'Severity' }).click();
  await page.getByRole('menuitemradio', { name: 'Critical' }).click();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByText('121 items').waitFor();
  expect(new URL(page.url()).search).toBe('');
});

test('shows the top of a list after its filter changed, and the former place after Back', async () => {
  const { org, page } = await openFeed();
  const catalog = await fileSource(started, org, { kind: 'kev', visibility: 'private' });
  await catalog.pull(kevCatalogue(1, kevRows(90)));
  await page.reload();
  await page.getByText('91 items').waitFor();
  const list = page.getByRole('listbox');
  const readTop = () => list.evaluate((element) => element.parentElement!.scrollTop);
  await list.hover();
  await page.mouse.wheel(0, 700);
  await expect.poll(readTop).toBe(700);
  await page.getByRole('searchbox').fill('Gadget');
  await page.getByText('90 items').waitFor();
  expect(await readTop()).toBe(0);
  // Opening an item keeps the place of its list.
  await page.mouse.wheel(0, 300);
  await expect.poll(readTop).toBe(300);
  await page.getByRole('option').nth(8).click();
  await page.getByRole('complementary').waitFor();
  expect(await readTop()).toBe(300);
  await page.goBack();
  await page.goBack();
  await page.getByText('91 items').waitFor();
  await expect.poll(readTop).toBe(700);
});

test('shows what a misspelled search was corrected to, and counts the matches of a search', async () => {
  const { page } = await openFeed();
  await page.getByRole('searchbox').fill('emotett');
  await page.getByText('No item matches `emotett`. These items match `emotet`.').waitFor();
  await page.getByRole('button', { name: 'Status' }).click();
  await page.getByRole('menuitemradio', { name: /^Active ?[1-9]/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox').fill('spearphishing');
  await page.getByText('No item matches').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Status' }).click();
  await page.getByRole('menuitemradio', { name: /^Active ?1$/ }).waitFor();
});

test('highlights in the list where items match a search, and shows markup as text', async () => {
  const filler = 'Nothing else of note happened at the bank during this long week. '.repeat(20);
  const { page } = await openFeed('/feed', [
    `<b>Stealer</b> at Acme\n${filler}It ran two panels <img src=x onerror=alert(1)> on a host. ${filler}`,
    `A calm week\n${filler}`,
  ]);
  const row = page.getByRole('option', { name: '<b>Stealer</b> at Acme' });
  const markOf = (text: string) => row.locator('mark').getByText(text, { exact: true });
  await page.getByRole('searchbox').fill('stealers');
  await markOf('Stealer').first().waitFor();
  await page.getByRole('searchbox').fill('panel');
  await markOf('panels').waitFor();
  await row.getByText('It ran two panels <img src=x onerror=alert(1)> on a host.').waitFor();
  expect(await page.getByRole('listbox').locator('b, img').count()).toBe(0);
  await page.getByRole('searchbox').fill('');
  await row.waitFor();
  await expect.poll(() => page.locator('mark').count()).toBe(0);
});

test('offers the newest first for a search, and removes the choice with the search', async () => {
  const { page } = await openFeed('/feed?malware=emotet');
  await page.getByRole('button', { name: 'Remove the filter Malware' }).waitFor();
  expect(await page.getByRole('button', { name: 'Order', exact: true }).count()).toBe(0);
  await page.keyboard.press('/');
  await page.keyboard.type('emotet');
  await page.getByRole('button', { name: 'Order', exact: true }).click();
  await page.getByRole('menuitemradio', { name: 'Newest first' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('searchOrder')).toBe('newest');
  await page.getByRole('searchbox').fill('');
  await expect.poll(() => new URL(page.url()).search).toBe('?malware=emotet');
});

test('keeps what is typed before the command palette has loaded', async () => {
  const { page } = await openFeed();
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/command-palette-*.js', async (route) => {
    await released;
    await route.continue();
  });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('emo');
  release();
  const palette = page.getByRole('dialog').getByRole('combobox');
  await palette.waitFor();
  await page.keyboard.type('tet');
  await expect.poll(() => palette.inputValue()).toBe('emotet');
});

test('opens an item by keyboard and highlights where its text mentions an indicator', async () => {
  const { page } = await openFeed();
  await page.keyboard.press('j');
  await page.getByRole('complementary').getByRole('heading', { name: 'Acme Bank hit by Emotet' }).waitFor();
  const address = page.url();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/feed\/[0-9a-f-]{36}$/);
  await page.getByRole('button', { name: 'Show where the text mentions evil-bank[.]top', exact: true }).click();
  await expect.poll(() => page.locator('mark').allTextContents()).toEqual(['evil-bank[.]top', 'evil-bank[.]top']);
  await page.goBack();
  expect(page.url()).toBe(address);
});

test('overrides the relevance of an item with a key and a reason, and undoes it', async () => {
  const { org, page } = await openFeed();
  const readVerdict = async () => {
    const { reasons, verdict } = (await callOk(org, 'GET', '/items')).items[0].tenantOverrides?.relevance ?? {};
    return verdict && [verdict, reasons[0]?.matched];
  };
  await page.keyboard.press('j');
  await page.keyboard.press('2');
  await page.getByLabel('Why? (optional)').fill('we have no such mail server');
  await page.keyboard.press('Enter');
  await expect.poll(readVerdict).toEqual(['irrelevant', 'we have no such mail server']);
  await page.getByRole('complementary').getByText('we have no such mail server').waitFor();
  await page.keyboard.press('u');
  await expect.poll(readVerdict).toBeUndefined();
});

test('shows hostile titles and texts as text', async () => {
  const { page } = await openFeed(
    '/feed',
    hostile.map((text) => `${text}\n${text} was seen at evil-bank[.]top.`),
  );
  let dialogs = 0;
  page.on('dialog', (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  for (const _ of hostile) {
    await page.keyboard.press('j');
    await page.getByRole('complementary').getByText('was seen at').last().waitFor();
  }
  await page.keyboard.press('Enter');
  await page.getByText('was seen at').last().waitFor();
  expect(await page.locator('img, main script').count()).toBe(0);
  expect(dialogs).toBe(0);
});

test('looks up pasted values and shows the items that contain one', async () => {
  const { page } = await openFeed();
  await page.getByRole('link', { name: 'Indicators', exact: true }).click();
  await page.getByLabel(/^Paste addresses/).fill('evil-bank[.]top, unseen.example');
  await page.getByRole('button', { name: 'Look up' }).click();
  await page.getByRole('row', { name: /unseen\.example .*Unknown 0/ }).waitFor();
  await page.getByRole('gridcell', { name: 'evil-bank[.]top' }).click();
  const panel = page.getByRole('complementary');
  await panel.getByRole('heading', { name: 'evil-bank.top' }).waitFor();
  await panel.getByRole('link', { name: /^Acme Bank hit by Emotet/ }).click();
  await page.waitForURL(/\/console\/feed\/[0-9a-f-]{36}$/);
});

test('adds a source of the catalog, pulls a source and shows why an address is refused', async () => {
  const { org, page } = await openFeed();
  const catalog = await fileSource(started, org, { kind: 'kev', name: 'Our catalog', visibility: 'private' });
  await catalog.pull(kevCatalogue(1, kevRows(2)));
  await page.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('gridcell', { name: 'Our catalog' }).click();
  await page.getByRole('button', { name: 'Pull now' }).click();
  await page.getByText('0 added, 0 corrected, 0 retracted, 2 unchanged').first().waitFor();

  await page.getByRole('button', { name: 'Add source' }).first().click();
  await page.getByRole('searchbox', { name: 'Find a source' }).fill('no such source');
  await page.getByText('No source of the catalog matches.').waitFor();
  await page.getByRole('button', { name: 'Your own' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Inside');
  const address = page.getByRole('textbox', { name: 'Address' });
  await address.fill('ftp://feeds.example/feed.xml');
  await address.press('Enter');
  await page.getByText('`url` must begin with').first().waitFor();
  await page.getByRole('button', { name: 'Catalog' }).click();
  await page.getByRole('button', { name: /^Add: Known Exploited/ }).click();
  await page
    .getByRole('complementary')
    .getByRole('heading', { name: /Known Exploited/ })
    .waitFor();
});

test('shows a threatened technique that nothing watches in the matrix and the table', async () => {
  const { page } = await openFeed();
  await page.getByRole('link', { name: 'Coverage', exact: true }).click();
  await page.getByRole('button', { name: 'T1566 Phishing: coverage 0 %, 1 relevant item' }).click();
  await page
    .getByRole('complementary')
    .getByRole('link', { name: /Acme Bank hit by Emotet/ })
    .waitFor();
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByRole('row', { name: /^T1566 Phishing Initial Access 0 0 1 0$/ }).waitFor();
  expect(new URL(page.url()).search).toBe('?technique=T1566&view=table');
  await page.goto(`${started.origin}/console/coverage?q=T1490`);
  await page.getByRole('button', { name: /^T1490/ }).waitFor();
  expect(await page.getByRole('button', { name: /^T1566/ }).count()).toBe(0);
});

test('tests a source before it is added, adds it and edits it', async () => {
  const org = await started.newOrg();
  const server = await startServer();
  try {
    server.document('/list', 'bad-cdn.top\n198.51.101.77\n');
    const page = await openPage(org, '/sources?source=own');
    await page.getByLabel('Kind', { exact: true }).selectOption('misp');
    await page.getByText('More settings').click();
    const sightings = page.getByLabel('Report sightings to');
    await sightings.fill('https://other.example');
    await page.getByLabel('Kind', { exact: true }).selectOption('csv');
    expect(await sightings.count()).toBe(0);
    await page.getByLabel('Name', { exact: true }).fill('Block list');
    await page.getByLabel('Address', { exact: true }).fill(`${server.base}/missing`);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('responded with status 404').waitFor();
    await page.getByLabel('Address', { exact: true }).fill(`${server.base}/list`);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('1 item, 2 indicators').waitFor();
    expect((await callOk(org, 'GET', '/api/feed/sources')).sources).toEqual([]);
    await page.getByRole('button', { name: 'Add source' }).last().click();
    await page.getByRole('heading', { name: 'Block list' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Only with').fill('cdn, bank');
    await page.getByLabel('Sign-in').selectOption('bearer');
    await page.getByLabel('Token').fill('secret-1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The source is saved.').waitFor();
    const [source] = (await callOk(org, 'GET', '/api/feed/sources')).sources;
    expect(source).toMatchObject({ include: ['cdn', 'bank'], hasAuth: true, schedule: '0 * * * *', sightings: null });
    const body = { kind: 'misp', name: 'MISP', url: server.base, sightings: { url: server.base } };
    const misp = await callOk(org, 'POST', '/api/feed/sources', body);
    await selectIn(
      started.deps.db,
      org.id,
    )`update feed_sources set sightings_error = 'status 503' where id = ${misp.id}`;
    await page.goto(`${started.origin}/console/sources?source=${misp.id}`);
    await page.getByText('status 503').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await sightings.fill('https://other.example');
    await page.getByLabel('Strictest marking to report').selectOption('AMBER');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('`sightings.url` must be at the host of `url`.').waitFor();
    await sightings.fill(`${server.base}/misp`);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The source is saved.').waitFor();
    await page.getByText(`${server.base}/misp (TLP:AMBER)`).waitFor();
  } finally {
    await server.stop();
  }
});
