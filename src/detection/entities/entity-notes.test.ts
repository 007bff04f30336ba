import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';

const { newOrg } = await startApp();

test('stores, replaces, lists and removes notes in any case', async () => {
  const org = await newOrg();
  const put = (notes: object[]) => org.call('PUT', '/api/entity-notes', { notes });
  expect(
    (
      await put([
        { entity: 'FS-02', entityType: 'host', note: 'Backup server.' },
        { entity: 'bob', note: 'Admin.' },
      ])
    ).body,
  ).toEqual({ stored: 2, removed: 0, total: 2 });
  expect((await put([{ entity: 'fs-02', entityType: 'host', note: 'File server.' }])).body).toMatchObject({ total: 2 });
  const { body } = await org.call('GET', '/api/entity-notes?entity=FS-02');
  expect(body.notes).toMatchObject([{ entity: 'fs-02', entityType: 'host', note: 'File server.' }]);
  expect((await put([{ entity: 'BOB', note: null }])).body).toEqual({ stored: 0, removed: 1, total: 1 });
  const first = await org.call('GET', '/api/entity-notes?limit=1');
  expect(first.body).toMatchObject({ notes: [{ entity: 'fs-02' }], nextCursor: null });
  const { body: audit } = await org.call('GET', '/api/audit');
  expect(JSON.stringify(audit)).toContain('entity_notes.changed');
  expect(JSON.stringify(audit)).not.toContain('File server');
});

test.each([
  [{ notes: [] }, '/notes'],
  [{ notes: [{ entity: '', note: 'x' }] }, '/notes/0/entity'],
  [{ notes: [{ entity: 'a', note: 'x'.repeat(2_001) }] }, '/notes/0/note'],
  [
    {
      notes: [
        { entity: 'a', note: 'x' },
        { entity: 'A', note: 'y' },
      ],
    },
    '/notes/1/entity',
  ],
])('rejects invalid notes %#', async (body, pointer) => {
  const org = await newOrg();
  expect(await org.call('PUT', '/api/entity-notes', body)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer }] },
  });
});

test('shows no notes of another organization', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  await org.call('PUT', '/api/entity-notes', { notes: [{ entity: 'bob', note: 'Admin.' }] });
  expect((await other.call('GET', '/api/entity-notes')).body.notes).toEqual([]);
});
