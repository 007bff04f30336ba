import { z } from 'zod';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { shipperSources } from './shipper-sources.ts';

const LogSources = z.object({
  sources: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      path: z.string().describe('The address of the protocol, below that of the service.'),
      configuration: z.string(),
    }),
  ),
});

export function shipperSourceRoutes(app: App): void {
  const route = apiRoutes(app, { tag: 'logs', scope: 'detections:read' });
  route(
    'GET /api/logs/sources',
    {
      operationId: 'listLogShippers',
      summary: 'List log shippers with their configuration',
      description:
        'Each configuration is complete but for the address (`https://tocsin.example:443`), the key (`KEY`, with the scope `logs:write`) and what the shipper reads.',
      returns: LogSources,
    },
    () => ({ sources: [...shipperSources] }),
  );
}
