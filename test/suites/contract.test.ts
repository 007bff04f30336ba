import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { openapiText } from '../../src/cli/openapi-command.ts';
import { callEverything } from '../support/walk/call-everything.ts';
import { startApp } from '../support/harness.ts';
import { root } from '../support/program.ts';
import { isForeignProtocol, isOpen, registeredRoutes } from '../support/registered-routes.ts';

type Operation = {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string; in: string }[];
  responses: Record<string, { content?: Record<string, { schema?: object }> }>;
};
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string }[];
  security: object[];
};

const text = await openapiText();
const document = JSON.parse(text) as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const described = operations.map(({ method, path }) => `${method} ${path}`);

test('openapi.json matches the routes (npm run generate writes it)', () => {
  expect(readFileSync(join(root, 'openapi.json'), 'utf8')).toBe(text);
});

test('openapi.json is valid OpenAPI 3.1', async () => {
  expect(await new Validator().validate(JSON.parse(text) as Record<string, unknown>)).toEqual({ valid: true });
  expect(document.openapi).toMatch(/^3\.1\./);
});

const { app, deps, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });

test('openapi.json contains every registered route except the listed exceptions', () => {
  const own = registeredRoutes(app).filter(({ path }) => !isForeignProtocol(path));
  const registered = own.map(({ method, path }) => `${method} ${path}`);
  const hidden = registered.filter((route) => !described.includes(route));
  expect(described.filter((route) => !registered.includes(route))).toEqual([]);
  const exceptions = /^(GET \/(metrics|openapi\.json|docs\S*|console\S*|api\/feed\/export\S*)|POST \/mcp)$/;
  expect(hidden.filter((route) => !exceptions.test(route))).toEqual([]);
});

test('openapi.json contains the seven operations of the interface', () => {
  expect(described).toEqual(
    expect.arrayContaining([
      'GET /api/detections',
      'POST /api/detections',
      'PUT /api/detections/{id}',
      'POST /api/detections/{id}/restore',
      'GET /api/detections/suggestions/dismissed',
      'GET /items',
      'GET /stats',
    ]),
  );
});

describe.each(operations)('$method $path', ({ method, path, operation }) => {
  test('has a summary, a known tag, a schema for 200, its path parameters and a security requirement', () => {
    expect(operation.summary).toMatch(/^[A-Z].+[^.]$/);
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags ?? ['none']));
    expect(operation.responses['200']?.content?.['application/json']?.schema).toBeTypeOf('object');
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect((operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(inPath);
    expect(operation.security ?? document.security).toEqual(isOpen({ method, path }) ? [] : [{ apiKey: [] }]);
  });
});

test('every operation has a name of its own', () => {
  const names = operations.map(({ operation }) => operation.operationId);
  expect(names.filter((name) => !/^[a-z]+[A-Za-z]+$/.test(name ?? ''))).toEqual([]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('every operation is called, and every response matches its schema', { timeout: 180_000 }, async () => {
  const everything = await callEverything(deps, await newOrg());
  const answers = everything.filter(({ url }) => !isForeignProtocol(url));
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addSchema(document, 'openapi');
  const reached = new Set<string>();
  for (const { method, url, status, body } of answers) {
    const found = operationOf(method, url);
    expect(found, `${method} ${url} is not an operation`).toBeDefined();
    const { path } = found!;
    expect(status, `${method} ${url}: ${JSON.stringify(body)}`).toBe(200);
    reached.add(`${method} ${path}`);
    const pointer = ['paths', path, method.toLowerCase(), 'responses', '200', 'content', 'application/json', 'schema'];
    const validate = ajv.compile({
      $ref: `openapi#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`,
    });
    expect(validate(body) ? [] : validate.errors, `${method} ${url}: ${JSON.stringify(body).slice(0, 2000)}`).toEqual(
      [],
    );
  }
  const neverDone = ['DELETE /api/agents/{id}'];
  expect(described.filter((name) => !reached.has(name) && !neverDone.includes(name))).toEqual([]);
});

/** Finds the operation of a request path. A literal segment wins over a parameter. */
function operationOf(method: string, url: string): { path: string } | undefined {
  const path = url.split('?')[0]!;
  return operations
    .filter(
      (one) =>
        one.method === method &&
        new RegExp(`^${one.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
}
