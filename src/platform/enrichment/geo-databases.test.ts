import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createMmdb, someMmdb } from '../../../test/support/platform/mmdb-file.ts';
import { getTestDir } from '../../../test/support/test-dir.ts';
import { findAddressFacts, hasGeoDatabases, openGeoDatabases } from './geo-databases.ts';

afterAll(() => openGeoDatabases({ dataDir: getTestDir(), paths: [] }, { warn: () => undefined }));

test('reads what databases of several vendors know of an address, and leaves out a broken file', () => {
  const dataDir = mkdtempSync(join(getTestDir(), 'geo-'));
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => void warnings.push(fields) };
  openGeoDatabases({ dataDir, paths: [] }, log);
  expect([hasGeoDatabases(), findAddressFacts('8.8.8.8')]).toEqual([false, undefined]);
  const folder = join(dataDir, 'enrichment');
  mkdirSync(folder);
  writeFileSync(join(folder, 'city.mmdb'), someMmdb());
  writeFileSync(
    join(folder, 'lite.mmdb'),
    createMmdb({
      '9.9.9.9': { asn: 'AS64501', as_name: 'Quad', country: 'US' },
      '32.1.13.184': { asn: '', country: 'US', lat: '', lng: '' },
    }),
  );
  writeFileSync(join(folder, 'broken.mmdb'), 'no database');
  writeFileSync(join(folder, 'notes.txt'), 'not read');
  openGeoDatabases({ dataDir, paths: [] }, log);
  expect(warnings).toEqual([expect.objectContaining({ file: join(folder, 'broken.mmdb') })]);
  expect(findAddressFacts('8.8.8.8')).toEqual({
    country: 'NO',
    city: 'Oslo',
    latitude: 59.9,
    longitude: 10.7,
    asn: 64500,
    organization: 'Nordnett',
  });
  // The first database counts where both know something.
  expect(findAddressFacts('9.9.9.9')).toMatchObject({
    country: 'SG',
    city: 'Singapore',
    asn: 64501,
    organization: 'Quad',
  });
  // Empty texts are no numbers, and 2001:db8:: begins with the bytes of 32.1.13.184.
  expect(findAddressFacts('32.1.13.184')).toEqual({ country: 'US' });
  for (const other of ['9.9.8.9', '2001:db8::1', 'example.com', '']) expect(findAddressFacts(other)).toBeUndefined();
  openGeoDatabases({ dataDir, paths: [join(folder, 'lite.mmdb')] }, log);
  expect(findAddressFacts('9.9.9.9')).toEqual({ country: 'US', asn: 64501, organization: 'Quad' });
});
