import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dataDir } from '../../../test/support/data.ts';
import { startLogStore } from '../../../test/support/detection/log-store.ts';

const data = dataDir();
const store = await startLogStore();

test.skipIf(!data)('accepts and queries every event of the real CloudTrail files', async () => {
  const folder = join(data!, 'logs/cloudtrail');
  const org = await store.newOrg();
  let accepted = 0;
  for (const name of readdirSync(folder)) {
    const receipt = await store.send(org, 'cloudtrail', readFileSync(join(folder, name)));
    expect(receipt.rejected).toEqual([]);
    expect(receipt.undated).toBe(0);
    accepted += receipt.accepted;
  }
  expect(accepted).toBe(2900);
  const { rows } = await store.search(
    org,
    'SELECT count(*) AS n, count(DISTINCT eventName) AS names, count(DISTINCT _id) AS ids, min(_time) AS first FROM cloudtrail',
  );
  expect(rows).toEqual([{ n: 2900, names: 260, ids: 2900, first: '2023-07-10T11:42:18.000Z' }]);
  const keys = await store.search(
    org,
    `SELECT _id, _time, userIdentity.userName, requestParameters.userName AS target, sourceIPAddress FROM cloudtrail
     WHERE eventName = 'CreateAccessKey' AND errorCode IS NULL`,
  );
  expect(keys.total).toBeGreaterThan(0);
  expect(Object.keys(keys.rows[0]!)).toEqual(['_id', '_time', 'userName', 'target', 'sourceIPAddress']);
  const same = await store.search(
    org,
    `SELECT _id FROM cloudtrail WHERE eventName = 'CreateAccessKey' AND (_event->>'$.userIdentity.userName') = '${keys.rows[0]!['userName']}'`,
  );
  expect(same.total).toBeGreaterThan(0);
});

test.skipIf(!data)('accepts every event of the real Windows recordings with its own time', async () => {
  const org = await store.newOrg();
  let accepted = 0;
  for (const name of readdirSync(join(data!, 'logs/windows'))) {
    const body = readFileSync(join(data!, 'logs/windows', name, 'events.ndjson.gz'));
    const lines = gunzipSync(body).toString().split('\n').filter(Boolean).length;
    const receipt = await store.send(org, 'windows', body);
    expect(receipt).toMatchObject({ accepted: lines, rejectedTotal: 0, undated: 0 });
    accepted += receipt.accepted;
  }
  expect(accepted).toBe(25_168);
  const { rows } = await store.search(
    org,
    'SELECT EventID, count(*) AS n FROM windows GROUP BY ALL ORDER BY n DESC LIMIT 3',
  );
  expect(rows).toHaveLength(3);
  const exact = await store.search(
    org,
    "SELECT DISTINCT Keywords FROM windows WHERE Keywords = '-9214364837600034816'",
  );
  expect(exact.rows).toEqual([{ Keywords: '-9214364837600034816' }]);
});
