import type { App } from '../../../platform/http/app-type.ts';
import { appError, type AppError } from '../../../platform/lib/errors.ts';
import type { RenderedError } from '../../../platform/http/responses/problem.ts';
import { findFailure, type ReceiveShipperDeps } from '../receive-shipper-body.ts';
import { bodyOptions, receiveRequest, registerShipperScope, shipperConfig } from './shipper-scope.ts';

/** The push API of Grafana Loki. */
export function lokiRoutes(app: App, deps: ReceiveShipperDeps): void {
  registerShipperScope(app, renderError, (scope) => {
    scope.route({
      method: 'POST',
      url: '/loki/api/v1/push',
      ...bodyOptions,
      config: shipperConfig,
      schema: { hide: true },
      handler: async (request, reply) => {
        const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '');
        const format = { kind: 'loki', encoding: isJson ? 'json' : 'protobuf' } as const;
        const receipt = await receiveRequest(deps, request, format);
        const { rejected } = receipt;
        const reason = rejected[0] && `entry ${rejected[0].item}: ${rejected[0].reason}`;
        const failed = findFailure(receipt)?.message;
        // The valid entries are stored. A client does not send a request again that is answered with 400.
        if (reason !== undefined || failed !== undefined)
          throw appError('validation_failed', `${rejected.length} entries were rejected: ${reason ?? failed}.`);
        return reply.code(204).send();
      },
    });
  });
}

/** Loki's errors are plain text. */
const renderError = ({ message }: AppError): RenderedError => ({ body: message, type: 'text/plain; charset=utf-8' });
