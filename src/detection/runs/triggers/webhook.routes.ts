import { IdPath } from '../../detections/record/detection-input.schema.ts';
import type { App } from '../../../platform/http/app-type.ts';
import { RunStarted } from '../run-model/runs.schema.ts';
import { receiveWebhook, type ReceiveWebhookDeps } from './fire-triggers.ts';
import type { FastifyRequest } from 'fastify';

const bodyBytesMax = 256 * 1024;

type WebhookRouteDeps = ReceiveWebhookDeps & {
  /** Throws 429 if an address has sent many calls that were refused. */
  throttleFailure: (request: FastifyRequest) => void;
};

/** Registers the address of webhooks in a scope of its own, because a signature is over the body as it was sent. */
export function webhookRoutes(app: App, { throttleFailure, ...deps }: WebhookRouteDeps): void {
  void app.register(async (plugin) => {
    const scope = plugin as unknown as App;
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: bodyBytesMax }, (_request, body, done) =>
      done(null, body),
    );
    scope.route({
      method: 'POST',
      url: '/api/hooks/:id',
      bodyLimit: bodyBytesMax,
      config: { isPublic: true },
      schema: {
        operationId: 'receiveWebhook',
        tags: ['agents'],
        summary: 'Start a run of a response agent with a signed call',
        description:
          'Signed as Standard Webhooks 1.0 describe it: `webhook-id`, `webhook-timestamp` and `webhook-signature` over the body. The same ID starts one run.',
        security: [],
        params: IdPath,
        response: { 200: RunStarted },
      },
      handler: async (request: FastifyRequest) => {
        const header = (name: string): string => String(request.headers[`webhook-${name}`] ?? '');
        const call = { id: header('id'), timestamp: header('timestamp'), signature: header('signature') };
        const body = typeof request.body === 'string' ? request.body : '';
        try {
          return await receiveWebhook(deps, (request.params as { id: string }).id, { ...call, body });
        } catch (error) {
          if ((error as { code?: string }).code === 'unauthorized') throttleFailure(request);
          throw error;
        }
      },
    });
  });
}
