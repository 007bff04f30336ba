import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { eventTypes } from '../../src/platform/notifications/event-types.ts';
import { readApiExamples } from '../../src/app/http-server.ts';
import { openapiText } from '../../src/cli/service/openapi-command.ts';
import { adminEnv } from '../support/admin-key.ts';
import { callEverything } from '../support/walk/call-everything.ts';
import { startApp } from '../support/harness.ts';
import { keepExamples } from '../support/walk/keep-examples.ts';
import { toExamples } from '../support/walk/to-examples.ts';
import { root } from '../support/program.ts';
import { isForeignProtocol, isOpen, registeredRoutes } from '../support/registered-routes.ts';

type Content = Record<string, { schema?: object; example?: unknown }>;
type Operation = {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: unknown }>;
  tags: { name: string }[];
  security: object[];
};

const text = await openapiText();
const document = JSON.parse(text) as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as typeof addFormats.default)(ajv);
ajv.addSchema(document, 'openapi');

const validators = new Map<string, ValidateFunction>();
/** Returns the validator of a place of the document. */
function validatorOf(parts: string[]): ValidateFunction {
  const pointer = pointerTo(parts);
  const compiled = validators.get(pointer) ?? ajv.compile({ $ref: pointer });
  validators.set(pointer, compiled);
  return compiled;
}

const described = operations.map(({ method, path }) => `${method} ${path}`);

test('openapi.json matches the routes (npm run generate writes it)', () => {
  expect(readFileSync(join(root, 'openapi.json'), 'utf8')).toBe(text);
});

test('openapi.json is valid OpenAPI 3.1', async () => {
  expect(await new Validator().validate(JSON.parse(text) as Record<string, unknown>)).toEqual({ valid: true });
  expect(document.openapi).toMatch(/^3\.1\./);
});

test('every default in openapi.json has the type of its schema', () => {
  const types: Record<string, (value: unknown) => boolean> = {
    string: (value) => typeof value === 'string',
    integer: Number.isInteger,
    number: (value) => typeof value === 'number',
    boolean: (value) => typeof value === 'boolean',
    array: Array.isArray,
    object: (value) => typeof value === 'object' && value !== null,
    null: (value) => value === null,
  };
  const wrong: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (value === null || typeof value !== 'object') return;
    const { default: fallback, type } = value as { default?: unknown; type?: unknown };
    const names = [type]
      .flat()
      .filter((name): name is string => typeof name === 'string' && Object.hasOwn(types, name));
    if (fallback !== undefined && names.length > 0 && !names.some((name) => types[name]!(fallback))) wrong.push(path);
    for (const [key, child] of Object.entries(value))
      if (key !== 'example' && key !== 'examples') visit(child, `${path}/${key}`);
  };
  visit(document, '');
  expect(wrong).toEqual([]);
});

test('openapi.json follows the recommended rules of Redocly', async () => {
  const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js');
  // The tests below compare the examples with their schemas, in a fifth of the time.
  const others = ['--skip-rule', 'no-invalid-media-type-examples'];
  const lint = ['lint', 'openapi.json', '--extends', 'recommended', '--format', 'json', ...others];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { cwd: root, env, maxBuffer: 16 * 1024 ** 2 };
  // With an error among the problems, the command fails.
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...lint], options).catch(
    (error: { stdout: string }) => error,
  );
  const { totals, problems } = JSON.parse(stdout) as { totals: object; problems: { message: string }[] };
  expect(problems.map(({ message }) => message)).toEqual([]);
  expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
});

const { app, deps, newOrg } = await startApp({
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', ...adminEnv },
});

test('openapi.json contains every registered route except the listed exceptions', () => {
  const own = registeredRoutes(app).filter(({ path }) => !isShipperProtocol(path));
  const registered = own.map(({ method, path }) => `${method} ${path.replace(/(.)\/$/, '$1')}`);
  const hidden = registered.filter((route) => !described.includes(route));
  expect(described.filter((route) => !registered.includes(route))).toEqual([]);
  const exceptions = /^(GET \/(metrics|openapi\.json|docs\S*|console\S*)|POST \/mcp|(POST|DELETE) \/taxii2\S+)$/;
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

/** Without a response or a JSON body to record. */
const hasNoExample = ['exportIncidentBundle', 'sendLogs', 'importSkill', 'exportSkill'];

/** Returns the request and the response of an operation. */
const contentsOf = ({ requestBody, responses }: Operation): Content[string][] =>
  [requestBody?.content, responses['200']?.content].flatMap((content) => Object.values(content ?? {}).slice(0, 1));

describe.each(operations)('$method $path', ({ method, path, operation }) => {
  test('has a summary, a description, a known tag, a schema for 200, examples, errors, its path parameters and a security requirement', () => {
    expect(operation.description).toBeTruthy();
    for (const { schema, example } of contentsOf(operation)) {
      expect(schema).toBeTypeOf('object');
      if (!hasNoExample.includes(operation.operationId!)) expect(example).toBeDefined();
    }
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining(['200', 'default', expect.stringMatching(/^4/)]),
    );
    expect(operation.summary).toMatch(/^[A-Z].+[^.]$/);
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags ?? ['none']));
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

test('every operation is called, and every response matches its schema', async () => {
  const everything = await callEverything(deps, await newOrg());
  const answers = everything.filter(({ url }) => !isShipperProtocol(url));
  const reached = new Set<string>();
  for (const { method, url, status, body } of answers) {
    const found = operationOf(method, url);
    expect(found, `${method} ${url} is not an operation`).toBeDefined();
    const { path } = found!;
    expect(status, `${method} ${url}: ${JSON.stringify(body)}`).toBe(200);
    reached.add(`${method} ${path}`);
    const at = ['paths', path, method.toLowerCase(), 'responses', '200', 'content'];
    const validate = validatorOf([...at, typeOf(found!), 'schema']);
    expect(validate(body) ? [] : validate.errors, `${method} ${url}: ${JSON.stringify(body).slice(0, 2000)}`).toEqual(
      [],
    );
  }
  expect(described.filter((name) => !reached.has(name))).toEqual([]);
  // `npm run examples` records those of new and changed operations.
  if (process.env['RECORD_EXAMPLES']) {
    const recorded = toExamples(answers, (call) => operationOf(call.method, call.url)!.operation.operationId!);
    const examples = keepExamples(readApiExamples(), recorded);
    writeFileSync(join(root, 'src/app/api-examples.json'), `${JSON.stringify(examples, null, 2)}\n`);
  }
});

test.each(operations)('the examples of $method $path match their schemas', ({ method, path, operation }) => {
  const at = ['paths', path, method.toLowerCase()];
  const places = [
    { content: operation.requestBody?.content, pointer: [...at, 'requestBody', 'content'] },
    { content: operation.responses['200']?.content, pointer: [...at, 'responses', '200', 'content'] },
  ];
  for (const { content = {}, pointer } of places)
    for (const [type, { example }] of Object.entries(content)) {
      if (example === undefined) continue;
      const validate = validatorOf([...pointer, type, 'schema']);
      expect(validate(example) ? [] : validate.errors, JSON.stringify(example)).toEqual([]);
    }
});

test('openapi.json has a webhook for every event', () => {
  expect(Object.keys(document.webhooks)).toEqual([...eventTypes, 'destination.test']);
});

/** Finds the operation of a request path. A literal segment wins over a parameter. */
function operationOf(method: string, url: string): (typeof operations)[number] | undefined {
  const path = url.split('?')[0]!.replace(/(.)\/$/, '$1');
  return operations
    .filter(
      (one) =>
        one.method === method &&
        new RegExp(`^${one.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
}

const pointerTo = (parts: string[]): string =>
  `openapi#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

const typeOf = ({ operation }: (typeof operations)[number]): string =>
  Object.keys(operation.responses['200']?.content ?? {})[0]!;

/** Log shippers define these routes, not the service. */
const isShipperProtocol = (path: string): boolean => isForeignProtocol(path) && !path.startsWith('/taxii2');
