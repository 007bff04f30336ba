import { expect, test } from 'vitest';
import { generateKey } from './credentials.ts';
import { toBearerHeader } from './authenticate-request.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');
const shipper = { acceptsShipperAuth: true };

test('reads any key in the forms that shippers send', () => {
  for (let round = 0; round < 500; round += 1) {
    const { text: key } = generateKey();
    const headers = [
      `ApiKey ${key}`,
      `apikey ${encode(`id:${key}`)}`,
      `Basic ${encode(`user:${key}`)}`,
      `Splunk ${key}`,
    ];
    expect(headers.map((header) => toBearerHeader(header, shipper))).toEqual(headers.map(() => `Bearer ${key}`));
  }
});

test('leaves other schemes and routes as they are', () => {
  expect(toBearerHeader('Bearer key', shipper)).toBe('Bearer key');
  expect(toBearerHeader('ApiKey key', {})).toBe('ApiKey key');
  expect(toBearerHeader(`Basic ${encode('user:key')}`, { acceptsBasicAuth: true })).toBe('Bearer key');
  expect(toBearerHeader(undefined, shipper)).toBeUndefined();
});
