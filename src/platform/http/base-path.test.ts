import { expect, test } from 'vitest';
import { toBasePath, withoutBasePath } from './base-path.ts';

test.each([
  [null, ''],
  ['https://soc.example', ''],
  ['https://soc.example/', ''],
  ['https://soc.example/tocsin', '/tocsin'],
  ['https://soc.example/security/tocsin/', '/security/tocsin'],
])('the path of %s is "%s"', (publicUrl, path) => {
  expect(toBasePath(publicUrl)).toBe(path);
});

test.each([
  ['/tocsin', '/'],
  ['/tocsin?a=1', '/?a=1'],
  ['/tocsin/items?a=/tocsin', '/items?a=/tocsin'],
  ['/tocsin/console/', '/console/'],
  ['/items', '/items'],
  ['/tocsinx/items', '/tocsinx/items'],
])('a request for %s reaches %s', (url, path) => {
  expect(withoutBasePath(url, '/tocsin')).toBe(path);
  expect(withoutBasePath(url, '')).toBe(url);
});
