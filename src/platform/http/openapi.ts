import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import packageJson from '../../../package.json' with { type: 'json' };
import { Problem } from './problem.ts';
import type { App } from './app-type.ts';

type Described = Parameters<typeof jsonSchemaTransform>[0];

const problems = {
  description: 'Everything else: what is wrong, with a stable code',
  content: { 'application/problem+json': { schema: Problem } },
};

/** Every operation answers its failures in the same form; said here, since routes only name their success. */
function withProblems(route: Described): Described {
  if (!route.schema?.response) return route;
  const response = { ...(route.schema.response as object), default: problems };
  return { ...route, schema: { ...route.schema, response } };
}

/** Schemas that only answers use stand in the registry as input too; nothing points at those. */
function dropUnused(schemas: Record<string, unknown>, text: string): void {
  for (const name of Object.keys(schemas)) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name];
}

/** OpenAPI 3.1 made from the routes, at `/openapi.json`, and the browsable reference at `/docs`. Register before the routes. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tocsin',
        version: packageJson.version,
        description:
          'Detection agents and a threat-intelligence feed. Every operation is scoped to the organization of the calling key.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: tcs_<keyId>_<secret>' },
        },
      },
      security: [{ apiKey: [] }],
      tags: [
        'detections',
        'agents',
        'runs',
        'models',
        'tools',
        'hits',
        'connections',
        'outputs',
        'feed',
        'sources',
        'logs',
        'keys',
        'audit',
        'service',
      ].map((name) => ({ name })),
    },
    transform: (route) => jsonSchemaTransform(withProblems(route)),
    transformObject: (document) => {
      const described = jsonSchemaTransformObject(document);
      if ('components' in described) dropUnused(described.components?.schemas ?? {}, JSON.stringify(described));
      return described;
    },
  });
  // Routes of the reference are made inside the plugin; only this scope is open.
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, open: true };
      route.schema = { ...route.schema, hide: true };
    });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      uiConfig: { docExpansion: 'none', persistAuthorization: false },
    });
  });
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { open: true },
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  });
}
