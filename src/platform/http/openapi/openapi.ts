import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { packageVersion } from '../../lib/package-version.ts';
import type { App } from '../app-type.ts';
import { Problem } from '../responses/problem.ts';
import { completeOperations, type DescribedRoute } from './complete-operations.ts';
import { headerParameters } from './header-parameters.ts';
import { commonResponses } from './error-responses.ts';
import type { ApiExamples } from './examples.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { removeUnused, simplifySchemas } from './simplify-schemas.ts';
import { tags } from './tags.ts';

type RouteDescription = Parameters<typeof jsonSchemaTransform>[0];

export type OpenApiOptions = {
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
