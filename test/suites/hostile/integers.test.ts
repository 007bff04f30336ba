import { expect, test } from 'vitest';
import { openapiText } from '../../../src/cli/service/openapi-command.ts';
import { startApp } from '../../support/harness.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  maximum?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
};
type Operation = {
  parameters?: { name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
const document = JSON.parse(await openapiText()) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Returns the places of a request that accept an integer which an `integer` column of PostgreSQL cannot store. */
function listUnbounded(schema: Schema | undefined, place: string, seen: readonly string[] = []): string[] {
  if (!schema) return [];
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1)!;
    return seen.includes(name) ? [] : listUnbounded(document.components.schemas[name], place, [...seen, name]);
  }
  const isInteger = [schema.type].flat().includes('integer');
  const own = isInteger && !(schema.maximum !== undefined && schema.maximum <= 2_147_483_647) ? [place] : [];
  const nested = [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  const more = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
  return [
    ...own,
    ...[...nested, ...more].flatMap((one) => listUnbounded(one, place, seen)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => listUnbounded(one, `${place}.${name}`, seen)),
  ];
}

/** Stored as JSON or in a `bigint` column, times in milliseconds, counted as far as they go, or capped as TAXII 2.1 asks (section 3.4). */
const exceptions =
  /\.budgets\.tokensPer\w+$|(?:entity-notes|value-lists|skills)\S* body\.(?:notes\.)?expectedRevision$|\/quotas body\.(?:log(?:Events|Bytes)\w+|observationBytesPerDay)$|^get (?:\/api\/feed)?\/items \?page$|^get \/taxii2\/\S+ \?limit$/;

test('every integer of a request fits into the database', () => {
  const places = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]) => [
      ...parameters.flatMap(({ name, schema }) => listUnbounded(schema, `${method} ${path} ?${name}`)),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        listUnbounded(schema, `${method} ${path} body`),
      ),
    ]),
  );
  expect(places.filter((place) => !exceptions.test(place))).toEqual([]);
});

const { newOrg } = await startApp();

test.each([2 ** 31, 2 ** 32, 2 ** 53 - 1, 1e18, 1e300])(
  'no request fails inside the service for the number %d',
  async (n) => {
    const org = await newOrg();
    const detection = {
      name: 'd',
      detectionCategory: 'custom',
      detectionQuery: 'SELECT _id FROM auth',
      systemPrompt: 'p',
    };
    const { id } = (await org.call('POST', '/api/detections', detection)).body;
    const none = '01900000-0000-7000-8000-000000000001';
    const window = { from: '2024-01-01T00:00:00Z', to: '2024-01-02T00:00:00Z' };
    const requests: [method: 'GET' | 'POST' | 'PUT', url: string, body?: object][] = [
      ['POST', `/api/detections/${id}/backtest`, { ...window, promptVersion: n }],
      ['POST', `/api/runs/${none}/replay`, { promptVersion: n }],
      ['PUT', `/api/detections/${id}/shadow`, { promptVersion: n }],
      ['POST', '/api/detections', { ...detection, budgets: { tokensPerRun: n } }],
      ['PUT', '/api/retention', { logsDays: n }],
      ['GET', `/api/detections/${id}/prompts/${n}`],
      ['GET', `/api/detections/${id}/revisions/diff?from=${n}&to=${n}`],
      ['GET', `/items?page=${BigInt(n)}&perPage=1`],
      ['GET', `/items/${none}/text?version=${n}`],
      ['GET', `/api/hits?limit=${n}`],
      ['GET', `/taxii2/root/collections/all/objects/?limit=${BigInt(n)}`],
    ];
    for (const [method, url, body] of requests)
      expect((await org.call(method, url, body)).status, `${method} ${url}`).toBeLessThan(500);
  },
);
