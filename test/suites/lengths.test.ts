import { expect, test } from 'vitest';
import { openapiText } from '../../src/cli/service/openapi-command.ts';
import { adminEnv, adminHeadersFor } from '../support/admin-key.ts';
import { startApp } from '../support/harness.ts';

type Schema = { maxLength?: number; pattern?: string; format?: string; anyOf?: Schema[]; properties?: Record<string, Schema>; $ref?: string }; // prettier-ignore
type Operation = {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
type Method = 'GET' | 'POST' | 'PUT';
/** A request field that has a maximum length and no other constraint. */
type Field = { method: Method; path: string; place: 'query' | 'body'; name: string; max: number };

const { paths } = JSON.parse(await openapiText()) as { paths: Record<string, Record<string, Operation>> };

const maxOf = (schema: Schema): number | undefined =>
  [schema, ...(schema.anyOf ?? [])].find((one) => one.maxLength && !one.pattern && !one.format)?.maxLength;

const fields = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([verb, { parameters = [], requestBody }]) => {
    const method = verb.toUpperCase() as Method;
    const body = Object.entries(requestBody?.content['application/json']?.schema.properties ?? {});
    const query = parameters.filter((one) => one.in === 'query');
    return [
      ...query.map(({ name, schema }) => ({ method, path, place: 'query' as const, name, max: maxOf(schema) })),
      ...body.map(([name, schema]) => ({ method, path, place: 'body' as const, name, max: maxOf(schema) })),
    ].filter((one): one is Field => one.max !== undefined && one.max * 12 < 900_000);
  }),
);

const { newOrg } = await startApp({ env: adminEnv });
const org = await newOrg();

/** Returns whether the field rejects a text of `length` characters outside the Basic Multilingual Plane. */
async function isTooLong({ method, path, place, name }: Field, length: number): Promise<boolean> {
  const url = path.replace('{type}', 'user').replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
  const given = '😀'.repeat(length);
  const query = place === 'query' ? `?${name}=${encodeURIComponent(given)}` : '';
  const sent = place === 'body' ? { [name]: given } : undefined;
  const { body } = await org.call(method, url + query, sent, adminHeadersFor(path));
  const pointer = place === 'query' ? `query/${name}` : `/${name}`;
  const errors = (body.errors ?? []) as { pointer: string; code: string }[];
  return errors.some((error) => error.pointer === pointer && error.code === 'too_big');
}

test('finds fields with a maximum length in bodies and queries', () => {
  expect(fields.filter(({ place }) => place === 'body').length).toBeGreaterThan(30);
  expect(fields.filter(({ place }) => place === 'query').length).toBeGreaterThan(10);
});

test('counts every documented length in characters', async () => {
  const wrong: string[] = [];
  for (const field of fields) {
    const [fits, exceeds] = [await isTooLong(field, field.max), await isTooLong(field, field.max + 1)];
    if (fits || !exceeds) wrong.push(`${field.method} ${field.path} ${field.name}: ${fits} ${exceeds}`);
  }
  expect(wrong).toEqual([]);
});
