import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { reportSource } from '../../../test/support/feed/report-source.ts';

const app = await startApp();

/** Creates a destination for corrected and retracted items, and returns the titles that it received. */
async function listen(org: TestOrg, more: object = {}): Promise<() => Promise<string[]>> {
  const eventTypes = ['feed.item.corrected', 'feed.item.retracted'];
  const { body } = await org.call('POST', '/api/destinations', {
    kind: 'webhook',
    name: 'feed',
    url: 'https://hooks.example.com/feed',
    eventTypes,
    ...more,
  });
  return async () => {
    const { deliveries } = (await org.call('GET', `/api/destinations/${body.id}/deliveries`)).body;
    const found = deliveries.map(async ({ eventType, resourceId }: { eventType: string; resourceId: string }) => {
      const { event } = (await org.call('GET', `/items/${resourceId}`)).body;
      return `${eventType} ${event.title.slice(0, 8)}`;
    });
    return (await Promise.all<string>(found)).toSorted();
  };
}

test('emits no event for an item that the organization retracted, and applies its own severity to others', async () => {
  const [owner, one, two] = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
  const source = await reportSource(app, owner, { visibility: 'shared', tlp: 'CLEAR' });
  await source.write({ 1: {}, 2: {}, 3: {} });
  const say = async (number: number, body: object) => {
    const { itemId } = (await one.call('GET', `/api/indicators?value=r${number}.example`)).body.items[0];
    expect((await one.call('PUT', `/api/feed/items/${itemId}/override`, body)).status).toBe(200);
  };
  await say(1, { status: 'retracted' });
  await say(2, { severity: 'high' });
  const [told, toldOfGrave, others] = [
    await listen(one),
    await listen(one, { minSeverity: 'high' }),
    await listen(two),
  ];
  await source.write({ 1: { words: 'more' }, 2: { words: 'more' }, 3: { words: 'more' } });
  await source.write({ 1: { revoked: true }, 3: { revoked: true } });
  const corrected = [2, 3].map((number) => `feed.item.corrected Report ${number}`);
  expect(await told()).toEqual([...corrected, 'feed.item.retracted Report 3']);
  expect(await toldOfGrave()).toEqual(['feed.item.corrected Report 2']);
  expect(await others()).toEqual(
    ['corrected Report 1', ...corrected.map((text) => text.slice(10)), 'retracted Report 1', 'retracted Report 3'].map(
      (text) => `feed.item.${text}`,
    ),
  );
});
