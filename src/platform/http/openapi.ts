import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { packageVersion } from '../lib/package-version.ts';
import { Problem } from './problem.ts';
import { referencePagePolicy } from './security-headers.ts';
import type { App } from './app-type.ts';

const tags =
  'detections agents runs models tools hits connections outputs events feed sources logs keys sessions audit service'.split(
    ' ',
  );

type RouteDescription = Parameters<typeof jsonSchemaTransform>[0];

const problemResponse = {
  description: 'Any error, with a stable code',
  content: { 'application/problem+json': { schema: Problem } },
};

/** Adds the common error response to a route, since routes declare only their success responses. */
function withProblemResponse(route: RouteDescription): RouteDescription {
  if (!route.schema?.response) return route;
  const response = { ...(route.schema.response as object), default: problemResponse };
  return { ...route, schema: { ...route.schema, response } };
}

/** Removes unreferenced schemas: the registry also lists input variants of schemas that only responses use. */
function removeUnusedSchemas(schemas: Record<string, unknown>, text: string): void {
  for (const name of Object.keys(schemas)) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name];
}

/** Serves the OpenAPI 3.1 document of the routes at `/openapi.json` and a reference at `/docs`. Must be registered before the routes. */
export async function registerOpenApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tocsin',
        version: packageVersion,
        description:
          'Detection agents and a threat-intelligence feed. Every operation is scoped to the organization of the API key.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: tcs_<keyId>_<secret>' },
        },
      },
      security: [{ apiKey: [] }],
      tags: tags.map((name) => ({ name })),
    },
    transform: (route) => jsonSchemaTransform(withProblemResponse(route)),
    transformObject: (document) => {
      const transformed = jsonSchemaTransformObject(document);
      if ('components' in transformed)
        removeUnusedSchemas(transformed.components?.schemas ?? {}, JSON.stringify(transformed));
      return transformed;
    },
  });
  // The plugin adds the routes of the reference. Only those within this scope become public.
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, isPublic: true };
      route.schema = { ...route.schema, hide: true };
    });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: referencePagePolicy,
      uiConfig: { docExpansion: 'none', persistAuthorization: false },
    });
  });
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { isPublic: true },
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  });
}
