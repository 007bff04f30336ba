import type { FastifyContextConfig } from 'fastify';
import type { ApiExample, ApiExamples, MediaType, OpenApiDocument, Operation } from '../openapi-document.ts';
import { errorResponsesOf } from './error-responses.ts';

/** The description of a route besides its schemas. */
export type DescribedRoute = { config?: FastifyContextConfig };

/** Adds to every operation what follows from its route: scope, headers, errors, and an example. */
export function completeOperations(
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
export const headerParameters = {
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
