import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';

test.each([
  [{}, 'http://127.0.0.1:8080'],
  [{ HOST: 'localhost', PORT: '9000' }, 'http://localhost:9000'],
  [{ HOST: '::1' }, 'http://[::1]:8080'],
  [{ HOST: '0.0.0.0' }, null],
  [{ PORT: '0' }, null],
  [{ HOST: '0.0.0.0', TOCSIN_PUBLIC_URL: 'https://soc.example/tocsin/' }, 'https://soc.example/tocsin'],
])('the public address of %j is %s', (env, publicUrl) => {
  expect(loadConfig(env).publicUrl).toBe(publicUrl);
});

test.each(['soc.example', 'ftp://soc.example', 'https://soc.example/?a=1'])('rejects %s as public address', (url) => {
  expect(() => loadConfig({ TOCSIN_PUBLIC_URL: url })).toThrow('TOCSIN_PUBLIC_URL');
});
