import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { fileSource } from '../../../../test/support/feed/kev-source.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { stixBundle } from '../../../../test/support/feed/stix-documents.ts';

const app = await startApp();
const [owner, other] = [await app.newOrg(), await app.newOrg()];

const listed = async (org: TestOrg, word: string): Promise<FeedItem[]> =>
  (await org.call('GET', '/items?perPage=100')).body.items.filter((item: FeedItem) =>
    JSON.stringify(item).includes(word),
  );
const stored = async (org: TestOrg, id: string) => (await org.call('GET', `/items/${id}`)).body;

/** Creates a shared source that delivered two reports and now lists only the second. */
async function twoReports(word: string) {
  const shared = await fileSource(app, owner, { kind: 'stix', visibility: 'shared', publisher: word });
  await shared.pull(stixBundle([`one.${word}.example`], { id: `report--${word}1` }));
  await shared.pull(stixBundle([`two.${word}.example`], { id: `report--${word}2` }));
  const put = (tlp: string | null) =>
    owner.call('PUT', `/api/feed/sources/${shared.source.id}`, { tlp, enabled: false });
  return { shared, put };
}

test('applies a stricter marking immediately to all items of a source, including those it no longer lists', async () => {
  const { shared, put } = await twoReports('amber');
  const before = await listed(owner, 'amber');
  expect(before).toMatchObject([{ source: { tlp: 'CLEAR' } }, { source: { tlp: 'CLEAR' } }]);
  expect((await put('AMBER')).status).toBe(200);
  for (const { id } of before)
    expect(await stored(owner, id)).toMatchObject({
      source: { tlp: 'AMBER' },
      version: 2,
      event: { status: 'active' },
      versions: [{ version: 2, cause: 'reanalysis', changed: ['tlp'] }, { version: 1 }],
    });
  // Reading the records again changes nothing.
  const again = await shared.pull(stixBundle(['two.amber.example'], { id: 'report--amber2' }));
  expect(again).toMatchObject({ added: 0, corrected: 0, unchanged: 1 });
  expect((await listed(owner, 'amber')).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  // A looser marking applies only to records that are read again.
  await put('GREEN');
  await shared.pull(stixBundle(['two.amber.example'], { id: 'report--amber2' }));
  const marks = (await listed(owner, 'amber')).map(({ source }) => source.tlp);
  expect(marks.toSorted()).toEqual(['AMBER', 'GREEN']);
});

test('moves every item to the owner when the marking becomes RED, including retracted items', async () => {
  const { shared, put } = await twoReports('red');
  const [item] = await listed(owner, 'one.red.example');
  await owner.call('POST', `/api/feed/items/${item!.id}/retract`, { reason: 'wrong' });
  expect(await listed(other, 'red.example')).toHaveLength(2);
  await put('RED');
  expect(await listed(other, 'red.example')).toEqual([]);
  expect(await stored(other, item!.id)).toMatchObject({ event: { title: 'Withdrawn', status: 'retracted' } });
  const moved = await listed(owner, 'one.red.example');
  expect(moved).toMatchObject([{ source: { tlp: 'RED' }, event: { status: 'retracted' } }]);
  expect(moved[0]!.id).not.toBe(item!.id);
  const restored = await owner.call('DELETE', `/api/feed/items/${moved[0]!.id}/retract`);
  expect(restored.body).toMatchObject({ id: moved[0]!.id, source: { tlp: 'RED' }, event: { status: 'active' } });
  const total = (await owner.call('GET', '/items')).body.total;
  expect((await owner.call('GET', '/stats')).body.totalItems).toBe(total);
  await shared.pull(stixBundle(['two.red.example'], { id: 'report--red2' }));
  expect((await owner.call('GET', '/items')).body.total).toBe(total);
  expect(await listed(other, 'red.example')).toEqual([]);
});
