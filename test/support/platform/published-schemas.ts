import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { Received, ReceiverReply } from './webhook-receiver.ts';

/** Whatever a JSON text holds. */
type Json = ReturnType<typeof JSON.parse>;
type Provider = 'github' | 'jira';

/** What other systems publish about their requests, responses and documents. Written by scripts/published-schemas.ts. */
const published: Json = JSON.parse(readFileSync(`${import.meta.dirname}/published-schemas.json`, 'utf8'));

const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
const queryAjv = new Ajv({ strict: false, coerceTypes: true });
for (const one of [ajv, queryAjv]) (addFormats as unknown as typeof addFormats.default)(one);

const compiled = new WeakMap<object, ValidateFunction>();

/** Fails unless a value is valid, for a schema whose references point into `parts`. */
function expectValid(validator: Ajv, schema: object, parts: object, value: unknown): void {
  const validate = compiled.get(schema) ?? validator.compile({ ...schema, ...parts });
  compiled.set(schema, validate);
  validate(value);
  expect(validator.errorsText(validate.errors), JSON.stringify(value).slice(0, 500)).toBe('No errors');
}

/** Returns the published example of the response to an operation, such as `POST /repos/{owner}/{repo}/issues`. */
export const exampleOf = (provider: Provider, operation: string): Json =>
  structuredClone(published[provider].operations[operation].example);

/** Returns a stand-in for a provider whose requests and responses are checked against what the provider publishes. */
export function checked(provider: Provider, answer: (received: Received) => ReceiverReply) {
  const { operations, components } = published[provider];
  return (received: Received): ReceiverReply => {
    const { pathname, searchParams } = new URL(received.path, 'http://localhost');
    const matches = (name: string): boolean =>
      new RegExp(`^${name.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(`${received.method} ${pathname}`);
    const operation = operations[Object.keys(operations).find(matches) ?? ''];
    expect(operation, `${received.method} ${pathname}`).toBeDefined();
    expectValid(queryAjv, operation.query, { components }, Object.fromEntries(searchParams));
    const { request } = operation;
    expect(received.body !== '', 'has a body').toBe(request !== undefined);
    if (request) expectValid(ajv, request, { components }, JSON.parse(received.body));
    const reply = answer(received);
    if (typeof reply === 'string') return reply;
    const response = operation.responses[reply.status];
    expect(response, `status ${reply.status} of ${received.method} ${pathname}`).toBeDefined();
    if (reply.body !== undefined) expectValid(ajv, response, { components }, JSON.parse(reply.body));
    return reply;
  };
}

/** Fails unless an event is valid in its class of OCSF 1.8.0. */
export const expectOcsf = (event: Json): void => {
  const { classes, components } = published.ocsf;
  expectValid(ajv, classes[event.class_uid], { components }, event);
};

/** Fails unless a value is a valid document of a format that is one schema. */
export const expectDocument = (format: 'documents' | 'cloudevents', value: unknown): void =>
  expectValid(ajv, published[format].schema, { definitions: published[format].definitions }, value);
