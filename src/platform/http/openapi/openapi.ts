import swagger from '@fastify/swagger';
import type { FastifyContextConfig } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { App, ApiExamples, OpenApiDocument, JsonSchema, ApiExample, MediaType, Operation } from '../app-type.ts';
import { commonResponses, errorResponsesOf } from './error-responses.ts';
import { Problem } from '../responses/problem.ts';
import { isObject } from '../../lib/json/json-values.ts';
import { packageVersion } from '../../lib/program-files.ts';

type RouteDescription = Parameters<typeof jsonSchemaTransform>[0];

type OpenApiOptions = {
  /** The requests that the service sends, by event. */
  webhooks: Record<string, unknown>;
  /** Returns a real request and response for each operation. Called when the document is first needed. */
  readExamples: () => ApiExamples;
};

const description = `Detection agents and a threat-intelligence feed. Every operation is scoped to the organization of the API key.

**Lists** return a page and \`nextCursor\`, which is the \`cursor\` of the next page and null on the last one. The feed's items have numbered pages instead. **Errors** are \`application/problem+json\` (RFC 9457) with a stable \`code\`; \`errors\` lists invalid fields. Unknown fields and parameters are errors, except in the operations that say otherwise. **Changes** can be repeated: a POST with the same \`Idempotency-Key\` returns the first response, and a PUT with \`If-Match\` (the \`ETag\`, or \`updatedAt\` in quotes) fails with 412, and a change with \`expectedRevision\` with 409, if somebody else changed the record; \`stale\` says who changed what. **429** and **503** say in \`Retry-After\` when to try again.`;

/** Makes the OpenAPI 3.1 document of the routes and serves it at `/openapi.json`. Must be registered before the routes. */
export async function registerOpenApi(app: App, options: OpenApiOptions): Promise<void> {
  const described = new Map<string, DescribedRoute>();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tocsin',
        version: packageVersion,
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'The service that sent this document' }],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An API key: `tcs_<keyId>_<secret>`. Routes below `/api/admin` need the key of the installation instead.',
          },
        },
      },
      security: [{ apiKey: [] }],
      tags,
    },
    transform: (route: RouteDescription) => {
      const { operationId } = (route.schema ?? {}) as { operationId?: string };
      if (operationId !== undefined) described.set(operationId, route.route as DescribedRoute);
      return jsonSchemaTransform(withProblem(route));
    },
    transformObject: (source) => {
      const document = jsonSchemaTransformObject(source) as OpenApiDocument;
      document.components.responses = commonResponses();
      document.components.parameters = headerParameters;
      document.webhooks = options.webhooks;
      simplifySchemas(document);
      completeOperations(document, described, options.readExamples());
      removeUnused(document, 'schemas');
      removeUnused(document, 'responses');
      return document as ReturnType<typeof jsonSchemaTransformObject>;
    },
  });
  let text: string | undefined;
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { isPublic: true },
    schema: { hide: true },
    handler: async (_request, reply) => {
      text ??= JSON.stringify(app.swagger());
      return reply.header('content-type', 'application/json; charset=utf-8').send(text);
    },
  });
}

/** Adds the schema of errors, which no route declares, so that the document contains it. */
function withProblem(route: RouteDescription): RouteDescription {
  if (!route.schema?.response) return route;
  const problem = { description: 'Error', content: { 'application/problem+json': { schema: Problem } } };
  const response = { ...(route.schema.response as object), default: problem };
  return { ...route, schema: { ...route.schema, response } };
}

const descriptions = {
  detections: 'Detections, their prompts, revisions, exceptions, tests, and where they come from',
  agents: 'Built-in agents, and the runs of all agents',
  runs: 'Runs of detections, the windows that they examine, and gaps',
  models: 'Language models and what they may cost',
  tools: 'Tools that agents may use, and the MCP servers that provide more',
  incidents: 'Hits that belong together, who works on them and how they ended',
  hunts: 'Saved questions about the past, their runs and what they found',
  hits: 'What detections found, triage, and what is known about entities',
  connections: 'SIEMs and databases that detections query',
  destinations: 'Destinations of events, and the deliveries to them',
  events: 'Events of the organization, as a list or a stream',
  feed: 'Threat-intelligence items, indicators and relevance',
  sources: 'Sources of the feed, and items that people add',
  exports: 'The feed in the formats of other tools',
  taxii: 'The feed over TAXII 2.1',
  logs: 'Log events: ingestion, columns and search',
  keys: 'API keys',
  sessions: 'Sign-in to the console',
  persons: 'People of the organization, and their roles',
  audit: 'Who changed what',
  admin: 'Organizations of the installation, for its operators',
  service: 'Health of the service, erasure and retention',
};

const tags = Object.entries(descriptions).map(([name, description]) => ({ name, description }));

/**
 * Rewrites what tools for OpenAPI read poorly: texts of query and path that stand for numbers and booleans, and objects with a fixed set of
 * keys. Removes the slash at the end of paths, which the service ignores. Sorts the schemas, whose order depends on which module loads first.
 */
function simplifySchemas(document: OpenApiDocument): void {
  for (const path of Object.values(document.paths))
    for (const { parameters = [] } of Object.values(path))
      for (const parameter of parameters) if ('schema' in parameter) parameter.schema = toPlainType(parameter.schema);
  document.paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [path.replace(/\/$/, ''), item]),
  );
  listFixedKeys(document);
  const { components } = document;
  const names = Object.keys(components.schemas).toSorted();
  components.schemas = Object.fromEntries(names.map((name) => [name, components.schemas[name]!]));
}

/** The parameter is text to the service, which checks its form, but a number or boolean to the caller. */
function toPlainType(schema: JsonSchema): JsonSchema {
  const { pattern: _, ...rest } = schema;
  if (schema['type'] === 'integer') return rest;
  const { type: _type, enum: values, const: only, ...others } = schema;
  const texts = Array.isArray(values) ? values : [only];
  return texts.every((text) => text === 'true' || text === 'false') ? { type: 'boolean', ...others } : schema;
}

/** Lists the keys of objects whose keys are a set of names: as properties instead of by a schema of their names. */
function listFixedKeys(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(listFixedKeys);
  if (!isObject(node)) return;
  const names = isObject(node['propertyNames']) ? node['propertyNames']['enum'] : undefined;
  if (Array.isArray(names) && Array.isArray(node['required'])) {
    const value = node['additionalProperties'];
    node['properties'] = Object.fromEntries(names.map((name) => [name, value]));
    node['additionalProperties'] = false;
    delete node['propertyNames'];
  }
  Object.values(node).forEach(listFixedKeys);
}

/** Removes components that nothing uses. The registry also lists input variants of schemas that only responses use, and what only these refer to. */
function removeUnused(document: OpenApiDocument, kind: 'schemas' | 'responses'): void {
  const components = document.components[kind] ?? {};
  for (let isDone = false; !isDone;) {
    const text = JSON.stringify(document);
    const unused = Object.keys(components).filter((name) => !text.includes(`"#/components/${kind}/${name}"`));
    for (const name of unused) delete components[name];
    isDone = unused.length === 0;
  }
}

/** The description of a route besides its schemas. */
type DescribedRoute = { config?: FastifyContextConfig };

/** Adds to every operation what follows from its route: scope, headers, errors, and an example. */
function completeOperations(
  { paths }: OpenApiDocument,
  routes: ReadonlyMap<string, DescribedRoute>,
  examples: ApiExamples,
): void {
  for (const path of Object.values(paths))
    for (const [method, operation] of Object.entries(path)) {
      const config = routes.get(operation.operationId)?.config ?? ({} as FastifyContextConfig);
      completeOperation(method.toUpperCase(), operation, config);
      const example = examples[operation.operationId];
      if (example) addExample(operation, example);
    }
}

function completeOperation(method: string, operation: Operation, config: FastifyContextConfig): void {
  if (config.bodyContent) operation.requestBody = { required: true, content: config.bodyContent };
  const places = (operation.parameters ?? []).map((one) => ('in' in one ? one.in : ''));
  const acceptsIfMatch = config.acceptsIfMatch === true;
  const facts = {
    method,
    config,
    hasPathParameters: places.includes('path'),
    hasQuery: places.includes('query'),
    hasBody: operation.requestBody !== undefined,
    acceptsIfMatch,
  };
  operation.description = describe(operation, config);
  const headers = [
    ...(method === 'POST' && !config.isPublic && !config.isAdmin ? [parameterRef('IdempotencyKey')] : []),
    ...(acceptsIfMatch ? [parameterRef('IfMatch')] : []),
  ];
  if (headers.length > 0) operation.parameters = [...(operation.parameters ?? []), ...headers];
  if (config.isBodyOptional && operation.requestBody) operation.requestBody.required = false;
  const { default: _, ...responses } = operation.responses;
  operation.responses = { ...responses, ...errorResponsesOf(facts) };
}

/** Returns the description of the operation, if it has one, followed by who may call it. */
const describe = ({ description }: Operation, config: FastifyContextConfig): string =>
  [description, describeAccess(config)].filter(Boolean).join('\n\n');

function describeAccess({
  isPublic,
  isAdmin,
  scope,
  ignoresUnknownQuery,
  acceptsBasicAuth,
}: FastifyContextConfig): string {
  if (isPublic) return 'Needs no API key.';
  if (isAdmin) return 'Needs the key of the installation (`TOCSIN_ADMIN_KEY`).';
  return [
    scope === undefined ? 'Any valid API key will do.' : `The key needs the scope \`${scope}\`.`,
    ...(acceptsBasicAuth ? ['It may be sent as the password of Basic authentication.'] : []),
    ...(ignoresUnknownQuery ? ['Unknown query parameters are ignored. The response lists them in `warnings`.'] : []),
  ].join(' ');
}

function addExample(operation: Operation, { parameters = {}, request, response }: ApiExample): void {
  for (const parameter of operation.parameters ?? [])
    if ('name' in parameter && Object.hasOwn(parameters, parameter.name))
      parameter.example = readParameter(parameters[parameter.name]!, parameter.schema['type']);
  if (request !== undefined) setExample(operation.requestBody?.content, request);
  const ok = operation.responses['200'];
  if (ok && 'content' in ok) setExample(ok.content, response);
}

/** Returns a parameter's text in the type that the document states. */
const readParameter = (text: string, type: unknown): unknown =>
  type === 'integer' ? Number(text) : type === 'boolean' ? text === 'true' : text;

function setExample(content: Record<string, MediaType> | undefined, example: unknown): void {
  const [first] = Object.values(content ?? {});
  if (first) first.example = example;
}

/** Request headers that operations share, as parameters of the OpenAPI document. */
const headerParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a repeated request safe: for 24 hours, the same key with the same body returns the first response. Any text of 1 to 255 visible ASCII characters, such as a UUID.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: '7c1f0c4e-4f0a-4a53-9a53-52f0e29c7a7b',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the record that the change is based on, or its `updatedAt` in quotes. Without it, the change applies to any version.',
    schema: { type: 'string' },
  },
};

const parameterRef = (name: keyof typeof headerParameters): { $ref: string } => ({
  $ref: `#/components/parameters/${name}`,
});
