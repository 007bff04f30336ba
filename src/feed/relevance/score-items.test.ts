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
