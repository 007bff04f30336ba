import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { scoreNextBatch } from './score-items.ts';

const { deps, newOrg } = await startApp();

async function scoreAll(): Promise<void> {
  for (let step = 0; step < 100 && (await scoreNextBatch(deps)); step += 1);
}

const post = async (org: TestOrg, title: string, text: string): Promise<string> => {
  const answer = await org.call('POST', '/api/feed/items', { title, text });
  expect(answer.status).toBe(200);
  return answer.body.id;
};

const relevant = async (org: TestOrg): Promise<string[]> => {
  const { body } = await org.call('GET', '/items?relevancyMode=relevant');
  expect(body.total).toBe(body.items.length);
  return body.items.map(({ id }: { id: string }) => id);
};
const warnings = async (org: TestOrg): Promise<string[]> =>
  (await org.call('GET', '/items?relevancyMode=relevant')).body.validations.warnings.map(
    ({ code }: { code: string }) => code,
  );

test('scores items added before and after a profile, for its organization only', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  const first = await post(
    org,
    'Payments',
    'A skimmer was found on the payment pages of several Adyen merchants this week.',
  );
  await post(org, 'Weather', 'The storm closed roads and schools in the north for two days.');
  expect(await warnings(org)).toEqual(['no_profile']);
  await org.call('PUT', '/api/feed/profile', { keywords: ['Adyen'] });
  expect([await warnings(org), (await relevant(org)).length]).toEqual([['relevance_rebuilding'], 2]);
  await other.call('PUT', '/api/feed/profile', { keywords: ['Adyen'] });
  expect((await org.call('GET', '/api/feed/profile')).body.rebuilding).toBe(true);
  await scoreAll();
  expect((await org.call('GET', '/api/feed/profile')).body.rebuilding).toBe(false);
  expect([await warnings(org), await relevant(org)]).toEqual([[], [first]]);
  const later = await post(org, 'Again', 'Merchants of Adyen are told to rotate their keys after the theft.');
  await scoreAll();
  expect(await relevant(org)).toEqual([later, first]);
  expect(await relevant(other)).toEqual([]);
  expect((await org.call('GET', '/items')).body.total).toBe(3);
});

test('keeps the previous profile in force until a changed one is scored', async () => {
  const org = await newOrg();
  const bank = await post(org, 'Bank', 'A bank in Spain lost data of its customers to a ransomware gang.');
  const hospital = await post(org, 'Hospital', 'A hospital in Norway moved to paper after an attack on its systems.');
  await org.call('PUT', '/api/feed/profile', { sectors: ['bank'], regions: ['Spain'] });
  await scoreAll();
  expect(await relevant(org)).toEqual([bank]);
  const { asOf } = (await org.call('GET', '/items?relevancyMode=relevant')).body.outputs;
  await org.call('PUT', '/api/feed/profile', { sectors: ['hospital'], threshold: 0.4 });
  expect([await warnings(org), await relevant(org)]).toEqual([['relevance_rebuilding'], [bank]]);
  await scoreAll();
  expect(await relevant(org)).toEqual([hospital]);
  const then = await org.call('GET', `/items?relevancyMode=relevant&asOf=${asOf}`);
  expect(then.body.items.map(({ id }: { id: string }) => id)).toEqual([bank]);
  await org.call('PUT', '/api/feed/profile', {});
  await scoreAll();
  expect([await warnings(org), (await relevant(org)).length]).toEqual([['no_profile'], 2]);
});

test('notifies once about an item that becomes relevant, but not about a change of the profile', async () => {
  const org = await newOrg();
  await post(org, 'Before', 'Meters of Kamstrup were attacked in the spring of this year.');
  const settings = { kind: 'webhook', url: 'https://hooks.example.com/relevant', eventTypes: ['feed.item.relevant'] };
  const destination = await org.call('POST', '/api/destinations', { ...settings, name: 'relevant' });
  const picky = await org.call('POST', '/api/destinations', { ...settings, name: 'grave', minSeverity: 'critical' });
  await org.call('PUT', '/api/feed/profile', { keywords: ['Kamstrup'] });
  await scoreAll();
  const deliveries = async ({ body }: { body: { id: string } } = destination): Promise<string[]> =>
    (await org.call('GET', `/api/destinations/${body.id}/deliveries`)).body.deliveries.map(
      ({ eventType }: { eventType: string }) => eventType,
    );
  expect(await deliveries()).toEqual([]);
  await post(org, 'After', 'More meters of Kamstrup were attacked, this time in the autumn.');
  await post(org, 'Other', 'The storm closed roads and schools in the north for two days.');
  const taken = await post(org, 'Taken back', 'Yet more meters of Kamstrup were attacked, or so it was said.');
  await org.call('PUT', `/api/feed/items/${taken}/override`, { status: 'retracted' });
  await scoreAll();
  expect([(await deliveries()).length, await deliveries(picky)]).toEqual([1, []]);
  const grave = await post(org, 'Grave', 'And meters of Kamstrup again, in the middle of the winter.');
  await org.call('PUT', `/api/feed/items/${grave}/override`, { severity: 'critical' });
  await scoreAll();
  expect([(await deliveries()).length, (await deliveries(picky)).length]).toEqual([2, 1]);
});

test('matches items with requirements, with a reason for each list, and filters lists, stories, counts and exports by them', async () => {
  const org = await newOrg();
  const question = 'Ransomware against hospitals in the Nordics';
  const hospital = await post(
    org,
    'Clinics closed',
    'Ransomware of the group Akira encrypted the servers of hospitals in Sweden on Monday. The operators used Cobalt Strike, and stole data via 203.0.113.77.',
  );
  const bank = await post(org, 'Banks closed', 'Ransomware encrypted the servers of banks in Sweden on Monday.');
  const other = await post(org, 'Loader', 'The loader contacts evil-panel[.]top to exploit CVE-2026-1000.');
  const total = async (requirement: string) => {
    const { body } = await org.call('GET', `/items?requirement=${encodeURIComponent(requirement)}`);
    return {
      total: body.total,
      warnings: body.validations.warnings,
      ids: body.items.map((item: { id: string }) => item.id),
    };
  };
  expect(await total(question)).toMatchObject({ total: 0, warnings: [{ code: 'no_profile', param: 'requirement' }] });
  const requirements = [
    { name: question, keywords: ['ransomware'], sectors: ['hospitals'], regions: ['Nordics'] },
    { name: 'Tools', names: ['G1024', 'CobaltStrike'], keywords: ['servers'] },
    { name: 'Ours', values: ['EVIL-panel.top'] },
    { name: 'Our hole', values: ['cve-2026-1000'], products: [{ vendor: 'Citrix' }] },
  ];
  const put = await org.call('PUT', '/api/feed/profile', { requirements });
  expect([put.status, put.body.requirements.length]).toEqual([200, 4]);
  await scoreAll();
  expect([await total(question), await total('tools'), await total('ours'), await total('Our hole')]).toEqual(
    [[hospital], [hospital], [other], []].map((ids) => ({ total: ids.length, warnings: [], ids })),
  );
  expect(await relevant(org)).toEqual([other, hospital]);
  const { body: item } = await org.call('GET', `/items/${hospital}`);
  const { score, reasons } = item.tenantOverrides.relevance;
  const passages = item.provenance.supportingPassages;
  const quoted = reasons.map(({ evidenceRef = '' }) => passages[Number(/\d+/.exec(evidenceRef)?.[0])]?.text);
  expect(score).toBe(1);
  expect(reasons).toMatchObject([
    { kind: 'keyword', matched: 'ransomware', requirement: question },
    { kind: 'sector', matched: 'hospitals', requirement: question },
    { kind: 'region', matched: 'Sweden (Nordics)', requirement: question },
    { kind: 'name', matched: 'Akira (G1024)', requirement: 'Tools' },
    { kind: 'name', matched: 'Cobalt Strike (CobaltStrike)', requirement: 'Tools' },
    { kind: 'keyword', matched: 'servers', requirement: 'Tools' },
  ]);
  expect([quoted[1], quoted[4]]).toEqual([
    expect.stringContaining('hospitals'),
    expect.stringContaining('Cobalt Strike'),
  ]);
  const filter = `requirement=${encodeURIComponent(question)}`;
  expect((await org.call('GET', `/stats?${filter}`)).body.totalItems).toBe(1);
  expect((await org.call('GET', `/api/feed/stories?${filter}`)).body.stories).toHaveLength(1);
  expect(
    (await org.call('GET', `/api/feed/export/stix?${filter}`)).body.objects.some(
      ({ name }: { name: string }) => name === 'Clinics closed',
    ),
  ).toBe(true);
  const { entities } = (await org.call('GET', `/api/feed/entities?${filter}`)).body;
  expect(entities.map(({ name }: { name: string }) => name)).toEqual(['Akira', 'Cobalt Strike']);
  const facets = (await org.call('GET', `/api/feed/facets?${filter}&q=servers`)).body.severity;
  expect(Object.values<number>(facets).reduce((sum, count) => sum + count, 0)).toBe(1);
  await org.call('PUT', `/api/feed/items/${hospital}/override`, { relevance: { verdict: 'irrelevant' } });
  await org.call('PUT', `/api/feed/items/${bank}/override`, { relevance: { verdict: 'relevant' } });
  expect(await total(question)).toMatchObject({ ids: [] });
  expect((await org.call('GET', `/items?${filter}&severity=high`)).body.total).toBe(0);
});

test.each([
  [[{ name: 'Nothing' }], '/requirements/0'],
  [
    [
      { name: 'A', keywords: ['x'] },
      { name: 'a', keywords: ['y'] },
    ],
    '/requirements',
  ],
  [[{ name: 'A', techniques: ['T1'] }], '/requirements/0/techniques/0'],
])('rejects the requirements %j', async (requirements, pointer) => {
  const answer = await (await newOrg()).call('PUT', '/api/feed/profile', { requirements });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
});
